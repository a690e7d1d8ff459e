"""scipy.sparse: products of sparse matrices with arrays, and with each other.

The cotangent of a sparse matrix is a Tangent with that of its field `data`, in the formats that have one number there for each
entry (CSR, CSC, COO, DIA); of other formats it is not known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import attribute_rule, examples, rrule
from microgradpy.rules.scipy import sparse_blocks as sparse_blocks
from microgradpy.rules.scipy.sparse_entries import (
    FORMATS,
    are_inside,
    bar_at,
    data_bar,
    of_entries,
    places,
    refuse_operand,
    scaled_bars,
    sparse_product_bars,
)
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent


def entries_bar(matrix: Any, left: Any, right: Any) -> Any:
    """The cotangent of a sparse matrix that is part of left @ conj(right).T, vectors or columns."""
    if matrix.format not in FORMATS or matrix.ndim != 2:
        return not_implemented(f"the entries of a sparse matrix in the format {matrix.format}")
    rows, columns = places(matrix)
    inside = are_inside(matrix, rows)
    left, right = _as_columns(left)[np.where(inside, rows, 0)], conj(_as_columns(right))[columns]
    return of_entries(matrix, np.where(inside, np.sum(left * right, axis=-1), 0.0))


def _as_columns(x: Any) -> np.ndarray:
    return np.expand_dims(x, -1) if np.ndim(x) == 1 else np.asarray(x)


def adjoint_of(matrix: Any) -> Any:
    """The conjugate transpose."""
    return matrix.conj().T if np.iscomplexobj(matrix.data) else matrix.T


@rrule.register(sparse.csr_array.__matmul__)
def matmul_rrule(self, other):
    """y = a x: x_bar = a^H y_bar, a_bar = y_bar x^H where a has entries."""

    y = self @ other

    def matmul_pullback(y_bar):
        bars = product_bars(y_bar, y, self, other)
        return NoTangent(), bars[0], bars[1]

    return y, matmul_pullback


@rrule.register(sparse.csr_array.__rmatmul__)
def rmatmul_rrule(self, other):
    """y = x a, where y^T = a^T x^T."""

    def rmatmul_pullback(y_bar):
        bars = left_product_bars(y_bar, self, other)
        return NoTangent(), bars[0], bars[1]

    return other @ self, rmatmul_pullback


@pullback(sparse.csr_array.dot)
@pullback(sparse.coo_array.dot)
def dot_pullback(y_bar, self, other, *, y):
    """As a @ x."""
    bars = product_bars(y_bar, y, self, other)
    return bars[0], bars[1]


@rrule.register(sparse.csr_matrix.__mul__)
def mul_rrule(self, other):
    """As a @ x: of matrices, not of sparse arrays."""

    y = self * other

    def mul_pullback(y_bar):
        bars = product_bars(y_bar, y, self, other)
        return NoTangent(), bars[0], bars[1]

    return y, mul_pullback


@rrule.register(sparse.csr_matrix.__rmul__)
def rmul_rrule(self, other):
    """As x @ a."""

    y = other * self

    def rmul_pullback(y_bar):
        bars = left_product_bars(y_bar, self, other) if np.ndim(other) else product_bars(y_bar, y, self, other)
        return NoTangent(), bars[0], bars[1]

    return y, rmul_pullback


@rrule.register(sparse.csr_array.__mul__)
@rrule.register(sparse.csr_array.__rmul__)
def scale_rrule(self, other):
    """By a number: of sparse arrays, not of matrices."""
    y = self * other

    def scale_pullback(y_bar):
        refuse_operand(other)
        bars = product_bars(y_bar, y, self, other)
        return NoTangent(), bars[0], bars[1]

    return y, scale_pullback


def product_bars(y_bar: Any, y: Any, matrix: Any, x: Any) -> tuple[Any, Any]:
    """The cotangents of a and x under a x = y."""
    if sparse.issparse(x) and sparse.issparse(y):
        return sparse_product_bars(y_bar, y, matrix, x)
    if np.ndim(x) == 0 and sparse.issparse(y):
        matrix_bar, factor_bar = scaled_bars(y_bar, y, matrix, x)
        return matrix_bar, unbroadcast(factor_bar, x)
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
    """The entries with row and column exchanged."""

    y = matrix.T

    def transposed_pullback(transposed_bar):
        return NoTangent(), swapped_bar(transposed_bar, y, matrix)

    return y, transposed_pullback


def swapped_bar(y_bar: Any, y: Any, matrix: Any) -> Any:
    """The cotangent of a matrix from that of its transpose."""
    if matrix.format not in FORMATS:
        return not_implemented(f"the entries of a sparse matrix in the format {matrix.format}")
    bar, (rows, columns) = data_bar(y_bar), places(matrix)
    return NoTangent() if bar is None else of_entries(matrix, bar_at(y, bar, columns, rows))



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
    examples(type(_matrix).__matmul__, (_matrix, _format(_DENSE[:, ::-1].T)), (_matrix, sparse.csr_array(_DENSE.T)))
examples(sparse.csr_matrix.__mul__, (sparse.csc_matrix(_DENSE), 2.5), (sparse.csr_matrix(_DENSE), 0.5j))
examples(sparse.csr_matrix.__rmul__, (sparse.coo_matrix(_DENSE), 2.5))
examples(sparse.csr_array.__mul__, (sparse.csr_array(_DENSE), 2.5), (sparse.coo_array(_DENSE), 1.5))
examples(sparse.csr_array.__rmul__, (sparse.csc_array(_DENSE), 2.5))
examples(sparse.csc_matrix.__mul__, (sparse.csc_matrix(_DENSE), _VECTOR), (sparse.csr_matrix(_DENSE), _TABLE))
examples(sparse.csc_matrix.__rmul__, (sparse.csc_matrix(_DENSE), _VECTOR[:3]), (sparse.csr_matrix(_DENSE), _TABLE[:3].T))
