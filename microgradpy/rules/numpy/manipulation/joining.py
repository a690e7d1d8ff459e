"""Joining arrays: the cotangent is cut where they meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import example, examples
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.foreign import as_array
from microgradpy.tangents.helpers import cotangents_of_items

_VECTOR = np.array([0.5, -1.5, 2.5])
_TABLE = np.arange(1.0, 7.0).reshape(2, 3)
_STACK = np.arange(1.0, 13.0).reshape(2, 3, 2)
_COMPLEX = _TABLE + 0.5j


@pullback(np.concatenate)
def concatenate_pullback(z_bar, arrays, /, axis=0):
    """Each array gets its part of z_bar."""
    return concatenate_bar(z_bar, arrays, axis)


@pullback(np.hstack)
def hstack_pullback(z_bar, tup):
    """Each array gets its part of z_bar."""
    return joined_bar(z_bar, tup, np.atleast_1d, min(np.ndim(z_bar) - 1, 1))


@pullback(np.vstack)
def vstack_pullback(z_bar, tup):
    """Each array gets its part of z_bar."""
    return joined_bar(z_bar, tup, np.atleast_2d, 0)


@pullback(np.dstack)
def dstack_pullback(z_bar, tup):
    """Each array gets its part of z_bar."""
    return joined_bar(z_bar, tup, np.atleast_3d, 2)


@pullback(np.column_stack)
def column_stack_pullback(z_bar, tup):
    """Each array gets its columns of z_bar."""
    return joined_bar(z_bar, tup, as_columns, 1)


def as_columns(x: Any) -> np.ndarray:
    """A vector as a column; a matrix as it is."""
    return np.asarray(x) if np.ndim(x) >= 2 else np.reshape(x, (-1, 1))


@cotangents_of_items(1)
def concatenate_bar(z_bar: Any, arrays: Any, axis: int | None) -> Any:
    """The cotangent of arrays joined along `axis`, or end to end after being flattened if it is None."""
    return joined_bar(z_bar, arrays, as_array, axis) if axis is not None else joined_bar(z_bar, arrays, np.ravel, 0)


@cotangents_of_items(1)
def joined_bar(z_bar: Any, arrays: Any, promote: Callable[[Any], np.ndarray], axis: int) -> Any:
    """The cotangent of arrays each of which was given more axes by `promote`, and then joined along `axis`."""
    if axis == 0 and promote is as_array and type(arrays) is list and z_bar.dtype.kind == "f":
        rows = _rows(z_bar, arrays)
        if rows is not None:
            return rows
    parts: list[Any] = []
    start = 0
    before: Any = (slice(None),) * (axis % z_bar.ndim)
    for x in arrays:
        promoted = promote(x)
        stop = start + promoted.shape[axis]
        part = z_bar[*before, start:stop]
        parts.append(unbroadcast(part if promoted is x else np.reshape(part, np.shape(x)), x))
        start = stop
    if isinstance(arrays, np.ndarray):
        return np.stack(parts)
    return tuple(parts) if isinstance(arrays, tuple) else parts


def _rows(z_bar: np.ndarray, arrays: list[Any]) -> list[Any] | None:
    """The parts of z_bar along its first axis, if all arrays are plain ones of floating point."""
    parts: list[Any] = []
    start = 0
    for x in arrays:
        if type(x) is not np.ndarray or x.dtype.kind != "f":
            return None
        stop = start + len(x)
        parts.append(z_bar[start:stop])
        start = stop
    return parts


examples(np.concatenate, ([_VECTOR, _VECTOR[:2]],), ((_TABLE, _TABLE[:1]),), ([_COMPLEX, _TABLE],), (_STACK,))
example(np.concatenate, [_TABLE, _TABLE[:, :1], _TABLE], axis=1)
example(np.concatenate, (_STACK, _STACK[..., :1]), axis=-1)
example(np.concatenate, [_TABLE, _VECTOR], axis=None)
examples(np.hstack, ([_VECTOR, _VECTOR[:1]],), ((_TABLE, _TABLE[:, :1]),), ([1.5, 2.5],), ([_VECTOR, 0.5],), (_STACK,))
examples(np.vstack, ([_VECTOR, _TABLE],), ((_TABLE, _TABLE[:1]),), ([_VECTOR, _VECTOR],), ([_STACK, _STACK[:1]],))
examples(np.dstack, ([_VECTOR, _VECTOR],), ((_TABLE, _TABLE),), ([_STACK, _TABLE],))
examples(np.column_stack, ([_VECTOR, _VECTOR],), ((_TABLE, _VECTOR[:2]),), ([_VECTOR, [1.0, 2.0, 3.0]],))


@pullback(np.stack)
def stack_pullback(z_bar, arrays, axis=0):
    """Each array gets its slice of z_bar."""
    return stack_bar(z_bar, arrays, axis)


@cotangents_of_items(1)
def stack_bar(z_bar: Any, arrays: Any, axis: int) -> Any:
    """The cotangent of arrays, all of one shape, that were stacked along a new axis."""
    along = np.moveaxis(z_bar, axis, 0)
    if isinstance(arrays, np.ndarray):
        return along
    parts = [unbroadcast(part, x) for part, x in zip(along, arrays, strict=True)]
    return tuple(parts) if isinstance(arrays, tuple) else parts


examples(np.stack, ([_VECTOR, _VECTOR],), ((_TABLE, _TABLE),), ([1.5, 2.5],), ([_COMPLEX, _TABLE],), (_STACK,))
example(np.stack, [_TABLE, _TABLE, _TABLE], axis=1)
example(np.stack, (_TABLE, _TABLE), axis=-1)


@pullback(np.block)
def block_pullback(z_bar, arrays):
    """Each array gets its part of z_bar."""
    return block_bar(z_bar, arrays)


def block_bar(z_bar: Any, arrays: Any) -> Any:
    """The cotangent of a nested list of arrays that were joined; where each entry went is seen from numbers that are joined
    in the same way."""
    numbers = _numbered(arrays, [0])
    by_number = np.empty(np.size(z_bar), np.result_type(z_bar))
    by_number[np.block(numbers)] = z_bar
    return _taken(by_number, numbers, arrays)


def _numbered(arrays: Any, start: list[int]) -> Any:
    """The same nested list with the numbers of the entries, counted from `start`, which is moved on."""
    if isinstance(arrays, list):
        return [_numbered(part, start) for part in arrays]
    start[0] += np.size(arrays)
    return np.arange(start[0] - np.size(arrays), start[0]).reshape(np.shape(arrays))


def _taken(by_number: np.ndarray, numbers: Any, arrays: Any) -> Any:
    if isinstance(arrays, list):
        return [_taken(by_number, *each) for each in zip(numbers, arrays, strict=True)]
    return unbroadcast(by_number[numbers], arrays)


examples(np.block, ([_VECTOR, 0.5],), ([[_TABLE, _TABLE[:, :1]], [_VECTOR, 2.5]],), (_TABLE,), ([_COMPLEX, _TABLE],))
examples(np.block, ([[[_STACK]], [[_STACK[:1]]]],), (2.5,))
