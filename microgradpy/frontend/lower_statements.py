"""Simple statements, `if`, `assert` and `raise`."""

from __future__ import annotations

import ast

from microgradpy.dataclasses import replace
from microgradpy.frontend.lower_core import EXPRESSIONS, MISSING, STATEMENTS, Lowering, lowers
from microgradpy.frontend.lower_expressions import OPERATORS
from microgradpy.frontend.lower_targets import assign, assign_expression, name_of
from microgradpy.frontend.lower_variables import delete_global, delete_shared
from microgradpy.frontend.places import Step
from microgradpy.frontend.resolve import builtin
from microgradpy.ir.nodes import RAISED, STATEMENT, Const, Op, Opcode, Raise, Value, operator_constant


def nothing() -> None:
    """The body of an arm in which nothing happens."""


@lowers(STATEMENTS, ast.Pass, ast.Global, ast.Nonlocal)
def lower_pass(low: Lowering, node: ast.stmt, rest: Step) -> None:
    """Declarations matter where the names are bound."""


@lowers(STATEMENTS, ast.Expr)
def lower_expression_statement(low: Lowering, node: ast.Expr, rest: Step) -> None:
    low.expression(node.value)


@lowers(STATEMENTS, ast.Return)
def lower_return(low: Lowering, node: ast.Return, rest: Step) -> None:
    low.return_value(Const(None) if node.value is None else low.expression(node.value), node)


@lowers(STATEMENTS, ast.Assign)
def lower_assignment(low: Lowering, node: ast.Assign, rest: Step) -> None:
    assign_expression(low, node.targets, node.value)


@lowers(STATEMENTS, ast.AnnAssign)
def lower_annotated_assignment(low: Lowering, node: ast.AnnAssign, rest: Step) -> None:
    """Annotations of local variables are not evaluated by Python either; what they annotate is, unless it is a name."""
    match node:
        case ast.AnnAssign(value=ast.expr() as value):
            assign_expression(low, [node.target], value)
        case ast.AnnAssign(target=ast.Attribute(value=inner)):
            low.expression(inner)
        case ast.AnnAssign(target=ast.Subscript(value=inner, slice=key)):
            low.expression(inner)
            low.expression(key)


@lowers(STATEMENTS, ast.AugAssign)
def lower_augmented_assignment(low: Lowering, node: ast.AugAssign, rest: Step) -> None:
    """`x += y` on a name makes a new version of `x`; whether it also writes to an array depends on what `x` is."""
    target = node.target
    sign = OPERATORS[type(node.op)] + "="
    match target:
        case ast.Name():
            current = EXPRESSIONS[ast.Name](low, target, "")
            value = low.expression(node.value)
            assign(low, target, low.emit(Opcode.INFIX, current, value, node=node, name=name_of(target), payload=sign))
        case ast.Subscript(value=owner, slice=index):
            container, place = low.expression(owner), low.expression(index)
            item = low.emit(Opcode.GETITEM, container, place, node=target)
            made = low.emit(Opcode.INFIX, item, low.expression(node.value), node=node, payload=sign)
            low.emit(operator_constant("setitem"), container, place, made, node=node, payload=STATEMENT)
        case ast.Attribute(value=owner, attr=name):
            holder = low.expression(owner)
            field = low.emit(Opcode.GETATTR, holder, node=target, payload=name)
            made = low.emit(Opcode.INFIX, field, low.expression(node.value), node=node, payload=sign)
            low.emit(builtin(setattr), holder, Const(name), made, node=node, payload=STATEMENT)


@lowers(STATEMENTS, ast.Delete)
def lower_deletion(low: Lowering, node: ast.Delete, rest: Step) -> None:
    for target in node.targets:
        _delete(low, target, node)


def _delete(low: Lowering, target: ast.expr, node: ast.Delete) -> None:
    match target:
        case ast.Name(id=name):
            if low.is_shared(name):
                delete_shared(low, name, node)
                return
            if not low.is_local(name):
                delete_global(low, name, node)
                return
            EXPRESSIONS[ast.Name](low, target, "")  # a name without value cannot be deleted
            low.env[name] = MISSING
        case ast.Tuple(elts=items) | ast.List(elts=items):
            for item in items:
                _delete(low, item, node)
        case ast.Subscript(value=owner, slice=index):
            container, place = low.expression(owner), low.expression(index)
            low.emit(operator_constant("delitem"), container, place, node=node, payload=STATEMENT)
        case ast.Attribute(value=owner, attr=name):
            low.emit(builtin(delattr), low.expression(owner), Const(name), node=node, payload=STATEMENT)


@lowers(STATEMENTS, ast.If)
def lower_if(low: Lowering, node: ast.If, rest: Step) -> bool:
    condition = low.expression(node.test)
    then, orelse = (lambda: low.statements(node.body, None)), (lambda: low.statements(node.orelse, None))
    return low.branch(condition, then, orelse, node, rest)


@lowers(STATEMENTS, ast.Assert)
def lower_assert(low: Lowering, node: ast.Assert, rest: Step) -> bool | None:
    if not __debug__:
        return None

    def fail() -> None:
        message = () if node.msg is None else (low.expression(node.msg),)
        low.raise_builtin(AssertionError, *message, node=node)

    return low.branch(low.expression(node.test), nothing, fail, node, rest)


@lowers(STATEMENTS, ast.Raise)
def lower_raise(low: Lowering, node: ast.Raise, rest: Step) -> None:
    exception = None if node.exc is None else _raised(low, node.exc)
    cause = None if node.cause is None else _raised(low, node.cause)
    low.leave(Raise(exception, cause, where=low.location(node)), raises=True)


def _raised(low: Lowering, node: ast.expr) -> Value:
    """An exception that is raised where it is made. Nothing else names it, so the program can read what it holds only after
    it is caught, which is checked; it may hold anything."""
    value = low.expression(node)
    made = low.block.statements[-1] if low.block.statements else None
    if isinstance(made, Op) and value in made.results and isinstance(made.callee, Const):
        if isinstance(made.callee.value, type) and issubclass(made.callee.value, BaseException):
            low.block.statements[-1] = replace(made, payload=RAISED)
    return value


@lowers(STATEMENTS, ast.Break)
def lower_break(low: Lowering, node: ast.Break, rest: Step) -> None:
    low.break_out()


@lowers(STATEMENTS, ast.Continue)
def lower_continue(low: Lowering, node: ast.Continue, rest: Step) -> None:
    low.go_on()
