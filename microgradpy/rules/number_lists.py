"""Rules for what is proven to be a list of real numbers: its cotangent is a list of as many numbers, never None.

They are chosen when code is made, and not by the classes of the arguments when it runs: `find` says for which kinds.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from microgradpy.ir.kinds import BOOL, INT, Kind, Sequence, is_list_of_numbers, is_real_scalar
from microgradpy.tangents.helpers import returns
from microgradpy.tangents.types import NoTangent, Untouched


def sum_rrule(items):
    """Each item gets y_bar."""

    def sum_pullback(y_bar):
        return NoTangent(), for_each(items, y_bar)

    return sum(items), sum_pullback


@returns(list)
def for_each(items: list[Any], y_bar: Any) -> list[Any]:
    """The same cotangent for each of some numbers."""
    return [y_bar] * len(items)


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


@returns(list)
def for_one(items: list[Any], place: int, y_bar: Any) -> list[Any]:
    """The cotangent of one of some numbers, and zero for the others."""
    bars: list[Any] = [Untouched()] * len(items)
    bars[place] = y_bar
    return bars


def copy_rrule(items):
    """x_bar = y_bar."""

    def copy_pullback(y_bar):
        return NoTangent(), y_bar

    return list(items), copy_pullback


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
    """The sum of the parts, of `length` numbers each, of a cotangent."""
    return [sum(z_bar[place::length], Untouched()) for place in range(length)]


_OF_ONE: dict[Any, Callable[..., Any]] = {sum: sum_rrule, max: max_rrule, min: min_rrule, list: copy_rrule}


def find(function: Any, kinds: tuple[Kind, ...]) -> Callable[..., Any] | None:
    """The rule for a call by position with arguments of these kinds, if there is one for lists of numbers."""
    if not kinds or not is_list_of_numbers(kinds[0]):
        return None
    if function is operator.add and all(map(is_list_of_numbers, kinds)):
        return concatenation_rrule
    if not (isinstance(kinds[0], Sequence) and is_real_scalar(kinds[0].item)):
        return copy_rrule if function is list and len(kinds) == 1 else None
    if len(kinds) == 1:
        return _OF_ONE.get(function)
    return repetition_rrule if function is operator.mul and kinds[1] in (INT, BOOL) else None
