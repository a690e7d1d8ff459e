"""A builder that proves what it can of each call while it emits it, and emits nothing where folding gives the value."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field

import numpy as np

from microgradpy.ir.builder import Builder
from microgradpy.ir.kinds import FLOAT, UNKNOWN, Array, Kind, is_numeric, is_real, is_real_scalar
from microgradpy.ir.nodes import Const, Opcode, Value, Var, function_constant, operator_constant
from microgradpy.passes.folding import fold
from microgradpy.passes.result_kinds import result_kind
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.linear import expand_reduced
from microgradpy.tangents.powers import power_base_bar

Keywords = tuple[tuple[str, Value], ...]


@dataclass
class TypedBuilder(Builder):
    """`active` holds the variables that may depend on a differentiated argument."""

    active: set[Var] = field(default_factory=set)

    def is_active(self, value: Value) -> bool:
        return isinstance(value, Var) and value in self.active

    def call(
        self,
        callee: Value,
        arguments: tuple[Value, ...],
        keywords: Keywords = (),
        *,
        hint: Var | str = "",
        from_user: bool = False,
        kind: Kind | None = None,
    ) -> Value:
        """The value of `callee(*arguments, **keywords)`, by folding if the compiler made the call."""
        if not from_user and not keywords and isinstance(callee, Const):
            folded = fold(callee.value, arguments, self.kind)
            if folded is not None:
                return folded
            expanded = self.expanded(callee.value, arguments, hint)
            if expanded is not None:
                return expanded
        proven = self.kind_of_call(callee, arguments, keywords) if kind is None else kind
        (result,) = self.operation(
            callee, arguments, keywords, kinds=(proven,), hints=(hint,), from_user=from_user
        )
        return result

    def expanded(self, function: object, arguments: tuple[Value, ...], hint: Var | str) -> Value | None:
        """A helper of the rules as the few operations that it comes to for operands of these kinds."""
        if function is unbroadcast and self.adds_leading_axes(*arguments):
            return self.sum_of_leading_axes(*arguments, hint=hint)
        if function is unbroadcast and self.adds_all_axes(*arguments):
            return self.sum_of_all_axes(arguments[0], hint=hint)
        if function is operator.mul:
            return self.product_with_repeated(*arguments, hint=hint)
        if function is power_base_bar and self.is_simple_power(*arguments[1:]):
            return self.simple_power_base_bar(*arguments, hint=hint)
        return None

    def is_simple_power(self, base: Value, exponent: Value) -> bool:
        """Whether `base ** exponent` is a product of numbers or arrays, and so is its derivative."""
        if not isinstance(exponent, Const) or type(exponent.value) not in (int, float) or not is_numeric(self.kind(base)):
            return False
        return bool(exponent.value >= 2 and exponent.value == int(exponent.value))

    def simple_power_base_bar(self, z_bar: Value, base: Value, exponent: Value, *, hint: Var | str) -> Value:
        """`z_bar * (2 * x)`, `z_bar * (3 * x ** 2)`"""
        assert isinstance(exponent, Const)
        less = exponent.value - 1
        power = base if less == 1 else self.call(operator_constant("pow"), (base, Const(less)))
        slope = self.call(function_constant(conj), (self.call(operator_constant("mul"), (exponent, power)),))
        return self.call(operator_constant("mul"), (z_bar, slope), hint=hint)

    def adds_leading_axes(self, cotangent: Value, operand: Value) -> bool:
        """Whether an operand was repeated along leading axes only: its cotangent is a sum over those."""
        given, wanted = self.kind(cotangent), self.kind(operand)
        if not (isinstance(given, Array) and isinstance(wanted, Array) and is_real(given)):
            return False
        if given.ndim is None or not wanted.ndim or given.ndim <= wanted.ndim:
            return False
        return given.shape[-wanted.ndim :] == wanted.shape

    def sum_of_leading_axes(self, cotangent: Value, operand: Value, *, hint: Var | str) -> Value:
        """`cotangent.sum(axis=0)`"""
        given, wanted = self.kind(cotangent), self.kind(operand)
        assert isinstance(given, Array) and isinstance(wanted, Array) and given.ndim and wanted.ndim
        count = given.ndim - wanted.ndim
        axis: Value = Const(0)
        if count > 1:
            (axis,) = self.operation(Opcode.TUPLE, tuple(map(Const, range(count))))
        (method,) = self.operation(Const(getattr, "getattr", getattr), (cotangent, Const("sum")))
        kind = Array(wanted.ndim, "float", wanted.shape)
        return self.operation(method, (), (("axis", axis),), kinds=(kind,), hints=(hint,))[0]

    def adds_all_axes(self, cotangent: Value, operand: Value) -> bool:
        """Whether a number was repeated to an array: its cotangent is the sum over that."""
        given = self.kind(cotangent)
        return isinstance(given, Array) and is_real(given) and is_real_scalar(self.kind(operand))

    def sum_of_all_axes(self, cotangent: Value, *, hint: Var | str) -> Value:
        """`float(cotangent.sum())`: a Python number, so that the arithmetic that follows is Python's."""
        (method,) = self.operation(Const(getattr, "getattr", getattr), (cotangent, Const("sum")))
        (total,) = self.operation(method, (), kinds=(FLOAT,))
        return self.operation(Const(float, "float", float), (total,), kinds=(FLOAT,), hints=(hint,))[0]

    def product_with_repeated(self, left: Value, right: Value, *, hint: Var | str) -> Value | None:
        """The product of an array with a number that was repeated to its shape, which multiplying does anyway."""
        for repeated, other in ((left, right), (right, left)):
            number = self.repeated_number(repeated)
            if number is not None and isinstance(kind := self.kind(other), Array) and kind.shape:
                of = self.kind(repeated)
                if isinstance(of, Array) and of.shape == kind.shape:
                    return self.call(operator_constant("mul"), (number, other), hint=hint)
        return None

    def repeated_number(self, value: Value) -> Value | None:
        """The number that all entries of an array are."""
        made = self.producers.get(value) if isinstance(value, Var) else None
        if made is None or not isinstance(made.callee, Const) or made.callee.value is not expand_reduced:
            return None
        number, _, axis, _ = made.arguments
        return number if is_real_scalar(self.kind(number)) and axis == Const(None) else None

    def kind_of_call(self, callee: Value, arguments: tuple[Value, ...], keywords: Keywords) -> Kind:
        function: object = None
        if isinstance(callee, Const):
            function = callee.value
        elif isinstance(callee, Var):
            method = self.method(callee)
            if method is None:
                return UNKNOWN
            function, target = method
            arguments = (target, *arguments)
        kinds = tuple(map(self.kind, arguments))
        return result_kind(function, kinds, arguments, dict(keywords))

    def method(self, callee: Var) -> tuple[object, Value] | None:
        """If `callee` was read as a method of an array: the unbound method and the array."""
        producer = self.producers.get(callee)
        if producer is None or not is_getattr(producer.callee):
            return None
        target, name = producer.arguments[:2]
        if not isinstance(self.kind(target), Array) or not isinstance(name, Const):
            return None
        unbound = getattr(np.ndarray, name.value, None)
        return (unbound, target) if callable(unbound) else None


def is_getattr(callee: Opcode | Value) -> bool:
    return isinstance(callee, Const) and callee.value is getattr
