"""np.linalg: singular values and vectors, the pseudoinverse and least squares.

Sources: J. Townsend, "Differentiating the singular value decomposition" (2016); Z. Wan and S. Zhang, "Automatic
differentiation for complex valued SVD" (2019); G. Golub and V. Pereyra, "The differentiation of pseudo-inverses and
nonlinear least squares problems whose variables separate" (1973). Where singular values coincide see
`microgradpy.tangents.decompositions`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.tangents.arithmetic import real_like, unbroadcast
from microgradpy.tangents.decompositions import (
    adjoint,
    as_diagonal,
    between,
    diagonal_of,
    guarded_quotient,
    hermitian_of,
    largest,
    leading_columns,
    over_gaps,
    refuse_choice,
    triangle_bar,
)
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent, is_structural_zero


@pullback(np.linalg.svd)
def svd_pullback(y_bar, a, full_matrices=True, compute_uv=True, hermitian=False, *, y):
    """a = u s v^H: a_bar = u (s_bar + p s + s q) v^H, and of a matrix that is not square what u_bar and v_bar have outside
    of the spaces of u and v, divided by s. p is f * (u^H u_bar) plus its adjoint with f_ij = 1 / (s_j^2 - s_i^2), and q
    the same of v."""
    return svd_bar(y_bar, a, y, compute_uv, hermitian)


@pullback(np.linalg.svdvals)
def svdvals_pullback(s_bar, x, /):
    """x = u s v^H: x_bar = u s_bar v^H."""
    return singular_values_bar(s_bar, x, False)


@cotangent_of(1)
def singular_values_bar(s_bar: Any, a: Any, hermitian: bool) -> Any:
    """The cotangent of a matrix under its singular values."""
    u, s, vh = np.linalg.svd(a, full_matrices=False, hermitian=hermitian)
    a_bar = between(as_diagonal(s_bar), u, adjoint(vh), s)
    return real_like(triangle_bar(a_bar, "L") if hermitian else a_bar, a)


@cotangent_of(1)
def svd_bar(y_bar: Any, a: Any, y: Any, compute_uv: bool, hermitian: bool) -> Any:
    """The cotangent of a matrix under its singular values and vectors."""
    if not compute_uv:
        return singular_values_bar(y_bar, a, hermitian)
    s = y[1]
    u, u_bar = leading_columns(y[0], y_bar[0], s.shape[-1])
    v, v_bar = leading_columns(adjoint(y[2]), None if is_structural_zero(y_bar[2]) else adjoint(y_bar[2]), s.shape[-1])
    u_bar = np.zeros_like(u) if is_structural_zero(u_bar) else u_bar
    v_bar = np.zeros_like(v) if is_structural_zero(v_bar) else v_bar
    u_moved, v_moved = adjoint(u) @ u_bar, adjoint(v) @ v_bar
    refuse_choice(np.imag(diagonal_of(u_moved + v_moved)), u_bar)
    inner = turned(u_moved, s) * np.expand_dims(s, -2) + np.expand_dims(s, -1) * turned(v_moved, s)
    if not is_structural_zero(y_bar[1]):
        inner = inner + as_diagonal(y_bar[1])
    if np.iscomplexobj(inner):
        phase = 1j * as_diagonal(np.imag(diagonal_of(u_moved)))
        inner = inner + guarded_quotient(phase, np.expand_dims(s, -2), *sizes(u_bar, s))
    a_bar = between(inner, u, v, s)
    if u.shape[-2] > s.shape[-1]:
        outside = guarded_quotient(u_bar - u @ u_moved, np.expand_dims(s, -2), *sizes(u_bar, s))
        a_bar = a_bar + outside @ adjoint(v)
    if v.shape[-2] > s.shape[-1]:
        outside = guarded_quotient(v_bar - v @ v_moved, np.expand_dims(s, -2), *sizes(v_bar, s))
        a_bar = a_bar + u @ adjoint(outside)
    return real_like(triangle_bar(a_bar, "L") if hermitian else a_bar, a)


def turned(moved: np.ndarray, s: np.ndarray) -> np.ndarray:
    """f * m plus its adjoint, for f_ij = 1 / (s_j^2 - s_i^2)."""
    total = np.expand_dims(s, -2) + np.expand_dims(s, -1)
    part = over_gaps(moved, s) / np.where(total == 0.0, 1.0, total)
    return part + adjoint(part)


def sizes(x_bar: np.ndarray, s: np.ndarray) -> tuple[Any, Any]:
    """The largest moduli of a cotangent and of singular values, in each matrix."""
    return largest(x_bar), largest(np.expand_dims(s, -2))


@pullback(np.linalg.pinv)
def pinv_pullback(z_bar, a, rcond=None, hermitian=False, *, z):
    """a_bar = -z^H z_bar z^H + (1 - a z) z_bar^H z z^H + z^H z z_bar^H (1 - z a), as long as the rank stays what it is."""
    return pinv_bar(z_bar, a, z, rcond, hermitian)


@cotangent_of(1)
def pinv_bar(z_bar: Any, a: Any, z: Any, rcond: Any, hermitian: bool) -> Any:
    """The cotangent of a matrix under its pseudoinverse z."""
    if np.size(a) == 0:
        return np.zeros_like(a)
    x = inverted(a, rcond, hermitian)
    zh, bar = adjoint(z), adjoint(z_bar)
    x_bar = (bar - x @ (z @ bar)) @ z @ zh + zh @ z @ (bar - (bar @ z) @ x) - zh @ z_bar @ zh
    return real_like(triangle_bar(x_bar, "L") if hermitian else x_bar, a)


def inverted(a: Any, rcond: Any, hermitian: bool) -> np.ndarray:
    """The matrix that is read to have a pseudoinverse, all of whose singular values have to be taken for what they are."""
    x = hermitian_of(np.asarray(a), "L") if hermitian else np.asarray(a)
    if rcond is not None:
        s = np.linalg.svd(x, compute_uv=False)
        refuse_left_out(s, s <= np.expand_dims(rcond, -1) * s[..., :1], x)
    return x


def refuse_left_out(s: np.ndarray, left_out: Any, a: Any) -> None:
    """Refuse where singular values were taken for 0 that are not, but for rounding."""
    rounding = 8.0 * max(np.shape(a)[-2:]) * np.finfo(s.dtype).eps
    if np.any(left_out & (s > rounding * s[..., :1])):
        raise MissingRuleError(
            "a pseudoinverse or least squares leaves out singular values that are not 0",
            None,
            "Leave rcond out, or write it with the results of np.linalg.svd.",
        )


@pullback(np.linalg.lstsq)
def lstsq_pullback(y_bar, a, b, rcond=None, *, y):
    """x = p b with the pseudoinverse p of a: b_bar = p^H x_bar, a_bar = -b_bar x^H + (b - a x) (p b_bar)^H +
    p^H x (x_bar - p a x_bar)^H, as long as the rank stays what it is."""
    bars = lstsq_bars(y_bar, a, b, y)
    return bars[0], bars[1]


def lstsq_bars(y_bar: Any, a: Any, b: Any, y: Any) -> tuple[Any, Any]:
    """The cotangents of the matrix and of the right-hand side of least squares."""
    x_bar, residuals_bar, _, s_bar = y_bar
    matrix, solution, residuals = np.asarray(a), column(y[0]), y[1]
    u, vh, inverse = factors_of(matrix, y[2])
    rest = column(b) - matrix @ solution
    right_bar = np.zeros_like(rest)
    matrix_bar = np.zeros(matrix.shape, rest.dtype)
    if not is_structural_zero(x_bar):
        bar = column(x_bar)
        right_bar = adjoint(inverse) @ bar
        matrix_bar = rest @ adjoint(inverse @ right_bar) - right_bar @ adjoint(solution)
        matrix_bar = matrix_bar + adjoint(inverse) @ solution @ adjoint(bar - inverse @ (matrix @ bar))
    if not is_structural_zero(residuals_bar) and np.size(residuals):
        right_bar = right_bar + 2.0 * rest * residuals_bar
        matrix_bar = matrix_bar - 2.0 * (rest * residuals_bar) @ adjoint(solution)
    if not is_structural_zero(s_bar):
        matrix_bar = matrix_bar + (u * s_bar) @ vh
    return unbroadcast(matrix_bar, a), unbroadcast(np.reshape(right_bar, np.shape(b)), b)


def factors_of(matrix: np.ndarray, rank: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The singular vectors u and v^H of a matrix, and its pseudoinverse of this rank."""
    u, values, vh = np.linalg.svd(matrix, full_matrices=False)
    refuse_left_out(values, np.arange(len(values)) >= rank, matrix)
    return u, vh, (adjoint(vh[:rank]) / values[:rank]) @ adjoint(u[:, :rank])


def column(x: Any) -> np.ndarray:
    """A vector as a matrix of one column."""
    return np.expand_dims(x, -1) if np.ndim(x) == 1 else np.asarray(x)


def _table(*shape: int) -> np.ndarray:
    """An array of irregular numbers, of both signs and the given shape, and of full rank."""
    return np.sin(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)) ** 2 * 1.7 + len(shape)).reshape(shape)


_SQUARE, _TALL, _WIDE = _table(3, 3), _table(4, 3), _table(2, 3)
_TALLS, _WIDES = _table(2, 4, 2), _table(2, 2, 4)

_COMPLEX = _TALL + 0.5j * np.cos(_TALL * 7.0)
_HERMITIAN = np.array([[2.0, 0.5, -0.3], [9.0, 1.0, 0.4], [9.0, 9.0, -1.5]]).T
examples(np.linalg.svd, (_SQUARE,), (_TALL,), (_WIDE,), (_SQUARE, False), (_TALL, False), (_WIDE, False), (_WIDES[:0],))
examples(np.linalg.svd, (_TALLS, False), (_WIDES, False), (_table(5, 2), False), (_HERMITIAN, True, True, True))
examples(np.linalg.svd, (_SQUARE,), (_TALLS,), (_COMPLEX,), (_WIDES[:0],), compute_uv=False)
example(np.linalg.svd, _HERMITIAN, compute_uv=False, hermitian=True)
examples(np.linalg.svdvals, (_SQUARE,), (_TALL,), (_WIDES,), (_COMPLEX,), (_WIDES[:0],))
examples(np.linalg.pinv, (_SQUARE,), (_TALL,), (_WIDE,), (_TALLS,), (_WIDES,), (_COMPLEX,), (_WIDES[:0],), (_TALL, 1e-10))
examples(np.linalg.pinv, (_HERMITIAN,), hermitian=True)
examples(np.linalg.lstsq, (_TALL, _table(4)), (_TALL, _table(4, 2)), (_WIDE, _table(2)), (_SQUARE, _table(3, 2)))
examples(np.linalg.lstsq, (_COMPLEX, _table(4)), (_TALL, _table(4) + 0.4j), (_TALL, _table(4), 1e-10))

_NOT_GIVEN: Any = np._NoValue
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])


@rrule.register(np.linalg.pinv, options=True)
def pinv_with_options_rrule(a, rcond=None, hermitian=False, *, rtol=_NOT_GIVEN):
    """As the plain rule, with `rtol` for `rcond`."""
    z = np.linalg.pinv(a, hermitian=hermitian, rtol=rtol)

    def pinv_with_options_pullback(z_bar):
        cut = None if rtol is _NOT_GIVEN else rtol
        return NoTangent(), pinv_bar(z_bar, a, z, cut, hermitian), NoTangent(), NoTangent()

    return z, pinv_with_options_pullback


examples(np.linalg.pinv, (_TABLE,), (np.stack([_TABLE, 2.0 * _TABLE]),), rtol=1e-10)
