"""Arrays and lists that a generator of random numbers shuffles."""

from __future__ import annotations

import random

import numpy as np

from tests.programs.mutation.table import M34, V3, V5, program


@program(M34, features="random shuffle, axes, views, the next number")
def shuffled_along_axes(m):
    a, rng = m * m, np.random.default_rng(5)
    columns = a.T[::-1]
    rng.shuffle(a)
    y = np.sum(a * np.arange(12.0).reshape(3, 4))
    rng.shuffle(a, axis=1)
    rng.shuffle(columns[1:])
    rng.shuffle(columns[:, 1])
    return np.sum(a * np.arange(12.0).reshape(3, 4) ** 2) * y * rng.random()


@program(V5, features="random shuffle, equal entries, argument written")
def shuffled_argument(x):
    y = np.round(x) * 0.0 + x[0]
    y[2:] *= x[2:] / x[2:]
    y[1] = x[1] * x[0] / x[1]
    rng = np.random.RandomState(4)
    rng.shuffle(y)
    rng.shuffle(x)
    rng.shuffle(x[1:4])
    return np.sum(x**2 * np.arange(1.0, 6.0)) + np.sum(y * x) * rng.rand()


@program(V5, features="random shuffle, loop, function from a table")
def shuffled_in_a_loop(x):
    total, held = 0.0, [x * 1.0, x * x]
    for i, shuffle in enumerate((np.random.default_rng(1).shuffle, np.random.RandomState(2).shuffle)):
        for y in held:
            shuffle(y)
            total = total + y[i] * y[-1]
            y[0] = total
    return total + np.sum(held[0] * held[1])


@program(V3, features="random shuffle, global generator, list, empty, one axis less")
def shuffled_by_the_module(x):
    np.random.seed(7)
    y, items = x * x, [x[0], x[1] * x[2], x[2]]
    np.random.shuffle(y)
    np.random.shuffle(items)
    np.random.default_rng(2).shuffle(items)
    random.Random(3).shuffle(items)
    np.random.shuffle(y[:0])
    np.random.shuffle(y[:1])
    return (y[0] + items[0] ** 2) * (y[1] + items[1] ** 3) + np.random.rand() * items[2]
