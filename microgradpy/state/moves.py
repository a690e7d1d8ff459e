"""Functions that put the items of a list into another order: heaps, sorted insertion, shuffling.

Where each item went is found by identity, from the list before and after. Nothing has to be known of how it was decided.
"""

from __future__ import annotations

import bisect
import copy
import heapq
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.errors import MutationError
from microgradpy.state.arrays import check_writable
from microgradpy.state.events import Made, event
from microgradpy.state.shadows import ListShadow, Shadows
from microgradpy.tangents.types import accumulate, is_structural_zero


def moved(function: Callable[..., Any], items: Any, added: tuple[Any, ...], *options: Any, **named: Any) -> Made:
    """`function(items, *added, *options, **named)`, which puts `added` into a list, moves items, and returns one of them or
    None."""
    before = [*items, *added]
    count = len(before) - len(added)
    y = function(items, *added, *options, **named)
    places = _places(before, [*items, y])
    *now, taken = places

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        shadow: ListShadow = shadows.of(items)
        total: list[Any] = [None] * len(before)
        for position, place in enumerate(now):
            if place is not None and position < len(shadow.slots):
                total[place] = accumulate(total[place], shadow.slots[position])
        if taken is not None and not is_structural_zero(y_bar):
            total[taken] = accumulate(total[taken], y_bar)
        shadow.slots = total[:count]
        return (None, *total[count:], *(None for _ in options))

    return y, undo


def _places(before: list[Any], after: list[Any]) -> list[int | None]:
    """Where each of these objects was before; an object that was there several times is taken in order."""
    known: dict[int, list[int]] = {}
    for place in range(len(before) - 1, -1, -1):
        known.setdefault(id(before[place]), []).append(place)
    return [places.pop() if (places := known.get(id(x))) else None for x in after]


def _register_moves() -> None:
    for function in (heapq.heappush, heapq.heapreplace, heapq.heappushpop, heapq.heappop, heapq.heapify):
        _register(function, int(function not in (heapq.heappop, heapq.heapify)))
    for function in (bisect.insort, bisect.insort_left):
        _register(function, 1)


def _register(function: Callable[..., Any], added: int) -> None:
    @event(function, of=list)
    def made(items: list[Any], /, *rest: Any, **named: Any) -> Made:
        return moved(function, items, rest[:added], *rest[added:], **named)


_register_moves()


# Shuffling


@event(random.Random.shuffle)
def shuffle(generator: random.Random, items: Any, /) -> Made:
    if not isinstance(items, list):
        raise MutationError(f"random.shuffle of a {type(items).__name__}", None, "Use a list, or a generator of NumPy.")
    y, undo = moved(generator.shuffle, items, ())
    return y, lambda y_bar, shadows: (None, *undo(y_bar, shadows))


@event(np.random.Generator.shuffle, np.random.RandomState.shuffle)
def shuffle_entries(generator: Any, x: Any, /, axis: int = 0) -> Made:
    """What becomes of the entries is what becomes of their numbers, in an array of the same shape, with the same random
    numbers."""
    if isinstance(x, list):
        y, undo = moved(generator.shuffle, x, ())
        return y, lambda y_bar, shadows: (None, *undo(y_bar, shadows))
    if not isinstance(x, np.ndarray):
        raise MutationError(f"shuffling a {type(x).__name__}", None, "Use a list or an array.")
    check_writable(x)
    same = copy.deepcopy(generator)
    before, numbers = x.copy(), np.arange(x.size).reshape(x.shape)
    along = (axis,) if axis else ()
    generator.shuffle(x, *along)
    same.shuffle(numbers, *along)
    if before.reshape(-1)[numbers].tobytes() != x.tobytes():
        raise MutationError("the order in which an array was shuffled cannot be told", None, "Use x[rng.permutation(len(x))].")

    def undo_order(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        x_bar = shadows.of(x)
        x_bar.flat[numbers.reshape(-1)] = x_bar.copy()
        return None, None, None

    return None, undo_order
