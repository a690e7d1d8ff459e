"""Random numbers whose place and scale are differentiated: every run draws the same ones."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from microgradpy import MutationError, gradient
from microgradpy.compiler import always_dispatch, always_track


def of_place_and_scale(name: str) -> Callable[[float, float], Any]:
    def draws(a, b):
        rng = np.random.default_rng(3)
        several = getattr(rng, name)(a, b, 5)
        return (several * np.arange(5.0)).sum() + getattr(rng, name)(a * 1.5, b * 2.0)

    return draws


def of_scale(a, b):
    rng = np.random.default_rng(3)
    return (rng.exponential(a, size=(2, 3)) ** 2).sum() * b + rng.rayleigh(b)


def of_the_older_generators(a, b):
    rng = np.random.RandomState(0)
    total = rng.normal(a, b, 3).prod() + rng.uniform(a, b + 3.0) * rng.poisson(3.0) + rng.exponential(a) * rng.rayleigh(b)
    return total * rng.laplace(a, b) + rng.logistic(a, b) * rng.gumbel(a, b) + rng.lognormal(a, b)


def with_arrays_and_by_name(a, b):
    rng = np.random.default_rng(1)
    several = rng.normal(np.ones(3) * a, b) * np.array([1.0, 2.0, 3.0])
    return several.sum() + rng.normal(loc=a, scale=b, size=4).sum()


class Walk:
    def __init__(self, drift, seed):
        self.drift, self.rng = drift, np.random.default_rng(seed)

    def step(self):
        return self.drift * self.rng.normal() + self.rng.normal(0.0, 0.1) + self.rng.uniform()


def in_an_object_that_writes(a, b):
    walk, path = Walk(a, 1), np.zeros(3)
    for i in range(3):
        path[i] = walk.step() * b
    return path.sum()


def with_a_scale_of_zero(a, b):
    return np.random.default_rng(1).normal(a, 0.0) * b


def of_python(a, b):
    rng = random.Random(5)
    total = rng.gauss(a, b) * rng.normalvariate(b, a) + rng.uniform(a, b) + rng.expovariate(a) * rng.randint(1, 6)
    return total * rng.lognormvariate(a, 0.1) + rng.choice([a, b, a * b]) + rng.random() * rng.triangular(0.0, b)


def of_python_in_an_object_that_is_stored(a, b):
    rng, log = random.Random(2), {"t": 0.0}
    known = [log]
    for i in range(4):
        known[0]["t"] += rng.gauss(a, b) * rng.random()
        known[0][i] = rng.uniform(0.0, a)
    return log["t"] * log[2]


def of_python_with_scales_of_zero(a, b):
    rng = random.Random(2)
    return rng.gauss(a, 0.0) * b + rng.uniform(b, b) * 0.0


def of_the_module(a, b):
    random.seed(4)
    np.random.seed(4)  # noqa: NPY002
    total = np.random.rand(3).sum() + np.random.normal(a, b)  # noqa: NPY002
    return random.gauss(a, b) + a * random.random() * total + random.uniform(a, 3.0)


NAMES = ("normal", "laplace", "logistic", "gumbel", "uniform", "lognormal")
PROGRAMS = [
    *(pytest.param(of_place_and_scale(name), id=name) for name in NAMES),
    of_scale, of_the_older_generators, with_arrays_and_by_name, in_an_object_that_writes, with_a_scale_of_zero,
    of_python, of_python_in_an_object_that_is_stored, of_python_with_scales_of_zero, of_the_module,
]  # fmt: skip


@pytest.mark.parametrize("mode", [nullcontext, always_dispatch, always_track], ids=["inlined", "dispatched", "tracked"])
@pytest.mark.parametrize("draws", PROGRAMS)
def test_a_draw_is_a_constant_of_the_run(draws: Callable[[float, float], Any], mode: Any) -> None:
    a, b, step = 0.7, 1.3, 1e-6
    by_a = (draws(a + step, b) - draws(a - step, b)) / (2.0 * step)
    by_b = (draws(a, b + step) - draws(a, b - step)) / (2.0 * step)
    with mode():
        np.testing.assert_allclose(gradient(draws, a, b), (by_a, by_b), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("rng", [random.Random(1), np.random.default_rng(1), np.random.RandomState(1)])
def test_a_generator_may_be_an_argument(rng: Any) -> None:
    def draws(x, rng):
        return x * (rng.gauss(0.0, 1.0) if isinstance(rng, random.Random) else rng.normal()) + x * x

    x_bar = gradient(lambda x: draws(x, rng), 1.5)[0]
    same = copy.deepcopy(rng)
    given = gradient(draws, 1.5, rng)
    assert given[0] == draws(1.0, same) - 1.0 + 3.0
    assert isinstance(x_bar, float)


def test_a_generator_holds_nothing_but_its_state() -> None:
    def stored(x):
        rng = random.Random(2)
        rng.scale = x
        return rng.scale * rng.random()

    with pytest.raises(MutationError, match="a generator is taken to hold nothing but its state"):
        gradient(stored, 1.5)
