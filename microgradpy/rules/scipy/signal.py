"""scipy.signal: convolution and correlation of any number of axes, and filters.

Of the whole convolution z_k = sum(a_i b_(k-i)), a_bar is the convolution of z_bar with conj(b) reversed, as far as a goes. The
modes "same" and "valid" are parts of the whole, and their cotangents that part of z_bar.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import example, examples
from microgradpy.rules.scipy.ndimage import border_bar, line_bars
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.casts import in_precision_of
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent


@pullback(signal.convolve)
def convolve_pullback(z_bar, in1, in2, mode="full", method="auto"):
    """See above."""
    whole = whole_bar(z_bar, in1, in2, mode, None)
    return operand_bar(whole, in1, in2, None), operand_bar(whole, in2, in1, None)


@pullback(signal.fftconvolve)
@pullback(signal.oaconvolve)
def fftconvolve_pullback(z_bar, in1, in2, mode="full", axes=None):
    """See above."""
    whole = whole_bar(z_bar, in1, in2, mode, axes)
    return operand_bar(whole, in1, in2, axes), operand_bar(whole, in2, in1, axes)


@pullback(signal.correlate)
def correlate_pullback(z_bar, in1, in2, mode="full", method="auto"):
    """The convolution with conj(in2) reversed."""
    turned = reversed_conjugate(in2, None)
    whole = whole_bar(z_bar, in1, turned, mode, None)
    in2_bar = unbroadcast(reversed_conjugate(operand_bar(whole, turned, in1, None), None), in2)
    return operand_bar(whole, in1, turned, None), in2_bar


def reversed_conjugate(x: Any, axes: Any) -> Any:
    """The conjugate, reversed along the axes of a convolution."""
    return np.flip(conj(np.asarray(x)), axes)


def whole_bar(z_bar: Any, a: Any, b: Any, mode: str, axes: Any) -> np.ndarray:
    """The cotangent of the whole convolution, of which a mode gives a part."""
    bar = np.asarray(z_bar)
    if mode == "full":
        return bar
    border = [(0, 0)] * bar.ndim
    along = _counted(axes, bar.ndim)
    for axis in range(bar.ndim):
        first, second = np.shape(a)[axis], np.shape(b)[axis]
        missing = (first + second - 1 if axis in along else max(first, second)) - bar.shape[axis]
        start = missing // 2 if mode == "same" else min(first, second) - 1
        border[axis] = (start, missing - start)
    return np.pad(bar, border)


def _counted(axes: Any, rank: int) -> list[int]:
    return list(range(rank)) if axes is None else [axis % rank for axis in np.atleast_1d(axes)]


@cotangent_of(1)
def operand_bar(whole: Any, a: Any, b: Any, axes: Any) -> Any:
    """The cotangent of the operand a of the convolution with b."""
    if np.size(whole) == 0 or np.ndim(a) == 0:
        return unbroadcast(whole * conj(b), a) if np.ndim(a) == 0 else np.zeros_like(a)
    found = signal.fftconvolve(whole, reversed_conjugate(b, axes), "full", axes)
    part = [slice(None)] * np.ndim(whole)
    for axis in _counted(axes, np.ndim(whole)):
        part[axis] = slice(np.shape(b)[axis] - 1, np.shape(b)[axis] - 1 + np.shape(a)[axis])
    return unbroadcast(found[tuple(part)], a)


@pullback(signal.lfilter)
def lfilter_pullback(y_bar, b, a, x, axis=-1, zi=None, *, y):
    """a * y = b * x (convolutions): with u the filter 1 / conj(a) of y_bar, backwards in time, x_bar = conj(b) * u backwards,
    b_bar_k = sum(conj(x_n) u_(n+k)), a_bar_k = -sum(conj(y_n) u_(n+k))."""
    bars = lfilter_bars(y_bar, b, a, x, y, axis, zi)
    return bars[0], bars[1], bars[2]


def lfilter_bars(y_bar: Any, b: Any, a: Any, x: Any, y: Any, axis: int, zi: Any) -> tuple[Any, Any, Any]:
    """The cotangents of the coefficients and of the samples of a filter."""
    if zi is not None:
        raise MissingRuleError("scipy.signal.lfilter with initial states (zi)", None, "Filter the samples before, too.")
    if np.size(x) == 0:
        return np.zeros_like(b), np.zeros_like(a), np.zeros_like(x)
    late = np.flip(y_bar, axis)
    one = np.ones(1, np.real(late).dtype)
    u = np.moveaxis(np.flip(signal.lfilter(one, conj(np.atleast_1d(a)), late, axis), axis), axis, -1)
    x_bar = np.flip(signal.lfilter(conj(np.atleast_1d(b)), conj(np.atleast_1d(a)), late, axis), axis)
    b_bar = _delayed_sums(u, np.moveaxis(conj(np.asarray(x)), axis, -1), np.size(b))
    a_bar = -_delayed_sums(u, np.moveaxis(conj(y), axis, -1), np.size(a))
    b_bar, a_bar = np.reshape(b_bar, np.shape(b)), np.reshape(a_bar, np.shape(a))
    return unbroadcast(b_bar, b), unbroadcast(a_bar, a), unbroadcast(x_bar, x)


def _delayed_sums(u: np.ndarray, x: np.ndarray, count: int) -> np.ndarray:
    """The sums of u_(n+k) x_n, for k from 0."""
    length = u.shape[-1]
    return np.array([np.sum(u[..., k:] * x[..., : max(length - k, 0)]) for k in range(count)])


@pullback(signal.savgol_filter)
def savgol_filter_pullback(
    y_bar, x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0, *, y
):
    """The filter is a convolution, near the ends of mode "interp" a matrix times the first and the last window."""
    x_bar = smoothed_bar(y_bar, y, x, (window_length, polyorder, deriv, delta), axis, mode)
    none, spacing = NoTangent(), spacing_bar(y_bar, y, deriv, delta, cval)
    return x_bar, none, none, none, spacing, none, none, border_bar(mode)


def spacing_bar(y_bar: Any, y: Any, deriv: int, delta: Any, cval: Any) -> Any:
    """y is proportional to delta ** -deriv, apart from what comes of the constant beyond the border."""
    if np.any(cval):
        return not_implemented("the spacing of a filter with cval=")
    return unbroadcast(np.sum(y_bar * y) * (-deriv / delta), delta)


@cotangent_of(2)
def smoothed_bar(y_bar: Any, y: Any, x: Any, options: tuple[Any, ...], axis: int, mode: str) -> Any:
    """The cotangent of the samples under savgol_filter."""
    bar = np.moveaxis(np.asarray(y_bar), axis, 0)
    size, count = options[0], bar.shape[0]
    weights = in_precision_of(bar, np.flip(signal.savgol_coeffs(size, *options[1:2], deriv=options[2], delta=options[3])))
    shift = size % 2 - 1
    rows = np.moveaxis(np.asarray(x), axis, 0)
    if mode != "interp":
        return np.moveaxis(line_bars(bar, y, rows, weights, 0, mode, 0.0, shift)[0], 0, axis)
    half = size // 2
    inner = np.concatenate((np.zeros_like(bar[:half]), bar[half : count - half], np.zeros_like(bar[:half])))
    ends = in_precision_of(bar, signal.savgol_filter(np.eye(size), *options, axis=0))
    x_bar = line_bars(inner, y, rows, weights, 0, "constant", 0.0, shift)[0]
    x_bar[:size] += np.tensordot(ends[:half].T, bar[:half], 1)
    x_bar[count - size :] += np.tensordot(ends[size - half :].T, bar[count - half :], 1)
    return np.moveaxis(x_bar, 0, axis)


_VECTOR = np.array([0.7, -1.4, 2.2, 0.1, 1.6])
_SHORT = np.array([0.5, -0.3, 0.8])
_TABLE = np.sin(np.arange(12.0) * 1.7).reshape(3, 4)
_SMALL = np.cos(np.arange(4.0) * 1.3).reshape(2, 2)
_COMPLEX = _SHORT + 1j * _SHORT[::-1] ** 2
for _mode in ("full", "same", "valid"):
    for _convolve in (signal.convolve, signal.fftconvolve, signal.oaconvolve, signal.correlate):
        examples(_convolve, (_VECTOR, _SHORT), (_SHORT, _VECTOR), (_VECTOR[:4], _SHORT[:2]), mode=_mode)
        examples(_convolve, (_TABLE, _SMALL), (_SMALL, _TABLE), (_VECTOR, _COMPLEX), (_COMPLEX, _COMPLEX), mode=_mode)
    for _convolve in (signal.fftconvolve, signal.oaconvolve):
        examples(_convolve, (_TABLE, _SMALL[:1]), (_TABLE[:1], _TABLE[:, :2]), mode=_mode, axes=-1)
    for _method in ("direct", "fft"):
        examples(signal.convolve, (_VECTOR, _SHORT), (_SHORT, _VECTOR), (_TABLE, _SMALL), mode=_mode, method=_method)
        examples(signal.correlate, (_VECTOR, _SHORT), (_SHORT, _VECTOR), (_TABLE, _SMALL), mode=_mode, method=_method)
example(signal.convolve, _VECTOR.astype(np.float32), _SHORT.astype(np.float32))
_FEEDBACK = np.array([1.2, -0.4, 0.1])
examples(signal.lfilter, (_SHORT, _FEEDBACK, _VECTOR), (_SHORT, [1.0], _TABLE), ([0.5], _FEEDBACK, _TABLE, 0))
examples(signal.lfilter, (_COMPLEX, _FEEDBACK + 0.1j, _VECTOR), (_SHORT, _FEEDBACK, _COMPLEX))
examples(signal.lfilter, (_VECTOR, [2.0, 0.3], _SHORT[:2]), (_SHORT, _FEEDBACK, _VECTOR.astype(np.float32)))
_LONG = np.sin(np.arange(9.0) ** 2)
for _mode in ("interp", "mirror", "nearest", "wrap", "constant"):
    examples(signal.savgol_filter, (_LONG, 5, 2), (_LONG, 4, 2), (_LONG[:5], 5, 3), (_LONG, 5, 2, 1, 0.5), mode=_mode)
    examples(signal.savgol_filter, (np.outer(_LONG, _SHORT), 5, 2, 0, 1.0, 0), (np.outer(_SHORT, _LONG), 3, 1), mode=_mode)
_SOLID = np.multiply.outer(_SHORT, np.outer(_LONG, _SHORT))
examples(signal.savgol_filter, (_LONG.astype(np.float32), 5, 2), (_SOLID, 5, 2, 0, 1.0, 1))
examples(signal.savgol_filter, (_LONG, 5, 2), mode="constant", cval=0.7)
