"""Where the entries of an array are in memory, and arrays of which two entries are one place."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np


def overlaps_itself(x: np.ndarray[Any, Any]) -> bool:
    """Whether two entries of an array may be one place in memory (a broadcast view, a sliding window)."""
    strides = sorted((abs(stride), length) for stride, length in zip(x.strides, x.shape, strict=True) if length > 1)
    reached = x.itemsize
    for stride, length in strides:
        if stride < reached:
            return True
        reached = stride * (length - 1) + reached
    return False


def is_written_twice(x: Any) -> bool:
    """Whether a write into an array, or into one in a tuple, may write a place twice."""
    if type(x) is tuple:
        return any(map(is_written_twice, x))
    return isinstance(x, np.ndarray) and x.base is not None and overlaps_itself(x) and _is_writeable(x)


def _is_writeable(x: np.ndarray[Any, Any]) -> bool:
    with warnings.catch_warnings():  # of what NumPy has broadcast, it warns whoever asks
        warnings.simplefilter("ignore", FutureWarning)
        return x.flags.writeable


def offsets(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """How many bytes each entry of an array is behind the first one."""
    result = np.zeros(x.shape, np.intp)
    for axis, (stride, length) in enumerate(zip(x.strides, x.shape, strict=True)):
        result += (np.arange(length) * stride).reshape((-1,) + (1,) * (x.ndim - 1 - axis))
    return result


def are_parts(a: np.dtype[Any], b: np.dtype[Any]) -> bool:
    """Whether of two dtypes one is that of the real and imaginary parts of the other."""
    parts, pairs = sorted((a, b), key=lambda dtype: dtype.itemsize)
    return (parts.kind, pairs.kind) == ("f", "c") and 2 * parts.itemsize == pairs.itemsize


def has_repeats(index: Any) -> bool:
    """Whether an index may name a place more than once: an array or list of whole numbers."""
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(part, list | np.ndarray) and np.asarray(part).dtype.kind in "iu" for part in parts)


def winners(shape: tuple[int, ...], index: Any) -> np.ndarray:
    """1.0 where an entry of `x[index] = v` is the last that is stored at its place, else 0.0."""
    places = np.arange(int(np.prod(shape))).reshape(shape)[index]
    flat = places.reshape(-1)[::-1]
    _, first = np.unique(flat, return_index=True)
    won = np.zeros(flat.size)
    won[first] = 1.0
    return won[::-1].reshape(places.shape)


def bars_stored(x_bar: np.ndarray, index: Any) -> np.ndarray:
    """The cotangent of what was stored at `x[index]`, for an index that gives a copy: of a place that was stored to more than
    once it belongs to the last one."""
    return x_bar[index] * winners(x_bar.shape, index) if has_repeats(index) else x_bar[index]  # type: ignore[no-any-return]
