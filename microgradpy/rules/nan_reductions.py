"""NumPy's reductions that leave out NaN, and its other names of running sums and products.

What is left out gets zero. The others get what they would without it: as addends NaN count as 0, as factors as 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.reductions import cumprod_bar, cumsum_bar, prod_bar
from microgradpy.rules.registry import example, examples
from microgradpy.tangents.arithmetic import divide, reciprocal_or_zero
from microgradpy.tangents.casts import in_precision_of
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.linear import expand_reduced, with_reduced_axes

_NAN = np.nan
_VECTOR = np.array([0.7, _NAN, -1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, _NAN, 1.3], [1.8, -1.1, 0.3, -0.4]])
_STACK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 - 1.5
_STACK[0, 1, 1] = _STACK[1, 2, 0] = _NAN
_COMPLEX = np.array([[0.5 + 0.3j, _NAN], [0.2 - 0.9j, 1.1 + 0.1j]])
_REAL = ((_VECTOR,), (_TABLE,), (_TABLE, 0), (_TABLE, -1), (_STACK, (0, 2)), ([0.5, _NAN, 1.5],))
_NUMERIC = (*_REAL, (0.6,), (_COMPLEX,), (_COMPLEX, 1))


@cotangent_of(1)
def without_nan(a_bar: Any, a: Any) -> Any:
    """The cotangent of a with zero for what is NaN."""
    return np.where(np.isnan(a), 0.0, a_bar)


@pullback(np.nansum)
def nansum_pullback(y_bar, a, axis=None, *, keepdims=False):
    """a_bar = y_bar, repeated."""
    return without_nan(expand_reduced(y_bar, a, axis, keepdims), a)


@pullback(np.nanprod)
def nanprod_pullback(y_bar, a, axis=None, *, keepdims=False):
    """a_bar = y_bar * (the product of the other entries)."""
    return without_nan(prod_bar(y_bar, filled(a, 1.0), axis, keepdims), a)


def filled(a: Any, value: float) -> Any:
    """a with a number in the places of NaN."""
    return np.where(np.isnan(a), value, a)


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


@pullback(np.nanmax)
def nanmax_pullback(y_bar, a, axis=None, *, keepdims=False, y):
    """The largest numbers share y_bar evenly."""
    return nan_extremum_bar(y_bar, a, y, axis, keepdims)


@pullback(np.nanmin)
def nanmin_pullback(y_bar, a, axis=None, *, keepdims=False, y):
    """The smallest numbers share y_bar evenly."""
    return nan_extremum_bar(y_bar, a, y, axis, keepdims)


@cotangent_of(1)
def nan_extremum_bar(y_bar: Any, a: Any, y: Any, axis: Any, keepdims: Any) -> Any:
    """The cotangent of a under its largest or smallest number y: split among the entries that equal it, of which there
    are none if all are NaN."""
    chosen = np.equal(a, with_reduced_axes(y, a, axis, keepdims))
    count = in_precision_of(y_bar, np.maximum(np.sum(chosen, axis=axis, keepdims=True), 1))
    return np.where(chosen, with_reduced_axes(y_bar, a, axis, keepdims) / count, 0.0)


for _reduction in (np.nansum, np.nanprod, np.nanmean):
    examples(_reduction, *_NUMERIC)
    examples(_reduction, *_REAL[:-1], keepdims=True)
for _spread in (np.nanvar, np.nanstd):
    examples(_spread, *_REAL, (_COMPLEX,))
    examples(_spread, *_REAL[:-1], keepdims=True)
    examples(_spread, (_TABLE,), (_TABLE, 1), ddof=1)
for _extremum in (np.nanmax, np.nanmin):
    examples(_extremum, *_REAL, (0.6,))
    examples(_extremum, *_REAL[:-1], keepdims=True)
examples(np.nansum, (np.array([[_NAN, _NAN], [0.5, _NAN]]), 1), (np.zeros((0, 3)), 0))
examples(np.nanprod, (np.array([2.0, 0.0, _NAN, 3.0]),), (np.array([[_NAN, _NAN], [0.0, 0.0]]), 1))


@pullback(np.nancumsum)
def nancumsum_pullback(y_bar, a, axis=None):
    """a_bar_i = the sum of y_bar_k for k >= i."""
    return without_nan(cumsum_bar(y_bar, a, axis), a)


@pullback(np.nancumprod)
def nancumprod_pullback(y_bar, a, axis=None):
    """a_bar_i = the sum over k >= i of y_bar_k times the product of the first k entries without the i-th."""
    return without_nan(cumprod_bar(y_bar, filled(a, 1.0), axis), a)


_RUNS = ((_VECTOR,), (_TABLE,), (_TABLE, 0), (_TABLE, -1), (_STACK, 1), (_COMPLEX,), (_COMPLEX, 0), (0.6,))
examples(np.nancumsum, *_RUNS)
examples(np.nancumprod, *_RUNS)


@pullback(np.cumulative_sum)
def cumulative_sum_pullback(y_bar, x, /, *, axis=None, include_initial=False):
    """x_bar_i = the sum of y_bar_k for k >= i."""
    return cumsum_bar(without_initial(y_bar, axis, include_initial), x, axis)


@pullback(np.cumulative_prod)
def cumulative_prod_pullback(y_bar, x, /, *, axis=None, include_initial=False):
    """x_bar_i = the sum over k >= i of y_bar_k times the product of the first k entries without the i-th."""
    return cumprod_bar(without_initial(y_bar, axis, include_initial), x, axis)


def without_initial(y_bar: Any, axis: int | None, include_initial: bool) -> Any:
    """The cotangent of a running sum or product without that of the constant it may start with."""
    return np.delete(y_bar, 0, axis or 0) if include_initial else y_bar


for _run in (np.cumulative_sum, np.cumulative_prod):
    examples(_run, (_VECTOR[2:],), ([0.5, 1.5],), (np.zeros(0),))
    example(_run, _VECTOR[2:], include_initial=True)
    for _axis in (0, -1):
        example(_run, _TABLE[1:], axis=_axis)
        example(_run, _COMPLEX[1:], axis=_axis, include_initial=True)
