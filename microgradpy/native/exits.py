"""Functions that return at one place only, their last line.

if x < 0.0:                 if x < 0.0:
    return 0.0                  y = 0.0
return x * x                else:
                                y = x * x
                            return y
"""

from __future__ import annotations

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import (
    NOWHERE,
    For,
    If,
    Raise,
    Region,
    Return,
    Statement,
    Terminator,
    Try,
    Unreachable,
    While,
    Yield,
    fresh,
)
from microgradpy.ir.rewrite import substitute
from microgradpy.ir.traversal import terminators, walk
from microgradpy.native.types import Unsupported


def with_one_exit(region: Region) -> Region:
    """The body of a function that ends in its only `Return`. Unsupported for one that returns out of a loop."""
    for statement in walk(region):
        if isinstance(statement, Try):
            raise Unsupported("a try", statement.where)
        if isinstance(statement, For | While) and any(map(_returns, terminators(statement.body))):
            raise Unsupported("a return out of a loop", statement.where)
    return _straight(region.statements, region.terminator)


def _returns(terminator: Terminator) -> bool:
    return isinstance(terminator, Return)


def _straight(statements: tuple[Statement, ...], terminator: Terminator) -> Region:
    for at, statement in enumerate(statements):
        if not isinstance(statement, If) or not any(_returns(end) for arm in _arms(statement) for end in terminators(arm)):
            continue
        rest = Region(statements[at + 1 :], terminator)
        if sum(isinstance(arm.terminator, Yield) for arm in _arms(statement)) > 1:
            raise Unsupported("a return in the middle of a branch", statement.where)
        result = fresh("y")
        then, orelse = (_arm(arm, statement, rest) for arm in _arms(statement))
        joined = If(statement.condition, then, orelse, (result,), statement.where)
        return Region((*statements[:at], joined), Return(result, NOWHERE))
    if not isinstance(terminator, Return | Raise):
        raise Unsupported("a function that does not end in a return")
    return Region(statements, terminator)


def _arms(statement: If) -> tuple[Region, Region]:
    return statement.then, statement.orelse


def _arm(arm: Region, statement: If, rest: Region) -> Region:
    """An arm that yields what the function returns, the rest of which follows it if it falls through."""
    if isinstance(arm.terminator, Yield):
        same = dict(zip(statement.results, arm.terminator.values, strict=True))
        later = substitute(rest, same)
        arm = Region((*arm.statements, *later.statements), later.terminator)
    if isinstance(arm.terminator, Unreachable | Raise) and not any(map(_returns, terminators(arm))):
        return arm
    end: Terminator = arm.terminator
    if isinstance(end, Unreachable):
        inner = arm.statements[-1]
        if not isinstance(inner, If):
            raise Unsupported("a return in the middle of a branch", statement.where)
        end = Return(fresh("y"))  # never reached
    straight = _straight(arm.statements, end)
    last = straight.terminator
    return replace(straight, terminator=Yield((last.value,))) if isinstance(last, Return) else straight
