"""Lists, dicts and sets in fields of objects, and lists in lists, that are written into where they are."""

from __future__ import annotations

import numpy as np

from tests.programs.mutation.table import program


class P:
    def __init__(self, x):
        self.x = x
        self.h = []
        self.d = {}
        self.s = set()

    def step(self, k):
        self.x = self.x * k
        self.h.append(self.x)


class Q:
    def __init__(self, items):
        self.items = items


class N:
    def __init__(self, v):
        self.v = v
        self.kids = []
        self.parent = None

    def add(self, n):
        self.kids.append(n)
        n.parent = self


def ps(x, n=3):
    return [P(x + 0.1 * i) for i in range(n)]


@program(0.7, 0.3, features="list in a field, two fields one list")
def two_fields_one_list(x, y):
    a = ps(x)
    a[0].h.append(y)
    a[1].h = a[0].h
    a[1].h.append(x * y)
    return sum(a[0].h) + 2 * a[0].h[-1] * len(a[1].h)


@program(0.7, 0.3, features="list in a field, field and name of a list")
def field_and_name_of_a_list(x, y):
    mine = []
    a = [Q(mine), Q([y])]
    a[0].items.append(x)
    mine.append(x * y)
    a[1].items.append(y * y)
    return sum(a[0].items) * 2 + mine[0] + a[1].items[-1]


@program(0.7, 0.3, features="list in a field, two objects get one list")
def two_objects_get_one_list(x, y):
    mine = [x]
    a = [Q(mine), Q(mine)]
    a[0].items.append(y)
    return sum(a[1].items) * x


@program(0.7, 0.3, features="list in a field, history that begins anew")
def history_that_begins_anew(x, y):
    a = ps(x)
    t = 0.0
    for k in range(6):
        for p in a:
            p.step(y)
            if len(p.h) > 2:
                t += sum(p.h)
                p.h = []
    return t + sum(a[0].h)


@program(0.7, 0.3, features="list in a field, history where an index fails")
def history_where_an_index_fails(x, y):
    a = ps(x)
    t = 0.0
    for p in a:
        try:
            p.h.append(p.x)
            p.step(y)
            p.h[5]
        except IndexError:
            t += p.h[-1] * len(p.h)
    return t + sum(a[2].h)


@program(0.7, 0.3, features="list in a field, histories half written")
def histories_half_written(x, y):
    a = ps(x)
    try:
        for k, p in enumerate(a):
            p.h.append(p.x * y)
            if k == 1:
                raise ValueError("stop")
            p.h.append(p.x)
    except ValueError:
        pass
    return sum(sum(p.h) * (k + 1) for k, p in enumerate(a))


@program(0.7, 0.3, features="list in a field, history until it is long")
def history_until_it_is_long(x, y):
    a = ps(x)
    for k in range(9):
        for p in a:
            p.step(y)
            if len(p.h) == 3:
                return sum(p.h) + p.x
    return x


KEEP = []


@program(0.7, 0.3, features="list in a field, history that a module keeps")
def history_that_a_module_keeps(x, y):
    a = ps(x)
    for p in a:
        p.step(y)
    KEEP.clear()
    KEEP.append(a[0].h)
    a[0].h.append(x)
    return sum(a[0].h) + len(KEEP[0]) * y


@program(0.7, 0.3, features="list in a field, history grows while run over")
def history_grows_while_run_over(x, y):
    a = ps(x)
    a[0].h.append(x)
    t = 0.0
    for v in a[0].h:
        t += v
        if len(a[0].h) < 5:
            a[0].h.append(v * y)
    return t


@program(0.7, 0.3, features="list in a field, history grows by another name")
def history_grows_by_another_name(x, y):
    a = ps(x)
    a[0].h.append(x)
    a[1].h = a[0].h
    t = 0.0
    for v in a[0].h:
        t += v
        if len(a[1].h) < 5:
            a[1].h.append(v * y)
    return t


@program(0.7, 0.3, features="list in a field, history from another one")
def history_from_another_one(x, y):
    a = ps(x)
    for k in range(3):
        a[0].h.append(x * k)
    for v in a[0].h:
        a[1].h.append(v * y)
    return sum(a[1].h) + a[1].h[2]


@program(0.7, 0.3, features="list in a field, history without some")
def history_without_some(x, y):
    a = ps(x)
    for k in range(4):
        a[0].h.append(x * k + y)
    t = 0.0
    for v in list(a[0].h):
        if v > 1.5:
            a[0].h.remove(v)
            t += v
    a[0].h.insert(0, t)
    a[0].h.pop()
    a[0].h.sort()
    a[0].h.reverse()
    return sum(k * v for k, v in enumerate(a[0].h))


@program(0.7, 0.3, features="list in a field, dicts in fields")
def dicts_in_fields(x, y):
    a = ps(x)
    for k in range(6):
        p = a[k % 3]
        p.d[k] = p.x * k
        p.d.setdefault("n", y)
        p.d["n"] += 1.0
    t = 0.0
    for p in a:
        for k, v in p.d.items():
            t += v * v
        t += p.d.pop("n") * len(p.d) + p.d.get(7, y)
    return t


@program(0.7, 0.3, features="list in a field, sets in fields")
def sets_in_fields(x, y):
    a = ps(x)
    for k in range(6):
        a[k % 3].s.add(k * k % 5)
    t = 0.0
    for p in a:
        for k in p.s:
            t += p.x * k
        if 1 in p.s:
            t += y
    return t


@program(0.7, 0.3, features="list in a field, sets of objects in fields")
def sets_of_objects_in_fields(x, y):
    a = ps(x)
    for k in range(6):
        a[k % 3].s.add(a[k * k % 3])
    t = 0.0
    for p in a:
        t += p.x * max(q.x for q in p.s) * y  # the same in any order
        if a[0] in p.s:
            t += y
    return t


@program(0.7, 0.3, features="list in a field, children with parents")
def children_with_parents(x, y):
    root = N(x)
    nodes = [root]
    for k in range(1, 7):
        n = N(x * k + y)
        nodes[(k - 1) // 2].add(n)
        nodes.append(n)

    def total(n, depth):
        t = n.v * depth
        for c in n.kids:
            t += total(c, depth + 1)
        return t

    return total(root, 1) + nodes[5].parent.v * y


@program(0.7, 0.3, features="list in a field, children made from a stack")
def children_made_from_a_stack(x, y):
    root = N(x)
    stack = [root]
    count = 0
    while stack and count < 9:
        n = stack.pop()
        for k in range(2):
            c = N(n.v * y + k)
            n.kids.append(c)
            stack.append(c)
        count += 1
    t = 0.0
    todo = [root]
    while todo:
        n = todo.pop()
        t += n.v
        todo.extend(n.kids)
    return t


@program(0.7, 0.3, features="list in a field, one of two histories")
def one_of_two_histories(x, y):
    a = ps(x)
    for k in range(6):
        h = a[0].h if k % 2 else a[1].h
        h.append(x * k + y)
    return sum(a[0].h) * 2 + sum(a[1].h)


@program(0.7, 0.3, features="list in a field, histories as arrays")
def histories_as_arrays(x, y):
    a = ps(x)
    for p in a:
        p.step(y)
    return np.sum(np.array(a[0].h)) + np.mean(np.array(a[1].h))


@program(0.7, 0.3, features="list in a field, histories squared")
def histories_squared(x, y):
    a = ps(x)
    for k in range(3):
        for p in a:
            p.step(y)
    return sum(np.sum(np.array(p.h) ** 2) for p in a)


@program(0.7, 0.3, features="list in a field, list or none in a field")
def list_or_none_in_a_field(x, y):
    a = [Q(None), Q(None)]
    for k in range(4):
        q = a[k % 2]
        if q.items is None:
            q.items = []
        q.items.append(x * k)
    return sum(a[0].items) + sum(a[1].items) * y


@program(0.7, 0.3, features="list in a field, histories exchanged")
def histories_exchanged(x, y):
    a = ps(x)
    for k in range(4):
        for p in a:
            p.step(y)
        a[0].h, a[1].h = a[1].h, a[0].h
    return sum(a[0].h) * 2 + sum(a[1].h)


@program(0.7, 0.3, features="list in a field, rows exchanged and longer")
def rows_exchanged_and_longer(x, y):
    b = [[x], [y], [x * y]]
    for k in range(5):
        b[k % 3].append(x * k)
        b[0], b[2] = b[2], b[0]
    return sum(v * k for k, r in enumerate(b) for v in r)


@program(0.7, 0.3, features="list in a field, one row three times")
def one_row_three_times(x, y):
    b = [[]] * 3
    b[0].append(x)
    b[1].append(y)
    return sum(b[2]) * len(b[0])


@program(0.7, 0.3, features="list in a field, rows of a slice get longer")
def rows_of_a_slice_get_longer(x, y):
    b = [[] for _ in range(4)]
    c = b[1:3]
    for k in range(8):
        b[k % 4].append(x * k)
        c[k % 2].append(y)
    return sum(b[1]) + sum(c[1]) * 2 + sum(b[0])


@program(0.7, 0.3, features="list in a field, dicts of lists in fields")
def dicts_of_lists_in_fields(x, y):
    a = ps(x)
    for k in range(6):
        a[k % 3].d.setdefault(k % 2, []).append(x * k)
    t = 0.0
    for p in a:
        for k, v in p.d.items():
            t += sum(v) * (k + 1)
    return t


@program(0.7, 0.3, features="list in a field, history of one object")
def history_of_one_object(x, y):
    p = P(x)
    for k in range(5):
        p.step(y)
        if p.x > 2:
            p.s.add(k)
    return sum(p.h) + len(p.s)


@program(0.7, 0.3, features="list in a field, histories extended")
def histories_extended(x, y):
    a = ps(x)
    a[0].h.extend([x, y])
    a[1].h.extend(a[0].h)
    a[1].h += [x * y]
    a[0].h += a[1].h
    return sum(v * k for k, v in enumerate(a[0].h))


@program(0.7, 0.3, features="list in a field, adjacency lists visited")
def adjacency_lists_visited(x, y):
    adj = [[] for _ in range(5)]
    for i in range(5):
        adj[i].append((i + 2) % 5)
        adj[(i * i) % 5].append(i)
    seen = [False] * 5
    out = []

    def visit(i):
        seen[i] = True
        for j in adj[i]:
            if not seen[j]:
                visit(j)
        out.append(x * i + y)

    visit(0)
    return sum(v * k for k, v in enumerate(out))


@program(0.7, 0.3, features="list in a field, rows get longer in a loop")
def rows_get_longer_in_a_loop(x, y):
    rows = [[x * i] for i in range(3)]
    for r in rows:
        r.append(y)
    return sum(r[0] * r[1] for r in rows) + rows[-1][-1]


@program(0.7, 0.3, features="list in a field, histories of two lists")
def histories_of_two_lists(x, y):
    a, b = ps(x), ps(y)
    for p, q in zip(a, b):
        p.step(y)
        q.step(x)
        p.h.append(q.h[0])
    return sum(sum(p.h) for p in a) + sum(q.h[-1] for q in b)


@program(0.7, 0.3, features="list in a field, histories made in a loop")
def histories_made_in_a_loop(x, y):
    t = 0.0
    for k in range(3):
        a = ps(x * k)
        for p in a:
            p.step(y)
            p.step(y)
        t += sum(p.h[k % 2] for p in a)
    return t


@program(0.7, 0.3, features="list in a field, histories with parts deleted")
def histories_with_parts_deleted(x, y):
    a = ps(x)
    for k in range(5):
        for p in a:
            p.step(y)
    for p in a:
        del p.h[0]
        p.h[0] = x
        p.h[1] += y
        del p.h[2:3]
    return sum(sum(p.h) for p in a)


@program(0.7, 0.3, features="lists in a list, buckets filled")
def buckets_filled(x, y):
    bs = [[] for _ in range(3)]
    for i in range(9):
        bs[i % 3].append(x * i + y)
    t = 0.0
    for k, b in enumerate(bs):
        for v in b:
            t += v * v * k
    return t


@program(0.7, 0.3, features="lists in a list, adjacency lists")
def adjacency_lists(x, y):
    adj = [[] for _ in range(4)]
    for i in range(4):
        adj[i].append((i + 1) % 4)
        adj[(i + 2) % 4].append(i)
    t = 0.0
    h = [x * i + y for i in range(4)]
    for i in range(4):
        for j in adj[i]:
            t += h[i] * h[j] * j
    return t


class Timer:
    def __init__(self, table, name):
        self.table, self.name = table, name

    def __enter__(self):
        self.cost = 0.0
        return self

    def add(self, c):
        self.cost += c

    def __exit__(self, *exc):
        self.table.setdefault(self.name, 0.0)
        self.table[self.name] += self.cost
        return False


@program(0.7, 0.3, features="context manager, setdefault")
def timers(x, y):
    table = {}
    for i in range(5):
        with Timer(table, "a" if i % 2 else "b") as t:
            t.add(x * i)
            t.add(y)
    return table["a"] * table["b"]


class Section:
    current = None

    def __init__(self, stats, name):
        self.stats, self.name = stats, name

    def __enter__(self):
        self.stats.setdefault(self.name, {"n": 0, "total": 0.0})
        return self.stats[self.name]

    def __exit__(self, *a):
        self.stats[self.name]["n"] += 1


@program(0.7, 0.3, features="context manager, setdefault of a dict")
def sections(x, y):
    stats = {}
    for i in range(4):
        with Section(stats, "ab"[i % 2]) as s:
            s["total"] += x * i + y
    return stats["a"]["total"] * stats["b"]["total"] + stats["a"]["n"] * x
