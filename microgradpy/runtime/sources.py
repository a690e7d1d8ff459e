"""What streams read: the items of iterables, and of objects whose class says how to iterate over them."""

from __future__ import annotations

import gc
import itertools
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from functools import partial
from types import GeneratorType
from typing import Any, final

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.ir.objects import base_of, features_of, is_function, static_member
from microgradpy.rules.sums import check_not_broadcast, spread_over_items
from microgradpy.runtime.bars import Back, Bars, Resolve, Resolved, given_to, is_nothing
from microgradpy.runtime.replacements import given_by
from microgradpy.runtime.streams import Box, Give, Items, Reading, Stream, Sums, Turn, closed
from microgradpy.runtime.suspension import is_over
from microgradpy.tangents.arithmetic import cotangent_dtype


@final
class Source:
    """An iterable that a stream reads, `count` items of it so far; or one value that it gives as it is (`is_one`)."""

    def __init__(self, number: int, iterable: Any, reading: Reading, *, is_one: bool = False) -> None:
        if is_one:
            iterable = (iterable,)
        self.number = number
        self.is_one = is_one
        self.reading = reading
        made = items_of_object(iterable, reading.resolve)
        self.iterable = iterable if made is None else made[0]
        reading.reads_generator |= isinstance(self.iterable, GeneratorType) or (
            isinstance(self.iterable, Stream) and self.iterable.reading.reads_generator
        )
        self.back: Back | None = None if made is None else made[1]
        self.keys: dict[int, Any] | None = {} if reading.resolve.tracks and isinstance(iterable, VIEWS) else None
        self.count = 0
        self._key: Any = None

    def __iter__(self) -> Iterator[Box]:
        # As Python does, ask for the iterator when the stream is made, and for items when they are needed.
        if isinstance(self.iterable, Stream):
            return _Boxes(self, Turn(self.iterable))
        return _Boxes(self, iter(self.iterable) if self.keys is None else self._read_dict(iter))

    def read(self, iterator: Iterator[Any], place: int) -> Box:
        """The next item, which is at this place unless the iterable itself knows where."""
        x = self.iterable
        was_over = x.is_over if isinstance(x, Stream) else is_over(x)
        if isinstance(x, np.flatiter):
            place = x.index  # others may have read from it meanwhile
        try:
            value = next(iterator)
        except BaseException:
            if not was_over:
                self.reading.note(self._undo_end)
            raise
        if isinstance(x, Stream):
            place = len(x.given) - 1  # so may have others
        box = Box(self.number, place, value)
        if self.keys is not None:
            self.keys[place] = self._key
        self.reading.note(self._undo_read(box))
        return box

    def backwards(self) -> Iterator[Box]:
        """The items of a sequence, the last one first."""
        iterator = reversed(self.iterable) if self.keys is None else self._read_dict(reversed)
        self.count = len(self.iterable)
        return _Boxes(self, iterator, -1)

    def _read_dict(self, order: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
        is_pairs = isinstance(self.iterable, _PAIRS)
        mapping = dict_of_view(self.iterable)
        for pair in order(base_of(mapping).items(mapping)):
            self._key = pair[0]
            yield pair if is_pairs else pair[1]

    def _undo_read(self, box: Box) -> Give:
        return lambda bar, sums: self.undo_read(box, sums)

    def _undo_end(self, bar: Any, sums: Sums) -> None:
        """Undo the step that found the iterable at its end."""
        x, shadows = self.iterable, sums.shadows
        if isinstance(x, Stream):
            shadows.of(x).undo_end()
            return
        rewind = shadows.of_generator(x)
        if rewind is not None:
            rewind.undo_end()

    def undo_read(self, box: Box, sums: Sums) -> None:
        """Give the cotangent of an item to the shadow of what it was read from, if that has one."""
        x, place, shadows = self.iterable, (box.source, box.position), sums.shadows
        if isinstance(x, Stream):
            shadows.of(x).undo(box.position, sums.items.pop(place, None))
            return
        rewind = shadows.of_generator(x)
        if rewind is not None:
            rewind.undo(sums.items.pop(place, None))
            return
        bar = sums.items.get(place)
        if bar is None or self.is_one:
            return
        if self.keys is not None:
            key = self.keys[box.position]
            shadows.of(dict_of_view(x)).add(key, bar[1] if isinstance(x, _PAIRS) else bar)
        elif isinstance(x, list | deque):
            shadows.of(x).add(box.position, bar)
        elif isinstance(x, np.ndarray):
            shadows.of(x)[box.position] += bar
        elif isinstance(x, np.flatiter):
            shadows.of(x)[np.unravel_index(box.position, x.base.shape)] += bar
        else:
            return
        del sums.items[place]

    def cotangent(self, sums: Sums) -> Any:
        """The cotangent of the iterable. That of an iterator, or of anything else that has no cotangent of its own form, is
        the list of those of its items: right for a stream, dropped for a constant, and refused for an argument."""
        x = self.iterable
        places = [place for number, place in sums.items if number == self.number]
        whole: Any = None
        if places and self.is_one:
            return sums.items[self.number, 0]
        if places and isinstance(x, np.flatiter):
            whole = np.zeros(x.base.shape, cotangent_dtype(x.base.dtype))
            for position in places:
                whole[np.unravel_index(position, whole.shape)] = sums.items[self.number, position]
        elif places and not isinstance(x, dict | str | bytes | range | set | frozenset):
            is_known = isinstance(x, np.ndarray | list | tuple)
            read = len(x.given) if isinstance(x, Stream) else self.count
            length = len(x) if is_known or isinstance(x, VIEWS) else read
            bars = [sums.items.get((self.number, place)) for place in range(length)]
            whole = spread_over_items(bars, x) if is_known else bars
        if self.back is None or is_nothing(whole, sums.shadows):
            return whole
        return self.back(whole, sums.shadows).arguments[0]


_PAIRS: Any = (type({}.items()), type(OrderedDict().items()))
VIEWS: Any = (type({}.values()), type(OrderedDict().values()), *_PAIRS)
"""What `values()` and `items()` of a dict give. (Those of `collections.abc` are classes with a text.)"""


@final
class _Boxes:
    """The items of a source. Who has come to their end may ask again, as of any iterator: that asks the source again."""

    def __init__(self, source: Source, iterator: Iterator[Any], step: int = 1) -> None:
        self.source, self.iterator, self.step = source, iterator, step
        self.place = 0 if step > 0 else source.count - 1

    def __iter__(self) -> _Boxes:
        return self

    def __next__(self) -> Box:
        box = self.source.read(self.iterator, self.place)
        self.place = box.position + self.step
        self.source.count = max(self.source.count, self.place)
        return box


def dict_of_view(view: Any) -> dict[Any, Any]:
    """The dict that `values()` or `items()` shows: the one object that the view holds."""
    return next(held for held in gc.get_referents(view) if isinstance(held, dict))


def items_of_object(x: Any, resolve: Resolve) -> Resolved | None:
    """The stream of the items of an object whose class says how to iterate over it; None for any other value. Its pullback
    gives the cotangent of the object."""
    check_not_broadcast(x)
    if isinstance(x, Stream | type) or not features_of(type(x)).operators:
        return None
    if isinstance(x, np.ndarray):
        if features_of(type(x)).operators.isdisjoint(("__iter__", "__getitem__")):
            return None
        found = f"a {type(x).__name__} says itself what its items are"
        raise MissingRuleError(found, None, "Give the loop an array: np.asarray(x).")
    method = static_member(type(x), "__iter__")
    if is_function(method):
        y, back = resolve(method, (x,), {})
        if isinstance(y, GeneratorType) and resolve.tracks:
            return _stream_of_generator(y, back, resolve)
        if resolve.tracks and is_function(static_member(type(y), "__next__")):
            return _stream_of_iterator(y, back, resolve)
        if not isinstance(y, Stream):
            raise MissingRuleError(
                f"__iter__ of a {type(x).__name__} gives a {type(y).__name__}",
                None,
                "Let it return iter() of a list or tuple, or an object with __next__.",
            )
        return y, back
    reader = static_member(type(x), "__getitem__")
    if method is not None or not is_function(reader):
        return None
    reading = Reading(resolve)
    items = Stream(type(x).__name__, _read_in_turn(x, reader, reading), reading)

    def read_back(bars: Any, shadows: Any = None) -> Bars:
        return Bars(None, (closed(items, bars, Sums(shadows=shadows)).function,), {})

    return items, read_back


def _stream_of_iterator(iterator: Any, back: Back, resolve: Resolve) -> Resolved:
    """The items of an object with `__next__`, as a generator that asks for them gives them."""
    generator, given_back = resolve(given_by, (iterator,), {})

    def iterator_back(y_bar: Any, shadows: Any) -> Bars:
        bar = given_back(y_bar, shadows).arguments[0]
        return back(shadows.settle(iterator, bar), shadows)

    return _stream_of_generator(generator, iterator_back, resolve)


def _stream_of_generator(generator: Any, back: Back, resolve: Resolve) -> Resolved:
    reading = Reading(resolve)
    items = Stream("generator", map(_read_box, Source(0, generator, reading)), reading)

    def stream_back(bars: Any, shadows: Any = None) -> Bars:
        closed(items, bars, Sums(shadows=shadows))
        return back(None, shadows)

    return items, stream_back


def _read_box(box: Box) -> tuple[Any, Give]:
    return box.value, partial(_give_to_box, box)


def _give_to_box(box: Box, bar: Any, sums: Sums) -> None:
    sums.add(box, bar)


def _read_in_turn(x: Any, reader: Any, reading: Reading) -> Items:
    for index in itertools.count():
        try:
            item = reading.expect(lambda place: reading.call(reader, (x, place), _give_to_function), index)
        except IndexError:
            return
        yield item


def _give_to_function(back: Back, y: Any) -> Give:
    def give(bar: Any, sums: Sums) -> None:
        if not is_nothing(bar, sums.shadows):
            sums.add_function(back(given_to(y, bar, sums.shadows), sums.shadows).arguments[0])

    return give
