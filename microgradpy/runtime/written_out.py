# ruff: noqa: B905, RUF007, UP028  what is read is the text, and `zip` stops where the library's does
"""Functions of the standard library that call others or run over something, written in Python: where the compiler sees what
they are given, it writes their bodies where they are called (`promotion/library.py`).

Each does what the library's does, in the same order, and asks for items when they are asked for.
"""

from __future__ import annotations

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


def reduced_items(function: Callable[..., Any], items: list[Any]) -> Any:
    """functools.reduce(function, items)"""
    if len(items) == 0:
        raise TypeError("reduce() of empty iterable with no initial value")
    total = items[0]
    for item in items[1:]:
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
        for item in items[1:]:
            total = function(total, item)
            yield total


def sums(items: list[Any]) -> Iterator[Any]:
    """itertools.accumulate(items)"""
    if len(items) > 0:
        total = items[0]
        yield total
        for item in items[1:]:
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


def numbered(items: Iterable[Any]) -> Iterator[Any]:
    """enumerate(items)"""
    for number, item in enumerate(items):
        yield number, item


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


ORDERS = (order_of, place_of_largest, place_of_smallest)

non_differentiable(*ORDERS)
