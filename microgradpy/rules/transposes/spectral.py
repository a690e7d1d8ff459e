"""Transposes of what eigenvalues and singular values call: their forward derivatives, of stacks of matrices too.

The vectors of equal values are determined up to a rotation. A derivative of first order that does not depend on it is what it
is; one of second order asks how a value changes with it, and is NaN where a matrix turns such vectors into each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.linear_algebra.eigenvalues import eigh_bar
from microgradpy.rules.numpy.linear_algebra.singular import singular_values_bar, sizes, svd_bar
from microgradpy.rules.registry import examples
from microgradpy.rules.transposes.linear_algebra import with_complement
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.decompositions import (
    adjoint,
    between,
    choice,
    diagonal_of,
    guarded_quotient,
    hermitian_of,
    inside,
    largest,
    over_gaps,
)
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NotImplementedTangent, is_structural_zero

_V = np.array([1.5, -0.5, 0.25])
_TALL = np.array([[0.3, -1.2], [0.7, 0.1], [-0.4, 2.0]])
_A = np.array([[2.1, 0.3, -0.5], [0.4, 1.2, 0.2], [-0.1, 0.6, 3.0]])
_SYMMETRIC = _A + _A.T
_STACK = np.stack([_A, _A @ _A])
_C = _A + 0.5j * _A[::-1]
_HERMITIAN = _C @ _C.conj().T


@pullback(between)
def between_pullback(m, inner, left, right, values):
    """A product; the vectors of equal values have no derivative where m turns them."""
    return inside(m, left, right, values), left_bar(m, inner, left, right, values), right_bar(m, inner, left, right, values)


@pullback(inside)
def inside_pullback(inner, m, left, right, values):
    """The same."""
    return (
        between(inner, left, right, values),
        left_bar(m, inner, left, right, values),
        right_bar(m, inner, left, right, values),
    )


def left_bar(m: Any, inner: Any, left: Any, right: Any, values: Any) -> Any:
    """The cotangent of the vectors on the left, NaN for those of equal values that m turns into each other."""
    return m @ right @ adjoint(inner) + _turning(m, left, right, values)


def right_bar(m: Any, inner: Any, left: Any, right: Any, values: Any) -> Any:
    """The cotangent of the vectors on the right."""
    return adjoint(m) @ left @ inner + _turning(m, left, right, values)


def _turning(m: Any, left: Any, right: Any, values: Any) -> np.ndarray:
    """NaN for each vector that m turns towards others of the same value, or out of the space of those of a value of 0."""
    rounding = 8.0 * max(np.shape(m)[-2:], default=1) * float(np.finfo(values.dtype).eps)
    small, near = rounding * largest(m), rounding * np.max(np.abs(values), axis=-1, keepdims=True, initial=0.0)
    inner = adjoint(left) @ m @ right
    gaps = np.abs(np.expand_dims(values, -2) - np.expand_dims(values, -1))
    same = (gaps <= np.expand_dims(near, -1)) & (np.eye(values.shape[-1]) == 0.0)
    lost = np.any(same & ((np.abs(inner) > small) | (np.abs(adjoint(inner)) > small)), axis=-2)
    outside = (m @ right - left @ inner, adjoint(m) @ left - right @ adjoint(inner))
    for beyond in outside:
        if beyond.shape[-2] > values.shape[-1]:
            lost = lost | ((np.abs(values) <= near) & np.any(np.abs(beyond) > small, axis=-2))
    return np.expand_dims(np.where(lost, np.nan, 0.0).astype(np.real(values).dtype), -2)


examples(between, (_A, _A, _A.T, _V), (_C, _C, _C.T, _V), (_STACK, _STACK, _STACK, np.stack([_V, _V])))
examples(inside, (_A, _A, _A.T, _V), (_C, _C, _C.T, _V), (_A[:2], _A[:2, :2], _A[:, :2], _V[:2]))


@pullback(guarded_quotient)
def guarded_quotient_pullback(q_bar, m, divisor, asked, values, *, q):
    """A quotient; where the divisor vanishes, NaN if that matters."""
    return quotient_bar(q_bar, divisor, values), -unbroadcast(quotient_bar(q_bar * conj(q), divisor, values), divisor)


def quotient_bar(q_bar: Any, divisor: Any, values: Any) -> Any:
    """q_bar over the conjugate of the divisor."""
    return guarded_quotient(q_bar, conj(divisor), largest(q_bar), values)


examples(guarded_quotient, (_A, _STACK[1], 1.0, 1.0), (_C, _C.T, 1.0, 1.0), (_A, np.expand_dims(_V, -2), 1.0, 1.0))


@pullback(eigh_bar)
def eigh_bar_pullback(a_dot, y_bar, a, y, uplo):
    """With m = v^H a_dot v: w_dot is its diagonal, v_dot = v (f * m) with f_ij = 1 / (w_j - w_i)."""
    return eigh_dot(a_dot, y_bar, y, uplo), ..., ...


def eigh_dot(a_dot: Any, asked: Any, y: Any, uplo: str) -> tuple[Any, Any]:
    """The tangents of the eigenvalues and eigenvectors of a Hermitian matrix; those that are not asked for are None."""
    w, v = y
    inner = inside(hermitian_of(np.asarray(a_dot), uplo), v, v, w)
    w_dot = np.real(diagonal_of(inner))
    if is_structural_zero(asked[1]):
        return w_dot, None
    return w_dot, choice() if np.iscomplexobj(v) else v @ over_gaps(inner, w)


@pullback(singular_values_bar)
def singular_values_bar_pullback(a_dot, s_bar, a, hermitian):
    """The diagonal of u^H a_dot v."""
    return singular_values_dot(a_dot, s_bar, a, hermitian), ...


@cotangent_of(1)
def singular_values_dot(a_dot: Any, s: Any, a: Any, hermitian: bool) -> Any:
    """The tangent of the singular values s."""
    u, values, vh = np.linalg.svd(a, full_matrices=False, hermitian=hermitian)
    moved = hermitian_of(np.asarray(a_dot), "L") if hermitian else a_dot
    return np.real(diagonal_of(inside(moved, u, adjoint(vh), values)))


@pullback(svd_bar)
def svd_bar_pullback(a_dot, y_bar, a, y, compute_uv, hermitian):
    """With m = u^H a_dot v: s_dot is its diagonal, u_dot = u (f * (m s + s m^H)) and v_dot = v (f * (s m + m^H s)) with
    f_ij = 1 / (s_j^2 - s_i^2), and what a_dot has outside of the spaces of u and v, divided by s."""
    return svd_dot(a_dot, y_bar, a, y, compute_uv, hermitian), ..., ...


def svd_dot(a_dot: Any, asked: Any, a: Any, y: Any, compute_uv: bool, hermitian: bool) -> Any:
    """The tangents of the singular values and vectors of a matrix; those of vectors that are not asked for are None."""
    if not compute_uv:
        return singular_values_dot(a_dot, y, a, hermitian)
    moved = hermitian_of(np.asarray(a_dot), "L") if hermitian else np.asarray(a_dot)
    s = y[1]
    u, v = y[0][..., : s.shape[-1]], adjoint(y[2])[..., : s.shape[-1]]
    inner = inside(moved, u, v, s)
    s_dot = np.real(diagonal_of(inner))
    if is_structural_zero(asked[0]) and is_structural_zero(asked[2]):
        return None, s_dot, None
    if np.iscomplexobj(inner):
        return choice(), s_dot, choice()
    u_dot = with_complement(y[0], _turned(u, inner * np.expand_dims(s, -2), moved @ v - u @ inner, s))
    left = adjoint(inner) * np.expand_dims(s, -2)
    v_dot = with_complement(adjoint(y[2]), _turned(v, left, adjoint(moved) @ u - v @ adjoint(inner), s))
    return u_dot, s_dot, v_dot if isinstance(v_dot, NotImplementedTangent) else adjoint(v_dot)


def _turned(u: np.ndarray, scaled: Any, outside: Any, s: np.ndarray) -> Any:
    """The tangent of singular vectors, which turn among themselves and towards what is outside of their space."""
    total = np.expand_dims(s, -2) + np.expand_dims(s, -1)
    turned = over_gaps(scaled + adjoint(scaled), s) / np.where(total == 0.0, 1.0, total)
    if u.shape[-2] == s.shape[-1]:
        return u @ turned
    return u @ turned + guarded_quotient(outside, np.expand_dims(s, -2), *sizes(outside, s))


_W, _S = tuple(np.linalg.eigh(_SYMMETRIC)), tuple(np.linalg.svd(_TALL, full_matrices=False))
examples(eigh_bar, ((_V, _A), _SYMMETRIC, _W, "L"), ((_V, None), _SYMMETRIC, _W, "U"))
examples(eigh_bar, ((_V, None), _HERMITIAN, tuple(np.linalg.eigh(_HERMITIAN)), "L"))
examples(singular_values_bar, (_V[:2], _TALL, False), (_V, _C, False), (_V, _SYMMETRIC, True))
examples(svd_bar, ((_TALL, _V[:2], _A[:2, :2]), _TALL, _S, True, False), ((None, _V[:2], None), _TALL, _S, True, False))
examples(svd_bar, ((_A, _V, _A), _A, tuple(np.linalg.svd(_A)), True, False), (_V, _A, None, False, False))
examples(svd_bar, ((_A, _V[:2], _A[:2, :2]), _TALL, tuple(np.linalg.svd(_TALL)), True, False))
