"""A graph as SVG: readable in light and dark, with no outside parts, and with a text for those who do not see it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from microgradpy.drawing.graph import Edge, Graph, Node
from microgradpy.drawing.layout import MARGIN, Layout, Placed, Point, lay_out

_LETTER, _LINE, _PADDING = 7.25, 18.0, 10.0
_TURN = 28.0
_BULGE, _WIDEST_BULGE = 16.0, 110.0

STYLE = """\
svg { font: 12px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; background: var(--paper);
  --paper: #ffffff; --ink: #1f2328; --faint: #57606a; --box: #f6f8fa; --head: #eaeef2; --line: #afb8c1; --data: #0969da; }
@media (prefers-color-scheme: dark) {
  svg { --paper: #0d1117; --ink: #e6edf3; --faint: #9198a1; --box: #161b22; --head: #21262d; --line: #484f58; --data: #58a6ff; }
}
text { fill: var(--ink); white-space: pre; }
.box { fill: var(--box); stroke: var(--line); }
.head { fill: var(--head); }
.title { font-weight: 600; }
.label { fill: var(--faint); font-size: 11px; stroke: var(--paper); stroke-width: 4px; paint-order: stroke; }
.control { fill: none; stroke: var(--faint); stroke-width: 1.5; }
.tip { fill: var(--faint); }
.data { fill: none; stroke: var(--data); stroke-width: 1; opacity: 0.45; }
.data:hover { opacity: 1; stroke-width: 2.5; }
.data-tip { fill: var(--data); opacity: 0.7; }"""


def as_svg(graph: Graph) -> str:
    """The text of an SVG file."""
    layout = lay_out(graph, {node.name: size_of(node) for node in graph.nodes})
    nodes = {node.name: node for node in graph.nodes}
    arcs = [_arc(edge, layout) for edge in graph.edges if edge.kind == "data"]
    width = max([layout.width, *(right + MARGIN for _, right in arcs)])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{layout.height:.0f}" '
        f'viewBox="0 0 {width:.0f} {layout.height:.0f}" role="img">',
        f"<title>{escape(graph.title)}</title>",
        f"<desc>{escape(_description(graph))}</desc>",
        f"<style>{STYLE}</style>",
        "<defs>",
        _tip("tip", "tip", 8),
        _tip("data-tip", "data-tip", 5),
        "</defs>",
        *_control_edges(graph, layout),
        *(path for path, _ in arcs),
        *(line for name, box in layout.boxes.items() for line in _box(nodes[name], box)),
        *_labels(graph, layout),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def size_of(node: Node) -> Point:
    """The width and the height of a box."""
    longest = max(map(len, (node.title, *(row.text for row in node.rows))))
    return longest * _LETTER + 2 * _PADDING, _LINE * (1 + len(node.rows)) + (8 if node.rows else 4)


def _row_y(box: Placed, row: int) -> float:
    """The height of the middle of a line of a box; -1 is the title."""
    return box.y + _LINE / 2 + 1 if row < 0 else box.y + _LINE * (row + 1.5) + 4


def _box(node: Node, box: Placed) -> Iterator[str]:
    at = f'x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}"'
    yield f'<g class="node" id={quoteattr("node-" + node.name)}>'
    yield f'<rect class="box" {at} height="{box.height:.1f}" rx="5"/>'
    yield f'<rect class="head" {at} height="{_LINE + 2:.1f}" rx="5"/>'
    yield _text(node.title, box.x + _PADDING, _row_y(box, -1) + 4, "title")
    for number, row in enumerate(node.rows):
        yield _text(row.text, box.x + _PADDING, _row_y(box, number) + 4, "row", row.note)
    yield "</g>"


def _text(text: str, x: float, y: float, kind: str, note: str = "") -> str:
    tip = f"<title>{escape(note)}</title>" if note else ""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{tip}{escape(text)}</text>'


def _control_edges(graph: Graph, layout: Layout) -> Iterator[str]:
    for number, points in layout.routes.items():
        edge = graph.edges[number]
        title = f"<title>{escape(f'{edge.source} to {edge.target} {edge.label}'.rstrip())}</title>"
        yield f'<path class="control" d="{_smooth(points)}" marker-end="url(#tip)">{title}</path>'


def _smooth(points: tuple[Point, ...]) -> str:
    """A path through the points that is vertical at each of them. It leaves its box downwards and comes to one from above;
    what goes upwards in between turns round below the one and above the other."""
    path = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    upwards = len(points) > 2 and points[1][1] > points[2][1]
    ways = [1, *([-1 if upwards else 1] * (len(points) - 2)), 1]
    for (x, y), (next_x, next_y), way, next_way in zip(points, points[1:], ways, ways[1:], strict=False):
        bend = abs(next_y - y) / 2 if way == next_way else _TURN
        path.append(f"C{x:.1f} {y + way * bend:.1f} {next_x:.1f} {next_y - next_way * bend:.1f} {next_x:.1f} {next_y:.1f}")
    return " ".join(path)


def _labels(graph: Graph, layout: Layout) -> Iterator[str]:
    taken: list[Point] = []
    for number, points in layout.routes.items():
        label = graph.edges[number].label
        if label:
            (x, y), (next_x, _) = points[0], points[1]
            place = (x + (8 if next_x >= x else -8 - len(label) * 6.7), y + 14)
            while any(abs(place[1] - other) < 12 and abs(place[0] - at) < 90 for at, other in taken):
                place = (place[0], place[1] + 12)
            taken.append(place)
            yield _text(label, *place, "label")


def _arc(edge: Edge, layout: Layout) -> tuple[str, float]:
    """A curve on the right of the boxes, from line to line, and how far to the right it goes."""
    source, target = layout.boxes[edge.source], layout.boxes[edge.target]
    start = source.right, _row_y(source, edge.source_row or 0)
    end = target.right, _row_y(target, edge.target_row or 0)
    between = _between(layout.boxes, source, target)
    far = max(box.right for box in between) + min(_BULGE + abs(end[1] - start[1]) * 0.25, _WIDEST_BULGE)
    path = f"M{start[0]:.1f} {start[1]:.1f} C{far:.1f} {start[1]:.1f} {far:.1f} {end[1]:.1f} {end[0] + 3:.1f} {end[1]:.1f}"
    title = f"<title>{escape(edge.label)}</title>"
    return f'<path class="data" d="{path}" marker-end="url(#data-tip)">{title}</path>', far


def _between(boxes: Mapping[str, Placed], source: Placed, target: Placed) -> Iterable[Placed]:
    """The boxes that a curve between two of them would cross, and these."""
    upper, lower = min(source.y, target.y), max(source.bottom, target.bottom)
    left, right = min(source.x, target.x), max(source.right, target.right)
    return [box for box in boxes.values() if box.bottom >= upper and box.y <= lower and box.right >= left and box.x <= right]


def _tip(name: str, kind: str, size: int) -> str:
    head = f'<marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="{size}" markerHeight="{size}"'
    return f'{head} orient="auto" markerUnits="userSpaceOnUse"><path class="{kind}" d="M0 0L10 5L0 10z"/></marker>'


def _description(graph: Graph) -> str:
    edges = [f"{edge.source} to {edge.target} {edge.label}".rstrip() for edge in graph.edges if edge.kind == "control"]
    return f"{len(graph.nodes)} boxes. " + "; ".join(edges)
