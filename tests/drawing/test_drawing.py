"""Pictures of graphs: boxes do not overlap, edges begin and end where they should, and the files are well-formed."""

from __future__ import annotations

import itertools
import random
import re
import xml.etree.ElementTree as ElementTree

import pytest

from microgradpy.drawing.files import WRITERS, as_dot, as_mermaid
from microgradpy.drawing.graph import Edge, Graph, Node, Row
from microgradpy.drawing.layout import lay_out
from microgradpy.drawing.svg import as_svg, size_of

AWKWARD = 'a < b & "c" -> %3 {x|y} #1; \\n'


def graph(count: int, *pairs: tuple[int, int], data: tuple[tuple[int, int, int, int], ...] = ()) -> Graph:
    """A graph of `count` boxes of different sizes."""
    nodes = tuple(Node(str(k), f"box {k}", tuple(Row("x" * (3 * k % 7), "why") for _ in range(k % 4))) for k in range(count))
    edges = [Edge(str(a), str(b), f"from {a}") for a, b in pairs]
    edges += [Edge(str(a), str(b), "value", row, other) for a, row, b, other in data]
    return Graph("a graph", nodes, tuple(edges))


def random_graph(seed: int) -> Graph:
    draw = random.Random(seed)
    count = draw.randint(2, 14)
    pairs = [(draw.randrange(count), draw.randrange(count)) for _ in range(draw.randint(1, 2 * count))]
    return graph(count, *pairs, data=((0, -1, count - 1, -1),))


GRAPHS = {
    "nothing": graph(0),
    "one": graph(1),
    "line": graph(3, (0, 1), (1, 2)),
    "diamond": graph(4, (0, 1), (0, 2), (1, 3), (2, 3)),
    "loop": graph(4, (0, 1), (1, 2), (2, 1), (1, 3)),
    "to itself": graph(2, (0, 0), (0, 1), (0, 1)),
    "apart": graph(4, (0, 1), (2, 3)),
    "over layers": graph(5, (0, 1), (1, 2), (2, 3), (0, 3), (3, 0), (0, 4)),
    "data": graph(4, (0, 3), data=((3, 0, 3, 2), (3, 2, 0, -1))),
} | {f"random {seed}": random_graph(seed) for seed in range(20)}


def layout_of(drawn: Graph):
    return lay_out(drawn, {node.name: size_of(node) for node in drawn.nodes})


@pytest.mark.parametrize("drawn", GRAPHS.values(), ids=GRAPHS.keys())
def test_boxes_do_not_overlap_and_are_inside_the_picture(drawn):
    layout = layout_of(drawn)
    assert layout.boxes.keys() == {node.name for node in drawn.nodes}
    for box in layout.boxes.values():
        assert box.x >= 0 and box.y >= 0 and box.right <= layout.width and box.bottom <= layout.height
    for one, other in itertools.combinations(layout.boxes.values(), 2):
        apart = one.right < other.x or other.right < one.x or one.bottom < other.y or other.bottom < one.y
        assert apart, (one, other)


@pytest.mark.parametrize("drawn", GRAPHS.values(), ids=GRAPHS.keys())
def test_edges_lead_from_the_bottom_of_a_box_to_the_top_of_one_and_through_no_other(drawn):
    layout = layout_of(drawn)
    assert layout.routes.keys() == {k for k, edge in enumerate(drawn.edges) if edge.kind == "control"}
    for number, points in layout.routes.items():
        source, target = layout.boxes[drawn.edges[number].source], layout.boxes[drawn.edges[number].target]
        (x, y), (end_x, end_y) = points[0], points[-1]
        assert y == source.bottom and source.x < x < source.right
        assert end_y == target.y and target.x < end_x < target.right
        for (x, y), (next_x, next_y) in itertools.pairwise(points[1:-1]):
            if abs(x - next_x) < 1e-9:  # where it passes a layer
                low, high = sorted((y, next_y))
                assert not any(box.x < x < box.right and box.y < high and low < box.bottom for box in layout.boxes.values())


def test_what_comes_after_stands_below():
    layout = layout_of(GRAPHS["diamond"])
    tops = [layout.boxes[str(k)].y for k in range(4)]
    assert tops[0] < tops[1] == tops[2] < tops[3]
    # A loop does not turn the order round.
    layout = layout_of(GRAPHS["loop"])
    assert [layout.boxes[str(k)].y for k in range(4)] == sorted(layout.boxes[str(k)].y for k in range(4))


def test_edges_that_need_not_cross_do_not():
    # In the order of the nodes 0-3 and 1-2 would cross.
    layout = layout_of(graph(4, (0, 3), (1, 2)))
    assert (layout.boxes["0"].x < layout.boxes["1"].x) == (layout.boxes["3"].x < layout.boxes["2"].x)


@pytest.mark.parametrize("drawn", GRAPHS.values(), ids=GRAPHS.keys())
def test_an_svg_is_well_formed_and_has_every_box_line_and_edge(drawn):
    text = as_svg(drawn)
    root = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}g")) == len(drawn.nodes)
    assert len(root.findall(f".//{space}text[@class='row']")) == sum(len(node.rows) for node in drawn.nodes)
    kinds = [path.get("class") for path in root.findall(f"{space}path")]
    assert sorted(kinds) == sorted(edge.kind for edge in drawn.edges)
    assert text == as_svg(drawn)  # the same each time
    assert not re.search(r"(href|src)=|url\((?!#)", text)  # nothing from outside


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS.keys())
def test_letters_that_mean_something_to_the_format_are_escaped(write):
    text = write(Graph(AWKWARD, (Node("a", AWKWARD, (Row(AWKWARD),)),), (Edge("a", "a", AWKWARD),)))
    assert AWKWARD not in text
    if write is as_svg:
        found = ElementTree.fromstring(text).findall(".//{http://www.w3.org/2000/svg}text[@class='row']")
        assert [element.text for element in found] == [AWKWARD]


def test_dot_names_the_lines_that_data_goes_between():
    drawn = Graph("g", (Node("a", "A", (Row("x = {1}"), Row("y = x"))),), (Edge("a", "a", "x", 0, 1), Edge("a", "a", "again")))
    assert as_dot(drawn) == (
        'digraph "g" {\n'
        '  node [shape=record fontname="monospace" fontsize=11]\n'
        '  edge [fontname="monospace" fontsize=10]\n'
        '  "a" [label="{<row0> A\\l|<row1> x = \\{1\\}\\l|<row2> y = x\\l}"]\n'
        '  "a":row1:e -> "a":row2:e [color=blue constraint=false tooltip="x"]\n'
        '  "a" -> "a" [label="again"]\n'
        "}\n"
    )


def test_mermaid_has_one_dotted_edge_between_two_boxes():
    nodes = (Node("a", "A", (Row("x = 1"),)), Node("b", "B", (Row("f(x)"), Row("g(x)"))))
    edges = (Edge("a", "b"), Edge("a", "b", "x", 0, 0), Edge("a", "b", "x", 0, 1))
    assert as_mermaid(Graph("g", nodes, edges)) == (
        'flowchart TD\n  n0["A<br>x = 1"]\n  n1["B<br>f(x)<br>g(x)"]\n  n0 --> n1\n  n0 -.->|"x"| n1\n'
    )
