"""Products of vectors, matrices and higher arrays, and the functions that pick or place a diagonal or a triangle."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.indexing import diagonal_bar
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.tangents.arithmetic import conj, real_like, unbroadcast
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


def _table(*shape: int) -> np.ndarray:
    """An array of irregular numbers, of both signs and the given shape."""
    return np.sin(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)) * 1.7 + len(shape)).reshape(shape)


_COMPLEX = _table(3, 2) + 1j * _table(2, 3).T
_MATRICES = (
    (_table(3), _table(3)),
    (_table(2, 3), _table(3)),
    (_table(2), _table(2, 3)),
    (_table(2, 3), _table(3, 4)),
    (_COMPLEX, _table(2, 3)),
    (_table(3), _COMPLEX),
)
_STACKS = (
    (_table(4, 2, 3), _table(3, 2)),
    (_table(2, 3), _table(4, 3, 2)),
    (_table(4, 1, 2, 3), _table(2, 3, 2)),
    (_table(3), _table(2, 3, 2)),
    (_table(2, 2, 3), _table(3)),
)


@rrule.register(np.matmul)
def matmul_rrule(x1, x2):
    """x1_bar = z_bar @ x2^H, x2_bar = x1^H @ z_bar. A vector is a row on the left and a column on the right."""
    z = np.matmul(x1, x2)
    if np.ndim(x1) == 2:
        if np.ndim(x2) == 2:

            def matrix_product_pullback(z_bar):
                return NoTangent(), real_like(z_bar @ conj(x2).T, x1), real_like(conj(x1).T @ z_bar, x2)

            return z, matrix_product_pullback

    def matmul_pullback(z_bar):
        return NoTangent(), matmul_left_bar(z_bar, x1, x2), matmul_right_bar(z_bar, x1, x2)

    return z, matmul_pullback


examples(np.matmul, *_MATRICES, *_STACKS)


@rrule.register(np.dot)
def dot_rrule(a, b):
    """As matmul for vectors and matrices; a scalar multiplies; of higher arrays all pairs are multiplied."""
    z = np.dot(a, b)
    if np.ndim(a) == 2:
        if np.ndim(b) == 2:

            def matrix_product_pullback(z_bar):
                return NoTangent(), real_like(z_bar @ conj(b).T, a), real_like(conj(a).T @ z_bar, b)

            return z, matrix_product_pullback

    def dot_pullback(z_bar):
        return NoTangent(), dot_left_bar(z_bar, a, b), dot_right_bar(z_bar, a, b)

    return z, dot_pullback


examples(np.dot, *_MATRICES, (2.0, 3.0), (2.0, _table(3)), (_table(2, 3), 0.5))
examples(np.dot, (_table(2, 2, 3), _table(4, 3, 2)), (_table(3), _table(2, 3, 2)), (_table(2, 2, 3), _table(3)))


@pullback(np.vdot)
def vdot_pullback(z_bar, a, b):
    """z = sum(conj(a) * b) over all entries: a_bar = conj(z_bar) * b, b_bar = z_bar * a."""
    return (
        unbroadcast(np.reshape(np.multiply(conj(z_bar), b), np.shape(a)), a),
        unbroadcast(np.reshape(np.multiply(z_bar, a), np.shape(b)), b),
    )


examples(np.vdot, (_table(3), _table(3)), (_table(2, 3), _table(3, 2)), (_COMPLEX, _COMPLEX + 0.5), (2.0, 3.0))


@pullback(np.inner)
def inner_pullback(z_bar, a, b):
    """The last axes of a and b are summed against each other."""
    return inner_left_bar(z_bar, a, b), inner_right_bar(z_bar, a, b)


@cotangent_of(1)
def inner_left_bar(z_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of a under np.inner(a, b)."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(np.multiply(z_bar, conj(b)), a)
    return tensordot_left_bar(z_bar, a, b, (-1, -1))


@cotangent_of(2)
def inner_right_bar(z_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of b under np.inner(a, b)."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(np.multiply(z_bar, conj(a)), b)
    return tensordot_right_bar(z_bar, a, b, (-1, -1))


examples(
    np.inner, (_table(3), _table(3)), (_table(2, 3), _table(4, 3)), (_table(2, 2, 3), _table(3)), (2.0, _table(2, 3))
)


@pullback(np.outer)
def outer_pullback(z_bar, a, b):
    """z_ij = a_i b_j over the entries of a and b: a_bar = z_bar @ conj(b), b_bar = conj(a) @ z_bar."""
    return (
        unbroadcast(np.reshape(z_bar @ np.ravel(conj(b)), np.shape(a)), a),
        unbroadcast(np.reshape(np.ravel(conj(a)) @ z_bar, np.shape(b)), b),
    )


examples(np.outer, (_table(3), _table(2)), (_table(2, 2), _table(3)), (_COMPLEX, _table(2)), (2.0, _table(3)))


@pullback(np.tensordot)
def tensordot_pullback(z_bar, a, b, axes=2):
    """Pairs of axes of a and b are summed against each other; z has the others of a, then those of b."""
    return tensordot_left_bar(z_bar, a, b, axes), tensordot_right_bar(z_bar, a, b, axes)


examples(np.tensordot, (_table(2, 3), _table(2, 3)), (_table(2, 3, 2), _table(3, 2, 2)), (_COMPLEX, _COMPLEX.T, 1))
example(np.tensordot, _table(2, 3, 4), _table(4, 2, 3), axes=([0, 2], [1, 0]))
example(np.tensordot, _table(2, 3), _table(4, 3), axes=(1, -1))
example(np.tensordot, _table(2), _table(3), axes=0)


@pullback(np.kron)
def kron_pullback(z_bar, a, b):
    """Every entry of a times all of b, in blocks."""
    return kron_left_bar(z_bar, a, b), kron_right_bar(z_bar, a, b)


@cotangent_of(1)
def kron_left_bar(z_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of a under np.kron(a, b): every block of z_bar summed against b."""
    blocks, rank = _blocks(z_bar, a, b)
    a_bar = np.tensordot(blocks, _padded(conj(b), rank), (range(1, 2 * rank, 2), range(rank)))
    return unbroadcast(np.reshape(a_bar, np.shape(a)), a)


@cotangent_of(2)
def kron_right_bar(z_bar: Any, a: Any, b: Any) -> Any:
    """The cotangent of b under np.kron(a, b): the blocks of z_bar, weighted by the entries of a."""
    blocks, rank = _blocks(z_bar, a, b)
    b_bar = np.tensordot(_padded(conj(a), rank), blocks, (range(rank), range(0, 2 * rank, 2)))
    return unbroadcast(np.reshape(b_bar, np.shape(b)), b)


def _padded(x: Any, rank: int) -> np.ndarray:
    """x with axes of length one in front, up to a rank."""
    return np.reshape(x, (1,) * (rank - np.ndim(x)) + np.shape(x))


def _blocks(z_bar: Any, a: Any, b: Any) -> tuple[np.ndarray, int]:
    """z_bar with each axis split in two, that of a and that of b; and the rank."""
    rank = max(np.ndim(a), np.ndim(b))
    pairs = zip(_padded(a, rank).shape, _padded(b, rank).shape, strict=True)
    return np.reshape(z_bar, [size for pair in pairs for size in pair]), rank


examples(
    np.kron, (_table(2, 3), _table(3, 2)), (_table(3), _table(2)), (_table(2), _table(3, 2)), (_COMPLEX, _table(2, 2))
)


@pullback(np.trace)
def trace_pullback(y_bar, a, offset=0, axis1=0, axis2=1):
    """y_bar on the diagonal, zero elsewhere."""
    return diagonal_bar(np.expand_dims(y_bar, -1), a, offset, axis1, axis2)


for _diagonal in (np.trace, np.diagonal):
    examples(_diagonal, (_table(3, 3),), (_table(2, 4),), (_table(3, 2, 2),), (_COMPLEX,))
    example(_diagonal, _table(3, 4), offset=1)
    example(_diagonal, _table(3, 2, 4), offset=-1, axis1=2, axis2=0)

_VECTOR = np.array([0.7, -1.4, 2.2, 0.1])
_SHORT = np.array([1.3, 0.4, -0.8])
_TABLE = np.sin(np.arange(12.0) * 1.7).reshape(3, 4)
_STACK = np.cos(np.arange(24.0) * 1.3).reshape(2, 3, 4)
_PLANE = _TABLE + 1j * _TABLE[::-1] ** 2


@pullback(np.vecdot)
def vecdot_pullback(z_bar, x1, x2, *, axis=-1, keepdims=False):
    """z = sum(conj(x1) * x2) along an axis: x1_bar = conj(z_bar) * x2, x2_bar = z_bar * x1."""
    return summed_product_bar(conj(z_bar), x1, x2, axis, keepdims), summed_product_bar(z_bar, x2, x1, axis, keepdims)


@cotangent_of(1)
def summed_product_bar(z_bar: Any, x: Any, factor: Any, axis: int, keepdims: bool) -> Any:
    """The cotangent of x under products with a factor that were summed along an axis, which each operand counts by itself."""
    product = np.expand_dims(np.squeeze(z_bar, axis) if keepdims else z_bar, -1) * _with_last(factor, axis)
    last = _with_last(x, axis)
    return np.moveaxis(unbroadcast(product, last), -1, axis)


def _with_last(x: Any, axis: int) -> np.ndarray:
    return np.moveaxis(np.asarray(x), axis, -1)


examples(np.vecdot, (_VECTOR, _VECTOR[::-1]), (_TABLE, _VECTOR), (_VECTOR, _TABLE), (_PLANE, _TABLE), (_TABLE, _PLANE))
examples(np.vecdot, (_PLANE, _PLANE[::-1]), (_STACK, _TABLE), (_TABLE[:, :0], _VECTOR[:0]), ([0.5, 1.5], [2.0, 3.0]))
examples(np.vecdot, (_STACK, _TABLE), (_SHORT[:, None], _PLANE), axis=-2)
examples(np.vecdot, (_TABLE, _TABLE + 1.0), (_STACK, _STACK[:, :1]), axis=0)
example(np.vecdot, _PLANE, _VECTOR, keepdims=True)
if hasattr(np, "matvec"):  # NumPy 2.2

    @rrule.register(np.matvec)
    def matvec_rrule(x1, x2):
        """z = x1 @ x2 for stacks of matrices and of vectors, which are columns."""

        def matvec_pullback(z_bar):
            return NoTangent(), outer_bar(z_bar, x1, conj(x2)), transposed_bar(z_bar, x2, conj(x1))

        return np.matvec(x1, x2), matvec_pullback

    @rrule.register(np.vecmat)
    def vecmat_rrule(x1, x2):
        """z = conj(x1) @ x2 for stacks of vectors, which are rows, and of matrices."""

        def vecmat_pullback(z_bar):
            return NoTangent(), contracted_bar(conj(z_bar), x1, x2), outer_bar(x1, x2, z_bar)

        return np.vecmat(x1, x2), vecmat_pullback

    @cotangent_of(1)
    def outer_bar(column: Any, x: Any, row: Any) -> Any:
        """The cotangent column @ row of a stack of matrices x."""
        return unbroadcast(np.expand_dims(column, -1) * np.expand_dims(row, -2), x)

    @cotangent_of(1)
    def contracted_bar(z_bar: Any, x: Any, matrix: Any) -> Any:
        """The cotangent matrix @ z_bar of a stack of vectors x."""
        return unbroadcast((np.asarray(matrix) @ np.expand_dims(z_bar, -1))[..., 0], x)

    @cotangent_of(1)
    def transposed_bar(z_bar: Any, x: Any, matrix: Any) -> Any:
        """The cotangent matrix.T @ z_bar of a stack of vectors x."""
        return contracted_bar(z_bar, x, np.swapaxes(matrix, -1, -2))

    examples(np.matvec, (_TABLE, _VECTOR), (_STACK, _VECTOR), (_TABLE, _STACK), (_PLANE, _VECTOR), (_PLANE, _PLANE))
    examples(np.matvec, (_STACK[:, None], _STACK), (_TABLE[:, :0], _VECTOR[:0]), ([[0.5, 1.5]], [2.0, 3.0]))
    examples(np.vecmat, (_SHORT, _TABLE), (_TABLE.T, _STACK[:, None]), (_SHORT, _STACK), (_SHORT, _PLANE))
    examples(np.vecmat, (_PLANE.T, _PLANE), (_PLANE.T, _TABLE), (_VECTOR[:0], _TABLE[:0]), ([0.5], [[2.0, 3.0]]))
