"""NumPy's functions that move entries without changing or losing any: the pullback moves them back."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import example, examples, non_differentiable, rrule
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.helpers import cotangent_of, numeric
from microgradpy.tangents.memory_order import order_of_reading
from microgradpy.tangents.types import NoTangent

_VECTOR = np.arange(1.0, 7.0)
_TABLE = np.arange(1.0, 7.0).reshape(2, 3)
_STACK = np.arange(1.0, 13.0).reshape(2, 3, 2)
_COMPLEX = _TABLE + 1j


@rrule.register(np.reshape)
def reshape_rrule(a, /, shape, order="C"):
    """a_bar = y_bar in a's shape."""
    read = order_of_reading(a, order)

    def reshape_pullback(y_bar):
        return NoTangent(), reshape_bar(y_bar, a, read), NoTangent(), NoTangent()

    return np.reshape(a, shape, order=order), reshape_pullback


@rrule.register(np.ravel)
def ravel_rrule(a, order="C"):
    """a_bar = y_bar in a's shape."""
    read = order_of_reading(a, order)

    def ravel_pullback(y_bar):
        return NoTangent(), reshape_bar(y_bar, a, read), NoTangent()

    return np.ravel(a, order=order), ravel_pullback


@cotangent_of(1)
def reshape_bar(y_bar: Any, a: Any, order: Any) -> Any:
    """The cotangent of an array whose entries were read in C or Fortran order."""
    if order not in ("C", "F"):
        raise MissingRuleError(f"reshaping in the order {order!r}", None, _ORDER_REMEDY)
    return np.reshape(y_bar, np.shape(a), order=order)


_ORDER_REMEDY = 'Use order="C" or order="F": the array is not contiguous.'
non_differentiable(order_of_reading)


examples(np.reshape, (_TABLE, (3, 2)), (_TABLE, 6), (_STACK, (3, -1)), (2.5, (1, 1)), (_COMPLEX, -1))
example(np.reshape, _TABLE, (3, 2), order="F")
examples(np.ravel, (_TABLE,), (_STACK,), (2.5,))
example(np.ravel, _TABLE, order="F")
for _order in ("K", "A"):
    examples(np.ravel, (_TABLE,), (np.asfortranarray(_TABLE),), (2.5,), order=_order)
example(np.ravel, _STACK[:, ::-1], order="A")
examples(np.reshape, (_TABLE, (3, 2), "A"), (np.asfortranarray(_TABLE), (3, 2), "A"))


@pullback(np.transpose)
def transpose_pullback(y_bar, a, axes=None):
    """a_bar = y_bar with its axes put back."""
    return transpose_bar(y_bar, axes)


@numeric
def transpose_bar(y_bar: Any, axes: Any) -> Any:
    """`y_bar` with its axes in the order they had before `np.transpose(a, axes)`. An integer stands for the axis
    of a vector."""
    if axes is None or isinstance(axes, int):
        return np.transpose(y_bar)
    return np.transpose(y_bar, np.argsort([axis % np.ndim(y_bar) for axis in axes]))


examples(np.transpose, (_TABLE,), (_STACK,), (_STACK, (1, 2, 0)), (_STACK, (-1, 0, 1)), (_VECTOR,), (2.5,))


@pullback(np.swapaxes)
def swapaxes_pullback(y_bar, a, axis1, axis2):
    """a_bar = y_bar with the same axes swapped."""
    return np.swapaxes(y_bar, axis1, axis2)


@pullback(np.moveaxis)
def moveaxis_pullback(y_bar, a, source, destination):
    """a_bar = y_bar with the axes moved back."""
    return np.moveaxis(y_bar, destination, source)


examples(np.swapaxes, (_TABLE, 0, 1), (_STACK, 0, -1))
examples(np.moveaxis, (_STACK, 0, -1), (_STACK, (0, 1), (2, 0)))


@pullback(np.expand_dims)
def expand_dims_pullback(y_bar, a, axis):
    """a_bar = y_bar in a's shape."""
    return np.reshape(y_bar, np.shape(a))


@pullback(np.squeeze)
def squeeze_pullback(y_bar, a, axis=None):
    """a_bar = y_bar in a's shape."""
    return np.reshape(y_bar, np.shape(a))


@pullback(np.atleast_1d, arity=1)
def atleast_1d_pullback(y_bar, a):
    """a_bar = y_bar in a's shape."""
    return np.reshape(y_bar, np.shape(a))


@pullback(np.atleast_2d, arity=1)
def atleast_2d_pullback(y_bar, a):
    """a_bar = y_bar in a's shape."""
    return np.reshape(y_bar, np.shape(a))


@pullback(np.atleast_3d, arity=1)
def atleast_3d_pullback(y_bar, a):
    """a_bar = y_bar in a's shape."""
    return np.reshape(y_bar, np.shape(a))


examples(np.expand_dims, (_VECTOR, 0), (_TABLE, (0, -1)), (2.5, 0))
examples(np.squeeze, (_TABLE[None],), (_TABLE[:, None, :], 1), (np.ones((1, 1)),))
for _promotion in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    examples(_promotion, (2.5,), (_VECTOR,), (_TABLE,), (_STACK,))


@pullback(np.broadcast_to)
def broadcast_to_pullback(y_bar, array, shape):
    """array_bar = y_bar summed over the axes along which the array was repeated."""
    return unbroadcast(y_bar, array)


examples(np.broadcast_to, (2.5, (2, 3)), (_TABLE, (4, 2, 3)), (_TABLE[:, :1], (2, 3)))


@pullback(np.flip)
def flip_pullback(y_bar, m, axis=None):
    """m_bar = y_bar, flipped again."""
    return np.flip(y_bar, axis)


@pullback(np.fliplr)
def fliplr_pullback(y_bar, m):
    """m_bar = y_bar, flipped again."""
    return np.fliplr(y_bar)


@pullback(np.flipud)
def flipud_pullback(y_bar, m):
    """m_bar = y_bar, flipped again."""
    return np.flipud(y_bar)


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


@pullback(np.pad)
def pad_pullback(y_bar, array, pad_width):
    """array_bar = the inner part of y_bar."""
    return inner_part(y_bar, array, pad_width)


@cotangent_of(1)
def inner_part(y_bar: Any, array: Any, pad_width: Any) -> Any:
    """The cotangent of an array that was padded with zeros."""
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(axis, pad_width.get(axis - np.ndim(array), 0)) for axis in range(np.ndim(array))]
        pad_width = [(width, width) if np.ndim(width) == 0 else width for width in pad_width]
    before = np.broadcast_to(pad_width, (np.ndim(array), 2))[:, 0]
    inner = tuple(slice(start, start + size) for start, size in zip(before.tolist(), np.shape(array), strict=True))
    return y_bar[inner]


examples(np.pad, (_VECTOR, 2), (_VECTOR, (1, 2)), (_TABLE, ((1, 0), (2, 3))), (_STACK, 1))
