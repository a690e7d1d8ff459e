"""What a trace keeps of a value: how it was when it was recorded.

An array is copied, and a list, dict, set, tuple or object of the user's is copied together with what is in it. What did not
change since the last time is not copied again: the earlier copy stands for it, so that many records of one array share its
data, and two records of a value are the same object exactly if nothing in it changed between them.

Nothing of the user's runs: values are compared by identity, arrays by their bytes. Numbers, strings, functions, classes and
modules do not change, and stand for themselves. What cannot be copied without its own help (files, generators, locks) is kept
by reference.
"""

from __future__ import annotations

import enum
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, final

import numpy as np

from microgradpy.tangents.fields import dict_of
from microgradpy.tangents.memory_order import copied

_NUMBERS_AND_TEXTS = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodWrapperType, types.MethodDescriptorType, np.ufunc)
_OTHERS = (type, types.ModuleType, types.CodeType, types.WrapperDescriptorType, types.GetSetDescriptorType, np.dtype)
_ATOMS = frozenset((*_NUMBERS_AND_TEXTS, *_FUNCTIONS, *_OTHERS))
_UNCHANGING = (type, types.ModuleType, np.generic, np.dtype, enum.Enum, BaseException, types.BuiltinFunctionType)
_MISSING = object()


def is_atom(value: Any) -> bool:
    """Whether a value stands for itself, because it cannot change."""
    return type(value) in _ATOMS or isinstance(value, _UNCHANGING) or type(value).__name__ == _OF_CYTHON


# The functions of modules that are written in Cython (np.random.default_rng); each version of Cython has a type of its own.
_OF_CYTHON = "cython_function_or_method"


@final
class Snapshots:
    """The copies of one trace. `latest` has the last copy of each mutable value by its identity; the value is kept alive with
    it, so that no other one gets its identity. `owners` has each copy with the value that it was made of."""

    __slots__ = ("_cyclic", "_in_progress", "by_reference", "latest", "owners")

    def __init__(self) -> None:
        self.latest: dict[int, tuple[Any, Any]] = {}
        self.owners: dict[int, tuple[Any, Any]] = {}
        self.by_reference: Any = None
        self._in_progress: dict[int, Any] = {}
        self._cyclic: set[int] = set()

    def take(self, value: Any) -> Any:
        """The copy that stands for a value as it is now. `by_reference` is then what in it could not be copied, or None."""
        if type(value) in _ATOMS:
            return value
        self.by_reference = None
        try:
            return self._take(value)
        except Exception:  # too deep, or of a kind whose parts cannot be set: whatever it is, the program goes on
            self.by_reference = value
            return value
        finally:
            self._in_progress.clear()
            self._cyclic.clear()

    def _take(self, value: Any) -> Any:
        if is_atom(value):
            return value
        key = id(value)
        if key in self._in_progress:
            self._cyclic.add(key)
            return self._in_progress[key]
        known = self.latest.get(key)
        last = _MISSING if known is None else known[1]
        kind = type(value)
        if kind is np.ndarray:
            copy = same_array(value, last)
        elif isinstance(value, tuple):
            copy = self._tuple(value, last)
        elif kind in CONTAINERS:
            copy = self._container(value, last, *CONTAINERS[kind])
        elif is_plain_object(kind):
            copy = self._container(value, last, *OBJECT)
        else:
            self.by_reference = value
            return value
        if copy is not value:
            self.know(value, copy)
        return copy

    def know(self, value: Any, copy: Any) -> None:
        """Let a copy stand for a value as it is now."""
        self.latest[id(value)] = value, copy
        self.owners[id(copy)] = copy, value

    def _tuple(self, value: tuple[Any, ...], last: Any) -> Any:
        items = [self._take(item) for item in value]
        if all(map(is_same, items, value)):
            return value
        if last is not _MISSING and all(map(is_same, items, last)):
            return last
        return tuple.__new__(type(value), items)

    def _container(
        self,
        value: Any,
        last: Any,
        make: Callable[[Any], Any],
        parts: Callable[[Any], list[Any]],
        fill: Callable[[Any, Any], Any],
    ) -> Any:
        """A container's copy: `parts` are what it holds, in order; `fill` puts them into what `make` makes."""
        copy = self._in_progress[id(value)] = make(value)
        held = [self._take(part) for part in parts(value)]
        del self._in_progress[id(value)]
        if last is not _MISSING and id(value) not in self._cyclic:
            before = parts(last)
            if len(before) == len(held) and all(map(is_same, before, held)):
                return last
        fill(copy, held)
        return copy


def is_same(first: Any, second: Any) -> bool:
    return first is second or (type(first) is type(second) is float and first == second and first != 0.0)


def same_array(value: np.ndarray[Any, Any], last: Any) -> Any:
    if isinstance(last, np.ndarray) and last.dtype == value.dtype and last.shape == value.shape:
        if value.dtype.hasobject:
            same = all(map(is_same, value.ravel().tolist(), last.ravel().tolist()))
        else:
            same = value.tobytes() == last.tobytes()
        if same:
            return last
    copy = copied(value)
    copy.flags.writeable = False
    return copy


def is_plain_object(kind: type) -> bool:
    """Whether the objects of a class are nothing but their attributes: it inherits from no type written in C, and does not say
    how it is copied."""
    known = _plain.get(kind)
    if known is None:
        bases = [base for base in kind.__mro__ if base is not object]
        known = (
            all(base.__flags__ & _HEAP_TYPE for base in bases)
            # A class statement makes one of the two for what inherits from nothing; types written in C have neither.
            and all(not {"__dict__", "__slots__"}.isdisjoint(vars(base)) for base in bases if base.__base__ is object)
            and getattr(kind, "__reduce_ex__") is object.__reduce_ex__  # noqa: B009
            and getattr(kind, "__reduce__") is object.__reduce__  # noqa: B009
            and not any(name in vars(base) for base in bases for name in ("__deepcopy__", "__getstate__"))
        )
        if len(_plain) > 10_000:
            _plain.clear()
        _plain[kind] = known
    return known


_HEAP_TYPE = 1 << 9
_plain: dict[type, bool] = {}


def _slots(kind: type) -> Iterator[str]:
    for base in kind.__mro__:
        for name, member in vars(base).items():
            if isinstance(member, types.MemberDescriptorType) and name != "__dict__":  # as a namespace has it
                yield name


def attributes_of(value: Any) -> list[Any]:
    """The names and values of an object's attributes, one after the other."""
    in_slots = {name: held for name in _slots(type(value)) if (held := _slot(value, name)) is not _MISSING}
    return _pairs({**dict_of(value, object.__getattribute__), **in_slots})


def _slot(value: Any, name: str) -> Any:
    try:
        return object.__getattribute__(value, name)
    except AttributeError:
        return _MISSING


def _pairs(mapping: Any) -> list[Any]:
    return [part for pair in mapping.items() for part in pair]


def _set_attributes(copy: Any, parts: list[Any]) -> None:
    kind = type(copy)
    in_slots = set(_slots(kind))
    for name, held in zip(parts[::2], parts[1::2], strict=True):
        if name in in_slots or not any(name in vars(base) for base in kind.__mro__):
            object.__setattr__(copy, name, held)  # the `__dict__` is not asked for, see `dict_of`
        else:  # the class may have a property of that name
            object.__getattribute__(copy, "__dict__")[name] = held


def _cell_parts(cell: types.CellType) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


def _fill_cell(cell: types.CellType, parts: list[Any]) -> None:
    if parts:
        cell.cell_contents = parts[0]


_Way = tuple[Callable[[Any], Any], Callable[[Any], list[Any]], Callable[[Any, Any], Any]]
CONTAINERS: dict[type, _Way] = {
    list: (lambda value: [], list, list.extend),
    dict: (lambda value: {}, _pairs, lambda copy, parts: copy.update(zip(parts[::2], parts[1::2], strict=True))),
    set: (lambda value: set(), list, set.update),
    frozenset: (lambda value: value, list, lambda copy, parts: None),
    deque: (lambda value: deque(maxlen=value.maxlen), list, deque.extend),
    bytearray: (lambda value: bytearray(), list, bytearray.extend),
    types.SimpleNamespace: (
        lambda value: types.SimpleNamespace(),
        lambda value: _pairs(vars(value)),
        lambda copy, parts: copy.__dict__.update(zip(parts[::2], parts[1::2], strict=True)),
    ),
    types.CellType: (lambda value: types.CellType(), _cell_parts, _fill_cell),
    types.MethodType: (lambda value: value, lambda value: [], lambda copy, parts: None),
}
OBJECT: _Way = (lambda value: object.__new__(type(value)), attributes_of, _set_attributes)


def parts_of(value: Any) -> list[Any]:
    """What a container or an object of the user's holds; nothing for other values."""
    kind = type(value)
    if kind in CONTAINERS:
        return CONTAINERS[kind][1](value)
    return attributes_of(value) if is_plain_object(kind) else []
