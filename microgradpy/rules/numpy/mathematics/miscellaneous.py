"""Miscellaneous mathematical functions: roots, signs, convolution, interpolation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import examples, non_differentiable, rrule
from microgradpy.tangents.arithmetic import conj, divide, reciprocal_or_zero, unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent

_VECTOR = np.array([0.3, -0.7, 0.9])
_POSITIVE = np.array([[0.3, 1.7], [2.9, 0.8]])
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j])
_ANYWHERE = ((0.6,), (-0.4,), (_VECTOR,), (_POSITIVE,), (_COMPLEX,))
_REAL = _ANYWHERE[:-1]
_ABOVE_ZERO = ((0.6,), (_POSITIVE,), (_POSITIVE[0],), (_COMPLEX,))


@derivative(np.sqrt)
def sqrt_derivative(x, *, z):
    """1 / (2 z), infinite at 0."""
    return divide(0.5, z)


examples(np.sqrt, *_ABOVE_ZERO)


@derivative(np.cbrt)
def cbrt_derivative(x, *, z):
    """1 / (3 z^2), infinite at 0."""
    return divide(1.0, 3.0 * z * z)


examples(np.cbrt, *_REAL)


@derivative(np.square)
def square_derivative(x):
    """2 x."""
    return 2.0 * x


examples(np.square, *_ANYWHERE)


@pullback(np.absolute)
def absolute_pullback(z_bar, x):
    """x_bar = z_bar * sign(x), where sign(x) is x / |x| for complex x, and 0 at 0."""
    return z_bar * np.sign(x)


examples(np.absolute, *_ANYWHERE)


@derivative(np.fabs)
def fabs_derivative(x):
    """sign(x), 0 at 0."""
    return np.sign(x)


examples(np.fabs, *_REAL)


@pullback(np.sign)
def sign_pullback(z_bar, x):
    """Constant for real x; for complex x the direction x / |x|, which turns with x."""
    return sign_bar(z_bar, x)


@cotangent_of(1)
def sign_bar(z_bar: Any, x: Any) -> Any:
    """The cotangent of x under z = x / |x|: the part of z_bar across z, over |x|; zero for real x and at 0."""
    if not np.iscomplexobj(x):
        return z_bar * 0.0
    z = np.sign(x)
    across = z_bar - z * np.real(np.conj(z) * z_bar)
    return across * reciprocal_or_zero(np.absolute(x))


examples(np.sign, *_ANYWHERE)


@pullback(np.nan_to_num)
def nan_to_num_pullback(z_bar, x):
    """x_bar = z_bar where x is finite, else 0."""
    return np.where(np.isfinite(x), z_bar, 0.0)


examples(np.nan_to_num, *_ANYWHERE)

_ROW = np.array([0.4, -1.3, 2.2])
_COLUMN = np.array([[0.7], [-0.3]])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_REAL_PAIRS = ((1.7, 0.6), (_ROW, 0.6), (1.7, _TABLE), (_ROW, _COLUMN), (_TABLE, _ROW), (np.array(1.7), _ROW))


@pullback(np.heaviside)
def heaviside_pullback(z_bar, x1, x2):
    """The value x2 at the jump has a derivative; that of x1 is zero."""
    x1_bar = unbroadcast(np.zeros_like(z_bar), x1)
    return x1_bar, unbroadcast(np.where(np.equal(x1, 0.0), z_bar, 0.0), x2)


examples(np.heaviside, *_REAL_PAIRS)
non_differentiable(np.isscalar)

_LINE = np.array([0.7, -1.4, 2.2, 0.1])
_SHORT = np.array([1.3, 0.4, -0.8])
_GRID = np.sin(np.arange(12.0) * 1.7).reshape(3, 4)
_PLANE = _GRID + 1j * _GRID[::-1] ** 2


@pullback(np.convolve)
def convolve_pullback(z_bar, a, v, mode="full"):
    """z_k = sum(a_i v_(k-i)): a_bar_i = sum(z_bar_k conj(v_(k-i))), and the same for v."""
    return convolved_bar(z_bar, a, v), convolved_bar(z_bar, v, a)


@cotangent_of(1)
def convolved_bar(z_bar: Any, x: Any, other: Any) -> Any:
    """The cotangent of x under its convolution with another vector."""
    whole = whole_convolution(z_bar, np.size(x) + np.size(other) - 1, False)
    return unbroadcast(np.reshape(np.correlate(whole, np.ravel(other), "valid"), np.shape(x)), x)


def whole_convolution(z_bar: np.ndarray, length: int, later: bool) -> np.ndarray:
    """z_bar with the zeros that belong to the entries which other modes leave out at both ends; `later` says that the one
    more, where their number is odd, was left out at the start."""
    left_out = length - len(z_bar)
    before = (left_out + later) // 2
    return np.pad(z_bar, (before, left_out - before))


_LINES = (
    (_LINE, _SHORT),
    (_SHORT, _LINE),
    (_LINE, _SHORT[:2]),
    (_SHORT[:2], np.tile(_LINE, 2)),
    (_LINE, _LINE + 0.5),
    (_PLANE[0], _SHORT),
    (_SHORT, _PLANE[1]),
    (_PLANE[0], _PLANE[1, :2]),
    (_PLANE[0, :2], _PLANE[1]),
    (_LINE, _SHORT[:1]),
    ([0.5, 1.5], [2.0, 3.0, 4.0]),
)
for _mode in ("full", "same", "valid"):
    examples(np.convolve, *_LINES, mode=_mode)
    examples(np.correlate, *_LINES, mode=_mode)
examples(np.convolve, _LINES[0], (0.5, _SHORT), (0.5, 2.0), (_LINE, _SHORT, 1))


@pullback(np.interp)
def interp_pullback(y_bar, x, xp, fp, left=None, right=None, period=None):
    """y = (1 - t) fp_i + t fp_(i+1) with t = (x - xp_i) / (xp_(i+1) - xp_i): with the slope s of that interval x_bar = s y_bar,
    and (1 - t) and t parts of y_bar go to the two values, as of -s y_bar to their places."""
    return (
        point_bar(y_bar, x, xp, fp, period),
        table_places_bar(y_bar, xp, fp, x, period),
        table_values_bar(y_bar, fp, xp, x, left, right, period),
        outside_bar(y_bar, left, np.less(x, np.min(xp)), period),
        outside_bar(y_bar, right, np.greater(x, np.max(xp)), period),
        period_bar(y_bar, period, x, xp, fp),
    )


class Segments(NamedTuple):
    """Where points lie in a table."""

    low: np.ndarray  # the number of the place before each point
    high: np.ndarray
    share: np.ndarray  # of the value at `high`
    slope: np.ndarray
    inside: np.ndarray
    order: np.ndarray | None  # of a table that is repeated, and has its last entry before it and its first behind it
    size: int


def segments(x: Any, xp: Any, fp: Any, period: Any) -> Segments:
    """Where points lie in the table of np.interp."""
    x, xp, order = np.asarray(x, float), np.asarray(xp, float), None
    fp = np.asarray(fp, complex if np.iscomplexobj(fp) else float)
    if period is not None:
        period = abs(period)
        x, xp = x % period, xp % period
        order = np.argsort(xp)
        around = np.concatenate((order[-1:], order, order[:1]))
        xp, fp = xp[around], fp[around]
        xp[0], xp[-1] = xp[0] - period, xp[-1] + period
    if np.any(xp[1:] < xp[:-1]):
        # Which interval NumPy finds then depends on where it searched before.
        raise MissingRuleError("np.interp of places that do not increase", None, "Sort them and their values first.")
    low = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, max(len(xp) - 2, 0))
    high = np.minimum(low + 1, len(xp) - 1)
    width = xp[high] - xp[low]
    share = np.where(width > 0.0, divide(x - xp[low], width), 1.0)
    slope = np.where(width > 0.0, divide(fp[high] - fp[low], width), 0.0)
    first, last = (xp[0], xp[-1]) if len(xp) else (0.0, 0.0)  # NumPy 2.5 takes an empty table for no points
    return Segments(low, high, share, slope, (x >= first) & (x <= last), order, len(xp))


def _slopes(y_bar: Any, at: Segments) -> np.ndarray:
    """The cotangents of points, as places are counted in the table."""
    with np.errstate(all="ignore"):
        return np.where(at.inside, np.real(y_bar * conj(at.slope)), 0.0)


def _collected(d: Any, at: Segments) -> np.ndarray:
    """For each entry of the table the sum of its shares of d, which has an item for each point inside."""
    total = np.zeros(at.size, np.result_type(d))
    with np.errstate(all="ignore"):
        np.add.at(total, at.low, np.where(at.inside, (1.0 - at.share) * d, 0.0))
        np.add.at(total, at.high, np.where(at.inside, at.share * d, 0.0))
    return total


def _folded(total: np.ndarray, at: Segments) -> np.ndarray:
    """The cotangent of a table from that of the same with one entry more at both ends, in the order of the table."""
    if at.order is None:
        return total
    inner = total[1:-1].copy()
    inner[-1] += total[0]
    inner[0] += total[-1]
    return inner[np.argsort(at.order)]


@cotangent_of(1)
def point_bar(y_bar: Any, x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """The cotangent of the points at which a table is interpolated."""
    return unbroadcast(_slopes(y_bar, segments(x, xp, fp, period)), x)


@cotangent_of(1)
def table_places_bar(y_bar: Any, xp: Any, fp: Any, x: Any, period: Any) -> Any:
    """The cotangent of the places of a table."""
    at = segments(x, xp, fp, period)
    return unbroadcast(_folded(_collected(-_slopes(y_bar, at), at), at), xp)


@cotangent_of(1)
def table_values_bar(y_bar: Any, fp: Any, xp: Any, x: Any, left: Any, right: Any, period: Any) -> Any:
    """The cotangent of the values of a table: those at the ends stand for what is outside, if no others were given."""
    at = segments(x, xp, fp, period)
    total = _collected(np.asarray(y_bar), at)
    if period is None and left is None and len(xp):
        total[0] += np.sum(np.where(np.less(x, xp[0]), y_bar, 0.0))
    if period is None and right is None and len(xp):
        total[-1] += np.sum(np.where(np.greater(x, xp[-1]), y_bar, 0.0))
    return unbroadcast(_folded(total, at), fp)


@cotangent_of(1)
def outside_bar(y_bar: Any, value: Any, outside: Any, period: Any) -> Any:
    """The cotangent of the value on one side of a table."""
    if value is None:
        return None
    return unbroadcast(np.sum(np.where(outside, y_bar if period is None else 0.0, 0.0)), value)


@cotangent_of(1)
def period_bar(y_bar: Any, period: Any, x: Any, xp: Any, fp: Any) -> Any:
    """The cotangent of the period: points and places are whole numbers of periods off, and the table is repeated."""
    if period is None:
        return None
    at, size = segments(x, xp, fp, period), abs(period)
    slopes = _slopes(y_bar, at)
    places = _collected(-slopes, at)
    with np.errstate(all="ignore"):
        turns = np.sum(slopes * np.floor_divide(x, size)) + np.sum(_folded(places, at) * np.floor_divide(xp, size))
        return unbroadcast(np.sign(period) * (places[-1] - places[0] - turns), period)


_PLACES = np.array([-1.0, 0.3, 0.8, 2.5])
_VALUES = np.array([0.5, -1.5, 2.0, 0.7])
_POINTS = np.array([[-1.7, -0.2, 0.5], [1.1, 2.2, 3.1]])
examples(np.interp, (0.5, _PLACES, _VALUES), (_POINTS, _PLACES, _VALUES), (_POINTS[0], _PLACES, _VALUES * (1.0 + 0.5j)))
examples(np.interp, (_POINTS, _PLACES, _VALUES, 0.5, -0.3), (_POINTS, _PLACES, _VALUES, None, 1.5), (-3.0, _PLACES, _VALUES))
examples(np.interp, ([0.5, 4.0], [0.0, 1.0], [2.0, 3.5], 0.5), (_POINTS[:, :0], _PLACES, _VALUES), (0.5, [1.0], [2.0]))
examples(np.interp, (_POINTS, _PLACES, _VALUES, None, None, 4.3), (9.1, _PLACES[::-1], _VALUES * 1j, 0.5, None, -3.7))

_NUMBERS = np.array([0.7, -1.4, 2.2])


@rrule.register(np.nan_to_num, options=True)
def nan_to_num_with_options_rrule(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """x_bar = y_bar where x is finite; what stands for NaN gets the sum of y_bar at its places."""
    if not copy or np.iscomplexobj(x):
        what = "np.nan_to_num in place, or with values for complex numbers"
        raise MissingRuleError(what, None, "Use np.where(np.isnan(x), ...).")
    y = np.nan_to_num(x, copy, nan, posinf, neginf)

    def nan_to_num_with_options_pullback(y_bar):
        places = (np.isnan(x), np.isposinf(x), np.isneginf(x))
        bars = (
            NoTangent() if value is None else unbroadcast(np.where(place, y_bar, 0.0), value)
            for value, place in zip((nan, posinf, neginf), places, strict=True)
        )
        return NoTangent(), np.where(np.isfinite(x), y_bar, 0.0), NoTangent(), *bars

    return y, nan_to_num_with_options_pullback


examples(np.nan_to_num, (_NUMBERS, True, 1.0), (np.array([np.nan, 1.5, np.inf, -np.inf]), True, 1.0, 2.0, 3.0))
