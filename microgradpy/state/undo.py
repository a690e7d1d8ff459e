"""What generated adjoints of functions that write call: small steps on the shadows."""

from __future__ import annotations

import types
from collections import OrderedDict, deque
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.frontend.exceptions import Keys
from microgradpy.ir.objects import is_function, static_member
from microgradpy.runtime.cotangents import from_items
from microgradpy.runtime.failures import SKIPPED, Failure
from microgradpy.runtime.streams import Turn
from microgradpy.state.array_memory import shares_memory
from microgradpy.state.arrays import taken_item
from microgradpy.state.coroutines import Steps
from microgradpy.state.shadows import FieldShadow, ListShadow, Shadows, gives_constants, is_value
from microgradpy.tangents.arithmetic import real_like, stack_items
from microgradpy.tangents.helpers import returns
from microgradpy.tangents.overlap import has_repeats, overlaps_itself
from microgradpy.tangents.types import Tangent, is_structural_zero


def add_item(shadows: Shadows, x: Any, index: Any, d: Any) -> None:
    """x_bar[index] += d for an array x."""
    if is_structural_zero(d):
        return
    x_bar = shadows.of(x)
    if isinstance(d, list | tuple):
        d = stack_items(x[index], d)
    d = real_like(d, x)
    if has_repeats(index) or (x_bar.base is not None and overlaps_itself(x_bar)):
        np.add.at(x_bar, index, d)
    else:
        x_bar[index] += d


def add_slot(shadows: Shadows, items: Any, place: int, d: Any) -> None:
    """Add to the cotangent of the number at a place of a list."""
    shadows.of(items).add(place, d)


def take_item(shadows: Shadows, x: Any, index: Any) -> Any:
    """The cotangent of what was stored at x[index] of an array x, which is zero there afterwards."""
    return taken_item(shadows.of(x), index)


@returns(int)
def is_view(y: Any, x: Any) -> bool:
    """Whether an array shows the memory of another."""
    return isinstance(y, np.ndarray) and isinstance(x, np.ndarray) and shares_memory(y, x)


def field_bar(shadows: Shadows, x: Any, name: str, d: Any) -> Any:
    """The cotangent of x from that of its field."""
    return None if is_structural_zero(d) else Tangent(type(x), {name: d})


def slot_of(taken: ListShadow | FieldShadow | None, key: Any, later: tuple[Any, ...] | None) -> Any:
    """The cotangent of an item of a list or dict display, unless a later equal key has taken its place."""
    return None if taken is None or (later is not None and key in later) else taken.get(key)


def appended(shadows: Shadows, items: list[Any], length: int) -> Any:
    """The cotangent of what a comprehension appended to a list of this length."""
    return shadows.of(items).undo_append(length)


_WITHOUT_COTANGENT: Any = (str, bytes, range, set, frozenset, np.ndindex, Keys, type({}.keys()), type(OrderedDict().keys()))
"""What has no cotangent of its own for its items: those that are objects have theirs, and no others are differentiated."""


_STEADY = frozenset({list, tuple, dict, deque, np.ndarray})
"""What a loop does nothing to but read its items."""


def iterated(shadows: Shadows, source: Any, position: Any, item: Any, d: Any) -> Any:
    """Give the cotangent of an item to what a loop ran over; returns the part that travels by value."""
    if d is None and type(source) in _STEADY:
        return None
    if isinstance(source, _WITHOUT_COTANGENT) or (isinstance(source, type) and is_structural_zero(d)):  # an enum
        return None
    if item is SKIPPED or gives_constants(source):
        return None
    if type(item) is Failure:
        if isinstance(source, Steps):
            undo_end(shadows, source.source)
        return None
    if isinstance(source, Steps):
        step_back(shadows, source.source, item, d)
        return None
    if isinstance(source, Turn):
        shadows.of(source.stream).undo(source.places[position], shadows.settle(item, d))
        return None
    if isinstance(source, list | deque | np.ndarray | dict) or type(source) is tuple or hasattr(source, "_fields"):
        return _give_item(shadows, source, position, d)
    if not is_structural_zero(d) or (not is_value(item) and id(item) in shadows.entries):
        raise MissingRuleError(
            f"a loop ran over a {type(source).__name__} of differentiated values", None, "Loop over a list, tuple or array."
        )
    return None


def step_back(shadows: Shadows, source: Any, item: Any, d: Any) -> Any:
    """Undo a step of a generator, which gave this item; returns the cotangent of what was sent into it."""
    rewind = shadows.of_generator(source)
    if rewind is not None:
        return rewind.undo(shadows.settle(item, d))
    if not is_structural_zero(d) or (not is_value(item) and id(item) in shadows.entries):
        raise MissingRuleError(
            f"a value of the generator {source.__name__!r}, which was made outside, is differentiated",
            None,
            "Make the generator inside the differentiated function.",
        )
    return None


def undo_end(shadows: Shadows, source: Any, value_bar: Any = None) -> Any:
    """Undo the step that came to the end of a generator, which returned a value with this cotangent; returns that of what was
    sent into it last."""
    rewind = shadows.of_generator(source)
    return None if rewind is None else rewind.undo_end(value_bar)


def exhausted(shadows: Shadows, source: Any) -> None:
    """Undo the step after the last iteration of a loop, which found what it ran over at its end."""
    if isinstance(source, Turn):
        if source.has_ended:
            shadows.of(source.stream).undo_end()
    elif isinstance(source, Steps) and source.is_ended:
        undo_end(shadows, source.source)


def zip_ended(shadows: Shadows, source: Any, count: int) -> None:
    """The same for one of the things that a `zip` of `count` items ran over. If another came to its end before it, it may
    have given an item that was dropped."""
    exhausted(shadows, source)
    if isinstance(source, Steps) and source.taken > count:
        step_back(shadows, source.source, None, None)
    elif isinstance(source, Turn) and len(source.places) > count:
        shadows.of(source.stream).undo(source.places[count], None)


_SIMPLE = frozenset({float, types.NoneType})


def unpacked(shadows: Shadows, source: Any, bars: tuple[Any, ...]) -> Any:
    """The cotangent of what was unpacked, from those of its items. An iterator is read to its end by that."""
    if type(source) is tuple and len(source) == len(bars) and _SIMPLE.issuperset(map(type, bars)):
        return None if bars.count(None) == len(bars) else bars
    if isinstance(source, Turn):
        shadows.of(source.stream).undo_turn(source, bars)
        return None
    if not isinstance(source, Steps):
        return shadows.settle(source, from_items(source, bars))
    exhausted(shadows, source)
    for bar in reversed(bars):
        step_back(shadows, source.source, None, bar)
    return None


def _give_item(shadows: Shadows, source: Any, position: Any, d: Any) -> Any:
    if is_structural_zero(d):
        return None
    if isinstance(source, dict):
        return None  # keys
    if isinstance(source, tuple):
        items = [None] * len(source)
        items[position] = d
        return tuple(items)
    if isinstance(source, np.ndarray):
        shadows.of(source)[position] += d
    else:
        shadows.of(source).add(position, d)
    return None


def iterated_value(shadows: Shadows, source: Any, key: Any, item: Any, d: Any) -> Any:
    """The same for the value under a key, of a loop over `source.items()`."""
    if is_structural_zero(d):
        return None
    if isinstance(source, Tangent):
        source = source._fields
    if not isinstance(source, dict) or is_function(static_member(type(source), "items")):
        name = type(source).__name__
        raise MissingRuleError(f"a loop ran over what items() of a {name} gave", None, "Make a list of it before the loop.")
    shadows.of(source).add(key, d)
    return None
