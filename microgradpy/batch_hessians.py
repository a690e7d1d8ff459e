"""The Hessian in many directions at once: the halves of the pushforward, each for all tangents.

    (y, y_dots), saved = f_pushforward_primal(x, x_dots)        x_dots[j], y_dots[j] and some of what is saved: direction j
    x_bars = f_pushforward_adjoint(saved, (0.0, 1.0))           x_bars[j]: the Hessian times x_dots[j]
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.batch_compiler import Batch, half_batch
from microgradpy.batch_entry import attempted, nothing_met
from microgradpy.cache import CACHE, Unit
from microgradpy.entry import run_half
from microgradpy.ir.kinds import is_numeric
from microgradpy.patterns import check_unchanged_parts
from microgradpy.runtime.modes import RUN, Mode
from microgradpy.tangents.batched_rows import NotAStack
from microgradpy.tangents.batches import are_double, filled_stack, spread
from microgradpy.tangents.strong_zeros import has_nan
from microgradpy.towers import Tower, filled_seed, outermost


def bars_in_many(
    higher: Tower,
    stacks: list[Any],
    wanted: tuple[bool, ...],
    directions: int,
    seed_for: Callable[[Any], Any],
    takes_nan: bool = False,
) -> list[Any] | None:
    """The cotangents of the inputs of a pushforward that are wanted, for tangents in many directions: `stacks` are those of the
    inputs of the function, with a leading axis. None if there are no texts for that, or something is not finite on the way;
    unless it `takes_nan` as it is."""
    below = higher.below
    assert below is not None
    unit = higher.unit(wanted)
    mask = higher.masks[-1]
    moving = list(itertools.compress(zip(stacks, below.values, higher.kinds, strict=False), mask))
    if RUN.mode != Mode() or not unit.result_active or not any(unit.active):
        return None
    if not all(is_numeric(kind) for _, _, kind in moving) or not are_double(below.values):
        return None
    halves = _halves(unit, (False,) * len(below.values) + (True,) * len(moving))
    if halves is None:
        return None
    if directions < halves[0].least:
        return None
    try:
        dots = [filled_stack(dot, x, directions) for dot, x, _ in moving]
    except NotAStack:
        return None
    with nothing_met() as met:
        y, bars = _run_both(higher, unit, halves, [*below.values, *dots, directions], seed_for)
    if bars is None or met or (has_nan(bars) and not takes_nan) or not are_double(y):
        return None
    CACHE.batches += 1
    return unit.divided(bars)


def _run_both(
    higher: Tower, unit: Unit, halves: tuple[Batch, Batch], values: list[Any], seed_for: Callable[[Any], Any]
) -> tuple[Any, Any]:
    """The value, and the cotangents with a leading axis; None for these if values are not such as the texts take."""
    (primal, adjoint), place, directions = halves, higher.place, values[-1]
    run, run_back = primal.finished(), adjoint.finished()
    below = values[: len(higher.below.values)] if higher.below is not None else []
    with outermost(place.f):
        watched = below if unit.is_to_be_watched else None
        pair = attempted(primal, run_half, place.callee.function, unit, run, values, watched)
    if place.read is not None:
        check_unchanged_parts(place.callee.function, place.read, place.bound.values)
    if pair is None:
        return None, None
    (y, y_dots), saved = pair
    value = y, y_dots[0] if isinstance(y_dots, np.ndarray) and y_dots.ndim else y_dots
    bars = attempted(adjoint, run_back, saved, filled_seed(seed_for(value), value), directions)
    if isinstance(adjoint.mark, tuple) and bars is not None:
        return y, tuple(bar if mark else spread(bar, directions) for bar, mark in zip(bars, adjoint.mark, strict=True))
    return y, bars if adjoint.mark is True or bars is None else spread(bars, directions)


def _halves(unit: Unit, marks: tuple[bool, ...]) -> tuple[Batch, Batch] | None:
    primal = half_batch(unit, False, marks)
    if primal.refused is not None or not isinstance(primal.mark, tuple):
        return None
    adjoint = half_batch(unit, True, (primal.mark[1], False))
    return None if adjoint.refused is not None else (primal, adjoint)
