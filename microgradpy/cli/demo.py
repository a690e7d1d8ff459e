"""Functions to try the commands on, as `demo:root`: the examples in the help of each command run as they stand. This file is
imported as a user's would be, under the name `demo`, and not as a part of the package."""

from __future__ import annotations


def root(x: float, tolerance: float = 1e-6) -> float:
    """The square root of `x` by Newton's method, which stops by itself."""
    y = x
    for _ in range(50):
        r = y * y - x
        if abs(r) < tolerance:
            break
        y = y - r / (2.0 * y)
    return y


def distance(x: float, y: float) -> float:
    """How far the square roots of two numbers are apart."""
    return abs(root(x) - root(y))
