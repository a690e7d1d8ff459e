"""A function's syntax tree -> lines of text with comments, and the place in the user's source each line is from."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress

from microgradpy.codegen.placement import parts_of
from microgradpy.codegen.printing import is_same, parsed, print_statement
from microgradpy.codegen.quick_printing import NotQuick, quick_text
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
    layout = _Layout(places, comments, inside or {}, _Quick())
    text = layout.text(function)
    body = parsed(text)
    if len(body) != 1 or not is_same(body[0], function):
        layout = _Layout(places, comments, inside or {}, _Careful())
        text = layout.text(function)
    return text, layout.line_map


class _Careful:
    """Each statement is printed with all that Python has, and compared with its tree."""

    def line(self, statement: ast.stmt) -> str:
        """A simple statement, or the first line of a compound one."""
        if isinstance(statement, ast.FunctionDef | ast.If | ast.For | ast.While):
            return print_statement(_with_empty_body(statement)).splitlines()[0]
        return print_statement(statement)

    def expression(self, value: ast.expr) -> str:
        return self.line(ast.Expr(value)).strip()

    def folded(self, text: str, width: int) -> list[str]:
        lines = folded(text, width)
        return lines if len(lines) == 1 or _is_same("\n".join(lines), text) else [text]


class _Quick(_Careful):
    """The text is compared with the tree when it is whole, but for long lines, of which some cannot be broken."""

    def line(self, statement: ast.stmt) -> str:
        with suppress(NotQuick):
            return quick_text(statement)
        return super().line(statement)


class _Layout:
    def __init__(self, places: Places, comments: bool, inside: Mapping[ast.AST, Location], printing: _Careful) -> None:
        self.printing = printing
        self.places = places
        self.inside = inside
        self.comments = comments
        self.lines: list[str] = []
        self.line_map: dict[int, Location] = {}
        self.last: tuple[str, int] | None = None

    def text(self, function: ast.FunctionDef) -> str:
        self.lines.append(self.printing.line(function))
        self.block(function.body, 1)
        return "\n".join(self.lines) + "\n"

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
                self._line(self.printing.line(statement), place, depth)
                self.block(statement.body, depth + 1)
            case ast.Try():
                self._try(statement, place, depth)
            case _:
                self._line(self.printing.line(statement), place, depth)

    def _place_inside(self, statement: ast.stmt) -> Location | None:
        if isinstance(statement, ast.If | ast.For | ast.While | ast.Try):
            return None
        waiting: list[ast.AST] = [statement]
        for node in waiting:
            place = self.inside.get(node)
            if place is not None and place.line:
                return place
            waiting += parts_of(node)
        return None

    def _try(self, statement: ast.Try, place: Location | None, depth: int) -> None:
        self._line("try:", place, depth)
        self.block(statement.body, depth + 1)
        for handler in statement.handlers:
            self._line(self._caught(handler), None, depth)
            self.block(handler.body, depth + 1)

    def _if(self, statement: ast.If, place: Location | None, depth: int, word: str) -> None:
        self._line(word + self.printing.line(statement).removeprefix("if"), place, depth)
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

    def _caught(self, handler: ast.ExceptHandler) -> str:
        name = "" if handler.name is None else f" as {handler.name}"
        match handler.type:
            case None:
                return "except:"
            case ast.Tuple(elts=types):
                return f"except ({', '.join(map(self.printing.expression, types))}){name}:"
        return f"except {self.printing.expression(handler.type)}{name}:"

    def _line(self, text: str, place: Location | None, depth: int) -> None:
        for line in self.printing.folded(text, _WIDTH - len(_INDENT) * depth):
            self.lines.append(_INDENT * depth + line)
            if place is not None and place.line:
                self.line_map[len(self.lines)] = place


def folded(text: str, width: int) -> list[str]:
    """The lines of a statement, or of the first line of one. Longer than `width`, its longest list of names gets lines of
    its own, in parentheses."""
    if len(text) <= width:
        return [text]
    lists = sorted(_NAMES.finditer(text), key=lambda found: len(found[0]))
    if not lists:
        return [text]
    start, end = lists[-1].span()
    before, after = text[:start], text[end:]
    if not (before.endswith("(") and after.startswith(")")):
        before, after = f"{before}(", f"){after}"
    names = textwrap.wrap(lists[-1][0] + ",", max(width - len(_INDENT), _NARROWEST), break_long_words=False)
    return [before, *(_INDENT + line for line in names), after]


def _is_same(first: str, second: str) -> bool:
    """Whether two texts are the same statement; the first is none if it broke a text in quotes."""
    rest = "\n    pass" if second.endswith(":") else ""
    trees = [parsed(text.replace("elif", "if", 1) + rest) for text in (first, second)]
    return bool(trees[0]) and is_same(*trees)


def _with_empty_body(statement: ast.FunctionDef | ast.If | ast.For | ast.While) -> ast.stmt:
    """A copy of a compound statement with nothing in it: its first line is what is printed of it here."""
    copy = type(statement)(**{**dict(ast.iter_fields(statement)), "body": [ast.Pass()]})
    if not isinstance(copy, ast.FunctionDef):
        copy.orelse = []
    return copy
