"""Names, operators, displays, subscripts, f-strings and conditional expressions."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence

from microgradpy.frontend import fence
from microgradpy.frontend.lower_core import EXPRESSIONS, MISSING, Lowering, lowers
from microgradpy.frontend.lower_variables import read_shared
from microgradpy.frontend.resolve import builtin
from microgradpy.ir.nodes import Const, Opcode, Undefined, Value, function_constant
from microgradpy.runtime.opaque import check_assigned

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.Not: "not",
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Invert: "~",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}

_CONVERSIONS = {ord("s"): str, ord("r"): repr, ord("a"): ascii}


@lowers(EXPRESSIONS, ast.Constant)
def lower_constant(low: Lowering, node: ast.Constant, name: str) -> Value:
    return Const(node.value)


@lowers(EXPRESSIONS, ast.Name)
def lower_name(low: Lowering, node: ast.Name, name: str) -> Value:
    """A local variable's value, a folded module-level name, or a module variable read when executed."""
    if low.is_shared(node.id):
        return read_shared(low, node.id, node, name or node.id)
    if node.id in low.env or low.is_local(node.id):
        value = low.env.get(node.id)
        if value is None or isinstance(value, Undefined) or value == MISSING:
            message = f"cannot access local variable '{node.id}' where it is not associated with a value"
            low.raise_builtin(UnboundLocalError, Const(message), node=node)
        if node.id in low.unit.fragile and value in low.perhaps_unassigned:
            low.emit(function_constant(check_assigned), value, Const(node.id), node=node)
        return value
    if node.id == "__debug__":
        return Const(__debug__)  # a constant of Python's, that no module and no builtin holds
    constant = low.unit.resolver.name(node.id)
    return constant if constant is not None else low.emit(Opcode.GLOBAL, node=node, name=name, payload=node.id)


@lowers(EXPRESSIONS, ast.Attribute)
def lower_attribute(low: Lowering, node: ast.Attribute, name: str) -> Value:
    value = low.expression(node.value)
    if node.attr in fence.OF_FRAMES:
        low.refuse(fence.frame_access(node.attr), node)
    constant = low.unit.resolver.attribute(value, node.attr) if isinstance(value, Const) else None
    if constant is not None:
        return constant
    value = low.unit.resolver.source(value, node.attr) if isinstance(value, Const) else value
    return low.emit(Opcode.GETATTR, value, node=node, name=name, payload=node.attr)


@lowers(EXPRESSIONS, ast.Subscript)
def lower_subscript(low: Lowering, node: ast.Subscript, name: str) -> Value:
    value = low.expression(node.value)
    return low.emit(Opcode.GETITEM, value, low.expression(node.slice), node=node, name=name)


@lowers(EXPRESSIONS, ast.Slice)
def lower_slice(low: Lowering, node: ast.Slice, name: str) -> Value:
    parts = [Const(None) if part is None else low.expression(part) for part in (node.lower, node.upper, node.step)]
    if all(isinstance(part, Const) and not part.path and isinstance(part.value, int | None) for part in parts):
        return Const(slice(*(part.value for part in parts if isinstance(part, Const))))
    return low.emit(builtin(slice), *parts, node=node, name=name)


@lowers(EXPRESSIONS, ast.BinOp)
def lower_binary(low: Lowering, node: ast.BinOp, name: str) -> Value:
    left = low.expression(node.left)
    right = low.expression(node.right)
    return low.emit(Opcode.INFIX, left, right, node=node, name=name, payload=OPERATORS[type(node.op)])


@lowers(EXPRESSIONS, ast.UnaryOp)
def lower_unary(low: Lowering, node: ast.UnaryOp, name: str) -> Value:
    operand = low.expression(node.operand)
    if isinstance(node.op, ast.USub) and isinstance(operand, Const) and type(operand.value) in (int, float, complex):
        return Const(-operand.value) if not operand.path else _negate(low, operand, node, name)
    return low.emit(Opcode.INFIX, operand, node=node, name=name, payload=OPERATORS[type(node.op)])


def _negate(low: Lowering, operand: Const, node: ast.UnaryOp, name: str) -> Value:
    """`-np.inf` stays as it is written."""
    return low.emit(Opcode.INFIX, operand, node=node, name=name, payload="-")


@lowers(EXPRESSIONS, ast.BoolOp)
def lower_boolean(low: Lowering, node: ast.BoolOp, name: str) -> Value:
    """`a and b` is `b if a else a`, with `a` evaluated once."""
    return _lower_operands(low, node, node.values, name)


def _lower_operands(low: Lowering, node: ast.BoolOp, operands: Sequence[ast.expr], name: str) -> Value:
    first, *rest = operands
    if not rest:
        return low.expression(first)
    value = low.expression(first)
    if isinstance(node.op, ast.And):
        return low.select(value, lambda: _lower_operands(low, node, rest, name), lambda: value, node, name)
    return low.select(value, lambda: value, lambda: _lower_operands(low, node, rest, name), node, name)


@lowers(EXPRESSIONS, ast.Compare)
def lower_comparison(low: Lowering, node: ast.Compare, name: str) -> Value:
    """`a < b < c` is `a < b and b < c` with `b` evaluated once."""
    return _lower_links(low, node, low.expression(node.left), 0, name)


def _lower_links(low: Lowering, node: ast.Compare, left: Value, index: int, name: str) -> Value:
    right = low.expression(node.comparators[index])
    last = index + 1 == len(node.ops)
    operator = OPERATORS[type(node.ops[index])]
    value = low.emit(Opcode.INFIX, left, right, node=node, name=name if last else "", payload=operator)
    if last:
        return value
    return low.select(value, lambda: _lower_links(low, node, right, index + 1, name), lambda: value, node, name)


@lowers(EXPRESSIONS, ast.IfExp)
def lower_conditional(low: Lowering, node: ast.IfExp, name: str) -> Value:
    condition = low.expression(node.test)
    return low.select(condition, lambda: low.expression(node.body, name), lambda: low.expression(node.orelse, name), node, name)


@lowers(EXPRESSIONS, ast.Tuple)
def lower_tuple(low: Lowering, node: ast.Tuple, name: str) -> Value:
    return lower_display(low, Opcode.TUPLE, node.elts, node, name)


@lowers(EXPRESSIONS, ast.List)
def lower_list(low: Lowering, node: ast.List, name: str) -> Value:
    return lower_display(low, Opcode.LIST, node.elts, node, name)


@lowers(EXPRESSIONS, ast.Set)
def lower_set(low: Lowering, node: ast.Set, name: str) -> Value:
    if any(isinstance(item, ast.Starred) for item in node.elts):
        return low.emit(builtin(set), lower_display(low, Opcode.LIST, node.elts, node), node=node, name=name)
    return low.emit(Opcode.SET, *map(low.expression, node.elts), node=node, name=name)


def lower_display(low: Lowering, opcode: Opcode, items: Sequence[ast.expr], node: ast.AST, name: str = "") -> Value:
    """A tuple or list of items; starred ones are added to it: `(a, *b)` is `(a,) + tuple(b)`."""
    if not any(isinstance(item, ast.Starred) for item in items):
        return low.emit(opcode, *map(low.expression, items), node=node, name=name)
    make = builtin(builtins.tuple if opcode is Opcode.TUPLE else builtins.list)
    pieces: list[Value] = []
    plain: list[Value] = []
    for item in items:
        if not isinstance(item, ast.Starred):
            plain.append(low.expression(item))
            continue
        if plain:
            pieces.append(low.emit(opcode, *plain, node=node))
            plain = []
        starred = item.value
        if isinstance(starred, ast.GeneratorExp):  # all that it gives is taken at once
            starred = ast.copy_location(ast.ListComp(starred.elt, starred.generators), starred)
        pieces.append(low.emit(make, low.expression(starred), node=item))
    if plain:
        pieces.append(low.emit(opcode, *plain, node=node))
    total, *others = pieces
    for piece in others:
        total = low.emit(Opcode.INFIX, total, piece, node=node, name=name, payload="+")
    return total


@lowers(EXPRESSIONS, ast.Dict)
def lower_dict(low: Lowering, node: ast.Dict, name: str) -> Value:
    """A dict display; `{**a, k: v}` is `dict(a) | {k: v}`."""
    if None not in node.keys:
        return low.emit(Opcode.DICT, *_lower_pairs(low, node, 0, len(node.keys)), node=node, name=name)
    pieces: list[Value] = []
    start = 0
    for index, key in enumerate([*node.keys, None]):
        if key is None:
            if start < index:
                pieces.append(low.emit(Opcode.DICT, *_lower_pairs(low, node, start, index), node=node))
            if index < len(node.values):
                pieces.append(low.emit(builtin(dict), low.expression(node.values[index]), node=node))
            start = index + 1
    total, *others = pieces
    for piece in others:
        total = low.emit(Opcode.INFIX, total, piece, node=node, name=name, payload="|")
    return total


def _lower_pairs(low: Lowering, node: ast.Dict, start: int, stop: int) -> list[Value]:
    values: list[Value] = []
    for key, value in zip(node.keys[start:stop], node.values[start:stop], strict=True):
        assert key is not None
        values += (low.expression(key), low.expression(value))
    return values


@lowers(EXPRESSIONS, ast.JoinedStr)
def lower_f_string(low: Lowering, node: ast.JoinedStr, name: str) -> Value:
    return low.emit(Opcode.JOIN, *map(low.expression, node.values), node=node, name=name)


@lowers(EXPRESSIONS, ast.FormattedValue)
def lower_formatted_value(low: Lowering, node: ast.FormattedValue, name: str) -> Value:
    """`{value!r:spec}`: converted first, then formatted."""
    value = low.expression(node.value)
    if node.conversion in _CONVERSIONS:
        value = low.emit(builtin(_CONVERSIONS[node.conversion]), value, node=node)
        if node.format_spec is None:
            return value
    spec = Const("") if node.format_spec is None else low.expression(node.format_spec)
    return low.emit(builtin(format), value, spec, node=node)
