"""Derivatives over traces, and pictures of them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from microgradpy import MissingRuleError, gradient
from microgradpy.tracking import DifferentiationContext, NestedCallNode, differentiate, track
from tests.tracking.traced import f, h


def used_twice(x: float) -> float:
    t = math.sin(x)
    return t * math.cos(t)


def looping(x: float, n: int) -> float:
    total = 0.0
    for i in range(n):
        if i != 1:
            total += powered(x, i)
    a, b = total, x
    return a * b


def powered(x: float, i: int) -> float:
    return x**i


def over_items(xs: list[float], k: float) -> float:
    s = 1.0
    for x in xs:
        s = s * x + k
    return s


def array(a: Any, x: Any) -> Any:
    y = np.tanh(a @ x)
    return np.sum(y[1:] * 2.0)


DERIVATIVES: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (used_twice, (1.0,)),
    (f, (1.0,)),
    (h, (2.0, 3)),
    (looping, (1.5, 4)),
    (over_items, ([0.5, 2.0, 3.0], 0.7)),
    (array, (np.array([[1.0, 0.2], [0.4, 0.5]]), np.array([0.3, -0.6]))),
    (lambda x, y: x / (x + y**2), (2.1, 3.2)),
)


@pytest.mark.parametrize("function, args", DERIVATIVES)
def test_a_trace_can_be_differentiated_any_number_of_times(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    context = DifferentiationContext()
    trace = track(function, *args, context=context)
    assert isinstance(trace, NestedCallNode)
    expected = gradient(function, *args)
    for _ in range(2):
        for found, wanted in zip(differentiate(trace, context), expected, strict=True):
            assert (found is None) == (wanted is None)
            if wanted is not None:
                np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_the_order_is_right_where_a_value_is_used_twice() -> None:
    context = DifferentiationContext()
    trace = track(used_twice, 1.0, context=context)
    assert isinstance(trace, NestedCallNode)
    assert differentiate(trace, context) == (0.021042432391821277,)


def test_what_was_written_into_is_not_differentiated() -> None:
    def writes(x: float) -> float:
        values = [1.0, 2.0]
        values[0] = x
        return values[0] * 2.0

    context = DifferentiationContext()
    trace = track(writes, 3.0, context=context)
    assert isinstance(trace, NestedCallNode)
    with pytest.raises(MissingRuleError, match="was written into"):
        differentiate(trace, context)


def test_a_picture_has_a_row_for_each_node_and_an_edge_for_each_reference() -> None:
    trace = track(looping, 1.5, 3)
    assert isinstance(trace, NestedCallNode)
    root = ElementTree.fromstring(trace.to_svg())
    space = "{http://www.w3.org/2000/svg}"
    texts = ["".join(text.itertext()) for text in root.iter(f"{space}text")]
    inner = [node for call in trace if isinstance(call, NestedCallNode) for node in call]
    assert len(texts) == 1 + len(trace) + len(inner) and texts[4] == "@4 ⟨iter(range)⟩(@3) → <range_iterator>"
    edges = [path.get("marker-end") for path in root.iter(f"{space}path") if path.get("marker-end")]
    references = sum(len(node.referenced()) for node in (*trace, *inner))
    outer = sum(node.kind == "argument" and node.position > 1 for node in inner)
    assert edges.count("url(#data)") == references + outer
    assert edges.count("url(#control)") == sum(node.kind == "jump" for node in trace)
    boxes = [rect for rect in root.iter(f"{space}rect") if rect.get("stroke")]
    assert len(boxes) == 1 + sum(isinstance(node, NestedCallNode) for node in trace)
    assert trace._repr_svg_() in trace._repr_html_()


def test_the_languages_of_graphviz_and_mermaid() -> None:
    trace = track(looping, 1.5, 3)
    dot, mermaid = trace.to_dot(), trace.to_mermaid()
    assert dot.startswith("digraph trace {") and dot.count("{") == dot.count("}") == 1 + 3
    assert dot.count("style=dashed") == mermaid.count("-.->") == sum(node.kind == "jump" for node in trace)  # type: ignore[attr-defined]
    assert mermaid.startswith("flowchart TB") and mermaid.count("subgraph") == len(re.findall(r"^ *end$", mermaid, re.M)) == 3
    assert len(trace.to_svg(levels=1)) < len(trace.to_svg(levels=2)) < len(trace.to_svg())
