"""Rows of an argument that are only iterated over, in runs that write something else."""

from __future__ import annotations

import numpy as np

from tests.programs.mutation.table import M23, V3, program

M222 = np.array([[[0.3, -0.7], [1.2, 0.1]], [[0.8, 0.5], [-0.4, 1.5]]])
LISTS = [[0.2, -0.8, 1.1], [0.9, 0.4, -1.3]]


@program(M23, features="greatest square of each row")
@program(LISTS, features="greatest square of each row, lists")
def squares_of_rows(A):
    return [max(a * a for a in row) for row in A]


@program(M23, V3, features="product with a vector, by rows")
def product_by_rows(A, v):
    return np.array([sum(a * b for a, b in zip(row, v)) for row in A])


@program(M23, V3, features="product with a vector, into an array")
def product_into_an_array(A, v):
    out = np.zeros(2)
    for i, row in enumerate(A):
        for a, b in zip(row, v):
            out[i] += a * b
    return out


@program(M23, features="dict by two indices")
@program(LISTS, features="dict by two indices, lists")
def entries_of_a_dict(A):
    out = {}
    for i, row in enumerate(A):
        for j, a in enumerate(row):
            out[i, j] = a * a
    return out[0, 1] * out[1, 2] + sum(out.values())


@program(M23, V3, features="sum in a list")
def sum_in_a_list(A, v):
    s = [0.0]
    for row in A:
        for a, b in zip(row, v):
            s[0] += a * b
    return s[0]


@program(M222, features="three axes")
def three_axes(A):
    s = [0.0]
    for matrix in A:
        for row in matrix:
            for a in row:
                s[0] = 0.9 * s[0] + a * a
    return s[0]


@program(M222, features="three axes, comprehensions")
def three_axes_in_comprehensions(A):
    out = []
    out.append([[sum(a * a for a in row) for row in matrix if any(a > 0.0 for a in row)] for matrix in A])
    return out[0]


@program(M23, features="from the end")
def rows_from_the_end(A):
    s = [0.0]
    for i, row in enumerate(reversed(A)):
        for a in reversed(row):
            s[0] = 0.5 * s[0] + (i + 1) * a * a
    return s[0]


@program([V3, V3 * 0.5], features="arrays in a list, unpacked")
def arrays_unpacked(rows):
    s = [0.0]
    for row in rows:
        a, b, c = row
        s[0] += a * b + c
    return s[0]


@program({"w": V3, "u": [V3 * 0.5, V3 * 1.5]}, features="arrays in a dict and in a list")
def rows_in_a_tree(tree):
    s = [0.0]
    for a in tree["w"]:
        s[0] += a * a
    for row in tree["u"]:
        for a in row:
            s[0] += a * a * a
    return s[0]


@program([0.4, -0.9, 1.3], features="a list from both ends")
def both_ends(x):
    out = [1.0]
    for a, b in zip(reversed(x), x):
        out.append(a * b * b + out[-1])
    return sum(out)


def fill(out, A):
    for i, row in enumerate(A):
        for j, a in enumerate(row):
            out[i, j] = a * a


@program(M23, features="rows in a callee that writes")
def rows_in_a_callee(A):
    out = {}
    fill(out, A)
    return sum(out.values())


@program(M23, features="rows of two arrays, leaving by return")
def rows_until_a_negative_one(A):
    out = []
    for r, q in zip(A, A * 0.5):
        for a, b in zip(r, q):
            if a < 0.0:
                return out[0] * b
            out.append(a * b)
    return out[0]


class Gain:
    def __init__(self, k):
        self.k = k


@program(LISTS, V3, Gain(0.7), features="a row that is written, rows as a whole, beside an object")
def a_row_is_written_and_all_are_read(rows, v, gain):
    rows[0][-1] -= 0.2 * gain.k
    total = 0.0
    for row, a in zip(rows, v):
        total += a * row[0] * row[2]
    return total * gain.k
