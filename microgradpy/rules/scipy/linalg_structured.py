"""scipy.linalg: triangular, banded and Toeplitz matrices, and matrices made of vectors and blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.decompositions import adjoint
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent

_TRANS: dict[Any, int] = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}


def transposed_system(a: Any, trans: Any) -> tuple[Any, int]:
    """The matrix and the `trans` with which the conjugate transpose of the equation is solved."""
    number = _TRANS[trans]
    return (conj(a), 0) if number == 1 else (a, 2 - number)


def mapped(op_bar: Any, trans: Any) -> Any:
    """The cotangent of a matrix from that of what `trans` makes of it."""
    number = _TRANS[trans]
    if number == 0:
        return op_bar
    return np.swapaxes(op_bar, -1, -2) if number == 1 else adjoint(op_bar)


@pullback(linalg.solve_triangular)
def solve_triangular_pullback(
    z_bar, a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True, *, z
):
    """a z = b: b_bar = a^-H z_bar, a_bar = -b_bar z^H in the triangle that is read."""
    bars = solve_triangular_bars(z_bar, a, b, z, trans, lower, unit_diagonal)
    return bars[0], bars[1]


def solve_triangular_bars(
    z_bar: Any, a: Any, b: Any, z: Any, trans: Any, lower: bool, unit_diagonal: bool
) -> tuple[Any, Any]:
    """The cotangents of the triangle and of the right side of an equation."""
    if np.size(z) == 0:
        return np.zeros_like(a), np.zeros_like(b)
    matrix, back = transposed_system(np.asarray(a), trans)
    right_bar = linalg.solve_triangular(
        matrix, z_bar, trans=back, lower=lower, unit_diagonal=unit_diagonal, check_finite=False
    )
    bar, solution = right_bar, z
    if np.ndim(b) == 1:
        bar, solution = np.expand_dims(right_bar, -1), np.expand_dims(z, -1)
    a_bar = mapped(-(bar @ adjoint(solution)), trans)
    first = 1 if unit_diagonal else 0
    a_bar = np.tril(a_bar, -first) if lower else np.triu(a_bar, first)
    return unbroadcast(a_bar, a), unbroadcast(right_bar, b)


@pullback(linalg.solve_banded)
def solve_banded_pullback(z_bar, l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True, *, z):
    """a z = b: b_bar = a^-H z_bar, a_bar = -b_bar z^H along the diagonals that are given."""
    b_bar = linalg.solve_banded(l_and_u[::-1], adjoint_bands(ab, l_and_u), z_bar, check_finite=False)
    return NoTangent(), bands_bar(b_bar, z, ab, l_and_u[1]), unbroadcast(b_bar, b)


def adjoint_bands(ab: Any, l_and_u: Any) -> np.ndarray:
    """The diagonals of the conjugate transpose of a banded matrix: a_ij is at (u + i - j, j)."""
    bands = conj(np.asarray(ab))
    below, above = l_and_u
    turned = np.zeros_like(bands)
    for row in range(below + above + 1):
        here, there = _columns(bands.shape[-1], row - above)
        turned[below + above - row, there] = bands[row, here]
    return turned


def _columns(count: int, shift: int) -> tuple[slice, slice]:
    """The columns j, and the rows j + shift, that a diagonal crosses."""
    here = slice(max(0, -shift), max(0, count - max(0, shift)))
    return here, slice(here.start + shift, max(here.start, here.stop) + shift)


@cotangent_of(2)
def bands_bar(b_bar: Any, z: Any, ab: Any, above: int) -> Any:
    """-b_bar z^H along the diagonals, the first of which is `above` the main one."""
    left, right = _as_columns(b_bar), _as_columns(conj(z))
    bar = np.zeros(np.shape(ab), np.result_type(left, right))
    for row in range(bar.shape[-2]):
        here, there = _columns(bar.shape[-1], row - above)
        bar[row, here] = -np.sum(left[there] * right[here], axis=-1)
    return unbroadcast(bar, ab)


def _as_columns(x: Any) -> Any:
    return np.expand_dims(x, -1) if np.ndim(x) == 1 else x


@pullback(linalg.solveh_banded)
def solveh_banded_pullback(z_bar, ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True, *, z):
    """a z = b of a Hermitian a: b_bar = a^-1 z_bar, a_bar = -(b_bar z^H + z b_bar^H) along the diagonals that are given, and
    half of its real part on the main one."""
    b_bar = linalg.solveh_banded(ab, z_bar, lower=lower, check_finite=False)
    return hermitian_bands_bar(b_bar, z, ab, lower), unbroadcast(b_bar, b)


@cotangent_of(2)
def hermitian_bands_bar(b_bar: Any, z: Any, ab: Any, lower: bool) -> Any:
    """The cotangent of the diagonals on one side of a Hermitian matrix."""
    last = np.shape(ab)[-2] - 1
    above = 0 if lower else last
    wide = np.zeros(np.shape(ab), np.result_type(b_bar, z, np.float32))
    bar = bands_bar(b_bar, z, wide, above) + bands_bar(z, b_bar, wide, above)
    main = 0 if lower else last
    bar[main] = 0.5 * np.real(bar[main])
    return unbroadcast(bar, ab)


@pullback(linalg.solve_toeplitz)
def solve_toeplitz_pullback(z_bar, c_or_cr, b, check_finite=True, *, z):
    """t z = b: b_bar = t^-H z_bar, and -b_bar z^H, summed along each diagonal, is the cotangent of what stands there."""
    bars = solve_toeplitz_bars(z_bar, c_or_cr, b, z)
    return bars[0], bars[1]


def solve_toeplitz_bars(z_bar: Any, c_or_cr: Any, b: Any, z: Any) -> tuple[Any, Any]:
    """The cotangents of the first column (and row) and of the right side."""
    is_pair = isinstance(c_or_cr, tuple)
    c, r = c_or_cr if is_pair else (c_or_cr, None)
    row = conj(np.asarray(c)) if r is None else np.asarray(r)
    column = np.concatenate((np.asarray(c)[:1], row[1:]))
    right_bar = linalg.solve_toeplitz((conj(column), conj(np.asarray(c))), z_bar, check_finite=False)
    rows = np.shape(right_bar)[0]
    table_bar = -(np.reshape(right_bar, (rows, -1)) @ adjoint(np.reshape(z, (rows, -1))))
    c_bar, r_bar = toeplitz_bars(table_bar, c, r)
    return (c_bar, r_bar) if is_pair else c_bar, unbroadcast(right_bar, b)


@pullback(linalg.toeplitz)
def toeplitz_pullback(y_bar, c, r=None):
    """y_ij is c_(i-j) or r_(j-i): y_bar is summed along each diagonal. Without r, r = conj(c)."""
    bars = toeplitz_bars(y_bar, c, r)
    return bars[0], bars[1]


def toeplitz_bars(y_bar: Any, c: Any, r: Any) -> tuple[Any, Any]:
    """The cotangents of the first column and of the first row, whose first entry is not read."""
    rows, columns = np.shape(y_bar)[-2:]
    sums = diagonal_sums(y_bar, np.arange(rows)[:, None] - np.arange(columns) + columns - 1)
    # From the last entry of the row to its first, then down the column.
    c_bar, r_bar = sums[..., columns - 1 :].copy(), sums[..., : columns - 1][..., ::-1]
    if r is None:
        c_bar[..., 1:] += conj(r_bar)
        return unbroadcast(c_bar.reshape(np.shape(c)), c), None
    unread = np.zeros((*r_bar.shape[:-1], 1), r_bar.dtype)
    r_bar = np.concatenate((unread, r_bar), axis=-1)
    return unbroadcast(c_bar.reshape(np.shape(c)), c), unbroadcast(r_bar.reshape(np.shape(r)), r)


def diagonal_sums(y_bar: Any, places: np.ndarray) -> np.ndarray:
    """The sums of the entries that have the same number in `places`."""
    bar = np.asarray(y_bar)
    sums: np.ndarray = np.zeros((int(np.max(places, initial=-1)) + 1, *bar.shape[:-2]), bar.dtype)
    np.add.at(sums, places, np.moveaxis(bar, (-2, -1), (0, 1)))
    return np.moveaxis(sums, 0, -1)


@pullback(linalg.circulant)
def circulant_pullback(y_bar, c):
    """y_ij = c_(i-j), counted around: y_bar is summed over the places of each entry."""
    return circulant_bar(y_bar, c)


@cotangent_of(1)
def circulant_bar(y_bar: Any, c: Any) -> Any:
    """The cotangent of the first column of a circulant matrix."""
    count = np.shape(y_bar)[-1]
    places = (np.arange(count)[:, None] - np.arange(count)) % max(count, 1)
    return unbroadcast(diagonal_sums(y_bar, places).reshape(np.shape(c)), c)


@pullback(linalg.hankel)
def hankel_pullback(y_bar, c, r=None):
    """y_ij is entry i + j of c followed by r[1:], which is 0 unless given: y_bar is summed along each antidiagonal."""
    bars = hankel_bars(y_bar, c, r)
    return bars[0], bars[1]


def hankel_bars(y_bar: Any, c: Any, r: Any) -> tuple[Any, Any]:
    """The cotangents of the first column and of the last row, whose first entry is not read."""
    rows, columns = np.shape(y_bar)[-2:]
    sums = diagonal_sums(y_bar, np.arange(rows)[:, None] + np.arange(columns))
    c_bar = unbroadcast(sums[..., :rows].reshape(np.shape(c)), c)
    if r is None:
        return c_bar, None
    r_bar = np.concatenate((np.zeros_like(sums[..., :1]), sums[..., rows:]), axis=-1)
    return c_bar, unbroadcast(r_bar.reshape(np.shape(r)), r)


@rrule.register(linalg.block_diag)
def block_diag_rrule(*arrs):
    """Each block's cotangent is the part of y_bar where it stands."""

    def block_diag_pullback(y_bar):
        return NoTangent(), *block_diag_bars(y_bar, arrs)

    return linalg.block_diag(*arrs), block_diag_pullback


def block_diag_bars(y_bar: Any, blocks: tuple[Any, ...]) -> list[Any]:
    """The cotangents of the blocks on a diagonal; a vector is a row."""
    bars = []
    row = column = 0
    for block in blocks:
        height, width = np.atleast_2d(block).shape[-2:]
        part = y_bar[..., row : row + height, column : column + width]
        bars.append(unbroadcast(part if np.ndim(block) >= 2 else np.reshape(part, np.shape(block)), block))
        row, column = row + height, column + width
    return bars


_VECTOR = np.array([2.5, -0.4, 0.7, 0.3])
_ROW = np.array([9.0, 0.6, -0.2, 0.5])
_TABLE = np.sin(np.arange(8.0) * 1.7).reshape(4, 2)
_MATRIX = np.sin(np.arange(16.0) * 1.3).reshape(4, 4) + 2.0 * np.eye(4)
_COMPLEX = _MATRIX + 0.4j * _MATRIX.T
for _trans in (0, 1, 2, "N", "T", "C"):
    examples(linalg.solve_triangular, (_MATRIX, _VECTOR, _trans), (_COMPLEX, _TABLE, _trans, True))
examples(linalg.solve_triangular, (_MATRIX, _TABLE, 1, True, True), (_COMPLEX, _VECTOR, 0, False, True))
examples(linalg.solve_triangular, (_MATRIX.astype(np.float32), _VECTOR.astype(np.float32)), (_MATRIX, _VECTOR + 1j))
_BANDS = np.array([[9.0, 0.3, -0.4, 0.5], [3.0, 4.0, -3.5, 2.5], [0.6, -0.7, 0.2, 9.0], [0.1, 0.3, 9.0, 9.0]])
examples(linalg.solve_banded, ((2, 1), _BANDS, _VECTOR), ((2, 1), _BANDS, _TABLE), ((2, 1), _BANDS + 0.3j, _TABLE))
examples(linalg.solve_banded, ((1, 1), _BANDS[:3], _VECTOR), ((1, 2), _BANDS[[0, 0, 1, 2]], _VECTOR))
examples(linalg.solve_banded, ((0, 0), _BANDS[1:2], _TABLE), ((1, 0), _BANDS[1:3], _TABLE[:, 0] + 0.2j))
_LOWER = np.array([[3.0, 4.0, 3.5, 2.5], [0.6, -0.7, 0.2, 9.0], [0.1, 0.3, 9.0, 9.0]])
_UPPER = np.array([[9.0, 9.0, 0.2, 0.3], [9.0, 0.6, -0.7, 0.2], [3.0, 4.0, 3.5, 2.5]])
_IMAGINARY = np.array([[0.0], [0.3], [0.2]])
for _right in (_VECTOR, _TABLE):
    examples(linalg.solveh_banded, (_LOWER, _right), (_LOWER + 1j * _IMAGINARY, _right), lower=True)
    examples(linalg.solveh_banded, (_UPPER, _right), (_UPPER[1:], _right), (_UPPER + 1j * _IMAGINARY[::-1], _right))
    examples(linalg.solve_toeplitz, (_VECTOR, _right), ((_VECTOR, _ROW), _right), (_VECTOR + 0.1j * _ROW, _right))
    example(linalg.solve_toeplitz, (_VECTOR + 0.1j, _ROW - 0.2j), _right)
examples(linalg.toeplitz, (_VECTOR,), (_VECTOR, _ROW), (_VECTOR, _ROW[:2]), (_VECTOR[:2], _ROW), (_VECTOR + 1j * _ROW,))
examples(linalg.toeplitz, (_VECTOR + 1j, _ROW), (_VECTOR.astype(np.float32),))
examples(linalg.circulant, (_VECTOR,), (_VECTOR + 0.5j,), (_VECTOR[:1],))
examples(linalg.hankel, (_VECTOR,), (_VECTOR, _ROW), (_VECTOR, _ROW[:2]), (_VECTOR[:2], _ROW))
examples(linalg.block_diag, (_TABLE, _VECTOR), (_TABLE,), (2.5, _MATRIX + 0.5j, _TABLE), (_VECTOR, np.zeros((0, 2)), _TABLE))
