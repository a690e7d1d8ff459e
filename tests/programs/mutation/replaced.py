"""Containers and objects that others take the place of: buffers that are exchanged, lists that are replaced as a whole, nodes
that refer to each other; under one name and under several."""

from __future__ import annotations

import math

import numpy as np

from tests.programs.mutation.table import program

X, N = 0.6, 5


@program(X, N, features="list")
def buffers_exchanged(x, steps):
    now, new = [x * math.sin(i) for i in range(6)], [0.0] * 6
    for _ in range(steps):
        for i in range(1, 5):
            new[i] = now[i] + 0.2 * x * (now[i - 1] - 2 * now[i] + now[i + 1])
        new[0], new[5] = now[0] * 0.9, now[5]
        now, new = new, now
    return sum(v * v for v in now) + new[2]


@program(X, N, features="list")
def buffers_exchanged_under_a_third_name(x, steps):
    a, b = [x, 2 * x], [1.0, 3.0]
    kept = a
    for _ in range(steps):
        a[0] = a[0] * 0.5 + x * b[1]
        a, b = b, a
    return kept[0] * a[1] + b[0]


@program(X, N, features="list")
def replaced_by_a_list_that_stays(x, steps):
    base, now, total = [x, 2 * x], [0.0, 1.0], 0.0
    for _ in range(steps):
        now[0] = now[0] * 0.5 + x
        total += base[0]
        now = base
    return total + base[0] * now[1]


@program(X, N, features="list")
def two_names_for_the_new_list(x, steps):
    a, b = [x], [1.0]
    for i in range(steps):
        fresh = [a[0] * x + i]
        a = b = fresh
        a[0] += 0.1 * x
        b[0] *= 1.5
    return a[0] + 2.0 * b[0]


@program(X, N, features="list")
def replaced_and_grown(x, steps):
    values = [x]
    for _ in range(steps):
        next_values = [v * 1.1 for v in values]
        next_values.append(next_values[-1] * x)
        values = next_values
        values.append(values[-1] * 0.5)
    return sum(values) + values[-1] + values[-2]


@program(X, N, features="list")
def replaced_on_one_path(x, steps):
    values, other = [x, x * x], [1.0, 2.0]
    for i in range(steps):
        if i % 2:
            values = [values[1], values[0] * x]
        elif i == 2:
            values, other = other, values
        values[0] += 0.3 * other[1]
        other[0] = values[1] * x
    return values[0] * other[0] + values[1]


@program(X, N, features="list")
def kept_for_later(x, steps):
    values, history = [x, 1.0], []
    for i in range(steps):
        history.append(values)
        values = [values[0] * x + i, values[1] + values[0]]
        values[1] *= 0.5
    return sum(each[0] * each[1] for each in history) + values[1]


@program(X, N, features="list")
def looped_over_while_it_is_replaced(x, steps):
    values = [x, 2 * x, 3.0]
    total = 0.0
    for i, v in enumerate(values):
        values = [v * x + i, total, values[-1]]
        values[2] += v
        total += values[0] * values[2]
    return total


@program(X, N, features="array")
def arrays_exchanged(x, steps):
    now, new = x * np.sin(np.arange(6.0)), np.zeros(6)
    for _ in range(steps):
        for i in range(1, 5):
            new[i] = now[i] + 0.2 * (now[i - 1] - 2 * now[i] + now[i + 1])
        now, new = new, now
    return np.sum(now**2) + new[1]


class Particle:
    def __init__(self, place, weight):
        self.place, self.weight = place, weight


class Cloud:
    def __init__(self, particles):
        self.particles = particles

    def step(self, x):
        chosen = []
        for particle in self.particles:
            particle.weight *= x
        for i in range(len(self.particles)):
            before = self.particles[i - 1].weight if i else x
            chosen.append(Particle(self.particles[i].place * x + 0.1, before))
        self.particles = chosen


@program(X, N, features="objects in a list")
def resampled(x, steps):
    cloud, total = Cloud([Particle(0.1 * i, 1.0) for i in range(4)]), 0.0
    for _ in range(steps):
        cloud.step(x + 0.5)
        total += sum(p.place * p.weight for p in cloud.particles)
    return total


@program(X, N, features="objects in a list")
def resampled_under_another_name(x, steps):
    cloud, total = Cloud([Particle(0.1 * i, 1.0) for i in range(4)]), 0.0
    first = cloud.particles
    for _ in range(steps):
        cloud.step(x + 0.5)
        first[0].weight += x
        total += sum(p.place * p.weight for p in cloud.particles)
    return total + first[0].weight


@program(X, N, features="objects in a list")
def one_of_the_old_ones_is_kept(x, steps):
    cloud = Cloud([Particle(0.1 * i + x, 1.0) for i in range(3)])
    kept = cloud.particles[1]
    for _ in range(steps):
        cloud.step(x + 0.5)
        kept.weight += kept.place * x
    return kept.weight * cloud.particles[0].place


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


@program(X, N, features="object")
def linked_list(x, steps):
    head = None
    for i in range(steps):
        head = Node(x * math.sin(i + 1), head)
    node = head
    while node is not None and node.next is not None:
        node.next.value += x * node.value
        node = node.next
    total, node = 0.0, head
    while node is not None:
        total += node.value**2
        node = node.next
    return total


@program(X, N, features="object")
def linked_list_by_truth(x, steps):
    head = None
    for i in range(steps):
        new = Node(x * (i + 1))
        new.next = head
        head = new
    total = 1.0
    while head:
        total += head.value * math.sin(total)
        head = head.next
    return total


@program(X, N, features="object")
def linked_list_under_conditions(x, steps):
    head = None
    for i in range(steps):
        head = Node(x * (i + 1), head)
    node, total = head, 0.0
    while node and node.value > 2.5 * x:
        total += node.value**2
        node = node.next
    while node is not None and node.next is not None:
        total += node.value * node.next.value
        node = node.next
    if head is None or head.next is None:
        return x
    second = head and head.next
    if second and second.next and not second.next.next:
        total += second.value
    return total + (second.value if second else 0.0)


@program(X, N, features="object")
def linked_list_reversed(x, steps):
    head, before = None, None
    for i in range(steps):
        head = Node(x**i, head)
    while head is not None:
        head.next, before, head = before, head, head.next
    total, k = 0.0, 1
    while before is not None:
        total += k * before.value
        k += 1
        before = before.next
    return total


class Leaf:
    def __init__(self, key, value):
        self.key, self.value, self.left, self.right = key, value, None, None

    def add(self, amount):
        self.value = self.value + amount
        return self

    def __call__(self, x):
        return self.value * x if self.left is None else self.value + self.left.value


@program(X, 7, features="object")
def search_tree(x, steps):
    root = Leaf(5, x)
    for i in range(steps):
        key, node = (i * 7) % 11, root
        while True:
            below = node.left if key < node.key else node.right
            if below is None:
                break
            node = below
        if key < node.key:
            node.left = Leaf(key, x * key)
        else:
            node.right = Leaf(key, x * x * key)
        root.add(x * x).add(node.value)
    node, total = root, root(x)
    while node:
        total += node.value
        node = node.left
    return total


@program(X, 7, features="object")
def search_tree_from_nothing(x, steps):
    root = None
    for i in range(steps):
        key, node, parent = (i * 7) % 11, root, None
        while node is not None:
            parent, node = node, (node.left if key < node.key else node.right)
        new = Leaf(key, x * key)
        if parent is None:
            root = new
        elif key < parent.key:
            parent.left = new
        else:
            parent.right = new
    total = 0.0
    while root is not None:
        total += root.value * (total + 1.0)
        root = root.right
    return total


class Wheel:
    def __init__(self, speed):
        self.speed, self.drives, self.turned_by = speed, None, None


@program(X, N, features="object")
def both_ways(x, steps):
    first = last = Wheel(x)
    for i in range(steps):
        new = Wheel(last.speed * x + i)
        last.drives, new.turned_by = new, last
        last = new
    wheel = last
    while wheel.turned_by is not None:
        wheel.turned_by.speed += 0.5 * wheel.speed
        wheel = wheel.turned_by
    return first.speed * last.speed if wheel is first else 0.0


@program(X, N, features="object")
def ring(x, steps):
    nodes = [Node(x + i) for i in range(3)]
    for i in range(3):
        nodes[i].next = nodes[(i + 1) % 3]
    node = nodes[0]
    for _ in range(steps):
        node.next.value += x * node.value
        node = node.next
    return node.value + nodes[1].value * nodes[2].value


class Road:
    def __init__(self, length, end):
        self.length, self.end = length, end


class Town:
    def __init__(self, height):
        self.height, self.road = height, None


@program(X, N, features="object")
def objects_of_two_classes(x, steps):
    town = Town(x)
    start = town
    for i in range(steps):
        other = Town(town.height * x + 1.0)
        town.road = Road(x * i, other)
        town = other
    total, town = 0.0, start
    while town.road is not None:
        town.road.end.height += town.road.length * town.height
        total += town.road.length
        town = town.road.end
    return total * town.height


@program(X, N, features="object")
def the_same_node_in_two_lists(x, steps):
    tail = Node(x)
    left, right = Node(1.0, tail), Node(2.0, tail)
    for _ in range(steps):
        left.next.value *= 1.1
        right.next.value += x * left.value
    return (left.next.value + right.next.value) * (1.0 if left.next is right.next else x)


@program(X, N, features="object")
def best_so_far(x, steps):
    best = None
    for i in range(steps):
        new = Node(math.sin(3.0 * i) * x)
        if best is None or new.value > best.value:
            best = new
        best.value += 0.01 * x
    return best.value


@program(X, N, features="object")
def node_that_is_returned_to_a_list_of_others(x, steps):
    nodes, last = [], None
    for i in range(steps):
        last = Node(x * i, last)
        nodes.append(last)
    for node in nodes:
        if node.next is not None:
            node.value += node.next.value * x
    return nodes[-1].value + nodes[2].next.value


@program(X, N, features="list")
def flag_is_a_list_that_is_filled_later(x, steps):
    items = []
    flag = steps > 0 and items
    other = items or steps < 0
    items.append(x * x)
    return (x * 3.0 if flag else x) + (items[0] if other else x)


@program(X, N, features="object")
def flag_is_a_node_that_is_written_later(x, steps):
    node = Node(x) if steps else None
    flag = node and node.value > 0.0
    if node:
        node.value = -node.value * x
    return x * 2.0 + (node.value if flag else 0.0)
