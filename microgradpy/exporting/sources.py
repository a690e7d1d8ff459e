"""The text of functions, classes and variables that an exported module copies, and what the names in it mean."""

from __future__ import annotations

import ast
import copy
import inspect
import sys
import textwrap
import types
from collections.abc import Callable, Mapping
from typing import Any

from microgradpy.errors import DifferentiationError
from microgradpy.exporting.values import NotWritable, expression
from microgradpy.frontend.source import find_source

Refusal = Callable[[str, str], DifferentiationError]
"""From what was found and a remedy to the error."""


def function_text(function: types.FunctionType) -> tuple[ast.FunctionDef, str, Mapping[str, Any]]:
    """A function as one of a module: as a tree, as the text in its file (empty for a lambda), and what its names mean, captured
    variables among them."""
    found = find_source(function)
    tree: Any = copy.deepcopy(found.tree)
    text = ""
    if isinstance(tree, ast.Lambda):
        tree = ast.FunctionDef("function", tree.args, [ast.Return(tree.body)], [])
        tree.type_params = []
    else:
        text = textwrap.dedent("".join(found.lines[tree.lineno - 1 : tree.end_lineno]))
    tree.decorator_list = []
    _fix_defaults(tree.args, function)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    captured = {name: cell.cell_contents for name, cell in cells if cell != types.CellType()}
    return tree, text, function.__globals__ | captured if captured else function.__globals__


def _fix_defaults(arguments: ast.arguments, function: types.FunctionType) -> None:
    """Write the values of the defaults for the expressions that they were made by."""
    positional = zip(reversed(arguments.defaults), reversed(function.__defaults__ or ()), strict=True)
    arguments.defaults = [_written(node, value) for node, value in positional][::-1]
    named = function.__kwdefaults__ or {}
    arguments.kw_defaults = [
        node if node is None else _written(node, named[argument.arg])
        for node, argument in zip(arguments.kw_defaults, arguments.kwonlyargs, strict=True)
    ]


def _written(node: ast.expr, value: Any) -> ast.expr:
    try:
        return ast.parse(expression(value), mode="eval").body
    except NotWritable:
        return node


def class_text(cls: type, refusal: Refusal) -> tuple[ast.ClassDef, Mapping[str, Any]]:
    """The same for a class of a module."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        raise refusal(f"the class {cls.__qualname__}, which has no text", "Use tuples or dicts.") from None
    if not isinstance(tree, ast.ClassDef) or "." in cls.__qualname__:
        raise refusal(f"the class {cls.__qualname__}, which is no class of a module", "Define it in the module.")
    return tree, vars(sys.modules[cls.__module__])


def assignment(namespace: Mapping[str, Any], name: str, refusal: Refusal) -> ast.stmt:
    """The statement by which a module of the package makes a variable."""
    for node in ast.parse(inspect.getsource(sys.modules[namespace["__name__"]])).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
                return ast.Assign([ast.Name(name, ast.Store())], value)
            case ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value) if found == name:
                return ast.Assign([ast.Name(name, ast.Store())], value)
    raise refusal(f"{name} of {namespace['__name__']}", "It is the package's own.")
