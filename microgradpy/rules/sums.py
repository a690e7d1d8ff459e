"""Sums, means, products and lengths of the items of a collection.

A function that takes any iterable gets its items once (`items_of`), because an iterator can be read only once. The
cotangent of an iterator is the list of the cotangents of its items, in order.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.arithmetic import check_reading, conj, floating, stack_items, unbroadcast
from microgradpy.tangents.helpers import itself, returns
from microgradpy.tangents.types import NoTangent

_ROW = np.array([1.5, -0.5, 4.0])


@itself(0)
def items_of(iterable: Iterable[Any]) -> Any:
    """Something with the items of an iterable that can be read again: itself unless it is an iterator."""
    if type(iterable) is list or type(iterable) is tuple:
        return iterable
    check_not_broadcast(iterable)
    return iterable if isinstance(iterable, Collection | np.ndarray) else list(iterable)


def check_not_broadcast(iterable: Any) -> None:
    """Refuse to read the items of an `np.broadcast`, which are those of several arrays at once."""
    if isinstance(iterable, np.broadcast):
        found = "a loop or a function reads the items of an np.broadcast, which are not followed"
        raise MissingRuleError(found, None, "Use np.broadcast_arrays.")


_CONSTANT_KEYS = (int, bool, str)
"""What may be a key or an item of a set, and carries no derivative there."""


def spread_over_items(bars: Sequence[Any], items: Any) -> Any:
    """The cotangent of a collection from the cotangents of its items, in order. Keys of dicts carry none."""
    check_reading(items)
    if isinstance(items, np.ndarray):
        return stack_items(items, list(bars))
    if isinstance(items, tuple):
        return tuple(bars)
    if isinstance(items, dict | str | bytes | range):
        return None
    if isinstance(items, set | frozenset):
        if all(type(item) in _CONSTANT_KEYS for item in items):
            return None
        raise MissingRuleError("the items of a set are used as numbers", None, "Use a list or a tuple.")
    return list(bars)


def repeated_bar(y_bar: Any, items: Any) -> Any:
    """The cotangent of a collection all of whose items were added up to a value of cotangent y_bar."""
    if type(y_bar) is float and type(items) is list and _FLOAT.issuperset(map(type, items)):
        return [y_bar] * len(items)
    return spread_over_items([unbroadcast(y_bar, item) for item in items], items)


_FLOAT = frozenset({float})


@rrule.register(sum)
def sum_rrule(iterable, /, start=0):
    """y = start + every item, each of which gets y_bar. A sum of sequences puts them end to end."""
    items = items_of(iterable)
    y = sum(items, start)

    def sum_pullback(y_bar):
        return NoTangent(), *sum_bars(y_bar, items, start, y)

    return y, sum_pullback


def sum_bars(y_bar: Any, items: Any, start: Any, y: Any) -> tuple[Any, Any]:
    """The cotangents of the items and of the start value."""
    if not isinstance(y, list | tuple):
        return repeated_bar(y_bar, items), unbroadcast(y_bar, start)
    position = len(start)
    bars = []
    for item in items:
        bars.append(y_bar[position : position + len(item)])
        position += len(item)
    return spread_over_items(bars, items), y_bar[: len(start)]


examples(sum, ([1.0, 2.0, 3],), ((1.0, 2.0), 0.5), ([_ROW, 1.0],), (_ROW,), (np.outer(_ROW, _ROW),), ([],))
examples(sum, ([[1.0], [2.0, 3.0]], []), ([(1.0,), (2.0,)], (3.0,)))


@rrule.register(math.fsum)
def fsum_rrule(seq):
    """Each item gets y_bar."""
    items = items_of(seq)

    def fsum_pullback(y_bar):
        return NoTangent(), repeated_bar(y_bar, items)

    return math.fsum(items), fsum_pullback


examples(math.fsum, ([1.0, 2.5, -3.0],), ((1.0, 2),), ([],))


@rrule.register(math.prod)
def prod_rrule(iterable, start=1):
    """Each item, and the start, gets y_bar times the product of the others, exact where some are 0."""
    items = items_of(iterable)

    def prod_pullback(y_bar):
        return NoTangent(), product_bar(y_bar, items, start), unbroadcast(y_bar * conj(math.prod(items)), start)

    return math.prod(items, start=start), prod_pullback


def product_bar(y_bar: Any, items: Any, start: Any) -> Any:
    """The cotangent of the factors of a product: products of those before and of those after each factor, since
    dividing the whole by a factor fails at 0."""
    factors = list(items)
    after = [1.0]
    for factor in reversed(factors[1:]):
        after.append(after[-1] * factor)
    before, bars = start, []
    for factor, rest in zip(factors, reversed(after), strict=False):
        bars.append(unbroadcast(y_bar * conj(before * rest), factor))
        before = before * factor
    return spread_over_items(bars, items)


examples(math.prod, ([1.5, 2.0, -3.0],), ((1.0, 0.0, 2),), ([0.0, 0.0, 2.0],), ([],), ([2.0],))
examples(math.prod, ([1.5, _ROW, _ROW],), ([1.0 + 2.0j, 3.0],))
examples(math.prod, ([1.5, 2.0],), start=3)


@returns(float)
def direction(x: float, length: float) -> float:
    """x / length, and 0 where the length is 0."""
    return x / length if length else 0.0


@pullback(math.hypot, arity=2)
def hypot_pullback(z_bar, x, y, *, z):
    """x_bar = z_bar * x / z, y_bar = z_bar * y / z; 0 at the origin."""
    return z_bar * direction(x, z), z_bar * direction(y, z)


@rrule.register(math.hypot)
def hypot_of_many_rrule(*coordinates):
    """The coordinates get z_bar times the direction they point in; 0 at the origin."""
    z = math.hypot(*coordinates)

    def hypot_of_many_pullback(z_bar):
        return NoTangent(), *(z_bar * direction(x, z) for x in coordinates)

    return z, hypot_of_many_pullback


examples(math.hypot, (3.0, -4.0), (2, 1), (1.0, 2.0, -2.0), (-1.5,), (0.0, 1.0))


@rrule.register(math.dist)
def dist_rrule(p, q):
    """p_bar = z_bar * (p - q) / z, q_bar = -p_bar; 0 where p = q."""
    here, there = items_of(p), items_of(q)
    z = math.dist(here, there)

    def dist_pullback(z_bar):
        return NoTangent(), distance_bar(z_bar, here, there, z), distance_bar(z_bar, there, here, z)

    return z, dist_pullback


def distance_bar(z_bar: float, p: Any, q: Any, z: float) -> Any:
    """The cotangent of the point p under its distance z from q."""
    return spread_over_items([z_bar * direction(floating(a) - floating(b), z) for a, b in zip(p, q, strict=True)], p)


examples(math.dist, (_ROW, (1.0, 0.5, 2.0)), (_ROW, 2.0 * _ROW[::-1]))
examples(math.dist, ([1.0, 2.0], [3.0, -1.0]), ((1.0, 0.5, 2.0), (0.0, 0.0, 0.0)))

if hasattr(math, "sumprod"):  # Python 3.12

    @rrule.register(math.sumprod)
    def sumprod_rrule(p, q):
        """p_bar = y_bar * q, q_bar = y_bar * p, item by item."""
        left, right = items_of(p), items_of(q)

        def sumprod_pullback(y_bar):
            return NoTangent(), weighted_items(y_bar, right, left), weighted_items(y_bar, left, right)

        return math.sumprod(left, right), sumprod_pullback

    def weighted_items(y_bar: Any, weights: Any, items: Any) -> Any:
        """The cotangent of items that were summed with weights."""
        return spread_over_items([unbroadcast(y_bar * w, item) for w, item in zip(weights, items, strict=True)], items)

    examples(math.sumprod, ([1.0, 2.0], [3.0, -1.0]), (_ROW, (1, 2.0, 0.5)))
