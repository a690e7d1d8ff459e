"""What is done with exceptions of which a handler in sight reads fields: how they are made, and where they are shown."""

from __future__ import annotations

import types
from typing import Any

from microgradpy.frontend.lower_try import HARMLESS
from microgradpy.ir.nodes import Const, Op, Statement, Value, Var, function_constant
from microgradpy.ir.traversal import uses
from microgradpy.promotion import classes
from microgradpy.promotion.base import fields_of
from microgradpy.promotion.findings import Escapes
from microgradpy.promotion.functions import Functions, Named, as_expression, is_in_file
from microgradpy.promotion.objects import Objects
from microgradpy.promotion.places import THERE, Frame, Known, Object, is_thing
from microgradpy.promotion.thrown import has_own_fields, is_arithmetic, reads_values
from microgradpy.promotion.walker import Walker
from microgradpy.rules.registry import is_non_differentiable, rrule


def _is_read(walker: Walker) -> bool:
    """Whether a handler around reads something from what it catches."""
    return any(reads_values(handler) for attempt in walker.trying for handler in attempt.handlers)


def throws(walker: Functions, function: types.FunctionType) -> bool:
    """Whether a function may raise what a handler around reads from, and may be written where it is called."""
    if not _is_read(walker) or not is_in_file(function, walker.function):
        return False
    if rrule.has(function) or is_non_differentiable(function):
        return False
    if function in walker.inside_of or function.__name__ in function.__code__.co_names:
        return False
    try:
        ir, _ = walker.lowered(function, ())
    except Escapes:
        return False
    return as_expression(ir.body) is not None


def make_exception(
    walker: Objects, op: Op, callee: Known, arguments: tuple[Known, ...], keywords: Named, frame: Frame
) -> None:
    """Follow what an exception that is raised at once is made of, if somebody reads that."""
    origin = (*frame.path, op.results[0])
    is_followed = _is_read(walker) and origin not in walker.facts.kept
    if not is_followed or not isinstance(callee, Const) or not has_own_fields(callee.value):
        return
    cls = callee.value
    place = Object(origin, cls, callee, op.results[0].hint)
    walker.fields[place, THERE] = Const(None)
    for name in classes.OWN_WAYS:
        walker.member(cls, name)
    constructor = walker.member(cls, "__init__")
    walker.members[cls, "__mro__"] = cls.__mro__
    first = len(walker.out)
    if isinstance(constructor, types.FunctionType):
        walker.constructed.add(place)
        walker.inline(op, constructor, (place, *arguments), keywords, frame, origin)
        walker.constructed.discard(place)
    # The exception itself is made by the constructor, so that here is computed only what its fields are.
    needed: set[Value] = {known for known in fields_of(walker.fields, place).values() if not is_thing(known)}  # type: ignore[misc]
    kept: list[Statement] = []
    for made in reversed(walker.out[first:]):
        if not isinstance(made, Op):
            raise Escapes(origin)
        if not needed.isdisjoint(made.results):
            if not is_arithmetic(walker, made):
                raise Escapes(origin)
            needed.update(uses(made))
            kept.insert(0, made)
    walker.out[first:] = kept
    walker.flying[walker.variable_of(op.results[0], frame)] = place


def _exception_of(walker: Walker, known: Known) -> Var | None:
    """The exception itself, of which a handler in sight reads fields."""
    return next((exception for exception, place in walker.caught.items() if place is known), None)


def shows_exception(walker: Objects, op: Op, function: Any, arguments: tuple[Known, ...], frame: Frame) -> bool:
    """Append a call that prints an exception, or makes text of it; whether it is one."""
    shown = tuple(_exception_of(walker, each) or each for each in arguments)
    if shown == arguments or not any(function is each for each in HARMLESS):
        return False
    walker.emit(op, function_constant(function), shown, {}, frame)
    return True
