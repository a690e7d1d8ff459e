"""Looking at nodes: the regions of a statement, what it reads and defines, all statements of a region; what a value is."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import assert_never

from microgradpy.ir.nodes import (
    Break,
    Const,
    Continue,
    DictItems,
    Each,
    Enumerate,
    For,
    If,
    Items,
    Op,
    Opcode,
    Raise,
    Range,
    Records,
    Region,
    Return,
    Reversed,
    Statement,
    Terminator,
    Try,
    Unreachable,
    Value,
    Var,
    While,
    Yield,
    Zip,
)


def regions(statement: Statement) -> tuple[Region, ...]:
    """The regions nested directly in a statement, in the order they run; empty for an operation."""
    if type(statement) is Op:  # most of them
        return ()
    match statement:
        case If(then=then, orelse=orelse):
            return (then, orelse)
        case While(condition=condition, body=body):
            return (condition, body)
        case For(body=body):
            return (body,)
        case Try(body=body, handlers=handlers):
            return (body, *(handler.body for handler in handlers))
    assert_never(statement)


def item_variables(items: Items) -> tuple[Var, ...]:
    """The variables that an iteration binds, left to right as in the `for` statement."""
    match items:
        case Each(item=item) | Range(item=item):
            return (item,)
        case Enumerate(inner=inner, index=index):
            return (index, *item_variables(inner))
        case Zip(inners=inners):
            return tuple(itertools.chain.from_iterable(map(item_variables, inners)))
        case Reversed(inner=inner):
            return item_variables(inner)
        case DictItems(key=key, value=value):
            return (key, value)
        case Records(fields=fields):
            return fields
    assert_never(items)


def item_sources(items: Items) -> tuple[Value, ...]:
    """The values that an iteration reads, left to right."""
    match items:
        case Each(source=source) | DictItems(source=source):
            return (source,)
        case Range(arguments=arguments):
            return arguments
        case Enumerate(inner=inner, start=start):
            return (*item_sources(inner), start)
        case Zip(inners=inners):
            return tuple(itertools.chain.from_iterable(map(item_sources, inners)))
        case Reversed(inner=inner):
            return item_sources(inner)
        case Records(tape=tape):
            return (tape,)
    assert_never(items)


def terminator_values(terminator: Terminator) -> tuple[Value, ...]:
    match terminator:
        case Yield(values=values) | Continue(values=values) | Break(values=values):
            return values
        case Return(value=value):
            return (value,)
        case Raise(exception=exception, cause=cause):
            return tuple(value for value in (exception, cause) if value is not None)
        case Unreachable():
            return ()
    assert_never(terminator)


def definitions(statement: Statement) -> tuple[Var, ...]:
    """The variables that are visible after a statement because of it."""
    return statement.results


def uses(statement: Statement) -> tuple[Value, ...]:
    """The values a statement itself reads, not those its regions read."""
    if type(statement) is Op:
        given = given_values(statement.arguments, statement.keywords) if statement.keywords else statement.arguments
        return given if type(statement.callee) is Opcode else (statement.callee, *given)  # type: ignore[arg-type]
    match statement:
        case If(condition=condition):
            return (condition,)
        case While(initial=initial):
            return initial
        case For(items=items, initial=initial):
            return (*item_sources(items), *initial)
        case Try(handlers=handlers):
            return tuple(caught for handler in handlers for caught in handler.types or ())
    assert_never(statement)


def given_values(arguments: tuple[Value, ...], keywords: tuple[tuple[str, Value], ...]) -> tuple[Value, ...]:
    """What a call is given, by position and then by keyword."""
    return (*arguments, *[value for _, value in keywords]) if keywords else arguments


def terminators(region: Region, *, of_inner_loops: bool = True) -> Iterator[Terminator]:
    """The terminators of a region and of the regions nested in it, in program order. Those of the loops in it go to these
    loops or leave the function."""
    for statement in region.statements:
        if isinstance(statement, If | Try) or (of_inner_loops and not isinstance(statement, Op)):
            for inner in regions(statement):
                yield from terminators(inner, of_inner_loops=of_inner_loops)
    yield region.terminator


def flows(statements: Iterable[Statement]) -> Iterator[tuple[Value, Var]]:
    """Which values become which variables, at the edges of branches and loops; not at those of a `Try`."""
    for statement in statements:
        match statement:
            case If(then=then, orelse=orelse, results=results):
                for arm in (then, orelse):
                    if isinstance(arm.terminator, Yield):
                        yield from zip(arm.terminator.values, results, strict=True)
            case While(body=body, parameters=parameters, results=results) | For(
                body=body, parameters=parameters, results=results
            ):
                yield from zip(statement.initial, parameters, strict=True)
                yield from zip(parameters, results, strict=True)
                for edge in terminators(body, of_inner_loops=False):
                    if isinstance(edge, Continue | Break):
                        yield from zip(edge.values, parameters if isinstance(edge, Continue) else results, strict=True)


def is_mark(statement: Statement) -> bool:
    return isinstance(statement, Op) and statement.callee is Opcode.MARK


def walk(region: Region) -> Iterator[Statement]:
    """Every statement of a region and of the regions nested in it, in program order."""
    around = [iter(region.statements)]
    while around:  # no generator inside of another one: most of what a compile does is to look at all statements
        for statement in around[-1]:
            yield statement
            if not isinstance(statement, Op):
                around.append(itertools.chain.from_iterable([inner.statements for inner in regions(statement)]))
                break
        else:
            around.pop()


def count_reads(region: Region) -> Counter[Value]:
    """How often each variable is read in a region and in those inside it."""
    found: list[Value] = []
    waiting = [region]
    for each in waiting:
        found += terminator_values(each.terminator)
        for statement in each.statements:
            found += uses(statement)
            if type(statement) is not Op:
                waiting += regions(statement)
    return Counter([value for value in found if isinstance(value, Var)])


def stores_items(region: Region) -> bool:
    """Whether there is a `STORE` in a region, or in one inside it."""
    return any(isinstance(statement, Op) and statement.callee is Opcode.STORE for statement in walk(region))


def is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def is_always_true(value: Value) -> bool:
    """Whether a condition is a literal that is true, as in `while True`."""
    return isinstance(value, Const) and not value.path and bool(value.value)
