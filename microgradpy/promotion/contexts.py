"""`with` on an object in sight (and on a generator: `managed`): its methods are written where they are called.

`__exit__` gets the exception that ends the block. No derivative flows out of that, so what reads a value from it is not
followed; it may be printed, and its class asked for.
"""

from __future__ import annotations

from microgradpy.dataclasses import replace
from microgradpy.frontend.exceptions import (
    enter_context,
    find_exit,
    goes_on,
    leave_context,
    suppresses,
    traceback_of,
)
from microgradpy.frontend.lower_try import HARMLESS
from microgradpy.ir.nodes import RAISED, Const, Op, Opcode, Region, Statement, Unreachable, Var, fresh, function_constant
from microgradpy.ir.traversal import definitions, regions, terminator_values, uses, walk
from microgradpy.promotion import managed
from microgradpy.promotion.findings import Escapes
from microgradpy.promotion.objects import Objects
from microgradpy.promotion.places import Element, Frame, Known, Managed, Method, Object, first_origin, origin_of

_NONE = Const(None)


def find(walker: Objects, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
    """The method that leaves the context."""
    (manager,) = arguments
    if isinstance(manager, Managed):
        return manager
    if not isinstance(manager, Object | Element):
        raise Escapes(first_origin(arguments))
    walker.check_there(manager)
    walker.member_function(manager, "__enter__")
    return Method(manager, walker.member_function(manager, "__exit__"), "__exit__")


def enter(walker: Objects, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
    (manager,) = arguments
    if isinstance(manager, Managed):
        return managed.enter(walker, manager)
    if not isinstance(manager, Object | Element):
        raise Escapes(first_origin(arguments))
    return walker.inline(op, walker.member_function(manager, "__enter__"), (manager,), {}, frame, origin_of(manager))


def leave(walker: Objects, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
    """The end of a context without an exception."""
    if isinstance(arguments[1], Managed):
        return managed.leave(walker, op, arguments[1], frame)
    _left(walker, op, arguments, (_NONE, _NONE, _NONE), frame)
    return _NONE


def suppress(walker: Objects, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
    """The end by an exception: whether the program goes on after it."""
    *known, exception = arguments
    if isinstance(known[1], Managed):
        return managed.suppress(walker, op, known[1], frame)
    assert isinstance(exception, Var)
    of_class, traceback = fresh("cls"), fresh("traceback")
    walker.add(Op(function_constant(type), (exception,), (of_class,), from_user=False, where=op.where))
    walker.add(Op(function_constant(traceback_of), (exception,), (traceback,), from_user=False, where=op.where))
    held = {exception, traceback}
    walker.raised |= {of_class, *held}
    first = len(walker.out)
    asked = walker.truth(_left(walker, op, tuple(known), (of_class, exception, traceback), frame), op.where, frame)
    walker.out[first:] = _without_unread_tuples(walker.out[first:])
    origin = first_origin(arguments)
    kept = [walker.fields, *(mark.fields for attempt in walker.trying for mark in attempt.marks)]
    if asked in held or not all(held.isdisjoint(fields.values()) for fields in kept):
        raise Escapes(origin)
    if not all(_is_harmless(statement, held) for statement in walker.out[first:]):
        raise Escapes(origin)
    asked_for = set().union(*map(uses, walk(Region(tuple(walker.out[first:]), Unreachable()))))
    walker.out[first - 2 : first] = [op for op in walker.out[first - 2 : first] if not asked_for.isdisjoint(definitions(op))]
    if isinstance(asked, Const) and not asked.path and not asked.value:
        return Const(False)
    result = walker.define(op.results[0], frame)
    given = (walker.plain(asked), exception, Const(str(op.where)))
    walker.add(replace(op, callee=function_constant(goes_on), arguments=given, results=(result,), from_user=False))
    return result


def _left(walker: Objects, op: Op, known: tuple[Known, ...], given: tuple[Known, ...], frame: Frame) -> Known:
    method, manager = known
    if not isinstance(method, Method) or method.function is None or not isinstance(manager, Object | Element):
        raise Escapes(first_origin(known))
    return walker.inline(op, method.function, (manager, *given), {}, frame, origin_of(manager))


def _without_unread_tuples(statements: list[Statement]) -> list[Statement]:
    """What `__exit__(self, *args)` does, without the tuple if it does nothing with it."""
    read = set().union(*map(uses, walk(Region(tuple(statements), Unreachable()))))
    made = (op for op in statements if isinstance(op, Op) and op.callee is Opcode.TUPLE and not op.from_user)
    unread = [op for op in made if op.results[0] not in read]
    return [statement for statement in statements if statement not in unread]


def _is_harmless(statement: Statement, held: set[Var]) -> bool:
    """Whether a statement reads no value from an exception, or its traceback, that a derivative could flow through."""
    if not held.isdisjoint(uses(statement)):
        if not isinstance(statement, Op):
            return False
        is_known = isinstance(statement.callee, Const) and any(statement.callee.value is known for known in HARMLESS)
        if not is_known and statement.payload != RAISED:
            return False
    return all(_region_is_harmless(region, held) for region in regions(statement))


def _region_is_harmless(region: Region, held: set[Var]) -> bool:
    return held.isdisjoint(terminator_values(region.terminator)) and all(
        _is_harmless(statement, held) for statement in region.statements
    )


CONTEXTS = {find_exit: find, enter_context: enter, leave_context: leave, suppresses: suppress}
