"""Loops whose tape would be long, run in segments: the adjoint keeps what the loop carries from one segment to the next, and
runs a segment again to have its tape.

    for i in checkpointed(range(n)):            every = int(n ** 0.5) + 1
        x = f(x, w)                             for start in range(0, n, every):
                                                    x = f_loop(x, w, start, min(start + every, n))

`f_loop` is a function of its own, whose calls are checkpointed: it has the loop, from `start` to there. By what the body has
left the loop is a number that it returns besides. The schedule "log" has segments of segments: `f_loop` calls itself for each
of 16 parts, unless there are few steps. Of a `while` loop nobody knows how many steps it has: its segments become longer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Set
from functools import partial
from types import CellType, FunctionType
from typing import final

from microgradpy.ad.calls import Apart
from microgradpy.ad.segment_checks import breaks, changed_in, check_loop, free_in, returns
from microgradpy.ad.segment_steps import Out, Steps, is_checkpoint
from microgradpy.ad.unassigned import bind_all
from microgradpy.dataclasses import dataclass, replace
from microgradpy.errors import UnsupportedSyntaxError
from microgradpy.ir.kinds import INT, NOTHING
from microgradpy.ir.nodes import (
    Break,
    Const,
    Continue,
    For,
    Function,
    If,
    Location,
    Op,
    Opcode,
    Parameter,
    Range,
    Region,
    Return,
    Statement,
    Try,
    Unreachable,
    Value,
    Var,
    While,
    Yield,
    fresh,
    function_constant,
    operator_constant,
)
from microgradpy.ir.rewrite import map_regions, map_statements
from microgradpy.ir.traversal import definitions, terminator_values, terminators, uses, walk
from microgradpy.runtime.checkpoints import Schedule

_ADD, _SUB, _MUL, _EQ, _LE, _FLOORDIV = map(operator_constant, ("add", "sub", "mul", "eq", "le", "floordiv"))
_MIN, _MAX, _INT = function_constant(min), function_constant(max), function_constant(int)
_SQRT = Const(math.sqrt, "math.sqrt", math)
_LEAF, _PARTS, _FIRST = 32, 16, 16
"""With "log": how many steps need no parts, and how many parts there are; how many steps the first segment of a `while` has."""
_GOES_ON, _BROKEN, _RETURNED = map(Const, (0, 1, 2))


def segmented(function: Function, owner: FunctionType, schedule: Schedule | None, repeats: bool) -> Function:
    """The function with the loops over what `checkpointed` gives in segments, and with a `schedule` the outermost ones.
    UnsupportedSyntaxError of a loop that cannot be run again piece by piece. Where nothing `repeats` them, they are the same
    loops over the items themselves."""
    found = any(is_checkpoint(statement) for statement in walk(function.body) if isinstance(statement, Op))
    if not found and (schedule is None or not repeats):
        return function
    rewriting = _Segmenting(function, owner, repeats)
    body = bind_all(function).body if repeats else function.body
    made = rewriting.region(body, schedule if repeats else None, frozenset())
    return replace(function, body=rewriting.without_iterables(made)) if rewriting.count else function


def checkpointed_loop(function: Function, schedule: Schedule | None) -> Location | None:
    """The place of a loop that is to be run in segments, if there is any."""
    steps = Steps()
    for statement in walk(function.body):
        match statement:
            case Op(results=results):
                steps.producers.update(dict.fromkeys(results, statement))
            case While() | For() if schedule is not None or steps.schedule_of(statement) is not None:
                return statement.where
    return None


def _without(gone: Set[Var], statement: Statement) -> tuple[Statement, ...]:
    return (statement,) if gone.isdisjoint(definitions(statement)) else ()


@final
class _Segmenting:
    """The walk over one function."""

    def __init__(self, function: Function, owner: FunctionType, repeats: bool) -> None:
        self.name = function.name
        self.owner = owner
        self.repeats = repeats
        self.steps = Steps()
        self.changed = changed_in(function)
        self.count = 0

    def without_iterables(self, region: Region) -> Region:
        """The region without what was made to be run over, if nobody else reads it."""
        for _ in range(2):
            read = {value for statement in walk(region) for value in uses(statement)}
            read |= {value for end in terminators(region) for value in terminator_values(end)}
            region = map_statements(region, partial(_without, self.steps.iterables - read))
        return region

    def region(self, region: Region, schedule: Schedule | None, scopes: frozenset[Var]) -> Region:
        """`scopes` are those of the attempts around, whose marks may be inside."""
        statements = tuple(new for old in region.statements for new in self.statement(old, schedule, scopes))
        return Region(statements, region.terminator)

    def statement(self, statement: Statement, schedule: Schedule | None, scopes: frozenset[Var]) -> Iterator[Statement]:
        match statement:
            case Op(results=results):
                self.steps.producers.update(dict.fromkeys(results, statement))
                yield statement
            case While() | For():
                found = self.steps.schedule_of(statement) or schedule
                inner = map_regions(statement, lambda region: self.region(region, None, scopes))
                assert isinstance(inner, While | For)
                if found is not None and not self.repeats:
                    self.count += 1
                    assert isinstance(inner, For)
                    yield replace(inner, items=self.steps.items_of(inner))
                elif found is None or not (statement.results or returns(statement.body)):
                    yield inner
                else:
                    self.count += 1
                    yield from self.loop(inner, found, scopes)
            case If():
                yield map_regions(statement, lambda region: self.region(region, schedule, scopes))
            case Try():
                yield map_regions(statement, lambda region: self.region(region, schedule, scopes | {statement.scope}))

    def loop(self, loop: While | For, schedule: Schedule, scopes: frozenset[Var]) -> Iterator[Statement]:
        out = Out(loop.where)
        body = loop.body
        first: Value = Const(0)
        bounds: Value | None = None
        if isinstance(loop, While):
            if schedule.name == "parts":
                found = "a while loop, of which nobody knows how many steps it has, keeps no given number of them"
                raise UnsupportedSyntaxError(found, loop.where, 'Use checkpoint="sqrt" or "log".')
            condition = loop.condition.terminator
            assert isinstance(condition, Yield)
            leave = Region((), Break(loop.parameters))
            asked = If(condition.values[0], Region((), Yield(())), leave, (), loop.where)
            body = replace(body, statements=(*loop.condition.statements, asked, *body.statements))
            step = fresh("_")
            check_loop(replace(loop, body=body), scopes, self.changed)
        else:
            check_loop(loop, scopes, self.changed)
            step, first, bounds, before = self.steps.of(loop, out)
            body = replace(body, statements=(*before, *body.statements))
        segment = self.segment(loop, body, step, schedule)
        yield from out.statements
        yield from _outer(loop, segment, schedule, first, bounds)

    # The segment

    def segment(self, loop: While | For, body: Region, step: Var, schedule: Schedule) -> _Segment:
        """The function that runs the steps from one to another."""
        states = tuple(fresh(var.hint, var.user_named) for var in loop.parameters)
        first, last = fresh("first"), fresh("last")
        free = tuple(var for var in free_in(body, {*loop.parameters, step}))
        hints = [*(var.hint or "state" for var in loop.parameters), *(var.hint or "value" for var in free), "first", "last"]
        parameters = tuple(map(Parameter, (*states, *free, first, last), _distinct(hints)))
        extra = _extra(isinstance(loop, While) or breaks(body), returns(body))
        ends = tuple(fresh(var.hint, var.user_named) for var in (*loop.results, *extra))
        inner = For(
            Range((first, last), step),
            _left_by_number(body, loop.parameters, extra),
            (*loop.parameters, *extra),
            (*states, *_starts(extra)),
            ends,
            loop.where,
        )
        name = f"{self.name}_loop" if self.name.isidentifier() else "loop"
        cells = tuple(CellType() for _ in self.owner.__code__.co_freevars)  # what is in them is given as arguments
        owner = FunctionType(self.owner.__code__, self.owner.__globals__, name, None, cells)
        apart = Apart(owner, Function(name, parameters, (), Region((), Unreachable()), loop.where), again=True)
        apart.carries, apart.besides = len(states), (INT, NOTHING)[: len(extra)]
        made = _Segment(Const(apart, name, apart), free, extra)
        out = Out(loop.where)
        out.statements.append(inner)
        whole = replace(apart.function, body=_returning(out, ends))
        apart.plain = Apart(FunctionType(owner.__code__, owner.__globals__, f"{name}_value", None, cells), whole)
        if schedule.name == "log":
            in_parts = _in_parts(made, inner, states, ends, first, last, Out(loop.where))
            apart.function = replace(whole, body=in_parts)
        else:
            apart.function = whole
        return made


@final
@dataclass(frozen=True, slots=True)
class _Segment:
    """A function that runs some steps of a loop: what calls it gives what the loop carries, the `free` variables of its body,
    and the first and the last step. `extra` are the number by which the loop was left and the value that was returned, as far
    as it has them, behind what the loop carries."""

    callee: Const
    free: tuple[Var, ...]
    extra: tuple[Var, ...]

    def call(self, out: Out, states: tuple[Value, ...], ends: tuple[Var, ...], first: Value, last: Value) -> None:
        given = (*states, *self.free, first, last)
        if len(ends) == 1:
            out.operation(self.callee, given, ends[0])
        else:
            packed = fresh("carried")
            out.operation(self.callee, given, packed)
            out.unpack(packed, ends)


def _outer(
    loop: While | For, segment: _Segment, schedule: Schedule, first: Value, bounds: Value | None
) -> Iterator[Statement]:
    """The loop over the segments, in the place of a loop."""
    out = Out(loop.where)
    ends = (*loop.results, *(fresh(var.hint) for var in segment.extra))
    states = tuple(fresh(var.hint, var.user_named) for var in loop.parameters)
    carried = tuple(fresh(var.hint) for var in segment.extra)
    inside = Out(loop.where)
    news = tuple(fresh(var.hint, var.user_named) for var in (*loop.parameters, *segment.extra))
    if bounds is None:
        size, none = fresh("size"), fresh("_")
        segment.call(inside, states, news, Const(0), size)
        longer = inside.call(_MUL if schedule.name == "log" else _ADD, size, _growth(schedule), hint="size")
        body = _left(inside, segment, news, (longer,))
        start: Value = schedule.count if schedule.name == "every" else Const(_LEAF if schedule.name == "log" else _FIRST)
        results = (*ends, none)
        condition = Region((), Yield((Const(True),)))
        whole = While(condition, body, (*states, *carried, size), (*loop.initial, *_starts(carried), start), results)
        out.statements.append(replace(whole, where=loop.where))
    else:
        every = _every_part(first, bounds, out) if schedule.name == "log" else _every(schedule, first, bounds, out)
        begin = fresh("start")
        end = inside.call(_MIN, inside.call(_ADD, begin, every), bounds)
        segment.call(inside, states, news, begin, end)
        body = _left(inside, segment, news, ())
        initial = (*loop.initial, *_starts(carried))
        out.statements.append(
            For(Range((first, bounds, every), begin), body, (*states, *carried), initial, ends, loop.where)
        )
    yield from out.statements
    if len(segment.extra) == 2:
        left, value = ends[-2:]
        is_left = fresh("is_returned")
        yield Op(_EQ, (left, _RETURNED), (is_left,), from_user=False, where=out.where)
        yield If(is_left, Region((), Return(value)), Region((), Yield(())), (), loop.where)


def _growth(schedule: Schedule) -> Value:
    match schedule.name:
        case "log":
            return Const(2)
        case "every":
            return Const(0)
    return Const(1)


def _every(schedule: Schedule, first: Value, last: Value, out: Out) -> Value:
    """How many steps a segment has."""
    if schedule.name == "every":
        return schedule.count
    steps = last if first == Const(0) else out.call(_SUB, last, first)
    if schedule.name == "sqrt":
        root = out.call(_SQRT, out.call(_MAX, steps, Const(0)))
        return out.call(_ADD, out.call(_INT, root), Const(1), hint="every")
    parts = out.call(_FLOORDIV, out.call(_SUB, steps, Const(1)), schedule.count)
    return out.call(_ADD, out.call(_MAX, parts, Const(0)), Const(1), hint="every")


def _every_part(first: Value, last: Value, out: Out) -> Value:
    """How many steps a part has, with "log"."""
    return out.call(_MAX, _every(Schedule("parts", Const(_PARTS)), first, last, out), Const(_LEAF), hint="every")


def _left(out: Out, segment: _Segment, news: tuple[Var, ...], others: tuple[Var, ...]) -> Region:
    """The end of the body of a loop over segments: it goes on, unless the segment was left."""
    goes_on = Region((), Continue((*news, *others)))
    if not segment.extra:
        return replace(goes_on, statements=tuple(out.statements))
    left = news[len(news) - len(segment.extra)]
    goes = out.call(_EQ, left, _GOES_ON)
    out.statements.append(If(goes, goes_on, Region((), Break((*news, *others))), (), out.where))
    return Region(tuple(out.statements), Unreachable())


def _in_parts(
    segment: _Segment, inner: For, states: tuple[Var, ...], ends: tuple[Var, ...], first: Var, last: Var, out: Out
) -> Region:
    """The segment as the loop itself, of few steps, or as a loop over its parts."""
    is_short = out.call(_LE, out.call(_SUB, last, first), Const(_LEAF))
    parts = Out(out.where)
    every = _every_part(first, last, parts)
    count = len(states)
    own = tuple(fresh(var.hint, var.user_named) for var in ends)
    news = tuple(fresh(var.hint, var.user_named) for var in ends)
    begin, inside = fresh("start"), Out(out.where)
    end = inside.call(_MIN, inside.call(_ADD, begin, every), last)
    segment.call(inside, own[:count], news, begin, end)
    body = _left(inside, segment, news, ())
    whole = tuple(fresh(var.hint, var.user_named) for var in ends)
    loop = For(Range((first, last, every), begin), body, own, (*states, *_starts(own[count:])), whole, inner.where)
    # What is proven of the steps is likely to be so of the parts.
    then, parts.statements = Out(out.where), [*parts.statements, loop]
    then.statements.append(inner)
    out.statements.append(If(is_short, _returning(then, ends), _returning(parts, whole), (), out.where))
    return Region(tuple(out.statements), Unreachable())


def _returning(out: Out, ends: tuple[Var, ...]) -> Region:
    value = ends[0] if len(ends) == 1 else out.operation(Opcode.TUPLE, ends, fresh("carried"))
    return Region(tuple(out.statements), Return(value, out.where))


def _extra(leaves: bool, has_value: bool) -> tuple[Var, ...]:
    """The number by which a loop is left, and the value that is returned from it."""
    if has_value:
        return fresh("left"), fresh("returned")
    return (fresh("left"),) if leaves else ()


def _starts(extra: tuple[Var, ...]) -> tuple[Value, ...]:
    return (_GOES_ON, Const(None))[: len(extra)]


def _left_by_number(region: Region, states: tuple[Var, ...], extra: tuple[Var, ...]) -> Region:
    """The body of a loop that says by a number how it is left."""

    def ended(inner: Region) -> Region:
        statements = tuple(map_regions(each, ended) if isinstance(each, If | Try) else each for each in inner.statements)
        match inner.terminator:
            case Continue(values=values):
                return Region(statements, Continue((*values, *extra)))  # which are as they were
            case Break(values=values):
                return Region(statements, Break((*values, *(_BROKEN, Const(None))[: len(extra)])))
            case Return(value=value):
                return Region(statements, Break((*states, _RETURNED, value)))
        return Region(statements, inner.terminator)

    return ended(region)


def _distinct(hints: list[str]) -> list[str]:
    met: dict[str, int] = {}
    names = []
    for hint in hints:
        met[hint] = met.get(hint, -1) + 1
        names.append(f"{hint}_{met[hint]}" if met[hint] else hint)
    return names


