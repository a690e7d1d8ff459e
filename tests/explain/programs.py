"""Programs that pages are made of, with the lines that belong together."""

from __future__ import annotations

import numpy as np


def root(x, tol):
    y = x
    while True:
        r = y * y - x
        if abs(r) < tol:
            break
        y = y - r / (
            2.0 * y
        )
    return y


def step(u, k):
    return u + k * np.roll(u, 1)


def energy(u, k, n):
    for _ in range(n):
        u = step(u, k)
    return np.sum(u * u)


def awkward(x):
    text = "</script><b onclick='f()'>&amp;\"" if x > 0.0 else ""
    return x * len(text)


def writes(x, y):
    x[0] = y * 2.0
    try:
        x[1] /= y
    except ZeroDivisionError:
        pass
    return np.sum(x)


def chosen(kind, x):
    match kind:
        case "square":
            y = x * x
        case _:
            y = x
    return y


def nested(x):
    def inner(t):
        return t * x

    return inner(x) + inner(2.0)


def listed(x):
    return [x * k for k in range(3)]


square = lambda x: (  # noqa: E731
    x *
    x
)


class Spring:
    """A spring."""

    def __init__(self, k):
        self.k = k

    def energy(self, x):
        return self.k * x * x


def generated(x):
    def powers():
        yield x
        yield x * x

    return sum(powers())


def refused(x):
    return eval("x") * 2.0 + x
