"""What is proven of the values of a program while it is walked over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import BuiltinFunctionType
from typing import Any, final

from microgradpy.ad.instrument import GETATTR, OUT_OF_PLACE
from microgradpy.ir.kinds import (
    UNASSIGNED,
    UNKNOWN,
    Array,
    Inert,
    Kind,
    TupleOf,
    dict_of,
    is_immutable,
    is_key,
    item_kind,
    join,
    list_of,
    present,
    with_item,
    without_items,
)
from microgradpy.ir.nodes import Const, Op, Opcode, Value, Var, function_constant, operator_constant
from microgradpy.ir.traversal import given_values
from microgradpy.passes.typed_builder import TypedBuilder
from microgradpy.promotion.places import Known, is_thing
from microgradpy.runtime.dispatch import value_kind
from microgradpy.runtime.keys import constant_key, item_of_growing

_DEEPEST = 60
ITEM_OF_GROWING = function_constant(item_of_growing)
_GETITEM, _CONSTANT_KEY = operator_constant("getitem"), function_constant(constant_key)


@final
class Kinds:
    """What is proven of the values, found out where it is asked. Of what a loop carries it is assumed first, and checked where
    an iteration ends. Of containers that may be written into (`beside_writes`) it is not said what they hold."""

    def __init__(self, beside_writes: bool = False) -> None:
        self.builder = TypedBuilder()
        self.beside_writes = beside_writes
        self.variables: Mapping[str, Any] = {}
        """The variables of the module. The primal guards what is said of those that it reads."""
        self.sources: dict[Var, Callable[[], Kind]] = {}
        self.depth = 0

    def of(self, value: Known) -> Kind:
        if is_thing(value):
            return UNKNOWN
        if not isinstance(value, Var):
            return self.builder.kind(value)  # type: ignore[arg-type]
        source = self.sources.get(value)
        if value not in self.builder.kinds and source is not None and self.depth < _DEEPEST:
            self.depth += 1
            self.builder.know(value, source())
            self.depth -= 1
        return self.builder.kind(value)

    def set(self, var: Var, source: Callable[[], Kind]) -> None:
        """Note how to find out what a variable is."""
        self.builder.kinds.pop(var, None)
        self.sources[var] = source

    def assume(self, var: Var, kind: Kind) -> None:
        self.set(var, lambda: UNKNOWN)
        self.builder.know(var, kind)

    def note(self, op: Op) -> None:
        """Note an operation."""
        for number, result in enumerate(op.results):
            if not (self.beside_writes and op.callee in (Opcode.LIST, Opcode.DICT)):
                self.builder.producers[result] = op
            self.set(result, partial(self._of_result, op, number))

    def _of_result(self, op: Op, number: int) -> Kind:
        kind = self._of_what_is_made(op, number)
        return without_items(kind) if self.beside_writes else kind

    def _of_what_is_made(self, op: Op, number: int) -> Kind:
        for value in given_values(op.arguments, op.keywords):
            self.of(value)
        kinds = tuple(map(self.of, op.arguments))
        if op.callee == ITEM_OF_GROWING:
            return self.builder.kind_of_call(_GETITEM, op.arguments, ())
        if not isinstance(op.callee, Opcode):
            return self._of_call(op.callee, kinds, op)
        match op.callee:
            case Opcode.LIST | Opcode.TUPLE | Opcode.JOIN | Opcode.DICT:
                return _kind_made(op, op.callee, kinds)
            case Opcode.APPEND:
                return join(kinds[0], list_of(kinds[1:]))
            case Opcode.STORE if isinstance(kinds[0], Array):
                return kinds[0]
            case Opcode.STORE:
                return with_item(kinds[0], kinds[1:-1], kinds[-1]) or UNKNOWN
            case Opcode.UNPACK if isinstance(whole := present(kinds[0]), TupleOf) and len(whole.items) == len(op.results):
                return whole.items[number]
            case Opcode.UNPACK:
                return item_kind(kinds[0])
        return self._of_variable(op)

    def _of_variable(self, op: Op) -> Kind:
        """What is proven of a variable of the module, if an operation reads one."""
        is_known = op.callee is Opcode.GLOBAL and op.payload in self.variables and not op.arguments and not self.beside_writes
        kind: Kind = value_kind(self.variables[str(op.payload)]) if is_known else UNKNOWN
        return kind

    def _of_call(self, callee: Value, kinds: tuple[Kind, ...], op: Op) -> Kind:
        if callee == GETATTR and kinds[0] == Inert("NoneType"):
            return UNASSIGNED  # None has no fields
        if callee == _CONSTANT_KEY and is_key(kinds[0]):
            return kinds[0]
        if isinstance(callee, Const) and isinstance(callee.value, BuiltinFunctionType) and callee.value in OUT_OF_PLACE:
            callee = OUT_OF_PLACE[callee.value] if is_immutable(kinds[0]) else callee
        if isinstance(callee, Var):
            self.of(callee)  # a method, of which the kind of what has it has to be known
        return self.builder.kind_of_call(callee, op.arguments, op.keywords)


def _kind_made(op: Op, opcode: Opcode, kinds: tuple[Kind, ...]) -> Kind:
    match opcode:
        case Opcode.DICT:
            return _kind_of_dict(op.arguments[::2], kinds[1::2])
        case Opcode.LIST:
            return list_of(kinds)
        case Opcode.TUPLE:
            return TupleOf(kinds)
        case Opcode.JOIN:
            return Inert("str")
    return UNKNOWN


def _kind_of_dict(keys: tuple[Value, ...], kinds: tuple[Kind, ...]) -> Kind:
    names = [key.value for key in keys if isinstance(key, Const) and type(key.value) in (int, str)]
    return dict_of(zip(names, kinds, strict=True)) if len(names) == len(kinds) else UNKNOWN
