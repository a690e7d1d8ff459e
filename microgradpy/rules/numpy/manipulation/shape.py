"""Changing the shape, the order of axes, and the number and kind of dimensions.

A view of the argument that shows the same numbers elsewhere: the cotangent is shown back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.entries import Rule
from microgradpy.rules.registry import attribute_rule, example, examples, frule, mark_inert_attribute, non_differentiable, rrule
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.casts import made_of_bar
from microgradpy.tangents.helpers import cotangent_of, numeric
from microgradpy.tangents.memory_order import order_of_reading
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent, Tangent, is_structural_zero

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
@pullback(np.atleast_2d, arity=1)
@pullback(np.atleast_3d, arity=1)
def atleast_pullback(y_bar, a):
    """a_bar = y_bar in the shape of a."""
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
non_differentiable(np.shape, np.ndim, np.size)
non_differentiable(np.broadcast_shapes, np.shares_memory, np.may_share_memory, np.errstate)
non_differentiable(np.isfortran, np.iterable, np.einsum_path)
mark_inert_attribute(np.broadcast, "shape", "size", "nd", "ndim", "numiter", "index")


@rrule.register(np.broadcast)
def broadcast_rrule(*args):
    """Its attributes carry nothing; its items would."""
    y = np.broadcast(*args)

    def broadcast_pullback(y_bar):
        return NoTangent(), *(not_implemented("the items of np.broadcast: use np.broadcast_arrays") for _ in args)

    return y, broadcast_pullback


@frule.register(np.broadcast)
def broadcast_frule(*args: Any) -> Any:
    """As backwards."""
    return np.broadcast(*args), lambda f_dot, *dots: Tangent(np.broadcast, operands=dots)


@attribute_rule(np.broadcast, "iters")
def iters_rrule(broadcast):
    """The iterators of the operands give their entries."""
    raise MissingRuleError("the iterators of np.broadcast were read", None, "Use np.broadcast_arrays.")


example(np.broadcast, np.array([0.7, -1.4, 2.2]), 1.5)

_LINE = np.array([0.5, -1.5, 2.5])
_PLANE = _TABLE + 0.5j


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


for _maker in (np.asarray_chkfinite, np.asfortranarray, np.require):
    examples(_maker, (2.5,), (_LINE,), (_TABLE,), ([1.5, 2.5],), (_PLANE,), ((1.5, 2.5 + 1.0j),), (_LINE, complex))
example(np.require, _TABLE, float, ["F", "O"])


@pullback(np.rollaxis)
def rollaxis_pullback(y_bar, a, axis, start=0):
    """a_bar = y_bar with the axis moved back."""
    return rollaxis_bar(y_bar, axis, start)


def rollaxis_bar(y_bar: Any, axis: int, start: int) -> Any:
    """`y_bar` with its axes in the order they had before np.rollaxis, which puts one in front of another."""
    axis, start = axis % np.ndim(y_bar), start + np.ndim(y_bar) if start < 0 else start
    return np.moveaxis(y_bar, start - 1 if axis < start else start, axis)


@rrule.register(np.broadcast_arrays)
def broadcast_arrays_rrule(*args):
    """Each array gets the sum of its part of y_bar over the axes along which it was repeated."""

    def broadcast_arrays_pullback(y_bar):
        return NoTangent(), *(unbroadcast(part, x) for part, x in zip(y_bar, args, strict=True))

    return np.broadcast_arrays(*args), broadcast_arrays_pullback


examples(np.rollaxis, (_TABLE, 1), (_STACK, 2), (_STACK, 0, 3), (_STACK, -1, 1), (_STACK, 1, -1), (_LINE, 0))
examples(np.broadcast_arrays, (_TABLE, _LINE), (2.5, _TABLE[:, :1], _LINE), (_PLANE, _LINE), (_TABLE,))

_GRID = np.sin(np.arange(12.0) * 1.7).reshape(3, 4)
_PILE = np.cos(np.arange(24.0) * 1.3).reshape(2, 3, 4)
_TURNED = _GRID + 1j * _GRID[::-1] ** 2


@pullback(np.matrix_transpose)
def matrix_transpose_pullback(z_bar, x, /):
    """x_bar = z_bar with the last two axes exchanged."""
    return unbroadcast(np.swapaxes(z_bar, -1, -2), x)


examples(np.matrix_transpose, (_GRID,), (_PILE,), (_TURNED,), (_GRID[:0],))

_NUMBERS = np.array([0.7, -1.4, 2.2])
_FIELD = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_f: Any


def _several(f: Callable[..., Any]) -> Rule:
    def promoted_rrule(*arys):
        """Each array gets its cotangent in its own shape."""

        def promoted_pullback(y_bar):
            pairs = zip(y_bar, arys, strict=True)
            return NoTangent(), *(None if is_structural_zero(bar) else np.reshape(bar, np.shape(x)) for bar, x in pairs)

        return f(*arys), promoted_pullback

    return promoted_rrule


for _f in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    rrule.register(_f, options=True)(_several(_f))
    examples(_f, (_NUMBERS, 2.5), (_FIELD, _NUMBERS, 1.5))
