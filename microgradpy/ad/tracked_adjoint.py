"""The adjoint of a function that may write: where each cotangent is kept, and how structure is undone.

    x immutable, or an array that nobody writes into      x_bar, a value: as in `adjoint_builder`
    x an array, list, dict                                shadows.add(x, ...), and at the making of x: shadows.take(x)
    x of unknown kind                                     x_bar = shadows.settle(x, ...), which is None if x is mutable
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from microgradpy.ad.adjoint_builder import AdjointBuilder
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
from microgradpy.ir.kinds import (
    CELL,
    INT,
    UNKNOWN,
    Array,
    Inert,
    Kind,
    Sequence,
    TupleOf,
    Unknown,
    carries_nothing,
    cotangent_kind,
    is_immutable,
    is_numeric,
    is_real,
)
from microgradpy.ir.nodes import Augmented, Const, Op, Opcode, Statement, Value, Var, function_constant, operator_constant
from microgradpy.ir.rewrite import is_none
from microgradpy.runtime import cotangents as run_time
from microgradpy.state import undo
from microgradpy.tangents import arithmetic

_GETATTR = Const(getattr, "getattr", getattr)
_NOTHING = Inert("NoneType")


@dataclass
class TrackedAdjointBuilder(AdjointBuilder):
    """`by_value` are the arrays whose cotangents travel by value; `views` has, for a view that an index makes of an array, the
    array and the index. `reached` are the regions of memory to whose cotangents anything is added. The shadows of arrays that
    are there all the time, `lasting`, are looked up once, in the `prelude` of the adjoint."""

    shadows: Var = field(kw_only=True)
    seed_is_value: bool = True
    by_value: frozenset[Var] = frozenset()
    views: dict[Var, tuple[Value, Value]] = field(default_factory=dict)
    lasting: frozenset[Var] = frozenset()
    shadow_of: dict[Value, Var] = field(default_factory=dict)
    prelude: list[Statement] = field(default_factory=list)
    region_of: Mapping[Var, Var] = field(default_factory=dict)
    reached: set[Var] = field(default_factory=set)

    # What a cotangent is

    def travels(self, value: Value) -> bool:
        """Whether the cotangent of a value is a value itself."""
        return not isinstance(value, Var) or is_immutable(self.kind(value)) or value in self.by_value

    def is_mutable(self, value: Value) -> bool:
        """Whether a value is proven to have a shadow."""
        kind = self.kind(value)
        if isinstance(kind, Array):
            return kind.ndim is not None
        return isinstance(kind, Sequence) and kind.name in ("list", "dict")

    def bar_kind(self, value: Value) -> Kind:
        return super().bar_kind(value) if self.travels(value) else UNKNOWN

    def zero(self, var: Var) -> Value:
        return super().zero(var) if self.travels(var) else Const(None)

    def is_absent(self, var: Var) -> bool:
        """Whether the result is proven not to depend on an input."""
        return self.cotangents.get(var) is None and (self.travels(var) or self.region_of.get(var, var) not in self.reached)

    def ask(self, name: str, *arguments: Value, hint: str = "", kind: Kind = UNKNOWN) -> Var:
        """The value of a method of the shadows."""
        (function,) = self.operation(_GETATTR, (self.shadows, Const(name)))
        (result,) = self.operation(function, arguments, kinds=(kind,), hints=(hint,), from_user=True)
        return result

    def effect(self, function: object, *arguments: Value, hint: str = "", kind: Kind = UNKNOWN) -> Var:
        """The value of a function that changes the shadows, its first argument."""
        callee = function_constant(function)  # type: ignore[arg-type]
        (result,) = self.operation(callee, (self.shadows, *arguments), kinds=(kind,), hints=(hint,), from_user=True)
        return result

    # Adding and taking

    def accumulate(self, target: Value, contribution: Value) -> None:
        if self.travels(target):
            super().accumulate(target, contribution)
            return
        if not self.is_active(target) or is_none(contribution) or carries_nothing(self.kind(target)):
            return
        if self.kind(contribution) == _NOTHING:
            return
        assert isinstance(target, Var)
        self.reached.add(self.region_of.get(target, target))
        if self.kind(target) == CELL:
            return  # its cotangent is in the shadows, wherever the call was made
        if isinstance(contribution, Var):
            self.owned.discard(contribution)
        if target in self.views:
            container, index = self.views[target]
            self.add_item(container, index, contribution)
        elif target in self.lasting and self.is_whole(target, contribution):
            self.increment(self.shadow(target), Const(Ellipsis), contribution)
        elif self.is_mutable(target):
            self.ask("add", target, contribution)
        else:
            self.keep_value(target, self.ask("settle", target, contribution, hint=self.bar_name(target)))

    def add_item(self, container: Value, index: Value, contribution: Value) -> None:
        """shadows.of(container)[index] += contribution"""
        if isinstance(container, Var):
            self.reached.add(self.region_of.get(container, container))
        is_real_part = container in self.lasting and self.is_floating(container) and is_real(self.kind(contribution))
        if is_real_part and self.selects_once(index):
            self.increment(self.shadow(container), index, contribution)
            return
        self.effect(undo.add_item, container, index, contribution)

    def shadow(self, array: Value) -> Value:
        """The shadow of an array, or of the array that a view is made of, with the index that makes it."""
        if array in self.shadow_of:
            return self.shadow_of[array]
        if array in self.lasting and isinstance(array, Var):
            with self.region(self.prelude):
                found = self.ask("of", array, hint=self.bar_name(array), kind=cotangent_kind(self.kind(array)))
            found = Var(found.id, found.hint, array.user_named)
            self.shadow_of[array] = found
            return found
        return self.ask("of", array, hint=self.bar_name(array), kind=cotangent_kind(self.kind(array)))

    def read(self, array: Value) -> Value:
        """A copy of what the shadow of an array holds."""
        kind = cotangent_kind(self.kind(array))
        part: Value
        if isinstance(array, Var) and array in self.views:
            container, index = self.views[array]
            (part,) = self.operation(operator_constant("getitem"), (self.shadow(container), index), kinds=(kind,))
        else:
            part = self.shadow(array)
        (copy,) = self.operation(_GETATTR, (part, Const("copy")))
        return self.operation(copy, (), kinds=(kind,), from_user=True)[0]

    def taken(self, container: Value, index: Value) -> Value:
        """The cotangent of what was stored in an array; zero there afterwards."""
        return self.effect(undo.take_item, container, index, hint="d")

    def spread(self, d: Value, value: Value) -> Value:
        """The cotangent of a value that was repeated to fill its place."""
        if self.kind(d) == self.kind(value):
            return d
        return self.helper(arithmetic.unbroadcast, d, value)

    def is_floating(self, value: Value) -> bool:
        kind = self.kind(value)
        return isinstance(kind, Array) and bool(kind.ndim) and kind.dtype == "float"

    def is_whole(self, array: Value, contribution: Value) -> bool:
        """Whether a contribution to the cotangent of an array of floats is proven to have its shape."""
        kind = self.kind(contribution)
        return self.is_floating(array) and kind == cotangent_kind(self.kind(array))

    def selects_once(self, index: Value) -> bool:
        """Whether an index names no entry twice."""
        kind = self.kind(index)
        return kind == INT or (isinstance(kind, Inert) and kind.name in ("slice", "ellipsis"))

    def increment(self, shadow: Value, index: Value, contribution: Value) -> None:
        """shadow[index] += contribution, or `-=` if it is the negative of something"""
        positive = self.without_minus(contribution)
        sign = "+" if positive is None else "-"
        arguments = (shadow, index, contribution if positive is None else positive)
        result = self.variable(Inert("NoneType"))
        self.add(Op(operator_constant("setitem"), arguments, (result,), (), Augmented(sign), True, self.where))

    def without_minus(self, value: Value) -> Value | None:
        """x if a value is -x, and x * c if it is -x * c; None if it is neither."""
        made = self.producers.get(value) if isinstance(value, Var) else None
        if made is None or made.from_user:
            return None
        if made.callee == operator_constant("neg"):
            return made.arguments[0]
        if made.callee != operator_constant("mul"):
            return None
        inner = self.without_minus(made.arguments[0])
        if inner is None:
            return None
        return self.call(operator_constant("mul"), (inner, made.arguments[1]), kind=self.kind(value))

    def keep_value(self, target: Value, value: Value) -> None:
        """Add what travels by value to the cotangent that is held here."""
        if not self.is_active(target) or is_none(value):
            return
        assert isinstance(target, Var)
        current = self.cotangents.get(target)
        total = value if current is None else self.helper(arithmetic.accumulate, current, value, hint=self.bar_name(target))
        self.cotangents[target] = self.named(total, target)

    def pass_on(self, target: Value, cotangent: Value) -> None:
        """What a branch or an iteration gives on: what is mutable has it in the shadows already."""
        if self.travels(target):
            super().accumulate(target, cotangent)
        else:
            self.keep_value(target, cotangent)

    def returned(self, value: Value, seed: Value) -> Value:
        """The cotangent of a value that is returned: callers leave it in the shadows unless they know that what this function
        returns is a value, or an array that it made, on every path."""
        if self.seed_is_value or not self.travels(value) or is_immutable(self.kind(value)):
            return seed
        return self.ask("born", value, seed, hint=self.bar_name(value))

    def born(self, var: Var) -> Value | None:
        """The cotangent of what an operation has just made; None if that cannot be known to be other than zero."""
        local = self.take(var)
        if self.travels(var):
            return local
        hint = self.bar_name(var)
        if self.is_mutable(var):
            return self.ask("take", var, hint=hint)
        return self.ask("born", var, Const(None) if local is None else local, hint=hint)


def undo_tracked(adjoint: TrackedAdjointBuilder, call: Call) -> None:
    """Append the adjoint of a call."""
    adjoint.where = call.where
    _UNDO[type(call)](adjoint, call)


def _undo_stored(adjoint: TrackedAdjointBuilder, call: StoreItem) -> None:
    taken = adjoint.taken(call.container, call.index)
    if adjoint.is_active(call.value):
        adjoint.accumulate(call.value, adjoint.spread(taken, call.value))


def _undo_attribute(adjoint: TrackedAdjointBuilder, call: Attribute) -> None:
    local = adjoint.take(call.result)
    if local is not None:
        adjoint.accumulate(call.target, adjoint.effect(undo.field_bar, call.target, Const(call.name), local))


def _undo_capture(adjoint: TrackedAdjointBuilder, call: Capture) -> None:
    local = adjoint.take(call.result)
    if local is not None:
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
        undo_inlined(adjoint, call, cotangent)


def _undo_dispatched(adjoint: TrackedAdjointBuilder, call: Dispatched) -> None:
    local = adjoint.take(call.result)
    targets = (call.callee, *call.arguments)
    given = Const(None) if local is None else local
    (bars,) = adjoint.operation(call.pullback, (given, adjoint.shadows), from_user=True)
    unpack_into(adjoint, bars, targets, (UNKNOWN,) * len(targets))


def _undo_unit(adjoint: TrackedAdjointBuilder, call: UnitCall) -> None:
    unit, result = call.unit, call.result
    local = adjoint.take(result)
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
    half = adjoint.adjoint_half(unit)
    if len(targets) == 1:
        (bar,) = adjoint.operation(half, (call.saved, given, adjoint.shadows), from_user=True)
        adjoint.accumulate(targets[0], bar)
    else:
        (bars,) = adjoint.operation(half, (call.saved, given, adjoint.shadows), from_user=True)
        if targets:
            unpack_into(adjoint, bars, targets, (UNKNOWN,) * len(targets))


def _undo_build(adjoint: TrackedAdjointBuilder, call: Build) -> None:
    kind = adjoint.kind(call.result)
    if isinstance(kind, TupleOf) or not adjoint.is_mutable(call.result):
        local = adjoint.take(call.result)
        if local is None:
            return
        for key, item in zip(call.keys, call.items, strict=True):
            if adjoint.is_active(item):
                part = adjoint.helper(run_time.cotangent_item, local, key)
                adjoint.pass_on(item, part)
        return
    taken = adjoint.ask("take", call.result, hint=adjoint.bar_name(call.result))
    for number, (key, item) in enumerate(zip(call.keys, call.items, strict=True)):
        if adjoint.is_active(item) and not adjoint.is_mutable(item):
            (later,) = adjoint.operation(Opcode.TUPLE, call.keys[number + 1 :]) if _may_repeat(call) else (Const(None),)
            adjoint.pass_on(item, adjoint.helper(undo.slot_of, taken, key, later))


def _may_repeat(call: Build) -> bool:
    """Whether a later item of a dict display may have taken the place of an earlier one."""
    return not all(isinstance(key, Const) for key in call.keys) or len(set(call.keys)) < len(call.keys)


def _undo_unpack(adjoint: TrackedAdjointBuilder, call: Unpack) -> None:
    bars = tuple(map(adjoint.take, call.results))
    # What is unpacked may be a generator, which is advanced by it.
    is_unknown = isinstance(adjoint.kind(call.source), Unknown)
    if all(bar is None for bar in bars) and not is_unknown:
        return
    (items,) = adjoint.operation(Opcode.TUPLE, tuple(Const(None) if bar is None else bar for bar in bars))
    if is_unknown:
        adjoint.keep_value(call.source, adjoint.effect(undo.unpacked, call.source, items, hint=adjoint.bar_name(call.source)))
    else:
        adjoint.accumulate(call.source, adjoint.helper(run_time.from_items, call.source, items))


def _undo_append(adjoint: TrackedAdjointBuilder, call: Append) -> None:
    bar = adjoint.effect(undo.appended, call.items, call.length)
    adjoint.pass_on(call.item, bar)


def _undo_addition(adjoint: TrackedAdjointBuilder, call: AddInPlace) -> None:
    adjoint.take(call.result)
    if not adjoint.is_active(call.value):
        return
    d = adjoint.read(call.target)
    if call.subtracts:
        d = adjoint.call(operator_constant("neg"), (d,), kind=adjoint.kind(call.target))
    adjoint.accumulate(call.value, adjoint.spread(d, call.value))


def _undo_item(adjoint: TrackedAdjointBuilder, call: Item) -> None:
    local = adjoint.take(call.result)
    if local is None:
        return
    if isinstance(adjoint.kind(call.container), Sequence):
        adjoint.effect(undo.add_slot, call.container, call.index, local)
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
        adjoint.effect(undo.iterated_value, call.source, position, call.result, given)
        return
    if call.length is not None:
        position = adjoint.call(operator_constant("add"), (position, call.length))
    bar = adjoint.effect(undo.iterated, call.source, position, call.result, given)
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
    count = adjoint.call(Const(len, "len", len), (zipped,), hint="n")
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
