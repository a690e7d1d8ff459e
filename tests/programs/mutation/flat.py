"""`x.flat`, read, written and iterated over, beside other names of the same memory."""

from __future__ import annotations

import numpy as np

from tests.programs.mutation.table import M23, M33, M34, V3, V4, V5, K, program


@program(M33, V5, K, features="flat, every index")
def flat_written_by_every_index(m, v, k):
    a = m.copy()
    entries = a.flat
    entries[-1] = v[0] * v[1]
    entries[2:8:3] = v
    entries[[0, 4, 4]] = v[1:4]
    entries[np.array([[1, 5], [3, 1]])] = m[:2, 1:]
    entries[m.ravel() > 1.0] = k
    entries[3:5] = [k, v[4]]
    entries[:] = []
    entries[[]] = v[:2]
    return np.sum(a @ a) + entries[4] * entries[[1, 1, 2]].sum()


@program(M23, V3, features="flat, values repeated")
def flat_values_repeated(m, v):
    a, b = m.copy(), np.zeros((2, 3))
    a.flat = v[:2] * m[0, 0]
    b.flat[1:] = v
    b.T.flat[...] = a.flat[::-1]
    b.flat = b[0].copy()
    return np.sum(a**2 * b) + np.sum(b[1])


@program(M34, V4, features="flat, views and aliases")
def flat_of_views(m, v):
    a = m * 1.0
    view, entries = a[::2, ::-1], a.T.flat
    view.flat[[0, 5]] = v[:2]
    total = np.sum(a * a)
    entries[3:6] = v[1:]
    a[1] *= view.flat[0]
    y = entries[4]
    view.flat = total
    entries[11] += y
    return np.sum(a * np.arange(12.0).reshape(3, 4)) + np.sum(view.base.flat[2:5])


@program(V4, features="flat, argument written, loop")
def flat_of_an_argument(x):
    total = 0.0
    for i in range(4):
        x.reshape(2, 2).flat[i] = x.flat[i - 1] * 0.5 + total
        total = total + x[i] ** 2
    return total


@program(M33, features="flat, iterated over")
def flat_iterated_over(m):
    a, total = m.copy(), 0.0
    for place, value in enumerate(a.T.flat):
        total = total + value**2 * (place + 1)
        a.flat[(place + 1) % 9] += value * 0.1
    for x, y in zip(m.flat, a[::-1].flat):
        total = total + x * y
    for value in a[:, 1:].flat:
        if value > 1.0:
            break
        total = total * value
    return total + sum([x * x for x in m[1:].flat]) * max(m.flat)


@program(M33, features="flat, one iterator read at two places")
def flat_read_in_turn(m):
    entries, total = (m * m).flat, 0.0
    for first in entries:
        total = total + first * entries.index
        for second in entries:
            total = total * second
            if entries.index % 4 == 0:
                break
    return total + np.sum(np.array(list(m.flat)) ** 2)


@program(M23, V3, features="flat, given as a value")
def flat_as_a_value(m, v):
    a, b = np.zeros(6), m.copy()
    a[:] = m.flat
    a *= b.flat
    b.flat[0] = 3.0
    a -= b.flat
    np.copyto(b[0], v.flat)
    held = [b.flat, a]
    held[0][4] = a[0] * v[1]
    c = held[0].copy()
    b[0] = 0.5
    return np.sum(a**2) + np.sum(b * b) * np.prod(c)


@program(V3, features="flat, without axes, whole numbers")
def flat_of_small_arrays(x):
    z, n = np.array(1.5), np.arange(3)
    z.flat = x[0] * 2.0
    z.flat[0] = z.flat[0] * x[1]
    n.flat[1] = 7
    x.flat[[0, 2]] = n[:2]
    return z * np.sum(x * x + n)


@program(V4, V3, features="flat, try")
def flat_in_an_attempt(x, v):
    for place in (1, 7, 2):
        try:
            x.flat[place] = v[0] * x.flat[place]
            x *= v[1]
        except IndexError:
            x.flat = v[2] * x
    return np.sum(x**2)


@program(M33, features="np.ndenumerate, broken off, views")
def entries_with_their_indices(m):
    a, total = m.T * 1.0, 0.0
    for index, value in np.ndenumerate(a[1:]):
        total = total + value * (index[0] + 2 * index[1])
        a[index] = total
        if index == (1, 1):
            break
    return total + np.sum(a**2) + sum([x * a[k] for k, x in np.ndenumerate(m)])


@program(V3, features="np.ndenumerate of what was computed")
def entries_of_a_product_with_their_indices(x):
    total = 0.0
    for (i, j), value in np.ndenumerate(np.outer(x, x)):
        total = total + value * (i - j * j)
    squares = x * x
    for (k,), value in np.ndenumerate(squares):
        squares[2] = squares[2] + value
        total = total * value + k
    return total


@program(V3, features="np.poly1d, its coefficients are those that it was given")
def coefficients_of_a_polynomial_are_written(x):
    squares = x * x
    line = np.poly1d(squares)
    line.coeffs[0] = x[1]
    return line(2.0) + squares[0]


@program(V3, features="Polynomial, its coefficients are written")
def coefficients_of_a_series_are_written(x):
    series = np.polynomial.Polynomial(x * x)
    series.coef[0] = x[1] * 3.0
    return series(2.0) + np.sum(x * x)
