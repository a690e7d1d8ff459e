"""The places at which a run finds arrays: those of its arguments and captured variables, and those that code reaches without
being given them (module variables, attributes of classes, what other functions captured).
"""

from __future__ import annotations

import operator
import types
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.ir.objects import static_member
from microgradpy.runtime.bytecode import names_in, variables_in
from microgradpy.state.object_graph import (
    PLAIN,
    functions_of,
    held_by_special,
    is_searched,
    is_users_class,
    is_users_module,
    modules_named,
    reached_from,
)
from microgradpy.state.shadows import CONTENTS, is_filled, is_value
from microgradpy.state.snapshots import Structure, parts_of

_BARE = PLAIN - {np.ndarray}
"""Types of what holds no array."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where an array is: in the input `number` of the run (None: elsewhere), under `key` of the `holder` (None: it is the input
    itself, or in a tuple that is). `cell` is the captured variable that it is."""

    name: str
    array: np.ndarray[Any, Any]
    number: int | None
    holder: Any = None
    key: Any = None
    cell: types.CellType | None = None

    @property
    def is_direct(self) -> bool:
        return self.number is not None and self.holder is None

    @property
    def address(self) -> tuple[int, Any]:
        """What tells it from other places that are in a holder."""
        return id(self.holder), self.key

    def is_same(self, other: Place) -> bool:
        """Whether it is the place that another is: a field or item of one holder, or one captured variable."""
        if self.cell is not None and self.cell is other.cell:
            return True
        return self.holder is not None and self.holder is other.holder and bool(self.key == other.key)


def is_plain_tuple(x: Any) -> bool:
    """Whether something is a tuple or a namedtuple, which can be made again with other items."""
    return type(x) is tuple or (isinstance(x, tuple) and hasattr(x, "_fields"))


def with_items(x: Any, items: list[Any]) -> Any:
    """A plain tuple with other items: itself, if they are the same."""
    if all(map(operator.is_, items, x)):
        return x
    return tuple(items) if type(x) is tuple else x._make(items)


def is_key(key: Any) -> bool:
    """Whether something has a hash."""
    try:
        hash(key)
    except TypeError:
        return False
    return True


def holder_of(x: Any) -> Any:
    """What holds the fields of an object: an object and its `__dict__` are read and written through either."""
    own = getattr(x, "__dict__", None)
    return own if type(own) is dict and type(x) is not dict else x


def places_in(structure: Structure, name: str, number: int, cell: types.CellType | None = None) -> Iterator[Place]:
    """The places of arrays in an input of a run."""
    if isinstance(structure.x, np.ndarray):
        yield Place(name, structure.x, number, cell=cell)
    else:
        yield from _inside(structure, name, number, is_direct=is_plain_tuple(structure.x))


def _inside(structure: Structure, name: str, number: int, is_direct: bool) -> Iterator[Place]:
    x = structure.x
    cells = cells_of(x)
    for key, part in structure.parts:
        inner = _path(x, name, key)
        if isinstance(part.x, np.ndarray):
            holder = None if is_direct else holder_of(x)
            yield Place(inner, part.x, number, holder, key, cells.get(key))
        else:
            yield from _inside(part, inner, number, is_direct and is_plain_tuple(part.x))


def cells_of(x: Any) -> dict[Any, types.CellType]:
    """The captured variables of a function, by their names."""
    if not isinstance(x, types.FunctionType):
        return {}
    return dict(zip(x.__code__.co_freevars, x.__closure__ or (), strict=True))


def _path(x: Any, name: str, key: Any) -> str:
    return f"{name}[{key!r}]" if isinstance(x, list | tuple | dict | deque) else f"{name}.{key}"


def objects_in(structure: Structure) -> Iterator[Any]:
    """What can be written into in an input of a run, arrays apart."""
    if not isinstance(structure.x, np.ndarray) and not is_value(structure.x):
        yield structure.x
    for _, part in structure.parts:
        yield from objects_in(part)


# Elsewhere


def places_elsewhere(
    function: types.FunctionType, given: Sequence[Structure]
) -> tuple[list[Place], dict[int, str], list[types.FunctionType]]:
    """The places of arrays that a function, or what it calls, may read without being given them; and by what names it may reach
    what it is given, by the identity of that; and the functions that may run. It is given values of these structures."""
    walk = _Walk({id(x) for structure in given for x in _nodes(structure)} | {id(function)})
    reached = reached_from(structure.x for structure in given)
    walk.waiting += [(f.__qualname__, f) for f in (function, *reached.functions)]
    walk.waiting += [(cls.__qualname__, cls) for cls in reached.classes | reached.made]
    while walk.waiting:
        walk.look_at(*walk.waiting.pop())
    return walk.found, walk.named, [x for x in walk.seen.values() if isinstance(x, types.FunctionType) and is_searched(x)]


def _nodes(structure: Structure) -> Iterator[Any]:
    yield structure.x
    for _, part in structure.parts:
        yield from _nodes(part)


def _variables_of(function: types.FunctionType) -> Iterator[tuple[dict[str, Any], str, Any]]:
    """The variables that a function names, each with those of the module that it is one of."""
    namespaces = [(variables_in(function.__code__), function.__globals__)]
    namespaces += [(names_in(function.__code__), vars(module)) for module in modules_named(function)]
    for names, namespace in namespaces:
        yield from ((namespace, name, namespace[name]) for name in names if name in namespace)


_COMPUTE_NAMES = frozenset({"getattr", "attrgetter", "methodcaller", "vars", "__dict__", "__getattribute__", "getmembers"})


@final
class _Walk:
    """What is still to be looked at, with its names, what has been, the places of arrays that were found, and the names of what
    is `given`; what that holds is not elsewhere."""

    def __init__(self, given: set[int]) -> None:
        self.given = given
        self.waiting: list[tuple[str, Any]] = []
        self.seen: dict[int, Any] = {}
        self.found: list[Place] = []
        self.named: dict[int, str] = {}

    def look_at(self, name: str, x: Any) -> None:
        if id(x) in self.seen or type(x) in _BARE or isinstance(x, types.ModuleType):
            return
        self.seen[id(x)] = x
        if isinstance(x, types.FunctionType):
            self.function(x)
        elif isinstance(x, type):
            self.members(x)
        elif id(x) not in self.given:
            if is_users_class(type(x)):
                self.waiting.append((type(x).__qualname__, type(x)))
            self.parts(name, x)

    def function(self, function: types.FunctionType) -> None:
        if id(function) not in self.given:
            self.captured(function)
        if not is_searched(function):
            return
        computes_names = not _COMPUTE_NAMES.isdisjoint(names_in(function.__code__))
        for namespace, name, value in _variables_of(function):
            self.add(name, value, namespace, name)
            if computes_names and is_users_module(value):
                for inner, part in vars(value).items():
                    self.add(f"{name}.{inner}", part, vars(value), inner)

    def captured(self, function: types.FunctionType) -> None:
        """What a function has captured, and its defaults."""
        own = function.__qualname__
        for name, cell in cells_of(function).items():
            if is_filled(cell):
                self.add(f"{own}.{name}", cell.cell_contents, cell, CONTENTS, cell)
        for holder in (function.__defaults__ or (), function.__kwdefaults__ or {}):
            for key, value in parts_of(holder):
                self.add(f"{own}.__defaults__[{key!r}]", value, holder, key)

    def members(self, cls: type) -> None:
        """What the attributes of a class are, and the functions that they run."""
        for base in filter(is_users_class, cls.__mro__):
            for name in vars(base):
                value = static_member(base, name)
                self.waiting += [(f.__qualname__, f) for f in functions_of(value)]
                if not (name.startswith("__") and name.endswith("__")):
                    self.add(f"{base.__qualname__}.{name}", value, base, name)

    def parts(self, name: str, x: Any) -> None:
        if isinstance(x, list | tuple | deque | set | frozenset) and _BARE.issuperset(map(type, x)):
            return
        held = x if isinstance(x, set | frozenset) else held_by_special(x)
        if held is not None:
            for number, part in enumerate(held):
                self.add(name, part, x, number)
        else:
            for key, part in parts_of(x):
                self.add(_path(x, name, key), part, holder_of(x), key)

    def add(self, name: str, value: Any, holder: Any, key: Any, cell: types.CellType | None = None) -> None:
        if isinstance(value, np.ndarray):
            if value.size:
                self.found.append(Place(name, value, None, holder, key, cell))
        elif type(value) not in _BARE:
            self.waiting.append((name, value))
            if id(value) in self.given:
                self.named.setdefault(id(value), name)
