"""Builtins whose calls of the user's functions are differentiated, written in Python: the compiler differentiates the text.

Each does what the builtin does, calling the same functions in the same order.
"""

from __future__ import annotations

import bisect
import functools
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

NOTHING = object()


def given_by(iterator: Any) -> Iterator[Any]:
    """The items of an iterator of the user's, one by one."""
    while True:
        try:
            item = next(iterator)
        except StopIteration:
            return
        yield item


def any_of(iterable: Iterable[Any]) -> bool:
    """any(iterable)"""
    for item in iterable:
        if item:
            return True
    return False


def all_of(iterable: Iterable[Any]) -> bool:
    """all(iterable)"""
    for item in iterable:
        if not item:
            return False
    return True


def is_among(iterable: Iterable[Any], value: Any) -> bool:
    """value in iterable, of what is only known to be iterated over"""
    for item in iterable:
        if item is value or item == value:
            return True
    return False


def next_or(iterator: Any, default: Any) -> Any:
    """next(iterator, default), of an iterator of the user's"""
    try:
        return next(iterator)
    except StopIteration:
        return default


def first_items(iterable: Iterable[Any], count: int) -> list[Any]:
    """What `a, b = iterable` takes, for a pattern of so many parts."""
    items: list[Any] = []
    for item in iterable:
        if len(items) == count:
            raise ValueError(f"too many values to unpack (expected {count})")
        items.append(item)
    if len(items) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
    return items


def extend_list(items: list[Any], iterable: Iterable[Any]) -> None:
    """items.extend(iterable): what gives the items finds those that it has given."""
    for item in iterable:
        list.append(items, item)


def extend_deque(items: deque[Any], iterable: Iterable[Any]) -> None:
    """items.extend(iterable)"""
    for item in iterable:
        deque.append(items, item)


def extend_deque_left(items: deque[Any], iterable: Iterable[Any]) -> None:
    """items.extendleft(iterable)"""
    for item in iterable:
        deque.appendleft(items, item)


def update_dict(table: dict[Any, Any], pairs: Iterable[Any], /, **named: Any) -> None:
    """table.update(pairs, **named)"""
    for key, value in pairs:
        dict.__setitem__(table, key, value)
    for key, value in named.items():
        dict.__setitem__(table, key, value)


def grow_list(items: list[Any], iterable: Iterable[Any]) -> list[Any]:
    """items += iterable"""
    extend_list(items, iterable)
    return items


def grow_deque(items: deque[Any], iterable: Iterable[Any]) -> deque[Any]:
    """items += iterable"""
    extend_deque(items, iterable)
    return items


def grow_dict(table: dict[Any, Any], pairs: Iterable[Any]) -> dict[Any, Any]:
    """table |= pairs"""
    update_dict(table, pairs)
    return table


def dict_of(mapping: Any, /, **named: Any) -> dict[Any, Any]:
    """dict(mapping, **named), of an object with `keys`"""
    return {**{key: mapping[key] for key in list(mapping.keys())}, **named}


def call_by_keys(function: Callable[..., Any], args: tuple[Any, ...], mapping: Any) -> Any:
    """function(*args, **mapping), of an object with `keys`"""
    return function(*args, **dict_of(mapping))


def update_by_keys(table: dict[Any, Any], mapping: Any, /, **named: Any) -> None:
    """table.update(mapping, **named): what gives the items finds those that were taken in."""
    merge(table, mapping, **named)


def merge(table: dict[Any, Any], mapping: Any, /, **named: Any) -> dict[Any, Any]:
    """table |= mapping"""
    for key in list(mapping.keys()):
        dict.__setitem__(table, key, mapping[key])
    for key, value in named.items():
        dict.__setitem__(table, key, value)
    return table


def pairs_of(mapping: Any) -> Any:
    """mapping.items()"""
    return mapping.items()


def has_attribute(x: Any, name: str) -> bool:
    """hasattr(x, name)"""
    try:
        getattr(x, name)
    except AttributeError:
        return False
    return True


def reduce(function: Callable[[Any, Any], Any], iterable: Iterable[Any], initial: Any = NOTHING, /) -> Any:
    """functools.reduce"""
    is_empty = initial is NOTHING
    total = initial
    for item in iterable:
        if is_empty:
            total, is_empty = item, False
        else:
            total = function(total, item)
    if is_empty:
        raise TypeError("reduce() of empty iterable with no initial value")
    return total


def greatest(iterable: Iterable[Any], key: Callable[[Any], Any] | None, default: Any) -> Any:
    """max(iterable, key=key, default=default)"""
    chosen = largest = NOTHING
    for item in iterable:
        value = item if key is None else key(item)
        if chosen is NOTHING or value > largest:
            chosen, largest = item, value
    if chosen is NOTHING:
        return max(()) if default is NOTHING else default
    return chosen


def least(iterable: Iterable[Any], key: Callable[[Any], Any] | None, default: Any) -> Any:
    """min(iterable, key=key, default=default)"""
    chosen = smallest = NOTHING
    for item in iterable:
        value = item if key is None else key(item)
        if chosen is NOTHING or value < smallest:
            chosen, smallest = item, value
    if chosen is NOTHING:
        return min(()) if default is NOTHING else default
    return chosen


def in_order(iterable: Iterable[Any], key: Callable[[Any], Any], reverse: bool) -> list[Any]:
    """sorted(iterable, key=key, reverse=reverse)"""
    items = list(iterable)
    keys = [key(item) for item in items]
    return [items[place] for place in sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)]


def sort_in_place(items: list[Any], key: Callable[[Any], Any], reverse: bool) -> None:
    """items.sort(key=key, reverse=reverse): the key finds the list empty, and one that raises leaves it as it was."""
    held = items[:]
    items.clear()
    try:
        ordered = in_order(held, key, reverse)
    except BaseException:
        items[:] = held
        raise
    if items:
        raise ValueError("list modified during sort")
    items[:] = ordered


def concat(a: Any, b: Any, /) -> Any:
    """operator.concat"""
    return a + b


def call(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """operator.call"""
    return function(*args, **kwargs)


def place_left(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Callable[[Any], Any]) -> int:
    """bisect.bisect_left(a, x, lo, hi, key=key)"""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    end = len(a) if hi is None else hi
    while lo < end:
        middle = (lo + end) // 2
        if key(a[middle]) < x:
            lo = middle + 1
        else:
            end = middle
    return lo


def place_right(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Callable[[Any], Any]) -> int:
    """bisect.bisect_right(a, x, lo, hi, key=key)"""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    end = len(a) if hi is None else hi
    while lo < end:
        middle = (lo + end) // 2
        if x < key(a[middle]):
            end = middle
        else:
            lo = middle + 1
    return lo


WITH_KEY: dict[Any, Callable[..., Any]] = {bisect.bisect_left: place_left, bisect.bisect_right: place_right}
"""What is differentiated in the place of a builtin that is given a `key`."""
REPLACEMENTS: dict[Any, Callable[..., Any]] = {
    functools.reduce: reduce,
    hasattr: has_attribute,
    operator.concat: concat,
    operator.call: call,
}
"""What is differentiated in the place of a builtin, whatever it is called with."""


def text_of(f: Any, kwargs: dict[str, Any]) -> Callable[..., Any] | None:
    """What is differentiated in the place of a builtin in a call with these keywords; None if the builtin itself is called."""
    return REPLACEMENTS.get(f) or (None if kwargs.get("key") is None else WITH_KEY.get(f))
