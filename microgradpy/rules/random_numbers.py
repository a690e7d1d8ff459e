"""Random numbers of the standard library, as those of NumPy: a draw is made once and is a constant of the run. The place and
the scale of a distribution are differentiated, with the draw behind them kept: y = mu + sigma z.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from microgradpy.rules.registry import non_differentiable, rrule
from microgradpy.tangents.arithmetic import divide, unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent

# What chooses among values (`choice`, `sample`, `shuffle`) is differentiated by its source, or by what writes.
non_differentiable(random.Random, random.Random.seed, random.Random.random, random.Random.getrandbits, random.Random.randbytes)
non_differentiable(random.Random.randrange, random.Random.randint, random.Random._randbelow)  # type: ignore[attr-defined]
non_differentiable(random.random, random.getrandbits)  # methods of one generator, that a class of C's has


@cotangent_of(2)
def stretched_bar(y_bar: Any, z: Any, scale: Any) -> Any:
    """The cotangent of the scale of a draw, of which `z` is scale times what was drawn; 0 for a scale of 0, whose draw nobody
    knows."""
    if isinstance(scale, float | int) and isinstance(z, float):
        return 0.0 if scale == 0.0 else y_bar * (z / scale)
    with np.errstate(all="ignore"):
        return unbroadcast(y_bar * np.where(np.equal(scale, 0.0), 0.0, divide(z, scale)), scale)


@rrule.register(random.Random.gauss)
def gauss_rrule(self, mu=0.0, sigma=1.0):
    """y = mu + sigma z: mu_bar = y_bar, sigma_bar = y_bar z."""
    y = random.Random.gauss(self, mu, sigma)

    def gauss_pullback(y_bar):
        return NoTangent(), NoTangent(), unbroadcast(y_bar, mu), stretched_bar(y_bar, y - mu, sigma)

    return y, gauss_pullback


@rrule.register(random.Random.normalvariate)
def normalvariate_rrule(self, mu=0.0, sigma=1.0):
    """y = mu + sigma z: mu_bar = y_bar, sigma_bar = y_bar z."""
    y = random.Random.normalvariate(self, mu, sigma)

    def normalvariate_pullback(y_bar):
        return NoTangent(), NoTangent(), unbroadcast(y_bar, mu), stretched_bar(y_bar, y - mu, sigma)

    return y, normalvariate_pullback


@rrule.register(random.Random.uniform)
def uniform_rrule(self, a, b):
    """y = a + (b - a) z: a_bar = y_bar (1 - z), b_bar = y_bar z."""
    y = random.Random.uniform(self, a, b)

    def uniform_pullback(y_bar):
        a_bar, b_bar = stretched_bar(y_bar, b - y, b - a), stretched_bar(y_bar, y - a, b - a)
        return NoTangent(), NoTangent(), unbroadcast(a_bar, a), unbroadcast(b_bar, b)

    return y, uniform_pullback


@rrule.register(random.Random.expovariate)
def expovariate_rrule(self, lambd=1.0):
    """y = z / lambd: lambd_bar = -y_bar y / lambd."""
    y = random.Random.expovariate(self, lambd)

    def expovariate_pullback(y_bar):
        return NoTangent(), NoTangent(), unbroadcast(-y_bar * y / lambd, lambd)

    return y, expovariate_pullback
