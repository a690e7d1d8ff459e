"""Loops in the body of a `try` whose handler sees what the loop had done when an exception came.

    for x in xs:            for x in xs:
        s = s + f(x)            try:
                                    s = s + f(x)
                                except BaseException as exception:      (sees `s`)
                                    failure = exception
                                    break
                            if failure is not None:
                                raise failure

So the exception leaves the loop as a `break` does, with the loop's state, and is raised after it.
"""

from __future__ import annotations

import ast

from microgradpy.frontend import exceptions, fence
from microgradpy.frontend.attempt import Catch, lower_attempt
from microgradpy.frontend.lower_core import Lowering
from microgradpy.frontend.places import LoopFrame, Step
from microgradpy.frontend.resolve import builtin
from microgradpy.frontend.scope import start_of
from microgradpy.ir.nodes import (
    Break,
    Const,
    DictItems,
    Each,
    Enumerate,
    Items,
    Op,
    Opcode,
    Raise,
    Reversed,
    Value,
    Var,
    Zip,
    function_constant,
)
from microgradpy.runtime.failures import raise_failure


def is_guarded(low: Lowering, node: ast.For | ast.While) -> bool:
    return start_of(node) in low.unit.guarded


def guarded_for(
    low: Lowering,
    node: ast.AST,
    source: ast.expr,
    items: Items,
    frame: LoopFrame,
    body: Step,
    after: Step = lambda: None,
) -> None:
    """A `for` over `source` that hands over its state; `body` binds its target and lowers what is repeated."""
    if _may_raise(items):
        low.refuse(fence.STRICT_ZIP, source)
    is_marked = low.unit.effects.marked()
    reads: list[Op] = []
    items = _steady(low, items, source, reads if is_marked else None)
    given = _may_fail(items)

    def repeated() -> None:
        for item in given if is_marked else ():
            low.mark()
            low.emit(function_constant(raise_failure), item, node=source)
        low.block.statements += reads
        body()

    failure = _begin(low)
    low.for_loop(items, _with(frame, failure), lambda: _guard(low, node, frame, failure, repeated), node)
    after()
    _raise_failure(low, failure, node)


def guarded_while(low: Lowering, node: ast.While, frame: LoopFrame) -> None:
    """A `while` that hands over its state. Its condition may raise too, so it is evaluated inside."""

    def leave() -> None:
        low.leave(Break(low.state()))

    def body() -> None:
        test = low.expression(node.test)
        low.branch(test, lambda: low.statements(node.body, low.go_on), leave, node.test)

    guarded_loop(low, node, frame, body)


def guarded_loop(low: Lowering, node: ast.AST, frame: LoopFrame, body: Step) -> None:
    """A loop without end that hands over its state; `body` leaves it."""
    failure = _begin(low)
    inner = _with(frame, failure)
    inner.is_broken = True
    low.while_loop(lambda: Const(True), inner, lambda: _guard(low, node, frame, failure, body), node)
    _raise_failure(low, failure, node)


def _may_raise(items: Items) -> bool:
    """Whether an iteration itself may raise between two items, whatever it runs over."""
    match items:
        case Zip(inners=inners, strict=strict):
            return strict or any(map(_may_raise, inners))
        case Enumerate(inner=inner):
            return _may_raise(inner)
    return False


def _steady(low: Lowering, items: Items, node: ast.expr, reads: list[Op] | None, *row: Value) -> Items:
    """The items of objects that do not raise between two iterations: what one of them raises is an item. Those of a `zip` are
    in one `row`. Where somebody may write into a dict meanwhile, its values are read by their keys: `reads` gets how."""
    place = Const(str(low.location(node)))
    match items:
        case Each(source=Var() as source, item=item):
            asked = low.emit(function_constant(exceptions.steady), source, place, *row, node=node)
            low.mark()  # the user's code may have been asked for the items
            return Each(asked, item)
        case DictItems(source=Var() as source, key=key, value=value) if reads is not None:
            low.emit(function_constant(exceptions.check_pairs), source, place, node=node)
            reads.append(Op(Opcode.GETITEM, (source, key), (value,), where=low.location(node)))
            return _steady(low, Each(source, key), node, reads, *row)
        case Enumerate(inner=inner, start=start, index=index):
            return Enumerate(_steady(low, inner, node, reads, *row), start, index)
        case Zip(inners=inners, strict=strict):
            row = row or (_new_row(low, node),)
            return Zip(tuple(_steady(low, inner, node, reads, *row) for inner in inners), strict)
    check = exceptions.check_steady if reads is None else exceptions.check_fixed
    for iterated in _sources(items):
        low.emit(function_constant(check), iterated, place, node=node)
    return items


def _new_row(low: Lowering, node: ast.expr) -> Var:
    """What nobody asks for, and is left out, where all parts are lists."""
    row = low.variable(".row")
    made = Op(function_constant(exceptions.new_row), (), (row,), from_user=False, where=low.location(node))
    low.block.statements.append(made)
    return row


def _may_fail(items: Items) -> tuple[Var, ...]:
    """The items that may be a `Failure`."""
    match items:
        case Each(source=Var(), item=item):
            return (item,)
        case Enumerate(inner=inner):
            return _may_fail(inner)
        case Zip(inners=inners):
            return tuple(item for inner in inners for item in _may_fail(inner))
    return ()


def _sources(items: Items) -> tuple[Var, ...]:
    """The objects that an iteration runs over."""
    match items:
        case Each(source=Var() as source) | DictItems(source=Var() as source):
            return (source,)
        case Zip(inners=inners):
            return tuple(source for inner in inners for source in _sources(inner))
        case Enumerate(inner=inner) | Reversed(inner=inner):
            return _sources(inner)
    return ()


def _begin(low: Lowering) -> str:
    failure = low.hidden_name("failure")
    low.env[failure] = Const(None)
    return failure


def _with(frame: LoopFrame, failure: str) -> LoopFrame:
    return LoopFrame((*frame.state, failure), frame.flag)


def _guard(low: Lowering, node: ast.AST, frame: LoopFrame, failure: str, body: Step) -> None:
    """The body of the loop; the scopes around learn of its state after the loop."""

    def fail(exception: Var) -> None:
        low.env[failure] = exception
        low.frames[-1].is_broken = True
        if frame.flag:
            low.env[frame.flag] = Const(True)
        low.leave(Break(low.state()))

    outer, low.scopes = low.scopes, []
    is_users = any(scope.is_users for scope in outer)
    try:
        lower_attempt(low, node, frame.state, body, [Catch((builtin(BaseException),), ".exception", fail)], is_users=is_users)
    finally:
        low.scopes = outer


def _raise_failure(low: Lowering, failure: str, node: ast.AST) -> None:
    low.mark()
    value: Value = low.env.pop(failure)
    failed = low.emit(Opcode.INFIX, value, Const(None), node=node, payload="is not")
    low.branch(failed, lambda: low.leave(Raise(value, where=low.location(node)), raises=True), lambda: None, node)
