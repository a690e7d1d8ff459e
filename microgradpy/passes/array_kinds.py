"""Kinds of the items and attributes of arrays and containers.

    x[:, None]                      a new axis of length one; the other axes keep their symbols
    x[1:]                           an axis without one of its entries
    x[indices]                      the axes of the array of indices
"""

from __future__ import annotations

from typing import Any

from microgradpy.ir.axes import Axes, shortened, term
from microgradpy.ir.input_kinds import slice_kind_of
from microgradpy.ir.kinds import (
    BOOL,
    INT,
    UNKNOWN,
    WHOLE_SLICE,
    Array,
    Inert,
    Kind,
    Numeric,
    Scalar,
    Sequence,
    TupleOf,
    entries_of,
    is_basic_index,
    item_kind,
    unknown_from,
)
from microgradpy.passes.broadcasting import MISSING, Arguments, Known, broadcast_axes, ranked

_DOTS = Inert("ellipsis")


def axes_of(array: Array) -> Axes:
    """One symbol per axis of an array of known rank; None where none is known."""
    return array.shape or (None,) * (array.ndim or 0)


def slice_kind(arguments: Arguments, known: Known) -> Kind:
    """slice(start, stop, step); of `:` and of one that cuts entries off at the ends it is said how many."""
    parts = [known.get(place, MISSING) for place in range(len(arguments))]
    return slice_kind_of(*parts) if len(parts) == 3 else Inert("slice")


def item(arguments: Arguments, known: Known) -> Kind:
    """container[index]"""
    container, index = arguments
    match container:
        case TupleOf(items=items) if _is_slice(index):
            return _part_of_tuple(items, known.get(1))
        case TupleOf(items=items):
            return _item_of_tuple(items, index, known.get(1))
        case Array() if index == Inert("str"):
            return unknown_from((container,))  # a field, whose memory is that of the structured array
        case Array(ndim=int(), dtype=dtype):
            items = index.items if isinstance(index, TupleOf) else (index,)
            axes = _indexed(axes_of(container), items)
            # With `...` a result without axes is an array nevertheless.
            return entries_of(container) if axes is None or (not axes and _DOTS in items) else ranked(len(axes), dtype, axes)
        case Array() | Numeric() if isinstance(container, Array) or is_basic_index(index):
            return entries_of(container)  # of an array, as numbers have no items
        case Sequence(name="dict", entries=entries):
            return dict(entries).get(str(known.get(1)), container.item)
        case Sequence(name="list" | "tuple" | "range") if index == INT:
            return item_kind(container)
        case Sequence(name="range" | "list" | "tuple") if _is_slice(index):
            return container
        case Inert(name="str") if index == INT or _is_slice(index):
            return container
    return unknown_from((container,))


def _item_of_tuple(items: tuple[Kind, ...], index: Kind, place: Any) -> Kind:
    """items[place], for a place that may be known."""
    if index == INT and items and isinstance(items[0], Inert) and all(each == items[0] for each in items):
        return items[0]  # one of some texts
    return items[place] if type(place) is int and -len(items) <= place < len(items) else unknown_from(items)


def _part_of_tuple(items: tuple[Kind, ...], part: Any) -> Kind:
    """items[part], for a slice that may be known."""
    if isinstance(part, slice) and slice_kind_of(part.start, part.stop, part.step) != Inert("slice"):
        return TupleOf(items[part])
    return Sequence("tuple", unknown_from(items))


def _indexed(axes: Axes, index: tuple[Kind, ...]) -> Axes | None:
    """The axes of `x[index]` for whole numbers, slices, None, one `...`, arrays of whole numbers and masks; None if there is
    anything else."""
    consumed = [_consumed(kind) for kind in index]
    if None in consumed or (taken := sum(count or 0 for count in consumed)) > len(axes) or index.count(_DOTS) > 1:
        return None
    rest, found = list(axes), list[Any]()
    arrays = [_index_array(kind) for kind in index if _index_array(kind) is not None]
    places: list[int] = []
    """Where the arrays of an index stand, among which numbers count if there is one."""
    for place, kind in enumerate(index if _DOTS in index else (*index, _DOTS)):
        if kind == _DOTS:
            kept = len(axes) - taken
            found += rest[:kept]
            del rest[:kept]
        elif _is_slice(kind):
            found.append(_cut(rest.pop(0), kind))
        elif kind == Inert("NoneType"):
            found.append(1)
        else:
            del rest[: _consumed(kind)]
            places.append(place)
            if len(places) == 1:
                start = len(found)
    if not arrays:
        return tuple(found)
    # What arrays take is in the place of the first, or in front of all if they are not side by side.
    start = start if places == list(range(places[0], places[-1] + 1)) else 0
    common = broadcast_axes([array for array in arrays if array is not None], max(array.ndim or 0 for array in arrays if array))
    return (*found[:start], *common, *found[start:])


def _consumed(kind: Kind) -> int | None:
    """How many axes an item of an index takes; None if it is not known."""
    if kind == INT or _is_slice(kind):
        return 1
    if kind in (Inert("NoneType"), _DOTS):
        return 0
    if isinstance(kind, Array) and kind.dtype == "bool" and kind.ndim:
        return kind.ndim
    return None if _index_array(kind) is None else 1


def _index_array(kind: Kind) -> Array | None:
    """The array of whole numbers that an item of an index stands for: of a mask, of the places where it is true."""
    match kind:
        case Array(ndim=int(ndim), dtype="int") if ndim:
            return kind
        case Array(ndim=int(ndim), dtype="bool") if ndim:
            return Array(1, "int")
        case Sequence(name="list", item=Scalar(name="int")):
            return Array(1, "int")
    return None


def _cut(axis: Any, kind: Kind) -> Any:
    """The symbol of an axis after a slice: the same if it takes all, or the axis without so many entries at its ends."""
    assert isinstance(kind, Inert)
    if kind == WHOLE_SLICE or axis is None:
        return axis
    return (
        shortened(axis, int(kind.detail))
        if kind.detail.isdecimal()
        else term("part", axis, kind.detail)
        if kind.detail
        else None
    )


def _is_slice(kind: Kind) -> bool:
    return isinstance(kind, Inert) and kind.name == "slice"


def attribute(arguments: Arguments, known: Known) -> Kind:
    target, name = arguments[0], known.get(1)
    if not isinstance(target, Array):
        return unknown_from((target,))
    match name:
        case "T":
            return Array(target.ndim, target.dtype, target.shape[::-1] if target.ndim is not None else ())
        case "shape":
            return Sequence("tuple") if target.ndim is None else TupleOf((INT,) * target.ndim)
        case "ndim" | "size":
            return INT
        case "dtype":
            return Inert("dtype")
        case "real" | "imag":
            return Array(target.ndim, "float" if target.dtype == "complex" else target.dtype, target.shape)
    return UNKNOWN


def adjoint(arguments: Arguments, known: Known) -> Kind:
    """The conjugate transpose of matrices."""
    (matrix,) = arguments
    if not isinstance(matrix, Array) or matrix.ndim is None or matrix.ndim < 2:
        return UNKNOWN
    axes = axes_of(matrix)
    return Array(matrix.ndim, matrix.dtype, (*axes[:-2], axes[-1], axes[-2]))


def mesh(arguments: Arguments, known: Known) -> Kind:
    """np.ix_(rows, columns)"""
    whole = all(item_kind(each) in (INT, BOOL) for each in arguments)
    return TupleOf((Array(len(arguments), "int"),) * len(arguments)) if whole else UNKNOWN


def places_in(arguments: Arguments, known: Known) -> Kind:
    """np.nonzero(x)"""
    (array,) = arguments
    return TupleOf((Array(1, "int"),) * array.ndim) if isinstance(array, Array) and array.ndim else UNKNOWN


def places_of_diagonals(arguments: Arguments, known: Known) -> Kind:
    """np.triu_indices(n, k)"""
    return TupleOf((Array(1, "int"),) * 2)
