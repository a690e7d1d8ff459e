"""Writes into deques, and reads of their items. Their shadow is that of a list, in which the writes are undone."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np

from microgradpy.errors import MutationError
from microgradpy.state.lists import refuse_second_filling
from microgradpy.state.shadows import Shadows, Undo
from microgradpy.state.snapshots import settle_items, structure_of
from microgradpy.state.write_handlers import Made, WriteHandler, write_handler


@write_handler(deque.append, of=deque)
def deque_append(items: deque[Any], x: Any, /) -> Made:
    is_full = items.maxlen is not None and deque.__len__(items) == items.maxlen
    deque.append(items, x)
    length = deque.__len__(items)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadow = shadows.of(items)
        bar = shadow.undo_append(length - 1)
        if is_full:
            shadow.undo_pop(0, None)
        return None, bar

    return None, undo


@write_handler(deque.appendleft, of=deque)
def appendleft(items: deque[Any], x: Any, /) -> Made:
    if items.maxlen == 0:
        raise MutationError("appendleft on a deque of length 0", None, "Give it another maxlen.")
    deque.appendleft(items, x)
    return None, lambda y_bar, shadows: (None, shadows.of(items).undo_insert(0))


@write_handler(deque.pop, of=deque)
def deque_pop(items: deque[Any], /) -> Made:
    y = deque.pop(items)
    place = deque.__len__(items)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).undo_pop(place, y_bar)
        return (None,)

    return y, undo


@write_handler(deque.popleft, of=deque)
def popleft(items: deque[Any], /) -> Made:
    y = deque.popleft(items)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).undo_pop(0, y_bar)
        return (None,)

    return y, undo


@write_handler(deque.clear, of=deque)
def clear_deque(items: deque[Any], /) -> Made:
    deque.clear(items)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).cut(0)
        return (None,)

    return None, undo


@write_handler(deque.__init__, of=deque)
def fill_deque(items: deque[Any], more: Iterable[Any] = (), maxlen: int | None = None) -> Made:
    """What `deque.__init__` does to a new deque, as the `__init__` of a class calls it."""
    refuse_second_filling(items)
    if not isinstance(more, list | tuple | deque | np.ndarray | range | str):
        found = f"__init__ of a deque is given a {type(more).__name__}"
        raise MutationError(found, None, "Make a list of it first.")
    deque.__init__(items, (), maxlen)
    undo = _added_one_by_one(items, more, deque_append)
    return None, lambda y_bar, shadows: (*undo(y_bar, shadows), None)


@write_handler(operator.iadd, deque.__iadd__, of=deque)
def add_to_deque(items: deque[Any], more: Iterable[Any], /) -> Made:
    return items, _added_one_by_one(items, more, deque_append)


@write_handler(deque.extend, of=deque)
def extend_deque(items: deque[Any], more: Iterable[Any], /) -> Made:
    return None, _added_one_by_one(items, more, deque_append)


@write_handler(deque.extendleft, of=deque)
def extendleft(items: deque[Any], more: Iterable[Any], /) -> Made:
    return None, _added_one_by_one(items, more, appendleft)


def _added_one_by_one(items: deque[Any], more: Iterable[Any], add: WriteHandler) -> Undo:
    undone = [add(items, x)[1] for x in list(more)]
    given = structure_of(more) if isinstance(more, list | tuple | np.ndarray | deque) else None

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        bars = [one(None, shadows)[1] for one in reversed(undone)][::-1]
        return None, settle_items(given, bars, shadows)

    return undo


@write_handler(deque.rotate, of=deque)
def rotate(items: deque[Any], n: int = 1, /) -> Made:
    length = deque.__len__(items)
    deque.rotate(items, n)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).reorder([(k - n) % length for k in range(length)], length)
        return None, None

    return None, undo


@write_handler(operator.getitem, deque.__getitem__, of=deque)
def deque_item(items: deque[Any], index: Any, /) -> Made:
    y = deque.__getitem__(items, index)
    place = operator.index(index) % max(deque.__len__(items), 1)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadows.of(items).add(place, y_bar)
        return None, None

    return y, undo


@write_handler(operator.setitem, deque.__setitem__, of=deque)
def set_deque_item(items: deque[Any], index: Any, value: Any, /) -> Made:
    deque.__setitem__(items, index, value)
    place = operator.index(index) % deque.__len__(items)
    return None, lambda y_bar, shadows: (None, None, shadows.of(items).take(place))
