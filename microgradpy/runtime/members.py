"""What a class has under a name, and what that means for reading and storing the attribute of an object.

The class is looked at each time, so that what somebody puts there counts from then on. What it means is remembered by the
class, the name, the type of what is there, and the version of the rules.
"""

from __future__ import annotations

import types
import weakref
from collections import deque, namedtuple
from enum import Enum, IntEnum
from typing import Any, final

import numpy as np

from microgradpy.rules.registry import find_attribute_rule, is_inert_attribute, rrule
from microgradpy.runtime.lookup_cache import NUMBERS


class Role(IntEnum):
    """What a class has under a name: nothing, or what stands for a slot; a constant, which objects may have a field before; a
    function; a property; a method of a builtin container; an item of a named tuple; anything else, or what has a rule of its
    own."""

    FIELD, CONSTANT, METHOD, PROPERTY, BUILTIN, ITEM, OTHER = range(7)


@final
class _Missing:
    __slots__ = ()


_MISSING: Any = _Missing()
_known: dict[tuple[int, str], tuple[weakref.ref[type], int, type, Role]] = {}
"""By class and name: the class, the version of the rules, the type of what the class had there, and what that means."""
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


def role_of(cls: type, name: str, found: Any) -> Role:
    """What it means that the class has this under that name."""
    known = _known.get((id(cls), name))
    if known is None or known[2] is not type(found) or known[1] != rrule.version or known[0]() is not cls:
        if len(_known) > LARGEST:
            _known.clear()
        version = rrule.version
        known = _known[id(cls), name] = weakref.ref(cls), version, type(found), _examined(cls, name, type(found))
    return known[3]


_ROLES: dict[type, Role] = {
    **{cls: Role.CONSTANT for cls in _CONSTANTS},
    _Missing: Role.FIELD,
    types.MemberDescriptorType: Role.FIELD,
    types.FunctionType: Role.METHOD,
    property: Role.PROPERTY,
}


def _examined(cls: type, name: str, kind: type) -> Role:
    if name.startswith("__") or find_attribute_rule(cls, name) is not None or is_inert_attribute(cls, name):
        return Role.OTHER
    if cls in CONTAINERS:
        return Role.BUILTIN if kind is types.MethodDescriptorType else Role.OTHER
    if issubclass(cls, tuple):
        return Role.ITEM if kind is _ITEM_OF_NAMED_TUPLE and name in getattr(cls, "_fields", ()) else Role.OTHER
    return Role.OTHER if issubclass(cls, OF_OTHER_KINDS) else _ROLES.get(kind, Role.OTHER)
