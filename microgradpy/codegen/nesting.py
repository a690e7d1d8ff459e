"""Decides which values are written inside the expression that uses them, instead of getting a name.

    %3 = operator.mul(2.0, y)           ->    y = y - r / (2.0 * y)
    %4 = operator.truediv(r, %3)
    %5/y = operator.sub(y, %4)

A value is nested if it is used once, in the region that defines it, and has no name in the user's program. Nesting
moves the operation to its user, so everything it passes on the way must commute with it (`effects`). Python evaluates
operands from left to right: each root statement takes its operands from right to left, which meets the nested
operations in exactly the reverse of the order in which they will run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import final

from microgradpy.codegen.effects import Effect, conflict, effect
from microgradpy.codegen.notation import SliceOf, is_in_place, notation, operands
from microgradpy.dataclasses import dataclass
from microgradpy.ir.nodes import (
    CHANGING,
    Augmented,
    Break,
    Const,
    Continue,
    For,
    Function,
    If,
    Op,
    Opcode,
    Raise,
    Region,
    Return,
    Statement,
    Terminator,
    Try,
    Unreachable,
    Value,
    Var,
    While,
    Yield,
)
from microgradpy.ir.traversal import count_reads, is_mark, item_sources, regions, terminator_values, uses

_USER_WIDTH = 100  # columns a line of the user's own arithmetic may take
_WIDTH = 76  # columns for what the compiler made: its lines are read without knowing what they do
_REACH = 60  # statements an operation may be moved past
_NEVER_NESTED = frozenset({Opcode.SUSPEND, Opcode.UNPACK, Opcode.RECORD, Opcode.TAPE, Opcode.CLOSURE, *CHANGING})


@final
@dataclass(frozen=True, slots=True)
class Nesting:
    """`nested` are the statements written inside their user, by result; `choices` the results of those `If`s that are
    written as expressions."""

    nested: Mapping[Var, Op | If]
    choices: frozenset[Var]

    def leaves(self, value: Value) -> Iterator[Var]:
        """The named variables that the text of a value reads."""
        if isinstance(value, Var):
            statement = self.nested.get(value)
            if statement is None:
                yield value
            else:
                yield from self.reads(statement)

    def reads(self, statement: Statement) -> Iterator[Var]:
        """The named variables that the text of an operation, or of an `If` written as an expression, reads."""
        for value in uses(statement):
            yield from self.leaves(value)
        if isinstance(statement, If):
            for region in regions(statement):
                for value in terminator_values(region.terminator):
                    yield from self.leaves(value)

    def roots(self, region: Region) -> Iterator[Statement]:
        """The statements of a region that are not written inside another one."""
        for statement in region.statements:
            if not (isinstance(statement, Op | If) and self.is_nested(statement)):
                yield statement

    def is_nested(self, statement: Op | If) -> bool:
        return len(statement.results) == 1 and statement.results[0] in self.nested

    def is_choice(self, statement: Statement) -> bool:
        return isinstance(statement, If) and len(statement.results) == 1 and statement.results[0] in self.choices


def plan_nesting(function: Function, into_copies: frozenset[Var] = frozenset()) -> Nesting:
    """Decide the nesting of a function. `into_copies` are variables that may be nested in the copy of a value to a loop
    parameter or to the result of an `If` (where a name of their own would not save the copy)."""
    planner = _Planner(function, into_copies)
    planner.settle(function.body)
    planner.fold(function.body)
    return Nesting(planner.nested, frozenset(planner.choices))


def boolean_shape(statement: If) -> str:
    """ "and" for `c and b`, "or" for `c or b`: the arm that is not evaluated yields the condition itself."""
    if not isinstance(statement.condition, Var):
        return ""
    if _yields_only(statement.orelse, statement.condition):
        return "and"
    return "or" if _yields_only(statement.then, statement.condition) else ""


def _yields_only(region: Region, value: Value) -> bool:
    return not region.statements and region.terminator == Yield((value,))


class _Planner:
    def __init__(self, function: Function, into_copies: frozenset[Var]) -> None:
        self.kinds = function.kinds
        self.into_copies = into_copies
        self.nested: dict[Var, Op | If] = {}
        self.choices: set[Var] = set()
        self.count = count_reads(function.body)

    def settle(self, region: Region) -> None:
        """Decide everything inside the statements of a region."""
        for statement in region.statements:
            for inner in regions(statement):
                self.settle(inner)
            if isinstance(statement, If):
                self._settle_if(statement)
            elif isinstance(statement, While):
                # The value of a condition is written as an expression even where statements must stand before it.
                self.fold(statement.condition, whole=True)
                self.fold(statement.body)
            elif isinstance(statement, For):
                self.fold(statement.body)
            elif isinstance(statement, Try):
                for inner in regions(statement):
                    self.fold(inner)

    def _settle_if(self, statement: If) -> None:
        before = set(self.nested)
        if self._may_be_choice(statement):
            arms = regions(statement)
            if all(self.fold(arm, whole=True) == len(arm.statements) for arm in arms):
                self.choices.add(statement.results[0])
                if boolean_shape(statement):
                    self.count[statement.condition] -= 1
                return
            self._forget(arms, before)
        for arm in regions(statement):
            self.fold(arm)

    def _forget(self, arms: Iterable[Region], before: set[Var]) -> None:
        for arm in arms:
            for statement in arm.statements:
                for result in statement.results:
                    if result not in before:
                        self.nested.pop(result, None)

    def _may_be_choice(self, statement: If) -> bool:
        """Whether an `If` could be `b if c else a`, `c and b` or `c or b`."""
        if len(statement.results) != 1:
            return False
        (result,) = statement.results
        for arm in regions(statement):
            if not isinstance(arm.terminator, Yield) or not isinstance(arm.terminator.values[0], Var | Const):
                return False
        if result.user_named and _is_if_statement(statement):
            return False
        # `if c: y = x` is better than `y = x if c else y`.
        yielded = [arm.terminator.values[0] for arm in regions(statement)]  # type: ignore[union-attr]
        same = any(isinstance(value, Var) and value.hint == result.hint != "" for value in yielded)
        return bool(boolean_shape(statement)) or not (same and result.hint)

    def fold(self, region: Region, whole: bool = False) -> int:
        """Nest what can be nested in the statements of a region and in its terminator; how many were. `whole`: the
        region is an expression, so the value it yields is written where the region stands."""
        fold = _Fold(self, region)
        fold.terminator(region.terminator, whole)
        for index in range(len(region.statements) - 1, -1, -1):
            if index not in fold.moved:
                fold.statement(index)
        return len(fold.moved)


def _is_if_statement(statement: If) -> bool:
    text = statement.where.text
    return not text or text.startswith(("if ", "if(", "elif ", "elif("))


class _Fold:
    """The nesting of one region."""

    def __init__(self, planner: _Planner, region: Region) -> None:
        self.planner = planner
        self.statements = region.statements
        self.effects: dict[int, Effect] = {}
        self.moved: set[int] = set()
        self.places = {
            result: index
            for index, statement in enumerate(region.statements)
            if isinstance(statement, Op | If) and len(statement.results) == 1
            for result in statement.results
        }

    def terminator(self, terminator: Terminator, whole: bool) -> None:
        end = len(self.statements)
        match terminator:
            case Return(value=value):
                self._root(end, [value], 7)
            case Raise():
                self._root(end, terminator_values(terminator), 6)
            case Yield(values=values) if whole:
                self._root(end, values, 0)
            case Yield(values=values) | Continue(values=values) | Break(values=values):
                self._copies(end, values)
            case Unreachable():
                pass

    def statement(self, index: int) -> None:
        statement = self.statements[index]
        match statement:
            case Op(callee=Opcode.MARK):
                pass
            case Op():
                width = _width(statement) + sum(_value_width(result) + 3 for result in statement.results)
                # `x[i] += y` reads x[i] before it evaluates y, which therefore must not write.
                self._root(index, _open_operands(statement), width, writes=not isinstance(statement.payload, Augmented))
            case If():
                self._root(index, [statement.condition], 4 + _choice_width(statement, self.planner))
            case While():
                self._copies(index, statement.initial)
            case For():
                self._root(index, item_sources(statement.items), 20)
                self._copies(index, statement.initial)
            case Try():
                pass

    def _copies(self, index: int, values: tuple[Value, ...]) -> None:
        allowed = [value for value in values if value in self.planner.into_copies]
        if allowed:
            self._root(index, allowed, 8 * len(values), self.planner.into_copies)

    def _root(
        self, index: int, values: Iterable[Value], width: int, named: frozenset[Var] = frozenset(), *, writes: bool = True
    ) -> None:
        """Write values inside the root statement at `index`, whose text is `width` wide without them."""
        pending = list(values)
        while pending:
            value = pending.pop()
            place = self._candidate(value, named)
            if place is None or not self._may_move(place, index):
                continue
            if not writes and self._effect(place) is Effect.WRITES:
                continue
            statement = self.statements[place]
            assert isinstance(value, Var) and isinstance(statement, Op | If)
            added = _width_of(statement, self.planner) - _value_width(value)
            if width + added > (_USER_WIDTH if isinstance(statement, If) or statement.from_user else _WIDTH):
                continue
            width += added
            self.planner.nested[value] = statement
            self.moved.add(place)
            pending.extend(_open_operands(statement) if isinstance(statement, Op) else [statement.condition])

    def _candidate(self, value: Value, named: frozenset[Var]) -> int | None:
        """The place of the operation that defines a value, if it has one use and needs no name."""
        if not isinstance(value, Var) or self.planner.count[value] != 1:
            return None
        if value.user_named and value not in named:
            return None
        place = self.places.get(value)
        if place is None:
            return None
        statement = self.statements[place]
        if isinstance(statement, If):
            return place if value in self.planner.choices else None
        assert isinstance(statement, Op)
        if isinstance(statement.callee, Opcode) and statement.callee in _NEVER_NESTED:
            return None
        return None if is_in_place(statement) else place

    def _may_move(self, place: int, root: int) -> bool:
        """Whether the statement at `place` may run at `root`. What has moved already runs later still."""
        if root - place > _REACH:
            return False
        own = self._effect(place)
        if any(is_mark(self.statements[between]) for between in range(place + 1, root)):
            return False  # what is evaluated after a mark is not what it says
        return not any(conflict(own, self._effect(between)) for between in range(place + 1, root) if between not in self.moved)

    def _effect(self, index: int) -> Effect:
        if index not in self.effects:
            self.effects[index] = effect(self.statements[index], self.planner.kinds)
        return self.effects[index]


def _open_operands(op: Op) -> tuple[Value, ...]:
    """The operands of an operation that may be expressions, in the order of evaluation."""
    if op.callee is Opcode.MARK:
        return ()
    if op.callee is Opcode.STORE:
        _, *indices, value = op.arguments
        return (*indices, value) if op.payload is not None else (value, *indices)
    if op.callee is Opcode.APPEND or op.callee is Opcode.RECORD or is_in_place(op):
        return op.arguments[1:]
    return operands(op)


def _width_of(statement: Op | If, planner: _Planner) -> int:
    return _width(statement) if isinstance(statement, Op) else _choice_width(statement, planner)


def _width(op: Op) -> int:
    """About how many columns an operation takes with names for its operands."""
    inside = sum(_value_width(value) for value in (*op.arguments, *(value for _, value in op.keywords)))
    inside += sum(len(name) + 1 for name, _ in op.keywords)
    sign = notation(op)
    if sign is not None:
        return inside + (3 if not isinstance(sign, SliceOf) else -4 * op.arguments.count(Const(None)))
    if op.callee is Opcode.GLOBAL:
        return len(op.payload) + 18
    if isinstance(op.callee, Opcode):
        return inside + 2 * len(op.arguments)
    return inside + _value_width(op.callee) + 2 * (len(op.arguments) + len(op.keywords))


def _value_width(value: Value) -> int:
    if isinstance(value, Var):
        return len(value.hint) or 5
    if isinstance(value, Const):
        return len(value.path or repr(value.value)[:30])
    return 0


def _choice_width(statement: If, planner: _Planner) -> int:
    if not (statement.results and statement.results[0] in planner.choices):
        return 0
    return 10 + sum(_nested_width(value, planner) for arm in regions(statement) for value in terminator_values(arm.terminator))


def _nested_width(value: Value, planner: _Planner) -> int:
    if not isinstance(value, Var) or value not in planner.nested:
        return _value_width(value)
    statement = planner.nested[value]
    if isinstance(statement, If):
        return _choice_width(statement, planner)
    return _width(statement) + sum(_nested_width(operand, planner) - _value_width(operand) for operand in operands(statement))
