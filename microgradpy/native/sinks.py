"""Tests that are left out, since later ones say the same:

    product = a * b                         product = a * b
    if not math.isfinite(product):          s += product
        return FAILED                       if not math.isfinite(s):
    s += product                                return FAILED
    if not math.isfinite(s):
        return FAILED

What is not finite stays so in sums and products. So a value need not be looked at if nothing else is done with it, in the same
region, and what it becomes is.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator

from microgradpy.ir.nodes import (
    Break,
    Const,
    Continue,
    If,
    Op,
    Region,
    Return,
    Statement,
    Terminator,
    Value,
    Var,
)
from microgradpy.ir.rewrite import map_regions
from microgradpy.ir.traversal import count_reads, regions, terminators
from microgradpy.native import helpers
from microgradpy.native.calls import FAILED, IS_FINITE, IS_FINITE_NUMBER

_KEEPING = (operator.add, operator.sub, operator.mul, operator.neg, helpers.total)
_TESTS = (IS_FINITE, IS_FINITE_NUMBER)


def with_fewer_tests(body: Region) -> Region:
    """The body of a function without tests that others make needless."""
    return _Sinks(count_reads(body)).region(body)


class _Sinks:
    def __init__(self, reads: Counter[Value]) -> None:
        self.reads = reads

    def region(self, region: Region) -> Region:
        statements = [map_regions(statement, self.region) for statement in region.statements]
        tests = {
            test: at for at, statement in enumerate(statements) if (test := _tested(statement, statements, at)) is not None
        }
        later, needless = Counter[Var](), set[int]()
        # Backwards, as what a value becomes is looked at after it.
        for at in reversed(range(len(statements))):
            statement = statements[at]
            if not isinstance(statement, Op):
                if isinstance(statement, If) and any(map(_leads_away, _ends(statement))):
                    later.clear()  # what comes after it may not be reached
                continue
            result = statement.results[0] if len(statement.results) == 1 else None
            # Its test reads it once.
            if result in tests and 0 < later[result] == self.reads[result] - 1:
                needless |= {tests[result], tests[result] + 1}
            if _keeps(statement) and result in tests:
                later.update(value for value in statement.arguments if isinstance(value, Var))
        return Region(tuple(each for at, each in enumerate(statements) if at not in needless), region.terminator)


def _ends(statement: Statement) -> Iterator[Terminator]:
    """The ends in a statement that do not go to a loop inside of it."""
    for region in regions(statement):
        yield from terminators(region, of_inner_loops=False)


def _leads_away(end: Terminator) -> bool:
    return isinstance(end, Break | Continue) or (isinstance(end, Return) and end != Return(FAILED))


def _keeps(op: Op) -> bool:
    return isinstance(op.callee, Const) and any(op.callee.value is each for each in _KEEPING)


def _tested(statement: Statement, statements: list[Statement], at: int) -> Var | None:
    """The variable that is looked at by an operation and the branch after it."""
    if not isinstance(statement, Op) or statement.callee not in _TESTS or at + 1 == len(statements):
        return None
    branch, (value,) = statements[at + 1], statement.arguments
    if not isinstance(branch, If) or branch.condition != statement.result or branch.orelse.terminator != Return(FAILED):
        return None
    return value if isinstance(value, Var) else None
