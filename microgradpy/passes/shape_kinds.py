"""Kinds of what gives arrays another shape, and of arrays that are made.

    x.reshape(-1, 1)                the lengths that are given
    np.moveaxis(x, 0, -1)           the same axes in another order
    np.zeros(len(x))                as long as x
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.ir.axes import Axes, shortened
from microgradpy.ir.kinds import INT, NUMERIC, UNKNOWN, Array, Kind, Scalar, TupleOf, is_numeric
from microgradpy.passes.array_kinds import axes_of
from microgradpy.passes.broadcasting import MISSING, dtype_of, ranked, widest
from microgradpy.passes.given import Given


def numeric(*kinds: Kind) -> Kind:
    """Nothing but that it is a number or an array, if that is what it is made of."""
    return NUMERIC if all(map(is_numeric, kinds)) else UNKNOWN


def dtype_name(kind: Kind) -> str:
    """The dtype of an array with the entries of a number or array."""
    name = dtype_of(kind)
    return "" if name == "real" else name


# The same entries in another shape


def reshaped(call: Given) -> Kind:
    """np.reshape(x, (2, -1)): one length may be what is left."""
    return _with_lengths(call, call.lengths("shape", sure=True))


def reshaped_to(call: Given) -> Kind:
    """x.reshape(2, -1), x.reshape((2, -1))"""
    if len(call.rest) == 1:
        return _with_lengths(call, call.lengths_of(call.rest_values[0], True))
    if not call.rest or any(kind != INT for kind in call.rest):
        return numeric(call.kind("a"))
    found = [call.lengths_of(value, True) for value in call.rest_values]
    return _with_lengths(call, tuple(None if axes is None else axes[0] for axes in found))


def _with_lengths(call: Given, lengths: Axes | None) -> Kind:
    array = call.kind("a")
    if not lengths or not isinstance(array, Array | Scalar):
        return numeric(array)
    if isinstance(array, Array) and array.ndim == 1 and lengths.count(None) == 1 and set(lengths) <= {1, None}:
        lengths = tuple(axes_of(array)[0] if length is None else length for length in lengths)
    return Array(len(lengths), dtype_name(array), lengths)


def flattened(call: Given) -> Kind:
    """np.ravel(x), x.flatten()"""
    array = call.kind("a")
    if not isinstance(array, Array | Scalar):
        return numeric(array)
    return Array(1, dtype_name(array), array.shape if isinstance(array, Array) and array.ndim == 1 else ())


def permuted(call: Given) -> Kind:
    """np.transpose(x, axes)"""
    return _permuted(call.kind("a"), call.constant("axes"))


def permuted_by(call: Given) -> Kind:
    """x.transpose(1, 0), x.transpose((1, 0))"""
    axes = tuple(value.value if hasattr(value, "value") else MISSING for value in call.rest_values)
    return _permuted(call.kind("a"), axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None)


def _permuted(array: Kind, order: Any) -> Kind:
    if not isinstance(array, Array) or array.ndim is None:
        return numeric(array)
    axes = axes_of(array)
    if order is None:
        return Array(array.ndim, array.dtype, axes[::-1])
    if not isinstance(order, tuple) or not all(type(axis) is int and -array.ndim <= axis < array.ndim for axis in order):
        return Array(array.ndim, array.dtype)
    return Array(array.ndim, array.dtype, tuple(axes[axis] for axis in order) if len(order) == array.ndim else ())


def swapped(call: Given) -> Kind:
    """np.swapaxes(x, 0, 1)"""
    array = call.array("a")
    if array is None or array.ndim is None:
        return numeric(call.kind("a"))
    first, second = call.axis("axis1", array.ndim), call.axis("axis2", array.ndim)
    axes = list(axes_of(array))
    if first is None or second is None:
        return Array(array.ndim, array.dtype)
    axes[first], axes[second] = axes[second], axes[first]
    return Array(array.ndim, array.dtype, tuple(axes))


def moved(call: Given) -> Kind:
    """np.moveaxis(x, 0, -1)"""
    array = call.array("a")
    if array is None or array.ndim is None:
        return numeric(call.kind("a"))
    source, destination = call.axis("source", array.ndim), call.axis("destination", array.ndim)
    if source is None or destination is None:
        return Array(array.ndim, array.dtype)
    axes = list(axes_of(array))
    axes.insert(destination, axes.pop(source))
    return Array(array.ndim, array.dtype, tuple(axes))


def squeezed(call: Given) -> Kind:
    """np.squeeze(x, axis)"""
    array = call.array("a")
    axis = None if array is None or array.ndim is None else call.axis("axis", array.ndim)
    if array is None or axis is None:
        return numeric(call.kind("a"))
    axes = axes_of(array)
    return Array(len(axes) - 1, array.dtype, axes[:axis] + axes[axis + 1 :])


def expanded(call: Given) -> Kind:
    """np.expand_dims(x, axis)"""
    array = call.kind("a")
    axis = call.axis("axis", array.ndim + 1) if isinstance(array, Array) and array.ndim is not None else None
    if not isinstance(array, Array) or axis is None:
        return numeric(array)
    axes = axes_of(array)
    return Array(len(axes) + 1, array.dtype, (*axes[:axis], 1, *axes[axis:]))


def at_least(rank: int) -> Any:
    def kind(call: Given) -> Kind:
        """np.atleast_2d(x)"""
        array = call.kind("a")
        if isinstance(array, Scalar) or (isinstance(array, Array) and array.ndim == 0):
            return Array(rank, dtype_name(array), (1,) * rank)
        if isinstance(array, Array) and array.ndim is not None:
            return array if array.ndim >= rank else Array(2, array.dtype, (1, *axes_of(array))) if rank == 2 else NUMERIC
        return numeric(array)

    return kind


def same_shape(call: Given) -> Kind:
    """An array with other entries of the same type: np.roll(x, 1), np.flip(x), x.copy()."""
    return call.array("a") or numeric(call.kind("a"))


def copied(call: Given) -> Kind:
    """np.copy(x), which makes arrays of numbers."""
    kind = call.kind("a")
    return Array(0, dtype_name(kind)) if isinstance(kind, Scalar) else kind if isinstance(kind, Array) else numeric(kind)


def cast(call: Given) -> Kind:
    """x.astype(dtype)"""
    array, given = call.kind("a"), call.constant("dtype")
    dtype = None if given is MISSING else named_dtype(given)
    if not isinstance(array, Array):
        return UNKNOWN if dtype is None else numeric(array)
    return UNKNOWN if dtype is None else Array(array.ndim, dtype, array.shape)


def repeated_to(call: Given) -> Kind:
    """np.broadcast_to(x, shape)"""
    lengths = call.lengths("shape")
    array = call.kind("a")
    if not isinstance(array, Array | Scalar) or not lengths:
        return numeric(array)
    return Array(len(lengths), dtype_name(array), lengths)


def tiled(call: Given) -> Kind:
    """np.tile(x, 2): repeated along the last axis."""
    array = call.array("a")
    if array is None or call.kind("reps") != INT:
        return numeric(call.kind("a"))
    return Array(array.ndim, array.dtype, (*axes_of(array)[:-1], None))


def repeated(call: Given) -> Kind:
    """np.repeat(x, 2, axis): the entries of all axes in a row, without one."""
    array = call.array("a")
    if array is None or array.ndim is None:
        return numeric(call.kind("a"))
    if call.constant("axis") is None:
        return Array(1, array.dtype)
    if call.constant("axis") is MISSING:
        return NUMERIC
    return resized_along(array, call.axis("axis", array.ndim), None)


def resized_along(array: Array, axis: int | None, length: Any) -> Kind:
    """An array of which one axis has another length."""
    if axis is None:
        return Array(array.ndim, array.dtype)
    axes = axes_of(array)
    return Array(array.ndim, array.dtype, (*axes[:axis], length, *axes[axis + 1 :]))


def padded(call: Given) -> Kind:
    """np.pad(x, width, mode)"""
    array = call.array("a")
    return numeric(call.kind("a")) if array is None or call.constant("mode") is MISSING else Array(array.ndim, array.dtype)


def differences(call: Given) -> Kind:
    """np.diff(x, n, axis): as x[1:] - x[:-1]"""
    array, times = call.array("a"), call.constant("n")
    if array is None or array.ndim is None:
        return numeric(call.kind("a"))
    axis = call.axis("axis", array.ndim)
    if axis is None or type(times) is not int or times < 0:
        return Array(array.ndim, array.dtype)
    return resized_along(array, axis, shortened(axes_of(array)[axis], times))


def diagonal(call: Given) -> Kind:
    """np.diag(x): of a matrix its diagonal, of a vector a matrix."""
    array, k = call.array("a"), call.constant("k")
    match array:
        case Array(ndim=1, dtype=dtype, shape=shape):
            return Array(2, dtype, (shape * 2) if k == 0 else ())
        case Array(ndim=2, dtype=dtype):
            first, second = axes_of(array)
            return Array(1, dtype, (first,) if k == 0 and first == second else ())
    return numeric(call.kind("a"))


def triangle(call: Given) -> Kind:
    """np.tril(x)"""
    array = call.array("a")
    if array is None:
        return numeric(call.kind("a"))
    return Array(2, array.dtype, array.shape * 2) if array.ndim == 1 else array


def taken(call: Given) -> Kind:
    """np.take(x, indices), from all entries in a row"""
    array, indices = call.array("a"), call.kind("indices")
    if array is None or call.constant("axis") is not None:
        return numeric(call.kind("a"))
    if isinstance(indices, Scalar):
        return ranked(0, array.dtype)
    return Array(indices.ndim, array.dtype, indices.shape) if isinstance(indices, Array) and indices.ndim else NUMERIC


# Arrays that are made


def named_dtype(given: Any) -> str | None:
    """The name in kinds of a dtype that is given: "" if it is not known, None if it is none of numbers."""
    if given is MISSING:
        return ""
    if (isinstance(given, str) and given not in _NAMES) or not isinstance(given, str | type | np.dtype | None):
        return None
    return {"f": "float", "i": "int", "u": "int", "b": "bool", "c": "complex"}.get(np.dtype(given).kind)


_NAMES = frozenset("float float64 float32 f8 f4 d f int int64 int32 i8 i4 bool complex complex128 complex64 c16 c8".split())


def created(call: Given) -> Kind:
    """np.zeros(shape, dtype)"""
    return of_lengths(call.kind("shape"), call.lengths("shape"), named_dtype(call.constant("dtype")))


def of_lengths(shape: Kind, lengths: Axes | None, dtype: str | None) -> Kind:
    """A new array of a shape that is given."""
    if dtype is None:
        return UNKNOWN
    if lengths is not None:
        return Array(len(lengths), dtype, lengths)
    match shape:
        case Scalar(name="int"):
            return Array(1, dtype)
        case TupleOf(items=items):
            return Array(len(items), dtype)
    return Array(None, dtype)


def filled(call: Given) -> Kind:
    """np.full(shape, value)"""
    value = call.kind("fill_value")
    if not is_numeric(value):
        return UNKNOWN
    dtype = dtype_name(value) if call.constant("dtype") is None else named_dtype(call.constant("dtype"))
    return of_lengths(call.kind("shape"), call.lengths("shape"), dtype)


def like(call: Given) -> Kind:
    """np.zeros_like(x), np.full_like(x, 1.0)"""
    array, dtype = call.kind("a"), call.constant("dtype")
    if not isinstance(array, Array):
        return numeric(array) if dtype is None else UNKNOWN
    if dtype is None:
        return array
    name = named_dtype(dtype)
    return UNKNOWN if name is None else Array(array.ndim, name, array.shape)


def unit_matrix(call: Given) -> Kind:
    """np.eye(N, M, k, dtype)"""
    dtype = named_dtype(call.constant("dtype"))
    rows = call.lengths("N") or (None,)
    columns = rows if call.constant("M") is None else call.lengths("M") or (None,)
    return UNKNOWN if dtype is None else Array(2, dtype, (rows[0], columns[0]) if len(rows) == len(columns) == 1 else ())


def evenly_spaced(call: Given) -> Kind:
    """np.linspace(start, stop, num)"""
    ends = call.kind("start"), call.kind("stop")
    if not all(isinstance(kind, Scalar) for kind in ends) or call.kind("num") != INT:
        return numeric(*ends)
    dtype = "complex" if "complex" in map(dtype_of, ends) else "float"
    return Array(1, dtype, call.lengths("num") or ())


def counted(call: Given) -> Kind:
    """np.arange(n), np.arange(start, stop, step)"""
    if call.rest and not all(isinstance(kind, Scalar) for kind in (call.kind("start"), *call.rest)):
        return numeric(call.kind("start"), *call.rest)
    dtype = widest(*map(dtype_of, (call.kind("start"), *call.rest)))
    if dtype not in ("int", "float") or len(call.rest) > 2 or not isinstance(call.kind("start"), Scalar):
        return numeric(call.kind("start"), *call.rest)
    return Array(1, dtype, () if call.rest or dtype == "float" else call.lengths("start") or ())
