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
from microgradpy.promotion.attempts import lower_attempt
from microgradpy.promotion.base import Walk
from microgradpy.promotion.conditions import asked_at_once, asked_only, present_after, present_where
from microgradpy.promotion.escapes import Used
from microgradpy.promotion.findings import Escapes
from microgradpy.promotion.fusing import fuse, generator_of
from microgradpy.promotion.guarded import guard, key_of, may_be_guarded
from microgradpy.promotion.iterated import delegated, with_iterators
from microgradpy.promotion.loops import repeat
from microgradpy.promotion.merging import Arm, Merge
from microgradpy.promotion.names import gathered_by_dict
from microgradpy.promotion.places import Element, Frame, Known, ListOf, Object
from microgradpy.promotion.thrown import note_thrown
from microgradpy.runtime.keyed import CLASSES


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
            end = region.terminator
            for statement in region.statements:
                if (leaving := self.leaving(statement, frame)) is not None:
                    for inner in leaving.statements:
                        self.statement(inner, frame)
                    end = leaving.terminator
                    break  # what follows is not reached
                self.statement(statement, frame)
            return self.out, self.terminator(end, frame)
        finally:
            self.out, self.present = outer, present

    def statement(self, statement: Statement, frame: Frame) -> None:
        outer, self.at = self.at, Used(statement)
        self.lower_statement(statement, frame)
        self.at = outer

    def lower_statement(self, statement: Statement, frame: Frame) -> None:
        match statement:
            case Op():
                self.operation(statement, frame)
            case If():
                self.branch(statement, frame)
            case For() if (changed := with_iterators(self, statement, frame)) is not None:
                self.statement(changed, frame)
            case For() if (generator := generator_of(self, statement, frame)) is not None:
                fuse(self, statement, generator, frame)
            case While() if (loop := delegated(self, statement, frame)) is not None:
                self.statement(loop, frame)
            case While() | For():
                self.loop_over(statement, frame)
            case Try():
                lower_attempt(self, statement, frame)
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
                note_thrown(self, given[0], where)  # type: ignore[arg-type]
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
        said = [attempt.said for attempt in self.trying]
        for region, holds in ((statement.then, True), (statement.orelse, False)):
            self.fields, self.handed = dict(before), set(handed)
            self.present = present | present_where(self.tests, condition, holds)
            for attempt, before_arm in zip(self.trying, said, strict=True):
                attempt.said = before_arm
            statements, end = self.region(region, frame)
            yielded = self.yielded(end, statements, statement, condition, holds, frame)
            arms.append(Arm(statements, end, yielded, self.fields, [attempt.said for attempt in self.trying]))
            anywhere |= self.handed
        self.handed, self.present = anywhere, present
        falling = [arm for arm in arms if arm.yielded is not None]
        results: list[Var] = []
        for number, attempt in enumerate(self.trying):
            ways = [arm.said[number] for arm in falling or arms]
            attempt.said = ways[0] if all(way == ways[0] for way in ways) else None
        if len(falling) == 2:
            known, self.fields, results = Merge(self, falling).joined(before, statement.results, frame)
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
        self, end: Terminator, statements: list[Statement], statement: If, condition: Value, holds: bool, frame: Frame
    ) -> tuple[Known, ...] | None:
        """What an arm hands over, at the end of its statements: of what is only asked, whether it is true."""
        if not isinstance(end, Yield):
            return None
        outer, self.out = self.out, statements
        found = []
        for value, result in zip(end.values, statement.results, strict=True):
            known = self.known(value, frame)
            # A list or deque may be empty when it is asked, and not when the branch ends, if anything is done there; or when
            # somebody asks a variable for it later.
            is_object = isinstance(known, Element | Object) and known.cls not in CLASSES
            is_at_once = result in self.at_once or (value == statement.condition and not statements)
            is_list = isinstance(known, Object | ListOf) and is_at_once
            if result in self.asked_only and (is_object or is_list):
                known = condition if value == statement.condition else self.truth(known, statement.where, frame)
            if result in self.asked_only and isinstance(known, Const) and known.value is holds:
                known = condition  # which is as true here
            found.append(known)
        self.out = outer
        return tuple(found)

    def note_presence(self, statement: If, condition: Value, arms: list[Arm], known: list[Known]) -> None:
        """Note which objects are there if a result of a branch is true, or if it is not."""
        left, right = (arm.yielded or () for arm in arms)
        for result, then, orelse, found in zip(statement.results, left, right, known, strict=True):
            if result in self.asked_only and isinstance(found, Var):
                self.tests[found] = present_after(self.tests, condition, then, orelse)

    def leaving(self, statement: Statement, frame: Frame) -> Region | None:
        """The arm of a branch that is known to be taken, if that raises."""
        condition = self.known(statement.condition, frame) if isinstance(statement, If) else None
        if not isinstance(condition, Const) or condition.path or type(condition.value) is not bool:
            return None
        assert isinstance(statement, If)
        region = statement.then if condition.value else statement.orelse
        return region if isinstance(region.terminator, Raise) else None

    def chosen(self, region: Region, statement: If, frame: Frame) -> bool:
        """Append the arm that is known to be taken; whether it goes on, so that it may stand where the branch stood."""
        if not isinstance(region.terminator, Yield):
            return False
        for inner in region.statements:
            self.statement(inner, frame)
        for old, value in zip(statement.results, region.terminator.values, strict=True):
            self.bind(old, self.known(value, frame), frame)
        return True

    # Loops

    def loop_over(self, statement: While | For, frame: Frame) -> None:
        key = key_of(statement, frame)
        self.loops.append(key)
        try:
            if self.trying and key in self.facts.guarded and may_be_guarded(self, statement, frame):
                guard(self, statement, frame)
            else:
                repeat(self, statement, frame)
        finally:
            self.loops.pop()

    def whole(self, function: Function, frame: Frame) -> Function:
        self.asked_only |= asked_only(function.body)
        self.at_once |= asked_at_once(function.body)
        self.gathered_by_dict |= gathered_by_dict(function.body)
        statements, end = self.region(function.body, frame)
        return replace(function, body=Region(tuple(statements), end))
