"""Calls that stand for other calls: of methods of the user's classes, of functions that are the fields of a callable, and of
iterators that are read item by item.

`by_protocol(f, args, kwargs, resolve)` is asked by the dispatcher before it looks for a rule or a source of `f`.
"""

from __future__ import annotations

import copy
import functools
import itertools
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.ir.objects import ANY_FEATURES, features_of, is_function, static_member
from microgradpy.rules.containers import attribute_bar
from microgradpy.rules.entries import hashes_itself
from microgradpy.runtime.activity import may_be_active
from microgradpy.runtime.array_calls import by_function_of_numpy, by_method_of_array, by_vectorized, items_as_array, joined
from microgradpy.runtime.asking import OVERRIDES, converts_by
from microgradpy.runtime.bars import Back, Bars, Resolve, Resolved, content, given_to, is_nothing, nothing
from microgradpy.runtime.constructors import REPLACES, call_partial, constructed, replaced
from microgradpy.runtime.iterators import STREAMS, listed, next_item, split, stream, turn_over, walked
from microgradpy.runtime.named_operators import by_name
from microgradpy.runtime.python_ufuncs import by_ufunc, made
from microgradpy.runtime.replacements import dict_of, next_or, text_of
from microgradpy.runtime.signatures import ANSWERED, answered
from microgradpy.runtime.single_dispatch import by_single_dispatch
from microgradpy.runtime.sources import items_of_object
from microgradpy.runtime.special_methods import METHODS_ASKED, attribute, converted, is_read_by_keys, overloaded
from microgradpy.runtime.streams import Stream
from microgradpy.tangents.types import Tangent, accumulate, is_structural_zero

CONSUMERS = frozenset({list, tuple, sum, min, max, sorted, iter})
"""Builtins that read all items of what they are given."""
ITERATION = frozenset({"__iter__", "__getitem__"})
_METHODS = {
    **METHODS_ASKED,
    **dict.fromkeys(CONSUMERS, ITERATION),
    next: frozenset({"__next__"}),
    sum: ITERATION | METHODS_ASKED[operator.add],
    **dict.fromkeys((copy.copy, copy.deepcopy), ANY_FEATURES.operators),
}


def asks_for(f: Any) -> frozenset[str]:
    """The methods of the user's classes that a builtin may call, or whose objects it passes on."""
    if hashes_itself(f):
        return frozenset()
    try:
        found = _METHODS.get(f)
    except TypeError:  # unhashable
        return frozenset()
    name = converts_by(f) if found is None else None
    return (frozenset() if name is None else OVERRIDES | {name}) if found is None else found


def has_protocol(f: Any) -> bool:
    """Whether calls of an object of this type may stand for other calls."""
    return type(f) in _PROTOCOLS


def by_protocol(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved | None:
    """The value and the pullback of such a call; None for any other."""
    protocol = _PROTOCOLS.get(type(f))
    if protocol is None:
        if not isinstance(f, type):
            return None
        protocol = _by_class
    return protocol(f, args, kwargs, resolve)


def _by_class(f: type, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved | None:
    if f in STREAMS:
        return _stream(f, args, kwargs, resolve)
    if f is super and len(args) == 2:
        return super(*args), lambda y_bar, shadows=None: Bars(None, (None, y_bar), {})
    if f is dict and args and is_read_by_keys(args[0]):
        return resolve(dict_of, args, kwargs)
    if f is dict and kwargs:
        return _dict(args, kwargs, resolve)
    if f in CONSUMERS and args:
        return _consumed(f, args, kwargs, resolve)
    if f in METHODS_ASKED and not kwargs:
        return overloaded(f, args, resolve)
    return constructed(f, args, kwargs)


def _by_builtin(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved | None:
    if f in METHODS_ASKED:
        return joined(f, args, resolve) or (None if kwargs else overloaded(f, args, resolve))
    if f in STREAMS:
        return _stream(f, args, kwargs, resolve)
    if f is itertools.tee:
        return split(resolve, *args, **kwargs)
    if (text := text_of(f, kwargs)) is not None:
        return resolve(text, args, kwargs)
    if f is np.frompyfunc or f is np.fromiter:
        return made(args, kwargs) if f is np.frompyfunc else items_as_array(args, kwargs, resolve)
    if f in CONSUMERS and args:
        return _consumed(f, args, kwargs, resolve)
    if f is getattr and len(args) in (2, 3):
        return _read(args[0], args[1], args[2:], resolve)
    if f is next and args and (read := _next(args, resolve)) is not None:
        return read
    if f == tuple.__new__ and len(args) == 2 and not kwargs:
        return _new_tuple(*args, resolve=resolve)
    return by_name(f, args, kwargs, resolve) or converted(f, args, kwargs, resolve)


def _next(args: tuple[Any, ...], resolve: Resolve) -> Resolved | None:
    """next(iterator), of a stream or an object of the user's."""
    if isinstance(args[0], Stream):
        return next_item(*args)
    own = static_member(type(args[0]), "__next__")
    return resolve(own if len(args) == 1 else next_or, args, {}) if is_function(own) else None


# Attributes


def _read(x: Any, name: str, default: tuple[Any, ...], resolve: Resolve) -> Resolved | None:
    """getattr, of an attribute that is computed."""
    try:
        found = attribute(x, name, resolve)
    except AttributeError:
        if not default:
            raise
        return default[0], lambda y_bar, shadows=None: Bars(None, (None, None, y_bar), {})
    if found is None or not default:
        return found
    y, back = found
    return y, lambda y_bar, shadows=None: Bars(None, (*back(y_bar, shadows).arguments, None), {})


def _by_slot(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved | None:
    """object.__getattribute__(x, name), or object.__init__(x), at which the calls of `super().__init__` end and which does
    nothing; or an operator by its name; or the same methods bound to x."""
    if f.__name__ == "__init__" and f.__objclass__ is object:
        return f(*args, **kwargs), nothing(len(args))
    is_bound = isinstance(f, types.MethodWrapperType)
    owned = (f.__self__, *args) if is_bound else args
    if f.__name__ != "__getattribute__" or len(owned) != 2 or kwargs:
        return by_name(f, args, kwargs, resolve)
    x, name = owned
    y, back = attribute(x, name, resolve, plain=True) or (object.__getattribute__(x, name), None)

    def getter_back(y_bar: Any, shadows: Any = None) -> Bars:
        if back is not None and not is_nothing(y_bar, shadows):
            x_bar = back(y_bar, shadows).arguments[0]
        else:
            x_bar = None if is_structural_zero(y_bar) else given_to(x, attribute_bar(x, name, y, y_bar), shadows)
        if not is_bound:
            return Bars(None, (x_bar, None), {})
        return Bars(None if x_bar is None else Tangent(type(f), {"__self__": x_bar}), (None,), {})

    return y, getter_back


# Iterators


def _stream(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved | None:
    if f is iter and not 0 < len(args) < 3:
        return None
    if not resolve.tracks and not any(map(may_be_active, (*args, *kwargs.values()))):
        return f(*args, **kwargs), nothing(len(args))
    return stream(f, args, kwargs, resolve)


def _consumed(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved | None:
    """A builtin that reads the items of an object whose class gives them, or that adds up objects."""
    iterable, *others = args
    if f in (min, max) and others:
        return None
    if f in (min, max) and "default" in kwargs:
        return _with_default(f, iterable, kwargs, resolve)
    if f is sum and _has_objects(iterable):
        return _sum(args, kwargs, resolve)
    # Python adds up floats in a way of its own, so the sum of a stream is that of a list of its items.
    is_sum_of_stream = f is sum and isinstance(iterable, Stream)
    if is_sum_of_stream:
        iterable.added_up = []
    made = listed(iterable) if is_sum_of_stream else items_of_object(iterable, resolve)
    if made is None:
        return None
    items, items_back = made
    if f is sum and isinstance(items, Stream):
        items.added_up = []
    y, back = resolve(f, (items, *others), kwargs)

    def consumed_back(y_bar: Any, shadows: Any = None) -> Bars:
        bars = back(y_bar, shadows)
        first = given_to(items, bars.arguments[0], shadows)
        own = None if is_nothing(first, shadows) else items_back(first, shadows).arguments[0]
        return Bars(None, (own, *bars.arguments[1:]), bars.keywords)

    return y, consumed_back


def _with_default(f: Any, iterable: Any, kwargs: dict[str, Any], resolve: Resolve) -> Resolved:
    """max(items, default=x): what is computed without it, if there are items."""
    options = {name: value for name, value in kwargs.items() if name != "default"}
    items, items_back = resolve(list, (iterable,), {})
    if not items:
        return kwargs["default"], lambda y_bar, shadows=None: Bars(None, (None,), {"default": y_bar})
    y, back = resolve(f, (items,), options)

    def chosen_back(y_bar: Any, shadows: Any = None) -> Bars:
        items_bar = given_to(items, back(y_bar, shadows).arguments[0], shadows)
        own = None if is_nothing(items_bar, shadows) else items_back(items_bar, shadows).arguments[0]
        return Bars(None, (own,), {})

    return y, chosen_back


def _has_objects(items: Any) -> bool:
    return isinstance(items, list | tuple) and any(features_of(type(item)).operators for item in items)


def _sum(args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved:
    """sum: the last of the partial sums, each made when its item has been read."""
    iterable, start = args if len(args) == 2 else (args[0], kwargs.get("start", 0))
    partial_sums, back = stream(itertools.accumulate, (iterable, operator.add), {"initial": start}, resolve)
    *before, y = list(partial_sums)

    def sum_back(y_bar: Any, shadows: Any = None) -> Bars:
        items_bar: Any = [*(None for _ in before), y_bar]
        if shadows is not None:
            shadows.of(partial_sums).undo_all(items_bar)
            items_bar = None
        bars = back(items_bar, shadows)
        given = (bars.arguments[0], bars.keywords["initial"])
        return Bars(None, given[: len(args)], {name: given[1] for name in kwargs})

    return y, sum_back


def _new_tuple(cls: Any, items: Any, *, resolve: Resolve) -> Resolved:
    """tuple.__new__(cls, items), which makes named tuples."""
    plain, back = resolve(tuple, (items,), {})
    return tuple.__new__(cls, plain), lambda y_bar, shadows=None: Bars(None, (None, back(y_bar, shadows).arguments[0]), {})


def _dict(args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved:
    """dict(items, name=value): the values by name take the place of items with the same key."""
    items, back = resolve(dict, args, {}) if args else ({}, None)

    y = dict(items, **kwargs)

    def dict_back(y_bar: Any, shadows: Any = None) -> Bars:
        whole = content(y, y_bar, shadows) or {}
        rest = {key: bar for key, bar in whole.items() if key not in kwargs}
        own = back(given_to(items, rest, shadows), shadows).arguments if back is not None else ()
        return Bars(None, own, {name: whole.get(name) for name in kwargs})

    return y, dict_back


# Callables of functools and operator


def _by_function(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved | None:
    """A function of `functools` that chooses among others; one that makes an object from another; or one of `inspect` that
    tells which argument is whose."""
    if f is walked:
        return turn_over(*args)
    if f.__code__ in ANSWERED:
        return answered(f, args, kwargs)
    return replaced(f, args, kwargs) if f.__code__ in REPLACES else by_single_dispatch(f, args, kwargs, resolve)


def _by_getter(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved | None:
    """operator.itemgetter(key, ...)(x), operator.attrgetter(path, ...)(x)"""
    if len(args) != 1 or kwargs:
        return None
    (x,) = args
    keys = f.__reduce__()[1]
    read = _item if isinstance(f, operator.itemgetter) else _path
    parts = [read(x, key, resolve) for key in keys]
    if len(parts) == 1:
        y, back = parts[0]
        return y, lambda y_bar, shadows=None: Bars(None, back(y_bar, shadows).arguments[:1], {})

    def getter_back(y_bar: Any, shadows: Any = None) -> Bars:
        x_bar: Any = None
        given = (None,) * len(parts) if is_structural_zero(y_bar) else y_bar
        for (_, back), bar in reversed(list(zip(parts, given, strict=True))):
            if not is_nothing(bar, shadows):
                x_bar = accumulate(x_bar, back(bar, shadows).arguments[0])
        return Bars(None, (x_bar,), {})

    return tuple(y for y, _ in parts), getter_back


def _by_methodcaller(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved | None:
    """operator.methodcaller(name, ...)(x)"""
    if len(args) != 1 or kwargs:
        return None
    (x,) = args
    made, rest = f.__reduce__()  # a partial of the class, if there are keyword arguments
    parts: list[Any] = [*getattr(made, "args", ()), *rest]
    name, given = parts[0], parts[1:]
    method, method_back = resolve(getattr, (x, name), {})
    y, back = resolve(method, tuple(given), dict(getattr(made, "keywords", {})))

    def methodcaller_back(y_bar: Any, shadows: Any = None) -> Bars:
        own = back(y_bar, shadows).function
        return Bars(None, (None if is_nothing(own, shadows) else method_back(own, shadows).arguments[0],), {})

    return y, methodcaller_back


def _item(x: Any, key: Any, resolve: Resolve) -> tuple[Any, Back]:
    y, back = resolve(operator.getitem, (x, key), {})
    return y, back


def _path(x: Any, path: str, resolve: Resolve) -> tuple[Any, Back]:
    backs, held_by = [], []
    for name in path.split("."):
        held_by.append(x)
        x, back = resolve(getattr, (x, name), {})
        backs.append(back)

    def path_back(y_bar: Any, shadows: Any = None) -> Bars:
        for held, back in zip(reversed(held_by), reversed(backs), strict=True):
            if not is_nothing(y_bar, shadows):
                y_bar = given_to(held, back(y_bar, shadows).arguments[0], shadows)
        return Bars(None, (y_bar,), {})

    return x, path_back


_PROTOCOLS: dict[type, Callable[..., Resolved | None]] = {
    type: _by_class,
    types.BuiltinFunctionType: _by_builtin,
    np.ufunc: by_ufunc,
    type(np.sum): by_function_of_numpy,
    types.FunctionType: _by_function,
    types.MethodDescriptorType: by_method_of_array,
    types.WrapperDescriptorType: _by_slot,
    types.MethodWrapperType: _by_slot,
    types.MethodDescriptorType: by_name,
    np.vectorize: by_vectorized,
    functools.partial: call_partial,
    operator.itemgetter: _by_getter,
    operator.attrgetter: _by_getter,
    operator.methodcaller: _by_methodcaller,
}
