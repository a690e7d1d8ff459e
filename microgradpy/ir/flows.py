"""What flows into what where paths meet: into the results of branches and loops, and the state of loops.

A variable may be undefined if the absence of a value flows into it on some path.
"""

from __future__ import annotations

from collections.abc import Iterator

from microgradpy.ir.nodes import (
    Break,
    Continue,
    For,
    If,
    Op,
    Region,
    Try,
    Undefined,
    Value,
    Var,
    While,
    Yield,
)
from microgradpy.ir.traversal import is_always_true, is_mark, regions, terminators, uses

Flow = tuple[Var, Value]


def flows_in(region: Region) -> list[Flow]:
    """All flows in a region."""
    return list(_flows(region, {}))


def maybe_undefined(flows: list[Flow]) -> set[Var]:
    """The variables that have no value on some path."""
    return connected({target for target, value in flows if isinstance(value, Undefined)}, flows, forward=True)


def connected(start: set[Var], flows: list[Flow], *, forward: bool) -> set[Var]:
    """What the variables flow into, or what flows into them."""
    if not start:
        return set()
    following: dict[Value, list[Var]] = {}
    for target, value in flows:
        if isinstance(value, Var):
            source, reached = (value, target) if forward else (target, value)
            following.setdefault(source, []).append(reached)
    found, waiting = set(start), list(start)
    while waiting:
        for reached in following.get(waiting.pop(), ()):
            if reached not in found:
                found.add(reached)
                waiting.append(reached)
    return found


def _flows(region: Region, seen: dict[Var, tuple[Var, ...]]) -> Iterator[Flow]:
    """`seen` are the parameters of the scopes around."""
    for statement in region.statements:
        match statement:
            case Op(payload=scope, arguments=values) if is_mark(statement):
                # After the first mark, what is undefined leaves the parameter as it is.
                pairs = zip(seen[scope], values, strict=True)
                yield from (pair for pair in pairs if not isinstance(pair[1], Undefined))
            case Try():
                seen[statement.scope] = statement.parameters
                yield from zip(statement.parameters, uses(statement.body.statements[0]), strict=True)
                yield from _yields(statement)
            case If():
                yield from _yields(statement)
            case While() | For():
                yield from zip(statement.parameters, statement.initial, strict=True)
                if not _is_endless(statement):
                    yield from zip(statement.results, statement.parameters, strict=True)
                yield from _edges(statement)
        for inner in regions(statement):
            yield from _flows(inner, seen)


def _yields(statement: If | Try) -> Iterator[Flow]:
    """What the regions of a statement give its results."""
    for arm in regions(statement):
        if isinstance(arm.terminator, Yield):
            yield from zip(statement.results, arm.terminator.values, strict=True)


def _edges(loop: While | For) -> Iterator[Flow]:
    """What each `Continue` and `Break` of a loop carries."""
    for terminator in terminators(loop.body, of_inner_loops=False):
        match terminator:
            case Continue(values=values):
                yield from zip(loop.parameters, values, strict=True)
            case Break(values=values):
                yield from zip(loop.results, values, strict=True)


def _is_endless(loop: While | For) -> bool:
    """Whether a loop is left by `break` only."""
    match loop:
        case While(condition=Region(terminator=Yield(values=(value,)))):
            return is_always_true(value)
    return False
