"""The tangent of each call that the primal recorded: from those of what it read to that of its result.

    z = np.sum(x)      z_dot = np.sum(x_dot)                         the call again, where it is linear
    z = x * sin(y)     z_dot = x_dot * sin_y + x * sin_y_dot         the pullback of the rule, transposed
    z = helper(x)      z, z_dot = helper_pushforward(x, x_dot)
    z = callback(x)    z, z_dot = pushed(callback, ...)
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Mapping
from types import FunctionType

import numpy as np

from microgradpy.ad.calls import (
    Call,
    Dispatched,
    Inlined,
    UnitCall,
)
from microgradpy.ad.tangent_builder import NONE
from microgradpy.ad.tangent_kinds import dot_kind, dot_kind_of_result, holds_only_numbers, is_structured
from microgradpy.ad.tangent_structure import StructureTangents
from microgradpy.ad.transposition import NotTransposable, transpose
from microgradpy.dataclasses import dataclass, replace
from microgradpy.ir.kinds import (
    UNKNOWN,
    Array,
    Kind,
    is_numeric,
    item_kind,
    python_type,
)
from microgradpy.ir.nodes import (
    Const,
    Op,
    Opcode,
    Statement,
    Value,
    Var,
    function_constant,
    operator_constant,
)
from microgradpy.ir.reasons import MayWrite
from microgradpy.ir.traversal import given_values
from microgradpy.passes.typed_builder import is_getattr
from microgradpy.rules import nested, number_lists
from microgradpy.rules.linearity import LINEAR_ATTRIBUTES, keeps_linear, linear_arguments
from microgradpy.rules.nested import OF_CALLS
from microgradpy.rules.number_lists import OF_STRUCTURE
from microgradpy.rules.registry import frule, is_non_differentiable, rrule
from microgradpy.rules.selections import inserts, may_be_infinite
from microgradpy.runtime import pushforwards as run_time
from microgradpy.runtime import tangents
from microgradpy.runtime.iterators import STREAMS
from microgradpy.runtime.making import tie
from microgradpy.tangents import filled
from microgradpy.tangents.arithmetic import divide
from microgradpy.tangents.pairing import has_only_fields
from microgradpy.tangents.strong_zeros import kept_call


class NotPushable(Exception):
    """What the function calls gives objects whose tangents are not known: it goes by its pullback."""


def is_pushable(callee: object) -> bool:
    """Whether the value of a call can have a tangent: iterators, and objects of classes that hold more than their fields,
    have none."""
    if any(callee is other for other in _ITERATING):
        return False
    return not isinstance(callee, type) or rrule.has(callee) or has_only_fields(callee)


_ITERATING = (*STREAMS, itertools.tee, iter, next, functools.partial, tie)
_OF_KEYS = (list, tuple, sorted)  # of a dict, without its values


_SUMS = (operator.add, operator.sub, np.add, np.subtract)


@dataclass
class Tangents(StructureTangents):
    """Those of calls, besides."""

    def paired(self, op: Op, call: Call) -> None:
        """A call that gives its value with what its pullback needs gives the tangent of the value in its place."""
        match call:
            case UnitCall(unit=unit, arguments=arguments):
                active = [value for value, flag in zip(arguments, unit.active, strict=True) if flag]
                dots = tuple(self.dense(value) for value in active)
                self.builder.add(replace(op, callee=self.services.pushforward(unit), arguments=(*op.arguments, *dots)))
            case Dispatched(callee=callee, arguments=arguments, packed=packed):
                if isinstance(callee, Const) and not is_pushable(callee.value):
                    raise NotPushable(callee.path)
                dots = tuple(map(self.dot, arguments))
                if packed:
                    self.push(op, run_time.pushed_packed, callee, (*arguments, *dots))
                else:
                    given = (self.operands_of(arguments), self.tuple_of(dots), self.dict_of(op.keywords))
                    self.push(op, run_time.pushed, callee, given)

    def of_nested(self, op: Op, call: Inlined) -> None:
        """What differentiates inside of differentiated code."""
        self.builder.add(op)
        with self.builder.region(self.pending):
            parts: tuple[Value, ...]
            if call.function is nested.held_again:
                dots = self.tuple_of((self.dot(call.arguments[0]),))
                parts = call.result, self.tuple_of((Const("__wrapped__"),)), self.tuple_of((NONE,)), dots
            elif call.function is tangents.function_tangent:
                parts = (*call.arguments[:3], self.dot(call.arguments[3]))
            else:
                self.know_dot(call.result, self.one_level_higher(call), call.arguments)
                return
            self.know_dot(call.result, self.builder.helper(tangents.function_tangent, *parts))

    def one_level_higher(self, call: Inlined) -> Value:
        """The tangent of a call of a function that is its own derivative, of one more."""
        level, option, inputs = call.arguments
        assert isinstance(level, Const)
        function, higher = function_constant(call.function), Const(level.value + 1)
        moved = self.tuple_of((inputs, self.dots_in(inputs)))
        if call.function is nested.values_of_call:
            pair = self.builder.call(function, (higher, Const(nested.Known(self.builder.kind(call.result))), moved))
            return self.builder.call(operator_constant("getitem"), (pair, Const(1)))
        asked = Const(nested.filled(option.value)) if isinstance(option, Const) else self.filled_option(option)
        return self.builder.call(function, (higher, asked, moved))

    def dots_in(self, inputs: Value) -> Value:
        """The tangents of the parts of a tuple that was made here: None for what does not move, and is no input of the text."""
        made = self.builder.made.get(inputs) if isinstance(inputs, Var) else None
        if made is None or made.callee is not Opcode.TUPLE:
            return self.dot(inputs)
        return self.tuple_of(tuple(map(self.dots_in, made.arguments)))

    def filled_option(self, asked: Value) -> Value:
        return self.builder.call(function_constant(nested.filled), (asked,))

    def push(self, op: Op, function: Callable[..., object], callee: Value, given: tuple[Value, ...]) -> None:
        helper = function_constant(function)
        self.builder.add(replace(op, callee=helper, arguments=(callee, self.dot(callee), *given), keywords=()))

    def unpack_pair(self, op: Op, call: Dispatched | UnitCall) -> None:
        result = call.result
        is_filled = isinstance(call, UnitCall) and result in self.builder.active
        is_new = not is_filled or is_numeric(self.builder.kind(result))  # lists may be what was given, and written into
        kind: Kind = UNKNOWN
        if isinstance(call, UnitCall) and is_filled:
            kind = dot_kind_of_result(self.builder.kind(result), call.unit.active_parts)
        dot = self.builder.variable(kind, self.builder.bar_name(result))
        found: Value = dot
        self.builder.add(replace(op, results=(result, dot)))
        values = [value for value in call.arguments if self.dot(value) != NONE]
        is_known = isinstance(call, Dispatched) and isinstance(call.callee, Const) and rrule.has(call.callee.value)
        if isinstance(call, UnitCall):
            may_insert = call.unit.inserts
        else:
            may_insert = not is_known or inserts(call.callee.value)  # type: ignore[union-attr]
        self.note_zeros(result, values, may_insert)
        if isinstance(call, UnitCall) and values and all(value in self.selected for value in values):
            found = self.builder.helper(kept_call, self.tuple_of(tuple(map(self.dot, values))), dot, kind=kind)
        if is_filled and not is_new:
            self.dots[result] = self.builder.named(found, result)
            return
        self.know_dot(result, found, call.arguments)

    def inlined(self, op: Op, call: Inlined) -> None:
        if call.function in _OF_KEYS and all(python_type(self.builder.kind(value)) is dict for value in call.arguments):
            self.builder.add(op)
            self.know_dot(call.result, NONE)
            return
        if call.function in OF_CALLS or call.function is tangents.function_tangent:
            self.of_nested(op, call)
            return
        if call.function is not None and frule.has(call.function) and call.rule.value not in OF_STRUCTURE:
            self.by_forward_rule(op, call)
            return
        dots = {value: self.dot(value) for value in call.arguments if self.dot(value) != NONE}
        self.note_zeros(call.result, dots, inserts(call.function))
        if call.rule.value in OF_STRUCTURE and self.rearranged(op, call):
            return
        if self.is_sum_of_moving(op, call, dots):
            self.builder.add(op)
            with self.builder.region(self.pending):
                total = self.builder.call(op.callee, tuple(dots[value] for value in op.arguments))  # type: ignore[arg-type]
                self.know_dot(call.result, total, call.arguments)
            return
        again = self.reapplied(op, call, dots)
        rest = {value: dot for value, dot in dots.items() if value not in again}
        is_kept = may_be_infinite(call.function) and not _is_polynomial(call)
        kept = [value for value in rest if value in self.selected] if is_kept else []
        groups = [{value: rest.pop(value)} for value in kept]
        try:
            transposed = [transpose(call, group, self.builder, self.services) for group in (rest, *groups) if group]
            if self.services.is_differentiated:
                self.check_differentiable([each for statements, _ in transposed for each in statements])
        except NotTransposable:
            self.by_rule(op, call)
            return
        self.builder.add(op)
        with self.builder.region(self.pending):
            parts = [self.apply_again(op, value, dots[value]) for value in again]
            of_kept = [None] * (len(transposed) - len(groups)) + [dots[value] for value in kept]
            for x_dot, (statements, dot) in zip(of_kept, transposed, strict=True):
                parts += [] if dot is None else [self.part(x_dot, statements, dot)]
            total = parts[0] if parts else NONE
            for part in parts[1:]:
                total = self.builder.sum(total, part, "")
            self.know_dot(call.result, total, call.arguments)

    def is_sum_of_moving(self, op: Op, call: Inlined, dots: Mapping[Value, Value]) -> bool:
        """Whether a call is a sum or difference of two arrays or numbers that both move: so is its tangent, and it has the axes
        of the value."""
        callee = op.callee.value if isinstance(op.callee, Const) else None
        if not any(callee is each for each in _SUMS) or op.keywords or op.arguments != call.arguments:
            return False
        kinds = map(self.builder.kind, (*op.arguments, call.result))
        are_there = all(value in dots and self.is_filled(value, dots[value]) for value in op.arguments)
        return are_there and len(op.arguments) == 2 and all(map(is_numeric, kinds))

    def check_differentiable(self, statements: list[Statement]) -> None:
        """Leave to run time what is to be differentiated once more, if it calls helpers that write into what they have made, or
        adjoints of helpers."""
        for each in statements:
            if not isinstance(each, Op) or not isinstance(each.callee, Const):
                continue
            helper = each.callee.value
            if getattr(helper, "stands_for_unit", False):
                raise NotTransposable
            if not isinstance(helper, FunctionType) or rrule.has(helper) or is_non_differentiable(helper):
                continue
            kinds, active = tuple(map(self.builder.kind, each.arguments)), tuple(isinstance(x, Var) for x in each.arguments)
            if isinstance(self.services.unit(helper, kinds, active), MayWrite):
                raise NotTransposable

    def rearranged(self, op: Op, call: Inlined) -> bool:
        """A call that gives what is in its arguments in another order, or the sum of it, and the same of the tangents; whether
        all of these are there."""
        values = call.arguments if call.rule.value is number_lists.values_rrule else op.arguments
        kinds = tuple(map(self.builder.kind, values))
        wanted = tuple(map(dot_kind, kinds))
        kind = dot_kind(self.builder.kind(call.result))
        if is_numeric(kind) and not all(is_numeric(item_kind(of_items)) for of_items in wanted):
            return False
        self.builder.add(op)
        with self.builder.region(self.pending):
            pairs = zip(values, kinds, wanted, strict=True)
            dots = tuple(self.filled(value, own) if is_structured(of) else value for value, own, of in pairs)
            match call.rule.value:
                case number_lists.values_rrule:
                    dot = self.builder.helper(filled.values_tangent, *dots, kind=kind)
                case number_lists.dict_of_pairs_rrule:
                    dot = self.builder.helper(filled.pairs_tangent, *values, *dots, kind=kind)
                case _:
                    dot = self.builder.operation(op.callee, dots, kinds=(kind,))[0]
            self.dots[call.result] = self.builder.named(dot, call.result)
        return True

    def reapplied(self, op: Op, call: Inlined, dots: Mapping[Value, Value]) -> list[Value]:
        """The arguments of a call which it is linear in, and for whose tangents it can be made again."""
        if not is_numeric(self.builder.kind(call.result)) or op.payload is not None:
            return []
        if call.function is None:
            return list(dots) if call.callee in LINEAR_ATTRIBUTES and isinstance(op.callee, Const) else []
        method = self.method(op)
        if method is None and not isinstance(op.callee, Const):
            return []
        code = call.rule.value.__code__
        names = (*code.co_varnames[: len(call.arguments)], *(name for name, _ in call.keywords))
        values = given_values(call.arguments, call.keywords)
        if not keeps_linear(names, tuple(value.value if isinstance(value, Const) else value for value in values)):
            return []
        operands = op.arguments if method is None else (method.arguments[0], *op.arguments)
        found = [call.arguments[place] for place in linear_arguments(call.function) if place < len(call.arguments)]
        found = [value for value in found if value in dots and self.is_filled(value, dots[value])]
        if method is not None and not isinstance(self.builder.kind(dots.get(operands[0], NONE)), Array):
            found = [value for value in found if value != operands[0]]
        return [value for value in found if operands.count(value) == 1 == call.arguments.count(value)]

    def method(self, op: Op) -> Op | None:
        """What reads the method that an operation calls, if it does."""
        read = self.builder.producers.get(op.callee) if isinstance(op.callee, Var) else None
        return read if read is not None and is_getattr(read.callee) else None

    def is_filled(self, value: Value, dot: Value) -> bool:
        """Whether there is a number or an array wherever the tangent of a value has a part."""
        return holds_only_numbers(dot_kind(self.builder.kind(value))) or holds_only_numbers(self.builder.kind(dot))

    def apply_again(self, op: Op, argument: Value, dot: Value) -> Value:
        """The call with the tangent in the place of the argument."""
        arguments = tuple(dot if value == argument else value for value in op.arguments)
        assert not isinstance(op.callee, Opcode)
        method = self.method(op)
        if method is not None:
            receiver, *name = method.arguments
            (bound,) = self.builder.operation(method.callee, (dot if receiver == argument else receiver, *name))
            return self.builder.call(bound, arguments, op.keywords)
        keeps = argument in self.selected and isinstance(op.callee, Const) and may_be_infinite(op.callee.value)
        if not keeps:
            return self.builder.call(op.callee, arguments, op.keywords)
        # Of infinite slopes these are the quotients only: 0 / 0 is NaN without a warning.
        kind = self.builder.kind_of_call(op.callee, arguments, op.keywords)
        with self.builder.region() as statements:
            quotient = self.builder.call(function_constant(divide), arguments, kind=kind)
        return self.part(dot, statements, quotient)

    def by_rule(self, op: Op, call: Inlined) -> None:
        """The reverse rule at run time, which gives the value and its tangent."""
        self.flush()
        arguments = self.operands_of(call.arguments)
        dots = self.tuple_of(tuple(map(self.dot, call.arguments)))
        function = NONE if call.function is None else function_constant(call.function)
        given = (function, call.rule, Const(call.callee), arguments, dots, self.dict_of(call.keywords))
        self.by_pair(op, call, run_time.pushed_by_rule, given)

    def by_forward_rule(self, op: Op, call: Inlined) -> None:
        """A forward rule, which may take other types of arguments than these: the dispatcher knows."""
        self.flush()
        values, keywords = (op.arguments, op.keywords) if isinstance(op.callee, Const) else (call.arguments, call.keywords)
        arguments, dots = self.operands_of(values), self.tuple_of(tuple(map(self.dot, values)))
        function = function_constant(call.function)
        self.by_pair(op, call, run_time.pushed, (function, NONE, arguments, dots, self.dict_of(keywords)))

    def by_pair(self, op: Op, call: Inlined, function: Callable[..., object], given: tuple[Value, ...]) -> None:
        pair = self.builder.variable(UNKNOWN)
        helper = function_constant(function)
        self.builder.add(replace(op, callee=helper, arguments=given, keywords=(), results=(pair,)))
        dot = self.builder.variable(UNKNOWN, self.builder.bar_name(call.result))
        self.builder.add(Op(Opcode.UNPACK, (pair,), (*op.results, dot), where=op.where))
        self.know_dot(call.result, dot, call.arguments)


def _is_polynomial(call: Inlined) -> bool:
    """Whether a call is that of a power such as `x ** 2`, whose slope is finite everywhere."""
    match call.arguments:
        case (_, Const(value=int() as exponent)) if call.function in (operator.pow, np.power):
            return exponent >= 1
    return False
