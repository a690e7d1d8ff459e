"""Lines of Python, and of the printed IR, as pieces that have a kind: for colours, on a page or on a terminal."""

from __future__ import annotations

import builtins
import html
import io
import keyword
import re
import tokenize
from collections.abc import Iterable, Iterator

Piece = tuple[str, str]
"""A kind ("keyword", "builtin", "string", "number", "comment", "name" of a definition, or "" for the rest), and a text."""

_KINDS = {tokenize.COMMENT: "comment", tokenize.NUMBER: "number", tokenize.STRING: "string"}
_IR_WORDS = (
    "br unless on in return raise from mark closure global iter next tuple list set dict unpack join append tape record "
    "suspend unreachable undefined"
)
_IR = re.compile(
    r"(?P<comment>^\d+:|^[\w#]+:$)|(?P<name>%\d+(?:/\w+)?)|(?P<string>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    rf"|(?P<number>\b\d[\w.]*)|(?P<keyword>\b(?:{_IR_WORDS.replace(' ', '|')})\b)"
)


def python_pieces(text: str) -> list[list[Piece]]:
    """The pieces of each line of a Python program. A text that is none is not coloured from where it goes wrong."""
    lines = text.splitlines()
    marked: list[list[tuple[int, int, str]]] = [[] for _ in lines]
    for kind, (line, column), (end_line, end_column) in _tokens(text):
        for number in range(line, min(end_line, len(lines)) + 1):
            start = column if number == line else 0
            end = end_column if number == end_line else len(lines[number - 1])
            marked[number - 1].append((start, end, kind))
    return [list(_cut(line, spans)) for line, spans in zip(lines, marked, strict=True)]


def ir_pieces(line: str) -> list[Piece]:
    """The pieces of a line of the printed IR."""
    return list(_cut(line, [(found.start(), found.end(), found.lastgroup or "") for found in _IR.finditer(line)]))


def shown_in_notebook(lines: Iterable[list[Piece]]) -> str:
    """Lines as HTML that stands by itself."""
    text = "\n".join("".join(_coloured(kind, part) for kind, part in line) for line in lines)
    return f'<pre style="line-height: 1.35">{text}</pre>'


def _coloured(kind: str, text: str) -> str:
    escaped = html.escape(text, quote=False)
    return f'<span style="color: {_COLOURS[kind]}">{escaped}</span>' if kind in _COLOURS else escaped


_COLOURS = {
    "keyword": "#9a5fd0",
    "builtin": "#2f8f8f",
    "string": "#4b9a3f",
    "number": "#c2702e",
    "comment": "#808890",
    "name": "#3f7fd6",
}
"""They can be read on white and on black."""


def _tokens(text: str) -> Iterator[tuple[str, tuple[int, int], tuple[int, int]]]:
    defines = False
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = _KINDS.get(token.type, "")
            if token.type == tokenize.NAME:
                kind = "name" if defines else _kind_of_name(token.string)
            elif tokenize.tok_name[token.type].startswith("FSTRING") and not tokenize.tok_name[token.type].endswith("OP"):
                kind = "string"  # since Python 3.12 the parts of an f-string are tokens
            defines = token.string in ("def", "class")
            if kind:
                yield kind, token.start, token.end
    except (tokenize.TokenError, SyntaxError):  # as in the middle of a program
        return


def _kind_of_name(name: str) -> str:
    if keyword.iskeyword(name):
        return "keyword"
    return "builtin" if hasattr(builtins, name) else ""


def _cut(line: str, spans: list[tuple[int, int, str]]) -> Iterator[Piece]:
    position = 0
    for start, end, kind in spans:
        if start > position:
            yield "", line[position:start]
        if end > max(start, position):
            yield kind, line[max(start, position) : end]
        position = max(position, end)
    if position < len(line):
        yield "", line[position:]
