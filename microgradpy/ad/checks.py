"""Checks for `detect_anomaly`, after each operation whose result may be a NaN or an infinity:

    y = np.log(x)          becomes      y = np.log(x)
                                        check_value(site, y, x)

In the adjoint, what the user's operation was given is saved for the message, too. The pass adds operations and changes none.

A stop where an adjoint begins is put there in the same way:

    f_adjoint(saved, y_bar):      becomes      f_adjoint(saved, y_bar):
                                                   notes, ... = saved
                                                   stop_here(stopping, notes, y_bar)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any, final

import numpy as np

from microgradpy.ad.calls import Dispatched
from microgradpy.ad.instrument import OUT_OF_PLACE
from microgradpy.ad.primal import Primal
from microgradpy.ad.reverse import Reverse
from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.ir.kinds import carries_nothing, is_immutable
from microgradpy.ir.nodes import (
    KEPT,
    Const,
    For,
    Function,
    Location,
    Op,
    Opcode,
    Region,
    Statement,
    Undefined,
    Value,
    Var,
    While,
    fresh,
    function_constant,
)
from microgradpy.ir.rewrite import map_statements
from microgradpy.ir.traversal import regions, walk
from microgradpy.runtime.anomalies import check_value, checked_call, excuse
from microgradpy.runtime.anomaly_reports import BACKWARD, FORWARD, TANGENT, Site
from microgradpy.runtime.notes import open_notes
from microgradpy.state.stops import Stopping, stop_here
from microgradpy.tangents import arithmetic

# They read what is there, or leave it to others to fill it.
_MAKES_NOTHING: frozenset[Any] = frozenset(
    {getattr, operator.getitem, operator.setitem, np.empty, np.empty_like, iter, next, arithmetic.add_item, arithmetic.own}
)
Key = tuple[str, int, int, int, int]

_NONE = Const(None)


def check_primal(primal: Primal, checks: str) -> Primal:
    """The primal with checks of the user's operations."""
    pairs = _dispatched(primal)
    left_out = _left_out(primal.function)

    def rewrite(statement: Statement) -> tuple[Statement, ...]:
        if not isinstance(statement, Op) or not statement.from_user or not statement.results:
            return (statement,)
        call = pairs.get(statement.results[0])
        if call is not None:
            names = () if call.packed else tuple(map(_name, call.arguments))
            site = Site(call.where, FORWARD, checks, 0, (), names, left_out.get(call.result), call.packed)
            entry = statement.callee
            assert not isinstance(entry, Opcode)
            arguments = (Const(site), entry, *statement.arguments)
            return (replace(statement, callee=function_constant(checked_call), arguments=arguments),)
        if not _makes_numbers(statement, primal.function):
            return (statement,)
        return _checked_operation(statement, FORWARD, checks, left_out.get(statement.results[0]))

    body = map_statements(primal.function.body, rewrite)
    return replace(primal, function=replace(primal.function, body=body))


def _dispatched(primal: Primal) -> dict[Var, Dispatched]:
    """The calls that are resolved at run time, by the variable that holds their value and their pullback."""
    found: dict[Var, Dispatched] = {}
    for statement in walk(primal.function.body):
        if isinstance(statement, Op) and statement.callee is Opcode.UNPACK and statement.results:
            call = primal.calls.get(statement.results[0])
            pair = statement.arguments[0]
            if isinstance(call, Dispatched) and isinstance(pair, Var):
                found[pair] = call
    return found


def _left_out(function: Function) -> dict[Var, Location]:
    """The first `np.where` that may leave out entries of a value, for each that is given to one, also by way of others."""
    found: dict[Var, Location] = {}
    for statement in reversed(list(walk(function.body))):
        if not isinstance(statement, Op) or len(statement.results) != 1:
            continue
        is_where = isinstance(statement.callee, Const) and statement.callee.value is np.where
        place = statement.where if is_where else found.get(statement.result)
        for value in statement.arguments[1 if is_where else 0 :]:
            if isinstance(value, Var) and place is not None:
                found[value] = place
    return found


def _makes_numbers(op: Op, function: Function) -> bool:
    """Whether the result of an operation may be a number or an array that it has made itself."""
    callee = op.callee
    if isinstance(callee, Opcode) or (isinstance(callee, Const) and _is_idle(callee.value)):
        return False
    kind = function.kinds.get(op.results[0])
    return kind is None or not carries_nothing(kind)


def _is_idle(function: Any) -> bool:
    if getattr(function, "stands_for_unit", False):
        return True  # it is looked into by itself
    return _is_among(function, _MAKES_NOTHING)


def _is_among(function: Any, functions: Container[Any]) -> bool:
    try:
        return function in functions
    except TypeError:  # not hashable
        return False


def _name(value: Value) -> str:
    if isinstance(value, Var):
        return value.hint
    return "" if isinstance(value, Undefined) else value.path


def _operands(op: Op) -> tuple[Value, ...]:
    """What an operation was computed from; the array that it writes its result into is none of it."""
    return (*op.arguments, *(value for name, value in op.keywords if name != "out"))


def _checked_operation(op: Op, during: str, checks: str, left_out: Location | None) -> tuple[Statement, ...]:
    read = _operands(op)
    if isinstance(op.callee, Const) and _is_among(op.callee.value, OUT_OF_PLACE):
        before = fresh("state")
        noted = Op(function_constant(excuse), read[:1], (before,), where=op.where)
        site = Site(op.where, during, checks, len(read), (True,) * len(read), tuple(map(_name, read)), left_out)
        return noted, op, _check(site, op, (before, *read[1:]))
    site = Site(op.where, during, checks, len(read), (True,) * len(read), tuple(map(_name, read)), left_out)
    return op, _check(site, op, read)


def _check(site: Site, op: Op, given: tuple[Value, ...]) -> Op:
    arguments = (Const(site), op.results[0], *given)
    return Op(function_constant(check_value), arguments, (fresh("checked"),), where=op.where)


@final
@dataclass
class _Derivatives:
    """Checks the operations of an adjoint, or those of a pushforward that compute tangents. `users` are the user's operations
    by their places, `unseen` the values of the primal that were computed for the derivative only, which nobody has looked at;
    `made` has the operations by their results."""

    primal: Primal
    during: str
    checks: str
    users: Mapping[Key, Op]
    shadows: Var | None = None
    left_out: Mapping[Var, Location] = field(init=False)
    unseen: frozenset[Var] = field(init=False)
    made: dict[Var, Op] = field(default_factory=dict)

    def __post_init__(self) -> None:
        calls = [s for s in walk(self.primal.function.body) if isinstance(s, Op) and not isinstance(s.callee, Opcode)]
        self.left_out = _left_out(self.primal.function)
        self.unseen = frozenset(var for op in calls if not op.from_user for var in op.results)

    def rewrite(self, statement: Statement) -> tuple[Statement, ...]:
        if not isinstance(statement, Op) or len(statement.results) != 1:
            return (statement,)
        self.made[statement.result] = statement
        read = self.read_by(statement)
        if read is None:
            return (statement,)
        users = self.users.get(_key(statement.where))
        shown = () if users is None else tuple(filter(self.is_shown, _operands(users)))
        place = None if users is None else self.left_out.get(users.results[0])
        excuses = tuple(value not in self.unseen for value in read)
        site = Site(statement.where, self.during, self.checks, len(read), excuses, tuple(map(_name, shown)), place)
        return statement, _check(site, statement, (*read, *shown))

    def read_by(self, op: Op) -> tuple[Value, ...] | None:
        """What an operation is computed from; None if it need not be looked at."""
        if isinstance(op.callee, Opcode) or (self.shadows is not None and self.shadows in op.arguments):
            return None
        if isinstance(op.callee, Const):
            is_of_nothing = op.arguments[:1] == (_NONE,)  # zeros, made ahead of the loop that the place of the operation is in
            return None if is_of_nothing or _is_idle(op.callee.value) else _operands(op)
        method = self.made.get(op.callee) if isinstance(op.callee, Var) else None
        if method is None or not method.arguments or method.arguments[0] == self.shadows:
            return None
        return (method.arguments[0], *_operands(op))

    def is_shown(self, value: Value) -> bool:
        """Whether a value is still what the operation was given."""
        if not isinstance(value, Var):
            return isinstance(value, Const) and isinstance(value.value, int | float | complex)
        kind = self.primal.function.kinds.get(value)
        return self.primal.memory is None or (kind is not None and is_immutable(kind))


def check_adjoint(primal: Primal, reverse: Reverse, checks: str) -> Reverse:
    """The adjoint of a primal with checks of the cotangents."""
    replayed = {id(frame.loop) for frame in reverse.frames.values()}
    # What a loop is about that a call is written out as is known in the loop only, and its place is that of the call.
    loops = {_key(loop.where) for loop in walk(primal.function.body) if isinstance(loop, For | While)}
    users = _users(op for op in _within(primal.function.body, replayed.__contains__) if _key(op.where) not in loops)
    found = _Derivatives(primal, BACKWARD, checks, users, reverse.shadows)
    return replace(reverse, region=map_statements(reverse.region, found.rewrite))


def check_pushforward(function: Function, primal: Primal, checks: str) -> Function:
    """A pushforward with checks of the user's operations and of the tangents."""
    tangents = _Derivatives(primal, TANGENT, checks, _users(_within(primal.function.body, lambda _: True)))

    def rewrite(statement: Statement) -> tuple[Statement, ...]:
        if isinstance(statement, Op) and statement.from_user and len(statement.results) == 1:
            tangents.made[statement.result] = statement
            if not _makes_numbers(statement, function):
                return (statement,)
            return _checked_operation(statement, FORWARD, checks, tangents.left_out.get(statement.result))
        return tangents.rewrite(statement)

    return replace(function, body=map_statements(function.body, rewrite))


def _within(region: Region, is_seen: Callable[[int], bool]) -> Iterator[Op]:
    """The operations of a region, without those of loops the values of which the derivative cannot ask for."""
    for statement in region.statements:
        if isinstance(statement, Op):
            yield statement
        elif not isinstance(statement, For | While) or is_seen(id(statement)):
            for inner in regions(statement):
                yield from _within(inner, is_seen)


def _users(operations: Iterable[Op]) -> dict[Key, Op]:
    """The user's operations by their places, as far as these say which it is."""
    found: dict[Key, list[Op]] = {}
    for op in operations:
        if op.from_user and not isinstance(op.callee, Opcode) and op.callee != function_constant(check_value):
            found.setdefault(_key(op.where), []).append(op)
    return {key: ops[0] for key, ops in found.items() if len(ops) == 1}


def _key(where: Location) -> Key:
    return (where.file, where.line, where.column, where.end_line, where.end_column)


# Stops


def noting(primal: Primal) -> Primal:
    """The primal of a function that notes its variables. Its notes are none of the user's operations: they may hold variables
    that have no value."""

    def rewrite(statement: Statement) -> tuple[Statement, ...]:
        if isinstance(statement, Op) and statement.payload == KEPT:
            return (replace(statement, from_user=False),)
        return (statement,)

    return replace(primal, function=replace(primal.function, body=map_statements(primal.function.body, rewrite)))


def with_stop(primal: Primal, reverse: Reverse, stopping: Stopping) -> Reverse:
    """The adjoint of a function that notes its variables, stopping with the notes first of all."""
    body = primal.function.body
    notes = next(op.results[0] for op in walk(body) if isinstance(op, Op) and op.callee == function_constant(open_notes))
    given = (Const(stopping), notes, reverse.seed, *((reverse.shadows,) if reverse.shadows is not None else ()))
    stop = Op(function_constant(stop_here), given, (fresh("stopped"),), payload=KEPT, where=primal.function.where)
    return replace(reverse, region=Region((stop, *reverse.region.statements), reverse.region.terminator))
