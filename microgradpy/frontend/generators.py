"""The syntax of generators: a generator expression as the function that it is, and expressions in which a function yields."""

from __future__ import annotations

import ast
from typing import Any, TypeVar

from microgradpy.frontend.codes import GENERATOR_EXPRESSION
from microgradpy.frontend.trees import children

Node = TypeVar("Node", bound=ast.AST)
FIRST_ITERABLE = ".0"
"""What Python calls the parameter for what a generator expression runs over first."""


def function_of_expression(node: ast.GeneratorExp) -> ast.FunctionDef:
    """The function that Python makes of a generator expression.

    (f(x) for x in xs if x > 0)     def <genexpr>(.0): for x in .0: if x > 0: yield f(x)
    """
    body: ast.stmt = ast.Expr(_at(node.elt, ast.Yield(node.elt)))
    for number, generator in reversed(list(enumerate(node.generators))):
        for condition in reversed(generator.ifs):
            body = ast.If(condition, [_at(condition, body)], [])
        items = generator.iter if number else _at(generator.iter, ast.Name(FIRST_ITERABLE, ast.Load()))
        loop = ast.AsyncFor if generator.is_async else ast.For
        body = _at(generator.target, loop(generator.target, items, [_at(node.elt, body)], []))
    arguments = ast.arguments([], [_at(node, ast.arg(FIRST_ITERABLE))], None, [], [], None, [])
    function = ast.FunctionDef(GENERATOR_EXPRESSION, arguments, [body], [], None, None)
    function.type_params = []  # type: ignore[attr-defined,unused-ignore]  # required from 3.12 on
    return ast.fix_missing_locations(_at(node, function))


def iterator_of(source: Any, function: Any) -> Any:
    """What Python calls a generator expression with: the iterator of what it runs over first. (With anything else its code
    crashes the interpreter.)"""
    return iter(source)


def _at(place: ast.expr, node: Node) -> Node:
    return ast.copy_location(node, place)


def suspends(node: ast.expr) -> bool:
    """Whether a function may yield while it evaluates an expression."""
    pending: list[ast.AST] = [node]
    while pending:
        inner = pending.pop()
        if isinstance(inner, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(inner, ast.Lambda):
            pending.extend(children(inner))
    return False
