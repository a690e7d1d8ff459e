"""scipy.interpolate: cubic curves through points with given slopes, or with slopes that are chosen by the points around them.

Their coefficients are explicit functions of places, values and slopes, and all of these are differentiated. Where a slope is
chosen by cases, the derivative is that of the case; where none has one, as at points on a line, it is refused if it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import interpolate

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples, rrule
from microgradpy.rules.scipy.interpolate_fields import attribute_bar
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent, is_structural_zero


class Curve(NamedTuple):
    """The cotangents that those of a curve's coefficients give, in rows by point or by piece: of the values and slopes at the
    points, of the widths of the pieces, and of the slopes of the chords."""

    values: np.ndarray
    slopes: np.ndarray
    widths: np.ndarray
    chords: np.ndarray


@pullback(interpolate.CubicHermiteSpline)
def hermite_pullback(spline_bar, x, y, dydx, axis=0, extrapolate=None, *, spline):
    """c = (t / h, (m - d0) / h - t, d0, y0), t = (d0 + d1 - 2 m) / h, with the width h and the chord's slope m of a piece."""
    curve = curve_bars(spline_bar, spline, x, y, axis)
    x_bar, y_bar = points_bars(curve, spline_bar, spline, x, y, axis)
    return x_bar, y_bar, unbroadcast(as_values(curve.slopes, y, axis), dydx)


@pullback(interpolate.PchipInterpolator)
def pchip_pullback(spline_bar, x, y, axis=0, extrapolate=None, *, spline):
    """As CubicHermiteSpline, with slopes that are weighted harmonic means of those of the chords beside a point (F. N. Fritsch,
    J. Butland, SIAM J. Sci. Comput. 5, 1984, 300-304)."""
    return (*chosen_bars(spline_bar, spline, x, y, axis, PCHIP),)


@rrule.register(interpolate.Akima1DInterpolator)
def akima_rrule(x, y, axis=0, *, method="akima", extrapolate=None):
    """As CubicHermiteSpline, with slopes that are means of those of the chords beside a point, weighted by how much the slopes
    of the chords change on the other side (H. Akima, J. ACM 17, 1970, 589-602)."""
    kwargs = {} if extrapolate is None else {"extrapolate": extrapolate}  # of which the oldest versions do not know
    spline = interpolate.Akima1DInterpolator(x, y, axis, method=method, **kwargs)

    def akima_pullback(spline_bar):
        return NoTangent(), *chosen_bars(spline_bar, spline, x, y, axis, AKIMA[method])

    return spline, akima_pullback


class Choice(NamedTuple):
    """How slopes are chosen: the cotangents of widths and chords from those of the slopes, and which have no derivative."""

    bars: Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    undefined: Callable[[np.ndarray], np.ndarray]


def chosen_bars(spline_bar: Any, spline: Any, x: Any, y: Any, axis: int, choice: Choice) -> tuple[Any, Any]:
    """The cotangents of the places and values of a curve whose slopes are chosen by them."""
    curve = curve_bars(spline_bar, spline, x, y, axis)
    widths = np.diff(np.asarray(x, dtype=float))[:, None]
    chords = np.diff(as_table(y, axis), axis=0) / widths
    if np.iscomplexobj(chords):  # which SciPy refuses since 1.15
        unknown = not_implemented(f"a {type(spline).__name__} of complex values")
        return unknown, unknown
    if np.any(curve.slopes[choice.undefined(chords)] != 0.0):
        unknown = not_implemented(f"the points of a {type(spline).__name__} where they are on a line, and its slope has a kink")
        return unknown, unknown
    widths_bar, chords_bar = choice.bars(curve.slopes, widths, chords)
    curve = curve._replace(widths=curve.widths + widths_bar, chords=curve.chords + chords_bar)
    return points_bars(curve, spline_bar, spline, x, y, axis)


def as_table(y: Any, axis: int) -> np.ndarray:
    """Values as a table in double precision, with a row for each place."""
    moved = np.moveaxis(np.asarray(y), axis, 0)
    return np.reshape(moved, (len(moved), -1 if moved.size else 0)).astype(np.result_type(moved, float))


def as_values(table: np.ndarray, y: Any, axis: int) -> np.ndarray:
    """A table with a row for each place, in the order of the values."""
    return np.moveaxis(np.reshape(table, np.shape(np.moveaxis(np.asarray(y), axis, 0))), 0, axis)


def curve_bars(spline_bar: Any, spline: Any, x: Any, y: Any, axis: int) -> Curve:
    """What the cotangent of the coefficients gives, without that the slopes may depend on the points."""
    widths, table = np.diff(np.asarray(x, dtype=float))[:, None], as_table(y, axis)
    c = np.reshape(spline.c, (4, len(widths), table.shape[1]))
    c_bar = attribute_bar(spline_bar, spline, "c")
    c_bar = np.zeros_like(c) if is_structural_zero(c_bar) else np.reshape(c_bar, c.shape)
    turn = c[0] * widths
    turn_bar = c_bar[0] / widths - c_bar[1]
    ends_bar = turn_bar / widths
    slopes = np.zeros((len(table), table.shape[1]), c_bar.dtype)
    slopes[:-1] += c_bar[2] - c_bar[1] / widths + ends_bar
    slopes[1:] += ends_bar
    moved = c_bar[0] * conj(c[0]) + c_bar[1] * conj(c[1] + turn) + turn_bar * conj(turn)
    values = np.concatenate((c_bar[3], np.zeros_like(c_bar[3, :1])))
    return Curve(values, slopes, -np.real(moved) / widths, c_bar[1] / widths - 2.0 * ends_bar)


def points_bars(curve: Curve, spline_bar: Any, spline: Any, x: Any, y: Any, axis: int) -> tuple[Any, Any]:
    """The cotangents of places and values, of which the chords are."""
    widths = np.diff(np.asarray(x, dtype=float))[:, None]
    chords = np.diff(as_table(y, axis), axis=0) / widths
    rises_bar = curve.chords / widths
    widths_bar = np.sum(curve.widths - np.real(rises_bar * conj(chords)), axis=1)
    knots_bar = attribute_bar(spline_bar, spline, "x")
    x_bar = differences_bar(widths_bar) + (0.0 if is_structural_zero(knots_bar) else knots_bar)
    y_bar = curve.values + differences_bar(rises_bar)
    return unbroadcast(x_bar, x), unbroadcast(as_values(y_bar, y, axis), y)


def differences_bar(bar: np.ndarray) -> np.ndarray:
    """The cotangent of what the differences along the first axis are of."""
    none = np.zeros_like(bar[:1])
    return -np.diff(np.concatenate((none, bar, none)), axis=0)


def pchip_bars(bar: np.ndarray, widths: np.ndarray, chords: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cotangents of widths and chords. 1/d = (v/m0 + w/m1) / (v + w) between chords that both rise or both fall, and d = 0
    otherwise, where v = h0 + 2 h1 and w = 2 h0 + h1."""
    widths_bar, chords_bar = np.zeros_like(chords), np.zeros_like(chords)
    if len(chords) == 1:
        return widths_bar, bar[:1] + bar[1:]
    monotone = (np.sign(chords[:-1]) == np.sign(chords[1:])) & (chords[1:] != 0.0)
    before, after = np.where(monotone, chords[:-1], 1.0), np.where(monotone, chords[1:], 1.0)
    v, w = widths[:-1] + 2.0 * widths[1:], 2.0 * widths[:-1] + widths[1:]
    total = v / before + w / after
    mean = (v + w) / total
    inner_bar = np.where(monotone, bar[1:-1], 0.0)
    v_bar, w_bar = inner_bar * (1.0 - mean / before) / total, inner_bar * (1.0 - mean / after) / total
    widths_bar[:-1] += v_bar + 2.0 * w_bar
    widths_bar[1:] += 2.0 * v_bar + w_bar
    chords_bar[:-1] += inner_bar * (mean / before) * (v / (total * before))
    chords_bar[1:] += inner_bar * (mean / after) * (w / (total * after))
    for end, next_one in ((0, 1), (-1, -2)):
        _add_end_of_pchip(bar[end], (end, next_one), (widths, chords), (widths_bar, chords_bar))
    return widths_bar, chords_bar


def _add_end_of_pchip(bar: np.ndarray, places: tuple[int, int], of: Any, bars: Any) -> None:
    """Add what the slope at an end gives: d = ((2 h0 + h1) m0 - h0 m1) / (h0 + h1); 0 where that turns around the first chord,
    and no more than 3 m0 where the second one does."""
    (end, after), (widths_bar, chords_bar) = places, bars
    (h0, h1), (m0, m1) = of[0][list(places)], of[1][list(places)]
    d = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    is_flat = np.sign(d) != np.sign(m0)
    is_steep = ~is_flat & (np.sign(m0) != np.sign(m1)) & (np.abs(d) > 3.0 * np.abs(m0))
    share = np.where(is_flat | is_steep, 0.0, bar / (h0 + h1))
    widths_bar[end] += share * (2.0 * m0 - m1 - d)
    widths_bar[after] += share * (m0 - d)
    chords_bar[end] += share * (2.0 * h0 + h1) + np.where(is_steep, 3.0 * bar, 0.0)
    chords_bar[after] -= share * h0


def without_pchip(chords: np.ndarray) -> np.ndarray:
    """Which slopes have no derivative: at the ends, those beside two chords without a slope."""
    found = np.zeros((len(chords) + 1, chords.shape[1]), bool)
    if len(chords) > 1:
        found[0], found[-1] = np.all(chords[:2] == 0.0, axis=0), np.all(chords[-2:] == 0.0, axis=0)
    return found


_NEGLIGIBLE = 1e-9
"""SciPy takes weights for none that are so much smaller than the largest ones. So are those here that may be rounding alone."""


def akima_weights(m: np.ndarray, mixed: float) -> tuple[np.ndarray, np.ndarray]:
    """The weights by the slopes of the chords, |m1 - m0| + mixed * |m1 + m0|, and which points have some."""
    weights = np.abs(np.diff(m, axis=0)) + mixed * np.abs(m[1:] + m[:-1])
    both = weights[2:] + weights[:-2]
    return weights, both > _NEGLIGIBLE * max(np.max(both, initial=0.0), np.max(np.abs(m), initial=0.0))


def without_akima(chords: np.ndarray, mixed: float) -> np.ndarray:
    """Which slopes have no derivative: those without weights."""
    if len(chords) == 1:
        return np.zeros((2, chords.shape[1]), bool)
    return ~akima_weights(_continued(chords), mixed)[1]


def akima_bars(bar: np.ndarray, widths: np.ndarray, chords: np.ndarray, mixed: float) -> tuple[np.ndarray, np.ndarray]:
    """The cotangents of widths and chords. d = m1 + (m2 - m1) w1 / (w1 + w3), with weights w1 by m0, m1 and w3 by m2, m3."""
    if len(chords) == 1:
        return np.zeros_like(chords), bar[:1] + bar[1:]
    m = _continued(chords)
    falls, sums = np.diff(m, axis=0), m[1:] + m[:-1]
    weights, is_mean = akima_weights(m, mixed)
    both = np.where(is_mean, weights[2:] + weights[:-2], 1.0)
    part = weights[:-2] / both
    part_bar = bar * (m[2:-1] - m[1:-2]) / both
    weights_bar = np.zeros_like(weights)
    weights_bar[:-2] += part_bar * (1.0 - part)
    weights_bar[2:] -= part_bar * part
    falls_bar, sums_bar = weights_bar * np.sign(falls), mixed * weights_bar * np.sign(sums)
    m_bar = np.zeros_like(m)
    m_bar[1:] += sums_bar + falls_bar
    m_bar[:-1] += sums_bar - falls_bar
    m_bar[1:-2] += bar * (1.0 - part)
    m_bar[2:-1] += bar * part
    return np.zeros_like(chords), _continued_bar(m_bar)


def _continued(chords: np.ndarray) -> np.ndarray:
    """The slopes of chords with two more at either end, on a straight line with the last two."""
    first, last = chords[:1] - chords[1:2], chords[-1:] - chords[-2:-1]
    return np.concatenate((chords[:1] + 2 * first, chords[:1] + first, chords, chords[-1:] + last, chords[-1:] + 2 * last))


def _continued_bar(m_bar: np.ndarray) -> np.ndarray:
    """The cotangent of the chords, from that of those with two more at either end."""
    bar = np.array(m_bar[2:-2])
    for end, after, outer, outermost in ((0, 1, 1, 0), (-1, -2, -2, -1)):
        bar[end] += 2.0 * m_bar[outer] + 3.0 * m_bar[outermost]
        bar[after] -= m_bar[outer] + 2.0 * m_bar[outermost]
    return bar


PCHIP = Choice(pchip_bars, without_pchip)
AKIMA = {
    method: Choice(partial(akima_bars, mixed=mixed), partial(without_akima, mixed=mixed))
    for method, mixed in (("akima", 0.0), ("makima", 0.5))
}
"""By its method."""

_PLACES = np.array([0.0, 0.7, 1.1, 2.0, 2.6, 3.5])
_RISING = np.array([0.3, 0.5, 1.7, 1.9, 2.8, 3.0])
_TURNING = np.array([0.3, -1.2, 0.8, 1.5, -0.4, 0.1])
_TABLE = np.sin(np.arange(18.0) * 1.7).reshape(3, 6)
for _values in (_RISING, _TURNING, _RISING.astype(np.float32)):
    examples(interpolate.PchipInterpolator, (_PLACES, _values))
    examples(interpolate.Akima1DInterpolator, (_PLACES, _values))
    examples(interpolate.Akima1DInterpolator, (_PLACES, _values), method="makima")
    examples(interpolate.CubicHermiteSpline, (_PLACES, _values, _RISING[::-1]))
_FEW = ((_PLACES[:2], _RISING[:2]), (_PLACES[:3], _RISING[:3]))
_DEEP = np.stack((_TABLE, _TABLE**2), axis=2)
_STEEP = (_PLACES[:4], np.array([0.0, 1.0, -9.0, -9.2]))  # at the first end the slope is cut, at the last one it is flat
examples(interpolate.PchipInterpolator, (_PLACES, _TABLE, 1, True), *_FEW, _STEEP)
examples(interpolate.PchipInterpolator, (_PLACES[::-1] * -1.0, _DEEP, 1, "periodic"))
examples(interpolate.Akima1DInterpolator, (_PLACES, _TABLE, 1), _FEW[1], (_PLACES, _DEEP, 1))
examples(interpolate.Akima1DInterpolator, (_PLACES, _TABLE, 1), method="makima")
examples(interpolate.CubicHermiteSpline, (_PLACES, _TABLE, _TABLE**2, 1), (_PLACES, _TURNING + 1j * _RISING, _RISING, 0, False))
