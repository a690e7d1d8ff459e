"""Cotangents of lists that one loop fills, item by item: they are built by it.

    out_bar = zeros_for(out)                          out_bar = []
    for k in reversed(range(len_out)):                for k in range(len_out):
        v = out[k]                       becomes          v = out[k]
        out_bar[k] += 2.0 * v                             out_bar.append(2.0 * v)

The loop runs over all items of the list, each once, and nothing else is carried by it, so that it may run either way.
"""

from __future__ import annotations

from collections.abc import Mapping

from microgradpy.ad.counted_loops import Counted
from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import Kind, is_numeric
from microgradpy.ir.nodes import Augmented, Continue, For, Op, Opcode, Range, Value, Var, fresh
from microgradpy.ir.traversal import count_reads


def built(
    loop: For, found: Counted, zeros: Mapping[Value, Value], counts: Mapping[Value, int], kinds: Mapping[Var, Kind]
) -> tuple[Op, For] | None:
    """The new list and the loop that fills it, if this loop of the adjoint does. `zeros` are the cotangents that are zeros for
    lists, `counts` how often a value is named."""
    match loop, found:
        case For(initial=(Var() as start,), parameters=(bars,), body=body), Counted(items=Range() as items, lists=(filled,)):
            pass
        case _:
            return None
    *before, last = body.statements or (None,)
    match last:
        case Op(callee=Opcode.STORE, arguments=(place, index, Var() as part), results=(after,), payload=Augmented(sign="+")):
            is_filling = (place, index) == (bars, items.item) and body.terminator == Continue((after,))
        case _:
            return None
    if not is_filling or zeros.get(start) != filled or not is_numeric(kinds[part]) or counts[start] != 1:
        return None
    named = count_reads(body)
    if named[bars] != 1 or named[items.item] != 1 or named[after] != 1:
        return None
    if not all(isinstance(statement, Op) and not statement.from_user for statement in before):
        return None
    new = fresh(start.hint, start.user_named)
    append = Op(Opcode.APPEND, (bars, part), (after,), from_user=False, where=last.where)
    made = Op(Opcode.LIST, (), (new,), from_user=False, where=loop.where)
    body = replace(body, statements=(*before, append))
    return made, replace(loop, items=items, initial=(new,), body=body)


