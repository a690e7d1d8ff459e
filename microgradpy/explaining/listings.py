"""What stands on the page: for each function its source, IR, primal and adjoint, line by line, and which line of the source
each line is from."""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Iterator, Mapping
from typing import Any, final

from microgradpy.argnums import Argnums
from microgradpy.cache import Unit, reached_units
from microgradpy.dataclasses import dataclass, replace
from microgradpy.explaining.highlight import Piece, ir_pieces, python_pieces
from microgradpy.frontend.lower import lower_function
from microgradpy.frontend.source import find_source
from microgradpy.introspect import plain_function, unit_of
from microgradpy.ir.nodes import Location
from microgradpy.ir.printer import block_lines
from microgradpy.ir.reasons import Reason, comment_lines, in_order
from microgradpy.linking import finish_reached

_BARE_RETURN = re.compile(r"\s*return \w+(, \w+)*$")


@final
@dataclass(frozen=True, slots=True)
class Line:
    """A line of a listing. `source` is the line of the user's file on which the statement starts that it is from; 0 if it is
    from none. `number` is shown beside it."""

    pieces: tuple[Piece, ...]
    source: int = 0
    number: int = 0


@final
@dataclass(frozen=True, slots=True)
class Listing:
    """One of the four texts of a function."""

    title: str
    note: str
    lines: tuple[Line, ...]


@final
@dataclass(frozen=True, slots=True)
class Sheet:
    """A function with its four texts."""

    name: str
    file: str
    line: int
    listings: tuple[Listing, ...]


def sheets_of(f: Any, args: tuple[Any, ...], argnums: Argnums | None) -> list[Sheet]:
    """The sheet of a function, and of those that its derivative calls which are compiled with it."""
    function, (unit, reasons) = plain_function(f), unit_of(f, args, argnums)
    finish_reached(unit)
    found = {id(unit): (function, unit, reasons)}
    for owner in reached_units(unit):
        called = {_place(guard.function.__code__): guard.function for guard in owner.own_guards.functions}
        for callee in owner.callees:
            code = getattr(callee.primal, "__code__", None)
            if code is not None and _place(code) in called:
                found.setdefault(id(callee), (called[_place(code)], callee, in_order(callee.reasons)))
    sheets = [_sheet(*each) for each in found.values()]
    return [replace(sheet, name=_unique(sheet.name, k, sheets)) for k, sheet in enumerate(sheets)]


def _unique(name: str, position: int, sheets: list[Sheet]) -> str:
    """The name of a sheet; of a function that is compiled for several kinds of arguments, the later ones are numbered."""
    before = sum(sheet.name == name for sheet in sheets[:position])
    return f"{name} ({before + 1})" if before else name


def _place(code: types.CodeType) -> tuple[str, int, str]:
    return code.co_filename, code.co_firstlineno, code.co_name


def _sheet(function: types.FunctionType, unit: Unit, reasons: tuple[Reason, ...]) -> Sheet:
    assert unit.texts is not None
    links = _Links(function)
    lowered = lower_function(function).function
    primal = links.of_text(unit.texts[0], unit.line_maps[0])
    # What an adjoint returns is nothing that the user wrote, unless it is computed there.
    places = {k: place for k, place in unit.line_maps[1].items() if not _BARE_RETURN.match(unit.texts[1].splitlines()[k - 1])}
    adjoint = links.of_text(unit.texts[1], places)
    why = links.of_reasons(reasons, function.__name__)
    listings = (
        Listing("Source", "what you wrote", links.of_source()),
        Listing("IR", "as the compiler reads it", links.of_ir(lowered)),
        Listing("Primal", "runs in its place", why + primal),
        Listing("Adjoint", "the reverse pass", why + adjoint),
    )
    name = function.__qualname__.replace(".<locals>", "")
    return Sheet(name, links.found.file, links.first, listings)


class _Links:
    """Which statement of a function a place belongs to."""

    def __init__(self, function: types.FunctionType) -> None:
        self.found = find_source(function)
        tree = self.found.tree
        decorators = getattr(tree, "decorator_list", [])
        self.start = min([tree.lineno, *(node.lineno for node in decorators)])
        self.first, self.last = tree.lineno, tree.end_lineno or tree.lineno
        self.statements = dict(_statement_lines(tree))
        texts = [line.strip() for line in self.found.lines[self.first : self.last]]
        self.unique = {
            text: number
            for number, text in enumerate(texts, self.first + 1)
            if texts.count(text) == 1 and number in self.statements
        }

    def statement(self, place: Location | None) -> int:
        """The line on which the statement starts that is at a place of this function; 0 for places elsewhere."""
        if place is None or place.file != self.found.file:
            return 0
        return self.statements.get(place.line, 0)

    def same(self, pieces: list[Piece]) -> int:
        """The one line of the source that reads the same: a copy (`y = x`) or a jump is no operation, and has no place."""
        return self.unique.get("".join(text for _, text in pieces).strip(), 0)

    def of_source(self) -> tuple[Line, ...]:
        text = "".join(self.found.lines[self.start - 1 : self.last])
        margin = len(text) - len(text.lstrip())
        lines = [line[min(margin, len(line) - len(line.lstrip())) :] for line in text.splitlines()]
        pieces = python_pieces("\n".join(lines))
        return tuple(
            Line(tuple(each), self.statements.get(number, 0), number) for number, each in enumerate(pieces, self.start)
        )

    def of_ir(self, lowered: Any) -> tuple[Line, ...]:
        groups = block_lines(lowered, names=True)
        made = []
        for position, lines in enumerate(groups):
            made += [Line(())] if position else []
            for line in lines:
                source = self.statement(line.where)
                made.append(Line(tuple(ir_pieces(line.text)), source, source))
        return tuple(made)

    def of_reasons(self, reasons: tuple[Reason, ...], name: str) -> tuple[Line, ...]:
        """The comments above a text, each of the line that it is about."""
        made = []
        for text, reason in comment_lines(reasons, name):
            source = self.statement(None if reason is None else reason.where)
            made.append(Line((("comment", f"# {text}"),), source, source))
        return tuple(made)

    def of_text(self, text: str, places: Mapping[int, Location]) -> tuple[Line, ...]:
        lines = python_pieces(text)
        made: list[Line] = []
        for number in range(len(lines), 0, -1):  # from below, as a comment belongs to what it stands above
            source = self.first if number == 1 else self.statement(places.get(number)) or self.same(lines[number - 1])
            if not source and made and _is_comment(lines[number - 1]):
                source = made[-1].source
            made.append(Line(tuple(lines[number - 1]), source, source))
        return tuple(reversed(made))


def _is_comment(pieces: list[Piece]) -> bool:
    return any(kind == "comment" and not "".join(text for _, text in pieces[:k]).strip() for k, (kind, _) in enumerate(pieces))


def _statement_lines(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """Each line of a function, with the line that its statement starts on; of compound statements the head only."""
    if isinstance(tree, ast.Lambda):
        yield from ((line, tree.lineno) for line in range(tree.lineno, (tree.end_lineno or tree.lineno) + 1))
    for node in ast.walk(tree):  # outer ones first, so that what is inside has the last word
        if isinstance(node, ast.stmt | ast.ExceptHandler):
            yield from ((line, node.lineno) for line in range(node.lineno, _end_of_head(node) + 1))


def _end_of_head(node: ast.stmt | ast.ExceptHandler) -> int:
    """The last line of a statement, or of the head of a compound one."""
    if isinstance(node, ast.Match):
        return max(node.lineno, node.cases[0].pattern.lineno - 1)
    body = getattr(node, "body", None)
    return max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
