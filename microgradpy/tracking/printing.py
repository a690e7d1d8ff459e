"""A trace as text.

    ⟨f⟩(⟨1.0⟩) → 1.8414709848078965
      @1: [Arg:§1:%1] f
      @2: [Arg:§1:%2] 1.0
      @3: [§1:%3] ⟨math.sin⟩(@2) → 0.8414709848078965
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from microgradpy.tracking.nodes import NestedCallNode, Node

INDENT = "  "


def format_levels(node: Node, levels: int | None = None) -> str:
    """What `print_levels` prints."""
    return "\n".join(_lines(node, levels))


def print_levels(node: Node, levels: int | None = None, file: TextIO | None = None) -> None:
    """Print a node and what is inside of it: 1 level is the node itself, 2 also its children, and so on; without `levels`
    everything."""
    print(format_levels(node, levels), file=file)


def _lines(node: Node, levels: int | None) -> Iterator[str]:
    # A stack of our own: calls may be nested deeper than Python allows.
    waiting = [iter((node,))]
    while waiting:
        inner: Node | None = next(waiting[-1], None)
        if inner is None:
            waiting.pop()
            continue
        yield INDENT * (len(waiting) - 1) + _line(inner)
        if isinstance(inner, NestedCallNode) and (levels is None or len(waiting) < levels):
            waiting.append(iter(inner.children))


def _line(node: Node) -> str:
    head = f"@{node.position}: " if node.position else ""
    place = "" if node.location is None else node.label
    return head + place + node.text() + node.shown_metadata()
