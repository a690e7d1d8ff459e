"""Variables that may be unassigned where they are saved.

The user's program never reads such a variable without an UnboundLocalError; but a record holds it on every path. So it
starts as `UNASSIGNED`, and every read of the user's is checked:

    if c:                       if c:                   if c:
        y = x                       y = x                   y = x
    return y * x      saved:    else:                   check_assigned(y, "y")
                                    y = UNASSIGNED      return y * x, (x, y)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from microgradpy.dataclasses import replace
from microgradpy.ir.closures import nested_function
from microgradpy.ir.flows import Flow, connected, flows_in, maybe_undefined
from microgradpy.ir.kinds import Kind
from microgradpy.ir.nodes import (
    UNASSIGNED,
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
from microgradpy.ir.traversal import uses, walk
from microgradpy.runtime.activity import UNASSIGNED_KIND
from microgradpy.runtime.opaque import check_assigned
from microgradpy.runtime.variables import check_captured

_UNASSIGNED = Const(UNASSIGNED, "UNASSIGNED", UNASSIGNED)
_CHECK = function_constant(check_assigned)
_CHECK_CAPTURED = function_constant(check_captured)
def bind_unassigned(function: Function) -> Function:
    """The primal with the saved variables that may be unassigned bound on every path."""
    flows = flows_in(function.body)
    maybe = maybe_undefined(flows)
    if not maybe:
        return function
    saved = {
        value
        for statement in walk(function.body)
        if isinstance(statement, Op) and not statement.from_user
        for value in uses(statement)
        if isinstance(value, Var)
    }
    bound = connected(saved & maybe, flows, forward=False) & maybe
    if not bound:
        return function
    return replace(function, body=_Binder(bound, connected(set(bound), flows, forward=True)).region(function.body))


def bind_all(function: Function) -> Function:
    """The function with all variables bound on every path, as other functions may be given them."""
    flows = flows_in(function.body)
    maybe = maybe_undefined(flows)
    if not maybe:
        return function
    return replace(function, body=_Binder(maybe, connected(maybe, flows, forward=True)).region(function.body))


def check_unassigned_captures(function: Function, kinds: Sequence[Kind]) -> Function:
    """The function with its reads of captured variables checked, as far as these have no value. `kinds` are those of the
    inputs, the captured variables first."""
    empty = {var for var, kind in zip(function.captured, kinds, strict=False) if kind == UNASSIGNED_KIND}
    if not empty:
        return function
    names = _names_of(empty, flows_in(function.body))
    return replace(function, body=_Binder(set(), set(names), _CHECK_CAPTURED, names).region(function.body))


def _names_of(captured: set[Var], flows: list[Flow]) -> dict[Var, str]:
    """The variables that captured ones flow into, with the names of these: what paths merge into may have none."""
    names: dict[Var, str] = {}
    for var in captured:
        names |= {reached: var.hint for reached in connected({var}, flows, forward=True) if reached not in names}
    return names | {var: var.hint for var in captured}


class _Binder:
    """`names` are those that the checks speak of, where they are not the variables' own."""

    def __init__(
        self, bound: set[Var], checked: set[Var], checking: Const = _CHECK, names: Mapping[Var, str] | None = None
    ) -> None:
        self.bound = bound
        self.checked = checked
        self.checking = checking
        self.names = names or {}

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
        return Op(self.checking, (var, Const(self.names.get(var, var.hint))), (fresh(),), from_user=True, where=where)

    def statement(self, statement: Statement, targets: tuple[Var, ...], results: tuple[Var, ...]) -> list[Statement]:
        read = [value for value in dict.fromkeys(_read_by(statement)) if isinstance(value, Var) and value in self.checked]
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


def _read_by(statement: Statement) -> Sequence[Value]:
    """What a statement reads: a function that is made captures variables without reading them."""
    function = nested_function(statement) if isinstance(statement, Op) else None
    return tuple(uses(statement))[0 if function is None else len(function.captured) :]
