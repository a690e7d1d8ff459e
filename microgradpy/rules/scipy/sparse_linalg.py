"""scipy.sparse.linalg: solving with sparse matrices, directly and iteratively.

Of a x = b the cotangents are b_bar = a^-H x_bar and, where a has entries, -b_bar x^H. What an iteration found is differentiated
as the solution that it is near to: its error is that of the derivative too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples, rrule
from microgradpy.rules.scipy.implicit import refuse_unsolved
from microgradpy.rules.scipy.sparse import adjoint_of, entries_bar
from microgradpy.tangents.arithmetic import conj, unbroadcast, zero_cotangent
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent, is_structural_zero


@pullback(linalg.spsolve)
def spsolve_pullback(x_bar, A, b, permc_spec=None, use_umfpack=True, *, x):
    """See above."""
    refuse_sparse_side(b)
    b_bar = np.reshape(linalg.spsolve(sparse.csc_matrix(adjoint_of(A)), x_bar), np.shape(x_bar))
    return entries_bar(A, -b_bar, x), unbroadcast(np.reshape(b_bar, np.shape(b)), b)


def refuse_sparse_side(b: Any) -> None:
    """Refuse a right side that is sparse itself."""
    if sparse.issparse(b):
        raise MissingRuleError("scipy.sparse.linalg.spsolve with a sparse right side", None, "Use b.toarray().")


@rrule.register(linalg.SuperLU.solve)
def solve_rrule(self, rhs, trans="N"):
    """See above; the factors are constants."""
    back = {"N": "H", "T": "conj", "H": "N"}[trans]

    def solve_pullback(x_bar):
        if back == "conj":
            return NoTangent(), NoTangent(), unbroadcast(conj(self.solve(conj(x_bar), "N")), rhs)
        return NoTangent(), NoTangent(), unbroadcast(self.solve(np.asarray(x_bar), back), rhs)

    return self.solve(rhs, trans), solve_pullback


@pullback(linalg.cg)
@pullback(linalg.bicgstab)
def iterated_pullback(y_bar, A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None, outcome):
    """See above; the matrix of cg is Hermitian."""
    bars = iterated_bars(y_bar, A, b, outcome)
    return bars[0], bars[1], zero_cotangent(x0)


@rrule.register(linalg.gmres)
def gmres_rrule(
    A, b, x0=None, *, rtol=1e-5, atol=0.0, restart=None, maxiter=None, M=None, callback=None, callback_type=None
):
    """See above."""
    options = {"restart": restart, "maxiter": maxiter, "M": M, "callback": callback, "callback_type": callback_type}
    outcome = linalg.gmres(A, b, x0, rtol=rtol, atol=atol, **options)

    def gmres_pullback(y_bar):
        bars = iterated_bars(y_bar, A, b, outcome)
        return NoTangent(), bars[0], bars[1], zero_cotangent(x0)

    return outcome, gmres_pullback


def iterated_bars(y_bar: Any, matrix: Any, b: Any, outcome: tuple[Any, int]) -> tuple[Any, Any]:
    """The cotangents of the matrix and the right side of an equation that was solved by an iteration."""
    x_bar, (x, info) = y_bar[0], outcome
    if is_structural_zero(x_bar):
        return NoTangent(), NoTangent()
    refuse_unsolved(info == 0, f"info is {info}")
    if isinstance(matrix, np.ndarray):
        right_bar = np.linalg.solve(np.swapaxes(conj(matrix), -1, -2), x_bar)
        matrix_bar = unbroadcast(-np.outer(right_bar, conj(x)), matrix)
    elif sparse.issparse(matrix):
        right_bar = linalg.spsolve(sparse.csc_matrix(adjoint_of(matrix)), np.asarray(x_bar))
        matrix_bar = entries_bar(matrix, -right_bar, x)
    else:
        right_bar, status = linalg.gmres(linalg.aslinearoperator(matrix).H, x_bar, rtol=1e-12, maxiter=10 * np.size(b))
        refuse_unsolved(status == 0, "with the adjoint of the operator")
        matrix_bar = not_implemented("what a LinearOperator depends on")
    return matrix_bar, unbroadcast(np.reshape(right_bar, np.shape(b)), b)


_DENSE = np.array([[4.0, 0.0, 1.0], [0.0, 3.0, -0.5], [1.0, 0.7, 5.0]])
_SYMMETRIC = np.array([[4.0, 0.0, 1.0], [0.0, 3.0, 0.0], [1.0, 0.0, 5.0]])
_VECTOR = np.array([0.7, -1.4, 2.2])
_TABLE = np.sin(np.arange(6.0) * 1.7).reshape(3, 2)
for _format in (sparse.csc_array, sparse.csr_matrix):
    examples(linalg.spsolve, (_format(_DENSE), _VECTOR), (_format(_DENSE), _TABLE), (_format(_DENSE + 1j * _DENSE), _VECTOR))
examples(linalg.bicgstab, (sparse.csr_array(_DENSE), _VECTOR), (_DENSE, _VECTOR), rtol=1e-14)
examples(linalg.gmres, (sparse.csr_array(_DENSE), _VECTOR), (_DENSE, _VECTOR), rtol=1e-6)
examples(linalg.cg, (sparse.diags_array([4.0, 3.0, 5.0], format="csr"), _VECTOR), rtol=1e-14)
_FACTORS = linalg.splu(sparse.csc_matrix(_DENSE))
for _trans in ("N", "T", "H"):
    examples(linalg.SuperLU.solve, (_FACTORS, _VECTOR, _trans), (_FACTORS, _TABLE, _trans))
