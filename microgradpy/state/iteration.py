"""What is read item by item in a run that tracks writes: iterators, the views of a dict, objects that say how to iterate over
them. What their items give is undone in the order in which they were read.
"""

from __future__ import annotations

import collections
import math
import operator
import types
from collections import deque
from collections.abc import Hashable
from typing import Any

import numpy as np

from microgradpy.frontend.exceptions import Keys, check_steady, is_sized
from microgradpy.ir.objects import features_of
from microgradpy.named import Named
from microgradpy.rules.entries import hashes_itself
from microgradpy.rules.registry import rrule
from microgradpy.runtime import replacements as texts
from microgradpy.runtime.asking import TELLERS
from microgradpy.runtime.bars import Bars, Resolve, Resolved, given_to, nothing
from microgradpy.runtime.failures import NO_ROW, Row
from microgradpy.runtime.iterators import STREAMS, listed, stream, walked
from microgradpy.runtime.sources import VIEWS, items_of_object
from microgradpy.runtime.special_methods import is_read_by_keys
from microgradpy.runtime.streams import Stream, Turn
from microgradpy.state.coroutines import Steps
from microgradpy.state.lists import with_fixed_slice
from microgradpy.state.write_handlers import has_write_handler

_READ_TO_THE_END: Any = frozenset({
    list, tuple, dict, sorted, deque, collections.OrderedDict,
    math.fsum, math.prod,
})  # fmt: skip
_OF_STATISTICS = Named(("statistics", "fmean mean"))
"""Functions that do nothing else while they read an iterator."""
_TEXTS: Any = {max: texts.greatest, min: texts.least}
_GROWS: Any = {
    (list.extend, list): texts.extend_list, (list.__init__, list): texts.extend_list,
    (dict.__init__, dict): texts.update_dict, (deque.extend, deque): texts.extend_deque,
    (deque.extendleft, deque): texts.extend_deque_left,
    (dict.update, dict): texts.update_dict, (operator.iadd, list): texts.grow_list, (list.__iadd__, list): texts.grow_list,
    (operator.iadd, deque): texts.grow_deque, (deque.__iadd__, deque): texts.grow_deque, (operator.ior, dict): texts.grow_dict,
    (dict.__ior__, dict): texts.grow_dict,
}  # fmt: skip
"""What takes in the items of an iterator one by one, by what is called and for what."""
_MERGES: Any = {
    dict: texts.dict_of, dict.update: texts.update_by_keys, dict.__init__: texts.update_by_keys,
    operator.ior: texts.merge, dict.__ior__: texts.merge,
}  # fmt: skip
"""What reads a mapping, its last argument, by its keys."""
_TESTS: Any = {any: texts.any_of, all: texts.all_of}
_ASKING: Any = {any, all, operator.contains}
_TRUTH = ("__bool__", "__len__")
_SORTS: Any = {sorted: texts.in_order, list.sort: texts.sort_in_place}


def by_items(resolve: Resolve, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved | None:
    """A call of a function that reads the items of its arguments, which are not lists; None for any other call."""
    if f is walked:
        return walk(resolve, *args)
    if f is walked_steadily:
        return _walk_steadily(resolve, *args)
    if f is items_of_pattern:
        return _take_apart(resolve, *args)
    try:
        grows = _growth(f, args)
        if grows is not None:
            return resolve(grows, args, kwargs)
        reads_all = f in _READ_TO_THE_END or f in _OF_STATISTICS or _takes_items(f, args)
        known = reads_all or f in _ASKING or (f not in STREAMS and (rrule.has(f) or has_write_handler(f)))
    except TypeError:
        return None
    if not known:
        return None
    merges = _MERGES.get(f)
    if merges is not None and len(args) == (1 if f is dict else 2) and is_read_by_keys(args[-1]):
        return resolve(merges, args, kwargs) if f is dict or isinstance(args[0], dict) else None
    place = None if f in _ASKING else _place_of_items(args, reads_all)
    if place is not None:
        if _takes_items(f, args):
            args = with_fixed_slice(*args)
        return _with_read(resolve, f, args, kwargs, place, as_list(resolve, args[place]))
    return _with_text(resolve, f, args, kwargs)


def _place_of_items(args: tuple[Any, ...], reads_all: bool) -> int | None:
    """Which argument has to be a list instead."""
    return next((k for k, x in enumerate(args) if isinstance(x, VIEWS) or (reads_all and _is_read_once(x))), None)


def _with_text(resolve: Resolve, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved | None:
    """A builtin that calls the user's code, as the text that stands for it."""
    if f in _TESTS and len(args) == 1 and not kwargs and _asks_users(args[0]):
        return resolve(_TESTS[f], args, {})
    if f is operator.contains and len(args) == 2 and _is_looked_through(args[0]):
        return resolve(texts.is_among, args, {})
    if f in _TEXTS and (kwargs or (len(args) == 1 and _is_read_once(args[0]))):
        return _extreme(resolve, _TEXTS[f], args, kwargs)
    if f in _SORTS and _runs_code(kwargs.get("key")) and len(args) == 1:
        given = (args[0], kwargs["key"], kwargs.get("reverse", False))
        y, back = resolve(_SORTS[f], given, {})
        return y, lambda y_bar, shadows: _by_name(back(y_bar, shadows), 1, ("key", "reverse"), kwargs)
    return None


def _takes_items(f: Any, args: tuple[Any, ...]) -> bool:
    """Whether an assignment to a slice takes the items of what is on its right."""
    is_assignment = f in (operator.setitem, list.__setitem__) and len(args) == 3
    return is_assignment and isinstance(args[0], list) and isinstance(args[1], slice)


def _growth(f: Any, args: tuple[Any, ...]) -> Any:
    """The text for a call that takes in the items of an iterator; None for any other call."""
    if len(args) != 2 or not _runs_step_by_step(args[1]):
        return None
    if isinstance(args[0], dict) and hasattr(type(args[1]), "keys"):
        return None
    return next((text for (known, cls), text in _GROWS.items() if f is known and isinstance(args[0], cls)), None)


def _asks_users(items: Any) -> bool:
    """Whether the user's code gives the items, or says if they are true."""
    return _runs_step_by_step(items) or (
        isinstance(items, list | tuple) and any(not features_of(type(item)).operators.isdisjoint(_TRUTH) for item in items)
    )


def _runs_code(key: Any) -> bool:
    if not hashes_itself(key) and isinstance(key, Hashable) and key in TELLERS:
        return True
    return callable(key) and not isinstance(key, types.BuiltinFunctionType | types.MethodWrapperType | type | np.ufunc)


def _is_looked_through(x: Any) -> bool:
    """Whether `in` takes the items one by one, which the user's code gives."""
    return _runs_step_by_step(x) and (isinstance(x, Stream) or not hasattr(type(x), "__contains__"))


def _runs_step_by_step(x: Any) -> bool:
    """Whether the user's code gives the items, one by one."""
    return isinstance(x, types.GeneratorType) or _is_read_once(x)


def _is_read_once(x: Any) -> bool:
    return isinstance(x, Stream | np.flatiter) or (
        not isinstance(x, list | tuple | dict | set | np.ndarray | type) and bool(features_of(type(x)).operators)
        and items_are_computed(x)
    )


def items_are_computed(x: Any) -> bool:
    """Whether the class of an object, or one that it inherits from, says how to iterate over it."""
    return any(name in vars(cls) for cls in type(x).__mro__ for name in ("__iter__", "__getitem__"))


def _with_read(
    resolve: Resolve, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], place: int, read: Resolved
) -> Resolved:
    """The call with what was read of one argument in its place: a list, or a dict."""
    items, items_back = read
    y, back = resolve(f, (*args[:place], items, *args[place + 1 :]), kwargs)

    def read_back(y_bar: Any, shadows: Any) -> Bars:
        bars = back(y_bar, shadows)
        given = (*bars.arguments, *(None,) * (len(args) - len(bars.arguments)))
        own = items_back(shadows.settle(items, given[place]), shadows).arguments[0]
        return Bars(None, (*given[:place], own, *given[place + 1 :]), bars.keywords)

    return y, read_back


def as_list(resolve: Resolve, x: Any) -> Resolved:
    """list(x), of what is read item by item."""
    if isinstance(x, Stream):
        return listed(x)
    items, items_back = items_of_object(x, resolve) or stream(iter, (x,), {}, resolve)
    y, back = listed(items)

    def list_back(y_bar: Any, shadows: Any) -> Bars:
        back(y_bar, shadows)
        return Bars(None, (items_back(None, shadows).arguments[0],), {})

    return y, list_back


def walked_steadily(x: Any, place: str, row: Row = NO_ROW) -> Any:
    """The same, where the loop catches what its body raises."""
    return walked(x)


def walk(resolve: Resolve, x: Any) -> Resolved:
    """The same: a turn over a stream of the items, where they are made by a class of the user's, or cannot be found from `x`
    later; and over what is an iterator already, which others may read too."""
    if isinstance(x, types.GeneratorType):
        return Steps(x), nothing(1)
    if isinstance(x, (*VIEWS, np.flatiter)):
        made: Resolved | None = stream(iter, (x,), {}, resolve)
    else:
        made = items_of_object(x, resolve)
    y, back = (x, _to_itself) if made is None else made
    return (Turn(y) if isinstance(y, Stream) else y), back


def _to_itself(y_bar: Any, shadows: Any) -> Bars:
    return Bars(None, (y_bar,), {})


def _walk_steadily(resolve: Resolve, x: Any, place: str, row: Row = NO_ROW) -> Resolved:
    """The same, of what gives a `Failure` for an item instead of raising between two items."""
    y, back = walk(resolve, x)
    if isinstance(y, Steps | Turn):
        y.catches, y.row = True, row
    elif is_sized(y):
        y = Keys(y, row)
    else:
        check_steady(y, place)
    return y, lambda y_bar, shadows: Bars(None, (back(y_bar, shadows).arguments[0], None, None), {})


def items_of_pattern(x: Any, count: int) -> Any:
    """What `a, b = x` takes apart."""
    return x


def _take_apart(resolve: Resolve, x: Any, count: int) -> Resolved:
    """The same: a list of the items, where the user's code gives them."""
    if _runs_step_by_step(x):
        return resolve(texts.first_items, (x, count), {})
    return x, lambda y_bar, shadows: Bars(None, (y_bar, None), {})


def _extreme(resolve: Resolve, text: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved:
    """max and min with a key or a default, or of what is read item by item."""
    items = args[0] if len(args) == 1 else args
    y, back = resolve(text, (items, kwargs.get("key"), kwargs.get("default", texts.NOTHING)), {})

    def extreme_back(y_bar: Any, shadows: Any) -> Bars:
        bars = back(y_bar, shadows)
        if len(args) == 1:
            return _by_name(bars, 1, ("key", "default"), kwargs)
        given = given_to(items, bars.arguments[0], shadows) or (None,) * len(args)
        return _by_name(Bars(None, (*given, *bars.arguments[1:]), {}), len(args), ("key", "default"), kwargs)

    return y, extreme_back


def _by_name(bars: Bars, count: int, names: tuple[str, ...], kwargs: dict[str, Any]) -> Bars:
    named = dict(zip(names, bars.arguments[count:], strict=False))
    return Bars(None, bars.arguments[:count], {name: named.get(name) for name in kwargs})
