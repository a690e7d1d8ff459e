"""Kinds of what takes arrays apart, puts them together and gives them another shape.

    x[:, None]                      a new axis of length one; the other axes keep their symbols
    np.concatenate([a, b])          of the rank of its parts
    np.einsum("ij,j->i", a, x)      the axes that the letters stand for
"""

from __future__ import annotations

from typing import Any

from microgradpy.ir.kinds import (
    INT,
    NUMERIC,
    UNKNOWN,
    WHOLE_SLICE,
    Array,
    Inert,
    Kind,
    Scalar,
    Sequence,
    TupleOf,
    is_numeric,
    item_kind,
    slice_kind_of,
    unknown_from,
)
from microgradpy.passes.broadcasting import MISSING, Arguments, Known, broadcast, dtype_of, ranked, widest

Axes = tuple[Any, ...]
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
        case TupleOf(items=items):
            place = known.get(1)
            return items[place] if type(place) is int and -len(items) <= place < len(items) else unknown_from(items)
        case Array(ndim=int(), dtype=dtype):
            items = index.items if isinstance(index, TupleOf) else (index,)
            axes = _indexed(axes_of(container), items)
            # With `...` a result without axes is an array nevertheless.
            return NUMERIC if axes is None or (not axes and _DOTS in items) else ranked(len(axes), dtype, axes)
        case Array():
            return NUMERIC
        case Sequence(name="dict", entries=entries):
            return dict(entries).get(str(known.get(1)), unknown_from((container,)))
        case Sequence(name="list") if index == INT:
            return item_kind(container)
        case Sequence(name="list") if _is_slice(index):
            return container
    return unknown_from((container,))


def _indexed(axes: Axes, index: tuple[Kind, ...]) -> Axes | None:
    """The axes of `x[index]` for whole numbers, slices, None and one `...`; None if there is anything else."""
    consumed = sum(kind == INT or _is_slice(kind) for kind in index)
    if consumed > len(axes):
        return None
    rest, found = list(axes), list[Any]()
    for kind in index if _DOTS in index else (*index, _DOTS):
        if kind == INT:
            rest.pop(0)
        elif _is_slice(kind):
            axis = rest.pop(0)
            found.append(_cut(axis, kind))
        elif kind == Inert("NoneType"):
            found.append(1)
        elif kind == _DOTS:
            kept = len(rest) - _consumed_after(index)
            found += rest[:kept]
            del rest[:kept]
        else:
            return None
    return tuple(found)


def _cut(axis: Any, kind: Kind) -> Any:
    """The symbol of an axis after a slice: the same if it takes all, or the axis without so many entries at its ends."""
    assert isinstance(kind, Inert)
    if kind == WHOLE_SLICE or axis is None:
        return axis
    return ("part", axis, kind.detail) if kind.detail else None


def _consumed_after(index: tuple[Kind, ...]) -> int:
    """How many axes the items of an index after `...` take."""
    after = index[index.index(_DOTS) + 1 :] if _DOTS in index else ()
    return sum(kind == INT or _is_slice(kind) for kind in after)


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
        case "real" | "imag":
            return Array(target.ndim, "float" if target.dtype == "complex" else target.dtype, target.shape)
    return UNKNOWN


def created(arguments: Arguments, known: Known) -> Kind:
    """np.zeros(shape, dtype)"""
    if known.get("dtype", known.get(1)) in (object, "O", "object"):
        return UNKNOWN  # it may hold anything, as a list does
    dtype = given_dtype(arguments, known, 1)
    match arguments[0]:
        case Scalar(name="int"):
            return Array(1, dtype)
        case TupleOf(items=items):
            return Array(len(items), dtype)
    return Array(None, dtype)


def eye(arguments: Arguments, known: Known) -> Kind:
    """np.eye(N, M, k, dtype)"""
    return Array(2, given_dtype(arguments, known, 3))


def given_dtype(arguments: Arguments, known: Known, place: int) -> str:
    """The dtype of an array that is made, given by position or by name: float unless given."""
    if len(arguments) <= place and "dtype" not in known:
        return "float"
    given = known.get("dtype", known.get(place, MISSING))
    return {float: "float", None: "float", int: "int", bool: "bool", complex: "complex"}.get(given, "")


# Parts put together: the first argument is a display, whose items' kinds are known


def concatenated(arguments: Arguments, known: Known) -> Kind:
    """np.concatenate(parts, axis)"""
    axis = known.get("axis", known.get(1, 0 if len(arguments) == 1 else MISSING))
    arrays = _arrays_of_one_rank(arguments[0])
    if not arrays or not arrays[0].ndim or type(axis) is not int or not -arrays[0].ndim <= axis < arrays[0].ndim:
        return NUMERIC if _all_numeric(arguments[0]) else UNKNOWN
    return Array(arrays[0].ndim, widest(*map(dtype_of, arrays)), _common(arrays, axis % arrays[0].ndim))


def stacked(arguments: Arguments, known: Known) -> Kind:
    """np.stack(parts, axis)"""
    axis = known.get("axis", known.get(1, 0 if len(arguments) == 1 else MISSING))
    arrays = _arrays_of_one_rank(arguments[0])
    if not arrays or arrays[0].ndim is None or type(axis) is not int or not -arrays[0].ndim - 1 <= axis <= arrays[0].ndim:
        return NUMERIC if _all_numeric(arguments[0]) else UNKNOWN
    rank = arrays[0].ndim + 1
    axes = list(_common(arrays, None))
    axes.insert(axis % rank, None)
    return Array(rank, widest(*map(dtype_of, arrays)), tuple(axes))


def array_of(arguments: Arguments, known: Known) -> Kind:
    """np.array(numbers), np.asarray(array)"""
    match arguments[0]:
        case TupleOf(items=(_, *_) as items) if all(isinstance(kind, Scalar) for kind in items):
            dtype = widest(*map(dtype_of, items))
            return Array(1, "" if dtype == "real" else dtype)
        case TupleOf(items=(_, *_)):
            return stacked(arguments, {}) if _arrays_of_one_rank(arguments[0]) else UNKNOWN
        case Array():
            return arguments[0]
        case Scalar(name=name):
            return Array(0, "" if name == "real" else name)
    return UNKNOWN


def _all_numeric(parts: Kind) -> bool:
    return isinstance(parts, TupleOf) and bool(parts.items) and all(map(is_numeric, map(_as_array, parts.items)))


def _arrays_of_one_rank(parts: Kind) -> list[Array]:
    if not isinstance(parts, TupleOf):
        return []
    arrays = [kind for kind in map(_as_array, parts.items) if isinstance(kind, Array) and kind.ndim is not None]
    return arrays if len(arrays) == len(parts.items) and len({kind.ndim for kind in arrays}) == 1 else []


def _as_array(kind: Kind) -> Kind:
    """A list of numbers counts as the array that NumPy makes of it."""
    match kind:
        case Sequence(name="list", item=Scalar(name="float" | "int" | "complex" as dtype)):
            return Array(1, dtype)
    return kind


def _common(arrays: list[Array], but: int | None) -> Axes:
    """The axes of arrays that agree in all axes but one: a symbol that any of them has."""
    columns = zip(*map(axes_of, arrays), strict=True)
    return tuple(
        None if place == but else next((symbol for symbol in symbols if symbol is not None), None)
        for place, symbols in enumerate(columns)
    )


# Other shapes


def reshaped(arguments: Arguments, known: Known) -> Kind:
    """np.reshape(x, shape), x.reshape(2, 3): the rank is the number of lengths."""
    array, *lengths = arguments
    if not isinstance(array, Array):
        return NUMERIC if is_numeric(array) else UNKNOWN
    if len(lengths) == 1 and isinstance(lengths[0], TupleOf):
        lengths = list(lengths[0].items)
    if not lengths or any(kind != INT for kind in lengths):
        return NUMERIC
    return Array(len(lengths), array.dtype)


def same_rank(arguments: Arguments, known: Known) -> Kind:
    array = arguments[0]
    return Array(array.ndim, array.dtype) if isinstance(array, Array) else UNKNOWN


def flipped(arguments: Arguments, known: Known) -> Kind:
    kind = same_rank(arguments, known)
    return NUMERIC if kind != UNKNOWN and getattr(kind, "ndim", None) == 0 else kind


def flattened(arguments: Arguments, known: Known) -> Kind:
    """np.ravel(x), x.flatten()"""
    array = arguments[0]
    return Array(1, array.dtype, array.shape if array.ndim == 1 else ()) if isinstance(array, Array) else UNKNOWN


def expanded(arguments: Arguments, known: Known) -> Kind:
    """np.expand_dims(x, axis)"""
    array, axis = arguments[0], known.get("axis", known.get(1))
    if not isinstance(array, Array) or array.ndim is None or type(axis) is not int:
        return NUMERIC if is_numeric(array) else UNKNOWN
    if not -array.ndim - 1 <= axis <= array.ndim:
        return NUMERIC
    axes = list(axes_of(array))
    axes.insert(axis % (array.ndim + 1), 1)
    return Array(array.ndim + 1, array.dtype, tuple(axes))


def like(arguments: Arguments, known: Known) -> Kind:
    """np.zeros_like(x)"""
    array = arguments[0]
    return array if isinstance(array, Array) else NUMERIC if is_numeric(array) else UNKNOWN


def outer(arguments: Arguments, known: Known) -> Kind:
    """np.outer(x, y)"""
    if not all(map(is_numeric, arguments)):
        return UNKNOWN
    axes: list[Any] = []
    for kind in arguments:
        axes += kind.shape if isinstance(kind, Array) and kind.ndim == 1 and kind.shape else (None,)
    dtype = widest(*map(dtype_of, arguments))
    return Array(2, "" if dtype == "real" else dtype, tuple(axes))


def einsum(arguments: Arguments, known: Known) -> Kind:
    """np.einsum("ij,j->i", a, x), with the result spelt out"""
    text, operands = known.get(0), arguments[1:]
    if not isinstance(text, str) or "->" not in text or "." in text or not all(map(is_numeric, operands)):
        return UNKNOWN
    inputs, _, output = text.replace(" ", "").partition("->")
    terms = inputs.split(",")
    symbols: dict[str, Any] = {}
    if len(terms) != len(operands):
        return UNKNOWN
    for term, kind in zip(terms, operands, strict=True):
        if isinstance(kind, Array) and kind.ndim == len(term):
            # An axis of length one is repeated to the length of the others with its letter.
            symbols |= {a: s for a, s in zip(term, axes_of(kind), strict=True) if s not in (1, None) or a not in symbols}
    dtype = widest(*map(dtype_of, operands))
    return ranked(len(output), dtype, tuple(symbols.get(letter) for letter in output))


def evenly_spaced(arguments: Arguments, known: Known) -> Kind:
    """np.linspace(start, stop, num)"""
    return Array(1, "float") if all(isinstance(kind, Scalar) and kind.name != "complex" for kind in arguments) else NUMERIC


def counted(arguments: Arguments, known: Known) -> Kind:
    """np.arange(start, stop, step)"""
    dtype = widest(*map(dtype_of, arguments))
    return Array(1, dtype) if dtype in ("int", "float") and isinstance(broadcast(arguments), Scalar) else NUMERIC


def accumulated(arguments: Arguments, known: Known) -> Kind:
    """np.cumsum(x, axis): of all entries, in a row, without an axis."""
    array = arguments[0]
    axis = known.get("axis", known.get(1, None if len(arguments) == 1 else MISSING))
    if not isinstance(array, Array) or not array.ndim:
        return NUMERIC if is_numeric(array) else UNKNOWN
    dtype = "int" if array.dtype == "bool" else array.dtype
    if axis is None:
        return Array(1, dtype, array.shape if array.ndim == 1 else ())
    return Array(array.ndim, dtype, array.shape) if type(axis) is int else NUMERIC


def solution(arguments: Arguments, known: Known) -> Kind:
    """np.linalg.solve(a, b) of one matrix: of the shape of b, which is one vector or has them as columns."""
    matrix, right = arguments
    if not isinstance(matrix, Array) or matrix.ndim != 2 or not isinstance(right, Array) or right.ndim not in (1, 2):
        return NUMERIC if is_numeric(matrix) and is_numeric(right) else UNKNOWN
    dtype = widest(dtype_of(matrix), dtype_of(right))
    return Array(right.ndim, {"int": "float", "bool": "float"}.get(dtype, dtype), right.shape)
