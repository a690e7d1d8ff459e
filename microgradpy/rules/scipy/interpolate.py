"""scipy.interpolate: splines and piecewise polynomials, by where they are evaluated and by the values they go through.

A spline is an object, whose cotangent is a Tangent with those of its coefficients and knots. The coefficients depend linearly
on the values; how those of a spline through given values depend on the places of the values is not known, and refused if it is
needed. Interpolation on grids and by straight lines is in `interpolate_grid`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import interpolate

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples, rrule
from microgradpy.rules.scipy import interpolate_grid as interpolate_grid
from microgradpy.rules.scipy import interpolate_hermite as interpolate_hermite
from microgradpy.rules.scipy import interpolate_points as interpolate_points
from microgradpy.rules.scipy.interpolate_fields import attribute_bar, fields_bar
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent, Tangent, is_structural_zero


@pullback(interpolate.PPoly.__call__)
def polynomial_call_pullback(y_bar, self, x, nu=0, extrapolate=None, *, y):
    """y = sum(c_k (x - x_i)^k): x_bar = y_bar * y', and the cotangents of c and of x_i are those of the polynomial."""
    return polynomial_bar(y_bar, self, x, nu, extrapolate), place_bar(y_bar, self, x, nu, extrapolate)


@pullback(interpolate.BSpline.__call__)
def spline_call_pullback(y_bar, self, x, nu=0, extrapolate=None, *, y):
    """y = sum(c_j b_j(x)): x_bar = y_bar * y', c_bar_j = sum(y_bar * b_j(x))."""
    return spline_bar(y_bar, self, x, nu, extrapolate), place_bar(y_bar, self, x, nu, extrapolate)


@cotangent_of(2)
def place_bar(y_bar: Any, spline: Any, x: Any, nu: int, extrapolate: Any) -> Any:
    """The cotangent of the places where a spline is evaluated."""
    slopes = by_place(spline(x, nu + 1, extrapolate), spline, x)
    return unbroadcast(np.reshape(np.sum(by_place(y_bar, spline, x) * conj(slopes), axis=-1), np.shape(x)), x)


def by_place(y: Any, spline: Any, x: Any) -> np.ndarray:
    """What a spline gives, as a table with a row for each place."""
    rank = np.ndim(x)
    moved = np.moveaxis(np.asarray(y), range(spline.axis, spline.axis + rank), range(rank))
    return np.reshape(moved, (np.size(x), -1 if moved.size else math.prod(moved.shape[rank:])))


def polynomial_bar(y_bar: Any, spline: Any, x: Any, nu: int, extrapolate: Any) -> Tangent:
    """The cotangent of a piecewise polynomial."""
    if not isinstance(spline, interpolate.PPoly):  # BPoly, whose call was the same function before SciPy 1.18
        unknown = not_implemented(f"the coefficients of {type(spline).__name__}")
        return fields_bar(spline, c=unknown, x=unknown)
    knots, c = spline.x, spline.c
    if knots[0] > knots[-1]:
        raise MissingRuleError("a piecewise polynomial over falling breakpoints", None, "Turn them around.")
    extrapolate = spline.extrapolate if extrapolate is None else extrapolate
    places, bar = np.ravel(np.asarray(x, dtype=float)), by_place(y_bar, spline, x)
    slopes = by_place(spline(x, nu + 1, extrapolate), spline, x)
    turns = np.zeros(places.shape)
    if isinstance(extrapolate, str):
        turns = np.floor((places - knots[0]) / (knots[-1] - knots[0]))
        places = places - turns * (knots[-1] - knots[0])
    if not extrapolate:  # NaN beyond the ends, whatever the coefficients are
        inside = (places >= knots[0]) & (places <= knots[-1])
        places, bar, slopes, turns = places[inside], bar[inside], slopes[inside], turns[inside]
    piece = np.clip(np.searchsorted(knots, places, side="right") - 1, 0, len(knots) - 2)
    c_bar = np.zeros((c.shape[0], c.shape[1], bar.shape[1]), bar.dtype)
    for row in range(c.shape[0] - nu):
        power = c.shape[0] - 1 - row
        factor = math.perm(power, nu) * (places - knots[piece]) ** (power - nu)
        np.add.at(c_bar[row], piece, factor[:, None] * bar)
    knots_bar = np.zeros(len(knots))
    moved = np.real(np.sum(bar * conj(slopes), axis=-1))
    np.add.at(knots_bar, piece, -moved)
    knots_bar[0] += np.sum(moved * turns)
    knots_bar[-1] -= np.sum(moved * turns)
    coefficients_bar = unbroadcast(np.reshape(c_bar, c.shape), c)
    return fields_bar(spline, c=coefficients_bar, x=knots_bar)


def spline_bar(y_bar: Any, spline: Any, x: Any, nu: int, extrapolate: Any) -> Tangent:
    """The cotangent of a B-spline."""
    c = spline.c
    basis = interpolate.BSpline(spline.t, np.eye(c.shape[0]), spline.k, spline.extrapolate)(x, nu, extrapolate)
    table = np.nan_to_num(np.reshape(basis, (np.size(x), c.shape[0])))  # NaN beyond the ends, whatever the coefficients are
    bar = by_place(y_bar, spline, x)
    c_bar = unbroadcast(np.reshape(table.T @ bar, c.shape), c)
    return fields_bar(spline, c=c_bar, t=knots_bar(bar, spline, x, nu, extrapolate))


def knots_bar(bar: np.ndarray, spline: Any, x: Any, nu: int, extrapolate: Any) -> Any:
    """The cotangent of the knots of a B-spline. A divided difference, differentiated for a node t_j, is that with t_j twice. So
    the derivative of a spline for t_j is a spline over the knots with t_j twice, which has the coefficients
    (c_(i-1) - c_i) / (t_(i+k) - t_i) for i from j - k to j (C. de Boor, "A Practical Guide to Splines", 2001, chapter 9)."""
    t, k = spline.t, spline.k
    count = len(t) - k - 1
    places = np.ravel(np.asarray(x, dtype=float))
    extrapolate = spline.extrapolate if extrapolate is None else extrapolate
    if isinstance(extrapolate, str) or np.any((places < t[k]) | (places > t[count])):
        return not_implemented("the knots of a spline beyond its ends")
    c = np.reshape(spline.c[:count], (count, -1))
    falls = -np.diff(c, axis=0, prepend=np.zeros_like(c[:1]), append=np.zeros_like(c[:1]))
    widths = t[k:] - t[: len(t) - k]
    falls = falls / np.where(widths == 0.0, np.inf, widths)[:, None]
    found = np.zeros(len(t))
    for j in range(len(t)):
        chosen = np.zeros_like(falls)
        used = slice(max(j - k, 0), min(j, count) + 1)
        chosen[used] = falls[used]
        moved = interpolate.BSpline(np.insert(t, j, t[j]), chosen, k)(places, nu)
        found[j] = np.real(np.sum(bar * conj(moved)))
    return found


@rrule.register(interpolate.CubicSpline)
def cubic_spline_rrule(x, y, axis=0, bc_type="not-a-knot", extrapolate=None):
    """The coefficients depend linearly on y: y_bar is c_bar times those of the splines through unit vectors."""
    spline = interpolate.CubicSpline(x, y, axis, bc_type, extrapolate)

    def cubic_spline_pullback(spline_bar):
        x_bar = not_implemented("the places of the values of a spline")
        ends_bar = NoTangent() if isinstance(bc_type, str) else not_implemented("the derivatives at the ends of a spline")
        c_bar = attribute_bar(spline_bar, spline, "c")
        if is_structural_zero(c_bar):
            return NoTangent(), x_bar, NoTangent(), NoTangent(), ends_bar
        units = interpolate.CubicSpline(x, np.eye(len(x)), 0, without_values(bc_type, len(x)))
        y_bar = np.tensordot(units.c, c_bar, ([0, 1], [0, 1]))
        return NoTangent(), x_bar, unbroadcast(np.moveaxis(y_bar, 0, axis), y), NoTangent(), ends_bar

    return spline, cubic_spline_pullback


def without_values(bc_type: Any, count: int) -> Any:
    """The conditions at the ends of a spline with zeros for the values of derivatives."""
    if isinstance(bc_type, str):
        conditions: Any = (bc_type,)
    else:
        conditions = tuple(end if isinstance(end, str) else (end[0], np.zeros(count)) for end in bc_type)
    if "periodic" in [end for end in conditions if isinstance(end, str)]:
        raise MissingRuleError(
            "the values of a periodic spline", None, "Repeat the values beyond both ends, and use another condition."
        )
    return conditions[0] if isinstance(bc_type, str) else conditions


@rrule.register(interpolate.make_interp_spline)
def make_interp_spline_rrule(x, y, k=3, t=None, bc_type=None, axis=0, check_finite=True):
    """As CubicSpline."""
    spline = interpolate.make_interp_spline(x, y, k, t, bc_type, axis, check_finite)

    def make_interp_spline_pullback(spline_bar):
        x_bar = not_implemented("the places of the values of a spline")
        c_bar = attribute_bar(spline_bar, spline, "c")
        if is_structural_zero(c_bar):
            return NoTangent(), x_bar
        if bc_type is not None and not isinstance(bc_type, str):
            raise MissingRuleError("make_interp_spline with derivatives at the ends", None, "Use CubicSpline.")
        units = interpolate.make_interp_spline(x, np.eye(len(x)), k, t, bc_type and without_values(bc_type, len(x)))
        y_bar = np.tensordot(units.c, c_bar, ([0], [0]))
        return NoTangent(), x_bar, unbroadcast(np.moveaxis(y_bar, 0, axis), y)

    return spline, make_interp_spline_pullback


@pullback(interpolate.BSpline)
def spline_pullback(spline_bar, t, c, k, extrapolate=True, axis=0, *, spline):
    """The object holds its coefficients, with the axis of the spline in front."""
    c_bar = attribute_bar(spline_bar, spline, "c")
    if not is_structural_zero(c_bar):
        c_bar = unbroadcast(np.moveaxis(c_bar, 0, axis), c)
    return attribute_bar(spline_bar, spline, "t"), c_bar


@pullback(interpolate.PPoly)
def polynomial_pullback(polynomial_bar, c, x, extrapolate=None, axis=0, *, polynomial):
    """The object holds its coefficients, with the axes of powers and pieces in front."""
    c_bar = attribute_bar(polynomial_bar, polynomial, "c")
    if not is_structural_zero(c_bar):
        c_bar = unbroadcast(np.moveaxis(c_bar, (0, 1), (axis, axis + 1)), c)
    return c_bar, attribute_bar(polynomial_bar, polynomial, "x")


_PLACES = np.array([0.0, 0.7, 1.1, 2.0, 2.6])
_VALUES = np.array([0.3, -1.2, 0.8, 1.5, -0.4])
_TABLE = np.sin(np.arange(15.0) * 1.7).reshape(3, 5)
_WHERE = np.array([[0.2, 0.9, 1.7], [2.3, -0.4, 2.9]])
_CUBIC, _ALONG = interpolate.CubicSpline(_PLACES, _VALUES), interpolate.CubicSpline(_PLACES, _TABLE, 1)
for _curve in (_CUBIC, _ALONG, interpolate.PchipInterpolator(_PLACES, _VALUES)):
    examples(interpolate.PPoly.__call__, (_curve, 0.9), (_curve, _WHERE), (_curve, _WHERE[0], 1), (_curve, _WHERE, 0, True))
examples(interpolate.PPoly.__call__, (_CUBIC, _WHERE[0], 0, False), (_CUBIC, _WHERE, 0, "periodic"), (_CUBIC, [0.3, 1.9]))
_WHOLE = [0, 1, 3, 4, 6]
examples(interpolate.CubicSpline, (_WHOLE, _VALUES), (_WHOLE, _TABLE, 1, "natural"), (_WHOLE, _VALUES + 0.5j, 0, "clamped"))
examples(interpolate.CubicSpline, (_WHOLE, _VALUES, 0, ((1, 2), "not-a-knot")), (_WHOLE[:2], _VALUES[:2]))
examples(interpolate.make_interp_spline, (_WHOLE, _VALUES), (_WHOLE, _TABLE, 3, None, "natural", 1), (_WHOLE, _VALUES, 1))
examples(interpolate.BSpline, ([0, 0, 0, 1, 3, 4, 4, 4], _VALUES, 2), ([0, 0, 0, 1, 3, 4, 4, 4], _TABLE, 2, False, 1))
_KNOTS = np.array([0.0, 0.3, 0.9, 1.4, 2.0, 2.7, 3.1, 3.6])
_SPLINES = [interpolate.BSpline(_KNOTS, _VALUES, 2), interpolate.BSpline(_KNOTS, _TABLE, 2, False, 1)]
_INSIDE = np.array([[1.0, 1.7, 2.5], [2.3, 0.95, 1.9]])
examples(interpolate.BSpline.__call__, (_SPLINES[0], 1.2), (_SPLINES[0], _INSIDE), (_SPLINES[1], _INSIDE[0]))
examples(interpolate.BSpline.__call__, (_SPLINES[0], _INSIDE, 1), (_SPLINES[1], _INSIDE))
examples(interpolate.BSpline, (_KNOTS, _VALUES, 2))
examples(interpolate.PPoly, (_TABLE[:, :4], _PLACES), (np.arange(24.0).reshape(2, 3, 4), _PLACES, False, 1))
