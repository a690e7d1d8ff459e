"""The whole road, from a Python function to a pair of callables, as one value: a unit.

    text -> frontend.lower -> ad.instrument -> ad.primal -> ad.reverse -> passes -> ad.saved_values -> codegen -> load

A unit is one function compiled for the kinds of its inputs and the choice of which are differentiated. Units call each
other's halves directly; what is known only at run time goes through `runtime.dispatch`.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from microgradpy.ad import primal as primal_pass
from microgradpy.ad import reverse as reverse_pass
from microgradpy.ad.apart_items import read_items_at_places
from microgradpy.ad.calls import Apart
from microgradpy.ad.calls import Unit as CallUnit
from microgradpy.ad.checks import check_adjoint, check_primal, noting, with_stop
from microgradpy.ad.instrument import instrument_function
from microgradpy.ad.primal import Primal
from microgradpy.ad.primal_builder import NeedsTracking
from microgradpy.ad.reasons import reasons_of_calls, whatever_came_first
from microgradpy.ad.reverse import Reverse
from microgradpy.ad.texts import check_texts
from microgradpy.ad.unassigned import check_unassigned_captures
from microgradpy.ad.zeros import may_insert
from microgradpy.cache import (
    CACHE,
    CACHE_SIZE,
    UNDEFINED,
    Check,
    FunctionGuard,
    Guards,
    KindGuard,
    Unit,
    checks_of,
    combined_guards,
    followed_by,
    lock,
    reached_units,
)
from microgradpy.dataclasses import replace
from microgradpy.errors import CompilerBug, DifferentiationError
from microgradpy.frontend.lower import lower_function
from microgradpy.frontend.resolve import builtins_of
from microgradpy.frontend.sharing import known_cells, note_globals, rebound_globals, rebound_inside
from microgradpy.frontend.source import place_of, shared_names
from microgradpy.ir.input_kinds import in_terms_of_inputs
from microgradpy.ir.kinds import (
    FLOAT,
    UNKNOWN,
    Kind,
    Unknown,
    carries_nothing,
    holds_no_lists,
    holds_no_objects,
    is_immutable,
    join,
    unknown_from,
    without_items,
)
from microgradpy.ir.nodes import Const, Function
from microgradpy.ir.objects import NO_FEATURES
from microgradpy.ir.reasons import TRACKED, Reason
from microgradpy.linking import (
    errors_of_compiler,
    finish,
    finish_later,
    finish_reached,
    half_constant,
    is_looked_at,
    unit_name,
)
from microgradpy.passes.dead_code import eliminate_dead_statements
from microgradpy.promotion.classes import ABSENT
from microgradpy.promotion.driver import Promoted, followed_code, promote
from microgradpy.rules.registry import rrule
from microgradpy.runtime.bytecode import WRITERS, names_in
from microgradpy.runtime.collector import resting
from microgradpy.runtime.dispatch import pullback_of, pullback_of_packed, value_kind
from microgradpy.runtime.libraries import library_of, spend
from microgradpy.runtime.modes import RUN, changed_mode
from microgradpy.runtime.room import with_room
from microgradpy.runtime.suspension import is_generator
from microgradpy.runtime.variables import variables_of
from microgradpy.state.attempts import attempted_pullback_of, attempted_pullback_of_packed
from microgradpy.state.dispatch import tracked_pullback_of, tracked_pullback_of_packed
from microgradpy.state.kept import attribute_holds_state, carries_state, reads_state
from microgradpy.state.reach import operators_met
from microgradpy.state.stops import stopping_in

_lowered: dict[tuple[Any, ...], tuple[weakref.ref[types.CodeType], Function, tuple[Check, ...]]] = {}


@contextmanager
def always_dispatch() -> Iterator[None]:
    """Inside the block no rule and no callee is compiled in: every call is resolved at run time. For tests, which hold
    the two paths against each other."""
    with changed_mode(dispatches=True):
        yield


@contextmanager
def always_track() -> Iterator[None]:
    """Inside the block every run tracks what is written, and keeps all cotangents of mutable objects in shadows. For tests,
    which hold the two ways against each other."""
    with changed_mode(tracks=True):
        yield


def instrumented(
    function: types.FunctionType,
    kinds: tuple[Kind, ...] = (),
    *,
    tracks: bool = False,
    catches: bool = False,
    notes: bool = False,
) -> tuple[Function, tuple[Check, ...]]:
    """The instrumented IR of a function, for inputs of these kinds, and the module-level names it depends on. One that
    `tracks` writes has marks after them in the body of a `try`; one that `catches` returns what it raises; with `notes` it
    notes what its variables are."""
    ir, checks = _instrumented(function, tracks, catches, notes)
    return check_unassigned_captures(ir, kinds), checks


def _instrumented(
    function: types.FunctionType, tracks: bool, catches: bool, notes: bool
) -> tuple[Function, tuple[Check, ...]]:
    key = (id(function.__code__), id(function.__globals__), tracks, catches, notes, *shared_by(function))
    known = _lowered.get(key)
    if known is not None and known[0]() is function.__code__:
        if all(namespace.get(name, UNDEFINED) is value for namespace, name, value in known[2]):
            return known[1], known[2]
    lowered = lower_function(function, marks_effects=tracks, catches=catches, notes=notes)
    builtins = builtins_of(function)
    checks = [check for guard in lowered.constants for check in checks_of(guard, function.__globals__, builtins)]
    ir = instrument_function(lowered.function)
    if len(_lowered) > CACHE_SIZE:
        _lowered.clear()
    _lowered[key] = (weakref.ref(function.__code__), ir, tuple(checks))
    return ir, tuple(checks)


def program_of(function: types.FunctionType, unit: Unit, kinds: tuple[Kind, ...]) -> Function:
    """The IR that a unit was made of, once more."""
    if unit.pattern is not None:
        return unit.pattern.function  # type: ignore[no-any-return]
    ir, _ = instrumented(function, kinds, tracks=unit.tracks, catches=unit.catches)
    in_sight = promote(function, ir, instrumented, kinds).made if unit.is_promoted else None
    return ir if in_sight is None else in_sight.function


def shared_by(function: types.FunctionType) -> tuple[frozenset[str], ...]:
    """What the IR depends on besides the code: which of the variables it names are shared and rebound by others, and which of
    its own were found to need cells since."""
    note_globals(function.__globals__)
    code, namespace = function.__code__, function.__globals__
    return shared_names(code, namespace), rebound_globals(namespace), known_cells(code)


_PACKAGE = __name__.partition(".")[0]
"""What the names of the modules of rules begin with, those of generated texts as well."""


class Session:
    """One run of the compiler: the services that the passes ask for, for one function."""

    keeps_zeros, seed_is_selected = False, False

    def __init__(self, function: types.FunctionType, unit: Unit) -> None:
        self.function = function
        self.own = unit
        self.inlines = not RUN.mode.dispatches
        self.checks = RUN.mode.checks
        self.stopping = stopping_in(function.__code__)
        self.tracks = unit.tracks
        self.tells_apart = RUN.mode.tells_apart
        self.is_root = unit.is_root
        self.kind_guards: dict[tuple[int, str], KindGuard] = {}
        self.readers: dict[Any, bool] = {}
        self.function_guards: list[FunctionGuard] = []
        self.relied: list[Guards] = []
        self.followed: frozenset[types.CodeType] = frozenset()
        self.met = operators_met(function) if unit.tracks else NO_FEATURES

    def unit(self, called: types.FunctionType | Apart, kinds: tuple[Kind, ...], active: tuple[bool, ...]) -> Unit | None:
        function, pattern = (called.callee, called) if isinstance(called, Apart) else (called, None)
        try:
            unit = analysed(function, kinds, active, tracks=self.tracks, pattern=pattern)
        except DifferentiationError:
            # It is left to run time, perhaps for what was assumed.
            self.own.relies_on.update(unit for unit in CACHE.units.values() if unit.in_progress)
            raise
        self.function_guards.append(FunctionGuard.of(function))
        # A pushforward calls helpers of rules as well. What the program calls is known once its primal has been made.
        if self.own.in_progress and unit not in self.own.callees:
            self.own.callees.append(unit)
        if unit.in_progress:
            unit.was_assumed = True
            self.own.relies_on.add(unit)
        self.own.relies_on |= unit.relies_on
        return unit

    def kind_returned(self, function: types.FunctionType, kinds: tuple[Kind, ...]) -> Kind:
        """What is proven of what a function returns that is given nothing differentiated, and called as it stands: what would
        be proven if it were compiled."""
        if self.tracks or is_generator(function.__code__) or library_of(function) not in (None, library_of(self.function)):
            return UNKNOWN
        try:
            unit = analysed(function, kinds, (False,) * len(kinds))
        except (NeedsTracking, DifferentiationError):
            return UNKNOWN
        if any(each.in_progress for each in reached_units(unit)):
            return UNKNOWN
        self.relied.append(combined_guards(unit))
        self.followed |= followed_by(unit)
        self.function_guards.append(FunctionGuard.of(function))
        return unit.result_kind

    def nested(self, code: types.CodeType, name: str) -> types.FunctionType:
        cells = tuple(types.CellType() for _ in code.co_freevars)
        return types.FunctionType(code, self.function.__globals__, name, None, cells)

    def half(self, unit: CallUnit) -> Const:
        return half_constant(unit, is_adjoint=False)

    def adjoint_half(self, unit: CallUnit, is_selected: bool = False) -> Const:
        return half_constant(unit, is_adjoint=True)

    def dispatcher(self, packed: bool, catches: bool) -> Const:
        if catches:
            entry: Callable[..., Any] = attempted_pullback_of_packed if packed else attempted_pullback_of
        elif self.tracks:
            entry = tracked_pullback_of_packed if packed else tracked_pullback_of
        else:
            entry = pullback_of_packed if packed else pullback_of
        return Const(entry, entry.__name__, entry)

    def is_state(self, name: str) -> bool:
        return carries_state(self.function.__globals__.get(name))

    def holds_state(self, owner: Any, name: str) -> bool:
        return attribute_holds_state(owner, name)

    def is_rebound(self, name: str) -> bool:
        return name in rebound_globals(self.function.__globals__)

    def variables(self) -> Const:
        found = variables_of(self.function.__globals__, builtins_of(self.function))
        return Const(found, "module_variables", found)

    def reads_state(self, function: Any) -> bool:
        is_plain = isinstance(function, types.FunctionType) and not (function.__closure__ or vars(function))
        key = function.__code__ if is_plain else function
        if key not in self.readers:
            self.readers[key] = reads_state(function)
        return self.readers[key]

    def calls_unknown(self) -> None:
        self.own.is_open |= self.own.in_progress

    def keeps_containers(self) -> None:
        self.own.keeps_containers |= self.own.in_progress

    def looks(self, is_searched: bool) -> None:
        is_users = not str(self.function.__globals__.get("__name__")).startswith(_PACKAGE)  # rules write into nothing
        self.own.is_watched |= self.own.in_progress and is_users
        self.own.is_looking |= self.own.in_progress and is_users and is_searched

    def global_kind(self, name: str, module: types.ModuleType | None = None) -> Kind | None:
        namespace = self.function.__globals__ if module is None else vars(module)
        value = namespace.get(name, UNDEFINED)
        kind = None if value is UNDEFINED else value_kind(value)
        if self.tracks and isinstance(value, set) and carries_state(value):
            kind = UNKNOWN
        self.own.sees_variables |= kind is not None and not holds_no_objects(kind)
        self.own.sees_lists |= kind is not None and not holds_no_lists(kind)
        if kind != UNKNOWN or self.tracks:
            guard = KindGuard(namespace, name, kind, type(value) if kind == UNKNOWN else None)
            self.kind_guards[id(namespace), name] = guard
        return kind


@with_room
def analysed(
    function: types.FunctionType,
    kinds: tuple[Kind, ...],
    active: tuple[bool, ...],
    *,
    tracks: bool = False,
    is_root: bool = False,
    catches: bool = False,
    pattern: Any = None,
) -> Unit:
    """The unit of a function for inputs (captured variables, then parameters) of these kinds. Unless it `tracks` what is
    written, a function that may write raises `NeedsTracking`. One that `catches` returns a `Failure` instead of raising. With a
    `pattern` the inputs are parts of these (`microgradpy.patterns`)."""
    if tracks:
        kinds = tuple(map(without_items, kinds))
    elif is_generator(function.__code__):
        why = "a generator changes from one item to the next"
        raise NeedsTracking(function.__name__, (Reason(TRACKED, place_of(function), function.__name__, why),))
    active = tuple(flag and not carries_nothing(kind) for flag, kind in zip(active, kinds, strict=True))
    mode = RUN.mode
    kind_of_run = (mode.dispatches, mode.checks, mode.stops, mode.tells_apart, tracks, is_root, catches)
    key = (id(function.__code__), id(function.__globals__), kinds, active, *kind_of_run, *shared_by(function), pattern)
    with lock:
        unit = CACHE.find(key)
        if unit is not None:
            CACHE.hits += 1
            if unit.needs_tracking:
                raise NeedsTracking(unit.name, unit.reasons)
            return unit
        CACHE.misses += 1
        spend(function)
        try:
            with resting(), errors_of_compiler(function.__code__, function.__globals__):
                return _analyse(function, key, kinds, active, tracks, is_root, catches, pattern)
        except NeedsTracking as needed:
            note = Unit(unit_name(function), active, UNKNOWN, needs_tracking=True, in_progress=False, version=rrule.version)
            note.reasons = needed.reasons
            note.guards = Guards(instrumented(function)[1])
            CACHE.keep(key, note, function.__code__)
            raise


def compile_unit(
    function: types.FunctionType,
    kinds: tuple[Kind, ...],
    active: tuple[bool, ...],
    *,
    tracks: bool = False,
    is_root: bool = False,
    catches: bool = False,
    pattern: Any = None,
) -> Unit:
    """The same with its text, to be run now."""
    unit = analysed(function, kinds, active, tracks=tracks, is_root=is_root, catches=catches, pattern=pattern)
    finish(unit)
    if is_looked_at():
        finish_reached(unit)
    return unit


def compile_for_call(function: types.FunctionType, kinds: tuple[Kind, ...], active: tuple[bool, ...]) -> Unit:
    """The unit of a function that tracks writes only if the function may write."""
    try:
        return compile_unit(function, kinds, active)
    except NeedsTracking:
        return compile_unit(function, kinds, active, tracks=True, is_root=True)


def _analyse(
    function: types.FunctionType,
    key: tuple[Any, ...],
    kinds: tuple[Kind, ...],
    active: tuple[bool, ...],
    tracks: bool,
    is_root: bool,
    catches: bool,
    pattern: Any,
) -> Unit:
    in_sight, ir, checks, kept = _program(function, kinds, tracks, catches, pattern)
    assumed: Kind = FLOAT
    followed = in_sight.followed if in_sight is not None else _writing_nothing(function, ir) if not tracks else frozenset()
    absent = (False,) * sum(active)
    before = tuple(CACHE.units.values())
    weakens = False
    for attempt in range(8 + len(absent)):
        unit = Unit(unit_name(function), active, assumed, absent=absent, version=rrule.version, tracks=tracks)
        unit.is_root = is_root
        unit.takes_value, unit.writes = not tracks or is_immutable(assumed), tracks
        CACHE.keep(key, unit, function.__code__)
        try:
            session = Session(function, unit)
            session.function_guards += map(FunctionGuard.of, () if in_sight is None else in_sight.functions)
            if session.tells_apart and attempt == 0:
                ir = read_items_at_places(ir)
            primal, makes_text = check_texts(primal_pass.transform(ir, kinds, active, session))
            proven = in_terms_of_inputs(primal.result_kind)
            if unit.was_assumed and not _is_as_assumed(proven, assumed):
                _give_up(before, unit)
                assumed, weakens = _assumed_next(primal, proven, assumed, attempt, weakens)
                continue
            unit.result_kind, unit.result_active = proven, primal.result_active or unit.was_assumed
            if primal.memory is not None:
                if unit.was_assumed and primal.takes_value != unit.takes_value:
                    _give_up(before, unit)
                    assumed = UNKNOWN
                    continue
                unit.takes_value, unit.writes = primal.takes_value, primal.memory.writes
            primal, reverse = derive(ir, primal, unit.active, session)
            if unit.was_assumed and reverse.absent != absent:
                _give_up(before, unit)
                absent = reverse.absent
                continue
            unit.absent, unit.selects = reverse.absent, reverse.selects
            unit.kinds, unit.mode, unit.catches = kinds, RUN.mode, catches
            unit.is_promoted, unit.followed, unit.pattern = in_sight is not None, followed | session.followed, pattern
            unit.inserts = may_insert(primal.function.body, primal.calls)
            unit.reasons = () if tracks else reasons_of_calls(primal.function, primal.calls)
            finish_later(unit, function, primal, reverse)
        except BaseException as error:
            _give_up(before)
            if isinstance(error, NeedsTracking):
                assigned = rebound_inside(function.__code__)
                error.reasons = (*whatever_came_first(ir, assigned, error.reasons), *kept)
            raise
        own = Guards(checks, tuple(session.kind_guards.values()), tuple(session.function_guards), makes_text)
        unit.own_guards = own.together_with(session.relied)
        unit.in_progress = False
        unit.relies_on.discard(unit)
        _combine_guards(before)
        return unit
    raise CompilerBug(f"the kinds of the recursive function {function.__qualname__} do not settle")


def _writing_nothing(function: types.FunctionType, ir: Function) -> frozenset[types.CodeType]:
    """The code of a function that names nothing that writes: its own statements write nothing once it is compiled, as
    NeedsTracking would have been raised."""
    return followed_code(function, (), ir) if WRITERS.isdisjoint(names_in(function.__code__)) else frozenset()


def _program(
    function: types.FunctionType, kinds: tuple[Kind, ...], tracks: bool, catches: bool, pattern: Any
) -> tuple[Any, Function, tuple[Check, ...], tuple[Reason, ...]]:
    """What is differentiated: what of it is in sight, its IR without that, what the IR relies on, and why other memory stays.
    Nothing is in sight where every call is looked at when it is made."""
    if pattern is not None:
        return pattern, pattern.function, pattern.checks, ()
    notes = stopping_in(function.__code__) is not None
    ir, checks = instrumented(function, kinds, tracks=tracks, catches=catches, notes=notes)
    if tracks or notes or RUN.mode.dispatches or RUN.mode.stops or RUN.mode.tells_apart:
        return None, ir, checks, ()
    promotion = promote(function, ir, instrumented, kinds)
    found = promotion.made
    if found is None:
        return None, ir, checks, promotion.kept
    return found, found.function, (*checks, *found.checks, *_checks_of(found)), promotion.kept


def _checks_of(in_sight: Promoted) -> Iterator[Check]:
    """What classes had under names, or had not."""
    for names, name, found in in_sight.members:
        yield names, name, UNDEFINED if found is ABSENT else found


def _assumed_next(primal: Primal, proven: Kind, assumed: Kind, attempt: int, weakens: bool) -> tuple[Kind, bool]:
    """What to assume next of a result that did not come out as it was assumed, and whether that is less and less."""
    likely, guess = in_terms_of_inputs(primal.likely_kind), in_terms_of_inputs(primal.guessed_kind)
    if attempt == 0 and guess != likely:
        return guess, False
    weakens = weakens or attempt > 2 or likely == assumed  # which would come out the same
    return (_weakened(assumed, proven) if weakens else likely), weakens


def _is_as_assumed(proven: Kind, assumed: Kind) -> bool:
    """Whether a result is what was assumed of it: where nothing was, whatever runs no other code of the user's."""
    return proven == assumed or (isinstance(assumed, Unknown) and join(assumed, proven) == assumed)


def _weakened(assumed: Kind, proven: Kind) -> Kind:
    """What to assume next of a result of which nothing settles: nothing, but for the methods that are expected of it."""
    return join(assumed, proven) if isinstance(assumed, Unknown) else unknown_from((proven,))


def _combine_guards(kept: tuple[Unit, ...]) -> None:
    """Let what was compiled since then depend on what it calls, once all of that is compiled."""
    if any(unit.in_progress for unit in CACHE.units.values()):
        return
    known = set(map(id, kept))
    for unit in CACHE.units.values():
        if id(unit) not in known:
            unit.guards = combined_guards(unit)
            unit.relies_on.clear()


def _give_up(kept: tuple[Unit, ...], wrong: Unit | None = None) -> None:
    """Forget what was compiled since then: all of it, or what relies on a wrong assumption about a unit that is called
    recursively."""
    known = set(map(id, kept))
    since = {key: unit for key, unit in CACHE.units.items() if id(unit) not in known}
    lost = set(since.values()) if wrong is None else {wrong}
    more = lost
    while more:
        more = {unit for unit in since.values() if unit not in lost and not unit.relies_on.isdisjoint(more)}
        lost |= more
    for key, unit in since.items():
        if unit in lost or unit.needs_tracking:
            unit.in_progress = False
            CACHE.drop(key)


def derive(ir: Function, primal: Primal, active: tuple[bool, ...], services: Session) -> tuple[Primal, Reverse]:
    """The adjoint of a primal before it is decided what is saved, and the primal with what somebody wants to see of it."""
    inputs = (*ir.captured, *(parameter.var for parameter in ir.parameters))
    differentiated = tuple(var for var, flag in zip(inputs, active, strict=True) if flag)
    if services.stopping is not None:
        primal = noting(primal)
    if services.checks:
        primal = check_primal(primal, services.checks)
    reverse = reverse_pass.transform(primal, differentiated, services)
    reverse = replace(reverse, region=eliminate_dead_statements(reverse.region))
    if services.checks:
        reverse = check_adjoint(primal, reverse, services.checks)
    if services.stopping is not None:
        reverse = with_stop(primal, reverse, services.stopping)
    return primal, reverse
