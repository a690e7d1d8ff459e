"""Sums and products, cumulative ones and those that leave out NaN included."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.entries import Rule
from microgradpy.rules.numpy.options import fitted, given, initial_bar, is_set, rounds, taken
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.tangents.arithmetic import conj, real_like, unbroadcast
from microgradpy.tangents.foreign import as_array
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.linear import expand_reduced, with_reduced_axes
from microgradpy.tangents.types import NoTangent

_VECTOR = np.array([0.7, -1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, -0.6, 1.3], [1.8, -1.1, 0.3, -0.4]])
_STACK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 - 1.5
_COMPLEX = np.array([[0.5 + 0.3j, -0.7 + 0.6j], [0.2 - 0.9j, 1.1 + 0.1j]])
_REAL = ((0.6,), (_VECTOR,), (_TABLE,), (_STACK,), (_TABLE, 0), (_TABLE, -1), (_STACK, (0, 2)))
_NUMERIC = (*_REAL, (_COMPLEX,), (_COMPLEX, 1), ([0.5, 1.5],))


@pullback(np.sum)
def sum_pullback(y_bar, a, axis=None, *, keepdims=False):
    """a_bar = y_bar, repeated."""
    return expand_reduced(y_bar, a, axis, keepdims)


@pullback(np.prod)
def prod_pullback(y_bar, a, axis=None, *, keepdims=False):
    """a_bar = y_bar * (the product of the other entries): no division, hence exact with zeros too."""
    return prod_bar(y_bar, a, axis, keepdims)


@cotangent_of(1)
def prod_bar(y_bar: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """The cotangent of a under its product."""
    return with_reduced_axes(y_bar, a, axis, keepdims) * conj(products_of_others(as_array(a), axis))


def products_of_others(a: np.ndarray, axis: Any) -> np.ndarray:
    """For each entry the product of the others that are reduced with it: of those before it times of those after it."""
    axes = tuple(range(a.ndim)) if axis is None or a.ndim == 0 else axis if isinstance(axis, tuple) else (axis,)
    rest = a.ndim - len(axes)
    last = range(rest, a.ndim)
    moved = np.moveaxis(a, axes, last)
    rows = moved.reshape(*moved.shape[:rest], math.prod(moved.shape[rest:]))
    with np.errstate(all="ignore"):
        others = _running_product(rows) * np.flip(_running_product(np.flip(rows, -1)), -1)
    return np.moveaxis(others.reshape(moved.shape), last, axes)


def _running_product(rows: np.ndarray) -> np.ndarray:
    """The product of the entries before each entry of a row."""
    before = np.ones_like(rows)
    np.cumprod(rows[..., :-1], axis=-1, out=before[..., 1:])
    return before


for _reduction in (np.sum, np.mean, np.prod):
    examples(_reduction, *_NUMERIC)
    examples(_reduction, *_REAL[1:], keepdims=True)
example(np.sum, _STACK, axis=(0, -1))
example(np.sum, np.zeros((0, 3)), axis=0)
examples(np.prod, (np.zeros((0, 3)), 1), (np.zeros((0, 0)), 1), (np.zeros((2, 0, 3)), (0, 2)), (np.array(2.5), 0))
examples(np.prod, (np.array([2.0, 0.0, 3.0]),), (np.array([[0.0, 2.0], [0.0, 3.0]]), 1), (np.array([0.0, 0.0, 3.0]),))


@pullback(np.cumsum)
def cumsum_pullback(y_bar, a, axis=None):
    """a_bar_i = the sum of y_bar_k for k >= i."""
    return cumsum_bar(y_bar, a, axis)


@cotangent_of(1)
def cumsum_bar(y_bar: Any, a: Any, axis: Any) -> Any:
    """The cotangent of a under its running sum along `axis` (None: of all entries in order)."""
    if np.ndim(y_bar) == 1:
        return unbroadcast(np.cumsum(y_bar[::-1])[::-1].reshape(np.shape(a)), a)
    along = 0 if axis is None else axis
    return unbroadcast(np.flip(np.cumsum(np.flip(y_bar, along), along), along).reshape(np.shape(a)), a)


@pullback(np.cumprod)
def cumprod_pullback(y_bar, a, axis=None):
    """a_bar_i = the sum over k >= i of y_bar_k times the product of the first k entries without the i-th."""
    return cumprod_bar(y_bar, a, axis)


@cotangent_of(1)
def cumprod_bar(y_bar: Any, a: Any, axis: Any) -> Any:
    """The cotangent of a under its running product along `axis` (None: of all entries in order), exact with zeros."""
    along = 0 if axis is None else axis
    factors = conj(np.moveaxis(np.ravel(a) if axis is None else np.atleast_1d(a), along, -1))
    weights = np.moveaxis(y_bar, along, -1)
    # Horner's scheme from the back: rest_i = y_bar_i + a_(i+1) * rest_(i+1).
    rest = np.array(np.broadcast_to(weights, factors.shape), dtype=np.result_type(weights, factors, np.float32))
    for i in range(factors.shape[-1] - 2, -1, -1):
        rest[..., i] += factors[..., i + 1] * rest[..., i + 1]
    with np.errstate(all="ignore"):
        a_bar = _running_product(factors) * rest
    return unbroadcast(np.moveaxis(a_bar, -1, along).reshape(np.shape(a)), a)


_RUNS = ((_VECTOR,), (_TABLE,), (_TABLE, 0), (_TABLE, -1), (_STACK, 1), (_COMPLEX,), (_COMPLEX, 0), (0.6,))
examples(np.cumsum, *_RUNS, (np.array(2.5), 0), (np.zeros((0, 3)), 1))
examples(np.cumprod, *_RUNS, (np.array(2.5), 0), (np.array(2.5), -1), (np.zeros((0, 3)), 1))
examples(np.cumprod, (np.array([2.0, 0.0, 3.0, 0.0, 1.5]),))

_NAN = np.nan
_LINE = np.array([0.7, _NAN, -1.4, 2.2])
_GRID = np.array([[0.9, 2.1, _NAN, 1.3], [1.8, -1.1, 0.3, -0.4]])
_BLOCK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 - 1.5
_BLOCK[0, 1, 1] = _BLOCK[1, 2, 0] = _NAN

_PLANE = np.array([[0.5 + 0.3j, _NAN], [0.2 - 0.9j, 1.1 + 0.1j]])
_REAL_PAIRS = ((_LINE,), (_GRID,), (_GRID, 0), (_GRID, -1), (_BLOCK, (0, 2)), ([0.5, _NAN, 1.5],))
_NUMERIC_TOO = (*_REAL_PAIRS, (0.6,), (_PLANE,), (_PLANE, 1))


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


for _reduction in (np.nansum, np.nanprod, np.nanmean):
    examples(_reduction, *_NUMERIC_TOO)
    examples(_reduction, *_REAL_PAIRS[:-1], keepdims=True)
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


_ALL_RUNS = ((_LINE,), (_GRID,), (_GRID, 0), (_GRID, -1), (_BLOCK, 1), (_PLANE,), (_PLANE, 0), (0.6,))
examples(np.nancumsum, *_ALL_RUNS)
examples(np.nancumprod, *_ALL_RUNS)


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
    examples(_run, (_LINE[2:],), ([0.5, 1.5],), (np.zeros(0),))
    example(_run, _LINE[2:], include_initial=True)
    for _axis in (0, -1):
        example(_run, _GRID[1:], axis=_axis)
        example(_run, _PLANE[1:], axis=_axis, include_initial=True)

_NOT_GIVEN: Any = np._NoValue
_MASK = np.array([[True, True, False, True], [True, False, True, True]])


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


_f: Any
for _f in (np.sum, np.ndarray.sum):
    rrule.register(_f, options=True)(_sum(_f))
for _f in (np.prod, np.ndarray.prod):
    rrule.register(_f, options=True)(_prod(_f))
rrule.register(np.nansum, options=True)(_sum(np.nansum, True))
rrule.register(np.nanprod, options=True)(_prod(np.nanprod, True))

_WITH_NAN = np.where(_MASK, _TABLE, np.nan)
for _f, _x in ((np.sum, _TABLE), (np.ndarray.sum, _TABLE), (np.prod, _TABLE), (np.ndarray.prod, _TABLE)):
    examples(_f, (_x, 0), (_x, 1), where=_MASK)
    examples(_f, (_x,), (_x, 1, float, None, True, 1.5, _MASK), (_x, 0, None, None, False, 0.5))
    example(_f, _COMPLEX, axis=1, where=[[True], [False]], keepdims=True)
    example(_f, _x, axis=1, dtype=complex)
    example(_f, _x, dtype=int)
for _f in (np.nansum, np.nanprod):
    examples(_f, (_WITH_NAN, 1, None, None, True, 0.5), (_WITH_NAN, 0, None, None, False, 1.5, _TABLE > 0.0))
