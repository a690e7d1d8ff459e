"""Functions that write, given to functions of NumPy's that call them."""

from __future__ import annotations

import numpy as np

from tests.programs.mutation.table import M23, V3, program

BOX = [1.0]


def doubles(v):
    BOX[0] = BOX[0] * 2.0
    return v


VECTORIZED = np.vectorize(doubles, otypes=[float])


@program(V3, features="np.vectorize, global")
def vectorized_with_a_global(x):
    BOX[0] = x[0]
    z = VECTORIZED(np.ones(3))
    return BOX[0] * x[1] + np.sum(z)


@program(V3, features="np.vectorize, closure")
def vectorized_writes_into_a_captured_array(x):
    y = x * 1.0

    def weighted(v):
        y[0] = y[0] * 2 + v
        return v * y[0]

    return np.sum(np.vectorize(weighted)(x)) + y[0]


@program(M23, features="np.apply_along_axis, closure")
def along_axis_writes_into_a_captured_array(a):
    y = a[0] * 1.0

    def weighted(row):
        y[:] = y * 2 + row
        return row * y

    return np.sum(np.apply_along_axis(weighted, 1, a)) + y[0]


@program(M23, features="np.apply_along_axis, views")
def along_axis_writes_into_its_rows(a):
    b = a * 1.0

    def doubled(row):
        row *= 2.0
        return row * row[0]

    return np.sum(np.apply_along_axis(doubled, 0, b)) + np.sum(b**3)


@program(V3, features="np.piecewise, closure")
def piecewise_writes(x):
    y = x * 1.0

    def weighted(v):
        y[0] = y[0] * 2 + v[0]
        v *= 3.0
        return v * y[0]

    return np.sum(np.piecewise(x, [x > 0.0], [weighted, 2.0])) + y[0] + np.sum(x)


@program(M23, features="np.apply_over_axes, views")
def over_axes_gives_a_view(a):
    b = a * a
    c = np.apply_over_axes(lambda v, axis: v[:, 1:], b, 0)
    b[0] = a[1]
    return np.sum(c**2) + np.sum(b)


@program(V3, features="np.r_, copies")
def joined_array_is_a_copy(x):
    b = x * x
    c = np.r_[b]
    b[0] = 0.0
    d = np.c_[b, b]
    b[1] = x[0]
    return np.sum(c) + np.sum(d * d) + np.sum(b)
