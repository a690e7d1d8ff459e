"""One HTML file with everything in it: it needs no network, and can be opened by whoever it is sent to."""

from __future__ import annotations

import html
import inspect
import platform
import re
import sys
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any, final

import numpy as np

from microgradpy.api import pullback
from microgradpy.argnums import Argnums, numbered
from microgradpy.boundary import BOUNDARY
from microgradpy.errors import DifferentiationError
from microgradpy.explaining.listings import Line, Listing, Sheet, sheets_of
from microgradpy.gradient_functions import is_real_scalar
from microgradpy.introspect import reasons_of

_LONGEST = 400
Rows = list[tuple[str, str, str]]


@final
class Page(str):
    """The text of a page, which a notebook shows in place."""

    __slots__ = ()

    def save(self, path: str | Path) -> None:
        """Write the page to a file."""
        Path(path).write_text(self, encoding="utf-8")

    def _repr_html_(self) -> str:
        style = "width: 100%; height: 36em; border: 0"
        return f'<iframe srcdoc="{html.escape(self)}" style="{style}" title="explained by microgradpy"></iframe>'

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(f"<a page of {len(self)} characters: save(path) writes it>")


def explain(f: Callable[..., Any], /, *args: Any, argnums: Argnums | None = None) -> Page:
    """An HTML page with the source of `f`, its IR, its primal and its adjoint side by side; what is made of the line under the
    mouse is marked in all four. With example `args` it is specialised to their kinds, as for `code_adjoint`, and shows the
    value and the gradient there. Functions that are compiled together with `f` have a sheet each. If the call is refused, the
    page says why. It is a text, which notebooks show as the page that it is, and `save(path)` writes."""
    return Page(explained(f, args, argnums)[0])


def explained(
    f: Callable[..., Any], args: tuple[Any, ...], argnums: Argnums | None
) -> tuple[str, DifferentiationError | None]:
    """The page, and the refusal of the call, if it is refused."""
    with BOUNDARY:
        sheets = sheets_of(f, args, argnums)
        reasons = reasons_of(f, args, argnums)
    rows = _arguments(f, args)
    refusal, result = None, ""
    try:
        result = _value_and_gradients(f, args, argnums, rows) if args else ""
    except DifferentiationError as error:
        refusal = error
        result = f'<div class="call"><p class="note">{html.escape(f"Refused. {error}")}</p></div>'
    return _page(sheets, _call(sheets[0].name, rows), result + _slow_lines(reasons)), refusal


def _slow_lines(reasons: tuple[str, ...]) -> str:
    """The lines that cost more than they might, and why."""
    if not reasons:
        return ""
    texts = (re.sub("`(.*?)`", r"<code>\1</code>", html.escape(reason, quote=False)) for reason in reasons)
    items = "".join(f"<li>{text}</li>" for text in texts)
    return f'<ul class="reasons" aria-label="What costs more than it might">{items}</ul>'


# The call


def _arguments(f: Callable[..., Any], args: tuple[Any, ...]) -> list[tuple[str, str]]:
    """The names and values of the arguments, as texts: the function may change them."""
    try:
        bound = inspect.signature(f).bind_partial(*args).arguments
    except (TypeError, ValueError):
        return [(str(k), _text(value)) for k, value in enumerate(args)]
    names: list[str] = []
    for name, value in bound.items():
        spread = len(args) > len(bound) and isinstance(value, tuple)
        names += [f"{name}[{k}]" for k in range(len(value))] if spread else [name]
    return [(name, _text(value)) for name, value in zip(names, args, strict=False)]


def _value_and_gradients(
    f: Callable[..., Any], args: tuple[Any, ...], argnums: Argnums | None, named: list[tuple[str, str]]
) -> str:
    y, back = pullback(f, *args)
    value = _text(y)
    if not is_real_scalar(y):
        rows: Rows = [(name, text, "") for name, text in named]
        return _table(rows, value, "The value is not one real number, so there is no gradient to show.")
    bars = back()[1:]
    numbers = tuple(range(len(args))) if argnums is None else numbered(f, argnums)
    chosen = numbers if isinstance(numbers, tuple) else (numbers,)
    wanted = {k % len(args) for k in chosen}
    rows = [(name, text, _text(bars[k]) if k in wanted else "") for k, (name, text) in enumerate(named)]
    return _table(rows, value, "")


def _text(value: Any) -> str:
    with np.printoptions(threshold=40, edgeitems=3, precision=8):
        text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def _call(name: str, named: list[tuple[str, str]]) -> str:
    texts = [text if len(text) <= 24 else argument for argument, text in named]
    return f"{name}({', '.join(texts)})" if named else name


def _table(rows: Rows, value: str, note: str) -> str:
    lines = [
        f'<tr><th scope="row"><code>{html.escape(name)}</code></th><td><code>{html.escape(text)}</code></td>'
        f'<td class="gradient"><code>{html.escape(gradient)}</code></td></tr>'
        for name, text, gradient in rows
    ]
    head = '<thead><tr><th scope="col">argument</th><th scope="col">value</th><th scope="col">gradient</th></tr></thead>'
    body = f"<tbody>{''.join(lines)}</tbody>"
    result = f'<th scope="row">result</th><td colspan="2"><code>{html.escape(value)}</code></td>'
    remark = f'<p class="note">{html.escape(note)}</p>' if note else ""
    return f'<div class="call"><table>{head}{body}<tfoot><tr>{result}</tr></tfoot></table>{remark}</div>'


# The page


def _page(sheets: list[Sheet], call: str, result: str) -> str:
    parts = resources.files("microgradpy.explaining")
    style, script = (parts.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    version = vars(sys.modules["microgradpy"])["__version__"]
    versions = f"microgradpy {version}, Python {platform.python_version()}, NumPy {np.__version__}"
    place = f"{Path(sheets[0].file).name}:{sheets[0].line}"
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{html.escape(call)} explained by microgradpy</title>",
            f"<style>\n{style}</style>",
            "</head>",
            "<body>",
            "<header>",
            f"<div><h1><code>{html.escape(call)}</code></h1>",
            f'<p class="place" title="{html.escape(sheets[0].file)}">{html.escape(place)} · {html.escape(versions)}</p>',
            '<p class="hint">Point at a line to see what is made of it. Click, or press Enter, to keep it marked; '
            "Esc lets go. The arrow keys move between lines and texts.</p></div>",
            result,
            "</header>",
            *_tabs(sheets),
            "<main>",
            *(part for number, sheet in enumerate(sheets, 1) for part in _sheet(sheet, number)),
            "</main>",
            '<p id="status" role="status" aria-live="polite">&#160;</p>',
            f"<script>\n{script}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _tabs(sheets: list[Sheet]) -> Iterator[str]:
    if len(sheets) > 1:
        yield '<nav role="tablist" aria-label="Functions">'
        for number, sheet in enumerate(sheets, 1):
            name = html.escape(sheet.name)
            yield f'<button type="button" role="tab" aria-controls="sheet-{number}"><code>{name}</code></button>'
        yield "</nav>"


def _sheet(sheet: Sheet, number: int) -> Iterator[str]:
    yield f'<div class="sheet" id="sheet-{number}" data-name="{html.escape(sheet.name)}">'
    for listing in sheet.listings:
        yield from _listing(listing, number)
    yield "</div>"


def _listing(listing: Listing, number: int) -> Iterator[str]:
    name = f"{listing.title.lower()}-{number}"
    yield f'<section class="pane" data-pane="{listing.title}">'
    yield f'<h2 id="{name}">{listing.title} <small>{html.escape(listing.note)}</small></h2>'
    yield f'<div class="lines" role="listbox" aria-multiselectable="true" aria-labelledby="{name}">'
    yield from map(_line, listing.lines)
    yield "</div>"
    yield "</section>"


def _line(line: Line) -> str:
    code = "".join(_piece(kind, text) for kind, text in line.pieces) or "&#8203;"
    of = f' data-line="{line.source}"' if line.source else ""
    number = f'<span class="at" aria-hidden="true">{line.number or ""}</span>'
    return f'<div class="line" role="option" aria-selected="false" tabindex="-1"{of}>{number}<code>{code}</code></div>'


def _piece(kind: str, text: str) -> str:
    escaped = html.escape(text, quote=False)
    return f'<span class="{kind}">{escaped}</span>' if kind else escaped
