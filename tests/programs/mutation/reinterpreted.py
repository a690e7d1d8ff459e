"""Memory of real numbers that is also seen as complex ones, and the other way round."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tests.programs.mutation.table import M33, V3, V4, W3, K, program


@program(V4, K, features="dtype view, nothing written")
def numbers_seen_as_pairs(x, k):
    z = (x * k).view(complex)
    return np.sum(np.abs(z) ** 4) + np.sum((z * z).view(float) ** 3) + np.sum(x.view() * x.view(np.ndarray) * x.view("f8"))


@program(V4, features="dtype view, argument written through both")
def argument_seen_as_pairs(x):
    z = x.view(complex)
    z[0] *= 1.0 + 0.5j * x[2]
    x[1:3] = z.imag * x[0]
    z.real[1] = x[3] ** 2
    x += np.abs(z[0])
    return np.sum(x**2) + np.sum(np.abs(z) ** 4)


@program(V3 + 1j * W3, features="dtype view, complex argument written as pairs")
def parts_written_as_pairs(z):
    parts = z.view(float)
    parts[::2] *= 2.0
    y = np.sum(parts**2)
    z[1] = y * z[0]
    parts[1:3] = parts[3:5]
    return np.sum(np.abs(z) ** 2 * np.arange(1.0, 4.0)) + parts[5] * y


@program(V4, K, features="dtype view, loop, views of views, try")
def pairs_in_a_loop(x, k):
    y = np.zeros((2, 4))
    z = y[:, 2:].view(complex)
    total = 0.0
    for i in range(3):
        y[i % 2] += x * (i + 1.0)
        try:
            z[i] = z[i - 1] * (k + 1j) + z[i, 0]
        except IndexError:
            z.T[0] = x[:2]
        total = total + np.sum(np.abs(z) ** 2) + z.view(float)[1, 1]
        y[0, 3] = total * 0.1
    return total + np.sum(y * y)


@program(V3 + 1j * W3, features="sliding windows of parts")
def windows_of_parts(z):
    w = z * z
    windows, parts = sliding_window_view(w.imag, 2), sliding_window_view(w.view(float), 3)
    total = np.sum(windows**2) + np.sum(parts[:, 0] * parts[:, 2])
    w[1] = total * z[0]
    return np.sum(windows[:, 0] * windows[:, 1]) + np.sum(parts**2)


@program(M33, features="rows told apart, which are the memory of records, written")
def rows_told_apart(x):
    rows = np.unique(x * x, axis=0)
    rows[0] *= x[1]
    first = rows[:, 0]
    first += np.sum(rows, axis=1)
    return np.sum(rows**2) + np.sum(np.unique(rows, axis=1)[:, 0])
