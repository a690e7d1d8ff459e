"""Iterators that are made inside differentiated code: `map`, `zip`, `iter`, those of `itertools`, and of the user's classes.

Such an iterator gives its items one by one, when they are asked for, and the user's functions run at that moment. So does
a `Stream`, which notes the pullback of each item as it gives it. The cotangent of a stream is the list of the cotangents of
its items, in order. A stream is iterated over once; who iterates a second time would get what is left, whose positions
are not those of its own count, and is refused.

Where an iterator only passes items on (`zip`, `chain`, `islice`, `permutations`), Python's own iterator runs over boxes
that know where each item came from:

    zip(xs, ys)    ->    (Box(0, 0, xs[0]), Box(1, 0, ys[0])), ...
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.ir.objects import features_of, is_function
from microgradpy.rules.sums import spread_over_items
from microgradpy.runtime.bars import Back, Bars, Resolve, Resolved
from microgradpy.tangents.types import accumulate, is_structural_zero

Give = Callable[[Any, "Sums"], None]
"""Adds what the cotangent of one item of a stream contributes."""
Items = Iterator[tuple[Any, Give]]


@final
@dataclass
class Sums:
    """The cotangents of what a stream was made of: of the function it calls, and of the items of its sources, by the number
    of the source and the position there."""

    function: Any = None
    items: dict[tuple[int, int], Any] = field(default_factory=dict)

    def add(self, source: int, position: int, bar: Any) -> None:
        if not is_structural_zero(bar):
            known = self.items.get((source, position))
            self.items[source, position] = bar if known is None else accumulate(known, bar)

    def add_function(self, bar: Any) -> None:
        if not is_structural_zero(bar):
            self.function = bar if self.function is None else accumulate(self.function, bar)


@final
class Stream:
    """An iterator whose items are noted with their pullbacks. `name` is that of the function that made it."""

    def __init__(self, name: str, items: Items) -> None:
        self.name = name
        self.given: list[Give] = []
        self._items = items
        self._is_taken = False

    def __iter__(self) -> Stream:
        if self._is_taken:
            raise MissingRuleError(
                f"a {self.name} of differentiated values was iterated over a second time",
                None,
                "Make a list of it first.",
            )
        self._is_taken = True
        return self

    def __next__(self) -> Any:
        self._is_taken = True
        value, give = next(self._items)
        self.given.append(give)
        return value

    def give_back(self, bars: Any, sums: Sums) -> None:
        """Add what the cotangents of the items contribute; the last item first."""
        pairs = list(zip(self.given, bars, strict=False))
        for give, bar in reversed(pairs):
            if not is_structural_zero(bar):
                give(bar, sums)


@final
@dataclass(frozen=True, slots=True)
class Box:
    """An item of a source, and where it was there."""

    source: int
    position: int
    value: Any


@final
class Source:
    """An iterable that a stream reads, `count` items of it so far; or one value that it gives as it is (`is_one`)."""

    def __init__(self, number: int, iterable: Any, resolve: Resolve, *, is_one: bool = False) -> None:
        if is_one:
            iterable = (iterable,)
        self.number = number
        self.is_one = is_one
        made = items_of_object(iterable, resolve)
        self.iterable = iterable if made is None else made[0]
        self.back: Back | None = None if made is None else made[1]
        self.count = 0

    def __iter__(self) -> Iterator[Box]:
        # As Python does, ask for the iterator when the stream is made, and for items when they are needed.
        return self._boxes(iter(self.iterable))

    def _boxes(self, iterator: Iterator[Any]) -> Iterator[Box]:
        while True:
            try:
                value = next(iterator)
            except StopIteration:
                return
            self.count += 1
            yield Box(self.number, self.count - 1, value)

    def cotangent(self, sums: Sums) -> Any:
        """The cotangent of the iterable. That of an iterator, or of anything else that has no cotangent of its own form, is
        the list of those of its items: right for a stream, dropped for a constant, and refused for an argument."""
        x = self.iterable
        places = [place for number, place in sums.items if number == self.number]
        if not places or isinstance(x, dict | str | bytes | range | set | frozenset):
            return None
        if self.is_one:
            return sums.items[self.number, 0]
        length = len(x) if isinstance(x, np.ndarray | list | tuple) else self.count
        bars = [sums.items.get((self.number, place)) for place in range(length)]
        whole = spread_over_items(bars, x) if isinstance(x, np.ndarray | list | tuple) else bars
        return whole if self.back is None else self.back(whole).arguments[0]


def items_of_object(x: Any, resolve: Resolve) -> Resolved | None:
    """The stream of the items of an object whose class says how to iterate over it; None for any other value. Its pullback
    gives the cotangent of the object."""
    if isinstance(x, Stream | np.ndarray | type) or not features_of(type(x)).operators:
        return None
    method = next((vars(cls)["__iter__"] for cls in type(x).__mro__ if "__iter__" in vars(cls)), None)
    if is_function(method):
        y, back = resolve(method, (x,), {})
        if not isinstance(y, Stream):
            raise MissingRuleError(
                f"__iter__ of a {type(x).__name__} gives a {type(y).__name__}",
                None,
                "Let it return iter() of a list or tuple.",
            )
        return y, back
    reader = next((vars(cls)["__getitem__"] for cls in type(x).__mro__ if "__getitem__" in vars(cls)), None)
    if method is not None or not is_function(reader):
        return None
    items = Stream(type(x).__name__, _read_in_turn(x, reader, resolve))

    def read_back(bars: Any) -> Bars:
        sums = Sums()
        items.give_back(bars, sums)
        return Bars(None, (sums.function,), {})

    return items, read_back


def _read_in_turn(x: Any, reader: Any, resolve: Resolve) -> Items:
    for index in itertools.count():
        try:
            value, back = resolve(reader, (x, index), {})
        except IndexError:
            return
        yield value, _give_to_function(back)


def _give_to_function(back: Back) -> Give:
    return lambda bar, sums: sums.add_function(back(bar).arguments[0])
