"""The road from a function to its derivative: the stages by name, in order.

    function    program_of   lower, instrument; promote: memory that nobody else gets becomes variables
                primal_of    memory mode; the primal, which proves kinds and activity on its way
                reverse_of   the adjoint of the primal, or `forward_of`: its pushforward
                pair_of      what the primal saves for the adjoint; both simplified
                linking      their texts, loaded, and bound to those of the functions that they call
    callable

`compiler` goes all of it, and the middle as often as what it has assumed of a recursive function turns out to be wrong;
`forward_compiler` has `forward_of`; `zeros_compiler` as far as an adjoint that reads what the primal of a unit has saved;
`gradient_compiler` sets out from `pair_of`, with a seed that is known; `introspect` shows the stages one by one.
"""

from __future__ import annotations

import functools
import os
import types
import weakref
from collections.abc import Iterator
from typing import Any, final

from microgradpy.ad import primal as primal_pass
from microgradpy.ad import reverse as reverse_pass
from microgradpy.ad.apart_items import read_items_at_places
from microgradpy.ad.checks import check_adjoint, check_primal, noting, with_stop
from microgradpy.ad.counters import count_again
from microgradpy.ad.instrument import instrument_function
from microgradpy.ad.memory_mode import writes_for_certain
from microgradpy.ad.nested_calls import with_nested_calls
from microgradpy.ad.primal import Primal
from microgradpy.ad.real_powers import with_tests_written_out
from microgradpy.ad.recomputed import compute_again
from microgradpy.ad.reverse import Reverse
from microgradpy.ad.saved_values import Pair, save
from microgradpy.ad.segments import segmented
from microgradpy.ad.texts import check_texts
from microgradpy.ad.unassigned import bind_unassigned, check_unassigned_captures
from microgradpy.cache import CACHE_SIZE, UNDEFINED, Check, Unit, checks_of
from microgradpy.dataclasses import dataclass, replace
from microgradpy.errors import UnsupportedSyntaxError
from microgradpy.frontend.closures import ClosureBody
from microgradpy.frontend.lower import lower_function
from microgradpy.frontend.resolve import builtins_of
from microgradpy.frontend.sharing import known_cells, note_globals, rebound_globals
from microgradpy.frontend.source import shared_names
from microgradpy.ir.kinds import Kind
from microgradpy.ir.nodes import Const, Function, Op, Opcode, Raise, Var
from microgradpy.ir.reasons import MayWrite, Reason
from microgradpy.ir.traversal import given_values, terminator_values, terminators, uses
from microgradpy.ir.verifier import verify
from microgradpy.passes.augmented_items import join_augmented_items
from microgradpy.passes.columns import with_columns
from microgradpy.passes.dead_code import eliminate_dead_code, eliminate_dead_statements
from microgradpy.passes.fresh_arrays import write_in_place
from microgradpy.passes.joined_stores import join_stores
from microgradpy.passes.left_items import leave_items
from microgradpy.passes.needless_copies import drop_needless_copies
from microgradpy.passes.none_given import decide_none
from microgradpy.passes.uniform_lists import read_uniform_lists
from microgradpy.promotion.classes import ABSENT
from microgradpy.promotion.driver import Promoted, Promotion, followed_code, promote
from microgradpy.promotion.names import statements_of
from microgradpy.rules.number_lists import for_each
from microgradpy.runtime.bytecode import WRITERS, names_in
from microgradpy.runtime.checkpoints import Schedule
from microgradpy.runtime.modes import RUN
from microgradpy.runtime.suspension import is_generator
from microgradpy.state.stops import stopping_in

VERIFY = bool(os.environ.get("MICROGRADPY_VERIFY"))


# Lower, instrument, promote


@final
@dataclass(frozen=True, slots=True)
class Program:
    """What is differentiated: the IR of a function without what is in sight of its memory, what that relies on, and why other
    memory stays. `in_sight` is what was promoted, or the parts of arguments that it is called with."""

    ir: Function
    checks: tuple[Check, ...] = ()
    in_sight: Any = None
    kept: tuple[Reason, ...] = ()
    followed: frozenset[types.CodeType] = frozenset()
    """The code that writes into nothing that others have."""

    @property
    def functions(self) -> tuple[types.FunctionType, ...]:
        """The functions that were written where they are called."""
        return () if self.in_sight is None else self.in_sight.functions


def program_of(
    function: types.FunctionType, kinds: tuple[Kind, ...], *, tracks: bool = False, catches: bool = False, pattern: Any = None
) -> Program:
    """A function for inputs of these kinds. Nothing is in sight where every call is looked at when it is made."""
    if pattern is not None:
        return Program(pattern.function, pattern.checks, pattern, followed=pattern.followed)
    notes = stopping_in(function.__code__) is not None
    ir, checks = instrumented(function, kinds, tracks=tracks, catches=catches, notes=notes)
    if RUN.mode.tells_apart:
        return Program(read_items_at_places(ir), checks)
    if tracks and (RUN.mode.tracks or catches or is_generator(function.__code__)):
        return Program(ir, checks)
    if notes or RUN.mode.dispatches or RUN.mode.stops:
        return Program(ir, checks, followed=frozenset() if tracks else writing_nothing(function, ir))
    promotion = _promoted(function, ir, kinds, tracks)
    found = promotion.made
    if found is None:
        return Program(ir, checks, None, promotion.kept, frozenset() if tracks else writing_nothing(function, ir))
    return Program(found.function, (*checks, *found.checks, *checks_of_members(found)), found, promotion.kept, found.followed)


def _promoted(function: types.FunctionType, ir: Function, kinds: tuple[Kind, ...], tracks: bool) -> Promotion:
    """What is in sight as variables. What is written into where writes are tracked has marks in the functions that are written
    where they are called, too."""
    return promote(function, ir, functools.partial(instrumented_here, tracks=tracks), kinds, beside_writes=tracks)


def writing_nothing(function: types.FunctionType, ir: Function) -> frozenset[types.CodeType]:
    """The code of a function that names nothing that writes: its own statements write nothing if it has a primal in which
    writes are not tracked."""
    if not WRITERS.isdisjoint(names_in.__wrapped__(function.__code__)):  # what remembers would keep the code alive
        return frozenset()
    return frozenset(code for code in followed_code(function, (), ir) if not is_generator(code))


def program_again(function: types.FunctionType, unit: Unit, kinds: tuple[Kind, ...]) -> Program:
    """The program that a unit was made of, once more; it notes nothing."""
    if unit.pattern is not None:
        return Program(unit.pattern.function)
    ir, _ = instrumented(function, kinds, tracks=unit.tracks, catches=unit.catches)
    in_sight = _promoted(function, ir, kinds, unit.tracks).made if unit.is_promoted else None
    if in_sight is not None:
        return Program(in_sight.function)
    return Program(read_items_at_places(ir) if unit.mode.tells_apart else ir)


def checks_of_members(in_sight: Promoted) -> Iterator[Check]:
    """What classes had under names, or had not."""
    for names, name, found in in_sight.members:
        yield names, name, UNDEFINED if found is ABSENT else found


_lowered: dict[tuple[Any, ...], tuple[weakref.ref[types.CodeType], Function, tuple[Check, ...]]] = {}


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
    return decide_none(check_unassigned_captures(ir, kinds), kinds), checks


def instrumented_here(function: types.FunctionType, *, tracks: bool = False) -> tuple[Function, tuple[Check, ...]]:
    """The same of a function that is to be written where it is called: of one in whose pullback somebody wants to stop there is
    none, as it has no pullback then."""
    if stopping_in(function.__code__) is not None:
        raise UnsupportedSyntaxError(f"{function.__qualname__} is stopped in, and has a pullback of its own", None)
    return instrumented(function, tracks=tracks)


def _instrumented(function: types.FunctionType, tracks: bool, catches: bool, notes: bool) -> tuple[Function, tuple[Check, ...]]:
    owner = id(function.__code__), id(function.__globals__)
    known = _lowered.get((*owner, tracks, catches, notes, *shared_by(function)))
    if known is not None and known[0]() is function.__code__:
        if all(namespace.get(name, UNDEFINED) is value for namespace, name, value in known[2]):
            return known[1], known[2]
    lowered = lower_function(function, marks_effects=tracks, catches=catches, notes=notes)
    builtins = builtins_of(function)
    checks = [check for guard in lowered.constants for check in checks_of(guard, function.__globals__, builtins)]
    ir = with_nested_calls(instrument_function(lowered.function))
    untracked = with_columns(ir)
    if len(_lowered) > CACHE_SIZE:
        _lowered.clear()
    rest = catches, notes, *shared_by(function)  # as is known since it was lowered
    for marked in (tracks,) if lowered.marks_matter else (False, True):
        _lowered[*owner, marked, *rest] = (weakref.ref(function.__code__), ir if marked else untracked, tuple(checks))
    return ir if tracks else untracked, tuple(checks)


def shared_by(function: types.FunctionType) -> tuple[frozenset[str], ...]:
    """What the IR depends on besides the code: which of the variables it names are shared and rebound by others, and which of
    its own were found to need cells since."""
    note_globals(function.__globals__)
    code, namespace = function.__code__, function.__globals__
    return shared_names(code, namespace), rebound_globals(namespace), known_cells(code)


def names_handed_on(function: Function) -> frozenset[str]:
    """The names of functions that are values in a program, and of the attributes that it reads."""
    found = set[str]()
    values = [value for end in terminators(function.body) for value in terminator_values(end)]
    for statement in statements_of(function):
        values += given_values(statement.arguments, statement.keywords) if isinstance(statement, Op) else uses(statement)
        match statement:
            case Op(callee=Const(value=callee), arguments=(_, Const(value=str(name)), *_)) if callee is getattr:
                found.add(name)
            case Op(callee=Opcode.CLOSURE, payload=ClosureBody(function=inner)):
                found |= names_handed_on(inner)
    constants = (value.value for value in values if isinstance(value, Const))
    return frozenset(found.union(each.__name__ for each in constants if isinstance(each, types.FunctionType)))


def throws_values(function: Function) -> bool:
    """Whether a program raises more than exceptions that it makes of constants."""
    raised = [value for end in terminators(function.body) if isinstance(end, Raise) for value in terminator_values(end)]
    of_constants = {
        each.result
        for each in statements_of(function)
        if isinstance(each, Op) and len(each.results) == 1 and all(isinstance(value, Const) for value in uses(each))
    }
    return any(isinstance(value, Var) and value not in of_constants for value in raised)


# Segments, memory mode, primal


_segmented: dict[tuple[int, Schedule | None, bool], tuple[Function, Function]] = {}


def _in_segments(ir: Function, services: Any) -> Function:
    """The program with its checkpointed loops in segments, which are the same functions each time."""
    key = id(ir), services.schedule, services.repeats
    if key not in _segmented or _segmented[key][0] is not ir:
        if len(_segmented) > CACHE_SIZE:
            _segmented.clear()
        _segmented[key] = ir, segmented(ir, services.function, services.schedule, services.repeats)
    return _segmented[key][1]


def primal_of(program: Program, kinds: tuple[Kind, ...], active: tuple[bool, ...], services: Any) -> Primal | MayWrite:
    """The primal of a program, or what it may write into where writes are not tracked."""
    if not (services.tracks or services.explains) and writes_for_certain(program.ir):
        return MayWrite(program.ir.name)
    primal = primal_pass.transform(_in_segments(program.ir, services), kinds, active, services)
    return primal if isinstance(primal, MayWrite) else check_texts(primal)


# Reverse


def reverse_of(ir: Function, primal: Primal, active: tuple[bool, ...], services: Any) -> tuple[Primal, Reverse]:
    """The adjoint of a primal before it is decided what is saved, and the primal with what somebody wants to see of it."""
    if services.stopping is not None:
        primal = noting(primal)
    if services.checks:
        primal = check_primal(primal, services.checks)
    reverse = reverse_pass.transform(primal, differentiated(ir, active), services)
    reverse = replace(reverse, region=eliminate_dead_statements(reverse.region))
    if services.checks:
        reverse = check_adjoint(primal, reverse, services.checks)
    if services.stopping is not None:
        reverse = with_stop(primal, reverse, services.stopping)
    return primal, reverse


def differentiated(ir: Function, active: tuple[bool, ...]) -> tuple[Var, ...]:
    return tuple(var for var, flag in zip(ir.inputs, active, strict=True) if flag)


# Save, simplify


def pair_of(primal: Primal, reverse: Reverse) -> Pair:
    """The pair of functions with what is saved between them. Nothing in the adjoint is written in place yet."""
    pair = save(primal, reverse if primal.memory is not None else _simplified(primal, reverse))
    pair = replace(pair, primal=replace(pair.primal, body=with_tests_written_out(pair.primal.body)))
    if primal.memory is not None:
        pair = Pair(join_augmented_items(pair.primal), drop_needless_copies(pair.adjoint))
    pair = Pair(bind_unassigned(eliminate_dead_code(pair.primal)), eliminate_dead_code(pair.adjoint))
    if VERIFY:
        verify(pair.primal)
        verify(write_in_place(pair.adjoint))
    return pair


def _simplified(primal: Primal, reverse: Reverse) -> Reverse:
    """The adjoint without reads of what it knows by itself, and without stores that change nothing."""
    region = join_stores(leave_items(read_uniform_lists(reverse.region, reverse.kinds, for_each)))
    region = count_again(primal.function, region, reverse.frames)
    region, kinds = compute_again(primal.function, region, reverse.frames)
    return replace(reverse, region=region, kinds=dict(reverse.kinds) | kinds)
