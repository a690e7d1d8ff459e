"""The whole road (`pipeline`), from a Python function to a pair of callables, as one value: a unit.

A unit is one function compiled for the kinds of its inputs and the choice of which are differentiated. Units call each
other's halves directly; what is known only at run time goes through `runtime.dispatch`.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, final

from microgradpy.ad.calls import Apart
from microgradpy.ad.calls import Unit as CallUnit
from microgradpy.ad.primal import Primal
from microgradpy.ad.reasons import reasons_of_calls, whatever_came_first
from microgradpy.ad.repeatable import is_repeatable, reads_module
from microgradpy.ad.segments import checkpointed_loop
from microgradpy.ad.zeros import may_insert
from microgradpy.cache import (
    CACHE,
    UNDEFINED,
    FunctionGuard,
    Guards,
    KindGuard,
    Unit,
    combined_guards,
    followed_by,
    lock,
    reached_units,
)
from microgradpy.dataclasses import dataclass, replace
from microgradpy.errors import CompilerBug, DifferentiationError, MutationError
from microgradpy.frontend.resolve import builtins_of
from microgradpy.frontend.sharing import looking_once, rebound_globals, rebound_inside
from microgradpy.frontend.source import place_of
from microgradpy.ir.input_kinds import in_terms_of_inputs
from microgradpy.ir.kinds import (
    FLOAT,
    UNKNOWN,
    Kind,
    TupleOf,
    Unknown,
    carries_nothing,
    holds_no_lists,
    holds_no_objects,
    is_immutable,
    join,
    present,
    unknown_from,
    without_items,
)
from microgradpy.ir.nodes import Const
from microgradpy.ir.objects import NO_FEATURES
from microgradpy.ir.reasons import TRACKED, MayWrite, Reason
from microgradpy.linking import (
    errors_of_compiler,
    finish,
    finish_later,
    finish_reached,
    half_constant,
    is_looked_at,
    unit_name,
)
from microgradpy.pipeline import (
    Program,
    instrumented,
    names_handed_on,
    primal_of,
    program_of,
    reverse_of,
    shared_by,
    throws_values,
)
from microgradpy.rules.registry import rrule
from microgradpy.runtime.asking import ANYTHING, that_write
from microgradpy.runtime.checkpoints import Schedule, schedule_of
from microgradpy.runtime.collector import resting
from microgradpy.runtime.dispatch import pullback_of, pullback_of_packed, value_kind
from microgradpy.runtime.libraries import library_of, spend
from microgradpy.runtime.modes import RUN, Mode, changed_mode
from microgradpy.runtime.real_powers import COMPLEX
from microgradpy.runtime.room import with_room
from microgradpy.runtime.suspension import is_generator
from microgradpy.runtime.variables import variables_of
from microgradpy.state.dispatch import (
    attempted_pullback_of,
    attempted_pullback_of_packed,
    tracked_pullback_of,
    tracked_pullback_of_arrays,
    tracked_pullback_of_packed,
)
from microgradpy.state.object_graph import is_users_class
from microgradpy.state.persistent import attribute_holds_state, carries_state, reads_state
from microgradpy.state.reachable_writes import operators_met
from microgradpy.state.stops import stopping_in


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


_PACKAGE = __name__.partition(".")[0]
"""What the names of the modules of rules begin with, those of generated texts as well."""


class Session:
    """One run of the compiler: the services that the passes ask for, for one function."""

    keeps_zeros, seed_is_selected = False, False
    trusts, is_differentiated = False, False

    def __init__(self, function: types.FunctionType, unit: Unit) -> None:
        self.function = function
        self.own = unit
        self.inlines = not RUN.mode.dispatches
        self.checks = RUN.mode.checks
        self.stopping = stopping_in(function.__code__)
        self.tracks = unit.tracks
        self.explains = RUN.mode.explains
        self.tells_apart = RUN.mode.tells_apart
        self.repeats = not unit.tracks and self.stopping is None  # who stops sees the variables of the whole function
        self.is_root = unit.is_root
        self.is_users = is_users_class(function)
        self.kind_guards: dict[tuple[int, str], KindGuard] = {}
        self.readers: dict[Any, bool] = {}
        self.function_guards: list[FunctionGuard] = []
        self.relied: list[Guards] = []
        self.followed: frozenset[types.CodeType] = frozenset()
        self.met = operators_met(function) if unit.tracks else NO_FEATURES
        unit.meets_writers = not that_write(ANYTHING).isdisjoint(self.met.operators)

    def unit(
        self, called: types.FunctionType | Apart, kinds: tuple[Kind, ...], active: tuple[bool, ...]
    ) -> Unit | MayWrite | None:
        function, pattern = (called.callee, called) if isinstance(called, Apart) else (called, None)
        try:
            of_values = unit_of_values(function, kinds, active, self.reads_state) if self.tracks else None
            unit = of_values or analysed(function, kinds, active, tracks=self.tracks, pattern=pattern)
        except DifferentiationError:
            # It is left to run time, perhaps for what was assumed.
            self.own.relies_on.update(unit for unit in CACHE.units.values() if unit.in_progress)
            raise
        if isinstance(unit, MayWrite):
            return unit
        self.function_guards.append(FunctionGuard.of(function))
        # A pushforward calls helpers of rules as well. What the program calls is known once its primal has been made.
        if self.own.in_progress and unit not in self.own.callees:
            self.own.callees.append(unit)
        if unit.in_progress:
            unit.was_assumed = True
            self.own.relies_on.add(unit)
        self.own.relies_on |= unit.relies_on
        return unit

    def is_being_made(self, function: types.FunctionType) -> bool:
        owner = id(function.__code__), id(function.__globals__)
        return any(unit.in_progress and key[:2] == owner for key, unit in CACHE.units.items())

    def kind_returned(self, function: types.FunctionType, kinds: tuple[Kind, ...]) -> Kind:
        """What is proven of what a function returns that is given nothing differentiated, and called as it stands: what would
        be proven if it were compiled."""
        is_own = str(function.__module__).partition(".")[0] == _PACKAGE  # helpers of rules, of which tables tell
        if self.tracks or is_own or is_generator(function.__code__):
            return UNKNOWN
        if library_of(function) not in (None, library_of(self.function)):
            return UNKNOWN
        try:
            with changed_mode(assumes_real=False):  # it runs as it stands, and nobody looks at its powers
                unit = analysed(function, kinds, (False,) * len(kinds))
        except DifferentiationError:
            return UNKNOWN
        if isinstance(unit, MayWrite) or any(each.in_progress for each in reached_units(unit)):
            return UNKNOWN
        self.relied.append(combined_guards(unit))
        self.followed |= followed_by(unit)
        self.function_guards.append(FunctionGuard.of(function))
        return unit.result_kind

    @property
    def schedule(self) -> Schedule | None:
        """How the outermost loops of the function are checkpointed; a part of one has no schedule of its own."""
        return None if isinstance(self.own.pattern, Apart) else schedule_of(self.function.__code__)

    @property
    def passed(self) -> int:
        return self.own.passed

    @property
    def active_parts(self) -> tuple[bool, ...] | None:
        return self.own.active_parts

    def nested(self, code: types.CodeType, name: str) -> types.FunctionType:
        cells = tuple(types.CellType() for _ in code.co_freevars)
        return types.FunctionType(code, self.function.__globals__, name, None, cells)

    def is_repeatable(self, unit: CallUnit) -> bool:
        assert isinstance(unit, Unit)
        reached = reached_units(unit)
        others = [each for each in reached if each is not self.own]
        if any(each.in_progress or each.reads_module or not each.is_repeatable for each in others):
            return False
        if len(others) < len(reached):
            if self.own.is_seen:
                return False
            self.own.assumes_repeatable = True  # until it turns out to be wrong
        return True

    def half(self, unit: CallUnit) -> Const:
        return half_constant(unit, is_adjoint=False)

    def adjoint_half(self, unit: CallUnit, is_selected: bool = False) -> Const:
        return half_constant(unit, is_adjoint=True)

    def dispatcher(self, packed: bool, catches: bool, settles: bool) -> Const:
        if settles:
            entry: Callable[..., Any] = tracked_pullback_of
        elif catches:
            entry = attempted_pullback_of_packed if packed else attempted_pullback_of
        elif self.tracks:
            entry = tracked_pullback_of_packed if packed else tracked_pullback_of_arrays
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

    def assumes_real_power(self) -> bool:
        self.own.has_powers = True
        return RUN.mode.assumes_real and self.own.mode.assumes_real

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


def analysed(
    function: types.FunctionType,
    kinds: tuple[Kind, ...],
    active: tuple[bool, ...],
    *,
    tracks: bool = False,
    is_root: bool = False,
    catches: bool = False,
    pattern: Any = None,
) -> Unit | MayWrite:
    """The unit of a function for inputs (captured variables, then parameters) of these kinds. Unless it `tracks` what is
    written, a function that may write has none. One that `catches` returns a `Failure` instead of raising. With a `pattern` the
    inputs are parts of these (`microgradpy.patterns`)."""
    if tracks:
        kinds = tuple(map(without_items, kinds))
    elif is_generator(function.__code__):
        why = "a generator changes from one item to the next"
        return MayWrite(function.__name__, (Reason(TRACKED, place_of(function), function.__name__, why),))
    active = tuple(flag and not carries_nothing(kind) for flag, kind in zip(active, kinds, strict=True))
    return _analysed(_Request(function, kinds, active, tracks, is_root, catches, pattern))


@final
@dataclass(frozen=True, slots=True)
class _Request:
    """What a unit is made of."""

    function: types.FunctionType
    kinds: tuple[Kind, ...]
    active: tuple[bool, ...]
    tracks: bool
    is_root: bool
    catches: bool
    pattern: Any

    def key(self, mode: Mode) -> tuple[Any, ...]:
        """What decides on it, with how functions are compiled at the moment."""
        of_run = self.tracks, self.is_root, self.catches
        owner = id(self.function.__code__), id(self.function.__globals__)
        return (*owner, self.kinds, self.active, *mode, *of_run, *shared_by(self.function), self.pattern)

    def program(self) -> Program:
        return program_of(self.function, self.kinds, tracks=self.tracks, catches=self.catches, pattern=self.pattern)

    def unit(self, assumed: Kind, absent: tuple[bool, ...], parts: tuple[bool, ...] | None) -> Unit:
        """One of which this much is assumed."""
        made = Unit(unit_name(self.function), self.active, assumed, absent=absent, version=rrule.version, tracks=self.tracks)
        made.kinds, made.mode, made.catches, made.pattern = self.kinds, RUN.mode, self.catches, self.pattern
        made.active_parts, made.passed = parts, len(getattr(self.pattern, "passed", ()))
        made.takes_value, made.writes, made.is_root = not self.tracks or is_immutable(assumed), self.tracks, self.is_root
        return made


@with_room
def _analysed(request: _Request) -> Unit | MayWrite:
    function = request.function
    with lock:
        unit = CACHE.find(request.key(RUN.mode)) or _without_powers(request)
        if unit is not None:
            CACHE.hits += 1
            return unit.may_write or unit
        CACHE.misses += 1
        before = tuple(CACHE.units.values())
        try:
            with resting(), looking_once(), errors_of_compiler(function.__code__, function.__globals__):
                found = _settled(request, before)
        except BaseException:
            _give_up(before)
            raise
        if isinstance(found, MayWrite):
            _give_up(before)
            note = Unit(unit_name(function), request.active, UNKNOWN, in_progress=False, version=rrule.version)
            note.may_write, note.guards = found, Guards(instrumented(function)[1])
            CACHE.keep(request.key(RUN.mode), note, function.__code__)
        return found


def _without_powers(request: _Request) -> Unit | None:
    """Where powers are assumed to be real, the unit of which that is not assumed, if neither it nor what it calls has any."""
    if not RUN.mode.assumes_real:
        return None
    unit = CACHE.find(request.key(RUN.mode._replace(assumes_real=False)))
    is_same = unit is not None and unit.may_write is None and not any(map(_may_differ, reached_units(unit)))
    return unit if is_same else None


def _may_differ(unit: Unit) -> bool:
    """Whether a unit may be another one if powers are assumed to be real."""
    return unit.has_powers or unit.in_progress


def unit_of_values(
    function: types.FunctionType,
    kinds: tuple[Kind, ...],
    active: tuple[bool, ...],
    reads_state: Callable[[Any], bool] = reads_state,
) -> Unit | None:
    """For a call in a run that tracks writes, the unit that tracks nothing of a function that gets and returns what nobody can
    write into, and reads nothing else that somebody can: memory that it makes for itself is nobody else's. Exceptions are
    objects that others get, if they hold more than constants."""
    if RUN.mode.tracks or RUN.mode.tells_apart or not all(map(is_immutable, kinds)) or reads_state(function):
        return None
    try:
        unit = analysed(function, kinds, active)
    except DifferentiationError:
        return None
    if isinstance(unit, MayWrite) or not is_immutable(present(unit.result_kind)):
        return None
    is_known = not any(each.in_progress or each.is_open or each.runs_unseen or each.throws for each in reached_units(unit))
    return unit if is_known else None


def compile_unit(
    function: types.FunctionType, kinds: tuple[Kind, ...], active: tuple[bool, ...], pattern: Any = None
) -> Unit | MayWrite:
    """The unit of a function that does not write, with its text, to be run now."""
    unit = analysed(function, kinds, active, pattern=pattern)
    return unit if isinstance(unit, MayWrite) else _to_be_run(function, unit)


def compile_outermost(
    function: types.FunctionType, kinds: tuple[Kind, ...], active: tuple[bool, ...], pattern: Any = None
) -> Unit | MayWrite:
    """The same for a run of its own: powers of real numbers are assumed to be real, if a run can be made once more in which one
    turns out to be complex."""
    with changed_mode(assumes_real=function.__code__ not in COMPLEX and RUN.mode == Mode()):
        unit = analysed(function, kinds, active, pattern=pattern)
    if isinstance(unit, Unit) and unit.assumes_real and not all(each.is_repeatable for each in reached_units(unit)):
        unit = analysed(function, kinds, active, pattern=pattern)
    return unit if isinstance(unit, MayWrite) else _to_be_run(function, unit)


def compile_tracked(
    function: types.FunctionType,
    kinds: tuple[Kind, ...],
    active: tuple[bool, ...],
    *,
    is_root: bool = False,
    catches: bool = False,
) -> Unit:
    """The same of any function, which tracks what it writes."""
    of_values = None if is_root or catches else unit_of_values(function, kinds, active)
    unit = of_values or analysed(function, kinds, active, tracks=True, is_root=is_root, catches=catches)
    assert isinstance(unit, Unit)
    return _to_be_run(function, unit)


def compile_for_call(function: types.FunctionType, kinds: tuple[Kind, ...], active: tuple[bool, ...]) -> Unit:
    """The unit of a function that tracks writes only if the function may write."""
    unit = compile_unit(function, kinds, active)
    return compile_tracked(function, kinds, active, is_root=True) if isinstance(unit, MayWrite) else unit


def why_tracked(function: types.FunctionType, kinds: tuple[Kind, ...], active: tuple[bool, ...]) -> MayWrite:
    """What a function may write, with the reasons, which are found out for who asks; without any, if what was found once more
    is that it writes nothing: names mean something else by then, or what is in sight was found out in another order."""
    with changed_mode(explains=True):
        found = analysed(function, kinds, active)
    return found if isinstance(found, MayWrite) else MayWrite(function.__qualname__)


def _to_be_run(function: types.FunctionType, unit: Unit) -> Unit:
    if unit.waiting is not None:
        spend(function)
    finish(unit)
    if is_looked_at():
        finish_reached(unit)
    return unit


def _settled(request: _Request, before: tuple[Unit, ...]) -> Unit | MayWrite:
    """The unit, made as often as what was assumed of it, for who calls it while it is made, turns out to be wrong."""
    function, kinds, program = request.function, request.kinds, request.program()
    key = request.key(RUN.mode)  # which of its variables are shared is known when it has been lowered
    if request.tracks and RUN.mode == Mode():
        _refuse_checkpoints(request, program)
    assumed, parts = _assumed_first(request.pattern, kinds)
    absent = (False,) * sum(request.active)
    weakens, is_seen = False, False
    for attempt in range(9 + len(absent) + len(parts or ())):
        unit = request.unit(assumed, absent, parts)
        unit.is_seen = is_seen
        CACHE.keep(key, unit, function.__code__)
        session = Session(function, unit)
        session.function_guards += map(FunctionGuard.of, program.functions)
        primal = primal_of(program, kinds, request.active, session)
        if isinstance(primal, MayWrite):
            first = whatever_came_first(program.ir, rebound_inside(function.__code__), primal.reasons)
            return replace(primal, reasons=(*first, *program.kept))
        unit.is_repeatable, unit.reads_module = is_repeatable(primal.function), reads_module(primal.function)
        proven = in_terms_of_inputs(primal.result_kind)
        unit.active_parts = None if parts is None else primal.active_parts(parts)
        if unit.was_assumed and not (_is_as_assumed(proven, assumed) and unit.active_parts == parts):
            _give_up(before, unit)
            parts = unit.active_parts
            assumed, weakens = _assumed_next(primal, proven, assumed, attempt, weakens)
            continue
        if unit.assumes_repeatable and not all(each.is_repeatable and not each.reads_module for each in reached_units(unit)):
            _give_up(before, unit)
            is_seen = True
            continue
        unit.result_kind, unit.result_active = proven, primal.result_active or unit.was_assumed
        if primal.memory is not None:
            if unit.was_assumed and primal.takes_value != unit.takes_value:
                _give_up(before, unit)
                assumed = UNKNOWN
                continue
            unit.takes_value, unit.writes = primal.takes_value, primal.memory.writes
        primal, reverse = reverse_of(program.ir, primal, request.active, session)
        if unit.was_assumed and reverse.absent != absent:
            _give_up(before, unit)
            absent = reverse.absent
            continue
        unit.absent, unit.selects = reverse.absent, reverse.selects
        unit.is_promoted = program.in_sight is not None
        unit.hands_on, unit.throws = names_handed_on(program.ir), throws_values(program.ir)
        unit.followed = frozenset(map(weakref.ref, program.followed | session.followed))
        unit.inserts = may_insert(primal.function.body, primal.calls)
        unit.reasons = () if unit.tracks else reasons_of_calls(primal.function, primal.calls)
        finish_later(unit, function, primal, reverse)
        guards = tuple(session.kind_guards.values()), tuple(session.function_guards)
        unit.own_guards = Guards(program.checks, *guards, primal.makes_text).together_with(session.relied)
        unit.in_progress = False
        unit.relies_on.discard(unit)
        _combine_guards(before)
        if unit.mode.assumes_real and not any(map(_may_differ, reached_units(unit))):
            del CACHE.units[key]
            CACHE.keep(request.key(unit.mode._replace(assumes_real=False)), unit, function.__code__)
        return unit
    raise CompilerBug(f"the kinds of the recursive function {function.__qualname__} do not settle")


def _refuse_checkpoints(request: _Request, program: Program) -> None:
    """Refuse loops that are to be run again in a function that may write into what others have."""
    schedule = None if isinstance(request.pattern, Apart) else schedule_of(request.function.__code__)
    where = checkpointed_loop(program.ir, schedule)
    if where is None:
        return
    with changed_mode(explains=True):
        found = analysed(request.function, request.kinds, request.active)
    reasons = found.reasons if isinstance(found, MayWrite) else ()
    why = "".join(f": line {each.where.line}, `{each.text}`, is tracked, as {each.why}" for each in reasons[:1])
    remedies = (*(each.remedy for each in reasons if each.remedy), "Let it write nothing, or run the loop without checkpoints.")
    raise MutationError(f"a loop is checkpointed, and what runs may write into what others have{why}", where, remedies[0])


def _assumed_first(pattern: Any, kinds: tuple[Kind, ...]) -> tuple[Kind, tuple[bool, ...] | None]:
    """What to assume of a result first, and of which parts of it that they are active, if that is asked of each."""
    if isinstance(pattern, Apart) and pattern.carries is not None:
        parts = (*kinds[: pattern.carries], *pattern.besides)
        return parts[0] if len(parts) == 1 else TupleOf(parts), None
    if not isinstance(pattern, Apart) or pattern.result is None:
        return FLOAT, None
    has_parts = pattern.passed and isinstance(pattern.result, TupleOf)
    return pattern.result, (False,) * len(pattern.result.items) if has_parts else None  # type: ignore[union-attr]


def _assumed_next(primal: Primal, proven: Kind, assumed: Kind, attempt: int, weakens: bool) -> tuple[Kind, bool]:
    """What to assume next of a result that did not come out as it was assumed, and whether that is less and less."""
    if _is_as_assumed(proven, assumed):
        return assumed, weakens
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
        if unit in lost or unit.may_write is not None:
            unit.in_progress = False
            CACHE.drop(key)
