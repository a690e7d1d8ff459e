"""Copies of parts of shadows that are read before the shadow is written again, and so need not be made; and arrays that are
made to be added to a shadow, which may keep them.

    d = u_bar[1:-1].copy()
    t_bar = d * k                      becomes      t_bar = u_bar[1:-1] * k
    u_bar[2:] += t_bar

    shadows.add(x, y_bar * z)          becomes      shadows.give(x, y_bar * z)
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable

import numpy as np

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import Const, Function, Op, Region, Statement, Value, Var
from microgradpy.ir.rewrite import map_regions, map_uses
from microgradpy.ir.traversal import terminator_values, uses

_MAKE_NEW = (operator.mul, operator.add, operator.sub, operator.truediv, operator.matmul, operator.neg)
_READ_AT_ONCE = (*_MAKE_NEW, np.dot)
"""What reads its operands and neither changes nor keeps them."""


def drop_needless_copies(adjoint: Function) -> Function:
    """The adjoint without such copies."""
    return replace(adjoint, body=_region(adjoint.body, Counter()))


def _region(region: Region, counts: Counter[Var]) -> Region:
    """A region without such copies; `counts` are the uses in what was looked at before, which are all there are of what is
    made in a region once that was looked at."""
    statements = [map_regions(statement, lambda inner: _region(inner, counts)) for statement in region.statements]
    _count(counts, *map(uses, statements), terminator_values(region.terminator))
    made = {s.results[0]: s for s in statements if isinstance(s, Op) and len(s.results) == 1}
    for place, statement in enumerate(statements):
        view = _copied(statement, made)
        if view is None or not isinstance(statement, Op):
            continue
        copy = statement.results[0]
        last = _last_use(statements, place, counts[copy])
        for after in range(place + 1, last + 1):
            statements[after] = map_uses(statements[after], _replacing(copy, view))
        if last:
            counts[view] += counts.pop(copy)
    called: dict[Value, Op] = {}
    for op in made.values():
        if isinstance(op.callee, Var) and len(op.arguments) == 2:
            called.setdefault(op.callee, op)
    statements = [_given(s, called, made, counts) for s in statements]
    kept = [s for s in statements if not (_copied(s, made) is not None and isinstance(s, Op) and not counts[s.results[0]])]
    return Region(tuple(kept), region.terminator)


def _replacing(old: Value, new: Value) -> Callable[[Value], Value]:
    return lambda value: new if value == old else value


def _copied(statement: Statement, made: dict[Var, Op]) -> Var | None:
    """What `x.copy()` copies."""
    if not isinstance(statement, Op) or not isinstance(statement.callee, Var) or statement.arguments:
        return None
    read = made.get(statement.callee)
    if read is None or read.callee != Const(getattr) or read.arguments[1] != Const("copy"):
        return None
    part = read.arguments[0]
    source = made.get(part) if isinstance(part, Var) else None
    return part if isinstance(part, Var) and source is not None and source.callee == Const(operator.getitem) else None


def _given(statement: Statement, called: dict[Value, Op], made: dict[Var, Op], counts: Counter[Var]) -> Statement:
    """`shadows.add` of an array that arithmetic has made for it, read as `shadows.give`; `called` are the calls with two
    arguments by what they call."""
    if not isinstance(statement, Op) or statement.callee != Const(getattr) or statement.arguments[1] != Const("add"):
        return statement
    call = called.get(statement.results[0])
    added = call.arguments[1] if call is not None else None
    source = made.get(added) if isinstance(added, Var) and counts[added] == 1 else None
    if source is None or source.from_user or not isinstance(source.callee, Const) or source.keywords:
        return statement
    operands = 1 if source.callee.value is operator.neg else 2
    if not any(source.callee.value is f for f in _MAKE_NEW) or len(source.arguments) != operands:
        return statement
    return replace(statement, arguments=(statement.arguments[0], Const("give")))


def _last_use(statements: list[Statement], place: int, total: int) -> int:
    """The place of the last of so many uses of the copy that is made at a place, if all are in arithmetic that keeps nothing,
    and nothing is written before; else 0."""
    copy, seen = statements[place].results[0], 0
    for after in range(place + 1, len(statements) if total else 0):
        statement = statements[after]
        if not isinstance(statement, Op):
            return 0
        here = uses(statement).count(copy)
        if here and not (isinstance(statement.callee, Const) and any(statement.callee.value is f for f in _READ_AT_ONCE)):
            return 0
        if statement.from_user:
            return 0
        seen += here
        if seen == total:
            return after
    return 0


def _count(counts: Counter[Var], *used: tuple[Value, ...]) -> None:
    counts.update(value for values in used for value in values if isinstance(value, Var))
