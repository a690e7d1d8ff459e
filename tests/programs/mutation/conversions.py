"""Objects that NumPy's functions and builtins make numbers and arrays of, callables that are hashed by code of their own, and
dicts that make their items."""

from __future__ import annotations

import collections
import functools
import math

import numpy as np

from tests.programs.mutation.table import V3, V4, program


class Weight:
    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value)

    def __index__(self):
        return 2


class Samples:
    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values * 2.0


@program(V4, features="__float__, math, maximum")
def numbers_are_made_of_objects(x):
    return math.sqrt(Weight(x[0])) * math.pow(x[1], Weight(x[0])) * max(float(Weight(x[0])), 0.1)


@program(V3, features="__array__, ufunc, dot, where, reduction")
def arrays_are_made_of_objects(x):
    samples = Samples(x)
    part = np.dot(samples, x) * np.sum(samples) + np.mean(Samples(x * x))
    return part + np.where(x > 0.0, samples, x).sum() * x[0] + np.sin(samples).sum() + np.asarray(samples)[1]


@program(V3, features="__array__ of what is written")
def an_object_gives_an_array_that_is_written(x):
    samples = Samples(x.copy())
    before = np.sum(samples)
    samples.values[1] = samples.values[0] * x[2]
    samples.values *= x[1]
    return before * np.dot(samples, x)


@program(V3, features="__index__ as size, index and number of items")
def whole_numbers_are_made_of_objects(x):
    n = Weight(x)
    return x[n] * x[0] + np.zeros(n).sum() + round(1.25, n) * x[1] + sum(x[:n]) * x[2]


class Growing:
    def __init__(self, items):
        self.items = items

    def __index__(self):
        self.items.append(self.items[-1] * 1.5)
        return len(self.items)


@program(V3, features="__index__ that writes, of a range")
def a_bound_of_a_loop_writes(x):
    items = [x[0], x[1]]
    bound, total = Growing(items), x[2]
    for i in range(bound):
        total = total + items[i] * i
    for i in range(0, bound, 2):
        total = total * items[i]
    return total


class Hashed:
    """Counts how often it is asked, which nobody but the program itself may do."""

    def __init__(self, box):
        self.box = box

    def __hash__(self):
        self.box[0] = self.box[0] * 2.0
        return 3

    def __eq__(self, other):
        self.box[0] = self.box[0] * 3.0
        return self is other

    def __call__(self, v):
        return v * 2.0


@program(V3, features="callable with a __hash__ that writes, map, key")
def callables_are_hashed_by_nobody(x):
    box = [x[0]]
    double = Hashed(box)
    total = double(x[1]) + sum(map(double, [x[1], x[2]])) + max([x[1], x[2]], key=double) + sorted(x, key=double)[0]
    return box[0] * x[1] * x[2] + total


# Items that a dict makes

FOUND = [1.0]


def doubled():
    FOUND[0] = FOUND[0] * 2.0
    return [FOUND[0], 2.0]


@program(V3, features="defaultdict, a factory that writes")
def a_factory_writes(x):
    FOUND[0] = x[0]
    table = collections.defaultdict(doubled)
    first = table["a"]
    first[1] = first[1] * x[1]
    table["b"][0] = table["b"][0] * first[1]
    return FOUND[0] * table["a"][1] * table["b"][0] * x[2]


@program(V3, features="defaultdict, a factory of arrays and of dicts")
def factories_make_arrays_and_dicts(x):
    sums = collections.defaultdict(lambda: np.zeros(3))
    tables = collections.defaultdict(lambda: collections.defaultdict(float))
    for i in range(4):
        sums[i % 2] += x * i
        sums[i % 2][0] *= x[1]
        tables[i % 2][i] += x[i % 3] * i
    return (sums[0] * sums[1]).sum() + sums["none"].sum() + tables[1][1] * tables[1][3] + tables[7][7]


class Doubling:
    def __init__(self, value):
        self.value = value
        self.table = collections.defaultdict(self.next)

    def next(self):
        self.value = self.value * 2.0
        return [self.value]


def with_default(value):
    return collections.defaultdict(lambda: value)


@program(V3, features="defaultdict, factories that hold what is differentiated")
def factories_hold_values(x):
    table, powers = with_default(x[0] * x[1]), with_default(x[1])
    by_two = collections.defaultdict(functools.partial(lambda a, b: a * b, x[2], x[1]), a=x[0])
    nested = collections.defaultdict(lambda: collections.defaultdict(lambda: x[2]))
    nested["a"]["b"] += x[0] * table["p"]
    growing = Doubling(x[0])
    growing.table[0].append(x[1])
    growing.table[1].append(x[0] * nested["b"]["c"])
    total = table["p"] * powers["q"] * table["r"] + len(table) * x[2]
    for row in growing.table.values():
        total = total + row[0] * row[1] * by_two["b"]
    copied = table.copy()
    copied["p"] = copied["p"] * copied["new"]
    return total * nested["a"]["b"] * by_two["a"] + growing.value + copied["p"] * copied["r"] * table["p"]


class Product:
    def __init__(self):
        self.value = 1.0


@program(V3, features="defaultdict, a class as factory")
def a_class_is_a_factory(x):
    products = collections.defaultdict(Product)
    for i in range(4):
        products[i % 2].value *= x[i % 3]
    return products[0].value * products[1].value + products[5].value
