"""NumPy's median, quantiles and percentiles, also those that leave out NaN.

Each is a weighted mean of two neighbours in the order of the entries: which two, and with what weights, is seen from the same
quantile of the numbers 0, 1, 2, ... (the rank). So a method that picks an entry gives it all of y_bar.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.mathematics.extrema import extremum_bar
from microgradpy.rules.registry import example, examples
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.casts import in_precision_of
from microgradpy.tangents.helpers import cotangent_of


@pullback(np.ptp)
def ptp_pullback(y_bar, a, axis=None, *, keepdims=False):
    """y = max - min: the largest entries share y_bar, the smallest -y_bar."""
    return ptp_bar(y_bar, a, axis, keepdims)


@cotangent_of(1)
def ptp_bar(y_bar: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """The cotangent of a under its largest entry less its smallest."""
    largest, smallest = np.max(a, axis=axis, keepdims=keepdims), np.min(a, axis=axis, keepdims=keepdims)
    raised = extremum_bar(y_bar, a, largest, axis, keepdims)
    return raised - extremum_bar(y_bar, a, smallest, axis, keepdims)


_NAN = np.nan
_VECTOR = np.array([0.7, -1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, -0.6, 1.3], [1.8, -1.1, 0.3, -0.4]])
_STACK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 - 1.5
_WITH_NAN = np.array([[0.9, _NAN, -0.6, 1.3], [_NAN, -1.1, _NAN, -0.4], [1.8, 0.2, -0.9, 2.5]])
_GROWTH = {"linear": -1.0, "interpolated_inverted_cdf": 0.0, "hazen": 0.0, "weibull": 1.0, "median_unbiased": 1.0 / 3.0,
           "normal_unbiased": 0.25}  # fmt: skip
"""For methods that interpolate: the rank of n entries grows by this plus n as the quantile goes from 0 to 1. Source: Hyndman
and Fan, Sample Quantiles in Statistical Packages, 1996."""

_STEPS = frozenset({"inverted_cdf", "averaged_inverted_cdf", "closest_observation", "lower", "higher", "midpoint", "nearest"})


@pullback(np.median)
def median_pullback(y_bar, a, axis=None, *, keepdims=False):
    """y_bar goes to the entry in the middle, or half each to the two entries there."""
    return quantile_bar(y_bar, a, 0.5, axis, "linear", np.quantile)


@pullback(np.nanmedian)
def nanmedian_pullback(y_bar, a, axis=None, *, keepdims=False):
    """y_bar goes to the number in the middle, or half each to the two numbers there."""
    return quantile_bar(y_bar, a, 0.5, axis, "linear", np.nanquantile)


@pullback(np.quantile)
@pullback(np.nanquantile)
@pullback(np.percentile)
@pullback(np.nanpercentile)
def quantile_pullback(y_bar, a, q, axis=None, *, method="linear", keepdims=False, f):
    """y = (1 - t) a_(i) + t a_(i+1), for the i-th entries (or numbers) in order and the rank i + t of q."""
    return quantile_bar(y_bar, a, q, axis, method, f), level_bar(y_bar, a, q, axis, method, f)


@cotangent_of(1)
def quantile_bar(y_bar: Any, a: Any, q: Any, axis: Any, method: str, of: Callable[..., Any]) -> Any:
    """The cotangent of a under `of(a, q, axis, method=method)`."""
    rows, axes = rows_of(a, axis)
    if not rows.size:
        return np.zeros(np.shape(a), np.result_type(y_bar))
    low, high, share, is_any = neighbours(rows, q, method, of)
    share = in_precision_of(y_bar, share)
    bars = np.reshape(y_bar, low.shape) * is_any
    in_order = np.zeros(rows.shape, np.result_type(y_bar))
    every_row = np.ogrid[tuple(map(slice, rows.shape[:-1]))]
    np.add.at(in_order, (*every_row, low), bars * (1.0 - share))
    np.add.at(in_order, (*every_row, high), bars * share)
    rows_bar = np.empty_like(in_order)
    np.put_along_axis(rows_bar, np.argsort(rows, axis=-1), in_order, -1)
    whole = [np.shape(a)[i] for i in range(np.ndim(a)) if i not in axes] + [np.shape(a)[i] for i in axes]
    return np.moveaxis(rows_bar.reshape(whole), range(np.ndim(a) - len(axes), np.ndim(a)), axes)


@cotangent_of(2)
def level_bar(y_bar: Any, a: Any, q: Any, axis: Any, method: str, of: Callable[..., Any]) -> Any:
    """The cotangent of q: the distance of the two neighbours times the growth of the rank; none where the method picks."""
    if method not in _GROWTH and method not in _STEPS:
        raise MissingRuleError(f"{of.__name__} with method {method!r}, by the quantile", None, "Take another method.")
    rows, _ = rows_of(a, axis)
    if method in _STEPS or not rows.size:
        return np.zeros(np.shape(q), np.result_type(y_bar))
    counts = _counts(rows, of)
    low, share = _places(rows, counts, q, method, of)
    ordered = np.broadcast_to(np.sort(rows, axis=-1), (*low.shape, rows.shape[-1]))
    ends = np.stack([low, np.minimum(low + 1, np.maximum(counts - 1, 0))], axis=-1)
    with np.errstate(all="ignore"):
        rise = np.diff(np.take_along_axis(ordered, ends, -1))[..., 0]
    growth = counts + _GROWTH[method]
    if method != "linear":
        # Their ranks stay between the first and the last entry.
        growth = np.where((low + share > 0) & (low + share < counts - 1), growth, 0.0)
    scale = 0.01 if of in (np.percentile, np.nanpercentile) else 1.0
    slope = in_precision_of(y_bar, growth * rise * scale)
    bars = np.where(counts > 0, np.reshape(y_bar, low.shape) * slope, 0.0)
    return unbroadcast(np.sum(bars, axis=tuple(range(np.ndim(q), bars.ndim))), q)


def rows_of(a: Any, axis: Any) -> tuple[np.ndarray, tuple[int, ...]]:
    """a with the axes over which a quantile is taken as one, the last; and these axes."""
    count = np.ndim(a)
    axes = tuple(range(count)) if axis is None else tuple(one % count for one in np.atleast_1d(axis).tolist())
    moved = np.moveaxis(np.asarray(a), axes, range(count - len(axes), count))
    rest = moved.shape[: count - len(axes)]
    return moved.reshape(*rest, math.prod(moved.shape[count - len(axes) :])), axes


def neighbours(rows: np.ndarray, q: Any, method: str, of: Callable[..., Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
    """For each quantile of each row the numbers of the two neighbours, in order, and the weight of the upper one; and whether
    there is anything in the row that it is of."""
    counts = _counts(rows, of)
    low, share = _places(rows, counts, q, method, of)
    return low, np.minimum(low + 1, rows.shape[-1] - 1), share, counts > 0


def _counts(rows: np.ndarray, of: Callable[..., Any]) -> Any:
    """How many entries of each row a quantile is of."""
    if of in (np.nanquantile, np.nanpercentile):
        return np.sum(~np.isnan(rows), axis=-1)
    return np.full(rows.shape[:-1], rows.shape[-1])


def _places(rows: np.ndarray, counts: Any, q: Any, method: str, of: Callable[..., Any]) -> tuple[np.ndarray, np.ndarray]:
    """For each quantile of each row the number of the lower neighbour, in order, and the weight of the upper one."""
    # In single precision NumPy may pick another neighbour.
    dtype = rows.dtype if rows.dtype.kind == "f" and method in _STEPS and rows.itemsize > 2 else np.float64
    ranks = np.zeros((*np.shape(q), *rows.shape[:-1]))
    for count in np.unique(counts[counts > 0]):
        ranks[..., counts == count] = np.expand_dims(of(np.arange(count, dtype=dtype), q, method=method), -1)
    low = np.clip(np.floor(ranks), 0, np.maximum(counts - 2, 0)).astype(np.intp)
    return low, ranks - low


_LEVELS = np.array([[0.3, 0.55], [0.77, 0.17]])
for _middle in (np.median, np.nanmedian):
    examples(_middle, (_VECTOR,), (_TABLE,), (_TABLE, 0), (_TABLE, -1), (_STACK, (0, 2)), (0.6,), (np.zeros((0, 3)), 1))
    examples(_middle, (_VECTOR,), (_TABLE,), (_TABLE, 0), (_TABLE, -1), (_STACK, (0, 2)), keepdims=True)
examples(np.nanmedian, (_WITH_NAN,), (_WITH_NAN, 0), (_WITH_NAN, 1))
for _quantile, _unit in ((np.quantile, 1.0), (np.nanquantile, 1.0), (np.percentile, 100.0), (np.nanpercentile, 100.0)):
    examples(_quantile, (_VECTOR, 0.3 * _unit), (_TABLE, _unit * _LEVELS, 0), ([0.5, 1.5, -1.0], [0.2 * _unit]))
    examples(_quantile, (0.6, 0.4 * _unit), (_STACK, _unit * _LEVELS[0], (2, 0)), (np.zeros((0, 3)), 0.5 * _unit, 1))
    examples(_quantile, (_STACK, _unit * _LEVELS[0], (0, -1)), (_TABLE, 0.7 * _unit), keepdims=True)
    for _method in (*_GROWTH, *sorted(_STEPS)):
        example(_quantile, _TABLE, _unit * _LEVELS, 1, method=_method)
for _quantile in (np.nanquantile, np.nanpercentile):
    examples(_quantile, (_WITH_NAN, 0.3), (_WITH_NAN, _LEVELS, 1), (_WITH_NAN, _LEVELS[1], 0))
    example(_quantile, _WITH_NAN, _LEVELS, 1, method="hazen")
