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

import inspect
import operator
import types
import weakref
from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from microgradpy.ir.random_sources import is_source_class
from microgradpy.rules.registry import rrule
from microgradpy.runtime.known_callees import CALLED, is_known
from microgradpy.runtime.lookup_cache import NUMBERS, Quick
from microgradpy.runtime.members import CONTAINERS, LARGEST, OF_OTHER_KINDS, Role, member_and_role
from microgradpy.runtime.sources import VIEWS
from microgradpy.state import deques, lists, mappings  # noqa: F401 - they register their write handlers
from microgradpy.state.arrays import set_array_item
from microgradpy.state.attributes import back_to_owner
from microgradpy.state.object_graph import PLAIN, is_users_class
from microgradpy.state.shadows import Shadows
from microgradpy.state.write_handlers import Made, find_write_handler, no_cotangents
from microgradpy.tangents.arithmetic import real_like
from microgradpy.tangents.types import is_structural_zero

Run = Callable[[types.FunctionType, tuple[Any, ...]], Made | None]
"""A call of a function by the unit that is known for such arguments; None if there is none."""
_run: list[Run] = []


def install(run: Run) -> None:
    """Called once by the compiler."""
    _run[:] = [run]


def run_known(f: Any, args: tuple[Any, ...]) -> Made | None:
    """A call by the unit that is known for such arguments."""
    return _run[0](f, args)


def by_known_function(f: types.FunctionType, args: tuple[Any, ...]) -> Made | None:
    """A call of a function that nothing but its source says the derivative of, as was found before; None of any other."""
    return _run[0](f, args) if is_known(CALLED, f) or _is_known_code(f) else None


def _is_known_code(f: types.FunctionType) -> bool:
    """Whether the same is known of another function that was made by the same `def` or `lambda`."""
    code = f.__code__
    return bool(code.co_flags & inspect.CO_NESTED) and is_known(CALLED, code) and not rrule.names(f)


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


def _read(x: Any, name: Any) -> Made | None:
    if type(name) is not str:
        return None
    cls = type(x)
    getter: Any = cls.__getattribute__
    found, role = member_and_role(cls, name)
    if getter is not _GET:
        return _read_builtin(x, name, found, role) if type(getter) is types.WrapperDescriptorType else None
    if role > Role.METHOD:
        return _read_property(x, found.fget) if role == Role.PROPERTY else None
    try:
        y = _GET(x, name)
    except AttributeError:
        return None
    if role == Role.METHOD:
        return _read_method(x, name, y, found)
    if y is found:  # of the class, or of the object: nobody can tell
        return None

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is not None:
            shadows.of(x).add(name, y_bar)
        return None, None, None

    return y, undo


def _read_builtin(x: Any, name: str, found: Any, role: int) -> Made | None:
    """A method of a container, or an item of a named tuple."""
    if role == Role.BUILTIN:
        return _read_method(x, name, getattr(x, name), found)
    return _with_item(getattr(x, name), x, type(x)._fields.index(name)) if role == Role.ITEM else None


def _read_method(x: Any, name: str, y: Any, found: Any) -> Made | None:
    if type(found) is types.FunctionType and not (type(y) is types.MethodType and y.__func__ is found and y.__self__ is x):
        return None  # a field of the object

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is None:
            return None, None, None
        return (None, *back_to_owner(x, name, y, found)(y_bar, shadows).arguments)

    return y, undo


def _read_property(x: Any, getter: Any) -> Made | None:
    made = by_known_function(getter, (x,)) if type(getter) is types.FunctionType else None
    if made is None:
        return None
    y, back = made

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        own = back(y_bar, shadows)[1]
        return None, None if own is None else shadows.settle(x, own), None

    return y, undo


def _write(x: Any, name: Any, value: Any) -> Made | None:
    cls = type(x)
    setter: Any = cls.__setattr__
    if setter is not _SET or type(name) is not str or type(value) in _READ_ITEM_BY_ITEM or is_source_class(cls):
        return None
    if member_and_role(cls, name)[1] > Role.METHOD:
        return None
    _SET(x, name, value)
    return None, lambda y_bar, shadows: (None, None, None, shadows.of(x).take(name))


def stores(cls: type, name: str) -> bool:
    """Whether an assignment to a field of an ordinary object just stores, if its class does not say otherwise of all fields."""
    return member_and_role(cls, name)[1] <= Role.METHOD


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


def known_item(f: Any, args: tuple[Any, ...]) -> Made | None:
    """What reads or writes an item of a container; None if that is not simple, or something else."""
    if f not in _ITEMS or not args:
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


def _told(f: Any, x: Any) -> Made | None:
    """What a container says of itself."""
    return (f(x), lambda y_bar, shadows: (None, None)) if type(x) in CONTAINERS else None


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
    made = None if unbound is None else known_item(unbound, (f.__self__, *args))
    if made is None:
        return None
    y, undo = made
    return y, lambda y_bar, shadows: (None, *undo(y_bar, shadows)[2:])


def _read_item(x: Any, key: Any) -> Made | None:
    """An item of a list or dict; a number at a whole index of an array, whose cotangent is in the shadow."""
    cls = type(x)
    if cls is dict and type(key) in _KEYS:
        y, place = x[key], key
    elif cls is list and type(key) is int:
        y, place = x[key], key if key >= 0 else key + len(x)
    else:
        return _read_number(x, key) if cls is np.ndarray else _item_of_tuple(x, key) if cls is tuple else None

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is not None:
            shadows.of(x).add(place, y_bar)
        return None, None, None

    return y, undo


def _read_number(x: np.ndarray[Any, Any], index: Any) -> Made | None:
    """A number at a whole index of an array."""
    if type(index) not in _PLACES and not (type(index) is tuple and _PLACES.issuperset(map(type, index))):
        return None
    y = x[index] if x.dtype.kind in "fc" else None
    if y is None or type(y) is np.ndarray:
        return None

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if not is_structural_zero(y_bar):
            shadows.of(x)[index] += real_like(y_bar, y)
        return None, None, None

    return y, undo


def _write_item(x: Any, key: Any, value: Any) -> Made | None:
    """An item of a list or dict."""
    cls = type(x)
    if type(value) in _READ_ITEM_BY_ITEM:
        return None
    if cls is dict and type(key) in _KEYS and "__builtins__" not in x:
        place = key
    elif cls is list and type(key) is int:
        place = key if key >= 0 else key + len(x)
    else:
        return None
    x[key] = value
    return None, lambda y_bar, shadows: (None, None, None, shadows.of(x).take(place))


def _append(items: Any, x: Any) -> Made | None:
    if type(items) is not list or type(x) in _READ_ITEM_BY_ITEM:
        return None
    length = len(items)
    items.append(x)
    return None, lambda y_bar, shadows: (None, None, shadows.of(items).undo_append(length))


def _values(mapping: Any) -> Made | None:
    """The view of the values of a dict, of those that it has now."""
    if type(mapping) is not dict:
        return None
    held = tuple(mapping.items())

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is not None:
            shadow = shadows.of(mapping)
            for (key, value), bar in zip(held, y_bar, strict=True):
                shadow.add(key, shadows.settle(value, bar))
        return None, None

    return mapping.values(), undo


def _list(x: Any) -> Made | None:
    """A new list of the items of a list, or of the keys of a dict."""
    if type(x) is not list and type(x) is not dict:
        return None
    y = list(x)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        taken = shadows.take(y)
        if taken is not None and type(x) is list:
            shadow = shadows.of(x)
            for place, bar in enumerate(taken.slots):
                shadow.add(place, bar)
        return None, None

    return y, undo


_CALLS: tuple[tuple[int, Callable[..., Made | None], Any], ...] = (
    (2, _read, getattr),
    (3, _write, setattr),
    (2, _read_item, operator.getitem),
    (3, _write_item, operator.setitem),
    (2, _append, list.append),
    (2, _contains, operator.contains),
    (1, _values, dict.values),
    (1, _list, list),
    *((1, partial(_told, f), f) for f in (len, bool, operator.not_, operator.truth)),
)
ACCESS: dict[int, Quick] = {id(f): (count, made, f) for count, made, f in _CALLS}
"""What reads and writes fields and items, by the identity of what is called: it gives the value and what undoes it, or None for
what is not one of the simple ones. What comes back is settled: cotangents of what can be written into are in the shadows."""
