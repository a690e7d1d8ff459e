"""What Python's iterators do with differentiated values: a table from each of them to the stream that stands for it.

`map`, `starmap` and `accumulate` call a function for each item, which is differentiated; `filter` and its kin call one to
choose; all others pass items on, and Python's own run over boxes (see `streams`).
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.sums import spread_over_items
from microgradpy.runtime.bars import Back, Bars, Resolve, Resolved
from microgradpy.runtime.streams import Box, Give, Items, Source, Stream, Sums
from microgradpy.tangents.types import is_structural_zero


@final
@dataclass(frozen=True)
class Made:
    """The items of a stream; `sources` are the arguments that it reads, by place or name, `function` are the places or
    names of the one that it calls. `finish` adds what only the cotangents of all items together give."""

    items: Items
    sources: dict[int | str, Source]
    function: tuple[int | str, ...] = ()
    finish: Callable[[Sums], None] | None = None


def stream(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], resolve: Resolve) -> Resolved:
    """The stream that stands for `f(*args, **kwargs)`, where `f` is one of `STREAMS`."""
    made = STREAMS[f](resolve, *args, **kwargs)
    result = Stream(getattr(f, "__name__", "iterator"), made.items)

    def stream_back(bars: Any) -> Bars:
        sums = Sums()
        result.give_back(bars, sums)
        if made.finish is not None:
            made.finish(sums)
        found = {place: source.cotangent(sums) for place, source in made.sources.items()}
        found |= dict.fromkeys(made.function, sums.function)
        return Bars(None, tuple(map(found.get, range(len(args)))), {name: found.get(name) for name in kwargs})

    return result, stream_back


def next_item(iterator: Stream, *default: Any) -> Resolved:
    """next(iterator), which may have a default."""
    try:
        y = next(iterator)
    except StopIteration:
        if not default:
            raise
        return default[0], lambda y_bar: Bars(None, (None, y_bar), {})
    place = len(iterator.given) - 1

    def next_back(y_bar: Any) -> Bars:
        bars: list[Any] = [None] * len(iterator.given)
        bars[place] = y_bar
        return Bars(None, (bars, *(None for _ in default)), {})

    return y, next_back


def _passing(function: Callable[..., Any], count: int | None = None) -> Callable[..., Made]:
    """For a function that passes on the items of its first `count` arguments, or of all."""

    def make(resolve: Resolve, *args: Any, **kwargs: Any) -> Made:
        sources: dict[int | str, Source] = {
            place: Source(place, x, resolve) for place, x in enumerate(args) if count is None or place < count
        }
        given = [sources.get(place, x) for place, x in enumerate(args)]
        if "fillvalue" in kwargs:
            sources["fillvalue"] = filler = Source(-1, kwargs["fillvalue"], resolve, is_one=True)
            kwargs["fillvalue"] = next(iter(filler))
        return Made(_routed(function(*given, **kwargs)), sources)

    return make


def _routed(shown: Iterable[Any]) -> Items:
    for each in shown:
        if isinstance(each, Box):
            yield each.value, _give_to_box(each)
        else:
            yield tuple(part.value if isinstance(part, Box) else part for part in each), _give_to_boxes(each)


def _give_to_box(box: Box) -> Give:
    return lambda bar, sums: sums.add(box.source, box.position, bar)


def _give_to_boxes(boxes: tuple[Any, ...]) -> Give:
    def give(bars: Any, sums: Sums) -> None:
        for box, bar in zip(boxes, bars, strict=True):
            if isinstance(box, Box):
                sums.add(box.source, box.position, bar)

    return give


def _choosing(function: Callable[..., Any]) -> Callable[..., Made]:
    """For a function that passes on the items that a predicate is true or false of."""

    def make(resolve: Resolve, predicate: Any, iterable: Any) -> Made:
        source = Source(1, iterable, resolve)
        test = bool if predicate is None else predicate
        return Made(_routed(function(lambda box: test(box.value), source)), {1: source})

    return make


def _reversed(resolve: Resolve, sequence: Any) -> Made:
    if not isinstance(sequence, list | tuple | np.ndarray | range | str | dict):
        raise MissingRuleError(
            f"reversed() of a {type(sequence).__name__} of differentiated values", None, "Make a list or tuple of it first."
        )
    source = Source(0, sequence, resolve)
    return Made(_routed(reversed(list(source))), {0: source})


def _repeat(resolve: Resolve, value: Any, *times: int) -> Made:
    source = Source(0, value, resolve, is_one=True)
    (box,) = source

    def items() -> Items:
        yield from _routed(itertools.repeat(box, *times))

    return Made(items(), {0: source})


def _map(resolve: Resolve, function: Any, *iterables: Any) -> Made:
    sources: dict[int | str, Source] = {place: Source(place, x, resolve) for place, x in enumerate(iterables, 1)}
    return Made(_calls(resolve, function, zip(*sources.values(), strict=False)), sources, (0,))


def _calls(resolve: Resolve, function: Any, rows: Iterator[tuple[Box, ...]]) -> Items:
    for boxes in rows:
        y, back = resolve(function, tuple(box.value for box in boxes), {})
        yield y, _give_to_call(back, boxes)


def _give_to_call(back: Back, boxes: tuple[Box, ...]) -> Give:
    def give(y_bar: Any, sums: Sums) -> None:
        bars = back(y_bar)
        sums.add_function(bars.function)
        for box, bar in zip(boxes, bars.arguments, strict=True):
            sums.add(box.source, box.position, bar)

    return give


def _starmap(resolve: Resolve, function: Any, iterable: Any) -> Made:
    source = Source(1, iterable, resolve)

    def items() -> Items:
        for box in source:
            y, back = resolve(function, tuple(box.value), {})
            yield y, _give_to_row(back, box)

    return Made(items(), {1: source}, (0,))


def _give_to_row(back: Back, box: Box) -> Give:
    def give(y_bar: Any, sums: Sums) -> None:
        bars = back(y_bar)
        sums.add_function(bars.function)
        if any(bar is not None for bar in bars.arguments):
            sums.add(box.source, box.position, spread_over_items(bars.arguments, box.value))

    return give


def _accumulate(resolve: Resolve, iterable: Any, func: Any = None, *, initial: Any = None) -> Made:
    function = operator.add if func is None else func
    source = Source(0, iterable, resolve)
    boxes = iter(source)
    first = Source(-1, initial, resolve, is_one=True)
    steps: list[tuple[Back | None, Box]] = []

    def items() -> Items:
        total: Any = None
        for box in itertools.chain(first if initial is not None else (), boxes):
            if steps:
                total, back = resolve(function, (total, box.value), {})
                steps.append((back, box))
            else:
                total = box.value
                steps.append((None, box))
            yield total, _give_to_box(Box(_TOTALS, len(steps) - 1, None))

    def finish(sums: Sums) -> None:
        carried: Any = None
        for place in range(len(steps) - 1, -1, -1):
            back, box = steps[place]
            if carried is not None:
                sums.add(_TOTALS, place, carried)
            total_bar = sums.items.get((_TOTALS, place))
            if back is None or total_bar is None:
                carried = None
                sums.add(box.source, box.position, total_bar)
            else:
                bars = back(total_bar)
                sums.add_function(bars.function)
                carried = bars.arguments[0]
                sums.add(box.source, box.position, bars.arguments[1])

    return Made(items(), {0: source, "initial": first}, (1, "func"), finish)


_TOTALS = -2  # the number under which the cotangents of what `accumulate` gave are collected


def _from_iterable(resolve: Resolve, iterables: Any) -> Made:
    outer = Source(0, iterables, resolve)

    def items() -> Items:
        for box in outer:
            inner = Source(0, box.value, resolve)
            for part in inner:
                yield part.value, _give_to_part(box, inner, part)

    return Made(items(), {0: outer})


def _give_to_part(box: Box, inner: Source, part: Box) -> Give:
    def give(bar: Any, sums: Sums) -> None:
        sums.add(box.source, box.position, inner.cotangent(Sums(items={(0, part.position): bar})))

    return give


def _groupby(resolve: Resolve, iterable: Any, key: Any = None) -> Made:
    source = Source(0, iterable, resolve)
    groups = itertools.groupby(source, lambda box: box.value if key is None else key(box.value))

    def items() -> Items:
        for found, group in groups:
            inner = Stream("group of itertools.groupby", _routed(group))
            yield (found, inner), _give_to_group(inner)

    return Made(items(), {0: source})


def _give_to_group(inner: Stream) -> Give:
    def give(bars: Any, sums: Sums) -> None:
        key_bar, group_bars = bars
        if not is_structural_zero(key_bar):
            raise MissingRuleError(
                "a key that itertools.groupby gave is used as a number", None, "Compute it from an item of the group."
            )
        if not is_structural_zero(group_bars):
            inner.give_back(group_bars, sums)

    return give


STREAMS: dict[Any, Callable[..., Made]] = {
    map: _map,
    itertools.starmap: _starmap,
    itertools.accumulate: _accumulate,
    itertools.chain.from_iterable: _from_iterable,
    itertools.groupby: _groupby,
    itertools.repeat: _repeat,
    reversed: _reversed,
    **{f: _passing(f) for f in (zip, itertools.chain, itertools.zip_longest, itertools.product)},
    **{
        f: _passing(f, 1)
        for f in (
            *(iter, enumerate, itertools.islice, itertools.pairwise, itertools.compress, itertools.cycle),
            *(itertools.combinations, itertools.permutations, itertools.combinations_with_replacement),
        )
    },
    **{f: _choosing(f) for f in (filter, itertools.filterfalse, itertools.takewhile, itertools.dropwhile)},
}
"""How the functions that give an iterator do it here."""
