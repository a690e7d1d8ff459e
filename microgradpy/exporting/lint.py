"""Which of a linter's rules a module goes against because the exported function does: its names, its handlers, its length."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from microgradpy.exporting.scopes import bound_names

_WIDEST = 128
_MOST_BRANCHES = 9
_MADE = (ast.List, ast.Dict, ast.Set, ast.Call)
_BRANCHES = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.comprehension, ast.BoolOp, ast.IfExp, ast.Try, ast.Assert)


def lint_codes(text: str) -> list[str]:
    """The codes of the rules to be named in a `noqa` for the file; empty if there are none."""
    tree = ast.parse(text)
    found = {code for node in ast.walk(tree) for code in _codes_of(node)}
    if any(len(line) > _WIDEST for line in text.splitlines()):
        found.add("E501")
    return [*sorted(found), "RUF100"] if found else []


def _codes_of(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef():
            yield from _codes_of_function(node)
        case ast.ExceptHandler():
            yield from _codes_of_handler(node)
        case ast.For(target=target):
            yield from () if bound_names(target) <= _read_in(node.body) else ("B007",)
            if any(ast.unparse(inner) in _items(node) for inner in ast.walk(node) if isinstance(inner, ast.Subscript)):
                yield "PLC0206"
        case ast.Call():
            yield from _codes_of_call(node)
        case ast.If(body=[ast.If(orelse=[])], orelse=[]):
            yield "SIM102"
        case ast.If(body=[ast.Raise()], test=test) if "isinstance" in _read_in([ast.Expr(test)]):
            yield "TRY004"
        case ast.expr() | ast.Expr():
            yield from _codes_of_expression(node)


def _codes_of_expression(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Compare(left=ast.Constant(), comparators=[ast.Constant(), *_]):
            yield "PLR0133"
        case ast.Compare(left=left, comparators=[right, *_]) if ast.dump(left) == ast.dump(right):
            yield "PLR0124"
        case ast.Expr(value=ast.Compare()):
            yield "B015"
        case ast.UnaryOp(op=ast.Not(), operand=ast.Compare()):
            yield from ("SIM201", "SIM202")
        case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod()):
            yield "UP031"
        case ast.Subscript(value=ast.ListComp(), slice=ast.Constant(value=0)):
            yield "RUF015"
        case ast.Dict(keys=keys) if None in keys:
            yield "PIE800"


def _codes_of_function(node: ast.FunctionDef) -> Iterator[str]:
    bound = bound_names(node)
    if bound & {"l", "O", "I"}:
        yield "E741"
    arguments = {argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg)}
    if any(not name.startswith("_") for name in bound - _read_in(node.body) - {node.name} - arguments):
        yield from ("F841", "RUF059")
    if sum(isinstance(inner, _BRANCHES) for inner in ast.walk(node)) > _MOST_BRANCHES:
        yield "C901"
    defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    if any(isinstance(inner, _MADE) for default in defaults for inner in ast.walk(default)):
        yield from ("B006", "B008")
    if sum(isinstance(inner, ast.Import | ast.ImportFrom) for inner in node.body) > 0:
        yield from ("I001", "PLC0415")
    loops = [inner for inner in ast.walk(node) if isinstance(inner, ast.For | ast.ExceptHandler | ast.comprehension)]
    if any(arguments & bound_names(inner) for inner in loops):
        yield "PLR1704"


def _codes_of_handler(node: ast.ExceptHandler) -> Iterator[str]:
    if node.type is None:
        yield "E722"
    if node.type is not None and ast.unparse(node.type) in ("Exception", "BaseException"):
        yield "BLE001"
    if isinstance(node.body[0], ast.Pass):
        yield from ("S110", "SIM105")
    if isinstance(node.body[0], ast.Raise):
        yield "TRY203"


def _codes_of_call(node: ast.Call) -> Iterator[str]:
    match node.func:
        case ast.Name(id="zip") if not any(word.arg == "strict" for word in node.keywords):
            yield from ("B905", "RUF007")
        case ast.Attribute(value=ast.Constant(value=str()), attr="format"):
            yield "UP032"
        case ast.Attribute(attr="keys") if not node.args:
            yield "SIM118"
        case ast.Attribute(value=ast.Constant(value=str()), attr="join") if isinstance(node.args[0], ast.Tuple | ast.List):
            yield "FLY002"


def _items(node: ast.For) -> set[str]:
    """The texts of the items that a loop over keys may look up."""
    return {f"{ast.unparse(node.iter)}[{ast.unparse(node.target)}]"}


def _read_in(body: list[ast.stmt]) -> set[str]:
    nodes = (node for statement in body for node in ast.walk(statement))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
