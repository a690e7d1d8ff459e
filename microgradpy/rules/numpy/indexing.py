"""Indexing routines: the cotangent goes back to where the entries are from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.entries import Rule
from microgradpy.rules.numpy.options import plain_bars
from microgradpy.rules.registry import example, examples, non_differentiable, rrule
from microgradpy.rules.sums import spread_over_items
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent, is_structural_zero

_ROW = np.array([0.4, -1.3, 2.2])
_COLUMN = np.array([[0.7], [-0.3]])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j, 1.1 - 0.4j])


@pullback(np.where)
def where_pullback(z_bar, condition, x, y):
    """x gets z_bar where the condition holds, y elsewhere. Selected, not multiplied: a NaN stays where it is."""
    return NoTangent(), unbroadcast(np.where(condition, z_bar, 0.0), x), unbroadcast(np.where(condition, 0.0, z_bar), y)


examples(
    np.where, (_TABLE > 0.0, _TABLE, 0.0), (_ROW > 0.0, _COLUMN, _TABLE), (True, 1.5, 2.5), (_ROW > 0.0, _COMPLEX, _ROW)
)


@pullback(np.where, arity=1)
def where_places_pullback(z_bar, condition):
    """The places where the condition holds: integers, which carry nothing."""
    return NoTangent()


examples(np.where, (_TABLE > 0.0,), (_ROW,))
non_differentiable(np.nonzero, np.flatnonzero)
non_differentiable(np.argwhere)


@pullback(np.diagonal)
def diagonal_pullback(y_bar, a, offset=0, axis1=0, axis2=1):
    """y_bar on the diagonal, zero elsewhere."""
    return diagonal_bar(y_bar, a, offset, axis1, axis2)


@cotangent_of(1)
def diagonal_bar(y_bar: Any, a: Any, offset: int, axis1: int, axis2: int) -> np.ndarray:
    """Zeros in a's shape with y_bar, whose last axis runs along it, on the diagonal."""
    a_bar = np.zeros(np.shape(a), np.result_type(y_bar))
    diagonal = np.moveaxis(a_bar, (axis1, axis2), (-2, -1))
    length = np.diagonal(diagonal, offset, -2, -1).shape[-1]
    index = np.arange(length)
    diagonal[..., index - min(offset, 0), index + max(offset, 0)] = y_bar
    return a_bar


non_differentiable(np.unravel_index, np.ravel_multi_index, np.indices, np.triu_indices)
non_differentiable(np.diag_indices_from, np.tril_indices_from, np.triu_indices_from)
non_differentiable(np.tril_indices, np.diag_indices)

_VECTOR = np.array([0.7, -1.4, 2.2, 0.1])
_STACK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 - 1.5


@rrule.register(np.ix_)
def ix_rrule(*args):
    """The i-th array along axis i: each argument has its entries in a row."""

    def ix_pullback(y_bar):
        return NoTangent(), *map(mesh_bar, y_bar, args)

    return np.ix_(*args), ix_pullback


def mesh_bar(y_bar: Any, x: Any) -> Any:
    """The cotangent of one argument; of booleans, which are turned into numbers of rows, there is none."""
    is_continuous = not is_structural_zero(y_bar) and np.result_type(x).kind in "fcO"
    return np.reshape(y_bar, np.shape(x)) if is_continuous else NoTangent()


examples(np.ix_, (_VECTOR, _VECTOR[:2]), (_VECTOR, np.array([0, 2]), np.array([True, False])))


@pullback(np.take)
def take_pullback(y_bar, a, indices, axis=None):
    """a_bar = zeros to which each entry of y_bar is added where it was taken."""
    return take_bar(y_bar, a, indices, axis)


@cotangent_of(1)
def take_bar(y_bar: Any, a: Any, indices: Any, axis: int | None) -> np.ndarray:
    """The cotangent of a under np.take: of all its entries in order if the axis is None."""
    a_bar = np.zeros(np.shape(a), np.result_type(y_bar))
    if np.size(y_bar) == 0:
        return a_bar
    if np.ndim(a) == 0:
        axis = None
    along = np.ravel(a_bar) if axis is None else np.moveaxis(a_bar, axis, 0)
    places = np.ndim(indices)
    start = 0 if axis is None else axis % np.ndim(a)
    parts = np.moveaxis(y_bar, range(start, start + places), range(places))
    np.add.at(along, np.asarray(indices, dtype=np.intp), parts)
    # The ravelled zeros and the moved axes are views: a_bar has been written.
    return a_bar


examples(np.take, (_VECTOR, 2), (_VECTOR, [0, 0, -1]), (_TABLE, np.array([[0, 5], [3, 0]])), (_TABLE, [1, 1], 1))
examples(np.take, (np.array(2.5), [0, 0], 0), (_TABLE[:, :0], [0], 0))
examples(np.take, (_STACK, np.array([[0, 2], [1, 1]]), 1), (_STACK, 1, -1), (_TABLE, [0, 1, 0], 0))


@pullback(np.take_along_axis)
def take_along_axis_pullback(y_bar, arr, indices, axis=-1):
    """arr_bar = zeros to which each entry of y_bar is added where it was taken."""
    return take_along_axis_bar(y_bar, arr, indices, axis)


@cotangent_of(1)
def take_along_axis_bar(y_bar: Any, arr: Any, indices: Any, axis: int | None) -> np.ndarray:
    """The cotangent of arr under np.take_along_axis."""
    if axis is None:
        return np.reshape(take_along_axis_bar(y_bar, np.ravel(arr), indices, 0), np.shape(arr))
    axis %= np.ndim(arr)
    whole = np.broadcast_shapes(*(np.delete(shape, axis) for shape in (np.shape(arr), np.shape(indices))))
    places = list(np.ogrid[tuple(map(slice, np.insert(whole, axis, np.shape(indices)[axis])))])
    for other, size in enumerate(np.shape(arr)):
        if size == 1 and other != axis:
            places[other] = np.zeros_like(places[other])
    places[axis] = indices
    arr_bar = np.zeros(np.shape(arr), np.result_type(y_bar))
    np.add.at(arr_bar, tuple(places), y_bar)
    return arr_bar


examples(np.take_along_axis, (_TABLE, np.array([[0, 0], [2, 1]]), 1), (_TABLE, np.array([[1, 0, 1]]), 0))
examples(np.take_along_axis, (_TABLE, np.array([5, 0, 0]), None), (_STACK, np.array([[[0], [1], [1]]]), -1))


@pullback(np.compress)
def compress_pullback(y_bar, condition, a, axis=None):
    """a_bar = y_bar at the entries that were taken, zero elsewhere."""
    return NoTangent(), compress_bar(y_bar, a, condition, axis)


@cotangent_of(1)
def compress_bar(y_bar: Any, a: Any, condition: Any, axis: int | None) -> np.ndarray:
    """The cotangent of a under np.compress: of all its entries in order if the axis is None."""
    a_bar = np.zeros(np.size(a), np.result_type(y_bar))
    a_bar[np.compress(condition, np.arange(np.size(a)).reshape(np.shape(a)), axis)] = y_bar
    return np.reshape(a_bar, np.shape(a))


examples(np.compress, ([True, False, True], _VECTOR), ([0, 1], _TABLE, 0), ([1, 0, 0, 1, 1], _TABLE), ([], _TABLE, 1))


@pullback(np.choose)
def choose_pullback(y_bar, a, choices, *, mode="raise"):
    """Each entry of y_bar goes to the choice that it was taken from."""
    return NoTangent(), choices_bar(y_bar, a, choices, mode)


def choices_bar(y_bar: Any, a: Any, choices: Any, mode: str) -> Any:
    """The cotangent of the choices of which entry by entry the one numbered `a` was taken."""
    numbers = numbers_of(a, choices, mode)
    return spread_over_items([unbroadcast(np.where(numbers == k, y_bar, 0.0), x) for k, x in enumerate(choices)], choices)


def numbers_of(a: Any, choices: Any, mode: str) -> np.ndarray:
    """The numbers of the choices, in this mode of NumPy's."""
    last = len(choices) - 1
    return np.asarray(a) if mode == "raise" else np.clip(a, 0, last) if mode == "clip" else np.mod(a, last + 1)


_NUMBERS = np.array([0, 1, 0, 1])
examples(np.choose, (_NUMBERS, [_VECTOR, _VECTOR[::-1]]), (_NUMBERS, (0.5, _VECTOR)), ([[1], [0]], [_TABLE, _TABLE[0]]))
examples(np.choose, (_NUMBERS, np.array([_VECTOR, -_VECTOR])), (1, [_VECTOR, _TABLE[0, 0]]))
examples(np.choose, (_NUMBERS - 3, [_VECTOR, 1.5, 0.5]), mode="wrap")
examples(np.choose, (3 * _NUMBERS - 1, [_VECTOR, 1.5, 0.5]), mode="clip")

_PLANE = np.array([0.5 + 0.3j, -0.7 + 0.6j, 0.4 - 1.2j])


@pullback(np.select)
def select_pullback(y_bar, condlist, choicelist, default=0):
    """Each entry of y_bar goes to the choice that it was taken from, or to the default."""
    return (
        NoTangent(),
        choices_bar(y_bar, first_true(condlist), choicelist, "raise"),
        unbroadcast(np.where(first_true(condlist) == len(condlist), y_bar, 0.0), default),
    )


def first_true(condlist: Any) -> np.ndarray:
    """The number of the first condition that is true; if none is, how many there are."""
    return np.select(condlist, list(range(len(condlist))), len(condlist))


@pullback(np.extract)
def extract_pullback(y_bar, condition, arr):
    """arr_bar = y_bar at the entries that were taken, zero elsewhere."""
    return NoTangent(), compress_bar(y_bar, arr, np.ravel(condition), None)


_FLAGS = np.array([True, False, False, True])
examples(np.select, ([_FLAGS, ~_FLAGS], [_VECTOR, 0.5]), ([_VECTOR > 0.5, _VECTOR > 0.0], (_VECTOR, -_VECTOR), 1.5))
examples(np.select, ([_FLAGS], [_VECTOR], _VECTOR**2), ([_TABLE > 0.0], [_VECTOR[:3]], _TABLE[:, :1]))
examples(np.extract, (_FLAGS, _VECTOR), (_TABLE > 0.0, _TABLE), ([1, 0, 1], _PLANE))

_LINE = np.array([0.7, -1.4, 2.2])


def _take(f: Callable[..., Any]) -> Rule:
    def take_with_options_rrule(a, indices, axis=None, out=None, mode="raise"):
        """As the plain rule, with the indices brought into the range of the axis."""
        if out is not None:
            raise MissingRuleError("np.take with `out` and `mode`", None, "Assign its value: y[...] = np.take(x, ...).")
        size = np.size(a) if axis is None else np.shape(a)[axis]
        places = np.asarray(indices)
        places = places % size if mode == "wrap" else np.clip(places, 0, size - 1) if mode == "clip" else places

        def take_with_options_pullback(y_bar):
            return NoTangent(), plain_bars(np.take, (a, places, axis), {}, y_bar)[0], *(NoTangent(),) * 4

        return f(a, indices, axis=axis, mode=mode), take_with_options_pullback

    return take_with_options_rrule


_f: Any
for _f in (np.take, np.ndarray.take):
    rrule.register(_f, options=True)(_take(_f))
    examples(_f, (_LINE, [0, 5, -4]), (_TABLE, [[0, 3], [-1, 1]], 1), mode="wrap")
    examples(_f, (_LINE, [0, 5, -4]), (_TABLE, 7, 0), mode="clip")
    example(_f, _TABLE, [0, 1], axis=1, mode="raise")
