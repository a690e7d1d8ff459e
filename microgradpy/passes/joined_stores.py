"""Tuples that are put into a place of a cotangent and taken out again at once, to have something added, are put there once.

    pair = x_bar[k]                               pair = x_bar[k]
    x_bar[k] = pair[0], pair[1] + im_bar
    pair = x_bar[k]                   becomes
    x_bar[k] = pair[0] + re_bar, pair[1]          x_bar[k] = pair[0] + re_bar, pair[1] + im_bar

In between nobody names the list. The sums are those that they were.
"""

from __future__ import annotations

import operator
from collections import Counter

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import Const, Op, Opcode, Region, Statement, Value, Var
from microgradpy.ir.rewrite import map_regions, substitute
from microgradpy.ir.traversal import count_reads, regions, stores_items, terminator_values, uses, walk

_GETITEM = Const(operator.getitem)


def join_stores(body: Region) -> Region:
    """The region without such stores."""
    if not stores_items(body):
        return body
    counts = count_reads(body)
    known: dict[Var, Value] = {}

    def rewritten(region: Region) -> Region:
        statements = [map_regions(statement, rewritten) for statement in region.statements]
        tuples: dict[Value, tuple[Value, ...]] = {}
        for place, statement in enumerate(statements):
            if not isinstance(statement, Op) or statement is _NOTHING:
                continue
            if statement.callee is Opcode.TUPLE:
                parts = tuple(known.get(part, part) if isinstance(part, Var) else part for part in statement.arguments)
                tuples[statement.result] = parts
                statements[place] = replace(statement, arguments=parts)
            elif _is_store_of_tuple(statement, tuples):
                _join(statements, place, tuples, counts, known)
        return Region(tuple(s for s in statements if s is not _NOTHING), region.terminator)

    found = rewritten(body)
    return substitute(found, known) if known else body


_NOTHING = Op(Opcode.TUPLE, (), ())


def _ends(statement: Statement) -> tuple[Value, ...]:
    return tuple(value for region in regions(statement) for value in terminator_values(region.terminator))


def _is_store_of_tuple(op: Op, tuples: dict[Value, tuple[Value, ...]]) -> bool:
    return op.callee is Opcode.STORE and op.payload is None and len(op.arguments) == 3 and op.arguments[2] in tuples


def _join(
    statements: list[Statement],
    start: int,
    tuples: dict[Value, tuple[Value, ...]],
    counts: Counter[Value],
    known: dict[Var, Value],
) -> None:
    """Leave out a store if what it put there is taken out and put there anew."""
    store = statements[start]
    assert isinstance(store, Op)
    container, index, stored = store.arguments
    current, parts = store.result, tuples[stored]
    taken: Var | None = None
    found: dict[Var, Value] = {}
    dropped = [start]
    for place in range(start + 1, len(statements)):
        match statements[place]:
            case Op(callee=callee, arguments=(source, at), results=(result,)) if (
                callee == _GETITEM and (source, at) == (current, index) and taken is None and counts[current] == 2
            ):
                taken = result
                dropped.append(place)
            case Op(callee=callee, arguments=(source, Const(value=int(number))), results=(result,)) if (
                callee == _GETITEM and source == taken and taken is not None and 0 <= number < len(parts)
            ):
                found[result] = parts[number]
                dropped.append(place)
            case Op(callee=Opcode.STORE, arguments=(source, at, value), payload=None) if (source, at) == (current, index):
                if taken is not None and counts[taken] == len(found) and taken != value:
                    before = known.get(container, container) if isinstance(container, Var) else container
                    known |= {**found, current: before}
                    for each in dropped:
                        statements[each] = _NOTHING
                return
            case statement if _names(statement, (container, current)):
                return
            case _:
                pass


def _names(statement: Statement, values: tuple[Value, ...]) -> bool:
    """Whether a statement, or one inside of it, names one of these."""
    inside = (s for region in regions(statement) for s in walk(region))
    return any(value in values for s in (statement, *inside) for value in (*uses(s), *_ends(s)))
