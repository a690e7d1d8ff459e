"""Which operations Python writes with signs (`x * y`, `-x`, `x[i]`, `x.T`) instead of as a call."""

from __future__ import annotations

import ast
import builtins
import keyword
import operator
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType
from typing import Any, final

from microgradpy.dataclasses import nodeclass
from microgradpy.ir.nodes import Augmented, Const, Form, Op, Opcode, Value

Sign = ast.operator | ast.unaryop | ast.cmpop

_BINARY: Mapping[str, tuple[str, type[ast.operator]]] = {
    "+": ("add", ast.Add),
    "-": ("sub", ast.Sub),
    "*": ("mul", ast.Mult),
    "/": ("truediv", ast.Div),
    "//": ("floordiv", ast.FloorDiv),
    "%": ("mod", ast.Mod),
    "**": ("pow", ast.Pow),
    "@": ("matmul", ast.MatMult),
    "<<": ("lshift", ast.LShift),
    ">>": ("rshift", ast.RShift),
    "&": ("and_", ast.BitAnd),
    "|": ("or_", ast.BitOr),
    "^": ("xor", ast.BitXor),
}
_COMPARISONS: Mapping[str, tuple[str, type[ast.cmpop]]] = {
    "<": ("lt", ast.Lt),
    "<=": ("le", ast.LtE),
    ">": ("gt", ast.Gt),
    ">=": ("ge", ast.GtE),
    "==": ("eq", ast.Eq),
    "!=": ("ne", ast.NotEq),
    "is": ("is_", ast.Is),
    "is not": ("is_not", ast.IsNot),
}
_UNARY: Mapping[str, tuple[str, type[ast.unaryop]]] = {
    "-": ("neg", ast.USub),
    "+": ("pos", ast.UAdd),
    "~": ("invert", ast.Invert),
    "not": ("not_", ast.Not),
}


@final
@nodeclass(frozen=True, slots=True)
class Binary:
    """`left sign right`"""

    sign: type[ast.operator]
    left: Value
    right: Value


@final
@nodeclass(frozen=True, slots=True)
class Comparison:
    """`left sign right`, left is evaluated first (in `x in y` that is the second argument of `operator.contains`)."""

    sign: type[ast.cmpop]
    left: Value
    right: Value


@final
@nodeclass(frozen=True, slots=True)
class Unary:
    """`sign x`"""

    sign: type[ast.unaryop]
    operand: Value


@final
@nodeclass(frozen=True, slots=True)
class InPlace:
    """`target sign= right` as a statement, the target being the name of the result."""

    sign: type[ast.operator]
    target: Value
    right: Value


@final
@nodeclass(frozen=True, slots=True)
class Attribute:
    """`x.name`"""

    operand: Value
    name: str


@final
@nodeclass(frozen=True, slots=True)
class Item:
    """`x[index]`"""

    operand: Value
    index: Value


@final
@nodeclass(frozen=True, slots=True)
class SliceOf:
    """`slice(start, stop, step)`, which inside of brackets is `start:stop:step`."""

    parts: tuple[Value, ...]


@final
@nodeclass(frozen=True, slots=True)
class Store:
    """`x[index] = value`, `x.name = value`, `del x[index]`, `del x.name`, `x[index] += value`: statements. `place` is the
    index, or the name as a text; without a value it is a deletion. `outer` are the indices before it in `x[i][j] = value`."""

    operand: Value
    place: Value | str
    value: Value | None = None
    sign: type[ast.operator] | None = None
    outer: tuple[Value, ...] = ()


Notation = Binary | Comparison | Unary | InPlace | Attribute | Item | SliceOf

_Maker = Callable[..., Notation]


def _makers() -> dict[tuple[Any, int], _Maker]:
    """(function or sign, number of its arguments) -> the notation made of them."""
    makers: dict[tuple[Any, int], _Maker] = {}
    for sign, (name, node) in _BINARY.items():
        # The default arguments bind the node of this turn of the loop.
        makers[sign, 2] = makers[getattr(operator, name), 2] = lambda x, y, node=node: Binary(node, x, y)
        inplace = getattr(operator, "i" + name.rstrip("_"))
        makers[sign + "=", 2] = makers[inplace, 2] = lambda x, y, node=node: InPlace(node, x, y)
    for sign, (name, compare) in _COMPARISONS.items():
        makers[sign, 2] = makers[getattr(operator, name), 2] = lambda x, y, node=compare: Comparison(node, x, y)
    for sign, (name, unary) in _UNARY.items():
        makers[sign, 1] = makers[getattr(operator, name), 1] = lambda x, node=unary: Unary(node, x)
    makers["in", 2] = lambda x, y: Comparison(ast.In, x, y)
    makers["not in", 2] = lambda x, y: Comparison(ast.NotIn, x, y)
    makers[operator.contains, 2] = lambda container, item: Comparison(ast.In, item, container)
    makers[operator.getitem, 2] = Item
    return makers


_MAKERS = _makers()


def in_place_function(sign: type[ast.operator]) -> Const:
    """`operator.iadd` for `+`: what `x += y` is as a call."""
    (name,) = (name for name, node in _BINARY.values() if node is sign)
    name = "i" + name.rstrip("_")
    return Const(getattr(operator, name), f"operator.{name}", operator)


def operator_name(sign: type[Sign]) -> str:
    """`add` for `+`: what the operation is called in the module `operator`."""
    return _NAMES[sign]


_NAMES: Mapping[type[Sign], str] = {
    **{node: name for table in (_BINARY, _COMPARISONS, _UNARY) for name, node in table.values()},
    ast.In: "contains",
    ast.NotIn: "not_contains",
}


_MOST = 4096
_known: dict[int, tuple[Op, Notation | None]] = {}
"""What was found last, by the identity of the operation: emission asks a dozen times for each."""


def notation(op: Op) -> Notation | None:
    """How an operation is written, or None if it is a call or a display."""
    callee = op.callee
    if isinstance(callee, Const):
        if op.keywords or (type(callee.value) is not BuiltinFunctionType and callee.value is not slice):
            return None
        known = _known.get(id(op))
        if known is None or known[0] is not op:
            if len(_known) > _MOST:
                _known.clear()
            known = _known[id(op)] = op, _notation_of_call(callee.value, op.arguments)
        return known[1]
    if callee is Opcode.INFIX:
        return _MAKERS[op.payload.removesuffix("x"), len(op.arguments)](*op.arguments)
    if callee is Opcode.GETITEM:
        return Item(*op.arguments)
    return Attribute(op.arguments[0], op.payload) if callee is Opcode.GETATTR else None


_IN_PLACE = frozenset(id(getattr(operator, "i" + name.rstrip("_"))) for name, _ in _BINARY.values())


def is_in_place(op: Op) -> bool:
    """Whether an operation is written as `InPlace`."""
    callee = op.callee
    if isinstance(callee, Const):
        return id(callee.value) in _IN_PLACE and len(op.arguments) == 2 and not op.keywords
    return callee is Opcode.INFIX and op.payload.removesuffix("=") in _BINARY and op.payload not in _BINARY


def _notation_of_call(callee: Any, arguments: tuple[Value, ...]) -> Notation | None:
    if type(callee) is not BuiltinFunctionType:
        return SliceOf(arguments) if callee is slice and 1 <= len(arguments) <= 3 else None
    if callee is builtins.getattr:
        return _attribute(arguments)
    make = _MAKERS.get((callee, len(arguments)))
    return make(*arguments) if make is not None else None


def _attribute(arguments: tuple[Value, ...]) -> Attribute | None:
    match arguments:
        case (operand, Const(value=str() as name)) if is_plain_name(name):
            return Attribute(operand, name)
    return None


def is_plain_name(text: str) -> bool:
    """An identifier that may be assigned to."""
    return text.isidentifier() and not keyword.iskeyword(text)


def store(op: Op) -> Store | None:
    """How an operation whose result nobody reads is written as a statement that stores or deletes."""
    if op.callee is Opcode.STORE:
        sign = _BINARY[op.payload.sign][1] if isinstance(op.payload, Augmented) else None
        items, *outer, index, item = op.arguments
        return Store(items, index, item, sign, tuple(outer))
    if not isinstance(op.callee, Const) or not isinstance(op.payload, Form | Augmented):
        return None
    if isinstance(op.payload, Augmented):
        operand, index, value = op.arguments
        return Store(operand, index, value, _BINARY[op.payload.sign][1])
    match op.callee.value, op.arguments:
        case operator.setitem, (operand, index, value):
            return Store(operand, index, value)
        case operator.delitem, (operand, index):
            return Store(operand, index)
        case builtins.setattr, (operand, Const(value=str() as name), value) if is_plain_name(name):
            return Store(operand, name, value)
        case builtins.delattr, (operand, Const(value=str() as name)) if is_plain_name(name):
            return Store(operand, name)
    return None


def operands(op: Op) -> tuple[Value, ...]:
    """The values that an operation reads, in the order in which its text evaluates them."""
    statement = store(op)
    if statement is not None and statement.sign is not None:
        return op.arguments
    if statement is not None:
        first = () if statement.value is None else (statement.value,)
        place = () if isinstance(statement.place, str) else (statement.place,)
        return (*first, statement.operand, *statement.outer, *place)
    match notation(op):
        case Binary(left=left, right=right) | Comparison(left=left, right=right):
            return (left, right)
        case Unary(operand=operand) | Attribute(operand=operand):
            return (operand,)
        case InPlace(target=target, right=right):
            return (target, right)
        case Item(operand=operand, index=index):
            return (operand, index)
        case SliceOf(parts=parts):
            return parts
    head = () if isinstance(op.callee, Opcode) else (op.callee,)
    return (*head, *op.arguments, *(value for _, value in op.keywords))
