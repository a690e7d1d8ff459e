"""What Python's iterators do with differentiated values: a table from each of them to the stream that stands for it.

`map`, `starmap` and `accumulate` call a function for each item, which is differentiated; `filter` and its kin call one to
choose; all others pass items on, and Python's own run over boxes (see `streams`).
"""

from __future__ import annotations

import itertools
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.errors import MissingRuleError
from microgradpy.rules.sums import spread_over_items
from microgradpy.runtime.activity import may_be_active
from microgradpy.runtime.bars import Back, Bars, Resolve, Resolved, content, given_to, is_nothing
from microgradpy.runtime.sources import VIEWS, Source
from microgradpy.runtime.streams import Box, Give, Items, Reading, Stream, Sums, Turn, closed, give_to_call
from microgradpy.tangents.types import accumulate, is_structural_zero


@final
@dataclass(frozen=True, slots=True)
class Made:
    """The items of a stream; `sources` are the arguments that it reads, by place or name, `function` are the places or
    names of the one that it calls."""

    items: Items
    sources: dict[int | str, Source]
    function: tuple[int | str, ...] = ()


def stream(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved:
    """The stream that stands for `f(*args, **kwargs)`, where `f` is one of `STREAMS`."""
    reading = Reading(resolve)
    made = STREAMS[f](reading, *args, **kwargs)
    result = Stream(getattr(f, "__name__", "iterator"), made.items, reading)

    def stream_back(bars: Any, shadows: Any = None) -> Bars:
        sums = closed(result, bars, Sums(shadows=shadows))
        found: dict[int | str, Any] = dict.fromkeys(made.function, sums.function)
        found |= {place: source.cotangent(sums) for place, source in reversed(made.sources.items())}
        return Bars(None, tuple(map(found.get, range(len(args)))), {name: found.get(name) for name in kwargs})

    return result, stream_back


def next_item(iterator: Stream, *default: Any) -> Resolved:
    """next(iterator), which may have a default."""
    was_over = iterator.is_over

    def left_back(y_bar: Any, shadows: Any = None) -> Bars:
        if not was_over:
            shadows.of(iterator).undo_end()
        return Bars(None, (None,), {})

    try:
        with iterator.reading.undone_by(left_back, iterator):
            y = next(iterator)
    except StopIteration:
        if not default:
            raise

        def end_back(y_bar: Any, shadows: Any = None) -> Bars:
            if shadows is not None and not was_over:
                shadows.of(iterator).undo_end()
            return Bars(None, (None, y_bar), {})

        return default[0], end_back
    place = len(iterator.given) - 1
    others = (None,) * len(default)

    def next_back(y_bar: Any, shadows: Any = None) -> Bars:
        if shadows is not None:
            shadows.of(iterator).undo(place, y_bar)
            return Bars(None, (None, *others), {})
        bars: list[Any] = [None] * len(iterator.given)
        bars[place] = y_bar
        return Bars(None, (bars, *others), {})

    return y, next_back


def listed(iterator: Stream) -> Resolved:
    """list(iterator)"""
    turn = Turn(iterator)

    def left_back(y_bar: Any, shadows: Any = None) -> Bars:
        shadows.of(iterator).undo_turn(turn, ())
        return Bars(None, (None,), {})

    with iterator.reading.undone_by(left_back, iterator):
        y = list(turn)

    def listed_back(y_bar: Any, shadows: Any = None) -> Bars:
        bars = content(y, y_bar, shadows)
        if shadows is not None:
            shadows.of(iterator).undo_turn(turn, bars or ())
            return Bars(None, (None,), {})
        return Bars(None, (turn.among_all(bars),), {})

    return y, listed_back


def walked(x: Any) -> Any:
    """What a loop over `x` runs over."""
    return x


def turn_over(x: Any) -> Resolved:
    """The same, where what was read of an iterator before and what is read of it meanwhile counts."""
    if not isinstance(x, Stream):
        return x, lambda y_bar, shadows=None: Bars(None, (y_bar,), {})
    turn = Turn(x)
    return turn, lambda y_bar, shadows=None: Bars(None, (turn.among_all(y_bar),), {})


def split(resolve: Resolve, iterable: Any, *count: int, **refused: Any) -> Resolved:
    """itertools.tee: streams that read the same, of which the one that is ahead asks for the items."""
    reading = Reading(resolve)
    source = Source(0, iterable, reading)
    whole = Stream("tee", iter(()), reading)
    y = tuple(Stream("tee", _routed(part), reading, is_part=True) for part in itertools.tee(source, *count, **refused))

    def split_back(bars: Any, shadows: Any = None) -> Bars:
        sums = Sums(shadows=shadows)
        for part, bar in reversed(list(itertools.zip_longest(y, bars or ()))):
            closed(part, bar, sums)
        own = source.cotangent(closed(whole, None, sums))
        return Bars(None, (own, *(None for _ in count)), {})

    return y, split_back


def _passing(function: Callable[..., Any], count: int | None = None) -> Callable[..., Made]:
    """For a function that passes on the items of its first `count` arguments, or of all."""

    def make(reading: Reading, *args: Any, **kwargs: Any) -> Made:
        sources: dict[int | str, Source] = {
            place: Source(place, x, reading) for place, x in enumerate(args) if count is None or place < count
        }
        given = [sources.get(place, x) for place, x in enumerate(args)]
        if "fillvalue" in kwargs:
            sources["fillvalue"] = filler = Source(-1, kwargs["fillvalue"], reading, is_one=True)
            kwargs["fillvalue"] = next(iter(filler))
        return Made(_routed(function(*given, **kwargs)), sources)

    return make


def _routed(shown: Iterable[Any]) -> Items:
    return map(_route, shown)


def _iter(reading: Reading, iterable: Any, *end: Any) -> Made:
    """iter(iterable), or iter(function, end): what a function returns until it is `end`."""
    if not end:
        return _passing(iter)(reading, iterable)
    (last,) = end

    def items() -> Items:
        while True:
            y, give = reading.call(iterable, (), _giving(()))
            if last is y or last == y:
                reading.note(give)
                return
            yield y, give

    return Made(items(), {}, (0,))


def _route(shown: Any) -> tuple[Any, Give]:
    if isinstance(shown, Box):
        return shown.value, _give_to_box(shown)
    return tuple(part.value if isinstance(part, Box) else part for part in shown), _give_to_boxes(shown)


def _give_to_box(box: Box) -> Give:
    return lambda bar, sums: sums.add(box, bar)


def _give_to_boxes(boxes: tuple[Any, ...]) -> Give:
    def give(bars: Any, sums: Sums) -> None:
        for box, bar in zip(boxes, () if is_structural_zero(bars) else bars, strict=False):
            if isinstance(box, Box):
                sums.add(box, bar)

    return give


def _choosing(function: Callable[..., Any]) -> Callable[..., Made]:
    """For a function that passes on the items that a predicate is true or false of."""

    def make(reading: Reading, predicate: Any, iterable: Any) -> Made:
        source = Source(1, iterable, reading)
        test = bool if predicate is None else predicate
        return Made(_routed(function(lambda box: reading.ask(test, box), source)), {1: source})

    return make


def _reversed(reading: Reading, sequence: Any) -> Made:
    if not isinstance(sequence, (list, tuple, np.ndarray, range, str, dict, deque, *VIEWS)):
        raise MissingRuleError(
            f"reversed() of a {type(sequence).__name__} of differentiated values", None, "Make a list or tuple of it first."
        )
    source = Source(0, sequence, reading)
    return Made(_routed(source.backwards()), {0: source})


def _count(reading: Reading, start: Any = 0, step: Any = 1) -> Made:
    sources: dict[int | str, Source] = {0: Source(0, start, reading, is_one=True), 1: Source(1, step, reading, is_one=True)}
    (first,), (added,) = sources.values()
    sources |= {"start": sources[0], "step": sources[1]}

    def items() -> Items:
        last, give = Box(_TOTALS, 0, start), _give_to_box(first)
        while True:
            yield last.value, _give_to_total(last, give)
            total, give = reading.call(operator.add, (last.value, added.value), _giving((last, added)))
            last = Box(_TOTALS, last.position + 1, total)

    return Made(items(), sources)


def _repeat(reading: Reading, value: Any, *times: int) -> Made:
    source = Source(0, value, reading, is_one=True)
    (box,) = source

    def items() -> Items:
        yield from _routed(itertools.repeat(box, *times))

    return Made(items(), {0: source})


def _map(reading: Reading, function: Any, *iterables: Any) -> Made:
    sources: dict[int | str, Source] = {place: Source(place, x, reading) for place, x in enumerate(iterables, 1)}

    def called(*boxes: Box) -> tuple[Any, Give]:
        return reading.call(function, tuple(box.value for box in boxes), _giving(boxes))

    return Made(map(called, *sources.values()), sources, (0,))


def _giving(boxes: tuple[Box, ...]) -> Callable[[Back, Any], Give]:
    return lambda back, y: give_to_call(back, boxes, y)


def _giving_rows(box: Box) -> Callable[[Back, Any], Give]:
    return lambda back, y: _give_to_row(back, box, y)


def _starmap(reading: Reading, function: Any, iterable: Any) -> Made:
    source = Source(1, iterable, reading)

    def called(box: Box) -> tuple[Any, Give]:
        return reading.call(function, tuple(box.value), _giving_rows(box))

    return Made(map(called, source), {1: source}, (0,))


def _give_to_row(back: Back, box: Box, y: Any) -> Give:
    def give(y_bar: Any, sums: Sums) -> None:
        if is_nothing(y_bar, sums.shadows):
            return
        bars = back(given_to(y, y_bar, sums.shadows), sums.shadows)
        sums.add_function(bars.function)
        if any(bar is not None for bar in bars.arguments):
            sums.add(box, spread_over_items(bars.arguments, box.value))

    return give


def _accumulate(reading: Reading, iterable: Any, func: Any = None, *, initial: Any = None) -> Made:
    function = operator.add if func is None else func
    source = Source(0, iterable, reading)
    boxes = iter(source)
    first = Source(-1, initial, reading, is_one=True)

    def items() -> Items:
        last: Box | None = None
        for box in itertools.chain(first if initial is not None else (), boxes):
            if last is None:
                total, give = box.value, _give_to_box(box)
            else:
                total, give = reading.call(function, (last.value, box.value), _giving((last, box)))
            last = Box(_TOTALS, 0 if last is None else last.position + 1, total)
            yield total, _give_to_total(last, give)

    return Made(items(), {0: source, "initial": first}, (1, "func"))


def _give_to_total(box: Box, give: Give) -> Give:
    """What comes of a sum that was given, and of the next one, which was made from it."""
    return lambda bar, sums: give(accumulate(bar, sums.items.pop((box.source, box.position), None)), sums)


_TOTALS = -2  # the number under which the cotangents of what `accumulate` gave are collected


def _from_iterable(reading: Reading, iterables: Any) -> Made:
    outer = Source(0, iterables, reading)

    def items() -> Items:
        for box in outer:
            inner = Source(1 + box.position, box.value, reading)
            reading.note(_give_to_outer(box, inner))
            for part in inner:
                yield part.value, _give_to_part(box, inner, part)

    return Made(items(), {0: outer})


def _give_to_part(box: Box, inner: Source, part: Box) -> Give:
    def give(bar: Any, sums: Sums) -> None:
        sums.add(part, bar)
        if sums.shadows is None:
            _give_to_outer(box, inner)(None, sums)
            sums.items.pop((part.source, part.position), None)

    return give


def _give_to_outer(box: Box, inner: Source) -> Give:
    return lambda bar, sums: sums.add(box, inner.cotangent(sums))


def _groupby(reading: Reading, iterable: Any, key: Any = None) -> Made:
    source = Source(0, iterable, reading)
    asked = _give_key_of_item if key is None else _Asking(reading, key).of

    def given(found: tuple[_Key, Iterator[Box]]) -> tuple[Any, Give]:
        inner = Stream("group of itertools.groupby", _routed(found[1]), reading, is_part=True)
        return (found[0].value, inner), _give_to_group(inner, found[0].give)

    return Made(map(given, itertools.groupby(source, asked)), {0: source}, (1, "key"))


def _give_key_of_item(box: Box) -> _Key:
    return _Key(box.value, _give_to_box(box))


@final
class _Asking:
    """Asks for the keys of items. Once one came out that carries no derivative, such as a text, none is expected of the
    others."""

    def __init__(self, reading: Reading, key: Any) -> None:
        self.reading, self.key = reading, key
        self.carries = True

    def of(self, box: Box) -> _Key:
        if not self.carries:
            return _Key(self.reading.ask(self.key, box), _refuse_to_give)
        y, give = self.reading.call(self.key, (box.value,), _giving((box,)))
        self.carries = may_be_active(y)
        if not self.reading.resolve.tracks:
            return _Key(y, give)
        # The key of a group is that of its first item, which was asked for when the group before came to its end.
        kept = Box(_KEYS, box.position, y)
        self.reading.note(lambda bar, sums: give(sums.items.pop((_KEYS, kept.position), None), sums))
        return _Key(y, _give_to_box(kept))


def _refuse_to_give(bar: Any, sums: Sums) -> None:
    if not is_structural_zero(bar):
        raise MissingRuleError(
            "a key that itertools.groupby gave is used as a number, and the first key was none",
            None,
            "Compute it from an item of the group.",
        )


_KEYS = -3  # the number under which the cotangents of the keys of `groupby` are collected


@final
class _Key:
    """The key of an item, compared as `groupby` compares it, and what gives its cotangent on."""

    __slots__ = ("give", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any, give: Give) -> None:
        self.value, self.give = value, give

    def __eq__(self, other: object) -> Any:
        assert isinstance(other, _Key)
        return self.value is other.value or self.value == other.value


def _give_to_group(inner: Stream, give_to_key: Give) -> Give:
    def give(bars: Any, sums: Sums) -> None:
        key_bar, group_bars = (None, None) if is_structural_zero(bars) else bars
        give_to_key(key_bar, sums)
        closed(inner, group_bars, sums)  # with what was read and called to make the key

    return give


def _numbered_entries(reading: Reading, arr: Any) -> Made:
    """np.ndenumerate"""
    if not isinstance(arr, np.ndarray):
        raise MissingRuleError(f"np.ndenumerate of a {type(arr).__name__}", None, "Make an array of it first.")
    entries = arr.flat
    source = Source(0, entries, reading)

    def items() -> Items:
        boxes = iter(source)
        while True:
            coords = entries.coords
            box = next(boxes, None)
            if box is None:
                return
            yield (coords, box.value), _give_to_boxes((None, box))

    return Made(items(), {0: source})


STREAMS: dict[Any, Callable[..., Made]] = {
    map: _map,
    itertools.starmap: _starmap,
    itertools.accumulate: _accumulate,
    itertools.chain.from_iterable: _from_iterable,
    itertools.groupby: _groupby,
    itertools.count: _count,
    iter: _iter,
    itertools.repeat: _repeat,
    reversed: _reversed,
    np.ndenumerate: _numbered_entries,
    **{f: _passing(f) for f in (zip, itertools.chain, itertools.zip_longest, itertools.product)},
    **{
        f: _passing(f, 1)
        for f in (
            *(enumerate, itertools.islice, itertools.pairwise, itertools.compress, itertools.cycle),
            *(itertools.combinations, itertools.permutations, itertools.combinations_with_replacement),
            *((itertools.batched,) if hasattr(itertools, "batched") else ()),
        )
    },
    **{f: _choosing(f) for f in (filter, itertools.filterfalse, itertools.takewhile, itertools.dropwhile)},
}
"""How the functions that give an iterator do it here."""
