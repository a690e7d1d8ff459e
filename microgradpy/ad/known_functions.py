"""What is known of functions that write nothing: are their results new, or may they share memory with what they are given?"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.runtime.array_calls import stands_for_text

_VIEWS = frozenset({
    np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze, np.expand_dims, np.diagonal,
    np.diag, np.broadcast_to, np.broadcast_arrays, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.asarray, np.asanyarray,
    np.ascontiguousarray, np.asfortranarray, np.require, np.real, np.imag, np.split, np.array_split, np.hsplit, np.vsplit,
    np.dsplit, np.flip, np.fliplr, np.flipud, np.rot90, np.permute_dims, np.matrix_transpose, np.array,
    np.lib.stride_tricks.as_strided, np.lib.stride_tricks.sliding_window_view, np.unstack, np.real_if_close, np.nan_to_num,
    np.ndarray.reshape, np.ndarray.ravel, np.ndarray.transpose, np.ndarray.swapaxes, np.ndarray.squeeze, np.ndarray.diagonal,
    np.ndarray.view, np.ndarray.astype, np.ndarray.__getitem__, operator.getitem, operator.pos, np.ndarray.conj,
    np.ndarray.conjugate, np.trim_zeros, np.astype, operator.iadd, np.einsum, np.diff, np.meshgrid, np.linalg.matrix_power,
    np.linalg.diagonal, np.linalg.matrix_transpose, np.polyder, np.polyint, np.asarray_chkfinite, np.ix_, np.ndarray.to_device,
    np.histogram, np.histogram2d, np.histogramdd, np.histogram_bin_edges, np.float64, np.float32, np.complex128, np.complex64,
})  # fmt: skip
"""NumPy's functions whose results may be views of what they are given."""


def is_fresh(function: Any) -> bool:
    """Whether a known function writes nothing, keeps nothing, and returns new objects or views of what it is given."""
    if stands_for_text(function):
        return False
    if isinstance(function, np.ufunc) or is_non_differentiable(function):
        return True
    module = str(getattr(function, "__module__", None) or type(function).__module__)
    if module.partition(".")[0] in ("numpy", "math", "cmath", "operator", "_operator", "microgradpy"):
        return True
    owner = getattr(function, "__objclass__", None)
    if owner is not None and owner.__module__.partition(".")[0] in ("numpy", "builtins"):
        return True
    return rrule.covers(function) and not isinstance(function, type)


def is_view(function: Any) -> bool:
    """Whether the result of a known function may share what its arguments hold."""
    try:
        if function in _VIEWS:
            return True
    except TypeError:
        return True
    if isinstance(function, np.ufunc):
        return False
    module = str(getattr(function, "__module__", None) or type(function).__module__)
    is_numeric = module.partition(".")[0] in ("numpy", "math", "cmath") or module in ("operator", "_operator")
    owner = getattr(function, "__objclass__", None)
    return not is_numeric and not (owner is not None and owner.__module__.partition(".")[0] == "numpy")
