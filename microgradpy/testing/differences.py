"""Derivatives of functions of any values by finite differences: along a tangent, against a cotangent, and the whole matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

import numpy as np

from microgradpy.testing.degrees import Outline, Vector
from microgradpy.testing.stencils import FiniteDifference, central_fdm

DEFAULT_FDM = central_fdm(5, 1, max_range=1e-2)
UNDEFINED = (ValueError, ArithmeticError)
"""What functions raise outside of their domain; there is no difference quotient then."""


def readable(value: Any) -> Any:
    """A value that can be read more than once: iterators and views of dicts become lists, and `super(...)` its object."""
    if isinstance(value, super):
        return getattr(value, "__self__")  # noqa: B009  # of which the type checker does not know
    return list(value) if isinstance(value, Iterator | type({}.values()) | type({}.items())) else value


@final
class Moved:
    """`value(vector, wide)`, a function of the degrees of freedom that `inputs` outlines, in those of its result. Where it is
    not defined it is NaN. Numbers of less than double precision are moved as double ones (`wide`), unless that raises."""

    def __init__(self, value: Callable[[Vector, bool], Any], inputs: Outline, outputs: Outline) -> None:
        self.value = value
        self.inputs = inputs
        self.outputs = outputs
        self.start = inputs.vector()
        self.wide = self._takes_wide()

    def _takes_wide(self) -> bool:
        try:
            return self._at(self.start, wide=True) is not None
        except TypeError:
            return False

    def __call__(self, vector: Vector) -> Vector:
        with np.errstate(all="ignore"):
            try:
                return self._at(vector, self.wide)
            except UNDEFINED:
                return np.full(self.outputs.size, np.nan)

    def _at(self, vector: Vector, wide: bool) -> Vector:
        return self.outputs.along_result(readable(self.value(vector, wide)))

    def along(self, direction: Vector) -> Callable[[float], Vector]:
        """The values on the line through the value in this direction."""
        return lambda distance: self(self.start + distance * direction)


def column(moved: Moved, direction: Vector, fdm: FiniteDifference) -> Vector:
    """The derivative in a direction, with the default step: four values for `central_fdm(5, 1)`."""
    result: Vector = fdm(moved.along(direction), 0.0, fdm.default_step())
    return result


def careful_columns(moved: Moved, direction: Vector, scale: float, fdm: FiniteDifference) -> Iterator[tuple[Vector, float]]:
    """The derivative in a direction and the accuracy that it should have, with chosen steps: for a function that varies where
    its argument changes by one, and then by less and less, as near a singularity or the end of the domain."""
    for unit in [1.0, *sorted({scale, 1e-2, 1e-4} - {1.0, 0.0}, reverse=True)]:
        step, accuracy = fdm.estimate_step(moved.along(unit * direction))
        with np.errstate(all="ignore"):
            yield fdm(moved.along(unit * direction), 0.0, step) / unit, accuracy / unit


def _moved(f: Callable[..., Any], args: Sequence[Any]) -> Moved:
    y = readable(f(*args))
    inputs = Outline(tuple(args), "args")
    return Moved(lambda vector, wide: f(*inputs.rebuild(vector, wide=wide)), inputs, Outline(y, "y", shared=False))


def jacobian(fdm: FiniteDifference, f: Callable[..., Any], *args: Any) -> Vector:
    """The matrix of derivatives of the degrees of freedom of `f(*args)` with respect to those of all of `args`."""
    moved = _moved(f, args)
    columns = [fdm(moved.along(unit)) for unit in np.eye(moved.inputs.size)]
    return np.stack(columns, axis=1) if columns else np.zeros((moved.outputs.size, 0))


def jvp(fdm: FiniteDifference, f: Callable[..., Any], args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The derivative of `f` at `args` along `tangents` (None where an argument does not move), in the structure of its
    value."""
    moved = _moved(f, args)
    direction = moved.inputs.along(tuple(tangents))
    return moved.outputs.rebuild(fdm(moved.along(direction)))


def vjp(fdm: FiniteDifference, f: Callable[..., Any], y_bar: Any, *args: Any) -> tuple[Any, ...]:
    """The cotangents of `args` for the cotangent `y_bar` of `f(*args)`: the transposed matrix times `y_bar`. They are values in
    the structure of the arguments."""
    moved = _moved(f, args)
    result: tuple[Any, ...] = moved.inputs.rebuild(jacobian(fdm, f, *args).T @ moved.outputs.along(y_bar))
    return result


def gradient(fdm: FiniteDifference, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
    """The gradients of a function with one real number as its value."""
    return vjp(fdm, f, 1.0, *args)
