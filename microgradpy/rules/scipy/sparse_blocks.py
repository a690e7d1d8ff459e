"""scipy.sparse: matrices that are made of diagonals, of blocks and of products of all entries with all entries."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples, rrule
from microgradpy.rules.scipy.sparse_entries import are_inside, bar_at, check_format, data_bar, of_entries, places
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.types import NoTangent


@pullback(sparse.kron)
def kron_pullback(y_bar, A, B, format=None, *, y):
    """Every entry is the product of one of A and one of B."""
    return (*kron_bars(y_bar, y, A, B),)


def kron_bars(y_bar: Any, y: Any, left: Any, right: Any) -> tuple[Any, Any]:
    """The cotangents of the factors of a Kronecker product."""
    bar = data_bar(y_bar)
    if bar is None:
        return NoTangent(), NoTangent()
    check_format(y)
    check_entries(left, right)
    height, width = np.shape(right) if not sparse.issparse(right) else right.shape
    (rows, columns, numbers), (under, beside, others) = map(listed, (left, right))
    at_rows, at_columns = np.add.outer(rows * height, under), np.add.outer(columns * width, beside)
    table = np.reshape(bar_at(y, bar, at_rows.ravel(), at_columns.ravel()), at_rows.shape)
    return factor_bar(left, table @ conj(others)), factor_bar(right, conj(numbers) @ table)


def check_entries(*factors: Any) -> None:
    """Refuse diagonals, of which some numbers are at no place."""
    if any(sparse.issparse(factor) and factor.format == "dia" for factor in factors):
        raise MissingRuleError("a Kronecker product of diagonals", None, "Give it A.tocsr().")


def listed(factor: Any) -> tuple[Any, Any, Any]:
    """The rows, columns and numbers of a matrix, which may be dense."""
    if sparse.issparse(factor):
        rows, columns = places(factor)
        return rows, columns, factor.data.ravel()
    rows, columns = np.indices(np.shape(factor))
    return rows.ravel(), columns.ravel(), np.ravel(factor)


def factor_bar(given: Any, bar: Any) -> Any:
    """The cotangent of a factor from those of its numbers."""
    return of_entries(given, bar) if sparse.issparse(given) else unbroadcast(np.reshape(bar, np.shape(given)), given)


# Matrices from diagonals and blocks


def _declare_diagonals(make: Any) -> None:
    @rrule.register(make)
    def diagonals_rrule(diagonals, offsets=0, shape=None, format=None, dtype=None):
        """Row i of diagonal k is entry min(i, i + k) of it."""
        y = make(diagonals, offsets=offsets, shape=shape, format=format, dtype=dtype)

        def diagonals_pullback(y_bar):
            return NoTangent(), diagonals_bar(y_bar, y, diagonals, offsets)

        return y, diagonals_pullback


def diagonals_bar(y_bar: Any, y: Any, diagonals: Any, offsets: Any) -> Any:
    """The cotangents of the diagonals of which a sparse matrix is made."""
    bar = data_bar(y_bar)
    if bar is None:
        return NoTangent()
    is_one = np.ndim(offsets) == 0 and (len(diagonals) == 0 or np.ndim(diagonals[0]) == 0)
    parts = [
        unbroadcast(diagonal_of(y, bar, int(offset)), part)
        for part, offset in zip([diagonals] if is_one else diagonals, np.atleast_1d(offsets), strict=True)
    ]
    if is_one:
        return parts[0]
    return np.stack(parts) if isinstance(diagonals, np.ndarray) else type(diagonals)(parts)


def diagonal_of(matrix: Any, bar: Any, offset: int) -> Any:
    """The cotangents of a diagonal of a matrix."""
    length = min(matrix.shape[0] + min(offset, 0), matrix.shape[1] - max(offset, 0))
    along = np.arange(length)
    return bar_at(matrix, bar, along + max(-offset, 0), along + max(offset, 0))


_declare_diagonals(sparse.diags)
_declare_diagonals(sparse.diags_array)


def _declare_stack(stack: Any, axis: int) -> None:
    @rrule.register(stack)
    def stack_rrule(blocks, format=None, dtype=None):
        """The entries of the blocks, moved."""
        y = stack(blocks, format, dtype)

        def stack_pullback(y_bar):
            return NoTangent(), blocks_bar(y_bar, y, blocks, axis)

        return y, stack_pullback


def blocks_bar(y_bar: Any, y: Any, blocks: Any, axis: int) -> Any:
    """The cotangents of blocks that were put beside each other along an axis."""
    bar, start, parts = data_bar(y_bar), 0, []
    if bar is None:
        return NoTangent()
    for block in blocks:
        parts.append(block_bar(y, bar, block, (start, 0) if axis == 0 else (0, start)))
        start += block.shape[axis]
    return type(blocks)(parts)


def block_bar(y: Any, bar: Any, block: Any, corner: tuple[int, int]) -> Any:
    """The cotangent of a block from that of a matrix in which it stands at a corner."""
    if not sparse.issparse(block):
        rows, columns = np.indices(block.shape)
        return bar_at(y, bar, (rows + corner[0]).ravel(), (columns + corner[1]).ravel()).reshape(block.shape)
    rows, columns = places(block)
    inside = are_inside(block, rows)
    moved = bar_at(y, bar, np.where(inside, rows + corner[0], 0), np.where(inside, columns + corner[1], 0))
    return of_entries(block, np.where(inside, moved, 0.0))


_declare_stack(sparse.vstack, 0)
_declare_stack(sparse.hstack, 1)

_NUMBERS = np.array([0.7, -1.4, 2.2, 0.3])
_DENSE = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]])
examples(sparse.kron, (sparse.csr_array(_DENSE), sparse.coo_array(_DENSE.T), "csr"))
for _make in (sparse.diags, sparse.diags_array):
    examples(_make, ([_NUMBERS, _NUMBERS[:3], _NUMBERS[1:3]],), offsets=[0, 1, -2], format="csr")
    examples(_make, ([_NUMBERS, _NUMBERS[:3]],), offsets=[0, -1])
examples(sparse.diags, (_NUMBERS,), format="csc")
examples(sparse.vstack, ([sparse.csr_array(_DENSE), sparse.coo_array(_DENSE + 1.0)], "csc"))
examples(sparse.hstack, ([sparse.csr_array(_DENSE), sparse.coo_array(_DENSE + 1.0)], "csr"))
