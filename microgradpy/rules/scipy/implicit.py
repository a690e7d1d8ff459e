"""Solutions of equations and minima, by the implicit function theorem.

Of f(x, p) = 0 the solution x(p) moves by dx = -(df/dx)^-1 (df/dp) dp. So with u = (df/dx)^-T x_bar, p_bar = -(df/dp)^T u: the
pullback of f, at the solution, of -u. Where x(p) is a minimum, f is a gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.nested import differentiated
from microgradpy.rules.scipy.structures import combined, refuse_complex, scaled, seed_of
from microgradpy.tangents.decompositions import inverse_or_nan
from microgradpy.tangents.types import NoTangent, are_equal, is_structural_zero

Bars = tuple[Any, ...]
Back = Callable[[Any], Bars]
OPTIONS = (NoTangent(),) * 12
"""The cotangents of the tolerances and other options that end the list of arguments of a solver."""


def root_pullback(
    f: Callable[..., Any], x: Any, args: tuple[Any, ...], allowed: float, part: int | None = None, is_fixed: bool = False
) -> Back:
    """The pullback of a root x of f(x, *args), or of item number `part` of that, or of a fixed point: from x_bar to the
    cotangents of f and of each of args.

    f is differentiated here and now, since what it uses may change later. Refused, when the pullback is called, if a step of
    Newton's method would be longer than `allowed` and a thousandth of x: then x is no root."""
    y, back = differentiated(f, x, *args)
    result = y if part is None else y[part]
    value = np.ravel(np.asarray(result))
    refuse_complex(x, value)
    if is_fixed:
        value = value - np.ravel(x)

    def bars_of(vector: np.ndarray) -> Bars:
        seed = seed_of(result, vector)
        return back(seed if part is None else tuple(seed if place == part else None for place in range(len(y))))

    def pullback(x_bar: Any) -> Bars:
        rows = [vector_of(bars_of(row)[1], x) for row in np.eye(value.size)]
        matrix = np.stack(rows) - (np.eye(value.size) if is_fixed else 0.0)
        if matrix.shape[0] != matrix.shape[1]:
            raise _no_solution(f"there are {matrix.shape[0]} equations for {matrix.shape[1]} unknowns")
        inverse = inverse_or_nan(matrix)
        step = np.max(np.abs(inverse @ value), initial=0.0)
        if not step <= 1e-3 * np.max(np.abs(x), initial=0.0) + allowed:
            raise _no_solution(f"Newton's method would go on by {step:.3g}, so the solver is not at a simple root")
        bars = bars_of(-(vector_of(x_bar, x) @ inverse))
        return bars[0], *bars[2:]

    return pullback


def stationary_pullback(gradient: Callable[[np.ndarray], Bars], x: np.ndarray) -> Back:
    """The pullback of a minimum x, from x_bar to all cotangents that `gradient(x)` gives: that of the function, that of x,
    which vanishes at a minimum, and those of its other arguments.

    Their derivatives along each coordinate of x are differences of order four, whose error is some 1e-10 of them."""
    refuse_complex(x)
    here = vector_of(gradient(x)[1], x)
    columns = [bars for place in range(x.size) if (bars := _along(gradient, x, place)) is not None]
    is_smooth = len(columns) == x.size
    hessian = np.reshape([vector_of(bars[1], x) for bars in columns], (-1, x.size)) if is_smooth else np.eye(x.size)
    inverse = inverse_or_nan(0.5 * (hessian + hessian.T))
    step = np.abs(inverse @ here)

    def pullback(x_bar: Any) -> Bars:
        if not is_smooth:
            raise _no_solution("the function that is minimised has no second derivative there")
        if not np.all(step <= 1e-3 * (1.0 + np.abs(np.ravel(x)))):
            raise _no_solution("the gradient is not 0 there, as on a bound, or if the solver had not converged")
        moved = -(inverse @ vector_of(x_bar, x))
        bars = combined([(float(moved[place]), column) for place, column in enumerate(columns)])
        return bars[0], *bars[2:]

    return pullback


def _along(gradient: Callable[[np.ndarray], Bars], x: np.ndarray, place: int) -> Bars | None:
    """The derivative of a gradient along one coordinate, by differences that are made until two of them agree; None if they
    do not."""
    for exponent in range(4):
        width = 10.0 ** (-3 - exponent) * (1.0 + abs(float(np.ravel(x)[place])))
        near = _difference(gradient, x, place, width)
        far = _difference(gradient, x, place, 2.0 * width)
        apart = np.abs(vector_of(near[1], x) - vector_of(far[1], x))
        if np.max(apart) <= 1e-3 * np.max(np.abs(vector_of(near[1], x))):
            return combined([(4.0 / 3.0, near), (-1.0 / 3.0, far)])
    return None


def _difference(gradient: Callable[[np.ndarray], Bars], x: np.ndarray, place: int, width: float) -> Bars:
    step = np.reshape(width * np.eye(x.size)[place], x.shape)
    return combined([(0.5 / width, gradient(x + step)), (-0.5 / width, gradient(x - step))])


def gradient_of(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[np.ndarray], Bars]:
    """The cotangents of f, x and args under f(x, *args)."""

    def gradient(x: np.ndarray) -> Bars:
        y, back = differentiated(f, x, *args, **kwargs)
        return back(seed_of(y, np.ones(1)))

    return gradient


def gradient_of_squares(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[np.ndarray], Bars]:
    """The cotangents of f, x and args under half of the sum of the squares of f(x, *args)."""

    def gradient(x: np.ndarray) -> Bars:
        y, back = differentiated(f, x, *args, **kwargs)
        return back(scaled(y, 1.0))

    return gradient


def vector_of(x_bar: Any, x: Any) -> np.ndarray:
    """The cotangent of x as a vector."""
    return np.zeros(np.size(x)) if is_structural_zero(x_bar) else np.ravel(np.asarray(x_bar, dtype=float))


def refuse_unsolved(is_solved: Any, message: Any = "") -> None:
    """Refuse the derivative of what a solver gave that did not converge."""
    if not np.all(is_solved):
        raise _no_solution(f"the solver did not converge: {message}" if message else "the solver did not converge")


def refuse_fields(y_bar: Any, known: tuple[str, ...]) -> None:
    """Refuse what depends on a field of a result that has no derivative here."""
    others = [name for name, bar in dict(y_bar).items() if name not in known and not are_equal(bar, None)]
    if others:
        raise MissingRuleError(
            f"the derivative of the field {others[0]!r} of a result of SciPy",
            None,
            f"Use {', '.join(repr(name) for name in known)}, or stop_gradient(result.{others[0]}).",
        )


def _no_solution(why: str) -> MissingRuleError:
    return MissingRuleError(
        f"a result of a solver has no derivative: {why}",
        None,
        "Start nearer to the solution, allow more iterations, or ask for a smaller tolerance.",
    )
