"""Arrays that operators and functions have made, written into as a whole or in parts, whoever has read them before."""

from __future__ import annotations

import sys

import numpy as np

from tests.programs.mutation.table import program

X = 1.3
MATRIX = np.array([[4.0, 1.0, -0.5], [0.5, 5.0, 2.0], [1.0, -2.0, 6.0]])


@program(X, features="v /= norm(v)")
def made_of_unit_length(x):
    v = np.array([x, 2.0, 3.0]) * x
    v /= np.linalg.norm(v)
    return v[0] + v[1] * v[2]


@program(X, features="v /= norm(v) in a loop, v[i] **= 2")
def scaled_in_a_loop(x):
    v = np.array([x, 2.0, 3.0]) * x
    for i in range(3):
        v /= np.linalg.norm(v) + i
        v[i] **= 2
    return np.sum(v * v)


@program(X, features="quotient, saved, divided and written into")
def saved_before_it_is_written(x):
    v = np.array([x, 2.0, 3.0]) * x
    y = v / x
    z = y * y
    y /= 2
    y[0] = x
    return np.sum(z) + np.sum(y) + np.sum(v)


@program(X, features="two names of an array that is divided")
def two_names(x):
    v = np.array([x, 2.0, 3.0]) * x
    w = v
    y = v * v
    v /= x
    return np.sum(w * v) + np.sum(y)


@program(X, features="an array in a list that is divided")
def kept_in_a_list(x):
    v = np.array([x, 2.0, 3.0]) * x
    size = np.linalg.norm(v)
    kept = []
    kept.append(v)
    v /= size
    return np.sum(kept[0]) * size


@program(X, features="an array that a function has captured and that is divided")
def captured_and_divided(x):
    v = np.array([x, 2.0, 3.0]) * x
    total = lambda: np.sum(v)
    before = total()
    v /= 2
    return before * total()


@program(X, features="np.sort, x.max, np.stack and np.linalg.inv, written into")
def made_by_functions(x):
    v = np.array([x, 2.0, 3.0]) * x
    ordered = np.sort(v)
    squares = ordered * ordered
    ordered[0] *= 4
    most = v.max(axis=0)
    higher = np.stack([v, ordered]).max(axis=0)
    as_it_was = higher * 1.0
    higher[1] = most
    inverse = np.linalg.inv(MATRIX * x)
    inverse[0] += ordered
    return np.sum(ordered * squares) + np.sum(higher * as_it_was) + np.sum(inverse)


@program(MATRIX, features="x.astype, A[i, :] -= f * A[k, :]")
def eliminated_in_a_copy_of_a_type(a):
    m = np.concatenate((a, a[:, :1]), axis=1).astype("float64")
    for row in range(2):
        for below in range(row + 1, 3):
            m[below, :] -= m[below, row] / m[row, row] * m[row, :]
    return np.sum(m[2])


@program(X, features="x[places] under a name, written into")
def picked_and_written(x):
    v = np.array([x, 2.0, 3.0]) * x
    y = v[[0, 1]]
    y *= 3
    z = v[np.array([True, False, True])]
    z[0] = y[1] * x
    z /= np.sum(z)
    return np.sum(y) * z[1] + v[0]


@program(X, features="methods that are read before the array is written into")
def methods_read_before(x):
    v = np.zeros(3)
    v[0] = x
    copied, summed, steps = v.copy, v.sum, v.cumsum
    v[1] = 2 * x
    return np.sum(copied()) * summed() + steps()[2]


def halved(v, n):
    v = v * 2
    v /= n
    return v


@program(X, features="a function of the module that divides what it has made")
def divided_by_another_function(x):
    v = np.array([x, 2.0, 3.0])
    y = halved(v, np.sum(v)) + halved(v, 3.0)
    return np.sum(y * v)


@program(X, features="integers that // and % make of floats")
def whole_quotients(x):
    y = np.array([1, 2, 3]) * 2
    y = y + x
    y //= 2.0
    y %= 1.3
    return np.sum(y) * x


@program(X, features="a row, and the whole, divided and multiplied")
def row_of_a_divided_matrix(x):
    m = np.outer(np.array([x, 2.0, 3.0]), np.ones(3)) * 1.0
    row = m[0]
    m /= 2 * x
    row *= 3
    return np.sum(m * m)


@program(X, features="an array divided in a try that raises")
def divided_in_a_try_that_raises(x):
    v = np.array([x, 2.0, 3.0]) * x
    try:
        v /= np.sum(v)
        if x > 0:
            raise ValueError
        v *= 2
    except ValueError:
        v -= 1
    return np.sum(v * v)


@program(-0.7, features="an array divided in a try")
def divided_in_a_try(x):
    return divided_in_a_try_that_raises(x)


@program(X, features="one array or another, divided in a loop")
def one_of_two_divided(x):
    v = np.ones(3) * x
    w = v if x > 0 else v * 2
    for i in range(3):
        v /= np.linalg.norm(v) + w[0] + i
    return np.sum(v * np.arange(3.0)) * x + np.sum(w * w)


@program(MATRIX, features="lower[i][j] = ..., upper[j][j] in a matrix")
def decomposed_by_rows(a):
    n = len(a)
    lower, upper = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            total = np.sum(lower[i, :i] * upper[:i, j])
            if upper[j][j] == 0:
                raise ArithmeticError("no decomposition")
            lower[i][j] = (a[i][j] - total) / upper[j][j]
        lower[i][i] = 1
        for j in range(i, n):
            upper[i][j] = a[i][j] - np.sum(lower[i, :i] * upper[:i, j])
    return np.sum(lower * upper.T) + np.sum(lower)


@program(MATRIX, features="A[i][1:] = v, A[i][j] += v, a row under a name")
def parts_of_rows(a):
    m = np.zeros((3, 3))
    row = m[1]
    for i in range(3):
        m[i][1:] = a[i, :2]
        m[i][0] += a[i][i] * row[2]
        row[-1] = m[0][1]
    return np.sum(m * a) + row[0] * row[2]


@program([10.0, 30.0, 5.0, 7.0], features="sys.maxsize in a table of numbers")
def cheapest_order(sizes):
    n = len(sizes)
    costs = [[0 for _ in range(n)] for _ in range(n)]
    for length in range(2, n):
        for a in range(1, n - length + 1):
            b = a + length - 1
            costs[a][b] = sys.maxsize
            for c in range(a, b):
                cost = costs[a][c] + costs[c + 1][b] + sizes[a - 1] * sizes[c] * sizes[b]
                if cost < costs[a][b]:
                    costs[a][b] = cost
    return costs[1][n - 1]


@program(MATRIX, features="dtypes compared and named in a message")
def of_one_dtype(a):
    if a.dtype != MATRIX.dtype:
        raise TypeError(f"{a.dtype} and {MATRIX.dtype}")
    sums = []
    for row in a:
        sums.append([row.tolist(), np.sum(row)])
    return sum(total * items[0] for items, total in sums)


@program(MATRIX, "max", features="what a function gives that is chosen when it runs is put into an array")
def pooled(a, how):
    if how == "max":
        function = np.max
    else:
        function = np.mean
    y = np.zeros((2, 3))
    for i in range(2):
        for j in range(3):
            y[i, j] = function(a[i : i + 2, j])
    return np.sum(y * y)


def doubled(row):
    return 2.0 * row


def in_a_list(row):
    return [row[0], row[1] * row[2], 2]


def one_number(row):
    return 3.0


@program(MATRIX, ["doubled", "in_a_list", "one_number"], features="an array, a list or a number as a row")
def rows_of_unknown_functions(a, names):
    functions = {"doubled": doubled, "in_a_list": in_a_list, "one_number": one_number}
    y = np.zeros((3, 3))
    for i, name in enumerate(names):
        y[i] = functions[name](a[i])
    return np.sum(y * y * a)


@program(X, features="x.astype that gives the array itself, which is divided")
def told_not_to_copy(x):
    v = np.array([x, 2.0, 3.0]) * x
    y = v.astype(float, copy=False)
    v /= 2
    w = np.array([x, 1.0]) * 3.0
    z = w.astype(float, "K", "unsafe", True, False)
    w /= x
    w[0] = x
    u = np.array([1.0, x]) * x
    t = np.array(u, copy=None)
    u *= 3.0
    u -= np.linalg.norm(u)
    return np.sum(y * v) + np.sum(z * w) + np.sum(t * u)


@program(X, features="v.clip and v.cumsum into other arrays, or into itself")
def methods_that_write(x):
    v = np.array([x, 2.0, 3.0]) * x
    w = np.zeros(3)
    v.cumsum(out=w)
    v.clip(0.0, 4.0, v)
    most = v.max()
    v /= most
    return np.sum(w * v) * most


@program(X, features="np.array that gives the array itself, whose entries are written into")
def array_told_not_to_copy(x):
    u = np.zeros(2)
    u[0] = x
    t = np.array(u, copy=False)
    u[1] = x * x
    return np.sum(t) * x
