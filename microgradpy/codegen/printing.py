"""Syntax trees -> text. The only module that imports astor."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable

from microgradpy.errors import CompilerBug

with warnings.catch_warnings():
    # astor 0.8.1 names syntax nodes that Python has deprecated.
    warnings.simplefilter("ignore", DeprecationWarning)
    import astor


def print_statement(statement: ast.stmt) -> str:
    """The text of a statement, one line for each line of its block. The text is read back and compared with the tree:
    astor prints it, `ast.unparse` where astor cannot."""
    statement = ast.fix_missing_locations(statement)
    wanted = ast.dump(statement)
    printers = (_print_with_astor, ast.unparse)
    for print_tree in reversed(printers) if _has_single(statement) else printers:
        text = _try(print_tree, statement)
        if text and _dump(text) == wanted:
            return text
    raise CompilerBug(f"a statement that cannot be printed: {wanted}")


def _has_single(statement: ast.stmt) -> bool:
    """Whether a tuple of one item stands where astor leaves out the parentheses: `a = b,` is easily read as `a = b`."""
    match statement:
        case ast.Assign(value=ast.Tuple(elts=[_])) | ast.Return(value=ast.Tuple(elts=[_])):
            return True
    return False


def _print_with_astor(statement: ast.stmt) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        # astor would break lines at 100 columns and strings over lines; here a statement is a line.
        text = astor.to_source(statement, pretty_source="".join, pretty_string=_plain_string)
    return str(text).rstrip("\n")


def _plain_string(text: str, *_: object, **__: object) -> str:
    quoted = repr(text)
    return quoted if '"' in quoted or "\\" in quoted else f'"{quoted[1:-1]}"'


def _try(print_tree: Callable[[ast.stmt], str], statement: ast.stmt) -> str:
    # A printer that does not know a node may raise anything; the other one is asked then.
    try:
        return print_tree(statement)
    except Exception:
        return ""


def _dump(text: str) -> str:
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return ""
    return ast.dump(body[0]) if len(body) == 1 else ""
