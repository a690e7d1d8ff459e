"""Marks that say nothing new, and loops that have marks inside.

Lowering marks every assignment in the body of a `Try`. When it is known what the handlers read, most of these marks say
what the one before said, or come right before another one, with nothing between them that could raise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from microgradpy.dataclasses import dataclass, replace
from microgradpy.frontend.scope import Position
from microgradpy.ir.nodes import (
    Break,
    Continue,
    For,
    Handler,
    If,
    Op,
    Raise,
    Region,
    Return,
    Statement,
    Try,
    Value,
    Var,
    While,
    Yield,
)
from microgradpy.ir.traversal import is_mark, regions, terminators, walk

Known = dict[Var, tuple[Value, ...]]


def tidy_marks(
    body: Region, spared: frozenset[Var] = frozenset(), has_effect: Callable[[Statement], bool] = lambda statement: False
) -> Region:
    """The function without marks that change nothing, but for the scopes `spared`: a mark after an effect says that it was
    had, even if it says nothing else."""
    return _Tidying(spared, has_effect).region(body, {})


@final
@dataclass(frozen=True, slots=True)
class _Tidying:
    spared: frozenset[Var]
    has_effect: Callable[[Statement], bool]

    def region(self, region: Region, known: Known) -> Region:
        """`known` is what the last mark of each scope said; it is changed to what is known at the region's end."""
        kept: list[Statement] = []
        for statement in region.statements:
            if not isinstance(statement, Op):
                kept.append(self.statement(statement, known))
            elif not is_mark(statement) or statement.payload in self.spared:
                if self.has_effect(statement):
                    known.clear()
                kept.append(statement)
            elif known.get(statement.payload) != statement.arguments:
                known[statement.payload] = statement.arguments
                _append_mark(kept, statement)
        return Region(tuple(kept), region.terminator)

    def statement(self, statement: If | Try | While | For, known: Known) -> Statement:
        match statement:
            case If(then=then, orelse=orelse):
                inside, other = dict(known), dict(known)
                new: Statement = replace(statement, then=self.region(then, inside), orelse=self.region(orelse, other))
            case Try(body=body, handlers=handlers):
                body = self.region(body, dict(known))
                if statement.scope not in self.spared:
                    body = _without_last_mark(body, statement.scope)
                # An exception may come anywhere in the body, so a handler starts from what no mark inside has changed.
                outer = {scope: said for scope, said in known.items() if scope not in _marked(body)}
                if any(map(self.has_effect, walk(body))):
                    outer.clear()
                new = replace(statement, body=body, handlers=tuple(self.handler(handler, outer) for handler in handlers))
            case While(condition=condition, body=body):
                known = self.repeated(statement, known)
                new = replace(statement, condition=self.region(condition, dict(known)), body=self.region(body, dict(known)))
            case For(body=body):
                known = self.repeated(statement, known)
                new = replace(statement, body=self.region(body, dict(known)))
        if self.affects(new):
            known.clear()
        for scope in set().union(*map(_marked, regions(new))):
            known.pop(scope, None)
        return new

    def handler(self, handler: Handler, known: Known) -> Handler:
        return replace(handler, body=self.region(handler.body, dict(known)))

    def repeated(self, loop: While | For, known: Known) -> Known:
        """What is known where an iteration begins."""
        if self.affects(loop):
            known.clear()
        return known

    def affects(self, statement: Statement) -> bool:
        """Whether a statement, or one inside of it, has an effect."""
        inside = (inner for region in regions(statement) for inner in walk(region))
        return self.has_effect(statement) or any(map(self.has_effect, inside))


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


def _without_last_mark(body: Region, scope: Var) -> Region:
    """Nothing can raise after a mark that ends the body of its `Try`; the first one stays."""
    statements = body.statements
    if isinstance(body.terminator, Raise):
        return body
    while len(statements) > 1 and is_mark(statements[-1]) and statements[-1].payload == scope:  # type: ignore[union-attr]
        statements = statements[:-1]
    return Region(statements, body.terminator)


def _marked(region: Region) -> set[Var]:
    return {statement.payload for statement in walk(region) if isinstance(statement, Op) and is_mark(statement)}


def goes_on(handler: Region) -> bool:
    """Whether the program may go on after a handler that does this."""
    ends = (isinstance(end, Return | Break | Continue) for end in terminators(handler, of_inner_loops=False))
    returns = (isinstance(end, Return) for end in terminators(handler))
    return isinstance(handler.terminator, Yield) or any(ends) or any(returns)


def scopes_that_go_on(body: Region) -> frozenset[Var]:
    """The scopes of those `Try`s after whose handlers the program may go on, and of those in their bodies: what these raise
    again goes to the handlers outside."""
    found: set[Var] = set()
    for statement in walk(body):
        if isinstance(statement, Try) and any(goes_on(handler.body) for handler in statement.handlers):
            found.add(statement.scope)
            found |= {inner.scope for inner in walk(statement.body) if isinstance(inner, Try)}
    return frozenset(found)


def loops_with_marks(body: Region) -> frozenset[Position]:
    """The loops, by where they start, that have a mark inside of a `Try` outside."""
    found: set[Position] = set()
    for statement in walk(body):
        if isinstance(statement, While | For):
            inside = {inner.scope for inner in walk(statement.body) if isinstance(inner, Try)}
            if any(_marked(repeated) - inside for repeated in regions(statement)):
                found.add((statement.where.line, statement.where.column))
    return frozenset(found)
