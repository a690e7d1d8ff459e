"""Pages and pictures of the programs of the golden texts: whatever the compiler makes can be shown."""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ElementTree

import pytest

from microgradpy import code_ir, explain, instrument, primal, reverse_differentiate
from microgradpy.cli.ir_graph import graph_of
from microgradpy.drawing.files import WRITERS
from microgradpy.ir.printer import print_blocks
from tests.explain.test_page import PANES, Page
from tests.golden.programs import PROGRAMS


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_page(program):
    page = Page(explain(program.function, *copy.deepcopy(program.args), argnums=program.argnums))
    for number in range(1, 1 + len(page.sheets)):
        lines = {pane: {line for at, title, line, _ in page.lines if (at, title) == (number, pane)} - {0} for pane in PANES}
        assert lines["IR"] | lines["Primal"] | lines["Adjoint"] <= lines["Source"]
        # All that is computed is in the primal, so all statements but some without an operation are.
        assert len(lines["Primal"]) >= 0.3 * len(lines["Source"])


@pytest.mark.parametrize("stage", [code_ir, instrument, primal, reverse_differentiate], ids=lambda stage: stage.__name__)
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_picture(program, stage):
    ir = code_ir(program.function) if stage is code_ir else stage(code_ir(program.function))
    graph = graph_of(ir)
    texts = [text.removesuffix("=") for node in graph.nodes for text in (node.title, *(row.text for row in node.rows))]
    printed = [line.strip() for line in print_blocks(ir.function).splitlines()]
    assert all(any(text.endswith(line) for text in texts) for line in printed if line[:1].isdigit() or line.startswith("%"))
    names = {node.name: len(node.rows) for node in graph.nodes}
    for edge in graph.edges:
        assert edge.source in names and edge.target in names
        if edge.kind == "data":
            assert -1 <= edge.source_row < names[edge.source] and -1 <= edge.target_row < names[edge.target]
    ElementTree.fromstring(WRITERS[".svg"](graph))


def test_control_and_data_edges_of_a_loop():
    def power(x, n):
        y = 1.0
        for _ in range(n):
            y = y * x
        return y

    edges = graph_of(code_ir(power)).edges
    assert [(edge.source, edge.target, edge.label) for edge in edges if edge.kind == "control"] == [
        ("1", "2", ""),
        ("2", "4", "unless %6"),
        ("2", "3", ""),
        ("3", "2", ""),
    ]
    # 1: (power, x, n); 2: (y); 3: y * x; 4: return y. Rows are counted from 0, and -1 is the heading.
    data = {(edge.label, edge.source, edge.source_row, edge.target, edge.target_row) for edge in edges if edge.kind == "data"}
    assert {("x", "1", -1, "3", 0), ("y", "2", -1, "3", 0), ("y", "3", 0, "3", 1), ("y", "2", -1, "4", 0)} <= data
