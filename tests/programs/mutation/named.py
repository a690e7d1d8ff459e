"""What functions, classes and classes in classes hold: reached by naming them, in several ways."""

from __future__ import annotations

import functools

import numpy as np

from tests.programs.mutation.table import V3, K, program


class Outer:
    class Inner:
        table = {"a": [1.0, 2.0]}

    array = np.array([1.0, 2.0, 4.0])


def holder():
    """Has attributes."""


holder.rows = [[1.0], [2.0]]
holder.array = np.array([1.0, 2.0, 4.0])


@functools.wraps(holder)
def wrapping():
    """Has the attributes of `holder`."""


def remembered(n, x):
    if n not in remembered.table:
        remembered.table[n] = [x * n]
    return remembered.table[n]


remembered.table = {}


def recorded(function):
    @functools.wraps(function)
    def recording(*args):
        recording.calls.append(args[0])
        return function(*args)

    recording.calls = []
    return recording


@recorded
def squared(x):
    return x * x


COLLECTED = [1.0]
collect = COLLECTED.append


@program(K, features="attribute of a function")
def attribute_of_a_function(x):
    row = holder.rows[1]
    holder.rows[1][0] = x * x
    wrapping.rows[1][0] *= x
    wrapping.__wrapped__.rows[1][0] *= x
    return row[0]


@program(K, features="attribute of a function, by another name")
def attribute_of_a_function_in_a_table(x):
    row = {"f": holder}["f"].rows[0]
    holder.rows[0][0] = x * x
    [holder][0].rows[0][0] *= x
    return row[0]


@program(V3, features="attribute of a function, array")
def array_of_a_function(x):
    view, whole = holder.array[:2], np.asarray(holder.array)
    holder.array[:] = x * x
    whole[1] *= x[0]
    return np.sum(view * view)


@program(K, features="attribute of a function, cache")
def function_with_a_cache(x):
    remembered.table.clear()
    first, again = remembered(2, x), remembered(2, 5.0 * x)
    again[0] *= x
    return first[0]


@program(K, features="attribute of a function, decorator")
def function_that_records_its_calls(x):
    squared.calls.clear()
    y = squared(x) * squared(x + 1.0)
    return y * squared.calls[0] * squared.calls[1]


@program(K, features="class in a class")
def table_of_an_inner_class(x):
    row = Outer.Inner.table["a"]
    Outer.Inner.table["a"][0] = x * x
    for kind in (Outer, Outer):
        kind.Inner.table["a"][1] = row[0] * x
    return row[0] * row[1]


@program(V3, features="array of a class")
def array_of_a_class(x):
    view, whole = Outer.array[:2], np.asarray(Outer.array)
    Outer.array[:] = x * x
    whole[1] *= x[0]
    return np.sum(view * view)


@program(K, features="method of a list of the module")
def method_of_a_list_is_named(x):
    collect(x * x)
    collect(x * collect.__self__[-1])
    y = COLLECTED[-1] * COLLECTED[-2]
    del COLLECTED[1:]
    return y
