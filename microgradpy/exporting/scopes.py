"""Which names of a piece of text are its own, and which mean something outside of it."""

from __future__ import annotations

import ast
import builtins
import symtable
import types
from collections.abc import Iterator, Mapping
from typing import Any

MISSING = object()
"""What a name means that means nothing."""


def lookup(name: str, namespace: Mapping[str, Any]) -> Any:
    """What a name means in a module, `MISSING` if nothing."""
    return namespace[name] if name in namespace else getattr(builtins, name, MISSING)


def meaning_of(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    """What an expression of names and attributes of modules means; `MISSING` for any other."""
    match node:
        case ast.Name(id=name):
            return lookup(name, namespace)
        case ast.Attribute(value=value, attr=attribute):
            owner = meaning_of(value, namespace)
            return getattr(owner, attribute, MISSING) if isinstance(owner, types.ModuleType | type) else MISSING
        case ast.Subscript(value=ast.Name(id="module_globals"), slice=ast.Constant(value=str(name))):
            return lookup(name, namespace.get("module_globals", {}))
    return MISSING


def bound_names(tree: ast.AST) -> set[str]:
    """Every name that is bound anywhere in a tree."""
    return {name for node in ast.walk(tree) for name in _bound_by(node)}


def _bound_by(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case ast.alias(name=name, asname=other):
            yield other or name.partition(".")[0]


def outer_names(tree: ast.stmt) -> list[str]:
    """The names that a statement reads of its module or of the builtins, in the order of the text."""
    module = ast.fix_missing_locations(ast.Module([tree], []))
    table = symtable.symtable(ast.unparse(module), "<text>", "exec")
    own = {tree.name} - _loaded(tree) if isinstance(tree, ast.FunctionDef | ast.ClassDef) else set()
    found = {name for inner in _tables(table) for name in _read_from_module(inner)}
    ordered = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return list(dict.fromkeys(name for name in ordered if name in found and name not in own))


def _loaded(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)


def _read_from_module(table: symtable.SymbolTable) -> Iterator[str]:
    is_module = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (symbol.is_global() or is_module):
            yield symbol.get_name()


class Renamer(ast.NodeTransformer):
    """Writes other expressions for names."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        text = self.texts.get(node.id)
        if text is None or text == node.id:
            return node
        return ast.parse(text, mode="eval").body


def edited(text: str, edits: list[tuple[ast.AST, str]]) -> str:
    """A text with expressions of it replaced; the comments stay. The tree is that of this text."""
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    for node, new in sorted(edits, key=lambda edit: _start(edit[0]), reverse=True):
        line, column, end_line, end = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        assert line == end_line
        content = lines[line - 1]
        lines[line - 1] = content[:column] + new.encode() + content[end:]
    return b"".join(lines).decode()


def _start(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]
