"""What is saved of the body of a `Try`, which may stop anywhere.

A saved value of the body becomes a parameter and a result of the `Try`, so that it is there after a handler too. The marks
carry it from where it is known; what it is before, nobody asks, because the step says how far the body came.

    step = 0; b = None
    try:
        b = math.sqrt(y)
        step = 1
        a = a / b
    except ZeroDivisionError:
        a = 1.0
    return a, (step, b)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from microgradpy.ad.exits import Frame
from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import UNDEFINED, Const, For, If, Op, Region, Statement, Try, Value, Var, While, Yield
from microgradpy.ir.rewrite import map_statements
from microgradpy.ir.traversal import definitions, is_mark, regions, walk

Tape = Var
Wanted = dict[Tape | None, set[Var]]
Available = dict[Var, Value]


class AttemptRecorder(ABC):
    """The part of recording that deals with `Try`s, and with what the arms of a statement have computed. `lengths` are those
    that are noted before loops which have no tape, and `measures` what is asked of arrays when they have been made."""

    def __init__(
        self,
        tape_of_loop: Mapping[int, Tape],
        lengths: Mapping[Tape, Var | None],
        wanted: Wanted,
        measures: Mapping[Var, list[Op]],
    ) -> None:
        self.tape_of_loop = tape_of_loop
        self.measures = measures
        self.lengths = lengths
        self.wanted = wanted
        self.columns: dict[Var, list[Var]] = {}

    @abstractmethod
    def region(self, region: Region, frame: Frame, available: Available) -> tuple[Region, Available]: ...

    @abstractmethod
    def copy(self, var: Var) -> Var: ...

    @abstractmethod
    def settled(self, value: Value, out: list[Statement]) -> Value: ...

    def tape(self, frame: Frame) -> Tape | None:
        frame = recording(frame)
        return None if frame.loop is None else frame.tape

    def wanted_of(self, frame: Frame) -> set[Var]:
        return self.wanted.get(self.tape(frame), set())

    def attempt(self, statement: Try, frame: Frame, available: Available) -> Try:
        inner = frame.tries[id(statement)]
        wanted = self.wanted_of(frame)
        columns = [var for var in (inner.path, *self.made_in(statement.body, inner)) if var in wanted]
        self.columns[statement.scope] = columns
        body, found = self.region(statement.body, inner, available)
        # What no mark carries is not there after an exception.
        carried = _carried(body, statement, len(columns))
        body = _news(_with_columns(body, statement, carried), statement.scope, len(statement.parameters), [None] * len(carried))
        columns = [columns[index] for index in carried]
        parameters = [self.copy(var) for var in columns]
        arms, ends = [body], [found]
        for number, handler in enumerate(statement.handlers, 1):
            seen: Available = {var: var for var in statement.parameters if var in wanted}
            seen |= {inner.handled: Const(number), **dict(zip(columns, parameters, strict=True))}
            arm, found = self.region(handler.body, frame, available | seen)
            arms.append(arm)
            ends.append(found)
        results, (body, *handled) = self.threaded(statement.results, arms, ends, available, wanted)
        handlers = tuple(replace(handler, body=arm) for handler, arm in zip(statement.handlers, handled, strict=True))
        seen_by_handlers = (*statement.parameters, *parameters)
        return replace(statement, body=body, handlers=handlers, parameters=seen_by_handlers, results=results)

    def made_in(self, region: Region, frame: Frame) -> list[Var]:
        """What may be saved of a region, apart from what the loops in it record."""
        found: list[Var] = []
        for statement in region.statements:
            match statement:
                case If(then=then, orelse=orelse):
                    found += [*self.made_in(then, frame), *self.made_in(orelse, frame)]
                case Try(handlers=handlers):
                    inner = frame.tries[id(statement)]
                    found += [inner.path, inner.handled, *self.made_in(statement.body, inner), *statement.parameters]
                    found += (var for handler in handlers for var in self.made_in(handler.body, frame))
                case While() | For() if id(statement) in self.tape_of_loop:
                    tape = self.tape_of_loop[id(statement)]
                    found.append(self.lengths.get(tape) or tape)
            for var in definitions(statement):
                found += (var, *(op.result for op in self.measures.get(var, ())))
        return found

    def mark(self, mark: Op, frame: Frame, available: Available, out: list[Statement]) -> Op:
        now = available | reached(frame, frame.mark_number(mark), mark.payload)
        is_first = frame.exits[0] is mark
        missing = Const(None) if is_first else UNDEFINED
        values = [now.get(var, missing) for var in self.columns[mark.payload]]
        settled = tuple(value if value is UNDEFINED else self.settled(value, out) for value in values)
        return replace(mark, arguments=(*mark.arguments, *settled))

    def threaded(
        self,
        results: tuple[Var, ...],
        arms: list[Region],
        ends: list[Available],
        available: Available,
        wanted: AbstractSet[Var],
    ) -> tuple[tuple[Var, ...], list[Region]]:
        """The arms of a statement with what they save among their results; None on a path where it is not computed."""
        inside = [
            var
            for var in dict.fromkeys(var for found in ends for var in found)
            if var in wanted
            and any(
                isinstance(arm.terminator, Yield) and found.get(var) != available.get(var)
                for arm, found in zip(arms, ends, strict=True)
            )
        ]
        threaded = [self.copy(var) for var in inside]
        new_arms = []
        for arm, found in zip(arms, ends, strict=True):
            if isinstance(arm.terminator, Yield):
                checks: list[Statement] = []
                extra = tuple(self.settled(found.get(var, Const(None)), checks) for var in inside)
                arm = Region((*arm.statements, *checks), Yield((*arm.terminator.values, *extra)))
            new_arms.append(arm)
        available.update(zip(inside, threaded, strict=True))
        return (*results, *threaded), new_arms


def _carried(body: Region, attempt: Try, count: int) -> list[int]:
    """The columns of which a mark says anything that is saved."""
    own, missing = len(attempt.parameters), (UNDEFINED, Const(None))
    marks = [mark for mark in walk(body) if isinstance(mark, Op) and is_mark(mark) and mark.payload == attempt.scope]
    return [index for index in range(count) if any(mark.arguments[own + index] not in missing for mark in marks)]


def _with_columns(body: Region, attempt: Try, carried: list[int]) -> Region:
    own = len(attempt.parameters)

    def picked(statement: Statement) -> tuple[Statement, ...]:
        if not (isinstance(statement, Op) and is_mark(statement) and statement.payload == attempt.scope):
            return (statement,)
        extra = tuple(statement.arguments[own + index] for index in carried)
        return (replace(statement, arguments=(*statement.arguments[:own], *extra)),)

    return map_statements(body, picked)


def _news(region: Region, scope: Var, own: int, known: list[Value | None]) -> Region:
    """The region with marks that carry only what the marks before them have not: undefined is what stays as it is. `known` is
    what each column, behind the `own` values of the marks, holds; it is changed to what it holds at the region's end."""
    statements: list[Statement] = []
    for statement in region.statements:
        if isinstance(statement, Op):
            if is_mark(statement) and statement.payload == scope:
                statement = _news_of(statement, own, known)
        elif any(_is_mark_of(inner, scope) for each in regions(statement) for inner in walk(each)):
            if isinstance(statement, If):
                then, orelse = list(known), list(known)
                arms = _news(statement.then, scope, own, then), _news(statement.orelse, scope, own, orelse)
                statement = replace(statement, then=arms[0], orelse=arms[1])
                known[:] = [a if a == b else None for a, b in zip(then, orelse, strict=True)]
            else:
                known[:] = [None] * len(known)  # what is repeated, or stopped, may have any of its marks behind it
        statements.append(statement)
    return Region(tuple(statements), region.terminator)


def _is_mark_of(statement: Statement, scope: Var) -> bool:
    return isinstance(statement, Op) and is_mark(statement) and statement.payload == scope


def _news_of(mark: Op, own: int, known: list[Value | None]) -> Op:
    arguments = list(mark.arguments)
    for index, value in enumerate(arguments[own:]):
        if value is not UNDEFINED and value == known[index]:
            arguments[own + index] = UNDEFINED
        elif value is not UNDEFINED:
            known[index] = value
    return replace(mark, arguments=tuple(arguments))


def recording(frame: Frame) -> Frame:
    """The frame that saves what a frame computes: that of the function or a loop."""
    while frame.parent is not None:
        frame = frame.parent
    return frame


def reached(frame: Frame, number: int, scope: Var | None = None) -> Available:
    """What is known of the `Try`s that are left at an exit, up to the one of `scope`: the step, and that nothing was
    handled."""
    known: Available = {}
    while isinstance(frame.loop, Try) and frame.parent is not None:
        known |= {frame.path: Const(number), frame.handled: Const(0)}
        if frame.loop.scope == scope or number not in frame.escapes:
            break
        number = frame.parent.exit_through(frame.loop, frame.leads[number]) or 0
        frame = frame.parent
    return known


def left_with(frame: Frame, number: int) -> tuple[Frame, int]:
    """The frame that ends where an exit of a `Try` in it leaves both, and the number of its exit."""
    while frame.parent is not None and frame.loop is not None:
        number = frame.parent.exit_through(frame.loop) or 0
        frame = frame.parent
    return frame, number
