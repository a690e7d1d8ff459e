"""Transposes of what products call: the cotangent of one operand is linear in that of the product, and its transpose is the
product with that operand. By the other operand it is a product again."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.linear_algebra.einsum import einsum_bar
from microgradpy.rules.numpy.linear_algebra.products import inner_left_bar, inner_right_bar, kron_left_bar, kron_right_bar
from microgradpy.rules.numpy.mathematics.differences import cross_bar
from microgradpy.rules.numpy.mathematics.miscellaneous import convolved_bar
from microgradpy.rules.registry import examples
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.linear import (
    dot_left_bar,
    dot_right_bar,
    matmul_left_bar,
    matmul_right_bar,
    tensordot_left_bar,
    tensordot_right_bar,
)
from microgradpy.tangents.types import NoTangent

_P = np.array([[0.3, -1.2, 2.0], [0.7, 0.1, -0.4]])
_Q, _V = _P.T, np.array([1.5, -0.5, 0.25])
_Z = _P + 1j * _P[::-1]


@pullback(matmul_left_bar)
def matmul_left_bar_pullback(x_dot, z_bar, x, y):
    """z_dot = x_dot @ y."""
    return np.matmul(x_dot, y), NoTangent(), matmul_right_bar(z_bar, x_dot, y)


@pullback(matmul_right_bar)
def matmul_right_bar_pullback(y_dot, z_bar, x, y):
    """z_dot = x @ y_dot."""
    return np.matmul(x, y_dot), matmul_left_bar(z_bar, x, y_dot)


@pullback(dot_left_bar)
def dot_left_bar_pullback(x_dot, z_bar, x, y):
    """z_dot = np.dot(x_dot, y)."""
    return np.dot(x_dot, y), NoTangent(), dot_right_bar(z_bar, x_dot, y)


@pullback(dot_right_bar)
def dot_right_bar_pullback(y_dot, z_bar, x, y):
    """z_dot = np.dot(x, y_dot)."""
    return np.dot(x, y_dot), dot_left_bar(z_bar, x, y_dot)


@pullback(tensordot_left_bar)
def tensordot_left_bar_pullback(a_dot, z_bar, a, b, axes):
    """z_dot = np.tensordot(a_dot, b, axes)."""
    return np.tensordot(a_dot, b, axes), NoTangent(), tensordot_right_bar(z_bar, a_dot, b, axes)


@pullback(tensordot_right_bar)
def tensordot_right_bar_pullback(b_dot, z_bar, a, b, axes):
    """z_dot = np.tensordot(a, b_dot, axes)."""
    return np.tensordot(a, b_dot, axes), tensordot_left_bar(z_bar, a, b_dot, axes)


@pullback(inner_left_bar)
def inner_left_bar_pullback(a_dot, z_bar, a, b):
    """z_dot = np.inner(a_dot, b)."""
    return np.inner(a_dot, b), NoTangent(), inner_right_bar(z_bar, a_dot, b)


@pullback(inner_right_bar)
def inner_right_bar_pullback(b_dot, z_bar, a, b):
    """z_dot = np.inner(a, b_dot)."""
    return np.inner(a, b_dot), inner_left_bar(z_bar, a, b_dot)


@pullback(kron_left_bar)
def kron_left_bar_pullback(a_dot, z_bar, a, b):
    """z_dot = np.kron(a_dot, b)."""
    return np.kron(a_dot, b), NoTangent(), kron_right_bar(z_bar, a_dot, b)


@pullback(kron_right_bar)
def kron_right_bar_pullback(b_dot, z_bar, a, b):
    """z_dot = np.kron(a, b_dot)."""
    return np.kron(a, b_dot), kron_left_bar(z_bar, a, b_dot)


_MATRICES = ((_P @ _Q, _P, _Q), (_Z @ _Q, _Z, _Q), (_P @ _Z.T, _P, _Z.T))
examples(matmul_left_bar, *_MATRICES, (_V[:2], _P, _V), (_V[0], _V, _V), (_V[:2], _V, _Q))
examples(matmul_right_bar, *_MATRICES, (_V[:2], _P, _V), (_V[0], _V, _V), (_V[:2], _V, _Q))
examples(dot_left_bar, *_MATRICES, (_V, _V, 2.0))
examples(dot_right_bar, *_MATRICES, (_V, 2.0, _V))
examples(tensordot_left_bar, *((*each, 1) for each in _MATRICES))
examples(tensordot_right_bar, *((*each, 1) for each in _MATRICES))
examples(inner_left_bar, (_P @ _Q, _P, _P), (2.0 * _V, 2.0, _V))
examples(inner_right_bar, (_P @ _Q, _P, _P), (2.0 * _V, 2.0, _V))
examples(kron_left_bar, (np.kron(_P, _Q), _P, _Q))
examples(kron_right_bar, (np.kron(_P, _Q), _P, _Q))


@pullback(cross_bar)
def cross_bar_pullback(y_bar, left, right, x, axis):
    """Of a cross product in three dimensions."""
    return (
        unbroadcast(np.cross(conj(right), y_bar, axis=axis), left),
        unbroadcast(np.cross(y_bar, conj(left), axis=axis), right),
    )


examples(cross_bar, (_P, _P[::-1], _P, -1), (_P, _P[::-1], _V, -1))


@pullback(einsum_bar)
def einsum_bar_pullback(x_dot, z_bar, subscripts, operands, number):
    """The product with the tangent in the place of the operand."""
    return (
        einsum_dot(x_dot, z_bar, subscripts, operands, number),
        NoTangent(),
        other_operand_bars(x_dot, z_bar, subscripts, operands, number),
    )


@cotangent_of(1)
def einsum_dot(x_dot: Any, z: Any, subscripts: str, operands: tuple[Any, ...], number: int) -> Any:
    """The tangent of an einsum z for that of one operand."""
    return unbroadcast(np.einsum(subscripts, *_with(operands, number, x_dot), optimize=len(operands) > 2), z)


def other_operand_bars(x_dot: Any, z_bar: Any, subscripts: str, operands: tuple[Any, ...], number: int) -> tuple[Any, ...]:
    """The cotangents of the other operands, of the einsum with `x_dot` in the place of one."""
    given = _with(operands, number, x_dot)
    others = (None if place == number else einsum_bar(z_bar, subscripts, given, place) for place in range(len(given)))
    return tuple(others)


def _with(operands: tuple[Any, ...], number: int, x: Any) -> tuple[Any, ...]:
    return *operands[:number], x, *operands[number + 1 :]


examples(einsum_bar, (_P @ _Q, "ij,jk->ik", (_P, _Q), 0), (_Z @ _Q, "ij,jk->ik", (_Z, _Q), 1), (_V, "ij->j", (_P,), 0))
examples(einsum_bar, (0.5, "ii", (_P @ _Q,), 0), (_V, "i,ij,ij->j", (_V[:2], _P, _P), 1), (_Z @ _V, "ij,j", (_Z, _V), 1))


@pullback(convolved_bar)
def convolved_bar_pullback(x_dot, z_bar, x, other):
    """The convolution with the other vector, in the length of the value."""
    return convolved_dot(x_dot, z_bar, other), NoTangent(), convolved_bar(z_bar, other, x_dot)


@cotangent_of(1)
def convolved_dot(x_dot: Any, z: Any, other: Any) -> Any:
    """The tangent of a convolution z for that of one of the vectors."""
    whole = np.convolve(x_dot, other)
    before = (len(whole) - len(z)) // 2
    return whole[before : before + len(z)]


examples(convolved_bar, (np.ones(5), _V, _V), (_V, _V, _V), (np.ones(1), _V, _V))
