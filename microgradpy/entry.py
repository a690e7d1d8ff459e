"""A call of a function with source, at run time: which unit it takes, and its pullback."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from microgradpy.binding import Binding, active_inputs, bars_of, bind
from microgradpy.cache import CACHE, Unit, followed_by, is_valid
from microgradpy.compiler import compile_outermost, compile_unit
from microgradpy.errors import DifferentiationError, MissingRuleError, MutationError
from microgradpy.ir.input_kinds import kinds_of
from microgradpy.ir.reasons import MayWrite
from microgradpy.linking import finish_reached
from microgradpy.patterns import Match, changed_while_it_ran, check_unchanged_parts, matched, renewed, unit_by_pattern
from microgradpy.pipeline import shared_by
from microgradpy.plans import EXOTIC, Plan, keep_plan, signature
from microgradpy.projecting import are_floats
from microgradpy.runtime import dispatch, known_calls, pushforwards
from microgradpy.runtime.anomalies import checked_run
from microgradpy.runtime.bars import Pullback
from microgradpy.runtime.cotangents import seed_or_zero
from microgradpy.runtime.dispatch import Back, Bars, Wanted, value_kind
from microgradpy.runtime.libraries import is_of_large_library, refusal_of_library
from microgradpy.runtime.modes import RUN, Mode
from microgradpy.runtime.real_powers import COMPLEX, ComplexPower
from microgradpy.runtime.suspension import is_generator
from microgradpy.runtime.write_detection import watched
from microgradpy.runtime.zeros import exact
from microgradpy.state import reachable_writes
from microgradpy.state.object_graph import PLAIN
from microgradpy.state.reachable_writes import may_write
from microgradpy.state.snapshots import Structure, structure_of
from microgradpy.tangents.overlap import is_written_twice
from microgradpy.tangents.types import is_structural_zero
from microgradpy.tracked_entry import differentiate_tracked, projected, root_unit
from microgradpy.zeros_compiler import adjoint_keeping_zeros


def differentiate(
    function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
) -> tuple[Any, Back]:
    """Run a function's primal; the pullback runs its adjoint. The dispatcher's entry."""
    bound = bind(function, args, kwargs)
    try:
        return _differentiate(function, bound, len(args), wanted, keywords_wanted)
    except ComplexPower:
        if RUN.is_inside:
            raise
        # It has had no effects, so it is made once more.
        COMPLEX.add(function.__code__)
        CACHE.plans.clear()
    return _differentiate(function, bound, len(args), wanted, keywords_wanted)


def _differentiate(
    function: types.FunctionType, bound: Binding, count: int, wanted: Wanted, keywords_wanted: bool
) -> tuple[Any, Back]:
    is_inner = RUN.is_inside
    mode = RUN.mode
    if not is_inner and mode == USUAL:
        found = _differentiate_parts(function, bound, count, wanted, keywords_wanted)
        if found is not None:
            return found
    plan = None if mode.tracks else _plan_for(function, bound, wanted, keywords_wanted, is_inner, mode)
    if plan is None:
        if is_inner and not mode.tracks:
            raise _unforeseen(function)
        return differentiate_tracked(function, bound, count, None, wanted, keywords_wanted)
    unit = plan.unit
    if not unit.is_complete and sys.gettrace() is not None:
        finish_reached(unit)  # a debugger steps from one text into the other
    if unit.tracks:
        return differentiate_tracked(function, bound, count, unit, wanted, keywords_wanted)
    y, saved = run_half(function, unit, unit.primal, bound.values, bound.values if plan.watches else None)
    return y, partial(bars_by_plan, function, plan, bound, count, y, saved)


USUAL = Mode()


def run_half(
    function: types.FunctionType,
    unit: Unit,
    half: Callable[..., Any] | None,
    inputs: Sequence[Any],
    watched_values: list[Any] | None,
) -> tuple[Any, Any]:
    """Run the primal of a unit, or its pushforward. In this mode nothing is written that others have: where the outermost one
    runs code that nobody sees, such as that of a property, it is made sure that this has left alone what the function uses,
    these values among it."""
    assert half is not None
    is_inner, assumed = RUN.is_inside, RUN.assumed
    before = None if is_inner or watched_values is None else watched(function, watched_values)
    RUN.is_inside, RUN.assumed = True, (unit.guards, assumed)
    RUN.texts = (RUN.texts and is_inner) or unit.guards.makes_text
    try:
        found: tuple[Any, Any] = half(*inputs)
    finally:
        RUN.is_inside, RUN.assumed = is_inner, assumed
    if before is not None and before.changed() is not None:
        raise changed_while_it_ran(function)
    return found


def _differentiate_parts(
    function: types.FunctionType, bound: Binding, count: int, wanted: Wanted, keywords_wanted: bool
) -> tuple[Any, Back] | None:
    """The same for a call whose arguments are in sight (`microgradpy.patterns`), by parts of them; None if none of them is."""
    read = matched(function, bound.values)
    if read is None:
        return None
    parts = Binding(read.leaves, 0, bound.positions, bound.names)
    key = signature(function, parts, wanted, keywords_wanted, False, USUAL)
    plan = None if key is None else CACHE.plans.get((read.pattern, key))
    if plan is None or not is_valid(plan.unit):
        if renewed(function, read, bound.values) is not read:
            return _differentiate_parts(function, bound, count, wanted, keywords_wanted)
        unit = unit_by_pattern(function, read, bound.values, active_inputs(bound, wanted, keywords_wanted))
        if unit is None:
            return None
        plan = Plan.of(unit, read.leaves)
        if key is not None:
            keep_plan((read.pattern, key), plan)
    else:
        CACHE.hits += 1
    if not plan.unit.is_complete and sys.gettrace() is not None:
        finish_reached(plan.unit)
    structures: tuple[Structure, ...] = ()
    if read.pattern.is_changed(plan.unit.active):
        structures = tuple(map(structure_of, bound.values))
    y, saved = run_half(function, plan.unit, plan.unit.primal, read.values, read.values if plan.watches else None)
    check_unchanged_parts(function, read, bound.values)
    return y, partial(bars_of_parts, function, plan, bound, count, read, parts, y, saved, structures)


def bars_of_parts(
    function: types.FunctionType,
    plan: Plan,
    bound: Binding,
    count: int,
    read: Match,
    parts: Binding,
    y: Any,
    saved: Any,
    structures: tuple[Structure, ...],
    y_bar: Any,
    shadows: Any = None,
) -> Bars:
    """The cotangents of a call by those of the parts of its arguments; in the `structures` that these had when it began, if it
    writes into them."""
    if plan.exotic:
        _refuse_exotic(read.values, plan.unit)
    bars, fresh = _run_adjoint(function, plan, parts, saved, y, y_bar)
    inputs, flags = read.pattern.gathered(plan.unit.divided(bars), fresh, read)
    if structures:
        inputs = projected(bound, structures, inputs)
        flags = (False,) * len(flags)
    if bound.is_plain:
        return Bars(None, tuple(inputs), {}, flags, plan.unit.selects)
    is_simple = not (bound.names or bound.defaults) and bound.variadic is None
    if is_simple and inputs[: bound.captured] == [None] * bound.captured:
        own = slice(bound.captured, bound.captured + bound.positions)
        return Bars(None, tuple(inputs[own]), {}, flags[own], plan.unit.selects)
    return bars_of(function, bound, count, inputs)


def bars_by_plan(
    function: types.FunctionType, plan: Plan, bound: Binding, count: int, y: Any, saved: Any, y_bar: Any, shadows: Any = None
) -> Bars:
    """The cotangents of a call with `count` positional arguments, of which the primal has given `y` and `saved`."""
    if plan.exotic:
        _refuse_exotic(bound.values, plan.unit)
    bars, fresh = _run_adjoint(function, plan, bound, saved, y, y_bar)
    if plan.leading and bound.is_plain:
        return Bars(None, bars + (None,) * (len(bound.values) - len(bars)), {}, fresh, plan.unit.selects)
    inputs = plan.unit.divided(bars)
    if bound.is_plain:
        return Bars(None, tuple(inputs), {}, fresh, plan.unit.selects)
    return bars_of(function, bound, count, inputs)


def plan_of(back: Back) -> tuple[Plan, Binding, Any] | None:
    """By what plan a call was made whose pullback this is, of `resolve_outermost`, with its inputs and what was saved; None if
    it was made in another way."""
    inner = back.args[0] if isinstance(back, partial) and back.func is exact else None
    if not isinstance(inner, partial) or inner.func is not bars_by_plan:
        return None
    _, plan, bound, _, _, saved = inner.args
    return plan, bound, saved


def _run_adjoint(
    function: types.FunctionType, plan: Plan, bound: Binding, saved: Any, y: Any, y_bar: Any
) -> tuple[Any, tuple[bool, ...]]:
    """What the adjoint returns for a seed, and which of the cotangents are fresh."""
    if RUN.zeros is not None:
        with np.errstate(invalid="ignore"):
            made = adjoint_keeping_zeros(function, plan.unit, RUN.zeros)
            bars = made.function(saved, seed_or_zero(y_bar, y))
        RUN.gives_selected = all(made.gives_selected)
        return bars, ()
    run, fresh = plan.adjoint_for(y_bar, bound.values)
    seed = y_bar if type(y_bar) is float else seed_or_zero(y_bar, y)
    if not plan.unit.selects:
        return run(saved, seed), fresh
    with np.errstate(invalid="ignore"):  # a zero of what was not chosen may meet an infinity
        return run(saved, seed), fresh


def run_by_known_plan(function: types.FunctionType, args: tuple[Any, ...]) -> tuple[Any, Pullback] | None:
    """A call inside of a run in which nothing is written, by the plan there is for such arguments; None if there is none."""
    mode = RUN.mode
    if not RUN.is_inside or mode.tracks:
        return None
    bound = bind(function, args, {})
    key = signature(function, bound, None, False, True, mode)
    plan: Plan | None = None if key is None else CACHE.plans.get(key)
    if plan is None or plan.exotic or plan.unit.tracks or not is_valid(plan.unit) or sys.gettrace() is not None:
        return None
    CACHE.hits += 1
    y, saved = run_half(function, plan.unit, plan.unit.primal, bound.values, None)
    count = len(args)

    def back(y_bar: Any, shadows: Any = None) -> tuple[Any, ...]:
        if is_structural_zero(y_bar):
            return (None,) * (1 + count)
        inputs = plan.unit.divided(_run_adjoint(function, plan, bound, saved, y, y_bar)[0])
        if bound.is_plain:
            return (None, *inputs)
        bars = bars_of(function, bound, count, inputs)
        return (bars.function, *bars.arguments)

    return y, back


def _unforeseen(function: types.FunctionType) -> DifferentiationError:
    if is_of_large_library(function):
        return refusal_of_library(function)
    if str(function.__module__).partition(".")[0] == "numpy":
        found = f"{function.__qualname__} of NumPy has no rule"
        return MissingRuleError(found, None, "Use what has one, or `@rrule.register` one for it.")
    CACHE.plans.clear()
    reachable_writes.forget()
    return MutationError(
        f"{function.__qualname__} may write, and it was called by code in which nobody could foresee it",
        None,
        "Call it by name in the differentiated function, so that what it writes is tracked from the start. If it was put where "
        "it was found after an earlier call, call again.",
    )


def resolve_outermost(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted = None) -> tuple[Any, Back]:
    """As `resolve`, for a run of its own: the calls inside of it rely on what it has found out about writes."""
    before, outer, checks = RUN.is_inside, (RUN.callee, RUN.given), RUN.mode.checks
    RUN.is_inside, RUN.callee, RUN.given, RUN.library_units = False, f, (args, kwargs), 0
    try:
        y, back = dispatch.resolve(f, args, kwargs, wanted, keywords_wanted=False)
    finally:
        RUN.is_inside = before
        RUN.callee, RUN.given = outer
    return (y, partial(exact, back)) if not checks else checked_run(y, back, args, checks)


def _plan_for(
    function: types.FunctionType, bound: Binding, wanted: Wanted, keywords_wanted: bool, is_inner: bool, mode: Mode
) -> Plan | None:
    """The plan for a call, None if it has to be tracked what the function writes. Arguments whose type (and shape) alone
    decide are looked up by a signature that is cheap to make; others by their kinds."""
    key = signature(function, bound, wanted, keywords_wanted, is_inner, mode)
    if key is None:
        return _new_plan(function, bound, wanted, keywords_wanted, is_inner)
    plan: Plan | None = CACHE.plans.get(key)
    if plan is not None and is_valid(plan.unit) and (not plan.unit.tracks or _is_tracked_plan_for(plan, function, bound)):
        CACHE.hits += 1
        return plan
    plan = _new_plan(function, bound, wanted, keywords_wanted, is_inner)
    if plan is None and not is_inner and _says_all(function, bound):
        unit = root_unit(function, bound, wanted, keywords_wanted)
        plan = Plan.of(unit, bound.values, shared_by(function))
    if plan is None:
        return None
    keep_plan(key, plan)
    return plan


def _is_tracked_plan_for(plan: Plan, function: types.FunctionType, bound: Binding) -> bool:
    return plan.shared == shared_by(function) and not any(map(is_written_twice, bound.values))


def _says_all(function: types.FunctionType, bound: Binding) -> bool:
    """Whether the types and shapes of a call's arguments decide which unit it takes in a run that tracks writes."""
    is_plain = function.__defaults__ is None is function.__kwdefaults__ and PLAIN.issuperset(map(type, bound.values))
    return is_plain and not any(map(is_written_twice, bound.values)) and not is_generator(function.__code__)


def _new_plan(
    function: types.FunctionType, bound: Binding, wanted: Wanted, keywords_wanted: bool, is_inner: bool
) -> Plan | None:
    kinds = kinds_of(bound.values, value_kind)
    compiled = compile_unit if is_inner else compile_outermost
    unit = compiled(function, kinds, active_inputs(bound, wanted, keywords_wanted))
    if isinstance(unit, MayWrite):
        return None
    if not is_inner and unit.runs_unseen and may_write(function, bound.values, followed_by(unit)):
        return None
    plan = Plan.of(unit, bound.values)
    if not unit.tracks:
        plan.of_floats = tuple(type(value) is list and are_floats(value) for value in bound.values)
    return plan


def _refuse_exotic(values: list[Any], unit: Unit) -> None:
    """Numbers that have no cotangent of their own kind are refused if the result may depend on them."""
    differentiated = [value for value, flag in zip(values, unit.active, strict=True) if flag]
    for value, missing in zip(differentiated, unit.absent, strict=True):
        if not missing and type(value) in EXOTIC:
            raise DifferentiationError(
                f"a {type(value).__name__} cannot be differentiated", None, "Convert it to float before the call."
            )


dispatch.install(differentiate)
known_calls.install(run_by_known_plan)
pushforwards.install(resolve_outermost)
