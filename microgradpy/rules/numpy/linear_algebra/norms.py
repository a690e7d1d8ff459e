"""np.linalg: norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.mathematics.extrema import extremum_bar
from microgradpy.rules.registry import example, examples
from microgradpy.tangents.arithmetic import divide, real_like, reciprocal_or_zero, unbroadcast
from microgradpy.tangents.decompositions import adjoint, inverse_or_nan
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.linear import with_reduced_axes


@pullback(np.linalg.norm)
def norm_pullback(y_bar, x, ord=None, axis=None, keepdims=False, *, y):
    """x_bar = y_bar * x / y for the Euclidean norm, and 0 where y = 0; the other vector norms in vector_norm_bar."""
    return norm_bar(y_bar, x, y, ord, axis, keepdims), norm_order_bar(y_bar, x, y, ord, axis, keepdims)


@cotangent_of(1)
def norm_bar(y_bar: Any, x: Any, y: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    """The cotangent of x under its norm y."""
    of_matrix = np.ndim(x) == 2 if axis is None else isinstance(axis, tuple) and len(axis) == 2
    if ord is None:
        return vector_norm_bar(y_bar, x, y, 2, axis, keepdims)
    if of_matrix:
        return matrix_norm_bar(y_bar, x, y, ord, (0, 1) if axis is None else axis, keepdims)
    return vector_norm_bar(y_bar, x, y, ord, axis, keepdims)


def matrix_norm_bar(y_bar: Any, x: Any, y: Any, ord: Any, axes: tuple[int, int], keepdims: bool) -> Any:
    """The cotangent of x under its norm of rows (order +-inf) or columns (+-1), of singular values (+-2, nuc), or of all
    entries (fro)."""
    if ord in ("fro", "f"):
        return vector_norm_bar(y_bar, x, y, 2, axes, keepdims)
    if ord == "nuc" or abs(ord) == 2:
        bar = np.squeeze(y_bar, axes) if keepdims else y_bar
        matrices = np.moveaxis(x, axes, (-2, -1))
        return np.moveaxis(spectral_norm_bar(bar, matrices, ord), (-2, -1), axes)
    sums = np.sum(np.absolute(x), axis=axes[0] if abs(ord) == 1 else axes[1], keepdims=True)
    extreme = np.max(sums, axis=axes, keepdims=True) if ord > 0 else np.min(sums, axis=axes, keepdims=True)
    return extremum_bar(with_reduced_axes(y_bar, x, axes, keepdims), sums, extreme, axes, True) * np.sign(x)


def spectral_norm_bar(y_bar: Any, x: Any, ord: Any) -> Any:
    """The cotangent of matrices x = u s v^H, u s_bar v^H, under their largest (2) or smallest (-2) singular value or
    under the sum of all; none comes from those that are 0."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    shares = np.ones_like(s) if ord == "nuc" else shares_of_extreme(s, ord)
    shares = np.where(s > s.shape[-1] * np.finfo(s.dtype).eps * s[..., :1], shares, 0.0)
    return (u * np.expand_dims(np.expand_dims(y_bar, -1) * shares, -2)) @ vh


def shares_of_extreme(s: np.ndarray, ord: Any) -> np.ndarray:
    """How much each singular value shares in the largest one (2) or in the smallest (-2): evenly, if equal to rounding."""
    extreme = s[..., :1] if ord == 2 else s[..., -1:]
    chosen = np.abs(s - extreme) <= 4.0 * s.shape[-1] * np.finfo(s.dtype).eps * s[..., :1]
    return chosen / np.count_nonzero(chosen, axis=-1, keepdims=True).astype(s.dtype)


def vector_norm_bar(y_bar: Any, x: Any, y: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    """The cotangent of x under its norm of order p, y^(1-p) |x|^(p-1) sign(x); of infinite order, a share for each
    entry that has the extreme modulus; of order 0, none. The Euclidean one has 0 where y = 0."""
    if ord == 2:
        slope = y_bar * reciprocal_or_zero(y)
        return np.multiply(with_reduced_axes(slope[()], x, axis, keepdims), x)
    if ord == 0:
        return np.zeros_like(np.multiply(x, 1.0))
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


def _table(*shape: int) -> np.ndarray:
    """An array of irregular numbers, of both signs and the given shape, and of full rank."""
    return np.sin(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)) ** 2 * 1.7 + len(shape)).reshape(shape)


_REGULAR = _table(3, 3) + 2.0 * np.eye(3)
_COMPLEX = _REGULAR + 0.5j * _table(3, 3).T
_VECTORS = _table(2, 3, 2) * np.array([[1.0, 0.9], [0.8, 0.7], [0.6, 0.4]])
examples(np.linalg.norm, (_table(3),), (_table(2, 3),), (_VECTORS,), (_COMPLEX,), (_table(3) + 0.3j,))
examples(np.linalg.norm, *((_table(3), order) for order in (1, 2, 2.5, 3, -1, 0)))
for _order in (np.inf, -np.inf):
    example(np.linalg.norm, _table(3), ord=_order)
example(np.linalg.norm, _VECTORS, ord=np.inf, axis=0)
examples(np.linalg.norm, (_VECTORS, None, 1), (_VECTORS, 3, 1), (_VECTORS, "fro", (0, 2)))
example(np.linalg.norm, _VECTORS, axis=-1, keepdims=True)
example(np.linalg.norm, _table(2, 3), "fro", keepdims=True)
examples(np.linalg.norm, (_table(2, 3), "f"), (_VECTORS, 2, (1,)))
_ORDERS: tuple[Any, ...] = (1, -1, 2, -2, np.inf, -np.inf, "nuc", "fro")
for _order in _ORDERS:
    examples(np.linalg.norm, (_table(2, 3), _order), (_COMPLEX, _order), (_VECTORS, _order, (0, 2)))
    example(np.linalg.norm, _VECTORS, _order, (-1, 1))
    example(np.linalg.norm, _VECTORS, _order, (2, 0), keepdims=True)


@pullback(np.linalg.vector_norm)
def vector_norm_pullback(y_bar, x, /, *, axis=None, keepdims=False, ord=2, y):
    """As norm, of all entries along the axes."""
    return vector_norm_bar(y_bar, x, y, ord, axis, keepdims)


@pullback(np.linalg.matrix_norm)
def matrix_norm_pullback(y_bar, x, /, *, keepdims=False, ord="fro", y):
    """As norm, of the matrices in the last two axes."""
    return matrix_norm_bar(y_bar, x, y, ord, (-2, -1), keepdims)


for _order in (0, 1, 2, 3.5, -1, np.inf, -np.inf):
    examples(np.linalg.vector_norm, (_table(3),), (_table(2, 3),), (_COMPLEX,), ord=_order)
    example(np.linalg.vector_norm, _VECTORS, axis=(0, -1), ord=_order)
    example(np.linalg.vector_norm, _VECTORS, axis=-2, keepdims=True, ord=_order)
    example(np.linalg.vector_norm, _table(2, 3), keepdims=True, ord=_order)
example(np.linalg.vector_norm, np.zeros((0, 3)), axis=1)
for _order in _ORDERS:
    examples(np.linalg.matrix_norm, (_table(2, 3),), (_VECTORS,), (_COMPLEX,), (_VECTORS[:0],), ord=_order)
    example(np.linalg.matrix_norm, _VECTORS, keepdims=True, ord=_order)


@pullback(np.linalg.cond)
def cond_pullback(y_bar, x, p=None, *, y):
    """The quotient of the extreme singular values (None, +-2), or the norm of x times that of its inverse."""
    return cond_bar(y_bar, x, y, p)


@cotangent_of(1)
def cond_bar(y_bar: Any, x: Any, y: Any, p: Any) -> Any:
    """The cotangent of matrices x under their condition numbers y. Those of NumPy 2.2 are complex for complex matrices."""
    y, y_bar = np.real(y), np.real(y_bar)
    with np.errstate(all="ignore"):
        if p in (None, 2, -2):
            u, s, vh = np.linalg.svd(x, full_matrices=False)
            up, down = (-2, 2) if p == -2 else (2, -2)
            ratio = np.expand_dims(y, -1)
            part = shares_of_extreme(s, up) - ratio * shares_of_extreme(s, down)
            s_bar = np.expand_dims(y_bar, -1) * part / (s[..., :1] if p == -2 else s[..., -1:])
            return real_like((u * np.expand_dims(s_bar, -2)) @ vh, x)
        inverse = inverse_or_nan(x)
        size, inverse_size = np.linalg.norm(x, p, (-2, -1)), np.linalg.norm(inverse, p, (-2, -1))
        inverse_bar = matrix_norm_bar(y_bar * size, inverse, inverse_size, p, (-2, -1), False)
        of_inverse = adjoint(inverse) @ inverse_bar @ adjoint(inverse)
        return real_like(matrix_norm_bar(y_bar * inverse_size, x, size, p, (-2, -1), False) - of_inverse, x)


examples(np.linalg.cond, (_table(2, 3),), (_table(3, 2), -2), (_table(2, 3, 2),))
for _order in (None, *_ORDERS):
    examples(np.linalg.cond, (_REGULAR, _order), (_table(2, 3, 3) + 2.0 * np.eye(3), _order), (_COMPLEX, _order))
