"""Writes into lists, and reads of their items, which undo in the shadow what they did."""

from __future__ import annotations

import operator
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.errors import MutationError
from microgradpy.ir.objects import base_of
from microgradpy.state.arrays import pulled_back
from microgradpy.state.shadows import Shadows, Undo
from microgradpy.state.snapshots import frozen, settle_items, structure_of
from microgradpy.state.write_handlers import Made, write_handler


@write_handler(list.append, of=list)
def append(items: list[Any], x: Any, /) -> Made:
    length = base_of(items).__len__(items)
    list.append(items, x)
    return None, lambda y_bar, shadows: (None, shadows.of(items).undo_append(length))


@write_handler(operator.iadd, of=list)
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


@write_handler(list.__iadd__, of=list)
def grow(items: list[Any], more: Any, /) -> Made:
    return items, _extend(items, more)


@write_handler(list.__init__, of=list)
def fill_list(items: list[Any], more: Any = (), /) -> Made:
    """What `list.__init__` does to a new list, as the `__init__` of a class calls it."""
    refuse_second_filling(items)
    return None, _extend(items, more)


def refuse_second_filling(items: Any) -> None:
    if base_of(items).__len__(items):
        found = f"__init__ of a {base_of(items).__name__} is called on one that has items"
        raise MutationError(found, None, "Call clear() and extend() or update().")


@write_handler(list.extend, of=list)
def extend(items: list[Any], more: Any, /) -> Made:
    return None, _extend(items, more)


def _extend(items: list[Any], more: Any) -> Undo:
    length = base_of(items).__len__(items)
    given = structure_of(more) if isinstance(more, list | tuple | np.ndarray | deque) else None
    list.extend(items, more)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        tail = shadows.of(items).cut(length)
        return None, settle_items(given, tail, shadows)

    return undo


@write_handler(deque.insert, of=deque)
@write_handler(list.insert, of=list)
def insert(items: list[Any], index: Any, x: Any, /) -> Made:
    start, length = operator.index(index), base_of(items).__len__(items)
    place = max(0, start + length) if start < 0 else min(start, length)
    base_of(items).insert(items, index, x)
    return None, lambda y_bar, shadows: (None, None, shadows.of(items).undo_insert(place))


@write_handler(list.pop, of=list)
def pop(items: list[Any], index: Any = -1, /) -> Made:
    place = operator.index(index)
    place += list.__len__(items) if place < 0 else 0
    y = list.pop(items, index)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).undo_pop(place, y_bar)
        return None, None

    return y, undo


@write_handler(deque.remove, of=deque)
@write_handler(list.remove, of=list)
def remove(items: list[Any], x: Any, /) -> Made:
    try:
        place = base_of(items).index(items, x)
    except ValueError:
        base_of(items).remove(items, x)  # raises what it raises
        raise
    base_of(items).__delitem__(items, place)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).undo_pop(place, None)
        return None, None

    return None, undo


@write_handler(list.clear, of=list)
def clear(items: list[Any], /) -> Made:
    list.clear(items)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).cut(0)
        return (None,)

    return None, undo


@write_handler(deque.reverse, of=deque)
@write_handler(list.reverse, of=list)
def reverse(items: list[Any], /) -> Made:
    length = base_of(items).__len__(items)
    base_of(items).reverse(items)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).reorder(range(length - 1, -1, -1), length)
        return (None,)

    return None, undo


@write_handler(list.sort, of=list)
def sort(items: list[Any], /, *, key: Callable[[Any], Any] | None = None, reverse: bool = False) -> Made:
    """Sorts the places as list.sort sorts the items: by the same comparisons, each key computed once."""
    held = list.copy(items)
    keys = held if key is None else [key(item) for item in held]
    order = sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
    list.__setitem__(items, slice(None), [held[place] for place in order])

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).reorder(order, len(order))
        return (None,)

    return None, undo


@write_handler(operator.imul, of=deque)
@write_handler(operator.imul, list.__imul__, of=list)
def repeat(items: list[Any], times: Any, /) -> Made:
    length = base_of(items).__len__(items)
    base_of(items).__imul__(items, times)
    count = base_of(items).__len__(items)
    dropped = max(length * operator.index(times), 0) - count  # at the left of a deque that may not grow further

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).reorder([(place + dropped) % length for place in range(count)], length)
        return None, None

    return items, undo


@write_handler(operator.getitem, list.__getitem__, of=list)
def list_item(items: list[Any], index: Any, /) -> Made:
    y = list.__getitem__(items, index)
    if isinstance(index, slice):
        places = range(*index.indices(list.__len__(items)))

        def undo_slice(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
            taken, shadow = shadows.take(y), shadows.of(items)
            for number, place in enumerate(places):
                shadow.add(place, None if taken is None else taken.get(number))
            return None, None

        return y, undo_slice
    place = operator.index(index)
    place += list.__len__(items) if place < 0 else 0

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


@write_handler(operator.setitem, list.__setitem__, of=list)
def set_list_item(items: list[Any], index: Any, value: Any, /) -> Made:
    if isinstance(index, slice):
        return None, _set_slice(items, index, value)
    place = operator.index(index)
    place += list.__len__(items) if place < 0 else 0
    list.__setitem__(items, index, value)
    return None, lambda y_bar, shadows: (None, None, shadows.of(items).take(place))


def _set_slice(items: list[Any], index: slice, value: Any) -> Undo:
    length = base_of(items).__len__(items)
    places = range(*index.indices(length))
    given = structure_of(value) if isinstance(value, list | tuple | np.ndarray | deque) else None
    list.__setitem__(items, index, value)
    start, removed, added = places.start, len(places), list.__len__(items) - length + len(places)
    is_plain = index.step is None or operator.index(index.step) == 1

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadow = shadows.of(items)
        bars = [shadow.take(start + k if is_plain else places[k]) for k in range(added)]
        if is_plain and added != removed:
            shadow.slots += [None] * (start + added - len(shadow.slots))
            shadow.slots[start : start + added] = [None] * removed
        return None, None, settle_items(given, bars, shadows)

    return undo


@write_handler(operator.delitem, deque.__delitem__, of=deque)
@write_handler(operator.delitem, list.__delitem__, of=list)
def delete_list_item(items: list[Any], index: Any, /) -> Made:
    length = base_of(items).__len__(items)
    base_of(items).__delitem__(items, index)
    if isinstance(index, slice):
        places = sorted(range(*index.indices(length)))
    else:
        places = [operator.index(index) % length]

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadow = shadows.of(items)
        for place in places:
            shadow.undo_pop(place, None)
        return None, None

    return None, undo
