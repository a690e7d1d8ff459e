"""The user's code that Python runs without being told to by a call: where an object is asked for its truth value, or taken
apart. In the body of a `try` the front end makes an operation of each, so that a mark follows it."""

from __future__ import annotations

from microgradpy.ad.differentiated_calls import dispatch
from microgradpy.ad.given_code import asks_class, tells
from microgradpy.ad.primal_builder import PrimalBuilder
from microgradpy.ad.tracked_calls import lower_tracked_constant
from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import Scalar, is_immutable, is_proven
from microgradpy.ir.nodes import Break, Const, If, Op, Region, Unreachable, Value, Var, While, Yield, function_constant
from microgradpy.state.asking import truth
from microgradpy.state.iteration import items_of_pattern

BOOL = function_constant(bool)


def asks_for_truth(primal: PrimalBuilder, condition: Value) -> bool:
    """Whether a method of the user's may say if a value is true. Of an object that was stored somewhere nothing is known."""
    kinds = (primal.kind(condition),)
    return tells(bool, kinds) or (primal.services.tracks and asks_class(bool, kinds) and primal.is_active(condition))


def steady_condition(primal: PrimalBuilder, condition: Value) -> Value:
    """A condition that the adjoint may ask for again: the value may be another one by then."""
    if not primal.services.tracks or is_immutable(primal.kind(condition)):
        return condition
    asked = function_constant(truth) if asks_class(bool, (primal.kind(condition),)) else BOOL
    return primal.call(asked, (condition,), hint="holds", from_user=True, kind=Scalar("bool"))


def lower_asked(primal: PrimalBuilder, op: Op) -> None:
    """The truth value of a condition."""
    condition = primal.of(op.arguments[0])
    if asks_for_truth(primal, condition):
        lower_tracked_constant(primal, replace(op, callee=BOOL), BOOL)
        return
    primal.stand_for(op.result, steady_condition(primal, condition))


def condition_inside(loop: While) -> While:
    """The same loop with its condition as a part of the body.

    while c: body          becomes     while True: if c: body; else: break
    """
    assert isinstance(loop.condition.terminator, Yield)
    (condition,) = loop.condition.terminator.values
    branch = If(condition, loop.body, Region((), Break(loop.parameters)), (), where=loop.where)
    body = Region((*loop.condition.statements, branch), Unreachable())
    return replace(loop, condition=Region((), Yield((Const(True),))), body=body)


def lower_items(primal: PrimalBuilder, op: Op) -> None:
    """What a pattern of so many parts takes apart."""
    source, count = map(primal.of, op.arguments)
    if is_proven(primal.kind(source)) or not isinstance(source, Var) or not primal.is_active(source):
        primal.stand_for(op.result, source)
    else:
        dispatch(primal, op, _ITEMS, (source, count), ())


_ITEMS = function_constant(items_of_pattern)
