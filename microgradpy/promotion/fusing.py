"""Loops over generators in sight: the loop's body stands where the generator yields.

    def samples(rate, n):            for i in range(n):
        for i in range(n):               v = v * rate
            v = v * rate                 total = total + v * v
            yield v

    for v in samples(rate, n):
        total = total + v * v

A generator runs when it is asked for its next value and not before, so this is the order in which everything happens anyway.
What the loop carries are fields while the generator's own loops are walked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import (
    Break,
    Const,
    Continue,
    Each,
    Enumerate,
    For,
    If,
    Items,
    Op,
    Opcode,
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
    fresh,
    operator_constant,
)
from microgradpy.ir.rewrite import map_statements, substitute
from microgradpy.ir.traversal import is_always_true, regions, walk
from microgradpy.promotion.base import Walk
from microgradpy.promotion.findings import Escapes, Origin
from microgradpy.promotion.places import CONTENTS, Cell, Frame, Generator, Known, Object
from microgradpy.runtime.suspension import LEFT


def generator_of(walker: Walk, statement: For, frame: Frame) -> Generator | None:
    """The generator in sight that a loop runs over."""
    items = statement.items.inner if isinstance(statement.items, Enumerate) else statement.items
    found = walker.known(items.source, frame) if isinstance(items, Each) else None
    return found if isinstance(found, Generator) else None


def fuse(walker: Walk, statement: For, generator: Generator, frame: Frame) -> None:
    """Append a loop over a generator as the loops that the generator has."""
    region = as_step(statement.body)
    leaves = region is None
    region = as_step(statement.body, may_break=True) if region is None else region
    if region is None:
        raise Escapes(generator.origin)
    walker.asked_only |= said_last(region) if leaves else frozenset()
    state, items = _state(walker, statement, generator, frame), statement.items

    def step(value: Known) -> Known:
        for number, parameter in enumerate(statement.parameters):
            walker.bind(parameter, walker.fields[state, number], frame)
        _bind(walker, items, value, state, frame)
        copies, frame.copies = frame.copies, True
        for inner in region.statements:
            walker.statement(inner, frame)
        values = region.terminator.values if isinstance(region.terminator, Yield) else ()
        known = [walker.known(value, frame) for value in values]
        for number in range(len(statement.initial) if values else 0):
            walker.write(state, number, known[number])
        frame.copies = copies
        if isinstance(items, Enumerate):
            _count(walker, state, statement)
        return known[-1] if leaves and known else NONE

    run(walker, generator, step, leaves=leaves)
    for number, result in enumerate(statement.results):
        walker.bind(result, walker.fields[state, number], frame)


_COUNT = "count"
_LEFT, NONE = Const(LEFT), Const(None)


def _state(walker: Walk, statement: For, generator: Generator, frame: Frame) -> Cell:
    """What the loop carries, as fields."""
    state = Cell(generator.origin, "")
    for number, value in enumerate(statement.initial):
        walker.fields[state, number] = walker.known(value, frame)
    if isinstance(statement.items, Enumerate):
        walker.fields[state, _COUNT] = walker.known(statement.items.start, frame)
    return state


def _bind(walker: Walk, items: Items, value: Known, state: Cell, frame: Frame) -> None:
    if isinstance(items, Enumerate):
        walker.bind(items.index, walker.fields[state, _COUNT], frame)
        items = items.inner
    assert isinstance(items, Each)
    walker.bind(items.item, value, frame)


def _count(walker: Walk, state: Cell, statement: For) -> None:
    count = fresh("i")
    before = walker.plain(walker.fields[state, _COUNT])
    walker.add(Op(operator_constant("add"), (before, Const(1)), (count,), from_user=False, where=statement.where))
    walker.write(state, _COUNT, count)


def run_over(walker: Walk, places: Iterable[Object], loop: Origin) -> tuple[dict[Any, Origin], dict[Any, Origin]]:
    """Note what a loop runs over as it is when it begins; what was noted before."""
    before = walker.running, walker.running_in
    walker.running = walker.running | dict.fromkeys(places, loop)
    walker.running_in = walker.running_in | dict.fromkeys(owners_of(walker, places), loop)
    return before


def owners_of(walker: Walk, places: Iterable[Object]) -> list[Object]:
    """The dicts that lists are in which have their values in one."""
    return [walker.owners[place] for place in places if place in walker.owners]


def run(walker: Walk, generator: Generator, step: Any, *, leaves: bool = False) -> None:
    """Append the body of a generator, with `step` for each value that it yields, which says whether the generator is left there
    if it may be (`leaves`)."""
    if generator in walker.consumed or generator.loop is not walker.loop or generator.attempts != len(walker.trying):
        raise Escapes(generator.origin)  # it may have come to its end before
    _check_steady(walker, generator)
    walker.consumed.add(generator)
    walker.helped = True
    body = left_at(generator.body) if leaves else running_on(generator.body)
    body = None if body is None else run_out(body)
    if body is None or not isinstance(body.terminator, Yield):
        raise Escapes(generator.origin)
    inner = generator.frame
    inner.step, inner.attempts = step, len(walker.trying)
    outer, walker.loop = walker.loop, None
    walker.generators += 1
    running = run_over(walker, generator.over, generator.origin)
    try:
        for statement in body.statements:
            walker.statement(statement, inner)
    finally:
        walker.loop, (walker.running, walker.running_in) = outer, running
        walker.generators -= 1
    _check_steady(walker, generator)


def _check_steady(walker: Walk, generator: Generator) -> None:
    """Let a generator stay memory that reads lists ahead which others change before it has come to its end."""
    if any(walker.fields.get((place, CONTENTS)) is not contents for place, contents in generator.steady):
        raise Escapes(generator.origin)


def left_at(region: Region) -> Region | None:
    """The body of a generator that may be left at each `yield`, which says whether it is; None if something runs then."""
    asked = {op.arguments[0]: op.results[0] for op in walk(region) if isinstance(op, Op) and op.arguments[1:] == (_LEFT,)}
    left = set(asked.values())
    branches = [each for each in walk(region) if isinstance(each, If) and each.condition in left]
    if not all(isinstance(each.then.terminator, Return) and not each.then.statements for each in branches):
        return None

    def said(statement: Statement) -> tuple[Statement, ...]:
        if isinstance(statement, Op) and statement.callee is Opcode.SUSPEND and statement.results[0] in asked:
            return (replace(statement, results=(asked[statement.results[0]],)),)
        return () if isinstance(statement, Op) and statement.arguments[1:] == (_LEFT,) else (statement,)

    return substitute(map_statements(region, said), dict.fromkeys(asked, NONE))  # type: ignore[arg-type]


def running_on(region: Region) -> Region:
    """The body of a generator that is run to its end, without the tests for whether somebody leaves it at a `yield`."""
    left = {op.results[0] for op in walk(region) if isinstance(op, Op) and op.arguments[1:] == (_LEFT,)}

    def without(statement: Statement) -> tuple[Statement, ...]:
        if isinstance(statement, If) and statement.condition in left and isinstance(statement.orelse.terminator, Yield):
            return statement.orelse.statements
        return (statement,)

    return map_statements(region, without)


# Bodies of loops and generators as what comes to one end, wherever they leave.
#
#     for item in items:          for item in items:
#         if item < 0:                if item < 0:
#             return                      break with has_left = True
#         total += item               total += item
#     done()                      if not has_left:
#                                     done()

_YES, _NO = Const(True), Const(False)
_RETURN = Return(Const(None))
Ends = Callable[[Terminator], tuple[Value, ...] | None]
"""What is handed over where a body leaves; None if it may not leave like that."""


def as_step(region: Region, *, may_break: bool = False) -> Region | None:
    """The body of a loop as what one iteration does, ending in what it carries on, and in whether it leaves the loop if it may
    do so (`may_break`); None if it leaves in another way."""

    def end(terminator: Terminator) -> tuple[Value, ...] | None:
        match terminator:
            case Continue(values=values):
                return (*values, _NO) if may_break else values
            case Break(values=values) if may_break:
                return (*values, _YES)
        return None

    return with_one_end(region, end)


def said_last(region: Region) -> frozenset[Var]:
    """The variables that say whether a step leaves the loop."""
    values = region.terminator.values if isinstance(region.terminator, Yield) else ()
    arms = (arm for each in region.statements[-1:] for arm in regions(each))
    said = frozenset(value for value in values[-1:] if isinstance(value, Var))
    return said.union(*map(said_last, arms)) if said else frozenset()


def with_one_end(region: Region, end: Ends) -> Region | None:
    """A region that ends in a `Yield` of what it hands over; None if it leaves in another way."""
    number = next((number for number, each in enumerate(region.statements) if leaves((each,))), None)
    if number is None:
        if isinstance(region.terminator, Return | Continue | Break):
            values = end(region.terminator)
            return None if values is None else replace(region, terminator=Yield(values))
        return region  # it always raises
    statement, rest = region.statements[number], Region(region.statements[number + 1 :], region.terminator)
    arms = [with_one_end(arm, end) for arm in _arms(statement, rest)]
    found = [arm for arm in arms if arm is not None]
    if not found or len(found) < len(arms):
        return None
    assert isinstance(statement, If)
    counts = [len(arm.terminator.values) for arm in found if isinstance(arm.terminator, Yield)]
    results = tuple(fresh("") for _ in range(max(counts, default=0)))
    made = replace(statement, then=found[0], orelse=found[1], results=results)
    return Region((*region.statements[:number], made), Yield(results) if counts else Unreachable())


def _arms(statement: Statement, rest: Region) -> tuple[Region, ...]:
    """The arms of a branch, with what follows it in the one that goes on; none if both do, or if it is no branch."""
    arms = (statement.then, statement.orelse) if isinstance(statement, If) else ()
    if sum(isinstance(arm.terminator, Yield) for arm in arms) > 1:
        return ()
    return tuple(_going_on(arm, statement, rest) for arm in arms)


def _going_on(arm: Region, statement: Any, rest: Region) -> Region:
    if not isinstance(arm.terminator, Yield):
        return arm
    after = substitute(rest, dict(zip(statement.results, arm.terminator.values, strict=True)))
    return Region((*arm.statements, *after.statements), after.terminator)


def leaves(statements: tuple[Statement, ...], *, in_loop: bool = False) -> bool:
    """Whether some statements may go to the end of the iteration, leave the loop or return."""
    for statement in statements:
        within = in_loop or isinstance(statement, For | While)
        for inner in regions(statement):
            end = inner.terminator
            if isinstance(end, Return) or (not within and isinstance(end, Continue | Break)):
                return True
            if leaves(inner.statements, in_loop=within):
                return True
    return False


def run_out(region: Region) -> Region | None:
    """The body of a function of which nobody asks what it returns, as one that comes to its end where it returned; None if it
    returns from within a `try`."""
    without = _without_returns(region)
    return None if without is None else with_one_end(without, lambda terminator: ())


def _without_returns(region: Region) -> Region | None:
    """Loops do not return, but leave, and the region returns after them."""
    statements: list[Statement] = []
    for statement in region.statements:
        found = _leaving(statement)
        if found is None:
            return None
        made, has_left = found
        statements.append(made)
        if has_left == _YES:
            return Region(tuple(statements), _RETURN)
        if has_left is not None:
            then = Region((), _RETURN)
            statements.append(If(has_left, then, Region((), Yield(())), (), made.where))
    return replace(region, statements=tuple(statements))


def _leaving(statement: Statement) -> tuple[Statement, Value | None] | None:
    """A statement that does not return, or only as a branch does, and whether it has left instead."""
    if not _returns(statement):
        return statement, None
    match statement:
        case If(then=then, orelse=orelse):
            one, other = _without_returns(then), _without_returns(orelse)
            return None if one is None or other is None else (replace(statement, then=one, orelse=other), None)
        case For() | While():
            body = _without_returns(statement.body)
            if body is None:
                return None
            if _is_endless(statement):
                return replace(statement, body=_breaking(body, statement.parameters, None)), _YES
            has_left, result = fresh("has_left"), fresh("has_left")
            made = replace(
                statement,
                body=_breaking(body, (*statement.parameters, _YES), _NO),
                parameters=(*statement.parameters, has_left),
                initial=(*statement.initial, _NO),
                results=(*statement.results, result),
            )
            return made, result
    return None


def _is_endless(loop: For | While) -> bool:
    """Whether a loop is only left where it returns."""
    end = loop.condition.terminator if isinstance(loop, While) else None
    return isinstance(end, Yield) and is_always_true(end.values[0]) and not _breaks(loop.body)


def _breaks(region: Region) -> bool:
    inner = (arm for each in region.statements if isinstance(each, If | Try) for arm in regions(each))
    return isinstance(region.terminator, Break) or any(map(_breaks, inner))


def _breaking(region: Region, left: tuple[Value, ...], more: Const | None) -> Region:
    """The body of a loop with `Break(left)` where it returned, which carries one value `more` elsewhere."""
    statements = tuple(_breaking_in(statement, left, more) for statement in region.statements)
    match region.terminator:
        case Return():
            return Region(statements, Break(left))
        case Continue(values=values) | Break(values=values) if more is not None:
            return Region(statements, type(region.terminator)((*values, more)))
    return Region(statements, region.terminator)


def _breaking_in(statement: Statement, left: tuple[Value, ...], more: Const | None) -> Statement:
    match statement:
        case If(then=then, orelse=orelse):
            return replace(statement, then=_breaking(then, left, more), orelse=_breaking(orelse, left, more))
        case Try(body=body, handlers=handlers):  # which does not return
            inner = tuple(replace(handler, body=_breaking(handler.body, left, more)) for handler in handlers)
            return replace(statement, body=_breaking(body, left, more), handlers=inner)
    return statement


def _returns(statement: Statement) -> bool:
    return any(isinstance(inner.terminator, Return) or any(map(_returns, inner.statements)) for inner in regions(statement))
