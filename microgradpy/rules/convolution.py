"""Products of stacks of vectors and matrices by their own functions, convolution and correlation, and arrays that are made of
the powers or differences of a vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.indexing import diff_bar
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent

_VECTOR = np.array([0.7, -1.4, 2.2, 0.1])
_SHORT = np.array([1.3, 0.4, -0.8])
_TABLE = np.sin(np.arange(12.0) * 1.7).reshape(3, 4)
_STACK = np.cos(np.arange(24.0) * 1.3).reshape(2, 3, 4)
_COMPLEX = _TABLE + 1j * _TABLE[::-1] ** 2


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


examples(np.vecdot, (_VECTOR, _VECTOR[::-1]), (_TABLE, _VECTOR), (_VECTOR, _TABLE), (_COMPLEX, _TABLE), (_TABLE, _COMPLEX))
examples(np.vecdot, (_COMPLEX, _COMPLEX[::-1]), (_STACK, _TABLE), (_TABLE[:, :0], _VECTOR[:0]), ([0.5, 1.5], [2.0, 3.0]))
examples(np.vecdot, (_STACK, _TABLE), (_SHORT[:, None], _COMPLEX), axis=-2)
examples(np.vecdot, (_TABLE, _TABLE + 1.0), (_STACK, _STACK[:, :1]), axis=0)
example(np.vecdot, _COMPLEX, _VECTOR, keepdims=True)

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

    examples(np.matvec, (_TABLE, _VECTOR), (_STACK, _VECTOR), (_TABLE, _STACK), (_COMPLEX, _VECTOR), (_COMPLEX, _COMPLEX))
    examples(np.matvec, (_STACK[:, None], _STACK), (_TABLE[:, :0], _VECTOR[:0]), ([[0.5, 1.5]], [2.0, 3.0]))
    examples(np.vecmat, (_SHORT, _TABLE), (_TABLE.T, _STACK[:, None]), (_SHORT, _STACK), (_SHORT, _COMPLEX))
    examples(np.vecmat, (_COMPLEX.T, _COMPLEX), (_COMPLEX.T, _TABLE), (_VECTOR[:0], _TABLE[:0]), ([0.5], [[2.0, 3.0]]))


@pullback(np.convolve)
def convolve_pullback(z_bar, a, v, mode="full"):
    """z_k = sum(a_i v_(k-i)): a_bar_i = sum(z_bar_k conj(v_(k-i))), and the same for v."""
    return convolved_bar(z_bar, a, v), convolved_bar(z_bar, v, a)


@cotangent_of(1)
def convolved_bar(z_bar: Any, x: Any, other: Any) -> Any:
    """The cotangent of x under its convolution with another vector."""
    whole = _whole(z_bar, np.size(x) + np.size(other) - 1, False)
    return unbroadcast(np.reshape(np.correlate(whole, np.ravel(other), "valid"), np.shape(x)), x)


def _whole(z_bar: np.ndarray, length: int, later: bool) -> np.ndarray:
    """z_bar with the zeros that belong to the entries which other modes leave out at both ends; `later` says that the one
    more, where their number is odd, was left out at the start."""
    left_out = length - len(z_bar)
    before = (left_out + later) // 2
    return np.pad(z_bar, (before, left_out - before))


@pullback(np.correlate)
def correlate_pullback(z_bar, a, v, mode="valid"):
    """z_k = sum(a_(n+k) conj(v_n)): a_bar_i = sum(z_bar_k v_(i-k)), v_bar_n = sum(conj(z_bar_k) a_(n+k))."""
    return correlated_bar(z_bar, a, v), correlated_with_bar(z_bar, v, a)


@cotangent_of(1)
def correlated_bar(z_bar: Any, a: Any, v: Any) -> Any:
    """The cotangent of a under np.correlate(a, v)."""
    whole = _whole(z_bar, np.size(a) + np.size(v) - 1, np.size(a) < np.size(v))
    return unbroadcast(np.reshape(np.convolve(whole, np.ravel(v), "valid"), np.shape(a)), a)


@cotangent_of(1)
def correlated_with_bar(z_bar: Any, v: Any, a: Any) -> Any:
    """The cotangent of v under np.correlate(a, v)."""
    whole = _whole(z_bar, np.size(a) + np.size(v) - 1, np.size(a) < np.size(v))
    v_bar = conj(np.correlate(whole, np.ravel(a), "valid"))[::-1]
    return unbroadcast(np.reshape(v_bar, np.shape(v)), v)


_LINES = (
    (_VECTOR, _SHORT),
    (_SHORT, _VECTOR),
    (_VECTOR, _SHORT[:2]),
    (_SHORT[:2], np.tile(_VECTOR, 2)),
    (_VECTOR, _VECTOR + 0.5),
    (_COMPLEX[0], _SHORT),
    (_SHORT, _COMPLEX[1]),
    (_COMPLEX[0], _COMPLEX[1, :2]),
    (_COMPLEX[0, :2], _COMPLEX[1]),
    (_VECTOR, _SHORT[:1]),
    ([0.5, 1.5], [2.0, 3.0, 4.0]),
)
for _mode in ("full", "same", "valid"):
    examples(np.convolve, *_LINES, mode=_mode)
    examples(np.correlate, *_LINES, mode=_mode)
examples(np.convolve, _LINES[0], (0.5, _SHORT), (0.5, 2.0), (_VECTOR, _SHORT, 1))
examples(np.correlate, _LINES[0], _LINES[1])


@pullback(np.matrix_transpose)
def matrix_transpose_pullback(z_bar, x, /):
    """x_bar = z_bar with the last two axes exchanged."""
    return unbroadcast(np.swapaxes(z_bar, -1, -2), x)


examples(np.matrix_transpose, (_TABLE,), (_STACK,), (_COMPLEX,), (_TABLE[:0],))


@pullback(np.vander)
def vander_pullback(y_bar, x, N=None, increasing=False, *, y):
    """Columns of powers p of x, of which each has the derivative p x^(p-1), p times the next lower column."""
    return vander_bar(y_bar, x, y, increasing)


@cotangent_of(1)
def vander_bar(y_bar: Any, x: Any, y: Any, increasing: bool) -> Any:
    """The cotangent of x under its matrix of powers y."""
    if not increasing:
        y_bar, y = y_bar[:, ::-1], y[:, ::-1]
    powers = np.arange(1, max(y.shape[1], 1), dtype=np.result_type(np.real(y_bar)))
    with np.errstate(all="ignore"):
        return unbroadcast(np.sum(y_bar[:, 1:] * powers * conj(y[:, :-1]), axis=1), x)


examples(np.vander, (_VECTOR,), (_VECTOR, 3), (_VECTOR, 6, True), (_COMPLEX[0], 3), (_VECTOR, 1), (_VECTOR, 0), ([0.5, 0.0],))


@pullback(np.ediff1d)
def ediff1d_pullback(y_bar, ary, to_end=None, to_begin=None):
    """The differences of neighbours, between what is put before and after them."""
    return neighbours_bar(y_bar, ary, to_begin), end_bar(y_bar, to_end), beginning_bar(y_bar, to_begin)


@cotangent_of(1)
def neighbours_bar(y_bar: Any, ary: Any, to_begin: Any) -> Any:
    """The cotangent of the array under np.ediff1d."""
    start = 0 if to_begin is None else np.size(to_begin)
    differences = y_bar[start : start + max(np.size(ary) - 1, 0)]
    return unbroadcast(np.reshape(diff_bar(differences, np.ravel(ary), 1, -1), np.shape(ary)), ary)


@cotangent_of(1)
def end_bar(y_bar: Any, to_end: Any) -> Any:
    """The cotangent of what is put behind."""
    return None if to_end is None else unbroadcast(np.reshape(y_bar[len(y_bar) - np.size(to_end) :], np.shape(to_end)), to_end)


@cotangent_of(1)
def beginning_bar(y_bar: Any, to_begin: Any) -> Any:
    """The cotangent of what is put before."""
    return None if to_begin is None else unbroadcast(np.reshape(y_bar[: np.size(to_begin)], np.shape(to_begin)), to_begin)


examples(np.ediff1d, (_VECTOR,), (_TABLE,), (_COMPLEX,), (_VECTOR[:1],), (_VECTOR[:0],), ([0.5, 1.5, 4.0],))
examples(np.ediff1d, (_VECTOR, 0.5), (_VECTOR, _SHORT, 1.5), (_VECTOR, None, _TABLE), (_VECTOR[:0], 0.5, [1.0, 2.0]))
