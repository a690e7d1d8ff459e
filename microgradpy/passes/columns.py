"""`zip(*rows)` that is used up where it is made, as one operation.

    %3 = tuple(%rows)                              before
    %5 = zip(*%3, **%4)
    for %column in %5                              or list(%5), or unpack(%5)

    %5 = columns_of(%rows)                         after
    for %column in %5                              or list_of_columns(%rows)

Of an iterator that nobody else has it does not matter that it is one. Where the rows are proven to be lists of numbers, the
columns are a list; elsewhere it becomes `zip(*rows)` again (`ad/primal_calls.py`).
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import (
    Const,
    Each,
    Enumerate,
    For,
    Function,
    Items,
    Op,
    Opcode,
    Region,
    Statement,
    Value,
    Var,
    Zip,
    function_constant,
)
from microgradpy.ir.rewrite import map_regions
from microgradpy.ir.traversal import terminator_values, terminators, uses, walk
from microgradpy.tangents.columns import columns_of, list_of_columns

_TUPLE, _LIST, _ZIP = map(function_constant, (tuple, list, zip))
_COLUMNS_OF, _LIST_OF_COLUMNS = map(function_constant, (columns_of, list_of_columns))


def with_columns(function: Function) -> Function:
    """The same function with columns of rows as operations."""
    if not any(_is_zip(statement) for statement in walk(function.body)):
        return function
    read = Counter(value for statement in walk(function.body) for value in uses(statement) if isinstance(value, Var))
    read.update(value for end in terminators(function.body) for value in terminator_values(end) if isinstance(value, Var))
    return replace(function, body=_rewritten(function.body, read))


def _is_zip(statement: Statement) -> bool:
    return isinstance(statement, Op) and statement.callee is Opcode.APPLY and statement.arguments[0] == _ZIP


def _rewritten(region: Region, read: Counter[Var]) -> Region:
    statements = [map_regions(statement, lambda inner: _rewritten(inner, read)) for statement in region.statements]
    made = {op.results[0]: op for op in statements if isinstance(op, Op) and len(op.results) == 1}
    dropped: set[Var] = set()
    changed: dict[Var, Op] = {}
    for before, after in pairwise(statements):
        if not isinstance(before, Op) or not _is_zip(before) or not _uses_up(after, before.result):
            continue
        _, packed, named = before.arguments
        rows, keywords = (made.get(value) if isinstance(value, Var) else None for value in (packed, named))
        if rows is None or keywords is None or not _are_rows(rows) or not _are_none(keywords):
            continue
        if all(read[op.result] == 1 for op in (before, rows, keywords)):
            dropped |= {rows.result, keywords.result}
            if isinstance(after, Op) and after.callee == _LIST:
                dropped.add(before.result)
                changed[after.result] = replace(after, callee=_LIST_OF_COLUMNS, arguments=rows.arguments)
            else:
                changed[before.result] = replace(before, callee=_COLUMNS_OF, arguments=rows.arguments)
    kept = (each for each in statements if dropped.isdisjoint(each.results))
    return Region(tuple(changed.get(each.results[0], each) if each.results else each for each in kept), region.terminator)


def _are_rows(op: Op) -> bool:
    return op.callee == _TUPLE and len(op.arguments) == 1 and not op.keywords


def _are_none(op: Op) -> bool:
    return op.callee is Opcode.DICT and op.arguments in ((), (Const("strict"), Const(False)))


def _uses_up(statement: Statement, iterator: Var) -> bool:
    """Whether a statement takes all that an iterator gives."""
    match statement:
        case Op(callee=Opcode.UNPACK):
            return True
        case Op(callee=callee, keywords=()):
            return callee == _LIST
        case For(items=items):
            return iterator in _sources(items)
    return False


def _sources(items: Items) -> tuple[Value, ...]:
    """What a loop runs over to its end, or leaves for nobody else."""
    match items:
        case Each(source=source):
            return (source,)
        case Enumerate(inner=inner):
            return _sources(inner)
        case Zip(inners=inners):
            return tuple(source for inner in inners for source in _sources(inner))
    return ()
