"""`try`, `except`, `else` and `finally`.

    else        follows the `Try`; where a handler falls through too, a flag says whether the body came to its end
    finally     is there twice, as Python compiles it: in a handler that catches everything and raises it again, and after
                the `Try`. A `return`, `break` or `continue` inside is put off until it has run

What a caught exception holds is not followed. Reading an active value from it is refused when it happens.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial

from microgradpy.frontend import exceptions, fence
from microgradpy.frontend.attempt import Catch, lower_attempt
from microgradpy.frontend.lower_core import STATEMENTS, Lowering, lowers
from microgradpy.frontend.lower_statements import nothing
from microgradpy.frontend.places import BREAK, CONTINUE, RETURN, Protection, Step
from microgradpy.frontend.scope import bound_names, statements_in
from microgradpy.ir.nodes import (
    RAISED,
    UNDEFINED,
    Const,
    Location,
    Op,
    Opcode,
    Raise,
    Region,
    Statement,
    Value,
    Var,
    fresh,
    function_constant,
)
from microgradpy.ir.rewrite import map_regions
from microgradpy.ir.traversal import is_mark, terminator_values, uses

# What may be done with an exception without reading a value from it that a derivative could flow through.
_CHECKS = (exceptions.suppresses, exceptions.check_not_interrupted)
_HARMLESS = (print, str, repr, format, isinstance, type, issubclass, id, *_CHECKS)


@lowers(STATEMENTS, ast.Try)
def lower_try(low: Lowering, node: ast.Try, rest: Step) -> bool | None:
    if not node.finalbody:
        return _lower_except(low, node, rest)

    def body() -> None:
        if node.handlers:
            low.statements([_without_finally(node)], None)
        else:
            low.statements(node.body, None)

    overrides = any(isinstance(inner, ast.Return | ast.Break | ast.Continue) for inner in statements_in(node.finalbody))

    def again(exception: Var) -> None:
        low.statements(node.finalbody, lambda: low.leave(Raise(None), raises=True))

    names = local_names(low, [*node.body, *node.handlers, *node.orelse])  # type: ignore[list-item]
    catch = Catch(None, "", again, catches_refusals=not overrides)
    protect(low, node, names, body, [catch], partial(low.statements, node.finalbody))
    return None


def _without_finally(node: ast.Try) -> ast.Try:
    inner = ast.Try(node.body, node.handlers, node.orelse, [])
    return ast.copy_location(inner, node)


def local_names(low: Lowering, statements: Sequence[ast.stmt]) -> tuple[str, ...]:
    return tuple(filter(low.is_state, bound_names(statements)))


def protect(
    low: Lowering,
    node: ast.stmt,
    names: tuple[str, ...],
    body: Step,
    catches: Sequence[Catch],
    final: Callable[[Step], None],
) -> None:
    """Lower `body` so that `final` runs after it however it is left; the exceptions that leave it go to `catches`. What
    `final` is given, it runs last: it leaves, where that was put off."""
    protection = Protection(low.hidden_name("leave"), low.hidden_name("value"), len(low.frames))
    low.env[protection.leave] = Const(0)
    low.env[protection.value] = UNDEFINED

    def protected() -> None:
        low.protections.append(protection)
        body()

    outer = list(low.protections)

    def unprotected(run: Callable[[Var], None], exception: Var) -> None:
        low.protections = list(outer)
        run(exception)

    inside = [
        Catch(catch.types, catch.name, partial(unprotected, catch.run), catch.finish, catch.catches_refusals)
        for catch in catches
    ]
    try:
        lower_attempt(low, node, names, protected, inside)
    finally:
        low.protections = list(outer)
    leaving, value = low.env.pop(protection.leave), low.env.pop(protection.value)
    final(lambda: _leave_at_last(low, node, sorted(protection.kinds), leaving, value))


def _leave_at_last(low: Lowering, node: ast.stmt, kinds: list[int], leaving: Value, value: Value) -> None:
    """What was put off."""
    ways: dict[int, Step] = {
        RETURN: lambda: low.return_value(value, node),
        BREAK: low.break_out,
        CONTINUE: low.go_on,
    }
    if isinstance(leaving, Const):
        if leaving.value:
            ways[leaving.value]()
        return
    for kind in kinds:
        chosen: Value = leaving
        if len(kinds) > 1:
            chosen = low.emit(Opcode.INFIX, leaving, Const(kind), node=node, payload="==")
        low.branch(chosen, ways[kind], nothing, node)


# except and else


def _lower_except(low: Lowering, node: ast.Try, rest: Step) -> bool | None:
    catches = [_catch(low, handler) for handler in node.handlers]
    key = low.hidden_name("completed")

    def body() -> None:
        low.statements(node.body, complete)

    def complete() -> None:
        low.env[key] = Const(True)

    low.env[key] = Const(False)
    lower_attempt(low, node, local_names(low, node.body), body, catches)
    low.mark()
    completed = low.env.pop(key)
    if not node.orelse:
        return None
    if isinstance(completed, Const):
        low.statements(node.orelse if completed.value else [], None)
        return None
    return low.branch(completed, lambda: low.statements(node.orelse, None), nothing, node, rest)


def _catch(low: Lowering, handler: ast.ExceptHandler) -> Catch:
    types = None if handler.type is None else _types(low, handler.type)

    def run(exception: Var) -> None:
        if _goes_on_after_interrupts(handler, types):
            place = Const(str(low.location(handler)))
            low.emit(function_constant(exceptions.check_not_interrupted), exception, place, node=handler)
        outer = low.handling
        if handler.name is not None:
            if not low.is_state(handler.name):
                low.refuse(fence.SHARED_EXCEPTION, handler)
            low.env[handler.name] = exception
            low.handling = {**outer, handler.name: exception}
        try:
            low.statements(handler.body, None)
        finally:
            low.handling = outer
            if handler.name is not None:
                low.env.pop(handler.name, None)

    where = low.location(handler)

    def finish(region: Region, exception: Var) -> Region:
        return check_reads(region, exception, where)

    return Catch(types, handler.name or "", run, finish)


def _goes_on_after_interrupts(handler: ast.ExceptHandler, types: tuple[Const, ...] | None) -> bool:
    if types is not None and not any(issubclass(KeyboardInterrupt, known.value) for known in types):
        return False
    leaves = any(isinstance(inner, ast.Return | ast.Break | ast.Continue) for inner in statements_in(handler.body))
    return leaves or not isinstance(handler.body[-1], ast.Raise)


def _types(low: Lowering, node: ast.expr) -> tuple[Const, ...]:
    """The classes that a handler names. They are evaluated only when an exception has come, so nothing may be computed."""
    written = node.elts if isinstance(node, ast.Tuple) else [node]
    found = []
    for part in written:
        known = _resolved(low, part)
        if known is None or not (isinstance(known.value, type) and issubclass(known.value, BaseException)):
            low.refuse(fence.EXCEPTION_TYPES, node)
        found.append(known)
    return tuple(found)


def _resolved(low: Lowering, node: ast.expr) -> Const | None:
    match node:
        case ast.Name(id=name) if name not in low.env and not low.is_local(name):
            return low.unit.resolver.name(name)
        case ast.Attribute(value=value, attr=attribute):
            owner = _resolved(low, value)
            return None if owner is None else low.unit.resolver.attribute(owner, attribute)
    return None


# What is read from an exception


def check_reads(region: Region, exception: Var, where: Location) -> Region:
    """A handler, which begins at `where`, with a check where the exception, or a part of it, is used as a value."""
    kept: list[Statement] = []
    for statement in region.statements:
        reads = exception in uses(statement)
        if not isinstance(statement, Op) or not reads:
            kept.append(map_regions(statement, lambda inner: check_reads(inner, exception, where)))
        elif statement.callee is Opcode.GETATTR:
            kept += [statement, _check(exceptions.check_part_of_caught, exception, statement.result, where=statement.where)]
        elif is_mark(statement) or statement.payload == RAISED or _is_harmless(statement.callee):
            kept.append(statement)
        else:
            kept += [_check(exceptions.check_caught, exception, where=statement.where), statement]
    if exception in terminator_values(region.terminator) and not isinstance(region.terminator, Raise):
        kept.append(_check(exceptions.check_caught, exception, where=where))
    return Region(tuple(kept), region.terminator)


def _is_harmless(callee: Opcode | Value) -> bool:
    return isinstance(callee, Const) and any(callee.value is known for known in _HARMLESS)


def _check(function: Callable[..., None], *values: Value, where: Location) -> Op:
    return Op(function_constant(function), (*values, Const(str(where))), (fresh(),), where=where)
