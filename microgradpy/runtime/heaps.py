"""Lists that the functions of `heapq` are called with, written in Python: as `arranged`, with entries in the order.

    heapq.heappush(queue, v)   values.append(v);  push_entry(order, values, n)
"""

from __future__ import annotations

import functools
import heapq
from collections.abc import Iterable
from itertools import islice
from typing import Any

from microgradpy.rules.registry import non_differentiable
from microgradpy.runtime import arranged
from microgradpy.runtime.arranged import Arranged, Order, kept_at, place_last, put_place
from microgradpy.runtime.queues import Shrinking, counted
from microgradpy.tangents.helpers import returns


class Heap(Arranged):
    """A list that the functions of `heapq` are called with: its places have the items with them, as they are compared."""

    def append(self, item: Any) -> None:
        place = kept_at(self._items, item)
        place_last(self._order, new_entry(self._items, place))
        self._order = self._order

    def extend(self, items: Iterable[Any]) -> None:
        for item in items:
            place = kept_at(self._items, item)
            place_last(self._order, new_entry(self._items, place))
            self._order = self._order

    def heapify(self) -> None:
        make_heap(self._order)
        self._order = self._order

    def heappush(self, item: Any) -> None:
        place = kept_at(self._items, item)
        push_entry(self._order, self._items, place)
        self._order = self._order

    def heappop(self) -> Any:
        place = popped_entry(self._order)
        self._order = self._order
        return self._items[counted(place)]

    def heapreplace(self, item: Any) -> Any:
        added = kept_at(self._items, item)
        place = replaced_entry(self._order, self._items, added)
        self._order = self._order
        return self._items[counted(place)]

    def heappushpop(self, item: Any) -> Any:
        added = kept_at(self._items, item)
        place = pushed_and_popped_entry(self._order, self._items, added)
        self._order = self._order
        return self._items[counted(place)]

    def pop(self) -> Any:
        place = taken_last_entry(self._order)
        self._order = self._order
        return self._items[counted(place)]

    def pop_at(self, index: int) -> Any:
        place = taken_entry_at(self._order, index)
        self._order = self._order
        return self._items[counted(place)]

    def __getitem__(self, index: int) -> Any:
        return self._items[counted(place_of_entry(self._order, index))]

    def __setitem__(self, index: int, item: Any) -> None:
        place = kept_at(self._items, item)
        put_place(self._order, index, new_entry(self._items, place))
        self._order = self._order


class Entry(tuple[Any, ...]):
    """An item of a heap, or what is compared of it, and its place: compared as the items are."""

    place: int


Unordereds = tuple[tuple[str, int] | None, ...]


class Unordered:
    """An object, by its number, of a class that says nothing of which are equal or smaller: Python asks whether it is the same
    one, and then fails. Dicts are equal if their entries are, which `columns` has."""

    __slots__ = ("columns", "number")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, number: int, columns: tuple[list[Any], ...]) -> None:
        self.number, self.columns = number, columns

    def __eq__(self, other: Any) -> bool:
        ours, theirs = self.number, other.number
        if ours == theirs or not self.columns:
            return ours == theirs  # type: ignore[no-any-return]
        return all(each[ours] is each[theirs] or each[ours] == each[theirs] for each in self.columns)


@functools.lru_cache(maxsize=256)
def named_unordered(name: str) -> type[Unordered]:
    """Such a class, as Python names it when it fails."""
    return type(name, (Unordered,), {"__slots__": ()})


@returns(object)
def new_entry(items: list[Any], place: int, unordered: Unordereds = (), *columns: list[Any]) -> Entry:
    """`unordered` are the names of the classes of those parts of a tuple that are numbers of objects, and how many of the
    columns say whether they are equal."""
    item = items[place]
    if unordered:
        left = iter(columns)
        item = tuple(
            part if of is None else named_unordered(of[0])(part, tuple(islice(left, of[1])))
            for part, of in zip(item, unordered, strict=True)
        )
    entry = Entry(item if type(item) is tuple else (item,))
    entry.place = place
    return entry


def make_heap(order: Order) -> None:
    heapq.heapify(order)


def push_entry(order: Order, items: list[Any], place: int, unordered: Unordereds = (), *columns: list[Any]) -> None:
    heapq.heappush(order, new_entry(items, place, unordered, *columns))


@returns(int)
def popped_entry(order: Order) -> int:
    place: int = heapq.heappop(order).place
    return place


@returns(int)
def replaced_entry(order: Order, items: list[Any], place: int, unordered: Unordereds = (), *columns: list[Any]) -> int:
    found: int = heapq.heapreplace(order, new_entry(items, place, unordered, *columns)).place
    return found


@returns(int)
def pushed_and_popped_entry(
    order: Order, items: list[Any], place: int, unordered: Unordereds = (), *columns: list[Any]
) -> int:
    found: int = heapq.heappushpop(order, new_entry(items, place, unordered, *columns)).place
    return found


@returns(int)
def place_of_entry(order: Order, index: int) -> int:
    place: int = order[index].place
    return place


@returns(int)
def taken_last_entry(order: Order) -> int:
    place: int = order.pop().place
    return place


@returns(int)
def taken_entry_at(order: Order, index: int) -> int:
    place: int = order.pop(index).place
    return place


LISTS = (Shrinking, Arranged, Heap)
"""What a list may be, from the simplest on."""
CLASSES = (*arranged.CLASSES, Heap)
OF_ENTRIES = (new_entry, push_entry, replaced_entry, pushed_and_popped_entry)
"""What makes an entry of a heap, of an item of its list."""
COMPARED: dict[Any, int] = {**arranged.COMPARED, **dict.fromkeys(OF_ENTRIES, 1), new_entry: 0}
"""What finds out which of some items are smaller or equal, or notes them for that, and as which argument it gets them."""
FUNCTIONS: frozenset[Any] = arranged.FUNCTIONS.union(OF_ENTRIES) | {
    make_heap, popped_entry, place_of_entry, taken_last_entry, taken_entry_at
}  # fmt: skip

non_differentiable(*FUNCTIONS - arranged.FUNCTIONS)
