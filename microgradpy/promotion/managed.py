"""`with` on what a generator under `contextlib.contextmanager` gives: what it does before its one `yield` is written where the
block begins, and what it does after it where the block ends.

    @contextmanager
    def scaled(state, k):                   with scaled(state, k) as s:        old = state_k
        old = state["k"]                        total += s["k"]                state_k = old * k
        state["k"] = old * k                                                   try:
        try:                                                                       total += state_k
            yield state                                                        except BaseException:
        finally:                                                                   state_k = old
            state["k"] = old                                                       raise
                                                                               state_k = old

A generator that yields in a loop or a branch, several times, or goes on after an exception, is not followed.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import Const, Handler, Op, Opcode, Raise, Region, Statement, Try, Yield
from microgradpy.ir.rewrite import map_statements
from microgradpy.ir.traversal import is_mark, terminator_values, uses, walk
from microgradpy.promotion.findings import Escapes
from microgradpy.promotion.functions import Named, as_expression
from microgradpy.promotion.fusing import running_on
from microgradpy.promotion.partials import captured_by, cells_of
from microgradpy.promotion.places import Frame, Generator, Known, Managed
from microgradpy.runtime.failures import raise_failure
from microgradpy.runtime.suspension import LEFT, is_generator

_NONE = Const(None)


@contextlib.contextmanager
def _example() -> Iterator[None]:
    yield


_MAKES: Any = vars(contextlib)["contextmanager"](_example).__code__
_GENERATOR = "func"
"""What the standard library calls the function in the one that makes contexts of it."""


def function_managed(function: Any) -> types.FunctionType | None:
    """The generator of which a function makes contexts, if it is one under `contextlib.contextmanager`."""
    if not isinstance(function, types.FunctionType) or function.__code__ is not _MAKES:
        return None
    cell = cells_of(function).get(_GENERATOR)
    found = None if cell is None else cell.cell_contents
    return found if isinstance(found, types.FunctionType) and is_generator(found.__code__) else None


def manager(
    walker: Any, op: Op, function: types.FunctionType, arguments: tuple[Known, ...], keywords: Named, frame: Frame
) -> Known | None:
    """The context that a call of such a function gives; None if it stays memory."""
    generator = function_managed(function)
    assert generator is not None
    made = walker.generator(op, generator, arguments, keywords, frame)
    if not isinstance(made, Generator):
        return None
    walker.checks.append((captured_by(function), _GENERATOR, generator))
    parts = _parts(made.body)
    if parts is None:
        raise Escapes(made.origin)
    walker.helped = True
    return Managed(made.origin, *parts, made.frame, walker.loop, len(walker.trying))


def _parts(body: Region) -> tuple[tuple[Statement, ...], Op, Try | None, Region] | None:
    """What a generator does before it yields, the `yield`, the `try` around it, and what it does afterwards."""
    yields = [each for each in walk(body) if isinstance(each, Op) and each.callee is Opcode.SUSPEND]
    if len(yields) != 1:
        return None
    body = map_statements(running_on(body), lambda each: () if _asks_what_is_sent(each, yields[0]) else (each,))
    (suspend,) = (each for each in walk(body) if isinstance(each, Op) and each.callee is Opcode.SUSPEND)
    for number, statement in enumerate(body.statements):
        attempt = statement if isinstance(statement, Try) and suspend in statement.body.statements else None
        if statement is not suspend and attempt is None:
            continue
        before, after = body.statements[:number], as_expression(Region(body.statements[number + 1 :], body.terminator))
        is_known = attempt is None or _is_plain(attempt, suspend)
        ends = as_expression(Region(before, body.terminator))  # as nothing returns before
        return (before, suspend, attempt, after) if is_known and after is not None and ends is not None else None
    return None


def _asks_what_is_sent(statement: Statement, suspend: Op) -> bool:
    """Whether a statement asks whether a generator is left, or raises what is thrown into it, which is raised where it comes
    from."""
    if not isinstance(statement, Op) or suspend.results[0] not in uses(statement):
        return False
    raises = isinstance(statement.callee, Const) and statement.callee.value is raise_failure
    return raises or statement.arguments[1:] == (Const(LEFT),)


def _is_plain(attempt: Try, suspend: Op) -> bool:
    """Whether a `try` does nothing but yield, and its one handler ends with the exception that it has caught."""
    others = [each for each in attempt.body.statements if each is not suspend and not is_mark(each)]
    if others or len(attempt.handlers) != 1 or attempt.parameters or not isinstance(attempt.body.terminator, Yield):
        return False
    (handler,) = attempt.handlers
    return _catches_all(handler) and _raises_again(handler)


def _catches_all(handler: Handler) -> bool:
    types = handler.types
    return types is None or [each.value for each in types if isinstance(each, Const)] == [BaseException]


def _raises_again(handler: Handler) -> bool:
    """Whether a handler asks nothing of an exception, and raises it again."""
    ends = handler.body.terminator
    caught = handler.exception
    is_asked = caught is not None and any(caught in (*uses(each), *_end_values(each)) for each in walk(handler.body))
    return isinstance(ends, Raise) and ends.exception is None and not is_asked


def _end_values(statement: Statement) -> tuple[Any, ...]:
    from_arms = (getattr(statement, name, None) for name in ("then", "orelse", "body"))
    return tuple(value for arm in from_arms if isinstance(arm, Region) for value in terminator_values(arm.terminator))


def enter(walker: Any, managed: Managed) -> Known:
    """What the block gets, after what the generator does first."""
    if managed in walker.consumed or managed.loop is not walker.loop or managed.attempts != len(walker.trying):
        raise Escapes(managed.origin)
    walker.consumed.add(managed)
    _run(walker, managed.before, managed.frame)
    found: Known = walker.known(managed.suspend.arguments[0], managed.frame) if managed.suspend.arguments else _NONE
    return found


def leave(walker: Any, op: Op, managed: Managed, frame: Frame) -> Known:
    """What the generator does after a block without an exception."""
    inner = _frame_of(managed, op, frame)
    inner.values[managed.suspend.results[0]] = _NONE
    if managed.attempt is not None:
        ends = terminator_values(managed.attempt.body.terminator)
        for result, value in zip(managed.attempt.results, ends, strict=True):
            inner.values[result] = walker.known(value, inner)
    _run(walker, managed.after.statements, inner)
    return _NONE


def suppress(walker: Any, op: Op, managed: Managed, frame: Frame) -> Known:
    """What it does after an exception, with which the block ends."""
    if managed.attempt is not None:
        _run(walker, managed.attempt.handlers[0].body.statements, _frame_of(managed, op, frame))
    return Const(False)


def _frame_of(managed: Managed, op: Op, frame: Frame) -> Frame:
    found: Frame = replace(managed.frame, path=(*frame.path, op.results[0]), values=dict(managed.frame.values))
    return found


def _run(walker: Any, statements: tuple[Statement, ...], frame: Frame) -> None:
    walker.generators += 1
    try:
        for statement in statements:
            walker.statement(statement, frame)
    finally:
        walker.generators -= 1
