"""Arrays whose shape is assigned."""

from __future__ import annotations

import numpy as np

from tests.programs.mutation.table import program

V6 = np.array([0.3, -0.2, 0.8, 1.1, -0.6, 0.9])


@program(0.7, 0.3, features="shape assigned, shape of a made array")
def shape_of_a_made_array(x, y):
    a = np.array([x, y, x * y, 1.0, x, y])
    a.shape = (2, 3)
    return np.sum(a[0] * a[1])


@program(V6, 2.0, features="shape assigned, shape of a product")
def shape_of_a_product(a, y):
    b = a * y
    b.shape = (2, 3)
    return np.sum(b[0] * b[1])


@program(V6, 2.0, features="shape assigned, shape and entries written")
def shape_and_entries_written(a, y):
    b = np.exp(a * 0.1)
    c = b * 2
    b.shape = (3, 2)
    b[1, 1] = y
    b *= y
    return np.sum(b @ np.ones((2, 2))) + np.sum(c)


@program(V6, 2.0, features="shape assigned, shape under another name")
def shape_under_another_name(a, y):
    b = a * y
    c = b
    b.shape = (2, 3)
    return np.sum(c[0] * b[1])


@program(V6, 2.0, features="shape assigned, shape with a wildcard")
def shape_with_a_wildcard(a, y):
    b = np.zeros(6)
    b[2] = y
    b += a
    b.shape = -1, 2
    return np.sum(b**2)


@program(V6, 2.0, features="shape assigned, shape and given on")
def shape_and_given_on(a, y):
    b = a * y
    b.shape = (2, 3)
    return total(b) + total(b.T)


def total(m):
    return np.sum(m[0] * m[1])
