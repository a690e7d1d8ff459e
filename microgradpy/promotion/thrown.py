"""Exceptions of the user's classes that are raised and caught in sight: what a handler reads of one is what it was made of.

    try:                                        the mark before the `raise` says `a` and `b`,
        raise Insufficient(a, b)                and what the handler reads as `e.need` and `e.have`
    except Insufficient as e:                   are the parameters of the `try` that get these
        short = e.need - e.have

The exception itself is made and raised as it stands, so that texts and tracebacks are those of the program. This holds only if
nothing else in the body can raise what the handler catches: the classes that it names are written in Python, and the body does
nothing but compute with what is proven to be numbers.
"""

from __future__ import annotations

import math
import operator
import types
from collections.abc import Iterable
from functools import reduce
from typing import Any, final

from microgradpy.dataclasses import dataclass
from microgradpy.errors import CompilerBug, DifferentiationError
from microgradpy.frontend.exceptions import caught
from microgradpy.ir.kinds import Inert, Scalar, holds_numbers, join
from microgradpy.ir.nodes import (
    RAISED,
    UNDEFINED,
    Const,
    For,
    Handler,
    If,
    Op,
    Opcode,
    Raise,
    Range,
    Region,
    Statement,
    Try,
    Value,
    Var,
    While,
    fresh,
)
from microgradpy.ir.objects import static_member
from microgradpy.ir.traversal import regions, walk
from microgradpy.promotion.base import Walk, field_hint, fields_of
from microgradpy.promotion.classes import OWN_WAYS, is_exception
from microgradpy.promotion.marks import Attempt
from microgradpy.promotion.places import (
    THERE,
    Fields,
    Known,
    Object,
    is_thing,
)

_BUILT_IN = (operator, math)
_FUNCTIONS = (abs, bool, float, int, len, max, min, range, round, sum)
_HARMLESS = (Opcode.MARK, Opcode.TUPLE, Opcode.LIST, Opcode.DICT, Opcode.APPEND, Opcode.STORE, Opcode.JOIN)
_OURS = (CompilerBug, DifferentiationError)


def reads_values(handler: Handler) -> bool:
    """Whether a handler reads something from the exception."""
    first = next(iter(handler.body.statements), None)
    return isinstance(first, Op) and isinstance(first.callee, Const) and first.callee.value is caught


def note_thrown(walker: Walk, exception: Known, where: Any) -> None:
    """Note that an exception which has been made in sight is raised now."""
    place = walker.flying.get(exception) if isinstance(exception, Var) else None
    if place is None:
        return
    for attempt in reversed(walker.trying):
        number = next((k for k, handler in enumerate(attempt.handlers) if _catches(handler, place.cls)), None)
        if number is None:
            continue
        if attempt.said is not None and len(walker.loops) == attempt.depth:
            mark = attempt.mark(attempt.said, walker.fields, where)
            walker.out.append(mark)
            attempt.thrown.append((mark, number, exception, place))  # type: ignore[arg-type]
        return


def _catches(handler: Handler, cls: type) -> bool:
    types_named = handler.types
    return types_named is None or any(not isinstance(each, Const) or issubclass(cls, each.value) for each in types_named)


@final
@dataclass(eq=False, slots=True)
class Caught:
    """What a handler catches, with the parameters of the `try` that are its fields, and what the marks say of these."""

    place: Object
    parameters: tuple[Var, ...]
    said: dict[int, tuple[Value, ...]]

    def at(self, mark: Op) -> tuple[Value, ...]:
        return self.said.get(id(mark), (UNDEFINED,) * len(self.parameters))


def caught_by(walker: Walk, attempt: Attempt, number: int, body: Region, fields: Fields) -> Caught | None:
    """What a handler catches, if all of it is raised in sight; its fields are added to those that it begins with."""
    handler = attempt.handlers[number]
    there = set(map(id, walk(body)))
    thrown = [(mark, exception, place) for mark, at, exception, place in attempt.thrown if at == number and id(mark) in there]
    if not reads_values(handler) or not thrown or len({place.cls for _, _, place in thrown}) > 1:
        return None
    if not all(isinstance(each, Const) and is_exception(each.value) for each in handler.types or (None,)):
        return None
    if not _raises_only(walker, body, {exception for _, _, exception, _ in attempt.thrown}):
        return None
    seen = {id(mark.op): mark.fields for mark in attempt.marks}
    made = [fields_of(seen[id(mark)], place) for mark, _, place in thrown]
    names = made[0].keys()
    if any(each.keys() != names or any(map(is_thing, each.values())) for each in made):
        return None
    first = thrown[0][2]
    place = Object(first.origin, first.cls, first.constructor, first.hint, merged=True)
    fields[place, THERE] = Const(None)
    parameters = []
    for name in names:
        parameters.append(parameter := fresh(field_hint(place, name)))
        values = [each[name] for each in made]
        walker.kinds.set(parameter, lambda values=values: reduce(join, map(walker.kinds.of, values)))  # type: ignore[misc]
        fields[place, name] = parameter
    walker.shown.add(place)  # it is the program's: nothing may be written into it
    walker.helped = True
    said = {id(mark): tuple(each.values()) for (mark, _, _), each in zip(thrown, made, strict=True)}
    return Caught(place, tuple(parameters), said)  # type: ignore[arg-type]


def _raises_only(walker: Walk, region: Region, known: set[Var]) -> bool:
    """Whether a region raises these exceptions, those of Python, and none of another class of the user's."""
    end = region.terminator
    if isinstance(end, Raise) and end.exception not in known and not _is_made_by_python(region, end.exception):
        return False
    return all(_is_quiet(walker, statement, known) for statement in region.statements)


def _is_made_by_python(region: Region, exception: Value | None) -> bool:
    made = next((s for s in region.statements if isinstance(s, Op) and exception in s.results), None)
    cls = made.callee.value if made is not None and isinstance(made.callee, Const) else None
    return made is not None and made.payload == RAISED and isinstance(cls, type) and not is_exception(cls)


def _is_quiet(walker: Walk, statement: Statement, known: set[Var]) -> bool:
    """Whether a statement raises nothing else, so that it asks none of the user's code for anything."""
    match statement:
        case Op():
            return is_arithmetic(walker, statement)
        case If(condition=condition) if not _are_numbers(walker, (condition,)):
            return False
        case For(items=items) if not isinstance(items, Range):
            return False
        case Try(body=body, handlers=handlers):
            # A handler that lets refusals pass raises them again.
            others = (handler.body for handler in handlers if not _lets_pass(handler))
            return all(_raises_only(walker, inner, known) for inner in (body, *others))
        case While(condition=Region(terminator=end)) if not _are_numbers(walker, getattr(end, "values", ())):
            return False
    return all(_raises_only(walker, inner, known) for inner in regions(statement))


def _lets_pass(handler: Handler) -> bool:
    named = handler.types or ()
    return bool(named) and all(isinstance(each, Const) and issubclass(each.value, _OURS) for each in named)


def is_arithmetic(walker: Walk, op: Op) -> bool:
    """Whether an operation computes with what is proven to be numbers, or makes an exception."""
    if isinstance(op.callee, Opcode):
        return op.callee in _HARMLESS
    if not isinstance(op.callee, Const) or op.keywords:
        return False
    function = op.callee.value
    if op.payload == RAISED:
        return isinstance(function, type) and (op.results[0] in walker.flying or not is_exception(function))
    is_known = any(getattr(module, getattr(function, "__name__", ""), None) is function for module in _BUILT_IN)
    return (is_known or any(function is each for each in _FUNCTIONS)) and _are_numbers(walker, op.arguments)


def _are_numbers(walker: Walk, values: Iterable[Value]) -> bool:
    kinds = [walker.kinds.of(value) for value in values]
    return all(isinstance(kind, Scalar | Inert) or holds_numbers(kind) for kind in kinds)


def is_of_exceptions(constructor: Any) -> bool:
    """Whether this is the constructor of an exception of Python's, which keeps its arguments."""
    cls = getattr(constructor, "__objclass__", None)
    return isinstance(cls, type) and issubclass(cls, BaseException)


def has_own_fields(cls: type) -> bool:
    """Whether exceptions of a class consist of their fields and of what `BaseException` keeps."""
    return is_exception(cls) and not any(
        isinstance(static_member(cls, name), types.FunctionType | staticmethod | classmethod) for name in OWN_WAYS
    )
