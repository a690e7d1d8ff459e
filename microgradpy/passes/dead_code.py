"""Remove what nobody reads: operations the compiler made, results, loop state, whole branches and loops.

    a_bar = y_bar * b      (nobody reads a_bar)
    b_bar = y_bar * a      becomes      b_bar = y_bar * a

The user's own operations stay: they may raise, print or write. Only the making of a function does none of that.
"""

from __future__ import annotations

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import (
    KEPT,
    Break,
    Continue,
    Enumerate,
    For,
    Function,
    If,
    Items,
    Op,
    Opcode,
    Records,
    Region,
    Return,
    Reversed,
    Statement,
    Terminator,
    Try,
    Value,
    Var,
    While,
    Yield,
)
from microgradpy.ir.traversal import item_sources, terminator_values, uses

_EFFECTS = (Opcode.SUSPEND, Opcode.RECORD, Opcode.APPEND, Opcode.MARK)


def eliminate_dead_code(function: Function) -> Function:
    """The function without what nobody reads. Valid in, valid out, idempotent."""
    return replace(function, body=eliminate_dead_statements(function.body))


def eliminate_dead_statements(body: Region) -> Region:
    region, _ = _region(body, set(), (), ())
    return region


Keep = tuple[bool, ...]


def _variables(values: tuple[Value, ...]) -> set[Var]:
    return {value for value in values if isinstance(value, Var)}


def _selected(values: tuple[Value, ...], keep: Keep) -> tuple[Value, ...]:
    return tuple(value for value, kept in zip(values, keep, strict=True) if kept)


def _region(region: Region, live: set[Var], yields: Keep, state: Keep) -> tuple[Region, set[Var]]:
    """The region without dead statements, and what it needs; `live` is needed after it, `yields` says which values of a
    `Yield` are, `state` which of the loop state."""
    terminator: Terminator = region.terminator
    match terminator:
        case Yield(values=values):
            terminator = Yield(_selected(values, yields))
        case Continue(values=values):
            terminator = Continue(_selected(values, state))
        case Break(values=values):
            terminator = Break(_selected(values, state))
    # What is read after an `If` or loop is not read after a region that leaves it; keeping it is only less precise.
    needed = set(live) | _variables(terminator_values(terminator))
    kept: list[Statement] = []
    for statement in reversed(region.statements):
        new = _statement(statement, needed, state)
        if new is not None:
            kept.append(new)
    return Region(tuple(reversed(kept)), terminator), needed


def _statement(statement: Statement, needed: set[Var], state: Keep) -> Statement | None:
    """The statement, or None if it is dead; adds what it needs."""
    match statement:
        case Op(callee=callee, results=results, from_user=from_user):
            has_effect = (isinstance(callee, Opcode) and callee in _EFFECTS) or statement.payload == KEPT
            removable = callee is Opcode.CLOSURE or not (from_user or has_effect)
            if removable and needed.isdisjoint(results):
                return None
            needed |= _variables(uses(statement))
            return statement
        case If():
            return _branch(statement, needed, state)
        case Try():
            return _attempt(statement, needed, state)
        case _:
            return _loop(statement, needed)


def _branch(statement: If, needed: set[Var], state: Keep) -> If | None:
    keep = tuple(result in needed for result in statement.results)
    then, then_needed = _region(statement.then, needed, keep, state)
    orelse, orelse_needed = _region(statement.orelse, needed, keep, state)
    results = tuple(result for result, kept in zip(statement.results, keep, strict=True) if kept)
    arms = (then, orelse)
    if not results and not any(arm.statements for arm in arms) and all(isinstance(a.terminator, Yield) for a in arms):
        return None
    needed |= then_needed | orelse_needed | _variables((statement.condition,))
    return replace(statement, then=then, orelse=orelse, results=results)


def _attempt(statement: Try, needed: set[Var], state: Keep) -> Try:
    keep = tuple(result in needed for result in statement.results)
    handlers, after = [], set(needed)
    for handler in statement.handlers:
        body, inside = _region(handler.body, needed, keep, state)
        handlers.append(replace(handler, body=body))
        after |= inside
    # An exception may come anywhere in the body, so all that a handler reads is needed all along.
    body, inside = _region(statement.body, after, keep, state)
    needed |= after | inside | _variables(uses(statement))
    results = tuple(result for result, kept in zip(statement.results, keep, strict=True) if kept)
    return replace(statement, body=body, handlers=tuple(handlers), results=results)


def _loop(statement: While | For, needed: set[Var]) -> While | For | None:
    keep = tuple(result in needed for result in statement.results)
    while True:
        condition = None
        body, inside = _region(statement.body, needed, (), keep)
        if isinstance(statement, While):
            condition, in_condition = _region(statement.condition, needed, (True,), keep)
            inside = inside | in_condition
        wider = tuple(kept or var in inside for kept, var in zip(keep, statement.parameters, strict=True))
        if wider == keep:
            break
        keep = wider
    if isinstance(statement, For) and not any(keep) and _is_removable(statement.items, body):
        return None
    initial = _selected(statement.initial, keep)
    parameters = tuple(var for var, kept in zip(statement.parameters, keep, strict=True) if kept)
    results = tuple(var for var, kept in zip(statement.results, keep, strict=True) if kept)
    needed |= inside | _variables(initial)
    if isinstance(statement, While):
        assert condition is not None
        return replace(
            statement, condition=condition, body=body, parameters=parameters, initial=initial, results=results
        )
    items = statement.items
    if isinstance(items, Enumerate) and items.index not in inside and not items.index.user_named:
        items = items.inner
    needed |= _variables(item_sources(items))
    return replace(statement, items=items, body=body, parameters=parameters, initial=initial, results=results)


def _is_removable(items: Items, body: Region) -> bool:
    """A loop that only the compiler made, with nothing left in it."""
    return isinstance(items, Records | Reversed) and not body.statements and not isinstance(body.terminator, Return)

