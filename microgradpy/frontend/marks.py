"""Marks that say nothing new, and loops that have marks inside.

Lowering marks every assignment in the body of a `Try`. When it is known what the handlers read, most of these marks say
what the one before said, or come right before another one, with nothing between them that could raise.
"""

from __future__ import annotations

from dataclasses import replace

from microgradpy.frontend.scope import Position
from microgradpy.ir.nodes import For, Handler, If, Op, Region, Statement, Try, Value, Var, While
from microgradpy.ir.traversal import is_mark, regions, walk

Known = dict[Var, tuple[Value, ...]]


def tidy_marks(body: Region) -> Region:
    """The function without marks that change nothing."""
    return _region(body, {})


def _region(region: Region, known: Known) -> Region:
    """`known` is what the last mark of each scope said; it is changed to what is known at the region's end."""
    kept: list[Statement] = []
    for statement in region.statements:
        if is_mark(statement):
            assert isinstance(statement, Op)
            if known.get(statement.payload) == statement.arguments:
                continue
            known[statement.payload] = statement.arguments
            _append_mark(kept, statement)
            continue
        kept.append(_statement(statement, known))
    return Region(tuple(kept), region.terminator)


def _append_mark(kept: list[Statement], mark: Op) -> None:
    """Add a mark, in the place of an earlier one of its scope if only marks are between them."""
    for index in range(len(kept) - 1, -1, -1):
        last = kept[index]
        if not (isinstance(last, Op) and is_mark(last)):
            break
        if last.payload == mark.payload:
            kept[index] = mark
            return
    kept.append(mark)


def _statement(statement: Statement, known: Known) -> Statement:
    match statement:
        case Op():
            return statement
        case If(then=then, orelse=orelse):
            inside, other = dict(known), dict(known)
            new: Statement = replace(statement, then=_region(then, inside), orelse=_region(orelse, other))
        case Try(body=body, handlers=handlers):
            body = _without_last_mark(_region(body, dict(known)), statement.scope)
            # An exception may come anywhere in the body, so a handler starts from what no mark inside has changed.
            outer = {scope: said for scope, said in known.items() if scope not in _marked(body)}
            new = replace(statement, body=body, handlers=tuple(_handler(handler, outer) for handler in handlers))
        case While(condition=condition, body=body):
            new = replace(statement, condition=_region(condition, dict(known)), body=_region(body, dict(known)))
        case For(body=body):
            new = replace(statement, body=_region(body, dict(known)))
    for inner in regions(new):
        for scope in _marked(inner):
            known.pop(scope, None)
    return new


def _handler(handler: Handler, known: Known) -> Handler:
    return replace(handler, body=_region(handler.body, dict(known)))


def _without_last_mark(body: Region, scope: Var) -> Region:
    """Nothing can raise after a mark that ends the body of its `Try`; the first one stays."""
    statements = body.statements
    while len(statements) > 1 and is_mark(statements[-1]) and statements[-1].payload == scope:  # type: ignore[union-attr]
        statements = statements[:-1]
    return Region(statements, body.terminator)


def _marked(region: Region) -> set[Var]:
    return {statement.payload for statement in walk(region) if isinstance(statement, Op) and is_mark(statement)}


def loops_with_marks(body: Region) -> frozenset[Position]:
    """The loops, by where they start, that have a mark inside of a `Try` outside."""
    found: set[Position] = set()
    for statement in walk(body):
        if isinstance(statement, While | For):
            inside = {inner.scope for inner in walk(statement.body) if isinstance(inner, Try)}
            if any(_marked(repeated) - inside for repeated in regions(statement)):
                found.add((statement.where.line, statement.where.column))
    return frozenset(found)
