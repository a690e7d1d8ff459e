"""Entries of arrays of which nothing is proven, as they come out of lists with other things, and rules of such arrays."""

from __future__ import annotations

import numpy as np

from tests.programs.mutation.table import M33, V3, W3, K, program


@program(V3, K, features="entry read, entry written, what was read before")
def entry_of_an_array_in_a_mixed_list(x, k):
    held = [x * k, "name", None]
    before = held[0][0]
    held[0][0] = before * held[0][np.int64(-1)]
    held[0][np.int64(1)] = held[0][0] * k
    return before * held[0][0] + np.sum(held[0] ** 2)


@program(M33, features="row as a view, entry of the row, entry of the whole")
def entry_by_way_of_a_row(m):
    held = [m * 1.0, "name"]
    row = held[0][1]
    before = row[2]
    held[0][1, 2] = before * row[0]
    row[0] = 2.0
    return row[2] * held[0][(1, 0)] + before * np.sum(held[0])


@program(V3, K, features="array without axes")
def entry_of_an_array_without_axes(x, k):
    held = [np.array(1.0), x, "name"]
    held[0][()] = held[1][0] * k
    before = held[0][()]
    held[0][()] = before * held[0][()]
    return held[0][()] * before + held[1][1]


@program(V3, features="whole numbers in an array")
def entries_that_are_whole_numbers(x):
    held = [np.array([2, 0, 1]), x * 1.0, "name"]
    held[0][1] = held[0][0]
    held[1][held[0][1]] = held[1][held[0][2]] * held[0][0]
    return np.sum(held[1] * held[1])


@program(V3, W3, features="value of a rule written, argument of a rule written")
def arrays_written_after_a_rule_has_read_them(x, w):
    held = [x * 1.0, w * 1.0, "name"]
    a = np.exp(held[0]) * held[1]
    b = held[0] * 2.0
    held[0][0] = 5.0
    a[1] = b[2]
    held[1] *= a
    b[0] = 1.0
    return np.sum(a * b) + np.sum(held[1])


@program(V3, K, features="sum of a list twice, list written between")
def sums_of_a_list_that_changes(x, k):
    held = ["name", [x[0], k, x[1]]]
    first = sum(held[1])
    held[1][0] = first * k
    second = sum(held[1])
    held[1].append(second)
    return sum(held[1]) * first + max(held[1])
