"""scipy.integrate: integrals of functions and of samples. Differential equations are in `integrate_equations`.

Of an integral of f from a to b, the derivative for b is f(b), for a -f(a), and for what f depends on it is the integral of the
derivative of f, which is computed with a relative tolerance of 1e-9, whatever that of the integral is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.nested import differentiated
from microgradpy.rules.numpy.mathematics.differences import trapezoid_height_bar, trapezoid_place_bar, trapezoid_step_bar
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.rules.scipy import integrate_equations as integrate_equations
from microgradpy.rules.scipy.implicit import OPTIONS
from microgradpy.rules.scipy.quadrature import integral
from microgradpy.rules.scipy.structures import as_tuple, given_to_args, scaled
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.types import NoTangent, are_equal


@rrule.register(integrate.quad)
def quad_rrule(
    func, a, b, args=(), full_output=0, epsabs=1.49e-8, epsrel=1.49e-8, limit=50, points=None, weight=None, wvar=None,
    wopts=None, maxp1=50, limlst=50, complex_func=False,
):  # fmt: skip
    """y = the integral of f(x, p) from a to b: b_bar = y_bar f(b), a_bar = -y_bar f(a), p_bar = y_bar * that of df/dp."""
    y = integrate.quad(
        func, a, b, args, full_output, epsabs, epsrel, limit, points, weight, wvar, wopts, maxp1, limlst, complex_func
    )
    if weight is not None or complex_func:
        raise MissingRuleError(
            "scipy.integrate.quad with a weight, or of a complex function", None, "Write the weight into the function."
        )
    extra = as_tuple(args)
    ends = [func(end, *extra) if np.isfinite(end) else 0.0 for end in (a, b)]
    inner = integral(lambda x: _without_place(differentiated(func, x, *extra)[1](1.0)), a, b, points)

    def quad_pullback(y_bar):
        if not all(are_equal(bar, None) for bar in y_bar[1:]):
            raise MissingRuleError("the estimate of the error of an integral", None, "Use the integral only.")
        weighted = float(y_bar[0])
        f_bar, *bars = scaled(inner, weighted)
        limits = unbroadcast(-weighted * ends[0], a), unbroadcast(weighted * ends[1], b)
        return NoTangent(), f_bar, *limits, given_to_args(args, tuple(bars)), *OPTIONS

    return y, quad_pullback


def _without_place(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    """The cotangents of a function and of its arguments but the first, the variable of integration."""
    return bars[0], *bars[2:]


@pullback(integrate.trapezoid)
def trapezoid_pullback(z_bar, y, x=None, dx=1.0, axis=-1):
    """As np.trapezoid."""
    return (
        trapezoid_height_bar(z_bar, y, x, dx, axis),
        trapezoid_place_bar(z_bar, y, x, axis),
        trapezoid_step_bar(z_bar, y, x, dx, axis),
    )


@rrule.register(integrate.cumulative_trapezoid)
def cumulative_trapezoid_rrule(y, x=None, dx=1.0, axis=-1, initial=None):
    """The pullback of the sums that it stands for."""
    steps = _steps(y, x, dx, axis)
    back = differentiated(_running_sums, np.moveaxis(np.asarray(y), axis, -1), steps)[1]

    def cumulative_trapezoid_pullback(z_bar):
        parts_bar = np.moveaxis(np.asarray(z_bar), axis, -1)
        bars = back(parts_bar if initial is None else parts_bar[..., 1:])
        return NoTangent(), *sample_bars(bars, y, x, dx, axis), NoTangent(), NoTangent()

    return integrate.cumulative_trapezoid(y, x, dx, axis, initial), cumulative_trapezoid_pullback


@rrule.register(integrate.simpson)
def simpson_rrule(y, x=None, *, dx=1.0, axis=-1):
    """The pullback of the sum that it stands for. (dx is named, and counts as a constant.)"""
    back = differentiated(_simpson_sum, np.moveaxis(np.asarray(y), axis, -1), _steps(y, x, dx, axis))[1]

    def simpson_pullback(z_bar):
        y_bar, x_bar, _ = sample_bars(back(np.asarray(z_bar)), y, x, dx, axis)
        return NoTangent(), y_bar, x_bar

    return integrate.simpson(y, x, dx=dx, axis=axis), simpson_pullback


def _steps(y: Any, x: Any, dx: Any, axis: int) -> np.ndarray:
    """The distances of samples, which are put along the last axis."""
    if x is None:
        return np.full(np.shape(y)[axis] - 1, dx, dtype=float)
    places = np.asarray(x)
    return np.diff(places if places.ndim == 1 else np.moveaxis(places, axis, -1), axis=-1)


def sample_bars(bars: tuple[Any, ...], y: Any, x: Any, dx: Any, axis: int) -> tuple[Any, Any, Any]:
    """The cotangents of samples, of their places and of the one distance, from those of samples and distances."""
    _, y_bar, steps_bar = bars
    y_bar = unbroadcast(np.moveaxis(y_bar, -1, axis), y)
    if x is None:
        return y_bar, None, unbroadcast(np.sum(steps_bar), dx)
    border = ((0, 0),) * (np.ndim(steps_bar) - 1)
    x_bar = np.pad(steps_bar, (*border, (1, 0))) - np.pad(steps_bar, (*border, (0, 1)))
    return y_bar, unbroadcast(x_bar if np.ndim(x) == 1 else np.moveaxis(x_bar, -1, axis), x), None


def _running_sums(y: Any, steps: Any) -> Any:
    return np.cumsum(0.5 * steps * (y[..., 1:] + y[..., :-1]), axis=-1)


def _simpson_sum(y: Any, steps: Any) -> Any:
    """Simpson's rule for samples at any distances: parabolas through three of them each. With an even number of samples the
    last interval has the parabola through the last three (P. Cartwright, "Simpson's rule cumulative integration with MS Excel
    and irregularly-spaced data", 2017)."""
    count = y.shape[-1]
    if count == 2:
        return 0.5 * steps[..., 0] * (y[..., 0] + y[..., 1])
    end = count - 1 if count % 2 else count - 2
    h, k = steps[..., 0:end:2], steps[..., 1:end:2]
    left, middle, right = y[..., 0:end:2], y[..., 1:end:2], y[..., 2 : end + 1 : 2]
    parabolas = (h + k) / 6.0 * (left * (2.0 - k / h) + middle * (h + k) ** 2 / (h * k) + right * (2.0 - h / k))
    total = np.sum(parabolas, axis=-1)
    if count % 2:
        return total
    h, k = steps[..., -2], steps[..., -1]
    last = y[..., -1] * (2.0 * k**2 + 3.0 * h * k) / (6.0 * (h + k)) + y[..., -2] * (k**2 + 3.0 * h * k) / (6.0 * h)
    return total + last - y[..., -3] * k**3 / (6.0 * h * (h + k))


def _wave(x, p, q):
    return np.sin(p * x) * np.exp(-q * x**2)


def _weighted(x, p):
    return np.sum(p * np.cos(x * p))


examples(integrate.quad, (_wave, 0.2, 1.7, (1.3, 0.4)), (_weighted, 0.5, -1.0, (np.array([0.3, 1.2]),)))
examples(integrate.quad, (_wave, 0.2, np.inf, (1.3, 0.4)))
_VECTOR = np.array([0.7, -1.4, 2.2, 0.1, 1.6])
_PLACES = np.array([0.0, 0.4, 1.1, 1.3, 2.4])
_TABLE = np.sin(np.arange(12.0) * 1.7).reshape(3, 4)
_GRID = np.cumsum(1.0 + 0.3 * _TABLE, axis=1)
examples(integrate.trapezoid, (_VECTOR,), (_VECTOR, _PLACES), (_TABLE, None, 0.3, 0), (_TABLE, _GRID), ([1.0, 3.0], [0.0, 0.5]))
examples(integrate.cumulative_trapezoid, (_VECTOR,), (_VECTOR, _PLACES), (_TABLE, None, 0.3, 0), (_TABLE, _GRID))
examples(integrate.cumulative_trapezoid, (_VECTOR, _PLACES), (_TABLE, _PLACES[:3], 1.0, 0), initial=0)
examples(integrate.simpson, (_VECTOR,), (_VECTOR, _PLACES), (_TABLE, _GRID), (_TABLE,), (_VECTOR[:2], _PLACES[:2]))
examples(integrate.simpson, (_VECTOR[:4], _PLACES[:4]), (_VECTOR[:3],), (_VECTOR.astype(np.float32),))
example(integrate.simpson, _TABLE, _PLACES[:3], axis=0)
