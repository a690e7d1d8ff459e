"""`x.flat`: the entries of an array in C order, read and written by their numbers.

What is known of the entries belongs to the array: the shadow of `x.flat` is that of `x`. Which entries an index means is seen
from the same index into the numbers of the entries.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from microgradpy.errors import MutationError
from microgradpy.rules.registry import mark_inert_attribute
from microgradpy.state.arrays import carries, check_writable, settle_repeated, taken_item
from microgradpy.state.shadows import Shadows, Undo
from microgradpy.state.snapshots import frozen, structure_of
from microgradpy.state.write_handlers import Made, write_handler
from microgradpy.tangents.arithmetic import real_like

Array = np.ndarray[Any, Any]

mark_inert_attribute(np.flatiter, "index", "coords")


@write_handler(operator.getitem, np.flatiter.__getitem__, of=np.flatiter)
def get_entries(entries: Any, index: Any, /) -> Made:
    y = entries[index]
    return y, _undo_read(entries.base, y, _numbers(entries.base, index))


def _undo_read(x: Array, y: Any, numbers: Any) -> Undo:
    """What undoes the reading of some entries, from one that was an index, or that is the default if there is no entry."""

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        d = shadows.born(y, y_bar)
        if d is not None and carries(x):
            x_bar = shadows.of(x)
            np.add.at(x_bar, np.unravel_index(numbers, x_bar.shape), real_like(d, x_bar))
        return None, None

    return undo


_MISSING = object()


@write_handler(next, of=np.flatiter)
def next_entry(entries: Any, default: Any = _MISSING, /) -> Made:
    number = entries.index
    if number < entries.base.size or default is _MISSING:
        y = next(entries)
        return y, _undo_read(entries.base, y, number)
    return default, lambda y_bar, shadows: (None, y_bar)


@write_handler(np.flatiter.copy, of=np.flatiter)
def copy_entries(entries: Any, /) -> Made:
    y, undo = get_entries(entries, slice(None))
    return y, lambda y_bar, shadows: undo(y_bar, shadows)[:1]


@write_handler(operator.setitem, np.flatiter.__setitem__, of=np.flatiter)
def set_entries(entries: Any, index: Any, value: Any, /) -> Made:
    _check_apart(entries.base, value)
    index = frozen(index)
    undo = _undo_store(entries.base, index, value)
    entries[index] = value
    return None, undo


def assign(x: Array, value: Any) -> Made:
    """x.flat = value"""
    _check_apart(x, value)
    undo = _undo_store(x, ..., value)
    x.flat = value  # type: ignore[misc]
    return None, undo


def _undo_store(x: Array, index: Any, value: Any) -> Any:
    """What undoes a store of values that are taken again from the first on when they have run out."""
    given, shape_of = structure_of(value), frozen(value)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if not carries(x) or not np.size(shape_of):
            return None, None, None
        x_bar = np.atleast_1d(shadows.of(x))
        d = taken_item(x_bar, np.unravel_index(_numbers(x, index).reshape(-1), x_bar.shape))
        return None, None, settle_repeated(given, shape_of, d, shadows)

    return undo


def _numbers(x: Array, index: Any) -> Array:
    """The numbers of the entries that an index into `x.flat` means."""
    return np.asarray(np.arange(x.size).flat[index])


def _check_apart(x: Array, value: Any) -> None:
    """Entries are written while others are read, in an order that would have to be followed."""
    check_writable(x)
    source = value.base if isinstance(value, np.flatiter) else value
    if isinstance(source, np.ndarray) and np.may_share_memory(x, source):
        raise MutationError("x.flat is assigned from the memory that it writes", None, "Assign a copy: x.flat = y.copy()")
