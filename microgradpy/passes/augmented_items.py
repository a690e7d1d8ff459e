"""`x[i] += y` as one statement again: lowering reads the item, adds, and stores it.

    t = x[1:-1]
    t_1 = operator.iadd(t, y)        becomes      x[1:-1] += y
    x[1:-1] = t_1

Only of arrays and slices, of which reading makes a view and cannot fail, so that it does not matter when it happens.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Mapping

from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import Array, Inert, Kind
from microgradpy.ir.nodes import STATEMENT, Augmented, Const, Function, Op, Region, Statement, Value, Var
from microgradpy.ir.rewrite import map_regions
from microgradpy.ir.traversal import count_reads

_SIGNS = {
    operator.iadd: "+", operator.isub: "-", operator.imul: "*", operator.itruediv: "/", operator.ipow: "**",
    operator.imatmul: "@", operator.ifloordiv: "//", operator.imod: "%",
}  # fmt: skip


def join_augmented_items(function: Function) -> Function:
    """The function with such statements joined."""
    return replace(function, body=_joined(function.body, count_reads(function.body), function.kinds))


def _joined(region: Region, counts: Counter[Value], kinds: Mapping[Var, Kind]) -> Region:
    made = {s.results[0]: s for s in region.statements if isinstance(s, Op) and len(s.results) == 1}
    kept: list[Statement] = []
    dropped: set[Var] = set()
    for statement in region.statements:
        joined = _join(statement, made, counts, kinds) if isinstance(statement, Op) else None
        if joined is None:
            kept.append(map_regions(statement, lambda inner: _joined(inner, counts, kinds)))
        else:
            new, gone = joined
            dropped.update(gone)
            kept.append(new)
    left = [s for s in kept if not (isinstance(s, Op) and s.results and s.results[0] in dropped)]
    return Region(tuple(left), region.terminator)


def _join(
    store: Op, made: Mapping[Var, Op], counts: Counter[Value], kinds: Mapping[Var, Kind]
) -> tuple[Op, tuple[Var, Var]] | None:
    """The one statement for a store and the two operations before it, with their results."""
    if store.payload is not STATEMENT or store.callee != Const(operator.setitem) or len(store.arguments) != 3:
        return None
    array, index, value = store.arguments
    if not isinstance(value, Var) or counts[value] != 1 or not _is_slice_of_array(array, index, kinds):
        return None
    change = made.get(value)
    sign = _SIGNS.get(change.callee.value) if change is not None and isinstance(change.callee, Const) else None
    if change is None or sign is None:
        return None
    item, operand = change.arguments
    read = made.get(item) if isinstance(item, Var) and counts[item] == 1 else None
    if read is None or read.callee != Const(operator.getitem) or read.arguments != (array, index):
        return None
    assert isinstance(item, Var)
    new = replace(store, arguments=(array, index, operand), payload=Augmented(sign), where=change.where)
    return new, (item, value)


def _is_slice_of_array(array: Value, index: Value, kinds: Mapping[Var, Kind]) -> bool:
    kind = kinds.get(array) if isinstance(array, Var) else None
    if not isinstance(kind, Array) or not kind.ndim:
        return False
    if isinstance(index, Const):
        return isinstance(index.value, slice) or index.value is Ellipsis
    found = kinds.get(index) if isinstance(index, Var) else None
    return isinstance(found, Inert) and found.name == "slice"
