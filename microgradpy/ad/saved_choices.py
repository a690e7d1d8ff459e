"""Arrays of which the adjoint asks only where they are larger, or smaller, than a number: that is saved, and not the array.

    total = x @ W + b                           total = x @ W + b
    h = np.maximum(total, 0.0)                  wins = np.greater(total, 0.0)
    return h, total                             equal = ties(total, 0.0)
                                                h = np.maximum(total, 0.0)
                                                return h, (wins, equal)

    maximum_bar(h_bar, total, 0.0)              share(h_bar, wins, equal)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.ad.primal import Primal
from microgradpy.ad.saved_shapes import measured, measured_place, read_for_more
from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import Array, Kind
from microgradpy.ir.nodes import Const, Function, Op, Region, Statement, Var, fresh, function_constant
from microgradpy.ir.rewrite import map_statements
from microgradpy.ir.traversal import definitions, walk
from microgradpy.runtime.modes import RUN
from microgradpy.tangents.choices import maximum_bar, minimum_bar, share, ties

_COMPARED: dict[Any, Const] = {maximum_bar: Const(np.greater, "np.greater", np), minimum_bar: Const(np.less, "np.less", np)}
_TIES, _SHARE = function_constant(ties), function_constant(share)


def asking_less(primal: Primal, adjoint: Region) -> tuple[Region, dict[Var, list[Op]], dict[Var, Kind]]:
    """The adjoint of a primal without the arrays of which it asks such masks or the shape, as far as nobody writes into arrays;
    the operations that the primal does instead, by the array that they are about; and the kinds of their results, where these
    are masks."""
    if primal.memory is not None:
        return adjoint, {}, {}
    # Native code keeps the array: it makes no masks.
    adjoint, masks, kinds = (adjoint, {}, {}) if RUN.mode.native else _by_masks(primal.function, adjoint)
    adjoint, measures = measured(primal.function, adjoint)
    moved = {array: [*masks.get(array, ()), *measures.get(array, ())] for array in {**masks, **measures}}
    return adjoint, moved, kinds


def _by_masks(function: Function, adjoint: Region) -> tuple[Region, dict[Var, list[Op]], dict[Var, Kind]]:
    """The adjoint with masks in the place of arrays that are asked for nothing else; the operations of the primal that make
    these, by the array; and their kinds."""
    asked: dict[Var, list[Op]] = {}
    for statement in walk(adjoint):
        if isinstance(statement, Op) and _is_choice(statement):
            asked.setdefault(statement.arguments[1], []).append(statement)  # type: ignore[arg-type]
    if not asked:
        return adjoint, {}, {}
    read = set(read_for_more(adjoint, _place))
    made = {var for statement in walk(function.body) for var in definitions(statement)}
    masks: dict[Var, list[Op]] = {}
    kinds: dict[Var, Kind] = {}
    shares: dict[Var, Op] = {}
    for array, ops in asked.items():
        kind = function.kinds.get(array)
        if array not in made or array in read or not isinstance(kind, Array) or not kind.ndim:
            continue
        for op in ops:
            wins, equal, shared = _of_masks(op)
            masks.setdefault(array, []).extend((wins, equal))
            # Where nothing is equal there is False in the place of a mask, which nothing but `share` gets.
            kinds |= dict.fromkeys((wins.result, equal.result), replace(kind, dtype="bool"))
            shares[op.result] = shared

    def rewrite(statement: Statement) -> tuple[Statement, ...]:
        is_one = isinstance(statement, Op) and len(statement.results) == 1
        return (shares.get(statement.result, statement) if is_one else statement,)  # type: ignore[union-attr]

    return map_statements(adjoint, rewrite) if shares else adjoint, masks, kinds


def _is_choice(op: Op) -> bool:
    """Whether an operation gives the cotangent of an array of which the larger entries were chosen, or those of a number."""
    match op:
        case Op(callee=Const(value=function), arguments=(_, Var(), Const(value=bound)), keywords=()):
            return type(bound) in (int, float) and any(function is each for each in _COMPARED)
    return False


def _place(op: Op) -> int | None:
    """Which argument an operation asks for its shape or such a mask only."""
    return 1 if _is_choice(op) else measured_place(op)


def _of_masks(op: Op) -> tuple[Op, Op, Op]:
    """The operations that find out what was chosen and what is equal, and the same cotangent by what they give."""
    assert isinstance(op.callee, Const)
    bar, *compared = op.arguments
    wins, equal = fresh("wins"), fresh("equal")
    larger = Op(_COMPARED[op.callee.value], tuple(compared), (wins,), from_user=False, where=op.where)
    return larger, replace(larger, callee=_TIES, results=(equal,)), replace(op, callee=_SHARE, arguments=(bar, wins, equal))
