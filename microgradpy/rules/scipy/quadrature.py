"""Integrals of cotangents of any structure, for the rules of scipy.integrate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
from scipy import integrate

from microgradpy.errors import MissingRuleError
from microgradpy.rules.scipy.structures import flat, unflat
from microgradpy.tangents.thunks import accumulate


class _Grown(Exception):
    """An integrand has cotangents that none of its values before had."""


@final
class _Integrand:
    """The cotangents at a place as a vector; `largest` is the largest of their numbers so far."""

    def __init__(self, bars_at: Callable[[float], tuple[Any, ...]]) -> None:
        self.bars_at = bars_at
        self.template: tuple[Any, ...] = ()
        self.largest = 0.0

    def __call__(self, x: float) -> np.ndarray:
        bars = self.bars_at(x)
        grown = tuple(map(accumulate, self.template, bars)) if self.template else bars
        if not self.template or flat(None, grown).size != flat(None, self.template).size:
            self.template = grown
            raise _Grown
        vector = flat(bars, self.template)
        if not vector.size:  # nothing that the function depends on has a cotangent
            return np.zeros(1)
        self.largest = max(self.largest, float(np.max(np.abs(vector), initial=0.0)))
        return vector


def integral(bars_at: Callable[[float], tuple[Any, ...]], a: Any, b: Any, points: Any = None) -> tuple[Any, ...]:
    """The integral of a tuple of cotangents from a to b, to some eight digits."""
    integrand = _Integrand(bars_at)
    limit, smallest = 50, 1e-13
    while True:
        try:
            total, error, report = integrate.quad_vec(
                integrand, a, b, epsabs=smallest, epsrel=1e-9, norm="max", limit=limit, points=points, full_output=True
            )
        except _Grown:  # a branch of the function that was met on the way depends on more than those before
            continue
        if report.success or error <= 1e-8 * np.max(np.abs(total), initial=integrand.largest):
            size = flat(None, integrand.template).size
            return tuple(unflat(total[:size], integrand.template))
        if limit > 50:
            raise MissingRuleError(
                "the integral of the derivative of a function did not converge", None, "Split it where it is not smooth."
            )
        limit, smallest = 2000, 1e-10 * integrand.largest  # next to which an integral of 0 is exact
