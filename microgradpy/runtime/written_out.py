# ruff: noqa: B905, RUF007, UP028  what is read is the text, and `zip` stops where the library's does
"""Functions of the standard library that call others or run over something, written in Python: where the compiler sees what
they are given, it writes their bodies where they are called (`promotion/library.py`).

Each does what the library's does, in the same order, and asks for items when they are asked for. Loops are over what was given,
beside a part of it if need be, so that it shows if somebody writes into that meanwhile.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from microgradpy.rules.registry import non_differentiable
from microgradpy.tangents.helpers import returns


def reduced(function: Callable[..., Any], items: Iterable[Any], initial: Any) -> Any:
    """functools.reduce(function, items, initial)"""
    total = initial
    for item in items:
        total = function(total, item)
    return total


def added_up(items: Iterable[Any], start: Any) -> Any:
    """sum(items, start)"""
    total = start
    for item in items:
        total = total + item
    return total


def reduced_items(function: Callable[..., Any], items: list[Any]) -> Any:
    """functools.reduce(function, items)"""
    if len(items) == 0:
        raise TypeError("reduce() of empty iterable with no initial value")
    total = items[0]
    for _, item in zip(items, items[1:]):
        total = function(total, item)
    return total


def accumulated(items: Iterable[Any], function: Callable[..., Any], initial: Any) -> Iterator[Any]:
    """itertools.accumulate(items, function, initial=initial)"""
    total = initial
    yield total
    for item in items:
        total = function(total, item)
        yield total


def accumulated_items(items: list[Any], function: Callable[..., Any]) -> Iterator[Any]:
    """itertools.accumulate(items, function)"""
    if len(items) > 0:
        total = items[0]
        yield total
        for _, item in zip(items, items[1:]):
            total = function(total, item)
            yield total


def sums(items: list[Any]) -> Iterator[Any]:
    """itertools.accumulate(items)"""
    if len(items) > 0:
        total = items[0]
        yield total
        for _, item in zip(items, items[1:]):
            total = total + item
            yield total


def pairs(items: list[Any]) -> Iterator[Any]:
    """itertools.pairwise(items)"""
    for first, second in zip(items, items[1:]):
        yield first, second


def mapped(function: Callable[..., Any], items: Iterable[Any]) -> Iterator[Any]:
    """map(function, items)"""
    for item in items:
        yield function(item)


def mapped_pairs(function: Callable[..., Any], first: Iterable[Any], second: Iterable[Any]) -> Iterator[Any]:
    """map(function, first, second)"""
    for a, b in zip(first, second):
        yield function(a, b)


def filtered(function: Callable[..., Any], items: Iterable[Any]) -> Iterator[Any]:
    """filter(function, items)"""
    for item in items:
        if function(item):
            yield item


def zipped(first: Iterable[Any], second: Iterable[Any]) -> Iterator[Any]:
    """zip(first, second)"""
    for a, b in zip(first, second):
        yield a, b


def zipped_three(first: Iterable[Any], second: Iterable[Any], third: Iterable[Any]) -> Iterator[Any]:
    """zip(first, second, third)"""
    for a, b, c in zip(first, second, third):
        yield a, b, c


def longest(first: list[Any], second: list[Any], fillvalue: Any) -> Iterator[Any]:
    """itertools.zip_longest(first, second, fillvalue=fillvalue)"""
    for a, b in zip(first, second):
        yield a, b
    for a in first[len(second) :]:
        yield a, fillvalue
    for b in second[len(first) :]:
        yield fillvalue, b


def numbered(items: Iterable[Any], start: int) -> Iterator[Any]:
    """enumerate(items, start)"""
    for number, item in enumerate(items, start):
        yield number, item


def chained(first: Iterable[Any], second: Iterable[Any]) -> Iterator[Any]:
    """itertools.chain(first, second)"""
    for item in first:
        yield item
    for item in second:
        yield item


def chained_three(first: Iterable[Any], second: Iterable[Any], third: Iterable[Any]) -> Iterator[Any]:
    """itertools.chain(first, second, third)"""
    for item in first:
        yield item
    for item in second:
        yield item
    for item in third:
        yield item


def product_of_two(first: list[Any], second: list[Any]) -> Iterator[Any]:
    """itertools.product(first, second)"""
    for a in first:
        for b in second:
            yield a, b


def product_of_three(first: list[Any], second: list[Any], third: list[Any]) -> Iterator[Any]:
    """itertools.product(first, second, third)"""
    for a in first:
        for b in second:
            for c in third:
                yield a, b, c


def combinations_of_two(items: list[Any]) -> Iterator[Any]:
    """itertools.combinations(items, 2)"""
    for place, first in enumerate(items):
        for second in items[place + 1 :]:
            yield first, second


def combinations_of_three(items: list[Any]) -> Iterator[Any]:
    """itertools.combinations(items, 3)"""
    for place, first in enumerate(items):
        for later, second in enumerate(items[place + 1 :], place + 2):
            for third in items[later:]:
                yield first, second, third


def combinations_with_itself(items: list[Any]) -> Iterator[Any]:
    """itertools.combinations_with_replacement(items, 2)"""
    for place, first in enumerate(items):
        for second in items[place:]:
            yield first, second


def permutations_of_two(items: list[Any]) -> Iterator[Any]:
    """itertools.permutations(items, 2)"""
    for place, first in enumerate(items):
        for other, second in enumerate(items):
            if place != other:
                yield first, second


def first_of(items: Iterable[Any], stop: int) -> Iterator[Any]:
    """itertools.islice(items, stop)"""
    if stop < 0:
        raise ValueError("Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if stop > 0:
        for number, item in enumerate(items, 1):
            yield item
            if number == stop:
                break


def taken_while(function: Callable[..., Any], items: Iterable[Any]) -> Iterator[Any]:
    """itertools.takewhile(function, items)"""
    for item in items:
        if not function(item):
            break
        yield item


def is_any(items: Iterator[Any]) -> bool:
    """any(items)"""
    for item in items:
        if item:
            found = True
            break
    else:
        found = False
    return found


def are_all(items: Iterator[Any]) -> bool:
    """all(items)"""
    for item in items:
        if not item:
            found = False
            break
    else:
        found = True
    return found


def first_item(items: Iterator[Any]) -> Any:
    """next(items), of an iterator that nobody asks again"""
    for item in items:
        found = item
        break
    else:
        raise StopIteration
    return found


def first_item_or(items: Iterator[Any], default: Any) -> Any:
    """next(items, default)"""
    for item in items:
        found = item
        break
    else:
        found = default
    return found


def repeated(item: Any, times: int) -> Iterator[Any]:
    """itertools.repeat(item, times)"""
    for _ in range(times):
        yield item


def given_by(iterator: Any) -> Iterator[Any]:
    """What an iterator of the user's gives to a loop."""
    while True:
        try:
            item = iterator.__next__()
        except StopIteration:
            break
        yield item


def remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    """functools.cache(function)"""
    values = {}

    def remembering(*arguments: Any) -> Any:
        if arguments not in values:
            values[arguments] = function(*arguments)
        return values[arguments]

    return remembering


def sorted_by(items: list[Any], key: Callable[..., Any], reverse: bool) -> list[Any]:
    """sorted(items, key=key, reverse=reverse)"""
    return [items[place] for place in order_of([key(item) for item in items], reverse)]


def sorted_items_by(items: Iterable[Any], key: Callable[..., Any], reverse: bool) -> list[Any]:
    """The same of what has no places: a dict or an iterator."""
    values = list(items)
    return [values[place] for place in order_of([key(value) for value in values], reverse)]


def largest_by(items: list[Any], key: Callable[..., Any]) -> Any:
    """max(items, key=key)"""
    return items[place_of_largest([key(item) for item in items])]


def smallest_by(items: list[Any], key: Callable[..., Any]) -> Any:
    """min(items, key=key)"""
    return items[place_of_smallest([key(item) for item in items])]


def best_of(items: list[Any], count: int, largest: bool) -> list[Any]:
    """heapq.nsmallest(count, items), or nlargest"""
    return [items[place] for place in places_of_best(count, items, largest)]


def best_by(items: list[Any], key: Callable[..., Any], count: int, largest: bool) -> list[Any]:
    """The same with a key"""
    return [items[place] for place in places_of_best(count, [key(item) for item in items], largest)]


@returns(list[int])
def order_of(keys: list[Any], reverse: bool) -> list[int]:
    """The places of some keys, in their order."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


@returns(int)
def place_of_largest(keys: list[Any]) -> int:
    """Where the first of the largest is."""
    return max(range(len(keys)), key=keys.__getitem__)


@returns(int)
def place_of_smallest(keys: list[Any]) -> int:
    """Where the first of the smallest is."""
    return min(range(len(keys)), key=keys.__getitem__)


@returns(list[int])
def places_of_best(count: int, keys: list[Any], largest: bool) -> list[int]:
    """Where some of the smallest are, or of the largest, in their order."""
    return (heapq.nlargest if largest else heapq.nsmallest)(count, range(len(keys)), key=keys.__getitem__)


def grouped(items: list[Any], key: Callable[..., Any]) -> Iterator[Any]:
    """itertools.groupby(items, key)"""
    count = len(items)
    if count > 0:
        first, start = key(items[0]), 0
        while start < count:
            following, end = first, start + 1
            while end < count:
                following = key(items[end])
                if not is_same_key(first, following):
                    break
                end += 1
            yield first, iter(items[start:end])
            first, start = following, end


@returns(bool)
def is_same_key(first: Any, other: Any) -> bool:
    """Whether two keys are one or equal, as containers ask for it."""
    return first is other or bool(first == other)


def chosen(items: list[Any], draw: Callable[..., Any]) -> Any:
    """rng.choice(items), which draws as for a range of as many numbers"""
    return items[place_drawn(draw, len(items))]


def several_chosen(items: list[Any], draw: Callable[..., Any], count: int) -> list[Any]:
    """rng.choices(items, k=count), or rng.sample(items, count)"""
    return [items[place] for place in places_drawn(draw, len(items), count)]


@returns(int)
def place_drawn(draw: Callable[..., Any], count: int) -> int:
    """The place of an item that is drawn."""
    return draw(range(count))  # type: ignore[no-any-return]


@returns(list[int])
def places_drawn(draw: Callable[..., Any], items: int, count: int) -> list[int]:
    """The places of some."""
    return draw(range(items), k=count)  # type: ignore[no-any-return]


def itself(item: Any) -> Any:
    """What an item is ordered or grouped by if nothing else is said."""
    return item


def backwards(items: list[Any]) -> Iterator[Any]:
    """reversed(items), which counts them when it is called"""
    return down_from(items, len(items) - 1)


def down_from(items: list[Any], last: int) -> Iterator[Any]:
    """The items from a place down to the first one."""
    for place in range(last, -1, -1):
        yield items[place]


def extended(items: list[Any], others: Iterable[Any]) -> None:
    """items.extend(others)"""
    for item in others:
        items.append(item)


READ_LATER = frozenset((accumulated_items, sums, pairs, longest, backwards, reduced_items, grouped))
"""What counts the items of a list by their places, and reads them while others may change the list."""
ORDERS: dict[Any, int] = {order_of: 0, place_of_largest: 0, place_of_smallest: 0, places_of_best: 1}
"""What compares the items of one of its arguments, by its number."""

non_differentiable(*ORDERS, is_same_key, place_drawn, places_drawn)
