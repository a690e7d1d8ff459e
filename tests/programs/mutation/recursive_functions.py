"""Functions and methods that call themselves, and write into what they are given."""

from __future__ import annotations

import math

from tests.programs.mutation.table import program

X = 0.7


def inorder(node, out):
    if node is not None:
        inorder(node.left, out)
        out.append(node.value)
        inorder(node.right, out)


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next
        self.left = None
        self.right = None
        self.seen = 0


def insert(node, v):
    if node is None:
        return Node(v)
    if v < node.value:
        node.left = insert(node.left, v)
    else:
        node.right = insert(node.right, v)
    return node


@program(X, 9, features="recursion, tree of nodes, parameters that are None, order")
def ordered_tree(x, n):
    root = None
    for i in range(n):
        root = insert(root, x * math.sin(i * 1.7))
    out = []
    inorder(root, out)
    s = 0.0
    for i in range(len(out)):
        s += out[i] * i
    return s


def total(node):
    if node is None:
        return 0.0
    return node.value + 0.5 * total(node.left) + total(node.right) * node.value


def build(v, depth):
    node = Node(v)
    if depth > 0:
        node.left = build(v * 0.5, depth - 1)
        node.right = build(v * v, depth - 1)
    return node


@program(X, 3, features="recursion, tree of nodes")
def tree_sum(x, n):
    return total(build(x, n))


class Node2:
    def __init__(self, value, left, right):
        self.value = value
        self.left = left
        self.right = right

    def total(self, d):
        s = self.value
        if self.left is not None:
            s += d * self.left.total(d)
        if self.right is not None:
            s += d * self.right.total(d)
        return s


def build2(v, depth):
    if depth == 0:
        return Node2(v, None, None)
    return Node2(v, build2(v * 0.5, depth - 1), build2(v + 1.0, depth - 1))


@program(X, 3, features="recursion, tree of nodes, methods")
def tree_method(x, n):
    return build2(x, n).total(x)


def quicksort(a, lo, hi):
    if lo < hi:
        p = a[hi]
        i = lo
        for j in range(lo, hi):
            if a[j] < p:
                a[i], a[j] = (a[j], a[i])
                i += 1
        a[i], a[hi] = (a[hi], a[i])
        quicksort(a, lo, i - 1)
        quicksort(a, i + 1, hi)


@program(X, 9, features="recursion, list in place, exchanges")
def quick_sort(x, n):
    a = [x * math.sin(3.3 * i) for i in range(n)]
    quicksort(a, 0, n - 1)
    s = 0.0
    for i in range(n):
        s += a[i] * (i + 1)
    return s


def perm(items, k, x, acc, out):
    if k == len(items):
        out.append(acc)
        return
    for i in range(k, len(items)):
        items[k], items[i] = (items[i], items[k])
        perm(items, k + 1, x, acc * x + items[k] * k, out)
        items[k], items[i] = (items[i], items[k])


@program(X, 3, features="recursion, backtracking, exchanges")
def backtrack(x, n):
    items = [x * (i + 1) for i in range(n)]
    out = []
    perm(items, 0, x, 0.0, out)
    return max(out) + sum(out)


def add_both(a, b, k, x):
    if k == 0:
        return
    a[k] = a[k] + x
    b[k] = b[k] * x
    add_both(a, b, k - 1, x)


@program(X, 4, features="recursion, one list by two names")
def alias_twice(x, n):
    a = [x] * (n + 1)
    add_both(a, a, n, x)
    return sum(a)


def swap_rec(a, b, k, x):
    if k == 0:
        return
    a[k] = a[k] + x
    b[k] = b[k] * x * 2
    swap_rec(b, a, k - 1, x)


@program(X, 5, features="recursion, lists that change places")
def swapped_args(x, n):
    a = [x * i for i in range(n + 1)]
    b = [x + i for i in range(n + 1)]
    swap_rec(a, b, n, x)
    return sum(a) + 2 * sum(b)


def double(node, x):
    if node is None:
        return
    node.value = node.value * x
    double(node.next, x)


@program(X, 4, features="recursion, linked list")
def doubled_list(x, n):
    head = None
    for i in range(n):
        head = Node(x + i, head)
    a = total(head)
    double(head, x)
    return a * total(head)


def reverse(node, prev):
    if node is None:
        return prev
    nxt = node.next
    node.next = prev
    return reverse(nxt, node)


@program(X, 4, features="recursion, linked list, reversed")
def reversed_list(x, n):
    head = None
    for i in range(n):
        head = Node(x ** (i + 1), head)
    head = reverse(head, None)
    s = 0.0
    i = 1
    while head is not None:
        s += head.value * i
        i += 1
        head = head.next
    return s


@program(X, 4, features="recursion, one object by two names")
def same_object_twice(x, n):
    a = Node(x)
    b = Node(2 * x, a)

    def f(p, q, k):
        if k == 0:
            return p.value * q.value
        p.value = p.value + q.value * x
        return f(q, p, k - 1)

    return f(a, b, n) + f(a, a, n)


def is_same(a, b, k):
    if k == 0:
        return 1.0 if a is b else 2.0
    a.value = a.value * 2
    return is_same(a, b, k - 1)


@program(X, 3, features="recursion, is")
def objects_compared(x, n):
    a = Node(x)
    b = Node(x)
    return is_same(a, b, n) * x + is_same(a, a, n) * x * x + a.value


class Acc:
    def __init__(self, x):
        self.x = x
        self.t = 0.0
        self.log = []

    def go(self, k, v):
        self.t += v * self.x
        self.log.append(v)
        if k > 0:
            self.go(k - 1, v * self.x)
            self.go(k - 1, v + 1)


@program(X, 3, features="recursion, method, fields")
def method_of_itself(x, n):
    a = Acc(x)
    a.go(n, x)
    return a.t + sum(a.log)


@program(X, 3, features="recursion, method, two objects")
def two_objects(x, n):
    a = Acc(x)
    b = Acc(2 * x)
    a.go(n, x)
    b.go(n - 1, x)
    a.go(1, 2.0)
    return a.t * b.t + sum(a.log) - sum(b.log)


class Base:
    def __init__(self, v):
        self.v = v
        self.kids = []

    def weight(self):
        return self.v

    def total(self):
        return self.weight() + sum((k.total() for k in self.kids))


class Sub(Base):
    def weight(self):
        return self.v * self.v


@program(X, 3, features="recursion, subclasses, lists of objects")
def weights_of_subclasses(x, n):

    def make(k, v):
        node = Sub(v) if k % 2 else Base(v)
        if k > 0:
            node.kids = [make(k - 1, v * x), make(k - 1, v + x)]
        return node

    return make(n, x).total()


def pong(k, out, v):
    if k == 0:
        return
    out.append(v * v)
    ping(k - 1, out, v + 1)


def ping(k, out, v):
    if k == 0:
        return
    out.append(v)
    pong(k - 1, out, v * 2)


@program(X, 5, features="recursion, functions of the module that call each other")
def mutual_module(x, n):
    out = []
    ping(n, out, x)
    pong(n, out, x)
    return sum(out)


def flood(g, i, j, v, x):
    if i < 0 or j < 0 or i >= len(g) or (j >= len(g[0])) or (g[i][j] != 0.0):
        return
    g[i][j] = v
    flood(g, i + 1, j, v * x, x)
    flood(g, i, j + 1, v + x, x)
    flood(g, i - 1, j, v, x)


@program(X, 3, features="recursion, lists in lists, conditions")
def flooded(x, n):
    g = [[0.0] * n for _ in range(n)]
    flood(g, 0, 0, x, x)
    return sum((sum(r) for r in g))


def merge_sort(a, lo, hi):
    if hi - lo < 2:
        return
    mid = (lo + hi) // 2
    merge_sort(a, lo, mid)
    merge_sort(a, mid, hi)
    out = []
    i, j = (lo, mid)
    while i < mid and j < hi:
        if a[i] <= a[j]:
            out.append(a[i])
            i += 1
        else:
            out.append(a[j])
            j += 1
    while i < mid:
        out.append(a[i])
        i += 1
    while j < hi:
        out.append(a[j])
        j += 1
    for k in range(len(out)):
        a[lo + k] = out[k]


@program(X, 9, features="recursion, divide and conquer")
def merge_sorted(x, n):
    a = [math.sin(i * 2.3) * x for i in range(n)]
    merge_sort(a, 0, n)
    return sum((a[i] * i for i in range(n)))


def flatten(t, out):
    for each in t:
        if isinstance(each, list):
            flatten(each, out)
        else:
            out.append(each)


@program(X, features="recursion, nested lists of an argument")
def flattened(x):
    out = []
    flatten([x, [x * x, [2 * x, 3.0]], [[x]]], out)
    return sum((v * i for i, v in enumerate(out)))


def subsets(items, i, chosen, out):
    if i == len(items):
        p = 1.0
        for c in chosen:
            p = p * c
        out.append(p)
        return
    subsets(items, i + 1, chosen, out)
    chosen.append(items[i])
    subsets(items, i + 1, chosen, out)
    chosen.pop()


@program(X, 4, features="recursion, backtracking, pop")
def all_subsets(x, n):
    out = []
    subsets([x + i for i in range(n)], 0, [], out)
    return sum(out)


@program(X, 3, features="recursion, made in a loop")
def loop_of_memos(x, n):
    s = 0.0
    for i in range(n):
        memo = {}

        def f(k):
            if k == 0:
                return x * i
            if k not in memo:
                memo[k] = f(k - 1) * x
            return memo[k]

        s += f(n) + sum(memo.values())
    return s


def nest(k, out, x):

    def inner(j):
        out.append(x * j)
        if j > 0:
            inner(j - 1)

    inner(k)
    if k > 0:
        nest(k - 1, out, x)


@program(X, 3, features="recursion, recursion in a recursion, module")
def nested_rec2(x, n):
    out = []
    nest(n, out, x)
    return sum(out)


def acker(m, n, calls, x):
    calls.append(x * m + n)
    if m == 0:
        return n + 1
    if n == 0:
        return acker(m - 1, 1, calls, x)
    return acker(m - 1, acker(m, n - 1, calls, x), calls, x)


@program(X, 2, features="recursion, calls in arguments")
def ackermann(x, n):
    calls = []
    r = acker(n, 2, calls, x)
    return sum(calls) * r


def collatz(k, x, d):
    d[k] = x * k
    if k == 1:
        return 1.0
    return x * collatz(k // 2 if k % 2 == 0 else 3 * k + 1, x, d)


@program(X, 6, features="recursion, dict that is passed")
def memo_that_is_passed(x, n):
    d = {}
    return collatz(n, x, d) + sum(d.values())


def add_up(node):
    s = node.v
    for c in node.kids:
        s += add_up(c) * 0.5
    return s


class Lnk:
    __slots__ = ("v", "kids")

    def __init__(self, v):
        self.v = v
        self.kids = []


def grow(v, x, k):
    node = Lnk(v)
    for i in range(k):
        node.kids.append(grow(v * x + i, x, k - 1))
    return node


@program(X, 3, features="recursion, children in a list, appended")
def children_appended(x, n):
    return add_up(grow(x, x, n))
