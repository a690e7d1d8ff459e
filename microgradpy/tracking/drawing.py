"""Pictures of traces, nodes and arrows: SVG, drawn here, and the languages of Graphviz and Mermaid.

Data edges (solid, at the left of the text) go from what made a value to what reads it; control edges (dashed, red) from a
branch to what was executed next. A call that was looked into is a box.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

from microgradpy.tracking.layout import INDENT, MARGIN, ROW, Picture, Row, Shown, children_of, identifiers, lay_out

_FILLS = {
    "argument": "#e8f0fe", "constant": "#f1f3f4", "primitive": "#ffffff", "nested": "#e6f4ea", "special": "#f1f3f4",
    "jump": "#fce8e6", "return": "#fef7e0", "raise": "#fce8e6",
}  # fmt: skip
_DATA, _CONTROL = "#5f6f8f", "#c5221f"


def svg(node: Shown, levels: int | None = None) -> str:
    """A picture of a trace, of `levels` levels or all of them, as SVG."""
    return _svg(lay_out(node, levels))


def dot(node: Shown, levels: int | None = None) -> str:
    """The same in the language of Graphviz."""
    return "\n".join(_chart(lay_out(node, levels), _DOT))


def mermaid(node: Shown, levels: int | None = None) -> str:
    """The same as a Mermaid flow chart."""
    return "\n".join(_chart(lay_out(node, levels), _MERMAID))


def _svg(picture: Picture) -> str:
    lanes = _Lanes(picture)
    width, height = picture.width + lanes.width + MARGIN, picture.height + (ROW if picture.omitted else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="11.5">',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
        f'<defs>{_arrow("data", _DATA)}{_arrow("control", _CONTROL)}</defs>',
        f'<g transform="translate({lanes.width:.0f} 0)">',
        *map(_box, picture.rows),
        *map(_row, picture.rows),
        "</g>",
        *lanes.edges(),
    ]
    if picture.omitted:
        y = picture.height + ROW / 2
        parts.append(f'<text x="{lanes.width + MARGIN:.0f}" y="{y:.0f}">… {picture.omitted} more</text>')
    return "\n".join([*parts, "</svg>"])


def _arrow(name: str, colour: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>'
    )


def _box(row: Row) -> str:
    if row.box is None:
        return ""
    width, height = row.box
    return (
        f'<rect x="{row.x - 4:.0f}" y="{row.y:.0f}" width="{width:.0f}" height="{height + ROW:.0f}" rx="5" '
        f'fill="none" stroke="#81a98b"/>'
    )


def _row(row: Row) -> str:
    place = "" if row.node.location is None else f"<title>{html.escape(row.node.label.strip())}</title>"
    return (
        f'<g>{place}<rect x="{row.x:.0f}" y="{row.y + 2:.0f}" width="{row.width:.0f}" height="{ROW - 4}" rx="3" '
        f'fill="{_FILLS[row.node.kind]}"/><text x="{row.x + 3:.0f}" y="{row.y + 15:.0f}">{html.escape(row.text)}</text></g>'
    )


class _Lanes:
    """Edges run in vertical lanes at the left of the rows; an edge takes the first lane that is free from its start to its
    end."""

    def __init__(self, picture: Picture) -> None:
        taken: list[float] = []
        self.routes: list[tuple[Row, Row, int, str]] = []
        edges = [(*edge, "data") for edge in picture.data] + [(*edge, "control") for edge in picture.control]
        for start, end, kind in sorted(edges, key=lambda edge: (edge[0].y, edge[1].y)):
            lane = next((index for index, until in enumerate(taken) if until < start.y), len(taken))
            if lane == len(taken):
                taken.append(end.y)
            taken[lane] = end.y
            self.routes.append((start, end, lane, kind))
        self.count = len(taken)
        self.width = MARGIN + 5.0 * self.count + INDENT / 2

    def edges(self) -> Iterator[str]:
        for start, end, lane, kind in self.routes:
            x = self.width - INDENT / 2 - 5.0 * lane
            first, last = start.y + ROW / 2 + 3, end.y + ROW / 2 - 3
            colour, dashes = (_DATA, "") if kind == "data" else (_CONTROL, ' stroke-dasharray="3 2"')
            path = f"M{self.width + start.x:.0f} {first:.0f}H{x:.0f}V{last:.0f}H{self.width + end.x - 1:.0f}"
            yield f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="0.8"{dashes} marker-end="url(#{kind})"/>'


@final
@dataclass(frozen=True, slots=True)
class _Language:
    """How a flow chart is written: what is first and last, a box, the line that opens a group and the box of its result, what
    ends a group, and the edges between two names."""

    first: tuple[str, ...]
    box: Callable[[str, Row], str]
    group: Callable[[str, Row], tuple[str, str]]
    end: str
    data: str
    control: str
    last: tuple[str, ...] = ()


def _chart(picture: Picture, language: _Language) -> Iterator[str]:
    names, inner = identifiers(picture), children_of(picture)

    def rows(outer: int, margin: str) -> Iterator[str]:
        for row in inner.get(outer, ()):
            name = names[id(row)]
            if id(row) not in inner:
                yield margin + language.box(name, row)
                continue
            opened, result = language.group(name, row)
            yield margin + opened
            yield f"{margin}  {result}"
            yield from rows(id(row), margin + "  ")
            yield margin + language.end

    yield from language.first
    yield from rows(0, "  ")
    for edges, edge in ((picture.data, language.data), (picture.control, language.control)):
        for start, end in edges:
            yield "  " + edge.format(names[id(start)], names[id(end)])
    yield from language.last


def _dot_box(name: str, row: Row) -> str:
    text = row.text.replace("\\", "\\\\").replace('"', '\\"')
    return f'{name} [label="{text}", fillcolor="{_FILLS[row.node.kind]}"];'


def _dot_group(name: str, row: Row) -> tuple[str, str]:
    return f"subgraph cluster_{name} {{", _dot_box(name, row)


def _mermaid_text(row: Row) -> str:
    return html.escape(row.text).replace("&quot;", "#quot;").replace("&#x27;", "'")


def _mermaid_box(name: str, row: Row) -> str:
    return f'{name}["{_mermaid_text(row)}"]'


def _mermaid_group(name: str, row: Row) -> tuple[str, str]:
    return f'subgraph s{name}["{_mermaid_text(row)}"]', f'{name}["result"]'


_DOT = _Language(
    ("digraph trace {", '  node [shape=box, style="rounded,filled", fontname="monospace", fontsize=10];'),
    _dot_box,
    _dot_group,
    "}",
    "{} -> {};",
    f'{{}} -> {{}} [style=dashed, color="{_CONTROL}"];',
    ("}",),
)
_MERMAID = _Language(("flowchart TB",), _mermaid_box, _mermaid_group, "end", "{} --> {}", "{} -.-> {}")
