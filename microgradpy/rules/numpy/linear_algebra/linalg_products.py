"""np.linalg: powers and chains of products, equations between tensors, and the functions it shares with NumPy itself.

Source of the derivative of a power: N. Higham, "Functions of Matrices" (2008), section 3.2: the function of a block matrix
has the derivative of the function in its corner.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.indexing import diagonal_bar
from microgradpy.rules.numpy.mathematics.differences import cross_bar
from microgradpy.rules.registry import example, examples, non_differentiable
from microgradpy.rules.sums import spread_over_items
from microgradpy.tangents.arithmetic import conj, real_like, unbroadcast
from microgradpy.tangents.decompositions import adjoint
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.linear import matmul_left_bar, matmul_right_bar, tensordot_left_bar, tensordot_right_bar

non_differentiable(np.linalg.matrix_rank)


@pullback(np.linalg.matrix_power)
def matrix_power_pullback(z_bar, a, n):
    """a_bar = the upper right block of [[a^H, z_bar], [0, a^H]]^n, which is the sum of all products of n factors, one of
    them z_bar and the others a^H."""
    return matrix_power_bar(z_bar, a, n)


@cotangent_of(1)
def matrix_power_bar(z_bar: Any, a: Any, n: int) -> Any:
    """The cotangent of a under its power of a whole number."""
    x = adjoint(np.asarray(a))
    if n == 1:
        return unbroadcast(z_bar, a)
    with np.errstate(all="ignore"):
        corner = np.linalg.matrix_power(np.block([[x, z_bar], [np.zeros_like(x), x]]), n)
    size = x.shape[-1]
    return real_like(corner[..., :size, size:], a)


@pullback(np.linalg.multi_dot)
def multi_dot_pullback(y_bar, arrays):
    """Each matrix gets (the product before it)^H y_bar (the product after it)^H."""
    return multi_dot_bar(y_bar, arrays)


def multi_dot_bar(y_bar: Any, arrays: Any) -> Any:
    """The cotangent of the factors of a chain of products. A vector is a row in front and a column at the end."""
    factors = [np.asarray(x) for x in arrays]
    factors[0] = np.atleast_2d(factors[0])
    if factors[-1].ndim == 1:
        factors[-1] = np.expand_dims(factors[-1], -1)
    products = [factors[0]]
    for factor in factors[1:-1]:
        products.append(products[-1] @ factor)
    bar = np.reshape(y_bar, (factors[0].shape[0], factors[-1].shape[1]))
    bars = []
    for before, factor, x in zip(reversed(products), reversed(factors[1:]), reversed(list(arrays)), strict=False):
        bars.append(unbroadcast(np.reshape(adjoint(before) @ bar, np.shape(x)), x))
        bar = bar @ adjoint(factor)
    bars.append(unbroadcast(np.reshape(bar, np.shape(arrays[0])), arrays[0]))
    return spread_over_items(bars[::-1], arrays)


@pullback(np.linalg.tensorinv)
def tensorinv_pullback(z_bar, a, ind=2, *, z):
    """As inv, of a matrix whose rows are the first axes of a, and whose columns are the others."""
    return tensorinv_bar(z_bar, a, z, ind)


@cotangent_of(1)
def tensorinv_bar(z_bar: Any, a: Any, z: Any, ind: int) -> Any:
    """The cotangent of a tensor under its inverse z."""
    size = math.prod(np.shape(a)[:ind])
    inverse, bar = adjoint(np.reshape(z, (size, size))), np.reshape(z_bar, (size, size))
    return unbroadcast(-np.reshape(inverse @ bar @ inverse, np.shape(a)), a)


@pullback(np.linalg.tensorsolve)
def tensorsolve_pullback(z_bar, a, b, axes=None, *, z):
    """As solve, of a matrix whose columns are the axes of a that the solution has: the last ones, or `axes`."""
    bars = tensorsolve_bars(z_bar, a, b, z, axes)
    return bars[0], bars[1]


def tensorsolve_bars(z_bar: Any, a: Any, b: Any, z: Any, axes: Any) -> tuple[Any, Any]:
    """The cotangents of the tensor and of the right-hand side of an equation."""
    order = list(range(np.ndim(a)))
    for axis in axes or ():
        order.remove(axis)
        order.append(axis)
    ordered = np.transpose(a, order)
    b_bar = np.linalg.solve(adjoint(np.reshape(ordered, (np.size(b), np.size(z)))), np.ravel(z_bar))
    a_bar = -np.reshape(np.outer(b_bar, conj(np.ravel(z))), ordered.shape)
    return unbroadcast(np.transpose(a_bar, np.argsort(order)), a), unbroadcast(np.reshape(b_bar, np.shape(b)), b)


@pullback(np.linalg.matmul)
def matmul_pullback(z_bar, x1, x2, /):
    """As np.matmul: x1_bar = z_bar @ x2^H, x2_bar = x1^H @ z_bar."""
    return matmul_left_bar(z_bar, x1, x2), matmul_right_bar(z_bar, x1, x2)


@pullback(np.linalg.matrix_transpose)
def matrix_transpose_pullback(y_bar, x, /):
    """x_bar = y_bar^T."""
    return np.swapaxes(y_bar, -1, -2)


@pullback(np.linalg.outer)
def outer_pullback(z_bar, x1, x2, /):
    """z_ij = x1_i x2_j: x1_bar = z_bar @ conj(x2), x2_bar = conj(x1) @ z_bar."""
    return unbroadcast(z_bar @ conj(x2), x1), unbroadcast(conj(x1) @ z_bar, x2)


@pullback(np.linalg.tensordot)
def tensordot_pullback(z_bar, x1, x2, /, *, axes=2):
    """As np.tensordot: pairs of axes are summed against each other."""
    return tensordot_left_bar(z_bar, x1, x2, axes), tensordot_right_bar(z_bar, x1, x2, axes)


@pullback(np.linalg.vecdot)
def vecdot_pullback(z_bar, x1, x2, /, *, axis=-1):
    """z = sum(conj(x1) * x2) along an axis: x1_bar = conj(z_bar) * x2, x2_bar = z_bar * x1."""
    return vecdot_bar(conj(z_bar), x2, x1, axis), vecdot_bar(z_bar, x1, x2, axis)


@cotangent_of(2)
def vecdot_bar(z_bar: Any, other: Any, x: Any, axis: int) -> Any:
    """The cotangent z_bar * other of the operand x of a product that is summed along an axis."""
    moved = np.expand_dims(z_bar, -1) * np.moveaxis(other, axis, -1)
    return np.moveaxis(unbroadcast(moved, np.moveaxis(x, axis, -1)), -1, axis)


@pullback(np.linalg.cross)
def cross_pullback(z_bar, x1, x2, /, *, axis=-1):
    """z = x1 x x2 in three dimensions: x1_bar = x2 x z_bar, x2_bar = z_bar x x1."""
    return cross_bar(conj(x2), z_bar, x1, axis), cross_bar(z_bar, conj(x1), x2, axis)


@pullback(np.linalg.diagonal)
def diagonal_pullback(y_bar, x, /, *, offset=0):
    """y_bar on the diagonal of the last two axes, zero elsewhere."""
    return diagonal_bar(y_bar, x, offset, -2, -1)


@pullback(np.linalg.trace)
def trace_pullback(y_bar, x, /, *, offset=0):
    """y_bar on the diagonal of the last two axes, zero elsewhere."""
    return diagonal_bar(np.expand_dims(y_bar, -1), x, offset, -2, -1)


def _table(*shape: int) -> np.ndarray:
    """An array of irregular numbers, of both signs and the given shape, and of full rank."""
    return np.sin(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)) ** 2 * 1.7 + len(shape)).reshape(shape)


_REGULAR, _REGULARS = _table(3, 3) + 2.0 * np.eye(3), _table(2, 3, 3) + 2.0 * np.eye(3)

_COMPLEX = _REGULAR + 0.5j * _table(3, 3).T
_TENSOR = _table(2, 3, 6) + np.reshape(3.0 * np.eye(6), (2, 3, 6))
for _n in (0, 1, 2, 3, 7, -1, -2):
    examples(np.linalg.matrix_power, (_REGULAR, _n), (_REGULARS, _n), (_COMPLEX, _n), (_REGULARS[:0], _n))
example(np.linalg.matrix_power, np.array([[0.0, 1.0], [0.0, 0.0]]), 5)
examples(np.linalg.multi_dot, ([_table(2, 3), _table(3, 4), _table(4, 2)],), ((_table(3), _COMPLEX, _REGULAR, _table(3)),))
examples(np.linalg.multi_dot, ([_table(3), _table(3)],), ([_table(2, 3), _table(3)],), ([_table(2), _table(2, 3)],))
examples(np.linalg.multi_dot, (_REGULARS,))
examples(np.linalg.tensorinv, (_TENSOR,), (_TENSOR + 0.3j,), (np.transpose(_TENSOR, (2, 0, 1)), 1))
examples(np.linalg.tensorsolve, (_TENSOR, _table(2, 3)), (_TENSOR + 0.3j, _table(2, 3)))
example(np.linalg.tensorsolve, np.transpose(_TENSOR, (2, 0, 1)), _table(2, 3), axes=(0,))
example(np.linalg.tensorsolve, np.reshape(_TENSOR, (2, 3, 3, 2)), _table(3, 2), axes=(1, 0))
examples(np.linalg.matmul, (_table(2, 3), _table(3, 2)), (_table(4, 2, 3), _table(3)), (_COMPLEX, _REGULARS))
examples(np.linalg.matrix_transpose, (_table(2, 3),), (_table(2, 3, 2),), (_COMPLEX,))
examples(np.linalg.outer, (_table(3), _table(2)), (_table(3), 1j * _table(2)))
examples(np.linalg.tensordot, (_table(2, 3, 2), _table(3, 2, 2)), (_COMPLEX, _REGULAR))
example(np.linalg.tensordot, _table(2, 3, 4), _table(4, 2, 3), axes=([0, 2], [1, 0]))
example(np.linalg.tensordot, _table(2, 3), _table(4, 3), axes=(1, -1))
examples(np.linalg.vecdot, (_table(3), _table(3)), (_table(2, 3), _table(3)), (_COMPLEX, _REGULARS), (_REGULARS, _COMPLEX))
example(np.linalg.vecdot, _table(3, 2), _table(4, 3, 1), axis=-2)
example(np.linalg.vecdot, _table(3, 2), _table(3, 2) * 1j, axis=0)
examples(np.linalg.cross, (_table(3), _table(3)), (_table(2, 3), _table(3)), (_COMPLEX, _table(3)))
example(np.linalg.cross, _table(3, 2), _table(3, 2) + 0.5, axis=0)
for _diagonal in (np.linalg.diagonal, np.linalg.trace):
    examples(_diagonal, (_table(3, 3),), (_table(2, 4),), (_table(3, 2, 2),), (_COMPLEX,))
    examples(_diagonal, (_table(3, 4),), (_table(2, 3, 4),), offset=-1)
