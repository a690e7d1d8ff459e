"""Operators, methods and functions that make containers of what other containers hold, which is written through the result.

Nothing in the rows depends on an argument before it is written through the container that is made last.
"""

from __future__ import annotations

import collections
import copy
import functools
import itertools
import operator
from dataclasses import dataclass, replace

import numpy as np

from tests.programs.mutation.table import V3, K, program


class Box:
    def __init__(self, value):
        self.value = value


class Bag:
    """A container of the user's, with operators of its own."""

    def __init__(self, items):
        self.items = items

    def __add__(self, other):
        return Bag(self.items + other.items)

    def __mul__(self, count):
        return Bag(self.items * count)


Pair = collections.namedtuple("Pair", "left right")


@dataclass
class Settings:
    rows: list
    rate: float = 1.0


@program(K, features="list * number")
def list_repeated(x):
    row = [1.5]
    rows = [row] * 2
    rows[0][0] *= x
    return row[0] + rows[1][0] * x


@program(K, features="number * list")
def list_repeated_from_the_left(x):
    row = [1.5]
    rows = 2 * [row]
    rows[1][0] *= x
    return row[0]


@program(K, features="tuple * number")
def tuple_repeated(x):
    row = [1.5]
    rows = (row,) * 2
    rows[1][0] *= x
    return row[0]


@program(K, features="tuple *= number")
def tuple_repeated_by_assignment(x):
    row = [1.5]
    rows = (row, 1.0)
    rows *= 2
    rows[2][0] *= x
    return row[0]


@program(K, features="list + list")
def lists_added(x):
    row, other = [1.5], [0.5]
    rows = [row] + [other]
    rows[1][0] *= x
    return row[0] + other[0]


@program(K, features="operator.add, operator.concat")
def lists_added_by_functions(x):
    row, other = [1.5], [0.5]
    operator.add([row], [row])[1][0] *= x
    operator.concat([1.0], [other])[1][0] *= x
    return row[0] * other[0]


@program(K, features="tuple + tuple")
def tuples_added(x):
    row = [1.5]
    rows = (row, 1.0) + (2.0,)
    rows[0][0] *= x
    return row[0]


@program(K, features="tuple += tuple")
def tuples_added_by_assignment(x):
    row = [1.5]
    rows = ()
    rows += (row,)
    rows[0][0] *= x
    return row[0]


@program(K, features="namedtuple + tuple")
def named_tuples_added(x):
    row = [1.5]
    (Pair(row, 1.0) + (2.0,))[0][0] *= x
    return row[0]


@program(K, features="dict | dict")
def dicts_merged(x):
    row, other = [1.5], [0.5]
    table = {"a": row} | {"b": other}
    table["b"][0] *= x
    return row[0] + other[0]


@program(K, features="dict |= dict")
def dicts_merged_by_assignment(x):
    row, table = [1.5], {}
    table |= {"a": row}
    table["a"][0] *= x
    return row[0]


@program(K, features="dict | dict, OrderedDict, defaultdict")
def other_dicts_merged(x):
    row, other = [1.5], [0.5]
    (collections.OrderedDict(a=row) | {"b": 1.0})["a"][0] *= x
    (collections.defaultdict(list, {"a": other}) | {"b": 1.0})["a"][0] *= x
    return row[0] + other[0] * x


@program(K, features="starred, tuple")
def starred_tuple(x):
    row = [1.5]
    rows = [row]
    (*rows, 1.0)[0][0] *= x
    return row[0]


@program(K, features="starred, list")
def starred_list(x):
    row = [1.5]
    rows = [row]
    [*rows, *rows][1][0] *= x
    return row[0]


@program(K, features="starred, dict")
def starred_dict(x):
    row = [1.5]
    table = {"a": row}
    {**table, "b": 1.0}["a"][0] *= x
    return row[0]


@program(K, features="list + list, objects")
def objects_in_added_lists(x):
    boxes = [Box(1.0), Box(2.0), Box(3.0)]
    (boxes + boxes)[4].value = x * x
    return boxes[0].value * boxes[1].value


@program(K, features="list * number, objects")
def objects_in_repeated_lists(x):
    boxes = [Box(1.0), Box(2.0)]
    ([*boxes] * 2)[3].value += x
    return boxes[0].value * boxes[1].value


@program(V3, features="list * number, array")
def array_in_a_repeated_list(x):
    a = np.ones(3)
    ([a] * 2)[1][0] = x[0] * x[1]
    return np.sum(a)


@program(V3, features="tuple + tuple, array")
def array_in_added_tuples(x):
    a = np.ones(3)
    ((a,) + (2.0,))[0][:2] *= x[1:]
    return np.sum(a)


@program(V3, features="dict | dict, starred, arrays")
def arrays_in_merged_dicts(x):
    a, b = np.ones(3), np.ones(3)
    ({"a": a} | {"b": b})["b"][1:] *= x[:2]
    {**{"a": a}, "b": b}["a"][0] = x[0] * x[2]
    return np.sum(a) * np.sum(b)


@program(V3, features="list + list, views of an argument")
def views_in_joined_lists(x):
    halves = [x[:2]] + [x[1:]]
    halves[0][1] = halves[1][1] * x[0]
    (halves * 2)[3][0] *= x[0]
    return np.sum(x * x)


@program(K, features="deque + deque, deque * number")
def deques_joined(x):
    row, other = [1.5], [0.5]
    (collections.deque([row]) + collections.deque([2.0]))[0][0] *= x
    (collections.deque([other]) * 3)[2][0] *= x
    return row[0] * other[0]


@program(K, features="sum of lists")
def lists_summed_up(x):
    row = [1.5]
    sum([[row], [row]], [])[1][0] *= x
    return row[0]


@program(K, features="reduce")
def lists_reduced_to_one(x):
    row = [1.5]
    functools.reduce(operator.add, [[row], [row]])[0][0] *= x
    return row[0]


@program(K, features="chain, accumulate")
def lists_chained(x):
    row, other = [1.5], [0.5]
    list(itertools.chain([row], [row]))[1][0] *= x
    list(itertools.accumulate([[other], [other]]))[1][1][0] *= x
    return row[0] * other[0]


@program(K, features="slice")
def slices_share_rows(x):
    row, other = [1.5], [0.5]
    [row][:][0][0] *= x
    (1.0, other)[1:][0][0] *= x
    return row[0] + other[0]


@program(K, features="copies")
def shallow_copies_share_rows(x):
    row, other = [1.5], [0.5]
    [row].copy()[0][0] *= x
    copy.copy([other])[0][0] *= x
    return row[0] * other[0]


@program(K, features="list, tuple, dict")
def containers_of_the_items_of_others(x):
    row, other, third = [1.5], [0.5], [2.0]
    list((row, 1.0))[0][0] *= x
    tuple([other])[0][0] *= x
    dict({"a": third})["a"][0] *= x
    return row[0] * other[0] * third[0]


@program(K, features="sorted, reversed")
def rows_in_another_order(x):
    row, other = [1.5], [0.5]
    sorted([row, [2.0]], key=len)[0][0] *= x
    next(iter(reversed([row, other])))[0] *= x
    return row[0] + other[0]


@program(K, features="namedtuple, dataclass")
def replaced_fields_are_shared(x):
    row, other = [1.5], [0.5]
    Pair(row, 1.0)._replace(right=2.0).left[0] *= x
    replace(Settings(other), rate=2.0).rows[0] *= x
    return row[0] * other[0]


@program(K, features="operators of a class")
def bags_joined(x):
    row = [1.5]
    bag = Bag([row]) + Bag([[1.0]])
    (bag * 2).items[2][0] *= x
    return row[0] * bag.items[0][0]


@program(K, features="list * number, one row many times")
def one_row_of_numbers_many_times(x):
    grid = [[0.5] * 2] * 2
    grid[0][1] = x * x
    grid[1][0] = grid[1][1] * x
    return grid[0][0] * grid[1][1]


@program(K, features="list * number, list + list, append of another kind")
def joined_lists_grow(x):
    row = [1.5]
    rows = [row] * 2
    rows.append(2.0)
    more = [x] + [x * x]
    more.append(row)
    more[2][0] *= x
    return rows[0][0] * rows[2] * more[1]
