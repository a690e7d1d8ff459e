"""A call of a function with source, at run time: which unit it takes, and its pullback."""

from __future__ import annotations

import itertools
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, final

import numpy as np

from microgradpy.ad.primal_builder import NeedsTracking
from microgradpy.ad.tangent_calls import NotPushable
from microgradpy.binding import Binding, active_inputs, bars_of, bind, self_cells
from microgradpy.cache import CACHE, CACHE_SIZE, Unit, is_valid
from microgradpy.compiler import compile_unit, shared_by
from microgradpy.errors import DifferentiationError, MissingRuleError, MutationError
from microgradpy.forward_compiler import add_pushforward
from microgradpy.gradient_compiler import unit_seed_adjoint
from microgradpy.ir.kinds import is_numeric, kinds_of
from microgradpy.ir.objects import LEAVES, features_in
from microgradpy.runtime import dispatch, pushforwards
from microgradpy.runtime.anomalies import check_outcome, checked_run, numbered
from microgradpy.runtime.cotangents import or_zero, seed_or_zero
from microgradpy.runtime.dispatch import Back, Bars, Wanted, value_kind
from microgradpy.runtime.modes import RUN, Mode
from microgradpy.runtime.suspension import is_generator
from microgradpy.state.held import PLAIN
from microgradpy.state.reach import may_write
from microgradpy.tangents.overlap import is_written_twice
from microgradpy.tangents.types import is_structural_zero
from microgradpy.tracked_entry import differentiate_tracked, root_unit

_CONTAINERS = frozenset((list, tuple, dict, set, types.FunctionType, type, types.ModuleType, types.BuiltinFunctionType))
_EXOTIC = frozenset((Decimal, Fraction))
UNIT_SEEDS: dict[type, Any] = {float: 1.0, np.float64: np.float64(1.0)}
"""The seeds that `gradient` gives, by the type of the value; known by their identity."""
_ONE, _ONE_DOUBLE = UNIT_SEEDS.values()
_PATIENCE = 2
"""After how many gradients of one signature an adjoint for the seed 1 is made: making it costs as much as the first did."""


@final
class _AtOne:
    """The adjoint for the seed 1 of the calls of one signature, if there is one: `run(saved, seed)`."""

    __slots__ = ("calls", "fresh", "run")

    def __init__(self) -> None:
        self.calls = 0
        self.run: Callable[..., Any] | None = None
        self.fresh: tuple[bool, ...] = ()

    def is_ready(self, plan: Plan, function: types.FunctionType, values: list[Any]) -> bool:
        """Whether it is there, which it is from some call on. A debugger is shown the general one."""
        self.calls += 1
        if self.calls == _PATIENCE + 1:
            are_double = [value.dtype.char == "d" if type(value) in _WIDE else False for value in values]
            made = unit_seed_adjoint(function, plan.unit, kinds_of(values, value_kind), are_double)
            if made is not None:
                self.run, self.fresh = made.run, tuple(place is not None and made.fresh[place] for place in plan.places)
        return self.run is not None and sys.gettrace() is None


_WIDE = (np.ndarray, np.float64)


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """How calls of one signature run. `places` has, per input, the position of its cotangent in what the adjoint returns;
    `single`: the adjoint returns one cotangent bare. `fresh` has, per input, whether its cotangent is nobody else's.
    `leading`: the differentiated inputs are the first ones, and several. `shared`: the variables that the function shares with
    others, if its unit tracks writes, which depends on them."""

    unit: Unit
    places: tuple[int | None, ...]
    single: bool
    fresh: tuple[bool, ...]
    exotic: bool
    leading: bool
    shared: tuple[frozenset[str], ...] = ()
    at_one: _AtOne = field(default_factory=_AtOne)

    @classmethod
    def of(cls, unit: Unit, values: list[Any], shared: tuple[frozenset[str], ...] = ()) -> Plan:
        active = [index for index, flag in enumerate(unit.active) if flag]
        places = tuple(active.index(index) if flag else None for index, flag in enumerate(unit.active))
        fresh = tuple(place is not None and unit.fresh[place] for place in places)
        leading = len(active) > 1 and active == list(range(len(active)))
        return cls(unit, places, len(active) == 1, fresh, not _EXOTIC.isdisjoint(map(type, values)), leading, shared)


def differentiate(
    function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted, keywords_wanted: bool
) -> tuple[Any, Back]:
    """Run a function's primal; the pullback runs its adjoint. The dispatcher's entry."""
    bound = bind(function, args, kwargs)
    is_inner = RUN.is_inside
    mode = RUN.mode
    plan = None if mode.tracks else _plan_for(function, bound, wanted, keywords_wanted, is_inner, mode)
    if plan is None:
        if is_inner and not mode.tracks:
            raise _unforeseen(function)
        unit = root_unit(function, bound, wanted, keywords_wanted)
        return differentiate_tracked(function, bound, len(args), unit)
    if plan.unit.tracks:
        return differentiate_tracked(function, bound, len(args), plan.unit)
    unit = plan.unit
    adjoint = unit.adjoint
    assert unit.primal is not None and adjoint is not None
    RUN.is_inside = True
    try:
        y, saved = unit.primal(*bound.values)
    finally:
        RUN.is_inside = is_inner

    def back(y_bar: Any) -> Bars:
        if plan.exotic:
            _refuse_exotic(bound.values, unit)
        fresh = plan.fresh
        if (y_bar is _ONE_DOUBLE or y_bar is _ONE) and plan.at_one.is_ready(plan, function, bound.values):
            bars, fresh = plan.at_one.run(saved, y_bar), plan.at_one.fresh  # type: ignore[misc]
        else:
            bars = adjoint(saved, seed_or_zero(y_bar, y))
        if plan.leading and bound.is_plain:
            return Bars(None, bars + (None,) * (len(plan.places) - len(bars)), {}, fresh)
        if plan.single:
            bars = (bars,)
        inputs = [None if place is None else bars[place] for place in plan.places]
        if bound.is_plain:
            return Bars(None, tuple(inputs), {}, fresh)
        return bars_of(function, bound, len(args), inputs)

    return y, back


def _unforeseen(function: types.FunctionType) -> DifferentiationError:
    if str(function.__module__).partition(".")[0] == "numpy":
        found = f"{function.__qualname__} of NumPy has no rule"
        return MissingRuleError(found, None, "Use what has one, or `@rrule.register` one for it.")
    return MutationError(
        f"{function.__qualname__} may write, and it was called by code in which nobody could foresee it",
        None,
        "Call it by name in the differentiated function, so that what it writes is tracked from the start.",
    )


def resolve_outermost(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Wanted = None
) -> tuple[Any, Back]:
    """As `resolve`, for a run of its own: the calls inside of it rely on what it has found out about writes."""
    before, checks = RUN.is_inside, RUN.mode.checks
    RUN.is_inside = False
    try:
        y, back = dispatch.resolve(f, args, kwargs, wanted, keywords_wanted=False)
    finally:
        RUN.is_inside = before
    return (y, back) if not checks else checked_run(y, back, args, checks)


def _plan_for(
    function: types.FunctionType, bound: Binding, wanted: Wanted, keywords_wanted: bool, is_inner: bool, mode: Mode
) -> Plan | None:
    """The plan for a call, None if it has to be tracked what the function writes. Arguments whose type (and shape) alone
    decide are looked up by a signature that is cheap to make; others by their kinds."""
    key: Any = [id(function.__code__), id(function.__globals__), wanted, keywords_wanted, mode, is_inner]
    key.append(bound.positions)
    key += bound.names
    for value in bound.values:
        cls = type(value)
        if cls is np.ndarray:
            key += value.dtype.char, value.shape
        elif cls in _CONTAINERS:
            return _new_plan(function, bound, wanted, keywords_wanted, is_inner)
        else:
            key.append(cls)
            if cls not in LEAVES:
                key.append(features_in((value,)) or None)
    key = tuple(key)
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
    if len(CACHE.plans) >= CACHE_SIZE:
        CACHE.plans.clear()
    CACHE.plans[key] = plan
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
    try:
        unit = compile_unit(function, kinds, active_inputs(bound, wanted, keywords_wanted))
    except NeedsTracking:
        return None
    if not is_inner and unit.calls_unknown and may_write(function, bound.values):
        return None
    return Plan.of(unit, bound.values)


def _refuse_exotic(values: list[Any], unit: Unit) -> None:
    """Numbers that have no cotangent of their own kind are refused if the result may depend on them."""
    differentiated = [value for value, flag in zip(values, unit.active, strict=True) if flag]
    for value, missing in zip(differentiated, unit.absent, strict=True):
        if not missing and type(value) in _EXOTIC:
            raise DifferentiationError(
                f"a {type(value).__name__} cannot be differentiated", None, "Convert it to float before the call."
            )


def push(
    function: types.FunctionType, f_dot: Any, args: tuple[Any, ...], dots: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Any] | None:
    """Push tangents through a function's own source; None if it may write, or if that has to be found out at run time. The
    dispatcher's entry for forward mode."""
    bound = bind(function, args, kwargs)
    fields = {} if is_structural_zero(f_dot) else dict(f_dot)
    itself = self_cells(function)  # a function that refers to itself holds itself
    captured = [f_dot if name in itself else fields.pop(name, None) for name in function.__code__.co_freevars]
    is_inner = RUN.is_inside
    if fields or RUN.mode.tracks or is_generator(function.__code__):
        return None
    given = _input_tangents(bound, captured, dots)
    active = active_inputs(bound, tuple(not is_structural_zero(dot) for dot in dots), False)
    active = tuple(flag or not is_structural_zero(dot) for flag, dot in zip(active, given, strict=True))
    kinds = kinds_of(bound.values, value_kind)
    try:
        unit = compile_unit(function, kinds, active)
        if not unit.is_pushable or (not is_inner and unit.calls_unknown and may_write(function, bound.values)):
            return None
        run = unit.pushforward or add_pushforward(function, unit, kinds)
    except (NeedsTracking, NotPushable):
        return None
    tangents = [or_zero(dot, x) if is_numeric(kind) else dot for dot, x, kind in zip(given, bound.values, kinds, strict=True)]
    RUN.is_inside = True
    try:
        found: tuple[Any, Any] = run(*bound.values, *itertools.compress(tangents, unit.active))
        return found
    finally:
        RUN.is_inside = is_inner


def _input_tangents(bound: Binding, captured: list[Any], dots: tuple[Any, ...]) -> list[Any]:
    """The tangents of the inputs of a unit, from those of the variables that the function captured and of the positional
    arguments."""
    given = [*captured, *([None] * (len(bound.values) - bound.captured))]
    given[bound.captured : bound.captured + bound.positions] = dots[: bound.positions]
    rest = dots[bound.positions :]
    if bound.variadic is not None and not all(map(is_structural_zero, rest)):
        given[bound.variadic] = rest
    return given


def push_outermost(f: Any, args: tuple[Any, ...], dots: tuple[Any, ...]) -> tuple[Any, Any]:
    """The value and the tangent of a call, in a run of its own."""
    before, checks = RUN.is_inside, RUN.mode.checks
    RUN.is_inside = False
    try:
        y, y_dot = pushforwards.pushed(f, None, args, dots, {})
    finally:
        RUN.is_inside = before
    if checks:
        check_outcome(y, "value", numbered(args), checks)
        check_outcome(y_dot, "tangent", numbered(args) | {"the tangents": dots}, checks)
    return y, y_dot


dispatch.install(differentiate)
pushforwards.install(push, resolve_outermost)
