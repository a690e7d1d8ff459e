"""What nodes know: their values as they were, where they are, what they refer to and what refers to them; and contexts."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

from benchmarks.tracking import CASES, row
from microgradpy import code_ir
from microgradpy.tracking import (
    ArgumentNode,
    Axis,
    CallNode,
    Context,
    DepthLimitContext,
    JumpNode,
    NestedCallNode,
    Node,
    PrimitiveCallNode,
    ReturnNode,
    SpecialCallNode,
    backward,
    compose,
    track,
)
from tests.tracking.traced import f, h, lists


def nested(call: CallNode) -> NestedCallNode:
    assert isinstance(call, NestedCallNode)
    return call


def kinds(call: CallNode) -> list[str]:
    return [node.kind for node in nested(call)]


def test_a_trace_is_a_sequence_of_its_nodes() -> None:
    trace = nested(track(f, 1.0))
    assert len(trace) == len(trace.children) == 5
    assert [node.position for node in trace] == [1, 2, 3, 4, 5]
    assert trace[3] is trace["@4"] is trace.children[3] and trace[-1] is trace[4]
    assert [type(node) for node in trace[2:]] == [PrimitiveCallNode, PrimitiveCallNode, ReturnNode]
    assert trace[3].parent is trace and trace[3].root is trace
    assert repr(trace[3]) == "@4: ⟨+⟩(@3, @2) → 1.8414709848078965"


def test_a_call_knows_its_function_and_arguments() -> None:
    call = nested(track(f, 1.0))[2]
    assert isinstance(call, CallNode)
    assert (str(call.function), call.function.value) == ("⟨math.sin⟩", math.sin)
    assert (str(call.arguments), call.argument(0).value, call.value) == ("(@2,)", 1.0, math.sin(1.0))


def test_a_place_leads_to_the_statement() -> None:
    trace = nested(track(h, 2.0, 2))
    assert str(trace.inner_ir) == str(code_ir(h))
    found = [f"{node.location}  {node.ir[node.location]}" for node in trace[:9] if node.ir and node.location]
    assert found[3:] == [
        "§1:%4  %4 = %2 * 0",
        "§1:&1  br 2 (%4, 0)",
        "§2:%5  2: (%5, %6)",
        "§2:%6  2: (%5, %6)",
        "§2:%7  %7 = %6 < %3",
        "§2:&2  br 3",
    ]


def test_references_lead_to_the_last_execution_of_a_variable() -> None:
    trace = nested(track(h, 2.0, 2))
    for power, argument in (("@10", "@7"), ("@18", "@15")):
        assert trace[power].referenced() == [trace["@2"], trace[argument]]
    set_by = trace["@14"]
    assert isinstance(set_by, ArgumentNode) and set_by.jump is trace["@13"] and set_by.number == 1
    assert isinstance(set_by.jump, JumpNode) and set_by.jump.target == 2


def test_questions_about_the_flow_of_data() -> None:
    trace = nested(track(f, 1.0))
    assert trace[4].referenced() == [trace[3]]
    assert trace[4].referenced(numbered=True) == [(1, trace[3])]
    assert trace[3].referenced(numbered=True) == [(2, trace[2]), (3, trace[1])]
    assert trace[4].backward() == [trace[3], trace[2], trace[1]]
    assert trace[1].dependents() == [trace[2], trace[3]]
    assert trace[1].forward() == [trace[2], trace[3], trace[4]]
    seen: list[Node] = []
    assert backward(seen.append, trace[4]) == seen


def outer(x: float, y: float) -> float:
    z = x * y
    return inner(z, 2.0) + y


def inner(a: float, b: float) -> float:
    return a**b


def test_axes_lead_into_calls_and_out_of_them() -> None:
    trace = nested(track(outer, 3.0, 4.0))
    call = nested(trace["@5"])  # type: ignore[arg-type]
    product, power = trace["@4"], call["@4"]
    assert call["@2"].referenced() == [] and call["@2"].referenced(Axis.PARENT) == [product]
    assert product.dependents() == [call] and product.dependents(Axis.CHILD) == [call["@2"]]
    assert call.referenced(Axis.CHILD) == [call[-1]] and call[-1].dependents(Axis.PARENT) == [call]
    everywhere = Axis.PRECEDING | Axis.PARENT | Axis.CHILD
    assert power.backward(everywhere) == [call["@3"], call["@2"], product, trace["@3"], trace["@2"]]
    assert trace[-1].backward(everywhere)[:4] == [trace["@6"], call, call[-1], power]
    assert trace["@2"].forward(Axis.FOLLOWING | Axis.CHILD | Axis.PARENT)[-2:] == [trace["@6"], trace[-1]]
    assert power.query(Axis.PARENT) == [call] and power.query(Axis.ANCESTOR) == [trace, call]
    assert power.query(Axis.PRECEDING | Axis.FOLLOWING) == [*call[:3], call[4]]
    assert trace.query(Axis.CHILD) == list(trace) and trace.query(Axis.DESCENDANT) == [*trace[:5], *call, *trace[5:]]


def test_values_are_as_they_were() -> None:
    trace = nested(track(lists))
    assert trace["@2"].value == [1, 2]
    append, store = trace["@4"], trace["@5"]
    assert isinstance(append, CallNode) and isinstance(store, CallNode)
    assert (append.changes, store.changes) == (((0, [1, 2, 42]),), ((1, [42, 2, 42]),))
    assert trace[-1].value == trace.value == [42, 2, 42]
    assert trace["@2"].value_ref is trace.value_ref is not trace.value
    assert trace[-1].referenced(numbered=True) == [(1, trace["@2"]), (None, store)]


def unchanged(x: Any, n: int) -> Any:
    for _ in range(n):
        same(x)
    x[0] = 7.0
    return same(x)


def same(x: Any) -> Any:
    return x


def test_snapshots_share_what_did_not_change() -> None:
    x = np.zeros(1000)
    trace = nested(track(unchanged, x, 50))
    arrays = [node.value for node in trace.query(Axis.DESCENDANT) if isinstance(node.value, np.ndarray)]
    assert len(arrays) > 150 and len({id(array) for array in arrays}) == 2
    assert trace["@2"].value[0] == 0.0 and trace.value[0] == 7.0 and trace.value_ref is x


def test_what_cannot_be_copied_is_kept_by_reference_with_a_note() -> None:
    def opened() -> Any:
        return iter([1, 2])

    trace = nested(track(opened))
    made = next(node for node in trace if isinstance(node, PrimitiveCallNode))
    assert made.value is made.value_ref and made.note == "<list_iterator> is kept by reference: it cannot be copied"
    assert trace["@1"].note == ""


@pytest.mark.parametrize("args", [(), (2, 3)], ids=str)
def test_a_wrong_number_of_arguments_is_the_usual_error(args: tuple[Any, ...]) -> None:
    for function in (abs, same, np.sin if not args else abs):
        with pytest.raises(TypeError) as plain:
            function(*args)
        with pytest.raises(TypeError) as tracked:
            track(function, *args)
        assert str(tracked.value) == str(plain.value)


def test_what_has_no_text_is_one_node() -> None:
    assert type(track(math.sin, 1.0)) is PrimitiveCallNode
    assert repr(track(math.sin, 1.0)) == "⟨math.sin⟩(⟨1.0⟩) → 0.8414709848078965"

    def numbers() -> Any:
        yield 1

    assert list(track(numbers).value_ref) == [1]
    assert type(track(functools.partial(f, 1.0))) is NestedCallNode


def test_a_depth_limit_makes_deeper_calls_primitive() -> None:
    assert kinds(track(outer, 3.0, 4.0))[4] == "nested"
    limited = track(outer, 3.0, 4.0, context=DepthLimitContext(1))
    assert kinds(limited)[4] == "primitive" and limited.value == outer(3.0, 4.0)
    assert type(track(outer, 3.0, 4.0, context=DepthLimitContext(0))) is PrimitiveCallNode


class Noting(Context):
    """Notes in the metadata which of its methods were called."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.errors: list[str] = []

    def note(self, node: Node) -> None:
        node.metadata.setdefault("by", []).append(self.name)

    def tracked_call(self, call: Any) -> CallNode:
        node = super().tracked_call(call)
        self.note(node)
        return node

    def tracked_argument(self, node: ArgumentNode) -> None:
        super().tracked_argument(node)
        self.note(node)

    def tracked_jump(self, node: JumpNode) -> None:
        super().tracked_jump(node)
        self.note(node)

    def tracked_return(self, node: ReturnNode) -> None:
        super().tracked_return(node)
        self.note(node)

    def tracked_special(self, node: CallNode) -> None:
        super().tracked_special(node)
        self.note(node)

    def tracked_constant(self, node: Any) -> None:
        super().tracked_constant(node)
        self.note(node)

    def tracked_error(self, node: CallNode, error: BaseException) -> None:
        super().tracked_error(node, error)
        self.errors.append(f"{node.position} {error}")


SCALE = 3.0


def everything(x: float) -> Any:
    y = x * SCALE
    while y > 1.0:
        y = y / 10.0
    return y, inner(y, 2.0)


def test_every_node_goes_through_the_context() -> None:
    trace = nested(track(everything, 2.0, context=Noting("a")))
    assert {type(node) for node in trace} >= {ArgumentNode, JumpNode, ReturnNode, SpecialCallNode, NestedCallNode}
    assert all(node.metadata == {"by": ["a"]} for node in (trace, *trace.query(Axis.DESCENDANT)))


def test_contexts_compose() -> None:
    both = compose(Noting("a"), compose(DepthLimitContext(1), Noting("b")))
    trace = nested(track(everything, 2.0, context=both))
    assert all(node.metadata == {"by": ["b", "a"]} for node in trace)
    assert "nested" not in kinds(trace)


class Leveled(Context):
    """Gives what it calls another context, as one that counts levels itself."""

    def __init__(self, level: int) -> None:
        self.level = level

    def tracked_nested(self, call: Any) -> CallNode:
        call.inside(self, Leveled(self.level + 1))
        node = super().tracked_nested(call)
        node.metadata["level"] = self.level
        return node


def test_a_context_may_be_another_one_inside_of_a_call() -> None:
    trace = nested(track(outer, 3.0, 4.0, context=compose(Noting("a"), Leveled(1))))
    assert (trace.metadata["level"], trace["@5"].metadata["level"]) == (1, 2)


def test_errors_go_through_the_context_and_on() -> None:
    def fails(x: float) -> float:
        try:
            return math.sqrt(x)
        except ValueError:
            return inner(0.0, x)

    context = Noting("a")
    with pytest.raises(ZeroDivisionError):
        track(fails, -1.0, context=context)
    assert context.errors == [
        "4 math domain error",
        "4 0.0 cannot be raised to a negative power",
        "6 0.0 cannot be raised to a negative power",
        "0 0.0 cannot be raised to a negative power",
    ]


def test_the_benchmark_runs() -> None:
    for function, args in CASES:
        nodes, *figures = row(function, (args[0], 5))
        assert nodes > 20 and all(figure > 0.0 for figure in figures)


def test_deep_recursion_is_as_deep_as_without_tracking() -> None:
    def deep(n: int) -> int:
        return n if n == 0 else deep(n - 1)

    assert track(deep, 700).value == 0


class Forgetful(Context):
    def tracked_primitive(self, call):
        super().tracked_primitive(call)


def test_what_is_no_context_is_refused() -> None:
    plain = Context()
    with pytest.raises(ValueError, match="one context is composed with itself"):
        compose(plain, compose(Noting("a"), plain))
    for other in (3, Context, [plain]):
        with pytest.raises(TypeError, match="is no context: give an object"):
            track(outer, 3.0, 4.0, context=other)
    with pytest.raises(TypeError, match="a context returned None as the node of a call: return what super"):
        track(outer, 3.0, 4.0, context=Forgetful())
    assert track(outer, 3.0, 4.0, context=compose()).value == track(outer, 3.0, 4.0).value
