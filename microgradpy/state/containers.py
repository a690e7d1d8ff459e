"""Writes into lists, dicts, deques and sets, and reads of their items, which undo in the shadow what they did."""

from __future__ import annotations

import collections
import operator
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from microgradpy.errors import MutationError
from microgradpy.state.arrays import pulled_back
from microgradpy.state.events import event
from microgradpy.state.shadows import Shadows, Undo
from microgradpy.state.snapshots import Structure, frozen, structure_of
from microgradpy.tangents.arithmetic import stack_items

Made = tuple[Any, Undo]


def _nothing(count: int) -> Undo:
    return lambda y_bar, shadows: (None,) * count


# Lists


@event(list.append, of=list)
def append(items: list[Any], x: Any, /) -> Made:
    length = len(items)
    items.append(x)
    return None, lambda y_bar, shadows: (None, shadows.of(items).undo_append(length))


@event(operator.iadd, of=list)
def add_in_place(items: list[Any], more: Any, /) -> Made:
    """`items += more`; an array takes it over as a sum of arrays."""
    if not isinstance(more, np.ndarray | np.generic):
        return items, _extend(items, more)
    given = structure_of(items), structure_of(more)
    before = frozen(items), frozen(more)
    y: Any = items
    y += more

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        d = shadows.born(y, y_bar)
        bars = (None, None) if d is None else pulled_back(operator.add, before, {}, d)
        return tuple(structure.divided(shadows, bar) for structure, bar in zip(given, bars, strict=True))

    return y, undo


@event(list.extend, of=list)
def extend(items: list[Any], more: Any, /) -> Made:
    return None, _extend(items, more)


def _extend(items: list[Any], more: Any) -> Undo:
    length = len(items)
    given = structure_of(more) if isinstance(more, list | tuple | np.ndarray | deque) else None
    items.extend(more)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        tail = shadows.of(items).cut(length)
        return None, _settle_items(given, tail, shadows)

    return undo


def _settle_items(given: Structure | None, bars: list[Any], shadows: Shadows) -> Any:
    """Give the items that were put into a list their cotangents; a missing tail is zero."""
    if given is None or all(bar is None for bar in bars):
        return None
    count = len(given.x) if isinstance(given.x, np.ndarray) else len(given.parts)
    bars = [*bars, *[None] * (count - len(bars))]
    if isinstance(given.x, np.ndarray):
        # Its rows, if it has any, are views, whose cotangents are in the shadow of the array.
        return None if given.x.ndim > 1 else stack_items(given.x, bars)
    return given.settle(shadows, bars if not isinstance(given.x, tuple) else tuple(bars))


@event(deque.insert, of=deque)
@event(list.insert, of=list)
def insert(items: list[Any], index: Any, x: Any, /) -> Made:
    start = operator.index(index)
    place = max(0, start + len(items)) if start < 0 else min(start, len(items))
    items.insert(index, x)
    return None, lambda y_bar, shadows: (None, None, shadows.of(items).undo_insert(place))


@event(list.pop, of=list)
def pop(items: list[Any], index: Any = -1, /) -> Made:
    place = operator.index(index)
    place += len(items) if place < 0 else 0
    y = items.pop(index)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).undo_pop(place, y_bar)
        return None, None

    return y, undo


@event(deque.remove, of=deque)
@event(list.remove, of=list)
def remove(items: list[Any], x: Any, /) -> Made:
    try:
        place = items.index(x)
    except ValueError:
        items.remove(x)  # raises what it raises
        raise
    del items[place]

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).undo_pop(place, None)
        return None, None

    return None, undo


@event(list.clear, of=list)
def clear(items: list[Any], /) -> Made:
    items.clear()

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).cut(0)
        return (None,)

    return None, undo


@event(deque.reverse, of=deque)
@event(list.reverse, of=list)
def reverse(items: list[Any], /) -> Made:
    length = len(items)
    items.reverse()

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).reorder(range(length - 1, -1, -1), length)
        return (None,)

    return None, undo


@event(list.sort, of=list)
def sort(items: list[Any], /, *, key: Callable[[Any], Any] | None = None, reverse: bool = False) -> Made:
    """Sorts the places as list.sort sorts the items: by the same comparisons, each key computed once."""
    keys = list(items) if key is None else [key(item) for item in items]
    order = sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
    items[:] = [items[place] for place in order]

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).reorder(order, len(order))
        return (None,)

    return None, undo


@event(operator.imul, of=list)
def repeat(items: list[Any], times: Any, /) -> Made:
    length = len(items)
    items *= times

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadow = shadows.of(items)
        tail = shadow.cut(length)
        for index, bar in enumerate(tail):
            shadow.add(index % length, bar)
        return None, None

    return items, undo


@event(operator.getitem, list.__getitem__, of=list)
def list_item(items: list[Any], index: Any, /) -> Made:
    y = items[index]
    if isinstance(index, slice):
        places = range(*index.indices(len(items)))

        def undo_slice(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
            taken, shadow = shadows.take(y), shadows.of(items)
            for number, place in enumerate(places):
                shadow.add(place, None if taken is None else taken.get(number))
            return None, None

        return y, undo_slice
    place = operator.index(index)
    place += len(items) if place < 0 else 0

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is not None:
            shadows.of(items).add(place, y_bar)
        return None, None

    return y, undo


@event(operator.setitem, list.__setitem__, of=list)
def set_list_item(items: list[Any], index: Any, value: Any, /) -> Made:
    if isinstance(index, slice):
        return None, _set_slice(items, index, value)
    place = operator.index(index)
    place += len(items) if place < 0 else 0
    items[index] = value
    return None, lambda y_bar, shadows: (None, None, shadows.of(items).take(place))


def _set_slice(items: list[Any], index: slice, value: Any) -> Undo:
    length = len(items)
    places = range(*index.indices(length))
    given = structure_of(value) if isinstance(value, list | tuple | np.ndarray | deque) else None
    items[index] = value
    start, removed, added = places.start, len(places), len(items) - length + len(places)
    is_plain = index.step is None or operator.index(index.step) == 1

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadow = shadows.of(items)
        bars = [shadow.take(start + k if is_plain else places[k]) for k in range(added)]
        if is_plain and added != removed:
            shadow.slots += [None] * (start + added - len(shadow.slots))
            shadow.slots[start : start + added] = [None] * removed
        return None, None, _settle_items(given, bars, shadows)

    return undo


@event(operator.delitem, list.__delitem__, of=list)
def delete_list_item(items: list[Any], index: Any, /) -> Made:
    if isinstance(index, slice):
        places = sorted(range(*index.indices(len(items))))
    else:
        place = operator.index(index)
        places = [place + len(items) if place < 0 else place]
    del items[index]

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadow = shadows.of(items)
        for place in places:
            shadow.undo_pop(place, None)
        return None, None

    return None, undo


# Dicts


def check_key(key: Any) -> None:
    """A key, or an item of a set, carries no derivative: a number that may have one is refused."""
    if isinstance(key, float | complex | np.inexact) and not isinstance(key, bool):
        raise MutationError(
            f"a differentiated {type(key).__name__} becomes a key of a dict or an item of a set",
            None,
            "Keys carry no derivative: use a whole number or a text, or stop_gradient(key).",
        )


@event(operator.getitem, dict.__getitem__, of=dict)
def dict_item(mapping: dict[Any, Any], key: Any, /) -> Made:
    was_there = key in mapping
    y = mapping[key]
    is_new = not was_there and key in mapping  # a defaultdict makes it

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is not None:
            shadows.of(mapping).add(key, y_bar)
        if is_new:
            shadows.of(mapping).take(key)
        return None, None

    return y, undo


@event(dict.get, of=dict)
def get(mapping: dict[Any, Any], key: Any, default: Any = None, /) -> Made:
    y = mapping.get(key, default)
    was_there = key in mapping

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if not was_there:
            return None, None, y_bar
        if y_bar is not None:
            shadows.of(mapping).add(key, y_bar)
        return None, None, None

    return y, undo


@event(dict.setdefault, collections.OrderedDict.setdefault, of=dict)
def setdefault(mapping: dict[Any, Any], key: Any, default: Any = None, /) -> Made:
    was_there = key in mapping
    y = mapping.setdefault(key, default)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadow = shadows.of(mapping)
        shadow.add(key, y_bar)
        return None, None, None if was_there else shadow.take(key)

    return y, undo


_MISSING = object()


@event(dict.pop, collections.OrderedDict.pop, of=dict)
def dict_pop(mapping: dict[Any, Any], key: Any, default: Any = _MISSING, /) -> Made:
    was_there = key in mapping
    y = mapping.pop(key) if default is _MISSING else mapping.pop(key, default)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if not was_there:
            return None, None, y_bar
        shadows.of(mapping).add(key, y_bar)
        return None, None, None

    return y, undo


@event(dict.popitem, collections.OrderedDict.popitem, of=dict)
def popitem(mapping: dict[Any, Any], /, *last: bool) -> Made:
    y = mapping.popitem(*last)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is not None:
            shadows.of(mapping).add(y[0], y_bar[1])
        return None, *(None for _ in last)

    return y, undo


@event(operator.setitem, dict.__setitem__, collections.OrderedDict.__setitem__, of=dict)
def set_dict_item(mapping: dict[Any, Any], key: Any, value: Any, /) -> Made:
    mapping[key] = value
    return None, lambda y_bar, shadows: (None, None, shadows.of(mapping).take(key))


@event(operator.delitem, dict.__delitem__, collections.OrderedDict.__delitem__, of=dict)
def delete_dict_item(mapping: dict[Any, Any], key: Any, /) -> Made:
    del mapping[key]
    return None, _nothing(2)


@event(dict.clear, collections.OrderedDict.clear, of=dict)
def clear_dict(mapping: dict[Any, Any], /) -> Made:
    mapping.clear()
    return None, _nothing(1)


@event(dict.update, collections.OrderedDict.update, of=dict)
def update(mapping: dict[Any, Any], other: Any = (), /, **named: Any) -> Made:
    return None, _merge(mapping, other, named)


@event(operator.ior, of=dict)
def merge(mapping: dict[Any, Any], other: Any, /) -> Made:
    return mapping, _merge(mapping, other, {})


def _merge(mapping: dict[Any, Any], other: Any, named: dict[str, Any]) -> Undo:
    if not isinstance(other, dict | list | tuple):
        other = dict(other.items()) if hasattr(other, "keys") else list(other)  # which may be read once only
    given = structure_of(other)
    mapping.update(other, **named)

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
    event(_method, of=collections.OrderedDict)(lambda mapping, method=_method: (method(mapping), _nothing(1)))


# Deques: their shadow is that of a list


@event(deque.append, of=deque)
def deque_append(items: deque[Any], x: Any, /) -> Made:
    is_full = items.maxlen is not None and len(items) == items.maxlen
    items.append(x)
    length = len(items)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadow = shadows.of(items)
        bar = shadow.undo_append(length - 1)
        if is_full:
            shadow.undo_pop(0, None)
        return None, bar

    return None, undo


@event(deque.appendleft, of=deque)
def appendleft(items: deque[Any], x: Any, /) -> Made:
    if items.maxlen == 0:
        raise MutationError("appendleft on a deque of length 0", None, "Give it another maxlen.")
    items.appendleft(x)
    return None, lambda y_bar, shadows: (None, shadows.of(items).undo_insert(0))


@event(deque.pop, of=deque)
def deque_pop(items: deque[Any], /) -> Made:
    y = items.pop()
    place = len(items)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).undo_pop(place, y_bar)
        return (None,)

    return y, undo


@event(deque.popleft, of=deque)
def popleft(items: deque[Any], /) -> Made:
    y = items.popleft()

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).undo_pop(0, y_bar)
        return (None,)

    return y, undo


@event(deque.clear, of=deque)
def clear_deque(items: deque[Any], /) -> Made:
    items.clear()

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).cut(0)
        return (None,)

    return None, undo


@event(deque.extend, operator.iadd, of=deque)
def extend_deque(items: deque[Any], more: Iterable[Any], /) -> Made:
    undone = [deque_append(items, x)[1] for x in list(more)]
    given = structure_of(more) if isinstance(more, list | tuple | np.ndarray | deque) else None

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        bars = [one(None, shadows)[1] for one in reversed(undone)][::-1]
        return None, _settle_items(given, bars, shadows)

    return items, undo


@event(deque.extend, of=deque)
def extend_deque_without_result(items: deque[Any], more: Iterable[Any], /) -> Made:
    return None, extend_deque(items, more)[1]


@event(deque.extendleft, of=deque)
def extendleft(items: deque[Any], more: Iterable[Any], /) -> Made:
    undone = [appendleft(items, x)[1] for x in list(more)]
    given = structure_of(more) if isinstance(more, list | tuple | np.ndarray | deque) else None

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        bars = [one(None, shadows)[1] for one in reversed(undone)][::-1]
        return None, _settle_items(given, bars, shadows)

    return None, undo


@event(deque.rotate, of=deque)
def rotate(items: deque[Any], n: int = 1, /) -> Made:
    length = len(items)
    items.rotate(n)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).reorder([(k - n) % length for k in range(length)], length)
        return None, None

    return None, undo


@event(operator.getitem, of=deque)
def deque_item(items: deque[Any], index: Any, /) -> Made:
    y = items[index]
    place = operator.index(index) % max(len(items), 1)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).add(place, y_bar)
        return None, None

    return y, undo


@event(operator.setitem, of=deque)
def set_deque_item(items: deque[Any], index: Any, value: Any, /) -> Made:
    items[index] = value
    place = operator.index(index) % len(items)
    return None, lambda y_bar, shadows: (None, None, shadows.of(items).take(place))


# Sets


def _register_sets() -> None:
    for name in ("add", "clear", "discard", "pop", "remove", "update", "difference_update", "intersection_update"):
        method = getattr(set, name)

        def made(items: set[Any], *rest: Any, method: Any = method) -> Made:
            for x in rest:
                for item in x if isinstance(x, list | tuple | set | frozenset) else (x,):
                    check_key(item)
            return method(items, *rest), _nothing(1 + len(rest))

        event(method, of=set)(made)


_register_sets()
event(collections.OrderedDict.move_to_end, of=collections.OrderedDict)(
    lambda mapping, *rest: (mapping.move_to_end(*rest), _nothing(1 + len(rest)))
)
