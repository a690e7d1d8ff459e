"""The tangents of what is made of other values, and of what is read out of it and written into it.

    t = (x, y)         t_dot = (x_dot, y_dot)
    v = items[i]       v_dot = items_dot[i]
    items[i] = v       items_dot[i] = v_dot
"""

from __future__ import annotations

from typing import assert_never

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
    UnitCall,
    Unpack,
)
from microgradpy.ad.tangent_builder import ITEM_OF_GROWING, NONE, TangentBase
from microgradpy.ad.tangent_kinds import dot_kind, is_structured, item_dot_kind
from microgradpy.dataclasses import dataclass
from microgradpy.ir.kinds import (
    UNKNOWN,
    Array,
    Kind,
    Numeric,
    Sequence,
    TupleOf,
    is_list,
    is_numeric,
    python_type,
)
from microgradpy.ir.nodes import (
    Const,
    Op,
    Opcode,
    Value,
    Var,
    operator_constant,
)
from microgradpy.runtime import tangents
from microgradpy.tangents import filled
from microgradpy.tangents.reading import item_tangent


@dataclass
class StructureTangents(TangentBase):
    """By the record of the operation."""

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
        if isinstance(self.builder.kind(container), Array | Numeric):
            return self.builder.call(get, (dot, index))
        if is_structured(found := self.builder.kind(dot)):
            get = ITEM_OF_GROWING if self.is_growing(container) else get
            return self.builder.call(get, (dot, index), kind=item_dot_kind(found, index, dot_kind(of)))
        return self.builder.helper(item_tangent, container, index, dot)

    def is_growing(self, container: Value) -> bool:
        """Whether places in a list have to be counted from its front: it may be longer when an adjoint runs."""
        return self.services.is_differentiated and container in self.written and is_list(self.builder.kind(container))

    def write(self, op: Op, call: Append | Replaced) -> None:
        """A write into what is in sight, and the same statement on the tangents."""
        self.flush()
        kind = self.builder.kind(call.result)
        items_dot = self.filled(call.items, kind)
        if not (is_structured(dot_kind(kind)) or is_numeric(kind)):
            items_dot = self.builder.helper(filled.tangent_to_write, items_dot, call.items)
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
            case Sequence(name="list" | "tuple", item=item):
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
