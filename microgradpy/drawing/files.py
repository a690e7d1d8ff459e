"""The ways to write a graph, by the ending of the file: SVG, and text for Graphviz and Mermaid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from microgradpy.drawing.graph import Edge, Graph, Node
from microgradpy.drawing.svg import as_svg


def as_dot(graph: Graph) -> str:
    """The graph in the language of Graphviz: boxes are records, whose lines are the ends of data edges."""
    return "\n".join([f"digraph {_quoted(graph.title)} {{", *_dot_lines(graph), "}"]) + "\n"


def _dot_lines(graph: Graph) -> Iterator[str]:
    yield '  node [shape=record fontname="monospace" fontsize=11]'
    yield '  edge [fontname="monospace" fontsize=10]'
    for node in graph.nodes:
        yield f"  {_quoted(node.name)} [label={_record(node)}]"
    for edge in graph.edges:
        label = f" [label={_quoted(edge.label)}]" if edge.label and edge.kind == "control" else ""
        if edge.kind == "data":
            label = f" [color=blue constraint=false tooltip={_quoted(edge.label)}]"
        yield f"  {_end(edge.source, edge.source_row)} -> {_end(edge.target, edge.target_row)}{label}"


def _end(name: str, row: int | None) -> str:
    return _quoted(name) if row is None else f"{_quoted(name)}:row{row + 1}:e"


def _record(node: Node) -> str:
    """The label of a box: its lines one below the other, each with a name (`<row1>`), and to the left (`\\l`)."""
    rows = [node.title, *(row.text for row in node.rows)]
    return '"{' + "|".join(f"<row{k}> {_field(text)}\\l" for k, text in enumerate(rows)) + '}"'


def _field(text: str) -> str:
    return "".join(f"\\{letter}" if letter in '{}|<>"\\' else letter for letter in text)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def as_mermaid(graph: Graph) -> str:
    """The graph as a Mermaid flowchart, which Markdown on many sites draws. It has no edges between lines: data edges
    between two boxes are one dotted edge."""
    return "\n".join(["flowchart TD", *_mermaid_lines(graph)]) + "\n"


def _mermaid_lines(graph: Graph) -> Iterator[str]:
    names = {node.name: f"n{number}" for number, node in enumerate(graph.nodes)}
    for node in graph.nodes:
        text = "<br>".join(_mermaid_text(line) for line in (node.title, *(row.text for row in node.rows)))
        yield f'  {names[node.name]}["{text}"]'
    between: dict[tuple[str, str], list[Edge]] = {}
    for edge in graph.edges:
        if edge.kind == "data":
            if edge.source != edge.target:
                between.setdefault((edge.source, edge.target), []).append(edge)
            continue
        label = f'|"{_mermaid_text(edge.label)}"|' if edge.label else ""
        yield f"  {names[edge.source]} -->{label} {names[edge.target]}"
    for (source, target), edges in between.items():
        labels = ", ".join(dict.fromkeys(edge.label for edge in edges if edge.label))
        yield f'  {names[source]} -.->|"{_mermaid_text(labels)}"| {names[target]}'


_SPECIAL = '#&"<>;%`'


def _mermaid_text(text: str) -> str:
    """Mermaid's form of a text that may have letters which mean something to it."""
    return "".join(f"#{ord(letter)};" if letter in _SPECIAL else letter for letter in text)


WRITERS: Mapping[str, Callable[[Graph], str]] = {".svg": as_svg, ".dot": as_dot, ".mmd": as_mermaid}
"""What makes the text of a file, by the ending of its name."""
