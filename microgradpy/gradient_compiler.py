"""The road to the adjoint for the seed 1, which a gradient takes instead of the general one:

    adjoint that is not written in place yet -> passes.unit_seed -> passes.fresh_arrays -> codegen -> load
"""

from __future__ import annotations

import os
from itertools import compress

from microgradpy.cache import Adjoint, Unit, lock
from microgradpy.codegen.loading import DUMP_VARIABLE
from microgradpy.ir.verifier import verify
from microgradpy.linking import Source, link, load_adjoint, making
from microgradpy.passes.fresh_arrays import write_in_place
from microgradpy.passes.unit_seed import doubles, with_unit_seed
from microgradpy.pipeline import VERIFY
from microgradpy.runtime.room import with_room


def unit_seed_adjoint(unit: Unit, are_double: tuple[bool, ...]) -> Adjoint | None:
    """The adjoint of a unit for the seed 1 and inputs some of which are of double precision; None if there is nothing to be
    gained, or if somebody looks on: at the generated files, at each result, or at where the pullback stops."""
    if not any(are_double) or unit.tracks or unit.mode.checks or unit.mode.stops or os.environ.get(DUMP_VARIABLE):
        return None
    return _made(unit, are_double)


@with_room
def _made(unit: Unit, are_double: tuple[bool, ...]) -> Adjoint | None:
    with lock:
        source: Source | None = unit.source
        if source is not None and are_double not in unit.at_one:
            with making(source):
                unit.at_one[are_double] = _folded(unit, source, are_double)
        return unit.at_one.get(are_double)


def _folded(unit: Unit, source: Source, are_double: tuple[bool, ...]) -> Adjoint | None:
    primal, general = source.primal, source.adjoint
    known = doubles(primal, compress(primal.inputs, are_double))
    wide = doubles(general, known)
    folded = with_unit_seed(general, general.parameters[-1].var, wide)
    adjoint = write_in_place(folded or general, wide)
    if folded is None and adjoint.body == write_in_place(general).body:
        return None
    if VERIFY:
        verify(adjoint)
    made, bindings = load_adjoint(unit, source, adjoint, f"{unit.name}_gradient")
    link(made.run, bindings)
    return made
