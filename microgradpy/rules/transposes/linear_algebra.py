"""Transposes of what linear algebra calls: its forward derivatives, of stacks of matrices too.

They read what the cotangents read, so that both agree on what is said of equal values and dependent columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.nested import by_text
from microgradpy.rules.numpy.linear_algebra.linalg_products import matrix_power_bar, multi_dot_bar
from microgradpy.rules.numpy.linear_algebra.norms import cond_bar, matrix_norm_bar, norm_bar, vector_norm_bar
from microgradpy.rules.numpy.linear_algebra.singular import (
    column,
    factors_of,
    inverted,
    lstsq_bars,
    pinv_bar,
)
from microgradpy.rules.numpy.linear_algebra.solving import (
    cholesky_bar,
    cofactors,
    qr_bar,
    qr_factors,
    slogdet_bar,
    solve_adjoint,
    solve_matrix_bar,
)
from microgradpy.rules.numpy.mathematics.sums import products_of_others
from microgradpy.rules.registry import examples
from microgradpy.rules.transposes.reductions import sum_of_chosen, sum_of_slopes
from microgradpy.tangents.arithmetic import conj, real_like, reciprocal_or_zero, unbroadcast
from microgradpy.tangents.decompositions import (
    adjoint,
    as_diagonal,
    choice,
    diagonal_of,
    half_of_diagonal,
    hermitian_of,
    inverse_or_nan,
)
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent, is_structural_zero

_V = np.array([1.5, -0.5, 0.25])
_TALL = np.array([[0.3, -1.2], [0.7, 0.1], [-0.4, 2.0]])
_A = np.array([[2.1, 0.3, -0.5], [0.4, 1.2, 0.2], [-0.1, 0.6, 3.0]])
_SYMMETRIC = _A + _A.T
_STACK = np.stack([_A, _A @ _A])
_C = _A + 0.5j * _A[::-1]
_HERMITIAN = _C @ _C.conj().T


@pullback(adjoint)
def adjoint_pullback(y_bar, x):
    """The conjugate transpose again."""
    return adjoint(y_bar)


examples(adjoint, (_TALL,), (_STACK,), (_C,))


# Norms

_ORDER = "a second derivative of a norm in its order, for some of which the text has a way of its own"


@pullback(norm_bar)
def norm_bar_pullback(x_dot, y_bar, x, y, ord, axis, keepdims):
    """y_dot = Re(x^H x_dot) / y for the Euclidean norm, and the sum of the slopes for others."""
    second = norm_second_bars(x_dot, y_bar, x, y, ord, axis, keepdims)
    return norm_dot(x_dot, x, y, ord, axis, keepdims), second[0], second[1], not_implemented(_ORDER)


@pullback(vector_norm_bar)
def vector_norm_bar_pullback(x_dot, y_bar, x, y, ord, axis, keepdims):
    """The same, of all entries along the axes."""
    slopes = vector_norm_bar(np.ones_like(y), x, y, ord, axis, keepdims)
    return norm_by_slopes(x_dot, y, slopes, ord, axis, keepdims), ..., ..., not_implemented(_ORDER)


@pullback(matrix_norm_bar)
def matrix_norm_bar_pullback(x_dot, y_bar, x, y, ord, axes, keepdims):
    """The same of matrices."""
    slopes = matrix_norm_bar(np.ones_like(y), x, y, ord, axes, keepdims)
    return norm_by_slopes(x_dot, y, slopes, ord, axes, keepdims), ..., ..., not_implemented(_ORDER)


@pullback(cond_bar)
def cond_bar_pullback(x_dot, y_bar, x, y, p):
    """The sum of the slopes."""
    slopes = cond_bar(np.ones_like(y), x, y, p)
    return sum_of_slopes(x_dot, y, slopes, (-2, -1), False), ..., ...


@cotangent_of(2)
def norm_dot(x_dot: Any, x: Any, y: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    """The tangent of y = np.linalg.norm(x, ord, axis, keepdims)."""
    if not _is_euclidean(x, ord, axis):
        return norm_by_slopes(x_dot, y, norm_bar(np.ones_like(y), x, y, ord, axis, keepdims), ord, axis, keepdims)
    if type(x) is np.ndarray and x.ndim == 1 and x.dtype.kind == "f" and not keepdims:
        return x.dot(x_dot) * reciprocal_or_zero(y)
    products = np.real(np.multiply(conj(x), x_dot))
    return np.sum(products, axis=axis, keepdims=keepdims) * reciprocal_or_zero(y)


def norm_second_bars(x_dot: Any, y_bar: Any, x: Any, y: Any, ord: Any, axis: Any, keepdims: bool) -> tuple[Any, Any]:
    """The cotangents of x and its Euclidean norm y under y_bar * x / y."""
    if not _is_euclidean(x, ord, axis):
        given = y_bar, x, y, ord, axis, keepdims
        return by_text(norm_bar, 1, x_dot, *given), by_text(norm_bar, 2, x_dot, *given)
    factor = -y_bar * reciprocal_or_zero(y)
    return norm_bar(y_bar, x_dot, y, ord, axis, keepdims), factor * norm_dot(x_dot, x, y, ord, axis, keepdims)


def _is_euclidean(x: Any, ord: Any, axis: Any) -> bool:
    of_matrix = np.ndim(x) == 2 if axis is None else isinstance(axis, tuple) and len(axis) == 2
    return ord is None or (isinstance(ord, str) and ord in ("fro", "f")) if of_matrix else ord in (None, 2)


@cotangent_of(1)
def norm_by_slopes(x_dot: Any, y: Any, slopes: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    """The tangent of a norm y for which x_bar is y_bar * slopes; one of infinite order selects."""
    if not isinstance(ord, str) and ord is not None and np.isinf(ord):
        return sum_of_chosen(x_dot, y, slopes, axis, keepdims)
    return sum_of_slopes(x_dot, y, slopes, axis, keepdims)


for _ord in (None, 1, 2, 3.5, np.inf):
    examples(norm_bar, (0.5, _V, np.linalg.norm(_V, _ord), _ord, None, False))
    examples(norm_bar, (_V[:2], _A[:2], np.linalg.norm(_A[:2], _ord, 1), _ord, 1, False))
for _order in ("fro", "nuc", 2, 1, np.inf):
    examples(norm_bar, (0.5, _TALL, np.linalg.norm(_TALL, _order), _order, None, False))
    examples(matrix_norm_bar, (_V[:2], _STACK, np.linalg.matrix_norm(_STACK, ord=_order), _order, (-2, -1), False))
examples(norm_bar, (0.5, _A, np.linalg.norm(_A), None, None, False), (0.5, _C, np.linalg.norm(_C), None, None, False))
for _ord in (None, 1, 2, 3.5):
    examples(norm_bar, (_V[:2, None], _C[:2], np.linalg.norm(_C[:2], _ord, 1, True), _ord, 1, True))
examples(vector_norm_bar, (0.5, _A, np.linalg.vector_norm(_A, ord=3), 3, None, False))
examples(vector_norm_bar, (0.5, _V, np.linalg.norm(_V), 2, None, False))
examples(cond_bar, (0.5, _A, np.linalg.cond(_A), None), (_V[:2], _STACK, np.linalg.cond(_STACK, 1), 1))


# Equations


@pullback(solve_adjoint)
def solve_adjoint_pullback(right_dot, z_bar, a, b, *, right_bar):
    """a^-1 right_dot."""
    z_dot = solved(right_dot, z_bar, a, b)
    return z_dot, solve_matrix_bar(right_bar, a, b, z_dot)


@pullback(solve_matrix_bar)
def solve_matrix_bar_pullback(a_dot, right_bar, a, b, z):
    """-a_dot z, on the right-hand side."""
    return moved_right(a_dot, right_bar, b, z), NoTangent(), NoTangent(), moved_right(adjoint(a_dot), z, b, right_bar)


@cotangent_of(1)
def solved(right_dot: Any, z: Any, a: Any, b: Any) -> Any:
    """a^-1 right_dot, of the shape of z, which is a^-1 b."""
    if np.ndim(b) == 1:
        return np.squeeze(np.linalg.solve(a, np.expand_dims(right_dot, -1)), -1)
    return np.linalg.solve(a, right_dot)


@cotangent_of(1)
def moved_right(a_dot: Any, right: Any, b: Any, z: Any) -> Any:
    """-a_dot z, of the shape of `right`."""
    product = np.squeeze(a_dot @ np.expand_dims(z, -1), -1) if np.ndim(b) == 1 else a_dot @ z
    return unbroadcast(-product, right)


examples(solve_adjoint, (_V, _A, _V), (_TALL, _A, _TALL), (_STACK, _STACK, _STACK), (_V + 0.5j, _C, _V))
examples(solve_adjoint, (np.stack([_V, _V]), _STACK, _V), (_STACK, _A, _STACK))
examples(solve_matrix_bar, (_V, _A, _V, 2.0 * _V), (_TALL, _A, _TALL, 2.0 * _TALL), (_V, _C, _V, _C @ _V))
examples(solve_matrix_bar, (np.stack([_V, _V]), _STACK, _V, np.stack([_V, 2.0 * _V])), (_STACK, _A, _STACK, _STACK[::-1]))


@pullback(cofactors)
def cofactors_pullback(c_bar, a):
    """With a = u s v, and p_ij the product of the other singular values: of m = u^H a_dot v^H the change of the cofactors is
    the sum of p_ij m_ii at jj, and -p_ij m_ji at ij. That is symmetric."""
    return conj(cofactors_dot(conj(c_bar), a))


def cofactors_dot(a_dot: Any, a: Any) -> Any:
    """The tangent of the cofactors of a matrix."""
    u, s, v = np.linalg.svd(a)
    inner = adjoint(u) @ a_dot @ adjoint(v)
    beside = 1.0 - np.eye(s.shape[-1], dtype=s.dtype)
    products = beside * products_of_others(np.where(beside > 0.0, np.expand_dims(s, -2), 1.0), -1)
    on_diagonal = np.squeeze(np.expand_dims(diagonal_of(inner), -2) @ products, -2)
    moved = as_diagonal(on_diagonal) - products * np.swapaxes(inner, -1, -2)
    unit = np.expand_dims(np.linalg.det(u) * np.linalg.det(v), (-1, -2))
    return unit * (conj(u) @ moved @ conj(v))


examples(cofactors, (_A,), (_STACK,), (_C,), (_A[:2, :2],), (_A[:1, :1],))


@pullback(slogdet_bar)
def slogdet_bar_pullback(a_dot, y_bar, a, y):
    """With t = trace(a^-1 a_dot) the tangent of the logarithm is Re(t), that of the sign i Im(t) times it."""
    return slogdet_dot(a_dot, a, y), ..., ...


def slogdet_dot(a_dot: Any, a: Any, y: Any) -> tuple[Any, Any]:
    """The tangents of the sign and the logarithm of a determinant."""
    trace = np.sum(np.swapaxes(inverse_or_nan(a), -1, -2) * a_dot, axis=(-2, -1))
    return (1j * np.imag(trace) * y[0] if np.iscomplexobj(y[0]) else np.zeros_like(y[0])), np.real(trace)


examples(slogdet_bar, ((1.0, 0.5), _A, (1.0, 2.0)), ((0.5 + 1.0j, 0.5), _C, tuple(np.linalg.slogdet(_C))))
examples(slogdet_bar, ((None, _V[:2]), _STACK, tuple(np.linalg.slogdet(_STACK))))


@pullback(matrix_power_bar)
def matrix_power_bar_pullback(a_dot, z_bar, a, n):
    """As the cotangent, of the conjugate transpose."""
    return unbroadcast(matrix_power_bar(a_dot, adjoint(a), n), z_bar), ...


examples(matrix_power_bar, (_A, _A, 3), (_A, _A, -1), (_STACK, _STACK, 1), (_C, _C, 2), (_A, _A, 0))


@pullback(multi_dot_bar)
def multi_dot_bar_pullback(dots, y_bar, arrays):
    """The sum of the products with the tangent of one factor."""
    return multi_dot_dot(dots, y_bar, arrays), ...


@cotangent_of(1)
def multi_dot_dot(dots: Any, y: Any, arrays: Any) -> Any:
    """The tangent of a chain of products y."""
    total: Any = np.zeros_like(y)
    for place, dot in enumerate(dots):
        if not is_structural_zero(dot):
            total = total + np.linalg.multi_dot([dot if i == place else x for i, x in enumerate(arrays)])
    return total


examples(multi_dot_bar, (_TALL.T, [_TALL.T, _A, _A]), (_V, [_A, _A, _V]), (0.5, (_V, _A, _V)), (_A, np.stack([_A, _A, _A])))


# Factors


@pullback(cholesky_bar)
def cholesky_bar_pullback(a_dot, z_bar, z):
    """z_dot = z p(z^-1 a_dot z^-H), where p halves the diagonal and drops what is above it."""
    return cholesky_dot(a_dot, z), ...


@cotangent_of(1)
def cholesky_dot(a_dot: Any, z: Any) -> Any:
    """The tangent of the lower Cholesky factor z."""
    inner = np.linalg.solve(z, adjoint(np.linalg.solve(z, hermitian_of(a_dot, "L"))))
    return z @ half_of_diagonal(np.tril(inner))


@pullback(qr_bar)
def qr_bar_pullback(a_dot, y_bar, a, y, mode):
    """With m = a_dot r^-1: q_dot = m - q t and r_dot = t r, where t is what q^H m plus its adjoint has above the diagonal."""
    return qr_dot(a_dot, a, y, mode), ..., ...


def qr_dot(a_dot: Any, a: Any, y: Any, mode: str) -> Any:
    """The tangents of the QR factors of a matrix."""
    q, r = qr_factors(a, y, mode)
    count, a_dot = min(np.shape(a)[-2:]), np.asarray(a_dot)
    first, square = q[..., :count], r[..., :count, :count]
    moved = a_dot[..., :count] @ inverse_or_nan(square)
    inner = half_of_diagonal(adjoint(first) @ moved)
    above = np.triu(inner + adjoint(inner))
    first_dot = moved - first @ above
    beyond = adjoint(first_dot) @ np.asarray(a)[..., count:] + adjoint(first) @ a_dot[..., count:]
    r_dot = np.zeros_like(r)
    r_dot[..., :count, :] = np.triu(np.concatenate((above @ square, beyond), axis=-1))
    return r_dot if mode == "r" else (with_complement(q, first_dot), r_dot)


def with_complement(q: Any, first_dot: Any) -> Any:
    """The tangent of unitary matrices from that of their first columns. The others are a basis of the complement, of which
    it is known what it turns into only if there is no choice but of a sign."""
    count = first_dot.shape[-1]
    first, others = q[..., :count], q[..., count:]
    if others.shape[-1] == 0:
        return first_dot
    if others.shape[-1] > 1 or np.iscomplexobj(q):
        return choice()
    return np.concatenate((first_dot, -first @ (adjoint(first_dot) @ others)), axis=-1)


_L, _LC = np.linalg.cholesky(_SYMMETRIC), np.linalg.cholesky(_HERMITIAN)
examples(cholesky_bar, (_A, _L), (_STACK, np.stack([_L, 2.0 * _L])), (_C, _LC))
examples(qr_bar, ((_A, _A), _A, tuple(np.linalg.qr(_A)), "reduced"))
examples(qr_bar, ((_TALL, _A[:2, :2]), _TALL, tuple(np.linalg.qr(_TALL)), "reduced"))
examples(qr_bar, ((_A[:2, :2], _A[:2]), _TALL.T, tuple(np.linalg.qr(_TALL.T)), "reduced"), (_A, _A, np.linalg.qr(_A, "r"), "r"))
examples(qr_bar, ((_C, _C), _C, tuple(np.linalg.qr(_C)), "reduced"))


# The pseudoinverse


@pullback(pinv_bar)
def pinv_bar_pullback(a_dot, z_bar, a, z, rcond, hermitian):
    """z_dot = -z a_dot z + z z^H a_dot^H (1 - a z) + (1 - z a) a_dot^H z^H z."""
    return pinv_dot(a_dot, a, z, rcond, hermitian), ..., ...


@cotangent_of(2)
def pinv_dot(a_dot: Any, a: Any, z: Any, rcond: Any, hermitian: bool) -> Any:
    """The tangent of the pseudoinverse z."""
    if np.size(a) == 0:
        return np.zeros_like(z)
    x = inverted(a, rcond, hermitian)
    moved = hermitian_of(np.asarray(a_dot), "L") if hermitian else np.asarray(a_dot)
    zh, back = adjoint(z), adjoint(moved)
    left, right = z @ (zh @ back), (back @ zh) @ z
    return real_like(left - (left @ x) @ z + right - z @ (x @ right) - z @ moved @ z, z)


@pullback(lstsq_bars)
def lstsq_bars_pullback(dots, y_bar, a, b, y):
    """x_dot = p (b_dot - a_dot x) + p p^H a_dot^H (b - a x) + (1 - p a) a_dot^H p^H x, with the pseudoinverse p of a."""
    return lstsq_dot(dots, a, b, y), ..., ..., ...


def lstsq_dot(dots: Any, a: Any, b: Any, y: Any) -> tuple[Any, Any, None, Any]:
    """The tangents of what least squares gives, for those of the matrix and of the right-hand side."""
    matrix, solution = np.asarray(a), column(y[0])
    u, vh, inverse = factors_of(matrix, y[2])
    rest = column(b) - matrix @ solution
    a_dot = np.zeros_like(matrix) if is_structural_zero(dots[0]) else np.asarray(dots[0])
    moved = (0.0 if is_structural_zero(dots[1]) else column(dots[1])) - a_dot @ solution
    back = adjoint(a_dot)
    outside = back @ (adjoint(inverse) @ solution)
    x_dot = inverse @ (moved + adjoint(inverse) @ (back @ rest) - matrix @ outside) + outside
    residuals_dot = 2.0 * np.real(np.sum(conj(rest) * moved, axis=0)) if np.size(y[1]) else None
    return np.reshape(x_dot, np.shape(y[0])), residuals_dot, None, np.real(np.sum(conj(u) * (a_dot @ adjoint(vh)), axis=-2))


_PINV, _FITTED = np.linalg.pinv(_TALL), tuple(np.linalg.lstsq(_TALL, _V, rcond=None))
examples(pinv_bar, (_TALL.T, _TALL, _PINV, None, False), (_A, _SYMMETRIC, np.linalg.pinv(_SYMMETRIC), None, True))
examples(pinv_bar, (_C, _C, np.linalg.inv(_C), 1e-10, False))
examples(lstsq_bars, ((_V[:2], _V[:1], None, _V[1:]), _TALL, _V, _FITTED), ((_V[:2], None, None, None), _TALL, _V, _FITTED))
