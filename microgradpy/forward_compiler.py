"""The road to a pushforward, which is made for a unit when somebody wants it:

    text -> frontend.lower -> ad.instrument -> ad.primal -> ad.forward -> passes -> codegen -> load
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, final

from microgradpy.ad import forward as forward_pass
from microgradpy.ad import primal as primal_pass
from microgradpy.ad.calls import Unit as CallUnit
from microgradpy.ad.checks import check_pushforward
from microgradpy.ad.tangent_calls import NotPushable
from microgradpy.ad.unassigned import bind_unassigned
from microgradpy.cache import Unit, lock
from microgradpy.codegen.emit import emit
from microgradpy.codegen.loading import load_in_place_of
from microgradpy.compiler import VERIFY, Session, instrumented
from microgradpy.ir.kinds import Kind
from microgradpy.ir.nodes import Const, Function
from microgradpy.ir.verifier import verify
from microgradpy.linking import Half, bindings_of
from microgradpy.passes.dead_code import eliminate_dead_code
from microgradpy.rules.registry import frule


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


class ForwardSession(Session):
    """One run of the compiler towards a pushforward: notes what is called, so that it gets one as well."""

    def __init__(self, function: types.FunctionType, unit: Unit) -> None:
        super().__init__(function, unit)
        self.met_units: dict[int, _Callee] = {}
        self.constants: dict[int, Const] = {}

    def unit(self, function: types.FunctionType, kinds: tuple[Kind, ...], active: tuple[bool, ...]) -> Unit | None:
        # What has a rule for forward mode only has a text for reverse mode: the dispatcher chooses.
        unit = None if frule.has(function) else super().unit(function, kinds, active)
        if unit is not None:
            self.met_units[id(unit)] = _Callee(function, unit, kinds)
        return unit

    def pushforward(self, unit: CallUnit) -> Const:
        if id(unit) not in self.constants:
            wanted = PushforwardOf(self.met_units[id(unit)])
            self.constants[id(unit)] = Const(wanted, f"{unit.name}_pushforward", wanted)
        return self.constants[id(unit)]


def forward_function(function: types.FunctionType, unit: Unit, kinds: tuple[Kind, ...]) -> Function:
    """The IR of the pushforward of a unit."""
    ir, _ = instrumented(function)
    session = ForwardSession(function, unit)
    primal = primal_pass.transform(ir, kinds, unit.active, session)
    differentiated = tuple(var for var, flag in zip(ir.inputs, unit.active, strict=True) if flag)
    made = eliminate_dead_code(forward_pass.transform(primal, differentiated, session))
    if session.checks:
        made = check_pushforward(made, primal, session.checks)
    made = bind_unassigned(made)
    if VERIFY:
        verify(made)
    return made


def add_pushforward(function: types.FunctionType, unit: Unit, kinds: tuple[Kind, ...]) -> Callable[..., Any]:
    """The pushforward of a unit, and those of all units that it calls."""
    with lock:
        waiting = [_Callee(function, unit, kinds)]
        links: list[tuple[dict[str, Any], str, Half | PushforwardOf]] = []
        while waiting:
            callee = waiting.pop()
            if callee.unit.pushforward is None:
                try:
                    links += _generate(callee)
                except NotPushable:
                    unit.is_pushable = False
                    raise
                waiting += [wanted.callee for _, _, wanted in links if isinstance(wanted, PushforwardOf)]
        for namespace, name, wanted in links:
            namespace[name] = wanted.function
    assert unit.pushforward is not None
    return unit.pushforward


def _generate(callee: _Callee) -> list[tuple[dict[str, Any], str, Half | PushforwardOf]]:
    function, unit = callee.function, callee.unit
    code = function.__code__
    made = forward_function(function, unit, callee.kinds)
    emitted = emit(made, name=f"{unit.name}_pushforward", stands_for=(code.co_filename, code.co_firstlineno))
    assert emitted.tree is not None
    bindings = bindings_of(emitted, function)
    unit.pushforward, shown = load_in_place_of(function, emitted.tree, emitted.text, bindings)
    unit.pushforward_text = emitted.text
    unit.files = (*unit.files, shown)
    namespace = unit.pushforward.__globals__
    return [(namespace, name, value) for name, value in bindings.items() if isinstance(value, Half | PushforwardOf)]
