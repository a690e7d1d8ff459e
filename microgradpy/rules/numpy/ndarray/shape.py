"""Shape manipulation."""

from __future__ import annotations

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.manipulation.shape import reshape_bar, transpose_bar
from microgradpy.rules.registry import example, examples, mark_inert_attribute, non_differentiable, rrule
from microgradpy.tangents.memory_order import order_of_reading
from microgradpy.tangents.types import NoTangent

for _class in (np.ndarray, np.generic):
    mark_inert_attribute(_class, "shape", "ndim", "size", "dtype", "itemsize", "nbytes", "flags", "strides", "device")
    non_differentiable(_class.all, _class.any, _class.argmax, _class.argmin, _class.argsort, _class.nonzero)
    non_differentiable(_class.searchsorted, _class.round)
non_differentiable(np.ndarray.argpartition)

_VECTOR = np.array([0.7, -1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_STACK = np.arange(12.0).reshape(2, 3, 2) * 0.7 % 3.1 - 1.5
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j, 0.4 - 1.2j])
_NUMBER = np.float64(1.3)
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


@rrule.register(np.ndarray.reshape, arity=4)
def array_reshape_to_three_axes_rrule(self, first, second, third, *, order="C"):
    """self_bar = y_bar in the shape of self."""
    read = order_of_reading(self, order)

    def array_reshape_to_three_axes_pullback(y_bar):
        return NoTangent(), reshape_bar(y_bar, self, read), NoTangent(), NoTangent(), NoTangent()

    return self.reshape(first, second, third, order=order), array_reshape_to_three_axes_pullback


@rrule.register(np.ndarray.reshape, arity=5)
def array_reshape_to_four_axes_rrule(self, first, second, third, fourth, *, order="C"):
    """self_bar = y_bar in the shape of self."""
    read = order_of_reading(self, order)

    def array_reshape_to_four_axes_pullback(y_bar):
        return NoTangent(), reshape_bar(y_bar, self, read), NoTangent(), NoTangent(), NoTangent(), NoTangent()

    return self.reshape(first, second, third, fourth, order=order), array_reshape_to_four_axes_pullback


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


@pullback(np.ndarray.squeeze)
@pullback(np.generic.squeeze)
def array_squeeze_pullback(y_bar, self, axis=None):
    """self_bar = y_bar in the shape of self."""
    return np.reshape(y_bar, np.shape(self))


@pullback(np.ndarray.swapaxes)
def array_swapaxes_pullback(y_bar, self, axis1, axis2):
    """self_bar = y_bar with the same axes swapped."""
    return np.swapaxes(y_bar, axis1, axis2)


@pullback(np.ndarray.transpose, arity=1)
@pullback(np.generic.transpose, arity=1)
def array_transpose_pullback(y_bar, self):
    """self_bar = y_bar.T."""
    return np.transpose(y_bar)


@pullback(np.ndarray.transpose, arity=2)
def array_transpose_of_order_pullback(y_bar, self, axes):
    """self_bar = y_bar with its axes put back."""
    return transpose_bar(y_bar, axes)


@pullback(np.ndarray.transpose, arity=3)
def array_transpose_of_two_axes_pullback(y_bar, self, first, second):
    """self_bar = y_bar with its axes put back."""
    return transpose_bar(y_bar, (first, second))


@pullback(np.ndarray.transpose, arity=4)
def array_transpose_of_three_axes_pullback(y_bar, self, first, second, third):
    """self_bar = y_bar with its axes put back."""
    return transpose_bar(y_bar, (first, second, third))


@pullback(np.ndarray.transpose, arity=5)
def array_transpose_of_four_axes_pullback(y_bar, self, first, second, third, fourth):
    """self_bar = y_bar with its axes put back."""
    return transpose_bar(y_bar, (first, second, third, fourth))


@rrule.register(np.ndarray.transpose)
def array_transpose_of_axes_rrule(self, *axes):
    """self_bar = y_bar with its axes put back."""

    def array_transpose_of_axes_pullback(y_bar):
        return NoTangent(), transpose_bar(y_bar, axes), *(NoTangent() for _ in axes)

    return self.transpose(*axes), array_transpose_of_axes_pullback


examples(np.ndarray.reshape, (_TABLE, (3, 2)), (_TABLE, -1), (_TABLE, 3, 2), (_STACK, 2, 1, 6), (_COMPLEX, 1, 3))
examples(np.ndarray.reshape, (_STACK, 2, 1, 3, 2), (_STACK, 2, 1, 3, 1, 2))
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
    np.ndarray.transpose, (_TABLE,), (_STACK,), (_STACK, (1, 2, 0)), (_STACK, 1, 2, 0), (_TABLE, None), (_VECTOR, 0),
    (_TABLE, 1, 0), (_STACK[None], 0, 2, 3, 1), (_STACK[None, None], 1, 0, 4, 3, 2),
)
for _name in ("copy", "conj", "conjugate", "tolist"):
    examples(getattr(np.ndarray, _name), (_TABLE,), (_COMPLEX,))
    example(getattr(np.generic, _name), _NUMBER)
for _name in ("squeeze", "transpose"):
    example(getattr(np.generic, _name), _NUMBER)
