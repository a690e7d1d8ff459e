"""scipy.linalg: what matrices are decomposed into, least squares and the pseudoinverse, by the formulas of np.linalg's rules.

Where LAPACK leaves the choice of a sign or a basis see `microgradpy.tangents.decompositions`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.linear_algebra.singular import lstsq_bars, pinv_bar, refuse_left_out, singular_values_bar, svd_bar
from microgradpy.rules.numpy.linear_algebra.solving import cholesky_bar, qr_bar
from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.decompositions import adjoint, inverse_or_nan
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent, is_structural_zero


@pullback(linalg.cholesky)
def cholesky_pullback(c_bar, a, lower=False, overwrite_a=False, check_finite=True, *, c):
    """As np.linalg.cholesky: of a = c c^H, or of a = c^H c and the triangle above, which is the default here."""
    return factor_bar(c_bar, a, c, lower)


@cotangent_of(1)
def factor_bar(c_bar: Any, a: Any, c: Any, lower: bool) -> Any:
    """The cotangent of a matrix under its Cholesky factor c."""
    a_bar = cholesky_bar(c_bar, c) if lower else adjoint(cholesky_bar(adjoint(c_bar), adjoint(c)))
    return unbroadcast(a_bar, a)


@pullback(linalg.cho_factor)
def cho_factor_pullback(y_bar, a, lower=False, overwrite_a=False, check_finite=True, *, y):
    """As cholesky; the other triangle has what stands there in a."""
    return cho_factor_bar(y_bar[0], a, y[0], lower)


def cho_factor_bar(c_bar: Any, a: Any, c: Any, lower: bool) -> Any:
    """The cotangent of a matrix under the array that has its Cholesky factor in one triangle. What is in the other depends on
    the version of SciPy: what stands there in the matrix, or zeros."""
    if is_structural_zero(c_bar):
        return None
    factor, other = (np.tril, np.triu) if lower else (np.triu, np.tril)
    beside = other(c, 1 if lower else -1)
    is_kept = np.array_equal(beside, other(a, 1 if lower else -1))
    bar = factor_bar(factor(c_bar), a, factor(c), lower)
    return bar + unbroadcast(other(c_bar, 1 if lower else -1), a) if is_kept else bar


@pullback(linalg.lu)
def lu_pullback(y_bar, a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False, *, y):
    """a = p l u: p^H a_bar = l^-H (tril(l^H l_bar, -1) + triu(u_bar u^H)) u^-H. Rows below the square part of l are a2 u^-1,
    columns right of that of u are l^-1 a2."""
    return lu_bar(y_bar, a, permute_l)


@cotangent_of(1)
def lu_bar(y_bar: Any, a: Any, permute_l: bool) -> Any:
    """The cotangent of a matrix under its LU factors."""
    rows, lower, upper = linalg.lu(a, p_indices=True, check_finite=False)
    lower_bar, upper_bar = y_bar[-2:]
    lower_bar = np.zeros_like(lower) if is_structural_zero(lower_bar) else lower_bar
    upper_bar = np.zeros_like(upper) if is_structural_zero(upper_bar) else upper_bar
    places = np.broadcast_to(np.expand_dims(rows, -1), lower.shape)
    if permute_l:  # row i of the permuted l is row rows[i] of l
        lower_bar = np.take_along_axis(lower_bar, np.argsort(places, axis=-2), -2)
    return unbroadcast(permuted(factors_bar(lower_bar, upper_bar, lower, upper), rows), a)


def permuted(x: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The matrices whose row i is row rows[i] of x."""
    return np.take_along_axis(x, np.broadcast_to(np.expand_dims(rows, -1), x.shape), -2)


def factors_bar(lower_bar: Any, upper_bar: Any, lower: Any, upper: Any) -> np.ndarray:
    """The cotangent of the product of LU factors, from theirs; NaN where a factor is singular."""
    count = lower.shape[-1]
    square_lower, square_upper = lower[..., :count, :], upper[..., :, :count]
    inverse_lower, inverse_upper = adjoint(inverse_or_nan(square_lower)), adjoint(inverse_or_nan(square_upper))
    below_bar = lower_bar[..., count:, :] @ inverse_upper
    beside_bar = inverse_lower @ upper_bar[..., :, count:]
    lower_bar = lower_bar[..., :count, :] - beside_bar @ adjoint(upper[..., :, count:])
    upper_bar = upper_bar[..., :, :count] - adjoint(lower[..., count:, :]) @ below_bar
    inner = np.tril(adjoint(square_lower) @ lower_bar, -1) + np.triu(upper_bar @ adjoint(square_upper))
    first = inverse_lower @ inner @ inverse_upper
    return np.concatenate((np.concatenate((first, beside_bar), axis=-1), below_bar), axis=-2) if below_bar.size else (
        np.concatenate((first, beside_bar), axis=-1)
    )


@pullback(linalg.lu_factor)
def lu_factor_pullback(y_bar, a, overwrite_a=False, check_finite=True, *, y):
    """As lu, with both factors in one matrix."""
    return lu_factor_bar(y_bar[0], a, y)


def lu_factor_bar(packed_bar: Any, a: Any, y: Any) -> Any:
    """The cotangent of a matrix under the matrix that has both of its LU factors."""
    if is_structural_zero(packed_bar):
        return None
    lower, upper = unpacked(y[0])
    count = lower.shape[-1]
    a_bar = factors_bar(np.tril(packed_bar, -1)[..., :, :count], np.triu(packed_bar)[..., :count, :], lower, upper)
    return unbroadcast(permuted(a_bar, np.argsort(row_order(y[1], lower.shape[-2]), axis=-1)), a)


def unpacked(packed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The factors that one matrix has: l, with ones on its diagonal, and u."""
    count = min(packed.shape[-2:])
    unit = np.eye(packed.shape[-2], count, dtype=packed.dtype)
    return np.tril(packed, -1)[..., :, :count] + unit, np.triu(packed)[..., :count, :]


def row_order(pivots: Any, count: int) -> np.ndarray:
    """The rows of a in the order in which exchanging row i and pivots[i], one after the other, puts them."""
    pivots = np.asarray(pivots)
    order = np.broadcast_to(np.arange(count), (*pivots.shape[:-1], count)).copy()
    for batch in np.ndindex(pivots.shape[:-1]):
        for row, other in enumerate(pivots[batch]):
            order[(*batch, row)], order[(*batch, other)] = order[(*batch, other)], order[(*batch, row)]
    return order


@rrule.register(linalg.qr)
def qr_rrule(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    """As np.linalg.qr, of the columns in the order of the pivots."""
    options = {} if lwork is None else {"lwork": lwork}  # which newer versions warn of
    y = linalg.qr(a, mode=mode, pivoting=pivoting, check_finite=check_finite, **options)

    def qr_pullback(y_bar):
        a_bar = pivoted_qr_bar(y_bar, a, y, mode, pivoting)
        return NoTangent(), a_bar, NoTangent(), NoTangent(), NoTangent(), NoTangent(), NoTangent()

    return y, qr_pullback


@cotangent_of(1)
def pivoted_qr_bar(y_bar: Any, a: Any, y: Any, mode: str, pivoting: bool) -> Any:
    """The cotangent of a matrix under its QR factors."""
    if mode == "raw":
        raise MissingRuleError('scipy.linalg.qr with the mode "raw"', None, 'Use the mode "economic".')
    matrix = np.asarray(a)
    order = y[-1] if pivoting else np.arange(matrix.shape[-1])
    chosen = matrix[..., order]
    if mode == "r":
        r_bar = y_bar[0] if isinstance(y_bar, tuple) else y_bar
        bar = qr_bar((None, r_bar), chosen, linalg.qr(chosen, mode="economic"), "reduced")
    else:
        bar = qr_bar(y_bar[:2], chosen, y[:2], "reduced")
    return unbroadcast(bar[..., np.argsort(order)], a)


@pullback(linalg.svd)
def svd_pullback(
    y_bar, a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd", *, y
):
    """As np.linalg.svd."""
    return svd_bar(y_bar, a, y, compute_uv, False)


@pullback(linalg.svdvals)
def svdvals_pullback(s_bar, a, overwrite_a=False, check_finite=True):
    """a = u s v^H: a_bar = u s_bar v^H."""
    return singular_values_bar(s_bar, a, False)


@pullback(linalg.pinv)
def pinv_pullback(y_bar, a, *, atol=None, rtol=None, return_rank=False, check_finite=True, y):
    """As np.linalg.pinv."""
    return pseudoinverse_bar(y_bar, a, y, atol, rtol, return_rank)


@cotangent_of(1)
def pseudoinverse_bar(y_bar: Any, a: Any, y: Any, atol: Any, rtol: Any, return_rank: bool) -> Any:
    """The cotangent of a matrix under its pseudoinverse."""
    z_bar, z = (y_bar[0], y[0]) if return_rank else (y_bar, y)
    if is_structural_zero(z_bar):
        return np.zeros_like(a)
    if atol is not None or rtol is not None:
        s = np.linalg.svd(a, compute_uv=False)
        relative = max(np.shape(a)[-2:]) * np.finfo(s.dtype).eps if rtol is None and not atol else rtol or 0.0
        refuse_left_out(s, s <= (atol or 0.0) + relative * s[..., :1], a)
    return pinv_bar(z_bar, a, z, None, False)


@pullback(linalg.lstsq)
def lstsq_pullback(y_bar, a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None, *, y):
    """As np.linalg.lstsq."""
    squares_bar = None if is_structural_zero(y_bar[1]) else np.real(y_bar[1])
    bars = lstsq_bars((y_bar[0], squares_bar, *y_bar[2:]), a, b, y)
    return bars[0], bars[1]


def _table(*shape: int) -> np.ndarray:
    """An array of irregular numbers, of both signs and the given shape, and of full rank."""
    return np.sin(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)) ** 2 * 1.7 + len(shape)).reshape(shape)


_SQUARE, _TALL, _WIDE = _table(3, 3), _table(4, 3), _table(2, 3)
_COMPLEX = _TALL + 0.5j * np.cos(_TALL * 7.0)
_POSITIVE = 0.3 * _table(3, 3) + np.diag([3.0, 4.0, 5.0])
_FLOAT32 = _SQUARE.astype(np.float32)
for _factorise in (linalg.cholesky, linalg.cho_factor):
    for _lower in (True, False):
        examples(_factorise, (_POSITIVE, _lower), (_POSITIVE + 0.2j * _SQUARE.T, _lower), (_POSITIVE + 0.2j, _lower))
    examples(_factorise, (_POSITIVE.astype(np.float32),))
for _indices in (True, False):
    examples(linalg.lu, (_SQUARE,), (_TALL,), (_WIDE,), (_COMPLEX,), (_COMPLEX.T,), (_table(2, 3, 3),), p_indices=_indices)
examples(linalg.lu, (_SQUARE,), (_TALL,), (_WIDE,), (_COMPLEX,), (_COMPLEX.T,), (_table(2, 4, 3),), permute_l=True)
examples(linalg.lu_factor, (_SQUARE,), (_TALL,), (_WIDE,), (_COMPLEX,), (_FLOAT32,))
for _mode in ("full", "economic", "r"):
    for _pivoting in (False, True):
        examples(linalg.qr, (_SQUARE,), (_WIDE,), (_TALL[:, :3],), (_FLOAT32,), mode=_mode, pivoting=_pivoting)
examples(linalg.qr, (_TALL[:, :2],), (_COMPLEX,), (_COMPLEX.T,), mode="economic")
examples(linalg.svd, (_SQUARE,), (_TALL,), (_WIDE,), (_SQUARE, False), (_TALL, False), (_WIDE, False))
examples(linalg.svd, (_SQUARE,), (_COMPLEX,), compute_uv=False)
examples(linalg.svdvals, (_SQUARE,), (_TALL,), (_COMPLEX,), (_FLOAT32,))
examples(linalg.pinv, (_SQUARE,), (_TALL,), (_WIDE,), (_COMPLEX,), (_FLOAT32,))
examples(linalg.pinv, (_TALL,), rtol=1e-10, return_rank=True)
examples(linalg.lstsq, (_TALL, _table(4)), (_TALL, _table(4, 2)), (_WIDE, _table(2)), (_SQUARE, _table(3, 2)))
examples(linalg.lstsq, (_COMPLEX, _table(4)), (_TALL, _table(4) + 0.4j))
