"""Data and control flow of a function, as a graph: its basic blocks are the boxes."""

from __future__ import annotations

from collections.abc import Iterator

from microgradpy.drawing.graph import Edge, Graph, Node, Row
from microgradpy.introspect import IR
from microgradpy.ir.nodes import Var
from microgradpy.ir.printer import BlockLine, block_lines


def graph_of(ir: IR) -> Graph:
    """The blocks of a function, with the branches between them, and an edge from each definition to each use. Functions
    that are made inside have boxes of their own."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    for number, lines in enumerate(block_lines(ir.function)):
        of_function = _OneFunction(lines, "" if number == 0 else lines[0].text.removesuffix(":"))
        nodes += of_function.nodes()
        edges += [*of_function.control_edges(), *of_function.data_edges()]
    return Graph(f"{ir.name} ({ir.stage})", tuple(nodes), tuple(edges))


class _OneFunction:
    """The lines of a function by block; `prefix` makes the names of the blocks of a closure unique."""

    def __init__(self, lines: list[BlockLine], label: str) -> None:
        self.prefix = f"{label}." if label else ""
        self.blocks: dict[int, list[BlockLine]] = {}
        for line in lines:
            if line.block:
                self.blocks.setdefault(line.block, []).append(line)

    def name(self, block: int) -> str:
        return f"{self.prefix}{block}"

    def nodes(self) -> Iterator[Node]:
        for number, (heading, *lines) in self.blocks.items():
            rows = [Row(line.text.strip(), line.where.text) for line in lines]
            yield Node(self.name(number), f"{self.prefix}{heading.text}", tuple(rows))

    def control_edges(self) -> Iterator[Edge]:
        for number, lines in self.blocks.items():
            for line in lines:
                if line.target:
                    yield Edge(self.name(number), self.name(line.target), _condition(line.text))

    def data_edges(self) -> Iterator[Edge]:
        rows = [(number, row - 1, line) for number, lines in self.blocks.items() for row, line in enumerate(lines)]
        made = {var: (number, row, line.text) for number, row, line in rows for var in line.defines}
        for number, row, line in rows:
            for var in dict.fromkeys(line.reads):
                # The function itself and its parameters stand in the heading, where nothing can be seen to come from.
                if var in made:
                    yield self.data_edge(made[var], number, row, var)

    def data_edge(self, made: tuple[int, int, str], number: int, row: int, var: Var) -> Edge:
        block, made_row, text = made
        label = var.hint or text.partition(" = ")[0].strip()
        return Edge(self.name(block), self.name(number), label, made_row, row)


def _condition(branch: str) -> str:
    """When a branch is taken: what stands behind the block that it goes to."""
    for word in (" unless ", " on "):
        _, found, after = branch.partition(word)
        if found:
            return f"{word.strip()} {after}".partition(" in %")[0]
    return ""
