"""Lists in fields of objects where exceptions are caught, in branches and in loops."""

from __future__ import annotations

from tests.programs.mutation.table import program


class P:
    def __init__(self, x):
        self.x = x
        self.h = []


def ps(x, n=3):
    return [P(x + 0.1 * i) for i in range(n)]


@program(0.7, 0.3, features="try, list in a field, history bound in a try")
def history_bound_in_a_try(x, y):
    a = ps(x)
    for p in a:
        p.h.append(x)
    t = 0.0
    try:
        h = a[0].h
        h.append(y)
        h[5]
    except IndexError:
        h.append(x * y)
        t += h[-1]
    return t + sum(a[0].h)


@program(0.7, 0.3, features="try, list in a field, histories bound in tries")
def histories_bound_in_tries(x, y):
    a = ps(x)
    for p in a:
        p.h.append(x)
    t = 0.0
    for p in a:
        try:
            h = p.h
            h.append(y * p.x)
            if p.x > 0.75:
                raise ValueError
        except ValueError:
            h.append(x * y)
            t += h[-1]
        else:
            h.pop()
    return t + sum(sum(p.h) for p in a)


@program(0.7, 0.3, features="try, list in a field, history made in a try")
def history_made_in_a_try(x, y):
    a = ps(x)
    for p in a:
        p.h.append(x)
    t = 0.0
    for p in a:
        try:
            p.h = [y]
            q = p.h
            if p.x > 0.75:
                raise ValueError
            q.append(x)
        except ValueError:
            p.h.append(p.x)
        finally:
            p.h.append(y)
    return t + sum(sum(p.h) * p.x for p in a)


@program(0.7, 0.3, features="try, list in a field, history or another one")
def history_or_another_one(x, y):
    a = ps(x)
    for p in a:
        p.h.append(p.x)
    t = 0.0
    for k in range(4):
        try:
            v = a[k].h
        except IndexError:
            v = a[0].h
        v.append(y * k)
        t += sum(v)
    return t


@program(0.7, 0.3, features="try, list in a field, objects seen in a try")
def objects_seen_in_a_try(x, y):
    a = ps(x)
    seen = set()
    t = 0.0
    for k in (0, 1, 0, 2):
        try:
            if a[k] in seen:
                raise ValueError
            seen.add(a[k])
            t += a[k].x
        except ValueError:
            t += y * len(seen)
    return t


@program(0.7, 0.3, features="try, list in a field, closures that raise")
def closures_that_raise(x, y):
    def make(s):
        total = s
        log = []

        def f(v):
            nonlocal total
            total += v
            log.append(total)
            if len(log) > 2:
                raise ValueError("full")
            return total

        def g():
            return sum(log)

        return f, g

    ms = [make(x * i) for i in range(2)]
    t = 0.0
    for k in range(4):
        for f, g in ms:
            try:
                t += f(y)
            except ValueError:
                t += x
    return t + sum(g() for f, g in ms)


@program(0.7, 0.3, features="list in a field, history made in a branch")
def history_made_in_a_branch(x, y):
    a = ps(x)
    for k, p in enumerate(a):
        if k % 2:
            p.h = [x * k]
        else:
            q = p.h
            q.append(y)
        p.h.append(1.0)
    return sum(sum(p.h) * p.x for p in a)


@program(0.7, 0.3, features="list in a field, history of a branch")
def history_of_a_branch(x, y):
    a = ps(x)
    for k, p in enumerate(a):
        if k % 2:
            h = p.h
        else:
            h = a[0].h
        h.append(x * k)
    for p in a:
        p.h.append(y)
    return sum(sum(p.h) * p.x for p in a)


@program(0.7, 0.3, features="list in a field, history of the last iteration")
def history_of_the_last_iteration(x, y):
    a = ps(x)
    h = a[0].h
    for p in a:
        h.append(p.x)
        h = p.h
    h.append(y)
    for p in a:
        p.h.append(y * x)
    return sum(sum(p.h) * p.x for p in a) + len(h)


@program(0.7, 0.3, features="list in a field, history after a loop")
def history_after_a_loop(x, y):
    a = ps(x)
    for p in a:
        h = p.h
        h.append(p.x)
    h.append(y)
    return sum(sum(p.h) * p.x for p in a) + h[0]


@program(0.7, 0.3, features="list in a field, history until it is filled")
def history_until_it_is_filled(x, y):
    a = ps(x)
    p = a[0]
    while len(p.h) < 3:
        p.h.append(x * len(p.h))
    return sum(p.h) * y


@program(0.7, 0.3, features="list in a field, histories in a comprehension")
def histories_in_a_comprehension(x, y):
    a = ps(x)
    for p in a:
        p.h.append(y)
    a[1].h.append(x)
    return sum([v * v for p in a for v in p.h]) + sum(len(p.h) for p in a) * x


@program(0.7, 0.3, features="list in a field, history of linked objects")
def history_of_linked_objects(x, y):
    head = None
    for k in range(4):
        if k % 2:
            n = P(x * k)
            n.h.append(y)
            n.next = head
            head = n
    t = 0.0
    while head is not None:
        t += sum(head.h) * head.x
        head = head.next
    return t
