"""The road to the adjoint for the seed 1, which is made for a function whose gradient is asked for again and again:

    text -> frontend.lower -> ad.instrument -> ad.primal -> ad.reverse -> passes.unit_seed -> codegen -> load

It reads what the unit's primal saves, so the two must agree on it: the way up to the general adjoint is gone again, and if that
does not come out as the text that the unit has, there is none for the seed 1.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, final

from microgradpy.ad import primal as primal_pass
from microgradpy.cache import Unit, lock
from microgradpy.codegen.emit import emit
from microgradpy.codegen.loading import DUMP_VARIABLE, load
from microgradpy.compiler import VERIFY, Session, derive, instrumented
from microgradpy.ir.kinds import Kind
from microgradpy.ir.nodes import Function
from microgradpy.ir.verifier import verify
from microgradpy.linking import Half, bindings_of, emitted_pair
from microgradpy.passes.doubles import doubles
from microgradpy.passes.fresh_arrays import fresh_results, write_in_place
from microgradpy.passes.unit_seed import with_unit_seed


@final
@dataclass(frozen=True, slots=True)
class UnitSeedAdjoint:
    """`run(saved, seed)` returns what the unit's adjoint does for the seed 1; `fresh` says of each cotangent whether it is
    nobody else's."""

    run: Callable[..., Any]
    fresh: tuple[bool, ...]
    text: str


def unit_seed_adjoint(
    function: types.FunctionType, unit: Unit, kinds: tuple[Kind, ...], are_double: Iterable[bool]
) -> UnitSeedAdjoint | None:
    """The adjoint of a unit for the seed 1 and inputs of these kinds, some of which are of double precision; None if there is
    nothing to be gained, or if somebody looks on: at the generated files, at each result, or at where the pullback stops."""
    if unit.tracks or os.environ.get(DUMP_VARIABLE):
        return None
    with lock:
        ir, _ = instrumented(function)
        session = Session(function, unit)
        if session.checks or session.stopping is not None:
            return None
        primal = primal_pass.transform(ir, kinds, unit.active, session)
        _, pair = derive(ir, primal, unit.active, session)
        forward, reverse, general, _ = emitted_pair(function, pair, unit)
        if (forward.text, reverse.text) != unit.texts:
            return None
        known = doubles(pair.primal, compress(ir.inputs, are_double))
        seed = general.parameters[-1].var
        folded = with_unit_seed(general, seed, doubles(general, known))
        if folded == general:
            return None
        return _loaded(function, unit, write_in_place(folded))


def _loaded(function: types.FunctionType, unit: Unit, adjoint: Function) -> UnitSeedAdjoint:
    if VERIFY:
        verify(adjoint)
    name = f"{unit.name}_gradient"
    made = emit(replace(adjoint, name=name), name=name, comments=True)
    bindings = bindings_of(made, function, made.line_map)
    namespace = load(made.text, name, bindings)
    for global_name, value in bindings.items():
        if isinstance(value, Half):
            namespace[global_name] = value.function
    unit.files = (*unit.files, namespace["__file__"])
    return UnitSeedAdjoint(namespace[name], fresh_results(adjoint), made.text)
