"""The tangents that have been found: of which variable each is, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from microgradpy.ad.calls import (
    Call,
    Unit,
)
from microgradpy.ad.primal_builder import Services
from microgradpy.ad.tangent_kinds import dot_kind, fits, is_structured
from microgradpy.ad.transposition import TangentBuilder
from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.kinds import (
    FLOAT,
    Kind,
    Scalar,
    is_numeric,
    is_real_scalar,
)
from microgradpy.ir.nodes import (
    UNDEFINED,
    Const,
    If,
    Opcode,
    Statement,
    Value,
    Var,
    Yield,
    function_constant,
    operator_constant,
)
from microgradpy.runtime.keys import item_of_growing
from microgradpy.tangents import arithmetic, filled
from microgradpy.tangents.strong_zeros import kept_tangent


class ForwardServices(Services, Protocol):
    """What the pass asks of the compiler, besides what the primal does."""

    def adjoint_half(self, unit: Unit, is_selected: bool) -> Const:
        """The constant that stands for the unit's adjoint."""

    @property
    def active_parts(self) -> tuple[bool, ...] | None:
        """Which parts of a result with lists that the function was given are active."""

    def pushforward(self, unit: Unit) -> Const:
        """The constant that stands for the function `(*inputs, *tangents of the active ones) -> (y, y_dot)`."""


NONE = Const(None)
ITEM_OF_GROWING = function_constant(item_of_growing)
_ARITHMETIC = tuple(map(operator_constant, ("add", "sub", "mul", "truediv", "neg", "matmul", "pow")))
_WRITTEN_OUT = 8  # so many zeros at most are written out as a list


@dataclass
class TangentBase:
    """`dots` has the tangent of each active variable, and `pairs` the pairs that calls left in the primal. `pending` are the
    statements that compute tangents since the last of the user's assignments: they come after it, so that its operations stay
    one expression. `selected` are the variables whose tangents may have zeros of a selection, and `written` those whose values
    are written into in place: so are their tangents, which nobody else may have then."""

    builder: TangentBuilder
    services: ForwardServices
    pairs: Mapping[Var, Call]
    written: frozenset[Value]
    dots: dict[Var, Value] = field(default_factory=dict, kw_only=True)
    pending: list[Statement] = field(default_factory=list, kw_only=True)
    selected: set[Value] = field(default_factory=set, kw_only=True)

    def dot(self, value: Value) -> Value:
        """The tangent of a value, None where it is zero."""
        return self.dots.get(value, NONE) if isinstance(value, Var) else NONE

    def dot_like(self, value: Value, var: Var) -> Value:
        """The tangent of a value as that of a variable that it becomes."""
        return UNDEFINED if value is UNDEFINED else self.filled(value, self.builder.kind(var))

    def filled(self, value: Value, kind: Kind) -> Value:
        """The tangent of a value as that of something of this kind. Numbers and arrays have one that is not None; lists, dicts
        and tuples one of their length."""
        dot = self.dot(value)
        if is_numeric(kind):
            if not isinstance(value, Var):
                return Const(0.0) if isinstance(value, Const) else dot
            return self.builder.zero(value) if dot == NONE else self.builder.dense(dot, value)
        wanted = dot_kind(kind)
        return dot if fits(self.builder.kind(dot), wanted) else self.mirrored(value, dot, wanted)

    def mirrored(self, value: Value, dot: Value, kind: Kind) -> Value:
        """A tangent in the structure of a value, of new lists and dicts."""
        made = self.builder.made.get(value) if isinstance(value, Var) and dot == NONE else None
        if made is not None and made.callee is Opcode.LIST and len(made.arguments) <= _WRITTEN_OUT:
            items = made.arguments
            if all(is_real_scalar(self.builder.kind(item)) for item in items):
                zeros = (Const(0.0),) * len(items)
                return self.builder.operation(Opcode.LIST, zeros, kinds=(kind,), hints=(self.builder.bar_name(value),))[0]
        return self.builder.helper(filled.mirrored_tangent, dot, value, hint=self.builder.bar_name(value), kind=kind)

    def dense(self, value: Value) -> Value:
        """The tangent of an argument as a callee's pushforward takes it."""
        return self.filled(value, self.builder.kind(value))

    def know_dot(self, var: Var, dot: Value, of: Iterable[Value] | None = None) -> None:
        """Let a variable have a tangent, filled as `filled` does it. The tangent of a call is that `of` its arguments: it may
        be one of theirs, where the value is a new one, and is copied if anybody writes into one of these."""
        if var not in self.builder.active:
            return
        kind, found = self.builder.kind(var), self.builder.kind(dot)
        wanted, of = dot_kind(kind), None if of is None else tuple(of)
        if is_numeric(kind):
            if dot == NONE:
                dot = self.builder.zero(var)
            elif not is_numeric(found):
                dot = self.builder.helper(filled.dense_tangent, dot, var, kind=wanted)
            if of is not None and not isinstance(kind, Scalar) and not self.written.isdisjoint((var, *of)):
                dot = self.owned(dot, of)
        elif not fits(found, wanted) or (is_structured(wanted) and of is not None):
            dot = self.mirrored(var, dot, wanted)
        self.dots[var] = self.builder.named(dot, var)

    def owned(self, dot: Value, of: Iterable[Value]) -> Value:
        """A tangent that is nobody else's: the outcome of arithmetic on those of the arguments, or a copy."""
        made = self.builder.producers.get(dot) if isinstance(dot, Var) else None
        if made is not None and made.callee in _ARITHMETIC and dot not in map(self.dot, of):
            return dot
        return self.builder.helper(arithmetic.own, dot, kind=self.builder.kind(dot))

    def flush(self) -> None:
        """Append the statements that wait."""
        self.builder.open_regions[-1].extend(self.pending)
        self.pending.clear()

    # Zeros of selections

    def note_zeros(self, result: Value, values: Iterable[Value], may_insert: bool) -> None:
        """Note whether the zeros of a tangent that is computed of those of `values` are those of a selection: if what is
        computed may insert some, or if all of the values' are."""
        if isinstance(result, Var) and (may_insert or all(value in self.selected for value in values)):
            self.selected.add(result)

    def part(self, x_dot: Value | None, statements: list[Statement], y_dot: Value) -> Value:
        """The part `y_dot` of a tangent, which `statements` compute: of the tangent `x_dot` whose zeros stay zero, if one is
        given."""
        are_numbers = x_dot is not None and all(is_real_scalar(self.builder.kind(dot)) for dot in (x_dot, y_dot))
        if x_dot is not None and are_numbers and not self.services.is_differentiated:  # a branch has no slope where x_dot is 0
            part = self.builder.variable(FLOAT)
            arms = self.builder.seal(statements, Yield((y_dot,))), self.builder.seal([], Yield((Const(0.0),)))
            self.builder.add(If(x_dot, *arms, (part,), self.builder.where))
            return part
        for statement in statements:
            self.builder.add(statement)
        if x_dot is None:
            return y_dot
        return self.builder.helper(kept_tangent, x_dot, y_dot, kind=self.builder.kind(y_dot))

    # Tuples and dicts that helpers are given

    def operands_of(self, values: tuple[Value, ...]) -> Value:
        """What an operation of the user's reads, which a variable that is not assigned does not get past."""
        return self.builder.operation(Opcode.TUPLE, values, from_user=True)[0]

    def tuple_of(self, values: tuple[Value, ...]) -> Value:
        return self.builder.operation(Opcode.TUPLE, values)[0]

    def dict_of(self, keywords: tuple[tuple[str, Value], ...]) -> Value:
        return self.builder.operation(Opcode.DICT, tuple(part for name, value in keywords for part in (Const(name), value)))[0]
