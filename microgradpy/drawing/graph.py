"""What can be drawn: boxes with lines of text, and edges between boxes or between lines of boxes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Row:
    """A line of text in a box. `note` is shown by a tool tip."""

    text: str
    note: str = ""


@final
@dataclass(frozen=True, slots=True)
class Node:
    """A box. Its `name` is unique in the graph; it stands nowhere in the picture."""

    name: str
    title: str
    rows: tuple[Row, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Edge:
    """An edge from a node to a node, each by its name. With rows (counted from 0; -1 is the title) it goes from line to line
    beside the boxes, and has no influence on where these are; without, it is one of those that the layout follows."""

    source: str
    target: str
    label: str = ""
    source_row: int | None = None
    target_row: int | None = None

    @property
    def kind(self) -> str:
        """What the edge stands for: "data" between lines, "control" between boxes."""
        return "control" if self.source_row is None else "data"


@final
@dataclass(frozen=True, slots=True)
class Graph:
    """A directed graph, which may have cycles. The nodes are in the order in which they are read."""

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
