"""Simple statements, `if`, `assert` and `raise`."""

from __future__ import annotations

import ast
from dataclasses import replace

from microgradpy.frontend import fence
from microgradpy.frontend.lower_core import EXPRESSIONS, STATEMENTS, Lowering, lowers
from microgradpy.frontend.lower_expressions import OPERATORS
from microgradpy.frontend.lower_targets import assign, assign_expression, name_of
from microgradpy.frontend.places import Step
from microgradpy.ir.nodes import RAISED, Const, Op, Opcode, Raise, Value


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
    """Annotations of local variables are not evaluated by Python either."""
    if node.value is not None:
        assign_expression(low, [node.target], node.value)


@lowers(STATEMENTS, ast.AugAssign)
def lower_augmented_assignment(low: Lowering, node: ast.AugAssign, rest: Step) -> None:
    """`x += y` on a name makes a new version of `x`; whether it also writes to an array depends on what `x` is."""
    target = node.target
    if not isinstance(target, ast.Name):
        low.refuse(fence.ITEM_WRITE if isinstance(target, ast.Subscript) else fence.ATTRIBUTE_WRITE, node)
    current = EXPRESSIONS[ast.Name](low, target, "")
    value = low.expression(node.value)
    operator = OPERATORS[type(node.op)] + "="
    assign(low, target, low.emit(Opcode.INFIX, current, value, node=node, name=name_of(target), payload=operator))


@lowers(STATEMENTS, ast.Delete)
def lower_deletion(low: Lowering, node: ast.Delete, rest: Step) -> None:
    match node.targets[0]:
        case ast.Subscript():
            low.refuse(fence.ITEM_DELETION, node)
        case ast.Attribute():
            low.refuse(fence.ATTRIBUTE_DELETION, node)
    low.refuse(fence.NAME_DELETION, node)


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
