"""Transposes of what interpolation and polynomials call: values at the places of points, of the tangents of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.mathematics.miscellaneous import (
    Segments,
    outside_bar,
    point_bar,
    segments,
    table_places_bar,
    table_values_bar,
)
from microgradpy.rules.numpy.polynomials.power_series import (
    coefficients,
    evaluated_at_bar,
    factor_bar,
    polyval_bar,
    slope_of,
    summand_bar,
)
from microgradpy.rules.registry import examples
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.casts import precise_as
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent

_PLACES, _VALUES = np.array([-1.0, 0.3, 0.8, 2.5]), np.array([0.5, -1.5, 2.0, 0.7])
_POINTS = np.array([[-1.7, -0.2, 0.5], [1.1, 2.2, 3.1]])
_Y = np.sin(_POINTS)


@pullback(point_bar)
def point_bar_pullback(x_dot, y_bar, x, xp, fp, period):
    """A product with the slope."""
    return point_dot(x_dot, y_bar, x, xp, fp, period), ..., ..., ..., ...


@pullback(table_places_bar)
def table_places_bar_pullback(xp_dot, y_bar, xp, fp, x, period):
    """What is interpolated of the tangents, times the slope, backwards."""
    return table_places_dot(xp_dot, y_bar, xp, fp, x, period), ..., ..., ..., ...


@pullback(table_values_bar)
def table_values_bar_pullback(fp_dot, y_bar, fp, xp, x, left, right, period):
    """What is interpolated of the tangents."""
    none = NoTangent()
    return table_values_dot(fp_dot, y_bar, xp, x, left, right, period), none, ..., ..., none, none, ...


@pullback(outside_bar)
def outside_bar_pullback(value_dot, y_bar, value, outside, period):
    """The tangent of the value, on its side of the table."""
    return outside_dot(value_dot, y_bar, outside, period)


@cotangent_of(1)
def outside_dot(value_dot: Any, y: Any, outside: Any, period: Any) -> Any:
    """The tangent of np.interp for that of the value on one side of the table."""
    return np.zeros_like(y) if value_dot is None or period is not None else precise_as(np.where(outside, value_dot, 0.0)[()], y)


@cotangent_of(1)
def point_dot(x_dot: Any, y: Any, x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """The tangent of np.interp for that of the points."""
    return _along_slopes(x_dot, y, segments(x, xp, fp, period))


@cotangent_of(1)
def table_places_dot(xp_dot: Any, y: Any, xp: Any, fp: Any, x: Any, period: Any) -> Any:
    """The tangent of np.interp for that of the places of the table."""
    at = segments(x, xp, fp, period)
    table = np.asarray(xp_dot)
    if at.order is not None:
        table = table[np.concatenate((at.order[-1:], at.order, at.order[:1]))]
    return _along_slopes(-((1.0 - at.share) * table[at.low] + at.share * table[at.high]), y, at)


def _along_slopes(moved: Any, y: Any, at: Segments) -> np.ndarray:
    """The tangent of what is interpolated, if points are moved by so much in the table."""
    with np.errstate(all="ignore"):
        return precise_as(np.where(at.inside, at.slope * moved, 0.0)[()], y)


@cotangent_of(1)
def table_values_dot(fp_dot: Any, y: Any, xp: Any, x: Any, left: Any, right: Any, period: Any) -> Any:
    """The tangent of np.interp for that of the values of the table."""
    low, high = (None if end is None else 0.0 for end in (left, right))
    found: Any = np.interp(x, xp, fp_dot, low, high, period)
    return precise_as(found, y)


_TABLES = ((_PLACES, _VALUES, None), (_PLACES, _VALUES * (1.0 + 0.5j), None), (_PLACES[::-1], _VALUES, 4.3))
examples(point_bar, *((_Y * fp[0], _POINTS, xp, fp, period) for xp, fp, period in _TABLES))
examples(point_bar, (_Y[0, 0], 0.5, _PLACES, _VALUES, None))
examples(table_places_bar, *((_Y * fp[0], xp, fp, _POINTS, period) for xp, fp, period in _TABLES))
examples(table_values_bar, *((_Y * fp[0], fp, xp, _POINTS, None, None, period) for xp, fp, period in _TABLES))
examples(table_values_bar, (_Y, _VALUES, _PLACES, _POINTS, 0.5, -0.3, None))
examples(outside_bar, (_Y, 0.5, _POINTS < -1.0, None))


@pullback(polyval_bar)
def polyval_bar_pullback(p_dot, y_bar, p, x):
    """The polynomial with the tangents for coefficients."""
    return unbroadcast(np.polyval(p_dot, x), y_bar), ..., ...


examples(polyval_bar, (_Y, _VALUES, _POINTS), (_Y[0, 0], _VALUES, 0.7), (_Y[0] + 0.5j, _VALUES, _Y[0] + 0.3j))


@pullback(evaluated_at_bar)
def evaluated_at_bar_pullback(x_dot, y_bar, p, x):
    """A product with the slope."""
    return evaluated_at_dot(x_dot, y_bar, p, x), ..., ...


@cotangent_of(1)
def evaluated_at_dot(x_dot: Any, y: Any, p: Any, x: Any) -> Any:
    """The tangent of np.polyval(p, x) for that of the point."""
    with np.errstate(all="ignore"):
        return precise_as(x_dot * slope_of(p, x), y)


examples(evaluated_at_bar, (_Y, _VALUES, _POINTS), (_Y[0, 0], _VALUES, 0.7), (_Y[0] + 0.5j, _VALUES, _Y[0] + 0.3j))


@pullback(summand_bar)
def summand_bar_pullback(p_dot, y_bar, p):
    """The tangent with zeros for the powers that the other polynomial has."""
    return summand_dot(p_dot, y_bar)


@cotangent_of(1)
def summand_dot(p_dot: Any, y: Any) -> Any:
    """The tangent of a sum y of polynomials for that of one of them."""
    coefficients_dot = np.atleast_1d(p_dot)
    return np.concatenate((np.zeros(len(y) - len(coefficients_dot), coefficients_dot.dtype), coefficients_dot))


@pullback(factor_bar)
def factor_bar_pullback(p_dot, y_bar, p, other):
    """The product with the other polynomial."""
    return factor_dot(p_dot, y_bar, p, other), ..., ...


@cotangent_of(1)
def factor_dot(p_dot: Any, y: Any, p: Any, other: Any) -> Any:
    """The tangent of a product y of polynomials for that of one of them."""
    used, by = np.trim_zeros(coefficients(p), "f"), np.trim_zeros(coefficients(other), "f")
    if not used.size or not by.size:
        return np.zeros_like(y)
    return np.convolve(np.atleast_1d(p_dot)[-used.size :], by)


examples(summand_bar, (_VALUES, _VALUES[:2]), (_VALUES, _VALUES), (_VALUES + 0.5j, _VALUES[:3] + 0.5j))
examples(factor_bar, (np.ones(5), _VALUES, _VALUES[:2]), (np.ones(4), np.array([0.0, 1.0, 2.0]), _VALUES[:3]))
