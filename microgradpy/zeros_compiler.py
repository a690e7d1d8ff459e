"""The road to an adjoint that keeps the zeros of selections, which is made for a unit when NaN came out of the general one:

    program_again -> primal_of -> reverse_of, with ad.zeros -> pair_of -> linking

It reads what the unit's primal has saved, so the two must agree on it, as for the seed 1 (`gradient_compiler`); if they do not,
the general adjoint is taken, whose NaN says that nothing is known.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, ClassVar, final

from microgradpy.ad.calls import Apart
from microgradpy.ad.calls import Unit as CallUnit
from microgradpy.cache import Unit, lock
from microgradpy.compiler import Session
from microgradpy.dataclasses import dataclass
from microgradpy.errors import DifferentiationError
from microgradpy.ir.kinds import Kind
from microgradpy.ir.nodes import Const
from microgradpy.ir.reasons import MayWrite
from microgradpy.linking import emit_primal, link, load_adjoint
from microgradpy.originals import builtins_in_place
from microgradpy.passes.fresh_arrays import write_in_place
from microgradpy.pipeline import pair_of, primal_of, program_again, reverse_of
from microgradpy.runtime.collector import resting
from microgradpy.runtime.modes import changed_mode
from microgradpy.runtime.room import with_room


@final
@dataclass(frozen=True, slots=True)
class Keeping:
    """An adjoint that keeps zeros, and which of its cotangents may hold zeros of a selection."""

    function: Callable[..., Any]
    gives_selected: tuple[bool, ...]
    stands_for_unit: ClassVar[bool] = True


class _Session(Session):
    """One run of the compiler towards such an adjoint: those that it calls are made as well."""

    keeps_zeros = True

    def __init__(self, function: types.FunctionType, unit: Unit, seed_is_selected: bool) -> None:
        super().__init__(function, unit)
        self.seed_is_selected = seed_is_selected
        self.functions: dict[int, types.FunctionType] = {}

    def unit(
        self, called: types.FunctionType | Apart, kinds: tuple[Kind, ...], active: tuple[bool, ...]
    ) -> Unit | MayWrite | None:
        unit = super().unit(called, kinds, active)
        if isinstance(unit, Unit):
            self.functions[id(unit)] = called.callee if isinstance(called, Apart) else called
        return unit

    def adjoint_half(self, unit: CallUnit, is_selected: bool = False) -> Const:
        assert isinstance(unit, Unit)
        made = adjoint_keeping_zeros(self.functions[id(unit)], unit, is_selected)
        return Const(made, f"{unit.name}_adjoint{'_of_selected' if is_selected else ''}", made)


@with_room
def adjoint_keeping_zeros(function: types.FunctionType, unit: Unit, seed_is_selected: bool) -> Keeping:
    """The adjoint of a unit that keeps the zeros of selections; the general one if it cannot be had."""
    with lock:
        if seed_is_selected not in unit.keeping:
            # A function that calls itself finds this: nothing is known of its cotangents.
            unit.keeping[seed_is_selected] = Keeping(
                lambda *given: unit.keeping[seed_is_selected].function(*given), (False,) * sum(unit.active)
            )
            with resting():
                unit.keeping[seed_is_selected] = _compiled(function, unit, seed_is_selected)
        found: Keeping = unit.keeping[seed_is_selected]
        return found


def _compiled(function: types.FunctionType, unit: Unit, seed_is_selected: bool) -> Keeping:
    adjoint = unit.adjoint
    assert adjoint is not None
    general = Keeping(adjoint, (seed_is_selected,) * sum(unit.active))
    try:
        with changed_mode(**unit.mode._asdict()), builtins_in_place():
            return _derived(function, unit, seed_is_selected) or general
    except DifferentiationError:
        return general


def _derived(function: types.FunctionType, unit: Unit, seed_is_selected: bool) -> Keeping | None:
    """The adjoint, if it reads what the primal has saved, and nobody looks at each result or at where the pullback stops."""
    program = program_again(function, unit, unit.kinds)
    session = _Session(function, unit, seed_is_selected)
    if session.checks or session.stopping is not None:
        return None
    primal = primal_of(program, unit.kinds, unit.active, session)
    if isinstance(primal, MayWrite):
        return None
    primal, reverse = reverse_of(program.ir, primal, unit.active, session)
    forward, source = emit_primal(function, pair_of(primal, reverse), unit)
    if unit.primal_text is None or forward.text != unit.primal_text[0]:
        return None
    made, bindings = load_adjoint(unit, source, write_in_place(source.adjoint), f"{unit.name}_adjoint")
    # The text of a function may call its own adjoint by name, so this comes after the definition.
    link(made.run, bindings)
    return Keeping(made.run, reverse.selected)
