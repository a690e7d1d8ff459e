"""How a run reads what is at several places, and where it writes: what the dispatcher and generated code ask
(`microgradpy.state.apart`)."""

from __future__ import annotations

import functools
import gc
import itertools
import operator
import types
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from microgradpy.errors import MutationError
from microgradpy.named import Named
from microgradpy.rules.registry import non_differentiable
from microgradpy.runtime import variables
from microgradpy.runtime.writes import output_of, written_argument
from microgradpy.state.apart import Apart
from microgradpy.state.places import holder_of
from microgradpy.state.shadows import CONTENTS, Shadows
from microgradpy.state.whole import apart_now
from microgradpy.state.write_handlers import Made, write_handler

Array = np.ndarray[Any, Any]
_READ_AN_ITEM: Any = (operator.getitem, list.__getitem__, tuple.__getitem__, dict.__getitem__, dict.get)
_VIEWS: Any = (type({}.values()), type({}.items()))
_HOLDERS = (list, tuple, dict, *_VIEWS)
_COPY: Any = (list, tuple, list.copy)
_LIST_A_DICT: Any = (dict.values, dict.items)
"""What rules give as a list in the order of the keys."""
_READ_UP: Any = (sum, min, max, functools.reduce)
_ADD_AT_THE_END: Any = (list.append, list.extend, operator.iadd, list.__iadd__, deque.append, deque.extend)
_STORES: Any = (operator.setitem, np.ndarray.__setitem__)
# Whose methods write into what they are given.
_GENERATORS = Named(("numpy.random", "Generator RandomState"), ("random", "Random"))


# Reads


def as_read(apart: Apart, f: Any, args: tuple[Any, ...], y: Any) -> Any:
    """The value of a call: of one that reads a place, what stands in there."""
    if not apart.is_told or not args:
        return y
    if apart.may_stand(y):
        return _at_place(apart, f, args, y)
    keys = _keys_of(f, args) if type(y) in (list, tuple) and isinstance(args[0], _HOLDERS) else None
    if keys is None or len(keys) != len(y):
        return y
    if f is dict.items:
        items = [(key, _item(apart, args[0], key, item)) for key, item in y]
    else:
        items = [_item(apart, args[0], key, item) for key, item in zip(keys, y, strict=True)]
    if isinstance(y, tuple):
        return tuple(items)
    y[:] = items  # which has just been made
    return y


def _at_place(apart: Apart, f: Any, args: tuple[Any, ...], y: Any) -> Any:
    x = args[0]
    if f is variables.read_variable:
        if id(y) in apart.twins.objects:
            return apart.twins.of_variable(y)
        return apart.read((x.namespace,), args[1], y)
    if any(f is read for read in variables.CELL_READS):
        return apart.read((x,), CONTENTS, y)
    if f is getattr:
        classes = (*type(x).__mro__, *(x.__mro__ if isinstance(x, type) else ()))
        return apart.read((holder_of(x), x, *classes), args[1], y)
    return _item(apart, x, args[1], y) if len(args) > 1 and any(f is read for read in _READ_AN_ITEM) else y


def _item(apart: Apart, source: Any, key: Any, item: Any) -> Any:
    """An item of a list or tuple, or a value of a dict or of the view of one, by its number or key."""
    if isinstance(source, _VIEWS) and (apart.may_stand(item) or type(item) is tuple):
        (mapping,) = gc.get_referents(source)
        if type(item) is tuple and isinstance(source, _VIEWS[1]):
            return (item[0], _item(apart, mapping, *item))
        source, key = mapping, next(itertools.islice(mapping, key, None), None)
    if not apart.may_stand(item):
        return item
    if isinstance(source, list | tuple | deque) and isinstance(key, int | np.integer):
        key = range(len(source))[key]
    return apart.read((source,), key, item)


def _keys_of(f: Any, args: tuple[Any, ...]) -> Sequence[Any] | None:
    """Which items of its argument a function has made a list or tuple of; None if that is not what it does."""
    x, *rest = args
    if any(f is known for known in _LIST_A_DICT):
        return list(x)
    if any(f is known for known in _COPY):
        return range(len(x))
    return range(len(x))[rest[0]] if f is operator.getitem and rest and isinstance(rest[0], slice) else None


def given_to_rule(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a function with a rule: lists and tuples of arrays as those of what stands in at their places."""
    apart = apart_now()
    if apart is None or not apart.contested:
        return args
    return tuple([_listed(x) if type(x) in (list, tuple) and all(isinstance(y, np.ndarray) for y in x) else x for x in args])


def _listed(source: Any) -> Any:
    items = items_at(source)
    return items if items is source else type(source)(items)


def given_to_reader(f: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a function that reads items up: lists and tuples as those of what stands in at their places."""
    apart = apart_now()
    if not any(f is known for known in _READ_UP) or not apart.twins.objects:
        return args
    return tuple([_listed(x) if type(x) in (list, tuple) and all(map(apart.may_stand, x)) else x for x in args])


def check_read_up(args: tuple[Any, ...], given: tuple[Any, ...]) -> None:
    """After the call: refuse if what it was given in place of its arguments is no longer what they hold."""
    for x, y in zip(args, given, strict=True):
        if x is not y and (len(x) != len(y) or any(_told(a) is not _told(b) for a, b in zip(x, y, strict=True))):
            raise MutationError(f"a {type(x).__name__} is written into while it is read", None, "Read a copy of it.")


def keywords_at(source: dict[str, Any]) -> dict[str, Any]:
    """What is given by `**`, as the items that stand in at their places."""
    apart = apart_now()
    return dict(source) if apart is None else {key: _item(apart, source, key, item) for key, item in source.items()}


def item_at(source: Any, key: Any, backwards: bool, item: Any) -> Any:
    """An item that a loop has read, as what stands in for it at its place: a key of a dict, or the number of the iteration."""
    apart = apart_now()
    return item if apart is None else _item(apart, source, -1 - key if backwards else key, item)


def items_at(source: Any) -> Any:
    """What is unpacked, as the items that stand in at their places."""
    apart = apart_now()
    # What a view of a dict shows besides arrays has its cotangent in the dict.
    is_view = isinstance(source, _VIEWS[0]) and all(isinstance(item, np.ndarray) for item in source)
    if apart is None or not (is_view or isinstance(source, list | tuple | deque)):
        return source
    items = [_item(apart, source, key, item) for key, item in enumerate(source)]
    return source if all(map(operator.is_, items, source)) else tuple(items)


@write_handler(item_at)
def read_item_at(source: Any, key: Any, backwards: bool, item: Any) -> Made:
    return item_at(source, key, backwards, item), lambda y_bar, shadows: (None, None, None, y_bar)


@write_handler(items_at)
def read_items_at(source: Any) -> Made:
    y = items_at(source)
    if y is source:
        return y, lambda y_bar, shadows: (y_bar,)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        # The cotangents of what stands in are in its shadows.
        return (None if y_bar is None or isinstance(source, _VIEWS) else type(source)(y_bar),)

    return y, undo


def read_at_places(f: Any, args: tuple[Any, ...]) -> Made:
    """A call that was put into a program to read items at their places. It does not ask a generator or a view for its items, as
    other functions do that are given one."""
    return read_item_at(*args) if f is item_at else read_items_at(*args)


# Who is who


def _told(x: Any) -> Any:
    apart = apart_now()
    return x if apart is None else apart.original(x)


def is_same(a: Any, b: Any) -> bool:
    """a is b"""
    return _told(a) is _told(b)


def is_not_same(a: Any, b: Any) -> bool:
    """a is not b"""
    return _told(a) is not _told(b)


def identity(x: Any) -> int:
    """id(x)"""
    return id(_told(x))


IDENTITIES: dict[Callable[..., Any], Callable[..., Any]] = {operator.is_: is_same, operator.is_not: is_not_same, id: identity}
"""What compares who is who, and what does so where arrays stand in for others."""
non_differentiable(is_same, is_not_same, identity)


COMPARISONS: Any = (operator.eq, operator.ne, operator.contains, operator.indexOf, operator.countOf, hash)
_LOOK_UP: Any = (operator.getitem, operator.setitem, operator.delitem)
_COMPARING = frozenset({"index", "count", "remove", "__contains__", "__eq__", "__ne__"})
_FINDING = frozenset({"add", "discard", "get", "setdefault", "pop", "__getitem__", "__setitem__", "__delitem__"})
"""Names of the methods of containers that compare items, and of those that look up a key."""
_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType)
_BOUND = (types.BuiltinMethodType, types.MethodWrapperType)


def check_comparison(apart: Apart, f: Any, args: tuple[Any, ...]) -> None:
    """Before a call: refuse it if it compares by identity what others stand in for."""
    if apart.twins.objects:
        operands = _compared(f, args)
        apart.twins.check_comparison(operands)


def _compared(f: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a call compares with something, or looks up."""
    if any(f is known for known in COMPARISONS):
        return args[1:] if isinstance(args[0], dict) and f is operator.contains else args
    if any(f is known for known in _LOOK_UP):
        return args[1:2]
    if isinstance(f, (*_METHODS, *_BOUND)) and not isinstance(getattr(f, "__self__", None), types.ModuleType):
        operands = (f.__self__, *args) if isinstance(f, _BOUND) else args
        return operands if f.__name__ in _COMPARING else operands[1:2] if f.__name__ in _FINDING else ()
    return ()


# Writes


def check_write(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Before a call of a known function that writes: refuse it if it must not be written there."""
    apart = apart_now()
    if apart is None:
        return
    if f is variables.set_variable:
        apart.note_variable(args[0].namespace, args[1])
    elif f is variables.set_contents or written_argument(f, args, kwargs) is not None:
        for target in _targets(f, args, kwargs):
            apart.check_write(target)
            if apart.is_told and _moves_items(apart, f, args, kwargs):
                apart.lose(target)


def check_stored(x: Any, value: Any = None) -> None:
    """The same before something is written into an array, or a value is stored in an object."""
    apart = apart_now()
    if apart is not None:
        apart.check_write(x)
        if apart.is_contested(value):
            apart.lose(x)


def _moves_items(apart: Apart, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a write may put what is at one place at another."""
    if any(map(apart.is_contested, (*args[1:], *kwargs.values()))):
        return True
    stays = any(f is known for known in _ADD_AT_THE_END) or (f is operator.setitem and isinstance(args[1], int))
    return isinstance(args[0], list | deque) and not stays


def _targets(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """What a call of a known function that writes may write into."""
    given = output_of(f, args, kwargs)
    if given is not None:
        yield from given[0] if isinstance(given[0], tuple) else (given[0],)
    elif any(f is store for store in _STORES) and isinstance(args[0], np.ndarray):
        yield _entries(args[0], args[1])
    else:
        written = args[1] if isinstance(args[0], (np.ufunc, *_GENERATORS)) else args[0]
        yield written.base if isinstance(written, np.flatiter) else written


def _entries(x: Array, index: Any) -> Array:
    """The part of an array that an index means; all of it, if that is entries chosen one by one."""
    parts = index if isinstance(index, tuple) else (index,)
    for chosen in (parts, (*parts, ...)):
        try:
            found: Any = x[chosen]
        except (IndexError, TypeError, ValueError):
            continue
        if isinstance(found, np.ndarray) and np.may_share_memory(found, x):
            return found
    return x
