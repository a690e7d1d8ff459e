"""Tiling, adding, removing and rearranging elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.manipulation.joining import concatenate_bar
from microgradpy.rules.numpy.strides import check_array
from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent

_VECTOR = np.arange(1.0, 7.0)
_TABLE = np.arange(1.0, 7.0).reshape(2, 3)
_STACK = np.arange(1.0, 13.0).reshape(2, 3, 2)


@pullback(np.flip)
def flip_pullback(y_bar, m, axis=None):
    """m_bar = y_bar, flipped again."""
    return np.flip(y_bar, axis)


@pullback(np.fliplr)
@pullback(np.flipud)
def mirrored_pullback(y_bar, m, *, f):
    """m_bar = y_bar, flipped again."""
    return f(y_bar)


@pullback(np.rot90)
def rot90_pullback(y_bar, m, k=1, axes=(0, 1)):
    """m_bar = y_bar, turned back."""
    return np.rot90(y_bar, -k, axes)


@pullback(np.roll)
def roll_pullback(y_bar, a, shift, axis=None):
    """a_bar = y_bar, rolled back."""
    return np.roll(y_bar, np.negative(shift), axis)


examples(np.flip, (_VECTOR,), (_TABLE,), (_STACK, 1), (_STACK, (0, 2)))
examples(np.fliplr, (_TABLE,))
examples(np.flipud, (_TABLE,), (_VECTOR,))
examples(np.rot90, (_TABLE,), (_TABLE, 2), (_STACK, 3, (1, 2)))
examples(np.roll, (_VECTOR, 2), (_TABLE, 1), (_TABLE, -1, 1), (_STACK, (1, 2), (0, 1)))


@pullback(np.repeat)
def repeat_pullback(y_bar, a, repeats, axis=None):
    """a_bar = for each entry the sum of y_bar over its repetitions."""
    return repeat_bar(y_bar, a, repeats, axis)


@cotangent_of(1)
def repeat_bar(y_bar: Any, a: Any, repeats: Any, axis: int | None) -> Any:
    """The cotangent of a under np.repeat. Counts of zero leave an entry out."""
    along = 0 if axis is None else axis
    entries = np.moveaxis(np.ravel(a) if axis is None else np.atleast_1d(a), along, 0)
    sums = np.zeros(entries.shape, np.result_type(y_bar))
    np.add.at(sums, np.repeat(np.arange(len(entries)), repeats), np.moveaxis(y_bar, along, 0))
    return np.reshape(np.moveaxis(sums, 0, along), np.shape(a))


@pullback(np.tile)
def tile_pullback(y_bar, A, reps):
    """A_bar = the sum of y_bar over the tiles."""
    return tile_bar(y_bar, A, reps)


@cotangent_of(1)
def tile_bar(y_bar: Any, a: Any, reps: Any) -> Any:
    """The cotangent of a under np.tile: each axis of y_bar is split into tiles and their entries."""
    counts = tuple(np.atleast_1d(reps).tolist())
    rank = max(len(counts), np.ndim(a))
    counts = (1,) * (rank - len(counts)) + counts
    sizes = (1,) * (rank - np.ndim(a)) + np.shape(a)
    tiles = np.reshape(y_bar, [size for pair in zip(counts, sizes, strict=True) for size in pair])
    return np.reshape(np.sum(tiles, axis=tuple(range(0, 2 * rank, 2))), np.shape(a))


examples(
    np.repeat, (_VECTOR, 3), (_TABLE, 2), (_TABLE, 2, 0), (_TABLE, np.array([1, 0, 3]), 1), (2.5, 4), (_STACK, 2, -1)
)
examples(np.repeat, (np.array(2.5), 2, 0), (np.array(2.5), 2, -1), (np.zeros((0, 3)), 2, 0))
examples(np.tile, (_VECTOR, 2), (_TABLE, (2, 1)), (_TABLE, (2, 1, 3)), (2.5, 3), (_STACK, 2))

_LINE = np.array([0.5, -1.5, 2.5])
_COMPLEX = _TABLE + 0.5j


@pullback(np.append)
def append_pullback(z_bar, arr, values, axis=None):
    """Each of the two gets its part of z_bar."""
    return appended_bar(z_bar, arr, values, axis, 0), appended_bar(z_bar, arr, values, axis, 1)


def appended_bar(z_bar: Any, arr: Any, values: Any, axis: int | None, number: int) -> Any:
    """The cotangent of the array (number 0) or of what was appended to it (number 1)."""
    return concatenate_bar(z_bar, (arr, values), axis)[number]


examples(np.append, (_LINE, 0.5), (_TABLE, _LINE), (_TABLE, _TABLE[:1], 0), (_TABLE, _TABLE[:, :1], -1))


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


examples(np.insert, (_LINE, 1, 0.5), (_LINE, [0, 2, 2], _LINE), (_TABLE, 1, 7.0), (_TABLE, 1, _LINE, 0))
examples(np.insert, (_TABLE, [0, 2], _TABLE[:, :2], 1), (_TABLE, slice(0, 2), 0.5, -1), (_COMPLEX, 1, [1.5, 2.5], 1))
examples(np.insert, (_LINE, -1, [0.5, 1.5]), (_STACK, 1, _STACK[:, :, 0], 2))


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


examples(np.delete, (_LINE, 1), (_LINE, [0, -1]), (_TABLE, 2), (_TABLE, 1, 0), (_TABLE, slice(None, None, 2), 1))
examples(np.delete, (_STACK, [True, False, True], 1), (_COMPLEX, [], 0))


@pullback(np.resize)
def resize_pullback(y_bar, a, new_shape):
    """a_bar = for each entry the sum of y_bar over its repetitions."""
    return resized_bar(y_bar, a, new_shape)


@cotangent_of(1)
def resized_bar(y_bar: Any, a: Any, new_shape: Any) -> Any:
    """The cotangent of a under np.resize, which fills a shape with the entries of a, again and again."""
    a_bar = np.zeros(np.size(a), np.result_type(y_bar))
    if a_bar.size:
        np.add.at(a_bar, np.resize(np.arange(np.size(a)), new_shape), y_bar)
    return np.reshape(a_bar, np.shape(a))


@rrule.register(np.trim_zeros)
def trim_zeros_rrule(filt, trim="fb"):
    """filt_bar = y_bar where filt was kept, zero elsewhere."""
    check_array(filt, "trim_zeros")

    def trim_zeros_pullback(y_bar):
        return NoTangent(), trimmed_bar(y_bar, filt, trim), NoTangent()

    return np.trim_zeros(filt, trim), trim_zeros_pullback


@cotangent_of(1)
def trimmed_bar(y_bar: Any, filt: Any, trim: str) -> np.ndarray:
    """The cotangent of an array from the ends of which zeros were cut off: all in front of the first other number."""
    filt_bar = np.zeros(np.shape(filt), np.result_type(y_bar))
    others = np.argwhere(filt)
    first = np.min(others, axis=0) if "f" in trim.lower() and len(others) else np.zeros(np.ndim(filt), int)
    filt_bar[tuple(slice(start, start + size) for start, size in zip(first, np.shape(y_bar), strict=True))] = y_bar
    return filt_bar


examples(np.resize, (_LINE, (2, 2)), (_TABLE, 14), (_STACK, (2, 3)), (2.5, 3), (_COMPLEX, (3, 3)), (_TABLE[:0], (2, 2)))

_PADDED = np.pad(_TABLE, ((1, 2), (2, 1)))
examples(np.trim_zeros, (_PADDED[1],), (_PADDED[1], "f"), (_PADDED[1], "B"), (_LINE,), (np.zeros(3),))
