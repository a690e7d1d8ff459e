"""A function's syntax tree -> lines of text with comments, and the place in the user's source each line is from."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping, Sequence

from microgradpy.codegen.printing import print_statement
from microgradpy.ir.nodes import Location

_INDENT = "    "
_NARROWEST = 40  # columns that lists of names get in text that is deep inside other text
_WIDTH = 120
_NAMES = re.compile(r"\w+(?:, \w+){5,}")
Places = Mapping[ast.stmt, Location]


def lay_out(
    function: ast.FunctionDef, places: Places, comments: bool, inside: Mapping[ast.AST, Location] | None = None
) -> tuple[str, dict[int, Location]]:
    """The text of a function and its line map. With `comments`, each group of statements has the line of the user's
    source that it is from above it. `inside` are the places of expressions: a statement that is from no line itself
    (`return`, the start of a loop) has in the line map the place of what is computed in it."""
    layout = _Layout(places, comments, inside or {})
    header, *_ = print_statement(_with_empty_body(function)).splitlines()
    layout.lines.append(header)
    layout.block(function.body, 1)
    return "\n".join(layout.lines) + "\n", layout.line_map


class _Layout:
    def __init__(self, places: Places, comments: bool, inside: Mapping[ast.AST, Location]) -> None:
        self.places = places
        self.inside = inside
        self.comments = comments
        self.lines: list[str] = []
        self.line_map: dict[int, Location] = {}
        self.last: tuple[str, int] | None = None

    def block(self, statements: Sequence[ast.stmt], depth: int) -> None:
        for statement in statements:
            self.statement(statement, depth)

    def statement(self, statement: ast.stmt, depth: int) -> None:
        place = self.places.get(statement)
        if place is not None:
            self._comment(place, depth)
        if place is None or not place.line:
            place = self._place_inside(statement)
        match statement:
            case ast.If():
                self._if(statement, place, depth, "if")
            case ast.For() | ast.While():
                self._line(_header(statement), place, depth)
                self.block(statement.body, depth + 1)
            case ast.Try():
                self._try(statement, place, depth)
            case _:
                self._line(print_statement(statement), place, depth)

    def _place_inside(self, statement: ast.stmt) -> Location | None:
        if isinstance(statement, ast.If | ast.For | ast.While | ast.Try):
            return None
        located = (self.inside.get(node) for node in ast.walk(statement))
        return next((place for place in located if place is not None and place.line), None)

    def _try(self, statement: ast.Try, place: Location | None, depth: int) -> None:
        self._line("try:", place, depth)
        self.block(statement.body, depth + 1)
        for handler in statement.handlers:
            self._line(_caught(handler), None, depth)
            self.block(handler.body, depth + 1)

    def _if(self, statement: ast.If, place: Location | None, depth: int, word: str) -> None:
        self._line(word + _header(statement).removeprefix("if"), place, depth)
        self.block(statement.body, depth + 1)
        match statement.orelse:
            case [ast.If() as inner] if not self._has_comment(inner):
                self._if(inner, self.places.get(inner), depth, "elif")
            case [_, *_]:
                self._line("else:", None, depth)
                self.block(statement.orelse, depth + 1)

    def _has_comment(self, statement: ast.stmt) -> bool:
        place = self.places.get(statement)
        return self.comments and place is not None and bool(place.text) and not place.text.startswith("elif")

    def _comment(self, place: Location, depth: int) -> None:
        if self.comments and place.text and (place.file, place.line) != self.last:
            self.lines.append(f"{_INDENT * depth}# {place.text.splitlines()[0]}")
            self.last = (place.file, place.line)

    def _line(self, text: str, place: Location | None, depth: int) -> None:
        for line in folded(text, _WIDTH - len(_INDENT) * depth):
            self.lines.append(_INDENT * depth + line)
            if place is not None and place.line:
                self.line_map[len(self.lines)] = place


def _caught(handler: ast.ExceptHandler) -> str:
    name = "" if handler.name is None else f" as {handler.name}"
    match handler.type:
        case None:
            return "except:"
        case ast.Tuple(elts=types):
            return f"except ({', '.join(print_statement(ast.Expr(caught)).strip() for caught in types)}){name}:"
    return f"except {print_statement(ast.Expr(handler.type)).strip()}{name}:"


def folded(text: str, width: int) -> list[str]:
    """The lines of a statement, or of the first line of one. Longer than `width`, its longest list of names gets lines of
    its own, in parentheses."""
    lists = sorted(_NAMES.finditer(text), key=lambda found: len(found[0]))
    if len(text) <= width or not lists:
        return [text]
    start, end = lists[-1].span()
    before, after = text[:start], text[end:]
    if not (before.endswith("(") and after.startswith(")")):
        before, after = f"{before}(", f"){after}"
    names = textwrap.wrap(lists[-1][0] + ",", max(width - len(_INDENT), _NARROWEST), break_long_words=False)
    lines = [before, *(_INDENT + line for line in names), after]
    return lines if _is_same("\n".join(lines), text) else [text]


def _is_same(first: str, second: str) -> bool:
    """Whether two texts are the same statement; the first is none if it broke a text in quotes."""
    rest = "\n    pass" if second.endswith(":") else ""
    try:
        trees = [ast.dump(ast.parse(text.replace("elif", "if", 1) + rest)) for text in (first, second)]
    except SyntaxError:
        return False
    return trees[0] == trees[1]


def _header(statement: ast.If | ast.For | ast.While) -> str:
    return print_statement(_with_empty_body(statement)).splitlines()[0]


def _with_empty_body(statement: ast.FunctionDef | ast.If | ast.For | ast.While) -> ast.stmt:
    """A copy of a compound statement with nothing in it: its first line is what is printed of it here."""
    copy = type(statement)(**{**dict(ast.iter_fields(statement)), "body": [ast.Pass()]})
    if not isinstance(copy, ast.FunctionDef):
        copy.orelse = []
    return copy
