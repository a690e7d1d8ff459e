"""Sets of objects, and dicts whose keys are objects: what they give are the objects, with what these hold."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass

import numpy as np

from tests.programs.mutation.table import K, program


class Box:
    def __init__(self, v):
        self.v = v


@dataclass(frozen=True)
class Point:
    x: float
    y: float


class Node:
    """A number that knows what it was computed from."""

    def __init__(self, data, children=()):
        self.data = data
        self.grad = 0.0
        self.children = set(children)
        self.undo = lambda: None

    def __add__(self, other):
        out = Node(self.data + other.data, (self, other))

        def undo():
            self.grad += out.grad
            other.grad += out.grad

        out.undo = undo
        return out

    def __mul__(self, other):
        out = Node(self.data * other.data, (self, other))

        def undo():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out.undo = undo
        return out

    def backward(self):
        order, visited = [], set()

        def visit(node):
            if node not in visited:
                visited.add(node)
                for child in node.children:
                    visit(child)
                order.append(node)

        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            node.undo()


@program(1.3, 0.7, features="set, graph, closure")
def tape_of_a_small_engine(x, y):
    a, b = Node(x), Node(y)
    c = a * b + a
    (c * c + b).backward()
    return a.grad * b.grad * x


@program(1.3, 0.7, features="set, graph")
def breadth_first(x, y):
    a, b, c = Box(x), Box(y), Box(x * y)
    edges = {a: {b, c}, b: {c}, c: set()}
    seen, waiting, total = {a}, deque([a]), 0.0
    while waiting:
        node = waiting.popleft()
        total = total + node.v * node.v
        for other in sorted(edges[node], key=lambda box: box.v):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return total


@program(1.3, 0.7, features="dict with objects for keys")
def weights_of_objects(x, y):
    a, b = Box(x), Box(y)
    weights, total = {a: x * y, b: y}, 0.0
    for box, weight in weights.items():
        total = total + box.v * weight
    for box in weights.keys():  # noqa: SIM118 - a view of the keys
        total = total + box.v * weights[box]
    for box in list(weights):
        box.v = box.v * 2.0
    for box in sorted(weights, key=lambda box: box.v):
        total = total * box.v
    return total + sum(box.v for box in weights) + min(weights, key=lambda box: box.v).v + next(iter(weights)).v


def added(boxes):
    return sum(box.v for box in boxes)


def multiplied(boxes):
    total = 1.0
    for box in boxes:
        total = total * box.v
    return total


@program([Box(1.2), Box(0.3)], features="set of arguments")
def sets_given_to_functions(boxes):
    return added(set(boxes)) * multiplied(frozenset(boxes)) * boxes[0].v


@program(Box(1.2), features="set of an argument")
def set_of_one_argument(box):
    boxes = {box}
    return sum(box.v * box.v for box in boxes)


@program([Box(1.2), Box(0.3)], features="dict with objects for keys")
def values_by_object(boxes):
    found = {box: box.v for box in boxes}
    return sum(found.values()) * list(found)[0].v + found[boxes[1]]


@program([Point(1.2, 0.4)], 0.7, features="dict with frozen objects for keys")
def values_by_frozen_object(points, y):
    found = {point: point.x * y for point in points}
    return sum(point.y * value for point, value in found.items())


@program(1.3, 0.7, features="set, operators")
def operators_of_sets(x, y):
    a, b, c = Box(x), Box(y), Box(x * y)
    s, t = {a, b}, {b, c}
    total = added(s | t) * added(s & t) + added(s - t) * multiplied(s ^ t)
    s |= t
    s -= {a}
    s &= {b, c}
    t ^= {c}
    s.update([a])
    s.discard(b)
    total = total + added(s.union(t, {a})) * len(s.intersection(t)) + multiplied(t.copy())
    return total * a.v if s >= {a} and not s.isdisjoint({c}) else total


@program(1.3, 0.7, features="set, pop")
def popped_and_put_back(x, y):
    boxes = {Box(x * y)}
    box = boxes.pop()
    box.v = box.v * x
    boxes.add(box)
    (again,) = boxes
    return again.v * len(boxes)


@program(K, features="set, array")
def array_in_an_object_in_a_set(x):
    box = Box(np.array([x, x * x]))
    for each in {box}:
        each.v[0] = x * x * x
    return np.sum(box.v)


@program(1.3, 0.7, features="set, loop")
def shrinking_set(x, y):
    live, best = {Box(x), Box(y), Box(x * y)}, None
    while len(live) > 1:
        largest = max(live, key=lambda box: box.v)
        live.remove(largest)
        for box in live:
            box.v = box.v + largest.v
        if best is None:
            best = largest
    (last,) = live
    return last.v * best.v


@program(1.3, 0.7, features="set, comprehension, generator")
def sets_of_what_is_made(x, y):
    by_generator, by_map = {Box(t) for t in (x, y)}, frozenset(map(Box, (x, y)))
    return added(by_generator) * added(by_map) * added({Box(t * x) for t in (x, y)})


@program(1.3, 0.7, features="set, defaultdict")
def sets_by_name(x, y):
    groups = defaultdict(set)
    groups["a"].add(Box(x))
    groups["a"].add(Box(y))
    groups["b"].add(Box(x * y))
    return sum(box.v for boxes in groups.values() for box in boxes) * next(iter(groups["b"])).v


@program({"a": 1.2, "b": 0.3}, features="set of keys")
def keys_left_over(table):
    keys = set(table) - {"b"}
    return sum(table[key] for key in keys) * sum(table[key] * key_count for key, key_count in dict.fromkeys(keys, 2).items())
