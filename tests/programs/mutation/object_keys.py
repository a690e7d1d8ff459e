"""Objects as keys of dicts and items of sets."""

from __future__ import annotations

from collections import defaultdict

from tests.programs.mutation.table import program


class Node:
    def __init__(self, v, name):
        self.v = v
        self.name = name
        self.out = 0.0


class Eq(Node):
    def __eq__(self, o):
        return isinstance(o, Eq) and self.name == o.name

    def __hash__(self):
        return hash(self.name)


def nodes(x, y, n=6):
    return [Node(x * i + y, i) for i in range(n)]


@program(0.7, 0.3, features="objects as keys, objects seen twice")
def objects_seen_twice(x, y):
    ns = nodes(x, y)
    seen = set()
    t = 0.0
    for k in (0, 3, 3, 1, 0, 5):
        n = ns[k]
        if n in seen:
            t += n.v * y
            seen.discard(n)
        else:
            seen.add(n)
            t += n.v
            n.out = t
    for n in ns:
        if n in seen:
            t += n.out
    return t + len(seen)


@program(0.7, 0.3, features="objects as keys, keys equal by name")
def keys_equal_by_name(x, y):
    ns = [Eq(x * i + y, i % 3) for i in range(6)]
    d = {}
    for n in ns:
        d[n] = d.get(n, 0.0) + n.v
    return sum(d[n] * n.v for n in ns)


@program(0.7, 0.3, features="objects as keys, objects and numbers as keys")
def objects_and_numbers_as_keys(x, y):
    ns = nodes(x, y)
    d = {}
    d[0] = x
    for n in ns:
        d[n] = n.v * n.v
    return d[0] + d[ns[0]] + d[ns[1]] * len(d)


@program(0.7, 0.3, features="objects as keys, none and objects as keys")
def none_and_objects_as_keys(x, y):
    ns = nodes(x, y)
    d = {}
    prev = None
    for n in ns:
        d[prev] = n.v
        prev = n
    return d[None] + d[ns[0]] * 2


@program(0.7, 0.3, features="objects as keys, items under objects")
def items_under_objects(x, y):
    ns = nodes(x, y)
    d = {}
    for n in ns:
        d[n] = n.v * y
    t = 0.0
    for n, v in d.items():
        t += n.v * v * n.name
        n.out = t
    for n in d:
        t += n.out
    for n in d.keys():
        t += n.out * d[n]
    return t + sum(d.values())


@program(0.7, 0.3, features="objects as keys, objects popped")
def objects_popped(x, y):
    ns = nodes(x, y)
    d = {}
    for n in ns:
        d[n] = n.v * y
    t = d.pop(ns[2]) * 3
    n, v = d.popitem()
    t += n.v * v
    d.setdefault(ns[2], x)
    del d[ns[0]]
    return t + d[ns[2]] + len(d) + sum(d.values())


@program(0.7, 0.3, features="objects as keys, lists under objects")
def lists_under_objects(x, y):
    ns = nodes(x, y)
    edges = {}
    for i, n in enumerate(ns):
        edges.setdefault(n, []).append(ns[(i + 1) % 6])
        edges.setdefault(ns[(i + 2) % 6], []).append(n)
    t = 0.0
    for n in ns:
        for m in edges[n]:
            t += n.v * m.v * m.name
    return t


@program(0.7, 0.3, features="objects as keys, defaultdict under objects")
def defaultdict_under_objects(x, y):
    ns = nodes(x, y)
    d = defaultdict(float)
    for i in range(9):
        d[ns[i % 6]] += ns[(2 * i) % 6].v
    return sum(d[n] * n.name for n in ns)


@program(0.7, 0.3, features="objects as keys, pairs of objects in a set")
def pairs_of_objects_in_a_set(x, y):
    ns = nodes(x, y)
    seen = set()
    t = 0.0
    for i in range(8):
        a, b = ns[i % 3], ns[(i * i) % 5]
        if (a, b) not in seen:
            seen.add((a, b))
            t += a.v * b.v
    return t


@program(0.7, 0.3, features="objects as keys, pairs of objects as keys")
def pairs_of_objects_as_keys(x, y):
    ns = nodes(x, y)
    d = {}
    for a in ns:
        for b in ns:
            d[a, b] = a.v * b.name
    return d[ns[1], ns[2]] * d[ns[2], ns[1]]


@program(0.7, 0.3, features="objects as keys, dict comprehension over objects")
def dict_comprehension_over_objects(x, y):
    ns = nodes(x, y)
    d = {n: n.v * y for n in ns}
    for n in ns:
        d[n] = d[n] * n.name
    return sum(d[n] for n in ns)


@program(0.7, 0.3, features="objects as keys, dict display of objects")
def dict_display_of_objects(x, y):
    a, b = Node(x, 0), Node(y, 1)
    d = {a: x * y, b: y}
    d[a] += 1.0
    return d[a] * d[b] + a.v


@program(0.7, 0.3, features="objects as keys, object that is no key")
def object_that_is_no_key(x, y):
    ns = nodes(x, y)
    d = {}
    for n in ns[:3]:
        d[n] = n.v
    t = 0.0
    for n in ns:
        try:
            t += d[n]
        except KeyError:
            t += x
    return t


GLOBAL = []


@program(0.7, 0.3, features="objects as keys, set of objects that a module keeps")
def set_of_objects_that_a_module_keeps(x, y):
    ns = nodes(x, y)
    seen = set()
    for n in ns:
        seen.add(n)
    GLOBAL.clear()
    GLOBAL.append(seen)
    return x * len(seen) + ns[1].v * y


@program(0.7, 0.3, features="objects as keys, set of objects returned")
def set_of_objects_returned(x, y):
    def make():
        s = set()
        for n in nodes(x, y):
            s.add(n)
        return s

    return max(n.v for n in make()) * len(make())  # the same in any order


@program(0.7, 0.3, features="objects as keys, set of objects grows while run over")
def set_of_objects_grows_while_run_over(x, y):
    ns = nodes(x, y)
    todo = set()
    for n in ns:
        todo.add(n)
    t = 0.0
    try:
        for n in todo:
            t += n.v
            todo.add(Node(x, 9))
    except RuntimeError:
        t += y
    return t * 0 + x * y


@program(0.7, 0.3, features="objects as keys, set of two classes")
def set_of_two_classes(x, y):
    class_a = [Node(x, 1), Node(y, 2)]
    others = [Other(x * y), Other(y)]
    seen = set()
    for n in class_a:
        seen.add(n)
    for n in others:
        seen.add(n)
    t = 0.0
    for n in class_a + others:
        if n in seen:
            t += n.v
    return t


class Other:
    def __init__(self, v):
        self.v = v


@program(0.7, 0.3, features="objects as keys, objects seen until one")
def objects_seen_until_one(x, y):
    ns = nodes(x, y)
    seen = set()
    for n in ns:
        seen.add(n)
        if n.name == 3:
            return n.v * len(seen) + ns[0].v
    return x


@program(0.7, 0.3, features="objects as keys, sets of objects exchanged")
def sets_of_objects_exchanged(x, y):
    ns = nodes(x, y)
    now, new = set(), set()
    now.add(ns[0])
    t = 0.0
    for step in range(4):
        new = set()
        for n in ns:
            if n in now:
                new.add(ns[(n.name + 1) % 6])
                t += n.v * (step + 1)
        now = new
    return t


@program(0.7, 0.3, features="objects as keys, linked objects seen")
def linked_objects_seen(x, y):
    head = None
    for i in range(5):
        head = L(x * i, head)
    seen = set()
    node, t = head, 0.0
    while node is not None and node not in seen:
        seen.add(node)
        t += node.v * y
        node = node.next
    return t


class L:
    def __init__(self, v, next):
        self.v, self.next = v, next


class Task:
    def __init__(self, cost):
        self.cost = cost
        self.needs = []
        self.total = 0.0


@program(0.7, 0.3, features="objects as keys, set of tasks")
def tasks_done(x, y):
    tasks = [Task(x * (i + 1.0) + y) for i in range(8)]
    done = set()
    total = 0.0
    for i in range(12):
        task = tasks[(i * 5) % 8]
        if task not in done:
            done.add(task)
            total += task.cost * task.cost
            task.total = total
    for task in tasks:
        if task in done:
            total += task.total
    return total


@program(0.7, 0.3, features="objects as keys, dict of tasks")
def best_of_tasks(x, y):
    tasks = [Task(x * (i + 1.0) + y) for i in range(8)]
    best = {}
    for i in range(12):
        task = tasks[(i * 5) % 8]
        best[task] = best.get(task, 0.0) + task.cost * i
    return sum(best[task] * task.cost for task in tasks)
