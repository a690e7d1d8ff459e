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
