"""Rules for what is proven to be a list of real numbers: its cotangent is a list of as many numbers, never None. And one for
sums of lists of arrays.

They are chosen when code is made, by what is proven, and not by the classes of the arguments when it runs.
"""

from __future__ import annotations

from typing import Any

from microgradpy.projecting import Untouched
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.columns import list_of_columns
from microgradpy.tangents.helpers import cotangents_like, cotangents_of_items, returns
from microgradpy.tangents.types import NoTangent, is_structural_zero


def sum_rrule(items):
    """Each item gets y_bar."""

    def sum_pullback(y_bar):
        return NoTangent(), for_each(items, y_bar)

    return sum(items), sum_pullback


@returns(list)
def for_each(items: list[Any], y_bar: Any) -> list[Any]:
    """The same cotangent for each of some numbers."""
    return [y_bar] * len(items)


def sum_of_arrays_rrule(items):
    """The same of numbers and arrays, which are added up as they are broadcast."""

    def sum_of_arrays_pullback(y_bar):
        return NoTangent(), as_each(items, y_bar)

    return sum(items), sum_of_arrays_pullback


@cotangents_of_items(0)
def as_each(items: list[Any], y_bar: Any) -> list[Any]:
    """The cotangent of a sum for each of what was added."""
    return [unbroadcast(y_bar, item) for item in items]


def max_rrule(items):
    """The first of the largest items gets y_bar."""
    y = max(items)
    place = items.index(y)

    def max_pullback(y_bar):
        return NoTangent(), for_one(items, place, y_bar)

    return y, max_pullback


def min_rrule(items):
    """The first of the smallest items gets y_bar."""
    y = min(items)
    place = items.index(y)

    def min_pullback(y_bar):
        return NoTangent(), for_one(items, place, y_bar)

    return y, min_pullback


def max_of_values_rrule(items):
    """The same of the values of a dict."""
    y = max(items)
    place = place_of(items, y)

    def max_of_values_pullback(y_bar):
        return NoTangent(), for_one(items, place, y_bar)

    return y, max_of_values_pullback


def min_of_values_rrule(items):
    """The same of the values of a dict."""
    y = min(items)
    place = place_of(items, y)

    def min_of_values_pullback(y_bar):
        return NoTangent(), for_one(items, place, y_bar)

    return y, min_of_values_pullback


@returns(int)
def place_of(items: Any, item: Any) -> int:
    """Which of the values of a dict the first is that is this one."""
    return list(items).index(item)


@returns(list)
def for_one(items: list[Any], place: int, y_bar: Any) -> list[Any]:
    """The cotangent of one of some numbers, and zero for the others."""
    bars: list[Any] = [0.0] * len(items)
    bars[place] = y_bar
    return bars


def copy_rrule(items):
    """x_bar = y_bar."""

    def copy_pullback(y_bar):
        return NoTangent(), y_bar

    return list(items), copy_pullback


def dict_of_pairs_rrule(pairs):
    """A dict from pairs of a key and a number: of those with one key, the last gets y_bar."""

    def dict_of_pairs_pullback(y_bar):
        return NoTangent(), for_pairs(pairs, y_bar)

    return dict(pairs), dict_of_pairs_pullback


@cotangents_of_items(0)
def for_pairs(pairs: list[Any], y_bar: dict[Any, Any]) -> list[Any]:
    """The cotangents of the pairs that a dict was made from."""
    zero = Untouched.zero
    if len(y_bar) == len(pairs):
        return [(zero, y_bar[key]) for key, _ in pairs]
    last = {key: place for place, (key, _) in enumerate(pairs)}
    return [(zero, y_bar[key] if last[key] == place else zero) for place, (key, _) in enumerate(pairs)]


def merged_rrule(x, y):
    """x | y: each number gets y_bar under its key, unless there is another one in its place."""

    def merged_pullback(z_bar):
        return NoTangent(), without_others(x, y, z_bar), without_others(y, (), z_bar)

    return x | y, merged_pullback


@cotangents_like(0)
def without_others(items: dict[Any, Any], others: Any, bars: dict[Any, Any]) -> dict[Any, Any]:
    """The cotangents of the numbers in a dict, of which those under the keys of others were not used."""
    return {key: Untouched.zero if key in others else bars[key] for key in items}


def values_rrule(items):
    """y_bar has one number per value, in the dict's order."""

    def values_pullback(y_bar):
        return NoTangent(), by_key(items, y_bar)

    return items.values(), values_pullback


@cotangents_of_items(0)
def by_key(items: dict[Any, Any], y_bar: Any) -> dict[Any, Any]:
    """The cotangents of the values of a dict under their keys; there may be none for what nobody has read."""
    bars = [None] * len(items) if y_bar is None else y_bar
    return dict(zip(items, [Untouched.zero if is_structural_zero(bar) else bar for bar in bars], strict=True))


def tuple_rrule(items):
    """x_bar = y_bar, a list."""

    def tuple_pullback(y_bar):
        return NoTangent(), y_bar

    return tuple(items), tuple_pullback


def columns_rrule(rows):
    """The columns of rows of numbers: the cotangents of a row are in the columns at its place."""

    def columns_pullback(y_bar):
        return NoTangent(), row_bars(y_bar, rows)

    return list_of_columns(rows), columns_pullback


@cotangents_like(1)
def row_bars(y_bar: list[Any], rows: Any) -> list[Any]:
    """The cotangents of rows from those of their columns: what is behind the last column has none."""
    bars = [list(bar) for bar in zip(*y_bar, strict=True)] or [[] for _ in rows]
    for bar, row in zip(bars, rows, strict=True):
        bar += [Untouched.zero] * (len(row) - len(bar))
    return bars


def columns_of_tuples_rrule(rows):
    """The same of tuples, so long that their cotangents are tuples."""

    def columns_pullback(y_bar):
        return NoTangent(), tuple_bars(y_bar, rows)

    return list_of_columns(rows), columns_pullback


@cotangents_like(1)
def tuple_bars(y_bar: list[Any], rows: Any) -> list[Any]:
    """The same as tuples, of which all have one length."""
    return list(zip(*y_bar, strict=True)) or [() for _ in rows]


def concatenation_rrule(x, y):
    """z = x + y: z_bar is cut where x ends."""

    def concatenation_pullback(z_bar):
        return NoTangent(), z_bar[: len(x)], z_bar[len(x) :]

    return x + y, concatenation_pullback


def repetition_rrule(x, n):
    """z = x repeated n times: x_bar is the sum of the n parts of z_bar."""

    def repetition_pullback(z_bar):
        return NoTangent(), sum_of_parts(z_bar, len(x)), NoTangent()

    return x * n, repetition_pullback


@returns(list)
def sum_of_parts(z_bar: list[Any], length: int) -> list[Any]:
    """The sum of the parts, of `length` numbers each, of a cotangent; that of a truth value may be None."""
    parts = ([bar for bar in z_bar[place::length] if bar is not None] for place in range(length))
    return [sum(bars) if bars else Untouched.zero for bars in parts]


OF_STRUCTURE = frozenset((
    copy_rrule, tuple_rrule, columns_rrule, columns_of_tuples_rrule, concatenation_rrule, repetition_rrule, merged_rrule,
    values_rrule, dict_of_pairs_rrule, sum_rrule, sum_of_arrays_rrule,
))  # fmt: skip
"""Rules for functions that rearrange numbers, or add them up: these functions are their own tangents."""
