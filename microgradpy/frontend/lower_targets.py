"""Assignment: what a target does with a value.

a, b = b, a + b     ->  the names are renamed at once, no tuple is made
a, b = pair         ->  %1/a, %2/b = unpack(pair)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from microgradpy.frontend import exceptions, fence
from microgradpy.frontend.lower_core import EXPRESSIONS, Lowering, lowers
from microgradpy.frontend.lower_variables import assign_global, assign_shared
from microgradpy.frontend.resolve import builtin
from microgradpy.ir.nodes import STATEMENT, Const, Op, Opcode, Value, Var, function_constant, operator_constant


def name_of(target: ast.expr | None) -> str:
    """What the user calls a value that is assigned to a target; empty if it gets no name of its own."""
    return target.id if isinstance(target, ast.Name) else ""


def is_pattern(target: ast.expr | None) -> bool:
    """Whether a target is `a, b` or `[a, b]` without a star."""
    return isinstance(target, ast.Tuple | ast.List) and not any(isinstance(item, ast.Starred) for item in target.elts)


def unpack(low: Lowering, value: Value, variables: tuple[Var, ...], node: ast.AST) -> None:
    """Take a value apart. In the body of a `try` a mark says that the user's code has given the items."""
    if low.scopes and isinstance(value, Var) and low.unit.effects.marked():
        value = low.emit(function_constant(exceptions.items_of), value, Const(len(variables)), node=node, name=".items")
    low.block.statements.append(Op(Opcode.UNPACK, (value,), variables, where=low.location(node)))


def assign(low: Lowering, target: ast.expr, value: Value) -> None:
    """Give a target its value; refuses what would write to an object or to another function's variable."""
    match target:
        case ast.Name():
            assign_name(low, target.id, value, target)
        case ast.Tuple(elts=items) | ast.List(elts=items) if is_pattern(target):
            variables = tuple(low.variable(name_of(item)) for item in items)
            unpack(low, value, variables, target)
            for item, variable in zip(items, variables, strict=True):
                assign(low, item, variable)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            _assign_starred(low, items, value, target)
        case ast.Attribute(value=owner, attr=name):
            low.emit(builtin(setattr), low.expression(owner), Const(name), value, node=target, payload=STATEMENT)
        case ast.Subscript(value=owner, slice=index):
            place = low.expression(owner), low.expression(index)
            low.emit(operator_constant("setitem"), *place, value, node=target, payload=STATEMENT)
        case _:
            low.refuse(fence.UNKNOWN_SYNTAX, target)


def _assign_starred(low: Lowering, items: Sequence[ast.expr], value: Value, node: ast.expr) -> None:
    """`first, *middle, last = xs` takes items 0, 1:-1 and -1 of `list(xs)`, which has to be long enough."""
    star = next(index for index, item in enumerate(items) if isinstance(item, ast.Starred))
    after = len(items) - star - 1
    values = low.emit(builtin(list), value, node=node)
    length = low.emit(builtin(len), values, node=node)

    def fail() -> None:
        start = f"not enough values to unpack (expected at least {len(items) - 1}, got "
        message = low.emit(Opcode.JOIN, Const(start), low.emit(builtin(str), length, node=node), Const(")"), node=node)
        low.raise_builtin(ValueError, message, node=node)

    if len(items) > 1:
        is_short = low.emit(Opcode.INFIX, length, Const(len(items) - 1), node=node, payload="<")
        low.branch(is_short, fail, lambda: None, node)
    taken: list[tuple[ast.expr, Value]] = []
    for index, item in enumerate(items):
        if isinstance(item, ast.Starred):
            stop = Const(-after if after else None)
            key: Value = low.emit(builtin(slice), Const(star), stop, Const(None), node=item)
            item = item.value
        else:
            key = Const(index if index < star else index - len(items))
        taken.append((item, low.emit(Opcode.GETITEM, values, key, node=item, name=name_of(item))))
    for item, part in taken:
        assign(low, item, part)


def assign_name(low: Lowering, name: str, value: Value, node: ast.AST) -> None:
    """Give a variable its value, whoever it belongs to."""
    if low.is_shared(name):
        assign_shared(low, name, value, node)
    elif low.is_local(name):
        low.env[name] = value
        low.mark()
    else:
        assign_global(low, name, value, node)


@lowers(EXPRESSIONS, ast.NamedExpr)
def lower_named_expression(low: Lowering, node: ast.NamedExpr, name: str) -> Value:
    """`(x := value)`; in a comprehension it binds in the function around."""
    value = low.expression(node.value, node.target.id)
    assign_name(low, node.target.id, value, node)
    return value


def assign_expression(low: Lowering, targets: Sequence[ast.expr], node: ast.expr) -> None:
    """`target = ... = expression`: the expression is evaluated once, then the targets get it from left to right."""
    pairs = _pairs(targets[0], node) if len(targets) == 1 else None
    if pairs is not None:
        values = [low.expression(value, name_of(target)) for target, value in pairs]
        for (target, _), value in zip(pairs, values, strict=True):
            assign(low, target, value)
        return
    name = next((name_of(target) for target in targets if isinstance(target, ast.Name)), "")
    value = low.expression(node, name)
    for target in targets:
        assign(low, target, value)


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]] | None:
    """The single assignments that `a, (b, c) = x, (y, z)` consists of; None if the two sides do not match."""
    if not is_pattern(target):
        return [(target, value)] if not isinstance(target, ast.Tuple | ast.List) else None
    assert isinstance(target, ast.Tuple | ast.List)
    if not isinstance(value, ast.Tuple | ast.List) or not is_pattern(value) or len(value.elts) != len(target.elts):
        return None
    found: list[tuple[ast.expr, ast.expr]] = []
    for left, right in zip(target.elts, value.elts, strict=True):
        found += _pairs(left, right) or [(left, right)]
    return found
