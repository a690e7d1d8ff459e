"""Transposes of what reductions call: of x_bar = y_bar * slope, which is repeated along an axis, the sum of slope * x_dot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.mathematics.differences import trapezoid_height_bar, trapezoid_place_bar, trapezoid_step_bar
from microgradpy.rules.numpy.mathematics.extrema import extremum_bar, nan_extremum_bar
from microgradpy.rules.numpy.mathematics.sums import cumprod_bar, cumsum_bar, prod_bar, without_nan
from microgradpy.rules.numpy.statistics.averages import (
    average_bar,
    average_weights_bar,
    nanmean_bar,
    nanstd_bar,
    nanvar_bar,
    spread_weights,
    std_bar,
    var_bar,
)
from microgradpy.rules.numpy.statistics.order import neighbours, ptp_bar, quantile_bar, rows_of
from microgradpy.rules.registry import examples
from microgradpy.tangents.arithmetic import conj, real_like, reciprocal_or_zero, unbroadcast
from microgradpy.tangents.casts import in_precision_of
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.linear import expand_reduced, with_reduced_axes
from microgradpy.tangents.types import NoTangent

_X = np.array([[0.3, -1.2, 2.0], [0.7, 0.1, -0.4]])
_V = np.array([1.5, -0.5, 0.25])
_Z = _X + 1j * _X[::-1]
_ROWS = np.array([0.5, -1.5])


@pullback(expand_reduced)
def expand_reduced_pullback(x_bar, y_bar, x, axis, keepdims):
    """Repeating along the axes becomes the sum along them."""
    return np.sum(x_bar, axis=axis, keepdims=keepdims)


examples(expand_reduced, (2.0, _X, None, False), (_V, _X, 0, False), (_X[:, :1], _X, 1, True), (_Z[:, 0], _Z, -1, False))


@cotangent_of(1)
def sum_of_slopes(a_dot: Any, y: Any, slopes: Any, axis: Any, keepdims: Any) -> Any:
    """The tangent of a reduction y for which a_bar is y_bar * slopes, repeated."""
    return real_like(np.sum(conj(slopes) * a_dot, axis=axis, keepdims=keepdims), y)


@cotangent_of(1)
def sum_of_chosen(a_dot: Any, y: Any, shares: Any, axis: Any, keepdims: Any) -> Any:
    """The same of what selects: what has no share adds nothing, whatever its tangent."""
    with np.errstate(all="ignore"):
        moved = np.where(np.equal(shares, 0.0), 0.0, conj(shares) * a_dot)
    return real_like(np.sum(moved, axis=axis, keepdims=keepdims), y)


@pullback(prod_bar)
def prod_bar_pullback(a_dot, y_bar, a, axis, keepdims):
    """The sum of the slopes, which are the products of the others."""
    slopes = prod_bar(np.ones_like(y_bar), a, axis, keepdims)
    return sum_of_slopes(a_dot, y_bar, slopes, axis, keepdims), ...


@pullback(var_bar)
def var_bar_pullback(a_dot, y_bar, a, axis, ddof, keepdims):
    """The sum of the slopes, which are linear in a."""
    slopes = var_bar(np.ones_like(y_bar), a, axis, ddof, keepdims)
    return sum_of_slopes(a_dot, y_bar, slopes, axis, keepdims), var_bar(y_bar, a_dot, axis, ddof, keepdims)


@pullback(std_bar)
def std_bar_pullback(a_dot, y_bar, a, y, axis, ddof, keepdims):
    """The sum of the slopes."""
    slopes = std_bar(np.ones_like(y), a, y, axis, ddof, keepdims)
    return (
        sum_of_slopes(a_dot, y, slopes, axis, keepdims),
        std_bar(y_bar, a_dot, y, axis, ddof, keepdims),
        -y_bar * reciprocal_or_zero(y) * sum_of_slopes(a_dot, y, slopes, axis, keepdims),
    )


@pullback(nanvar_bar)
def nanvar_bar_pullback(a_dot, y_bar, a, axis, ddof, keepdims):
    """The sum of the slopes of the numbers."""
    slopes = nanvar_bar(np.ones_like(y_bar), a, axis, ddof, keepdims)
    return sum_of_slopes(without_nan(a_dot, a), y_bar, slopes, axis, keepdims), ...


@pullback(nanstd_bar)
def nanstd_bar_pullback(a_dot, y_bar, a, y, axis, ddof, keepdims):
    """The sum of the slopes of the numbers."""
    slopes = nanstd_bar(np.ones_like(y), a, y, axis, ddof, keepdims)
    return sum_of_slopes(without_nan(a_dot, a), y, slopes, axis, keepdims), ..., ...


@pullback(nanmean_bar)
def nanmean_bar_pullback(a_dot, y_bar, a, axis, keepdims):
    """The mean of the tangents of the numbers."""
    return sum_of_chosen(a_dot, y_bar, nanmean_bar(np.ones_like(y_bar), a, axis, keepdims), axis, keepdims)


@pullback(without_nan)
def without_nan_pullback(a_dot, a_bar, a):
    """The tangents of the numbers."""
    return unbroadcast(without_nan(a_dot, a), a_bar)


@pullback(extremum_bar)
def extremum_bar_pullback(a_dot, y_bar, a, y, axis, keepdims):
    """The mean of the tangents of those that are the largest, or the smallest."""
    return sum_of_chosen(a_dot, y, extremum_bar(np.ones_like(y), a, y, axis, keepdims), axis, keepdims)


@pullback(nan_extremum_bar)
def nan_extremum_bar_pullback(a_dot, y_bar, a, y, axis, keepdims):
    """The same among numbers."""
    return sum_of_chosen(a_dot, y, nan_extremum_bar(np.ones_like(y), a, y, axis, keepdims), axis, keepdims)


@pullback(ptp_bar)
def ptp_bar_pullback(a_dot, y_bar, a, axis, keepdims):
    """The tangent of the largest less that of the smallest."""
    return sum_of_chosen(a_dot, y_bar, ptp_bar(np.ones_like(y_bar), a, axis, keepdims), axis, keepdims)


_REDUCED = ((_V[0], _X, None, False), (_V, _X, 0, False), (_ROWS, _X, 1, False), (_X[:, :1], _X, -1, True))
examples(prod_bar, *_REDUCED, (_Z[:, 0], _Z, 1, False))
examples(ptp_bar, *_REDUCED)
examples(var_bar, *((d, x, axis, 0, keepdims) for d, x, axis, keepdims in _REDUCED), (_ROWS, _Z, 1, 1, False))
examples(std_bar, *((d, x, np.std(x, axis, keepdims=k), axis, 0, k) for d, x, axis, k in _REDUCED))
examples(std_bar, (_ROWS, _Z, np.std(_Z, 1), 1, 0, False))
for _bar, _of in ((extremum_bar, np.max), (nan_extremum_bar, np.nanmin)):
    examples(_bar, *((d, x, _of(x, axis, keepdims=k), axis, k) for d, x, axis, k in _REDUCED))
examples(nanvar_bar, *((d, x, axis, 0, keepdims) for d, x, axis, keepdims in _REDUCED))
examples(nanvar_bar, (_ROWS, np.where(_X > 1.0, np.nan, _X), 1, 1, False))
examples(nanstd_bar, (_ROWS, np.where(_X > 1.0, np.nan, _X), _ROWS, 1, 1, False), (_ROWS, _X, np.std(_X, 1), 1, 0, False))
examples(nanmean_bar, *_REDUCED, (_ROWS, np.where(_X > 1.0, np.nan, _X), 1, False))
examples(without_nan, (_X, np.where(_X > 1.0, np.nan, _X)))


@pullback(average_bar)
def average_bar_pullback(a_dot, y_bar, a, axis, weights, keepdims):
    """The average of the tangent."""
    return average_dot(a_dot, y_bar, axis, weights, keepdims), NoTangent(), NoTangent(), ...


@pullback(average_weights_bar)
def average_weights_bar_pullback(weights_dot, y_bar, a, y, axis, weights, keepdims):
    """The sum of the deviations, weighted by the tangent."""
    return average_weights_dot(weights_dot, y_bar, a, y, axis, weights, keepdims), ..., ..., NoTangent(), ...


@cotangent_of(1)
def average_dot(a_dot: Any, y: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    """The tangent of a weighted average y for that of the array."""
    return np.average(a_dot, axis, weights, keepdims=keepdims)


@cotangent_of(1)
def average_weights_dot(weights_dot: Any, y_bar: Any, a: Any, y: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    """The tangent of a weighted average y for that of the weights."""
    if weights_dot is None:
        return np.zeros_like(y)
    w, moved = spread_weights(a, axis, weights), spread_weights(a, axis, weights_dot)
    deviation = (a - with_reduced_axes(y, a, axis, keepdims)) / np.sum(w, axis=axis, keepdims=True)
    return np.sum(moved * deviation, axis=axis, keepdims=keepdims)


_AVERAGES: tuple[Any, ...] = (
    (0.5, _X, None, np.abs(_X), False),
    (_ROWS, _X, 1, np.abs(_V), False),
    (_Z[:, :1], _Z, 1, np.abs(_V), True),
)
examples(average_bar, *_AVERAGES, (0.5, _X, None, None, False), (_ROWS + 0.5j, _X, 1, _V + 1.0j, False))
for _d, _a, _axis, _w, _k in _AVERAGES:
    examples(average_weights_bar, (_d, _a, np.average(_a, _axis, _w, keepdims=_k), _axis, _w, _k))


@pullback(quantile_bar)
def quantile_bar_pullback(a_dot, y_bar, a, q, axis, method, of):
    """The weighted mean of the tangents of the two neighbours."""
    return quantile_dot(a_dot, y_bar, a, q, axis, method, of), NoTangent(), ...


@cotangent_of(1)
def quantile_dot(a_dot: Any, y: Any, a: Any, q: Any, axis: Any, method: str, of: Callable[..., Any]) -> Any:
    """The tangent of y = of(a, q, axis, method=method)."""
    rows, _ = rows_of(a, axis)
    if not rows.size:
        return np.zeros_like(y)
    low, high, share, is_any = neighbours(rows, q, method, of)
    share = in_precision_of(y, share)
    ordered = np.take_along_axis(rows_of(a_dot, axis)[0], np.argsort(rows, axis=-1), -1)
    every_row = np.ogrid[tuple(map(slice, rows.shape[:-1]))]
    upper = np.where(np.equal(share, 0.0), 0.0, share * ordered[*every_row, high])
    moved = np.where(np.equal(share, 1.0), 0.0, (1.0 - share) * ordered[*every_row, low]) + upper
    return np.reshape(np.where(is_any, moved, 0.0), np.shape(y))


examples(quantile_bar, (0.5, _V, 0.3, None, "linear", np.quantile), (_ROWS, _X, 0.4, 1, "linear", np.nanquantile))
examples(quantile_bar, (_X, _X, np.array([0.2, 0.7]), 0, "hazen", np.quantile), (_V, _X, 60.0, 0, "lower", np.percentile))


# Running sums and products, and integrals


@pullback(cumsum_bar)
def cumsum_bar_pullback(a_dot, y_bar, a, axis):
    """The running sum of the tangent."""
    return np.cumsum(a_dot, axis)


@pullback(cumprod_bar)
def cumprod_bar_pullback(a_dot, y_bar, a, axis):
    """y_k = y_(k-1) * a_k, step by step."""
    return cumprod_dot(a_dot, y_bar, a, axis), ...


@cotangent_of(1)
def cumprod_dot(a_dot: Any, y: Any, a: Any, axis: Any) -> Any:
    """The tangent of y = np.cumprod(a, axis)."""
    along = 0 if axis is None else axis
    factors, dots = (np.moveaxis(np.ravel(x) if axis is None else np.atleast_1d(x), along, 0) for x in (a, a_dot))
    y_dot = np.zeros(factors.shape, np.result_type(y))
    product, moved = np.ones(factors.shape[1:], y_dot.dtype), np.zeros(factors.shape[1:], y_dot.dtype)
    with np.errstate(all="ignore"):
        for k, (factor, dot) in enumerate(zip(factors, dots, strict=True)):
            moved = moved * factor + product * dot
            product = product * factor
            y_dot[k] = moved
    return np.moveaxis(y_dot, 0, along)


@pullback(trapezoid_height_bar)
def trapezoid_height_bar_pullback(y_dot, z_bar, y, x, dx, axis):
    """The integral of the tangent."""
    return np.trapezoid(y_dot, x, dx, axis), NoTangent(), ..., ...


@pullback(trapezoid_place_bar)
def trapezoid_place_bar_pullback(x_dot, z_bar, y, x, axis):
    """The integral along the tangent."""
    return trapezoid_place_dot(x_dot, z_bar, y, axis), ...


@pullback(trapezoid_step_bar)
def trapezoid_step_bar_pullback(dx_dot, z_bar, y, x, dx, axis):
    """The integral by the tangents of the steps."""
    return trapezoid_step_dot(dx_dot, z_bar, y, axis), ...


@cotangent_of(1)
def trapezoid_step_dot(dx_dot: Any, z: Any, y: Any, axis: int) -> Any:
    """The tangent of an integral z for that of the steps."""
    return np.zeros_like(z) if dx_dot is None else np.trapezoid(y, dx=dx_dot, axis=axis)


@cotangent_of(1)
def trapezoid_place_dot(x_dot: Any, z: Any, y: Any, axis: int) -> Any:
    """The tangent of an integral z for that of the places."""
    return np.zeros_like(z) if x_dot is None else np.trapezoid(y, x_dot, axis=axis)


_RUNS = ((_V, _V, None), (np.ravel(_X), _X, None), (_X, _X, 0), (_X, _X, -1), (_Z, _Z, 1))
examples(cumsum_bar, *_RUNS)
examples(cumprod_bar, *_RUNS, (_V, np.array([2.0, 0.0, 3.0]), None))
examples(trapezoid_height_bar, (0.5, _V, None, 0.5, -1), (_ROWS, _X, np.array([0.0, 0.5, 1.5]), 1.0, 1))
examples(trapezoid_height_bar, (_ROWS, _X, _X, 1.0, 1))
examples(trapezoid_place_bar, (0.5, _V, _V**2, -1), (_ROWS, _X, np.array([0.0, 0.5, 1.5]), 1), (_ROWS, _X, _X**2, 1))
examples(trapezoid_step_bar, (0.5, _V, None, 0.5, -1), (_ROWS, _X, None, _X[:, 1:], 1))
