"""Kinds of the inputs of a unit: of example values, and of what a caller has proven of the arguments that it gives.

    f(np.ones((3, 4)), np.ones(4))      Array(2, "float", (d1, d2)), Array(1, "float", (d2,))

Axes of equal length share a symbol, and symbols are counted from the first on, so that equal calls have equal kinds.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np

from microgradpy.ir.kinds import (
    BY_TYPE,
    INT,
    MEMBER,
    MOST_AXES,
    MOST_ENTRIES,
    UNASSIGNED,
    UNKNOWN,
    WHOLE_SLICE,
    Array,
    Inert,
    Kind,
    Scalar,
    Sequence,
    TupleOf,
    Unknown,
    dict_of,
    join,
    list_of,
    map_axes,
    object_with,
    without_items,
)
from microgradpy.ir.objects import features_in
from microgradpy.ir.random_sources import is_source


def kind_of(value: object, around: tuple[int, ...] = ()) -> Kind:
    """The kind of an example value, as far as the cache distinguishes values. `around` are the dicts that it was found in, of
    which nothing is said again."""
    kind = _kind_of_member(value) if isinstance(value, enum.Enum) else BY_TYPE.get(type(value))
    if kind is not None:
        return kind
    if type(value) is list:
        return Sequence("list", _kind_of_items(value))
    if type(value) is dict:
        return UNKNOWN if id(value) in around else _kind_of_dict(value, (*around, id(value)))
    if type(value) is set and all(map(_is_plain_item, value)):
        return Sequence("set")
    if type(value) is slice:
        return WHOLE_SLICE if (value.start, value.stop, value.step) == (None, None, None) else Inert("slice")
    if type(value) is np.ndarray:
        return _kind_of_array(value)
    if type(value) is tuple:
        return TupleOf(tuple(kind_of(item, around) for item in value))
    if isinstance(value, np.generic):
        name = _DTYPES.get(value.dtype.kind)
        return Scalar(name) if name else UNKNOWN
    if is_source(value):
        return Inert(type(value).__name__)
    return object_with(features_in((value,)))


def _kind_of_member(member: enum.Enum) -> Kind | None:
    if not is_plain_member(member):
        return None
    return INT if isinstance(member, int) else Inert(MEMBER)


def is_plain_member(member: enum.Enum) -> bool:
    """Whether a member of an enumeration is a whole number or a name for a literal: its class says nothing of its own of what
    operators mean."""
    cls, is_number = type(member), isinstance(member, int)
    base: type = int if is_number else enum.Enum
    ways = _OF_NUMBERS if is_number else ("__eq__", "__hash__")
    if not is_number and cls.__mro__ != (cls, enum.Enum, object):
        return False
    is_literal = type(member.value) in (int, str, bool)
    return is_literal and not isinstance(member, enum.Flag) and all(getattr(cls, name) is getattr(base, name) for name in ways)


_OTHER_WAYS = ("__new__", "__doc__", "__repr__", "__format__", "__getattribute__", "__getnewargs__")
_OF_NUMBERS = tuple(name for name in vars(int) if name.startswith("__") and name not in _OTHER_WAYS)
"""What says how whole numbers are computed with, compared and put in an order."""


def _kind_of_dict(entries: dict[Any, Any], around: tuple[int, ...]) -> Kind:
    """Of one with few keys, all of them texts, each value counts; of another one what their types alone say."""
    if len(entries) <= MOST_ENTRIES and all(type(key) is str for key in entries):
        return dict_of((key, kind_of(item, around)) for key, item in entries.items())
    return Sequence("dict", _kind_of_items(list(entries.values())), (), _kind_of_items(list(entries)))


def _kind_of_array(value: np.ndarray[Any, Any]) -> Kind:
    """One of objects may hold anything, as a list does."""
    return UNKNOWN if value.dtype.kind == "O" else Array(value.ndim, _DTYPES.get(value.dtype.kind, ""))


def slice_kind_of(start: Any, stop: Any, step: Any) -> Kind:
    """The kind of a constant slice: of one that cuts entries off at the ends how many, of another the slice itself."""
    if start is None and stop is None and step is None:
        return WHOLE_SLICE
    if not all(part is None or type(part) is int for part in (start, stop, step)):
        return Inert("slice")
    front, back = start or 0, stop or 0
    if front >= 0 >= back and step in (None, 1) and (stop is None or back < 0):
        return Inert("slice", f"{front - back}")
    if start is None and stop is None and step == -1:
        return Inert("slice", "0")
    return Inert("slice", f"{start}:{stop}:{step}")


def _is_plain_item(value: object) -> bool:
    """Whether an item of a set is a number, a text or a tuple of these, which carries nothing there."""
    return type(value) in _PLAIN or (type(value) is tuple and all(map(_is_plain_item, value)))


def _kind_of_items(items: list[Any]) -> Kind:
    """What all items of a list are, if their types alone say it: numbers of one type, or texts; lists of such items, or tuples
    of one length. This is looked at in every call, so that no item is looked at by itself."""
    types = set(map(type, items))
    if types in ({list}, {tuple}, {np.ndarray}, {dict}):
        found = _OF_ITEMS[types.pop()](items)
        return object_with(features_in(items[:MOST_ENTRIES])) if _holds_unknown(found) else found
    kind: Kind = UNASSIGNED
    for cls in types if len(types) <= _MOST_TYPES else (object,):
        kind = join(kind, BY_TYPE.get(cls, UNKNOWN))
    return object_with(features_in(items[:MOST_ENTRIES])) if kind == UNKNOWN else kind


def _kind_of_rows(rows: list[Any]) -> Kind:
    return Sequence("list", _kind_of_items(list(chain.from_iterable(rows))))


def _kind_of_dicts(items: list[Any]) -> Kind:
    """Of dicts with the same few texts as keys, each value counts. What is in others in turn is not looked at: they may hold
    each other."""
    first = items[0].keys()
    if len(first) <= MOST_ENTRIES and all(type(key) is str for key in first) and all(each.keys() == first for each in items):
        return dict_of((key, _kind_of_flat([each[key] for each in items])) for key in first)
    values = _kind_of_flat(list(chain.from_iterable(each.values() for each in items)))
    return Sequence("dict", values, (), _kind_of_flat(list(chain.from_iterable(items))))


def _kind_of_flat(items: list[Any]) -> Kind:
    return UNKNOWN if not _HOLD_OTHERS.isdisjoint(map(type, items)) else _kind_of_items(items)


def _kind_of_tuples(items: list[Any]) -> Kind:
    if len(set(map(len, items))) > 1:
        return UNKNOWN
    return TupleOf(tuple(_kind_of_items(list(column)) for column in zip(*items, strict=True)))


def _kind_of_arrays(items: list[Any]) -> Kind:
    return list_of(map(_kind_of_array, items)).item


_OF_ITEMS: dict[type, Callable[[list[Any]], Kind]] = {list: _kind_of_rows, tuple: _kind_of_tuples, np.ndarray: _kind_of_arrays}
_OF_ITEMS[dict] = _kind_of_dicts
_HOLD_OTHERS = frozenset({list, tuple, dict, set})


def _holds_unknown(kind: Kind) -> bool:
    match kind:
        case Sequence(name="dict", entries=(_, *_) as entries):
            return any(_holds_unknown(item) for _, item in entries)
        case Sequence(name="list" | "dict", item=item):
            return _holds_unknown(item)
        case TupleOf(items=items):
            return any(map(_holds_unknown, items))
    return isinstance(kind, Unknown)


_MOST_TYPES = 3
_PLAIN = frozenset({int, float, complex, bool, str, bytes, type(None), type, np.float64, np.int64})
_DTYPES = {"f": "float", "i": "int", "u": "int", "b": "bool", "c": "complex"}


def kind_without_items(value: object, kind_of_item: Callable[[object], Kind]) -> Kind:
    """`without_items` of the kind of an example value, without looking at each of its items."""
    if type(value) is list or type(value) is dict:
        return Sequence(type(value).__name__, object_with(features_in((value,))))
    if type(value) is tuple:
        return TupleOf(tuple(kind_without_items(item, kind_of_item) for item in value))
    return without_items(kind_of_item(value))


def kinds_of(values: Iterable[object], kind_of_value: Callable[[object], Kind] = kind_of) -> tuple[Kind, ...]:
    """The kinds of the arguments of one call: arrays whose axes have equal lengths share symbols."""
    lengths: dict[int, Any] = {1: 1}
    return tuple(bounded(_with_axes(kind_of_value(value), value, lengths)) for value in values)


def _with_axes(kind: Kind, value: Any, lengths: dict[int, Any]) -> Kind:
    """The kind of a value with symbols for the axes of its arrays, also of those in tuples and dicts."""
    match kind:
        case Array() if type(value) is np.ndarray:
            axes = tuple(lengths.setdefault(length, ("d", len(lengths))) for length in value.shape)
            return Array(kind.ndim, kind.dtype, axes)
        case TupleOf(items=items):
            return TupleOf(tuple(_with_axes(item, each, lengths) for item, each in zip(items, value, strict=True)))
        case Sequence(name="dict", entries=(_, *_) as entries):
            return dict_of((key, _with_axes(item, value[key], lengths)) for key, item in entries)
    return kind


def bounded(kind: Kind, depth: int = 4) -> Kind:
    """The kind with nothing said of what is nested deeper: a list linked by tuples is as deep as it is long, and each
    length would be a kind of its own."""
    match kind:
        case Array(ndim=int(ndim), dtype=dtype) if ndim > MOST_AXES:
            return Array(None, dtype)  # a function that calls itself may add an axis each time
        case TupleOf(items=items):
            return TupleOf(tuple(bounded(item, depth - 1) for item in items)) if depth else UNKNOWN
        case Sequence(name="dict", entries=entries) if entries:
            return dict_of((key, bounded(item, depth - 1)) for key, item in entries) if depth else Sequence("dict")
    return kind


def canonical(kinds: tuple[Kind, ...]) -> tuple[tuple[Kind, ...], dict[Any, Any]]:
    """The same kinds with their axis symbols counted from the first on, so that equal calls have equal kinds; and what
    each of the new symbols stands for."""
    symbols: dict[Any, Any] = {1: 1}
    renamed = tuple(map_axes(bounded(kind), lambda axis: symbols.setdefault(axis, ("d", len(symbols)))) for kind in kinds)
    return renamed, {new: old for old, new in symbols.items()}


def in_terms_of(kind: Kind, symbols: Mapping[Any, Any]) -> Kind:
    """A kind with these symbols replaced; what is not among them has a meaning elsewhere only, and is dropped."""
    return map_axes(kind, symbols.get)


def in_terms_of_inputs(kind: Kind) -> Kind:
    """The kind of a result with only those symbols that `kinds_of` and `canonical` give to inputs."""
    return map_axes(kind, lambda axis: axis if axis == 1 or axis[0] == "d" else None)
