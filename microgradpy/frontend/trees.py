"""Going through syntax trees, as `ast.walk` does but for contexts and operators: most of the nodes, which nobody looks for."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator

_FIELDS: dict[type, tuple[str, ...]] = {
    **{
        node: tuple(name for name in node._fields if name not in ("ctx", "op", "ops", "id", "attr"))
        for node in vars(ast).values()
        if isinstance(node, type) and issubclass(node, ast.AST)
    },
    ast.Constant: (),
}


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly in a node, in their order."""
    found: list[ast.AST] = []
    for name in _FIELDS[type(node)]:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
    return found


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all nodes in it, the outer ones first."""
    waiting = deque([node])
    while waiting:
        inner = waiting.popleft()
        waiting.extend(children(inner))
        yield inner


_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")


def blocks(statement: ast.AST) -> list[ast.AST]:
    """What is directly in the blocks of a statement, of a handler or of a case."""
    found: list[ast.AST] = []
    for name in _BLOCKS:
        block = getattr(statement, name, None)
        if isinstance(block, list):
            found += block
    return found


def walk_statements(statements: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Statements and those in their blocks, also of functions in them, with handlers and cases; the outer ones first."""
    waiting = deque(statements)
    while waiting:
        statement = waiting.popleft()
        waiting.extend(blocks(statement))
        yield statement
