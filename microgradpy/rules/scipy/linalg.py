"""scipy.linalg: solving, inverse, determinant, and solving with factors that were computed before.

SciPy may overwrite an argument where it is allowed to (`overwrite_a`); the rules do not let it, which changes no result.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy import linalg

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.linear_algebra.solving import cofactors
from microgradpy.rules.registry import example, examples, non_differentiable, rrule
from microgradpy.rules.scipy import linalg_factors as linalg_factors
from microgradpy.rules.scipy import linalg_functions as linalg_functions
from microgradpy.rules.scipy import linalg_spectral as linalg_spectral
from microgradpy.rules.scipy import linalg_structured as linalg_structured
from microgradpy.rules.scipy.linalg_structured import mapped, transposed_system
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.decompositions import adjoint
from microgradpy.tangents.types import NoTangent

# What they find has no rule, and is refused by its own name.
non_differentiable(linalg.get_blas_funcs, linalg.get_lapack_funcs)
_ASSUMED = inspect.signature(linalg.solve).parameters["assume_a"].default  # None of newer versions looks for itself


@pullback(linalg.solve)
def solve_pullback(
    z_bar, a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=_ASSUMED, transposed=False, *, z
):
    """a z = b: b_bar = a^-H z_bar, a_bar = -b_bar z^H; of `transposed` that of the transpose. Under an assumption, a_bar is
    brought to the entries that are read."""
    bars = solve_bars(z_bar, a, b, z, assume_a, lower, transposed)
    return bars[0], bars[1]


def solve_bars(z_bar: Any, a: Any, b: Any, z: Any, assumed: Any, lower: bool, transposed: bool) -> tuple[Any, Any]:
    """The cotangents of the matrix and of the right side of an equation."""
    matrix = assumed_matrix(a, assumed, lower)
    is_vector = np.ndim(b) == 1
    bar = np.expand_dims(z_bar, -1) if is_vector else z_bar
    solution = np.expand_dims(z, -1) if is_vector else z
    right_bar = np.linalg.solve(conj(matrix) if transposed else adjoint(matrix), bar)
    matrix_bar = -(right_bar @ adjoint(solution))
    if transposed:
        matrix_bar = np.swapaxes(matrix_bar, -1, -2)
    b_bar = unbroadcast(right_bar[..., 0] if is_vector else right_bar, b)
    return unbroadcast(assumed_bar(matrix_bar, assumed, lower), np.atleast_2d(a)).reshape(np.shape(a)), b_bar


def assumed_matrix(a: Any, assumed: Any, lower: bool) -> np.ndarray:
    """The matrices that are solved with: what is not read of them is made up from the rest, or 0."""
    x = np.atleast_2d(np.asarray(a))
    if assumed in _SYMMETRIC or assumed in _HERMITIAN:
        half = np.tril(x) if lower else np.triu(x)
        other = np.tril(half, -1) if lower else np.triu(half, 1)
        if assumed in _SYMMETRIC:
            return half + np.swapaxes(other, -1, -2)
        eye = np.eye(x.shape[-1], dtype=x.dtype)
        return half * (1.0 - eye) + np.real(half) * eye + adjoint(other)
    return x * _read(x.shape[-1], assumed)


def assumed_bar(a_bar: np.ndarray, assumed: Any, lower: bool) -> np.ndarray:
    """The cotangent of what `assumed_matrix` reads, from that of the matrix that it makes."""
    if assumed in _SYMMETRIC or assumed in _HERMITIAN:
        turned = np.swapaxes(a_bar, -1, -2) if assumed in _SYMMETRIC else adjoint(a_bar)
        both = (a_bar + turned) * (1.0 - 0.5 * np.eye(a_bar.shape[-1], dtype=np.real(a_bar).dtype))
        return np.tril(both) if lower else np.triu(both)
    return a_bar * _read(a_bar.shape[-1], assumed)


def _read(count: int, assumed: Any) -> Any:
    """1 for the entries of a matrix that are read under an assumption about its structure, and 0 for the others."""
    apart = np.arange(count)[:, None] - np.arange(count)
    table = {
        "diagonal": apart == 0,
        "tridiagonal": np.abs(apart) <= 1,
        "upper triangular": apart <= 0,
        "lower triangular": apart >= 0,
    }
    return table.get(assumed, np.ones((), bool))


_SYMMETRIC = ("sym", "symmetric")
_HERMITIAN = ("her", "hermitian", "pos", "positive definite")


@rrule.register(linalg.inv)
def inv_rrule(a, overwrite_a=False, check_finite=True, **structure):
    """a_bar = -z^H z_bar z^H; under an assumption, brought to the entries that are read."""
    z = linalg.inv(a, check_finite=check_finite, **structure)

    def inv_pullback(z_bar):
        a_bar = -(adjoint(z) @ z_bar @ adjoint(z))
        assumed, lower = structure.get("assume_a"), structure.get("lower", False)
        return NoTangent(), unbroadcast(assumed_bar(a_bar, assumed, lower), a)

    return z, inv_pullback


@pullback(linalg.det)
def det_pullback(z_bar, a, overwrite_a=False, check_finite=True):
    """a_bar = z_bar * (the cofactors of a), which exist for singular matrices too."""
    return unbroadcast(np.expand_dims(z_bar, (-1, -2)) * conj(cofactors(a)), a)


@pullback(linalg.cho_solve)
def cho_solve_pullback(z_bar, c_and_lower, b, overwrite_b=False, check_finite=True, *, z):
    """z = a^-1 b of a = c c^H (or c^H c): b_bar = a^-1 z_bar, a_bar = -b_bar z^H, c_bar = (a_bar + a_bar^H) c."""
    b_bar = linalg.cho_solve(c_and_lower, z_bar, check_finite=False)
    return cho_solve_factor_bar(b_bar, c_and_lower, b, z), unbroadcast(b_bar, b)


def cho_solve_factor_bar(b_bar: Any, c_and_lower: Any, b: Any, z: Any) -> tuple[Any, None]:
    """The cotangent of a Cholesky factor, in the triangle that is read, under the solution z of an equation."""
    c, lower = c_and_lower
    a_bar = outer_bar(b_bar, b, z)
    both = a_bar + adjoint(a_bar)
    c_bar = np.tril(both @ np.tril(c)) if lower else np.triu(np.triu(c) @ both)
    return unbroadcast(c_bar, c), None


def outer_bar(b_bar: Any, b: Any, z: Any) -> Any:
    """-b_bar z^H, of a vector or of columns: the cotangent of the matrix of an equation."""
    if np.ndim(b) == 1:
        b_bar, z = np.expand_dims(b_bar, -1), np.expand_dims(z, -1)
    return -(b_bar @ adjoint(z))


@pullback(linalg.lu_solve)
def lu_solve_pullback(z_bar, lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True, *, z):
    """z = a^-1 b of a = p l u: b_bar = a^-H z_bar, a_bar = -b_bar z^H, l_bar = p^H a_bar u^H, u_bar = (p l)^H a_bar."""
    bars = lu_solve_bars(z_bar, lu_and_piv, b, z, trans)
    return bars[0], bars[1]


def lu_solve_bars(z_bar: Any, lu_and_piv: Any, b: Any, z: Any, trans: int) -> tuple[Any, Any]:
    """The cotangents of LU factors, both in one matrix, and of the right side of an equation."""
    lu, piv = lu_and_piv
    factors, back = transposed_system(lu, trans)
    right_bar = linalg.lu_solve((factors, piv), z_bar, trans=back, check_finite=False)
    a_bar = mapped(outer_bar(right_bar, b, z), trans)
    rows = linalg_factors.row_order(piv, lu.shape[-1])
    a_bar = np.take_along_axis(a_bar, np.broadcast_to(rows[..., None], a_bar.shape), -2)
    lower, upper = linalg_factors.unpacked(lu)
    lu_bar = np.tril(a_bar @ adjoint(upper), -1) + np.triu(adjoint(lower) @ a_bar)
    return (unbroadcast(lu_bar, lu), None), unbroadcast(right_bar, b)


def _table(*shape: int) -> np.ndarray:
    """An array of irregular numbers, of both signs and the given shape."""
    return np.sin(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)) * 1.7 + len(shape)).reshape(shape)


_REGULAR = _table(3, 3) + 2.0 * np.eye(3)
_REGULARS = _table(2, 3, 3) + 2.0 * np.eye(3)
_COMPLEX = _REGULAR + 0.5j * _table(3, 3).T
_DOMINANT = 0.3 * _table(3, 3) + np.diag([3.0, 4.0, 5.0])
_FLOAT32 = _REGULAR.astype(np.float32)
for _right in (_table(3), _table(3, 2), _table(3) + 0.5j):
    examples(linalg.solve, (_REGULAR, _right), (_COMPLEX, _right), (_REGULARS, _right))
    for _assumed in ("gen", "sym", "her", "pos"):
        example(linalg.solve, _DOMINANT, _right, assume_a=_assumed)
        example(linalg.solve, _DOMINANT + 0.2j * _table(3, 3), _right, assume_a=_assumed, lower=True)
examples(linalg.solve, (_FLOAT32, _table(3).astype(np.float32)), (_REGULARS, _table(2, 3, 2)), (np.eye(0), np.ones(0)))
examples(linalg.solve, (_REGULAR, _table(3)), (_REGULAR, _table(3, 2)), transposed=True)
for _assumed in ("upper triangular", "lower triangular", "diagonal", "tridiagonal", "banded"):
    if _ASSUMED is None:
        example(linalg.solve, _REGULAR, _table(3), assume_a=_assumed)
examples(linalg.inv, (_REGULAR,), (_COMPLEX,), (_FLOAT32,), (np.eye(0),))
examples(linalg.det, (_REGULAR,), (_COMPLEX,), (_REGULARS,), (_FLOAT32,), (np.ones((3, 3)),))
for _lower in (True, False):
    for _factor in (_REGULAR, _COMPLEX):
        examples(linalg.cho_solve, ((_factor, _lower), _table(3)), ((_factor, _lower), _table(3, 2)))
for _trans in (0, 1, 2):
    for _factor in (_REGULAR, _COMPLEX):
        _pivots = np.array([2, 2, 2], np.int32)
        examples(linalg.lu_solve, ((_factor, _pivots), _table(3)), ((_factor, _pivots), _table(3, 2)), trans=_trans)
