"""scipy.linalg: functions of matrices, and equations of Sylvester and Lyapunov.

Source: N. Higham, "Functions of Matrices" (2008), chapter 3. The derivative L(a, e) of a function of a matrix in a direction e
is self-adjoint in this sense: tr(g L(a, e)) = tr(L(a, g) e). So a_bar = L(a, y_bar^H)^H.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import linalg

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.decompositions import adjoint, inverse_or_nan
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent, is_structural_zero


@rrule.register(linalg.expm)
def expm_rrule(A):
    """A_bar = L(A^H, y_bar), where L is the derivative of the exponential function."""

    def expm_pullback(y_bar):
        return NoTangent(), expm_bar(y_bar, A)

    return in_own_memory(linalg.expm(A)), expm_pullback


def in_own_memory(y: Any) -> Any:
    """An array of a function in C that may be in memory of its own, of which nobody could tell who else writes into it."""
    return y if y.base is None or isinstance(y.base, np.ndarray) else y.copy()


@cotangent_of(1)
def expm_bar(y_bar: Any, a: Any) -> Any:
    """The cotangent of matrices under their exponentials. (A number is a matrix of one entry.)"""
    matrix = adjoint(np.atleast_2d(a))
    direction = np.reshape(y_bar, matrix.shape)
    result = np.zeros(matrix.shape, np.result_type(matrix, direction))
    for place in np.ndindex(matrix.shape[:-2]):
        result[place] = linalg.expm_frechet(matrix[place], direction[place], compute_expm=False, check_finite=False)
    return unbroadcast(np.reshape(result, np.shape(a)), a)


@pullback(linalg.logm)
def logm_pullback(y_bar, A, *, y):
    """A_bar = L(A, y_bar^H)^H, where L is the upper right block of the logarithm of [[A, e], [0, A]]."""
    return logm_bar(y_bar, A, y)


@cotangent_of(1)
def logm_bar(y_bar: Any, a: Any, y: Any) -> Any:
    """The cotangent of matrices under their logarithms."""
    matrix = np.asarray(a)
    count = matrix.shape[-1]
    direction = adjoint(y_bar)
    # The direction is made as large as the matrix, so that neither is lost next to the other.
    size = np.max(np.abs(direction), initial=0.0)
    scale = np.max(np.abs(matrix), initial=0.0) / size if size else 1.0
    block = np.zeros((*matrix.shape[:-2], 2 * count, 2 * count), np.result_type(matrix, direction))
    block[..., :count, :count] = block[..., count:, count:] = matrix
    block[..., :count, count:] = scale * direction
    with warnings.catch_warnings():  # about accuracy, which the primal has done where there was a reason to
        warnings.simplefilter("ignore")
        logarithm = linalg.logm(block)
    for part in (logarithm[..., :count, :count], logarithm[..., count:, count:]):
        if not np.allclose(part, y, rtol=1e-3, atol=1e-3 * np.max(np.abs(y), initial=1.0)):
            raise MissingRuleError(
                "the logarithm of a matrix with an eigenvalue on the negative real axis",
                None,
                "There the logarithm jumps: keep the eigenvalues off it.",
            )
    return unbroadcast(adjoint(logarithm[..., :count, count:]) / scale, a)


@rrule.register(linalg.sqrtm)
def sqrtm_rrule(A):
    """y y = A: A_bar solves y^H A_bar + A_bar y^H = y_bar."""
    y = in_own_memory(linalg.sqrtm(A))

    def sqrtm_pullback(y_bar):
        return NoTangent(), sqrtm_bar(y_bar, A, y)

    return y, sqrtm_pullback


@cotangent_of(1)
def sqrtm_bar(y_bar: Any, a: Any, y: Any) -> Any:
    """The cotangent of a matrix under its square root y."""
    root = adjoint(y)
    return unbroadcast(sylvester(root, root, y_bar), a)


def sylvester(a: Any, b: Any, q: Any) -> Any:
    """The solution x of a x + x b = q, and NaN where it is not the only one."""
    if np.size(q) == 0:
        return np.zeros(np.shape(q), np.result_type(a, b, q))
    # SciPy solves for the quasi-triangular form of a real matrix as if it were triangular if another one is complex.
    kind = np.result_type(a, b, q)
    a, b, q = (np.asarray(x).astype(kind) for x in (a, b, q))
    sums = np.linalg.eigvals(a)[..., :, None] + np.linalg.eigvals(b)[..., None, :]
    rounding = 8.0 * sums.shape[-1] * np.finfo(sums.dtype).eps * np.max(np.abs(sums), axis=(-1, -2), keepdims=True)
    singular = np.any(np.abs(sums) <= rounding, axis=(-1, -2), keepdims=True)
    regular = np.where(singular, np.eye(np.shape(a)[-1], dtype=np.result_type(a)), a)
    other = np.where(singular, np.eye(np.shape(b)[-1], dtype=kind), b)
    return np.where(singular, np.nan, linalg.solve_sylvester(regular, other, q))


@pullback(linalg.solve_sylvester)
def solve_sylvester_pullback(x_bar, a, b, q, *, x):
    """a x + x b = q: q_bar solves a^H q_bar + q_bar b^H = x_bar, a_bar = -q_bar x^H, b_bar = -x^H q_bar."""
    q_bar = sylvester(adjoint(a), adjoint(b), x_bar)
    a_bar = unbroadcast(-(q_bar @ adjoint(x)), a)
    return a_bar, unbroadcast(-(adjoint(x) @ q_bar), b), unbroadcast(q_bar, q)


@pullback(linalg.solve_continuous_lyapunov)
def solve_continuous_lyapunov_pullback(x_bar, a, q, *, x):
    """a x + x a^H = q: q_bar solves a^H q_bar + q_bar a = x_bar, a_bar = -q_bar x^H - q_bar^H x."""
    q_bar = linalg.solve_continuous_lyapunov(adjoint(a), x_bar)
    a_bar = -(q_bar @ adjoint(x)) - adjoint(q_bar) @ x
    return unbroadcast(a_bar, a), unbroadcast(q_bar, q)


@pullback(linalg.solve_discrete_lyapunov)
def solve_discrete_lyapunov_pullback(x_bar, a, q, method=None, *, x):
    """x = a x a^H + q: q_bar solves q_bar = a^H q_bar a + x_bar, a_bar = q_bar a x^H + q_bar^H a x."""
    q_bar = linalg.solve_discrete_lyapunov(adjoint(a), x_bar, method=method)
    a_bar = q_bar @ a @ adjoint(x) + adjoint(q_bar) @ a @ x
    return unbroadcast(a_bar, a), unbroadcast(q_bar, q)


@pullback(linalg.polar)
def polar_pullback(y_bar, a, side="right", *, y):
    """a = u p with p = sqrt(a^H a): p_bar gets -(u^H u_bar) p^-1, m_bar solves p m_bar + m_bar p = p_bar, and
    a_bar = u_bar p^-1 + a (m_bar + m_bar^H). The left one is that of a^H."""
    return polar_bar(y_bar, a, y, side)


@cotangent_of(1)
def polar_bar(y_bar: Any, a: Any, y: Any, side: str) -> Any:
    """The cotangent of a matrix under its polar factors; NaN unless its columns (rows, on the left) are independent."""
    u_bar, p_bar = y_bar
    u, p = y
    matrix = np.asarray(a)
    if side == "left":
        matrix, u = adjoint(matrix), adjoint(u)
        u_bar = u_bar if is_structural_zero(u_bar) else adjoint(u_bar)
    u_bar = np.zeros_like(u) if is_structural_zero(u_bar) else u_bar
    p_bar = np.zeros_like(p) if is_structural_zero(p_bar) else p_bar
    inverse = inverse_or_nan(p)
    inner = p_bar - adjoint(u) @ u_bar @ inverse
    # What p does not have, an anti-Hermitian part, carries nothing.
    square_bar = sylvester(p, p, 0.5 * (inner + adjoint(inner)))
    bar = u_bar @ inverse + 2.0 * (matrix @ square_bar)
    return unbroadcast(adjoint(bar) if side == "left" else bar, a)


_MATRIX = np.array([[1.2, 0.4, -0.3], [0.1, 0.9, 0.5], [-0.6, 0.2, 1.7]])
_OTHER = np.array([[0.4, -0.2], [0.3, 0.8]])
_RIGHT = np.array([[0.5, -1.0], [0.2, 0.7], [1.1, 0.3]])
_COMPLEX = _MATRIX + 0.3j * _MATRIX.T
_STACK = np.stack((_MATRIX, _MATRIX.T - 0.2))
_TURN = np.array([[0.3, 2.0], [-2.0, 0.3]])
_FLOAT32 = _MATRIX.astype(np.float32)
_NEGATIVE = np.array([[-1.5, 0.3], [0.2, -0.4]])
examples(linalg.expm, (_MATRIX,), (_COMPLEX,), (_STACK,), (_FLOAT32,), (3.0 * _TURN,), (0.0 * _OTHER,), (_MATRIX - 4.0,))
examples(linalg.logm, (_MATRIX,), (_COMPLEX,), (_TURN,), (np.eye(2),))
examples(linalg.sqrtm, (_MATRIX,), (_COMPLEX,), (_TURN,), (np.eye(2),), (_NEGATIVE,))
examples(linalg.solve_sylvester, (_MATRIX, _OTHER, _RIGHT), (_COMPLEX, _OTHER.T + 0.1j, _RIGHT + 0.5j))
examples(linalg.solve_sylvester, (_COMPLEX, np.triu(_OTHER), _RIGHT), (np.tril(_MATRIX), np.triu(_OTHER), _RIGHT + 0.5j))
examples(linalg.solve_continuous_lyapunov, (_MATRIX, _MATRIX.T), (_COMPLEX, _MATRIX), (_MATRIX, _COMPLEX))
examples(linalg.solve_discrete_lyapunov, (0.3 * _MATRIX, _MATRIX), (0.3 * _COMPLEX, _MATRIX), (0.3 * _MATRIX, _COMPLEX))
examples(linalg.solve_discrete_lyapunov, (0.3 * _MATRIX, _MATRIX, "bilinear"), (0.3 * _COMPLEX, _COMPLEX, "bilinear"))
examples(linalg.polar, (_MATRIX,), (_RIGHT,), (_COMPLEX,), (_RIGHT + 0.4j * _RIGHT[::-1],), (_MATRIX, "left"))
examples(linalg.polar, (_RIGHT.T, "left"), (_COMPLEX, "left"), (_FLOAT32,))
