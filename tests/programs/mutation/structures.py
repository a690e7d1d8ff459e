"""Data structures that people build: linked lists, trees, queues, stacks, machines, graphs, ring buffers."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from tests.programs.mutation.table import M33, V3, V5, K, program

VALUES = [0.5, -1.2, 0.8, 1.7]


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


class Tree:
    def __init__(self, key, value):
        self.key = key
        self.value = value
        self.left = self.right = None

    def insert(self, key, value):
        side = "left" if key < self.key else "right"
        child = getattr(self, side)
        if child is None:
            setattr(self, side, Tree(key, value))
        else:
            child.insert(key, value)

    def total(self, depth=1):
        below = sum(child.total(depth + 1) for child in (self.left, self.right) if child is not None)
        return self.value * depth + below


class Stack:
    def __init__(self):
        self.items = []

    def push(self, value):
        self.items.append(value)

    def pop(self):
        return self.items.pop()


class Ring:
    """The last values, in a buffer that is written round and round."""

    def __init__(self, size):
        self.buffer = np.zeros(size)
        self.at = 0

    def put(self, value):
        self.buffer[self.at] = value
        self.at = (self.at + 1) % len(self.buffer)


class Value:
    """A scalar of a small tape-based differentiator, as in tutorials."""

    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents

    def times(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def back(self, seed):
        self.grad += seed
        for parent, local in self.parents:
            parent.back(seed * local)


@program(VALUES, K, features="linked list")
def linked_list_built_and_walked(values, k):
    head = None
    for v in values:
        head = Node(v, head)
    node = head
    while node is not None:
        node.value *= k
        if node.next is not None:
            node.next.value += node.value**2
        node = node.next
    return head.value * head.next.value + head.next.next.next.value


@program(VALUES, features="linked list reversed")
def linked_list_reversed(values):
    head = None
    for v in values:
        head = Node(v, head)
    turned = None
    while head:
        head.next, turned, head = turned, head, head.next
    total, weight = 0.0, 1.0
    while turned:
        total += weight * turned.value**2
        weight += 1.0
        turned = turned.next
    return total


@program(Node(0.5, Node(1.2, Node(0.8))), K, features="linked list, argument written")
def linked_argument_changed(head, k):
    head.next.value = head.value * k
    head.next.next = Node(head.next.value**2, head.next.next)
    head.value = head.next.next.next.value
    return head.value * head.next.next.value


@program(VALUES, features="cyclic structure")
def ring_of_nodes(values):
    first = Node(values[0])
    first.next = first
    for v in values[1:]:
        first.next = Node(v, first.next)
    node = first
    for _ in range(6):
        node.next.value = 0.5 * node.next.value + node.value**2 * 0.3
        node = node.next
    return first.value * node.value


@program(VALUES, K, features="binary tree")
def binary_search_tree(values, k):
    root = Tree(2, k)
    for key, v in zip([1, 4, 3, 0], values):
        root.insert(key, v * v)
    root.left.value *= root.right.value
    return root.total()


@program(0.8, 1.3, features="stack machine")
def stack_machine(x, y):
    stack = []
    for word in ["x", "y", "*", "dup", "x", "+", "swap", "sin", "*"]:
        if word == "x":
            stack.append(x)
        elif word == "y":
            stack.append(y)
        elif word == "dup":
            stack.append(stack[-1])
        elif word == "swap":
            stack[-1], stack[-2] = stack[-2], stack[-1]
        elif word == "sin":
            stack.append(math.sin(stack.pop()))
        elif word == "+":
            b, a = stack.pop(), stack.pop()
            stack.append(a + b)
        else:
            b, a = stack.pop(), stack.pop()
            stack.append(a * b)
    return stack.pop()


@program(0.8, 1.3, features="stack object")
def stack_object(x, y):
    stack = Stack()
    stack.push(x)
    stack.push(y)
    stack.push(stack.pop() * stack.items[0])
    stack.items[0] += stack.items[1]
    return stack.pop() * stack.pop()


@program(VALUES, K, features="deque")
def queue_of_numbers(values, k):
    queue = deque(values)
    total = 0.0
    while len(queue) > 1:
        a = queue.popleft()
        b = queue.popleft()
        queue.append(math.tanh(a * b) + k)
        total += a
    return queue.pop() * total


@program(VALUES, features="deque, every method")
def both_ends_of_a_queue(values):
    queue = deque(values, maxlen=5)
    queue.appendleft(values[0] * values[1])
    queue.append(values[2] ** 2)
    queue.rotate(2)
    queue.extend([values[3] * 2.0])
    queue.extendleft([values[1] ** 2])
    queue[1] *= queue[0]
    queue.reverse()
    return sum((i + 1) * v for i, v in enumerate(queue))


@program(V5, K, features="deque, moving average")
def moving_average(x, k):
    window = deque(maxlen=3)
    out = []
    for v in x:
        window.append(v * k)
        out.append(sum(window) / len(window))
    return sum(v * v for v in out)


@program(V5, features="ring buffer")
def ring_buffer(x):
    ring = Ring(3)
    total = 0.0
    for v in x:
        ring.put(v * v)
        total += ring.buffer[0] * ring.buffer.sum()
    return total


@program(np.abs(M33), features="graph")
def shortest_paths(lengths):
    d = lengths.copy()
    for k in range(3):
        for i in range(3):
            for j in range(3):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return np.sum(d * d)


@program([0.9, 0.4, 1.3], features="graph, breadth first")
def distances_from_a_source(weights):
    edges = {0: [(1, 0), (2, 1)], 1: [(3, 2)], 2: [(3, 0)], 3: []}
    distance = {0: 0.0}
    queue = [0]
    while queue:
        at = queue.pop(0)
        for to, weight in edges[at]:
            if to not in distance:
                distance[to] = distance[at] + weights[weight] ** 2
                queue.append(to)
    return distance[3] * distance[2]


@program(V3, M33, features="belief propagation")
def messages_on_a_chain(x, m):
    messages = {(i, i + 1): np.ones(3) for i in range(2)}
    potentials = [np.exp(x), np.exp(x * x), np.exp(-x)]
    for i in range(2):
        incoming = messages.get((i - 1, i), 1.0)
        new = np.exp(m).T @ (potentials[i] * incoming)
        messages[i, i + 1] = new / np.sum(new)
    return np.log(np.sum(potentials[2] * messages[1, 2]))


@program(0.8, 1.3, features="small differentiator")
def a_differentiator_differentiated(x, y):
    a, b = Value(x), Value(y)
    c = a.times(b).times(a)
    c.back(1.0)
    return a.grad * b.grad


@program(VALUES, K, features="event queue")
def events_in_order(values, k):
    pending = [(i, v) for i, v in enumerate(values)]
    now, state = 0, 1.0
    while pending:
        at, v = pending.pop(0)
        now = at
        state = math.tanh(state * v + k)
        if at < 3:
            pending.append((at + 3, v * state))
            pending.sort(key=lambda event: event[0])
    return state * now


@program(V3, K, features="matrix of lists")
def gaussian_elimination_on_lists(b, k):
    rows = [[2.0, k, 0.3, b[0]], [k * k, 3.0, b[1], 0.7], [0.4, 1.0, 2.5, b[2]]]
    for i in range(3):
        pivot = rows[i][i]
        for j in range(i, 4):
            rows[i][j] /= pivot
        for other in range(3):
            if other != i:
                factor = rows[other][i]
                for j in range(i, 4):
                    rows[other][j] -= factor * rows[i][j]
    return rows[0][3] * rows[1][3] + rows[2][3] ** 2


@program(M33, features="in-place factorisation")
def lu_in_place(m):
    a = m + 3.0 * np.eye(3)
    for k in range(2):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.prod(np.diag(a)) + a[2, 0]


@program(M33, features="Gram-Schmidt in place")
def gram_schmidt(m):
    q = m.copy()
    for i in range(3):
        for j in range(i):
            q[:, i] -= (q[:, j] @ q[:, i]) * q[:, j]
        q[:, i] /= np.linalg.norm(q[:, i])
    return np.sum(q * np.arange(9.0).reshape(3, 3))
