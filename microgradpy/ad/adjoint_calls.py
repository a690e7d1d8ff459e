"""The adjoint of each call, item and growing list that the primal recorded: from its cotangent to those of what it read.

    z = x * y          x_bar += z_bar * y;  y_bar += z_bar * x               the pullback of the rule, spliced in
    z = helper(x)      x_bar += helper_adjoint(z_saved, z_bar)
    z = callback(x)    callback_bar, x_bar = callback_pullback(z_bar)
    z = x[i]           x_bar[i] += z_bar
    t = (x, y)         x_bar += t_bar[0];  y_bar += t_bar[1]
    hs.append(h)       h_bar += hs_bar[n]
    hs[i] = h          h_bar += hs_bar[i];  hs_bar[i] = 0.0
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, repeat
from typing import assert_never

from microgradpy.ad.adjoint_builder import AdjointBuilder
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
    Replaced,
    Static,
    StaticTuple,
    StoreItem,
    Suspend,
    UnitCall,
    Unpack,
)
from microgradpy.ad.inline import splice_pullback
from microgradpy.ad.selections import as_value
from microgradpy.ad.zeros import makes_selection, note_selection, undo_keeping_zeros
from microgradpy.ir.kinds import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    UNKNOWN,
    Array,
    Inert,
    Kind,
    Numeric,
    Scalar,
    Sequence,
    TupleOf,
    carries_nothing,
    cotangent_kind,
    cotangents_of,
    holds_arrays,
    holds_numbers,
    is_basic_index,
    is_items,
    is_mask,
    is_numeric,
    is_real_scalar,
    is_tuple_of_numbers,
)
from microgradpy.ir.nodes import Const, Opcode, Undefined, Value, Var, function_constant, operator_constant
from microgradpy.ir.traversal import is_none
from microgradpy.rules.results import fitting, is_for_numbers, is_users_rule
from microgradpy.runtime import cotangents as run_time
from microgradpy.runtime.zeros import run_keeping_zeros
from microgradpy.tangents import arithmetic
from microgradpy.tangents.overlap import bars_stored
from microgradpy.tangents.strong_zeros import cotangent_if


def undo_call(adjoint: AdjointBuilder, call: Call) -> None:
    """Append the adjoint of a call."""
    adjoint.where = call.where
    if isinstance(call, Unpack):
        _undo_unpack(adjoint, call)
        return
    is_owned = adjoint.cotangents.get(call.result) in adjoint.owned
    cotangent = adjoint.take(call.result)
    if cotangent is None:
        return
    if is_owned and isinstance(call, Append | Replaced):
        adjoint.owned.add(cotangent)  # type: ignore[arg-type]  # it becomes that of the list before
    note_selection(adjoint, call, cotangent)
    match call:
        case Inlined():
            undo_inlined(adjoint, call, cotangent)
        case Dispatched():
            _undo_dispatched(adjoint, call, cotangent)
        case UnitCall():
            _undo_unit(adjoint, call, cotangent)
        case _:
            _undo_structure(adjoint, call, cotangent)


# Calls of functions


def undo_inlined(adjoint: AdjointBuilder, call: Inlined, cotangent: Value) -> None:
    dense = adjoint.dense(cotangent, call.result, not is_for_numbers(call.function, call.rule.value))
    is_selected = adjoint.keeps_zeros and adjoint.is_selected(cotangent)
    if is_selected is False:
        _, *contributions = splice_pullback(call.pullback, dense, adjoint)
    else:
        zeros = dense if is_selected is True else adjoint.helper(cotangent_if, is_selected, dense)
        _, *contributions = undo_keeping_zeros(adjoint, call, dense, zeros)
    found: dict[Value, Value] = {}
    for index, argument in enumerate(call.arguments):
        if not adjoint.is_active(argument):
            continue
        if index < len(contributions):
            contribution = _from_rule(adjoint, argument, contributions[index])
            if is_users_rule(call.rule.value) and not _fits(adjoint, argument, contribution):
                given = (contribution, argument, call.rule, Const(call.callee), Const(index))
                contribution = adjoint.helper(fitting, *given)
        else:
            callee = Const(call.callee)
            contribution = adjoint.helper(run_time.missing_cotangent, argument, call.rule, callee, Const(index))
        if is_none(contribution):
            continue
        # In x * x both contributions are the same: twice the one.
        found[argument] = adjoint.sum(found[argument], contribution, "") if argument in found else contribution
    for argument, contribution in found.items():
        adjoint.accumulate(argument, contribution)


def _fits(adjoint: AdjointBuilder, argument: Value, contribution: Value) -> bool:
    """Whether a cotangent is proven to have the shape of the argument."""
    found, wanted = adjoint.kind(contribution), adjoint.kind(argument)
    if is_none(contribution) or (isinstance(found, Scalar) and isinstance(wanted, Scalar)):
        return True
    if not (isinstance(found, Array) and isinstance(wanted, Array)):
        return False
    return found.ndim is not None and (found.ndim, found.shape) == (wanted.ndim, wanted.shape)


def _from_rule(adjoint: AdjointBuilder, argument: Value, contribution: Static) -> Value:
    """What a rule gives for an argument."""
    if isinstance(contribution, StaticTuple):
        values = tuple(item for item in contribution.items if isinstance(item, Var | Const))
        (contribution,) = adjoint.operation(Opcode.TUPLE, values)
    elif isinstance(contribution, Var):
        if isinstance(adjoint.kind(contribution), Numeric) and is_numeric(adjoint.kind(argument)):
            # It is not None, and so it is what a rule has to give: a cotangent of the argument, of its shape.
            adjoint.know(contribution, adjoint.bar_kind(argument))
    assert isinstance(contribution, Var | Const | Undefined)
    return contribution


def _undo_dispatched(adjoint: AdjointBuilder, call: Dispatched, cotangent: Value) -> None:
    targets = (call.callee, *call.arguments)
    if adjoint.keeps_zeros:
        is_selected = as_value(adjoint.is_selected(cotangent))
        given = (call.pullback, is_selected, cotangent)
        (found,) = adjoint.operation(function_constant(run_keeping_zeros), given)
        kinds = (BOOL, UNKNOWN)
        adjoint.passes, bars = adjoint.operation(Opcode.UNPACK, (found,), kinds=kinds, hints=("is_selected", ""))
    else:
        (bars,) = adjoint.operation(call.pullback, (cotangent,))
    unpack_into(adjoint, bars, targets, (UNKNOWN,) * len(targets))


def _undo_unit(adjoint: AdjointBuilder, call: UnitCall, cotangent: Value) -> None:
    is_selected = adjoint.is_selected(cotangent)
    if isinstance(is_selected, bool):
        _undo_unit_for(adjoint, call, cotangent, is_selected)
    else:
        adjoint.branch(
            is_selected,
            lambda: _undo_unit_for(adjoint, call, cotangent, True),
            lambda: _undo_unit_for(adjoint, call, cotangent, False),
        )


def _undo_unit_for(adjoint: AdjointBuilder, call: UnitCall, cotangent: Value, is_selected: bool) -> None:
    unit = call.unit
    arguments = [value for value, is_active in zip(call.arguments, unit.active, strict=True) if is_active]
    absent = unit.absent or (False,) * len(arguments)
    if all(absent):
        return
    kind = adjoint.kind(call.result)
    if is_numeric(kind) or isinstance(kind, TupleOf):
        cotangent = adjoint.dense(cotangent, call.result)
    targets: list[Value] = []
    kinds: list[Kind] = []
    for argument, is_absent in zip(arguments, absent, strict=True):
        targets.append(Const(None) if is_absent else argument)
        kinds.append(Inert("NoneType") if is_absent else adjoint.bar_kind(argument))
    for index in call.passed:
        number = sum(unit.active[:index])
        if unit.active[index] and not absent[number] and is_items(adjoint.kind(call.arguments[index])):
            kinds[number] = bar_of_part(adjoint.kind(call.arguments[index]))
    half = adjoint.adjoint_half(unit, is_selected)
    handed = [index in call.passed for index, is_active in enumerate(unit.active) if is_active]
    saved = call.saved if call.again is None else _saved_again(adjoint, call, call.again)
    if len(targets) == 1:
        (bar,) = adjoint.operation(half, (saved, cotangent), kinds=tuple(kinds))
        adjoint.select(bar, all(half.value.gives_selected))
        _hand_over(adjoint, targets[0], bar, handed[0])
    else:
        (bars,) = adjoint.operation(half, (saved, cotangent))
        unpack_into(adjoint, bars, tuple(targets), tuple(kinds), half.value.gives_selected, handed)


def _saved_again(adjoint: AdjointBuilder, call: UnitCall, again: tuple[Value, ...]) -> Value:
    """What is saved of a call, by making it once more."""
    callee, *given = again
    hint = call.saved.hint.removesuffix("_repeat") + "_saved"
    return adjoint.operation(callee, tuple(given), hints=(hint,))[0]


def unpack_into(
    adjoint: AdjointBuilder,
    bars: Value,
    targets: tuple[Value, ...],
    kinds: tuple[Kind, ...],
    selected: tuple[bool, ...] = (),
    handed: Iterable[bool] = (),
) -> None:
    """Add each item of a tuple of cotangents to the target it belongs to; `selected` says of which the zeros are those of a
    selection, if that is known of each, and `handed` which are handed over, to be written into."""
    hints = tuple(adjoint.bar_name(target) if adjoint.is_active(target) else "_" for target in targets)
    results = adjoint.operation(Opcode.UNPACK, (bars,), kinds=kinds, hints=hints)
    adjoint.selected.update(zip(results, selected, strict=False))
    for target, result, is_handed in zip(targets, results, chain(handed, repeat(False)), strict=False):
        _hand_over(adjoint, target, result, is_handed)


def _hand_over(adjoint: AdjointBuilder, target: Value, bar: Var, is_handed: bool) -> None:
    """Add a cotangent to its target; nobody else has one that is handed over."""
    if is_handed and is_items(adjoint.kind(bar)):
        adjoint.owned.add(bar)
        adjoint.pass_on(target, bar)
    else:
        adjoint.accumulate(target, bar)


# Structure


def _undo_structure(
    adjoint: AdjointBuilder,
    call: AddInPlace | StoreItem | Suspend | Build | Append | Replaced | Attribute | Item | Capture | Iterated,
    cotangent: Value,
) -> None:
    match call:
        case Build():
            _undo_build(adjoint, call, cotangent)
        case Append():
            _undo_append(adjoint, call, cotangent)
        case Replaced():
            _undo_replaced(adjoint, call, cotangent)
        case Attribute(target=target, name=name):
            adjoint.accumulate(target, _bar_of_attribute(adjoint, target, name, cotangent))
        case Item(container=container, index=index):
            adjoint.accumulate_item(arithmetic.add_item, container, index, cotangent)
        case Iterated():
            _undo_iterated(adjoint, call, cotangent)
        case Capture(fields=fields, values=values):
            for place, value in zip(fields, values, strict=True):
                adjoint.accumulate(value, _field_of(adjoint, cotangent, place))
        case AddInPlace() | StoreItem() | Suspend():
            raise AssertionError("a write where writes are not tracked")
        case _:
            assert_never(call)


def _bar_of_attribute(adjoint: AdjointBuilder, target: Value, name: str, cotangent: Value) -> Value:
    """The cotangent of something of which an attribute was read; of a complex number its real or imaginary part."""
    if adjoint.kind(target) != COMPLEX or not is_real_scalar(adjoint.kind(cotangent)) or name not in ("real", "imag"):
        return adjoint.helper(run_time.attribute_cotangent, target, Const(name), cotangent)
    parts = (cotangent, Const(0.0)) if name == "real" else (Const(0.0), cotangent)
    return adjoint.operation(function_constant(complex), parts, kinds=(COMPLEX,))[0]


def _field_of(adjoint: AdjointBuilder, cotangent: Value, place: Field) -> Value:
    if isinstance(place, str):
        return adjoint.helper(run_time.cotangent_field, cotangent, Const(place))
    container, key = place
    whole = adjoint.helper(run_time.cotangent_field, cotangent, Const(container))
    return adjoint.helper(run_time.cotangent_item, whole, Const(key))


def _undo_build(adjoint: AdjointBuilder, call: Build, cotangent: Value) -> None:
    kind = adjoint.kind(cotangent)
    if isinstance(kind, TupleOf) and len(kind.items) == len(call.items):
        count = len(kind.items) - adjoint.passed.get(call.result, 0)
        unpack_into(adjoint, cotangent, call.items, kind.items, handed=(place >= count for place in range(len(kind.items))))
        return
    if is_tuple_of_numbers(adjoint.kind(call.result)) and kind == UNKNOWN:
        count = len(call.items)
        parts = adjoint.helper(run_time.bars_of_numbers, cotangent, Const(count), kind=TupleOf((FLOAT,) * count))
        unpack_into(adjoint, parts, call.items, (FLOAT,) * count)
        return
    known_keys = all(isinstance(key, Const) for key in call.keys)
    for index, (key, item) in enumerate(zip(call.keys, call.items, strict=True)):
        if not adjoint.is_active(item):
            continue
        # In a dict display a later item under the same key takes the place of this one.
        later = call.keys[index + 1 :]
        if isinstance(key, Const) and known_keys and any(_is_equal(key, other) for other in later):
            continue
        if isinstance(kind, Sequence) and (is_numeric(kind.item) or is_tuple_of_numbers(kind.item) or holds_numbers(kind.item)):
            part = adjoint.call(operator_constant("getitem"), (cotangent, key), kind=kind.item)
        elif known_keys or not later:
            part = adjoint.helper(run_time.cotangent_item, cotangent, key)
        else:
            (others,) = adjoint.operation(Opcode.TUPLE, later)
            part = adjoint.helper(run_time.cotangent_item_unless, cotangent, key, others)
        adjoint.accumulate(item, part)


def _is_equal(key: Const, other: Value) -> bool:
    """Whether two keys of a dict are one: 1 is True and 1.0."""
    return isinstance(other, Const) and bool(key.value == other.value)


def _undo_unpack(adjoint: AdjointBuilder, call: Unpack) -> None:
    if call.passed:
        _undo_parts(adjoint, call)
        return
    cotangents = tuple(map(adjoint.take, call.results))
    found = [value for value in cotangents if value is not None]
    if not found:
        return
    for value in found:
        note_selection(adjoint, call, value)
    adjoint.passes = all(map(adjoint.is_surely_selected, found)) or makes_selection(adjoint, call)
    if call.source in adjoint.numbered or adjoint.has_numbers(call.source):
        assert isinstance(call.source, Var)
        for place, part in enumerate(cotangents):
            if part is not None:
                adjoint.add_to_list(call.source, (Const(place),), part)
        return
    if isinstance(adjoint.kind(call.source), TupleOf):
        items = tuple(
            value if value is not None else _absent(adjoint, result)
            for value, result in zip(cotangents, call.results, strict=True)
        )
        kind = TupleOf(tuple(map(adjoint.kind, items)))
        (whole,) = adjoint.operation(Opcode.TUPLE, items, kinds=(kind,), hints=(adjoint.bar_name(call.source),))
        adjoint.accumulate(call.source, whole)
        return
    items = tuple(Const(None) if value is None else value for value in cotangents)
    (whole,) = adjoint.operation(Opcode.TUPLE, items)
    part = adjoint.helper(run_time.from_items, call.source, whole, kind=adjoint.bar_kind(call.source))
    adjoint.accumulate(call.source, part)


def _undo_parts(adjoint: AdjointBuilder, call: Unpack) -> None:
    """Hand the cotangents of the lists that a call has written into over to its adjoint."""
    if not any(result in adjoint.cotangents for result in call.results):
        return
    owned = [adjoint.cotangents.get(result) in adjoint.owned for result in call.results]
    items: list[Value] = []
    for place, (result, is_owned) in enumerate(zip(call.results, owned, strict=True)):
        kind, bar = adjoint.kind(result), adjoint.take(result)
        if not adjoint.is_active(result) or carries_nothing(kind):
            items.append(Const(None))
        elif is_items(kind):
            if is_owned and isinstance(bar, Var):
                adjoint.owned.add(bar)
            bars = adjoint.as_list(Const(None) if bar is None else bar, result)
            if place >= len(call.results) - call.passed:
                bars = adjoint.own(bars)
                adjoint.written |= {bars} if isinstance(bars, Var) else set()
            items.append(bars)
        elif bar is None:
            items.append(_absent(adjoint, result))
        else:
            items.append(adjoint.dense(bar, result) if is_numeric(kind) else bar)
    adjoint.owned.difference_update(item for item in items if isinstance(item, Var))
    kinds = tuple(
        Inert("NoneType") if item == Const(None) else bar_of_part(adjoint.kind(result))
        for item, result in zip(items, call.results, strict=True)
    )
    hint = adjoint.bar_name(call.source)
    (whole,) = adjoint.operation(Opcode.TUPLE, tuple(items), kinds=(TupleOf(kinds),), hints=(hint,))
    adjoint.accumulate(call.source, whole)


def bar_of_part(kind: Kind) -> Kind:
    """What is known of the cotangent of a part of what a function returns that has written into lists."""
    if is_items(kind):
        return cotangents_of(kind)
    return Inert("NoneType") if carries_nothing(kind) else cotangent_kind(kind) if is_numeric(kind) else UNKNOWN


def _absent(adjoint: AdjointBuilder, var: Var) -> Value:
    """The cotangent of an item that nothing was read from, in a tuple of cotangents."""
    return adjoint.zero(var) if is_numeric(adjoint.kind(var)) else Const(None)


def _undo_iterated(adjoint: AdjointBuilder, call: Iterated, cotangent: Value) -> None:
    position = call.position
    if call.backwards:
        position = adjoint.call(operator_constant("sub"), (Const(-1), position))
    function = arithmetic.add_item if call.is_key else run_time.add_iterated
    source = call.source
    while source in adjoint.slices and not (call.is_key or call.backwards):
        source, start = adjoint.slices[source]  # type: ignore[index]
        position = adjoint.call(operator_constant("add"), (position, Const(start)), kind=INT) if start else position
    adjoint.accumulate_item(function, source, position, cotangent)


# Lists that a loop fills: their cotangents are written into. Every version of a list has the one cotangent, as every version
# has the one list: what comes later in it is behind what an earlier version has, and nobody reads it there.


def _undo_append(adjoint: AdjointBuilder, call: Append, cotangent: Value) -> None:
    bars = adjoint.as_list(cotangent, call.result)
    adjoint.accumulate(call.item, _bar_of_item(adjoint, bars, (call.length,)))
    adjoint.pass_on(call.items, bars)


def _undo_replaced(adjoint: AdjointBuilder, call: Replaced, cotangent: Value) -> None:
    kind = adjoint.kind(call.result)
    if isinstance(kind, Array):
        _undo_replaced_in_array(adjoint, call, cotangent)
        return
    bars = adjoint.buffer(adjoint.as_list(cotangent, call.result))
    if holds_arrays(adjoint.kind(bars)):
        bars = adjoint.helper(run_time.item_bars, bars, call.result, kind=cotangents_of(kind))
        adjoint.owned |= {bars} if isinstance(bars, Var) else set()
    part = _bar_of_item(adjoint, bars, call.indices)
    zero: Value = Const(0.0) if is_numeric(adjoint.kind(part)) else Const(None)
    if is_tuple_of_numbers(kind := adjoint.kind(part)):
        assert isinstance(kind, TupleOf)
        (zero,) = adjoint.operation(Opcode.TUPLE, (Const(0.0),) * len(kind.items), kinds=(kind,))
    elif holds_numbers(kind):
        zero = adjoint.helper(run_time.zeros_for, part, kind=kind)
    emptied = adjoint.stored(bars, call.indices, zero, None)
    adjoint.accumulate(call.item, part)
    adjoint.pass_on(call.items, emptied)


def _undo_replaced_in_array(adjoint: AdjointBuilder, call: Replaced, cotangent: Value) -> None:
    bars = adjoint.buffer(adjoint.dense(cotangent, call.result))
    (index,) = call.indices
    if is_basic_index(adjoint.kind(index)) or is_mask(adjoint.kind(index)):
        part = adjoint.call(operator_constant("getitem"), (bars, index))
    else:
        part = adjoint.helper(bars_stored, bars, index, kind=Array(None))
    if is_basic_index(adjoint.kind(index)) and not isinstance(adjoint.kind(part), Scalar):
        part = adjoint.own(part)
    emptied = adjoint.stored(bars, call.indices, Const(0.0), None)
    adjoint.accumulate(call.item, adjoint.helper(arithmetic.unbroadcast, part, call.item))
    adjoint.pass_on(call.items, emptied)


def _bar_of_item(adjoint: AdjointBuilder, bars: Value, indices: tuple[Value, ...]) -> Value:
    for index in indices:
        kind = adjoint.kind(bars)
        assert isinstance(kind, Sequence)
        bars = adjoint.call(operator_constant("getitem"), (bars, index), kind=kind.item)
    return bars
