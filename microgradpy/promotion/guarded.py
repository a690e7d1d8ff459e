"""Loops in the body of a `try` whose handler sees what they have changed in memory in sight.

    for step in range(n):           for step in range(n):
        account.withdraw(a)             try:
                                            account.withdraw(a)
                                        except BaseException as exception:
                                            failure = exception
                                            break
                                    if failure is not None:
                                        raise failure

So the exception leaves the loop as a `break` does, with what the loop carries, and is raised after it. The front end does the
same for the names that a loop binds.
"""

from __future__ import annotations

import operator
from typing import Any

from microgradpy.dataclasses import replace
from microgradpy.frontend.attempt import LET_REFUSALS_PASS
from microgradpy.ir.kinds import Array, Sequence
from microgradpy.ir.nodes import (
    Break,
    Const,
    Continue,
    Each,
    Enumerate,
    For,
    Handler,
    If,
    Items,
    Op,
    Opcode,
    Raise,
    Range,
    Region,
    Reversed,
    Try,
    Unreachable,
    Value,
    While,
    Yield,
    Zip,
    fresh,
    function_constant,
)
from microgradpy.ir.traversal import is_always_true
from microgradpy.promotion.base import Walk
from microgradpy.promotion.loops import repeat
from microgradpy.promotion.places import DictOf, Frame, ListOf, Picked, Row, Table

_IS_NOT = Const(operator.is_not, "operator.is_not", operator)
_ALL = function_constant(BaseException)


def key_of(loop: While | For, frame: Frame) -> Any:
    """What a loop is known by from walk to walk."""
    return (*frame.path, loop.where.line, loop.where.column)


def may_be_guarded(walker: Walk, loop: While | For, frame: Frame) -> bool:
    """Whether nothing but its body, or its condition, raises in a loop."""
    return frame.step is None and (isinstance(loop, While) or _is_steady(walker, loop.items, frame))


def _is_steady(walker: Walk, items: Items, frame: Frame) -> bool:
    match items:
        case Range():
            return True
        case Each(source=source):
            known = walker.known(source, frame)
            return isinstance(known, ListOf | Row | Table | Picked | DictOf) or isinstance(
                walker.kinds.of(known), Sequence | Array
            )
        case Enumerate(inner=inner) | Reversed(inner=inner):
            return _is_steady(walker, inner, frame)
        case Zip(inners=inners, strict=strict):
            return not strict and all(_is_steady(walker, inner, frame) for inner in inners)
    return False


def guard(walker: Walk, loop: While | For, frame: Frame) -> None:
    """Append a loop that hands over what it has done when an exception comes."""
    failure, result = fresh("failure"), fresh("failure")
    made = _with_condition_inside(loop) if isinstance(loop, While) else loop
    scope, exception = fresh("scope"), fresh("exception")
    first = Op(Opcode.MARK, (), (), payload=scope, from_user=False, where=loop.where)
    inside = _carrying(made.body, failure)
    failed = Region((), Break((*loop.parameters, exception)))
    handlers = (LET_REFUSALS_PASS, Handler((_ALL,), exception, failed))
    attempt = Try(Region((first, *inside.statements), inside.terminator), handlers, scope, (), (), loop.where)
    made = replace(
        made,
        body=Region((attempt,), Unreachable()),
        parameters=(*loop.parameters, failure),
        initial=(*loop.initial, Const(None)),
        results=(*loop.results, result),
    )
    outer, walker.trying = walker.trying, []
    try:
        repeat(walker, made, frame)
    finally:
        walker.trying = outer
    for around in outer:
        if any(walker.fields.get(key) is not known for key, known in around.before.items()):
            walker.out.append(around.again(walker.fields, walker.loops[:-1]))
    asked = fresh("has_failed")
    walker.statement(Op(_IS_NOT, (result, Const(None)), (asked,), from_user=False, where=loop.where), frame)
    raises = Region((), Raise(result, where=loop.where))
    walker.statement(If(asked, raises, Region((), Yield(())), (), loop.where), frame)


def _with_condition_inside(loop: While) -> While:
    end = loop.condition.terminator
    assert isinstance(end, Yield)
    if is_always_true(end.values[0]):
        return loop
    stops = Region((), Break(tuple(loop.parameters)))
    asked = If(end.values[0], loop.body, stops, (), loop.where)
    body = Region((*loop.condition.statements, asked), Unreachable())
    return replace(loop, condition=Region((), Yield((Const(True),))), body=body)


def _carrying(region: Region, value: Value) -> Region:
    """The body of a loop that carries one more value."""
    end: Any = region.terminator
    if isinstance(end, Continue | Break):
        end = type(end)((*end.values, value))
    statements = []
    for statement in region.statements:
        match statement:
            case If(then=then, orelse=orelse):
                statement = replace(statement, then=_carrying(then, value), orelse=_carrying(orelse, value))
            case Try(body=body, handlers=handlers):
                within = tuple(replace(handler, body=_carrying(handler.body, value)) for handler in handlers)
                statement = replace(statement, body=_carrying(body, value), handlers=within)
        statements.append(statement)
    return Region(tuple(statements), end)
