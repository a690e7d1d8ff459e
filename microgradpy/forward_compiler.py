"""The road to a pushforward, which is made for a unit when somebody wants it:

    program_again -> primal_of -> forward_of -> linking
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, ClassVar, final

from microgradpy.ad import forward as forward_pass
from microgradpy.ad.calls import Apart
from microgradpy.ad.calls import Unit as CallUnit
from microgradpy.ad.checks import check_pushforward
from microgradpy.ad.primal import Primal
from microgradpy.ad.tangent_calls import NotPushable
from microgradpy.ad.unassigned import bind_unassigned
from microgradpy.cache import Unit, lock
from microgradpy.codegen.emit import emit
from microgradpy.codegen.loading import load_in_place_of
from microgradpy.compiler import Session
from microgradpy.dataclasses import dataclass, replace
from microgradpy.errors import CompilerBug, DifferentiationError
from microgradpy.ir.kinds import Kind
from microgradpy.ir.nodes import Const, Function, Op, Opcode, Return, Value, Var
from microgradpy.ir.reasons import MayWrite
from microgradpy.ir.rewrite import substitute
from microgradpy.ir.traversal import terminators, walk
from microgradpy.ir.verifier import verify
from microgradpy.linking import bind_awaited, bindings_of, errors_of_compiler, is_looked_at, link
from microgradpy.originals import builtins_in_place
from microgradpy.passes.dead_code import eliminate_dead_code
from microgradpy.passes.unneeded import without_unneeded
from microgradpy.pipeline import VERIFY, differentiated, primal_of, program_again
from microgradpy.rules.registry import frule
from microgradpy.runtime import second_derivatives  # noqa: F401 - the rules of what is left to run time
from microgradpy.runtime.collector import resting
from microgradpy.runtime.pushforwards import AT_RUN_TIME
from microgradpy.runtime.room import with_room


@final
@dataclass(frozen=True, slots=True)
class _Callee:
    """A function that is differentiated through its own source, with the unit that it has."""

    function: types.FunctionType
    unit: Unit
    kinds: tuple[Kind, ...]


@final
@dataclass(frozen=True, slots=True)
class PushforwardOf:
    """Stands for a unit's pushforward in the IR until there is a function to bind."""

    callee: _Callee
    stands_for_unit: ClassVar[bool] = True

    @property
    def function(self) -> Callable[..., Any] | None:
        return self.callee.unit.pushforward

    def make(self) -> Callable[..., Any]:
        return add_pushforward(self.callee.function, self.callee.unit, self.callee.kinds)

    def kept(self) -> object:
        return None  # the callee has all


class ForwardSession(Session):
    """One run of the compiler towards a pushforward: notes what is called, so that it gets one as well."""

    def __init__(self, function: types.FunctionType, unit: Unit) -> None:
        super().__init__(function, unit)
        self.repeats = False
        self.met_units: dict[int, _Callee] = {}
        self.constants: dict[int, Const] = {}

    def unit(
        self, called: types.FunctionType | Apart, kinds: tuple[Kind, ...], active: tuple[bool, ...]
    ) -> Unit | MayWrite | None:
        function = called.callee if isinstance(called, Apart) else called
        # What has a rule for forward mode only has a text for reverse mode: the dispatcher chooses.
        unit = None if frule.has(function) else super().unit(called, kinds, active)
        if isinstance(unit, Unit):
            self.met_units[id(unit)] = _Callee(function, unit, kinds)
        return unit

    def pushforward(self, unit: CallUnit) -> Const:
        if id(unit) not in self.constants:
            wanted = PushforwardOf(self.met_units[id(unit)])
            self.constants[id(unit)] = Const(wanted, f"{unit.name}_pushforward", wanted)
        return self.constants[id(unit)]


def forward_of(ir: Function, primal: Primal, active: tuple[bool, ...], services: Any) -> Function:
    """The pushforward of a primal."""
    made = eliminate_dead_code(forward_pass.transform(primal, differentiated(ir, active), services))
    if services.checks:
        made = check_pushforward(made, primal, services.checks)
    made = bind_unassigned(made)
    if VERIFY:
        verify(made)
    return made


class _DifferentiatedSession(ForwardSession):
    """The same towards a pushforward that is differentiated itself: what it calls are the IR of pushforwards, too."""

    is_differentiated = True

    def pushforward(self, unit: CallUnit) -> Const:
        met = self.met_units[id(unit)]
        apart = pushforward_apart(met.function, met.unit, met.kinds)
        return Const(apart, f"{unit.name}_pushforward", apart)


def pushforward_apart(function: types.FunctionType, unit: Unit, kinds: tuple[Kind, ...]) -> Apart:
    """The pushforward of a unit as a function of which there is the IR, to be differentiated. Raises NotPushable."""
    if unit.passed:
        raise NotPushable(f"calls of {unit.name} that hand on what they write into")
    if unit.apart is None:
        unit.apart = Apart(function, program_again(function, unit, kinds).ir)  # one that calls itself has itself in its IR
        try:
            made = forward_function(function, unit, kinds, _DifferentiatedSession)
            if isinstance(made, MayWrite):
                raise CompilerBug(f"the primal of {unit.name} does not write, and then it does: {made.what}")
        except BaseException:
            unit.apart = None
            raise
        unit.apart.function = made
    found: Apart = unit.apart
    return found


def tangent_apart(function: types.FunctionType, unit: Unit, kinds: tuple[Kind, ...]) -> Apart | None:
    """The same function that returns the tangent only, which is always there; None if there is none. Raises NotPushable."""
    if unit.apart_alone is None:
        made = tangent_alone(pushforward_apart(function, unit, kinds).function)
        unit.apart_alone = None if made is None else Apart(function, made)
    found: Apart | None = unit.apart_alone
    return found


def tangent_alone(pushforward: Function) -> Function | None:
    """A pushforward that returns the tangent only, if that is always a variable:

        return y, y_dot         becomes         return y_dot

    Nor does it do what nobody but who returns the value needs, where that cannot raise.
    """
    made = {op.results[0]: op for op in walk(pushforward.body) if isinstance(op, Op) and op.callee is Opcode.TUPLE}
    pairs = [made.get(end.value) for end in terminators(pushforward.body) if isinstance(end, Return)]  # type: ignore[arg-type]
    tangents: dict[Var, Value] = {pair.results[0]: pair.arguments[1] for pair in pairs if pair is not None}
    if None in pairs or not all(isinstance(tangent, Var) for tangent in tangents.values()):
        return None
    return without_unneeded(replace(pushforward, body=substitute(pushforward.body, tangents)))


def check_differentiable(apart: Apart, seen: set[int] | None = None) -> None:
    """Refuse to differentiate a pushforward that leaves something to run time, or to an adjoint that has been made; or that
    calls one which does."""
    seen = set() if seen is None else seen
    seen.add(id(apart))
    for op in walk(apart.function.body):
        callee = op.callee.value if isinstance(op, Op) and isinstance(op.callee, Const) else None
        if isinstance(callee, Apart) and id(callee) not in seen:
            check_differentiable(callee, seen)
        if any(callee is each for each in AT_RUN_TIME) or (getattr(callee, "stands_for_unit", False)):
            raise DifferentiationError(
                f"the second derivative of `{op.where.text}` cannot be made: its tangent is found when it runs",
                op.where,
                "Write it by operations whose kinds are known, on numbers and arrays.",
            )


def forward_function(
    function: types.FunctionType, unit: Unit, kinds: tuple[Kind, ...], session_of: type[ForwardSession] = ForwardSession
) -> Function | MayWrite:
    """The IR of the pushforward of a unit."""
    program = program_again(function, unit, kinds)
    session = session_of(function, unit)
    primal = primal_of(program, kinds, unit.active, session)
    if isinstance(primal, MayWrite):
        return primal
    return forward_of(program.ir, primal, unit.active, session)


@with_room
def add_pushforward(function: types.FunctionType, unit: Unit, kinds: tuple[Kind, ...]) -> Callable[..., Any]:
    """The pushforward of a unit. Those of the units that it may call are shown to exist; they are made when they are called."""
    with lock, resting():
        root = _Callee(function, unit, kinds)
        waiting = [root]
        while waiting:
            callee = waiting.pop()
            if callee.unit.pushforward is None and callee.unit.pushing is None:
                try:
                    made = forward_function(callee.function, callee.unit, callee.kinds)
                except NotPushable:
                    unit.is_pushable = False
                    raise
                if isinstance(made, MayWrite):
                    raise CompilerBug(f"the primal of {unit.name} does not write, and then it does: {made.what}")
                callee.unit.pushing = made
                waiting += _called_by(made)
        run = _finished(root)
    if is_looked_at():
        bind_awaited(run)
    return run


def _called_by(made: Function) -> list[_Callee]:
    """The functions whose pushforwards are called by one."""
    callees = [op.callee.value for op in walk(made.body) if isinstance(op, Op) and isinstance(op.callee, Const)]
    return [wanted.callee for wanted in callees if isinstance(wanted, PushforwardOf)]


@with_room
def _finished(callee: _Callee) -> Callable[..., Any]:
    """The pushforward of a unit of which there is the IR."""
    with lock:
        function, unit = callee.function, callee.unit
        if unit.pushforward is None:
            with resting(), builtins_in_place(), errors_of_compiler(function.__code__, function.__globals__):
                _generate(function, unit)
        assert unit.pushforward is not None
        return unit.pushforward


def _generate(function: types.FunctionType, unit: Unit) -> None:
    code = function.__code__
    emitted = emit(unit.pushing, name=f"{unit.name}_pushforward", stands_for=(code.co_filename, code.co_firstlineno))
    assert emitted.tree is not None
    bindings = bindings_of(emitted, function.__name__, function.__globals__)
    run, shown = load_in_place_of(function, emitted.tree, emitted.text, bindings)
    unit.pushforward_text = emitted.text
    unit.shows(shown)
    link(run, bindings)
    unit.pushforward, unit.pushing = run, None
