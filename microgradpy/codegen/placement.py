"""Lets generated code count as the user's own lines: syntax trees get the places that their operations come from.

    y_value, y_saved = helper_primal(x)        has the position of `helper(x)` in the user's file

Compiled from such a tree, a primal shows up in tracebacks, warnings, profiles and debuggers as the function it stands for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from microgradpy.ir.nodes import Location


def place(function: ast.FunctionDef, places: Mapping[ast.AST, Location], file: str, first_line: int) -> None:
    """Give each node of a function the position in `file` that `places` has for it. A statement without one counts as
    part of the statement before it, an expression without one as part of what it is in."""
    _put(function, Location(file, first_line))
    last: ast.stmt = function
    for statement in _statements(function.body):
        where = places.get(statement)
        if where is None or not where.line or where.file != file:
            ast.copy_location(statement, last)
        else:
            _put(statement, where)
            last = statement
        for node in _expressions(statement):
            where = places.get(node)
            if where is not None and where.line and where.file == file:
                _put(node, where)
    ast.fix_missing_locations(function)


def _put(node: ast.stmt | ast.expr, where: Location) -> None:
    node.lineno, node.col_offset = where.line, where.column
    # A place that only names a line is an empty range, which the compiler accepts.
    node.end_lineno, node.end_col_offset = (where.end_line, where.end_column) if where.end_line else (where.line, where.column)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements of a block in the order of their lines."""
    for statement in body:
        yield statement
        match statement:
            case ast.If() | ast.For() | ast.While():
                yield from _statements(statement.body)
                yield from _statements(statement.orelse)
            case ast.Try():
                yield from _statements(statement.body)
                for handler in statement.handlers:
                    yield from _statements(handler.body)


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement, without those of the statements in it."""
    waiting = list(ast.iter_child_nodes(statement))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.stmt):
            waiting += ast.iter_child_nodes(node)
            if isinstance(node, ast.expr):
                yield node
