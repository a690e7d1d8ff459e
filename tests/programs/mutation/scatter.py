"""`ufunc.at`: updates one after the other, of which several may meet the same entry."""

from __future__ import annotations

import numpy as np

from tests.programs.mutation.table import M23, M33, V3, V4, V5, W3, K, program


@program(V5, V4, K, features="ufunc.at, each operand, number, list")
def scatter_in_turn(x, v, k):
    z = x * x + 0.5
    np.power.at(z, [0, 0, 1], [k, 2.0, v[1]])
    np.divide.at(z, [4, 1, 4, 4], v)
    np.multiply.at(z, 3, k)
    np.hypot.at(z, [2, 2], [v[0], 0.3])
    return np.sum(z * np.arange(1.0, 6.0))


@program(V5, V3, features="ufunc.at, alias, view of a view")
def scatter_through_a_view(x, v):
    z = x * 1.0
    other, back = z[1:], z[::-1]
    np.multiply.at(other[::2], [0, 0, 1], v)
    y = np.sum(z**2)
    np.multiply.at(back, [0, 4, 0], other[:3])
    z[2] = y * z[0]
    return y * np.sum(other) + np.sum(back**2)


@program(V5, features="ufunc.at, value overlaps what is written")
def scatter_of_its_own_entries(x):
    z = x.copy()
    np.multiply.at(z, [1, 2, 2], z[:3])
    np.multiply.at(z[1:], [0, 1, 2, 3], z[:4])
    np.add.at(z[1:], [0, 0, 2, 3], z[:4])
    return np.sum(z**2)


@program(V5, V3, features="ufunc.at, operands written later")
def scatter_operands_written_later(x, v):
    z, w, places = x.copy(), v * 2.0, np.array([3, 0, 3])
    np.multiply.at(z, places, w)
    w[0], places[:] = 7.0, 1
    np.multiply.at(z, places, w)
    return np.sum(z * np.arange(1.0, 6.0)) + np.sum(w)


@program(M33, V3, features="ufunc.at, loop, buffer used again")
def scatter_in_a_loop(m, v):
    total, buffer = 0.0, np.ones(3)
    for i in range(3):
        np.multiply.at(buffer, [i, (i + 1) % 3, i], m[i] + v[i])
        total += np.sum(buffer**2)
        if i == 1:
            buffer[0] = v[2]
    return total


@program(M33, V3, features="ufunc.at, slices, masks and new axes")
def scatter_by_other_indices(m, v):
    a = m + 2.0
    np.multiply.at(a, (slice(None), [0, 0, 2]), v)
    np.multiply.at(a, m > 0.7, v[0])
    np.subtract.at(a.T, (1, ...), v)
    np.multiply.at(a, (None, [1, 1]), np.ones((2, 1)) * v)
    np.multiply.at(a, [], 3.0)
    return np.sum(a**2 * np.arange(1.0, 10.0).reshape(3, 3))


@program(V4, features="ufunc.at, entries without axes, whole numbers")
def scatter_into_others(x):
    z, n = np.array(1.5), np.arange(4)
    np.multiply.at(z, (), x[0])
    np.multiply.at(z, (), 2)
    np.multiply.at(n, [1, 2, 1], 3)
    np.sign.at(x, [3])
    np.add.at(x, [1, 1], n[:2])
    return np.sum(x**2 * n) * z


@program(V4 + 1j * V4[::-1], V3, features="ufunc.at, complex")
def scatter_complex(z, v):
    w = z.copy()
    np.multiply.at(w, [0, 2, 2], v * 1.0)
    np.multiply.at(w, [1, 1], z[2:])
    np.conjugate.at(w, [3])
    return np.sum(np.abs(w * z[0]) ** 2)


@program(V4, V3, features="ufunc.at, argument written, try")
def scatter_in_an_attempt(x, v):
    for place in (0, 9, 2):
        try:
            np.multiply.at(x, [place, 1], v[:2])
            x[1] *= v[2]
        except IndexError:
            np.minimum.at(x, [3, 3], v[1:])
    return np.sum(x**2)


@program(M23, W3, features="ufunc.at, function from a table")
def scatter_by_unknown_functions(m, w):
    a = np.ones((2, 3))
    for function in (np.multiply, np.add, np.subtract, np.maximum, np.logaddexp):
        function.at(a, ([0, 1, 1], [0, 2, 2]), w * m[0])
        function.at(a, (1,), m[1])
    for function in (np.exp, np.sin, np.negative):
        function.at(a, ([0, 1, 1], [0, 2, 2]))
    return np.sum(a**2)


@program(V4.astype(np.float32), V3, features="ufunc.at, float32")
def scatter_narrow(x, v):
    y = x.copy()
    np.multiply.at(y, [0, 0, 2], v)
    return np.sum(y * y)
