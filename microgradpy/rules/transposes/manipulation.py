"""Transposes of what joining, splitting, padding and indexing call: what the function itself does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.creation.arrays import filled_bar
from microgradpy.rules.numpy.creation.matrices import diag_bar
from microgradpy.rules.numpy.indexing import choices_bar, compress_bar, diagonal_bar, numbers_of, take_along_axis_bar, take_bar
from microgradpy.rules.numpy.manipulation.joining import block_bar, concatenate_bar, joined_bar, stack_bar
from microgradpy.rules.numpy.manipulation.padding import inner_part
from microgradpy.rules.numpy.manipulation.rearranging import appended_bar, deleted_bar, inserted_bar, resized_bar
from microgradpy.rules.numpy.manipulation.splitting import split_bar, unstacked_bar
from microgradpy.rules.numpy.sorting import comparable, reordered_bar, sort_bar
from microgradpy.rules.registry import examples
from microgradpy.tangents.arithmetic import unbroadcast, zero_cotangent
from microgradpy.tangents.casts import cuts_off, made_of_bar, precise_as
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.projection import fill_tangent

_X = np.array([[0.3, -1.2, 2.0], [0.7, 0.1, -0.4]])
_V = np.array([1.5, -0.5, 0.25])
_Z = _X + 1j * _X[::-1]


# Joining: a tangent may be None where an array has none


@pullback(concatenate_bar)
def concatenate_bar_pullback(dots, z_bar, arrays, axis):
    """The tangents, joined."""
    return concatenate_dot(dots, z_bar, arrays, axis)


@pullback(joined_bar)
def joined_bar_pullback(dots, z_bar, arrays, promote, axis):
    """The tangents, joined."""
    return joined_dot(dots, z_bar, arrays, promote, axis)


@pullback(stack_bar)
def stack_bar_pullback(dots, z_bar, arrays, axis):
    """The tangents, stacked."""
    return stack_dot(dots, z_bar, arrays, axis)


@pullback(block_bar)
def block_bar_pullback(dots, z_bar, arrays):
    """The tangents, joined."""
    return block_dot(dots, z_bar, arrays)


@pullback(appended_bar)
def appended_bar_pullback(x_dot, z_bar, arr, values, axis, number):
    """The tangent of one of the two, and zeros for the other."""
    return appended_dot(x_dot, z_bar, arr, values, axis, number)


@cotangent_of(1)
def concatenate_dot(dots: Any, z: Any, arrays: Any, axis: int | None) -> Any:
    """The tangent of arrays joined to z."""
    return np.concatenate(fill_tangent(arrays, dots), axis)


@cotangent_of(1)
def joined_dot(dots: Any, z: Any, arrays: Any, promote: Callable[[Any], np.ndarray], axis: int) -> Any:
    """The same of arrays each of which was given more axes before."""
    return np.concatenate([promote(dot) for dot in fill_tangent(arrays, dots)], axis)


@cotangent_of(1)
def stack_dot(dots: Any, z: Any, arrays: Any, axis: int) -> Any:
    """The tangent of arrays stacked to z."""
    return np.stack(fill_tangent(arrays, dots), axis)


@cotangent_of(1)
def block_dot(dots: Any, z: Any, arrays: Any) -> Any:
    """The tangent of a nested list of arrays joined to z."""
    return np.block(fill_tangent(arrays, dots))


@cotangent_of(1)
def appended_dot(x_dot: Any, z: Any, arr: Any, values: Any, axis: int | None, number: int) -> Any:
    """The tangent of z, an array (number 0) to which something (number 1) was appended, for that of one of them."""
    return concatenate_dot((None, x_dot) if number else (x_dot, None), z, (arr, values), axis)


examples(concatenate_bar, (_V, [_V[:1], _V[1:]], 0), (_X, (_X[:, :1], _X[:, 1:]), 1), (_V, [[0.5], _V[1:]], None))
examples(concatenate_bar, (_X, np.reshape(_X, (2, 1, 3)), 0), (_Z, (_Z[:, :1], _X[:, 1:]), -1))
examples(joined_bar, (_V, [0.5, _V[1:]], np.atleast_1d, 0), (_X, (_V, _V), np.atleast_2d, 0))
examples(stack_bar, (_X, [_V, _V], 0), (_X.T, (_V, [0.5, 1.0, 2.0]), 1), (_X, _X, 0))
examples(block_bar, (_X, [[_X[:, :2], _X[:, 2:]]]), (_V, [0.5, _V[1:]]))
examples(appended_bar, (_V, _V[:2], _V[:1], None, 0), (_V, _V[:2], _V[0], None, 1), (_X, _X[:1], _X[1:], 0, 1))


@pullback(split_bar)
def split_bar_pullback(x_dot, y_bar, ary, indices_or_sections, axis):
    """The parts of the tangent."""
    return split_dot(x_dot, y_bar, indices_or_sections, axis)


@pullback(unstacked_bar)
def unstacked_bar_pullback(x_dot, y_bar, x, axis):
    """The parts of the tangent."""
    return unstacked_dot(x_dot, y_bar, axis)


@pullback(inner_part)
def inner_part_pullback(x_dot, y_bar, array, pad_width):
    """The tangent in a border of zeros."""
    return np.pad(x_dot, pad_width)


@pullback(filled_bar)
def filled_bar_pullback(value_dot, y_bar, fill_value, y):
    """What is filled with the tangent."""
    return filled_dot(value_dot, y)


@cotangent_of(1)
def filled_dot(value_dot: Any, y: Any) -> Any:
    """The tangent of an array y that was filled with a number, or a smaller array."""
    if value_dot is None or cuts_off(value_dot, y):
        return zero_cotangent(y)
    return np.full(np.shape(y), value_dot, np.result_type(y))


def split_dot(x_dot: Any, parts: Any, indices_or_sections: Any, axis: int) -> Any:
    """The tangents of the parts of an array."""
    return [None] * len(parts) if x_dot is None else np.array_split(x_dot, indices_or_sections, axis)


def unstacked_dot(x_dot: Any, parts: Any, axis: int) -> Any:
    """The tangents of the parts of an array that was taken apart along an axis."""
    return (None,) * len(parts) if x_dot is None else np.unstack(x_dot, axis=axis)


examples(split_bar, ([_V[:1], _V[1:]], _V, [1], 0), ([_X[:, :2], _X[:, 2:]], _X, 2, -1))
examples(unstacked_bar, ((_V, _V + 1.0), _X, 0), ((_V[:2], _V[1:], _V[:2]), _X, 1))
examples(inner_part, (_V, _V[:1], 1), (_X, _X[:, :1], ((0, 0), (2, 0))))
examples(filled_bar, (_X, 0.5, _X), (_X, _V, _X), (_Z, 0.5, _Z))


@pullback(made_of_bar)
def made_of_bar_pullback(x_dot, y_bar, x, y):
    """What is made of the tangent."""
    return made_of_dot(x_dot, y_bar, x, y)


@cotangent_of(1)
def made_of_dot(x_dot: Any, like: Any, x: Any, y: Any) -> Any:
    """The tangent of an array (or number) y that was made of x, in the shape of `like`."""
    if x_dot is None or cuts_off(x, y):
        return zero_cotangent(like)
    made = np.reshape(np.asarray(fill_tangent(x, x_dot), np.result_type(y)), np.shape(like))
    return made if isinstance(like, np.ndarray) else made[()]


@pullback(resized_bar)
def resized_bar_pullback(a_dot, y_bar, a, new_shape):
    """The tangent, again and again."""
    return np.resize(a_dot, new_shape)


@pullback(deleted_bar)
def deleted_bar_pullback(arr_dot, z_bar, arr, obj, axis):
    """The tangent without what was left out."""
    return np.delete(arr_dot, obj, axis)


@pullback(inserted_bar)
def inserted_bar_pullback(x_dot, z_bar, arr, obj, values, axis, z, number):
    """The tangent of one of the two, and zeros for the other."""
    return inserted_dot(x_dot, z, arr, obj, values, axis, number)


@cotangent_of(1)
def inserted_dot(x_dot: Any, z: Any, arr: Any, obj: Any, values: Any, axis: int | None, number: int) -> Any:
    """The tangent of z, an array (number 0) into which something (number 1) was inserted, for that of one of them."""
    if x_dot is None:
        return zero_cotangent(z)
    zeros = np.zeros(np.shape(arr if number else values), np.result_type(z))
    return np.insert(zeros, obj, x_dot, axis) if number else np.insert(x_dot, obj, zeros, axis)


_NUMBERS = np.array([0, 1, 0])
examples(made_of_bar, (_V, [0.5, 1.5, 2.5], _V), (_Z, _X, _Z), (_V[:2], (0.5, 1.5), _V[:2]), (0.5, 1.5, np.array(1.5)))
examples(made_of_bar, (_X, [_V, [0.5, 1.5, 2.5]], _X), (_V, [0.5, 1.5, 2.5], np.array([0, 1, 2])))
examples(resized_bar, (np.ones((2, 4)), _V, (2, 4)), (np.ones((2, 2)), _X, (2, 2)))
examples(deleted_bar, (_V[:2], _V, 1, None), (_X[:, :1], _X, [0, 2], 1))
examples(inserted_bar, *(((np.ones(4), _V, 1, np.array(0.5), None, np.ones(4), number)) for number in (0, 1)))
examples(inserted_bar, *(((np.ones((2, 4)), _X, 1, _V[:2], 1, np.ones((2, 4)), number)) for number in (0, 1)))


# Indexing, and other orders


@pullback(take_bar)
def take_bar_pullback(a_dot, y_bar, a, indices, axis):
    """The entries of the tangent."""
    return np.take(a_dot, indices, axis)


@pullback(take_along_axis_bar)
def take_along_axis_bar_pullback(a_dot, y_bar, arr, indices, axis):
    """The entries of the tangent."""
    return np.take_along_axis(a_dot, indices, axis)


@pullback(sort_bar)
def sort_bar_pullback(a_dot, y_bar, a, axis):
    """The tangent in the order of the array."""
    return sort_dot(a_dot, y_bar, a, axis)


@pullback(reordered_bar)
def reordered_bar_pullback(a_dot, y_bar, a, y, axis):
    """The tangent in the other order."""
    return reordered_dot(a_dot, y_bar, a, y, axis)


@cotangent_of(1)
def sort_dot(a_dot: Any, y: Any, a: Any, axis: int | None) -> Any:
    """The tangent of y = np.sort(a, axis)."""
    if axis is None:
        return sort_dot(np.ravel(a_dot), y, np.ravel(a), 0)
    return np.take_along_axis(np.asarray(a_dot), np.argsort(a, axis=axis, kind="stable"), axis)


@cotangent_of(1)
def reordered_dot(a_dot: Any, y_bar: Any, a: Any, y: Any, axis: int | None) -> Any:
    """The tangent of y, which has the entries of a in another order."""
    if axis is None:
        return reordered_dot(np.ravel(a_dot), y_bar, np.ravel(a), y, 0)
    a, y = comparable(a), comparable(y)
    in_order = np.take_along_axis(np.asarray(a_dot), np.argsort(a, axis=axis, kind="stable"), axis)
    y_dot = np.empty(np.shape(y), in_order.dtype)
    np.put_along_axis(y_dot, np.argsort(y, axis=axis, kind="stable"), in_order, axis)
    return y_dot


@pullback(compress_bar)
def compress_bar_pullback(a_dot, y_bar, a, condition, axis):
    """The entries of the tangent."""
    return np.compress(condition, a_dot, axis)


@pullback(choices_bar)
def choices_bar_pullback(dots, y_bar, a, choices, mode):
    """The entries of the tangents."""
    return choices_dot(dots, y_bar, a, choices, mode)


@cotangent_of(1)
def choices_dot(dots: Any, y: Any, a: Any, choices: Any, mode: str) -> Any:
    """The tangent of entries y, each of which was taken from one of the choices."""
    numbers, y_dot = numbers_of(a, choices, mode), np.zeros_like(y)
    for number, dot in enumerate(fill_tangent(choices, dots)):
        y_dot = np.where(numbers == number, dot, y_dot)
    return precise_as(y_dot, y)


_PLACES = np.array([0, 2, 0])
examples(take_bar, (_V, _V, _PLACES, None), (_X[:, _PLACES], _X, _PLACES, 1), (0.5, _V, 1, None), (_X[0], _X, 0, 0))
examples(compress_bar, (_V[:2], _V, [True, False, True], None), (_X[:, :1], _X, [0, 1], 1))
examples(choices_bar, (_V, _NUMBERS, [_V, _V], "raise"), (_V, _NUMBERS, (_V[0], _V), "clip"))
examples(choices_bar, (_V, 2 + _NUMBERS, [_V, _V], "raise"))
examples(take_along_axis_bar, (_X, _X, np.array([[0, 2, 0], [1, 1, 1]]), 1))
examples(sort_bar, (_X, _X, -1), (_X, _X, 0), (np.ravel(_X), _X, None))
examples(reordered_bar, (_X, _X, np.sort(_X), -1), (_V, _V, np.sort(_V), -1), (np.ravel(_X), _X, np.ravel(_X)[::-1], None))


@pullback(diagonal_bar)
def diagonal_bar_pullback(a_dot, y_bar, a, offset, axis1, axis2):
    """The diagonal; its sum where y_bar was repeated along it."""
    return unbroadcast(np.diagonal(a_dot, offset, axis1, axis2), y_bar)


@pullback(diag_bar)
def diag_bar_pullback(v_dot, y_bar, v, k):
    """The matrix with this diagonal, or the diagonal."""
    return np.diag(v_dot, k)


examples(diagonal_bar, (_V[:2], _X, 0, 0, 1), (_V[:1], _X, 0, 0, 1), (_V[:1], _X.T, 1, 0, 1))
examples(diag_bar, (np.diag(_V, 1), _V, 1), (_V[:2], _X, 0))
