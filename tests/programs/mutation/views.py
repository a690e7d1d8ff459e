"""Views, and other names of one array: what is written through one is read through the others."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from tests.programs.mutation.table import M23, M33, M34, V3, V4, V5, W3, K, program


@program(V5, K, features="alias")
def two_names(x, k):
    u = x * x
    v = u
    v[0] = 5.0 * k
    u[1] = v[0] * v[2]
    return np.sum(u**2) + v[1]


@program(V5, K, features="slice, view written")
def written_through_a_slice(x, k):
    u = x.copy()
    v = u[1:4]
    v[1] = k * x[0]
    v[:] = v * 2.0
    return np.sum(u * x)


@program(V5, K, features="slice, owner written")
def owner_written_after_the_slice(x, k):
    u = x.copy()
    v = u[1:4]
    u[2] = k * x[0]
    u *= 1.5
    return np.sum(v * v) + v[1]


@program(V5, K, features="slice of a slice")
def written_through_nested_slices(x, k):
    u = x.copy()
    v = u[1:][::2]
    w = v[::-1]
    w[0] = k
    u[1] += w[0] * w[1]
    return np.sum(u * u) + np.sum(v * w)


@program(M23, K, features="transpose")
def written_through_the_transpose(m, k):
    a = m.copy()
    t = a.T
    t[2] = k * t[0]
    a[0] *= 2.0
    return np.sum(t**2 * np.arange(6.0).reshape(3, 2))


@program(M23, features="reshape")
def written_through_reshape(m):
    a = m.copy()
    flat = a.reshape(-1)
    flat[4] = flat[0] * flat[1]
    a[0] = a[1] * 2.0
    square = flat[:4].reshape(2, 2)
    square @= np.array([[0.5, 1.0], [1.5, -1.0]])
    return np.sum(a**2 * np.arange(6.0).reshape(2, 3))


@program(M23, features="reshape, copy")
def reshape_of_a_transpose_is_a_copy(m):
    a = m.copy()
    flat = a.T.reshape(-1)
    flat[0] = 3.0
    a[1] *= flat[2]
    return np.sum(a * a) + np.sum(flat**3)


@program(M23, features="ravel, flatten")
def ravel_and_flatten(m):
    a = m.copy()
    view, copy = a.ravel(), a.flatten()
    view[1] = copy[0] * 2.0
    copy[2] = view[1] ** 2
    return np.sum(a * a) + np.sum(copy * view)


@program(M33, features="diagonal is read-only")
def diagonal_seen_while_the_matrix_is_written(m):
    a = m.copy()
    d = a.diagonal()
    a[1, 1] = a[0, 0] * a[0, 1]
    a[2] *= 2.0
    return np.sum(d**3)


@program(M33, features="np.diag of a matrix, einsum view")
def diagonal_written_through_einsum(m):
    a = m.copy()
    np.einsum("ii->i", a)[:] = np.sin(m[0])
    a.reshape(-1)[::4] *= 2.0
    return np.linalg.det(a)


@program(M33, features="rows of a loop")
def rows_written_in_a_loop(m):
    a = m.copy()
    for row in a:
        row /= np.sqrt(np.sum(row * row))
    return np.sum(a @ a)


@program(M33, features="rows of a loop, argument written")
def rows_of_an_argument_written(m):
    for i, row in enumerate(m):
        row[i] = 2.0 * row[i - 1]
    return np.linalg.det(m)


@program(M33, V3, features="rows of a loop, zip")
def rows_and_numbers(m, v):
    a = m.copy()
    for row, factor in zip(a, v):
        row *= factor
        row[0] += factor
    return np.sum(a @ a)


@program(M23, features="columns of a loop")
def columns_written_in_a_loop(m):
    a = m.copy()
    for column in a.T:
        column -= np.mean(column)
        column[1] *= 3.0
    return np.sum(a * m)


@program(M33, features="unpacked rows")
def rows_unpacked_and_written(m):
    a = m.copy()
    first, *_, last = a
    first[:] = last * 2.0
    last += first
    return np.sum(a @ a)


@program(V3 + 1j * W3, K, features="real, imag")
def parts_written_through_views(z, k):
    w = z * z
    re, im = w.real, w.imag
    re *= k
    im[1] = re[0] * re[2]
    w[2] = w[0] * 1j
    return np.sum(re * im) + np.sum(np.abs(w) ** 2)


@program(V3, features="real of a real array")
def real_part_of_a_real_array(x):
    y = x.copy()
    r = y.real
    r[0] = x[1] * x[2]
    y[1] *= 2.0
    return np.sum(y * r)


@program(V3, K, features="np.broadcast_to, read-only view")
def broadcast_view_sees_the_write(x, k):
    y = x.copy()
    wide = np.broadcast_to(y, (2, 3))
    y[1] = k * x[0]
    return np.sum(wide**2 * np.array([[1.0], [2.0]]))


@program(V5, features="sliding windows")
def moving_windows_see_the_write(x):
    y = x.copy()
    windows = sliding_window_view(y, 3)
    before = windows.sum()
    y[2] = y[1] * y[3]
    return np.sum(np.prod(windows, axis=1)) * before


@program(V5, features="as_strided")
def overlapping_rows_by_strides(x):
    y = x.copy()
    (step,) = y.strides
    pairs = as_strided(y, (4, 2), (step, step))
    y[1] = y[0] * y[2]
    pairs[3, 1] = pairs[0, 0] * 2.0
    return np.sum(pairs[:, 0] * pairs[:, 1])


@program(np.arange(1.0, 7.0) * 0.3, features="np.split")
def parts_of_an_array_written(x):
    y = x.copy()
    a, b, c = np.split(y, 3)
    a *= b
    c[:] = a + c
    return np.sum(y * y * x)


@program(M34, features="np.hsplit, np.array_split")
def column_blocks_written(m):
    a = m.copy()
    left, right = np.hsplit(a, 2)
    left += right
    top, bottom = np.array_split(right, 2)
    bottom[0] = top[0] * top[1]
    return np.sum(a**2 * np.arange(12.0).reshape(3, 4))


@program(V3, K, features="np.atleast_1d, np.asarray")
def conversions_that_do_not_copy(x, k):
    y = x.copy()
    np.asarray(y)[0] = k
    np.atleast_2d(y)[0, 1] = k * k
    np.asarray(y, dtype=float)[2] *= y[0]
    np.atleast_1d(y)[:] *= x
    return np.sum(y * y)


@program(V3, K, features="np.array copies")
def conversions_that_copy(x, k):
    y = np.array(x)
    z = np.array(y, copy=True)
    w = y.astype(float)
    z[0] = k * y[1]
    w[1] = z[0] ** 2
    return np.sum(x * y * z * w)


@program(V3, K, features="np.array copies, argument untouched")
def copy_keeps_the_argument(x, k):
    y = x + 0.0
    y[:] = k
    return np.sum(x * y)


@program(M23, features="moveaxis, swapaxes, squeeze")
def views_that_reorder_axes(m):
    a = m.copy()[None]
    np.moveaxis(a, 1, 2)[0, 2] = m[:, 0] * 2.0
    a.swapaxes(0, 1)[1, 0] *= a[0, 0]
    a.squeeze()[0, 1] = a[0, 1, 1]
    np.expand_dims(a, 0)[..., 0] += m[1, 2]
    return np.sum(a**2 * np.arange(6.0).reshape(2, 3))


@program(V4, features="np.flip, np.flipud, rot90")
def reversed_views(x):
    a = x.reshape(2, 2) * 2.0
    np.flip(a, 0)[0] *= a[0]
    np.rot90(a)[0, 0] = x[0] ** 3
    np.flipud(a)[1] += x[2:]
    return np.sum(a @ a)


@program(V4, features="np.reshape, order")
def fortran_order(x):
    a = np.array(x.reshape(2, 2), order="F")
    a.ravel(order="K")[1] = x[3] ** 2
    a.T.reshape(-1)[2] *= 3.0
    return np.sum(a @ a)


@program(V5, K, features="buffers swapped")
def buffers_swapped_in_a_time_loop(u0, k):
    u, w = u0.copy(), np.zeros(5)
    for _ in range(4):
        w[1:-1] = u[1:-1] + 0.3 * k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        w[0], w[-1] = u[0], u[-1] * 0.5
        u, w = w, u
    return np.sum(u * u) + np.sum(w**3)


@program(V5, K, features="buffers rotated")
def three_buffers_rotated(u0, k):
    old, now, new = u0.copy(), u0 * 0.9, np.empty(5)
    for _ in range(3):
        np.multiply(now, 2.0 - k, out=new)
        new -= old
        new[0] = 0.1
        old, now, new = now, new, old
    return np.sum(now * old) + np.sum(new)


@program(V3, M33, features="temporary outside the loop")
def temporary_allocated_once(x, m):
    h = np.empty(3)
    y = x.copy()
    for _ in range(3):
        h[:] = m @ y
        np.tanh(h, out=h)
        y += 0.5 * h
    return np.sum(y * h)


@program(V3, features="temporary outside the loop, kept values")
def history_of_a_reused_buffer(x):
    # All rows of the list are the one buffer, as its author finds out.
    buffer = np.zeros(3)
    history = []
    for i in range(3):
        buffer[:] = x * (i + 1.0) + buffer**2
        history.append(buffer)
    return np.sum(history[0] * history[2])


@program(V3, features="temporary outside the loop, copies")
def history_of_copies(x):
    buffer = np.zeros(3)
    history = []
    for i in range(3):
        buffer[:] = x * (i + 1.0) + buffer**2
        history.append(buffer.copy())
    return np.sum(history[0] * history[1] * history[2])


@program(V3, K, features="same array twice in a list")
def one_array_twice_in_a_list(x, k):
    a = x * x
    rows = [a, a]
    rows[0][1] = k
    rows[1] *= 2.0
    return np.sum(rows[0] * rows[1])


@program(V3, K, features="rows in a list")
def rows_of_a_matrix_in_a_list(x, k):
    a = np.outer(x, x)
    rows = [row for row in a]
    rows[0][1:] = k
    a[2] += rows[0]
    return np.sum(rows[2] * rows[1]) + np.sum(a)


@program(M33, K, features="rows in a dict")
def rows_of_a_matrix_in_a_dict(m, k):
    a = m.copy()
    rows = {name: a[i] for i, name in enumerate("uvw")}
    rows["v"] *= k
    rows["w"][:] = rows["u"] * rows["v"]
    return np.linalg.det(a)


@program(V3, K, features="tuple of views")
def tuple_of_views(x, k):
    y = np.concatenate([x, x * k])
    parts = (y[:3], y[3:])
    parts[0][:] = parts[1] * 2.0
    parts[1][0] = 1.0
    return np.sum(y * y) * parts[0][0]


@program(V3, K, features="conditional alias")
def alias_depends_on_a_branch(x, k):
    a, b = x * 2.0, x * x
    c = a if k > 0.5 else b
    c[0] = k
    d = b if np.sum(x) > 100.0 else a
    d *= 3.0
    return np.sum(a * b * c)


@program(V3, W3, features="alias moves in a loop")
def the_target_changes_from_step_to_step(x, w):
    a, b = x.copy(), w.copy()
    target = a
    for i in range(4):
        target[i % 3] *= 1.5
        target += 0.1 * b
        target = b if target is a else a
    return np.sum(a * b)


@program(V4, features="view of an argument returned")
def view_of_an_argument_written_and_returned(x):
    head = x[:2]
    head *= x[2:]
    return head


@program(V4, features="view and owner returned")
def owner_and_view_returned(x):
    y = x * x
    v = y[1:3]
    v[0] = x[0]
    return y, v


@program(V4, features="same array returned twice")
def one_array_returned_twice(x):
    y = x * x
    y[0] = x[1]
    return [y, y]


@program(V5, features="dtype view")
def complex_seen_as_pairs(x):
    y = np.zeros(4)
    z = y.view(complex)
    y[1:3] = x[:2]
    z[1] = z[0] * (1.0 + 2.0j)
    return np.sum(y * x[1:]) + np.abs(z[1]) ** 2


@program(V4, features="saved value overwritten")
def value_used_then_overwritten(x):
    y = np.exp(x)
    z = y * y
    y[:] = 0.0
    w = z * x
    z[1:] = 1.0
    return np.sum(w * z) + np.sum(y)


@program(V4, K, features="saved operand overwritten")
def operands_overwritten(x, k):
    a = x.copy()
    p = a * k
    q = a / (1.0 + a * a)
    r = a @ a
    s = np.where(a > 0.0, a, 0.1 * a)
    a.fill(0.0)
    return np.sum(p * q * s) * r


@program(M34, features="views by np.rollaxis, unstack, dsplit, require, asfortranarray, real_if_close")
def views_by_other_names(x):
    y = x * x
    rolled, fortran = np.rollaxis(y, 1), np.asfortranarray(y)
    rolled[0] *= 3.0
    fortran[1] = np.real_if_close(y)[0] * x[2]
    first, second, _ = np.unstack(y)
    first += second**2
    left, right = np.dsplit(np.require(y)[None], 2)
    left[0, 2] = right[0, 1] * left[0, 2]
    np.trim_zeros(y[2])[1:] *= x[0, 1:]
    return np.sum(y**2) + np.sum(fortran * rolled.T)


@program(M34, features="out= of reductions without NaN and of quantiles")
def reduced_into_rows(x):
    y = np.zeros((4, 4))
    np.nansum(x, axis=0, out=y[0])
    np.nanmax(x, axis=0, out=y[1])
    np.quantile(x * y[1], 0.3, axis=0, out=y[2])
    np.nancumsum(y[2] * y[0], out=y[3])
    y[0] = y[3] * y[2]
    return np.sum(y**2)


@program(V3, features="views of functions that check, make meshes and histograms")
def views_of_functions_that_look_fresh(x):
    a = x * 1.0
    np.asarray_chkfinite(a)[0] = x[1] * 5.0
    rows, columns = np.ix_(a, a)
    rows[1] = x[2] * a[0]
    columns[0, 2] *= x[0]
    edges = np.sort(x * x)
    _, same = np.histogram(np.array([0.1, 0.2, 0.7]), bins=edges)
    same[1] = edges[0] * a[1]
    return np.sum(a * a * x) + np.sum(edges * edges)
