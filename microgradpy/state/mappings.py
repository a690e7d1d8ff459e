"""Writes into dicts and sets, and reads of their items, which undo in the shadow what they did."""

from __future__ import annotations

import collections
import operator
import types
from inspect import BoundArguments
from typing import Any

from microgradpy.errors import MutationError
from microgradpy.ir.objects import base_of, is_function, static_member
from microgradpy.runtime.bars import Bars, Resolve, Resolved, nothing
from microgradpy.runtime.keys import check_key
from microgradpy.state.shadows import Shadows, Undo
from microgradpy.state.snapshots import structure_of
from microgradpy.state.write_handlers import Made, looked_up, no_cotangents, write_handler

# Dicts


@write_handler(operator.getitem, dict.__getitem__, of=dict)
def dict_item(mapping: dict[Any, Any], key: Any, /) -> Made:
    was_there = dict.__contains__(mapping, key)
    y = dict.__getitem__(mapping, key)
    is_new = not was_there and dict.__contains__(mapping, key)  # a defaultdict makes it, by a builtin

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is not None:
            shadows.of(mapping).add(key, y_bar)
        if is_new:
            shadows.of(mapping).take(key)
        return None, None

    return y, undo


def makes_item(f: Any, args: tuple[Any, ...]) -> bool:
    """Whether a call reads an item that a function of the user's has to make first."""
    if f not in (operator.getitem, dict.__getitem__) or len(args) != 2 or not isinstance(args[0], collections.defaultdict):
        return False
    mapping, key = args
    is_code = not isinstance(mapping.default_factory, type | types.BuiltinFunctionType | None)
    makes = type(mapping).__missing__ is collections.defaultdict.__missing__
    return is_code and makes and not dict.__contains__(mapping, key)


def made_item(resolve: Resolve, mapping: collections.defaultdict[Any, Any], key: Any) -> Resolved:
    """The item that a `defaultdict` makes for a key that it does not have."""
    factory: Any = mapping.default_factory
    y, back = resolve(factory, (), {})
    _, stored = set_dict_item(mapping, key, y)

    def item_back(y_bar: Any, shadows: Shadows) -> Bars:
        if y_bar is not None:
            shadows.of(mapping).add(key, y_bar)
        bars = back(stored(None, shadows)[2], shadows)
        shadows.add_to_factory(mapping, shadows.settle(factory, bars.function))
        return Bars(None, (None, None), {})

    return y, item_back


@write_handler(collections.defaultdict.copy, collections.defaultdict.__copy__, of=collections.defaultdict)
def copy_with_factory(mapping: collections.defaultdict[Any, Any], /) -> Made:
    y = mapping.copy()

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadow, taken = shadows.of(mapping), shadows.take(y)
        for key, d in () if taken is None else taken.fields.items():
            shadow.add(key, d)
        shadows.add_to_factory(mapping, shadows.take_factory(y))
        return (None,)

    return y, undo


@write_handler(dict.get, of=dict)
def get(mapping: dict[Any, Any], key: Any, default: Any = None, /) -> Made:
    y = dict.get(mapping, key, default)
    was_there = dict.__contains__(mapping, key)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if not was_there:
            return None, None, y_bar
        if y_bar is not None:
            shadows.of(mapping).add(key, y_bar)
        return None, None, None

    return y, undo


@write_handler(dict.setdefault, collections.OrderedDict.setdefault, of=dict)
def setdefault(mapping: dict[Any, Any], key: Any, default: Any = None, /) -> Made:
    was_there = dict.__contains__(mapping, key)
    y = base_of(mapping).setdefault(mapping, key, default)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadow = shadows.of(mapping)
        shadow.add(key, y_bar)
        return None, None, None if was_there else shadow.take(key)

    return y, undo


_MISSING = object()


@write_handler(dict.pop, collections.OrderedDict.pop, of=dict)
def dict_pop(mapping: dict[Any, Any], key: Any, default: Any = _MISSING, /) -> Made:
    was_there = dict.__contains__(mapping, key)
    y = base_of(mapping).pop(mapping, key, *(() if default is _MISSING else (default,)))

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if not was_there:
            return None, None, y_bar
        shadows.of(mapping).add(key, y_bar)
        return None, None, None

    return y, undo


@write_handler(dict.popitem, of=dict)
def popitem(mapping: dict[Any, Any], /) -> Made:
    return _popped(mapping, base_of(mapping).popitem(mapping))


@write_handler(collections.OrderedDict.popitem, of=dict)
def popitem_of_end(mapping: collections.OrderedDict[Any, Any], last: bool = True) -> Made:
    return _popped(mapping, collections.OrderedDict.popitem(mapping, last))


def _popped(mapping: dict[Any, Any], y: tuple[Any, Any]) -> Made:
    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is not None:
            shadows.of(mapping).add(y[0], y_bar[1])
        return None, None

    return y, undo


@write_handler(operator.setitem, dict.__setitem__, collections.OrderedDict.__setitem__, of=dict)
def set_dict_item(mapping: dict[Any, Any], key: Any, value: Any, /) -> Made:
    base_of(mapping).__setitem__(mapping, key, value)
    return None, lambda y_bar, shadows: (None, None, shadows.of(mapping).take(key))


@write_handler(operator.delitem, dict.__delitem__, collections.OrderedDict.__delitem__, of=dict)
def delete_dict_item(mapping: dict[Any, Any], key: Any, /) -> Made:
    base_of(mapping).__delitem__(mapping, key)
    return None, no_cotangents(2)


@write_handler(dict.clear, collections.OrderedDict.clear, of=dict)
def clear_dict(mapping: dict[Any, Any], /) -> Made:
    base_of(mapping).clear(mapping)
    return None, no_cotangents(1)


@write_handler(dict.__init__, collections.OrderedDict.__init__, of=dict)
@write_handler(dict.update, collections.OrderedDict.update, of=dict)
def update(mapping: dict[Any, Any], other: Any = (), /, **named: Any) -> Made:
    return None, _merge(mapping, other, named)


@write_handler(operator.ior, dict.__ior__, collections.OrderedDict.__ior__, of=dict)
def merge(mapping: dict[Any, Any], other: Any, /) -> Made:
    return mapping, _merge(mapping, other, {})


def _merge(mapping: dict[Any, Any], other: Any, named: dict[str, Any]) -> Undo:
    if not isinstance(other, dict | list | tuple):
        other = dict(other.items()) if hasattr(other, "keys") else list(other)  # which may be read once only
    if base_of(mapping) is collections.OrderedDict and is_function(static_member(type(mapping), "__setitem__")):
        found = f"update() of a {type(mapping).__name__} calls its __setitem__, which is not differentiated there"
        raise MutationError(found, None, "Assign the items in a loop.")
    given = structure_of(other)
    base_of(mapping).update(mapping, other, **named)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadow = shadows.of(mapping)
        if isinstance(given.x, dict):
            return None, given.settle(shadows, {key: shadow.take(key) for key, _ in given.parts})
        last = {pair.x[0]: number for number, (_, pair) in enumerate(given.parts)}
        bars = [None if last[p.x[0]] != k else _pair_bar(shadow.take(p.x[0])) for k, (_, p) in enumerate(given.parts)]
        return None, given.settle(shadows, tuple(bars) if isinstance(given.x, tuple) else bars)

    return undo


def _pair_bar(d: Any) -> Any:
    return None if d is None else (None, d)


for _method in (collections.OrderedDict.values, collections.OrderedDict.items, collections.OrderedDict.keys):
    # What is read from a view is found in the shadow of the dict.
    write_handler(_method, of=collections.OrderedDict)(lambda mapping, method=_method: (method(mapping), no_cotangents(1)))


@write_handler(collections.OrderedDict.move_to_end, of=collections.OrderedDict)
def move_to_end(mapping: collections.OrderedDict[Any, Any], key: Any, last: bool = True) -> Made:
    collections.OrderedDict.move_to_end(mapping, key, last)
    return None, no_cotangents(3)


# Sets


def _register_sets() -> None:
    for name in ("add", "clear", "discard", "pop", "remove", "update", "difference_update", "intersection_update"):
        method = getattr(set, name)

        def made(items: set[Any], *rest: Any, method: Any = method) -> Made:
            for x in rest:
                for item in x if isinstance(x, list | tuple | set | frozenset) else (x,):
                    check_key(item)
            return method(items, *rest), no_cotangents(1 + len(rest))

        write_handler(method, of=set)(made)


_register_sets()

_BINARY = ("or_", "and_", "sub", "xor")
_METHODS = ("union", "intersection", "difference", "symmetric_difference", "copy", "issubset", "issuperset", "isdisjoint")
_OF_SETS: Any = dict.fromkeys(
    (
        *(getattr(operator, name) for name in _BINARY),
        *(getattr(cls, name) for cls in (set, frozenset) for name in _METHODS),
    ),
    True,
)


def of_sets(f: Any, args: tuple[Any, ...]) -> Resolved | None:
    """A set of the items of others, which are in it as they are: what has a cotangent has it itself."""
    if not args or not isinstance(args[0], set | frozenset) or looked_up(_OF_SETS, f) is None:
        return None
    return f(*args), nothing(len(args))


def _register_operators_in_place() -> None:
    for name in ("ior", "iand", "isub", "ixor"):
        operate = getattr(operator, name)

        def made(items: set[Any], other: Any, /, operate: Any = operate) -> Made:
            return operate(items, other), no_cotangents(2)

        write_handler(operate, of=set)(made)


_register_operators_in_place()


# Arguments of calls, as `inspect` has them


@write_handler(BoundArguments.apply_defaults)
def apply_defaults(bound: BoundArguments, /) -> Made:
    """The arguments of a call are in a dict, and in a new one together with the defaults, which are constants."""
    before = bound.arguments
    names = list(before)
    bound.apply_defaults()
    after = bound.arguments

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        taken = shadows.take(after)
        for name in names if taken is not None else ():
            shadows.of(before).add(name, taken.take(name))
        return (None,)

    return None, undo
