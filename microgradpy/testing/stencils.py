"""Finite differences on a grid of points, with exact coefficients and a step that is chosen by the errors it makes.

    central_fdm(5, 1)(math.sin, 1.0)        0.5403023058681...

The derivative of order q at x is `sum(c * f(x + g * h) for c, g in zip(coefficients, grid)) / h**q`, where the coefficients
make it exact for polynomials up to degree p - 1. Its error is at most

    roundoff * sum(|c|) / h**q  +  bound * |sum(c * g**k)| / k! * h**(k - q)

with k >= p the first order at which the grid is not exact, and `bound` the size of the derivative of order k, which another,
higher method estimates. The step h makes that smallest. (These are a hundred lines of their own rather than the package `fdm`,
because values may be arrays of any precision here, steps have a largest range, and a user needs NumPy and astor only.)
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

Function = Callable[[float], Any]

_LARGEST_GROWTH = 1000.0  # of the step that is chosen against the default one: estimated bounds may be far too small


@final
@dataclass(frozen=True)
class FiniteDifference:
    """The derivative of order `q` from the values at `x + grid * step`, called as `fdm(f, x)`; `f` takes a float and returns a
    number or an array. `coefficients` are exact. `adapt` is how many higher methods stand behind the choice of the step; with
    none, the derivative that matters is taken to be `condition` times as large as the function. `factor` is by how much the
    values of `f` are rounded more than their precision says, and no value is taken further than `max_range` from `x`."""

    grid: tuple[int, ...]
    q: int
    coefficients: tuple[Fraction, ...]
    adapt: int = 1
    condition: float = 10.0
    factor: float = 1.0
    max_range: float = math.inf

    def __call__(self, f: Function, x: float = 0.0, step: float | None = None) -> Any:
        """The derivative of `f` at `x`, a float64 (or complex) number or array."""
        return self._quotient(f, x, self.estimate_step(f, x)[0] if step is None else step)

    def estimate_step(self, f: Function, x: float = 0.0) -> tuple[float, float]:
        """The step for `f` at `x`, and the largest error (in any component) that is to be expected with it."""
        y = np.asarray(f(x))
        roundoff = precision(y) * self.factor * max(_size(y), sys.float_info.min)
        bound = self.condition * _size(y)
        if self.adapt > 0:
            higher = self._estimator()
            bound = _size(higher._quotient(f, x, higher.default_step(x, precision(y))))
        step = self._best_step(roundoff, bound, self.default_step(x, precision(y)))
        return step, self._error(roundoff, bound, step)

    def default_step(self, x: float = 0.0, roundoff: float = 2.0**-52) -> float:
        """The step that asks nothing of the function: for one whose derivatives are of the size that `condition` says."""
        scale = max(1.0, abs(x))
        return self._within_range(scale * self._balance(roundoff * self.factor, self.condition))

    def _quotient(self, f: Function, x: float, step: float) -> Any:
        denominator = math.lcm(*(c.denominator for c in self.coefficients))
        # Whole coefficients and one division: nothing is rounded that need not be.
        terms = [int(c * denominator) * _wide(f(x + g * step)) for c, g in zip(self.coefficients, self.grid, strict=True) if c]
        with np.errstate(all="ignore"):
            return functools.reduce(np.add, terms) / (denominator * step**self.q)

    def _best_step(self, roundoff: float, bound: float, default: float) -> float:
        largest = self._within_range(_LARGEST_GROWTH * default)
        if not math.isfinite(bound) or not math.isfinite(roundoff):
            return default
        return min(self._balance(roundoff, bound), largest) if bound > 0.0 else largest

    def _balance(self, roundoff: float, bound: float) -> float:
        """The minimum of the error over the step, where its derivative is zero."""
        k, constant = self._truncation
        quotient = self.q * roundoff * self._amplification / ((k - self.q) * bound * constant)
        return max(float(quotient ** (1.0 / k)), sys.float_info.min)

    def _error(self, roundoff: float, bound: float, step: float) -> float:
        k, constant = self._truncation
        return float(roundoff * self._amplification / step**self.q + bound * constant * step ** (k - self.q))

    def _within_range(self, step: float) -> float:
        return min(step, self.max_range / max(map(abs, self.grid)))

    @functools.cached_property
    def _amplification(self) -> float:
        return float(sum(map(abs, self.coefficients)))

    @functools.cached_property
    def _truncation(self) -> tuple[int, float]:
        """The first order at which the method is not exact, and the factor of that derivative in the error."""
        k = len(self.grid)
        while not (moment := self._moment(k)):
            k += 1
        return k, float(abs(moment) / math.factorial(k))

    def _moment(self, k: int) -> Fraction:
        return sum((c * g**k for c, g in zip(self.coefficients, self.grid, strict=True)), Fraction(0))

    def _estimator(self) -> FiniteDifference:
        k = self._truncation[0]
        shape = central_fdm if self.grid[0] < 0 < self.grid[-1] else forward_fdm if self.grid[-1] > 0 else backward_fdm
        limits = {"condition": self.condition, "factor": self.factor, "max_range": self.max_range}
        return shape(k + 2, k, adapt=self.adapt - 1, **limits)


def precision(y: Any) -> float:
    """The distance from 1.0 to the next number of the precision of `y`: that of float64 for whole numbers and for more precise
    ones, which are rounded to it here."""
    dtype = np.asarray(y).dtype
    return max(float(np.finfo(dtype).eps), 2.0**-52) if dtype.kind in "fc" else 2.0**-52


def _wide(y: Any) -> Any:
    y = np.asarray(y)
    return y.astype(np.complex128 if y.dtype.kind == "c" else np.float64)


def _size(y: Any) -> float:
    """The largest finite absolute value; infinite if something is not a number."""
    if not np.size(y):
        return 0.0
    largest = float(np.max(np.abs(_wide(y))))
    return largest if math.isfinite(largest) else math.inf


@functools.cache
def coefficients(grid: tuple[int, ...], q: int) -> tuple[Fraction, ...]:
    """The exact solution c of `sum(c * g**i) == (q! if i == q else 0)` for i = 0, ..., p - 1."""
    p = len(grid)
    rows = [[Fraction(g) ** i for g in grid] + [Fraction(math.factorial(q) if i == q else 0)] for i in range(p)]
    for i in range(p):
        pivot = next(k for k in range(i, p) if rows[k][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for k in range(p):
            if k != i:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return tuple(row[-1] for row in rows)


def central_fdm(
    p: int, q: int, *, adapt: int = 1, condition: float = 10.0, factor: float = 1.0, max_range: float = math.inf
) -> FiniteDifference:
    """The derivative of order `q` from `p` points around x; without x itself if `p` is even. `central_fdm(5, 1)(f, x)` is
    `f'(x)`, and `central_fdm(5, 1).estimate_step(f, x)` the step taken and the accuracy to be expected."""
    half = p // 2
    points = tuple(g for g in range(-half, half + 1) if g or p % 2)
    return _on_grid(points, q, adapt, condition, factor, max_range)


def forward_fdm(
    p: int, q: int, *, adapt: int = 1, condition: float = 10.0, factor: float = 1.0, max_range: float = math.inf
) -> FiniteDifference:
    """As `central_fdm`, from x and the p - 1 points after it."""
    return _on_grid(tuple(range(p)), q, adapt, condition, factor, max_range)


def backward_fdm(
    p: int, q: int, *, adapt: int = 1, condition: float = 10.0, factor: float = 1.0, max_range: float = math.inf
) -> FiniteDifference:
    """As `central_fdm`, from x and the p - 1 points before it."""
    return _on_grid(tuple(range(1 - p, 1)), q, adapt, condition, factor, max_range)


def _on_grid(grid: tuple[int, ...], q: int, adapt: int, condition: float, factor: float, max_range: float) -> FiniteDifference:
    if not 1 <= q < len(grid):
        raise ValueError(f"a derivative of order {q} cannot be had from {len(grid)} points: 1 <= q < p is needed")
    if adapt < 0 or min(condition, factor, max_range) <= 0.0:
        raise ValueError("adapt must not be negative, and condition, factor and max_range must be positive")
    return FiniteDifference(grid, q, coefficients(grid, q), adapt, condition, factor, max_range)
