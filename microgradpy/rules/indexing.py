"""NumPy's functions that pick entries by number or by rank, and differences of neighbours.

What is picked more than once gets the sum. `x[...]` itself is `operator.getitem`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import example, examples, non_differentiable, rrule
from microgradpy.rules.sums import spread_over_items
from microgradpy.tangents.arithmetic import conj, cotangent_dtype, unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent, is_structural_zero

non_differentiable(np.searchsorted, np.unravel_index, np.ravel_multi_index, np.indices, np.triu_indices)
non_differentiable(np.diag_indices_from, np.tril_indices_from, np.triu_indices_from)
non_differentiable(np.tril_indices, np.diag_indices, np.isin)

_VECTOR = np.array([0.7, -1.4, 2.2, 0.1])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
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


@rrule.register(np.ndarray.compress)
def array_compress_rrule(self, condition, axis=None):
    """self_bar = y_bar at the entries that were taken, zero elsewhere."""

    def array_compress_pullback(y_bar):
        return NoTangent(), compress_bar(y_bar, self, condition, axis), NoTangent(), NoTangent()

    return self.compress(condition, axis), array_compress_pullback


@cotangent_of(1)
def compress_bar(y_bar: Any, a: Any, condition: Any, axis: int | None) -> np.ndarray:
    """The cotangent of a under np.compress: of all its entries in order if the axis is None."""
    a_bar = np.zeros(np.size(a), np.result_type(y_bar))
    a_bar[np.compress(condition, np.arange(np.size(a)).reshape(np.shape(a)), axis)] = y_bar
    return np.reshape(a_bar, np.shape(a))


examples(np.compress, ([True, False, True], _VECTOR), ([0, 1], _TABLE, 0), ([1, 0, 0, 1, 1], _TABLE), ([], _TABLE, 1))
examples(np.ndarray.compress, (_VECTOR, [True, False, True]), (_STACK, [False, True], -1))


@pullback(np.choose)
def choose_pullback(y_bar, a, choices, *, mode="raise"):
    """Each entry of y_bar goes to the choice that it was taken from."""
    return NoTangent(), choices_bar(y_bar, a, choices, mode)


@rrule.register(np.ndarray.choose)
def array_choose_rrule(self, choices, *, mode="raise"):
    """Each entry of y_bar goes to the choice that it was taken from."""

    def array_choose_pullback(y_bar):
        return NoTangent(), NoTangent(), choices_bar(y_bar, self, choices, mode)

    return self.choose(choices, mode=mode), array_choose_pullback


def choices_bar(y_bar: Any, a: Any, choices: Any, mode: str) -> Any:
    """The cotangent of the choices of which entry by entry the one numbered `a` was taken."""
    last = len(choices) - 1
    numbers = np.asarray(a) if mode == "raise" else np.clip(a, 0, last) if mode == "clip" else np.mod(a, last + 1)
    return spread_over_items([unbroadcast(np.where(numbers == k, y_bar, 0.0), x) for k, x in enumerate(choices)], choices)


_NUMBERS = np.array([0, 1, 0, 1])
examples(np.choose, (_NUMBERS, [_VECTOR, _VECTOR[::-1]]), (_NUMBERS, (0.5, _VECTOR)), ([[1], [0]], [_TABLE, _TABLE[0]]))
examples(np.choose, (_NUMBERS, np.array([_VECTOR, -_VECTOR])), (1, [_VECTOR, _TABLE[0, 0]]))
examples(np.choose, (_NUMBERS - 3, [_VECTOR, 1.5, 0.5]), mode="wrap")
examples(np.choose, (3 * _NUMBERS - 1, [_VECTOR, 1.5, 0.5]), mode="clip")
examples(np.ndarray.choose, (_NUMBERS, [_VECTOR, 1.5]))


@pullback(np.diff)
def diff_pullback(z_bar, a, n=1, axis=-1):
    """z_i = a_(i+1) - a_i, n times: a_bar_i = z_bar_(i-1) - z_bar_i, n times."""
    return diff_bar(z_bar, a, n, axis)


@cotangent_of(1)
def diff_bar(z_bar: Any, a: Any, n: int, axis: int) -> Any:
    """The cotangent of a under np.diff(a, n, axis); zeros if a is too short for a difference."""
    if n == 0:
        return z_bar
    if np.size(z_bar) == 0:
        return np.zeros(np.shape(a), np.result_type(z_bar))
    border = [(1, 1) if i == axis % np.ndim(z_bar) else (0, 0) for i in range(np.ndim(z_bar))]
    for _ in range(n):
        z_bar = -np.diff(np.pad(z_bar, border), axis=axis)
    return z_bar


examples(np.diff, (_VECTOR[:1],), (_TABLE, 3), (_TABLE[:0], 1, 0))
examples(np.diff, (_VECTOR,), (_VECTOR, 2), (_TABLE,), (_TABLE, 1, 0), (_STACK, 2, 1), (_VECTOR, 0))


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


@pullback(np.trapezoid)
def trapezoid_pullback(z_bar, y, x=None, dx=1.0, axis=-1):
    """z = the sum of (x_(i+1) - x_i) * (y_i + y_(i+1)) / 2, or with dx for all the steps."""
    return (
        trapezoid_height_bar(z_bar, y, x, dx, axis),
        trapezoid_place_bar(z_bar, y, x, axis),
        trapezoid_step_bar(z_bar, y, x, dx, axis),
    )


@cotangent_of(1)
def trapezoid_height_bar(z_bar: Any, y: Any, x: Any, dx: Any, axis: int) -> Any:
    """The cotangent of the heights: each gets half of the steps on its two sides."""
    if np.shape(y)[axis] == 0:
        return np.zeros(np.shape(y), cotangent_dtype(np.asarray(y).dtype))
    steps = dx if x is None else np.diff(_along(x, y, axis), axis=axis)
    half = 0.5 * np.broadcast_to(np.expand_dims(z_bar, axis) * conj(steps), _fewer(y, axis))
    return unbroadcast(_at_ends(half, axis, 1.0), y)


@cotangent_of(2)
def trapezoid_place_bar(z_bar: Any, y: Any, x: Any, axis: int) -> Any:
    """The cotangent of the places x of the heights."""
    if x is None:
        return None
    if np.shape(y)[axis] == 0:
        return np.zeros(np.shape(x), cotangent_dtype(np.asarray(x).dtype))
    x_bar = _at_ends(np.expand_dims(z_bar, axis) * conj(_means(y, axis)), axis, -1.0)
    return unbroadcast(np.moveaxis(x_bar, axis, -1) if np.ndim(x) == 1 else x_bar, x)


def trapezoid_step_bar(z_bar: Any, y: Any, x: Any, dx: Any, axis: int) -> Any:
    """The cotangent of the one step of all intervals, or of an array of steps."""
    return None if x is not None else unbroadcast(np.expand_dims(z_bar, axis) * conj(_means(y, axis)), dx)


def _along(x: Any, y: Any, axis: int) -> Any:
    """The places of the heights, which may be given as a vector, along the axis of y that they belong to."""
    if np.ndim(x) > np.ndim(y):
        raise MissingRuleError("np.trapezoid of places with more axes than the heights", None, "Repeat the heights first.")
    return np.moveaxis(np.reshape(x, (1,) * (np.ndim(y) - 1) + (-1,)), -1, axis) if np.ndim(x) == 1 else x


def _means(y: Any, axis: int) -> np.ndarray:
    along = np.moveaxis(np.asarray(y), axis, 0)
    return np.moveaxis(0.5 * (along[1:] + along[:-1]), 0, axis)


def _fewer(y: Any, axis: int) -> tuple[int, ...]:
    """The shape of y with one entry less along the axis."""
    sizes = list(np.shape(y))
    sizes[axis] -= 1
    return tuple(sizes)


def _at_ends(parts: np.ndarray, axis: int, start: float) -> np.ndarray:
    """For each point the part of the interval that it ends, plus `start` times that of the interval it starts."""
    border = [(1, 1) if i == axis % parts.ndim else (0, 0) for i in range(parts.ndim)]
    along = np.moveaxis(np.pad(parts, border), axis, 0)
    return np.moveaxis(along[:-1] + start * along[1:], 0, axis)


examples(np.trapezoid, (_VECTOR, None, _VECTOR[1:]), (_TABLE, None, _TABLE[:, 1:]), (_TABLE[:, :0],))
examples(np.trapezoid, (_VECTOR,), (_TABLE, np.array([0.0, 0.4, 1.5])), (_VECTOR, None, 0.3), (_TABLE, _TABLE**2))
example(np.trapezoid, _STACK, np.array([0.1, 0.9, 1.5]), axis=1)
example(np.trapezoid, _STACK, None, 0.3, axis=0)
_COMPLEX = np.array([0.2 + 0.7j, 1.1 - 0.4j, -0.6 + 0.3j, 0.9 - 1.2j])
examples(np.trapezoid, (_COMPLEX,), (_COMPLEX, _COMPLEX**2), (_VECTOR, _COMPLEX), (_COMPLEX, _VECTOR))
example(np.trapezoid, _COMPLEX, None, 0.3 - 0.2j)
