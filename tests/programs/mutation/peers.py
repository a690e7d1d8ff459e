"""Programs on which other tools for differentiation were tried; several gave a wrong number without a word."""

from __future__ import annotations

import numpy as np

from tests.programs.mutation.table import program


@program(1.0, 0.6758336 * np.sin(np.pi * np.linspace(0.0, 1.0, 11)), 50, features="slice +=, overlap, peers")
def heat_loop(k, u0, steps):
    u = u0.copy()
    for _ in range(steps):
        lap = u[2:] - 2.0 * u[1:-1] + u[:-2]
        u[1:-1] += 0.1 * k * lap
    return np.sum(u * u)


@program(1.3, np.linspace(1.0, 2.0, 7), features="slice, overlap, peers")
def repeated_slice_write(k, u0):
    u = u0.copy()
    for _ in range(5):
        u[1:-1] = u[1:-1] * k + np.sin(u[:-2])
    return np.sum(u * u)


@program(1.5, np.array([1.0, 2.0, 4.0, 3.5]), features="view *=, peers")
def view_multiplied(k, x):
    u = k * x
    v = u[1:-1]
    v *= k
    return np.sum(u)


@program(1.7, np.array([3.0, 1.0, 1.0, 2.0]), features="alias, peers")
def alias_written(k, x):
    u = k * x
    v = u
    v[0] = 5 * k
    return np.sum(u**2)


@program(1.0, features="np.add.at, repeats, peers")
def scatter_of_a_number(x):
    z = np.zeros(2)
    np.add.at(z, [0, 0, 1], x)
    return np.sum(z)


@program(0.5, np.array([1.0, 4.0, 1.0]), features="buffers swapped, peers")
def swapped_buffers(k, u0):
    u, w = u0.copy(), np.zeros(3)
    for _ in range(3):
        w[1:-1] = u[1:-1] + k * (u[2:] + u[:-2])
        u, w = w, u
    return np.sum(u**2) + np.sum(w**2)
