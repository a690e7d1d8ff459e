"""Views whose entries overlap: broadcast, sliding windows, strides. Some are of memory that nothing else shows."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from tests.programs.mutation.table import M33, V3, V4, V5, program


@program(V3, features="broadcast number, loop")
def number_repeated_and_looped_over(x):
    y = x * x
    total = 0.0
    for entry in np.broadcast_to(y[0], (3,)):
        total = total + entry * entry
    y[1] = total
    return np.sum(y * x)


@program(V3, features="broadcast number, held in a list")
def number_repeated_and_held(x):
    y = x * x
    held = [np.broadcast_to(x[1] * x[0], (2, 2)), np.broadcast_to(y, (2, 3))]
    y[1] = 2.0
    return np.sum(held[0] ** 2) * y[0] + np.sum(held[1][:, [0, 0, 1]]) + np.sum(held[1][held[1] > 0.2] ** 2)


@program(V3, features="broadcast number, operand of writes")
def number_repeated_and_stored(x):
    w = np.broadcast_to(x[0] * x[1], (3,))
    y = np.zeros(3)
    y[:] = w
    y += w
    y[1] = w[2]
    np.multiply(y, w, out=y)
    y[0] = (w + 1.0)[1]
    return np.sum(y * y) + np.dot(w, x)


@program(V3, features="broadcast number, returned")
def number_repeated_and_returned(x):
    held = [x[0] * x[2]]
    held[0] = np.broadcast_to(held[0], (2, 3))
    return held[0], np.sum(held[0][1])


@program(V5, V3, features="sliding windows, writes before and after, rows")
def windows_read_in_every_way(x, v):
    y = x * 1.0
    windows = sliding_window_view(y, 3)
    total = np.sum(windows @ v)
    for place, row in enumerate(windows):
        total = total + row[0] * row[2]
        y[place + 1] *= 1.1
        total = total + np.sum(row**2)
    y[0] = total * 0.1
    first, second, third = windows
    picked = windows[[0, 0, 2], [1, 2, 0]]
    masked = windows[np.array([True, False, True])]
    y[3] = v[0]
    return np.sum(first * second) + third[1] * np.sum(picked) + np.sum(masked) + np.max(windows[:, 1:])


@program(M33, features="sliding windows of two axes, convolution")
def windows_of_a_table(m):
    a = m.copy()
    kernel = a[:2, :2]
    windows = sliding_window_view(a, (2, 2))
    out = np.zeros((2, 2))
    for i in range(2):
        out += np.einsum("ijkl,kl->ij", windows, kernel)
        a[i + 1, 0] = out[0, 1] * 0.1
    return np.sum(out**2) + windows[1, 1, 0, 1] * np.sum(windows.transpose(2, 3, 0, 1)[0])


@program(V5, features="sliding windows, by value")
def windows_where_nothing_else_is_written(x):
    windows = sliding_window_view(x * x, 2)
    total = np.zeros(4)
    total[:] = windows[:, 0] * windows[:, 1]
    return np.sum(total) + np.sum(sliding_window_view(x, 2, writeable=True).mean(axis=1) ** 2)


@program(V5, features="sliding windows written")
def entries_of_windows_written(x):
    y = x * x
    windows = sliding_window_view(y, 3, writeable=True)
    windows[1] = windows[0] * y[4]
    windows[:, 0] = windows[::-1, 2]
    windows[0, 1] += windows[2, 1]
    np.multiply(windows[2], x[:3], out=windows[2])
    windows[[0, 2], [1, 2]] = x[:2]
    return np.sum(y * y * np.arange(1.0, 6.0)) + np.sum(windows)


@program(V5, features="as_strided, functions that are given windows")
def windows_given_to_functions(x):
    def shift(w, v):
        w[0] = v * w[1]

    def total(w):
        w = w * 1.0
        w[0] = 2.0 * w[1]
        return np.sum(w)

    y = x * 2.0
    step = y.itemsize
    pairs = as_strided(y, (4, 2), (step, step))
    for function in (shift, shift):
        function(pairs[1:], x[:2])
    shift(pairs[2], x[0])
    return total(pairs) + total(as_strided(y[1:], (2, 3), (0, step))) + np.sum(y**2)


@program(V4, features="as_strided, beyond a view")
def strides_beyond_a_view(x):
    y = x * 1.0
    part = y[1:3]
    whole = as_strided(part, (3,), (y.itemsize,))
    y[3] = y[0] * y[2]
    return np.sum(whole**2) + whole[2] * y[0]
