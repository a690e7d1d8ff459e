"""scipy.linalg: eigenvalues and eigenvectors, by the formulas of np.linalg's rules; generalised ones, of Hermitian matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from microgradpy.errors import MissingRuleError
from microgradpy.rules.numpy.linear_algebra.eigenvalues import eig_bar, eigvals_bar
from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.decompositions import (
    adjoint,
    as_diagonal,
    between,
    diagonal_of,
    over_gaps,
    refuse_choice,
    triangle_bar,
)
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent, is_structural_zero


@rrule.register(linalg.eigh)
def eigh_rrule(
    a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, type=1, check_finite=True,
    subset_by_index=None, subset_by_value=None, driver=None,
):  # fmt: skip
    """a v = b v w, v^H b v = 1: a_bar = v m v^H with m = w_bar + f * (v^H v_bar), f_ij = 1 / (w_j - w_i), and
    b_bar = -v (m w + the diagonal of v^H v_bar / 2) v^H, in the triangles that are read."""
    kwargs = {"lower": lower, "type": type, "check_finite": check_finite, "driver": driver}
    subset = {"subset_by_index": subset_by_index, "subset_by_value": subset_by_value}
    y = linalg.eigh(a, b, eigvals_only=eigvals_only, **kwargs, **subset)

    def eigh_pullback(y_bar):
        if eigvals_only:
            vectors = linalg.eigh(a, b, **kwargs, **subset)[1]
            bars = eigh_bars((y_bar, None), a, b, (y, vectors), lower, type)
        else:
            bars = eigh_bars(y_bar, a, b, y, lower, type)
        return NoTangent(), bars[0], bars[1]

    return y, eigh_pullback


@rrule.register(linalg.eigvalsh)
def eigvalsh_rrule(
    a, b=None, *, lower=True, overwrite_a=False, overwrite_b=False, type=1, check_finite=True, subset_by_index=None,
    subset_by_value=None, driver=None,
):  # fmt: skip
    """a_bar = v w_bar v^H, b_bar = -v w_bar w v^H."""
    kwargs = {"lower": lower, "type": type, "check_finite": check_finite, "driver": driver}
    subset = {"subset_by_index": subset_by_index, "subset_by_value": subset_by_value}
    w = linalg.eigvalsh(a, b, **kwargs, **subset)

    def eigvalsh_pullback(w_bar):
        vectors = linalg.eigh(a, b, **kwargs, **subset)[1]
        bars = eigh_bars((w_bar, None), a, b, (w, vectors), lower, type)
        return NoTangent(), bars[0], bars[1]

    return w, eigvalsh_pullback


def eigh_bars(y_bar: Any, a: Any, b: Any, y: Any, lower: bool, kind: int) -> tuple[Any, Any]:
    """The cotangents of both matrices of an eigenvalue problem; of vectors, all have to be there."""
    (w, v), (w_bar, v_bar) = y, y_bar
    if b is not None and kind != 1:
        raise MissingRuleError("scipy.linalg.eigh with another type than 1", None, "Write it as a type 1 problem.")
    inner = np.zeros((w.shape[-1],) * 2, v.dtype) if is_structural_zero(w_bar) else as_diagonal(w_bar)
    own = np.zeros_like(inner)
    if not is_structural_zero(v_bar):
        if v.shape[-1] < v.shape[-2]:
            raise MissingRuleError(
                "some of the eigenvectors of a matrix, by subset_by_index or subset_by_value",
                None,
                "Compute all of them, and take those that are wanted.",
            )
        moved = adjoint(v) @ v_bar
        refuse_choice(np.imag(diagonal_of(moved)), v_bar)
        inner = inner + over_gaps(moved, w)
        own = 0.5 * as_diagonal(diagonal_of(moved))
    uplo = "L" if lower else "U"
    a_bar = unbroadcast(triangle_bar(between(inner, v, v, w), uplo), a)
    if b is None:
        return a_bar, None
    return a_bar, unbroadcast(triangle_bar(-between(inner * np.expand_dims(w, -2) + own, v, v, w), uplo), b)


@rrule.register(linalg.eig)
def eig_rrule(a, b=None, left=False, right=True, overwrite_a=False, overwrite_b=False, check_finite=True, **kwargs):
    """As np.linalg.eig."""
    y = linalg.eig(a, b, left, right, check_finite=check_finite, **kwargs)

    def eig_pullback(y_bar):
        return NoTangent(), general_eig_bar(y_bar, a, b, y, left, right, kwargs)

    return y, eig_pullback


@cotangent_of(1)
def general_eig_bar(y_bar: Any, a: Any, b: Any, y: Any, left: bool, right: bool, kwargs: Any) -> Any:
    """The cotangent of a matrix under its eigenvalues and right eigenvectors."""
    if b is not None or left or kwargs.get("homogeneous_eigvals"):
        raise MissingRuleError(
            "scipy.linalg.eig with a second matrix, left eigenvectors or homogeneous eigenvalues",
            None,
            "Use eig(np.linalg.solve(b, a)) of one matrix, and eig(a.conj().T) for left eigenvectors.",
        )
    return eig_bar(y_bar, a, y) if right else eigvals_bar(y_bar, a, y)


@rrule.register(linalg.eigvals)
def eigvals_rrule(a, b=None, overwrite_a=False, check_finite=True, **kwargs):
    """a_bar = v^-H w_bar v^H."""
    w = linalg.eigvals(a, b, check_finite=check_finite, **kwargs)

    def eigvals_pullback(w_bar):
        return NoTangent(), general_eig_bar(w_bar, a, b, w, False, False, kwargs)

    return w, eigvals_pullback


_MATRIX = np.array([[0.4, 1.2, -0.7], [0.3, -0.9, 0.5], [1.1, 0.2, 1.6]])
_COMPLEX = _MATRIX + 0.5j * _MATRIX.T
_POSITIVE = 0.3 * _MATRIX.T + np.diag([3.0, 4.0, 5.0])
_TURN = np.array([[1.0, 2.0, 0.1], [-1.5, 0.8, 0.3], [0.2, 0.4, 3.0]])
for _lower in (True, False):
    examples(linalg.eigh, (_MATRIX,), lower=_lower, driver="evd")
    examples(linalg.eigh, (_MATRIX, _POSITIVE), lower=_lower, driver="gvd")
    examples(linalg.eigh, (_COMPLEX,), (_MATRIX, _POSITIVE), (_COMPLEX, _POSITIVE + 0.1j), lower=_lower, eigvals_only=True)
    examples(linalg.eigvalsh, (_MATRIX,), (_COMPLEX,), (_MATRIX, _POSITIVE), lower=_lower)
examples(linalg.eigh, (_MATRIX,), (_MATRIX, _POSITIVE), eigvals_only=True, subset_by_index=[1, 2])
examples(linalg.eigvalsh, (_MATRIX.astype(np.float32),))
examples(linalg.eigvalsh, (_MATRIX,), subset_by_index=[0, 1])
examples(linalg.eig, (_MATRIX,), (_TURN,), (_COMPLEX,))
examples(linalg.eig, (_MATRIX,), (_TURN,), right=False)
examples(linalg.eigvals, (_MATRIX,), (_TURN,), (_COMPLEX,))
