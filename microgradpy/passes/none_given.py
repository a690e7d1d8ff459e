"""Decide what asks whether an argument is None, where the kinds of the inputs say so.

    def record(x, log=None):            def record(x, log):             called as `record(x)`
        if log is None:                     log_1 = []
            log = []                        log_1.append(x)
        log.append(x)

Else a variable would be either None or a list after the branch, of which nothing is proven.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import NOTHING, Kind, Optional, Unknown
from microgradpy.ir.nodes import Const, Function, If, Op, Region, Statement, Value, Var, Yield
from microgradpy.ir.rewrite import map_regions, substitute
from microgradpy.ir.traversal import walk

_ASKS = {operator.is_: True, operator.is_not: False}


def decide_none(function: Function, kinds: Sequence[Kind]) -> Function:
    """The function for inputs of these kinds, the captured variables first, without branches that are not taken as an input is
    None, or is not."""
    is_none = {var: kind == NOTHING for var, kind in zip(function.inputs, kinds, strict=False) if _is_known(kind)}
    found = _Deciding(is_none)
    if not any(found.asks(each) for each in walk(function.body)):
        return function
    body = found.region(function.body)
    return replace(function, body=substitute(body, found.values)) if found.values else function


def _is_known(kind: Kind) -> bool:
    """Whether it is proven that a value is None, or is not."""
    return not isinstance(kind, Unknown | Optional)


class _Deciding:
    """`values` are what conditions, and the results of branches that are gone, stand for."""

    def __init__(self, is_none: dict[Var, bool]) -> None:
        self.is_none = is_none
        self.values: dict[Var, Value] = {}

    def asks(self, statement: Statement) -> bool:
        match statement:
            case Op(callee=Const(value=function), arguments=(Var() as asked, Const(value=None))):
                return any(function is each for each in _ASKS) and asked in self.is_none
            case If(condition=Var() as asked):
                return self.is_none.get(asked, False)
        return False

    def region(self, region: Region) -> Region:
        kept: list[Statement] = []
        for statement in region.statements:
            kept += self.statement(statement)
        return replace(region, statements=tuple(kept))

    def statement(self, statement: Statement) -> tuple[Statement, ...]:
        match statement:
            case Op(callee=Const(value=function), arguments=(Var() as asked, _), results=(result,)) if self.asks(statement):
                self.values[result] = Const(self.is_none[asked] == _ASKS[function])
                return ()
            case If(condition=Var() as condition, then=then, orelse=orelse, results=results):
                holds = Const(False) if self.asks(statement) else self.values.get(condition)
                if isinstance(holds, Const):
                    arm = self.region(then if holds.value else orelse)
                    if isinstance(arm.terminator, Yield):
                        self.values |= dict(zip(results, arm.terminator.values, strict=True))
                        return arm.statements
        return (map_regions(statement, self.region),)
