"""The adjoint of a function that may write: where each cotangent is kept, and how structure is undone.

    x immutable, or an array that nobody writes into      x_bar, a value: as in `adjoint_builder`
    x an array, list, dict                                shadows.add(x, ...), and at the making of x: shadows.take(x)
    x of unknown kind                                     x_bar = shadows.settle(x, ...), which is None if x is mutable
"""

from __future__ import annotations

from collections.abc import Mapping

from microgradpy.ad.adjoint_builder import AdjointBuilder
from microgradpy.ad.instrument import GETATTR
from microgradpy.ad.selections import Known
from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.kinds import (
    CELL,
    INT,
    UNKNOWN,
    Array,
    Inert,
    Kind,
    Sequence,
    carries_nothing,
    cotangent_kind,
    is_immutable,
    is_real,
)
from microgradpy.ir.nodes import Augmented, Const, Op, Statement, Value, Var, function_constant, operator_constant
from microgradpy.ir.traversal import is_none
from microgradpy.state import undo
from microgradpy.tangents import arithmetic

_NOTHING = Inert("NoneType")


@dataclass
class TrackedAdjointBuilder(AdjointBuilder):
    """`by_value` are the arrays whose cotangents travel by value; `views` has, for a view that an index makes of an array, the
    array and the index. `reached` are the regions of memory to whose cotangents anything is added. The shadows of arrays that
    are there all the time, `lasting`, are looked up once, in the `prelude` of the adjoint. `unselected` are the regions to
    whose cotangents anything is added whose zeros are not those of a selection; `pieces`, which indices make, count by
    themselves, as what else is in the region was not chosen."""

    shadows: Var = field(kw_only=True)
    seed_is_value: bool = True
    by_value: frozenset[Var] = frozenset()
    views: dict[Var, tuple[Value, Value]] = field(default_factory=dict)
    lasting: frozenset[Var] = frozenset()
    shadow_of: dict[Value, Var] = field(default_factory=dict)
    prelude: list[Statement] = field(default_factory=list)
    region_of: Mapping[Var, Var] = field(default_factory=dict)
    reached: set[Var] = field(default_factory=set)
    unselected: set[Var] = field(default_factory=set)
    pieces: frozenset[Var] = frozenset()

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

    def has_numbers(self, value: Value) -> bool:
        return False  # the cotangents of lists are in their shadows

    def bar_kind(self, value: Value) -> Kind:
        return super().bar_kind(value) if self.travels(value) else UNKNOWN

    def zero(self, var: Var) -> Value:
        return super().zero(var) if self.travels(var) else Const(None)

    def is_absent(self, var: Var) -> bool:
        """Whether the result is proven not to depend on an input."""
        return self.cotangents.get(var) is None and (self.travels(var) or self.region_of.get(var, var) not in self.reached)

    def ask(self, name: str, *arguments: Value, hint: str = "", kind: Kind = UNKNOWN) -> Var:
        """The value of a method of the shadows."""
        (function,) = self.operation(GETATTR, (self.shadows, Const(name)))
        (result,) = self.operation(function, arguments, kinds=(kind,), hints=(hint,), from_user=True)
        return result

    def effect(self, function: object, *arguments: Value, hint: str = "", kind: Kind = UNKNOWN) -> Var:
        """The value of a function that changes the shadows, its first argument."""
        callee = function_constant(function)  # type: ignore[arg-type]
        (result,) = self.operation(callee, (self.shadows, *arguments), kinds=(kind,), hints=(hint,), from_user=True)
        return result

    def give(self, function: object, source: Value, *arguments: Value, hint: str = "") -> Var:
        """The same for a function that gives a cotangent to a value, whose shadow may be where it goes."""
        self.reach(source)
        return self.effect(function, source, *arguments, hint=hint)

    def reach(self, value: Value) -> None:
        """Note that something is added to the cotangent of what a value is, holds or is a part of."""
        if isinstance(value, Var):
            self.reached.add(self.region_of.get(value, value))

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
        self.reach(target)
        self.note_zeros(target, self.is_selected(contribution))
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
            settled = self.ask("settle", target, contribution, hint=self.bar_name(target))
            self.select(settled, self.is_selected(contribution))
            self.keep_value(target, settled)

    def add_settled(self, target: Value, contribution: Value, is_value: bool) -> None:
        """Add what travels by value of a cotangent, if that may be anything, where the rest is in the shadows."""
        if self.travels(target):
            super().accumulate(target, contribution)
            return
        if not self.is_active(target) or carries_nothing(self.kind(target)):
            return
        self.reach(target)
        self.note_zeros(target, self.is_selected(contribution))
        if is_value and self.kind(target) != CELL:
            self.keep_value(target, contribution)

    # Zeros of selections

    def note_zeros(self, target: Value, are_selected: Known) -> None:
        """Note what the zeros are of what is added to the cotangent of a value in the shadows."""
        if are_selected is not True and isinstance(target, Var):
            self.unselected.add(self.place(target))

    def note_write(self, target: Value) -> None:
        """Note that before a write nothing depends on what is written over."""
        if isinstance(target, Var):
            self.unselected.discard(self.place(target))

    def place(self, var: Var) -> Var:
        """What a variable counts as where zeros are concerned."""
        return var if var in self.pieces else self.region_of.get(var, var)

    def has_selected(self, value: Value, local: Value | None) -> Known:
        """Whether the zeros of the cotangent of a value are those of a selection, of which `local` travels by value."""
        if isinstance(value, Var) and not self.travels(value) and self.place(value) in self.unselected:
            return False
        return local is None or self.is_selected(local)

    def add_item(self, container: Value, index: Value, contribution: Value) -> None:
        """shadows.of(container)[index] += contribution"""
        self.reach(container)
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
        (copy,) = self.operation(GETATTR, (part, Const("copy")))
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
        is_selected = self.both(self.is_selected(value), current is None or self.is_selected(current))
        self.cotangents[target] = named = self.named(total, target)
        self.select(named, is_selected)

    def pass_on(self, target: Value, cotangent: Value) -> None:
        """What a branch or an iteration gives on: what is mutable has it in the shadows already."""
        if self.travels(target):
            super().accumulate(target, cotangent)
        else:
            self.keep_value(target, cotangent)

    def is_handed_on(self, cotangent: Value) -> bool:
        return isinstance(self.kind(cotangent), Sequence)

    def returned(self, value: Value, seed: Value) -> Value:
        """The cotangent of a value that is returned: callers leave it in the shadows unless they know that what this function
        returns is a value, or an array that it made, on every path."""
        if self.seed_is_value or not self.travels(value) or is_immutable(self.kind(value)):
            return seed
        found = self.ask("born", value, seed, hint=self.bar_name(value))
        self.select(found, self.is_selected(seed))
        return found

    def born(self, var: Var) -> Value | None:
        """The cotangent of what an operation has just made; None if that cannot be known to be other than zero."""
        local = self.take(var)
        if self.travels(var):
            return local
        hint = self.bar_name(var)
        if self.is_mutable(var):
            found = self.ask("take", var, hint=hint)
        else:
            found = self.ask("born", var, Const(None) if local is None else local, hint=hint)
        self.select(found, self.has_selected(var, local))
        return found
