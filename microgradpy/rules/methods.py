"""The attributes of arrays, and of the NumPy scalars that sums and items are, and their methods that move entries.

A method has the rule of the function of the same name, written with the method call. Methods that write (`fill`, `sort`, `put`)
and `flat`, through which one may write, have none: they need a run that tracks writes. Attributes that give other access to the
memory (`base`, `data`, `ctypes`) are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.indexing import take_bar
from microgradpy.rules.linear import diagonal_bar
from microgradpy.rules.registry import (
    attribute_rule,
    example,
    examples,
    mark_inert_attribute,
    non_differentiable,
    rrule,
)
from microgradpy.rules.results import check_unstructured
from microgradpy.rules.shape import repeat_bar, reshape_bar, transpose_bar
from microgradpy.tangents.arithmetic import conj, stack_items, unbroadcast, zero_cotangent
from microgradpy.tangents.casts import made_of_bar
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.linear import expand_reduced
from microgradpy.tangents.memory_order import copied, order_of_reading
from microgradpy.tangents.types import NoTangent

for _class in (np.ndarray, np.generic):
    mark_inert_attribute(_class, "shape", "ndim", "size", "dtype", "itemsize", "nbytes", "flags", "strides", "device")
    non_differentiable(_class.all, _class.any, _class.argmax, _class.argmin, _class.argsort, _class.nonzero)
    non_differentiable(_class.searchsorted, _class.round)
non_differentiable(np.ndarray.argpartition)
for _scalar_class in (np.float64, np.float32, np.float16, np.longdouble):
    non_differentiable(_scalar_class.is_integer)

_VECTOR = np.array([0.7, -1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_STACK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 - 1.5
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j, 0.4 - 1.2j])
_NUMBER = np.float64(1.3)


@attribute_rule(np.ndarray, "T")
@attribute_rule(np.generic, "T")
def transposed_rrule(self):
    """self_bar = y_bar.T."""

    def transposed_pullback(y_bar):
        return NoTangent(), np.transpose(y_bar)

    return self.T, transposed_pullback


@attribute_rule(np.ndarray, "mT")
def matrix_transposed_rrule(self):
    """self_bar = y_bar.mT."""

    def matrix_transposed_pullback(y_bar):
        return NoTangent(), np.swapaxes(y_bar, -1, -2)

    return self.mT, matrix_transposed_pullback


@attribute_rule(np.ndarray, "real")
@attribute_rule(np.generic, "real")
def real_part_rrule(self):
    """self_bar = y_bar."""

    def real_part_pullback(y_bar):
        return NoTangent(), y_bar

    return self.real, real_part_pullback


@attribute_rule(np.ndarray, "imag")
@attribute_rule(np.generic, "imag")
def imaginary_part_rrule(self):
    """self_bar = i y_bar, whose real part, all that a real array has, is 0."""

    def imaginary_part_pullback(y_bar):
        return NoTangent(), unbroadcast(1j * y_bar, self)

    return self.imag, imaginary_part_pullback


examples(
    getattr, (_TABLE, "T"), (_STACK, "mT"), (_COMPLEX, "real"), (_COMPLEX, "imag"), (_VECTOR, "imag"), (_NUMBER, "T")
)


@rrule.register(np.ndarray.reshape, arity=2)
@rrule.register(np.generic.reshape, arity=2)
def array_reshape_rrule(self, shape, *, order="C"):
    """self_bar = y_bar in the shape of self."""
    read = order_of_reading(self, order)

    def array_reshape_pullback(y_bar):
        return NoTangent(), reshape_bar(y_bar, self, read), NoTangent()

    return self.reshape(shape, order=order), array_reshape_pullback


@rrule.register(np.ndarray.reshape, arity=3)
@rrule.register(np.generic.reshape, arity=3)
def array_reshape_to_matrix_rrule(self, rows, columns, *, order="C"):
    """self_bar = y_bar in the shape of self."""
    read = order_of_reading(self, order)

    def array_reshape_to_matrix_pullback(y_bar):
        return NoTangent(), reshape_bar(y_bar, self, read), NoTangent(), NoTangent()

    return self.reshape(rows, columns, order=order), array_reshape_to_matrix_pullback


@rrule.register(np.ndarray.reshape)
@rrule.register(np.generic.reshape)
def array_reshape_of_sizes_rrule(self, *shape, order="C"):
    """self_bar = y_bar in the shape of self."""
    read = order_of_reading(self, order)

    def array_reshape_of_sizes_pullback(y_bar):
        return NoTangent(), reshape_bar(y_bar, self, read), *(NoTangent() for _ in shape)

    return self.reshape(*shape, order=order), array_reshape_of_sizes_pullback


@rrule.register(np.ndarray.ravel)
@rrule.register(np.generic.ravel)
def array_ravel_rrule(self, order="C"):
    """self_bar = y_bar in the shape of self."""
    read = order_of_reading(self, order)

    def array_ravel_pullback(y_bar):
        return NoTangent(), reshape_bar(y_bar, self, read), NoTangent()

    return self.ravel(order), array_ravel_pullback


@rrule.register(np.ndarray.flatten)
@rrule.register(np.generic.flatten)
def array_flatten_rrule(self, order="C"):
    """self_bar = y_bar in the shape of self."""
    read = order_of_reading(self, order)

    def array_flatten_pullback(y_bar):
        return NoTangent(), reshape_bar(y_bar, self, read), NoTangent()

    return self.flatten(order), array_flatten_pullback


@rrule.register(np.ndarray.squeeze)
@rrule.register(np.generic.squeeze)
def array_squeeze_rrule(self, axis=None):
    """self_bar = y_bar in the shape of self."""

    def array_squeeze_pullback(y_bar):
        return NoTangent(), np.reshape(y_bar, np.shape(self)), NoTangent()

    return self.squeeze(axis), array_squeeze_pullback


@rrule.register(np.ndarray.swapaxes)
def array_swapaxes_rrule(self, axis1, axis2):
    """self_bar = y_bar with the same axes swapped."""

    def array_swapaxes_pullback(y_bar):
        return NoTangent(), np.swapaxes(y_bar, axis1, axis2), NoTangent(), NoTangent()

    return self.swapaxes(axis1, axis2), array_swapaxes_pullback


@rrule.register(np.ndarray.transpose, arity=1)
@rrule.register(np.generic.transpose, arity=1)
def array_transpose_rrule(self):
    """self_bar = y_bar.T."""

    def array_transpose_pullback(y_bar):
        return NoTangent(), np.transpose(y_bar)

    return self.transpose(), array_transpose_pullback


@rrule.register(np.ndarray.transpose, arity=2)
def array_transpose_of_order_rrule(self, axes):
    """self_bar = y_bar with its axes put back."""

    def array_transpose_of_order_pullback(y_bar):
        return NoTangent(), transpose_bar(y_bar, axes), NoTangent()

    return self.transpose(axes), array_transpose_of_order_pullback


@rrule.register(np.ndarray.transpose)
def array_transpose_of_axes_rrule(self, *axes):
    """self_bar = y_bar with its axes put back."""

    def array_transpose_of_axes_pullback(y_bar):
        return NoTangent(), transpose_bar(y_bar, axes), *(NoTangent() for _ in axes)

    return self.transpose(*axes), array_transpose_of_axes_pullback


examples(np.ndarray.reshape, (_TABLE, (3, 2)), (_TABLE, -1), (_TABLE, 3, 2), (_STACK, 2, 1, 6), (_COMPLEX, 1, 3))
example(np.ndarray.reshape, _TABLE, (3, 2), order="F")
for _order in ("K", "A"):
    examples(np.ndarray.ravel, (_TABLE, _order), (np.asfortranarray(_TABLE), _order))
    examples(np.ndarray.flatten, (_TABLE, _order), (np.asfortranarray(_TABLE), _order))
examples(np.generic.reshape, (_NUMBER, (1, 1)), (_NUMBER, 1, 1), (_NUMBER, 1, 1, 1))
for _flat in ("ravel", "flatten"):
    examples(getattr(np.ndarray, _flat), (_TABLE,), (_STACK,), (_TABLE, "F"))
    example(getattr(np.generic, _flat), _NUMBER)
examples(np.ndarray.squeeze, (_TABLE[None],), (_TABLE[:, None], 1))
examples(np.ndarray.swapaxes, (_TABLE, 0, 1), (_STACK, 0, -1))
examples(
    np.ndarray.transpose, (_TABLE,), (_STACK,), (_STACK, (1, 2, 0)), (_STACK, 1, 2, 0), (_TABLE, None), (_VECTOR, 0)
)


@rrule.register(np.ndarray.copy, arity=1)
@rrule.register(np.generic.copy, arity=1)
def array_copy_rrule(self):
    """self_bar = y_bar."""

    def array_copy_pullback(y_bar):
        return NoTangent(), y_bar

    return self.copy(), array_copy_pullback


@pullback(copied)
def copied_pullback(y_bar, x, order="C"):
    """x_bar = y_bar."""
    return y_bar


examples(copied, (_TABLE,))


@rrule.register(np.ndarray.astype)
@rrule.register(np.generic.astype)
def array_astype_rrule(self, dtype):
    """self_bar = y_bar; none if self was rounded to integers."""
    y = self.astype(dtype)

    def array_astype_pullback(y_bar):
        return NoTangent(), made_of_bar(y_bar, self, y), NoTangent()

    return y, array_astype_pullback


@rrule.register(np.ndarray.conj)
@rrule.register(np.generic.conj)
def array_conj_rrule(self):
    """self_bar = conj(y_bar)."""

    def array_conj_pullback(y_bar):
        return NoTangent(), conj(y_bar)

    return self.conj(), array_conj_pullback


@rrule.register(np.ndarray.conjugate)
@rrule.register(np.generic.conjugate)
def array_conjugate_rrule(self):
    """self_bar = conj(y_bar)."""

    def array_conjugate_pullback(y_bar):
        return NoTangent(), conj(y_bar)

    return self.conjugate(), array_conjugate_pullback


@rrule.register(np.ndarray.item, arity=1)
@rrule.register(np.generic.item, arity=1)
def array_item_rrule(self):
    """The only entry: self_bar = y_bar in the shape of self."""

    def array_item_pullback(y_bar):
        return NoTangent(), expand_reduced(y_bar, self, None, False)

    return self.item(), array_item_pullback


@rrule.register(np.ndarray.item)
def array_item_at_rrule(self, *index):
    """One entry, by its number or by one index per axis."""

    def array_item_at_pullback(y_bar):
        return NoTangent(), item_bar(y_bar, self, index), *(NoTangent() for _ in index)

    return self.item(*index), array_item_at_pullback


@cotangent_of(1)
def item_bar(y_bar: Any, x: Any, index: tuple[Any, ...]) -> np.ndarray:
    """Zeros with y_bar at the index of `x.item(*index)`."""
    check_unstructured(x)
    if np.ndim(x) == 0:
        return np.asarray(y_bar)
    x_bar = np.zeros(np.shape(x), np.result_type(y_bar))
    place = index[0] if len(index) == 1 else index
    place = place[0] if np.shape(place) == (1,) else place
    np.put(x_bar, place if np.ndim(place) == 0 else np.ravel_multi_index(place, np.shape(x), mode="wrap"), y_bar)
    return x_bar


@rrule.register(np.ndarray.tolist)
@rrule.register(np.generic.tolist)
def array_tolist_rrule(self):
    """The nested list of the entries: self_bar = the array of their cotangents."""

    def array_tolist_pullback(y_bar):
        return NoTangent(), tolist_bar(y_bar, self)

    return self.tolist(), array_tolist_pullback


@cotangent_of(1)
def tolist_bar(y_bar: Any, x: Any) -> Any:
    """The cotangent of an array from a nested list of cotangents, with None for zeros."""
    x_bar = stack_items(x, y_bar) if isinstance(y_bar, list | tuple) else y_bar
    return zero_cotangent(x) if x_bar is None else x_bar


for _name in ("copy", "conj", "conjugate", "tolist"):
    examples(getattr(np.ndarray, _name), (_TABLE,), (_COMPLEX,))
    example(getattr(np.generic, _name), _NUMBER)
examples(np.ndarray.astype, (_TABLE, float), (_TABLE, complex), (_TABLE, int))
examples(np.generic.astype, (_NUMBER, float), (_NUMBER, int))
examples(
    np.ndarray.item, (_TABLE[:1, :1],), (np.array(2.5),), (_TABLE, 4), (_TABLE, -1), (_TABLE, 1, -1), (_TABLE, (0, 2))
)
example(np.generic.item, _NUMBER)


@rrule.register(np.ndarray.repeat)
@rrule.register(np.generic.repeat)
def array_repeat_rrule(self, repeats, axis=None):
    """self_bar = for each entry the sum of y_bar over its repetitions."""

    def array_repeat_pullback(y_bar):
        return NoTangent(), repeat_bar(y_bar, self, repeats, axis), NoTangent(), NoTangent()

    return self.repeat(repeats, axis), array_repeat_pullback


@rrule.register(np.ndarray.take)
@rrule.register(np.generic.take)
def array_take_rrule(self, indices, axis=None):
    """self_bar = zeros to which each entry of y_bar is added where it was taken."""

    def array_take_pullback(y_bar):
        return NoTangent(), take_bar(y_bar, self, indices, axis), NoTangent(), NoTangent()

    return self.take(indices, axis), array_take_pullback


@rrule.register(np.ndarray.diagonal)
def array_diagonal_rrule(self, offset=0, axis1=0, axis2=1):
    """y_bar on the diagonal, zero elsewhere."""

    def array_diagonal_pullback(y_bar):
        return NoTangent(), diagonal_bar(y_bar, self, offset, axis1, axis2), NoTangent(), NoTangent(), NoTangent()

    return self.diagonal(offset, axis1, axis2), array_diagonal_pullback


for _name in ("squeeze", "transpose"):
    example(getattr(np.generic, _name), _NUMBER)
example(np.generic.repeat, _NUMBER, 3)
example(np.generic.take, _NUMBER, [0, 0])
examples(np.ndarray.repeat, (_VECTOR, 2), (_TABLE, 3, 0), (_TABLE, [1, 0, 2], 1))
examples(np.ndarray.take, (_VECTOR, [0, 2, 2]), (_TABLE, [1, 1], 1), (_TABLE, 3))
examples(np.ndarray.diagonal, (_TABLE,), (_TABLE, 1), (_STACK, 0, 1, 2))
