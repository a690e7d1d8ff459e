"""Gradients of the ordinary programs against central differences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.ordinary_programs import Program
from microgradpy.testing.degrees import Outline, Vector

STEP = 1e-5  # small: minima, maxima and comparisons are not to be decided otherwise on the way


class Differences:
    """The derivatives of a program's value at `args`, in the degrees of freedom of the arguments that are differentiated:
    numbers and entries of arrays, also in containers and objects."""

    def __init__(self, program: Program, args: tuple[Any, ...]) -> None:
        self.program, self.args = program, args
        self.outline = Outline(tuple(args[k] for k in program.argnums))
        self.start = self.outline.vector()
        self.tolerance = 1e-9 * (1.0 + abs(self._at(self.start)))  # what rounding leaves of a quotient by STEP, and more

    def _at(self, vector: Vector) -> float:
        args = list(self.args)
        for k, x in zip(self.program.argnums, self.outline.rebuild(vector), strict=True):
            args[k] = x
        return float(self.program.function(*args))

    def along(self, direction: Vector) -> float:
        """The five-point stencil; its error is of order STEP**4 next to rounding of order 1e-16 / STEP."""

        def odd(distance: float) -> float:
            return self._at(self.start + distance * direction) - self._at(self.start - distance * direction)

        return (8.0 * odd(STEP) - odd(2.0 * STEP)) / (12.0 * STEP)

    def axes(self) -> Vector:
        """One direction for each degree of freedom."""
        return np.eye(self.start.size)

    def drawn(self) -> Vector:
        """Two directions in which all move."""
        draw = np.random.default_rng(0)
        shape = (2, self.start.size)
        return draw.uniform(0.5, 1.0, shape) * draw.choice([-1.0, 1.0], shape)

    def defect(self, gradients: tuple[Any, ...], directions: Iterable[Vector]) -> str | None:
        """What is wrong with gradients of the arguments; None if nothing is."""
        found = self.outline.along(gradients)
        for direction in directions:
            ours, expected = float(found @ direction), self.along(direction)
            if not np.isclose(ours, expected, rtol=1e-6, atol=self.tolerance):
                return f"{ours:.9g} where differences give {expected:.9g}"
        return None
