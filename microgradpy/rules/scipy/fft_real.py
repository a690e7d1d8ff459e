"""scipy.fft: cosine and sine transforms, whose transposes are transforms again.

Without scaling, the transform of type 2 is the transpose of that of type 3, but for an entry at the edge (the first of cosines,
the last of sines) that counts twice in one of them; type 4 is symmetric, and so is type 1 of sines. `orthogonalize` divides the
result of type 2, or multiplies the argument of type 3, by sqrt(2) at the edge, and does both at both ends in type 1 of cosines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import fft

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.fft import OPPOSITE, resized
from microgradpy.rules.registry import example, examples
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.helpers import cotangent_of

_INVERSE_TYPE = {1: 1, 2: 3, 3: 2, 4: 4}
_ROOT = np.sqrt(2.0)


@pullback(fft.dct)
@pullback(fft.dst)
def real_transform_pullback(
    y_bar, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None, *, f
):
    """x_bar is the transpose of y_bar, cut off or filled up to the length of x."""
    return transposed_bar(y_bar, x, f, type, (axis,), norm, orthogonalize)


@pullback(fft.idct)
def idct_pullback(y_bar, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """As dct of the type that is the inverse, with the opposite norm."""
    orthogonal = _is_orthogonal(norm, orthogonalize)
    return transposed_bar(y_bar, x, fft.dct, _INVERSE_TYPE[type], (axis,), OPPOSITE[norm], orthogonal)


@pullback(fft.idst)
def idst_pullback(y_bar, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """As idct."""
    orthogonal = _is_orthogonal(norm, orthogonalize)
    return transposed_bar(y_bar, x, fft.dst, _INVERSE_TYPE[type], (axis,), OPPOSITE[norm], orthogonal)


@pullback(fft.dctn)
def dctn_pullback(y_bar, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    """As dct, along each of the axes."""
    return transposed_bar(y_bar, x, fft.dct, type, _axes(x, s, axes), norm, orthogonalize)


@pullback(fft.idctn)
def idctn_pullback(y_bar, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """As idct, along each of the axes."""
    along, orthogonal = _axes(x, s, axes), _is_orthogonal(norm, orthogonalize)
    return transposed_bar(y_bar, x, fft.dct, _INVERSE_TYPE[type], along, OPPOSITE[norm], orthogonal)


def _axes(x: Any, s: Any, axes: Any) -> tuple[int, ...]:
    """The axes of a transform."""
    if axes is None:
        return tuple(range(-(np.ndim(x) if s is None else np.size(s)), 0))
    return (axes,) if np.ndim(axes) == 0 else tuple(axes)


def _is_orthogonal(norm: Any, orthogonalize: Any) -> bool:
    return norm == "ortho" if orthogonalize is None else bool(orthogonalize)


@cotangent_of(1)
def transposed_bar(
    y_bar: Any, x: Any, transform: Callable[..., Any], kind: int, axes: tuple[int, ...], norm: Any, orthogonalize: Any
) -> Any:
    """The cotangent of x under a cosine or sine transform along some axes."""
    bar = np.asarray(y_bar)
    for axis in axes:
        bar = _transposed(bar, transform, kind, axis, norm, _is_orthogonal(norm, orthogonalize))
    return unbroadcast(resized(bar, np.shape(x)), x)


def _transposed(bar: Any, transform: Callable[..., Any], kind: int, axis: int, norm: Any, orthogonal: bool) -> Any:
    edge = 0 if transform is fft.dct else -1
    if kind == 2:
        bar = _times(bar, axis, edge, 2.0 / _ROOT if orthogonal else 2.0)
        return transform(bar, 3, axis=axis, norm=norm, orthogonalize=False)
    if kind == 3:
        bar = transform(bar, 2, axis=axis, norm=norm, orthogonalize=False)
        return _times(bar, axis, edge, 0.5 * _ROOT if orthogonal else 0.5)
    if kind == 1 and transform is fft.dct:
        ends = [0, bar.shape[axis] - 1]
        factor = 0.5 * _ROOT if orthogonal else 0.5
        bar = transform(_times(bar, axis, ends, 1.0 / factor), 1, axis=axis, norm=norm, orthogonalize=False)
        return _times(bar, axis, ends, factor)
    return transform(bar, kind, axis=axis, norm=norm, orthogonalize=False)


def _times(x: np.ndarray, axis: int, places: Any, factor: float) -> np.ndarray:
    """x with some entries along an axis times a factor."""
    weights = np.ones(x.shape[axis], x.real.dtype)
    weights[places] = factor
    return x * np.reshape(weights, (-1,) + (1,) * (x.ndim - 1 - axis % x.ndim))


_VECTOR = np.array([0.7, -1.4, 2.2, 0.1, 1.6])
_TABLE = np.sin(np.arange(12.0) * 1.7).reshape(3, 4)
for _transform in (fft.dct, fft.idct, fft.dst, fft.idst):
    for _type in (1, 2, 3, 4):
        for _norm in (None, "ortho", "forward"):
            examples(_transform, (_VECTOR, _type), (_TABLE, _type, 5, 0), (_TABLE, _type, 3), norm=_norm)
        examples(_transform, (_TABLE, _type), orthogonalize=True)
        examples(_transform, (_VECTOR, _type), norm="ortho", orthogonalize=False)
    examples(_transform, (_TABLE + 0.5j,), (_TABLE.astype(np.float32),))
for _grid in (fft.dctn, fft.idctn):
    examples(_grid, (_TABLE,), (_TABLE, 3, (4, 5)), (_TABLE, 2, None, (0,), "ortho"), (_TABLE, 1, (3,)))
    example(_grid, _TABLE, 4, norm="forward")
