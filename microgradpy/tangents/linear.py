"""Cotangents of products of matrices, and of what reductions read: for every rank, with broadcasting of stacked axes.

With z = x @ y: x_bar = z_bar @ y^H and y_bar = x^H @ z_bar; a vector is a row on the left and a column on the right.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.foreign import is_foreign_array, sum_to_shape
from microgradpy.tangents.helpers import cotangent_of, returns


@cotangent_of(1)
def matmul_left_bar(z_bar: Any, x: Any, y: Any) -> Any:
    """The cotangent of x under z = x @ y, in x's shape."""
    if _are_real_arrays(x, y, z_bar) and x.ndim == 2 and y.ndim in (1, 2):
        return np.multiply.outer(z_bar, y) if y.ndim == 1 else z_bar @ y.T
    if np.ndim(x) == 2 and np.ndim(y) == 2:
        return unbroadcast(z_bar @ conj(y).T, x)
    if np.ndim(y) == 1:
        # z has y's axis summed away: z_bar lacks it too.
        return unbroadcast(np.multiply(np.expand_dims(z_bar, -1), conj(y)), x)
    adjoint = np.swapaxes(conj(y), -1, -2)
    if np.ndim(x) == 1:
        return unbroadcast((np.expand_dims(z_bar, -2) @ adjoint)[..., 0, :], x)
    return unbroadcast(z_bar @ adjoint, x)


@cotangent_of(2)
def matmul_right_bar(z_bar: Any, x: Any, y: Any) -> Any:
    """The cotangent of y under z = x @ y, in y's shape."""
    if _are_real_arrays(x, y, z_bar) and x.ndim == 2 and y.ndim in (1, 2):
        return x.T @ z_bar
    if np.ndim(x) == 2 and np.ndim(y) == 2:
        return unbroadcast(conj(x).T @ z_bar, y)
    if np.ndim(x) == 1:
        if np.ndim(y) == 1:
            return unbroadcast(np.multiply(z_bar, conj(x)), y)
        return unbroadcast(np.multiply(np.expand_dims(conj(x), -1), np.expand_dims(z_bar, -2)), y)
    adjoint = np.swapaxes(conj(x), -1, -2)
    if np.ndim(y) == 1:
        return unbroadcast((adjoint @ np.expand_dims(z_bar, -1))[..., 0], y)
    return unbroadcast(adjoint @ z_bar, y)


def _are_real_arrays(x: Any, y: Any, z: Any) -> bool:
    """Whether these are plain arrays of floating point, of which nothing has to be converted."""
    if not (type(x) is np.ndarray and type(y) is np.ndarray and type(z) is np.ndarray):
        return False
    return bool(x.dtype.kind == "f" and y.dtype.kind == "f" and z.dtype.kind == "f")


@cotangent_of(1)
def dot_left_bar(z_bar: Any, x: Any, y: Any) -> Any:
    """The cotangent of x under z = np.dot(x, y): the last axis of x is summed against the second-to-last of y, and z
    has the other axes of x followed by those of y."""
    if np.ndim(x) == 0 or np.ndim(y) == 0:
        return unbroadcast(np.multiply(z_bar, conj(y)), x)
    if np.ndim(y) <= 2:
        return matmul_left_bar(z_bar, x, y)
    summed = np.moveaxis(conj(y), -2, 0)
    return unbroadcast(np.tensordot(z_bar, summed, (_last(np.ndim(y) - 1, z_bar), range(1, np.ndim(y)))), x)


@cotangent_of(2)
def dot_right_bar(z_bar: Any, x: Any, y: Any) -> Any:
    """The cotangent of y under z = np.dot(x, y)."""
    if np.ndim(x) == 0 or np.ndim(y) == 0:
        return unbroadcast(np.multiply(z_bar, conj(x)), y)
    free = range(np.ndim(x) - 1)
    y_bar = np.tensordot(conj(x), z_bar, (free, free))
    return unbroadcast(y_bar if np.ndim(y) == 1 else np.moveaxis(y_bar, 0, -2), y)


@cotangent_of(1)
def tensordot_left_bar(z_bar: Any, x: Any, y: Any, axes: Any) -> Any:
    """The cotangent of x under np.tensordot(x, y, axes)."""
    x_summed, y_summed = summed_axes(x, y, axes)
    x_free, y_free = _others(x, x_summed), _others(y, y_summed)
    x_bar = np.tensordot(z_bar, conj(y), (_last(len(y_free), z_bar), y_free))
    # Its axes: x's free ones, then those of y that were summed, in y's order; each is the partner of one of x's.
    partners = [x_summed[y_summed.index(axis)] for axis in sorted(y_summed)]
    return unbroadcast(np.transpose(x_bar, np.argsort([*x_free, *partners])), x)


@cotangent_of(2)
def tensordot_right_bar(z_bar: Any, x: Any, y: Any, axes: Any) -> Any:
    """The cotangent of y under np.tensordot(x, y, axes)."""
    x_summed, y_summed = summed_axes(x, y, axes)
    x_free, y_free = _others(x, x_summed), _others(y, y_summed)
    y_bar = np.tensordot(conj(x), z_bar, (x_free, range(len(x_free))))
    partners = [y_summed[x_summed.index(axis)] for axis in sorted(x_summed)]
    return unbroadcast(np.transpose(y_bar, np.argsort([*partners, *y_free])), y)


def summed_axes(x: Any, y: Any, axes: Any) -> tuple[list[int], list[int]]:
    """The axes of x and y that np.tensordot sums, pair by pair, counted from the front."""
    if np.ndim(axes) == 0:
        return list(range(np.ndim(x) - int(axes), np.ndim(x))), list(range(int(axes)))
    left, right = axes
    return (
        [int(axis) % np.ndim(x) for axis in np.atleast_1d(left)],
        [int(axis) % np.ndim(y) for axis in np.atleast_1d(right)],
    )


def _others(x: Any, axes: list[int]) -> list[int]:
    return [axis for axis in range(np.ndim(x)) if axis not in axes]


def _last(count: int, x: Any) -> range:
    return range(np.ndim(x) - count, np.ndim(x))


@cotangent_of(1)
def expand_reduced(y_bar: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """The cotangent of a reduction's result, repeated along the axes that were reduced: in x's shape."""
    shape = np.shape(x)
    if not shape:
        return y_bar
    if is_foreign_array(x):
        rows = with_reduced_axes(y_bar, x, axis, keepdims)
        return sum_to_shape(rows, shape) if is_foreign_array(y_bar) else np.full_like(x, y_bar)
    if np.ndim(y_bar) == 0:
        return np.full(shape, y_bar)
    # Measured: filling an array is faster than np.broadcast_to, and so is what reads it.
    expanded = np.empty(shape, y_bar.dtype)
    expanded[...] = with_reduced_axes(y_bar, x, axis, keepdims)
    return expanded


def with_reduced_axes(y: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """The result of a reduction of x, with an axis of length one for each that was reduced, so that it broadcasts
    against x."""
    if axis is None or keepdims or np.ndim(x) == 0:
        return y
    if isinstance(axis, int):
        kept = list(np.shape(x))
        kept[axis] = 1
        return np.reshape(y, kept)
    return np.expand_dims(y, axis)


@returns(int)
def mean_count(x: Any, axis: Any) -> int:
    """How many entries of x a mean over `axis` is of; 1 for no entries, whose cotangent is empty anyway."""
    return reduced_count(x, axis) or 1


def reduced_count(x: Any, axis: Any) -> int:
    """How many entries of x go into one entry of a reduction over `axis`."""
    shape = np.shape(x)
    if axis is None or not shape:
        return math.prod(shape)
    return math.prod(shape[one] for one in axis) if isinstance(axis, tuple) else shape[axis]
