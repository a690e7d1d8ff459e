"""What the compiler may rely on of the helpers that rules call, said where each helper is defined.

    @cotangent_of(1)
    def unbroadcast(d, x): ...        returns a cotangent of its argument number 1, never None for a number or array
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

COTANGENT_OF: dict[Callable[..., Any], int] = {}
COTANGENT_OF_CALL: dict[Callable[..., Any], tuple[Callable[..., Any], tuple[int, ...]]] = {}
COTANGENT_OF_ITEM: dict[Callable[..., Any], tuple[int, int]] = {}
COTANGENTS_OF_ITEMS: dict[Callable[..., Any], int] = {}
COTANGENTS_LIKE: dict[Callable[..., Any], int] = {}
TANGENTS_LIKE: dict[Callable[..., Any], int] = {}
LIKE: dict[Callable[..., Any], int] = {}
ITSELF: dict[Callable[..., Any], int] = {}
RETURNS: dict[Callable[..., Any], Any] = {}
COTANGENTS_IN_BASE: dict[Callable[..., Any], tuple[int, int]] = {}
PAIRS_OF_KIND: dict[Callable[..., Any], int] = {}
NUMERIC_RESULT: set[Callable[..., Any]] = set()


def cotangent_of(index: int) -> Callable[[F], F]:
    """The helper returns a cotangent of its argument number `index`, of that argument's shape."""
    return _note_in(COTANGENT_OF, index)


def cotangent_of_call(function: Callable[..., Any], *indices: int) -> Callable[[F], F]:
    """The helper returns a cotangent of `function(...)` of its arguments number `indices`."""
    return _note_in(COTANGENT_OF_CALL, (function, indices))


def cotangent_of_item(container: int, place: int) -> Callable[[F], F]:
    """The helper returns a cotangent of one item of its argument number `container`, the one that argument number `place` says,
    of that item's shape."""
    return _note_in(COTANGENT_OF_ITEM, (container, place))


def cotangents_of_items(index: int) -> Callable[[F], F]:
    """The helper returns a list, or a tuple if its argument number `index` is one, with a cotangent for each item of that."""
    return _note_in(COTANGENTS_OF_ITEMS, index)


def cotangents_like(index: int) -> Callable[[F], F]:
    """The helper returns new lists of numbers: the cotangents of its argument number `index`, which holds real numbers."""
    return _note_in(COTANGENTS_LIKE, index)


def tangents_like(index: int) -> Callable[[F], F]:
    """The helper returns the tangent of its argument number `index`, a container, in the structure of that."""
    return _note_in(TANGENTS_LIKE, index)


def cotangents_in_base(asked: int, inputs: int) -> Callable[[F], F]:
    """The helper returns `(y, f_bar, args_bar)` for a call of which the positional arguments are the third of its argument
    number `inputs`, or of the first of that ..., as its argument number `asked` wants them."""
    return _note_in(COTANGENTS_IN_BASE, (asked, inputs))


def pair_of_kind(index: int) -> Callable[[F], F]:
    """The helper returns a value of the kind that its argument number `index` is, with its tangent."""
    return _note_in(PAIRS_OF_KIND, index)


def like(index: int) -> Callable[[F], F]:
    """The helper returns a floating-point value of the shape of its argument number `index`."""
    return _note_in(LIKE, index)


def itself(index: int) -> Callable[[F], F]:
    """The helper returns its argument number `index`, if that is a number, an array or one of Python's containers."""
    return _note_in(ITSELF, index)


def returns(cls: Any) -> Callable[[F], F]:
    """The helper returns a Python or NumPy number of this type, `int` or `float`; for `bool` and `str` such a value; for
    `list`, a new list of real numbers, for `list[int]` of whole ones and for `list[str]` of texts; for `dict`, an empty dict;
    for `object`, what has no derivative and runs nobody's code, and for `list[object]` some of these; for `numbers.Real`, a
    real number or an array of such; for `tuple[Any, Any]` two of which nothing is known."""
    return _note_in(RETURNS, cls)


def numeric(helper: F) -> F:
    """The helper returns a number or an array, never None."""
    NUMERIC_RESULT.add(helper)
    return helper


def _note_in(table: dict[Callable[..., Any], Any], value: Any) -> Callable[[F], F]:
    def note(helper: F) -> F:
        table[helper] = value
        return helper

    return note
