"""NumPy's functions that call what they are given, and arrays joined by `np.r_` and `np.c_`."""

from __future__ import annotations

import functools

import numpy as np

from tests.programs.table import program

V = np.array([0.7, -1.3, 2.1])
M = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]])


@program(M, features="np.apply_along_axis")
def along_axis_to_numbers(a):
    return np.apply_along_axis(lambda row: row[0] * np.sum(row**2), 1, a)


@program(M, features="np.apply_along_axis")
def along_axis_to_vectors(a):
    return np.apply_along_axis(lambda row, k: np.outer(row, row * k), 0, a, 2.0)


@program(M, 1.5, features="np.apply_along_axis, closure")
def along_axis_by_name(a, k):
    def scaled(row, power=1):
        return k * row**power

    return np.apply_along_axis(func1d=scaled, axis=-1, arr=a, power=3)


@program(V, features="np.apply_along_axis")
def along_the_only_axis(x):
    return np.apply_along_axis(np.prod, 0, x) * 2.0


@program(M, features="np.apply_along_axis")
def along_axis_in_whole_numbers_first(a):
    return np.sum(np.apply_along_axis(lambda row: 1 if row[0] < 0.0 else 3 * row[1], 0, np.sin(a[:, ::-1])))


@program(M, features="np.apply_over_axes")
def over_axes(a):
    return np.apply_over_axes(np.sum, a * a, [0, -1]) * np.apply_over_axes(lambda b, k: np.max(b, axis=k), a, 1)


@program(V, features="np.piecewise")
def piecewise_with_default(x):
    return np.piecewise(x, [x < 0.0, x > 2.0], [lambda v: v * v, 3.0, lambda v: -v])


@program(M, 1.5, features="np.piecewise, closure")
def piecewise_with_arguments(a, k):
    return np.piecewise(a, [a < 0.0, a >= 0.0], [lambda v, p: v**p * k, lambda v, p: p / (k + v)], 3)


@program(1.5, features="np.piecewise, number")
def piecewise_of_a_number(x):
    return np.piecewise(x, x > 1.0, [lambda v: v * v, -1.0]) + np.piecewise(x, [x > 2.0], [4.0, lambda v: 3.0 * v])


@program(2.5, features="np.fromfunction")
def from_function(k):
    return np.fromfunction(lambda i, j: k * i + j**2 * k**2, (2, 3))


@program(V, features="np.fromiter, map")
def from_iterator(x):
    return np.fromiter(map(np.square, x), float) * np.fromiter(map(np.sin, x), np.float64, 3)


@program(V, features="np.vectorize")
def vectorized(x):
    return np.vectorize(lambda v: v * v if v > 0.0 else -v)(x)


@program(V, 1.5, features="np.vectorize, closure")
def vectorized_closure(x, k):
    return np.vectorize(lambda v, w: k * v * w)(x, np.array([[1.0], [2.0]]))


@np.vectorize
def stepped(v, power=2):
    print("called")
    return v**power if v > 0.0 else 0.5 * v


smooth = np.vectorize(lambda v, w: (v * w, v + w, 3), otypes=[float, complex, int], cache=True)
chosen = np.vectorize(lambda p, v: np.dot(p, [1.0, v]), excluded=[0])
once = np.vectorize(lambda v: (print("once"), np.sin(v))[1], cache=True)


@program(V, features="np.vectorize, decorator, prints")
def vectorized_with_prints(x):
    return stepped(x) + stepped(x, power=3) + stepped(1.5, 2) + once(x)


@program(M, V, features="np.vectorize, several results")
def vectorized_with_several_results(a, x):
    products, sums, three = smooth(a, x)
    return products * three, sums


@program(np.array([1.5, 0.5]), V, features="np.vectorize, excluded")
def vectorized_with_excluded(p, x):
    return chosen(p, x) + chosen(p, 2.0)


@program(V, features="functools.reduce")
def reduced(x):
    return functools.reduce(lambda a, b: a * b + 1.0, x), functools.reduce(np.add, [x, x * x, x], np.ones(3))


@program(V, 0.5, features="np.r_")
def joined_in_a_row(x, k):
    return np.r_[x, k, 1, x * x, 0:3, [k, 2.0], 1:2:3j]


@program(0.5, features="np.r_, numbers")
def joined_numbers(k):
    return np.r_[k, 1, k * k] + np.r_[1, 2, 3]


@program(M, features="np.r_, directives")
def joined_by_directive(a):
    return np.r_["1", a, a * a], np.r_["0,3", a, a], np.r_["1,2,0", a[0], 2.0 * a[0]], np.r_["-1", a, a[:, :1]]


@program(V, M, features="np.c_")
def joined_in_columns(x, a):
    return np.c_[x, x * x, 1:4], np.c_[a, a[:, 0], [1.0, 2.0]], np.c_[x[None], 0.5, 0]


@program(M, features="np.s_")
def indexed_by_a_slice_object(a):
    return a[np.s_[:, 1:]] * a[np.index_exp[..., :2]]
