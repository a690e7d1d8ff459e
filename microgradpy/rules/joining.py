"""NumPy's functions that join arrays into one, or split one into several.

The cotangent of a list or tuple of arrays is a list or tuple with one cotangent per array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import example, examples
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.foreign import as_array
from microgradpy.tangents.helpers import cotangent_of, cotangents_of_items
from microgradpy.tangents.types import NoTangent, is_structural_zero

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
    before: Any = (slice(None),) * (axis % z_bar.ndim)
    parts, start = [], 0
    for x in arrays:
        promoted = promote(x)
        stop = start + promoted.shape[axis]
        part = z_bar[*before, start:stop]
        parts.append(unbroadcast(part if promoted is x else np.reshape(part, np.shape(x)), x))
        start = stop
    if isinstance(arrays, np.ndarray):
        return np.stack(parts)
    return tuple(parts) if isinstance(arrays, tuple) else parts


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


@pullback(np.append)
def append_pullback(z_bar, arr, values, axis=None):
    """Each of the two gets its part of z_bar."""
    return appended_bar(z_bar, arr, values, axis, 0), appended_bar(z_bar, arr, values, axis, 1)


def appended_bar(z_bar: Any, arr: Any, values: Any, axis: int | None, number: int) -> Any:
    """The cotangent of the array (number 0) or of what was appended to it (number 1)."""
    return concatenate_bar(z_bar, (arr, values), axis)[number]


examples(np.append, (_VECTOR, 0.5), (_TABLE, _VECTOR), (_TABLE, _TABLE[:1], 0), (_TABLE, _TABLE[:, :1], -1))


@pullback(np.insert)
def insert_pullback(z_bar, arr, obj, values, axis=None, *, z):
    """Each of the two gets its part of z_bar."""
    return inserted_bar(z_bar, arr, obj, values, axis, z, 0), NoTangent(), inserted_bar(z_bar, arr, obj, values, axis, z, 1)


def inserted_bar(z_bar: Any, arr: Any, obj: Any, values: Any, axis: int | None, z: np.ndarray, number: int) -> Any:
    """The cotangent of the array (number 0) or of what was inserted into it (number 1). Where each entry went is seen from
    the same insertion of numbers. In whole numbers what is inserted is rounded."""
    if number and z.dtype.kind not in "fcO":
        return None
    count, added = np.size(arr), np.size(values)
    old = np.arange(count).reshape(np.shape(arr))
    new = np.arange(count, count + added).reshape(np.shape(values))
    total = np.zeros(count + added, np.result_type(z_bar))
    np.add.at(total, np.insert(old, obj, new, axis), z_bar)
    x, part = (values, total[count:]) if number else (arr, total[:count])
    return unbroadcast(np.reshape(part, np.shape(x)), x)


examples(np.insert, (_VECTOR, 1, 0.5), (_VECTOR, [0, 2, 2], _VECTOR), (_TABLE, 1, 7.0), (_TABLE, 1, _VECTOR, 0))
examples(np.insert, (_TABLE, [0, 2], _TABLE[:, :2], 1), (_TABLE, slice(0, 2), 0.5, -1), (_COMPLEX, 1, [1.5, 2.5], 1))
examples(np.insert, (_VECTOR, -1, [0.5, 1.5]), (_STACK, 1, _STACK[:, :, 0], 2))


@pullback(np.delete)
def delete_pullback(z_bar, arr, obj, axis=None):
    """z_bar at the entries that are left, zero elsewhere."""
    return deleted_bar(z_bar, arr, obj, axis)


@cotangent_of(1)
def deleted_bar(z_bar: Any, arr: Any, obj: Any, axis: int | None) -> Any:
    """The cotangent of the array from which entries were left out."""
    arr_bar = np.zeros(np.size(arr), np.result_type(z_bar))
    arr_bar[np.delete(np.arange(np.size(arr)).reshape(np.shape(arr)), obj, axis)] = z_bar
    return np.reshape(arr_bar, np.shape(arr))


examples(np.delete, (_VECTOR, 1), (_VECTOR, [0, -1]), (_TABLE, 2), (_TABLE, 1, 0), (_TABLE, slice(None, None, 2), 1))
examples(np.delete, (_STACK, [True, False, True], 1), (_COMPLEX, [], 0))


@pullback(np.split)
def split_pullback(y_bar, ary, indices_or_sections, axis=0):
    """ary_bar = the parts of y_bar, put together again."""
    return split_bar(y_bar, ary, indices_or_sections, axis)


@pullback(np.array_split)
def array_split_pullback(y_bar, ary, indices_or_sections, axis=0):
    """ary_bar = the parts of y_bar, put together again."""
    return split_bar(y_bar, ary, indices_or_sections, axis)


@pullback(np.hsplit)
def hsplit_pullback(y_bar, ary, indices_or_sections):
    """ary_bar = the parts of y_bar, put together again."""
    return split_bar(y_bar, ary, indices_or_sections, min(np.ndim(ary) - 1, 1))


@pullback(np.vsplit)
def vsplit_pullback(y_bar, ary, indices_or_sections):
    """ary_bar = the parts of y_bar, put together again."""
    return split_bar(y_bar, ary, indices_or_sections, 0)


def split_bar(y_bar: Any, ary: Any, indices_or_sections: Any, axis: int) -> Any:
    """The cotangent of an array that was split along `axis`; of parts that nobody used, zero. Indices that are not in
    order give parts that overlap, which add up."""
    used = [part for part in y_bar if not is_structural_zero(part)]
    if not used:
        return None
    ary_bar = np.zeros(np.shape(ary), np.result_type(*used))
    along = np.moveaxis(ary_bar, axis, 0)
    places = np.array_split(np.arange(len(along)), indices_or_sections)
    for place, part in zip(places, y_bar, strict=True):
        if not is_structural_zero(part):
            along[place] += np.moveaxis(part, axis, 0)
    return ary_bar


for _split in (np.split, np.array_split):
    examples(_split, (_VECTOR, 3), (_VECTOR, [1, 2]), (_TABLE, 2), (_TABLE, [1], 1), (_STACK, [2, 1], 1))
example(np.array_split, _VECTOR, 2)
examples(np.hsplit, (_VECTOR, 3), (_TABLE, [1]))
examples(np.vsplit, (_TABLE, 2), (_STACK, [1]))
