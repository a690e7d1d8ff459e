"""`try`, `except`, `else` and `finally`.

    else        follows the `Try`; where a handler falls through too, a flag says whether the body came to its end
    finally     is there twice, as Python compiles it: in a handler that catches everything and raises it again, and after
                the `Try`. A `return`, `break` or `continue` inside is put off until it has run

A handler that uses the exception as a value, and does not just print it or look at its class, gets it from `caught`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
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
    Try,
    Value,
    Var,
    fresh,
    function_constant,
)
from microgradpy.ir.rewrite import substitute
from microgradpy.ir.traversal import is_mark, terminator_values, terminators, uses, walk

# What may be done with an exception without reading a value from it that a derivative could flow through.
_CHECKS = (exceptions.suppresses, exceptions.suppressed_by_library, exceptions.check_not_interrupted)
HARMLESS = (print, str, repr, format, isinstance, type, issubclass, id, *_CHECKS)


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

    def finish(region: Region, exception: Var) -> Region:
        named = {scope.var: scope.names for scope in low.scopes}
        return _handed_over(region, exception, handler.name, named, low.location(handler))

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


def _handed_over(
    region: Region, exception: Var, name: str | None, named: Mapping[Var, tuple[str, ...]], where: Location
) -> Region:
    """A handler, which begins at `where`; one that uses the exception, or a part of it, as a value gets it from `caught`.
    `named` has the variables that the marks of each `try` around carry."""
    statements = tuple(walk(region))
    tries = [statement for statement in statements if isinstance(statement, Try)]
    named = {**named, **{inner.scope: tuple(parameter.hint for parameter in inner.parameters) for inner in tries}}
    used = (s for s in statements if exception in uses(s))
    reads = (not _is_harmless(s, exception, name, named) and not _is_only_shown(s, statements, region) for s in used)
    ends = (end for end in terminators(region) if not isinstance(end, Raise))
    if not any(reads) and all(exception not in terminator_values(end) for end in ends):
        return region
    value = fresh(exception.hint)
    taken = Op(function_constant(exceptions.caught), (exception, Const(str(where))), (value,), where=where)
    handler = substitute(region, {exception: value})
    return Region((taken, *handler.statements), handler.terminator)


def _is_harmless(statement: Statement, exception: Var, name: str | None, named: Mapping[Var, tuple[str, ...]]) -> bool:
    if not isinstance(statement, Op):
        return False
    if is_mark(statement):
        # Python unbinds the name at the end of the handler. What another name is for, is read later.
        pairs = zip(named[statement.payload], statement.arguments, strict=True)
        return all(value is not exception or carried == name for carried, value in pairs)
    is_known = isinstance(statement.callee, Const) and any(statement.callee.value is known for known in HARMLESS)
    return statement.payload == RAISED or is_known


def _is_only_shown(statement: Statement, statements: Sequence[Statement], region: Region) -> bool:
    """Whether a statement reads the arguments of an exception, which are printed, or made text of, and nothing else."""
    if not isinstance(statement, Op) or statement.callee is not Opcode.GETATTR or statement.payload != "args":
        return False
    part = statement.result
    shown = all(not is_mark(s) and _is_harmless(s, part, None, {}) for s in statements if part in uses(s))
    return shown and all(part not in terminator_values(end) for end in terminators(region))
