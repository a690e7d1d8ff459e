"""What is asked of a whole primal before it is walked backwards, and the builder of its adjoint, which knows the answers."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping
from typing import Protocol

from microgradpy.ad.adjoint_builder import AdjointBuilder
from microgradpy.ad.adjoint_calls import bar_of_part
from microgradpy.ad.calls import Dispatched, Item, Iterated, Replaced, Unit
from microgradpy.ad.primal import Primal
from microgradpy.ad.tracked_adjoint import TrackedAdjointBuilder
from microgradpy.ir.input_kinds import kind_of
from microgradpy.ir.kinds import (
    INT,
    UNKNOWN,
    Array,
    Inert,
    Kind,
    Sequence,
    TupleOf,
    cotangent_kind,
    holds_numbers,
    is_items,
    is_tuple_of_numbers,
    present_inside,
)
from microgradpy.ir.nodes import (
    Const,
    For,
    Function,
    Op,
    Opcode,
    Region,
    Return,
    Statement,
    Value,
    Var,
    fresh,
    operator_constant,
)
from microgradpy.ir.traversal import regions, terminator_values, terminators, uses, walk


class Halves(Protocol):
    """What the adjoint asks of the compiler."""

    keeps_zeros: bool
    """Whether zeros of selections are to be strong (see `zeros`)."""
    seed_is_selected: bool
    """Whether the seed may have such zeros."""

    @property
    def passed(self) -> int:
        """How many of the last parts of the result are lists that the function was given and has written into."""

    @property
    def active_parts(self) -> tuple[bool, ...] | None:
        """Which parts of such a result are active."""

    def adjoint_half(self, unit: Unit, is_selected: bool) -> Const:
        """The constant that stands for the unit's adjoint, for a seed that may have zeros of a selection if it says so."""


def builder_for(primal: Primal, services: Halves) -> AdjointBuilder:
    """The builder of an adjoint: with shadows if the primal writes."""
    walked = walk(primal.function.body)
    made = {op.results[0]: op for op in walked if isinstance(op, Op) and len(op.results) == 1}
    # Nothing has a cotangent where it is None: whatever has been computed with it was done where it is not.
    kinds, active = {var: present_inside(kind) for var, kind in primal.function.kinds.items()}, set(primal.active)
    if primal.memory is None:
        return AdjointBuilder(
            kinds=kinds,
            active=active,
            adjoint_half=services.adjoint_half,
            made=made,
            keeps_zeros=services.keeps_zeros,
            rows=_rows(primal),
            items_run_over=_items_run_over(primal),
            numbered=_numbered(primal),
            slices=_slices(primal),
        )
    return TrackedAdjointBuilder(
        kinds=kinds,
        active=active,
        adjoint_half=services.adjoint_half,
        made=made,
        keeps_zeros=services.keeps_zeros,
        shadows=fresh("shadows"),
        by_value=primal.memory.by_value,
        views=_views(primal),
        region_of=primal.memory.region_of,
        pieces=_pieces(primal),
        lasting=_lasting(primal.function),
        seed_is_value=primal.takes_value,
    )


def _rows(primal: Primal) -> dict[Var, tuple[Var, Value]]:
    """The lists of numbers that are items of lists, with these and the places, where their cotangents are too: none if another
    list may be put in a place."""
    kinds = primal.function.kinds
    found = {}
    for call in primal.calls.values():
        match call:
            case Replaced(indices=(_,), item=Var() as item) if is_items(kinds[item]):
                return {}
            case Item(result=row, container=Var() as rows, index=place) | Iterated(
                result=row, source=Var() as rows, position=place, backwards=False
            ) if isinstance(kind := kinds[rows], Sequence) and is_items(kind) and holds_numbers(kind.item):
                index = kinds.get(place, UNKNOWN) if isinstance(place, Var) else kind_of(getattr(place, "value", None))
                if kind.name == "dict" or index == INT:
                    found[row] = rows, place
    return found


def _items_run_over(primal: Primal) -> frozenset[Var]:
    """The items that loops take of lists of numbers, or of tuples with numbers."""
    kinds = primal.function.kinds
    found = (call for call in primal.calls.values() if isinstance(call, Iterated) and isinstance(call.source, Var))
    return frozenset(call.result for call in found if holds_numbers(kinds[call.source]))  # type: ignore[index]


def _numbered(primal: Primal) -> frozenset[Var]:
    """The tuples of numbers that loops run over, if nothing else is asked of them than items, by numbers, and their length."""
    kinds = primal.function.kinds
    sources = {call.source for call in primal.calls.values() if isinstance(call, Iterated) and not call.is_key}
    sources |= {call.container for call in primal.calls.values() if isinstance(call, Item) and isinstance(call.index, Var)}
    found = {var for var in sources if isinstance(var, Var) and is_tuple_of_numbers(kinds[var])}
    if not found:
        return frozenset()
    statements = list(walk(primal.function.body))
    made = {op.results[0] for op in statements if isinstance(op, Op) and op.callee is Opcode.TUPLE}
    found &= {*primal.function.inputs, *made}
    for statement in statements:
        if not isinstance(statement, For):
            found.difference_update(value for value in uses(statement) if not _reads_items(statement, value, kinds))
        else:
            found.difference_update(statement.initial)
    ends = (region.terminator for region in _regions(primal.function))
    return frozenset(found.difference(value for end in ends for value in terminator_values(end)))


def _regions(function: Function) -> Iterator[Region]:
    yield function.body
    for statement in walk(function.body):
        yield from regions(statement)


def _reads_items(statement: Statement, value: Value, kinds: Mapping[Var, Kind]) -> bool:
    """Whether a statement asks a tuple for its length, all of its items, or one by its number."""
    match statement:
        case Op(callee=Opcode.UNPACK) | Op(callee=Const(value=builtins.len)):
            return True
        case Op(callee=callee, arguments=(_, index)) if callee == operator_constant("getitem") and index != value:
            return kinds.get(index) == INT if isinstance(index, Var) else type(getattr(index, "value", None)) is int
    return False


def _slices(primal: Primal) -> dict[Var, tuple[Var, int]]:
    """The lists of numbers that are slices of others without gaps, with these and where they begin: an item that a loop reads
    of a slice is one of the whole list."""
    kinds, found = primal.function.kinds, {}
    for call in primal.calls.values():
        if not isinstance(call, Item) or not isinstance(call.container, Var) or not isinstance(call.index, Const):
            continue
        kind, places = kinds[call.container], call.index.value
        is_list = isinstance(kind, Sequence) and kind.name == "list" and holds_numbers(kind) and kinds[call.result] == kind
        if is_list and isinstance(places, slice) and places.step in (None, 1) and (places.start or 0) >= 0:
            found[call.result] = call.container, int(places.start or 0)
    return found


def _lasting(function: Function) -> frozenset[Var]:
    """The variables that are there whenever the adjoint runs: the inputs, and what the body of a function with one way out
    computes first of all, outside of branches and loops."""
    returns = [t for t in terminators(function.body) if isinstance(t, Return)]
    if len(returns) != 1 or function.body.terminator is not returns[0]:
        return frozenset(function.inputs)
    made = (var for statement in function.body.statements if isinstance(statement, Op) for var in statement.results)
    return frozenset((*function.inputs, *made))


def _views(primal: Primal) -> dict[Var, tuple[Value, Value]]:
    """The views that indices make of arrays whose cotangents are in shadows."""
    assert primal.memory is not None
    kinds = primal.function.kinds
    return {
        call.result: (call.container, call.index)
        for call in primal.calls.values()
        if isinstance(call, Item) and call.container not in primal.memory.by_value and isinstance(kinds[call.result], Array)
    }


def _pieces(primal: Primal) -> frozenset[Var]:
    """What indices and iteration take out of arrays and containers."""
    getitem = operator_constant("getitem")
    return frozenset(
        call.result
        for call in primal.calls.values()
        if isinstance(call, Item | Iterated) or (isinstance(call, Dispatched) and call.callee == getitem)
    )


def seed_of(builder: AdjointBuilder, primal: Primal, services: Halves) -> Var:
    """The cotangent of what the function returns. Of a function that returns lists which it has written into, after its value,
    it has a part for each of these that is active."""
    is_value = primal.memory is None or primal.takes_value
    kind, active = cotangent_kind(primal.result_kind) if is_value else UNKNOWN, services.active_parts
    if active is not None:
        ends = (t.value for t in terminators(primal.function.body) if isinstance(t, Return))
        builder.passed = {value: services.passed for value in ends if isinstance(value, Var)}
        kind = _kind_of_parts(primal.result_kind, active)
    return builder.variable(kind, _seed_hint(primal.function))


def _kind_of_parts(kind: Kind, active: tuple[bool, ...]) -> Kind:
    if not isinstance(kind, TupleOf) or len(kind.items) != len(active):
        return UNKNOWN
    parts = zip(kind.items, active, strict=True)
    return TupleOf(tuple(bar_of_part(item) if is_active else Inert("NoneType") for item, is_active in parts))


def _seed_hint(function: Function) -> str:
    """The seed is called after what is returned if that has one name, and else by a word that is no name of the user's."""
    returned = [terminator.value for terminator in terminators(function.body) if isinstance(terminator, Return)]
    hints = {value.hint for value in returned if isinstance(value, Var)}
    if len(hints) == 1 and hints != {""}:
        return f"{hints.pop()}_bar"
    taken = {var.hint for var in function.kinds}
    return next((f"{word}_bar" for word in ("y", "out", "result") if taken.isdisjoint((word, f"{word}_bar"))), "seed")
