"""Remove the results of `If`s and the loop state that nobody reads, and loop state that never changes.

    while ... with (r = undefined, y = x):      while ... with (y = x):
        %1/r = ...                                  %1/r = ...
        continue (%1, %2)                           continue (%2)

Lowering makes every name that a loop binds part of its state, which is simple and right; most of it is dead. A result
is needed if something that runs reads it, or if it feeds a result or a loop parameter that is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.ir.nodes import (
    Break,
    Continue,
    For,
    If,
    Op,
    Region,
    Statement,
    Try,
    Undefined,
    Value,
    Var,
    While,
    Yield,
)
from microgradpy.ir.rewrite import substitute
from microgradpy.ir.traversal import is_mark, item_sources, terminator_values, uses

Loop = While | For
Item = TypeVar("Item")


def prune(body: Region) -> Region:
    """The same program without dead results and without loop state that is always the same value."""
    replaced: dict[Var, Value] = {}
    while unchanging := _flow_of(body).unchanging(replaced):
        # Nobody reads the parameters and results of these slots any more, so they are dropped like the others.
        body = substitute(body, unchanging)
        replaced |= unchanging
    return _Dropping(_flow_of(body).needed()).region(body, None, None)


def _flow_of(body: Region) -> _Flow:
    flow = _Flow()
    flow.visit(body, (), None)
    return flow


@dataclass(slots=True)
class _Flow:
    """Which values feed which results and parameters, and what is read by something that runs."""

    feeds: dict[Var, list[Value]] = field(default_factory=dict)
    roots: set[Var] = field(default_factory=set)
    slots: list[tuple[Var, Value, Var]] = field(default_factory=list)  # parameter, initial value, result
    seen: dict[Var, tuple[Var, ...]] = field(default_factory=dict)  # the parameters of each scope

    def feed(self, variables: Iterable[Var], values: Iterable[Value]) -> None:
        for variable, value in zip(variables, values, strict=True):
            self.feeds.setdefault(variable, []).append(value)

    def read(self, values: Iterable[Value]) -> None:
        self.roots.update(value for value in values if isinstance(value, Var))

    def visit(self, region: Region, yields_to: tuple[Var, ...], loop: Loop | None) -> None:
        for statement in region.statements:
            self.statement(statement, loop)
        match region.terminator:
            case Yield(values=values):
                self.feed(yields_to, values)
            case Continue(values=values) if loop is not None:
                self.feed(loop.parameters, values)
            case Break(values=values) if loop is not None:
                self.feed(loop.results, values)
            case terminator:
                self.read(terminator_values(terminator))

    def statement(self, statement: Statement, loop: Loop | None) -> None:
        match statement:
            case Op(payload=scope, arguments=values) if is_mark(statement):
                self.feed(self.seen[scope], values)
            case Op():
                self.read(uses(statement))
            case Try(body=body, handlers=handlers, results=results):
                self.seen[statement.scope] = statement.parameters
                self.visit(body, results, loop)
                for handler in handlers:
                    self.read(handler.types or ())
                    self.visit(handler.body, results, loop)
            case If(condition=condition, then=then, orelse=orelse, results=results):
                self.read((condition,))
                self.visit(then, results, loop)
                self.visit(orelse, results, loop)
            case While() | For():
                self.feed(statement.parameters, statement.initial)
                self.feed(statement.results, statement.parameters)
                self.slots += zip(statement.parameters, statement.initial, statement.results, strict=True)
                if isinstance(statement, While):
                    for inner in statement.condition.statements:
                        self.statement(inner, None)
                    self.read(terminator_values(statement.condition.terminator))
                else:
                    self.read(item_sources(statement.items))
                self.visit(statement.body, (), statement)

    def needed(self) -> set[Var]:
        needed: set[Var] = set()
        pending = list(self.roots)
        # A slot stays as a whole: where only its parameter is read, a Break still carries a value for its result.
        partners = {parameter: result for parameter, _, result in self.slots}
        partners |= {result: parameter for parameter, _, result in self.slots}
        while pending:
            variable = pending.pop()
            if variable not in needed:
                needed.add(variable)
                if variable in partners:
                    pending.append(partners[variable])
                pending += [value for value in self.feeds.get(variable, ()) if isinstance(value, Var)]
        return needed

    def unchanging(self, replaced: Mapping[Var, Value]) -> dict[Var, Value]:
        """State that every edge leaves at its initial value, apart from what was replaced before. Undefined values
        stay: they may not be operands."""
        found: dict[Var, Value] = {}
        for parameter, initial, result in self.slots:
            edges = [*self.feeds[parameter], *self.feeds[result]]
            is_new = parameter not in replaced and not isinstance(initial, Undefined)
            if is_new and all(edge in (parameter, initial) for edge in edges):
                found[parameter] = found[result] = initial
        for parameter in (parameter for parameters in self.seen.values() for parameter in parameters):
            first, *others = self.feeds[parameter]
            if parameter not in replaced and not isinstance(first, Undefined) and all(other == first for other in others):
                found[parameter] = first
        return found


@dataclass(frozen=True, slots=True)
class _Dropping:
    """Removes what is not needed; `kept` and `loop` are the positions that stay in the values of a region's `Yield`,
    and of its `Continue` and `Break`; `marked` those that stay in the marks of each scope."""

    needed: AbstractSet[Var]
    marked: dict[Var, Sequence[int]] = field(default_factory=dict)

    def region(self, region: Region, kept: Sequence[int] | None, loop: Sequence[int] | None) -> Region:
        statements = tuple(self.statement(statement, loop) for statement in region.statements)
        match region.terminator:
            case Yield(values=values):
                return Region(statements, Yield(_pick(values, kept)))
            case Continue(values=values):
                return Region(statements, Continue(_pick(values, loop)))
            case Break(values=values):
                return Region(statements, Break(_pick(values, loop)))
        return Region(statements, region.terminator)

    def statement(self, statement: Statement, loop: Sequence[int] | None) -> Statement:
        match statement:
            case Op(payload=scope) if is_mark(statement):
                return replace(statement, arguments=_pick(statement.arguments, self.marked[scope]))
            case Op():
                return statement
            case Try(parameters=parameters, results=results):
                seen = [k for k, parameter in enumerate(parameters) if parameter in self.needed]
                kept = [k for k, result in enumerate(results) if result in self.needed]
                self.marked[statement.scope] = seen
                handlers = tuple(
                    replace(handler, body=self.region(handler.body, kept, loop)) for handler in statement.handlers
                )
                return replace(
                    statement,
                    body=self.region(statement.body, kept, loop),
                    handlers=handlers,
                    parameters=_pick(parameters, seen),
                    results=_pick(results, kept),
                )
            case If(then=then, orelse=orelse, results=results):
                kept = [k for k, result in enumerate(results) if result in self.needed]
                then, orelse = self.region(then, kept, loop), self.region(orelse, kept, loop)
                return replace(statement, then=then, orelse=orelse, results=_pick(results, kept))
            case While() | For():
                return self.loop(statement)

    def loop(self, loop: Loop) -> Loop:
        slots = enumerate(zip(loop.parameters, loop.results, strict=True))
        kept = [k for k, slot in slots if not self.needed.isdisjoint(slot)]
        loop = replace(
            loop,
            body=self.region(loop.body, None, kept),
            parameters=_pick(loop.parameters, kept),
            initial=_pick(loop.initial, kept),
            results=_pick(loop.results, kept),
        )
        return replace(loop, condition=self.region(loop.condition, None, None)) if isinstance(loop, While) else loop


def _pick(values: tuple[Item, ...], kept: Sequence[int] | None) -> tuple[Item, ...]:
    return values if kept is None else tuple(values[k] for k in kept)
