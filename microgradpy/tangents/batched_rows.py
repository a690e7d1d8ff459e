"""Calls for one direction after the other, in a text for many: of helpers, and of generated functions of which there is no text
for many. `given` and `made` say what has the leading axis: all numbers and arrays in a value, none, or those of some items of a
tuple; "rows" is a list of what each call has saved.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.projecting import Untouched
from microgradpy.tangents.types import is_structural_zero

Mark = bool | str | tuple[Any, ...]


class NotAStack(Exception):
    """Tangents are not such that a text for many directions takes them."""


def primal_by_rows(primal: Callable[..., Any], given: tuple[Mark, ...], made: Any, directions: int, *args: Any) -> Any:
    """`(y, saved)`, of the primal of a unit."""
    pairs = _rows(primal, given, directions, args)
    return joined([y for y, _ in pairs], made[0]), [saved for _, saved in pairs]


def pushed_by_rows(pushforward: Callable[..., Any], given: tuple[Mark, ...], made: Any, directions: int, *args: Any) -> Any:
    """`(y, y_dot)`, of the pushforward of a unit."""
    pairs = _rows(pushforward, given, directions, args)
    return joined([y for y, _ in pairs], made[0]), joined([y_dot for _, y_dot in pairs], made[1])


def by_rows(function: Callable[..., Any], given: tuple[Mark, ...], directions: int, *args: Any, **options: Any) -> Any:
    """What a function returns that only computes."""
    return joined(_rows(functools.partial(function, **options) if options else function, given, directions, args), True)


def pullbacks_by_rows(pullbacks: list[Any], given: tuple[Mark, ...], directions: int, *args: Any) -> Any:
    """The cotangents, of a pullback for each direction."""
    rows = [back(*(_row(arg, mark, j) for arg, mark in zip(args, given, strict=True))) for j, back in enumerate(pullbacks)]
    return joined(rows, True)


def adjoint_by_rows(adjoint: Callable[..., Any], given: tuple[Mark, ...], made: Any, directions: int, *args: Any) -> Any:
    """The cotangents, of the adjoint of a unit."""
    return joined(_rows(adjoint, given, directions, args), made)


def _rows(function: Callable[..., Any], given: tuple[Mark, ...], directions: int, args: tuple[Any, ...]) -> list[Any]:
    numbered = range(directions)
    return [function(*(_row(arg, mark, j) for arg, mark in zip(args, given, strict=True))) for j in numbered]


def _row(value: Any, mark: Mark, number: int) -> Any:
    if mark is False:
        return value
    if mark is True:
        return at(value, number)
    if isinstance(mark, str):
        return value[number]
    if type(value) is list:  # a tape, whose records are bare if they have one field
        return [_row(record, mark if len(mark) > 1 else mark[0], number) for record in value]
    if type(value) is not tuple or len(value) != len(mark):
        raise NotAStack
    return tuple(_row(item, each, number) for item, each in zip(value, mark, strict=True))


def joined(rows: list[Any], mark: Mark) -> Any:
    """What calls have returned, with a leading axis where the mark says so. Raises NotAStack for what is no tree of numbers."""
    if mark is False:
        return rows[0]
    if isinstance(mark, tuple):
        return tuple(joined([row[place] for row in rows], each) for place, each in enumerate(mark))
    return stacked(rows)


def lengths(stack: Any) -> int:
    """How many directions there are in a tree; 0 if it has no arrays."""
    return len(stack) if isinstance(stack, np.ndarray) else max((lengths(item) for item in _items(stack)), default=0)


def _items(stack: Any) -> list[Any]:
    return list(stack.values()) if isinstance(stack, dict) else list(stack) if isinstance(stack, list | tuple) else []


def at(stack: Any, number: int) -> Any:
    """A tree for one direction. Raises NotAStack for what is no tree of numbers; one without an axis is the same for all."""
    if type(stack) is np.ndarray:
        return stack[number]
    if type(stack) is dict:
        return {key: at(item, number) for key, item in stack.items()}
    if type(stack) in (list, tuple):
        return type(stack)([at(item, number) for item in stack])
    if stack is None or isinstance(stack, float | int | np.number | np.bool | str):
        return stack
    raise NotAStack


def check_stack(value: Any) -> None:
    """Raises NotAStack for what is no array with a leading axis."""
    if not isinstance(value, np.ndarray) or not value.ndim:
        raise NotAStack


def stacked(rows: list[Any]) -> Any:
    """A tree with a leading axis, of one for each direction; None is zero where others are not None. Raises NotAStack for what
    is no tree of numbers."""
    rows = [None if is_structural_zero(row) else row for row in rows]
    first = next((row for row in rows if row is not None), None)
    if first is None or all(row is Untouched.zero for row in rows):
        return first
    if type(first) in (dict, list, tuple):
        if not all(type(row) is type(first) and len(row) == len(first) for row in rows):
            raise NotAStack
        if isinstance(first, dict):
            return {key: stacked([row[key] for row in rows]) for key in first}
        return type(first)([stacked([row[place] for row in rows]) for place in range(len(first))])
    if isinstance(first, bool | np.bool) or not isinstance(first, np.ndarray | np.number | float | int):
        raise NotAStack
    zero = np.zeros(np.shape(first)) if any(row is None for row in rows) else first
    found = np.stack([np.asarray(zero if row is None else row) for row in rows])
    return found.astype(float) if found.dtype.kind in "iu" else found


# What asks for the number of axes when it runs


def elementwise_each(function: Callable[..., Any], many: tuple[bool, ...], *args: Any) -> Any:
    """A function that works entry by entry, of numbers and arrays; `many` are the arguments that have the leading axis."""
    ranks = [_rank(arg) - flag for arg, flag in zip(args, many, strict=True)]
    rank = max(ranks)
    each = zip(args, many, ranks, strict=True)
    return function(*(_with_axes(arg, rank - own) if flag and own < rank else arg for arg, flag, own in each))


def matmul_each(x: Any, y: Any, many: tuple[bool, bool]) -> Any:
    """`x @ y`, with the leading axis."""
    n, m = _rank(x) - many[0], _rank(y) - many[1]
    if not n or not m:
        raise NotAStack
    left = x[..., None, :] if many[0] and n == 1 else x
    right = y[..., None] if many[1] and m == 1 else y
    rank = max(n, m, 2)
    left = _with_axes(left, rank - max(n, 2)) if many[0] else left
    right = _with_axes(right, rank - max(m, 2)) if many[1] else right
    found = left @ right
    if many[1] and m == 1:
        found = found[..., 0]
    if many[0] and n == 1:
        found = found[..., 0] if m == 1 else found[..., 0, :]
    return found


def _rank(value: Any) -> int:
    if not isinstance(value, np.ndarray | np.number | float | int | complex):
        raise NotAStack
    return np.ndim(value)


def _with_axes(value: Any, count: int) -> Any:
    """A stack with so many axes of length 1 behind the first."""
    return value.reshape(len(value), *(1,) * count, *value.shape[1:])
