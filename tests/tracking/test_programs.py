"""A tracked run is the program's run: its value, its effects and its exceptions, once each."""

from __future__ import annotations

import contextlib
import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy.tracking import CallNode, NestedCallNode, trace_of, track
from microgradpy.tracking.nodes import descendants
from tests.program_numbers import batches
from tests.programs import PROGRAMS
from tests.programs.mutation import MUTATION
from tests.random_programs import random_program
from tests.ways import some

NOT_TRACKED = ("left_by_break", "items_that_are_no_pairs")
ROWS = [row for row in (*PROGRAMS, *MUTATION) if not row.id.startswith(NOT_TRACKED)]
"""But for those that leave a generator, which a trace keeps, so that it is closed later; and that run over the `items()` of
what gives no pairs (docs/tracking.md)."""


def outcome(call: Callable[[], Any], args: tuple[Any, ...]) -> tuple[str, str, str]:
    """What a call gives or raises, what it prints, and how its arguments are afterwards."""
    printed = io.StringIO()
    np.random.seed(5)  # noqa: NPY002 - the programs draw from it
    with contextlib.redirect_stdout(printed):
        try:
            result = shown(call())
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
    return result, printed.getvalue(), shown(args)


def shown(value: Any) -> str:
    """A value down to the bits of its numbers, without addresses."""
    try:
        return repr(pickle.dumps(value))
    except Exception:
        return f"a {type(value).__name__}"


@pytest.mark.parametrize("row", some(ROWS, "tracked"), ids=str)
def test_a_tracked_program_does_what_the_program_does(row: Any) -> None:
    try:
        own, other = copy.deepcopy(row.args), copy.deepcopy(row.args)
    except TypeError:
        own = other = row.args
    plain = outcome(lambda: row.function(*own), own)
    assert outcome(lambda: track(row.function, *other).value_ref, other) == plain


@pytest.mark.parametrize("batch", batches(20), ids=str)
def test_a_tracked_random_program_does_what_the_program_does(batch: range) -> None:
    for number in batch:
        program = random_program(number)
        function = program.load()
        for point in program.points:
            tracked = outcome(lambda: checked(track(function, *point)).value_ref, point)
            assert tracked == outcome(lambda: function(*point), point), program.source


def checked(call: CallNode) -> CallNode:
    """A trace whose parts fit together."""
    for node in (call, *descendants(call)):
        if isinstance(node, NestedCallNode):
            assert [child.position for child in node] == list(range(1, len(node) + 1))
            assert all(child.parent is node for child in node)
        if node is not call:
            assert str(node.ir[node.location])
            for reference in node.referenced():
                assert node in reference.dependents()
            for dependent in node.dependents():
                assert node in dependent.referenced()
    return call


def test_an_exception_leads_to_what_was_recorded_before_it() -> None:
    def fails(x: float) -> float:
        y = x * 2.0
        return y / 0.0

    with pytest.raises(ZeroDivisionError, match=r"^float division by zero$") as raised:
        track(fails, 3.0)
    trace = trace_of(raised.value)
    assert isinstance(trace, NestedCallNode)
    assert [node.kind for node in trace] == ["argument", "argument", "primitive", "primitive"]
    assert trace[-1].text() == "⟨/⟩(@3, ⟨0.0⟩) raised ZeroDivisionError('float division by zero')"
    assert raised.traceback[-1].frame.code.name == "fails"
