"""A call in many directions at once, in forward mode: where its text is one for these, and the run of it.

Where it is not, or where something on the way is not finite, who asks goes one by one.
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, final

import numpy as np

from microgradpy.ad.batched_operations import NotBatched
from microgradpy.ad.tangent_kinds import dot_kind, is_structured
from microgradpy.batch_compiler import Batch, half_batch, pushforward_batch
from microgradpy.cache import CACHE, reached_units
from microgradpy.dataclasses import dataclass
from microgradpy.entry import USUAL, plan_of, run_half
from microgradpy.forward_entry import Planned, planned
from microgradpy.ir.kinds import Kind, is_numeric
from microgradpy.patterns import check_unchanged_parts
from microgradpy.rules.registry import frule, rrule
from microgradpy.runtime.modes import RUN
from microgradpy.tangents.batched_rows import NotAStack
from microgradpy.tangents.batches import are_double, filled_stack, like_argument, result_stack, spread
from microgradpy.tangents.strong_zeros import has_nan


@final
@dataclass(frozen=True, slots=True, eq=False)
class Many:
    """A call that is pushed in many directions at once."""

    function: types.FunctionType
    planned: Planned
    batch: Batch
    values: list[Any]

    def pushed(self, directions: int) -> tuple[Any, Any] | None:
        """The value, and its tangents with a leading axis; None if something is not finite on the way: then the directions
        go one by one, which says so in its own way."""
        unit = self.planned.plan[0]
        if directions < self.batch.least:
            return None
        try:
            moving = itertools.compress(zip(self.planned.dots, self.values, strict=True), unit.active)
            dots = [filled_stack(dot, x, directions) for dot, x in moving]
        except NotAStack:
            return None
        run = self.batch.finished()
        with _outermost(self.function), nothing_met() as met:
            pair = attempted(self.batch, run_half, self.function, unit, run, [*self.values, *dots, directions], None)
        if pair is None:
            return None
        y, y_dots = pair
        if self.planned.read is not None:
            check_unchanged_parts(self.function, self.planned.read, self.planned.bound.values)
        if met or not are_double(y):
            return None
        mark = self.batch.mark
        try:
            found = y, result_stack(y_dots, mark[1] if isinstance(mark, tuple) else mark, directions)
        except NotAStack:
            return None
        if isinstance(y, np.ndarray | float) and np.shape(found[1]) != (directions, *np.shape(y)):
            return None
        CACHE.batches += 1
        return found


def many(f: Any, args: tuple[Any, ...], stacks: tuple[Any, ...], kwargs: dict[str, Any]) -> Many | None:
    """How tangents of arguments in many directions, with a leading axis for these, are pushed at once; None if they are not."""
    if not isinstance(f, types.FunctionType) or rrule.has(f) or frule.has(f) or RUN.mode != USUAL:
        return None
    found = planned(f, None, args, stacks, kwargs)
    if found is None or found.plan[3] or not all(unit.is_repeatable for unit in reached_units(found.plan[0])):
        return None
    unit, values = found.plan[0], found.bound.values if found.read is None else found.read.values
    if not (are_double(values) and all(map(_is_in_directions, itertools.compress(unit.kinds, unit.active)))):
        return None
    marks = (False,) * len(values) + (True,) * sum(unit.active)
    batch = pushforward_batch(f, unit, unit.kinds, marks)
    return None if batch.refused is not None else Many(f, found, batch, values)


def many_outermost(f: Any, args: tuple[Any, ...], stacks: tuple[Any, ...], kwargs: dict[str, Any]) -> Many | None:
    """The same of a call that is a run of its own."""
    with _outermost(f):
        return many(f, args, stacks, kwargs)


@contextmanager
def _outermost(f: Any) -> Iterator[None]:
    before, outer = RUN.is_inside, RUN.callee
    RUN.is_inside, RUN.callee, RUN.library_units = False, f, 0
    try:
        yield
    finally:
        RUN.is_inside, RUN.callee = before, outer


def directions_at_once(values: Iterable[Any]) -> int:
    """How many directions go together for inputs of this size: arrays for all of them are to stay near the processor."""
    largest = max((np.size(value) for value in values if isinstance(value, np.ndarray)), default=1)
    return min(_MOST_DIRECTIONS, _MOST_ENTRIES // max(1, largest))


def parts_at_once(count: int, values: Iterable[Any]) -> list[slice]:
    """The parts in which so many directions go for inputs of this size; none if they go one by one."""
    step = directions_at_once(values)
    parts = parts_of(count, step) if count > 1 < step else []
    return parts if all(part.stop - part.start > 1 for part in parts) else []


def parts_of(count: int, step: int) -> list[slice]:
    """So many directions in parts of about the same size, of at most `step` each."""
    parts = -(-count // step)
    ends = [count * part // parts for part in range(parts + 1)]
    return [slice(start, stop) for start, stop in itertools.pairwise(ends)]


_MOST_DIRECTIONS, _MOST_ENTRIES = 128, 1 << 15


def _is_in_directions(kind: Kind) -> bool:
    """Whether tangents of an input of this kind are arrays, or lists, dicts and tuples of arrays, for many directions."""
    return is_numeric(kind) or is_structured(dot_kind(kind))


@contextmanager
def nothing_met() -> Iterator[list[str]]:
    """Notes what NumPy would warn of. (An infinite slope times zero is NaN, in arrays, and may be zero in numbers.)"""
    met: list[str] = []
    watched: dict[str, Any] = {key: "call" for key, how in np.geterr().items() if how != "ignore"}
    with np.errstate(call=lambda what, flag: met.append(what), **watched):
        yield met


def _is_number(y: Any) -> bool:
    is_array = isinstance(y, np.ndarray) and y.dtype.kind == "f"
    return is_array or (isinstance(y, float | int | np.floating) and not isinstance(y, bool))


def attempted(batch: Batch, run: Any, *args: Any) -> Any:
    """What a text for many directions returns; None if values are not such as it takes. If these are no trees of numbers it is
    not asked again; else the texts for one direction say in their own way what goes wrong."""
    try:
        return run(*args)
    except (ValueError, LookupError):
        return None
    except (NotAStack, TypeError, AttributeError):
        batch.refused = NotBatched("values that are no numbers and arrays")
        return None


# Reverse


def seeds_at_once(
    back: Any, y: Any, seeds: Any, directions: int, args: tuple[Any, ...], takes_nan: bool = False
) -> tuple[Any, ...] | None:
    """What the pullback `back` of a call makes of many seeds for its value `y`, a number or an array: of each argument the
    cotangents, with a leading axis. None if they have to be made one by one; as they have to be where NaN comes out, for zeros
    that stay zeros, unless it `takes_nan` as it is."""
    known = plan_of(back)
    if known is None or directions < 2 or RUN.mode != USUAL or RUN.zeros is not None:
        return None
    plan, bound, saved = known
    unit = plan.unit
    is_plain = bound.is_plain and not unit.tracks and not plan.exotic and len(args) == len(bound.values)
    if not (is_plain and unit.result_active and any(unit.active) and _is_number(y) and are_double([y, *args])):
        return None
    batch = half_batch(unit, True, (False, True))
    least = 2 if takes_nan else batch.least  # one by one, an adjoint that gives NaN is run twice
    if batch.refused is not None or directions < least:
        return None
    try:
        stack = filled_stack(seeds, y, directions)
    except NotAStack:
        return None
    run = batch.finished()
    with nothing_met() as met:
        bars = attempted(batch, run, saved, stack, directions)
    if bars is None:
        return None
    if isinstance(batch.mark, tuple):
        bars = tuple(bar if mark is True else spread(bar, directions) for bar, mark in zip(bars, batch.mark, strict=True))
    elif not batch.mark:
        bars = spread(bars, directions)
    if met or (has_nan(bars) and not takes_nan):
        return None
    try:
        found = tuple(like_argument(bar, x, directions) for bar, x in zip(unit.divided(bars), args, strict=True))
    except NotAStack:
        return None
    CACHE.batches += 1
    return found
