"""What is proven of a value. A kind may only prove: whatever is not listed here is `UNKNOWN`, and unknown is active."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import reduce
from inspect import Parameter, Signature
from types import CellType
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import field, nodeclass
from microgradpy.ir.axes import map_axis
from microgradpy.ir.objects import NO_FEATURES, Features
from microgradpy.ir.random_sources import source_class


@final
@nodeclass(frozen=True, slots=True)
class Scalar:
    """A Python or NumPy number: name is "float", "int", "bool", "complex", or "real" for one of the first three. NumPy
    scalars count: np.float64, np.float32 are "float" (their width is not part of the kind)."""

    name: str


@final
@nodeclass(frozen=True, slots=True)
class Array:
    """A NumPy ndarray. `ndim` None: any rank, where one of rank 0 may be a NumPy scalar. `dtype` is "float", "int", "bool",
    "complex" or "" for unknown. `shape` has one symbol per axis (one for all axes if the rank is not known), or is empty:
    axes with the same symbol have the same length, and the symbol 1 says that the length is one (`ir/axes.py`)."""

    ndim: int | None
    dtype: str = "float"
    shape: tuple[Any, ...] = ()


@final
@nodeclass(frozen=True, slots=True)
class TupleOf:
    """A tuple (exactly `tuple`) of known length."""

    items: tuple[Kind, ...]


@final
@nodeclass(frozen=True, slots=True)
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
@nodeclass(frozen=True, slots=True)
class Inert:
    """Something that carries no derivative: a string, None, bytes, a slice, a type, a module, a dtype, a function without
    fields ... `name` is the type's name, `detail` what else is known of it."""

    name: str
    detail: str = ""


@final
@nodeclass(frozen=True, slots=True)
class Numeric:
    """A number or an array (never None, a container or an object), of at most `ndim` axes, or of any number if that is None.
    `dtype` is "real" if it is one of real numbers that are no truth values, else ""."""

    dtype: str = ""
    ndim: int | None = None


@final
@nodeclass(frozen=True, slots=True)
class Unknown:
    """Nothing is proven. A cotangent of unknown kind may be None. `features` are not proven either: they tell that the value
    is, or holds, an object whose operators or attributes call functions, so that these had better be differentiated; and
    `is_iterator` that it may have been read before."""

    features: Features = NO_FEATURES
    is_iterator: bool = False


@final
@nodeclass(frozen=True, slots=True)
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
NOTHING = Inert("NoneType")
"""What None is."""
MEMBER = "Enum"
"""What members of enumerations are: inert."""
NUMBERS = Sequence("list", FLOAT)
NOTHING_YET = Sequence("list", UNASSIGNED)
"""What a list is in which nothing has been found."""
"""The cotangents of a list of real numbers."""
WHOLE_SLICE = Inert("slice", ":")
BY_TYPE: dict[type, Kind] = {
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
"""What values of a class are, where the class alone says it."""


MOST_AXES = 6  # of an array of which the rank is told
MOST_ENTRIES = 64  # of a dict, of each of which something is said


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


def without_items(kind: Kind) -> Kind:
    """The kind of something that may be written into: of what containers hold is only said what code it may run."""
    match kind:
        case Sequence(name="list" | "dict" as name):
            return Sequence(name, object_with(features_of_kind(kind)))
        case Sequence(name="tuple") if holds_numbers(kind):
            return Sequence("tuple")
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


def is_values_of_numbers(kind: Kind) -> bool:
    """Proven to be the view of the values of a dict, real numbers."""
    return isinstance(kind, Sequence) and kind.name == "dict_values" and is_real_scalar(kind.item)


def is_items(kind: Kind) -> bool:
    """Proven to be a list or a dict."""
    return isinstance(kind, Sequence) and kind.name in ("list", "dict")


def holds_numbers(kind: Kind) -> bool:
    """Proven to be a list or a dict of real numbers, of tuples with real numbers, or of such lists and dicts; or a tuple of
    real numbers of which it is not known how many there are."""
    if not isinstance(kind, Sequence) or kind.name not in ("list", "dict", "tuple"):
        return False
    if kind.name == "tuple":
        return is_real_scalar(kind.item)
    return is_real_scalar(kind.item) or is_tuple_with_numbers(kind.item) or holds_numbers(kind.item)


def is_tuple_with_numbers(kind: Kind) -> bool:
    """The same, with texts or lists of texts beside the numbers, in the places of which the cotangent has zeros."""
    if not isinstance(kind, TupleOf) or not any(map(is_real_scalar, kind.items)):
        return False
    return all(is_real_scalar(item) or item in _TEXTS for item in kind.items)


def holds_arrays(kind: Kind) -> bool:
    """Proven to be a list or a dict of numbers and arrays, of which some may be arrays or complex."""
    return is_items(kind) and is_numeric(kind.item) and not is_real_scalar(kind.item)  # type: ignore[union-attr]


def has_open_tuples(kind: Kind) -> bool:
    """Proven to be, or to hold in lists and dicts, tuples of real numbers of which it is not known how many there are."""
    return isinstance(kind, Sequence) and holds_numbers(kind) and (kind.name == "tuple" or has_open_tuples(kind.item))


def is_tuple_of_numbers(kind: Kind) -> bool:
    """Proven to be a tuple of real numbers, so many of them."""
    return isinstance(kind, TupleOf) and bool(kind.items) and all(map(is_real_scalar, kind.items))


_TEXTS: tuple[Kind, ...] = (Inert("str"), Sequence("list", Inert("str")))


def cotangents_of(kind: Kind) -> Sequence:
    """What is proven of the cotangent of a list or dict, where it is one: numbers for numbers, however deep they are inside of
    each other; of other items it may be None. That of a tuple of many numbers is a list, which may be written into."""
    assert isinstance(kind, Sequence)
    return Sequence("list" if kind.name == "tuple" else kind.name, _cotangent_in(kind.item), (), kind.keys)


def _cotangent_in(item: Kind) -> Kind:
    if is_tuple_with_numbers(item):
        return TupleOf((FLOAT,) * len(item.items))  # type: ignore[union-attr]
    return FLOAT if is_real_scalar(item) else cotangents_of(item) if holds_numbers(item) else UNKNOWN


def is_real(kind: Kind) -> bool:
    """Proven to be a real number or an array of them."""
    return is_real_scalar(kind) or (isinstance(kind, Array | Numeric) and kind.dtype in ("real", "float", "int", "bool"))


def is_collection(kind: Kind) -> bool:
    """Proven to be an array or one of Python's containers."""
    return isinstance(kind, Array | TupleOf | Sequence) and kind != CELL


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


def holds_no_objects(kind: Kind) -> bool:
    """Proven to be, and to hold, nothing but numbers, arrays of them, texts and Python's containers."""
    match kind:
        case Unknown():
            return False
        case Array(dtype=dtype):
            return dtype != ""
        case TupleOf(items=items):
            return all(map(holds_no_objects, items))
        case Sequence(name=name, item=item):
            return name == "range" or (name in ("list", "tuple", "dict") and holds_no_objects(item))
        case Optional(item=item):
            return holds_no_objects(item)
        case Inert(name=name):
            return name in _HOLD_NOTHING
    return True


def holds_no_lists(kind: Kind) -> bool:
    """The same, and no lists or dicts either."""
    match kind:
        case Sequence(name=name):
            return name == "range"
        case TupleOf(items=items):
            return all(map(holds_no_lists, items))
    return holds_no_objects(kind)


_HOLD_NOTHING = frozenset(("str", "bytes", "NoneType", "slice", "unassigned"))


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
        case Inert(name=name):
            return source_class(name)
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
        case Sequence(name="list" | "tuple" | "dict_values", item=item):
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
    keys: Kind = UNASSIGNED
    told = len(known) <= MOST_ENTRIES and all(type(key) is str for key, _ in known)
    item = list_of(kind for _, kind in known).item
    keys = reduce(join, {BY_TYPE.get(type(key), UNKNOWN) for key, _ in known}, keys)
    return Sequence("dict", item, known if told else (), keys)


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
            if after is None or (after == NOTHING and is_tuple_of_numbers(present(kind.item))):
                return None  # the zero of a tuple is made from what is there
            return Sequence("list", join_items(kind.item, after))
        case Sequence(name="dict", item=before, keys=keys) if not inner and is_key(index):
            return Sequence("dict", join(before, list_of((item,)).item), (), join(keys, index))
        case Array(ndim=int(), dtype="float") if not inner and is_real(item):
            return kind if is_basic_index(index) or is_picking_index(index) else None
    return None


def is_key(kind: Kind) -> bool:
    """Proven to be what keys of dicts usually are: whole numbers, texts, truth values, members of enumerations, and tuples of
    them."""
    if isinstance(kind, TupleOf):
        return all(map(is_key, kind.items))
    return kind in (INT, BOOL, Inert("str"), NOTHING, Inert(MEMBER))


def is_ordered(kind: Kind) -> bool:
    """Proven to be put into an order without any code of the user's: real numbers, texts and tuples of them."""
    if isinstance(kind, TupleOf):
        return all(map(is_ordered, kind.items))
    return is_real_scalar(kind) or kind in (BOOL, Inert("str"), UNASSIGNED)


def is_compared(kind: Kind) -> bool:
    """Proven to be equal to others, or not, without any code of the user's: numbers, texts, None, and tuples, lists and dicts
    of them."""
    match kind:
        case TupleOf(items=items):
            return all(map(is_compared, items))
        case Sequence(name="list", item=item):
            return is_compared(item)
        case Sequence(name="dict", item=item, keys=keys):
            return is_compared(item) and is_compared(keys)
    return isinstance(kind, Scalar) or kind in (BOOL, NOTHING, Inert("str"), UNASSIGNED)


def is_basic_index(kind: Kind) -> bool:
    """Proven to be an index of an array that means each entry at most once: whole numbers and slices."""
    items = kind.items if isinstance(kind, TupleOf) else (kind,)
    return all(item == INT or (isinstance(item, Inert) and item.name == "slice") for item in items)


def is_picking_index(kind: Kind) -> bool:
    """Proven to be an index of an array that gives a copy of entries: whole numbers, slices and the like, with a list or array
    of whole numbers or truth values among them."""
    items = kind.items if isinstance(kind, TupleOf) else (kind,)
    return any(map(_picks, items)) and all(_picks(item) or item == INT or isinstance(item, Inert) for item in items)


def is_mask(kind: Kind) -> bool:
    """Proven to be an array of truth values, which means no entry twice."""
    return isinstance(kind, Array) and kind.dtype == "bool"


def _picks(kind: Kind) -> bool:
    match kind:
        case Array(ndim=int() as ndim, dtype="int" | "bool"):
            return ndim > 0
        case Sequence(name="list", item=item):
            return item in (INT, BOOL)
    return False


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
    return either_numeric((a, b)) if is_numeric(a) and is_numeric(b) else unknown_from((a, b))


def either_numeric(kinds: Iterable[Kind]) -> Numeric:
    """A number or an array that is one of these, or what is computed of all of them entry by entry."""
    every = tuple(kinds)
    ranks = [0 if isinstance(kind, Scalar) else kind.ndim for kind in every if isinstance(kind, Scalar | Array | Numeric)]
    bounded = [rank for rank in ranks if rank is not None and rank <= MOST_AXES]
    return Numeric(entries_of(*every).dtype, max(bounded) if len(bounded) == len(every) else None)


def entries_of(*kinds: Kind) -> Numeric:
    """A number or an array of entries of these, or of sums and products of them."""
    return Numeric("real" if all(map(_is_real_number, kinds)) else "")


def _is_real_number(kind: Kind) -> bool:
    """The same as `is_real` of what is surely no truth value."""
    return is_real(kind) and not carries_nothing(kind) and kind != REAL


def join_items(a: Kind, b: Kind) -> Kind:
    """What is proven of items of a list that are one or the other: None stands for what is not there yet (`[None] * n`)."""
    items = [present(kind) for kind in (a, b) if kind != NOTHING]
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
            return Sequence("list", join_items(x, y))
        case Sequence(name=name, item=x), Sequence(name=other, item=y) if name == other:
            return Sequence(name, join(x, y))
    return unknown_from((a, b))


def _common_axes(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """The axes that have the same symbol in both, None for the others."""
    if len(a) != len(b):
        return ()
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


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
            return kind
    return UNKNOWN
