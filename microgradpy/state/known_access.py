"""Fields and items, read and written by what is known of the class: the short way for what a run that tracks writes does most.

    o.v         a field of an ordinary object, a method of its class, a property
    o.v = x     a field
    items[i]    of a list, dict or tuple, read or written; and the methods of lists and dicts that do the same
    k in items  of a container, for a number or a text

What the class has under a name is looked at in each call (`microgradpy.runtime.members`), so that a method or property that
somebody puts there counts from then on. All that is not as simple is None here, and goes the long way, with the same
functions at its end.
"""

from __future__ import annotations

import operator
import types
import weakref
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.ir.random_sources import is_source_class
from microgradpy.runtime.lookup_cache import NUMBERS
from microgradpy.runtime.members import CONTAINERS, LARGEST, OF_OTHER_KINDS, Role, member_of, role_of
from microgradpy.runtime.sources import VIEWS
from microgradpy.state import deques, lists, mappings  # noqa: F401 - they register their write handlers
from microgradpy.state.arrays import set_array_item
from microgradpy.state.attributes import back_to_owner
from microgradpy.state.object_graph import PLAIN, is_users_class
from microgradpy.state.shadows import Shadows
from microgradpy.state.write_handlers import Made, find_write_handler, no_cotangents
from microgradpy.tangents.arithmetic import real_like
from microgradpy.tangents.types import is_structural_zero

Call = Callable[..., Made]
"""How another call is made: `call(f, *args)` gives its value and what undoes it."""
_GET: Callable[[Any, str], Any] = object.__getattribute__
_SET: Callable[[Any, str, Any], None] = object.__setattr__
_KEYS = frozenset({int, str, bool, types.NoneType, float})


# Attributes


_ordinary: dict[int, tuple[weakref.ref[type], bool]] = {}


def is_ordinary(cls: type) -> bool:
    """Whether the objects of a class are just that: of a class of the user's, which inherits from none of another kind."""
    known = _ordinary.get(id(cls))
    if known is None or known[0]() is not cls:
        if len(_ordinary) > LARGEST:
            _ordinary.clear()
        known = _ordinary[id(cls)] = weakref.ref(cls), is_users_class(cls) and not issubclass(cls, OF_OTHER_KINDS)
    return known[1]


def _read(call: Call, f: Any, args: tuple[Any, ...]) -> Made | None:
    if len(args) != 2 or type(args[1]) is not str:
        return None
    x, name = args
    cls = type(x)
    getter: Any = cls.__getattribute__
    if type(getter) is not types.WrapperDescriptorType:
        return None
    found = member_of(cls, name)
    role = role_of(cls, name, found)
    if role is Role.BUILTIN:
        return _read_method(x, name, getattr(x, name), found)
    if role is Role.ITEM:
        return _with_item(getattr(x, name), x, cls._fields.index(name))
    return None if role is Role.OTHER or getter is not _GET else _read_object(call, x, name, found, role)


def _read_object(call: Call, x: Any, name: str, found: Any, role: Role) -> Made | None:
    """An attribute of an ordinary object."""
    if role is Role.PROPERTY:
        return _read_property(call, x, found.fget) if type(found.fget) is types.FunctionType else None
    try:
        y = _GET(x, name)
    except AttributeError:
        return None
    if role is Role.METHOD:
        return _read_method(x, name, y, found)
    return None if y is found else _of_field(x, name, y)  # of the class, or of the object: nobody can tell


def _of_field(x: Any, name: str, y: Any) -> Made:
    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is not None:
            shadows.of(x).add(name, y_bar)
        return None, None, None

    return y, undo


def _read_method(x: Any, name: str, y: Any, found: Any) -> Made | None:
    is_bound = type(y) is types.MethodType and y.__func__ is found and y.__self__ is x
    if type(found) is types.FunctionType and not is_bound:
        return None  # a field of the object

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is None:
            return None, None, None
        return (None, *back_to_owner(x, name, y, found)(y_bar, shadows).arguments)

    return y, undo


def _read_property(call: Call, x: Any, getter: Any) -> Made:
    y, back = call(getter, x)
    return y, lambda y_bar, shadows: (None, back(y_bar, shadows)[1], None)


def _write(call: Call, f: Any, args: tuple[Any, ...]) -> Made | None:
    if len(args) != 3:
        return None
    x, name, value = args
    cls = type(x)
    setter: Any = cls.__setattr__
    if setter is not _SET or type(name) is not str or is_source_class(cls):
        return None
    found = member_of(cls, name)
    if role_of(cls, name, found) > Role.METHOD or type(value) in _READ_ITEM_BY_ITEM:
        return None
    _SET(x, name, value)
    return None, lambda y_bar, shadows: (None, None, None, shadows.of(x).take(name))


def stores(cls: type, name: str) -> bool:
    """Whether an assignment to a field of an ordinary object just stores, if its class does not say otherwise of all fields."""
    return role_of(cls, name, member_of(cls, name)) <= Role.METHOD


# Items


_METHODS: tuple[tuple[Any, type], ...] = (
    *((f, cls) for f in (operator.getitem, operator.setitem) for cls in (list, dict, deque, defaultdict)),
    *((f, list) for f in (list.append, list.pop, list.insert)),
    *((f, dict) for f in (dict.get, dict.pop, dict.setdefault)),
    *((f, deque) for f in (deque.append, deque.appendleft)),
    *((f, deque) for f in (deque.pop, deque.popleft)),
)
_ITEMS: dict[Any, dict[type, Any]] = {
    f: {cls: find_write_handler(f, (cls(),)) for g, cls in _METHODS if g is f} for f, _ in _METHODS
}
"""What reads and writes single items of containers, by their class: the write handlers that the long way comes to as well."""
_TAKE_NO_KEY = frozenset({list.append, deque.append, deque.appendleft})
_READ_ITEM_BY_ITEM = frozenset({types.GeneratorType, *VIEWS})


def _item(call: Any, f: Any, args: tuple[Any, ...]) -> Made | None:
    if not args:
        return None
    x, count = args[0], len(args)
    cls = type(x)
    found = _ITEMS[f].get(cls)
    if found is None and cls is np.ndarray:
        return _item_of_array(f, *args)
    if found is None:
        return _item_of_tuple(*args) if f is operator.getitem and cls is tuple and count == 2 else None
    if count > 1 and f not in _TAKE_NO_KEY and type(args[1]) not in _KEYS and not _is_plain_key(f, args[1]):
        return None
    if type(args[-1]) in _READ_ITEM_BY_ITEM or (cls is dict and f is not operator.getitem and "__builtins__" in x):
        return None
    if cls is defaultdict and f is operator.getitem and args[1] not in x:
        return None
    y, undo = found(*args)
    return y, lambda y_bar, shadows: (None, *undo(y_bar, shadows)[:count])


def _is_plain_key(f: Any, key: Any) -> bool:
    """Whether a key is a tuple of numbers and texts, or a slice of a list that is read."""
    if type(key) is tuple:
        return all(type(part) in _KEYS for part in key)
    return f is operator.getitem and type(key) is slice and all(type(x) in _KEYS for x in (key.start, key.stop, key.step))


def _item_of_array(f: Any, x: np.ndarray[Any, Any], index: Any = None, *value: Any) -> Made | None:
    """Numbers at whole indices: one that is read has its cotangent in an array, as any function gives it."""
    if type(index) not in _PLACES and not (type(index) is tuple and _PLACES.issuperset(map(type, index))):
        return None
    if f is operator.setitem and len(value) == 1 and type(value[0]) in NUMBERS:
        y, back = set_array_item(x, index, *value)
        return y, lambda y_bar, shadows: (None, *back(y_bar, shadows))
    if f is not operator.getitem or value or x.dtype.kind not in "fc":
        return None
    y, shape = x[index], x.shape
    if type(y) is np.ndarray:  # a view, whose cotangent is in the shadow of the memory
        return y, no_cotangents(3)
    dtype = x.dtype

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if is_structural_zero(y_bar):
            return None, None, None
        bar = np.zeros(shape, dtype)
        bar[index] = real_like(y_bar, y)
        return None, bar, None

    return y, undo


_PLACES = frozenset({int, np.int64})


def _item_of_tuple(x: tuple[Any, ...], index: Any) -> Made | None:
    """A number of a tuple, whose cotangent travels in that of the tuple."""
    if type(index) is not int or not -len(x) <= index < len(x):
        return None
    y = x[index]
    return _with_item(y, x, index) if type(y) in NUMBERS else None


def _with_item(y: Any, x: tuple[Any, ...], index: int) -> Made:
    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is None:
            return None, None, None
        items = [None] * len(x)
        items[index] = y_bar
        return None, tuple(items), None

    return y, undo


def told(f: Any, args: tuple[Any, ...]) -> Made | None:
    """What a container says of itself."""
    if len(args) != 1 or type(args[0]) not in CONTAINERS:
        return None
    return f(args[0]), lambda y_bar, shadows: (None, None)


_HASHED, _SEARCHED = frozenset({dict, set, frozenset, defaultdict}), frozenset({list, tuple, deque})


def _contains(x: Any, key: Any) -> Made | None:
    """`key in x`, where nobody's methods are asked."""
    cls = type(x)
    if type(key) not in _KEYS and not _is_plain_key(operator.contains, key):
        return None
    if cls in _HASHED or (cls in _SEARCHED and PLAIN.issuperset(map(type, x))):
        return key in x, lambda y_bar, shadows: (None, None, None)
    return None


_UNBOUND = {(cls, f.__name__): f for f, cls in _METHODS if type(f) is types.MethodDescriptorType}


def by_bound_method(f: Any, args: tuple[Any, ...]) -> Made | None:
    """A method of a list or dict that was read before: the cotangent of its object is in the shadows."""
    unbound = _UNBOUND.get((type(f.__self__), f.__name__)) if type(f) is types.BuiltinMethodType else None
    made = None if unbound is None else _item(None, unbound, (f.__self__, *args))
    if made is None:
        return None
    y, undo = made
    return y, lambda y_bar, shadows: (None, *undo(y_bar, shadows)[2:])


ACCESS: dict[Any, Callable[[Call, Any, tuple[Any, ...]], Made | None]] = {
    getattr: _read,
    setattr: _write,
    **dict.fromkeys(_ITEMS, _item),
    operator.contains: lambda call, f, args: _contains(*args) if len(args) == 2 else None,
    **dict.fromkeys((len, operator.not_, operator.truth), lambda call, f, args: told(f, args)),
}
"""What reads and writes fields and items: `access(call, f, args)` gives the value and what undoes it; None for what is not one
of the simple ones. Other calls are made by `call`."""
