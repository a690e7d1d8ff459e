"""Python's debugger under a real pseudo-terminal: stops in derived pullbacks, and breakpoints in generated code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no pseudo-terminals, which the debugger is typed at through", allow_module_level=True)

from tests.terminal import typed_at

REFERENCE = """\
from microgradpy import gradient, infiltrate_rrule

@infiltrate_rrule
def f(x, y):
    square = x**2
    return square + y**2

def loss(x, y):
    return f(f(x, y), y)

print(gradient(loss, 3.0, 4.0))
"""


def answer(printed: str) -> str:
    """What the debugger said to a command, without its echo."""
    return printed.partition("\n")[2].rstrip()


def test_the_session_of_the_reference(tmp_path: Path) -> None:
    script = tmp_path / "reference.py"
    script.write_text(REFERENCE)
    shown = "dy, Δ, x, y, square, result"
    printed = typed_at(script, [f"p {shown}", "where", "c", f"p {shown}", "p loss", "c"])
    first, variables, where, second, others, loss, end = printed
    stop = f"> {script}(6)f()\n-> return square + y**2\n"
    assert first == f"In the pullback of f: dy = 1.0\n{stop}"
    assert answer(variables) == "(1.0, 1.0, 25.0, 4.0, 625.0, 641.0)"
    assert f"  {script}(11)<module>()\n-> print(gradient(loss, 3.0, 4.0))\n" in where
    assert "f_adjoint()\n-> stop_here(stopping, notes, out_bar)" in where
    assert answer(second) == f"In the pullback of f: dy = 50.0\n{stop}".rstrip()
    assert answer(others) == "(50.0, 50.0, 3.0, 4.0, 9.0, 25.0)"
    assert answer(loss).startswith("<function loss at ")  # the names of the module are there as well
    assert answer(end) == "(300.0, 408.0)"


def test_quitting_ends_the_program(tmp_path: Path) -> None:
    script = tmp_path / "reference.py"
    script.write_text(REFERENCE)
    printed = typed_at(script, ["q"])
    assert "bdb.BdbQuit" in printed[-1]
    assert "(300.0, 408.0)" not in printed[-1]


IN_A_LOOP = """\
import numpy as np
from microgradpy import gradient, infiltrate

def step(x, k):
    scale = np.array([1.0, 2.0]) * k
    return x * scale

def loss(x):
    y = np.zeros(2)
    y[:] = x
    for k in range(1, 4):
        y = chosen(y, k)
    return np.sum(y)

chosen = infiltrate(step, when=lambda dy, k, **variables: k == 2)
print(gradient(loss, np.ones(2)))
"""


def test_a_condition_in_a_run_that_writes(tmp_path: Path) -> None:
    script = tmp_path / "loop.py"
    script.write_text(IN_A_LOOP)
    first, seed, variables, end = typed_at(script, ["p dy", "p k, scale, result", "c"])
    assert f"> {script}(6)step()\n-> return x * scale\n" in first
    assert answer(seed) == "array([3., 6.])"
    assert answer(variables) == "(2, array([2., 4.]), array([2., 8.]))"
    assert answer(end) == "(array([ 6., 48.]),)"


GENERATED = """\
import numpy as np
from microgradpy import pullback

def helper(x):
    y = np.sin(x)
    return y * x

def loss(x):
    total = 0.0
    for k in range(2):
        total = total + helper(x * k)
    return total

y, back = pullback(loss, 0.5)
breakpoint()
print(back(1.0))
"""


def test_a_breakpoint_in_a_dumped_adjoint(tmp_path: Path) -> None:
    script, dump = tmp_path / "program.py", tmp_path / "dump"
    script.write_text(GENERATED)
    commands = [f"b {dump}/helper_adjoint.py:4", "c", "where", "p y_bar, x", "n", "n", "p float(x_bar)", "cl 1", "c"]
    _, bound, stop, where, variables, step, step_2, x_bar, _, end = typed_at(
        script, commands, {"MICROGRADPY_DUMP": str(dump)}
    )
    assert answer(bound) == f"Breakpoint 1 at {dump}/helper_adjoint.py:4"
    here = f"> {dump}/helper_adjoint.py(4)helper_adjoint()\n-> y_bar_1 = y_bar * x  # program.py:6: return y * x"
    assert answer(stop) == here
    # Each frame shows the user's line: that of the program where it is, and for an adjoint the line that it undoes.
    assert f"  {script}(16)<module>()\n-> print(back(1.0))\n" in where
    assert f"  {dump}/loss_adjoint.py(6)loss_adjoint()\n" in where
    assert "  # program.py:11: total = total + helper(x * k)\n" in where
    assert where.rstrip().endswith(here)
    assert answer(variables) == "(np.float64(1.0), 0.5)"
    assert answer(step) == f"> {dump}/helper_adjoint.py(5)helper_adjoint()\n-> x_bar = y_bar * y  # program.py:6: return y * x"
    assert answer(step_2).endswith("-> x_bar += y_bar_1 * np.cos(x)  # program.py:5: y = np.sin(x)")
    assert float(answer(x_bar)) == pytest.approx(0.479425538604203)
    assert answer(end).startswith("(None, 0.918")


def test_a_breakpoint_in_the_program_itself_stops_its_primal(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    before, _, after = GENERATED.partition("breakpoint()\n")
    script.write_text(before.replace("y, back", "breakpoint()\ny, back") + after)
    _, bound, stop, variables, _, end = typed_at(script, ["b 6", "c", "p float(y), x", "cl 1", "c"])
    assert answer(bound) == f"Breakpoint 1 at {script}:6"
    assert answer(stop) == f"> {script}(6)helper()\n-> return y * x"
    assert answer(variables) == "(0.0, 0.0)"
    assert answer(end).startswith("(None, 0.918")


def test_the_generated_source_is_shown_without_a_folder(tmp_path: Path) -> None:
    script = tmp_path / "reference.py"
    script.write_text(REFERENCE)
    *_, adjoint, listing, _, end = typed_at(script, ["up", "up", "up", "l", "c", "c"])
    assert "f_adjoint.py(4)f_adjoint()\n-> stop_here(stopping, notes, out_bar)" in adjoint
    assert "# square = x**2\n" in listing
    assert "x_bar = out_bar * (2 * x)\n" in listing
    assert answer(end) == "(300.0, 408.0)"
