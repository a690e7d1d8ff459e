"""Reading items at their places: in a run in which arrays stand in for others (`microgradpy.state.apart`), what a loop or an
assignment to several names reads from a container is looked at before it is used.

    for w in ws:            becomes     for k, %1 in enumerate(ws):
                                            w = item_at(ws, k, False, %1)
    a, b = ws               becomes     %1 = items_at(ws)
                                        a, b = %1
"""

from __future__ import annotations

from typing import assert_never

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import (
    Const,
    DictItems,
    Each,
    Enumerate,
    For,
    Function,
    Items,
    Op,
    Opcode,
    Range,
    Records,
    Region,
    Reversed,
    Statement,
    Value,
    Var,
    Zip,
    fresh,
    function_constant,
)
from microgradpy.ir.rewrite import map_statements
from microgradpy.state.apart_access import item_at, items_at

_ITEM_AT = function_constant(item_at)
_ITEMS_AT = function_constant(items_at)


def read_items_at_places(function: Function) -> Function:
    """The same function with each item that is read from a container read at its place."""
    return replace(function, body=map_statements(function.body, _rewritten))


def _rewritten(statement: Statement) -> tuple[Statement, ...]:
    match statement:
        case Op(callee=Opcode.UNPACK, arguments=(source,), where=where):
            items = fresh()
            return Op(_ITEMS_AT, (source,), (items,), from_user=True, where=where), replace(statement, arguments=(items,))
        case For(items=items, body=body, where=where):
            is_counted = isinstance(items, Enumerate) and items.start == Const(0)
            counted = items if is_counted else Enumerate(items, Const(0), fresh("k"))
            assert isinstance(counted, Enumerate)
            reads: list[tuple[Var, tuple[Value, ...]]] = []
            renamed = Enumerate(_renamed(counted.inner, counted.index, False, reads), counted.start, counted.index)
            if not reads:
                return (statement,)
            looked_at = tuple(Op(_ITEM_AT, arguments, (item,), from_user=True, where=where) for item, arguments in reads)
            return (replace(statement, items=renamed, body=Region((*looked_at, *body.statements), body.terminator)),)
    return (statement,)


def _renamed(items: Items, position: Value, backwards: bool, reads: list[tuple[Var, tuple[Value, ...]]]) -> Items:
    """What a loop runs over, with new names for its items; `reads` gets the old names, and what is asked for."""
    match items:
        case Each(source=source, item=item):
            found = fresh()
            reads.append((item, (source, position, Const(backwards), found)))
            return Each(source, found)
        case Enumerate(inner=inner, start=start, index=index):
            return Enumerate(_renamed(inner, position, backwards, reads), start, index)
        case Zip(inners=inners, strict=strict):
            return Zip(tuple(_renamed(inner, position, backwards, reads) for inner in inners), strict)
        case Reversed(inner=Each() as inner):
            made = _renamed(inner, position, True, reads)
            assert isinstance(made, Each)
            return Reversed(made)
        case DictItems(source=source, key=key, value=value):
            found = fresh()
            reads.append((value, (source, key, Const(False), found)))
            return DictItems(source, key, found)
        case Range() | Reversed() | Records():
            return items
    assert_never(items)
