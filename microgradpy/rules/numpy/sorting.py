"""Sorting, searching and counting."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples, non_differentiable
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.helpers import cotangent_of

non_differentiable(np.argmax, np.argmin, np.count_nonzero, np.argsort)
non_differentiable(np.nanargmax, np.nanargmin, np.argpartition, np.lexsort)
non_differentiable(np.searchsorted)

_VECTOR = np.array([0.7, -1.4, 2.2, 0.1])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_STACK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 - 1.5


@pullback(np.sort)
def sort_pullback(y_bar, a, axis=-1):
    """Each entry of y_bar goes back to the one entry of a that it came from."""
    return sort_bar(y_bar, a, axis)


@cotangent_of(1)
def sort_bar(y_bar: Any, a: Any, axis: int | None) -> Any:
    """The cotangent of a under np.sort(a, axis); of equal entries the first in a is the first in the result."""
    if axis is None:
        return np.reshape(sort_bar(y_bar, np.ravel(a), 0), np.shape(a))
    a_bar = np.empty(np.shape(a), np.result_type(y_bar))
    np.put_along_axis(a_bar, np.argsort(a, axis=axis, kind="stable"), y_bar, axis)
    return a_bar


examples(np.sort, (_VECTOR,), (_TABLE,), (_STACK, 1), (_STACK, None))

_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j, 0.4 - 1.2j])


@pullback(np.partition)
def partition_pullback(y_bar, a, kth, axis=-1, *, y):
    """Each entry of y_bar goes back to the one entry of a that it came from."""
    return reordered_bar(y_bar, a, y, axis)


@pullback(np.sort_complex)
def sort_complex_pullback(y_bar, a, *, y):
    """Each entry of y_bar goes back to the one entry of a that it came from."""
    return reordered_bar(y_bar, a, y, -1)


def comparable(x: Any) -> Any:
    """An array of objects as one of numbers, among which NaN has its place in the order."""
    return x.astype(float) if isinstance(x, np.ndarray) and x.dtype.kind == "O" else x


@cotangent_of(1)
def reordered_bar(y_bar: Any, a: Any, y: Any, axis: int | None) -> Any:
    """The cotangent of a, whose entries y has in another order along `axis`: sorted, the two are the same."""
    if axis is None:
        return np.reshape(reordered_bar(y_bar, np.ravel(a), y, 0), np.shape(a))
    a, y = comparable(a), comparable(y)
    a_bar = np.empty(np.shape(a), np.result_type(y_bar))
    in_order = np.take_along_axis(y_bar, np.argsort(y, axis=axis, kind="stable"), axis)
    np.put_along_axis(a_bar, np.argsort(a, axis=axis, kind="stable"), in_order, axis)
    return unbroadcast(a_bar, a)


examples(np.partition, (_VECTOR, 1), (_VECTOR, [0, 2]), (_TABLE, 0), (_TABLE, -1, 0), (_STACK, 1, 1), (_STACK, 5, None))
examples(np.partition, (_COMPLEX, 1), ([0.5, -1.5, 1.0], 1), (np.array([0.5, np.nan, -1.5, 0.2]), 1))
examples(np.sort_complex, (_COMPLEX,), (_VECTOR,), (_TABLE,))
