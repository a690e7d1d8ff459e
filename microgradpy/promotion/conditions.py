"""What is only asked whether it is true: `node and node.key != key` in a condition is no object."""

from __future__ import annotations

from collections.abc import Mapping

from microgradpy.ir.nodes import Const, If, Region, Value, Var, While, Yield
from microgradpy.ir.traversal import regions, terminator_values, uses
from microgradpy.promotion.places import Known, Table

Fact = Value | tuple[Table, Value, str]
"""The number of an object that is not None, or that of a dict in a table and a key that it has."""
Present = tuple[frozenset[Fact], frozenset[Fact]]
"""What is known if a condition holds, and if it does not."""
_NOTHING: Present = frozenset(), frozenset()


def asked_only(body: Region) -> frozenset[Var]:
    """The results of branches of which nobody has more than whether they are true."""
    kept: set[Value] = set()
    flows: list[tuple[Value, Var]] = []
    _note(body, kept, flows)
    kept.update(terminator_values(body.terminator))
    while more := {value for value, result in flows if result in kept} - kept:
        kept |= more
    return frozenset(result for _, result in flows) - kept


def _note(region: Region, kept: set[Value], flows: list[tuple[Value, Var]]) -> None:
    """Note what a region keeps, and which values become which results of branches."""
    for statement in region.statements:
        kept.update(() if isinstance(statement, If) else uses(statement))
        for inner in regions(statement):
            _note(inner, kept, flows)
            values = terminator_values(inner.terminator)
            if isinstance(statement, If) and isinstance(inner.terminator, Yield):
                flows += zip(values, statement.results, strict=True)
            else:
                is_condition = isinstance(statement, While) and inner is statement.condition
                kept.update(values[1:] if is_condition else values)


def present_where(tests: Mapping[Value, Present], condition: Known, holds: bool) -> frozenset[Fact]:
    """What a condition says of objects and dicts, if it holds or not."""
    found = tests.get(condition, _NOTHING) if isinstance(condition, Var) else _NOTHING
    return found[0] if holds else found[1]


def present_after(tests: Mapping[Value, Present], condition: Value, then: Known, orelse: Known) -> Present:
    """The same of `then if condition else orelse`: of a conjunction if it holds, of a disjunction if it does not."""
    held = refused = _NOTHING[0]
    if orelse == condition or orelse == Const(False):
        held = present_where(tests, condition, True) | present_where(tests, then, True)
    if then == condition or then == Const(True):
        refused = present_where(tests, condition, False) | present_where(tests, orelse, False)
    return held, refused
