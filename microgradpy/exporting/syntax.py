"""What is copied into an exported module, in syntax that Python 3.11 has.

    def longest[T](words: dict[str, T]) -> int:               def longest(words) -> int:
        return len(f"{words["first"]}")                 ->      return len("{}".format(words["first"]))
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable, Iterator
from typing import Any

from microgradpy.errors import DifferentiationError

Refusal = Callable[[str, str], DifferentiationError]
_PLAIN = {"bool", "int", "float", "complex", "str", "list", "tuple", "dict", "np", "Any"}
_CONVERSIONS = {ord("r"): "!r", ord("s"): "!s", ord("a"): "!a", -1: ""}
# A text with expressions in it is one token before Python 3.12.
_START, _END = getattr(tokenize, "FSTRING_START", -1), getattr(tokenize, "FSTRING_END", -1)


def without_annotations(tree: ast.AST) -> bool:
    """Leave out the type parameters of functions and classes, and annotations that need more than numbers, arrays and
    containers: nothing reads them. Whether there were any."""
    before = ast.dump(tree)
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                node.returns = _if_plain(node.returns)
                _drop_type_parameters(node)
                _without_annotated_assignments(node)
            case ast.ClassDef():
                _drop_type_parameters(node)
            case ast.arg():
                node.annotation = _if_plain(node.annotation)
    return ast.dump(tree) != before


def _drop_type_parameters(node: Any) -> None:
    if getattr(node, "type_params", ()):
        node.type_params = []


def _if_plain(annotation: ast.expr | None) -> ast.expr | None:
    return annotation if annotation is None or _is_plain(annotation) else None


def _is_plain(annotation: ast.expr) -> bool:
    nodes = list(ast.walk(annotation))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names <= _PLAIN and not any(isinstance(node, ast.Constant) and isinstance(node.value, str) for node in nodes)


def _without_annotated_assignments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """In the body of a function they are assignments; without a value they say that a variable is its own."""
    for node in ast.walk(function):
        if isinstance(node, ast.ClassDef):
            continue  # there they are fields
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list):
                setattr(node, name, [_assignment(one) for one in statements])


def _assignment(statement: ast.stmt) -> ast.stmt:
    if not isinstance(statement, ast.AnnAssign) or _is_plain(statement.annotation):
        return statement
    if statement.value is None:
        statement.annotation = ast.Name("object", ast.Load())
        return statement
    return ast.copy_location(ast.Assign([statement.target], statement.value), statement)


def check_syntax(tree: ast.stmt, refusal: Refusal) -> None:
    """Refuse a definition that has statements which Python 3.11 does not know."""
    try:
        ast.parse(ast.unparse(tree), feature_version=(3, 11))
    except SyntaxError as error:
        name = getattr(tree, "name", "a definition")
        raise refusal(f"{name}, which has syntax that is newer than Python 3.11 ({error.msg})", "Write it without.") from None


def has_newer_texts(text: str) -> bool:
    """Whether there are texts with expressions in them that Python 3.11 cannot read: with their own quotes, backslashes,
    comments or, in single quotes, ends of lines in the expressions."""
    if _START == -1 or "{" not in text:
        return False
    open_quotes: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if open_quotes and token.type != _END and _is_newer(token, open_quotes):
            return True
        if token.type == _START:
            open_quotes.append(token.string.lstrip("rRfFtT"))
        elif token.type == _END:
            open_quotes.pop()
    return False


def _is_newer(token: tokenize.TokenInfo, open_quotes: list[str]) -> bool:
    if token.type == tokenize.COMMENT:
        return True
    if token.type in (tokenize.NL, tokenize.NEWLINE):
        return any(len(quotes) == 1 for quotes in open_quotes)
    if token.type == getattr(tokenize, "FSTRING_MIDDLE", -1):
        # What is written between expressions is text, in which everything may be; in an inner one it is in an expression.
        return len(open_quotes) > 1 and ("\\" in token.string or any(quotes in token.string for quotes in open_quotes[:-1]))
    return "\\" in token.string or any(quotes in token.string for quotes in open_quotes)


class _NotWritable(Exception):
    """A format has something in it that `str.format` has no form for."""


class _Formatted(ast.NodeTransformer):
    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        given: list[ast.expr] = []
        template = "".join(self.fields(node, given, in_format=False))
        return ast.Call(ast.Attribute(ast.Constant(template), "format", ast.Load()), given, [])

    def fields(self, node: ast.expr, given: list[ast.expr], *, in_format: bool) -> Iterator[str]:
        """The pieces of the text for `format`, with what it is given in the order in which it takes it."""
        assert isinstance(node, ast.JoinedStr)
        for part in node.values:
            match part:
                case ast.Constant(value=str(text)):
                    if in_format and ("{" in text or "}" in text):
                        raise _NotWritable
                    yield text.replace("{", "{{").replace("}", "}}")
                case ast.FormattedValue(value=value, conversion=conversion, format_spec=form):
                    if in_format and form is not None:
                        raise _NotWritable
                    given.append(self.visit(value))
                    inner = "" if form is None else "".join(self.fields(form, given, in_format=True))
                    yield "{" + _CONVERSIONS[conversion] + (f":{inner}" if inner else "") + "}"


def in_older_syntax(tree: Any, refusal: Refusal) -> Any:
    """The tree with `"{}".format(x)` for each f"{x}"."""
    try:
        return ast.fix_missing_locations(_Formatted().visit(tree))
    except _NotWritable:
        found = f"{tree.name}, which has a text in syntax that is newer than Python 3.11"
        raise refusal(found, "Write it with quotes of another kind, and with formats in variables.") from None
