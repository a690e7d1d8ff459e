"""Functions of the documents and examples, exported."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgradpy import export, nn, value_and_gradient
from tests.exporting.isolated import results_of
from tests.test_programs import same_cotangents


def power_sum(x, n):
    total = 0.0
    for i in range(n):
        total += x**i
    return total


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def regression(w, x, y):
    return np.mean((np.polyval(w, x) - y) ** 2)


def two_layers(W1, b1, W2, b2, x, labels):
    return nn.logit_cross_entropy(nn.relu(x @ W1 + b1) @ W2 + b2, labels)


def log_likelihood(mu, sigma, x):
    return np.sum(-0.5 * ((x - mu) / sigma) ** 2 - np.log(sigma) - 0.5 * math.log(2 * math.pi))


RNG = np.random.default_rng(0)
ROWS: list[tuple[Any, tuple[Any, ...]]] = [
    (power_sum, (0.5, 4)),
    (newton, (2.0,)),
    (regression, (RNG.normal(size=3), RNG.normal(size=7), RNG.normal(size=7))),
    (log_likelihood, (0.3, 1.5, RNG.normal(size=9))),
    (
        two_layers,
        (*(RNG.normal(size=shape) for shape in ((2, 5), (5,), (5, 3), (3,), (7, 2))), np.eye(3)[[0, 1, 2, 0, 1, 2, 0]]),
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].__name__)
def test_exported_functions_agree(row: Any, tmp_path: Path) -> None:
    f, args = row
    both = results_of(export(f, tmp_path / f"{f.__name__}_gradient.py", *args), args, (1.0,))[2]
    assert same_cotangents(both, value_and_gradient(f, *args))
