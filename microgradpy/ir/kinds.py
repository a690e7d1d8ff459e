"""What is proven of a value. A kind may only prove: whatever is not listed here is `UNKNOWN`, and unknown is active."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from inspect import Parameter, Signature
from itertools import chain
from types import CellType
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.axes import map_axis
from microgradpy.ir.objects import NO_FEATURES, Features, features_in


@final
@dataclass(frozen=True, slots=True)
class Scalar:
    """A Python or NumPy number: name is "float", "int", "bool", "complex", or "real" for one of the first three. NumPy
    scalars count: np.float64, np.float32 are "float" (their width is not part of the kind)."""

    name: str


@final
@dataclass(frozen=True, slots=True)
class Array:
    """A NumPy ndarray. `ndim` None: any rank, where one of rank 0 may be a NumPy scalar. `dtype` is "float", "int", "bool",
    "complex" or "" for unknown. `shape` has one symbol per axis (one for all axes if the rank is not known), or is empty:
    axes with the same symbol have the same length, and the symbol 1 says that the length is one (`ir/axes.py`)."""

    ndim: int | None
    dtype: str = "float"
    shape: tuple[Any, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class TupleOf:
    """A tuple (exactly `tuple`) of known length."""

    items: tuple[Kind, ...]


@final
@dataclass(frozen=True, slots=True)
class Sequence:
    """A list, dict, set, range, the cell of a variable or a tuple of unknown length: `name` is the type's name. `item` is
    proven of each item of a list and of each value of a dict, without the axes of arrays, which may differ; nothing is
    proven of the items of an empty one. `entries` are the keys of a dict, if all are texts and known, and what is proven of
    its values; `keys` is what is proven of each of its keys."""

    name: str
    item: Kind = field(default_factory=lambda: UNKNOWN)
    entries: tuple[tuple[str, Kind], ...] = ()
    keys: Kind = field(default_factory=lambda: UNKNOWN)


@final
@dataclass(frozen=True, slots=True)
class Inert:
    """Something that carries no derivative: a string, None, bytes, a slice, a type, a module, a dtype, a function without
    fields ... `name` is the type's name, `detail` what else is known of it."""

    name: str
    detail: str = ""


@final
@dataclass(frozen=True, slots=True)
class Numeric:
    """A number or an array (never None, a container or an object)."""


@final
@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is proven. A cotangent of unknown kind may be None. `features` are not proven either: they tell that the value
    is, or holds, an object whose operators or attributes call functions, so that these had better be differentiated; and
    `is_iterator` that it may have been read before."""

    features: Features = NO_FEATURES
    is_iterator: bool = False


@final
@dataclass(frozen=True, slots=True)
class Optional:
    """None, which stands for what is not there yet, or a number or an array of the kind `item`; in lists also a tuple of
    numbers. Arithmetic with it gives a number or an array, or Python raises."""

    item: Kind


Kind = Scalar | Array | TupleOf | Sequence | Inert | Numeric | Optional | Unknown
UNKNOWN: Unknown = Unknown()
NUMERIC = Numeric()
CELL = Sequence("cell")
"""The cell of a variable that functions share."""
FLOAT, INT, BOOL, COMPLEX = Scalar("float"), Scalar("int"), Scalar("bool"), Scalar("complex")
REAL = Scalar("real")
UNASSIGNED = Inert("unassigned")
NUMBERS = Sequence("list", FLOAT)
"""The cotangents of a list of real numbers."""
WHOLE_SLICE = Inert("slice", ":")


def kind_of(value: object, around: tuple[int, ...] = ()) -> Kind:
    """The kind of an example value, as far as the cache distinguishes values. `around` are the dicts that it was found in, of
    which nothing is said again."""
    kind = _BY_TYPE.get(type(value))
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
    return object_with(features_in((value,)))


def _kind_of_dict(entries: dict[Any, Any], around: tuple[int, ...]) -> Kind:
    """Of one with few keys, all of them texts, each value counts; of another one what their types alone say."""
    if len(entries) <= _MOST_ENTRIES and all(type(key) is str for key in entries):
        return dict_of((key, kind_of(item, around)) for key, item in entries.items())
    return Sequence("dict", _kind_of_items(list(entries.values())), (), _kind_of_items(list(entries)))


def _kind_of_array(value: np.ndarray[Any, Any]) -> Kind:
    """One of objects may hold anything, as a list does."""
    return UNKNOWN if value.dtype.kind == "O" else Array(value.ndim, _DTYPES.get(value.dtype.kind, ""))


def object_with(features: Features) -> Kind:
    """A value of which nothing is proven, but for which these features are expected."""
    return Unknown(features) if features else UNKNOWN


def features_of_kind(kind: Kind) -> Features:
    """The features that are expected of a value of this kind, or of what it holds."""
    match kind:
        case Unknown(features=features):
            return features
        case TupleOf(items=items):
            return reduce(operator.or_, map(features_of_kind, items), NO_FEATURES)
        case Sequence(item=item, entries=entries):
            return reduce(operator.or_, (features_of_kind(value) for _, value in entries), features_of_kind(item))
    return NO_FEATURES


def unknown_from(kinds: Iterable[Kind]) -> Kind:
    """A value of which nothing is proven, computed from values of these kinds."""
    return object_with(reduce(operator.or_, map(features_of_kind, kinds), NO_FEATURES))


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
    if types in ({list}, {tuple}, {np.ndarray}):
        found = _OF_ITEMS[types.pop()](items)
        return object_with(features_in(items[:_MOST_ENTRIES])) if _holds_unknown(found) else found
    kind: Kind = UNASSIGNED
    for cls in types if len(types) <= _MOST_TYPES else (object,):
        kind = join(kind, _BY_TYPE.get(cls, UNKNOWN))
    return object_with(features_in(items[:_MOST_ENTRIES])) if kind == UNKNOWN else kind


def _kind_of_rows(rows: list[Any]) -> Kind:
    return Sequence("list", _kind_of_items(list(chain.from_iterable(rows))))


def _kind_of_tuples(items: list[Any]) -> Kind:
    if len(set(map(len, items))) > 1:
        return UNKNOWN
    return TupleOf(tuple(_kind_of_items(list(column)) for column in zip(*items, strict=True)))


def _kind_of_arrays(items: list[Any]) -> Kind:
    return list_of(map(_kind_of_array, items)).item


_OF_ITEMS: dict[type, Callable[[list[Any]], Kind]] = {list: _kind_of_rows, tuple: _kind_of_tuples, np.ndarray: _kind_of_arrays}


def _holds_unknown(kind: Kind) -> bool:
    match kind:
        case Sequence(name="list", item=item):
            return _holds_unknown(item)
        case TupleOf(items=items):
            return any(map(_holds_unknown, items))
    return isinstance(kind, Unknown)


_MOST_TYPES = 3
_PLAIN = frozenset({int, float, complex, bool, str, bytes, type(None), type, np.float64, np.int64})
_DTYPES = {"f": "float", "i": "int", "u": "int", "b": "bool", "c": "complex"}
_BY_TYPE: dict[type, Kind] = {
    float: FLOAT,
    int: INT,
    bool: BOOL,
    complex: COMPLEX,
    np.float64: FLOAT,
    np.float32: FLOAT,
    str: Inert("str"),
    bytes: Inert("bytes"),
    type(None): Inert("NoneType"),
    type(Ellipsis): Inert("ellipsis"),
    type(NotImplemented): Inert("NotImplementedType"),
    type: Inert("type"),
    range: Sequence("range"),
    CellType: CELL,
    Signature: Inert("Signature"),
    Parameter: Inert("Parameter"),
}


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
        case Array(ndim=int(ndim), dtype=dtype) if ndim > _MOST_AXES:
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


def map_axes(kind: Kind, of: Callable[[Any], Any]) -> Kind:
    match kind:
        case Array(ndim=int() as ndim, dtype=dtype, shape=shape):
            return Array(ndim, dtype, tuple(None if axis is None else map_axis(axis, of) for axis in shape))
        case Array(dtype=dtype):
            return Array(None, dtype)
        case TupleOf(items=items):
            return TupleOf(tuple(map_axes(item, of) for item in items))
        case Sequence(name="dict", entries=(_, *_) as entries):
            return dict_of((key, map_axes(item, of)) for key, item in entries)
        case Optional(item=item):
            return Optional(map_axes(item, of))
    return kind


def kind_without_items(value: object, kind_of_item: Callable[[object], Kind]) -> Kind:
    """`without_items` of the kind of an example value, without looking at each of its items."""
    if type(value) is list or type(value) is dict:
        return Sequence(type(value).__name__, object_with(features_in((value,))))
    if type(value) is tuple:
        return TupleOf(tuple(kind_without_items(item, kind_of_item) for item in value))
    return without_items(kind_of_item(value))


def without_items(kind: Kind) -> Kind:
    """The kind of something that may be written into: of what containers hold is only said what code it may run."""
    match kind:
        case Sequence(name="list" | "dict" as name):
            return Sequence(name, object_with(features_of_kind(kind)))
        case TupleOf(items=items):
            return TupleOf(tuple(map(without_items, items)))
    return kind


def is_real_scalar(kind: Kind) -> bool:
    """Proven to be a real Python or NumPy number."""
    return isinstance(kind, Scalar) and kind.name != "complex"


def is_list(kind: Kind) -> bool:
    return isinstance(kind, Sequence) and kind.name == "list"


def is_list_of_numbers(kind: Kind) -> bool:
    """Proven to be a list of real numbers, or of such lists."""
    if not isinstance(kind, Sequence) or kind.name != "list":
        return False
    return is_real_scalar(kind.item) or is_list_of_numbers(kind.item)


def is_items(kind: Kind) -> bool:
    """Proven to be a list or a dict."""
    return isinstance(kind, Sequence) and kind.name in ("list", "dict")


def holds_numbers(kind: Kind) -> bool:
    """Proven to be a list or a dict of real numbers, of tuples of real numbers, or of such lists and dicts."""
    if not isinstance(kind, Sequence) or kind.name not in ("list", "dict"):
        return False
    return is_real_scalar(kind.item) or is_tuple_of_numbers(kind.item) or holds_numbers(kind.item)


def is_tuple_of_numbers(kind: Kind) -> bool:
    """Proven to be a tuple of real numbers, so many of them."""
    return isinstance(kind, TupleOf) and bool(kind.items) and all(map(is_real_scalar, kind.items))


def cotangents_of(kind: Kind) -> Sequence:
    """What is proven of the cotangent of a list or dict, where it is one: numbers for numbers, however deep they are inside of
    each other; of other items it may be None."""
    assert isinstance(kind, Sequence)
    return Sequence(kind.name, _cotangent_in(kind.item), (), kind.keys)


def _cotangent_in(item: Kind) -> Kind:
    if is_tuple_of_numbers(item):
        return TupleOf((FLOAT,) * len(item.items))  # type: ignore[union-attr]
    return FLOAT if is_real_scalar(item) else cotangents_of(item) if holds_numbers(item) else UNKNOWN


def is_real(kind: Kind) -> bool:
    """Proven to be a real number or an array of them."""
    return is_real_scalar(kind) or (isinstance(kind, Array) and kind.dtype in ("float", "int", "bool"))


def is_numeric(kind: Kind) -> bool:
    """Proven to be a number or an array."""
    return isinstance(kind, Scalar | Array | Numeric)


def carries_nothing(kind: Kind) -> bool:
    """Proven to have no derivative, whatever it was computed from."""
    match kind:
        case Inert():
            return True
        case Scalar(name="bool") | Array(dtype="bool") | Sequence(name="range" | "set"):
            return True
        case TupleOf(items=items):
            return all(map(carries_nothing, items))
    return False


def is_proven(kind: Kind) -> bool:
    """Proven to be a number, an array or one of Python's containers."""
    return not isinstance(kind, Unknown)


def is_immutable(kind: Kind) -> bool:
    """Proven to be a value that nobody can write into."""
    match kind:
        case Scalar() | Inert() | Sequence(name="range"):
            return True
        case TupleOf(items=items):
            return all(map(is_immutable, items))
    return False


_PYTHON_TYPES: dict[str, type] = {"list": list, "dict": dict, "set": set, "tuple": tuple, "range": range}


def python_type(kind: Kind) -> type | None:
    """The class by which rules are looked up for a value of this kind, None if it is not proven: a float may be Python's or
    NumPy's."""
    match kind:
        case Array():
            return np.ndarray
        case TupleOf():
            return tuple
        case Sequence(name=name):
            return _PYTHON_TYPES.get(name)
        case Scalar(name="bool"):
            return bool
        case Inert(name="str"):
            return str
    return None


def item_kind(kind: Kind) -> Kind:
    """What is proven of the items that an iteration over a value of this kind gives."""
    match kind:
        case Array(ndim=int(rank), dtype=dtype) if rank > 0:
            return Array(rank - 1, dtype, kind.shape[1:]) if rank > 1 else Scalar(dtype) if dtype else NUMERIC
        case TupleOf(items=(first, *rest)):
            for item in rest:
                first = join(first, item)
            return first
        case Sequence(name="range"):
            return INT
        case Sequence(name="list", item=item):
            return item  # of an empty list there is none
        case Sequence(name="dict", keys=keys):
            return keys
        case Unknown(features=features):
            return object_with(features)
        case Inert(name="str"):
            return kind
    return UNKNOWN


def entry_kinds(kind: Kind) -> tuple[Kind, Kind]:
    """What is proven of the keys and of the values of a dict."""
    match kind:
        case Sequence(name="dict", item=item, keys=keys):
            return keys, item
    return UNKNOWN, unknown_from((kind,))


def dict_of(entries: Iterable[tuple[Any, Kind]]) -> Kind:
    """A dict with these keys and values, as far as it can be told."""
    known = tuple(entries)
    told = len(known) <= _MOST_ENTRIES and all(type(key) is str for key, _ in known)
    item = list_of(kind for _, kind in known).item
    return Sequence("dict", item, known if told else (), _kind_of_items([key for key, _ in known]))


_MOST_ENTRIES = 64
_MOST_AXES = 6


def list_of(items: Iterable[Kind]) -> Sequence:
    """A list of items of these kinds."""
    nothing: Kind = UNASSIGNED
    return Sequence("list", reduce(join, (map_axes(kind, lambda axis: None) for kind in items), nothing))


def with_item(kind: Kind, indices: tuple[Kind, ...], item: Kind) -> Kind | None:
    """What is proven of a list, dict or array after an item of this kind was put at a place, in an item of it if there are
    several indices; None if that may be anything else."""
    index, *inner = indices
    match kind:
        case Sequence(name="list") if index == INT:
            after = with_item(kind.item, tuple(inner), item) if inner else list_of((item,)).item
            if after is None or (after == _NOTHING and is_tuple_of_numbers(present(kind.item))):
                return None  # the zero of a tuple is made from what is there
            return Sequence("list", _join_items(kind.item, after))
        case Sequence(name="dict", item=before, keys=keys) if not inner and is_key(index):
            return Sequence("dict", join(before, list_of((item,)).item), (), join(keys, index))
        case Array(ndim=int(), dtype="float") if not inner and is_real(item) and is_basic_index(index):
            return kind
    return None


def is_key(kind: Kind) -> bool:
    """Proven to be what keys of dicts usually are: whole numbers, texts, truth values and tuples of them."""
    if isinstance(kind, TupleOf):
        return all(map(is_key, kind.items))
    return kind in (INT, BOOL, Inert("str"), _NOTHING)


def is_ordered(kind: Kind) -> bool:
    """Proven to be put into an order without any code of the user's: real numbers, texts and tuples of them."""
    if isinstance(kind, TupleOf):
        return all(map(is_ordered, kind.items))
    return is_real_scalar(kind) or kind in (BOOL, Inert("str"), UNASSIGNED)


def is_basic_index(kind: Kind) -> bool:
    """Proven to be an index of an array that means each entry at most once: whole numbers and slices."""
    items = kind.items if isinstance(kind, TupleOf) else (kind,)
    return all(item == INT or (isinstance(item, Inert) and item.name == "slice") for item in items)


def join(a: Kind, b: Kind) -> Kind:
    """What is proven of a value that is one or the other. One that is not assigned has no kind to disagree with."""
    if a == b or b == UNASSIGNED:
        return a
    if a == UNASSIGNED:
        return b
    if is_numeric(a) and is_numeric(b) and carries_nothing(a) != carries_nothing(b):
        return unknown_from((a, b))  # the cotangent of a truth value is None, that of another number never
    match a, b:
        case Scalar(), Scalar() if is_real_scalar(a) and is_real_scalar(b):
            return REAL
        case Array(), Array():
            dtype = a.dtype if a.dtype == b.dtype else ""
            if a.ndim != b.ndim:
                return Array(None, dtype)
            return Array(a.ndim, dtype, _common_axes(a.shape, b.shape))
        case TupleOf() | Sequence(), TupleOf() | Sequence():
            return _join_containers(a, b)
    return NUMERIC if is_numeric(a) and is_numeric(b) else unknown_from((a, b))


def likely_join(a: Kind, b: Kind) -> Kind:
    """The same, where what is proven of one of them only is expected of the other, in containers as well: a guess."""
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return b if isinstance(a, Unknown) else a
    match a, b:
        case TupleOf(items=left), TupleOf(items=right) if len(left) == len(right):
            return TupleOf(tuple(map(likely_join, left, right)))
        case Sequence(name="list", item=x), Sequence(name="list", item=y):
            return Sequence("list", likely_join(x, y))
    return _join_items(a, b)


def join_or_none(a: Kind, b: Kind) -> Kind:
    """The same where None may stand for a number or an array that is not there yet."""
    if UNASSIGNED in (a, b):
        return join(a, b)
    items = [present(kind) for kind in (a, b) if kind != _NOTHING]
    if len(items) == 2 and a == present(a) and b == present(b):
        return join(a, b)
    item: Kind = UNASSIGNED
    for kind in items:
        item = join(item, kind)
    if item == UNASSIGNED:
        return _NOTHING
    return Optional(item) if is_numeric(item) and not carries_nothing(item) else join(a, b)


def _join_items(a: Kind, b: Kind) -> Kind:
    """What is proven of items of a list that are one or the other: None stands for what is not there yet (`[None] * n`)."""
    items = [present(kind) for kind in (a, b) if kind != _NOTHING]
    if UNASSIGNED in (a, b) or not items or (len(items) == 2 and a == present(a) and b == present(b)):
        return join(a, b)
    item = reduce(join, items)
    return Optional(item) if is_real_scalar(item) or is_tuple_of_numbers(item) else join(a, b)


def present_inside(kind: Kind) -> Kind:
    """The same of what is in lists, too."""
    if isinstance(kind, Sequence) and kind.name == "list":
        return Sequence("list", present_inside(kind.item))
    return present(kind)


def present(kind: Kind) -> Kind:
    """The kind of a value that is known not to be None."""
    return kind.item if isinstance(kind, Optional) else kind


_NOTHING = Inert("NoneType")


def _join_containers(a: TupleOf | Sequence, b: TupleOf | Sequence) -> Kind:
    match a, b:
        case TupleOf(items=left), TupleOf(items=right) if len(left) == len(right):
            return TupleOf(tuple(map(join, left, right)))
        case TupleOf(), TupleOf():
            return Sequence("tuple")
        case Sequence(name="dict", entries=left), Sequence(name="dict", entries=right):
            if [key for key, _ in left] == [key for key, _ in right] != []:
                return dict_of((key, join(x, y)) for (key, x), (_, y) in zip(left, right, strict=True))
            return Sequence("dict", join(a.item, b.item), (), join(a.keys, b.keys))
        case Sequence(name="list", item=x), Sequence(name="list", item=y):
            return Sequence("list", _join_items(x, y))
        case Sequence(name=name, item=x), Sequence(name=other, item=y) if name == other:
            return Sequence(name, join(x, y))
    return unknown_from((a, b))


def _common_axes(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """The axes that have the same symbol in both, None for the others."""
    if len(a) != len(b):
        return ()
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def with_axes_of(kind: Kind, other: Kind) -> Kind:
    """A kind with the symbols of another one for those of its axes that have any."""
    match kind, other:
        case Array(ndim=ndim, dtype=dtype, shape=shape), Array(shape=axes) if len(shape) == len(axes):
            return Array(ndim, dtype, tuple(None if old is None else new for old, new in zip(shape, axes, strict=True)))
        case TupleOf(items=items), TupleOf(items=others) if len(items) == len(others):
            return TupleOf(tuple(map(with_axes_of, items, others)))
        case Sequence(name="dict", entries=left), Sequence(name="dict", entries=right) if len(left) == len(right):
            return dict_of((key, with_axes_of(x, y)) for (key, x), (_, y) in zip(left, right, strict=True))
    return kind


def cotangent_kind(kind: Kind) -> Kind:
    """What is proven of the cotangent of a value of this kind, where it is not absent."""
    match kind:
        case Scalar(name="complex"):
            return COMPLEX
        case Scalar():
            return FLOAT
        case Array(ndim=ndim, dtype=dtype, shape=shape):
            return Array(ndim, "float" if dtype in ("int", "bool") else dtype, shape)
        case TupleOf(items=items):
            return TupleOf(tuple(Inert("NoneType") if carries_nothing(item) else cotangent_kind(item) for item in items))
        case Numeric():
            return NUMERIC
    return UNKNOWN
