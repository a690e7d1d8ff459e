"""scipy.sparse: products of sparse matrices with arrays.

The cotangent of a sparse matrix is a Tangent with that of its field `data`, in the formats that have one number there for each
entry (CSR, CSC, COO); of other formats it is not known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from microgradpy.errors import MissingRuleError
from microgradpy.rules.registry import attribute_rule, examples, rrule
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent, Tangent


def entries_bar(matrix: Any, left: Any, right: Any) -> Any:
    """The cotangent of a sparse matrix that is part of left @ conj(right).T, vectors or columns."""
    if matrix.format not in ("csr", "csc", "coo") or matrix.ndim != 2:
        return not_implemented(f"the entries of a sparse matrix in the format {matrix.format}")
    entries = matrix.tocoo()
    left, right = _as_columns(left)[entries.row], conj(_as_columns(right))[entries.col]
    return Tangent(type(matrix), data=unbroadcast(np.sum(left * right, axis=-1), matrix.data))


def _as_columns(x: Any) -> np.ndarray:
    return np.expand_dims(x, -1) if np.ndim(x) == 1 else np.asarray(x)


def adjoint_of(matrix: Any) -> Any:
    """The conjugate transpose."""
    return matrix.conj().T if np.iscomplexobj(matrix.data) else matrix.T


@rrule.register(sparse.csr_array.__matmul__)
def matmul_rrule(self, other):
    """y = a x: x_bar = a^H y_bar, a_bar = y_bar x^H where a has entries."""

    def matmul_pullback(y_bar):
        bars = product_bars(y_bar, self, other)
        return NoTangent(), bars[0], bars[1]

    return self @ other, matmul_pullback


@rrule.register(sparse.csr_array.__rmatmul__)
def rmatmul_rrule(self, other):
    """y = x a, where y^T = a^T x^T."""

    def rmatmul_pullback(y_bar):
        bars = left_product_bars(y_bar, self, other)
        return NoTangent(), bars[0], bars[1]

    return other @ self, rmatmul_pullback


@rrule.register(sparse.csr_array.dot)
@rrule.register(sparse.coo_array.dot)
def dot_rrule(self, other):
    """As a @ x."""

    def dot_pullback(y_bar):
        bars = product_bars(y_bar, self, other)
        return NoTangent(), bars[0], bars[1]

    return self.dot(other), dot_pullback


@rrule.register(sparse.csr_matrix.__mul__)
def mul_rrule(self, other):
    """As a @ x: of matrices, not of sparse arrays."""

    def mul_pullback(y_bar):
        bars = product_bars(y_bar, self, other)
        return NoTangent(), bars[0], bars[1]

    return self * other, mul_pullback


@rrule.register(sparse.csr_matrix.__rmul__)
def rmul_rrule(self, other):
    """As x @ a."""

    def rmul_pullback(y_bar):
        bars = left_product_bars(y_bar, self, other)
        return NoTangent(), bars[0], bars[1]

    return other * self, rmul_pullback


def product_bars(y_bar: Any, matrix: Any, x: Any) -> tuple[Any, Any]:
    """The cotangents of a and x under a x."""
    refuse_unlike(matrix, x)
    return entries_bar(matrix, y_bar, x), unbroadcast(np.asarray(adjoint_of(matrix) @ y_bar), x)


def left_product_bars(y_bar: Any, matrix: Any, x: Any) -> tuple[Any, Any]:
    """The cotangents of a and x under x a."""
    refuse_unlike(matrix, x)
    x_bar = unbroadcast(np.asarray(y_bar @ adjoint_of(matrix)), x)
    return entries_bar(matrix, np.transpose(conj(np.asarray(x))), np.transpose(conj(np.asarray(y_bar)))), x_bar


def refuse_unlike(matrix: Any, x: Any) -> None:
    """Refuse other products than that of a sparse matrix and an array."""
    if sparse.issparse(x) or np.ndim(x) == 0 or matrix.ndim != 2 or isinstance(x, np.matrix):
        raise MissingRuleError(
            "the product of a sparse matrix and something else than an array",
            None,
            "Multiply with arrays: a @ (b @ x) for (a @ b) @ x, c * (a @ x) for (c * a) @ x.",
        )


_BASE = next(cls for cls in sparse.csr_array.__mro__ if "T" in vars(cls))


@attribute_rule(_BASE, "T")
@rrule.register(vars(_BASE)["T"].fget)
def transposed_rrule(matrix):
    """The entries stay where they are in `data`."""

    def transposed_pullback(transposed_bar):
        if matrix.format not in ("csr", "csc", "coo"):
            return NoTangent(), not_implemented(f"the entries of a sparse matrix in the format {matrix.format}")
        return NoTangent(), Tangent(type(matrix), data=transposed_bar.get("data"))

    return matrix.T, transposed_pullback


_DENSE = np.array([[2.0, 0.0, 1.0, 0.0], [0.0, 3.0, 0.0, -0.5], [1.0, 0.7, 4.0, 0.0]])
_VECTOR = np.array([0.7, -1.4, 2.2, 0.3])
_TABLE = np.sin(np.arange(8.0) * 1.7).reshape(4, 2)
for _format in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
    _matrix = _format(_DENSE)
    examples(type(_matrix).__matmul__, (_matrix, _VECTOR), (_matrix, _TABLE), (_matrix, _VECTOR + 0.5j))
    examples(type(_matrix).__matmul__, (_matrix, _TABLE[:, :0]), (_matrix, _TABLE.astype(np.float32)))
    examples(type(_matrix).__rmatmul__, (_matrix, _VECTOR[:3]), (_matrix, _TABLE[:3].T), (_matrix, _VECTOR[:3] * 1j))
    examples(type(_matrix).dot, (_matrix, _VECTOR), (_format(_DENSE + 0.5j * _DENSE), _TABLE))
    examples(type(_matrix).__matmul__, (_format(_DENSE + 0.5j * _DENSE), _VECTOR))
    examples(getattr, (_matrix, "T"))
    examples(vars(_BASE)["T"].fget, (_matrix,))
examples(sparse.csc_matrix.__mul__, (sparse.csc_matrix(_DENSE), _VECTOR), (sparse.csr_matrix(_DENSE), _TABLE))
examples(sparse.csc_matrix.__rmul__, (sparse.csc_matrix(_DENSE), _VECTOR[:3]), (sparse.csr_matrix(_DENSE), _TABLE[:3].T))
