"""Kinds of arrays that are put together from parts, or split into them.

    np.array([a, b])                a vector of two entries
    np.concatenate([x, y])          of the rank of its parts; as long as both
    np.split(x, 2)                  a list of arrays of the same rank
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from microgradpy.ir.axes import Axes, Axis, constant_length, together
from microgradpy.ir.kinds import NUMERIC, UNKNOWN, Array, Kind, Scalar, Sequence, TupleOf, entries_of, is_numeric
from microgradpy.passes.array_kinds import axes_of
from microgradpy.passes.broadcasting import dtype_of, ranked, widest
from microgradpy.passes.given import Given
from microgradpy.passes.shape_kinds import dtype_name, named_dtype, numeric

Promotion = Callable[[Array], Array | None]


def array_of(call: Given) -> Kind:
    """np.array(numbers), np.asarray(array)"""
    dtype = call.constant("dtype")
    given = call.kind("object")
    if isinstance(given, Array) and not given.dtype:
        return UNKNOWN  # it may be a structured array, whose copies are refused when they are made
    made = as_array(given)
    if made is None or dtype is None:
        return made or UNKNOWN
    name = named_dtype(dtype)
    return Array(made.ndim, name, made.shape) if name else UNKNOWN


def as_array(kind: Kind) -> Array | None:
    """The array that NumPy makes of a number, an array, or a display of such; None if it may be none of numbers. A list of
    numbers may be empty, of which it makes one of floating point."""
    match kind:
        case Scalar():
            return Array(0, dtype_name(kind))
        case Array():
            return kind
        case Sequence(name="list", item=Scalar(name=dtype)):
            return Array(1, dtype if dtype == "float" else "")
        case Sequence(name="list", item=Array(dtype=dtype)):
            return Array(None, dtype if dtype == "float" else "")
        case Sequence(name="list", item=Sequence(name="list") as row) if (inner := as_array(row)) is not None:
            return Array(None, inner.dtype)  # of one axis if there are no rows
        case TupleOf(items=(_, *_) as items):
            parts = [as_array(item) for item in items]
            arrays = [part for part in parts if part is not None and part.ndim is not None]
            if len(arrays) == len(items) and len({part.ndim for part in arrays}) == 1:
                ndim = arrays[0].ndim or 0
                return Array(ndim + 1, _dtype(arrays), (constant_length(len(arrays)), *_common(arrays, None)))
    return None


def _dtype(arrays: list[Array]) -> str:
    return widest(*map(dtype_of, arrays))


def _common(arrays: list[Array], but: int | None) -> Axes:
    """The axes of arrays that agree in all axes but one: a symbol that any of them has."""
    columns = zip(*map(axes_of, arrays), strict=True)
    return tuple(
        None if place == but else next((symbol for symbol in symbols if symbol is not None), None)
        for place, symbols in enumerate(columns)
    )


def _parts(parts: Kind) -> tuple[list[Array], bool]:
    """The arrays that are put together, if they are of known ranks, and whether there are as many of them."""
    match parts:
        case TupleOf(items=items):
            arrays = [as_array(item) for item in items]
            known = [array for array in arrays if array is not None and array.ndim is not None]
            return (known, True) if len(known) == len(items) else ([], True)
        case Sequence(name="list", item=item):  # there is one, or NumPy refuses
            array = as_array(item)
            return ([Array(array.ndim, array.dtype)], False) if array is not None and array.ndim is not None else ([], False)
        case Array(ndim=int(ndim), dtype=dtype, shape=shape) if ndim > 1:
            return [Array(ndim - 1, dtype, shape[1:])], False
    return [], False


def _all_numeric(parts: Kind) -> bool:
    match parts:
        case TupleOf(items=(_, *_) as items):
            return all(as_array(item) is not None or is_numeric(item) for item in items)
        case Sequence(name="list", item=item):
            return is_numeric(item)
    return is_numeric(parts)


def concatenated(call: Given) -> Kind:
    """np.concatenate(parts, axis)"""
    arrays, counted = _parts(call.kind("arrays"))
    if call.constant("axis") is None and arrays:
        return Array(1, _dtype(arrays))
    axis = call.axis("axis", arrays[0].ndim or 0) if arrays and arrays[0].ndim else None
    return _joined(arrays, counted, axis) if axis is not None else _of_numbers(call.kind("arrays"))


def _of_numbers(parts: Kind) -> Kind:
    match parts:
        case Sequence(name="list", item=item) if is_numeric(item):
            return entries_of(item)
        case TupleOf(items=(_, *_) as items) if all(map(is_numeric, items)):
            return entries_of(*items)
    return NUMERIC if _all_numeric(parts) else UNKNOWN


def _joined(arrays: list[Array], counted: bool, axis: int) -> Kind:
    """Arrays of one rank put end to end along an axis."""
    rank = arrays[0].ndim
    if rank is None or any(array.ndim != rank for array in arrays):
        return NUMERIC
    axes = list(_common(arrays, axis))
    axes[axis] = together(axes_of(array)[axis] for array in arrays) if counted else None
    return Array(rank, _dtype(arrays), tuple(axes))


def stacked(call: Given) -> Kind:
    """np.stack(parts, axis)"""
    arrays, counted = _parts(call.kind("arrays"))
    ranks = {array.ndim for array in arrays}
    rank = ranks.pop() if len(ranks) == 1 else None
    axis = None if rank is None else call.axis("axis", rank + 1)
    if rank is None or axis is None:
        return _of_numbers(call.kind("arrays"))
    axes: list[Axis] = list(_common(arrays, None))
    axes.insert(axis, constant_length(len(arrays)) if counted else None)
    return Array(rank + 1, _dtype(arrays), tuple(axes))


def joined_as(promote: Promotion, axis_of: Callable[[int], int]) -> Callable[[Given], Kind]:
    """Of functions that put arrays together after giving each a rank: np.hstack, np.vstack, np.column_stack."""

    def kind(call: Given) -> Kind:
        found, counted = _parts(call.kind("tup"))
        arrays = [array for array in map(promote, found) if array is not None]
        if not arrays or len(arrays) < len(found) or not arrays[0].ndim:
            return _of_numbers(call.kind("tup"))
        return _joined(arrays, counted, axis_of(arrays[0].ndim))

    return kind


def at_least_1d(array: Array) -> Array:
    return Array(1, array.dtype, (1,)) if array.ndim == 0 else array


def at_least_2d(array: Array) -> Array:
    return array if array.ndim and array.ndim > 1 else Array(2, array.dtype, (1, *axes_of(at_least_1d(array))))


def as_columns(array: Array) -> Array:
    return array if array.ndim and array.ndim > 1 else Array(2, array.dtype, (*axes_of(at_least_1d(array)), 1))


def blocks(call: Given) -> Kind:
    """np.block(parts): of the highest rank there is, and at least of that of the lists in lists"""
    depth, arrays = _in_blocks(call.kind("arrays"))
    if not depth or not all(isinstance(each, Array | Scalar) for each in arrays):
        return UNKNOWN
    ranks = [each.ndim if isinstance(each, Array) else 0 for each in arrays]
    rank = None if None in ranks else max(depth, *ranks)  # type: ignore[type-var]
    return ranked(rank, widest(*map(dtype_of, arrays)))


def _in_blocks(kind: Kind) -> tuple[int, tuple[Kind, ...]]:
    """How deep lists of lists are, and what is in them."""
    match kind:
        case TupleOf(items=(_, *_) as items):  # a display, as NumPy takes no tuples
            depths, arrays = zip(*map(_in_blocks, items), strict=True)
            return depths[0] + 1, tuple(chain.from_iterable(arrays))
        case Sequence(name="list", item=item):
            depth, within = _in_blocks(item)
            return depth + 1, within
    return 0, (kind,)


def appended(call: Given) -> Kind:
    """np.append(x, y): the entries of both in a row, without an axis."""
    found = [as_array(call.kind(name)) for name in ("arr", "values")]
    arrays = [array for array in found if array is not None]
    if len(arrays) < 2 or call.constant("axis") is not None:
        return numeric(call.kind("arr"), call.kind("values"))
    axes = [array.shape[0] if array.ndim == 1 and array.shape else 1 if array.ndim == 0 else None for array in arrays]
    return Array(1, _dtype(arrays), (together(axes),))


def split(call: Given) -> Kind:
    """np.split(x, indices)"""
    array = call.array("ary")
    return UNKNOWN if array is None else Sequence("list", Array(array.ndim, array.dtype))


def grids(call: Given) -> Kind:
    """np.meshgrid(x, y)"""
    arrays = [kind for kind in call.rest if isinstance(kind, Array) and kind.ndim == 1]
    indexing = call.constant("indexing")
    if len(arrays) < len(call.rest) or not arrays or indexing not in ("xy", "ij"):
        return UNKNOWN
    axes = [axes_of(array)[0] for array in arrays]
    if indexing == "xy" and len(axes) > 1:
        axes[:2] = axes[1::-1]
    return TupleOf(tuple(Array(len(axes), array.dtype, tuple(axes)) for array in arrays))
