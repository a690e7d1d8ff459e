"""Programs that iterate over what they are given: lists, arrays, dicts, enumerate, zip, reversed."""

from __future__ import annotations

import math

import numpy as np

from tests.programs.table import program


@program([0.5, 1.5, 2.5], features="for over a list")
def loop_over_a_list(values):
    total = 1.0
    for v in values:
        total = total * v + v
    return total


@program([], 0.7, features="for over a list, zero trips")
def loop_over_an_empty_list(values, x):
    for v in values:
        x = x * v
    return x * x


@program((0.5, 1.5, 2.5), features="for over a tuple")
def loop_over_a_tuple(values):
    total = 1.0
    for v in values:
        total = math.sin(total) * v
    return total


@program(np.array([0.5, 1.5, 2.5]), features="for over an array")
def loop_over_an_array(values):
    total = 1.0
    for v in values:
        total = total * v + v
    return total


@program(np.array([[0.5, 1.5], [2.5, 3.5], [1.0, -1.0]]), features="for over a matrix")
def loop_over_rows(matrix):
    total = np.zeros(2)
    for row in matrix:
        total = total * row + row
    return np.sum(total)


@program(0.7, features="for over a literal")
def loop_over_a_literal(x):
    y = x
    for k in (1.0, 2.0, 3.0):
        y = y * k + x
    for name in ["a", "bb"]:
        y = y * len(name)
    return y


@program(0.7, features="for over a literal of active values")
def loop_over_active_values(x):
    y = 1.0
    for v in [x, x * x, 2.0]:
        y = y * v
    for v in (y, x):
        y = y + v
    return y


@program(0.7, features="for over a string")
def loop_over_a_string(x):
    y = x
    for letter in "abca":
        if letter == "a":
            y = y * x
        else:
            y = y + x
    return y


@program([0.5, 1.5, 2.5], features="enumerate")
def loop_with_enumerate(values):
    total = 0.0
    for i, v in enumerate(values):
        total = total + i * v * v
    for i, v in enumerate(values, start=5):
        total = total + i * v
    return total


@program([0.5, 1.5, 2.5], (2.0, 3.0, 4.0), features="zip")
@program([0.5, 1.5, 2.5], (2.0, 3.0), features="zip, unequal lengths")
def loop_with_zip(a, b):
    total = 1.0
    for u, v in zip(a, b):
        total = total * u + v * v
    return total


@program([0.5, 1.5, 2.5], (2.0, 3.0, 4.0), features="zip, strict")
def loop_with_strict_zip(a, b):
    total = 1.0
    for u, v in zip(a, b, strict=True):
        total = total * u + v * v
    return total + sum([u * v for u, v in zip(a, b, strict=False)])


@program([0.5, 1.5, 2.5], np.array([2.0, 3.0, 4.0]), features="enumerate of zip")
def loop_with_enumerate_and_zip(a, b):
    total = 0.0
    for i, (u, v) in enumerate(zip(a, b)):
        total = total * 0.5 + (i + 1) * u * v
    return total


@program([0.5, 1.5, 2.5], features="reversed")
def loop_reversed(values):
    total = 1.0
    for v in reversed(values):
        total = total * v + v
    for i in reversed(range(3)):
        total = total + i * values[i]
    return total


@program({"a": 0.5, "b": 1.5}, features="dict.items")
def loop_over_dict_items(d):
    total = 1.0
    for name, value in d.items():
        if name == "b":
            total = total * value * value
        else:
            total = total + value
    return total


@program({"a": 0.5, "b": 1.5}, features="for over a dict")
def loop_over_dict_keys(d):
    total = 1.0
    for name in d:
        total = total * d[name] + d[name]
    return total


@program([(0.5, 1.5), (2.5, 0.1)], features="unpacking in for")
def loop_unpacks_pairs(pairs):
    total = 1.0
    for a, b in pairs:
        total = total * a + b
    return total


@program([(0.5, (1.5, 2.0)), (2.5, (0.1, 0.2))], features="nested unpacking in for")
def loop_unpacks_nested_pairs(pairs):
    total = 1.0
    for i, (a, (b, c)) in enumerate(pairs):
        total = total * a + b * c * i
    return total


def soft_minimum(values, sharpness):
    low = min(values)
    return low - sharpness * math.log(sum(math.exp((low - v) / sharpness) for v in values))


@program(0.7, 0.4, features="loop over a tuple of numbers")
def soft_minimum_of_three(x, sharpness):
    return soft_minimum((x, x * x, 0.9), sharpness) * soft_minimum((1.5 * x, sharpness), sharpness)


@program((0.7, 0.4, 1.3), features="loop over a tuple of numbers, items by number")
def tuple_by_item_and_by_loop(values):
    total = 0.0
    for k, v in enumerate(values):
        if k == 1:
            continue
        total += v * values[k - 1] + values[0]
    a, b, c = values
    return total * a + b * c * len(values)


@program((0.7, 0.4, 1.3), features="loop over a tuple of numbers, early return")
def tuple_left_early(values):
    total = 0.0
    for v in values:
        if v > 1.0:
            return total + v * values[1]
        total += v * v
    return total


@program(0.7, 0.4, features="loop over *args")
def product_of_all(x, y):
    def product(*values):
        result = 1.0
        for v in values:
            result *= v
        return result

    return product(x, y, x * y) + product(y) + product() * x


@program(0.7, features="loop over a tuple that is made anew")
def tuple_in_a_loop(x):
    pair = (x, x * x)
    for _ in range(3):
        pair = (pair[1], pair[0] * x + 1.0)
        for v in pair:
            x = x + 0.1 * v
    both = pair if x > 1.0 else (x, 2.0)
    return sum(v * v for v in both) + sum(a * b for a, b in zip(pair, reversed(both)))
