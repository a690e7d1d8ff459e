"""Methods and functions that write into an array."""

from __future__ import annotations

import operator

import numpy as np

from tests.programs.mutation.table import M23, M33, V3, V4, V5, W3, K, program


@program(V3, K, features="np.add.at, repeats")
def scatter_add(x, k):
    z = np.zeros(3)
    np.add.at(z, [0, 0, 2], x)
    np.add.at(z, np.array([1, 1]), k)
    return np.sum(z**3)


@program(V5, V3, features="np.subtract.at")
def scatter_subtract(x, v):
    z = x.copy()
    np.subtract.at(z, [4, 1, 4], v * v)
    return np.sum(z**3)


@program(V5, V3, features="np.multiply.at")
def scatter_multiply(x, v):
    z = x.copy()
    np.multiply.at(z, [0, 3, 3], v)
    return np.sum(z**2)


@program(V5, features="np.negative.at, np.square.at")
def scatter_unary(x):
    z = x.copy()
    np.negative.at(z, [0, 1])
    np.square.at(z, [2, 2])
    return np.sum(z * x)


@program(V5, V3, features="np.maximum.at")
def scatter_maximum(x, v):
    z = x.copy()
    np.maximum.at(z, [0, 1, 1], v)
    return np.sum(z**2)


@program(M33, V4, features="np.add.at, tuple of indices")
def scatter_add_into_a_matrix(m, v):
    a = m.copy()
    np.add.at(a, ([0, 2, 2, 0], [1, 1, 1, 0]), v)
    np.add.at(a, (slice(None), 1), v[:3])
    return np.sum(a @ a)


@program(V5, features="histogram by np.add.at")
def histogram_of_weights(x):
    bins = np.array([0, 2, 1, 0, 2])
    h = np.zeros(3)
    np.add.at(h, bins, x**2)
    return h[0] * h[1] + h[2] ** 2


@program(V3, K, features="fill")
def filled(x, k):
    y = x.copy()
    z = y * x
    y.fill(k * x[0])
    y[:2].fill(2.0)
    return np.sum(y * z)


@program(V5, features="sort")
def sorted_in_place(x):
    y = x * 1.0
    y.sort()
    return np.sum(y * np.arange(1.0, 6.0) ** 2)


@program(M33, features="sort, axis")
def columns_sorted_in_place(m):
    a = m.copy()
    a.sort(axis=0)
    a[1].sort()
    return np.sum(a**2 * np.arange(9.0).reshape(3, 3))


@program(V5, features="sort, argument written")
def argument_sorted(x):
    y = x * x
    x.sort()
    return np.sum(x * y)


@program(V5, features="partition")
def partitioned_in_place(x):
    y = x.copy()
    y.partition(2)
    return 3.0 * y[2] ** 2 + np.max(y[:2]) * y[2]


@program(V5, V5[::-1] * 0.7, features="np.copyto")
def copied_into(x, w):
    y = x * 2.0
    np.copyto(y, w)
    y *= x
    return np.sum(y * y)


@program(V5, K, features="np.copyto, where=")
def copied_where(x, k):
    y = x * 2.0
    np.copyto(y, k * x[0], where=x < 0.0)
    np.copyto(y[1:], y[:-1] * y[1:], where=[True, False, True, False])
    return np.sum(y * y)


@program(V5, V3, features="put")
def put_by_method_and_function(x, v):
    y = x.copy()
    y.put([0, 4], v[:2])
    np.put(y, [1, 1, 2], v)
    np.put(y, [3], v[0] * v[1])
    return np.sum(y * y * np.arange(1.0, 6.0))


@program(V5, V3, features="np.place")
def placed_in_turn(x, v):
    y = x.copy()
    np.place(y, x > 0.0, v[:2])
    return np.sum(y * y * np.arange(1.0, 6.0))


@program(V5, V5 * 1.3 + 0.2, features="np.putmask")
def put_where_masked(x, w):
    y = x.copy()
    np.putmask(y, x < 0.5, w)
    return np.sum(y * y)


@program(M23, features="np.put_along_axis")
def put_along_an_axis(m):
    a = m.copy()
    best = np.argmax(m, axis=1, keepdims=True)
    np.put_along_axis(a, best, np.sum(m * m, axis=1, keepdims=True), axis=1)
    return np.sum(a * a)


@program(M33, K, features="np.fill_diagonal")
def diagonal_filled(m, k):
    a = m.copy()
    np.fill_diagonal(a, k)
    b = m * a
    np.fill_diagonal(b, m[0])
    return np.sum(b @ a)


@program(V5, features="np.nan_to_num, copy=False")
def holes_filled_in_place(x):
    y = x * 1.0
    y[1], y[3] = np.nan, np.inf
    np.nan_to_num(y, copy=False, nan=0.5, posinf=2.0)
    return np.sum(y * x)


@program(V4, features="operator.setitem, __setitem__")
def operator_setitem(x):
    y = x.copy()
    operator.setitem(y, 1, x[0] * x[0])
    y.__setitem__(2, y[1] * 2.0)
    return np.sum(y * y)


@program(V4, K, features="operator.iadd")
def operator_in_place(x, k):
    y = x.copy()
    z = operator.iadd(y, k)
    z = operator.imul(z, x)
    y.__isub__(z * 0.5)
    return np.sum(y * z)


@program(V4, features="flat")
def written_through_flat(x):
    a = x.reshape(2, 2) * 1.0
    a.flat[1] = x[3] ** 2
    a.flat[[2, 3]] = a.flat[[0, 1]]
    a.flat = a.ravel() * 2.0
    return np.sum(a @ a)


@program(V3 + 1j * W3, features="real and imag assigned")
def parts_assigned(z):
    w = z.copy()
    w.real = w.imag * 2.0
    w.imag[1:] = w.real[:-1] * z.real[1:]
    return np.sum(np.abs(w) ** 4)


@program(V3, W3, features="item read, item written")
def items_by_method(x, w):
    y = x.copy()
    for i in range(y.size):
        y[i] = max(y.item(i), w.item(i)) ** 2
    return y.sum()


@program(V4, features="resize")
def resized_in_place(x):
    y = x * x
    y.resize((2, 2), refcheck=False)
    y[0] = y[1]
    return np.sum(y @ y)


@program(np.array([0.2, 1.7, -0.4]), features="random shuffle")
def shuffled_in_place(x):
    y = x * x
    np.random.default_rng(3).shuffle(y)
    return np.sum(y * np.array([1.0, 2.0, 4.0]))


@program(V3, W3, features="item written, zip")
def written_by_an_iterator(x, w):
    y = np.empty(3)
    for i, (a, b) in enumerate(zip(x, w)):
        y[i] = a * b + y[i - 1] if i else a
    return np.sum(y * y)


@program(M33, features="np.ndenumerate")
def entries_visited_while_written(m):
    a = np.zeros((3, 3))
    for (i, j), value in np.ndenumerate(m):
        a[j, i] = value * value + a[i, j]
    return np.sum(a * m)


@program(V5, W3, features="np.convolve by hand")
def convolution_by_hand(x, w):
    y = np.zeros(len(x) + len(w) - 1)
    for i, v in enumerate(w):
        y[i : i + len(x)] += v * x
    return np.sum(y * y)


@program(V5, features="np.insert is not a write")
def functions_that_copy(x):
    y = np.insert(x, 1, x[0] * 2.0)
    z = np.append(y, x)
    z[0] = y[1]
    return np.sum(z * z) + np.sum(y)
