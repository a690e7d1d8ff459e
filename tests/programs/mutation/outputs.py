"""Results that are written into arrays which the call is given: several of them, arguments given by name, reductions."""

from __future__ import annotations

import numpy as np

from tests.programs.mutation.table import M23, M33, V3, V4, V5, W3, K, program


@program(V5, K, features="out=, arguments by name")
def clipped_into_a_buffer_by_name(x, k):
    y = np.zeros(5)
    np.clip(x, -0.8, a_max=k * 1.5, out=y)
    x[0] = 2.0
    x.clip(max=k * 1.2, out=x)
    return np.sum(y * y) + np.sum(x * np.arange(5.0))


@program(V3, W3, features="out=, arguments by name")
def product_into_a_buffer_by_name(x, w):
    y = np.zeros(())
    np.dot(x, b=w * x, out=y)
    np.sum(a=x * y, out=y)
    x[1] = y * w[0]
    return np.sum(x * w) * y


@program(M33, V3, features="out=, ufunc.reduce and accumulate, positions")
def reductions_by_ufuncs(m, v):
    rows, total, a = np.zeros(3), np.zeros(()), np.empty((3, 3))
    np.multiply.reduce(m, 1, None, rows)
    np.logaddexp.reduce(rows * v, out=total)
    np.maximum.accumulate(m, axis=1, out=a)
    np.add.accumulate(a, 0, None, m)
    np.subtract.reduce(m, axis=0, out=v)
    np.add.reduceat(v, [0, 2, 1], out=rows)
    return np.sum(rows**2) * total + np.sum(m * a)


@program(V4, features="out=, reduceat at places in an array")
def reduction_between_places(x):
    rows = np.zeros(3)
    np.multiply.reduceat(x, np.array([0, 2, 1]), out=rows)
    return np.sum(rows**2)


@program(M23, V3, features="out=, reduction into what it reads")
def reduction_over_its_own_rows(m, v):
    np.add.reduce(m * v, axis=0, out=m[0])
    np.multiply.outer(v, m[0], out=(a := np.zeros((3, 3))))
    np.minimum.reduce(a, axis=0, out=a[1])
    return np.sum(a**2 * np.arange(9.0).reshape(3, 3)) + np.sum(m)


@program(V4, K, features="out=, two outputs, aliases, one new")
def parts_into_views(x, k):
    y = np.zeros((2, 4))
    seen = y.T
    np.modf(x * 3.0, out=(y[0], y[1]))
    np.modf(y[0] * 2.3, y[0])
    fraction, whole = np.divmod(x * k, 0.3, out=(None, y[1]))
    z = np.sum(seen * x[:, None])
    seen[1] = fraction[0] + x[0]
    return z + np.sum(whole**2) + np.sum(y * y)


@program(V4, features="out=, two outputs, loop")
def mantissas_in_a_loop(x):
    mantissa, exponent = np.zeros(4), np.zeros(4, int)
    total = 0.0
    for i in range(3):
        np.frexp(x * (i + 1.3), out=(mantissa, exponent))
        total += np.sum(mantissa * x)
        mantissa[i] = total
    return total + np.sum(mantissa)


@program(V5, features="out=, numbers of entries")
def taken_into_a_buffer(x):
    y, z = np.zeros(3), np.zeros(3)
    places = np.array([4, 0, 0])
    np.take(x, places, out=y)
    x.take(places, None, z)
    places[0] = 1
    np.choose(np.array([1, 0, 1]), [y, y * z], out=y)
    np.array([0, 1, 1]).choose([y, x[:3]], out=z)
    np.compress(np.array([True, False, True, True]), x, out=y)
    x[:3] = z
    return np.sum(x * x) + np.prod(y)


@program(V5, V3, features="np.insert, np.delete, np.append, try")
def copies_that_are_not_views(x, v):
    y = np.insert(x, [1, 1, 4], v)
    z = np.delete(y, [0, 2])
    y[2] = z[0] * z[1]
    try:
        z = np.insert(z, 9, y)
    except IndexError:
        z[:3] = np.append(v[:1], y[2:4])
    return np.sum(y * y) + np.prod(z)


@program(V3, 0.5, features="out=, initial=")
def sum_from_a_start_into_a_number(x, k):
    y = np.zeros(())
    np.sum(x, out=y, initial=k)
    return y * 2.0


@program(np.arange(1.0, 5.0).reshape(2, 2), 0.5, features="out=, initial=, axis=")
def sums_from_a_start_into_a_vector(x, k):
    y = np.zeros(2)
    z = np.sum(x, 0, out=y, initial=k)
    z[0] *= x[0, 0]
    return y[0] * z[1] * k
