"""One check for tables of calls: the value, and the gradient against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy import pullback
from tests.finite_differences import differences, dot, flatten_cotangent, random_seed

ARGUMENTS = (
    np.array([0.7, -1.4, 2.2]),
    np.array([1.3, 0.4, -0.8]),
    np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]]),
    np.array([[0.35, -0.4, 1.2], [-0.8, 0.65, 0.15]]),
    np.array([[2.0, 0.3, -0.4], [0.5, 1.5, 0.2], [-0.1, 0.6, 3.0]]),
    0.45,
)
"""Two vectors, two tables, a square matrix and a number, under the names x, y, A, B, S, k."""


def check_call(call: Callable[..., Any]) -> None:
    """Hold a call, and its gradient for a random seed, against the plain call and central differences."""
    y, back = pullback(call, *[x.copy() if isinstance(x, np.ndarray) else x for x in ARGUMENTS])
    seed = random_seed(y)
    bars = back(seed)[1:]
    expected = call(*ARGUMENTS)
    assert type(y) is type(expected)
    np.testing.assert_equal(y, expected)
    found = flatten_cotangent(ARGUMENTS, bars)
    np.testing.assert_allclose(found, differences(lambda *args: dot(seed, call(*args)), ARGUMENTS), rtol=1e-6, atol=1e-6)
