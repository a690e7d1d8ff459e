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

from collections.abc import Iterable
from typing import Any

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import (
    Const,
    Continue,
    Each,
    Enumerate,
    For,
    If,
    Items,
    Op,
    Raise,
    Region,
    Return,
    Statement,
    Unreachable,
    While,
    Yield,
    fresh,
    operator_constant,
)
from microgradpy.ir.rewrite import map_statements
from microgradpy.ir.traversal import regions, walk
from microgradpy.promotion.base import Walk
from microgradpy.promotion.findings import Escapes, Origin
from microgradpy.promotion.places import Cell, Frame, Generator, Known, Object
from microgradpy.runtime.suspension import LEFT


def generator_of(walker: Walk, statement: For, frame: Frame) -> Generator | None:
    """The generator in sight that a loop runs over."""
    items = statement.items.inner if isinstance(statement.items, Enumerate) else statement.items
    found = walker.known(items.source, frame) if isinstance(items, Each) else None
    return found if isinstance(found, Generator) else None


def fuse(walker: Walk, statement: For, generator: Generator, frame: Frame) -> None:
    """Append a loop over a generator as the loops that the generator has."""
    region = as_step(statement.body)
    if region is None:
        raise Escapes(generator.origin)
    state, items = _state(walker, statement, generator, frame), statement.items

    def step(value: Known) -> None:
        for number, parameter in enumerate(statement.parameters):
            walker.bind(parameter, walker.fields[state, number], frame)
        _bind(walker, items, value, state, frame)
        copies, frame.copies = frame.copies, True
        for inner in region.statements:
            walker.statement(inner, frame)
        if isinstance(region.terminator, Yield):
            for number, carried in enumerate(region.terminator.values):
                walker.write(state, number, walker.known(carried, frame))
        frame.copies = copies
        if isinstance(items, Enumerate):
            _count(walker, state, statement)

    run(walker, generator, step)
    for number, result in enumerate(statement.results):
        walker.bind(result, walker.fields[state, number], frame)


_COUNT = "count"
_LEFT = Const(LEFT)


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


def run(walker: Walk, generator: Generator, step: Any) -> None:
    """Append the body of a generator, with `step` for each value that it yields."""
    if generator in walker.consumed or generator.loop is not walker.loop or generator.attempts != len(walker.trying):
        raise Escapes(generator.origin)  # it may have come to its end before
    walker.consumed.add(generator)
    walker.helped = True
    inner = generator.frame
    inner.step, inner.attempts = step, len(walker.trying)
    outer, walker.loop = walker.loop, None
    running = run_over(walker, generator.over, generator.origin)
    try:
        for statement in running_on(generator.body).statements:
            walker.statement(statement, inner)
    finally:
        walker.loop, (walker.running, walker.running_in) = outer, running
    if not isinstance(generator.body.terminator, Return):
        raise Escapes(generator.origin)


def running_on(region: Region) -> Region:
    """The body of a generator that is run to its end, without the tests for whether somebody leaves it at a `yield`."""
    left = {op.results[0] for op in walk(region) if isinstance(op, Op) and op.arguments[1:] == (_LEFT,)}

    def without(statement: Statement) -> tuple[Statement, ...]:
        if isinstance(statement, If) and statement.condition in left and isinstance(statement.orelse.terminator, Yield):
            return statement.orelse.statements
        return (statement,)

    return map_statements(region, without)


def as_step(region: Region) -> Region | None:
    """The body of a loop as what one iteration does, ending in what it carries on; None if it leaves the loop."""
    match region.terminator:
        case Continue(values=values):
            return None if _leaves(region.statements) else replace(region, terminator=Yield(values))
        case Raise():
            return None if _leaves(region.statements) else region
        case Unreachable() if region.statements and isinstance(last := region.statements[-1], If):
            then, orelse = as_step(last.then), as_step(last.orelse)
            if then is None or orelse is None or _leaves(region.statements[:-1]):
                return None
            counts = [len(arm.terminator.values) for arm in (then, orelse) if isinstance(arm.terminator, Yield)]
            results = tuple(fresh("") for _ in range(max(counts, default=0)))
            made = replace(last, then=then, orelse=orelse, results=results)
            return Region((*region.statements[:-1], made), Yield(results))
    return None


def _leaves(statements: tuple[Any, ...], *, in_loop: bool = False) -> bool:
    """Whether some statements may go to the end of the iteration, leave the loop or return."""
    for statement in statements:
        within = in_loop or isinstance(statement, For | While)
        for inner in regions(statement):
            end = inner.terminator
            if isinstance(end, Return) or (not within and not isinstance(end, Yield | Raise | Unreachable)):
                return True
            if _leaves(inner.statements, in_loop=within):
                return True
    return False
