"""The tangent of each call that the primal recorded: from those of what it read to that of its result.

    z = np.sum(x)      z_dot = np.sum(x_dot)                         the call again, where it is linear
    z = x * sin(y)     z_dot = x_dot * sin_y + x * sin_y_dot         the pullback of the rule, transposed
    z = helper(x)      z, z_dot = helper_pushforward(x, x_dot)
    z = callback(x)    z, z_dot = pushed(callback, ...)
    t = (x, y)         t_dot = (x_dot, y_dot)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, assert_never

from microgradpy.ad.calls import (
    AddInPlace,
    Append,
    Attribute,
    Build,
    Call,
    Capture,
    Dispatched,
    Inlined,
    Item,
    Iterated,
    Replaced,
    StoreItem,
    Suspend,
    Unit,
    UnitCall,
    Unpack,
)
from microgradpy.ad.primal_builder import Services
from microgradpy.ad.tangent_kinds import dot_kind, fits, is_structured, item_dot_kind
from microgradpy.ad.transposition import NotTransposable, TangentBuilder, transpose
from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.ir.kinds import UNKNOWN, Array, Kind, Sequence, TupleOf, holds_numbers, is_numeric, is_real_scalar, python_type
from microgradpy.ir.nodes import (
    UNDEFINED,
    Const,
    Op,
    Opcode,
    Statement,
    Value,
    Var,
    function_constant,
    operator_constant,
)
from microgradpy.ir.traversal import given_values
from microgradpy.passes.typed_builder import is_getattr
from microgradpy.rules.linearity import LINEAR_ATTRIBUTES, keeps_linear, linear_arguments
from microgradpy.rules.registry import frule, rrule
from microgradpy.rules.selections import inserts, may_be_infinite
from microgradpy.runtime import pushforwards as run_time
from microgradpy.runtime import tangents
from microgradpy.runtime.iterators import STREAMS
from microgradpy.runtime.making import tie
from microgradpy.tangents import arithmetic
from microgradpy.tangents.arithmetic import divide
from microgradpy.tangents.pairing import has_only_fields
from microgradpy.tangents.reading import item_tangent
from microgradpy.tangents.strong_zeros import kept_call, kept_tangent


class ForwardServices(Services, Protocol):
    """What the pass asks of the compiler, besides what the primal does."""

    def adjoint_half(self, unit: Unit, is_selected: bool) -> Const:
        """The constant that stands for the unit's adjoint."""

    def pushforward(self, unit: Unit) -> Const:
        """The constant that stands for the function `(*inputs, *tangents of the active ones) -> (y, y_dot)`."""


class NotPushable(Exception):
    """What the function calls gives objects whose tangents are not known: it goes by its pullback."""


def is_pushable(callee: object) -> bool:
    """Whether the value of a call can have a tangent: iterators, and objects of classes that hold more than their fields,
    have none."""
    if any(callee is other for other in _ITERATING):
        return False
    return not isinstance(callee, type) or rrule.has(callee) or has_only_fields(callee)


_ITERATING = (*STREAMS, iter, next, functools.partial, tie)
NONE = Const(None)
_WRITTEN_OUT = 8  # so many zeros at most are written out as a list


@dataclass
class Tangents:
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
        return self.builder.helper(tangents.mirrored_tangent, dot, value, hint=self.builder.bar_name(value), kind=kind)

    def dense(self, value: Value) -> Value:
        """The tangent of an argument as a callee's pushforward takes it."""
        return self.filled(value, self.builder.kind(value))

    def know_dot(self, var: Var, dot: Value, *, is_new: bool = True) -> None:
        """Let a variable have a tangent, filled as `filled` does it. What a call gave for a list may be that of its argument,
        and is not `is_new` then."""
        if var not in self.builder.active:
            return
        kind, found = self.builder.kind(var), self.builder.kind(dot)
        wanted = dot_kind(kind)
        if is_numeric(kind):
            if dot == NONE:
                dot = self.builder.zero(var)
            elif not is_numeric(found):
                dot = self.builder.helper(tangents.dense_tangent, dot, var, kind=wanted)
            elif var in self.written and not is_new:
                dot = self.builder.helper(arithmetic.own, dot, kind=found)
        elif not fits(found, wanted) or (is_structured(wanted) and not is_new):
            dot = self.mirrored(var, dot, wanted)
        self.dots[var] = self.builder.named(dot, var)

    def flush(self) -> None:
        """Append the statements that wait."""
        self.builder.open_regions[-1].extend(self.pending)
        self.pending.clear()

    # Calls of functions

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

    def push(self, op: Op, function: Callable[..., object], callee: Value, given: tuple[Value, ...]) -> None:
        helper = function_constant(function)
        self.builder.add(replace(op, callee=helper, arguments=(callee, self.dot(callee), *given), keywords=()))

    def unpack_pair(self, op: Op, call: Dispatched | UnitCall) -> None:
        result = call.result
        is_filled = isinstance(call, UnitCall) and result in self.builder.active
        kind = dot_kind(self.builder.kind(result)) if is_filled else UNKNOWN
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
        self.know_dot(result, found, is_new=isinstance(call, UnitCall))

    def inlined(self, op: Op, call: Inlined) -> None:
        if call.function is not None and frule.has(call.function):
            self.by_forward_rule(op, call)
            return
        dots = {value: self.dot(value) for value in call.arguments if self.dot(value) != NONE}
        self.note_zeros(call.result, dots, inserts(call.function))
        again = self.reapplied(op, call, dots)
        rest = {value: dot for value, dot in dots.items() if value not in again}
        kept = [value for value in rest if value in self.selected] if may_be_infinite(call.function) else []
        groups = [{value: rest.pop(value)} for value in kept]
        try:
            transposed = [transpose(call, group, self.builder, self.services) for group in (rest, *groups) if group]
        except NotTransposable:
            self.by_rule(op, call)
            return
        self.builder.add(op)
        with self.builder.region(self.pending):
            parts = [self.apply_again(op, value, dots[value]) for value in again]
            first_kept = len(transposed) - len(groups)
            for number, (statements, dot) in enumerate(transposed):
                for statement in statements:
                    self.builder.add(statement)
                if dot is not None and number >= first_kept:
                    dot = self.kept(dots[kept[number - first_kept]], dot)
                parts += [] if dot is None else [dot]
            total = parts[0] if parts else NONE
            for part in parts[1:]:
                total = self.builder.sum(total, part, "")
            self.know_dot(call.result, total, is_new=False)

    # Zeros of selections

    def note_zeros(self, result: Value, values: Iterable[Value], may_insert: bool) -> None:
        """Note whether the zeros of a tangent that is computed of those of `values` are those of a selection: if what is
        computed may insert some, or if all of the values' are."""
        if isinstance(result, Var) and (may_insert or all(value in self.selected for value in values)):
            self.selected.add(result)

    def kept(self, x_dot: Value, y_dot: Value) -> Value:
        """The part of a tangent that comes of `x_dot`, whose zeros stay zero."""
        return self.builder.helper(kept_tangent, x_dot, y_dot, kind=self.builder.kind(y_dot))

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
        if is_numeric(self.builder.kind(value)) or holds_numbers(self.builder.kind(value)):
            return True
        match self.builder.kind(dot):
            case Sequence(name="list", item=item):
                return is_numeric(item)
            case TupleOf(items=items):
                return all(map(is_numeric, items))
        return False

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
        return self.kept(dot, self.builder.call(function_constant(divide), arguments, kind=kind))

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
        self.know_dot(call.result, dot, is_new=False)

    def operands_of(self, values: tuple[Value, ...]) -> Value:
        """What an operation of the user's reads, which a variable that is not assigned does not get past."""
        return self.builder.operation(Opcode.TUPLE, values, from_user=True)[0]

    def tuple_of(self, values: tuple[Value, ...]) -> Value:
        return self.builder.operation(Opcode.TUPLE, values)[0]

    def dict_of(self, keywords: tuple[tuple[str, Value], ...]) -> Value:
        return self.builder.operation(Opcode.DICT, tuple(part for name, value in keywords for part in (Const(name), value)))[0]

    # Structure

    def structure(self, call: Call) -> None:
        self.note_structure(call)
        match call:
            case Build():
                self.build(call)
            case Unpack(results=results, source=source):
                self.unpack(results, source)
            case Attribute(result=result, target=target, name=name):
                dot = self.builder.helper(tangents.attribute_tangent, target, Const(name), result, self.dot(target))
                self.know_dot(result, dot)
            case Item(result=result, container=container, index=index):
                self.know_dot(result, self.item(container, index, self.dot(container), self.builder.kind(result)))
            case Capture():
                self.capture(call)
            case AddInPlace() | StoreItem() | Suspend():
                raise AssertionError("a write where writes are not tracked")
            case Append() | Replaced() | Iterated() | Inlined() | Dispatched() | UnitCall():
                raise AssertionError("not the record of an operation on structure")
            case _:
                assert_never(call)

    def note_structure(self, call: Call) -> None:
        """Structure hands zeros on; what is built of constants too has some in their places."""
        match call:
            case Build(result=result, items=values) | Capture(result=result, values=values):
                self.note_zeros(result, (), any(value in self.selected or self.dot(value) is NONE for value in values))
            case Append(result=result, items=items, item=item) | Replaced(result=result, items=items, item=item):
                self.note_zeros(result, (), bool(self.selected & {items, item}) or self.dot(item) is NONE)
            case Attribute(result=result, target=source) | Item(result=result, container=source):
                self.note_zeros(result, (source,), False)
            case Iterated(result=result, source=source):
                self.note_zeros(result, (source,), False)
            case Unpack(results=results, source=source):
                for item in results:
                    self.note_zeros(item, (source,), False)

    def iterated(self, call: Iterated) -> Value:
        position = call.position
        if call.backwards:
            position = self.builder.call(operator_constant("sub"), (Const(-1), position))
        dot = self.dot(call.source)
        kind = self.builder.kind(call.source)
        if call.is_key or isinstance(kind, Array) or (is_structured(self.builder.kind(dot)) and python_type(kind) is not dict):
            return self.item(call.source, position, dot, self.builder.kind(call.result))
        return self.builder.helper(tangents.iterated_tangent, call.source, position, dot)

    def of_constant(self, value: Value) -> Value:
        return Const(0.0) if is_numeric(self.builder.kind(value)) else self.filled(value, self.builder.kind(value))

    def item(self, container: Value, index: Value, dot: Value, of: Kind) -> Value:
        get = operator_constant("getitem")
        if isinstance(self.builder.kind(container), Array):
            return self.builder.call(get, (dot, index))
        if is_structured(found := self.builder.kind(dot)):
            return self.builder.call(get, (dot, index), kind=item_dot_kind(found, index, dot_kind(of)))
        return self.builder.helper(item_tangent, container, index, dot)

    def write(self, op: Op, call: Append | Replaced) -> None:
        """A write into what is in sight, and the same statement on the tangents."""
        self.flush()
        kind = self.builder.kind(call.result)
        items_dot = self.filled(call.items, kind)
        if not (is_structured(dot_kind(kind)) or is_numeric(kind)):
            items_dot = self.builder.helper(tangents.tangent_to_write, items_dot, call.items)
        self.builder.add(op)
        self.note_structure(call)
        arguments = (items_dot, *op.arguments[1:-1], self.dense(call.item))
        hints = (self.builder.bar_name(call.result),)
        (dot,) = self.builder.operation(op.callee, arguments, kinds=(dot_kind(kind),), hints=hints, payload=op.payload)
        self.dots[call.result] = self.builder.named(dot, call.result)

    def build(self, call: Build) -> None:
        # NumPy takes a list of numbers or arrays as an array, in which there is no None.
        dots = tuple(self.dot_like(item, item) if isinstance(item, Var) else self.of_constant(item) for item in call.items)
        made = self.builder.made[call.result]
        kind = dot_kind(self.builder.kind(call.result))
        if made.callee is Opcode.DICT:
            parts = tuple(part for pair in zip(call.keys, dots, strict=True) for part in pair)
            (dot,) = self.builder.operation(Opcode.DICT, parts, kinds=(kind,))
        elif made.callee is Opcode.TUPLE:
            (dot,) = self.builder.operation(Opcode.TUPLE, dots, kinds=(TupleOf(tuple(map(self.builder.kind, dots))),))
        else:
            (dot,) = self.builder.operation(Opcode.LIST, dots, kinds=(kind,))
        self.know_dot(call.result, dot)

    def unpack(self, results: tuple[Var, ...], source: Value) -> None:
        dot = self.dot(source)
        match self.builder.kind(dot):
            case TupleOf(items=kinds) if len(kinds) == len(results):
                pass
            case Sequence(name="list", item=item):
                kinds = (item,) * len(results)
            case _:
                dot = self.builder.helper(tangents.item_tangents, source, Const(len(results)), dot)
                kinds = (UNKNOWN,) * len(results)
        hints = tuple(map(self.builder.bar_name, results))
        parts = self.builder.operation(Opcode.UNPACK, (dot,), kinds=kinds, hints=hints)
        for result, part in zip(results, parts, strict=True):
            self.know_dot(result, part)

    def capture(self, call: Capture) -> None:
        names = self.tuple_of(tuple(Const(f if isinstance(f, str) else f[0]) for f in call.fields))
        keys = self.tuple_of(tuple(NONE if isinstance(f, str) else Const(f[1]) for f in call.fields))
        dots = self.tuple_of(tuple(map(self.dot, call.values)))
        self.know_dot(call.result, self.builder.helper(tangents.function_tangent, call.result, names, keys, dots))
