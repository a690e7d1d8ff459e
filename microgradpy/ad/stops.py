"""A stop where an adjoint begins.

    f_adjoint(saved, y_bar):      becomes      f_adjoint(saved, y_bar):
                                                   notes, ... = saved
                                                   stop_here(stopping, notes, y_bar)
"""

from __future__ import annotations

from microgradpy.ad.primal import Primal
from microgradpy.ad.reverse import Reverse
from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import KEPT, Const, Op, Region, Statement, fresh, function_constant
from microgradpy.ir.rewrite import map_statements
from microgradpy.ir.traversal import walk
from microgradpy.runtime.notes import open_notes
from microgradpy.state.stops import Stopping, stop_here


def noting(primal: Primal) -> Primal:
    """The primal of a function that notes its variables. Its notes are none of the user's operations: they may hold variables
    that have no value."""

    def rewrite(statement: Statement) -> tuple[Statement, ...]:
        if isinstance(statement, Op) and statement.payload == KEPT:
            return (replace(statement, from_user=False),)
        return (statement,)

    return replace(primal, function=replace(primal.function, body=map_statements(primal.function.body, rewrite)))


def with_stop(primal: Primal, reverse: Reverse, stopping: Stopping) -> Reverse:
    """The adjoint of a function that notes its variables, stopping with the notes first of all."""
    body = primal.function.body
    notes = next(op.results[0] for op in walk(body) if isinstance(op, Op) and op.callee == function_constant(open_notes))
    given = (Const(stopping), notes, reverse.seed, *((reverse.shadows,) if reverse.shadows is not None else ()))
    stop = Op(function_constant(stop_here), given, (fresh("stopped"),), payload=KEPT, where=primal.function.where)
    return replace(reverse, region=Region((stop, *reverse.region.statements), reverse.region.terminator))
