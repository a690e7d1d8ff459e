"""Symbols for the lengths of axes: equal symbols are equal lengths, and nothing follows from different ones, but that 1 is one.

    1                       length one
    ("d", 0)                an axis of an input
    (17, 0)                 the first axis of variable number 17, of which nothing is known; (17, -1): as long as that number is
    ("part", axis, "1")     a term: what follows from lengths and constants alone, here an axis without one of its entries
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Axis = Any
Axes = tuple[Axis, ...]
_LARGEST = 12
"""Terms of more parts than that are not kept: a length that is doubled again and again would have one as long as it is."""


def term(name: str, *parts: Axis) -> Axis:
    """A length that follows from others, and from constants as texts; None if one of them is not known."""
    made = (name, *parts)
    return None if None in parts or _size(made) > _LARGEST else made


def is_term(axis: Axis) -> bool:
    return isinstance(axis, tuple) and isinstance(axis[0], str) and axis[0] != "d"


def _size(axis: Axis) -> int:
    return 1 + sum(map(_size, axis[1:])) if is_term(axis) else 1


def map_axis(axis: Axis, of: Callable[[Axis], Axis]) -> Axis:
    """A symbol replaced as a whole, or by its parts if it is a term; None if `of` one of these is."""
    found = of(axis)
    if found is not None or not is_term(axis):
        return found
    return term(axis[0], *(part if isinstance(part, str) else map_axis(part, of) for part in axis[1:]))


def constant_length(length: int) -> Axis:
    """The symbol of a length that is written in the program."""
    return 1 if length == 1 else term("length", str(length)) if length >= 0 else None


def shortened(axis: Axis, count: int) -> Axis:
    """The symbol of an axis without so many of its entries, or with none if it has not as many."""
    if is_term(axis) and axis[0] == "part" and axis[2].isdecimal():
        _, axis, before = axis
        count += int(before)
    return axis if count == 0 else term("part", axis, str(count))


def together(axes: Iterable[Axis]) -> Axis:
    """The symbol of axes put end to end."""
    first, *rest = axes
    return term("sum", first, *rest) if rest else first
