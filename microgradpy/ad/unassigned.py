"""Variables that may be unassigned where they are saved.

The user's program never reads such a variable without an UnboundLocalError; but a record holds it on every path. So it
starts as `UNASSIGNED`, and every read of the user's is checked:

    if c:                       if c:                   if c:
        y = x                       y = x                   y = x
    return y * x      saved:    else:                   check_assigned(y, "y")
                                    y = UNASSIGNED      return y * x, (x, y)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from microgradpy.ir.nodes import (
    Break,
    Const,
    Continue,
    For,
    Function,
    If,
    Location,
    Op,
    Region,
    Return,
    Statement,
    Try,
    Undefined,
    Value,
    Var,
    While,
    Yield,
    fresh,
    function_constant,
)
from microgradpy.ir.traversal import is_mark, regions, terminators, uses, walk
from microgradpy.runtime.opaque import UNASSIGNED, check_assigned

_UNASSIGNED = Const(UNASSIGNED, "UNASSIGNED", UNASSIGNED)
_CHECK = function_constant(check_assigned)
Flow = tuple[Var, Value]


def bind_unassigned(function: Function) -> Function:
    """The primal with the saved variables that may be unassigned bound on every path."""
    flows = list(_flows(function.body, {}))
    maybe = _closure({target for target, value in flows if isinstance(value, Undefined)}, flows, forward=True)
    if not maybe:
        return function
    saved = {
        value
        for statement in walk(function.body)
        if isinstance(statement, Op) and not statement.from_user
        for value in uses(statement)
        if isinstance(value, Var)
    }
    bound = _closure(saved & maybe, flows, forward=False) & maybe
    if not bound:
        return function
    return replace(function, body=_Binder(bound, _closure(set(bound), flows, forward=True)).region(function.body))


def _closure(start: set[Var], flows: list[Flow], *, forward: bool) -> set[Var]:
    """What the variables flow into, or what flows into them."""
    found = set(start)
    while True:
        if forward:
            more = {target for target, value in flows if value in found} - found
        else:
            more = {value for target, value in flows if target in found and isinstance(value, Var)} - found
        if not more:
            return found
        found |= more


def _flows(region: Region, seen: dict[Var, tuple[Var, ...]]) -> Iterator[Flow]:
    """`seen` are the parameters of the scopes around."""
    for statement in region.statements:
        match statement:
            case Op(payload=scope, arguments=values) if is_mark(statement):
                # After the first mark, what is undefined leaves the parameter as it is.
                pairs = zip(seen[scope], values, strict=True)
                yield from (pair for pair in pairs if not isinstance(pair[1], Undefined))
            case Try():
                seen[statement.scope] = statement.parameters
                yield from zip(statement.parameters, uses(statement.body.statements[0]), strict=True)
                yield from _yields(statement)
            case If():
                yield from _yields(statement)
            case While() | For():
                yield from zip(statement.parameters, statement.initial, strict=True)
                yield from zip(statement.results, statement.parameters, strict=True)
                yield from _edges(statement)
        for inner in regions(statement):
            yield from _flows(inner, seen)


def _yields(statement: If | Try) -> Iterator[Flow]:
    """What the regions of a statement give its results."""
    for arm in regions(statement):
        if isinstance(arm.terminator, Yield):
            yield from zip(statement.results, arm.terminator.values, strict=True)


def _edges(loop: While | For) -> Iterator[Flow]:
    """What each `Continue` and `Break` of a loop carries."""
    for terminator in terminators(loop.body, of_inner_loops=False):
        match terminator:
            case Continue(values=values):
                yield from zip(loop.parameters, values, strict=True)
            case Break(values=values):
                yield from zip(loop.results, values, strict=True)


class _Binder:
    def __init__(self, bound: set[Var], checked: set[Var]) -> None:
        self.bound = bound
        self.checked = checked

    def region(self, region: Region, targets: tuple[Var, ...] = (), results: tuple[Var, ...] = ()) -> Region:
        """`targets` are what a Continue gives values to, `results` what a Break does."""
        statements = [new for old in region.statements for new in self.statement(old, targets, results)]
        terminator = region.terminator
        match terminator:
            case Continue(values=values):
                terminator = Continue(self.values(targets, values))
            case Break(values=values):
                terminator = Break(self.values(results, values))
            case Return(value=Var() as value, where=where) if value in self.checked:
                statements.append(self.check(value, where))
        return Region(tuple(statements), terminator)

    def values(self, targets: tuple[Var, ...], values: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple(
            _UNASSIGNED if isinstance(value, Undefined) and target in self.bound else value
            for target, value in zip(targets, values, strict=True)
        )

    def check(self, var: Var, where: Location) -> Op:
        return Op(_CHECK, (var, Const(var.hint)), (fresh(),), from_user=True, where=where)

    def statement(self, statement: Statement, targets: tuple[Var, ...], results: tuple[Var, ...]) -> list[Statement]:
        read = [value for value in dict.fromkeys(uses(statement)) if isinstance(value, Var) and value in self.checked]
        if isinstance(statement, Op):
            checks: list[Statement] = [self.check(var, statement.where) for var in read] if statement.from_user else []
            return [*checks, statement]
        match statement:
            case If(then=then, orelse=orelse):
                arms = [self.arm(arm, statement.results, targets, results) for arm in (then, orelse)]
                return [*(self.check(var, statement.where) for var in read), replace(statement, then=arms[0], orelse=arms[1])]
            case Try(results=merged):
                first, *others = statement.body.statements
                assert isinstance(first, Op)
                first = replace(first, arguments=self.values(statement.parameters, first.arguments))
                arms = [Region((first, *others), statement.body.terminator), *(h.body for h in statement.handlers)]
                body, *handled = [self.arm(arm, merged, targets, results) for arm in arms]
                handlers = tuple(replace(h, body=new) for h, new in zip(statement.handlers, handled, strict=True))
                return [replace(statement, body=body, handlers=handlers)]
            case While(condition=condition, body=body):
                initial = self.values(statement.parameters, statement.initial)
                inner = self.region(body, statement.parameters, statement.results)
                return [replace(statement, condition=self.region(condition), body=inner, initial=initial)]
            case For(body=body):
                initial = self.values(statement.parameters, statement.initial)
                inner = self.region(body, statement.parameters, statement.results)
                return [replace(statement, body=inner, initial=initial)]

    def arm(
        self, arm: Region, merged: tuple[Var, ...], targets: tuple[Var, ...], results: tuple[Var, ...]
    ) -> Region:
        new = self.region(arm, targets, results)
        if isinstance(new.terminator, Yield):
            new = Region(new.statements, Yield(self.values(merged, new.terminator.values)))
        return new
