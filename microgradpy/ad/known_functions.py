"""What is known of functions that write nothing: are their results new, or may they share memory with what they are given?"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from microgradpy.ir.kinds import Array, Kind, Scalar, Unknown, is_numeric
from microgradpy.ir.nodes import Const, Op
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.rules.results import asks_objects
from microgradpy.runtime.array_calls import stands_for_text

_VIEWS = frozenset({
    np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze, np.expand_dims, np.diagonal,
    np.diag, np.broadcast_to, np.broadcast_arrays, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.asarray, np.asanyarray,
    np.ascontiguousarray, np.asfortranarray, np.require, np.real, np.imag, np.split, np.array_split, np.hsplit, np.vsplit,
    np.dsplit, np.flip, np.fliplr, np.flipud, np.rot90, np.permute_dims, np.matrix_transpose, np.array,
    np.lib.stride_tricks.as_strided, np.lib.stride_tricks.sliding_window_view, np.unstack, np.real_if_close, np.nan_to_num,
    np.ndarray.reshape, np.ndarray.ravel, np.ndarray.transpose, np.ndarray.swapaxes, np.ndarray.squeeze, np.ndarray.diagonal,
    np.ndarray.view, np.ndarray.astype, np.ndarray.__getitem__, np.ndarray.__array__, operator.getitem, operator.pos,
    np.ndarray.conj, np.ndarray.conjugate, np.trim_zeros, np.astype, operator.iadd, np.einsum, np.diff, np.meshgrid,
    np.linalg.matrix_power, np.linalg.diagonal, np.linalg.matrix_transpose, np.polyder, np.polyint, np.asarray_chkfinite,
    np.ix_, np.ndarray.to_device, np.histogram, np.histogram2d, np.histogramdd, np.histogram_bin_edges,
})  # fmt: skip
"""NumPy's functions whose results may be views of what they are given."""
_JOINING: Any = frozenset({
    operator.add, operator.concat, operator.mul, operator.or_, operator.and_, operator.xor, operator.sub,
})  # fmt: skip
"""Operators that make containers of what their operands hold, if these are containers."""


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


def is_asked_of_objects(function: Any, kinds: tuple[Kind, ...]) -> bool:
    """Whether a function without derivative may be given objects, and give what these make of themselves."""
    try:
        is_one = is_non_differentiable(function) and asks_objects(function)
    except TypeError:
        return False
    return is_one and any(isinstance(kind, Unknown) for kind in kinds)


def is_view(function: Any) -> bool:
    """Whether the result of a known function may share what its arguments hold."""
    try:
        if function in _VIEWS:
            return True
    except TypeError:
        return True
    if isinstance(function, np.ufunc):
        return False
    if isinstance(function, type):
        return True  # an object may hold what it is made of
    module = str(getattr(function, "__module__", None) or type(function).__module__)
    is_numeric = module.partition(".")[0] in ("numpy", "math", "cmath") or module in ("operator", "_operator")
    owner = getattr(function, "__objclass__", None)
    return not is_numeric and not (owner is not None and owner.__module__.partition(".")[0] == "numpy")


def joins_containers(function: Any, kinds: Iterable[Kind]) -> bool:
    """Whether an operator with operands of these kinds may make a new container of what they hold. One operand is enough for
    `[row] * 2`; what is proven to be an array, or a number other than a whole one, has operators of its own."""
    try:
        if function not in _JOINING:
            return False
    except TypeError:
        return False
    operands = list(kinds)
    if function is operator.mul:
        return not any(map(_is_no_count, operands)) and not all(map(is_numeric, operands))
    return not any(map(is_numeric, operands))


def _is_no_count(kind: Kind) -> bool:
    """Proven to be what no list can be multiplied by."""
    return isinstance(kind, Array) or (isinstance(kind, Scalar) and kind.name in ("float", "complex"))


def makes_texts(cls: type, name: str, op: Op) -> bool:
    """Whether a method makes an array of texts: `x.astype(str)`."""
    dtype = op.arguments[0] if op.arguments else None
    if cls is not np.ndarray or name != "astype" or not isinstance(dtype, Const):
        return False
    given = dtype.value
    return given in (str, bytes, np.str_, np.bytes_) or (isinstance(given, str) and given.lstrip("<>=|")[:1] in "SU")
