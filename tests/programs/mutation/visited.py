"""Functions that call themselves and change a set, dict or list from outside."""

from __future__ import annotations

import heapq

from tests.programs.mutation.table import program

GRAPH = {i: [j for j in range(i) if (i + j) % 3 == 0] for i in range(10)}


@program(0.7, 0.3, features="orders in recursion, reached in a set")
def reached_in_a_set(x, y):
    seen = set()

    def visit(i):
        if i in seen:
            return
        seen.add(i)
        for j in GRAPH[i]:
            visit(j)

    visit(9)
    total = 0.0
    for i in range(10):
        if i in seen:
            total += x * i + y
    return total + len(seen) * x


@program(0.7, 0.3, features="orders in recursion, dict moves along")
def dict_moves_along(x, y):
    d = {0: x}

    def visit(i):
        if i > 4:
            return
        d[i + 1] = d[i] * y
        d.pop(i - 1, None)
        visit(i + 1)

    total = 0.0
    visit(0)
    for k, v in d.items():
        total += v * k
    return total


@program(0.7, 0.3, features="orders in recursion, list turned in a recursion")
def list_turned_in_a_recursion(x, y):
    items = [x, y, x * y]

    def shuffle(n):
        if n == 0:
            return 0.0
        a = items.pop(0)
        items.insert(1, a * y)
        return items[0] + shuffle(n - 1)

    return shuffle(4) + items[2] * x


@program(0.7, 0.3, features="orders in recursion, dict grows between loops")
def dict_grows_between_loops(x, y):
    d = {0: x, 1: y}

    def visit(i):
        if i > 3:
            return 0.0
        d[i + 10] = d[i] * y if i in d else x
        s = 0.0
        for k in list(d):
            s += d[k]
        return s + visit(i + 1)

    return visit(0) + sum(d.values())


@program(0.7, 0.3, features="orders in recursion, dict changed within a loop")
def dict_changed_within_a_loop(x, y):
    d = {0: x, 1: y}

    def visit(i):
        if i > 2:
            return 0.0
        s = 0.0
        for k in d:
            s += d[k]
            d[k + 5] = visit(i + 1)
            d.pop(k + 5)
        return s

    return visit(0)


@program(0.7, 0.3, features="orders in recursion, order of a function of the module")
def order_of_a_function_of_the_module(x, y):
    order = []
    seen = set()
    depth(9, seen, order)
    return sum(x * i * k + y for k, i in enumerate(order))


def depth(i, seen, order):
    if i in seen:
        return
    seen.add(i)
    for j in GRAPH[i]:
        depth(j, seen, order)
    order.append(i)


@program(0.7, 0.3, features="orders in recursion, costs in a dict")
def costs_in_a_dict(x, y):
    done = {}

    def cost(i):
        if i in done:
            return done[i]
        c = x * i
        for j in GRAPH[i]:
            c += cost(j) * y
        done[i] = c
        done.setdefault(-1, c)
        return c

    return cost(9) + done[-1]


@program(0.7, 0.3, features="orders in recursion, levels visited")
def levels_visited(x, y):
    levels = {}

    def visit(i, d):
        levels.setdefault(d, []).append(x * i + y)
        for j in GRAPH[i]:
            visit(j, d + 1)

    visit(9, 0)
    return sum(k * sum(v) for k, v in levels.items())


@program(0.7, 0.3, features="orders in recursion, heap in a recursion")
def heap_in_a_recursion(x, y):
    q = []

    def push(n):
        if n == 0:
            return
        heapq.heappush(q, x * (n % 3) + y * n)
        push(n - 1)

    push(6)
    return heapq.heappop(q) * 2 + heapq.heappop(q) * heapq.heappop(q)


@program(0.7, 0.3, features="orders in recursion, two sets visited")
def two_sets_visited(x, y):
    a, b = set(), set()

    def visit(i):
        if i in a:
            b.add(i)
            return 0.0
        a.add(i)
        s = x * i
        for j in GRAPH[i]:
            s += visit(j)
        a.discard(i - 4)
        return s

    return visit(9) + y * len(b)


@program(0.7, 0.3, features="orders in recursion, set in mutual recursion")
def set_in_mutual_recursion(x, y):
    seen = set()

    def even(n):
        if n == 0:
            return x
        seen.add(n)
        return odd(n - 1) * y

    def odd(n):
        seen.discard(n + 1)
        if n == 0:
            return 1.0
        return even(n - 1) + x

    return even(6) + len(seen) * x


@program(0.7, 0.3, features="orders in recursion, stack in a recursion")
def stack_in_a_recursion(x, y):
    stack = [9]
    seen = set()
    total = 0.0

    def walk():
        nonlocal total
        if not stack:
            return
        i = stack.pop()
        if i not in seen:
            seen.add(i)
            total += x * i * y
            stack.extend(GRAPH[i])
        walk()

    walk()
    return total


@program(0.7, 0.3, features="orders in recursion, set returned by visits")
def set_returned_by_visits(x, y):
    seen = set()

    def visit(i):
        if i in seen:
            return seen
        seen.add(i)
        for j in GRAPH[i]:
            visit(j)
        return seen

    got = visit(9)
    return x * len(got) + y * len(seen)


@program(0.7, 0.3, features="orders in recursion, visit that fails")
def visit_that_fails(x, y):
    seen = set()

    def visit(i):
        if i in seen:
            raise KeyError(i)
        seen.add(i)
        for j in GRAPH[i]:
            visit(j)

    try:
        visit(9)
    except KeyError:
        return x * len(seen)
    return y


class Value:
    def __init__(self, data, children=(), op=""):
        self.data = data
        self.grad = 0.0
        self._prev = set(children)
        self._backward = lambda: None

    def __add__(self, other):
        out = Value(self.data + other.data, (self, other), "+")

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other), "*")

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def backward(self):
        topo = []
        visited = set()

        def build(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build(child)
                topo.append(v)

        build(self)
        self.grad = 1.0
        for v in reversed(topo):
            v._backward()


@program(0.7, 0.3, features="orders in recursion, sets in fields, functions in fields")
def tape_of_values(x, y):
    a = Value(x)
    b = Value(y)
    c = a * b + a
    d = c * c + b
    d.backward()
    return a.grad + 2.0 * b.grad


class Task:
    def __init__(self, cost):
        self.cost = cost
        self.needs = []
        self.total = 0.0


@program(0.7, 0.3, features="orders in recursion, lists in fields")
def tasks_in_topological_order(x, y):
    tasks = [Task(x * (i + 1.0) + y) for i in range(8)]
    for i in range(8):
        for j in range(i):
            if (i + j) % 3 == 0:
                tasks[i].needs.append(tasks[j])
    order = []
    visited = set()

    def visit(task):
        if task in visited:
            return
        visited.add(task)
        for need in task.needs:
            visit(need)
        order.append(task)

    for task in tasks:
        visit(task)
    for task in order:
        start = 0.0
        for need in task.needs:
            start = max(start, need.total)
        task.total = start + task.cost * task.cost
    return sum(task.total for task in tasks)


@program(0.7, 0.3, features="orders in recursion, dict of lists")
def numbers_in_topological_order(x, y):
    graph = {i: [j for j in range(i) if (i + j) % 3 == 0] for i in range(8)}
    order = []
    visited = set()

    def visit(i):
        if i in visited:
            return
        visited.add(i)
        for j in graph[i]:
            visit(j)
        order.append(i)

    for i in range(8):
        visit(i)
    total = {}
    for i in order:
        total[i] = x * i + y * sum(total[j] for j in graph[i])
    return sum(total.values())
