"""Cotangents of what matrices, in the last two axes, are decomposed into.

A decomposition fixes its vectors up to a phase (a sign, of real ones), and those of equal values up to a rotation. What a
cotangent asks beyond that has no derivative: where the phase is asked for it is refused, and where equal values are told
apart the result is NaN. Functions of the vectors that do not depend on either are differentiated as if nothing had happened.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.tangents.arithmetic import conj
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NotImplementedTangent, is_structural_zero


def adjoint(x: Any) -> Any:
    """The conjugate transpose of the matrices in the last two axes."""
    return np.swapaxes(conj(x), -1, -2)


def inverse_or_nan(a: Any) -> np.ndarray:
    """The inverses of matrices, and NaN for the singular ones."""
    with np.errstate(all="ignore"):
        regular = np.expand_dims(np.isfinite(np.linalg.slogdet(a)[1]), (-1, -2))
    identity = np.eye(np.shape(a)[-1], dtype=np.result_type(a))
    return np.where(regular, np.linalg.inv(np.where(regular, a, identity)), np.nan)


def largest(x: Any) -> Any:
    """The largest modulus in each matrix, with axes of length one that broadcast against it."""
    return np.max(np.abs(x), axis=(-1, -2), keepdims=True, initial=0.0)


def guarded_quotient(m: np.ndarray, divisor: np.ndarray, asked: Any, values: Any) -> Any:
    """m / divisor; where the divisor is 0, but for rounding errors next to `values`, 0 if m is 0 (next to `asked`) and NaN
    otherwise."""
    rounding = 4.0 * max(m.shape[-2:], default=1) * float(np.finfo(divisor.dtype).eps)
    vanishes = np.broadcast_to(np.abs(divisor) <= rounding * values, m.shape)
    quotient = m / np.where(vanishes, 1.0, divisor)
    quotient[vanishes] = 0.0
    quotient[vanishes & ~(np.abs(m) <= rounding * asked)] = np.nan  # also if m is NaN
    return quotient


def over_gaps(m: np.ndarray, values: np.ndarray) -> Any:
    """m_ij / (values_j - values_i), and 0 on the diagonal."""
    same = np.eye(m.shape[-1]) > 0.0
    gaps = np.where(same, 1.0, np.expand_dims(values, -2) - np.expand_dims(values, -1))
    return guarded_quotient(np.where(same, 0.0, m), gaps, largest(m), largest(np.expand_dims(values, -1)))


def between(inner: Any, left: Any, right: Any, values: Any) -> Any:
    """left inner right^H, for vectors that belong to values."""
    return left @ inner @ adjoint(right)


def inside(m: Any, left: Any, right: Any, values: Any) -> Any:
    """left^H m right, for vectors that belong to values."""
    return adjoint(left) @ m @ right


def as_diagonal(x: Any) -> Any:
    """Diagonal matrices."""
    return np.eye(np.shape(x)[-1], dtype=np.result_type(x)) * np.expand_dims(x, -1)


def diagonal_of(m: np.ndarray) -> np.ndarray:
    """The diagonals of matrices."""
    return np.diagonal(m, axis1=-2, axis2=-1)


_CHOICE = "the result depends on the phase of eigenvectors or singular vectors, or on which basis of a space was chosen"


def choice() -> NotImplementedTangent:
    """The tangent of vectors that are determined up to a phase or a rotation only: it is refused where it is used, since it is
    not seen what becomes of it."""
    return not_implemented(_CHOICE)


def refuse_choice(turned: np.ndarray, m: np.ndarray) -> None:
    """Refuse a cotangent under which turning the vectors, which changes the result by `turned`, is not without effect next
    to that of moving them, m."""
    eps = float(np.finfo(m.dtype).eps)
    # A cotangent of rounding errors, at a minimum, points anywhere.
    if np.any(np.abs(turned) > eps**0.5 * np.max(np.abs(m), initial=0.0) + eps**0.75):
        raise MissingRuleError(
            _CHOICE,
            None,
            "Use what does not depend on it: v * np.conj(v), v @ np.conj(v).T, or the projection of something.",
        )


def leading_columns(q: np.ndarray, q_bar: Any, count: int) -> tuple[np.ndarray, Any]:
    """The first columns of unitary matrices, with a cotangent to which that of the others, a basis of their complement, is
    brought: q0 q0^H = 1 - q1 q1^H."""
    if q.shape[-1] == count or is_structural_zero(q_bar):
        return q[..., :count], q_bar
    first, others = q[..., :count], q[..., count:]
    others_bar = q_bar[..., count:]
    turned = adjoint(others) @ others_bar
    refuse_choice(turned - adjoint(turned), others_bar)
    return first, q_bar[..., :count] - others @ (adjoint(others_bar) @ first)


def half_of_diagonal(m: Any) -> Any:
    """Matrices with half of what is on their diagonals."""
    return m * (1.0 - 0.5 * np.eye(m.shape[-1], dtype=np.real(m).dtype))


def triangle_bar(a_bar: np.ndarray, uplo: str) -> np.ndarray:
    """The cotangent of what was read of a Hermitian matrix, a triangle and the real part of the diagonal."""
    both = half_of_diagonal(a_bar + adjoint(a_bar))
    return np.tril(both) if uplo in "Ll" else np.triu(both)


def hermitian_of(a: Any, uplo: str) -> Any:
    """The Hermitian matrix of which a triangle, and the real part of the diagonal, is read."""
    half = half_of_diagonal(np.tril(a) if uplo in "Ll" else np.triu(a))
    return half + adjoint(half)
