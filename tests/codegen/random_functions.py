"""Random functions in structured SSA, valid by construction: every phi gets any values that are visible."""

from __future__ import annotations

import operator
import random

from microgradpy.ir.kinds import FLOAT, Kind
from microgradpy.ir.nodes import (
    UNDEFINED,
    Break,
    Const,
    Continue,
    For,
    Function,
    If,
    Op,
    Opcode,
    Parameter,
    Range,
    Records,
    Region,
    Return,
    Statement,
    Unreachable,
    Value,
    Var,
    While,
    Yield,
    fresh,
)

_HINTS = ("x", "y", "z", "w", "", "")
_ARITHMETIC = ("add", "sub", "mul", "iadd")


def log(trace: list[float], value: float) -> float:
    """Writes: the order of these calls must not change."""
    trace.append(value)
    return value * 0.5


def smooth(value: float) -> float:
    return value * 0.25


def random_function(seed: int) -> Function:
    """A function of two numbers and a list that its calls of `log` write to."""
    return _Generator(random.Random(seed)).function()


class _Generator:
    def __init__(self, choose: random.Random) -> None:
        self.choose = choose
        self.kinds: dict[Var, Kind] = {}
        self.trace = fresh("trace")
        self.budget = 40

    def function(self) -> Function:
        parameters = [self.number("x"), self.number("y")]
        captured = (self.number("z"),)
        visible: list[Var] = [*parameters, *captured]
        body = self.region(visible, 0, None)
        names = [Parameter(var, var.hint) for var in (*parameters, self.trace)]
        return Function("f", tuple(names), captured, body, kinds=self.kinds)

    def number(self, hint: str | None = None, user_named: bool = False) -> Var:
        if hint is None:
            hint = self.choose.choice(_HINTS)
            user_named = bool(hint) and self.choose.random() < 0.5
        var = fresh(hint, user_named)
        if self.choose.random() < 0.7:
            self.kinds[var] = FLOAT
        return var

    def value(self, visible: list[Var]) -> Value:
        if self.choose.random() < 0.15:
            return Const(self.choose.choice([0.5, -1.5, 2.0, -0.0]))
        # Recent values more often: nesting needs values that are used once.
        return visible[-1 - int(len(visible) * self.choose.random() ** 2)]

    def region(self, visible: list[Var], depth: int, loop: int | None) -> Region:
        """A region that ends in any way. `loop` is the number of values that the innermost loop carries."""
        visible = list(visible)
        statements: list[Statement] = []
        for _ in range(self.choose.randrange(1, 6)):
            self.statement(visible, statements, depth, loop)
        end = self.choose.random()
        if loop is not None and end < 0.2:
            return Region(tuple(statements), Break(self.values(visible, loop)))
        if loop is not None and (end < 0.9 or depth > 3):
            return self.continued(visible, statements, depth, loop)
        if end < 0.35 and depth < 4:
            condition = self.condition(visible, statements)
            then, orelse = (self.region(visible, depth + 1, loop) for _ in range(2))
            return Region((*statements, If(condition, then, orelse, ())), Unreachable())
        items = fresh("")
        statements.append(Op(Opcode.TUPLE, self.values(visible, 3), (items,)))
        return Region(tuple(statements), Return(items))

    def continued(self, visible: list[Var], statements: list[Statement], depth: int, loop: int) -> Region:
        if self.choose.random() < 0.3 and depth < 4:
            condition = self.condition(visible, statements)
            arms = [Region((), Continue(self.values(visible, loop))), self.region(visible, depth + 1, loop)]
            self.choose.shuffle(arms)
            return Region((*statements, If(condition, arms[0], arms[1], ())), Unreachable())
        return Region(tuple(statements), Continue(self.values(visible, loop)))

    def values(self, visible: list[Var], count: int) -> tuple[Value, ...]:
        return tuple(self.value(visible) for _ in range(count))

    def condition(self, visible: list[Var], statements: list[Statement]) -> Var:
        result = fresh("")
        statements.append(self.operation("lt", self.values(visible, 2), result))
        return result

    def operation(self, name: str, values: tuple[Value, ...], result: Var) -> Op:
        callee = Const(getattr(operator, name), f"operator.{name}", operator)
        return Op(callee, values, (result,), from_user=self.choose.random() < 0.5)

    def statement(self, visible: list[Var], statements: list[Statement], depth: int, loop: int | None) -> None:
        self.budget -= 1
        kind = self.choose.random()
        if kind < 0.6 or depth > 2 or self.budget < 0:
            self.simple(visible, statements)
        elif kind < 0.8:
            self.branch(visible, statements, depth, loop)
        else:
            self.loop(visible, statements, depth)

    def simple(self, visible: list[Var], statements: list[Statement]) -> None:
        kind = self.choose.random()
        result = self.number()
        if kind < 0.6:
            statements.append(self.operation(self.choose.choice(_ARITHMETIC), self.values(visible, 2), result))
        elif kind < 0.7:
            statements.append(Op(Const(smooth, "smooth", smooth), self.values(visible, 1), (result,), from_user=False))
        elif kind < 0.8:
            callee = Const(operator.neg, "operator.neg", operator)
            statements.append(Op(callee, self.values(visible, 1), (result,), from_user=False))
        elif kind < 0.9:
            statements.append(Op(Const(log, "log", log), (self.trace, self.value(visible)), (result,)))
        else:
            pair, other = fresh(""), self.number()
            statements.append(Op(Opcode.TUPLE, self.values(visible, 2), (pair,), from_user=False))
            statements.append(Op(Opcode.UNPACK, (pair,), (result, other), from_user=False))
            visible.append(other)
        visible.append(result)

    def branch(self, visible: list[Var], statements: list[Statement], depth: int, loop: int | None) -> None:
        condition = self.condition(visible, statements)
        count = self.choose.choice([0, 1, 1, 2, 3])
        if count == 1 and self.choose.random() < 0.4:
            visible.append(condition)
        arms = [self.arm(visible, depth, count) for _ in range(2)]
        if count == 1 and self.choose.random() < 0.2:
            arms[self.choose.randrange(2)] = Region((), Yield((condition,)))
        if loop is not None and self.choose.random() < 0.2:
            arms[self.choose.randrange(2)] = Region((), Break(self.values(visible, loop)))
        results = tuple(self.number() for _ in range(count))
        statements.append(If(condition, arms[0], arms[1], results))
        visible.extend(results)

    def arm(self, visible: list[Var], depth: int, count: int) -> Region:
        visible = list(visible)
        statements: list[Statement] = []
        for _ in range(self.choose.randrange(0, 3)):
            self.statement(visible, statements, depth + 1, None)
        return Region(tuple(statements), Yield(self.values(visible, count)))

    def loop(self, visible: list[Var], statements: list[Statement], depth: int) -> None:
        count = self.choose.randrange(0, 4)
        initial: tuple[Value, ...] = self.values(visible, count)
        parameters = tuple(self.number() for _ in range(count))
        results = tuple(self.number() for _ in range(count))
        kind = self.choose.random()
        if kind < 0.4:
            self.taped(visible, statements, depth)
        if kind < 0.7:
            item = fresh("i", True)
            body = self.region([*visible, *parameters, item], depth + 1, count)
            statements.append(For(Range((Const(3),), item), body, parameters, initial, results))
        else:
            statements.append(self.counted_while(visible, depth, parameters, initial, results))
        visible.extend(results)

    def counted_while(
        self,
        visible: list[Var],
        depth: int,
        parameters: tuple[Var, ...],
        initial: tuple[Value, ...],
        results: tuple[Var, ...],
    ) -> While:
        """A loop whose last parameter counts down, so that it ends."""
        counter, fewer, left = fresh("k"), fresh("k"), fresh("k")
        before: list[Statement] = []
        inner = [*visible, *parameters]
        for _ in range(self.choose.choice([0, 0, 1, 2])):
            self.simple(inner, before)
        more = fresh("")
        before.append(self.operation("lt", (Const(0), counter), more))
        body = self.region(inner[: len(visible) + len(parameters)], depth + 1, len(parameters))
        count = self.operation("sub", (counter, Const(1)), fewer)
        body = _with_last(Region((count, *body.statements), body.terminator), fewer)
        return While(
            Region(tuple(before), Yield((more,))), body, (*parameters, counter), (*initial, Const(4)), (*results, left)
        )

    def taped(self, visible: list[Var], statements: list[Statement], depth: int) -> None:
        """A loop that records and one that reads the records backwards."""
        tape, item = fresh("tape"), fresh("i", True)
        statements.append(Op(Opcode.TAPE, (), (tape,), from_user=False))
        inner = [*visible, item]
        body: list[Statement] = []
        self.simple(inner, body)
        count = self.choose.randrange(0, 3)
        body.append(Op(Opcode.RECORD, (tape, *self.values(inner, count)), (), from_user=False))
        statements.append(For(Range((Const(3),), item), Region(tuple(body), Continue(())), (), (), ()))
        fields = tuple(self.number() for _ in range(count))
        parameter, result = self.number(), self.number()
        turn = self.region([*visible, *fields, parameter], depth + 1, 1)
        statements.append(For(Records(tape, fields), turn, (parameter,), (self.value(visible),), (result,)))
        visible.append(result)


def _with_last(region: Region, value: Value) -> Region:
    """The region with one more value given to its innermost loop; inner loops keep their own."""
    statements = tuple(
        If(s.condition, _with_last(s.then, value), _with_last(s.orelse, value), s.results) if isinstance(s, If) else s
        for s in region.statements
    )
    match region.terminator:
        case Continue(values=values):
            return Region(statements, Continue((*values, value)))
        case Break(values=values):
            return Region(statements, Break((*values, UNDEFINED)))
    return Region(statements, region.terminator)
