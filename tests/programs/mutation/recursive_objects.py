"""Objects and functions of the module that call themselves, or return from loops, and write into what they are given."""

from __future__ import annotations

import math

import numpy as np

from tests.programs.mutation.table import program

X = 0.7


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


class Tr:
    def __init__(self, v, kids):
        self.v = v
        self.kids = kids

    def total(self):
        return self.v + sum((k.total() * 0.5 for k in self.kids))

    def scale(self, c):
        self.v = self.v * c
        for k in self.kids:
            k.scale(c * 1.1)

    def depth(self):
        return 1 if not self.kids else 1 + max((k.depth() for k in self.kids))

    def leaves(self, out):
        if len(self.kids) == 0:
            out.append(self.v)
        for k in self.kids:
            k.leaves(out)

    def first(self):
        return self.v if not self.kids else self.kids[0].first() + self.kids[-1].v


def plant2(v, x, k):
    if k == 0:
        return Tr(v, [])
    return Tr(v, [plant2(v * x, x, k - 1), plant2(v + x, x, k - 1)])


@program(X, 3, features="recursion, children in lists, several methods")
def planted_tree(x, n):
    t = plant2(x, x, n)
    a = t.total()
    t.scale(x)
    out = []
    t.leaves(out)
    return a * t.total() + sum(out) * t.depth() + t.first()


@program(X, 3, features="recursion, children, one list twice")
def kids_same_list_twice(x, n):
    kids = [Tr(x, []), Tr(2 * x, [])]
    t = Tr(x, kids)
    u = Tr(3 * x, kids)
    t.kids[0].v = 5 * x * x
    return t.total() * u.total() + (1.0 if t.kids is u.kids else 2.0)


@program(X, 3, features="recursion, children, None among them")
def kids_with_none(x, n):
    t = Tr(x, [None, Tr(2 * x, [])])
    s = 0.0
    for k in t.kids:
        if k is not None:
            s += k.v
    return s + t.v


@program(X, 3, features="recursion, children, replaced")
def kids_replaced(x, n):
    t = plant2(x, x, n)
    old = t.kids
    t.kids = [Tr(x * x, [])]
    return t.total() + sum((k.v for k in old))


@program(X, 3, features="recursion, children, list written into later")
def kids_list_kept(x, n):
    kids = [Tr(x, []), Tr(2 * x, [])]
    t = Tr(x, kids)
    kids.append(Tr(x * x, []))
    kids[0] = Tr(7 * x, [])
    return t.total()


@program(X, 3, features="recursion, children of a branch")
def kids_branch(x, n):
    kids = [Tr(x, [])] if x > 0 else [None]
    t = Tr(x, kids)
    return t.total()


@program(X, 3, features="recursion, children of a comprehension")
def kids_by_comprehension(x, n):
    t = Tr(x, [Tr(x * i, []) for i in range(n)])
    vals = [k.v for k in t.kids if k.v > 0]
    return (
        sum(vals) * len(t.kids)
        + sum((k.v * i for i, k in enumerate(t.kids)))
        + sum((k.v for k in t.kids[1:]))
        + sum((k.v for k in reversed(t.kids)))
    )


class Solver:
    def __init__(self, x):
        self.x = x
        self.memo = {}
        self.calls = 0

    def solve(self, k):
        self.calls += 1
        if k == 0:
            return self.x
        if k not in self.memo:
            self.memo[k] = self.solve(k - 1) * self.x + self.solve(k - 1)
        return self.memo[k]


@program(X, 3, features="recursion, object with a memo")
def solver_with_memo(x, n):
    s = Solver(x)
    a = s.solve(n)
    return a * s.calls + sum(s.memo.values())


@program(X, 3, features="recursion, returns None or a node")
def none_or_node(x, n):
    log = []

    def find(node, k):
        if node is None:
            return None
        log.append(node.value)
        if k == 0:
            return node
        return find(node.next, k - 1)

    head = None
    for i in range(n):
        head = Node(x + i, head)
    a = find(head, 1)
    b = find(head, 10)
    r = 0.0 if b is None else b.value
    return a.value + r + sum(log) + (1.0 if a is head.next else 2.0) * x


@program(X, 3, features="recursion, attribute of None")
def deeper_than_the_list(x, n):
    log = []

    def depth(node):
        log.append(x)
        return depth(node.next) + node.value

    head = Node(x)
    try:
        depth(head)
    except AttributeError:
        pass
    return sum(log)


def ext(out, k, x):
    if k == 0:
        return
    out.extend([x * k, x])
    out += [x * x]
    ext(out, k - 1, x)


@program(X, 3, features="recursion, extend")
def extended_in_recursion(x, n):
    out = []
    ext(out, n, x)
    return sum((v * i for i, v in enumerate(out)))


def maybe(out, k, x):
    if out is None:
        out = []
    out.append(x * k)
    if k:
        maybe(out, k - 1, x)
    return out


@program(X, 3, features="recursion, default None")
def default_none_list(x, n):
    return sum(maybe(None, n, x))


class Bag:
    def __init__(self):
        self.items = []
        self.n = 0

    def add(self, v):
        for i in range(len(self.items)):
            if self.items[i] > v:
                self.items[i] = self.items[i] + v
                self.n += 1
                return i
        self.items.append(v)
        return -1


@program(X, 5, features="recursion, return from a loop in a method")
def method_returns_from_loop(x, n):
    b = Bag()
    s = 0
    for i in range(n):
        s += b.add(x * math.sin(3 * i))
    return sum(b.items) * b.n + s * x


def while_true(m, x):
    while True:
        m.append(m[-1] * x + 1)
        if m[-1] > 3:
            return m[-1]


@program(X, 5, features="recursion, return from while True")
def while_true_return(x, n):
    m = [x]
    a = while_true(m, 1.5)
    b = while_true(m, 2 * x + 1)
    return a * b + sum(m)


def swap(a, i, j):
    a[i], a[j] = (a[j], a[i])


def heapify_(a, n, i):
    big = i
    left, right = (2 * i + 1, 2 * i + 2)
    if left < n and a[left] > a[big]:
        big = left
    if right < n and a[right] > a[big]:
        big = right
    if big != i:
        swap(a, i, big)
        heapify_(a, n, big)


def heap_sort(a):
    n = len(a)
    for i in range(n // 2 - 1, -1, -1):
        heapify_(a, n, i)
    for i in range(n - 1, 0, -1):
        swap(a, i, 0)
        heapify_(a, i, 0)


@program(X, 9, features="recursion, heap sort")
def heap_sorted(x, n):
    a = [x * math.sin(2.7 * i) for i in range(n)]
    heap_sort(a)
    return sum((v * i for i, v in enumerate(a)))


def fill(a, v, k):
    a[k] = v
    return a


@program(X, 5, features="recursion, returns what it was given")
def returns_its_argument(x, n):
    a = [0.0] * n
    b = fill(a, x, 0)
    b[1] = x * x
    return sum(a) + sum(b)


def fill_both(a, b, v):
    a[0] = v
    b[1] = a[0] * v


@program(X, 5, features="recursion, one list by two names")
def helper_aliases(x, n):
    a = [x] * 3
    fill_both(a, a, x * x)
    c = [x] * 3
    fill_both(a, c, x)
    return a[0] * a[1] + c[1] + c[0]


@program(X, 5, features="recursion, array is passed")
def array_filled_by_a_function(x, n):
    a = np.zeros(3)
    fill(a, x, 0)
    fill(a, a[0] * x, 1)
    return np.sum(a * a)


def put(d, k, v):
    d[k] = v


@program(X, 5, features="recursion, dict is passed")
def dicts_filled_by_a_function(x, n):
    d = {}
    for i in range(n):
        put(d, i, x * i)
    put(d, 0, x)
    e = {"a": x, "b": 2.0}
    put(e, "a", x * x)
    return sum(d.values()) + e["a"] * e["b"]


@program(X, 5, features="recursion, exchanges in a function")
def reversed_by_exchanges(x, n):
    a = [x * i for i in range(n)]
    for i in range(n // 2):
        swap(a, i, n - 1 - i)
    swap(a, 0, 1)
    return sum((v * i for i, v in enumerate(a)))


def parse_atom(toks, pos):
    if toks[pos] == "(":
        v, pos = parse_expr(toks, pos + 1)
        return (v, pos + 1)
    return (toks[pos], pos + 1)


def parse_term(toks, pos):
    v, pos = parse_atom(toks, pos)
    while pos < len(toks) and toks[pos] == "*":
        w, pos = parse_atom(toks, pos + 1)
        v = v * w
    return (v, pos)


def parse_expr(toks, pos):
    v, pos = parse_term(toks, pos)
    while pos < len(toks) and toks[pos] == "+":
        w, pos = parse_term(toks, pos + 1)
        v = v + w
    return (v, pos)


@program(X, features="recursion, recursive descent, tuples")
def parsed_formula(x):
    v, _ = parse_expr([x, "*", "(", x, "+", 3.0, ")", "+", x], 0)
    return v
