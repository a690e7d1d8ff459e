"""What a class has under a name, and what that means for reading and storing the attribute of an object.

The class is looked at each time, so that what somebody puts there counts from then on. What it means is remembered by the
class, the name, the type of what is there, and the version of the rules.
"""

from __future__ import annotations

import types
import weakref
from collections import deque, namedtuple
from enum import Enum
from typing import Any, final

import numpy as np

from microgradpy.rules.registry import find_attribute_rule, is_inert_attribute, rrule
from microgradpy.runtime.lookup_cache import NUMBERS


@final
class Role:
    """What a class has under a name: nothing, or what stands for a slot; a constant, which objects may have a field before; a
    function; a property; a method of a builtin container; an item of a named tuple; anything else, or what has a rule of its
    own."""

    # An enumeration would be several times as slow, in what is done for each attribute that is read.
    FIELD, CONSTANT, METHOD, PROPERTY, BUILTIN, ITEM, OTHER = range(7)


@final
class _Missing:
    __slots__ = ()


_MISSING: Any = _Missing()
_known: dict[tuple[int, str], tuple[weakref.ref[type], type, int]] = {}
"""By class and name, for the rules as they are: the class, the type of what the class had there, and what that means."""
rrule.watchers.append(_known.clear)
LARGEST = 4096
OF_OTHER_KINDS = (
    type, types.ModuleType, types.FunctionType, types.MethodType, types.SimpleNamespace, BaseException, super, list, dict,
    tuple, set, frozenset, deque, np.ndarray, np.generic, np.ufunc, Enum, int, float, complex, str, bytes,
)  # fmt: skip
"""Objects of which not all attributes are fields, or whose fields have no shadow."""
CONTAINERS = frozenset({list, dict, deque})
_ITEM_OF_NAMED_TUPLE: Any = type(namedtuple("_Example", "field").field)  # type: ignore[attr-defined]
_CONSTANTS: tuple[type, ...] = (*NUMBERS, str, tuple, list, dict, np.ndarray)


def member_of(cls: type, name: str) -> Any:
    """What a class has under a name, as `static_member` finds it; something of no other use if it has nothing."""
    for base in cls.__mro__:
        members = base.__dict__
        if name in members:
            return members[name]
    return _MISSING


def member_and_role(cls: type, name: str) -> tuple[Any, int]:
    """The same, and what it means."""
    found: Any = _MISSING
    for base in cls.__mro__:
        members = base.__dict__
        if name in members:
            found = members[name]
            break
    known = _known.get((id(cls), name))
    if known is None or known[1] is not type(found) or known[0]() is not cls:
        known = _note(cls, name, type(found))
    return found, known[2]


def _note(cls: type, name: str, kind: type) -> tuple[weakref.ref[type], type, int]:
    if len(_known) > LARGEST:
        _known.clear()
    version = rrule.version
    known = _known[id(cls), name] = weakref.ref(cls), kind, _examined(cls, name, kind)
    if version != rrule.version:
        _known.clear()
    return known


_ROLES: dict[type, int] = {
    **{cls: Role.CONSTANT for cls in _CONSTANTS},
    _Missing: Role.FIELD,
    types.MemberDescriptorType: Role.FIELD,
    types.FunctionType: Role.METHOD,
    property: Role.PROPERTY,
}


def _examined(cls: type, name: str, kind: type) -> int:
    if name.startswith("__") or find_attribute_rule(cls, name) is not None or is_inert_attribute(cls, name):
        return Role.OTHER
    if cls in CONTAINERS:
        return Role.BUILTIN if kind is types.MethodDescriptorType else Role.OTHER
    if issubclass(cls, tuple):
        return Role.ITEM if kind is _ITEM_OF_NAMED_TUPLE and name in getattr(cls, "_fields", ()) else Role.OTHER
    return Role.OTHER if issubclass(cls, OF_OTHER_KINDS) else _ROLES.get(kind, Role.OTHER)
