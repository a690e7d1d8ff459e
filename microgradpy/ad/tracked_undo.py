"""The adjoint of each kind of call in a run that tracks writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from microgradpy.ad.adjoint_calls import undo_inlined, unpack_into
from microgradpy.ad.calls import (
    AddInPlace,
    Append,
    Attribute,
    Build,
    Call,
    Capture,
    Dispatched,
    Field,
    Inlined,
    Item,
    Iterated,
    StoreItem,
    Suspend,
    UnitCall,
    Unpack,
)
from microgradpy.ad.selections import as_value
from microgradpy.ad.tracked_adjoint import TrackedAdjointBuilder
from microgradpy.ad.zeros import gives_selected, makes_selection
from microgradpy.ir.kinds import (
    UNKNOWN,
    Array,
    Inert,
    Sequence,
    TupleOf,
    Unknown,
    is_immutable,
    is_numeric,
)
from microgradpy.ir.nodes import Const, Opcode, Value, Var, function_constant, operator_constant
from microgradpy.runtime import cotangents as run_time
from microgradpy.runtime.zeros import bars_keeping_zeros
from microgradpy.state import undo
from microgradpy.tangents import arithmetic

_NOTHING = Inert("NoneType")


def undo_tracked(adjoint: TrackedAdjointBuilder, call: Call) -> None:
    """Append the adjoint of a call."""
    adjoint.where = call.where
    if adjoint.keeps_zeros:
        adjoint.passes = makes_selection(adjoint, call)
    _UNDO[type(call)](adjoint, call)


def _undo_stored(adjoint: TrackedAdjointBuilder, call: StoreItem) -> None:
    adjoint.passes = adjoint.has_selected(call.container, None)
    taken = adjoint.taken(call.container, call.index)
    if adjoint.is_active(call.value):
        adjoint.accumulate(call.value, adjoint.spread(taken, call.value))
    adjoint.note_write(call.container)


def _undo_attribute(adjoint: TrackedAdjointBuilder, call: Attribute) -> None:
    local = adjoint.take(call.result)
    if local is not None:
        adjoint.passes = adjoint.is_surely_selected(local)
        adjoint.accumulate(call.target, adjoint.effect(undo.field_bar, call.target, Const(call.name), local))


def _undo_capture(adjoint: TrackedAdjointBuilder, call: Capture) -> None:
    local = adjoint.take(call.result)
    if local is not None:
        adjoint.passes = adjoint.is_surely_selected(local)
        for place, value in zip(call.fields, call.values, strict=True):
            adjoint.accumulate(value, _field_of(adjoint, local, place))


def _undo_inlined(adjoint: TrackedAdjointBuilder, call: Inlined) -> None:
    result = call.result
    if not adjoint.travels(result) and call.is_view and any(not adjoint.travels(value) for value in call.arguments):
        source = next(value for value in call.arguments if not adjoint.travels(value))
        shared = adjoint.helper(undo.is_view, result, source)
        adjoint.branch(shared, lambda: None, lambda: _undo_born(adjoint, call))
        adjoint.cotangents.pop(result, None)
    else:
        _undo_born(adjoint, call)


def _undo_born(adjoint: TrackedAdjointBuilder, call: Inlined) -> None:
    cotangent = adjoint.born(call.result)
    if cotangent is not None:
        adjoint.passes = gives_selected(adjoint, call, cotangent)
        undo_inlined(adjoint, call, cotangent)


def _undo_dispatched(adjoint: TrackedAdjointBuilder, call: Dispatched) -> None:
    local = adjoint.take(call.result)
    targets = (call.callee, *call.arguments)
    given = Const(None) if local is None else local
    is_selected = adjoint.has_selected(call.result, local)
    adjoint.passes = makes_selection(adjoint, call) or is_selected
    callee: Value = call.pullback
    arguments: tuple[Value, ...] = (given, adjoint.shadows)
    if adjoint.keeps_zeros:
        callee, arguments = function_constant(bars_keeping_zeros), (call.pullback, as_value(is_selected), *arguments)
    (bars,) = adjoint.operation(callee, arguments, from_user=True)
    if call.callee == operator_constant("setitem"):
        adjoint.note_write(call.arguments[0])
    if call.settled:
        _unpack_settled(adjoint, bars, targets)
    else:
        unpack_into(adjoint, bars, targets, (UNKNOWN,) * len(targets))


def _unpack_settled(adjoint: TrackedAdjointBuilder, bars: Value, targets: tuple[Value, ...]) -> None:
    """Add what travels by value of the cotangents in a tuple to the targets they belong to; the rest is in the shadows."""
    with_value = [adjoint.is_active(target) and not adjoint.is_mutable(target) for target in targets]
    hints = tuple(adjoint.bar_name(t) if is_value else "_" for t, is_value in zip(targets, with_value, strict=True))
    results = adjoint.operation(Opcode.UNPACK, (bars,), kinds=(UNKNOWN,) * len(targets), hints=hints)
    for target, result, is_value in zip(targets, results, with_value, strict=True):
        adjoint.add_settled(target, result, is_value)


def _undo_unit(adjoint: TrackedAdjointBuilder, call: UnitCall) -> None:
    unit, result = call.unit, call.result
    local = adjoint.take(result)
    is_selected = adjoint.has_selected(result, local) is True
    if unit.takes_value and not adjoint.travels(result):
        hint = adjoint.bar_name(result)
        local = adjoint.ask("born", result, Const(None) if local is None else local, hint=hint)
    elif not unit.takes_value and local is not None and not is_immutable(adjoint.kind(result)):
        local = adjoint.ask("settle", result, local, hint=adjoint.bar_name(result))
    if local is None and not unit.writes and adjoint.travels(result):
        return
    kind = adjoint.kind(result)
    if is_numeric(kind) and (unit.takes_value or is_immutable(kind)):
        given = adjoint.dense(Const(None) if local is None else local, result)
    else:
        given = Const(None) if local is None else local
    arguments = [value for value, is_active in zip(call.arguments, unit.active, strict=True) if is_active]
    absent = unit.absent or (False,) * len(arguments)
    targets = tuple(Const(None) if gone else value for value, gone in zip(arguments, absent, strict=True))
    half = adjoint.adjoint_half(unit, is_selected)
    shadows = (adjoint.shadows,) if unit.tracks else ()
    if len(targets) == 1:
        (bar,) = adjoint.operation(half, (call.saved, given, *shadows), from_user=True)
        adjoint.select(bar, all(half.value.gives_selected))
        adjoint.accumulate(targets[0], bar)
    else:
        (bars,) = adjoint.operation(half, (call.saved, given, *shadows), from_user=True)
        if targets:
            unpack_into(adjoint, bars, targets, (UNKNOWN,) * len(targets), half.value.gives_selected)


def _undo_build(adjoint: TrackedAdjointBuilder, call: Build) -> None:
    kind = adjoint.kind(call.result)
    if isinstance(kind, TupleOf) or not adjoint.is_mutable(call.result):
        local = adjoint.take(call.result)
        if local is None:
            return
        adjoint.passes = adjoint.is_surely_selected(local)
        for key, item in zip(call.keys, call.items, strict=True):
            if adjoint.is_active(item):
                part = adjoint.helper(run_time.cotangent_item, local, key)
                adjoint.pass_on(item, part)
        return
    adjoint.passes = adjoint.has_selected(call.result, None)
    taken = adjoint.ask("take", call.result, hint=adjoint.bar_name(call.result))
    for number, (key, item) in enumerate(zip(call.keys, call.items, strict=True)):
        if adjoint.is_active(item) and not adjoint.is_mutable(item):
            (later,) = adjoint.operation(Opcode.TUPLE, call.keys[number + 1 :]) if _may_repeat(call) else (Const(None),)
            adjoint.pass_on(item, adjoint.helper(undo.slot_of, taken, key, later))


def _may_repeat(call: Build) -> bool:
    """Whether a later item of a dict display may have taken the place of an earlier one."""
    values = [key.value for key in call.keys if isinstance(key, Const)]  # 1 and True are one key
    return len(values) < len(call.keys) or len(set(values)) < len(values)


def _undo_unpack(adjoint: TrackedAdjointBuilder, call: Unpack) -> None:
    bars = tuple(map(adjoint.take, call.results))
    adjoint.passes = adjoint.passes or all(bar is None or adjoint.is_surely_selected(bar) for bar in bars)
    # What is unpacked may be a generator, which is advanced by it.
    is_unknown = isinstance(adjoint.kind(call.source), Unknown)
    if all(bar is None for bar in bars) and not is_unknown:
        return
    (items,) = adjoint.operation(Opcode.TUPLE, tuple(Const(None) if bar is None else bar for bar in bars))
    if is_unknown:
        adjoint.keep_value(call.source, adjoint.give(undo.unpacked, call.source, items, hint=adjoint.bar_name(call.source)))
    else:
        adjoint.accumulate(call.source, adjoint.helper(run_time.from_items, call.source, items))


def _undo_append(adjoint: TrackedAdjointBuilder, call: Append) -> None:
    adjoint.passes = adjoint.has_selected(call.items, None)
    bar = adjoint.effect(undo.appended, call.items, call.length)
    adjoint.pass_on(call.item, bar)


def _undo_addition(adjoint: TrackedAdjointBuilder, call: AddInPlace) -> None:
    adjoint.take(call.result)
    if not adjoint.is_active(call.value):
        return
    d = adjoint.read(call.target)
    adjoint.passes = adjoint.has_selected(call.target, None)
    if call.subtracts:
        d = adjoint.call(operator_constant("neg"), (d,), kind=adjoint.kind(call.target))
    adjoint.accumulate(call.value, adjoint.spread(d, call.value))


def _undo_item(adjoint: TrackedAdjointBuilder, call: Item) -> None:
    local = adjoint.take(call.result)
    if local is None:
        return
    adjoint.passes = adjoint.passes or adjoint.is_selected(local)
    adjoint.note_zeros(call.container, adjoint.passes)
    if isinstance(adjoint.kind(call.container), Sequence):
        adjoint.give(undo.add_slot, call.container, call.index, local)
    elif adjoint.travels(call.container):
        adjoint.accumulate_item(arithmetic.add_item, call.container, call.index, local)
    else:
        adjoint.add_item(call.container, call.index, local)


def _undo_suspension(adjoint: TrackedAdjointBuilder, call: Suspend) -> None:
    """The adjoint of a generator is suspended where the generator was: it gives the cotangent of what was sent to it there,
    and goes on when it gets that of what it had yielded."""
    local = adjoint.take(call.result)
    given = Const(None) if local is None else local
    hint = adjoint.bar_name(call.value) if isinstance(call.value, Var) else ""
    (bar,) = adjoint.operation(Opcode.SUSPEND, (given,), hints=(hint,), from_user=True)
    adjoint.accumulate(call.value, bar)


def _undo_iterated(adjoint: TrackedAdjointBuilder, call: Iterated) -> None:
    local = adjoint.take(call.result)
    adjoint.passes = adjoint.passes or adjoint.has_selected(call.result, local)
    adjoint.note_zeros(call.source, adjoint.passes)
    position = call.position
    if call.backwards:
        position = adjoint.call(operator_constant("sub"), (Const(-1), position))
    if adjoint.travels(call.source) and isinstance(adjoint.kind(call.source), Array):
        if local is not None:
            adjoint.accumulate_item(run_time.add_iterated, call.source, position, local)
        return
    if adjoint.is_mutable(call.result) and adjoint.is_mutable(call.source):
        return  # an item of a list has its cotangent itself, and a row is a view
    given = Const(None) if local is None else local
    if call.is_key:
        adjoint.give(undo.iterated_value, call.source, position, call.result, given)
        return
    if call.length is not None:
        position = adjoint.call(operator_constant("add"), (position, call.length))
    bar = adjoint.give(undo.iterated, call.source, position, call.result, given)
    adjoint.keep_value(call.source, bar)


def undo_end(adjoint: TrackedAdjointBuilder, items: Iterable[Call], zipped: Var | None) -> None:
    """Undo what came after the last iteration of a loop over these items: a generator among them has come to its end.
    `zipped` is the tape of a loop over a `zip`."""
    unknown = [i for i in items if isinstance(i, Iterated) and not i.is_key and isinstance(adjoint.kind(i.source), Unknown)]
    if not unknown:
        return
    if zipped is None:
        adjoint.effect(undo.exhausted, unknown[0].source)
        return
    count = adjoint.call(function_constant(len), (zipped,), hint="n")
    for item in reversed(unknown):
        adjoint.effect(undo.zip_ended, item.source, count)


def _field_of(adjoint: TrackedAdjointBuilder, cotangent: Value, place: Field) -> Value:
    if isinstance(place, str):
        return adjoint.helper(run_time.cotangent_field, cotangent, Const(place))
    container, key = place
    whole = adjoint.helper(run_time.cotangent_field, cotangent, Const(container))
    return adjoint.helper(run_time.cotangent_item, whole, Const(key))


_UNDO: dict[type, Callable[[TrackedAdjointBuilder, Any], None]] = {
    Inlined: _undo_inlined,
    Dispatched: _undo_dispatched,
    UnitCall: _undo_unit,
    Build: _undo_build,
    Unpack: _undo_unpack,
    Append: _undo_append,
    AddInPlace: _undo_addition,
    StoreItem: _undo_stored,
    Attribute: _undo_attribute,
    Suspend: _undo_suspension,
    Item: _undo_item,
    Iterated: _undo_iterated,
    Capture: _undo_capture,
}
