"""Queues of the standard library, and lists that lose items at their ends, as classes in Python: lists that only grow, with the
numbers of what is left of them. They are never made: `promotion` makes variables of their fields, and writes their methods
where they are called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


def counted(place: int) -> int:
    """A place in a list that is not counted from its end."""
    return place


class Queue:
    """collections.deque(items), of which items are taken at the front only."""

    def __init__(self) -> None:
        self._items: list[Any] = []
        self._start = 0

    def append(self, item: Any) -> None:
        self._items.append(item)

    def extend(self, items: Iterable[Any]) -> None:
        for item in items:
            self.append(item)

    def popleft(self) -> Any:
        place = self._start
        if place == len(self._items):
            raise IndexError("pop from an empty deque")
        self._start = place + 1
        return self._items[counted(place)]

    def clear(self) -> None:
        self._start = len(self._items)

    def __len__(self) -> int:
        return len(self._items) - self._start

    def __getitem__(self, index: int) -> Any:
        place = index + (self._start if index >= 0 else len(self._items))
        if place < self._start or place >= len(self._items):
            raise IndexError("deque index out of range")
        return self._items[counted(place)]

    def __setitem__(self, index: int, item: Any) -> None:
        place = index + (self._start if index >= 0 else len(self._items))
        if place < self._start or place >= len(self._items):
            raise IndexError("deque index out of range")
        self._items[counted(place)] = item

    def __iter__(self) -> Iterator[Any]:
        start, stop = self._start, len(self._items)
        for place in range(start, stop):
            yield self._items[counted(place)]
            if self._start != start or len(self._items) != stop:
                raise RuntimeError("deque mutated during iteration")


class BoundedQueue(Queue):
    """collections.deque(items, maxlen): what is too much is taken away at the front."""

    def __init__(self, maxlen: int) -> None:
        if maxlen < 0:
            raise ValueError("maxlen must be non-negative")
        self._items = []
        self._start = 0
        self._maxlen = maxlen

    def append(self, item: Any) -> None:
        self._items.append(item)
        if len(self._items) - self._start > self._maxlen:
            self._start = self._start + 1


class TwoEnds:
    """What loses items at both ends: `_stop` is behind the last one that is left."""

    def __init__(self) -> None:
        self._items: list[Any] = []
        self._start = 0
        self._stop = 0

    def append(self, item: Any) -> None:
        if self._stop == len(self._items):
            self._items.append(item)
        else:
            self._items[counted(self._stop)] = item
        self._stop = self._stop + 1

    def extend(self, items: Iterable[Any]) -> None:
        for item in items:
            self.append(item)

    def clear(self) -> None:
        self._start = self._stop

    def __len__(self) -> int:
        return self._stop - self._start


class Stack(TwoEnds):
    """collections.deque(items), of which items are taken at both ends."""

    def popleft(self) -> Any:
        place = self._start
        if place == self._stop:
            raise IndexError("pop from an empty deque")
        self._start = place + 1
        return self._items[counted(place)]

    def pop(self) -> Any:
        if self._start == self._stop:
            raise IndexError("pop from an empty deque")
        place = self._stop - 1
        self._stop = place
        return self._items[counted(place)]

    def __getitem__(self, index: int) -> Any:
        place = index + (self._start if index >= 0 else self._stop)
        if place < self._start or place >= self._stop:
            raise IndexError("deque index out of range")
        return self._items[counted(place)]

    def __setitem__(self, index: int, item: Any) -> None:
        place = index + (self._start if index >= 0 else self._stop)
        if place < self._start or place >= self._stop:
            raise IndexError("deque index out of range")
        self._items[counted(place)] = item

    def __iter__(self) -> Iterator[Any]:
        start, stop = self._start, self._stop
        for place in range(start, stop):
            yield self._items[counted(place)]
            if self._start != start or self._stop != stop:
                raise RuntimeError("deque mutated during iteration")


class Shrinking(TwoEnds):
    """A list of which items are taken at its ends."""

    def pop(self) -> Any:
        if self._start == self._stop:
            raise IndexError("pop from empty list")
        place = self._stop - 1
        self._stop = place
        return self._items[counted(place)]

    def pop_first(self) -> Any:
        place = self._start
        if place == self._stop:
            raise IndexError("pop from empty list")
        self._start = place + 1
        return self._items[counted(place)]

    def __getitem__(self, index: int) -> Any:
        place = index + (self._start if index >= 0 else self._stop)
        if place < self._start or place >= self._stop:
            raise IndexError("list index out of range")
        return self._items[counted(place)]

    def __setitem__(self, index: int, item: Any) -> None:
        place = index + (self._start if index >= 0 else self._stop)
        if place < self._start or place >= self._stop:
            raise IndexError("list assignment index out of range")
        self._items[counted(place)] = item

    def listed(self) -> list[Any]:
        """The items in a list of their own."""
        return [self._items[counted(place)] for place in range(self._start, self._stop)]

    def steady(self) -> Iterator[Any]:
        """What a loop runs over in which nothing changes."""
        for place in range(self._start, self._stop):
            yield self._items[counted(place)]

    def __iter__(self) -> Iterator[Any]:
        number = 0
        while self._start + number < self._stop:
            yield self._items[counted(self._start + number)]
            number = number + 1


class Steps:
    """iter(items), of a list or of something else with places, where it is asked item by item"""

    def __init__(self, items: list[Any]) -> None:
        self._items = items
        self._place = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        place = self._place
        if place >= len(self._items):
            self._place = 1 << 62  # the end, and it stays there should the list get longer
            raise StopIteration
        self._place = place + 1
        return self._items[counted(place)]


FIELDS = ("_items", "_start", "_stop", "_maxlen")
CLASSES = (Queue, BoundedQueue, Stack, Shrinking)
