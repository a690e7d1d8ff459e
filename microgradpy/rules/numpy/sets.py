"""Set routines."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.manipulation.joining import concatenate_bar
from microgradpy.rules.numpy.sorting import comparable
from microgradpy.rules.registry import example, examples, non_differentiable
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import is_structural_zero

non_differentiable(np.isin)

_VECTOR = np.array([0.7, -1.4, 2.2, 0.1])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j, 0.4 - 1.2j])


@pullback(np.unique)
def unique_pullback(y_bar, ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, y):
    """Each entry of y_bar goes to the first entry, or the first part along the axis, that has this value."""
    return unique_bar(y_bar, ar, y, axis)


def unique_bar(y_bar: Any, ar: Any, y: Any, axis: int | None) -> Any:
    """The cotangent of an array from that of its values y; these may come with numbers, which have none."""
    if isinstance(y, tuple):
        y_bar, y = y_bar[0], y[0]
    if is_structural_zero(y_bar):
        return None
    return first_bar(y_bar, ar, y) if axis is None else parts_bar(y_bar, ar, axis)


@cotangent_of(1)
def first_bar(y_bar: Any, a: Any, y: Any) -> Any:
    """The cotangent of an array of the values of which y has some, in any order."""
    a, y = comparable(a), comparable(y)
    values, first = np.unique(a, return_index=True)
    a_bar = np.zeros(np.size(a), np.result_type(y_bar))
    np.add.at(a_bar, first[np.searchsorted(values, y)], y_bar)
    return unbroadcast(np.reshape(a_bar, np.shape(a)), a)


@cotangent_of(1)
def parts_bar(y_bar: Any, a: Any, axis: int) -> Any:
    """The cotangent of an array the different parts of which, along an axis, were taken in their order."""
    first = np.unique(comparable(a), return_index=True, axis=axis)[1]
    a_bar = np.zeros(np.shape(a), np.result_type(y_bar))
    np.moveaxis(a_bar, axis, 0)[first] = np.moveaxis(y_bar, axis, 0)
    return unbroadcast(a_bar, a)


@pullback(np.unique_values)
@pullback(np.unique_counts)
@pullback(np.unique_inverse)
@pullback(np.unique_all)
def unique_parts_pullback(y_bar, x, *, y):
    """Each entry of the cotangent of the values goes to the first entry that has this value."""
    return unique_bar(y_bar, x, y, None)


examples(np.unique, (_VECTOR,), (_TABLE,), ([0.5, -0.5],), (_VECTOR, True), (_TABLE, True, True, True), (_COMPLEX,))
examples(np.unique, (_TABLE, False, False, False, 1), (_TABLE, True, False, True, 0), (np.array([0.5, np.nan, -1.5]),))
example(np.unique, np.array([0.5, np.nan, -1.5, np.nan]), equal_nan=False)
for _distinct in (np.unique_counts, np.unique_inverse, np.unique_all):
    examples(_distinct, (_VECTOR,), (_TABLE,), (_COMPLEX,))
# Its values may come in any order, which need not stay the same when one of them moves.
examples(np.unique_values, (_VECTOR[:1],), (0.5,))


@pullback(np.union1d)
def union1d_pullback(y_bar, ar1, ar2, *, y):
    """Each entry of y_bar goes to the first entry, of both arrays, that has this value."""
    return set_bar(y_bar, y, ar1, ar2, 0), set_bar(y_bar, y, ar1, ar2, 1)


@pullback(np.setxor1d)
def setxor1d_pullback(y_bar, ar1, ar2, assume_unique=False, *, y):
    """Each entry of y_bar goes to the first entry, of both arrays, that has this value."""
    return set_bar(y_bar, y, ar1, ar2, 0), set_bar(y_bar, y, ar1, ar2, 1)


@pullback(np.setdiff1d)
def setdiff1d_pullback(y_bar, ar1, ar2, assume_unique=False, *, y):
    """Each entry of y_bar goes to the first entry of ar1 that has this value."""
    return first_bar(y_bar, ar1, y)


def set_bar(y_bar: Any, y: Any, ar1: Any, ar2: Any, number: int) -> Any:
    """The cotangent of ar1 (number 0) or ar2 (number 1), of whose values y has some."""
    both = np.concatenate((ar1, ar2), axis=None)
    return concatenate_bar(first_bar(y_bar, both, y), (ar1, ar2), None)[number]


for _set in (np.union1d, np.setxor1d, np.setdiff1d):
    examples(_set, (_VECTOR, _TABLE[0]), (_TABLE, _VECTOR), (_COMPLEX, _VECTOR), ([0.5, 1.5], 2.0))
for _set in (np.setxor1d, np.setdiff1d):
    examples(_set, (_VECTOR, _TABLE[0], True))
