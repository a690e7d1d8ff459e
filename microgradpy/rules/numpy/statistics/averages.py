"""Averages and variances, those that leave out NaN included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.entries import Rule
from microgradpy.rules.numpy.mathematics.sums import filled, without_nan
from microgradpy.rules.numpy.options import fitted, given, initial_bar, is_set, plain_bars, rounds, taken
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.tangents.arithmetic import divide, floating, real_like, reciprocal_or_zero, unbroadcast
from microgradpy.tangents.casts import in_precision_of
from microgradpy.tangents.foreign import as_array
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.linear import expand_reduced, mean_count, reduced_count, with_reduced_axes
from microgradpy.tangents.types import NoTangent, accumulate, is_structural_zero

_STACK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 - 1.5


@pullback(np.mean)
def mean_pullback(y_bar, a, axis=None, *, keepdims=False):
    """a_bar = y_bar / n, repeated, for n entries in a mean."""
    return expand_reduced(y_bar / mean_count(a, axis), a, axis, keepdims)


example(np.mean, _STACK, axis=1, keepdims=True)

_VECTOR = np.array([0.7, -1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, -0.6, 1.3], [1.8, -1.1, 0.3, -0.4]])
_COMPLEX = np.array([[0.5 + 0.3j, -0.7 + 0.6j], [0.2 - 0.9j, 1.1 + 0.1j]])
_SHAPES = ((_VECTOR,), (_TABLE,), (_TABLE, 0), (_TABLE, -1), (_STACK, (0, 2)), (_COMPLEX, 0))


@pullback(np.var)
def var_pullback(y_bar, a, axis=None, *, ddof=0, keepdims=False):
    """a_bar = y_bar * 2 (a - mean) / (n - ddof), for n entries in a mean."""
    return var_bar(y_bar, a, axis, ddof, keepdims)


@cotangent_of(1)
def var_bar(y_bar: Any, a: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    """The cotangent of a under its variance."""
    deviation = a - np.mean(a, axis=axis, keepdims=True)
    with np.errstate(all="ignore"):
        scale = divide(2.0 * y_bar, reduced_count(a, axis) - ddof)
        return with_reduced_axes(scale, a, axis, keepdims) * deviation


@pullback(np.std)
def std_pullback(y_bar, a, axis=None, *, ddof=0, keepdims=False, y):
    """a_bar = y_bar * (a - mean) / ((n - ddof) y), and 0 where y = 0."""
    return std_bar(y_bar, a, y, axis, ddof, keepdims)


@cotangent_of(1)
def std_bar(y_bar: Any, a: Any, y: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    """The cotangent of a under its standard deviation y."""
    return var_bar(0.5 * y_bar * reciprocal_or_zero(y), a, axis, ddof, keepdims)


for _each in (np.var, np.std):
    examples(_each, *_SHAPES)
    examples(_each, *_SHAPES, keepdims=True)
    examples(_each, (_TABLE,), (_TABLE, 1), ddof=1)


@pullback(np.average)
def average_pullback(y_bar, a, axis=None, weights=None, *, keepdims=False, y):
    """y = sum(w a) / sum(w): a_bar = y_bar * w / sum(w), w_bar = y_bar * (a - y) / sum(w)."""
    return (
        average_bar(y_bar, a, axis, weights, keepdims),
        NoTangent(),
        average_weights_bar(y_bar, a, y, axis, weights, keepdims),
    )


@cotangent_of(1)
def average_bar(y_bar: Any, a: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    """The cotangent of a under its weighted average."""
    if weights is None:
        return expand_reduced(y_bar / mean_count(a, axis), a, axis, keepdims)
    w = spread_weights(a, axis, weights)
    return unbroadcast(with_reduced_axes(y_bar, a, axis, keepdims) * np.conj(w / np.sum(w, axis=axis, keepdims=True)), a)


@cotangent_of(4)
def average_weights_bar(y_bar: Any, a: Any, y: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    """The cotangent of the weights of a weighted average y."""
    if weights is None:
        return None
    w = spread_weights(a, axis, weights)
    deviation = np.conj((a - with_reduced_axes(y, a, axis, keepdims)) / np.sum(w, axis=axis, keepdims=True))
    w_bar = with_reduced_axes(y_bar, a, axis, keepdims) * deviation
    if np.shape(weights) != np.shape(a):
        w_bar = np.sum(w_bar, axis=tuple(i for i in range(np.ndim(a)) if i not in _axes(a, axis)))
        w_bar = np.transpose(w_bar, np.argsort(np.argsort(_axes(a, axis))))
    return unbroadcast(w_bar, weights)


def _axes(a: Any, axis: Any) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(np.ndim(a)))
    return tuple(one % np.ndim(a) for one in (axis if isinstance(axis, tuple) else (axis,)))


def spread_weights(a: Any, axis: Any, weights: Any) -> np.ndarray:
    """The weights in a's shape: they may be given along the averaged axes only, in the order of `axis`."""
    w = np.asarray(weights)
    if w.shape != np.shape(a):
        axes = _axes(a, axis)
        w = np.expand_dims(np.transpose(w, np.argsort(axes)), tuple(i for i in range(np.ndim(a)) if i not in axes))
    return np.broadcast_to(w, np.shape(a))


_WEIGHTS = np.array([0.3, 1.1, 0.6])
examples(np.average, *_SHAPES, (_VECTOR, None, _WEIGHTS), (_TABLE, None, np.abs(_TABLE)), (_STACK, 1, _WEIGHTS))

_COMPLEX_WEIGHTS = _WEIGHTS + np.array([0.2j, -0.5j, 0.7j])
examples(np.average, (_COMPLEX_WEIGHTS, None, _COMPLEX_WEIGHTS**2), (_VECTOR, None, _COMPLEX_WEIGHTS))
example(np.average, _STACK, (2, 1), np.outer([0.4, 1.5], _WEIGHTS), keepdims=True)

_NAN = np.nan
_LINE = np.array([0.7, _NAN, -1.4, 2.2])
_GRID = np.array([[0.9, 2.1, _NAN, 1.3], [1.8, -1.1, 0.3, -0.4]])
_BLOCK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 - 1.5
_BLOCK[0, 1, 1] = _BLOCK[1, 2, 0] = _NAN

_PLANE = np.array([[0.5 + 0.3j, _NAN], [0.2 - 0.9j, 1.1 + 0.1j]])
_REAL = ((_LINE,), (_GRID,), (_GRID, 0), (_GRID, -1), (_BLOCK, (0, 2)), ([0.5, _NAN, 1.5],))


@pullback(np.nanmean)
def nanmean_pullback(y_bar, a, axis=None, *, keepdims=False):
    """a_bar = y_bar / n, repeated, for n numbers in a mean."""
    return nanmean_bar(y_bar, a, axis, keepdims)


@cotangent_of(1)
def nanmean_bar(y_bar: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """The cotangent of a under the mean of its numbers."""
    count = in_precision_of(y_bar, np.maximum(numbers_in(a, axis), 1))
    return without_nan(with_reduced_axes(y_bar, a, axis, keepdims) / count, a)


def numbers_in(a: Any, axis: Any) -> Any:
    """How many entries of each row of a are not NaN, with axes of length one for those of the row."""
    return np.sum(~np.isnan(a), axis=axis, keepdims=True)


@pullback(np.nanvar)
def nanvar_pullback(y_bar, a, axis=None, *, ddof=0, keepdims=False):
    """a_bar = y_bar * 2 (a - mean) / (n - ddof), for n numbers in a mean."""
    return nanvar_bar(y_bar, a, axis, ddof, keepdims)


@cotangent_of(1)
def nanvar_bar(y_bar: Any, a: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    """The cotangent of a under the variance of its numbers; NaN, as the variance, where there are no more than ddof."""
    count = in_precision_of(y_bar, numbers_in(a, axis))
    mean = np.sum(filled(a, 0.0), axis=axis, keepdims=True) / np.maximum(count, 1)
    scale = divide(2.0 * with_reduced_axes(y_bar, a, axis, keepdims), np.where(count > ddof, count - ddof, _NAN))
    with np.errstate(all="ignore"):
        return without_nan(scale * without_nan(a - mean, a), a)


@pullback(np.nanstd)
def nanstd_pullback(y_bar, a, axis=None, *, ddof=0, keepdims=False, y):
    """a_bar = y_bar * (a - mean) / ((n - ddof) y), and 0 where y = 0."""
    return nanstd_bar(y_bar, a, y, axis, ddof, keepdims)


@cotangent_of(1)
def nanstd_bar(y_bar: Any, a: Any, y: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    """The cotangent of a under the standard deviation y of its numbers."""
    return nanvar_bar(0.5 * y_bar * reciprocal_or_zero(y), a, axis, ddof, keepdims)


for _each in (np.nanvar, np.nanstd):
    examples(_each, *_REAL, (_PLANE,))
    examples(_each, *_REAL[:-1], keepdims=True)
    examples(_each, (_GRID,), (_GRID, 1), ddof=1)

_NOT_GIVEN: Any = np._NoValue
_MASK = np.array([[True, True, False, True], [True, False, True, True]])


def _mean(f: Callable[..., Any], leaves_out_nan: bool = False) -> Rule:
    def mean_with_options_rrule(a, axis=None, dtype=None, out=None, keepdims=_NOT_GIVEN, *, where=True):
        """a_bar = y_bar / n where entries are taken, for n of them."""
        y = f(a, axis=axis, **given(dtype=dtype, out=out, keepdims=keepdims, where=where))

        def mean_with_options_pullback(y_bar):
            if rounds(a, y) and np.asarray(y).dtype.kind in "biu":
                return (NoTangent(),) * 6
            mask = taken(where, a, leaves_out_nan)
            count = np.maximum(np.sum(mask, axis=axis, keepdims=True), 1)
            a_bar = np.where(mask, with_reduced_axes(y_bar, a, axis, is_set(keepdims)) / count, 0.0)
            return NoTangent(), fitted(a_bar, a), *(NoTangent(),) * 4

        return y, mean_with_options_pullback

    return mean_with_options_rrule


def _spread(f: Callable[..., Any], is_root: bool, leaves_out_nan: bool = False) -> Rule:
    def spread_with_options_rrule(
        a, axis=None, dtype=None, out=None, ddof=0, keepdims=_NOT_GIVEN, where=True, mean=_NOT_GIVEN, correction=_NOT_GIVEN
    ):
        """Of the variance: a_bar = y_bar * 2 (a - mean) / (n - ddof); mean_bar is the sum of -a_bar, if the mean is given."""
        options = given(dtype=dtype, out=out, keepdims=keepdims, where=where, mean=mean, correction=correction)
        y = f(a, axis=axis, **options) if correction is not _NOT_GIVEN else f(a, axis=axis, ddof=ddof, **options)

        def spread_with_options_pullback(y_bar):
            mask = taken(where, a, leaves_out_nan)
            count = np.sum(mask, axis=axis, keepdims=True)
            centre = mean
            if mean is _NOT_GIVEN:
                centre = divide(np.sum(floating(as_array(a)), axis=axis, keepdims=True, where=mask), count)
            if is_root:
                y_bar = np.where(np.equal(y, 0.0), 0.0, divide(0.5 * y_bar, y))
            rows_bar = with_reduced_axes(2.0 * y_bar, a, axis, is_set(keepdims))
            scale = divide(rows_bar, count - (ddof if correction is _NOT_GIVEN else correction))
            with np.errstate(all="ignore"):
                # What is left out may be NaN, which the transpose must not multiply with.
                a_bar = np.where(mask, scale * np.where(mask, a - centre, 0.0), 0.0)
            return (NoTangent(), fitted(a_bar, a), *(NoTangent(),) * 6, initial_bar(-a_bar, mean), NoTangent())

        return y, spread_with_options_pullback

    return spread_with_options_rrule


_f: Any
for _f in (np.mean, np.ndarray.mean):
    rrule.register(_f, options=True)(_mean(_f))
for _f in (np.var, np.ndarray.var):
    rrule.register(_f, options=True)(_spread(_f, False))
for _f in (np.std, np.ndarray.std):
    rrule.register(_f, options=True)(_spread(_f, True))
rrule.register(np.nanmean, options=True)(_mean(np.nanmean, True))
rrule.register(np.nanvar, options=True)(_spread(np.nanvar, False, True))
rrule.register(np.nanstd, options=True)(_spread(np.nanstd, True, True))

_WITH_NAN = np.where(_MASK, _TABLE, np.nan)
for _f in (np.mean, np.ndarray.mean):
    examples(_f, (_TABLE,), (_TABLE, 1), (_TABLE, 0), where=_MASK)
    examples(_f, (_TABLE, 1, float, None, True), (_COMPLEX, 0, complex))
example(np.nanmean, _WITH_NAN, axis=1, where=_TABLE > -1.0, keepdims=True)
for _f in (np.var, np.std, np.ndarray.var, np.ndarray.std):
    examples(_f, (_TABLE,), (_TABLE, 1), (_TABLE, 0, None, None, 0, True), where=_MASK)
    examples(_f, (_TABLE, 1, float, None, 1, True), (_COMPLEX, 0, None, None, 0, True))
for _f in (np.var, np.std):
    example(_f, _TABLE, axis=1, correction=1)
for _f in (np.nanvar, np.nanstd):
    example(_f, _WITH_NAN, axis=1, correction=1)

_FIELD = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])


@rrule.register(np.average, options=True)
def average_with_options_rrule(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """As the plain rule; the second result is the sum of the weights."""
    y = np.average(a, axis=axis, weights=weights, returned=returned, keepdims=keepdims)

    def average_with_options_pullback(y_bar):
        mean_bar, sum_bar = y_bar if returned else (y_bar, None)
        a_bar = weights_bar = None
        if not is_structural_zero(mean_bar):
            a_bar, _, weights_bar = plain_bars(np.average, (a, axis, weights), {"keepdims": keepdims}, mean_bar)
        if weights is not None and not is_structural_zero(sum_bar):
            weights_bar = accumulate(weights_bar, weights_of_sum_bar(sum_bar, a, axis, weights, keepdims))
        return NoTangent(), a_bar, NoTangent(), weights_bar, NoTangent()

    return y, average_with_options_pullback


def weights_of_sum_bar(sum_bar: Any, a: Any, axis: Any, weights: Any, keepdims: bool) -> Any:
    """The cotangent of the weights of which the sum, for each row of a, is a result."""
    sum_bar = real_like(sum_bar, weights)
    if np.shape(weights) == np.shape(a):
        return plain_bars(np.sum, (weights, axis), {"keepdims": keepdims}, sum_bar)[0]
    return np.full(np.shape(weights), np.sum(sum_bar))


examples(np.average, (_FIELD, 1, np.abs(_VECTOR), True), (_FIELD, 0, np.abs(_FIELD), True), (_VECTOR, None, None, True))
example(np.average, _FIELD, 1, np.abs(_FIELD), True, keepdims=True)
