"""A call of a function with source, in forward mode: which unit it takes, and the run of its pushforward."""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable
from typing import Any, NamedTuple

from microgradpy.ad.tangent_calls import NotPushable
from microgradpy.ad.tangent_kinds import dot_kind, is_structured
from microgradpy.binding import Binding, active_inputs, bind, self_cells
from microgradpy.cache import CACHE, Unit, followed_by, is_valid, reached_units
from microgradpy.compiler import analysed
from microgradpy.entry import USUAL, run_half
from microgradpy.forward_compiler import add_pushforward
from microgradpy.ir.input_kinds import kinds_of
from microgradpy.ir.kinds import Kind, is_numeric
from microgradpy.ir.reasons import MayWrite
from microgradpy.patterns import Match, check_unchanged_parts, matched, renewed, unit_by_pattern
from microgradpy.plans import keep_plan, signature
from microgradpy.rules.registry import frule, rrule
from microgradpy.runtime import pushforwards
from microgradpy.runtime.anomalies import check_outcome, numbered
from microgradpy.runtime.dispatch import value_kind
from microgradpy.runtime.modes import RUN
from microgradpy.runtime.suspension import is_generator
from microgradpy.state.reachable_writes import may_write
from microgradpy.tangents.filled import dense_tangent, mirrored_tangent
from microgradpy.tangents.types import is_structural_zero


def push(
    function: types.FunctionType, f_dot: Any, args: tuple[Any, ...], dots: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Any] | None:
    """Push tangents through a function's own source; None if it may write, or if that has to be found out at run time. The
    dispatcher's entry for forward mode."""
    found = planned(function, f_dot, args, dots, kwargs)
    if found is None:
        return None
    (unit, run, _, watches), bound, read = found.plan, found.bound, found.read
    values = bound.values if read is None else read.values
    y, y_dot = run_half(function, unit, run, _with_tangents(found.plan, values, found.dots), values if watches else None)
    if read is not None:
        check_unchanged_parts(function, read, bound.values)
    return y, y_dot


def only_computes(f: Any, args: tuple[Any, ...], dots: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether nobody sees how often a function is run to push tangents through it."""
    if not isinstance(f, types.FunctionType) or rrule.has(f) or frule.has(f):
        return False
    found = planned(f, None, args, dots, kwargs)
    return found is not None and not found.plan[3] and all(unit.is_repeatable for unit in reached_units(found.plan[0]))


_PushPlan = tuple[Unit, Callable[..., Any], tuple[Callable[[Any, Any], Any] | None, ...], bool]
"""A unit, its pushforward, what fills the tangents of its inputs, and whether it is to be watched."""


class Planned(NamedTuple):
    """How a call is pushed: by a plan, with these tangents of the inputs; by parts of the arguments if they are `read`."""

    plan: _PushPlan
    bound: Binding
    dots: list[Any]
    read: Match | None = None


def planned(
    function: types.FunctionType, f_dot: Any, args: tuple[Any, ...], dots: tuple[Any, ...], kwargs: dict[str, Any]
) -> Planned | None:
    """How a call is pushed; None as for `push`."""
    bound = bind(function, args, kwargs)
    fields = {} if is_structural_zero(f_dot) else dict(f_dot)
    itself = self_cells(function) if function.__closure__ else ()  # a function that refers to itself holds itself
    captured = [f_dot if name in itself else fields.pop(name, None) for name in function.__code__.co_freevars]
    is_inner = RUN.is_inside
    if fields or RUN.mode.tracks or is_generator(function.__code__):
        return None
    given = input_tangents(bound, captured, dots)
    found = _planned_by_parts(function, bound, given) if not is_inner and RUN.mode == USUAL else None
    if found is not None:
        return found
    moves = tuple([not is_structural_zero(dot) for dot in given])
    wanted = moves if bound.is_plain else tuple([not is_structural_zero(dot) for dot in dots])
    plan = _push_plan_for(function, bound, wanted, moves, is_inner)
    return None if plan is None else Planned(plan, bound, given)


def filling(kind: Kind) -> Callable[[Any, Any], Any] | None:
    """What fills a tangent of an input of this kind, from the tangent and the input: what is written into is the callee's."""
    return dense_tangent if is_numeric(kind) else mirrored_tangent if is_structured(dot_kind(kind)) else None


def _push_plan_for(
    function: types.FunctionType, bound: Binding, wanted: tuple[bool, ...], moves: tuple[bool, ...], is_inner: bool
) -> _PushPlan | None:
    """The plan for pushing tangents of the inputs that move; None as for `push`."""
    key = signature(function, bound, wanted, False, is_inner, RUN.mode)
    known: _PushPlan | None = None if key is None else CACHE.plans.get((moves, key))
    if known is not None and is_valid(known[0]):
        CACHE.hits += 1
        return known
    active = tuple(flag or moving for flag, moving in zip(active_inputs(bound, wanted, False), moves, strict=True))
    kinds = kinds_of(bound.values, value_kind)
    try:
        unit = analysed(function, kinds, active)
        if isinstance(unit, MayWrite) or not unit.is_pushable:
            return None
        if not is_inner and unit.runs_unseen and may_write(function, bound.values, followed_by(unit)):
            return None
        plan = _push_plan(function, unit, kinds)
    except NotPushable:
        return None
    if key is not None:
        keep_plan((moves, key), plan)
    return plan


def _with_tangents(plan: _PushPlan, values: list[Any], given: list[Any]) -> tuple[Any, ...]:
    """The inputs of a pushforward."""
    unit, _, fills, _ = plan
    tangents = [fill(dot, x) if fill else dot for dot, x, fill in zip(given, values, fills, strict=True)]
    return (*values, *itertools.compress(tangents, unit.active))


def _planned_by_parts(function: types.FunctionType, bound: Binding, given: list[Any]) -> Planned | None:
    """The same for a call whose arguments are in sight, by parts of them; None if none of them is."""
    read = matched(function, bound.values)
    if read is None:
        return None
    dots = read.pattern.dots(*given)
    moves = tuple(not is_structural_zero(dot) for dot in dots)
    parts = Binding(read.leaves, 0, bound.positions, bound.names)
    key = signature(function, parts, None, False, False, USUAL)
    plan: _PushPlan | None = None if key is None else CACHE.plans.get((read.pattern, moves, key))
    if plan is None or not is_valid(plan[0]):
        if renewed(function, read, bound.values) is not read:
            return _planned_by_parts(function, bound, given)
        flags = tuple(not is_structural_zero(dot) for dot in given)
        unit = unit_by_pattern(function, read, bound.values, flags, moves, analysed)
        if unit is None or not unit.is_pushable:
            return None
        try:
            plan = _push_plan(function, unit, unit.kinds)
        except NotPushable:
            return None
        if key is not None:
            keep_plan((read.pattern, moves, key), plan)
    return Planned(plan, bound, dots, read)


def _push_plan(function: types.FunctionType, unit: Unit, kinds: tuple[Kind, ...]) -> _PushPlan:
    """Raises NotPushable."""
    run = unit.pushforward or add_pushforward(function, unit, kinds)
    fills = (filling(kind) if is_active else None for kind, is_active in zip(kinds, unit.active, strict=True))
    return unit, run, tuple(fills), unit.is_to_be_watched


def input_tangents(bound: Binding, captured: list[Any], dots: tuple[Any, ...]) -> list[Any]:
    """The tangents of the inputs of a unit, from those of the variables that the function captured and of the positional
    arguments."""
    given = [*captured, *([None] * (len(bound.values) - bound.captured))]
    given[bound.captured : bound.captured + bound.positions] = dots[: bound.positions]
    rest = dots[bound.positions :]
    if bound.variadic is not None and not all(map(is_structural_zero, rest)):
        given[bound.variadic] = rest
    return given


def push_outermost(
    f: Any, args: tuple[Any, ...], dots: tuple[Any, ...], kwargs: dict[str, Any] | None = None
) -> tuple[Any, Any]:
    """The value and the tangent of a call, in a run of its own."""
    before, outer, checks = RUN.is_inside, (RUN.callee, RUN.given), RUN.mode.checks
    RUN.is_inside, RUN.callee, RUN.given, RUN.library_units = False, f, (args, kwargs), 0
    try:
        y, y_dot = pushforwards.pushed(f, None, args, dots, kwargs or {})
    finally:
        RUN.is_inside = before
        RUN.callee, RUN.given = outer
    if checks:
        check_outcome(y, "value", numbered(args), checks)
        check_outcome(y_dot, "tangent", numbered(args) | {"the tangents": dots}, checks)
    return y, y_dot


pushforwards.install_entry(push)
