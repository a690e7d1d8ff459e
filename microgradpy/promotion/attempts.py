"""`try`: what its body changes is state of it, as the names are that the body binds.

    try:                                try with (%5/b):
        account.withdraw(a)                 mark(%1/b)
    except ValueError:                      ...  raise
        account.b *= 1.5                    %2/b = %1 - %a
                                            mark(%2)
                                            yield %2
                                        except ValueError:
                                            %6/b = %5 * 1.5
                                            yield %6
                                        end %7/b

A mark follows each write. The handlers begin where the marks meet, as what comes after a branch begins where its arms do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from microgradpy.dataclasses import dataclass, replace
from microgradpy.ir.nodes import (
    Const,
    For,
    Function,
    Handler,
    Op,
    Region,
    Statement,
    Try,
    Undefined,
    Value,
    Var,
    While,
    Yield,
    fresh,
)
from microgradpy.ir.rewrite import map_statements
from microgradpy.ir.traversal import is_mark, regions, walk
from microgradpy.promotion.base import Walk, field_hint
from microgradpy.promotion.escapes import Used
from microgradpy.promotion.findings import Escapes, Guards, NotInSight
from microgradpy.promotion.marks import Attempt
from microgradpy.promotion.merging import Arm, Merge
from microgradpy.promotion.places import (
    AnyOf,
    Cell,
    DictOf,
    Element,
    Fields,
    Frame,
    Known,
    ListOf,
    Object,
    Packed,
    Table,
)
from microgradpy.promotion.thrown import Caught, caught_by


def lower_attempt(walker: Walk, statement: Try, frame: Frame) -> None:
    """Append a `try`."""
    scope = walker.define(statement.scope, frame)
    frame.values[statement.scope] = scope
    before, handed = walker.fields, set(walker.handed)
    around = walker.trying
    said = [(attempt, attempt.said, len(attempt.marks)) for attempt in around]
    attempt = Attempt(scope, before, statement.where, len(walker.loops), statement.handlers)
    # What the user's objects get may not be half done where somebody goes on.
    outside, walker.fixed = walker.fixed, walker.fixed | {place for place, _ in before if walker.is_users(place)}
    walker.trying = [*around, attempt]
    try:
        arms = [_arm(walker, statement.body, before, frame)]
    finally:
        walker.trying = around
    seen, body, parameters, things = _seen(walker, statement, attempt, arms[0], frame)
    for each, entered, count in said:
        arms[0].said.append(each.said)
        # Which mark was the last one before a handler depends on where the exception came from.
        each.said = entered if all(mark.said == entered for mark in each.marks[count:]) else None
    after_body = [each.said for each in around]
    caught: list[Var | None] = []
    anywhere = set(walker.handed)
    for number, handler in enumerate(statement.handlers):
        for each, start in zip(around, after_body, strict=True):
            each.said = start
        walker.handed = handed | anywhere
        caught.append(None if handler.exception is None else walker.define(handler.exception, frame))
        if number in things and handler.exception is not None:
            walker.caught[walker.variable_of(handler.exception, frame)] = things[number].place
        arms.append(_arm(walker, handler.body, seen, frame))
        arms[-1].said += (each.said for each in around)
        anywhere |= walker.handed
    walker.handed = anywhere
    falling = [arm for arm in arms if arm.yielded is not None]
    known, walker.fields, results = _after(walker, falling, before, statement.results, frame)
    for number, each in enumerate(around):
        ways = [arm.said[number] for arm in falling or arms]
        each.said = ways[0] if all(way == ways[0] for way in ways) else None
    for old, found in zip(statement.results, known, strict=False):
        if found is not old:
            walker.bind(old, found, frame)
    bodies = [map_statements(Region(tuple(arms[0].statements), arms[0].end), body)]
    bodies += (Region(tuple(arm.statements), arm.end) for arm in arms[1:])
    handlers = tuple(
        Handler(None if old.types is None else walker.values(old.types, frame), exception, arm)
        for old, exception, arm in zip(statement.handlers, caught, bodies[1:], strict=True)
    )
    walker.fixed = outside
    walker.add(Try(bodies[0], handlers, scope, parameters, tuple(results), statement.where))


def _arm(walker: Walk, region: Region, fields: Fields, frame: Frame) -> Arm:
    """The body, or a handler, from what the fields are there."""
    walker.fields = dict(fields)
    statements, end = walker.region(region, frame)
    yielded = tuple(walker.known(value, frame) for value in end.values) if isinstance(end, Yield) else None
    return Arm(statements, end, yielded, walker.fields)


def _seen(
    walker: Walk, statement: Try, attempt: Attempt, body: Arm, frame: Frame
) -> tuple[Fields, Callable[[Statement], tuple[Statement, ...]], tuple[Var, ...], dict[int, Caught]]:
    """What the fields are for the handlers, the marks that say so, and in what variables they do; and which handlers catch what
    is raised in sight."""
    whole = Region(tuple(body.statements), body.end)
    there = set(map(id, walk(whole)))
    # A loop may have been walked several times.
    marks = [mark for mark in attempt.marks if id(mark.op) in there]
    points = [Arm([], body.end, mark.said, mark.fields) for mark in marks]
    merge = Merge(walker, points, only_seen=True)
    known, seen, parameters = merge.joined(attempt.before, statement.parameters, frame)
    walker.columns.update(merge.owners)
    walker.looping[attempt.scope] = attempt.loops
    for old, found in zip(statement.parameters, known, strict=True):
        if found is not old:
            walker.bind(old, found, frame)
    ours = ((number, caught_by(walker, attempt, number, whole, seen)) for number in range(len(statement.handlers)))
    things = {number: caught for number, caught in ours if caught is not None}
    for caught in things.values():
        parameters += caught.parameters
        for mark, values in zip(marks, merge.values, strict=True):
            values += caught.at(mark.op)
    said = {
        id(mark.op): (*point.statements, replace(mark.op, arguments=tuple(values)))
        for mark, point, values in zip(marks, points, merge.values, strict=True)
    }
    return seen, lambda inner: said.get(id(inner), (inner,)), tuple(parameters), things


def _after(
    walker: Walk, falling: list[Arm], before: Fields, results: tuple[Var, ...], frame: Frame
) -> tuple[list[Known], Fields, list[Var]]:
    """What the results are, and the fields, after a `try` of which some ways go on."""
    if len(falling) > 1:
        return Merge(walker, falling).joined(before, results, frame)
    if not falling:
        return [], before, []
    return _Leaving(walker, falling[0]).carried(before, results, frame)


@dataclass(eq=False)
class _Leaving:
    """What goes on of the only way out of a `try`: what is made inside is a result of it."""

    walker: Walk
    arm: Arm

    def carried(self, before: Fields, results: tuple[Var, ...], frame: Frame) -> tuple[list[Known], Fields, list[Var]]:
        walker = self.walker
        self.values: list[Value] = []
        self.made: list[Var] = []
        known = [
            self.of(each, lambda old=old: walker.define(old, frame))  # type: ignore[misc]
            for each, old in zip(self.arm.yielded or (), results, strict=True)
        ]
        fields = {}
        for key, each in self.arm.fields.items():
            is_new = before.get(key) is not each
            fields[key] = self.of(each, lambda key=key: fresh(field_hint(*key))) if is_new else each  # type: ignore[misc]
        self.arm.end = Yield(tuple(self.values))
        return known, fields, self.made

    def of(self, known: Known, variable: Callable[[], Var]) -> Known:
        walker = self.walker
        if isinstance(known, Object | ListOf | Cell) and known in walker.standing:
            element = walker.standing[known]
            if element is None:
                raise Escapes(known.origin)
            return self.of(element, variable)
        match known:
            case Object() | ListOf() | DictOf() | Cell() | Table() | Const() | Undefined():
                return known
            case Element(index=index):
                number = self.of(index, variable)
                walker.counters |= {number} if isinstance(number, Var) else set()
                return replace(known, index=number)  # type: ignore[arg-type]
            case Packed(value=value):
                return replace(known, value=self.of(value, variable))  # type: ignore[arg-type]
            case AnyOf(code=code):
                return replace(known, code=self.of(code, variable))  # type: ignore[arg-type]
            case Var():
                result = variable()
                self.values.append(known)
                self.made.append(result)
                walker.either[result] = (known,)
                walker.kinds.set(result, lambda: walker.kinds.of(known))
                return result
        outer, walker.out = walker.out, self.arm.statements
        kept, walker.fields = walker.fields, self.arm.fields
        value = walker.plain(known)
        walker.out, walker.fields = outer, kept
        return self.of(value, variable)


# Marks in loops


def check_marks(function: Function, walker: Walk) -> None:
    """Guard the loops that change, in the body of a `try`, what a handler sees: a mark says what has happened so far, which
    in a loop would be that of all iterations. What is changed in a loop that cannot be guarded escapes."""
    for attempt, mark in _marks_in_loops(function.body.statements, {}, {}):
        if more := walker.looping[attempt.scope] - walker.facts.guarded:
            raise Guards(more)
        walker.at = Used(mark)
        first = attempt.body.statements[0]
        assert isinstance(first, Op)
        for parameter, start, value in zip(attempt.parameters, first.arguments, mark.arguments, strict=True):
            if parameter in walker.columns and value != start:
                raise Escapes(walker.columns[parameter], is_tried=True)
        raise NotInSight


def _marks_in_loops(
    statements: tuple[Statement, ...], inside: dict[Var, Try], outside: dict[Var, Try]
) -> Iterator[tuple[Try, Op]]:
    for statement in statements:
        if isinstance(statement, Op):
            if is_mark(statement) and statement.payload in outside:
                yield outside[statement.payload], statement
            continue
        is_loop = isinstance(statement, While | For)
        for number, region in enumerate(regions(statement)):
            around, here = (outside | inside, {}) if is_loop else (outside, inside)
            if isinstance(statement, Try) and not number:
                here = {**here, statement.scope: statement}
            yield from _marks_in_loops(region.statements, here, around)
