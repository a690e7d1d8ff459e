"""The walk over a program: what each variable is, and what each field of what is in sight is now.

Fields are carried as variables are: what two arms of a branch leave differently becomes a result of the branch, what the body
of a loop changes becomes state of the loop. A loop is walked until nothing more turns out to be changed in it.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import assert_never

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import (
    Break,
    Const,
    Continue,
    For,
    Function,
    Handler,
    If,
    Op,
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
from microgradpy.promotion.base import Walk
from microgradpy.promotion.conditions import asked_only, present_after, present_where
from microgradpy.promotion.escapes import Used
from microgradpy.promotion.fusing import fuse, generator_of
from microgradpy.promotion.loops import repeat
from microgradpy.promotion.merging import Arm, Merge
from microgradpy.promotion.places import Element, Escapes, Frame, Known, Object
from microgradpy.runtime.written_out import CLASSES


class Walker(Walk):
    """`calls.Calls` says what is done with operations."""

    @abstractmethod
    def operation(self, op: Op, frame: Frame) -> None:
        """Append what becomes of an operation."""

    # Regions

    def region(self, region: Region, frame: Frame) -> tuple[list[Statement], Terminator]:
        """The statements of a region, from what is known here on. Its terminator is the program's if it is a `Yield`."""
        outer, self.out = self.out, []
        present = self.present
        try:
            for statement in region.statements:
                self.statement(statement, frame)
            return self.out, self.terminator(region.terminator, frame)
        finally:
            self.out, self.present = outer, present

    def statement(self, statement: Statement, frame: Frame) -> None:
        outer, self.at = self.at, Used(statement, self.attempts > 0)
        self.lower_statement(statement, frame)
        self.at = outer

    def lower_statement(self, statement: Statement, frame: Frame) -> None:
        match statement:
            case Op():
                self.operation(statement, frame)
            case If():
                self.branch(statement, frame)
            case For() if (generator := generator_of(self, statement, frame)) is not None:
                fuse(self, statement, generator, frame)
            case While() | For():
                repeat(self, statement, frame)
            case Try():
                self.attempt(statement, frame)
            case _:
                assert_never(statement)

    def terminator(self, terminator: Terminator, frame: Frame) -> Terminator:
        match terminator:
            case Continue(values=values) | Break(values=values):
                assert self.loop is not None
                known = tuple(self.known(value, frame) for value in values)
                return type(terminator)(self.loop.carried(known))
            case Return(value=value, where=where):
                self.at = Used(terminator)
                if frame.unit is not None:
                    return frame.unit.returned(self, self.known(value, frame), terminator)  # type: ignore[no-any-return]
                if not frame.is_root:
                    raise Escapes(frame.path)
                return Return(self.plain(self.known(value, frame), shows=False), where)
            case Raise(exception=exception, cause=cause, where=where):
                self.at = Used(terminator)
                given = [None if each is None else self.plain(self.known(each, frame)) for each in (exception, cause)]
                return Raise(given[0], given[1], where)
            case Unreachable() | Yield():
                return terminator
        assert_never(terminator)

    # Branches

    def branch(self, statement: If, frame: Frame) -> None:
        asked = self.truth(self.known(statement.condition, frame), statement.where, frame)
        condition = self.plain(asked, shows=False, hands=False)
        if isinstance(condition, Const) and not condition.path and type(condition.value) is bool:
            if self.chosen(statement.then if condition.value else statement.orelse, statement, frame):
                return
        after: list[Statement] = []
        before, handed, anywhere = self.fields, self.handed, set(self.handed)
        arms = []
        present = self.present
        for region, holds in ((statement.then, True), (statement.orelse, False)):
            self.fields, self.handed = dict(before), set(handed)
            self.present = present | present_where(self.tests, condition, holds)
            statements, end = self.region(region, frame)
            yielded = self.yielded(end, statements, statement, condition, frame) if isinstance(end, Yield) else None
            arms.append(Arm(statements, end, yielded, self.fields))
            anywhere |= self.handed
        self.handed, self.present = anywhere, present
        falling = [arm for arm in arms if arm.yielded is not None]
        results: list[Var] = []
        if len(falling) == 2:
            known, self.fields, results = Merge(self, *falling).joined(before, statement.results, frame)
            self.note_presence(statement, condition, falling, known)
        elif falling:
            (arm,) = falling
            known, self.fields = list(arm.yielded or ()), arm.fields
            after, arm.statements, arm.end = arm.statements, [], Yield(())
        else:
            known, self.fields = [], before
        for old, found in zip(statement.results, known, strict=False):
            if found is not old:
                self.bind(old, found, frame)
        regions = [Region(tuple(arm.statements), arm.end) for arm in arms]
        self.add(If(condition, regions[0], regions[1], tuple(results), statement.where))
        self.out += after  # if the other arm leaves: what is in sight may refer to any variable of these

    def yielded(
        self, end: Yield, statements: list[Statement], statement: If, condition: Value, frame: Frame
    ) -> tuple[Known, ...]:
        """What an arm hands over, at the end of its statements: of what is only asked, whether it is true."""
        outer, self.out = self.out, statements
        found = []
        for value, result in zip(end.values, statement.results, strict=True):
            known = self.known(value, frame)
            # A list or deque may be empty when it is asked, and not when the branch ends.
            if result in self.asked_only and isinstance(known, Element | Object) and known.cls not in CLASSES:
                known = condition if value == statement.condition else self.truth(known, statement.where, frame)
            found.append(known)
        self.out = outer
        return tuple(found)

    def note_presence(self, statement: If, condition: Value, arms: list[Arm], known: list[Known]) -> None:
        """Note which objects are there if a result of a branch is true, or if it is not."""
        left, right = (arm.yielded or () for arm in arms)
        for result, then, orelse, found in zip(statement.results, left, right, known, strict=True):
            if result in self.asked_only and isinstance(found, Var):
                self.tests[found] = present_after(self.tests, condition, then, orelse)

    def chosen(self, region: Region, statement: If, frame: Frame) -> bool:
        """Append the arm that is known to be taken; whether it goes on, so that it may stand where the branch stood."""
        if not isinstance(region.terminator, Yield):
            return False
        for inner in region.statements:
            self.statement(inner, frame)
        for old, value in zip(statement.results, region.terminator.values, strict=True):
            self.bind(old, self.known(value, frame), frame)
        return True

    # Exceptions

    def attempt(self, statement: Try, frame: Frame) -> None:
        """What is made outside may not be written into where an exception may be caught."""
        outer, self.fixed = self.fixed, self.fixed | {place for place, _ in self.fields}
        self.attempts += 1
        before = self.fields
        try:
            scope = self.define(statement.scope, frame)
            frame.values[statement.scope] = scope
            regions: list[Region] = []
            parameters: tuple[Var, ...] = ()
            for region in (statement.body, *(handler.body for handler in statement.handlers)):
                self.fields = dict(before)
                if len(regions) == 1:
                    parameters = tuple(self.define(var, frame) for var in statement.parameters)
                regions.append(self.sealed(region, frame, statement, len(regions)))
        finally:
            self.fixed, self.fields = outer, before
            self.attempts -= 1
        results = tuple(self.define(var, frame) for var in statement.results)
        handlers = tuple(
            Handler(
                None if old.types is None else self.values(old.types, frame),
                None if old.exception is None else self.variable_of(old.exception, frame),
                body,
            )
            for old, body in zip(statement.handlers, regions[1:], strict=True)
        )
        self.add(Try(regions[0], handlers, scope, parameters, results, statement.where))

    def sealed(self, region: Region, frame: Frame, attempt: Try, number: int) -> Region:
        if number and (caught := attempt.handlers[number - 1].exception) is not None:
            self.define(caught, frame)
        statements, end = self.region(region, frame)
        if isinstance(end, Yield):
            outer, self.out = self.out, statements
            end = Yield(self.values(end.values, frame))
            self.out = outer
        return Region(tuple(statements), end)

    def whole(self, function: Function, frame: Frame) -> Function:
        self.asked_only |= asked_only(function.body)
        statements, end = self.region(function.body, frame)
        return replace(function, body=Region(tuple(statements), end))
