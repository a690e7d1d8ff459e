"""NumPy's reductions with the options that are seldom given: `where`, `initial`, `dtype`, `mean`, `correction`.

Where an entry is left out it has no derivative; an initial value is one more entry of each row. These rules are called, and
compute the value by the very call of the user's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.reductions import prod_bar
from microgradpy.rules.registry import Rule, example, examples, rrule
from microgradpy.tangents.arithmetic import conj, divide, floating, real_like, unbroadcast
from microgradpy.tangents.foreign import as_array
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.linear import with_reduced_axes
from microgradpy.tangents.types import NoTangent

_NOT_GIVEN: Any = np._NoValue
_VECTOR = np.array([0.7, -1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, -0.6, 1.3], [1.8, -1.1, 0.3, -0.4]])
_COMPLEX = np.array([[0.5 + 0.3j, -0.7 + 0.6j], [0.2 - 0.9j, 1.1 + 0.1j]])
_MASK = np.array([[True, True, False, True], [True, False, True, True]])


def given(**options: Any) -> dict[str, Any]:
    """The options that are not at their defaults."""
    if options.get("out") is not None:
        raise MissingRuleError("a reduction with `out` and other options", None, "Assign its value: y[...] = np.sum(x, ...).")
    return {name: value for name, value in options.items() if value is not _NOT_GIVEN and value is not None}


def taken(where: Any, a: Any, leaves_out_nan: bool) -> Any:
    """Which entries are taken."""
    mask = np.broadcast_to(as_array(where).astype(bool), np.shape(a))
    return mask & ~np.isnan(a) if leaves_out_nan else mask


@cotangent_of(1)
def fitted(bar: Any, x: Any) -> Any:
    """A cotangent in the shape and dtype of x, of which only a number may have been given."""
    bar = unbroadcast(bar, x)
    is_cast = isinstance(x, np.ndarray) and x.dtype.kind in "fc" and isinstance(bar, np.ndarray) and bar.dtype != x.dtype
    return bar.astype(x.dtype) if is_cast else bar


def rounds(a: Any, y: Any) -> bool:
    """Whether a reduction of numbers gave whole ones, by its dtype."""
    return as_array(y).dtype.kind in "biu" and as_array(a).dtype.kind in "fcO"


def is_set(keepdims: Any) -> bool:
    return keepdims is not _NOT_GIVEN and bool(keepdims)


def _sum(f: Callable[..., Any], leaves_out_nan: bool = False) -> Rule:
    def sum_with_options_rrule(a, axis=None, dtype=None, out=None, keepdims=_NOT_GIVEN, initial=_NOT_GIVEN, where=True):
        """a_bar = y_bar where entries are taken, initial_bar = y_bar."""
        y = f(a, axis=axis, **given(dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where))

        def sum_with_options_pullback(y_bar):
            if rounds(a, y):
                return (NoTangent(),) * 8
            a_bar = np.where(taken(where, a, leaves_out_nan), with_reduced_axes(y_bar, a, axis, is_set(keepdims)), 0.0)
            return NoTangent(), fitted(a_bar, a), *(NoTangent(),) * 4, initial_bar(y_bar, initial), NoTangent()

        return y, sum_with_options_pullback

    return sum_with_options_rrule


def initial_bar(bar: Any, initial: Any) -> Any:
    return NoTangent() if initial is _NOT_GIVEN or initial is None else unbroadcast(bar, initial)


def _prod(f: Callable[..., Any], leaves_out_nan: bool = False) -> Rule:
    def prod_with_options_rrule(a, axis=None, dtype=None, out=None, keepdims=_NOT_GIVEN, initial=_NOT_GIVEN, where=True):
        """a_bar = y_bar * (the product of the others), initial_bar = y_bar * (the product of the entries)."""
        y = f(a, axis=axis, **given(dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where))

        def prod_with_options_pullback(y_bar):
            if rounds(a, y):
                return (NoTangent(),) * 8
            keeps = is_set(keepdims)
            mask = taken(where, a, leaves_out_nan)
            factors = np.where(mask, a, 1.0)
            first = 1.0 if initial is _NOT_GIVEN else initial
            a_bar = np.where(mask, prod_bar(real_like(y_bar * conj(first), factors), factors, axis, keeps), 0.0)
            first_bar = initial_bar(y_bar * conj(np.prod(factors, axis=axis, keepdims=keeps)), initial)
            return NoTangent(), fitted(a_bar, a), *(NoTangent(),) * 4, first_bar, NoTangent()

        return y, prod_with_options_pullback

    return prod_with_options_rrule


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
for _f in (np.sum, np.ndarray.sum):
    rrule.register(_f, options=True)(_sum(_f))
for _f in (np.prod, np.ndarray.prod):
    rrule.register(_f, options=True)(_prod(_f))
for _f in (np.mean, np.ndarray.mean):
    rrule.register(_f, options=True)(_mean(_f))
for _f in (np.max, np.amax, np.ndarray.max, np.min, np.amin, np.ndarray.min):
    rrule.register(_f, options=True)(_extremum(_f))
for _f in (np.var, np.ndarray.var):
    rrule.register(_f, options=True)(_spread(_f, False))
for _f in (np.std, np.ndarray.std):
    rrule.register(_f, options=True)(_spread(_f, True))
rrule.register(np.nansum, options=True)(_sum(np.nansum, True))
rrule.register(np.nanprod, options=True)(_prod(np.nanprod, True))
rrule.register(np.nanmean, options=True)(_mean(np.nanmean, True))
rrule.register(np.nanvar, options=True)(_spread(np.nanvar, False, True))
rrule.register(np.nanstd, options=True)(_spread(np.nanstd, True, True))
for _f in (np.nanmax, np.nanmin):
    rrule.register(_f, options=True)(_extremum(_f, True))

_WITH_NAN = np.where(_MASK, _TABLE, np.nan)
for _f, _x in ((np.sum, _TABLE), (np.ndarray.sum, _TABLE), (np.prod, _TABLE), (np.ndarray.prod, _TABLE)):
    examples(_f, (_x, 0), (_x, 1), where=_MASK)
    examples(_f, (_x,), (_x, 1, float, None, True, 1.5, _MASK), (_x, 0, None, None, False, 0.5))
    example(_f, _COMPLEX, axis=1, where=[[True], [False]], keepdims=True)
    example(_f, _x, axis=1, dtype=complex)
    example(_f, _x, dtype=int)
for _f in (np.nansum, np.nanprod):
    examples(_f, (_WITH_NAN, 1, None, None, True, 0.5), (_WITH_NAN, 0, None, None, False, 1.5, _TABLE > 0.0))
for _f in (np.mean, np.ndarray.mean):
    examples(_f, (_TABLE,), (_TABLE, 1), (_TABLE, 0), where=_MASK)
    examples(_f, (_TABLE, 1, float, None, True), (_COMPLEX, 0, complex))
example(np.nanmean, _WITH_NAN, axis=1, where=_TABLE > -1.0, keepdims=True)
for _f in (np.max, np.amax, np.ndarray.max, np.min, np.amin, np.ndarray.min):
    examples(_f, (_TABLE, 0, None, True, 0.5), (_TABLE, 1, None, False, -0.7), (_VECTOR, None, None, False, 0.5))
    examples(_f, (_TABLE, 1, None, False, 0.55, _MASK), (_TABLE, None, None, True))
examples(np.nanmax, (_WITH_NAN, 1, None, True, 0.5))
examples(np.nanmin, (_WITH_NAN, 1, None, False, 0.5, _TABLE < 2.0))
for _f in (np.var, np.std, np.ndarray.var, np.ndarray.std):
    examples(_f, (_TABLE,), (_TABLE, 1), (_TABLE, 0, None, None, 0, True), where=_MASK)
    examples(_f, (_TABLE, 1, float, None, 1, True), (_COMPLEX, 0, None, None, 0, True))
for _f in (np.var, np.std):
    example(_f, _TABLE, axis=1, correction=1)
for _f in (np.nanvar, np.nanstd):
    example(_f, _WITH_NAN, axis=1, correction=1)
