"""np.fft. A transform is linear, so its pullback is the conjugate transpose: the transform back with the scale of the way
there, cut off or filled up with zeros to the length that was given.

Transforms of real numbers compute one half of a spectrum whose other half mirrors it. An entry that stands for a pair counts
twice on the way from the half to the whole, and so does its cotangent; on the way to the half, its cotangent is split.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import example, examples
from microgradpy.tangents.arithmetic import conj, divide, unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent

OPPOSITE: dict[Any, Any] = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


@cotangent_of(1)
def transformed_bar(y_bar: Any, a: Any, back: Callable[..., Any], s: Any, axes: Any, norm: Any) -> Any:
    """The cotangent of a under a transform to complex numbers, with that in the other direction."""
    whole = back(y_bar, axes=_distinct(a, s, axes), norm=OPPOSITE[norm])
    return unbroadcast(resized(whole, np.shape(a)), a)


@cotangent_of(1)
def half_spectrum_bar(y_bar: Any, a: Any, s: Any, axes: Any, norm: Any) -> Any:
    """The cotangent of real numbers of whose spectrum y is one half."""
    axes = _distinct(a, s, axes)
    length = np.shape(a)[axes[-1]] if s is None or s[-1] in (None, -1) else s[-1]
    half = np.array(y_bar)
    pairs = _pairs(half, axes[-1], length)
    pairs *= 0.5
    lengths = (*(half.shape[axis] for axis in axes[:-1]), length)
    return unbroadcast(resized(np.fft.irfftn(half, lengths, axes, OPPOSITE[norm]), np.shape(a)), a)


@cotangent_of(1)
def real_transform_bar(y_bar: Any, a: Any, s: Any, axes: Any, norm: Any) -> Any:
    """The cotangent of half a spectrum, of which y are the real numbers."""
    axes = _distinct(a, s, axes)
    half = np.fft.rfftn(y_bar, axes=axes, norm=OPPOSITE[norm])
    pairs = _pairs(half, axes[-1], np.shape(y_bar)[axes[-1]])
    pairs *= 2.0
    return unbroadcast(resized(half, np.shape(a)), a)


def _distinct(a: Any, s: Any, axes: Any) -> tuple[int, ...]:
    """The axes of a transform, counted from the front."""
    rank = np.ndim(a)
    if axes is None:
        axes = range(rank) if s is None else range(rank - len(s), rank)
    counted = tuple(axis % rank for axis in axes)
    if len(set(counted)) < len(counted):
        raise MissingRuleError("np.fft transforms along one axis twice", None, "Write one transform after the other.")
    return counted


def _pairs(half: np.ndarray, axis: int, length: int) -> np.ndarray:
    """The entries of half a spectrum that stand for two of the whole one of this length, for writing."""
    return np.moveaxis(half, axis, 0)[1 : (length + 1) // 2]


def resized(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """x cut off or filled up with zeros at the end of each axis."""
    if x.shape == shape:
        return x
    resized = np.zeros(shape, x.dtype)
    common = tuple(slice(min(pair)) for pair in zip(x.shape, shape, strict=True))
    resized[common] = x[common]
    return resized


@pullback(np.fft.fft)
def fft_pullback(y_bar, a, n=None, axis=-1, norm=None):
    """y_k = sum(a_j exp(-2 pi i j k / n)): a_bar_j = sum(y_bar_k exp(2 pi i j k / n))."""
    return transformed_bar(y_bar, a, np.fft.ifftn, None, (axis,), norm)


@pullback(np.fft.ifft)
def ifft_pullback(y_bar, a, n=None, axis=-1, norm=None):
    """y_k = sum(a_j exp(2 pi i j k / n)) / n: a_bar_j = sum(y_bar_k exp(-2 pi i j k / n)) / n."""
    return transformed_bar(y_bar, a, np.fft.fftn, None, (axis,), norm)


@pullback(np.fft.fft2)
def fft2_pullback(y_bar, a, s=None, axes=(-2, -1), norm=None):
    """As fft, along each of the axes."""
    return transformed_bar(y_bar, a, np.fft.ifftn, s, axes, norm)


@pullback(np.fft.ifft2)
def ifft2_pullback(y_bar, a, s=None, axes=(-2, -1), norm=None):
    """As ifft, along each of the axes."""
    return transformed_bar(y_bar, a, np.fft.fftn, s, axes, norm)


@pullback(np.fft.fftn)
def fftn_pullback(y_bar, a, s=None, axes=None, norm=None):
    """As fft, along each of the axes."""
    return transformed_bar(y_bar, a, np.fft.ifftn, s, axes, norm)


@pullback(np.fft.ifftn)
def ifftn_pullback(y_bar, a, s=None, axes=None, norm=None):
    """As ifft, along each of the axes."""
    return transformed_bar(y_bar, a, np.fft.fftn, s, axes, norm)


@pullback(np.fft.rfft)
def rfft_pullback(y_bar, a, n=None, axis=-1, norm=None):
    """The first half of fft: a_bar = the real part of what fft makes of y_bar and zeros."""
    return half_spectrum_bar(y_bar, a, (n,), (axis,), norm)


@pullback(np.fft.irfft)
def irfft_pullback(y_bar, a, n=None, axis=-1, norm=None):
    """ifft of the first half and its mirror image: a_bar = rfft of y_bar, twice where an entry stands for two."""
    return real_transform_bar(y_bar, a, (n,), (axis,), norm)


@pullback(np.fft.rfft2)
def rfft2_pullback(y_bar, a, s=None, axes=(-2, -1), norm=None):
    """As rfft along the last axis, then as fft along the others."""
    return half_spectrum_bar(y_bar, a, s, axes, norm)


@pullback(np.fft.irfft2)
def irfft2_pullback(y_bar, a, s=None, axes=(-2, -1), norm=None):
    """As irfft along the last axis, after ifft along the others."""
    return real_transform_bar(y_bar, a, s, axes, norm)


@pullback(np.fft.rfftn)
def rfftn_pullback(y_bar, a, s=None, axes=None, norm=None):
    """As rfft along the last axis, then as fft along the others."""
    return half_spectrum_bar(y_bar, a, s, axes, norm)


@pullback(np.fft.irfftn)
def irfftn_pullback(y_bar, a, s=None, axes=None, norm=None):
    """As irfft along the last axis, after ifft along the others."""
    return real_transform_bar(y_bar, a, s, axes, norm)


@pullback(np.fft.hfft)
def hfft_pullback(y_bar, a, n=None, axis=-1, norm=None):
    """irfft of conj(a) with the opposite norm."""
    return conj(real_transform_bar(y_bar, a, (n,), (axis,), OPPOSITE[norm]))


@pullback(np.fft.ihfft)
def ihfft_pullback(y_bar, a, n=None, axis=-1, norm=None):
    """conj of rfft with the opposite norm."""
    return half_spectrum_bar(conj(y_bar), a, (n,), (axis,), OPPOSITE[norm])


@pullback(np.fft.fftshift)
def fftshift_pullback(y_bar, x, axes=None):
    """x_bar = y_bar, shifted back."""
    return unbroadcast(np.fft.ifftshift(y_bar, axes), x)


@pullback(np.fft.ifftshift)
def ifftshift_pullback(y_bar, x, axes=None):
    """x_bar = y_bar, shifted back."""
    return unbroadcast(np.fft.fftshift(y_bar, axes), x)


@cotangent_of(1)
def spacing_bar(y_bar: Any, d: Any, y: np.ndarray) -> Any:
    """The cotangent of the distance of samples under the frequencies y."""
    with np.errstate(all="ignore"):
        return unbroadcast(divide(-y_bar * y, d), d)


@pullback(np.fft.fftfreq)
@pullback(np.fft.rfftfreq)
def frequencies_pullback(y_bar, n, d=1.0, *, y):
    """y = k / (n d): d_bar = -sum(y_bar * y) / d."""
    return NoTangent(), spacing_bar(y_bar, d, y)


_VECTOR = np.array([0.7, -1.4, 2.2, 0.1, 1.6])
_TABLE = np.sin(np.arange(12.0) * 1.7).reshape(3, 4)
_STACK = np.cos(np.arange(12.0) * 1.3).reshape(2, 3, 2)
_COMPLEX = _TABLE + 1j * _TABLE[::-1] ** 2
_LINES = ((_VECTOR,), (_TABLE,), (_TABLE, 3), (_TABLE, 7), (_TABLE, 2, 0), (_STACK, 4, -2), (_TABLE[:0],), ([1.5, 0.5],))
_AREAS = ((_TABLE,), (_STACK,), (_TABLE, (2, 5)), (_TABLE, None, (1, 0)), (_STACK, (4, 3), (0, -1)), (_STACK[:0],))
for _complex_line in (np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft):
    examples(_complex_line, (_COMPLEX,), (_COMPLEX, 5), (_COMPLEX, 2), (_COMPLEX, 7, 0))
for _complex_area in (np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn, np.fft.irfft2, np.fft.irfftn):
    examples(_complex_area, (_COMPLEX,), (_COMPLEX, (2, 3), (0, 1)), (_COMPLEX, (4, 6), (1, 0)))
for _line in (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft):
    examples(_line, *_LINES)
    examples(_line, (_VECTOR,), (_VECTOR, 4), norm="ortho")
    examples(_line, (_VECTOR,), (_VECTOR, 4), norm="forward")
    example(_line, _VECTOR, norm="backward")
for _area in (np.fft.fft2, np.fft.ifft2, np.fft.rfft2, np.fft.irfft2):
    examples(_area, *_AREAS)
    example(_area, _TABLE, norm="ortho")
for _grid in (np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn):
    examples(_grid, (_TABLE,), *_AREAS[3:-1], (_VECTOR,), (_STACK, (3, -1), (0, 1)), (_STACK, None, (-1,)))
    example(_grid, _STACK, norm="forward")
for _shift in (np.fft.fftshift, np.fft.ifftshift):
    examples(_shift, (_VECTOR,), (_TABLE,), (_TABLE, 0), (_STACK, (1, -1)), (_COMPLEX, -1), ([1.5, 0.5, 2.0],))
for _frequencies in (np.fft.fftfreq, np.fft.rfftfreq):
    examples(_frequencies, (5,), (4, 0.3), (4, np.array([0.3])))
