"""An operation that is being lowered, as the rules for operations see it."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol, final

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.ir.nodes import NOWHERE, Const, Location, Op, Opcode, Value, Var, function_constant, operator_constant
from microgradpy.native import helpers
from microgradpy.native.types import (
    ArrayOf,
    Number,
    Type,
    Unsupported,
    words,
)


def failed() -> None:
    """Stands for what is returned after a test that failed."""


FAILED = Const(failed, "FAILED", failed)
ADD, SUB, MUL, DIV = map(operator_constant, ("add", "sub", "mul", "truediv"))
GETITEM, EQ, NE, GT = map(operator_constant, ("getitem", "eq", "ne", "gt"))
LEN = Const(len, "len")
IS_FINITE_NUMBER = Const(math.isfinite, "math.isfinite", math)
IS_FINITE, IS_INDEX = function_constant(helpers.is_finite), function_constant(helpers.is_index)
TOTAL = function_constant(helpers.total)
COPY = Const(np.copy, "np.copy", np)
ZEROS, FULL, DOT = Const(np.zeros, "np.zeros", np), Const(np.full, "np.full", np), Const(np.dot, "np.dot", np)
MAKING = (ADD, SUB, MUL, DIV, ZEROS, FULL, DOT)
"""What gives arrays that are nobody else's."""


class Lowering(Protocol):
    """What a rule needs of `microgradpy.native.lowering`."""

    types: dict[Var, Type]
    same: dict[Var, Value]

    def type(self, value: Value) -> Type | None: ...
    def value(self, value: Value) -> Value: ...
    def test(
        self, callee: Const, arguments: tuple[Value, ...], where: Location = NOWHERE, *, gives_up: bool = False
    ) -> None: ...
    def emit(
        self, callee: Opcode | Value, arguments: tuple[Value, ...], type_: Type, like: Op, result: Var | None = None
    ) -> Var: ...


@final
@dataclass(frozen=True, slots=True)
class Call:
    """An operation that is being lowered, with its arguments and their types."""

    lowering: Lowering
    op: Op
    arguments: tuple[Value, ...]
    types: tuple[Type, ...]

    def test(self, callee: Const, *arguments: Value) -> None:
        self.lowering.test(callee, arguments, self.op.where)

    def test_nonzero(self, value: Value) -> None:
        """Give up if this is zero."""
        kind = self.lowering.type(value)
        zero = Const(0 if isinstance(kind, Number) and kind.is_whole else 0.0)
        if not (isinstance(value, Const) and value.value):
            self.lowering.test(EQ, (value, zero), self.op.where, gives_up=True)

    def make(self, callee: Opcode | Value, arguments: tuple[Value, ...], type_: Type) -> Var:
        """A value that is needed on the way."""
        return self.lowering.emit(callee, arguments, type_, self.op)

    def give(self, callee: Opcode | Value, arguments: tuple[Value, ...], type_: Type) -> None:
        """The result; it is finite, or else Python would warn or raise, where NumPy or a function of `math` has made it."""
        self.lowering.emit(callee, arguments, type_, self.op, self.op.result)

    def give_finite(self, callee: Opcode | Value, arguments: tuple[Value, ...], type_: Type) -> None:
        self.give(callee, arguments, type_)
        self.test(IS_FINITE if isinstance(type_, ArrayOf) else IS_FINITE_NUMBER, self.op.result)

    def give_same(self, value: Value) -> None:
        self.lowering.same[self.op.result] = value

    def give_known(self, value: Any) -> None:
        self.give_same(Const(value))

    def refuse(self) -> Unsupported:
        given = ", ".join(map(words, self.types))
        return Unsupported(f"{name_of(self.op)} of {given}" if given else name_of(self.op), self.op.where)


Rule = Callable[[Call], None]
RULES: dict[int, tuple[Any, Rule]] = {}


def enter(rule: Rule, *functions: Any) -> None:
    for function in functions:
        RULES[id(function)] = function, rule


def name_of(op: Op) -> str:
    match op.callee:
        case Const(value=builtins.getattr) if isinstance(op.arguments[1], Const):
            return f"the attribute {op.arguments[1].value}"
        case Opcode():
            return _WORDS.get(op.callee, f"the operation {op.callee.value}")
        case Const(path=path) if path:
            return path
        case Const(value=value):
            return str(getattr(value, "__name__", value))
    return "a call of what is not known"


_WORDS: Mapping[Opcode, str] = {
    Opcode.LIST: "a list",
    Opcode.DICT: "a dict",
    Opcode.SET: "a set",
    Opcode.APPEND: "a list",
    Opcode.CLOSURE: "a function that is defined inside",
    Opcode.SUSPEND: "a generator",
    Opcode.JOIN: "a text",
    Opcode.APPLY: "a call with packed arguments",
}


def ndim_of(kind: Type) -> int:
    return kind.ndim if isinstance(kind, ArrayOf) else 0


def dtype_of(kind: Type) -> str:
    return kind.dtype if isinstance(kind, ArrayOf) else "number"


def is_whole(kind: Type) -> bool:
    return isinstance(kind, Number) and kind.may_be_whole
