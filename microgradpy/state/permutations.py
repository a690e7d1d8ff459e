"""Functions that put the items of a list into another order: heaps, sorted insertion, shuffling.

Where each item went is found by identity, from the list before and after, or by a number that goes with it if an object is
there twice. Nothing has to be known of how it was decided.
"""

from __future__ import annotations

import bisect
import copy
import heapq
from collections.abc import Callable
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.errors import MutationError
from microgradpy.state.arrays import check_writable
from microgradpy.state.shadows import ListShadow, Shadows
from microgradpy.state.write_handlers import Made, named_write_handler, write_handler
from microgradpy.tangents.memory_order import copied
from microgradpy.tangents.types import accumulate, is_structural_zero


def moved(function: Callable[..., Any], items: Any, added: tuple[Any, ...], *options: Any, **named: Any) -> Made:
    """`function(items, *added, *options, **named)`, which puts `added` into a list, moves items, and returns one of them or
    None."""
    before = [*items, *added]
    count = len(before) - len(added)
    if len(set(map(id, before))) == len(before):
        y = function(items, *added, *options, **named)
        places = {id(x): place for place, x in enumerate(before)}
        *now, taken = [places.get(id(x)) for x in [*items, y]]
    else:
        y, now, taken = _with_numbers(function, items, added, *options, **named)

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


@final
@dataclass(frozen=True, slots=True)
class _Numbered:
    """An item of a list that holds one object at several places: a number may stand there once as a constant."""

    value: Any
    place: int

    def __lt__(self, other: _Numbered) -> Any:
        return self.value < other.value


def _with_numbers(
    function: Callable[..., Any], items: Any, added: tuple[Any, ...], *options: Any, **named: Any
) -> tuple[Any, list[int | None], int | None]:
    """Call the function on items that know their places; what it returns, and the places where all of them were before."""
    numbered = [_Numbered(x, place) for place, x in enumerate([*items, *added])]
    own, given = numbered[: len(items)], numbered[len(items) :]
    if named.get("key") is not None:
        key = named["key"]
        named["key"] = lambda item: key(item.value)
    try:
        y = function(own, *given, *options, **named)
    finally:
        items[:] = [item.value for item in own]
    now: list[int | None] = [item.place for item in own]
    return (y.value, now, y.place) if isinstance(y, _Numbered) else (y, now, None)


def _register_moves() -> None:
    for function in (heapq.heappush, heapq.heapreplace, heapq.heappushpop, heapq.heappop, heapq.heapify):
        _register(function, int(function not in (heapq.heappop, heapq.heapify)))
    for insert in (bisect.insort, bisect.insort_left):
        _register_insertion(insert)


def _register(function: Callable[..., Any], added: int) -> None:
    @write_handler(function, of=list)
    def made(items: list[Any], /, *rest: Any) -> Made:
        return moved(function, items, rest[:added], *rest[added:])


def _register_insertion(function: Callable[..., Any]) -> None:
    @write_handler(function, of=list)
    def made(a: list[Any], x: Any, lo: int = 0, hi: int | None = None, *, key: Callable[[Any], Any] | None = None) -> Made:
        return moved(function, a, (x,), lo, hi, key=key)


_register_moves()


# Shuffling


@named_write_handler(("random", "Random.shuffle"))
def shuffle(generator: Any, items: Any, /) -> Made:
    if not isinstance(items, list):
        raise MutationError(f"random.shuffle of a {type(items).__name__}", None, "Use a list, or a generator of NumPy.")
    y, undo = moved(generator.shuffle, items, ())
    return y, lambda y_bar, shadows: (None, *undo(y_bar, shadows))


@named_write_handler(("numpy.random", "Generator.shuffle RandomState.shuffle"))
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
    before, numbers = copied(x), np.arange(x.size).reshape(x.shape)
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
