"""The notes of a function in whose pullback somebody wants to stop: made where it begins, and filled where it returns.

    f(x):                          f(x):
        y = x * 2.0                    notes = open_notes(("x",), False, x)
        return y                       y = x * 2.0
                                       note_return(notes, place, ("x", "y"), y, x, y)
                                       return y
"""

from __future__ import annotations

from collections.abc import Mapping

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import (
    KEPT,
    Const,
    Location,
    Op,
    Opcode,
    Parameter,
    Region,
    Statement,
    Undefined,
    Value,
    Var,
    fresh,
    function_constant,
)
from microgradpy.ir.rewrite import map_statements
from microgradpy.ir.traversal import walk
from microgradpy.runtime.notes import note_return, open_notes

_BEFORE_VALUES = 4  # the notes, the place, the names and the result


def note_of(
    notes: Var, env: Mapping[str, Value], cells: Mapping[str, str], missing: Const, result: Value, where: Location
) -> Op:
    """The note of what the user's variables are in an environment, in which `missing` is none; `cells` has the names of those
    that live in cells."""
    values = {cells.get(name, name): found for name, found in env.items() if name in cells or not name.startswith(".")}
    values = {name: found for name, found in values.items() if not isinstance(found, Undefined) and found != missing}
    arguments = (notes, Const(where), Const(tuple(values)), result, *values.values())
    return Op(function_constant(note_return), arguments, (fresh("noted"),), payload=KEPT, from_user=False, where=where)


def with_notes(region: Region, notes: Var, parameters: tuple[Parameter, ...], copies: bool) -> Region:
    """The body of a function that notes its variables, with the notes made first of all. `copies`: it may write."""
    made = {op.results[0] for op in walk(region) if isinstance(op, Op) and op.callee is Opcode.CLOSURE}
    names = Const(tuple(parameter.name for parameter in parameters))
    given: tuple[Value, ...] = (names, Const(copies), *(parameter.var for parameter in parameters))
    opening = Op(function_constant(open_notes), given, (notes,), payload=KEPT, from_user=False)

    def rewrite(statement: Statement) -> tuple[Statement, ...]:
        if isinstance(statement, Op) and statement.callee == function_constant(note_return):
            return (_without(statement, made),)
        return (statement,)

    body = map_statements(region, rewrite)
    return Region((opening, *body.statements), body.terminator)


def _without(op: Op, functions: set[Var]) -> Op:
    """A note without nested functions: to hand one over is to let it escape."""
    fixed, values = op.arguments[:_BEFORE_VALUES], op.arguments[_BEFORE_VALUES:]
    names = fixed[2]
    assert isinstance(names, Const)
    kept = [(name, value) for name, value in zip(names.value, values, strict=True) if value not in functions]
    arguments = (*fixed[:2], Const(tuple(name for name, _ in kept)), fixed[3], *(value for _, value in kept))
    return replace(op, arguments=arguments)
