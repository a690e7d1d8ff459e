"""NumPy's further functions that cast, cut, repeat or put together arrays: each entry of the result is one of an argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.joining import split_bar
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.rules.sums import items_of, spread_over_items
from microgradpy.rules.windows import check_array
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.casts import made_of_bar
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent, is_structural_zero

_VECTOR = np.array([0.5, -1.5, 2.5])
_TABLE = np.arange(1.0, 7.0).reshape(2, 3)
_STACK = np.arange(1.0, 13.0).reshape(2, 3, 2)
_COMPLEX = _TABLE + 0.5j


@pullback(np.astype)
def astype_pullback(y_bar, x, dtype, /, *, copy=True, y):
    """x_bar = y_bar; none if x was rounded to integers."""
    return made_of_bar(y_bar, x, y)


@pullback(np.real_if_close)
def real_if_close_pullback(y_bar, a, tol=100):
    """a_bar = y_bar."""
    return unbroadcast(y_bar, a)


@pullback(np.asarray_chkfinite)
def asarray_chkfinite_pullback(y_bar, a, dtype=None, order=None, *, y):
    """a_bar = y_bar."""
    return made_of_bar(y_bar, a, y)


@pullback(np.asfortranarray)
def asfortranarray_pullback(y_bar, a, dtype=None, *, y):
    """a_bar = y_bar, in a's shape: a number has become an array of one."""
    return made_of_bar(np.reshape(y_bar, np.shape(a)), a, y)


@pullback(np.require)
def require_pullback(y_bar, a, dtype=None, requirements=None, *, y):
    """a_bar = y_bar, in a's shape."""
    return made_of_bar(np.reshape(y_bar, np.shape(a)), a, y)


@rrule.register(np.ndarray.to_device)
@rrule.register(np.generic.to_device)
def array_to_device_rrule(self, device, /):
    """self_bar = y_bar."""

    def array_to_device_pullback(y_bar):
        return NoTangent(), y_bar, NoTangent()

    return self.to_device(device), array_to_device_pullback


examples(np.astype, (_TABLE, float), (_TABLE, complex), (_TABLE, int), (_COMPLEX, complex))
examples(np.real_if_close, (2.5,), (_TABLE,), (_COMPLEX,))
for _maker in (np.asarray_chkfinite, np.asfortranarray, np.require):
    examples(_maker, (2.5,), (_VECTOR,), (_TABLE,), ([1.5, 2.5],), (_COMPLEX,), ((1.5, 2.5 + 1.0j),), (_VECTOR, complex))
example(np.require, _TABLE, float, ["F", "O"])
example(np.ndarray.to_device, _TABLE, "cpu")
example(np.generic.to_device, np.float64(1.5), "cpu")


@pullback(np.rollaxis)
def rollaxis_pullback(y_bar, a, axis, start=0):
    """a_bar = y_bar with the axis moved back."""
    return rollaxis_bar(y_bar, axis, start)


def rollaxis_bar(y_bar: Any, axis: int, start: int) -> Any:
    """`y_bar` with its axes in the order they had before np.rollaxis, which puts one in front of another."""
    axis, start = axis % np.ndim(y_bar), start + np.ndim(y_bar) if start < 0 else start
    return np.moveaxis(y_bar, start - 1 if axis < start else start, axis)


@pullback(np.dsplit)
def dsplit_pullback(y_bar, ary, indices_or_sections):
    """ary_bar = the parts of y_bar, put together again."""
    return split_bar(y_bar, ary, indices_or_sections, 2)


@pullback(np.unstack)
def unstack_pullback(y_bar, x, /, *, axis=0):
    """x_bar = the parts of y_bar, put together again."""
    return unstacked_bar(y_bar, x, axis)


def unstacked_bar(y_bar: Any, x: Any, axis: int) -> Any:
    """The cotangent of an array that was taken apart along `axis`; of parts that nobody used, zero."""
    used = [part for part in y_bar if not is_structural_zero(part)]
    if not used:
        return None
    x_bar = np.zeros(np.shape(x), np.result_type(*used))
    along = np.moveaxis(x_bar, axis, 0)
    for place, part in enumerate(y_bar):
        if not is_structural_zero(part):
            along[place] = part
    return x_bar


@rrule.register(np.broadcast_arrays)
def broadcast_arrays_rrule(*args):
    """Each array gets the sum of its part of y_bar over the axes along which it was repeated."""

    def broadcast_arrays_pullback(y_bar):
        return NoTangent(), *(unbroadcast(part, x) for part, x in zip(y_bar, args, strict=True))

    return np.broadcast_arrays(*args), broadcast_arrays_pullback


examples(np.rollaxis, (_TABLE, 1), (_STACK, 2), (_STACK, 0, 3), (_STACK, -1, 1), (_STACK, 1, -1), (_VECTOR, 0))
examples(np.dsplit, (_STACK, 2), (_STACK, [1]))
examples(np.unstack, (_VECTOR,), (_TABLE,), (_STACK,), (_COMPLEX,))
example(np.unstack, _STACK, axis=-1)
examples(np.broadcast_arrays, (_TABLE, _VECTOR), (2.5, _TABLE[:, :1], _VECTOR), (_COMPLEX, _VECTOR), (_TABLE,))


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


@pullback(np.diagflat)
def diagflat_pullback(y_bar, v, k=0):
    """v_bar = the diagonal of y_bar, in v's shape."""
    return unbroadcast(np.reshape(np.diagonal(y_bar, k), np.shape(v)), v)


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


examples(np.resize, (_VECTOR, (2, 2)), (_TABLE, 14), (_STACK, (2, 3)), (2.5, 3), (_COMPLEX, (3, 3)), (_TABLE[:0], (2, 2)))
examples(np.diagflat, (_VECTOR,), (_TABLE, 1), (2.5, -2), (_COMPLEX,), ([0.5, 1.5],))
_PADDED = np.pad(_TABLE, ((1, 2), (2, 1)))
examples(np.trim_zeros, (_PADDED[1],), (_PADDED[1], "f"), (_PADDED[1], "B"), (_VECTOR,), (np.zeros(3),))


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


@rrule.register(np.fromiter)
def fromiter_rrule(iter, dtype):
    """Each item gets its entry of y_bar."""
    items = items_of(iter)
    y = np.fromiter(items, dtype)

    def fromiter_pullback(y_bar):
        return NoTangent(), fromiter_bar(y_bar, items, y), NoTangent()

    return y, fromiter_pullback


def fromiter_bar(y_bar: Any, items: Any, y: Any) -> Any:
    """The cotangent of a collection of numbers of which the array y was made."""
    return spread_over_items([made_of_bar(bar, item, y) for bar, item in zip(y_bar, items, strict=True)], items)


examples(np.fromiter, ([0.5, 1.5], float), ((0.5, 2.0j), complex), ([0.5, 1.5], int), (_VECTOR, float), ([], float))
