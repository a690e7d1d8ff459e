"""Lists and deques whose items change places, written in Python, with what keeps their order.

    items.insert(i, v)         values.append(v);  place_first(order, i, n)

The values are in a list that only grows, in which nothing changes; which of them there are, and in which order, is an
ordinary list (or deque) of their places. Places have no derivative, so whatever is done with them is Python's own method of
that list, with its own exceptions. The classes are never made: `promotion` makes variables of their fields.
"""

from __future__ import annotations

import bisect
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from microgradpy.rules.registry import non_differentiable
from microgradpy.runtime import queues
from microgradpy.runtime.queues import counted
from microgradpy.tangents.helpers import returns

Order = Any
"""The places of items: a list or deque of whole numbers, or of entries of a heap."""


class Arranged:
    """A list. What is assigned to `_order`, as it is, is noted as a write."""

    def __init__(self) -> None:
        self._items: list[Any] = []
        order = new_order()
        self._order = order

    def append(self, item: Any) -> None:
        place_last(self._order, kept_at(self._items, item))
        self._order = self._order

    def extend(self, items: Iterable[Any]) -> None:
        for item in items:
            place_last(self._order, kept_at(self._items, item))
            self._order = self._order

    def order_of(self, others: Iterable[Any]) -> Any:
        """Where the items of another list are, put behind those of this one."""
        order = new_order()
        for item in others:
            place_last(order, kept_at(self._items, item))
        return order

    def insert(self, index: int, item: Any) -> None:
        place_before(self._order, index, kept_at(self._items, item))
        self._order = self._order

    def pop(self) -> Any:
        place = taken_last(self._order)
        self._order = self._order
        return self._items[counted(place)]

    def pop_at(self, index: int) -> Any:
        place = taken_at(self._order, index)
        self._order = self._order
        return self._items[counted(place)]

    def remove(self, item: Any) -> None:
        take_equal(self._order, self._items, item)
        self._order = self._order

    def remove_kept(self, item: Any) -> None:
        """The same of objects that are equal to themselves only."""
        take_place(self._order, kept_at(self._items, item))
        self._order = self._order

    def delete(self, index: Any) -> None:
        """del items[index], of one or of a slice"""
        take_part(self._order, index)
        self._order = self._order

    def clear(self) -> None:
        take_all(self._order)
        self._order = self._order

    def reverse(self) -> None:
        turn_round(self._order)
        self._order = self._order

    def repeat(self, times: int) -> None:
        """items *= times"""
        repeat_places(self._order, times)
        self._order = self._order

    def sort(self, reverse: bool) -> None:
        sort_places(self._order, self._items, reverse)
        self._order = self._order

    def sort_by(self, key: Callable[..., Any], reverse: bool) -> None:
        places = all_taken(self._order)
        keys = [key(self._items[counted(place)]) for place in places]
        put_in_order(self._order, places, keys, reverse)
        self._order = self._order

    def insort_right(self, item: Any) -> None:
        index = place_right_of(self._order, self._items, item)
        place_before(self._order, index, kept_at(self._items, item))
        self._order = self._order

    def insort_left(self, item: Any) -> None:
        index = place_left_of(self._order, self._items, item)
        place_before(self._order, index, kept_at(self._items, item))
        self._order = self._order

    def part(self, index: Any) -> list[Any]:
        """items[index] for a slice"""
        return [self._items[counted(place)] for place in places_of_part(self._order, index)]

    def put(self, index: Any, items: Iterable[Any]) -> None:
        """items[index] = items for a slice"""
        places = new_order()
        for item in items:
            place_last(places, kept_at(self._items, item))
        put_part(self._order, index, places)
        self._order = self._order

    def listed(self) -> list[Any]:
        """The items in a list of their own."""
        return [self._items[counted(place)] for place in places_of(self._order)]

    def __len__(self) -> int:
        return count_of(self._order)

    def __getitem__(self, index: int) -> Any:
        return self._items[counted(place_of(self._order, index))]

    def __setitem__(self, index: int, item: Any) -> None:
        put_place(self._order, index, kept_at(self._items, item))
        self._order = self._order

    def steady(self) -> Iterator[Any]:
        """What a loop runs over in which nothing changes."""
        for place in places_of(self._order):
            yield self._items[counted(place)]

    def __iter__(self) -> Iterator[Any]:
        places = walk_over(self._order)
        place = next_of(places)
        while place >= 0:
            yield self._items[counted(place)]
            place = next_of(places)


class Ring(Arranged):
    """collections.deque(items, maxlen)"""

    def __init__(self, maxlen: Any = None) -> None:
        self._items = []
        order = new_ring(maxlen)
        self._order = order

    def appendleft(self, item: Any) -> None:
        place_first(self._order, kept_at(self._items, item))
        self._order = self._order

    def extendleft(self, items: Iterable[Any]) -> None:
        for item in items:
            place_first(self._order, kept_at(self._items, item))
            self._order = self._order

    def popleft(self) -> Any:
        place = taken_first(self._order)
        self._order = self._order
        return self._items[counted(place)]

    def rotate(self, steps: int = 1) -> None:
        rotate_places(self._order, steps)
        self._order = self._order


def kept_at(items: list[Any], item: Any) -> int:
    """The place of an item that is put behind the others; one that is there already, as an object in sight, stays there."""
    items.append(item)
    return len(items) - 1


# What is done with places


@returns(object)
def new_order() -> Order:
    return []


@returns(object)
def new_ring(maxlen: Any) -> Order:
    return deque(maxlen=maxlen)


@returns(int)
def count_of(order: Order) -> int:
    return len(order)


@returns(int)
def place_of(order: Order, index: int) -> int:
    place: int = order[index]
    return place


@returns(list[int])
def places_of(order: Order) -> list[int]:
    return [getattr(each, "place", each) for each in order]


@returns(list[int])
def places_of_values(order: Order) -> list[int]:
    """The places in a dict of them."""
    return list(order.values())


@returns(list[int])
def places_of_part(order: Order, index: slice) -> list[int]:
    return places_of(order[index])


@returns(list[int])
def all_taken(order: Order) -> list[int]:
    """The places in a list of their own, while there are none: as a list is empty while it is sorted."""
    places = list(order)
    order.clear()
    return places


@returns(object)
def walk_over(order: Order) -> Any:
    return iter(order)


@returns(int)
def next_of(places: Any) -> int:
    """The next place; -1 if there is none."""
    found = next(places, -1)
    return getattr(found, "place", found)


def place_first(order: Order, place: int) -> None:
    order.appendleft(place)


def place_last(order: Order, place: Any) -> None:
    order.append(place)


def place_before(order: Order, index: int, place: int) -> None:
    order.insert(index, place)


def put_place(order: Order, index: int, place: Any) -> None:
    order[index] = place


def put_part(order: Order, index: slice, places: Order) -> None:
    order[index] = places


@returns(int)
def taken_first(order: Order) -> int:
    place: int = order.popleft()
    return place


@returns(int)
def taken_last(order: Order) -> int:
    place: int = order.pop()
    return place


@returns(int)
def taken_at(order: Order, index: int) -> int:
    place: int = order.pop(index)
    return place


def take_equal(order: Order, items: list[Any], item: Any) -> None:
    """Take away the first whose item is the same as, or equal to, another one: of the items, Python finds which."""
    present = type(order)(map(items.__getitem__, order))
    if item not in present:
        present.remove(item)  # says so
    del order[present.index(item)]


def take_place(order: Order, place: int) -> None:
    order.remove(place)


def take_part(order: Order, index: Any) -> None:
    del order[index]


def take_all(order: Order) -> None:
    order.clear()


def turn_round(order: Order) -> None:
    order.reverse()


def rotate_places(order: Order, steps: int) -> None:
    order.rotate(steps)


def repeat_places(order: Order, times: int) -> None:
    order *= times


def sort_places(order: Order, items: list[Any], reverse: bool) -> None:
    order.sort(key=items.__getitem__, reverse=reverse)


def put_in_order(order: Order, places: list[int], keys: list[Any], reverse: bool) -> None:
    """Put places back where they were taken from, in the order of keys."""
    is_changed = len(order) > 0
    order[:] = [places[number] for number in sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)]
    if is_changed:
        raise ValueError("list modified during sort")


@returns(int)
def place_right_of(order: Order, items: list[Any], item: Any) -> int:
    return bisect.bisect_right(order, item, key=items.__getitem__)


@returns(int)
def place_left_of(order: Order, items: list[Any], item: Any) -> int:
    return bisect.bisect_left(order, item, key=items.__getitem__)


CLASSES = (*queues.CLASSES, Arranged, Ring)
FIELDS = (*queues.FIELDS, "_order")
COMPARED: dict[Any, int] = {sort_places: 1, put_in_order: 2, place_right_of: 1, place_left_of: 1, take_equal: 1}
"""What finds out which of some items are smaller or equal, and as which argument it gets them."""
FUNCTIONS: frozenset[Any] = frozenset({
    new_order, new_ring, count_of, place_of, places_of, places_of_values, places_of_part, all_taken, walk_over, next_of,
    place_first, place_last, place_before, put_place, put_part, put_in_order, taken_first, taken_last, taken_at, take_equal,
    take_place, take_part, take_all, turn_round, rotate_places, repeat_places, sort_places, place_right_of, place_left_of,
})  # fmt: skip

non_differentiable(*FUNCTIONS)
