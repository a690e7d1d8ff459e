"""np.linalg: eigenvalues and eigenvectors, of stacks of matrices too.

Sources: M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008);
C. Boeddeker et al., "On the computation of complex-valued gradients with application to statistically optimum beamforming"
(2017). Where eigenvalues coincide see `microgradpy.tangents.decompositions`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples
from microgradpy.tangents.arithmetic import conj, real_like, zero_cotangent
from microgradpy.tangents.decompositions import (
    adjoint,
    as_diagonal,
    between,
    diagonal_of,
    inverse_or_nan,
    largest,
    over_gaps,
    refuse_choice,
    triangle_bar,
)
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import is_structural_zero


@pullback(np.linalg.eigh)
def eigh_pullback(y_bar, a, UPLO="L", *, y):
    """a = v w v^H: a_bar = v (w_bar + f * (v^H v_bar)) v^H with f_ij = 1 / (w_j - w_i), in the triangle that is read."""
    return eigh_bar(y_bar, a, y, UPLO)


@pullback(np.linalg.eigvalsh)
def eigvalsh_pullback(w_bar, a, UPLO="L"):
    """a_bar = v w_bar v^H, in the triangle that is read."""
    return eigh_bar((w_bar, None), a, np.linalg.eigh(a, UPLO), UPLO)


@cotangent_of(1)
def eigh_bar(y_bar: Any, a: Any, y: Any, uplo: str) -> Any:
    """The cotangent of a Hermitian matrix under its eigenvalues and eigenvectors."""
    w, v = y
    w_bar, v_bar = y_bar
    inner = np.zeros_like(v) if is_structural_zero(w_bar) else as_diagonal(w_bar)
    if not is_structural_zero(v_bar):
        moved = adjoint(v) @ v_bar
        refuse_choice(np.imag(diagonal_of(moved)), v_bar)
        inner = inner + over_gaps(moved, w)
    return real_like(triangle_bar(between(inner, v, v, w), uplo), a)


@pullback(np.linalg.eig)
def eig_pullback(y_bar, a, *, y):
    """a v = v w: a_bar = v^-H (w_bar + conj(f) * (v^H u_bar)) v^H with f_ij = 1 / (w_j - w_i), where u are the vectors
    before they are brought to length 1 and to a real largest entry."""
    return eig_bar(y_bar, a, y)


@cotangent_of(1)
def eig_bar(y_bar: Any, a: Any, y: Any) -> Any:
    """The cotangent of a matrix under its eigenvalues and eigenvectors; NaN if these do not span the space."""
    w, v = y
    w_bar, v_bar = y_bar
    if np.size(a) == 0:
        return zero_cotangent(np.asarray(a))
    inner = np.zeros_like(v) if is_structural_zero(w_bar) else as_diagonal(w_bar)
    with np.errstate(all="ignore"):
        if not is_structural_zero(v_bar):
            inner = inner + over_gaps(adjoint(v) @ unscaled_bar(v_bar, v), conj(w))
        return real_like(between(inner, adjoint(inverse_of_vectors(v)), v, w), a)


def inverse_of_vectors(v: np.ndarray) -> Any:
    """The inverses of eigenvectors, and NaN where these are dependent to rounding: the matrix has fewer of them than rows."""
    inverse = inverse_or_nan(v)
    rounding = 8.0 * v.shape[-1] * float(np.finfo(v.dtype).eps)
    return np.where(largest(inverse) * rounding > 1.0, np.nan, inverse)


def unscaled_bar(v_bar: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The cotangent of eigenvectors before LAPACK scales them: to length 1, and complex ones by the phase with which their
    largest entry is real."""
    along = np.sum(conj(v_bar) * v, axis=-2, keepdims=True)
    u_bar = v_bar - np.real(along) * v
    if np.iscomplexobj(v):
        u_bar = u_bar.astype(v.dtype)
        place = np.argmax(np.where(v.imag == 0.0, np.abs(v), -1.0), axis=-2, keepdims=True)
        turn = np.take_along_axis(u_bar, place, -2) + 1j * np.imag(along) / np.take_along_axis(v.real, place, -2)
        np.put_along_axis(u_bar, place, turn, -2)
    return u_bar


@pullback(np.linalg.eigvals)
def eigvals_pullback(w_bar, a, *, w):
    """a_bar = v^-H w_bar v^H."""
    return eigvals_bar(w_bar, a, w)


@cotangent_of(1)
def eigvals_bar(w_bar: Any, a: Any, w: Any) -> Any:
    """The cotangent of a matrix under its eigenvalues w."""
    if np.size(a) == 0:
        return zero_cotangent(np.asarray(a))
    y = np.linalg.eig(a)
    # Computed with eigenvectors, they may come in another order.
    count = np.shape(w)[-1]
    order = np.argmin(np.abs(np.expand_dims(w, -2) - np.expand_dims(y[0], -1)), axis=-1)
    is_order = np.all(np.sort(order, axis=-1) == np.arange(count), axis=-1, keepdims=True)
    w_bar = np.take_along_axis(w_bar, np.where(is_order, order, np.arange(count)), -1)
    return eig_bar((w_bar, None), a, y)


def _table(*shape: int) -> np.ndarray:
    """An array of irregular numbers, of both signs and the given shape, and of full rank."""
    return np.sin(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)) ** 2 * 1.7 + len(shape)).reshape(shape)


_MATRIX, _MATRICES = _table(3, 3), _table(2, 4, 4)

_COMPLEX = _MATRIX + 0.5j * _MATRIX.T
examples(np.linalg.eigh, (_MATRIX,), (_MATRIX, "U"), (_MATRICES,), (_MATRICES[:0],))
examples(np.linalg.eigvalsh, (_MATRIX,), (_MATRIX, "U"), (_MATRICES,), (_COMPLEX,), (_COMPLEX, "U"))

_TURN = np.array([[1.0, 2.0, 0.1], [-1.5, 0.8, 0.3], [0.2, 0.4, 3.0]])
_DISTINCT = 0.5 * _MATRICES[:, :3, :3] + np.diag([3.0, 0.0, -3.0])
for _eigen in (np.linalg.eig, np.linalg.eigvals):
    examples(_eigen, (_DISTINCT[0],), (_TURN,), (_DISTINCT,), (_COMPLEX,), (_DISTINCT[:0],), (np.zeros((0, 0)),))
examples(np.linalg.eigvals, (_MATRIX,), (_MATRICES,))
