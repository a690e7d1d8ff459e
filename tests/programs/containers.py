"""Programs on tuples, lists and dicts: building, indexing, slicing, unpacking, comprehensions."""

from __future__ import annotations

import math
from collections import deque, namedtuple
from typing import NamedTuple

import numpy as np

from tests.programs.table import program

Pair = namedtuple("Pair", "first second")


class Layer(NamedTuple):
    weights: np.ndarray
    bias: float
    name: str = "layer"


@program((0.5, 1.5), features="tuple argument, indexing")
def tuple_argument(p):
    return p[0] * p[1] + p[-1] ** 2


@program([0.5, 1.5, 2.5], features="list argument, indexing")
def list_argument(values):
    return values[0] * values[-1] + values[-1] * 3.0


@program({"a": 0.5, "b": 1.5, "c": 2.5}, features="dict argument, indexing")
def dict_argument(d):
    key = "b"
    return d["a"] * d[key] + d[key] ** 2


@program({1: 0.5, (2, "x"): 1.5}, features="dict argument, other keys")
def dict_with_other_keys(d):
    return d[1] * d[2, "x"]


@program([[0.5, 1.5], [2.5]], features="nested list")
def nested_list(values):
    return values[0][1] * values[1][0] + values[0][0]


@program({"layers": [(0.5, [1.5]), (2.5, [3.5])], "name": "net"}, features="nested containers")
def nested_containers(d):
    total = 0.0
    for scale, (shift,) in d["layers"]:
        total = total * scale + shift * scale
    return total * len(d["name"])


@program(deque([0.5, 1.5, 2.5], maxlen=3), features="deque argument, indexing")
def deque_argument(d):
    total = d[0] * d[-1] ** 2
    for k in range(len(d)):
        total += d[k] ** 2
    first, *rest = d
    return total * first + rest[0]


@program((0.5, 1.5, 2.5), features="unpacking")
def unpacks(p):
    a, b, c = p
    return a * b - c * a


@program([0.5, (1.5, 2.5)], features="nested unpacking")
def unpacks_nested(p):
    a, (b, c) = p
    [d, e] = (b, c)
    return a * d - e * a * b


@program([0.5, 1.5, 2.5, 3.5], features="starred unpacking")
def unpacks_starred(values):
    first, *middle, last = values
    return first * last + middle[0] * middle[1] * len(middle)


@program(np.array([0.5, 1.5]), features="unpacking an array")
def unpacks_an_array(x):
    a, b = x
    return a * b + a


@program(0.7, features="building a tuple")
def builds_a_tuple(x):
    p = x, x * x, 3.0
    q = (p, p[1] * x)
    return q[0][1] * q[1] + p[2] * q[0][0]


@program(0.7, features="building a list")
def builds_a_list(x):
    values = [x, math.sin(x), [x * x, 1.0]]
    return values[0] * values[1] * values[2][0] + values[2][1]


@program(0.7, features="building a dict")
def builds_a_dict(x):
    d = {"a": x, "b": {"c": x * x}, "n": 3}
    return d["a"] * d["b"]["c"] * d["n"]


@program(0.7, features="dict display with **")
def merges_dicts(x):
    base = {"a": x, "b": 2.0}
    d = {**base, "b": x * x}
    return d["a"] * d["b"] + base["b"] * x


@program(0.7, features="list display with *")
def merges_lists(x):
    base = [x, 2.0]
    values = [1.0, *base, *(x * x, x)]
    p = (*base, x)
    return values[1] * values[3] + values[4] * p[2] * p[0]


@program([0.5, 1.5, 2.5, 3.5], features="slicing")
def slices_a_list(values):
    middle = values[1:3]
    every_other = values[::2]
    back = values[::-1]
    return middle[0] * every_other[1] + back[0] * back[-1] + sum(values[:2])


@program((0.5, 1.5, 2.5), features="slicing a tuple")
def slices_a_tuple(p):
    q = p[1:]
    return q[0] * q[1] + p[:1][0]


@program([0.5, 1.5], (2.0, 3.0), features="concatenation, repetition")
def concatenates(values, p):
    joined = values + [1.0] + values
    repeated = p * 2
    return joined[0] * joined[4] + repeated[2] * repeated[1] + (p + (7.0,))[0]


@program([0.5, 1.5, 2.5], features="len")
def mean_of_a_list(values):
    return sum(values) / len(values)


@program([0.5, 1.5, 2.5], features="list comprehension")
def list_comprehension(values):
    squares = [v * v for v in values]
    return sum(squares) * squares[1]


@program([0.5, -1.5, 2.5], 0.7, features="comprehension with condition")
def comprehension_with_condition(values, x):
    return sum([v * x for v in values if v > 0.0]) + sum([1.0 if v > 0 else v * v for v in values])


@program([[0.5, 1.5], [2.5]], 0.7, features="nested comprehension")
def nested_comprehension(rows, x):
    flat = [v * x for row in rows for v in row]
    sums = [sum([v * v for v in row]) for row in rows]
    return sum(flat) * sums[0] * sums[1]


@program([0.5, 1.5], (2.0, 3.0), features="comprehension over zip and enumerate")
def comprehension_over_zip(a, b):
    return sum([u * v for u, v in zip(a, b)]) + sum([i * u for i, u in enumerate(b, 1)])


@program({"a": 0.5, "b": 1.5}, features="dict comprehension")
def dict_comprehension(d):
    squares = {name: value * value for name, value in d.items() if name != "c"}
    return squares["a"] * squares["b"] + d["a"]


@program(0.7, features="comprehension scope")
def comprehension_scope(x):
    v = x * x
    values = [v * x for v in (1.0, x, 3.0)]
    return values[1] * v


@program(0.7, features="comprehension over a range")
def comprehension_over_a_range(x):
    powers = [x**k for k in range(5)]
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    return sum([p * w for p, w in zip(powers, weights)])


@program(0.7, features="comprehension with a closure")
def comprehension_of_closures(x):
    terms = [lambda t, k=k: t**k * x for k in range(3)]
    return sum([f(x) for f in terms])


@program(0.7, features="comprehension, unused")
def unused_comprehension(x):
    [x * k for k in range(3)]
    return x * x


@program(Pair(0.5, 1.5), features="namedtuple argument")
def namedtuple_argument(p):
    a, b = p
    return p.first * p.second + p[0] * b + a


@program(Layer(np.array([0.5, 1.5]), 0.3), features="namedtuple of an array")
def namedtuple_of_an_array(layer):
    return np.sum(np.tanh(layer.weights + layer.bias)) * len(layer.name)


@program([Pair(0.5, 1.5), Pair(2.5, 3.5)], features="list of namedtuples")
def list_of_namedtuples(pairs):
    total = 1.0
    for p in pairs:
        total = total * p.first + p.second
    return total


@program(0.7, features="tuple result")
def tuple_result(x):
    return x * x, math.sin(x)


@program([0.5, 1.5], features="list result")
def list_result(values):
    return [v * v * values[0] for v in values]


@program({"a": 0.5, "b": np.array([1.0, 2.0])}, features="dict result")
def dict_result(d):
    return {"p": d["a"] * d["b"], "q": d["a"] ** 2}


@program([np.array([0.5, 1.5]), np.array([[1.0, 2.0], [3.0, 4.0]])], features="list of arrays")
def list_of_arrays(parameters):
    b, w = parameters
    h = np.tanh(w @ b + b)
    return np.sum(h * parameters[0])


@program({"w": np.array([[0.5, 1.5]]), "b": np.array([0.1])}, features="dict of arrays")
def dict_of_arrays(parameters):
    total = 0.0
    for name, value in parameters.items():
        total = total + np.sum(value**2)
    return total * np.sum(parameters["w"]) + parameters["b"][0]


@program((1.5, [2.0, "text", None, True]), features="mixed leaves")
def mixed_leaves(p):
    x, (y, text, nothing, flag) = p
    return x * y if flag and nothing is None else x * len(text)


@program([0.5, 1.5, 2.5], features="untouched items")
def touches_one_item(values):
    return values[1] ** 2


@program([0.5, 1.5], features="whole container passed on")
def passes_the_container_on(values):
    def norm(v):
        return math.sqrt(v[0] ** 2 + v[1] ** 2)

    return norm(values) * values[0] + norm(values)


@program([0.5, 1.5], [1.0, 2.0], features="container in a branch")
def container_chosen_in_a_branch(a, b):
    c = a if a[0] > b[0] else b
    return c[0] * c[1] + a[1]


@program([0.5, 1.5, 2.5], features="computed index")
def computed_index(values):
    i = 0
    total = 0.0
    while i < len(values):
        j = (i + 1) % len(values)
        total = total + values[i] * values[j] * (i + 1)
        i = i + 1
    return total


@program([1.5, 0.5], features="swap of items on the way out of a list")
def sorts_two(values):
    a, b = values
    if a > b:
        a, b = b, a
    return a + 10.0 * b * b


@program(0.7, features="list in a list multiplied")
def same_list_twice(x):
    inner = [x, 2.0]
    outer = [inner, inner]
    return outer[0][0] * outer[1][0] * outer[0][1]


@program(1.5, 2.0, features="method of a tuple")
def counts_in_a_tuple(x, y):
    pair = (x, 2.0)
    return x * pair.index(2.0) + y * x


@program(1.5, features="method of a bool")
def bits_of_a_comparison(x):
    positive = x > 0.0
    return x * x * positive.bit_length()


def quicksorted(values):
    if len(values) <= 1:
        return values
    pivot = values[0]
    smaller, others = [t for t in values[1:] if t < pivot], [t for t in values[1:] if t >= pivot]
    return quicksorted(smaller) + [pivot] + quicksorted(others)


def unpacked_quicksorted(values):
    if not values:
        return []
    pivot, *rest = values
    smaller, others = [t for t in rest if t < pivot], [t for t in rest if t >= pivot]
    return [*unpacked_quicksorted(smaller), pivot] + unpacked_quicksorted(others)


def moves(n, a, b):
    return moves(n - 1, a, b) + [a * b * n] + moves(n - 1, b, a) if n else []


@program([1.3, 2.0, 0.4, 0.7], features="recursion that puts lists together")
def quicksort(values):
    first, second, third, fourth = quicksorted(values)
    again = unpacked_quicksorted(values)
    return first * second * third + fourth + again[0] * again[3] + sum(value * value for value in moves(3, first, second))


def _pair_of(x):
    return {"a": x, "b": 2.0 * x * x}


_MAKERS = (_pair_of,)


@program(0.7, features="methods of a dict that is known only at run time")
def methods_of_a_dict_that_a_chosen_function_makes(x):
    made = _MAKERS[0](x)
    return sum(made.values()) + sum(v * v for _, v in made.items()) + made.get("b", 0.0)


@program(0.7, 1.3, 1, features="slices of tuples, joined and repeated")
def slices_of_tuples(x, y, n):
    pair = (x, y)
    turned = pair[1:] + pair[:1]
    moved = turned[n:] + (x * y,) + turned[:n]
    first = (x, (y, 2.0))[:1] * 2
    backwards = moved[::-1]
    while len(moved) > 1:
        moved = (moved[0] * moved[1] + x, *moved[2:])
    return turned[0] * first[1] + backwards[0] * moved[0] * y


@program(0.7, 3, features="rows in a tuple")
def rows_in_a_tuple(x, n):
    rows = tuple([x * k, x] for k in range(n))
    total = sum([rows[i][1] ** 2 for i in range(n)])
    for row in rows:
        total += row[1] * row[0]
    return total


@program({"a": [0.3, 2.0], "b": [1.0, 0.5]}, features="rows that are the values of a dict")
def rows_of_a_dict(table):
    rows = table.values()
    total = 0.0
    for i in range(2):
        for row in rows:
            total += row[i] ** 2 * (i + 1)
    return total + sum([row[0] * row[1] for row in rows])
