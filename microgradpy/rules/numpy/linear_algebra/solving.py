"""np.linalg: solving, inverse, determinant, Cholesky and QR factors, all for stacks of matrices too.

Sources: M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation"
(2008); I. Murray, "Differentiation of the Cholesky decomposition" (2016).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.mathematics.sums import products_of_others
from microgradpy.rules.registry import examples
from microgradpy.tangents.arithmetic import conj, real_like, unbroadcast
from microgradpy.tangents.decompositions import adjoint, half_of_diagonal, inverse_or_nan, leading_columns, triangle_bar
from microgradpy.tangents.helpers import cotangent_of, like, numeric
from microgradpy.tangents.types import NoTangent, is_structural_zero


def _table(*shape: int) -> np.ndarray:
    """An array of irregular numbers, of both signs and the given shape."""
    return np.sin(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)) * 1.7 + len(shape)).reshape(shape)


_REGULAR = _table(3, 3) + 2.0 * np.eye(3)
_REGULARS = _table(2, 3, 3) + 2.0 * np.eye(3)
_COMPLEX = _REGULAR + 0.5j * _table(3, 3).T


@pullback(np.linalg.solve)
def solve_pullback(z_bar, a, b, *, z):
    """a z = b: b_bar = a^-H z_bar, a_bar = -b_bar z^H. Of NumPy 2, b is a vector only if it has one axis."""
    right_bar = solve_adjoint(z_bar, a, b)
    return solve_matrix_bar(right_bar, a, b, z), unbroadcast(right_bar, b)


@numeric
def solve_adjoint(z_bar: Any, a: Any, b: Any) -> Any:
    """a^-H z_bar, of the shape of z: the cotangent of b before what was broadcast is summed up."""
    if np.ndim(b) == 1:
        return np.squeeze(np.linalg.solve(adjoint(a), np.expand_dims(z_bar, -1)), -1)
    return np.linalg.solve(adjoint(a), z_bar)


@cotangent_of(1)
def solve_matrix_bar(right_bar: Any, a: Any, b: Any, z: Any) -> Any:
    """The cotangent of the matrix a under the solution z of a z = b: -b_bar z^H."""
    if np.ndim(b) == 1:
        right_bar, z = np.expand_dims(right_bar, -1), np.expand_dims(z, -1)
    return unbroadcast(-(right_bar @ adjoint(z)), a)


examples(np.linalg.solve, (_REGULAR, _table(3)), (_REGULAR, _table(3, 2)), (_REGULARS, _table(2, 3, 1)))
examples(np.linalg.solve, (_COMPLEX, _table(3)), (_REGULAR, _table(2, 3, 2)), (_REGULARS, _table(3)))
examples(np.linalg.solve, (np.stack([_REGULAR, 2.0 * _REGULAR, _REGULAR + np.eye(3)]), _table(3)))


@pullback(np.linalg.inv)
def inv_pullback(z_bar, a, *, z):
    """a_bar = -z^H z_bar z^H."""
    return -(adjoint(z) @ z_bar @ adjoint(z))


@pullback(np.linalg.det)
def det_pullback(z_bar, a):
    """a_bar = z_bar * (the cofactors of a), which exist for singular matrices too."""
    return np.expand_dims(z_bar, (-1, -2)) * conj(cofactors(a))


@like(0)
def cofactors(a: Any) -> np.ndarray:
    """The derivative of det(a). With a = u s v: det(u v) * u^-T c v^-T, where c are the products of the other s; of matrices of
    one or two rows it is written down."""
    if type(a) is np.ndarray and a.shape[-1] in (1, 2):
        return _small_cofactors(a)
    u, s, v = np.linalg.svd(a)
    unit = np.expand_dims(np.linalg.det(u) * np.linalg.det(v), (-1, -2))
    return unit * ((conj(u) * products_of_others(s, -1)[..., None, :]) @ conj(v))


def _small_cofactors(a: np.ndarray) -> np.ndarray:
    a = a.astype(np.result_type(a.dtype, np.float32))
    found = np.ones_like(a)
    if a.shape[-1] == 2:
        found[..., 0, 0], found[..., 1, 1] = a[..., 1, 1], a[..., 0, 0]
        found[..., 0, 1], found[..., 1, 0] = -a[..., 1, 0], -a[..., 0, 1]
    return found


_SINGULAR = np.array([[1.0, 2.0, 0.5], [2.0, 4.0, 1.0], [0.3, -0.4, 0.9]])
examples(np.linalg.inv, (_REGULAR,), (_REGULARS,), (_COMPLEX,))
examples(np.linalg.det, (_REGULARS[:0],), (_REGULARS[:, :2, :2],), (_COMPLEX[:2, :2],))
examples(np.linalg.det, (np.array([[2.5]]),), (np.ones((2, 2)),))
examples(np.linalg.det, (_REGULAR,), (_REGULARS,), (_COMPLEX,), (_SINGULAR,))


@pullback(np.linalg.slogdet)
def slogdet_pullback(y_bar, a, *, y):
    """(sign, log|det|): a_bar = log_bar * a^-H, and for complex a what turns the sign."""
    return slogdet_bar(y_bar, a, y)


@cotangent_of(1)
def slogdet_bar(y_bar: Any, a: Any, y: Any) -> Any:
    """The cotangent of a under (sign, log|det|); NaN for singular matrices, which have none."""
    sign_bar, log_bar = y_bar
    weight = 0.0 if log_bar is None else log_bar
    if sign_bar is not None and np.iscomplexobj(a):
        weight = weight - 1j * np.imag(conj(sign_bar) * y[0])
    return np.expand_dims(weight, (-1, -2)) * adjoint(inverse_or_nan(a))


examples(np.linalg.slogdet, (_REGULAR,), (_REGULARS,), (_COMPLEX,))


@pullback(np.linalg.cholesky)
def cholesky_pullback(z_bar, a, /, *, upper=False, z):
    """a = z z^H: with s = z^-H p(z^H z_bar) z^-1, where p halves the diagonal and drops what is above it, a_bar is
    s + s^H below the diagonal, s on it and 0 above it, which is not read. The upper factor is z^H, of what is above."""
    if upper:
        return (NoTangent(), adjoint(cholesky_bar(adjoint(z_bar), adjoint(z))))
    return cholesky_bar(z_bar, z)


@like(1)
def cholesky_bar(z_bar: Any, z: Any) -> Any:
    """The cotangent of a matrix under its lower Cholesky factor z."""
    # The diagonal of z is real: what z_bar has beyond that carries nothing.
    inner = half_of_diagonal(np.tril(adjoint(z) @ np.tril(z_bar)))
    inner = np.where(np.eye(z.shape[-1]) > 0.0, np.real(inner), inner)
    s = np.linalg.solve(adjoint(z), adjoint(np.linalg.solve(adjoint(z), adjoint(inner))))
    return triangle_bar(s, "L")


_POSITIVE = _REGULAR @ _REGULAR.T
examples(
    np.linalg.cholesky, (_POSITIVE,), (_REGULARS @ np.swapaxes(_REGULARS, -1, -2),), (_COMPLEX @ _COMPLEX.conj().T,)
)
examples(np.linalg.cholesky, (_POSITIVE,), (_COMPLEX @ _COMPLEX.conj().T,), upper=True)


@pullback(np.linalg.qr)
def qr_pullback(y_bar, a, mode="reduced", *, y):
    """a = q r: a_bar = (q_bar - q (t + t^H)) r^-H, where t is what q^H q_bar - r_bar r^H has above the diagonal and half
    of its real diagonal. Of a wide matrix the first columns have the factors q and r1, and the others are q r2."""
    return qr_bar(y_bar, a, y, mode)


def qr_factors(a: Any, y: Any, mode: str) -> tuple[Any, Any]:
    """The factors q and r of a matrix."""
    if mode == "raw":
        raise MissingRuleError('np.linalg.qr with the mode "raw"', None, 'Use the mode "reduced".')
    q, r = np.linalg.qr(a) if mode == "r" else y
    return q, r


@cotangent_of(1)
def qr_bar(y_bar: Any, a: Any, y: Any, mode: str) -> Any:
    """The cotangent of a matrix under its QR factors; NaN if its first columns are not independent."""
    q, r = qr_factors(a, y, mode)
    q_bar, r_bar = (None, y_bar) if mode == "r" else y_bar
    rows, columns = np.shape(a)[-2:]
    count = min(rows, columns)
    q, q_bar = leading_columns(q, q_bar, count)
    r, r_bar = r[..., :count, :], np.zeros_like(r) if is_structural_zero(r_bar) else np.triu(r_bar)
    r_bar = r_bar[..., :count, :]
    q_bar = np.zeros_like(q) if is_structural_zero(q_bar) else q_bar
    beyond_bar = q @ r_bar[..., count:]
    q_bar = q_bar + np.asarray(a)[..., count:] @ adjoint(r_bar[..., count:])
    r, r_bar = r[..., :count], r_bar[..., :count]
    above = np.triu(adjoint(q) @ q_bar - r_bar @ adjoint(r))
    a_bar = (q_bar - q @ half_of_diagonal(above + adjoint(above))) @ adjoint(inverse_or_nan(r))
    return real_like(np.concatenate((a_bar, beyond_bar), axis=-1), a)


_TALL, _WIDE = _table(4, 2), _table(2, 3)
examples(np.linalg.qr, (_REGULAR,), (_REGULARS,), (_TALL,), (_WIDE,), (_table(2, 4, 2),), (_table(2, 2, 4),), (_COMPLEX,))
examples(np.linalg.qr, (_TALL + 0.5j * _TALL[::-1],), (_WIDE + 0.5j,), (_REGULARS[:0],), (np.zeros((2, 3, 0)),))
examples(np.linalg.qr, (_TALL, "r"), (_WIDE, "r"), (_TALL[:3], "complete"), (_WIDE, "complete"))
