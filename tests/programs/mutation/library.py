"""Functions of the standard library that call others or run over something, and what looks like it."""

from __future__ import annotations

import functools
import itertools
import math
import operator

import numpy as np

from tests.programs.mutation.table import program

X, N = 0.6, 4


def grown(level, rate):
    return level * (1.0 + rate)


def squared(v):
    return v * v


# Calls of functions, one item after the other


@program(X, N, features="functools.reduce, with and without an initial value")
def reductions(x, n):
    values = [x * (i + 1) for i in range(n)]
    total = functools.reduce(lambda a, b: a + b * b, values, x)
    return total * functools.reduce(operator.mul, values) + functools.reduce(grown, values)


@program(X, N, features="functools.reduce, of nothing")
def reduction_of_nothing(x, n):
    return functools.reduce(grown, [x * i for i in range(n - 4)], x * x)


@program(X, N, features="functools.reduce, cells")
def reduction_that_writes(x, n):
    count = x

    def step(total, v):
        nonlocal count
        count = count * (1.0 + v)
        return total + count * v

    return functools.reduce(step, [x, x * x, 0.3] * n, 0.0) * count


@program(X, N, features="itertools.accumulate, itertools.pairwise")
def accumulations(x, n):
    rates = [0.1 * x * i for i in range(n)]
    levels = list(itertools.accumulate(rates, grown, initial=1.0 + x))
    others = list(itertools.accumulate(levels, operator.mul))
    changes = [math.log(b / a) for a, b in itertools.pairwise(levels)]
    return sum(changes) + sum(others) * sum(itertools.accumulate(changes)) + levels[-1]


@program(X, N, features="itertools.accumulate, itertools.pairwise, of one item and of none")
def short_accumulations(x, n):
    one, none = [x * x], [x] * (n - 4)
    total = sum(itertools.accumulate(one, grown)) + sum(itertools.accumulate(none, grown, initial=x))
    return total + sum(a * b for a, b in itertools.pairwise(one)) + sum(itertools.accumulate(none), x)


@program(np.array([X, 0.3, 1.2]), N, features="itertools.accumulate, of arrays")
def accumulated_arrays(x, n):
    steps = [x * i for i in range(1, n)]
    places = list(itertools.accumulate(steps, lambda a, b: a + np.sin(b), initial=x))
    return np.sum(np.stack(places) ** 2) * sum(itertools.accumulate(x))


@program(X, N, features="map, filter, enumerate")
def mapped_and_filtered(x, n):
    values = [x + 0.25 * i for i in range(n)]
    large = list(filter(lambda v: v > 0.8, map(squared, values)))
    total = sum(map(lambda a, b: a * b, values, large))
    for i, v in enumerate(map(math.sin, values)):
        total = total + i * v
    return total * sum(map(abs, large))


@program(X, N, features="map, of a list that grows before it is asked")
def mapped_later(x, n):
    values = [x] * n
    mapped = map(squared, values)
    values.append(3.0 * x)
    values[0] = x * x
    return sum(mapped) + len(values)


@program(X, N, features="map, asked twice")
def mapped_once(x, n):
    mapped = map(squared, [x * i for i in range(n)])
    return sum(mapped) + 3.0 * sum(mapped) * x


@program(X, N, features="map, next")
def mapped_in_parts(x, n):
    mapped = map(squared, [x * (i + 1) for i in range(n)])
    first = next(mapped)
    return first * sum(mapped)


@program(X, N, features="map, left early")
def mapped_until(x, n):
    total = 0.0
    for v in map(squared, [x * i for i in range(3 * n)]):
        total = total + v
        if v > 2.0:
            break
    return total


@program(X, N, features="map, given on")
def mapped_and_given(x, n):
    return total_of(map(squared, [x * i for i in range(n)]))


def total_of(values):
    total = 0.0
    for v in values:
        total = total * 0.5 + v
    return total


class Scale:
    def __init__(self, factor):
        self.factor = factor
        self.calls = 0

    def of(self, v):
        self.calls += 1
        return self.factor * v * self.calls


@program(X, N, features="map, of a method")
def mapped_by_a_method(x, n):
    scale = Scale(x)
    values = list(map(scale.of, [x] * n))
    return sum(values) * scale.calls


@program(X, N, features="map, in a loop")
def mapped_in_a_loop(x, n):
    values = [x, 2.0 * x, 0.5]
    for _ in range(n):
        values = list(map(lambda v: v + 0.1 * math.sin(v * x), values))
    return sum(values)


@program(X, N, features="map, try")
def mapped_in_a_try(x, n):
    total = x
    try:
        total = total + sum(map(math.sqrt, [x, x * x, -x]))
    except ValueError:
        total = total * 2.0
    return total + sum(map(math.sqrt, [x] * n))


@program(X, N, features="functools.reduce, a function that raises")
def reduction_that_raises(x, n):
    def step(total, v):
        if v > 1.0:
            raise ValueError(v)
        return total + v * total

    try:
        return functools.reduce(step, [x, 0.9, 1.5], x) * n
    except ValueError:
        return functools.reduce(step, [x] * n, x)


# Order


@program(X, N, features="sorted, a dict")
def sorted_by_what_a_dict_has(x, n):
    names = [f"name {i}" for i in range(n)]
    scores = dict(zip(names, [math.sin(3.0 * i + x) for i in range(n)]))
    best = sorted(scores, key=lambda name: scores[name], reverse=True)
    return sum((i + 1) * scores[name] for i, name in enumerate(best)) + scores[min(names, key=lambda k: scores[k])]


@program(X, N, features="sorted, equal keys")
def sorted_with_equal_keys(x, n):
    items = [(i % 2, x * (i + 1)) for i in range(n)]
    total = 0.0
    for down in (False, True):
        for i, (_, v) in enumerate(sorted(items, key=lambda item: item[0], reverse=down)):
            total = total + (i + 1) ** 2 * v * v
    best, worst = max(items, key=lambda item: item[0]), min(items, key=lambda item: item[0])
    return total + 10.0 * best[1] + 100.0 * worst[1] ** 2


@program([X, -0.4, 1.1, 0.2], 0.7, features="sorted, of an argument")
def sorted_argument(values, x):
    far = sorted(values, key=lambda v: abs(v - x))
    near = sorted(values, key=abs, reverse=True)
    return sum((i + 1) * v * x for i, v in enumerate(far)) + near[0] * max(values, key=lambda v: -v * x)


@program(X, N, features="sorted, writes to what it was made of")
def sorted_is_another_list(x, n):
    values = [x * ((3 * i) % n + 1) for i in range(n)]
    ordered = sorted(values, key=lambda v: -v)
    values[0] = x * x
    ordered[1] = 2.0 * x * ordered[0]
    return sum(v * (i + 1) for i, v in enumerate(ordered)) + values[0] * values[1]


class Agent:
    def __init__(self, place, weight):
        self.place = place
        self.weight = weight


@program(X, N, features="sorted, objects that are written")
def sorted_objects(x, n):
    agents = [Agent(math.sin(2.0 * i), x * (i + 1)) for i in range(n)]
    first = max(agents, key=lambda agent: agent.place)
    first.weight *= x
    total = 0.0
    for i, agent in enumerate(sorted(agents, key=lambda agent: agent.place)):
        agent.weight += i * x
        total = total + (i + 1) * agent.weight
    return total * agents[0].weight


class Version:
    def __init__(self, number):
        self.number = number

    def __lt__(self, other):
        return other.number < self.number


@program(X, N, features="sorted, keys with an order of their own")
def sorted_by_own_order(x, n):
    values = [x * math.cos(2.0 * i) for i in range(n)]
    return sum((i + 1) * v for i, v in enumerate(sorted(values, key=Version)))


# Pairs


@program(X, N, features="dict, zip, keys that come twice")
def dict_of_pairs(x, n):
    table = dict(zip(["a", "b", "a", "c"], [x, x * x, 3.0 * x, 1.0]))
    table["b"] = table["b"] * table["a"]
    numbered = dict(enumerate(map(squared, [x * i for i in range(n)])))
    return table["a"] * table["b"] + sum(numbered.values()) + len(table)


@program(X, N, features="zip, in a variable")
def pairs_in_a_variable(x, n):
    first, second = [x * i for i in range(n)], [x + i for i in range(n + 1)]
    pairs = zip(first, second)
    total = 0.0
    for a, b in pairs:
        total = total + a * b
    for a, b in pairs:
        total = total * 100.0 + a + b
    kept = list(zip(first, second))
    kept.append((x, x * x))
    return total + sum(a * b for a, b in kept)


# Functions of the module that get lists, in loops


def value_at(table, place):
    i = min(int(place), len(table) - 2)
    return table[i] + (table[i + 1] - table[i]) * (place - i)


def horner(coefficients, x):
    total = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return total


def smoothed(points):
    return [(0.5 * (a + c), b * d) for (a, b), (c, d) in zip(points, points[1:])]


def moved(row, x):
    row[0] = row[0] * x
    return row[0] + row[-1]


def factorial_sum(values, n):
    return values[n] if n == 0 else values[n] * n + factorial_sum(values, n - 1)


def first_above(values, x):
    for v in values:
        if v > x:
            return v
    return x


@program([X, 0.3, 1.2, 0.9], N, features="lists given to functions in a loop")
def lists_given_in_a_loop(values, n):
    doubled = [2.0 * v for v in values]
    points = [(v, w) for v, w in zip(values, doubled)]
    total = 0.0
    for i in range(n - 1):
        total = total + value_at(values, 0.7 * i) * horner(doubled, 0.1 * i) + horner(coefficients=values, x=total * 0.1)
        total = total + moved(doubled, 0.5 + values[i]) + factorial_sum(values, i) + first_above(values, values[0])
        points = smoothed(points)
    return total * points[0][0] * points[-1][1]


@program(X, N, features="dicts given to functions in a loop")
def dicts_given_in_a_loop(x, n):
    weights = dict(zip(["a", "b"], [x, 0.3 * x]))
    return sum(of_names(weights, "ab"[i % 2], i) for i in range(n))


def of_names(weights, name, i):
    return weights[name] ** 2 * i + weights["a"]


@program(X, N, features="list")
def accumulated_while_it_grows(x, steps):
    values, total = [x, 2 * x], 0.0
    for level in itertools.accumulate(values):
        if len(values) < steps:
            values.append(level * x)
        total += level * level
    return total


@program(X, N, features="list")
def accumulated_while_a_later_item_is_written(x, steps):
    values, total = [x, 2 * x, 3 * x, float(steps)], 0.0
    for i, level in enumerate(itertools.accumulate(values)):
        if i == 0:
            values[3] = x * x
        total += level * level
    return total


@program(X, N, features="list, closure")
def reduced_while_it_grows(x, steps):
    values = [x, 2 * x, x]

    def combine(a, b):
        if len(values) < steps:
            values.append(a)
        return a * b + 1.0

    return functools.reduce(combine, values)
