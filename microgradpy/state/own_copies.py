"""Copies of all that a call is given, as it is when the call is made: for a function that is run once more later, when others
may have written into it.

A list that a program's history is kept in, an attribute that counts, an entry of a dict: what the function reads of these is
what they were. What is one object in two places is one in the copies. Whatever cannot be copied without asking its class, or is
known by what it is rather than by what it holds, stays itself, and is watched.
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable
from enum import Enum
from typing import Any, final

import numpy as np

from microgradpy.frontend.sharing import with_own_cells
from microgradpy.ir.objects import static_member
from microgradpy.runtime.bytecode import names_in
from microgradpy.runtime.markers import differentiates
from microgradpy.runtime.write_detection import Snapshot, arrays_seen_by, functions_called_by, reached
from microgradpy.state.object_graph import is_users_class
from microgradpy.tangents.fields import named_like
from microgradpy.tangents.memory_order import copied
from microgradpy.tangents.projection import fields_of
from microgradpy.tangents.types import Tangent

_OF_ITEMS = (list, set, frozenset, deque)
_OF_FIELDS = ("abc", "typing", "microgradpy.nn")
"""Modules whose classes hold nothing else, either."""
_OF_KEYS = (dict, OrderedDict, defaultdict)


@final
class Copies:
    """The copies of one call: `made` has them by the identity of what they are of, which is kept alive."""

    def __init__(self, f: Any, given: tuple[Any, ...]) -> None:
        self.made: dict[int, tuple[Any, Any]] = {}
        for each in _known_by_identity(f, given):
            self.made[id(each)] = each, each
        self.f = self.of(f)
        self.given = tuple(map(self.of, given))

    def of(self, x: Any) -> Any:
        found = self.made.get(id(x))
        return self._copy(x) if found is None else found[1]

    def _note(self, x: Any, copy: Any) -> Any:
        self.made[id(x)] = x, copy
        return copy

    def _copy(self, x: Any) -> Any:
        cls = type(x)
        if isinstance(x, np.ndarray):
            return self._note(x, copied(x))
        if cls is tuple or (isinstance(x, tuple) and hasattr(x, "_fields")):
            parts = list(map(self.of, x))
            same = all(part is item for part, item in zip(parts, x, strict=True))
            return x if same else self._note(x, tuple(parts) if cls is tuple else named_like(x, parts))
        if cls in _OF_ITEMS:
            return self._items(x)
        if cls in _OF_KEYS:
            twin = self._note(x, cls(x.default_factory) if cls is defaultdict else cls())
            for key, value in x.items():
                twin[key] = self.of(value)
            return twin
        if isinstance(x, types.FunctionType):
            return self._function(x)
        if cls is types.MethodType:
            return self._note(x, types.MethodType(self.of(x.__func__), self.of(x.__self__)))
        if cls is functools.partial:
            held = {name: self.of(value) for name, value in x.keywords.items()}
            return self._note(x, functools.partial(self.of(x.func), *map(self.of, x.args), **held))
        return self._object(x) if _is_of_fields(cls) else x

    def _items(self, x: Any) -> Any:
        if isinstance(x, set | frozenset):
            return self._note(x, type(x)(x))  # what is in it is known by its identity, or cannot be written into
        twin = self._note(x, [] if type(x) is list else deque(maxlen=x.maxlen))
        twin.extend(map(self.of, x))
        return twin

    def _function(self, f: types.FunctionType) -> Any:
        if not f.__closure__ or differentiates(f):
            return f
        cells = tuple(types.CellType() for _ in f.__closure__)
        own = types.FunctionType(with_own_cells(f.__code__), f.__globals__, f.__name__, None, cells)
        self._note(f, own)
        own.__defaults__ = self.of(f.__defaults__)
        own.__kwdefaults__ = None if f.__kwdefaults__ is None else {key: self.of(x) for key, x in f.__kwdefaults__.items()}
        own.__qualname__ = f.__qualname__
        for cell, shared in zip(cells, f.__closure__, strict=True):
            with contextlib.suppress(ValueError):  # it is not assigned yet
                cell.cell_contents = self.of(shared.cell_contents)
        return own

    def _object(self, x: Any) -> Any:
        fields = fields_of(x)
        if not fields:
            return x
        twin = self._note(x, object.__new__(type(x)))
        for name, value in fields.items():
            member = static_member(type(x), name)
            if hasattr(type(member), "__set__") and not isinstance(member, types.MemberDescriptorType):
                twin.__dict__[name] = self.of(value)
            else:
                object.__setattr__(twin, name, self.of(value))
        return twin

    def watched(self) -> Snapshot:
        """What is not the function's own, as it is now."""
        own = {id(copy) for x, copy in self.made.values() if copy is not x}
        rest = (x for x in reached((self.f, *self.given)) if id(x) not in own)
        return Snapshot.of([*rest, *arrays_seen_by(self.f)])


def _is_of_fields(cls: type) -> bool:
    """Whether objects of a class are what their fields hold: it is written in Python, and so are its bases."""
    if cls is Tangent:
        return True
    is_plain = all(is_users_class(base) or base is object or base.__module__.startswith(_OF_FIELDS) for base in cls.__mro__)
    return is_plain and not issubclass(cls, Enum) and cls.__new__ is object.__new__


def _known_by_identity(f: Any, given: Iterable[Any]) -> Iterable[Any]:
    """The keys and items of sets which others may look up, and what variables of the module have, to be compared with."""
    for function in functions_called_by(f):
        for name in names_in(function.__code__):
            if name in function.__globals__:
                yield function.__globals__[name]
    for x in reached((f, *given)):
        if isinstance(x, dict | set | frozenset):
            yield from (key for key in x if not isinstance(key, str | int | float))
