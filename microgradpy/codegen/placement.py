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
    last = _put(function, _range(Location(file, first_line)))
    _place_inside(function, last, places, file)
    for statement in _statements(function.body):
        where = _within(file, places.get(statement))
        if where is not None:
            last = _range(where)
        _place_inside(statement, _put(statement, last), places, file)


def _within(file: str, where: Location | None) -> Location | None:
    """The place of an operation in a file: where that was called, if it is of another one."""
    while where is not None and where.file != file:
        where = where.called_at
    return where if where is not None and where.line else None


_Range = tuple[int, int, int, int]


def _range(where: Location) -> _Range:
    # A place that only names a line is an empty range, which the compiler accepts.
    end = (where.end_line, where.end_column) if where.end_line else (where.line, where.column)
    return where.line, where.column, *end


def _put(node: ast.AST, found: _Range) -> _Range:
    node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = found  # type: ignore[attr-defined]
    return found


def _place_inside(around: ast.AST, outer: _Range, places: Mapping[ast.AST, Location], file: str) -> None:
    """Give what is in a node, but for the statements in it, its position."""
    for node in parts_of(around):
        if isinstance(node, ast.stmt):
            continue
        where = places.get(node) if isinstance(node, ast.expr) else None
        if where is not None:
            where = _within(file, where)
        own = outer if where is None else _range(where)
        if node._attributes:
            _put(node, own)
        _place_inside(node, own, places, file)


_PARTS: dict[type, tuple[str, ...]] = {
    **{
        node: tuple(name for name in node._fields if name not in ("ctx", "op", "ops", "id", "attr"))
        for node in vars(ast).values()
        if isinstance(node, type) and issubclass(node, ast.AST)
    },
    ast.Constant: (),
}


def parts_of(node: ast.AST) -> list[ast.AST]:
    """The nodes directly in a node that are from some place, in their order."""
    found: list[ast.AST] = []
    for name in _PARTS[type(node)]:
        part = getattr(node, name, None)
        if isinstance(part, ast.AST):
            found.append(part)
        elif isinstance(part, list):
            found += [each for each in part if isinstance(each, ast.AST)]
    return found


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
