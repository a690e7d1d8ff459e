"""Items of a cotangent that are taken out, set to zero, and put back as they were: they stay where they are.

    d = x_bar[i]                       d = x_bar[i]              x[i] -= e
    x_bar[i] = 0.0
    e_bar -= d             becomes     e_bar -= d
    x_bar[i] += d

In between others may be added to, but nothing is read: there the item would be zero.
"""

from __future__ import annotations

import operator
from collections import Counter

from microgradpy.ir.nodes import Augmented, Const, Op, Opcode, Region, Statement, Value, Var
from microgradpy.ir.rewrite import map_regions, substitute
from microgradpy.ir.traversal import count_reads, regions, stores_items, terminator_values, uses, walk

_GETITEM, _ZERO, _ADDED = Const(operator.getitem), Const(0.0), Augmented("+")


def leave_items(body: Region) -> Region:
    """The region without such stores."""
    if not stores_items(body):
        return body
    counts = count_reads(body)
    left: dict[Var, Value] = {}

    def rewritten(region: Region) -> Region:
        statements = [map_regions(statement, rewritten) for statement in region.statements]
        dropped = set[int]()
        for place, statement in enumerate(statements):
            if isinstance(statement, Op) and (taken := _taken(statement, statements[:place])) is not None:
                end = _put_back(statement, taken, statements, place, counts)
                if end is not None:
                    dropped |= {place, end}
        for place in dropped:
            store = statements[place]
            assert isinstance(store, Op)
            left[store.result] = store.arguments[0]
        return Region(tuple(s for place, s in enumerate(statements) if place not in dropped), region.terminator)

    found = rewritten(body)
    return substitute(found, left) if left else body


def _ends(statement: Statement) -> tuple[Value, ...]:
    return tuple(value for region in regions(statement) for value in terminator_values(region.terminator))


def _taken(store: Op, before: list[Statement]) -> Var | None:
    """The item that was read where zero is stored now, if it was read of the very version."""
    if store.callee is not Opcode.STORE or store.payload is not None or len(store.arguments) != 3:
        return None
    container, place, value = store.arguments
    if value != _ZERO:
        return None
    reads = (s for s in reversed(before) if isinstance(s, Op) and s.callee == _GETITEM and s.arguments == (container, place))
    return next((read.result for read in reads), None)


def _put_back(store: Op, taken: Var, statements: list[Statement], start: int, counts: Counter[Value]) -> int | None:
    """Where the item is added again, if until then items are only added to."""
    first, current = store.arguments[0], store.result
    for place in range(start + 1, len(statements)):
        statement = statements[place]
        if isinstance(statement, Op) and statement.callee is Opcode.STORE and statement.arguments[0] == current:
            *_, index, value = statement.arguments
            if counts[current] != 1 or statement.payload != _ADDED or len(statement.arguments) != 3 or index == current:
                return None
            if (index, value) == (store.arguments[1], taken):
                return place
            current = statement.result
        elif _names(statement, (first, current)):
            return None
    return None


def _names(statement: Statement, values: tuple[Value, ...]) -> bool:
    """Whether a statement, or one inside of it, names one of these."""
    inside = (s for region in regions(statement) for s in walk(region))
    return any(value in values for s in (statement, *inside) for value in (*uses(s), *_ends(s)))
