"""Syntax trees -> text, which is read back and compared with the tree. The only module that imports astor."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable

from microgradpy.codegen.quick_printing import quoted
from microgradpy.errors import CompilerBug
from microgradpy.quiet import without_warnings

with warnings.catch_warnings():
    # astor 0.8.1 names syntax nodes that Python has deprecated.
    warnings.simplefilter("ignore", DeprecationWarning)
    import astor


def print_statement(statement: ast.stmt) -> str:
    """The text of a statement, one line for each line of its block: astor prints it, `ast.unparse` where astor cannot."""
    statement = ast.fix_missing_locations(statement)
    printers = (_print_with_astor, ast.unparse)
    for print_tree in reversed(printers) if _has_single(statement) else printers:
        text = _try(print_tree, statement)
        if text and _is_same_as(text, statement):
            return text
    raise CompilerBug(f"a statement that cannot be printed: {ast.dump(statement)}")


def _has_single(statement: ast.stmt) -> bool:
    """Whether a tuple of one item stands where astor leaves out the parentheses: `a = b,` is easily read as `a = b`."""
    match statement:
        case ast.Assign(value=ast.Tuple(elts=[_])) | ast.Return(value=ast.Tuple(elts=[_])):
            return True
    return False


def _print_with_astor(statement: ast.stmt) -> str:
    with without_warnings():
        # astor would break lines at 100 columns and strings over lines; here a statement is a line.
        text = astor.to_source(statement, pretty_source="".join, pretty_string=_plain_string)
    return str(text).rstrip("\n")


def _plain_string(text: str, *_: object, **__: object) -> str:
    return quoted(text)


def _try(print_tree: Callable[[ast.stmt], str], statement: ast.stmt) -> str:
    # A printer that does not know a node may raise anything; the other one is asked then.
    try:
        return print_tree(statement)
    except Exception:
        return ""


def _is_same_as(text: str, statement: ast.stmt) -> bool:
    body = parsed(text)
    return len(body) == 1 and is_same(body[0], statement)


def parsed(text: str) -> list[ast.stmt]:
    """The statements of a text, none if it is no program."""
    try:
        return ast.parse(text).body
    except SyntaxError:
        return []


_FIELDS: dict[type, tuple[str, ...]] = {
    node: tuple(name for name in node._fields if name not in ("ctx", "kind", "type_comment", "type_params"))
    for node in vars(ast).values()
    if isinstance(node, type) and issubclass(node, ast.AST)
}


def is_same(first: object, second: object) -> bool:
    """Whether two syntax trees are the same but for their places; where a name is read and where it is assigned follows from
    what it stands in."""
    waiting = [(first, second)]
    while waiting:
        one, other = waiting.pop()
        fields = _FIELDS.get(type(one))
        if type(one) is not type(other) or (fields is None and repr(one) != repr(other)):
            return False
        for name in fields or ():
            part, counterpart = getattr(one, name, None), getattr(other, name, None)
            kind = type(part)
            if part is counterpart:
                continue
            if kind is not type(counterpart):
                return False
            if isinstance(part, list) and isinstance(counterpart, list):
                if len(part) != len(counterpart):
                    return False
                waiting += zip(part, counterpart, strict=True)
            elif kind in _FIELDS:
                waiting.append((part, counterpart))
            elif repr(part) != repr(counterpart):
                return False
    return True
