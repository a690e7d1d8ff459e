"""Writes into lists, and reads of their items, which undo in the shadow what they did."""

from __future__ import annotations

import operator
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.state.arrays import pulled_back
from microgradpy.state.events import Made, event
from microgradpy.state.shadows import Shadows, Undo
from microgradpy.state.snapshots import frozen, settle_items, structure_of


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
        return None, settle_items(given, tail, shadows)

    return undo


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


def with_fixed_slice(items: list[Any], index: slice, value: Any) -> tuple[Any, ...]:
    """The arguments of an assignment to a slice, with the bounds that it has before the first item of `value` is taken. (From
    3.13 on, Python asks for the bounds afterwards.)"""
    if sys.version_info >= (3, 13):
        return items, index, value
    start, stop, step = index.indices(len(items))
    if step == 1:
        stop = max(start, stop)
    return items, slice(start, stop if stop >= 0 else None, step), value


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
        return None, None, settle_items(given, bars, shadows)

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
