"""An updated trace is the trace of a run with the other value; what does not depend on it is not computed again."""

from __future__ import annotations

import copy
import random
import types
from typing import Any

import numpy as np
import pytest

from microgradpy.tracking import ArgumentNode, NestedCallNode, format_levels, trace_of, track, update
from tests.programs import PROGRAMS
from tests.programs.mutation import MUTATION
from tests.tracking.test_programs import checked, outcome
from tests.ways import some

NUMBERS = [row for row in (*PROGRAMS, *MUTATION) if row.args and type(row.args[0]) in (float, np.ndarray)]

PENDING = {"shuffled_by_the_module": "what is drawn in place is drawn again (docs/tracking.md)"}


@pytest.mark.parametrize("row", some(NUMBERS, "updated"), ids=str)
def test_updating_an_argument_gives_what_a_run_with_it_gives(row: Any) -> None:
    other = row.args[0] * 1.25
    expected, again = (run(row, other) for _ in range(2))
    trace = tracked(row)
    if expected != again or trace is None:
        return  # it keeps something from run to run, or raises
    first = 2 if isinstance(row.function, types.FunctionType) else 3
    place = next(node for node in trace if isinstance(node, ArgumentNode) and node.number == first)
    if isinstance(place.value_ref, tuple):
        return
    before = format_levels(trace)
    result = outcome(lambda: checked(place.update(copy.deepcopy(other))).value_ref, ())[0]
    if row.id in PENDING:
        assert result != expected, f"{row.id} works now: take it out of PENDING"
    elif not result.endswith("run the function again"):
        assert result == expected
    assert format_levels(trace) == before


def run(row: Any, first: Any) -> str:
    args = copy.deepcopy((first, *row.args[1:]))
    return outcome(lambda: row.function(*args), ())[0]


def tracked(row: Any) -> NestedCallNode | None:
    try:
        trace = track(row.function, *copy.deepcopy(row.args))
    except Exception:
        return None
    return trace if isinstance(trace, NestedCallNode) else None


class Asked:
    """An object without a `__dict__` that counts what it was asked for in vain."""

    __slots__ = ("a", "count")

    def __init__(self, a: float) -> None:
        self.a, self.count = a, 0

    def __getattr__(self, name: str) -> float:
        self.count += 1
        return 0.0


def asked_in_vain(x: float) -> float:
    asked = Asked(x)
    return (asked.b + asked.a) * asked.count


def test_copying_an_object_does_not_ask_its_class_for_attributes() -> None:
    trace = track(asked_in_vain, 3.0)
    assert isinstance(trace, NestedCallNode)
    assert trace.value_ref == asked_in_vain(3.0)
    place = next(node for node in trace if isinstance(node, ArgumentNode) and node.number == 2)
    assert checked(place.update(4.0)).value_ref == asked_in_vain(4.0)


def branching(a: float) -> tuple[float, list[float]]:
    z = random.gauss(0.0, 1.0)
    if a < 1.0:
        y = z * 2.0
    else:
        y = z + random.random()
    kept = [1.0, 2.0]
    kept.append(y)
    return y + random.random(), kept


def test_draws_that_do_not_depend_on_the_change_stay() -> None:
    trace = track(branching, 0.5)
    assert isinstance(trace, NestedCallNode)
    draws = {str(node.location): node.value for node in trace if "random.random" in node.text()}
    other = trace["@2"].update(1.5)
    (z,) = [node for node in other if node.text().startswith("⟨random.gauss⟩(")]
    assert z.origin is not None and z.value == z.origin.value
    (last,) = [node for node in other if "random.random" in node.text() and node.origin is not None]
    assert last.value == draws[str(last.location)]
    (drawn,) = [node for node in other if "random.random" in node.text() and node.origin is None]
    assert str(drawn.location) not in draws  # the other branch has a draw of its own
    assert other.value == (z.value + drawn.value + last.value, [1.0, 2.0, z.value + drawn.value])
    assert trace.value[1][2] == z.value * 2.0


def chain(x: float, y: float) -> float:
    a = abs(x)
    b = abs(y)
    c = doubled(b)
    return a + doubled(c)


def doubled(x: float) -> float:
    return x * 2.0


def test_only_what_depends_on_the_change_is_computed_again() -> None:
    trace = track(chain, -1.0, -3.0)
    assert isinstance(trace, NestedCallNode)
    other = trace["@2"].update(-2.0)
    again = [node.position for node in other if node.origin is None]
    assert other.value == 14.0
    assert again == [2, 4, 8, 9]  # the argument, its absolute value, the sum, the return
    inner = other["@7"]
    assert isinstance(inner, NestedCallNode)
    assert [node.origin for node in inner] == list(trace["@7"])  # type: ignore[call-overload]
    assert all(node.parent is inner for node in inner)


def test_a_node_inside_of_a_call_can_be_updated() -> None:
    trace = track(chain, -1.0, -3.0)
    assert isinstance(trace, NestedCallNode)
    call = trace["@6"]
    assert isinstance(call, NestedCallNode)
    other = checked(call["@3"].update(100.0))
    assert other.value == 201.0
    both = update(trace, {trace["@2"]: 5.0, trace["@3"]: 1.0})
    assert both.value == chain(5.0, 1.0)
    assert checked(both["@2"].update(-7.0)).value == chain(-7.0, 1.0)


def test_the_users_own_objects_are_not_written() -> None:
    def fills(x: float, out: Any) -> float:
        out[0] = x * 2.0
        return out[0] + out[1]

    out = np.array([5.0, 7.0])
    trace = track(fills, 1.0, out)
    assert isinstance(trace, NestedCallNode)
    other = trace["@2"].update(10.0)
    assert (trace.value, other.value) == (9.0, 27.0)
    assert out.tolist() == [2.0, 7.0]
    assert other["@3"].value.tolist() == [5.0, 7.0]


def test_what_has_no_value_of_its_own_cannot_be_updated() -> None:
    trace = track(chain, 1.0, 2.0)
    assert isinstance(trace, NestedCallNode)
    for node, words in ((trace[-1], "no value of its own"), (trace, "no node inside"), (trace["@1"], "no value of its own")):
        with pytest.raises(ValueError, match=words):
            node.update(1.0)


def test_an_update_that_raises_leads_to_what_was_recorded() -> None:
    trace = track(lambda x: 1.0 / x, 4.0)
    assert isinstance(trace, NestedCallNode)
    with pytest.raises(ZeroDivisionError) as raised:
        trace["@2"].update(0.0)
    partial = trace_of(raised.value)
    assert isinstance(partial, NestedCallNode)
    assert partial["@3"].text() == "⟨/⟩(⟨1.0⟩, @2) raised ZeroDivisionError('float division by zero')"


def test_a_run_that_writes_where_others_see_it_is_not_updated() -> None:
    def notes(x: float) -> float:
        PENDING["x"] = str(x)
        return x * 2.0

    trace = track(notes, 1.0)
    PENDING.pop("x")
    assert isinstance(trace, NestedCallNode)
    with pytest.raises(ValueError, match="belongs to a module or class: run the function again"):
        trace["@2"].update(2.0)


def weighted(a: float, b: float, c: float = 3.0) -> float:
    return a + 10.0 * b + 100.0 * c


def starred(x: float) -> float:
    values, named = [x, x * x], {"c": 2.0 * x}
    return weighted(*values) * weighted(*values, **named)


def test_arguments_that_stars_give_are_looked_at_as_a_whole() -> None:
    trace = track(starred, 0.5)
    assert isinstance(trace, NestedCallNode)
    assert trace["@2"].update(0.25).value_ref == starred(0.25)
