"""What a name is bound to just before the program leaves a loop, a branch or a `try`, and is written through afterwards."""

from __future__ import annotations

import contextlib

import numpy as np

from tests.programs.mutation.table import M33, V4, V5, K, program


class Row:
    def __init__(self, key, value):
        self.key, self.value = key, value


def three_rows():
    """Nothing in them depends on an argument before it is written."""
    return [[1.0, 0.25], [2.0, 0.5], [3.0, 0.75]]


def total(rows):
    return sum(row[0] * row[1] for row in rows)


@program(K, features="break")
def found_by_a_loop(x):
    rows = three_rows()
    for row in rows:
        if row[0] == 2.0:
            found = row
            break
    found[1] = x * x
    return total(rows)


@program(K, features="break, first bound to None")
def found_by_a_loop_or_not(x):
    rows, found = three_rows(), None
    for row in rows:
        if row[0] == 2.0:
            found = row
            break
    if found is not None:
        found[1] = x * x
    return total(rows)


@program(V5, features="break, view of an argument")
def view_found_by_a_loop(x):
    for i in range(5):
        if x[i] > 0.5:
            w = x[i:]
            break
    w[0] = w[1] * 2.0
    return np.sum(x * x)


@program(V5, features="break, while True, view of an argument")
def view_found_by_an_endless_loop(x):
    i = 0
    while True:
        if x[i] > 0.5:
            w = x[i:]
            break
        i += 1
    w[0] = w[1] * 2.0
    return np.sum(x * x)


@program(K, features="break, while True")
def endless_loop_that_runs_once(x):
    rows = three_rows()
    while True:
        found = rows[1]
        break
    found[1] = x * x
    return total(rows)


@program(V4, features="break, tuple")
def pair_found_by_a_loop(x):
    rows = three_rows()
    for i, row in enumerate(rows):
        if row[0] == 2.0:
            pair = (i, row)
            break
    pair[1][1] = x[1] * x[2] * (1.0 + pair[0])
    return total(rows)


@program(K, features="break, objects, several names")
def objects_found_by_a_loop(x):
    rows = [Row(key, value) for key, value in three_rows()]
    first = last = None
    for row in rows:
        if first is None:
            first = row
            continue
        if row.key == 2.0:
            last = row
            break
    first.value *= x
    last.value = x * first.value
    return sum(row.key * row.value for row in rows)


@program(K, features="break, dict")
def entry_found_by_a_loop(x):
    table = {"a": three_rows(), "b": three_rows()}
    for name, rows in table.items():
        if name == "b":
            found = rows[0]
            break
    found[1] = x * x
    return total(table["a"]) + total(table["b"])


@program(K, features="break, nested loops, else, continue")
def found_by_nested_loops(x):
    rows = three_rows()
    for k in range(3):
        for row in rows:
            if row[0] == 3.0:
                found = row
                break
        else:
            continue
        found[1] += x * x * k
    return total(rows)


@program(K, features="loop with else")
def found_by_the_else_of_a_loop(x):
    rows = three_rows()
    for row in rows:
        if row[0] == 4.0:
            found = row
            break
    else:
        found = rows[0]
    found[1] = x * x
    return total(rows)


@program(K, features="continue")
def found_before_continue(x):
    rows = three_rows()
    for row in rows:
        if row[0] == 2.0:
            found = row
            continue
        row[1] *= 0.5
    found[1] = x * x
    return total(rows)


def the_row(rows, key):
    for row in rows:
        if row[0] == key:
            return row
    return None


@program(K, features="return from a loop")
def found_by_a_function(x):
    rows = three_rows()
    the_row(rows, 2.0)[1] = x * x
    found = the_row(rows, 3.0)
    found[1] *= x
    return total(rows)


@program(K, features="break, handler")
def found_in_a_handler(x):
    rows = three_rows()
    for row in rows:
        try:
            row[5 if row[0] == 2.0 else 0]
        except IndexError:
            found = row
            break
    found[1] = x * x
    return total(rows)


@program(K, features="try, handler, result")
def bound_in_a_try_or_its_handler(x):
    rows = three_rows()
    found = None
    try:
        found = rows[2]
        found = rows[5]
    except IndexError:
        other = rows[1]
    found[1] = x * x
    other[1] = x * found[1]
    return total(rows)


@program(K, features="break, finally")
def found_before_finally(x):
    rows = three_rows()
    for row in rows:
        try:
            if row[0] == 2.0:
                found = row
                break
        finally:
            row[0] += x
    found[1] = x * x
    return total(rows)


@program(K, features="break, with")
def found_within_a_context(x):
    rows = three_rows()
    for row in rows:
        with contextlib.suppress(IndexError):
            if row[0] == 2.0:
                found = row
                break
            row[7] = 1.0
    found[1] = x * x
    return total(rows)


@program(K, features="break, match")
def found_by_a_pattern(x):
    rows = three_rows()
    for row in rows:
        match row:
            case [2.0, _] as found:
                break
    found[1] = x * x
    return total(rows)


@program(M33, K, features="branch, None")
def row_of_a_matrix_or_none(m, k):
    row = m[1] if k > 0.0 else None
    if row is not None:
        row[0] = row[1] * row[2]
    return np.sum(m * m)


@program(K, features="methods, branch, loop, handler")
def method_that_was_chosen(x):
    first, second = [1.0], [2.0]
    put = first.append if x > 0.0 else second.append
    put(x * x)
    for items in (first, second):
        put = items.append
        if items[0] == 2.0:
            break
    put(x * x)
    try:
        put = first.append
        first[7]
        put = second.append
    except IndexError:
        put(x * x)
    return first[1] * second[1] + first[2] * x
