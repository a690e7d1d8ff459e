"""Finding extrema. Ties of maximum and minimum share the cotangent evenly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.entries import Rule
from microgradpy.rules.numpy.options import fitted, given, initial_bar, is_set, plain_bars, taken
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.tangents.arithmetic import divide, unbroadcast
from microgradpy.tangents.casts import in_precision_of
from microgradpy.tangents.choices import maximum_bar, minimum_bar, share
from microgradpy.tangents.foreign import is_foreign_array
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.linear import with_reduced_axes
from microgradpy.tangents.types import NoTangent

_ROW = np.array([0.4, -1.3, 2.2])
_COLUMN = np.array([[0.7], [-0.3]])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_REAL = ((1.7, 0.6), (_ROW, 0.6), (1.7, _TABLE), (_ROW, _COLUMN), (_TABLE, _ROW), (np.array(1.7), _ROW))


@pullback(np.maximum)
def maximum_pullback(z_bar, x, y):
    """Each operand gets z_bar where it is the larger one, half of it where they are equal."""
    return maximum_bar(z_bar, x, y), maximum_bar(z_bar, y, x)


@pullback(np.minimum)
def minimum_pullback(z_bar, x, y):
    """Each operand gets z_bar where it is the smaller one, half of it where they are equal."""
    return minimum_bar(z_bar, x, y), minimum_bar(z_bar, y, x)


@pullback(np.fmax)
def fmax_pullback(z_bar, x, y):
    """As maximum, but a number wins against NaN."""
    return fmax_bar(z_bar, x, y), fmax_bar(z_bar, y, x)


@pullback(np.fmin)
def fmin_pullback(z_bar, x, y):
    """As minimum, but a number wins against NaN."""
    return fmin_bar(z_bar, x, y), fmin_bar(z_bar, y, x)


@cotangent_of(1)
def fmax_bar(z_bar: Any, x: Any, y: Any) -> Any:
    """The cotangent of x under fmax(x, y)."""
    return unbroadcast(share(z_bar, np.greater(x, y) | np.isnan(y), np.equal(x, y)), x)


@cotangent_of(1)
def fmin_bar(z_bar: Any, x: Any, y: Any) -> Any:
    """The cotangent of x under fmin(x, y)."""
    return unbroadcast(share(z_bar, np.less(x, y) | np.isnan(y), np.equal(x, y)), x)


for _choice in (np.maximum, np.minimum, np.fmax, np.fmin):
    examples(_choice, *_REAL)


@pullback(np.clip)
def clip_pullback(z_bar, a, a_min=None, a_max=None):
    """z = minimum(maximum(a, a_min), a_max): half the cotangent passes at an edge."""
    return clip_bar(z_bar, a, a_min, a_max), floor_bar(z_bar, a, a_min, a_max), ceiling_bar(z_bar, a, a_min, a_max)


@cotangent_of(1)
def clip_bar(z_bar: Any, a: Any, a_min: Any, a_max: Any) -> Any:
    """The cotangent of a under clip(a, a_min, a_max)."""
    raised_bar = _raised_bar(z_bar, a, a_min, a_max)
    return unbroadcast(raised_bar, a) if a_min is None else maximum_bar(raised_bar, a, a_min)


@cotangent_of(2)
def floor_bar(z_bar: Any, a: Any, a_min: Any, a_max: Any) -> Any:
    """The cotangent of a_min under clip(a, a_min, a_max)."""
    return None if a_min is None else maximum_bar(_raised_bar(z_bar, a, a_min, a_max), a_min, a)


@cotangent_of(3)
def ceiling_bar(z_bar: Any, a: Any, a_min: Any, a_max: Any) -> Any:
    """The cotangent of a_max under clip(a, a_min, a_max)."""
    return None if a_max is None else minimum_bar(z_bar, a_max, a if a_min is None else np.maximum(a, a_min))


def _raised_bar(z_bar: Any, a: Any, a_min: Any, a_max: Any) -> Any:
    """The cotangent, in z's shape, of maximum(a, a_min) under minimum(maximum(a, a_min), a_max)."""
    if a_max is None:
        return z_bar
    raised = a if a_min is None else np.maximum(a, a_min)
    return share(z_bar, np.less(raised, a_max), np.equal(raised, a_max))


examples(np.clip, (0.4, -1.0, 1.0), (_TABLE, -0.5, 1.0), (_TABLE, _COLUMN, 1.5), (_TABLE, None, 0.8), (_ROW, 0.5, None))

_VECTOR = np.array([0.7, -1.4, 2.2])
_GRID = np.array([[0.9, 2.1, -0.6, 1.3], [1.8, -1.1, 0.3, -0.4]])
_STACK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 - 1.5
_REAL_PAIRS = ((0.6,), (_VECTOR,), (_GRID,), (_STACK,), (_GRID, 0), (_GRID, -1), (_STACK, (0, 2)))


@pullback(np.max)
@pullback(np.amax)
@pullback(np.min)
@pullback(np.amin)
def extremum_pullback(y_bar, a, axis=None, *, keepdims=False, y):
    """The entries that are the largest, or the smallest, share y_bar evenly."""
    return extremum_bar(y_bar, a, y, axis, keepdims)


@cotangent_of(1)
def extremum_bar(y_bar: Any, a: Any, y: Any, axis: Any, keepdims: Any) -> Any:
    """The cotangent of a under its largest or smallest entry y: split among the entries that equal it."""
    if np.ndim(a) == 0:
        return y_bar
    chosen = np.equal(a, with_reduced_axes(y, a, axis, keepdims))
    count_of = np.sum if is_foreign_array(a) else np.count_nonzero  # which is faster, and not everywhere
    count = count_of(chosen, axis=axis, keepdims=keepdims)
    if not np.all(count):
        # NaN equals nothing, but it is what the reduction chose.
        chosen = chosen | np.isnan(a)
        count = count_of(chosen, axis=axis, keepdims=keepdims)
    return np.where(chosen, with_reduced_axes(y_bar / in_precision_of(y_bar, count), a, axis, keepdims), 0.0)


for _each in (np.max, np.amax, np.min, np.amin, np.ptp):
    examples(_each, *_REAL_PAIRS)
    examples(_each, *_REAL_PAIRS[1:], keepdims=True)

_NAN = np.nan
_LINE = np.array([0.7, _NAN, -1.4, 2.2])
_FIELD = np.array([[0.9, 2.1, _NAN, 1.3], [1.8, -1.1, 0.3, -0.4]])
_BLOCK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 - 1.5
_BLOCK[0, 1, 1] = _BLOCK[1, 2, 0] = _NAN

_REAL_AREAS = ((_LINE,), (_FIELD,), (_FIELD, 0), (_FIELD, -1), (_BLOCK, (0, 2)), ([0.5, _NAN, 1.5],))


@pullback(np.nanmax)
@pullback(np.nanmin)
def nan_extremum_pullback(y_bar, a, axis=None, *, keepdims=False, y):
    """As max and min, among the entries that are no NaN."""
    return nan_extremum_bar(y_bar, a, y, axis, keepdims)


@cotangent_of(1)
def nan_extremum_bar(y_bar: Any, a: Any, y: Any, axis: Any, keepdims: Any) -> Any:
    """The cotangent of a under its largest or smallest number y: split among the entries that equal it, of which there
    are none if all are NaN."""
    chosen = np.equal(a, with_reduced_axes(y, a, axis, keepdims))
    count = in_precision_of(y_bar, np.maximum(np.sum(chosen, axis=axis, keepdims=True), 1))
    return np.where(chosen, with_reduced_axes(y_bar, a, axis, keepdims) / count, 0.0)


for _each in (np.nanmax, np.nanmin):
    examples(_each, *_REAL_AREAS, (0.6,))
    examples(_each, *_REAL_AREAS[:-1], keepdims=True)

_NOT_GIVEN: Any = np._NoValue
_MASK = np.array([[True, True, False, True], [True, False, True, True]])


def _extremum(f: Callable[..., Any], leaves_out_nan: bool = False) -> Rule:
    def extremum_with_options_rrule(a, axis=None, out=None, keepdims=_NOT_GIVEN, initial=_NOT_GIVEN, where=True):
        """The entries that are chosen share y_bar evenly, and so does the initial value if it is."""
        y = f(a, axis=axis, **given(out=out, keepdims=keepdims, initial=initial, where=where))

        def extremum_with_options_pullback(y_bar):
            rows = with_reduced_axes(y, a, axis, is_set(keepdims))
            chosen = taken(where, a, leaves_out_nan) & (np.equal(a, rows) | (np.isnan(a) & np.isnan(rows)))
            count = np.count_nonzero(chosen, axis=axis, keepdims=is_set(keepdims))
            is_first = False if initial is _NOT_GIVEN else np.equal(initial, y)
            share = divide(y_bar, np.maximum(count + is_first, 1))
            a_bar = np.where(chosen, with_reduced_axes(share, a, axis, is_set(keepdims)), 0.0)
            first_bar = initial_bar(np.where(is_first, share, 0.0), initial)
            return NoTangent(), fitted(a_bar, a), *(NoTangent(),) * 3, first_bar, NoTangent()

        return y, extremum_with_options_pullback

    return extremum_with_options_rrule


_f: Any
for _f in (np.max, np.amax, np.ndarray.max, np.min, np.amin, np.ndarray.min):
    rrule.register(_f, options=True)(_extremum(_f))
for _f in (np.nanmax, np.nanmin):
    rrule.register(_f, options=True)(_extremum(_f, True))

_WITH_NAN = np.where(_MASK, _GRID, np.nan)
for _f in (np.max, np.amax, np.ndarray.max, np.min, np.amin, np.ndarray.min):
    examples(_f, (_GRID, 0, None, True, 0.5), (_GRID, 1, None, False, -0.7), (_VECTOR, None, None, False, 0.5))
    examples(_f, (_GRID, 1, None, False, 0.55, _MASK), (_GRID, None, None, True))
examples(np.nanmax, (_WITH_NAN, 1, None, True, 0.5))
examples(np.nanmin, (_WITH_NAN, 1, None, False, 0.5, _GRID < 2.0))


@rrule.register(np.clip, options=True)
def clip_with_options_rrule(a, a_min=_NOT_GIVEN, a_max=_NOT_GIVEN, out=None, min=_NOT_GIVEN, max=_NOT_GIVEN, **options):
    """As the plain rule, with other names for the bounds."""
    if out is not None:
        raise MissingRuleError("np.clip with `out` and other options", None, "Assign its value: y[...] = np.clip(x, ...).")
    bounds = {"a_min": a_min, "a_max": a_max, "min": min, "max": max}
    y = np.clip(a, **{name: bound for name, bound in bounds.items() if bound is not _NOT_GIVEN}, **options)
    low, high = (next((x for x in pair if x is not _NOT_GIVEN), None) for pair in ((a_min, min), (a_max, max)))
    by_old_names = a_min is not _NOT_GIVEN or a_max is not _NOT_GIVEN

    def clip_with_options_pullback(y_bar):
        a_bar, low_bar, high_bar = plain_bars(np.clip, (a, low, high), {}, y_bar)
        unused = NoTangent()
        if by_old_names:
            return NoTangent(), a_bar, low_bar, high_bar, unused, unused, unused
        return NoTangent(), a_bar, unused, unused, unused, low_bar, high_bar

    return y, clip_with_options_pullback


examples(np.clip, (_VECTOR, 0.0, 1.5), (_TABLE, _VECTOR - 2.0, _VECTOR + 2.0), dtype=float)
examples(np.clip, (_VECTOR,), (_TABLE,), min=0.0)
example(np.clip, _TABLE, min=-1.0, max=1.5)
