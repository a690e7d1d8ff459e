"""The functions whose traces are golden texts, with their arguments."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def h(x, n):
    r = x * 0
    i = 0
    while i < n:
        r += x**i
        i += 1
    return r


def f(x):
    return math.sin(x) + x


DRAWS = (0.93, 0.62, 0.71, 0.21)
rand = iter(DRAWS).__next__
"""Stands for random numbers: they are the same in each trace."""


def geom(n, beta):
    return n if rand() < beta else geom(n + 1, beta)


def lists():
    values = [1, 2]
    values.append(42)
    values[0] = 42
    return values


def items(xs, k):
    total = 0.0
    for i, x in enumerate(xs):
        if x < 0.0:
            continue
        total += i * x * k
    try:
        y = math.sqrt(xs[0])
    except ValueError as error:
        y = len(str(error)) * 1.0
    scaled = [x * y for x in xs]
    a, b = scaled[:2]
    return total, np.sum(scaled), a, b


class Line:
    def __init__(self, slope):
        self.slope = slope

    def __call__(self, x):
        return self.slope * x


def objects(x):
    line = Line(x)

    def shifted(z):
        return line(z) + x

    return shifted(2.0)


TRACED: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (h, (2.0, 2)),
    (f, (1.0,)),
    (geom, (1, 0.5)),
    (lists, ()),
    (items, ([-1.0, 2.0, 3.0], 0.5)),
    (objects, (3.0,)),
)
