"""scipy.ndimage: correlation, convolution and Gaussian filters, which are linear.

y_i = sum(w_k x_(i+k)) over the table x with a border, whose entries are entries of x again, or constants. So the cotangent of
the bordered table is the sum of shifted copies of y_bar, each times its weight, and each entry of x gets those of its copies.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy import ndimage

from microgradpy.errors import MissingRuleError
from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.casts import in_precision_of
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent

_BORDERS = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap",
    "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant",
}  # fmt: skip
"""SciPy's names of the ways to go on beyond the border, and those of np.pad."""


@rrule.register(ndimage.correlate)
def correlate_rrule(input, weights, output=None, mode="reflect", cval=0.0, origin=0):
    """See above. Complex weights are conjugated."""
    refuse_options(output, mode)
    y = ndimage.correlate(input, weights, output, mode, cval, origin)

    def correlate_pullback(y_bar):
        kernel = conj(np.asarray(weights))
        x_bar, kernel_bar = window_bars(y_bar, y, input, kernel, mode, cval, _each(origin, np.ndim(input)))
        weights_bar = unbroadcast(conj(kernel_bar), weights)
        return NoTangent(), x_bar, weights_bar, NoTangent(), NoTangent(), border_bar(mode)

    return y, correlate_pullback


@rrule.register(ndimage.convolve)
def convolve_rrule(input, weights, output=None, mode="reflect", cval=0.0, origin=0):
    """Correlation with the weights turned around."""
    refuse_options(output, mode)
    y = ndimage.convolve(input, weights, output, mode, cval, origin)

    def convolve_pullback(y_bar):
        turned = np.flip(np.asarray(weights))
        shifts = [_turned_origin(o, n) for o, n in zip(_each(origin, np.ndim(input)), turned.shape, strict=True)]
        x_bar, kernel_bar = window_bars(y_bar, y, input, turned, mode, cval, shifts)
        weights_bar = unbroadcast(np.flip(kernel_bar), weights)
        return NoTangent(), x_bar, weights_bar, NoTangent(), NoTangent(), border_bar(mode)

    return y, convolve_pullback


@rrule.register(ndimage.correlate1d)
def correlate1d_rrule(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    """Correlation with weights along one axis."""
    refuse_options(output, mode)
    y = ndimage.correlate1d(input, weights, axis, output, mode, cval, origin)

    def correlate1d_pullback(y_bar):
        kernel = conj(np.asarray(weights))
        x_bar, kernel_bar = line_bars(y_bar, y, input, kernel, axis, mode, cval, origin)
        weights_bar = unbroadcast(conj(kernel_bar), weights)
        return NoTangent(), x_bar, weights_bar, NoTangent(), NoTangent(), NoTangent(), border_bar(mode)

    return y, correlate1d_pullback


@rrule.register(ndimage.convolve1d)
def convolve1d_rrule(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    """Correlation with the weights turned around along one axis."""
    refuse_options(output, mode)
    y = ndimage.convolve1d(input, weights, axis, output, mode, cval, origin)

    def convolve1d_pullback(y_bar):
        turned = np.flip(np.asarray(weights))
        shift = _turned_origin(origin, np.size(weights))
        x_bar, kernel_bar = line_bars(y_bar, y, input, turned, axis, mode, cval, shift)
        weights_bar = unbroadcast(np.flip(kernel_bar), weights)
        return NoTangent(), x_bar, weights_bar, NoTangent(), NoTangent(), NoTangent(), border_bar(mode)

    return y, convolve1d_pullback


def _turned_origin(origin: int, size: int) -> int:
    """The origin of a correlation that is a convolution with so many weights."""
    return -origin - (1 - size % 2)


def border_bar(mode: str) -> Any:
    """The cotangent of the constant beyond the border."""
    return not_implemented("the constant beyond the border of a filter") if "constant" in mode else NoTangent()


def _each(value: Any, count: int) -> list[Any]:
    return [value] * count if np.ndim(value) == 0 else list(value)


def refuse_options(output: Any, mode: Any) -> None:
    """Refuse what the rules of filters do not know."""
    if output is not None or not isinstance(mode, str):
        raise MissingRuleError(
            "a filter of scipy.ndimage with output=, or with several modes",
            None,
            "Use the array that it returns, and one mode.",
        )


def line_bars(
    y_bar: Any, y: Any, x: Any, kernel: np.ndarray, axis: int, mode: str, cval: Any, origin: int
) -> tuple[Any, np.ndarray]:
    """The cotangents of a table and of the weights of a correlation along one axis."""
    shape, origins = [1] * np.ndim(x), [0] * np.ndim(x)
    shape[axis], origins[axis] = kernel.size, origin
    x_bar, kernel_bar = window_bars(y_bar, y, x, kernel.reshape(shape), mode, cval, origins)
    return x_bar, kernel_bar.reshape(kernel.shape)


def window_bars(
    y_bar: Any, y: Any, x: Any, kernel: np.ndarray, mode: str, cval: Any, origins: list[int]
) -> tuple[Any, np.ndarray]:
    """The cotangents of a table and of the kernel by whose entries it is multiplied."""
    values, bar = np.asarray(x), np.asarray(y_bar)
    if np.asarray(y).dtype.kind not in "fc":  # the sums were cut to whole numbers
        return np.zeros_like(unbroadcast(bar, x)), np.zeros(kernel.shape, bar.dtype)
    border = [
        (size // 2 + origin, size - 1 - size // 2 - origin) for size, origin in zip(kernel.shape, origins, strict=True)
    ]
    bordered_shape = [n + sum(pair) for n, pair in zip(values.shape, border, strict=True)]
    bordered_bar = np.zeros(bordered_shape, np.result_type(bar.dtype, np.complex64) if np.iscomplexobj(kernel) else bar.dtype)
    options: Any = {"constant_values": cval} if "constant" in mode else {}
    how: Any = _BORDERS[mode]
    bordered = conj(np.pad(values.astype(np.result_type(values, bar)), border, how, **options))
    factors = conj(kernel)
    kernel_bar = np.zeros(kernel.shape, np.result_type(values, bar))
    for place in itertools.product(*map(range, kernel.shape)):
        window = tuple(slice(start, start + n) for start, n in zip(place, values.shape, strict=True))
        bordered_bar[window] += factors[place] * bar
        kernel_bar[place] = np.sum(bordered[window] * bar)
    return unbroadcast(folded(bordered_bar, values.shape, border, mode), x), kernel_bar


def folded(bar: np.ndarray, shape: tuple[int, ...], border: list[tuple[int, int]], mode: str) -> np.ndarray:
    """The cotangent of a table from that of the table with a border, axis by axis."""
    for axis, (size, pair) in enumerate(zip(shape, border, strict=True)):
        if "constant" in mode:
            bar = np.moveaxis(np.moveaxis(bar, axis, 0)[pair[0] : pair[0] + size], 0, axis)
            continue
        how: Any = _BORDERS[mode]
        source = np.pad(np.arange(size), pair, how)
        sums = np.zeros((size, *np.delete(bar.shape, axis)), bar.dtype)
        np.add.at(sums, source, np.moveaxis(bar, axis, 0))
        bar = np.moveaxis(sums, 0, axis)
    return bar


@rrule.register(ndimage.gaussian_filter)
def gaussian_filter_rrule(input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, **kwargs):
    """One matrix along each axis, the filter of the unit vectors, whose transpose is applied to y_bar."""
    refuse_options(output, mode)

    def gaussian_filter_pullback(y_bar):
        x_bar = smoothed_bar(y_bar, input, sigma, order, mode, truncate, kwargs)
        none = NoTangent()
        return none, x_bar, not_implemented("the width of a filter"), none, none, none, border_bar(mode)

    return ndimage.gaussian_filter(input, sigma, order, output, mode, cval, truncate, **kwargs), gaussian_filter_pullback


@rrule.register(ndimage.gaussian_filter1d)
def gaussian_filter1d_rrule(
    input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None
):
    """As gaussian_filter."""
    refuse_options(output, mode)

    def gaussian_filter1d_pullback(y_bar):
        x_bar = smoothed_bar(y_bar, input, sigma, order, mode, truncate, {"radius": radius, "axes": (axis,)})
        none = NoTangent()
        return none, x_bar, not_implemented("the width of a filter"), none, none, none, none, border_bar(mode)

    y = ndimage.gaussian_filter1d(input, sigma, axis, order, output, mode, cval, truncate, radius=radius)
    return y, gaussian_filter1d_pullback


@cotangent_of(1)
def smoothed_bar(y_bar: Any, x: Any, sigma: Any, order: Any, mode: str, truncate: float, kwargs: Any) -> Any:
    """The cotangent of a table under a Gaussian filter."""
    axes = kwargs.get("axes")
    axes = list(range(np.ndim(x))) if axes is None else [axis % np.ndim(x) for axis in np.atleast_1d(axes)]
    count, bar = len(axes), np.asarray(y_bar)
    parameters = zip(axes, _each(sigma, count), _each(order, count), _each(kwargs.get("radius"), count), strict=True)
    for axis, width, derivative, radius in parameters:
        if width > 1e-15:  # as SciPy has it
            units = np.eye(bar.shape[axis])
            matrix = ndimage.gaussian_filter1d(units, width, 0, derivative, None, mode, 0.0, truncate, radius=radius)
            bar = np.moveaxis(np.tensordot(in_precision_of(bar, matrix.T), bar, (1, axis)), 0, axis)
    return unbroadcast(bar, x)


_VECTOR = np.array([0.7, -1.4, 2.2, 0.1, 1.6])
_TABLE = np.sin(np.arange(20.0) * 1.7).reshape(4, 5)
_SMALL = np.array([[0.5, -0.3, 0.8], [0.2, 0.9, -0.4]])
for _mode in _BORDERS:
    for _filter in (ndimage.correlate, ndimage.convolve):
        examples(_filter, (_VECTOR, _SMALL[0]), (_VECTOR, _VECTOR[:4]), (_TABLE, _SMALL), (_TABLE, _SMALL.T), mode=_mode)
        examples(_filter, (_TABLE, _SMALL, None, _mode, 0, (0, -1)), (_TABLE, _SMALL, None, _mode, 0, (-1, 1)))
    for _filter in (ndimage.correlate1d, ndimage.convolve1d):
        examples(_filter, (_VECTOR, _SMALL[0]), (_VECTOR, _VECTOR[:4]), (_TABLE, _SMALL[0], 0), (_TABLE, _SMALL[0]), mode=_mode)
        examples(_filter, (_TABLE, _SMALL[0], 1, None, _mode, 0, -1), (_VECTOR, _VECTOR[:4], 0, None, _mode, 0, 1))
    examples(ndimage.gaussian_filter, (_TABLE, 1), (_VECTOR, 2), (_TABLE, (1, 2), 1), mode=_mode)
    examples(ndimage.gaussian_filter1d, (_TABLE, 1), (_TABLE, 1, 0, 1), mode=_mode)
examples(ndimage.correlate, (_VECTOR, _SMALL[0]), (_TABLE, _SMALL), mode="constant", cval=0.7)
_COMPLEX = _SMALL[0] + 1j * _SMALL[1]
for _filter in (ndimage.correlate, ndimage.convolve, ndimage.correlate1d, ndimage.convolve1d):
    examples(_filter, (_VECTOR, _COMPLEX), (_VECTOR * (1 + 2j), _COMPLEX), (_VECTOR * 1j, _VECTOR[:4]), mode="nearest")
    examples(_filter, (_VECTOR, _COMPLEX), mode="constant", cval=0.7)
examples(ndimage.convolve1d, (_VECTOR, _SMALL[0]), (_TABLE.astype(np.float32), _SMALL[0], 0), mode="constant", cval=0.7)
examples(ndimage.gaussian_filter, (_VECTOR * (1 + 2j), 1))
examples(ndimage.gaussian_filter, (_TABLE, 1), (_TABLE.astype(np.float32), 1), mode="constant", cval=0.7)
