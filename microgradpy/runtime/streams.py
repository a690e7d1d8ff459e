"""Iterators that are made inside differentiated code: `map`, `zip`, `iter`, those of `itertools`, and of the user's classes.

Such an iterator gives its items one by one, when they are asked for, and the user's functions run at that moment. So does
a `Stream`, which notes the pullback of each item as it gives it. The cotangent of a stream is the list of the cotangents of
its items, in order.

A stream may be read at any number of places, by a loop and by `next` in its body: the place of an item is that among all that
the stream has given. Who reads more than one item does that by a `Turn`, which notes these places. A loop that counts its own
iterations does not ask for them, and is refused an item whose place is another.

Where an iterator only passes items on (`zip`, `chain`, `islice`, `permutations`), Python's own iterator runs over boxes
that know where each item came from:

    zip(xs, ys)    ->    (Box(0, 0, xs[0]), Box(1, 0, ys[0])), ...

In a run that tracks writes a stream is an object with a shadow. Each item is undone when its reader is undone, and with it
all that was read and called to make it, since that may have written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import zip_longest
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass, field
from microgradpy.errors import CompilerBug, DifferentiationError, MissingRuleError, MutationError
from microgradpy.rules.registry import non_differentiable
from microgradpy.runtime.bars import Back, Resolve, given_to, is_nothing
from microgradpy.runtime.failures import NO_ROW, SKIPPED, Failure, failed, raise_failure
from microgradpy.tangents.memory_order import copied
from microgradpy.tangents.types import accumulate, is_structural_zero

Give = Callable[[Any, "Sums"], None]
"""Adds what the cotangent of one item of a stream contributes."""
Items = Iterator[tuple[Any, Give]]


@final
@dataclass(frozen=True, slots=True)
class Box:
    """An item of a source, and where it was there."""

    source: int
    position: int
    value: Any


@final
@dataclass
class Sums:
    """The cotangents of what a stream was made of: of the function it calls, and of the items of its sources, by the number
    of the source and the position there. `shadows` is empty, or has those of the run."""

    function: Any = None
    items: dict[tuple[int, int], Any] = field(default_factory=dict)
    shadows: Any = None

    def add(self, box: Box, bar: Any) -> None:
        if not is_structural_zero(bar):
            self.keep(box.source, box.position, given_to(box.value, bar, self.shadows))

    def keep(self, source: int, position: int, bar: Any) -> None:
        if not is_structural_zero(bar):
            known = self.items.get((source, position))
            self.items[source, position] = bar if known is None else accumulate(known, bar)

    def add_function(self, bar: Any) -> None:
        if not is_structural_zero(bar):
            self.function = bar if self.function is None else accumulate(self.function, bar)


@final
class Stream:
    """An iterator whose items are noted with their pullbacks. `name` is that of the function that made it; `reading` has
    what it reads and calls meanwhile. `is_part`: it is an item of another stream, which reads the same. `at_end` is what was
    done by who found it at its end: a group is at its end once an item of the next one has been read. `added_up`: the arrays
    among the items, with copies, if they are summed up."""

    def __init__(self, name: str, items: Items, reading: Reading, *, is_part: bool = False) -> None:
        self.name = name
        self.is_part = is_part
        self.given: list[Give] = []
        self.is_over = self.is_broken = False
        self.at_end: list[Give] = []
        self.added_up: list[tuple[Any, Any]] | None = None
        self.reading = reading
        if not is_part:
            reading.stream = self
        self.before = reading.taken()
        self._items = items

    def __iter__(self) -> Turn:
        return Turn(self, counts=True)

    def __next__(self) -> Any:
        return self.read()

    def read(self, catches: bool = False) -> Any:
        """The next item. For who `catches` what that raises, what was done by then is noted."""
        if self.is_broken:
            raise MissingRuleError(f"a {self.name} was read further after it had raised", None, "Make a list of it first.")
        try:
            value, give = self.reading.expect(next, self._items) if catches else next(self._items)
        except StopIteration:
            self.is_over = True
            self.at_end += self.reading.taken()
            check_unchanged(self.name, self.added_up or [])
            raise
        except (DifferentiationError, CompilerBug):
            raise
        except BaseException:
            self.is_broken = True
            raise
        if self.added_up is not None and isinstance(value, np.ndarray):
            self.added_up.append((value, copied(value)))
            self.is_over = False
        noted = self.reading.taken()
        if self.at_end:
            noted, self.at_end = [*self.at_end, *noted], []
        self.given.append(_in_turn(give, noted) if noted else give)
        return value

    def give_back(self, bars: Any, sums: Sums) -> None:
        """Add what the cotangents of the items contribute; the last item first."""
        pairs = list(zip(self.given, bars or (), strict=False))
        for give, bar in reversed(pairs):
            give(bar, sums)


@final
class Turn:
    """One reading of a stream: the `places` of its items among all that the stream has given, and whether it has brought the
    stream to its end, or to an exception. Who `counts` takes an item's place for its number in this reading. One that `catches`
    gives a `Failure` instead of raising."""

    __slots__ = ("catches", "counts", "has_ended", "places", "row", "stream")

    def __init__(self, stream: Stream, *, counts: bool = False) -> None:
        self.stream, self.counts = stream, counts
        self.places: list[int] = []
        self.has_ended = self.catches = False
        self.row = NO_ROW

    def __iter__(self) -> Turn:
        return self

    def __next__(self) -> Any:
        if self.row.has_failed:
            return SKIPPED
        stream, was_over = self.stream, self.stream.is_over
        try:
            value = stream.read(self.catches)
        except StopIteration:
            self.has_ended |= not was_over
            raise
        except (DifferentiationError, CompilerBug):
            raise
        except BaseException as exception:
            self.has_ended = True
            if not self.catches:
                raise
            return failed(exception, self.row)
        place = len(stream.given) - 1
        if self.counts and place != len(self.places):
            raise MissingRuleError(
                f"a {stream.name} of differentiated values is read at two places", None, "Make a list of it first."
            )
        self.places.append(place)
        return value

    def among_all(self, bars: Any) -> list[Any]:
        """The cotangents of all items of the stream, from those of the items that were read here."""
        found: list[Any] = [None] * len(self.stream.given)
        for place, bar in zip(self.places, bars, strict=False):
            found[place] = bar
        return found


def _in_turn(give: Give, noted: list[Give]) -> Give:
    def give_all(bar: Any, sums: Sums) -> None:
        give(bar, sums)
        for earlier in reversed(noted):
            earlier(None, sums)

    return give_all


@final
class Reading:
    """What a stream reads its items from. In a run that tracks writes, each read and each call is noted, to be undone."""

    def __init__(self, resolve: Resolve) -> None:
        self.resolve = resolve
        self.called: list[Any] = []
        self.stream: Stream | None = None
        self.reads_generator = False
        self._noted: list[Give] = []

    def taken(self) -> list[Give]:
        """What was noted since the last time."""
        noted, self._noted[:] = list(self._noted), []
        return noted

    def noted(self) -> list[Give]:
        """What was noted since then."""
        return list(self._noted)

    def may_write(self) -> bool:
        """Whether what the stream calls may write. A generator may, from one item to the next."""
        return self.reads_generator or self.resolve.may_write(self.called)

    def note(self, undo: Give) -> None:
        if self.resolve.tracks:
            self._noted.append(undo)

    def expect(self, f: Callable[[Any], Any], x: Any) -> Any:
        """f(x), of which what was noted here is undone if it raises."""
        return self.resolve.expect(f, x)

    def undone_by(self, back: Back, stream: Stream) -> AbstractContextManager[None]:
        """A reading of the stream that is undone by `back` if it raises."""
        return self.resolve.undone_by(back, next, stream)

    def call(self, function: Any, values: tuple[Any, ...], giving: Callable[[Back, Any], Give]) -> tuple[Any, Give]:
        """What a function returns, and what undoes that. One that raises is undone with what was read."""
        self.called.append(function)
        y, back = self.resolve.attempt(function, values)
        if type(y) is not Failure:
            return y, giving(back, y)
        self.note(giving(back, None))
        raise_failure(y)
        raise AssertionError

    def ask(self, function: Any, box: Box) -> Any:
        """What a function that only chooses items returns: no derivative flows through that, but it may write."""
        if not self.resolve.tracks:
            return function(box.value)
        y, give = self.call(function, (box.value,), lambda back, y: give_to_call(back, (box,), y))
        self.note(give)
        return y


@final
class StreamShadow:
    """What the adjoint of a stream has got so far; `left` is how many of its items are still to be undone, `unread` what was
    done after the last one."""

    def __init__(self, stream: Stream, shadows: Any) -> None:
        self.stream = stream
        self.left = len(stream.given)
        self.unread = [*stream.at_end, *([] if stream.is_part else stream.reading.noted())]
        self.sums: Sums = shadows.of(stream.reading.stream).sums if stream.is_part else Sums(shadows=shadows)

    def undo(self, position: int, bar: Any) -> None:
        """Undo the reading of an item."""
        self._skip(position + 1)
        self.left = position
        self.stream.given[position](bar, self.sums)

    def add(self, bars: Any) -> None:
        """Undo the reading of the first items."""
        for position in range(len(bars) - 1, -1, -1):
            self.undo(position, bars[position])

    def undo_all(self, bars: Any) -> None:
        """Undo the reading of all items, of which these are the cotangents."""
        self.undo_end()
        self.add(bars)

    def undo_turn(self, turn: Turn, bars: Any) -> None:
        """Undo a reading of all items that were left, of which these are the cotangents."""
        if turn.has_ended:
            self.undo_end()
        for place, bar in reversed(list(zip_longest(turn.places, bars[: len(turn.places)]))):
            self.undo(place, bar)

    def close(self) -> Sums:
        """What the making of the stream gets. The stream has no shadow afterwards."""
        self._skip(0)
        for earlier in reversed(self.stream.before):
            earlier(None, self.sums)
        return self.sums

    def _skip(self, left: int) -> None:
        """Undo what was read after the last item that counts. If that wrote it is too late."""
        if (self.unread or self.left > left) and self.stream.reading.may_write():
            raise MutationError(
                f"a {self.stream.name} that calls a function that writes was read further than its items were used",
                None,
                "Make a list of it first.",
            )
        self.undo_end()
        while self.left > left:
            self.left -= 1
            self.stream.given[self.left](None, self.sums)

    def undo_end(self) -> None:
        """Undo what was read after the last item."""
        for earlier in reversed(self.unread):
            earlier(None, self.sums)
        self.unread = []


def check_unchanged(name: str, arrays: list[tuple[Any, Any]]) -> None:
    """Refuse a sum of items that are written into before the next one is added: they are read first here, and added then."""
    if any(array.tobytes() != copy.tobytes() for array, copy in arrays):
        found = f"a sum runs over a {name} that writes into the arrays which it has given"
        raise MutationError(found, None, "Add them up in a loop, or give copies.")


def closed(stream: Stream, bars: Any, sums: Sums) -> Sums:
    """What the making of a stream gets from the cotangents of its items, besides what there is already."""
    if sums.shadows is None:
        stream.give_back(bars, sums)
        return sums
    shadows = sums.shadows
    if not is_structural_zero(bars):
        shadows.settle(stream, bars)
    shadow: StreamShadow = shadows.of(stream)
    shadows.take(stream)
    return shadow.close()


def give_to_call(back: Back, boxes: tuple[Box, ...], y: Any) -> Give:
    """For an item that is what a function returns for some boxes."""

    def give(y_bar: Any, sums: Sums) -> None:
        if is_nothing(y_bar, sums.shadows):
            return
        bars = back(given_to(y, y_bar, sums.shadows), sums.shadows)
        sums.add_function(bars.function)
        for box, bar in zip(boxes, bars.arguments, strict=True):
            sums.add(box, bar)

    return give


def check_class_asked(x: Any) -> None:
    """Refuse to say of which class an iterator is: a stream stands for it."""
    if isinstance(x, Stream | Turn):
        name = x.name if isinstance(x, Stream) else x.stream.name
        found = f"the class of an iterator ({name}) is asked for"
        raise MissingRuleError(found, None, "Ask that of what it was made of, such as a list.")


non_differentiable(check_class_asked)
