"""Cotangents against difference quotients, component by component, or direction by direction where there are many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, final

import numpy as np

from microgradpy.testing.degrees import Outline, Vector
from microgradpy.testing.differences import Moved, careful_columns, column
from microgradpy.testing.stencils import FiniteDifference

_MOST_COMPONENTS = 60  # that are moved one by one
_DIRECTIONS = 6  # that are tried of a larger value
_COARSEST = (1e-7, 1e-6)  # absolute and relative: what the estimate of a quotient's accuracy may add to a tolerance


class Disagreement(NamedTuple):
    """Where a cotangent is not the difference quotient."""

    component: int
    seed: int
    found: float
    expected: float
    tolerance: float


@final
class Quotients:
    """The derivatives of `call(x)` to compare with. `seeds` are cotangents of its value, as vectors in its structure."""

    def __init__(
        self,
        call: Callable[[Any], Any],
        inputs: Outline,
        outputs: Outline,
        seeds: Sequence[Vector],
        fdm: FiniteDifference,
        rtol: float,
        atol: float,
    ) -> None:
        self.moved = Moved(lambda vector, wide: call(inputs.rebuild(vector, wide=wide)), inputs, outputs)
        self.seeds = np.array(seeds)
        self.fdm = fdm
        self.rtol = rtol
        self.atol = atol

    def disagreement(self, found: Sequence[Vector]) -> Disagreement | None:
        """The first component in which the cotangents, one vector per seed, are not what the differences say."""
        bars = np.array(found)
        size = self.moved.inputs.size
        if size > _MOST_COMPONENTS:
            draw = np.random.default_rng(size)
            directions = [draw.standard_normal(size) for _ in range(_DIRECTIONS)]
            if not any(self._compare(-1, direction, bars @ direction) for direction in directions):
                return None
        units = (self._compare(index, unit, bars[:, index]) for index, unit in enumerate(np.eye(size)))
        return next((found for found in units if found is not None), None)

    def _compare(self, component: int, direction: Vector, found: Vector) -> Disagreement | None:
        """At one direction, with the cheapest step first: a wrong number does not agree by chance."""
        if self._difference(found, column(self.moved, direction, self.fdm), 0.0) is None:
            return None
        scale = abs(self.moved.start[component]) if component >= 0 else 1.0
        counted = np.any(self.seeds != 0.0, axis=0)
        columns = careful_columns(self.moved, direction, scale, self.fdm)
        defined = [(accuracy, values) for values, accuracy in columns if np.all(np.isfinite(values[counted]))]
        if not defined:  # no difference quotient, so nothing to compare with
            return None
        best = min(accuracy for accuracy, _ in defined)
        # Of the quotients the worst might agree with anything, and the best one's estimate might be wrong, as at a kink.
        nearest: tuple[int, float, float] | None = None
        for accuracy, values in sorted(defined, key=itemgetter(0), reverse=True):
            nearest = self._difference(found, values, min(accuracy, 10.0 * best))
            if nearest is None:
                return None
        assert nearest is not None
        seed, quotient, tolerance = nearest
        return Disagreement(component, seed, float(found[seed]), quotient, tolerance)

    def _difference(self, found: Vector, values: Vector, accuracy: float) -> tuple[int, float, float] | None:
        with np.errstate(all="ignore"):
            expected = self.seeds @ values
        for seed, (bar, quotient) in enumerate(zip(found, expected, strict=True)):
            trusted = min(accuracy * float(np.sum(np.abs(self.seeds[seed]))), _COARSEST[0] + _COARSEST[1] * abs(quotient))
            tolerance = self.atol + self.rtol * abs(quotient) + trusted
            if not abs(bar - quotient) <= tolerance:
                return seed, float(quotient), float(tolerance)
        return None
