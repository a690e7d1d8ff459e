"""Why something that a function makes stays memory: where it is made, and where it is used in a way that is not followed.

    b = Box(x)        line 2: `Box(x)` stays memory: it escapes in line 4, where it is returned
    ...
    return b
"""

from __future__ import annotations

import operator
from collections.abc import Hashable
from typing import Any, final

from microgradpy.ad.reasons import variable_of
from microgradpy.dataclasses import nodeclass, replace
from microgradpy.ir.nodes import (
    Const,
    For,
    Function,
    If,
    Location,
    Op,
    Opcode,
    Raise,
    Return,
    Statement,
    Terminator,
    While,
)
from microgradpy.ir.reasons import MEMORY, Reason, expression_at, reason_at
from microgradpy.ir.traversal import walk
from microgradpy.promotion.findings import Origin


@final
@nodeclass(frozen=True, slots=True)
class Used:
    """What a walk is at, and whether something is not followed because an exception may be caught there."""

    statement: Statement | Terminator
    is_tried: bool = False


def reason_of_escape(function: Function, origin: Origin, used: Used | None) -> Reason | None:
    """The reason why what `origin` makes in a function, or is an argument of it or a variable of a module, stays memory; None
    if it is none of these."""
    made = origin[0] if origin else None
    if isinstance(made, int):  # an argument has its number
        return Reason(MEMORY, function.where, function.inputs[made].hint, _why(used, function.where))
    if made == "variable":
        return Reason(MEMORY, function.where, str(origin[-1]), _why(used, function.where))
    for statement in walk(function.body):
        if isinstance(statement, Op) and made in statement.results and statement.where.line:
            reason = reason_at(MEMORY, statement.where, _why(used, statement.where))
            return replace(reason, text=variable_of(statement) or reason.text)
    return None


def _why(used: Used | None, made: Location) -> str:
    where = None if used is None else getattr(used.statement, "where", None)
    if not isinstance(where, Location) or not where.line:
        return f"it escapes, as {_use(used)}"
    if where.line == made.line and where.function == made.function:
        return f"it escapes there, as {_use(used)}"
    of = "" if where.function == made.function else f" of {where.function}"
    return f"it escapes in line {where.line}{of}, as {_use(used)}"


def _use(used: Used | None) -> str:
    if used is not None and used.is_tried:
        return "an exception may be caught there"
    match used and used.statement:
        case Return() | Raise() as left:
            return "it is returned" if isinstance(left, Return) else "it is raised"
        case If() | While() | For() as joins:
            when = "after the branch" if isinstance(joins, If) else "in the next iteration"
            return f"another object may be in its place {when}"
        case Op(callee=Opcode() as opcode) if opcode in _BY_OPCODE:
            return _BY_OPCODE[opcode]
        case Op(callee=Const(value=function)) if isinstance(function, Hashable) and function in _BY_FUNCTION:
            return _BY_FUNCTION[function]
        case Op(where=where) if where.line:
            return f"`{expression_at(where)}` is not followed"
    return "it is used in a way that is not followed"


_BY_OPCODE = dict.fromkeys(
    (Opcode.LIST, Opcode.TUPLE, Opcode.DICT, Opcode.SET, Opcode.APPEND, Opcode.STORE), "another object gets it"
) | {Opcode.CLOSURE: "the function that captures it is not followed"}
_BY_FUNCTION: dict[Any, str] = {
    **dict.fromkeys((operator.is_, operator.is_not), "it is compared by identity"),
    **dict.fromkeys((operator.setitem, operator.delitem, setattr, delattr), "what is written there is not followed"),
}
