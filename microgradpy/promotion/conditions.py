"""What is only asked whether it is true: `node and node.key != key` in a condition is no object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from microgradpy.ir.nodes import Const, If, Region, Value, Var, While, Yield
from microgradpy.ir.traversal import regions, terminator_values, uses, walk
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


def asked_at_once(body: Region) -> frozenset[Var]:
    """The results of branches that are asked once, whether they are true, before anything else is done."""
    inner = [region for statement in walk(body) for region in regions(statement)]
    counts = Counter(value for statement in walk(body) for value in uses(statement))
    counts.update(value for region in (body, *inner) for value in terminator_values(region.terminator))
    found: set[Var] = set()
    _note_at_once(body, frozenset(), counts, found)
    return frozenset(found)


def _note_at_once(region: Region, yielded: frozenset[int], counts: Mapping[Value, int], found: set[Var]) -> None:
    """The same of a region of which the values in some places are asked as soon as it ends."""
    ends = terminator_values(region.terminator) if isinstance(region.terminator, Yield) else ()
    following = (*region.statements[1:], None)[: len(region.statements)]
    for statement, after in zip(region.statements, following, strict=True):
        if not isinstance(statement, If):
            for inner in regions(statement):
                is_condition = isinstance(statement, While) and inner is statement.condition
                _note_at_once(inner, frozenset((0,)) if is_condition else frozenset(), counts, found)
            continue
        places = set()
        for place, result in enumerate(statement.results):
            is_next = isinstance(after, If) and after.condition == result
            is_last = after is None and any(value == result and number in yielded for number, value in enumerate(ends))
            if counts[result] == 1 and (is_next or is_last):
                places.add(place)
                found.add(result)
        for arm in (statement.then, statement.orelse):
            _note_at_once(arm, frozenset(places), counts, found)
