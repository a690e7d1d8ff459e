"""np.linalg: solving, inverse, determinant, Cholesky factor and norms, all for stacks of matrices too.

Sources: M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation"
(2008); I. Murray, "Differentiation of the Cholesky decomposition" (2016).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.reductions import extremum_bar, products_of_others
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.tangents.arithmetic import conj, divide, unbroadcast
from microgradpy.tangents.helpers import cotangent_of, like
from microgradpy.tangents.linear import with_reduced_axes
from microgradpy.tangents.types import NoTangent


def adjoint(x: Any) -> Any:
    """The conjugate transpose of the matrices in the last two axes."""
    return np.swapaxes(conj(x), -1, -2)


def _table(*shape: int) -> np.ndarray:
    """An array of irregular numbers, of both signs and the given shape."""
    return np.sin(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)) * 1.7 + len(shape)).reshape(shape)


_REGULAR = _table(3, 3) + 2.0 * np.eye(3)
_REGULARS = _table(2, 3, 3) + 2.0 * np.eye(3)
_COMPLEX = _REGULAR + 0.5j * _table(3, 3).T


@rrule.register(np.linalg.solve)
def solve_rrule(a, b):
    """a z = b: b_bar = a^-H z_bar, a_bar = -b_bar z^H. Of NumPy 2, b is a vector only if it has one axis."""
    z = np.linalg.solve(a, b)

    def solve_pullback(z_bar):
        return NoTangent(), solve_matrix_bar(z_bar, a, b, z), unbroadcast(np.linalg.solve(adjoint(a), z_bar), b)

    return z, solve_pullback


@cotangent_of(1)
def solve_matrix_bar(z_bar: Any, a: Any, b: Any, z: Any) -> Any:
    """The cotangent of the matrix a under the solution z of a z = b."""
    if np.ndim(b) == 1:
        z_bar, z = np.expand_dims(z_bar, -1), np.expand_dims(z, -1)
    return unbroadcast(-(np.linalg.solve(adjoint(a), z_bar) @ adjoint(z)), a)


examples(np.linalg.solve, (_REGULAR, _table(3)), (_REGULAR, _table(3, 2)), (_REGULARS, _table(2, 3, 1)))
examples(np.linalg.solve, (_COMPLEX, _table(3)), (_REGULAR, _table(2, 3, 2)))


@rrule.register(np.linalg.inv)
def inv_rrule(a):
    """a_bar = -z^H z_bar z^H."""
    z = np.linalg.inv(a)

    def inv_pullback(z_bar):
        return NoTangent(), -(adjoint(z) @ z_bar @ adjoint(z))

    return z, inv_pullback


@rrule.register(np.linalg.det)
def det_rrule(a):
    """a_bar = z_bar * (the cofactors of a), which exist for singular matrices too."""

    def det_pullback(z_bar):
        return NoTangent(), np.expand_dims(z_bar, (-1, -2)) * conj(cofactors(a))

    return np.linalg.det(a), det_pullback


@like(0)
def cofactors(a: Any) -> np.ndarray:
    """The derivative of det(a). With a = u s v: det(u v) * u^-T c v^-T, where c are the products of the other s."""
    u, s, v = np.linalg.svd(a)
    unit = np.expand_dims(np.linalg.det(u) * np.linalg.det(v), (-1, -2))
    return unit * ((conj(u) * products_of_others(s, -1)[..., None, :]) @ conj(v))


_SINGULAR = np.array([[1.0, 2.0, 0.5], [2.0, 4.0, 1.0], [0.3, -0.4, 0.9]])
examples(np.linalg.inv, (_REGULAR,), (_REGULARS,), (_COMPLEX,))
examples(np.linalg.det, (_REGULARS[:0],))
examples(np.linalg.det, (_REGULAR,), (_REGULARS,), (_COMPLEX,), (_SINGULAR,))


@rrule.register(np.linalg.slogdet)
def slogdet_rrule(a):
    """(sign, log|det|): a_bar = log_bar * a^-H, and for complex a what turns the sign."""
    y = np.linalg.slogdet(a)

    def slogdet_pullback(y_bar):
        return NoTangent(), slogdet_bar(y_bar, a, y)

    return y, slogdet_pullback


@cotangent_of(1)
def slogdet_bar(y_bar: Any, a: Any, y: Any) -> Any:
    """The cotangent of a under (sign, log|det|); NaN for singular matrices, which have none."""
    sign_bar, log_bar = y_bar
    weight = 0.0 if log_bar is None else log_bar
    if sign_bar is not None and np.iscomplexobj(a):
        weight = weight - 1j * np.imag(conj(sign_bar) * y[0])
    regular = np.expand_dims(np.isfinite(y[1]), (-1, -2))
    inverse = np.linalg.inv(np.where(regular, a, np.eye(np.shape(a)[-1])))
    return np.where(regular, np.expand_dims(weight, (-1, -2)) * adjoint(inverse), np.nan)


examples(np.linalg.slogdet, (_REGULAR,), (_REGULARS,), (_COMPLEX,))


@rrule.register(np.linalg.cholesky)
def cholesky_rrule(a):
    """a = z z^H: with s = z^-H p(z^H z_bar) z^-1, where p halves the diagonal and drops what is above it, a_bar is
    s + s^H below the diagonal, s on it and 0 above it, which is not read."""
    z = np.linalg.cholesky(a)

    def cholesky_pullback(z_bar):
        return NoTangent(), cholesky_bar(z_bar, z)

    return z, cholesky_pullback


@like(1)
def cholesky_bar(z_bar: Any, z: Any) -> Any:
    """The cotangent of a matrix under its lower Cholesky factor z."""
    diagonal = np.eye(z.shape[-1])
    # The diagonal of z is real: what z_bar has beyond that carries nothing.
    inner = np.tril(adjoint(z) @ np.tril(z_bar)) * (1.0 - 0.5 * diagonal)
    inner = np.where(diagonal > 0, np.real(inner), inner)
    s = np.linalg.solve(adjoint(z), adjoint(np.linalg.solve(adjoint(z), adjoint(inner))))
    return np.tril(s + adjoint(s)) * (1.0 - 0.5 * diagonal)


_POSITIVE = _REGULAR @ _REGULAR.T
examples(
    np.linalg.cholesky, (_POSITIVE,), (_REGULARS @ np.swapaxes(_REGULARS, -1, -2),), (_COMPLEX @ _COMPLEX.conj().T,)
)


@rrule.register(np.linalg.norm)
def norm_rrule(x, ord=None, axis=None, keepdims=False):
    """x_bar = y_bar * x / y for the Euclidean norm, and 0 where y = 0; the other vector norms in vector_norm_bar."""
    y = np.linalg.norm(x, ord, axis, keepdims)

    def norm_pullback(y_bar):
        return (
            NoTangent(),
            norm_bar(y_bar, x, y, ord, axis, keepdims),
            norm_order_bar(y_bar, x, y, ord, axis, keepdims),
            NoTangent(),
            NoTangent(),
        )

    return y, norm_pullback


def norm_bar(y_bar: Any, x: Any, y: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    """The cotangent of x under its norm y. Of matrix norms only the Frobenius norm has a rule."""
    of_matrix = np.ndim(x) == 2 if axis is None else isinstance(axis, tuple) and len(axis) == 2
    if ord is None or (ord == "fro" and of_matrix) or (ord == 2 and not of_matrix):
        slope = np.where(np.equal(y, 0.0), 0.0, divide(y_bar, y))
        return np.multiply(with_reduced_axes(slope[()], x, axis, keepdims), x)
    if of_matrix:
        remedy = "Use the Frobenius norm, or write the norm out in functions that have rules."
        raise MissingRuleError(f"np.linalg.norm of order {ord!r} of matrices", None, remedy)
    return vector_norm_bar(y_bar, x, y, ord, axis, keepdims)


def vector_norm_bar(y_bar: Any, x: Any, y: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    """The cotangent of x under its norm of order p, y^(1-p) |x|^(p-1) sign(x); of infinite order, a share for each
    entry that has the extreme modulus; of order 0, none."""
    if ord == 0:
        return None
    size = np.absolute(x)
    if np.isinf(ord):
        return extremum_bar(y_bar, size, y, axis, keepdims) * np.sign(x)
    with np.errstate(all="ignore"):
        ratio = divide(size, with_reduced_axes(y, x, axis, keepdims))
        slope = np.where(np.equal(size, 0.0), 0.0, np.power(ratio, ord - 1.0)) * np.sign(x)
    return with_reduced_axes(y_bar, x, axis, keepdims) * slope


def norm_order_bar(y_bar: Any, x: Any, y: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    """The cotangent of a finite order p: y_bar * (sum(s log |x|) - log(y)) * y / p, with the shares s = (|x| / y)^p."""
    if not isinstance(ord, float) or np.isinf(ord) or ord == 0 or np.ndim(x) == 0:
        return None
    size = np.absolute(x)
    with np.errstate(all="ignore"):
        shares = np.power(divide(size, with_reduced_axes(y, x, axis, keepdims)), ord)
        logs = np.where(np.equal(size, 0.0), 0.0, shares * np.log(size))
        return unbroadcast(y_bar * (np.sum(logs, axis=axis, keepdims=keepdims) - np.log(y)) * y / ord, ord)


_VECTORS = _table(2, 3, 2)
examples(np.linalg.norm, (_table(3),), (_table(2, 3),), (_VECTORS,), (_COMPLEX,), (_table(3) + 0.3j,))
examples(np.linalg.norm, *((_table(3), order) for order in (1, 2, 2.5, 3, -1, 0)))
for _order in (np.inf, -np.inf):
    example(np.linalg.norm, _table(3), ord=_order)
example(np.linalg.norm, _VECTORS, ord=np.inf, axis=0)
examples(np.linalg.norm, (_VECTORS, None, 1), (_VECTORS, 3, 1), (_VECTORS, "fro", (0, 2)))
example(np.linalg.norm, _VECTORS, axis=-1, keepdims=True)
example(np.linalg.norm, _table(2, 3), "fro", keepdims=True)
