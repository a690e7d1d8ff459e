"""NumPy's functions of samples along a line: linear interpolation, differences for derivatives, and phases made continuous.

At a place of its table np.interp has two slopes: taken is that of the interval which starts there, and of the last one at the
end. Outside of the table the slope is 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.indexing import diff_bar
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.tangents.arithmetic import conj, divide, unbroadcast
from microgradpy.tangents.casts import in_precision_of
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent, is_structural_zero


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


class _Segments(NamedTuple):
    """Where points lie in a table."""

    low: np.ndarray  # the number of the place before each point
    high: np.ndarray
    share: np.ndarray  # of the value at `high`
    slope: np.ndarray
    inside: np.ndarray
    order: np.ndarray | None  # of a table that is repeated, and has its last entry before it and its first behind it
    size: int


def _segments(x: Any, xp: Any, fp: Any, period: Any) -> _Segments:
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
    return _Segments(low, high, share, slope, (x >= xp[0]) & (x <= xp[-1]), order, len(xp))


def _slopes(y_bar: Any, at: _Segments) -> np.ndarray:
    """The cotangents of points, as places are counted in the table."""
    with np.errstate(all="ignore"):
        return np.where(at.inside, np.real(y_bar * conj(at.slope)), 0.0)


def _collected(d: Any, at: _Segments) -> np.ndarray:
    """For each entry of the table the sum of its shares of d, which has an item for each point inside."""
    total = np.zeros(at.size, np.result_type(d))
    with np.errstate(all="ignore"):
        np.add.at(total, at.low, np.where(at.inside, (1.0 - at.share) * d, 0.0))
        np.add.at(total, at.high, np.where(at.inside, at.share * d, 0.0))
    return total


def _folded(total: np.ndarray, at: _Segments) -> np.ndarray:
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
    return unbroadcast(_slopes(y_bar, _segments(x, xp, fp, period)), x)


@cotangent_of(1)
def table_places_bar(y_bar: Any, xp: Any, fp: Any, x: Any, period: Any) -> Any:
    """The cotangent of the places of a table."""
    at = _segments(x, xp, fp, period)
    return unbroadcast(_folded(_collected(-_slopes(y_bar, at), at), at), xp)


@cotangent_of(1)
def table_values_bar(y_bar: Any, fp: Any, xp: Any, x: Any, left: Any, right: Any, period: Any) -> Any:
    """The cotangent of the values of a table: those at the ends stand for what is outside, if no others were given."""
    at = _segments(x, xp, fp, period)
    total = _collected(np.asarray(y_bar), at)
    if period is None and left is None:
        total[0] += np.sum(np.where(np.less(x, xp[0]), y_bar, 0.0))
    if period is None and right is None:
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
    at, size = _segments(x, xp, fp, period), abs(period)
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


@pullback(np.unwrap)
def unwrap_pullback(y_bar, p, discont=None, axis=-1, period=2.0 * np.pi, *, y):
    """y = p + whole numbers of periods: p_bar = y_bar, period_bar = sum(y_bar * (y - p) / period)."""
    return unbroadcast(y_bar, p), NoTangent(), NoTangent(), unbroadcast(y_bar * (y - p) / period, period)


_PHASES = np.array([[0.5, 4.2, 9.7], [-3.0, 3.1, 0.3]])
examples(np.unwrap, (_PHASES[0],), (_PHASES,), (_PHASES, 4.0), (_PHASES, None, 0), (_PHASES[:, :0],), ([0.5, 6.0],))
examples(np.unwrap, (_PHASES, None, -1), period=2.5)


@rrule.register(np.gradient)
def gradient_rrule(f, *varargs, axis=None, edge_order=1):
    """Every entry is (1 - w) of one slope between neighbours and w of the next one, as they are apart."""

    def gradient_pullback(y_bar):
        return NoTangent(), *gradient_bars(y_bar, f, varargs, axis, edge_order)

    return np.gradient(f, *varargs, axis=axis, edge_order=edge_order), gradient_pullback


def gradient_bars(y_bar: Any, f: Any, spacings: tuple[Any, ...], axis: Any, edge_order: int) -> tuple[Any, ...]:
    """The cotangents of f and of the distances or places that were given."""
    axes = range(np.ndim(f)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    parts = (y_bar,) if len(axes) == 1 else y_bar
    given = spacings if len(spacings) == len(axes) else (spacings or (1.0,)) * len(axes)
    f_bar: Any = 0.0
    bars: list[Any] = [0.0] * len(given)
    for number, (part, along) in enumerate(zip(parts, axes, strict=True)):
        if not is_structural_zero(part):
            with np.errstate(all="ignore"):
                moved, bars[number] = _gradient_along(part, f, given[number], along, edge_order)
            f_bar = f_bar + moved
    if len(spacings) < len(bars):
        bars = [sum(bars)] * len(spacings)
    return unbroadcast(f_bar, f), *map(unbroadcast, bars, spacings)


def _gradient_along(part: Any, f: Any, spacing: Any, axis: int, edge_order: int) -> tuple[Any, Any]:
    """The cotangents of f and of the spacing from the derivative along one axis."""
    y_bar, along = np.moveaxis(np.asarray(part), axis, 0), np.moveaxis(np.asarray(f), axis, 0)
    along = along if along.dtype.kind in "fc" else along.astype(float)
    steps = np.diff(np.asarray(spacing, float)) if np.ndim(spacing) else np.full(len(along) - 1, spacing, float)
    steps = in_precision_of(y_bar, steps)
    column = (-1,) + (1,) * (along.ndim - 1)
    slopes = np.diff(along, axis=0) / steps.reshape(column)
    near = _Neighbours.of(steps, edge_order)
    first = near.weight.reshape(column) * y_bar
    slopes_bar = np.zeros(slopes.shape, np.result_type(first))
    np.add.at(slopes_bar, near.before, first)
    np.add.at(slopes_bar, near.after, y_bar - first)
    f_bar = diff_bar(slopes_bar / steps.reshape(column), along, 1, 0).astype(y_bar.dtype, copy=False)
    rest = tuple(range(1, along.ndim))
    steps_bar = -np.sum(np.real(slopes_bar * conj(slopes)), axis=rest) / steps
    weight_bar = np.sum(np.real(y_bar * conj(slopes[near.before] - slopes[near.after])), axis=rest)
    near.add_weights_bar(steps_bar, weight_bar, steps)
    spacing_bar = diff_bar(steps_bar, spacing, 1, 0) if np.ndim(spacing) else np.sum(steps_bar)
    return np.moveaxis(f_bar, 0, axis), spacing_bar


class _Neighbours(NamedTuple):
    """The two slopes, by number, whose weighted mean the derivative at each sample is; at the ends they are continued along
    a line if the order is 2, and else it is the one slope there."""

    before: np.ndarray
    after: np.ndarray
    weight: np.ndarray  # of the one before
    sense: np.ndarray  # the derivative of the weight in the step before is sense * (step after) / (both steps)^2

    @classmethod
    def of(cls, steps: np.ndarray, edge_order: int) -> _Neighbours:
        count = len(steps)
        before = np.clip(np.arange(count + 1) - 1, 0, max(count - 2, 0))
        after = np.minimum(before + 1, count - 1)
        both = steps[before] + steps[after]
        weight, sense = steps[after] / both, np.full(count + 1, -1.0, steps.dtype)
        sense[[0, -1]] = 0.0 if edge_order == 1 else 1.0
        weight[0] = 1.0 if edge_order == 1 else 1.0 + steps[0] / both[0]
        weight[-1] = 0.0 if edge_order == 1 else -steps[-1] / both[-1]
        return cls(before, after, weight, sense)

    def add_weights_bar(self, steps_bar: np.ndarray, weight_bar: np.ndarray, steps: np.ndarray) -> None:
        """Add to steps_bar what comes from the weights."""
        both = steps[self.before] + steps[self.after]
        scaled = weight_bar * self.sense / both**2
        np.add.at(steps_bar, self.before, scaled * steps[self.after])
        np.add.at(steps_bar, self.after, -scaled * steps[self.before])


_SAMPLES = np.sin(np.arange(20.0) * 1.7).reshape(4, 5)
_ROWS, _COLUMNS = np.array([0.0, 0.4, 1.5, 1.9]), np.array([-1.0, 0.5, 0.9, 2.5, 2.8])
for _order in (1, 2):
    examples(np.gradient, (_SAMPLES[0],), (_SAMPLES,), (_SAMPLES, 0.3), (_SAMPLES, 0.3, 1.5), edge_order=_order)
    examples(np.gradient, (_SAMPLES, _ROWS, 0.7), (_SAMPLES, _ROWS, _COLUMNS), edge_order=_order)
    examples(np.gradient, (_SAMPLES,), (_SAMPLES, _COLUMNS), (_SAMPLES * (1.0 + 0.5j), _COLUMNS), axis=-1, edge_order=_order)
    example(np.gradient, _SAMPLES, _COLUMNS, _ROWS, axis=(1, 0), edge_order=_order)
examples(np.gradient, (_SAMPLES[:2, 0], 0.5), ([0.5, 1.5, 4.0], [0.0, 1.0, 3.0]), (np.arange(4) ** 2,))
example(np.gradient, _SAMPLES[:, :0], axis=0)
