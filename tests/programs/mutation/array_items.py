"""`x[index] = value` with every kind of index."""

from __future__ import annotations

import numpy as np

from tests.programs.mutation.table import M23, M33, M34, V3, V4, V5, W3, K, program


@program(V3, K, features="array item, int index")
def item_of_a_copy(x, k):
    y = x.copy()
    y[1] = k * y[0]
    return np.sum(y * y)


@program(V3, K, features="array item, int index, argument written")
def item_of_an_argument(x, k):
    y = x * x
    x[0] = 3.0 * k * x[2]
    return np.sum(x * y)


@program(V3, K, features="array item, negative index")
def last_item(x, k):
    y = np.sin(x)
    y[-1] = k
    y[-2] = y[-1] * k
    return np.prod(y)


@program(V3, K, features="array item, number read before and after")
def item_written_twice(x, k):
    y = x.copy()
    first = y[0]
    y[0] = k * first
    second = y[0]
    y[0] = second * second
    return first * second * y[0] + np.sum(y)


@program(V3, features="array item, self-reference")
def item_squared_in_place(x):
    y = x.copy()
    for i in range(len(y)):
        y[i] = y[i] * y[i] + 1.0
    return np.prod(y)


@program(np.array(0.8), K, features="0-d array, ellipsis")
def zero_dimensional_write(x, k):
    y = np.array(2.0)
    y[...] = x * k
    y[()] = y * y
    return y * x


@program(V5, K, features="slice")
def slice_gets_a_number(x, k):
    y = x.copy()
    y[1:3] = k
    return np.sum(y**3)


@program(V5, V3, features="slice")
def slice_gets_an_array(x, v):
    y = x * 1.5
    y[1:4] = v * v
    return np.sum(np.sin(y) * x)


@program(V5, features="slice, step")
def slice_with_a_step(x):
    y = np.zeros(5)
    y[::2] = np.sin(x[:3])
    y[1::2] = x[3:] ** 2
    return np.sum(y * np.arange(1.0, 6.0))


@program(V5, features="slice, negative step")
def slice_backwards(x):
    y = np.empty(5)
    y[::-1] = x * x
    y[3:0:-2] = y[:2]
    return np.sum(y * np.arange(1.0, 6.0))


@program(V5, K, features="slice, all")
def whole_array(x, k):
    y = np.zeros_like(x)
    y[:] = k * x
    z = y * y
    y[:] = z + x
    return np.sum(y * z)


@program(V5, features="slice, ellipsis")
def whole_array_by_ellipsis(x):
    y = np.ones(5)
    z = y * x
    y[...] = z
    return np.sum(y * z)


@program(V3, K, features="slice, broadcast value")
def value_is_broadcast_over_rows(x, k):
    m = np.zeros((2, 3))
    m[:] = x
    m[1:] = m[:1] * k
    return np.sum(m * m * np.array([[1.0], [3.0]]))


@program(M33, V3, features="int index of a matrix")
def row_of_a_matrix(m, v):
    a = m.copy()
    a[1] = v * a[0]
    return np.sum(a @ a)


@program(M33, V3, features="tuple index")
def column_of_a_matrix(m, v):
    a = m.copy()
    a[:, 2] = np.sin(v)
    a[:, 0] = a[:, 2] * a[:, 1]
    return np.sum(a @ a)


@program(M33, K, features="tuple index")
def entry_of_a_matrix(m, k):
    a = m.copy()
    a[0, 1] = k * k
    a[2, -1] = a[0, 1] * a[0, 0]
    return np.sum(a @ a)


@program(M34, K, features="tuple index, slice")
def block_of_a_matrix(m, k):
    a = m.copy()
    a[1:, :2] = k * a[:2, 2:]
    return np.sum(a**2 * np.arange(12.0).reshape(3, 4))


@program(M34, V3, features="newaxis")
def newaxis_in_the_index(m, v):
    a = m.copy()
    a[:, None, 1] = v[:, np.newaxis]
    a[np.newaxis, 0] = v[0] * np.ones((1, 4))
    return np.sum(a**2 * np.arange(12.0).reshape(3, 4))


@program(np.arange(12.0).reshape(2, 2, 3) * 0.1 + 0.3, V3, features="ellipsis")
def ellipsis_in_the_index(t, v):
    a = t.copy()
    a[..., 0] = v[0]
    a[0, ...] = v * a[1]
    a[1, ..., -1] = 2.0 * v[1]
    return np.sum(a * t)


@program(V5, K, features="mask")
def mask_gets_a_number(x, k):
    y = x.copy()
    y[y < 0.0] = k
    return np.sum(y**3)


@program(V5, np.array([0.9, -0.4]), features="mask")
def mask_gets_an_array(x, v):
    y = x.copy()
    y[x < 0.0] = v * v
    return np.sum(y**3)


@program(V5, features="mask")
def mask_reads_what_it_writes(x):
    y = x.copy()
    positive = y > 0.0
    y[positive] = np.sqrt(y[positive])
    y[~positive] = np.exp(y[~positive])
    return np.sum(y * x)


@program(M23, K, features="mask of a matrix")
def mask_of_a_matrix(m, k):
    a = m * m
    a[m > 0.3] = k * k
    return np.sum(a * m)


@program(M33, K, features="mask of rows")
def mask_of_rows(m, k):
    a = m.copy()
    a[np.array([True, False, True]), 1] = k
    a[np.array([False, True, True])] = a[0] * k
    return np.sum(a @ a)


@program(V5, V3, features="fancy index")
def fancy_places(x, v):
    y = x.copy()
    y[[3, 0, 4]] = v
    return np.sum(y**2 * np.arange(1.0, 6.0))


@program(V5, V3, features="fancy index, repeats")
def repeated_places_keep_the_last(x, v):
    y = x.copy()
    y[[1, 1, 3]] = np.sin(v)
    return np.sum(y**2 * np.arange(1.0, 6.0))


@program(V5, K, features="fancy index, repeats, number")
def repeated_places_get_a_number(x, k):
    y = x.copy()
    y[np.array([2, 2, 0])] = k * x[1]
    return np.sum(y**2 * np.arange(1.0, 6.0))


@program(M33, V3, features="fancy index, two lists")
def places_in_a_matrix(m, v):
    a = m.copy()
    a[[0, 1, 2], [2, 0, 2]] = v * v
    return np.sum(a @ a)


@program(M34, V3, features="fancy index, slice and list")
def columns_in_another_order(m, v):
    a = m.copy()
    a[:, [3, 0]] = m[:, [0, 1]] * v[:, None]
    a[[0, 2], 1:3] = v[1]
    return np.sum(a**2 * np.arange(12.0).reshape(3, 4))


@program(M33, V3, features="fancy index, np.ix_")
def open_mesh(m, v):
    a = m.copy()
    a[np.ix_([0, 2], [1, 2])] = np.outer(v[:2], v[1:])
    return np.sum(a @ a)


@program(M33, features="fancy index, np.diag_indices")
def diagonal_by_indices(m):
    a = m.copy()
    d = np.diag_indices(3)
    a[d] = a[d] ** 2 + 1.0
    return np.sum(a @ a)


@program(M33, features="fancy index, np.triu_indices")
def mirrored_triangle(m):
    a = m.copy()
    upper = np.triu_indices(3, 1)
    a.T[upper] = a[upper]
    return np.sum(a @ a)


@program(V5, features="fancy index, argsort")
def scattered_in_sorted_order(x):
    order = np.argsort(x)
    y = np.empty_like(x)
    y[order] = np.arange(1.0, 6.0) * x
    return np.sum(y * x)


@program(V5, features="computed index")
def places_from_the_data(x):
    y = x.copy()
    y[np.argmax(x)] = np.sum(x) ** 2
    y[x.argmin()] = y.max()
    return np.sum(y * y)


@program(V3, features="list value")
def value_is_a_list(x):
    y = np.zeros(4)
    y[1:] = [x[0], x[1] * x[2], 2.0]
    y[0] = sum(y[1:])
    return np.sum(y * y)


@program(V5, features="overlap")
def overlapping_slices(x):
    y = x.copy()
    y[1:] = y[:-1] * y[1:]
    y[:-1] = y[1:] + 0.5 * y[:-1]
    return np.sum(y * x)


@program(V5, features="overlap, reversed")
def reversed_onto_itself(x):
    y = x.copy()
    y[:] = y[::-1]
    z = y * x
    y[1:4] = y[3:0:-1] * 2.0
    return np.sum(y * z)


@program(V3, W3, features="swap by a tuple")
def two_items_swapped(x, w):
    y = x * w
    y[0], y[2] = y[2], y[0]
    return np.sum(y * np.array([1.0, 2.0, 3.0]))


@program(M33, features="swap by a fancy index")
def two_rows_swapped(m):
    a = m.copy()
    a[[0, 2]] = a[[2, 0]]
    return np.sum(a * m * np.arange(9.0).reshape(3, 3))


@program(M33, features="swap of views")
def swap_of_rows_that_goes_wrong(m):
    # The classic mistake: both rows become one, because what was taken out of the matrix are views.
    a = m.copy()
    a[0], a[2] = a[2], a[0]
    return np.sum(a * m * np.arange(9.0).reshape(3, 3))


@program(V4, features="target of unpacking")
def items_as_targets(x):
    y = np.zeros(3)
    y[0], y[1:] = x[0] * x[1], x[2:] * x[1]
    z = np.zeros(3)
    (z[0], z[2]), z[1] = (y[1], y[0]), y[2]
    return np.sum(y * y) + np.sum(z**3)


@program(V3, features="target of a for loop")
def item_as_loop_variable(x):
    y = np.zeros(2)
    total = 0.0
    for y[0] in x:
        total = total + y[0] * y[0]
    return total * y[0] + y[1]


@program(V3, K, features="chained assignment")
def several_targets(x, k):
    y = x.copy()
    z = np.zeros(2)
    y[0] = z[1] = a = k * y[1]
    return np.sum(y * y) + np.sum(z**3) + a


@program(V4, K, features="order of evaluation")
def value_before_index(x, k):
    places = [2, 0]
    y = x.copy()
    y[places.pop()] = y[places.pop()] * k
    return np.sum(y * y)


@program(V3, K, features="view of a view")
def item_of_an_item(x, k):
    a = np.zeros((2, 3))
    a[0][1] = k * x[0]
    a[1][1:][0] = x[2]
    a[0][:] = a[0] + a[1]
    return np.sum(a**2) + np.sum(a)


@program(M23 + 1j * M23[::-1], K, features="complex")
def complex_items(z, k):
    w = z.copy()
    w[0, 1] = k * (1.0 + 2.0j)
    w[1] = w[0] * z[1]
    return np.sum(np.abs(w) ** 2)


@program(V3, features="real into complex")
def real_numbers_into_a_complex_array(x):
    w = np.zeros(3, dtype=complex)
    w[:] = x
    w[1] = 1j * x[0]
    return np.sum(np.abs(w**2 + x) ** 2)


@program(V5, features="prefix sums")
def prefix_sums_by_hand(x):
    s = np.zeros(6)
    for i in range(5):
        s[i + 1] = s[i] + x[i] * x[i]
    return np.sum(s * s)


@program(V5, K, features="recurrence")
def linear_recurrence(x, k):
    y = np.empty(5)
    y[0] = x[0]
    y[1] = x[1]
    for i in range(2, 5):
        y[i] = k * y[i - 1] - 0.5 * y[i - 2] * x[i]
    return y[-1] * y[2]


@program(M33, V3, features="nested loops")
def product_by_hand(m, v):
    y = np.zeros(3)
    for i in range(3):
        for j in range(3):
            y[i] = y[i] + m[i, j] * v[j]
    return np.sum(np.sin(y))


@program(M33, V3, features="nested loops, substitution")
def forward_substitution(m, b):
    y = np.zeros(3)
    for i in range(3):
        s = b[i]
        for j in range(i):
            s = s - m[i, j] * y[j]
        y[i] = s / (2.0 + m[i, i])
    return np.sum(y * y)


@program(M33, features="nested loops, factorisation")
def cholesky_by_hand(m):
    a = m @ m.T + 2.0 * np.eye(3)
    L = np.zeros((3, 3))
    for i in range(3):
        for j in range(i + 1):
            s = a[i, j] - np.dot(L[i, :j], L[j, :j])
            if i == j:
                L[i, j] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return np.sum(np.log(np.diag(L))) + L[2, 0]


@program(V3, W3, features="returned array")
def array_filled_and_returned(x, w):
    y = np.empty((2, 3))
    y[0] = x * w
    y[1] = y[0] - x
    return y


@program(V3, K, features="argument written, argument returned")
def argument_written_and_returned(x, k):
    x[1] = k * x[0]
    return x


@program([V3, W3], K, features="argument written, list of arrays")
def array_inside_an_argument_written(arrays, k):
    a, b = arrays
    a[0] = b[1] * k
    b[2] = a[0] * a[1]
    return np.sum(a * b)


@program({"u": V3, "n": 2}, K, features="argument written, dict of arrays")
def array_in_a_dict_written(state, k):
    for _ in range(state["n"]):
        state["u"][1:] = state["u"][:-1] * k + 0.5 * state["u"][1:]
    return np.sum(state["u"] ** 2)


@program(V4, K, features="np.ndindex")
def numbers_of_entries_are_used(v, k):
    grid = (v * k).reshape(2, 2)
    for i, j in np.ndindex(grid.shape):
        grid[i, j] *= i + k
        grid[j, i] += j * k
    return np.sum(grid * grid)
