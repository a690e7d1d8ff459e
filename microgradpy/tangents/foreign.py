"""Arrays of other libraries, which take part in NumPy's functions by its protocols and need not become NumPy's arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def is_foreign_array(x: Any) -> bool:
    """Whether x is an array that is none of NumPy's: its class says what NumPy's functions do with it, and its operators are
    those functions. Of the operators of other classes nothing is known."""
    return not isinstance(x, np.ndarray | np.generic | int | float | list | tuple) and _is_array_class(type(x))


def _is_array_class(cls: type) -> bool:
    if not (hasattr(cls, "__array_function__") and hasattr(cls, "__array_ufunc__")):
        return False
    own = {base.__module__.partition(".")[0] for base in cls.__mro__ if not _KNOWN_OPERATORS.isdisjoint(vars(base))}
    return own <= _ARRAY_LIBRARIES


_KNOWN_OPERATORS = {f"__{name}__" for name in ("neg", "add", "sub", "mul", "truediv", "pow", "matmul", "radd", "rsub", "rmul")}
_ARRAY_LIBRARIES = frozenset({"numpy", "dask", "cupy", "sparse", "xarray"})
"""The libraries whose arrays have the operators of NumPy's; the first for `NDArrayOperatorsMixin`."""


def as_array(x: Any) -> Any:
    """x as an array, of another library's if it is one."""
    return x if is_foreign_array(x) else np.asarray(x)


def sum_to_shape(d: Any, shape: tuple[int, ...]) -> Any:
    """A cotangent of another library's, summed over the axes along which something of this shape was repeated."""
    if np.shape(d) == shape:
        return d
    if np.ndim(d) < len(shape):
        return np.broadcast_to(d, shape)
    extra = np.ndim(d) - len(shape)
    repeated = (extra + axis for axis, size in enumerate(shape) if size == 1 and np.shape(d)[extra + axis] != 1)
    summed = np.sum(d, axis=(*range(extra), *repeated), keepdims=True)
    return np.broadcast_to(np.reshape(summed, np.shape(summed)[extra:]), shape)


def item_bar(x: Any, index: Any, d: Any) -> Any:
    """The cotangent of an array of another library's of which `x[index]` was read: d where that was, summed where it was read
    twice. Such arrays need not be writable."""
    count = np.cumsum(np.full_like(x, 1, dtype=int)) - 1
    places = np.ravel(np.reshape(count, np.shape(x))[index])
    parts = (np.real(d), np.imag(d)) if np.iscomplexobj(d) else (d,)
    sums = [np.bincount(places, np.ravel(part), math.prod(np.shape(x))) for part in parts]
    return np.reshape(sums[0] if len(sums) == 1 else sums[0] + 1j * sums[1], np.shape(x))
