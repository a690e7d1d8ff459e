"""Lists, dicts and sets in fields of objects: changed while they are run over, in a try, by functions, under other names."""

from __future__ import annotations

import copy

from tests.programs.mutation.table import program


class P:
    def __init__(self, x):
        self.x = x
        self.h = []
        self.s = set()


def ps(x, n=3):
    return [P(x + 0.1 * i) for i in range(n)]


class N:
    def __init__(self, v):
        self.v = v
        self.kids = []
        self.seen = {}


@program(0.7, 0.3, features="list in a field, group grows in a recursion")
def group_grows_in_a_recursion(x, y):
    d = {}
    for i in range(3):
        d.setdefault(i % 2, []).append(x * i + y)

    def visit(n):
        if n == 0:
            return 0.0
        d.setdefault(0, []).append(x * n)
        return visit(n - 1) + 1.0

    t = 0.0
    for v in d[0]:
        t += v
        if len(d[0]) < 9:
            t += visit(2) * y
    return t


@program(0.7, 0.3, features="list in a field, named history grows in a recursion")
def named_history_grows_in_a_recursion(x, y):
    a = ps(x)
    h = a[0].h
    h.append(x)

    def visit(n):
        if n == 0:
            return 0.0
        h.append(y * n)
        return visit(n - 1) + 1.0

    t = 0.0
    for v in h:
        t += v
        if len(h) < 9:
            t += visit(2) * y
    return t


@program(0.7, 0.3, features="list in a field, history grows in a recursion")
def history_grows_in_a_recursion(x, y):
    a = ps(x)
    a[0].h.append(x)

    def visit(n):
        if n == 0:
            return 0.0
        a[0].h.append(y * n)
        return visit(n - 1) + 1.0

    t = 0.0
    for v in a[0].h:
        t += v
        if len(a[0].h) < 9:
            t += visit(2) * y
    return t


@program(0.7, 0.3, features="list in a field, functions in a set")
def functions_in_a_set(x, y):
    def make():
        def f():
            return 1.0

        return f

    fs = [make(), make()]
    seen = set()
    t = 0.0
    for f in fs:
        if f not in seen:
            seen.add(f)
            t += x * f()
    return t * len(seen)


@program(0.7, 0.3, features="list in a field, history assigned in a try")
def history_assigned_in_a_try(x, y):
    a = ps(x)
    t = 0.0
    for k, p in enumerate(a):
        p.h.append(x)
        try:
            p.h = [y, x * k]
            p.h.append(1.0 / k)
        except ZeroDivisionError:
            t += sum(p.h)
    return t + sum(sum(p.h) for p in a)


@program(0.7, 0.3, features="list in a field, old history in a try")
def old_history_in_a_try(x, y):
    a = ps(x)
    old = a[0].h
    old.append(x)
    try:
        a[0].h = [y]
        old.append(y * y)
        a[0].h.append(old[7])
    except IndexError:
        old.append(a[0].h[0] * 2)
    return sum(old) * 3 + sum(a[0].h)


@program(0.7, 0.3, features="list in a field, history of a copy")
def history_of_a_copy(x, y):
    p = P(x)
    q = copy.copy(p)
    a = [p, q]
    p.h.append(x * y)
    q.h.append(y)
    q.x = y
    return sum(p.h) * p.x + len(q.h) * q.x


@program(0.7, 0.3, features="list in a field, history of a copied item")
def history_of_a_copied_item(x, y):
    a = ps(x)
    q = copy.copy(a[0])
    a[0].h.append(x * y)
    q.h.append(y)
    return sum(a[0].h) + sum(q.h) * 2


@program(0.7, 0.3, features="list in a field, one list given twice")
def one_list_given_twice(x, y):
    mine = [x]
    a = [P(x), P(y)]
    a[0].h = mine
    a[1].h = mine
    a[0].h.append(y)
    mine.append(x * x)
    return sum(a[1].h) * x + len(a[0].h)


@program(0.7, 0.3, features="list in a field, histories told apart")
def histories_told_apart(x, y):
    a = ps(x)
    a[0].h.append(x)
    a[1].h = a[0].h
    t = y
    if a[1].h is a[0].h:
        t += x * 3
    if a[2].h is not a[0].h:
        t += x * y
    return t


@program(0.7, 0.3, features="list in a field, histories compared")
def histories_compared(x, y):
    a = ps(x)
    for p in a:
        p.h.append(x)
    return x * 5 if a[0].h == a[1].h else y


@program(0.7, 0.3, features="list in a field, histories asked whether filled")
def histories_asked_whether_filled(x, y):
    a = ps(x)
    a[1].h.append(y)
    a[2].s.add(3)
    t = 0.0
    for p in a:
        if p.h:
            t += p.x * p.h[0]
        if not p.s:
            t += p.x
    return t


@program(0.7, 0.3, features="list in a field, histories emptied")
def histories_emptied(x, y):
    a = ps(x)
    for k in range(4):
        a[k % 2].h.append(x * k + y)
    t = 0.0
    for p in a:
        while p.h:
            t += p.h.pop() * p.x
    return t + len(a[0].h)


@program(0.7, 0.3, features="list in a field, sets in fields updated")
def sets_in_fields_updated(x, y):
    a = ps(x)
    for k in range(5):
        a[k % 3].s.update([k, k + 1])
    a[0].s = a[1].s
    a[1].s.add(99)
    return x * len(a[0].s) + y * len(a[2].s)


@program(0.7, 0.3, features="list in a field, nodes breadth first")
def nodes_breadth_first(x, y):
    ns = [N(x * i + y) for i in range(6)]
    for i in range(6):
        for j in (i + 1, i * 2):
            if j < 6 and j != i:
                ns[i].kids.append(ns[j])
                ns[j].seen[i] = ns[i].v
    queue = [ns[1]]
    done = {ns[1]: 0}
    while queue:
        n = queue.pop(0)
        for m in n.kids:
            if m not in done:
                done[m] = done[n] + 1
                queue.append(m)
    return sum(n.v * d * sum(n.seen.values()) for n, d in done.items())


@program(0.7, 0.3, features="list in a field, distances under objects")
def distances_under_objects(x, y):
    ns = [N(x * i + y) for i in range(5)]
    for i in range(5):
        ns[i].kids.append((ns[(i + 1) % 5], x * i + 1))
        ns[i].kids.append((ns[(i * 2) % 5], y * i + 0.5))
    dist = {ns[0]: 0.0}
    todo = [0]
    names = {n: i for i, n in enumerate(ns)}
    while todo:
        n = ns[todo.pop(0)]
        for m, w in n.kids:
            d = dist[n] + w
            if m not in dist or d < dist[m]:
                dist[m] = d
                todo.append(names[m])
    return sum(dist[n] * n.v for n in ns)


@program(0.7, 0.3, features="list in a field, histories in a try")
def histories_in_a_try(x, y):
    a = ps(x)
    t = 0.0
    try:
        for p in a:
            p.h.append(p.x)
            p.s.add(len(p.h))
            if p.x > 0.85:
                raise ValueError
            t += p.h.pop()
    except ValueError:
        t += sum(len(p.h) * p.x for p in a)
    return t + sum(len(p.s) for p in a) * y


@program(0.7, 0.3, features="list in a field, histories cleared")
def histories_cleared(x, y):
    a = ps(x)
    for k in range(4):
        for p in a:
            p.h.append(p.x * k)
            if len(p.h) == 3:
                p.h.clear()
    return sum(sum(p.h) for p in a)


@program(0.7, 0.3, features="list in a field, history given to functions")
def history_given_to_functions(x, y):
    def fill(h, k):
        for i in range(k):
            h.append(x * i)

    def mean(h):
        return sum(h) / len(h)

    a = ps(x)
    for k, p in enumerate(a):
        fill(p.h, k + 1)
    return sum(mean(p.h) * y for p in a)


@program(0.7, 0.3, features="list in a field, histories of functions of the module")
def histories_of_functions_of_the_module(x, y):
    a = ps(x)
    for k, p in enumerate(a):
        fill_up(p, x * k)
        fill_list(p.h, y)
    return sum(average(p.h) * p.x for p in a)


def fill_up(p, v):
    p.h.append(v)
    p.h.append(v * v)


def fill_list(h, v):
    h.append(v)


def average(h):
    return sum(h) / len(h)
