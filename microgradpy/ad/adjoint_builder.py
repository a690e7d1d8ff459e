"""The adjoint under construction: the cotangent of each variable of the primal, as far as it has been found.

A variable without an entry has cotangent zero, so zeros exist only where branches merge or loops begin. A cotangent that
may be None (of an object, or of something of unknown kind) is added to by a function that knows about None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import final

from microgradpy.ad.calls import Unit
from microgradpy.ir.kinds import (
    UNKNOWN,
    Array,
    Inert,
    Kind,
    TupleOf,
    Unknown,
    carries_nothing,
    cotangent_kind,
    is_numeric,
    is_real_scalar,
    join,
)
from microgradpy.ir.nodes import Const, If, Op, Region, Statement, Value, Var, Yield, function_constant, operator_constant
from microgradpy.ir.traversal import is_none
from microgradpy.ir.words import subject
from microgradpy.passes.typed_builder import TypedBuilder
from microgradpy.runtime import cotangents as run_time
from microgradpy.tangents import arithmetic

Cotangents = dict[Var, Value]
_PRODUCTS = tuple(map(operator_constant, ("mul", "truediv", "neg")))


@final
@dataclass(frozen=True, slots=True)
class _Arm:
    """An arm of a branch of the adjoint, with what is known at its end."""

    statements: list[Statement]
    cotangents: Cotangents
    owned: set[Var]


@dataclass
class AdjointBuilder(TypedBuilder):
    """`cotangents` is by primal variable. `owned` are the buffers that nothing else names, which may be added to in place;
    `written` those among them that were. `adjoint_half` gives the constant that stands for a unit's adjoint, and `made` is
    the operation of the primal that makes a variable."""

    adjoint_half: Callable[[Unit], Const] = field(kw_only=True)
    made: Mapping[Var, Op] = field(kw_only=True)
    cotangents: Cotangents = field(default_factory=dict)
    owned: set[Var] = field(default_factory=set)
    written: set[Var] = field(default_factory=set)

    def helper(self, function: Callable[..., object], *arguments: Value, hint: str = "", kind: Kind | None = None) -> Value:
        """The value of a call of a function of this package."""
        return self.call(function_constant(function), arguments, hint=hint, kind=kind)

    def bar_name(self, value: Value) -> str:
        """What the cotangent of a value is called: after its name, or after the operation that makes it."""
        if not isinstance(value, Var):
            return ""
        name = value.hint or (subject(self.made[value]) if value in self.made else "")
        return f"{name}_bar" if name else ""

    def bar_kind(self, value: Value) -> Kind:
        """What is proven of a cotangent of a value. Only those of numbers and arrays are never None."""
        kind = self.kind(value)
        return cotangent_kind(kind) if is_numeric(kind) else UNKNOWN

    # One cotangent

    def take(self, var: Var) -> Value | None:
        """The cotangent of a variable whose definition has been reached."""
        value = self.cotangents.pop(var, None)
        if isinstance(value, Var):
            self.owned.discard(value)
        return value

    def accumulate(self, target: Value, contribution: Value) -> None:
        """target_bar += contribution"""
        if not self.is_active(target) or is_none(contribution) or carries_nothing(self.kind(target)):
            return
        assert isinstance(target, Var)
        current = self.cotangents.get(target)
        if isinstance(contribution, Var):
            self.owned.discard(contribution)
        total = contribution if current is None else self.sum(current, contribution, self.bar_name(target))
        self.cotangents[target] = self.named(total, target)

    def is_absent(self, var: Var) -> bool:
        """Whether the result is proven not to depend on an input."""
        return var not in self.cotangents

    def pass_on(self, target: Value, cotangent: Value) -> None:
        """target_bar += cotangent, where the value of the target has another name from here on."""
        self.accumulate(target, cotangent)

    def returned(self, value: Value, seed: Value) -> Value:
        """The cotangent of a value that is returned."""
        return seed

    def sum(self, left: Value, right: Value, hint: str) -> Value:
        left_kind, right_kind = self.kind(left), self.kind(right)
        if not (is_numeric(left_kind) and is_numeric(right_kind)):
            return self.helper(arithmetic.accumulate, left, right, hint=hint)
        if self.are_same(left, right):
            half = self.rename(left, "", False) if isinstance(left, Var) else left
            return self.call(operator_constant("mul"), (Const(2.0), half), hint=hint, kind=left_kind)
        kind = left_kind if left_kind == right_kind else None
        return self.call(operator_constant("add"), (left, right), hint=hint, kind=kind)

    def are_same(self, left: Value, right: Value) -> bool:
        """Whether two values are one, or the outcome of the same arithmetic on the same values."""
        if not isinstance(left, Var) or not isinstance(right, Var):
            return False
        a, b = self.producers.get(left), self.producers.get(right)
        if a is None or b is None:
            return left == right
        return left == right or (a.callee in _PRODUCTS and a.callee == b.callee and a.arguments == b.arguments)

    def named(self, value: Value, target: Var) -> Value:
        """Call a cotangent after the variable it belongs to, unless it has a name already."""
        name = self.bar_name(target)
        if not isinstance(value, Var) or not name or value.user_named:
            return value
        if value.hint not in ("", name) and not target.user_named:
            return value
        return self.rename(value, name, target.user_named)

    def zero(self, var: Var) -> Value:
        """A cotangent that says zero, where one is needed."""
        kind = self.kind(var)
        if is_real_scalar(kind):
            return Const(0.0)
        if isinstance(kind, TupleOf):
            return Const(None)
        value = self.helper(arithmetic.zero_cotangent, var, hint=self.bar_name(var), kind=self.bar_kind(var))
        if isinstance(value, Var):
            self.owned.add(value)
        return value

    def dense(self, cotangent: Value, var: Var) -> Value:
        """The cotangent with None replaced by zeros, for code that computes with it."""
        kind = self.kind(cotangent)
        if not isinstance(kind, Inert | Unknown):
            return cotangent
        return self.helper(run_time.or_zero, cotangent, var, hint=self.bar_name(var), kind=cotangent_kind(self.kind(var)))

    def own(self, value: Value) -> Value:
        """The value if nothing else names it, or a copy."""
        if not isinstance(value, Var) or value in self.owned:
            return value
        copy = self.helper(arithmetic.own, value, kind=self.kind(value))
        if isinstance(copy, Var):
            self.owned.add(copy)
        return copy

    def accumulate_item(self, function: Callable[..., object], container: Value, index: Value, part: Value) -> None:
        """container_bar[index] += part by `function`, in place where nothing else names the buffer."""
        if not self.is_active(container):
            return
        assert isinstance(container, Var)
        kind = self.kind(container)
        proven = cotangent_kind(kind) if isinstance(kind, Array) else UNKNOWN
        current = self.cotangents.get(container)
        if current is None and function is arithmetic.add_item:
            if isinstance(self.kind(part), Inert | Unknown):
                proven = UNKNOWN  # of a part that is zero there is none
            total = self.helper(arithmetic.item_cotangent, container, index, part, hint=self.bar_name(container), kind=proven)
        else:
            buffer = self.buffer(current)
            total = self.helper(function, buffer, container, index, part, hint=self.bar_name(container), kind=proven)
        assert isinstance(total, Var)
        self.owned.add(total)
        self.cotangents[container] = total

    def buffer(self, current: Value | None) -> Value:
        """A cotangent as something that may be written into; None where there is none yet."""
        if current is None:
            return Const(None)
        if current not in self.owned:
            return self.helper(arithmetic.own, current, kind=self.kind(current))
        if isinstance(current, Var):
            self.written.add(current)
        return current

    # The cotangents after a branch

    def branch(self, condition: Value, then: Callable[[], None], orelse: Callable[[], None]) -> None:
        """Append both arms, each from the cotangents known here; what differs after them becomes a result."""
        if isinstance(condition, Const):
            (then if condition.value else orelse)()
            return
        where, cotangents, owned = self.where, self.cotangents, self.owned
        left, right = (self.arm(append, cotangents, owned) for append in (then, orelse))
        differing = [
            var
            for var in dict.fromkeys((*left.cotangents, *right.cotangents))
            if left.cotangents.get(var) != right.cotangents.get(var)
        ]
        left_values, right_values = (self.fill(arm, differing) for arm in (left, right))
        self.where, self.owned = where, left.owned & right.owned
        self.cotangents = {var: value for var, value in left.cotangents.items() if right.cotangents.get(var) == value}
        results = []
        for var, a, b in zip(differing, left_values, right_values, strict=True):
            result = self.variable(join(self.kind(a), self.kind(b)), self.bar_name(var), var.user_named)
            results.append(result)
            self.cotangents[var] = result
            if a in left.owned and b in right.owned:
                self.owned.add(result)
        if left.statements or right.statements or differing:
            arms = (Region(tuple(left.statements), Yield(left_values)), Region(tuple(right.statements), Yield(right_values)))
            self.add(If(condition, *arms, tuple(results), where))

    def arm(self, append: Callable[[], None], cotangents: Cotangents, owned: set[Var]) -> _Arm:
        self.cotangents, self.owned = dict(cotangents), set(owned)
        with self.region() as statements:
            append()
        return _Arm(statements, self.cotangents, self.owned)

    def fill(self, arm: _Arm, variables: list[Var]) -> tuple[Value, ...]:
        """The cotangents of the variables at the end of an arm, zeros included."""
        self.owned = arm.owned
        with self.region(arm.statements):
            return tuple(arm.cotangents[var] if var in arm.cotangents else self.zero(var) for var in variables)
