"""NumPy's reductions and running sums and products.

The cotangent of a reduction's result is repeated along the axes that were reduced (`expand_reduced`), times the
derivative. An axis may be None, an integer or a tuple. Examples with equal entries are left out: at a tie there is no
derivative.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import example, examples, non_differentiable
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.casts import in_precision_of
from microgradpy.tangents.foreign import as_array, is_foreign_array
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.linear import expand_reduced, mean_count, with_reduced_axes

non_differentiable(np.any, np.all, np.argmax, np.argmin, np.count_nonzero, np.argsort, np.nonzero, np.flatnonzero)
non_differentiable(np.argwhere, np.nanargmax, np.nanargmin, np.argpartition, np.digitize, np.lexsort)

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


@pullback(np.mean)
def mean_pullback(y_bar, a, axis=None, *, keepdims=False):
    """a_bar = y_bar / n, repeated, for n entries in a mean."""
    return expand_reduced(y_bar / mean_count(a, axis), a, axis, keepdims)


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


@pullback(np.max)
def max_pullback(y_bar, a, axis=None, *, keepdims=False, y):
    """The largest entries share y_bar evenly."""
    return extremum_bar(y_bar, a, y, axis, keepdims)


@pullback(np.amax)
def amax_pullback(y_bar, a, axis=None, *, keepdims=False, y):
    """The largest entries share y_bar evenly."""
    return extremum_bar(y_bar, a, y, axis, keepdims)


@pullback(np.min)
def min_pullback(y_bar, a, axis=None, *, keepdims=False, y):
    """The smallest entries share y_bar evenly."""
    return extremum_bar(y_bar, a, y, axis, keepdims)


@pullback(np.amin)
def amin_pullback(y_bar, a, axis=None, *, keepdims=False, y):
    """The smallest entries share y_bar evenly."""
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


for _reduction in (np.sum, np.mean, np.prod):
    examples(_reduction, *_NUMERIC)
    examples(_reduction, *_REAL[1:], keepdims=True)
for _extremum in (np.max, np.amax, np.min, np.amin, np.ptp):
    examples(_extremum, *_REAL)
    examples(_extremum, *_REAL[1:], keepdims=True)
example(np.sum, _STACK, axis=(0, -1))
example(np.mean, _STACK, axis=1, keepdims=True)
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
