"""The fields of an object, without asking it for its `__dict__`.

CPython keeps the fields of an ordinary object in the object itself, under names that the objects of a class share, and makes a
dict of them when somebody asks for it. From then on reading and assigning the attributes of that object takes several times as
long (3.11: four times), in the user's code too. So the names are those that the class's own code assigns, or that an object of
the class was seen to have; the values are read as the attributes of that name; and the two are held against what the garbage
collector finds in the object. Where that does not come out even, the `__dict__` is asked for, as ever. So it is from 3.13 on,
where the dict shows the fields that are in the object, which is no slower for it.
"""

from __future__ import annotations

import copy
import dis
import functools
import gc
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, final

from microgradpy.dataclasses import dataclass, field

_MISSING: Any = object()
_HEAP_TYPE = 1 << 9
_LARGEST = 128  # names
_IS_CHEAP = sys.version_info >= (3, 13)


@final
@dataclass(slots=True)
class _Layout:
    """What is known of the objects of a class. Without `names` their `__dict__` is asked for: it is there already."""

    cls: weakref.ref[type]
    bases: tuple[type, ...]
    members: tuple[Mapping[str, Any], ...]
    slots: tuple[types.MemberDescriptorType, ...]
    names: dict[str, None] | None = field(default_factory=dict)
    initial: frozenset[str] = frozenset()
    """The fields that every object has from its making on, unless somebody deletes them."""


_layouts: dict[int, _Layout] = {}


def dict_of(x: Any, read: Callable[[Any, str], Any] = getattr) -> Mapping[str, Any]:
    """What `vars(x)` has, to be read only; nothing for what has no `__dict__`. `read` is how this is asked for:
    `object.__getattribute__` leaves out what the user's class says about attributes."""
    layout = _layout(type(x))
    found = _inside(x, layout) if layout.names is not None else None
    if found is not None:
        return found
    try:
        known: Mapping[str, Any] = {} if isinstance(x, super) else read(x, "__dict__")
    except AttributeError:
        known = {}
    if layout.names is not None and len(layout.names) < _LARGEST:
        layout.names.update(dict.fromkeys(known))
    return known


def has_field(x: Any, name: str) -> bool:
    """Whether `name` is in `vars(x)`."""
    layout = _layout(type(x))
    if layout.names is None or _member(layout, name) is not _MISSING:
        return name in dict_of(x)
    try:
        object.__getattribute__(x, name)
    except AttributeError:
        return False
    return True


def made_dict(x: Any) -> dict[str, Any] | None:
    """The `__dict__` of an object, if there is one by now; None where nobody can have it."""
    if isinstance(x, super):
        return None
    layout = _layout(type(x))
    if layout.names is not None and (dict not in map(type, gc.get_referents(x)) or _inside(x, layout) is not None):
        return None  # one that there is would be among what the object holds
    found = getattr(x, "__dict__", None)
    return found if type(found) is dict else None


def _layout(cls: type) -> _Layout:
    known = _layouts.get(id(cls))
    if known is None or known.cls() is not cls or known.bases is not cls.__mro__:
        if len(_layouts) > 4096:
            _layouts.clear()
        known = _layouts[id(cls)] = _examined(cls)
    return known


def _examined(cls: type) -> _Layout:
    members = tuple(map(vars, cls.__mro__))
    slots = [member for base in members for member in base.values() if isinstance(member, types.MemberDescriptorType)]
    layout = _Layout(weakref.ref(cls), cls.__mro__, members, tuple(slots))
    has_dict = any(isinstance(base.get("__dict__"), types.GetSetDescriptorType) for base in members)
    if _IS_CHEAP or not has_dict or not all(base.__flags__ & _HEAP_TYPE for base in cls.__mro__[:-1]):
        layout.names = None
        return layout
    names: dict[str, None] = {}
    for base in reversed(members[:-1]):
        annotations = base.get("__annotations__")  # a descriptor in classes that were made in C
        names |= dict.fromkeys(annotations if isinstance(annotations, dict) else ())
        for member in list(base.values()):
            for function in _functions(member):
                names |= dict.fromkeys(_assigned(function.__code__))
    layout.names = dict(list(names.items())[:_LARGEST])
    makers = (function for base in members[:-1] for function in _functions(base.get("__init__")))
    layout.initial = frozenset(name for maker in makers for name in _assigned(maker.__code__))
    return layout


def _functions(member: Any) -> Iterator[types.FunctionType]:
    parts = (member, *(getattr(member, name, None) for name in ("__func__", "fget", "fset")))
    yield from (part for part in parts if isinstance(part, types.FunctionType))


@functools.lru_cache(maxsize=4096)
def _assigned(code: types.CodeType) -> tuple[str, ...]:
    """The names of the attributes that code assigns."""
    found = [step.argval for step in dis.get_instructions(code) if step.opname == "STORE_ATTR"]
    inner = (name for constant in code.co_consts if isinstance(constant, types.CodeType) for name in _assigned(constant))
    return tuple(dict.fromkeys((*found, *inner)))


def _member(layout: _Layout, name: str) -> Any:
    for members in layout.members:
        if name in members:
            return members[name]
    return _MISSING


_read: Callable[[Any, str], Any] = object.__getattribute__


def _inside(x: Any, layout: _Layout) -> dict[str, Any] | None:
    """The fields by name; None if it cannot be told from outside."""
    found, unsure = _named(x, layout)
    slots = [value for slot in layout.slots if (value := _in_slot(slot, x)) is not _MISSING]
    left: dict[int, int] = {}
    for value in gc.get_referents(x):
        left[id(value)] = left.get(id(value), 0) + 1
    for value in (*found.values(), *slots, type(x)):
        left[id(value)] = left.get(id(value), 0) - 1
    for identity, pairs in unsure.items():
        if left.get(identity) == len(pairs):
            found.update(pairs)
            left[identity] = 0
    return found if not any(left.values()) else None


def _named(x: Any, layout: _Layout) -> tuple[dict[str, Any], dict[int, list[tuple[str, Any]]]]:
    """The known names that are fields of an object, and by the identity of their values those that may be."""
    found: dict[str, Any] = {}
    unsure: dict[int, list[tuple[str, Any]]] = {}
    for name in layout.names or ():
        member = _member(layout, name)
        if member is not _MISSING and not _gives_itself(member):
            continue  # reading it may run the user's code
        try:
            value = _read(x, name)
        except AttributeError:
            continue
        if value is not member:
            if not _is_method(value, member, x):
                found[name] = value
        elif name in layout.initial:
            # It is the class's, or a field holds just what the class has under that name, as with a default.
            unsure.setdefault(id(value), []).append((name, value))
    return found, unsure


def _gives_itself(member: Any) -> bool:
    return isinstance(member, types.FunctionType) or not hasattr(type(member), "__get__")


def _is_method(value: Any, member: Any, x: Any) -> bool:
    return type(value) is types.MethodType and value.__func__ is member and value.__self__ is x


def _in_slot(slot: types.MemberDescriptorType, x: Any) -> Any:
    try:
        return slot.__get__(x)
    except AttributeError:
        return _MISSING


def named_like(x: Any, items: Iterable[Any]) -> Any:
    """A named tuple like `x`, of other items. Its class is not called: it may ask for more than the items, as those of SciPy's
    results do, which have fields besides."""
    made = tuple.__new__(type(x), items)
    if getattr(x, "__dict__", None):
        made.__dict__.update(x.__dict__)
    return made


def rebuilt(x: Any, parts: Mapping[Any, Any]) -> Any:
    """A list, tuple, deque, dict or object like another one, with other items, or with other values of these keys or fields.
    Its class is not called."""
    items = parts.values()
    if isinstance(x, tuple):
        return named_like(x, items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, deque):
        return deque(items, x.maxlen)
    if type(x) is list:
        return list(items)
    if type(x) is dict:
        return {**x, **parts}
    made = copy.copy(x)
    if isinstance(x, list):
        made[:] = items
    elif isinstance(x, dict):
        made.update(parts)
    else:
        for name, part in parts.items():
            object.__setattr__(made, name, part)  # which frozen dataclasses leave no other way for
    return made
