"""Cells of a notebook, whose statements are compiled one by one under a name that is no file."""

from __future__ import annotations

import ast
import linecache
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest

from microgradpy import SourceNotFoundError, gradient, jvp

CELL = """
import math
import numpy as np
from numpy import linalg as la, sum as total

def f(x):
    return np.sum(np.sin(x)) * math.exp(total(x)) + la.norm(x)

g = lambda x: np.sum(np.tanh(x)) * la.norm(x)

class Model:
    scale = np.float64(2.0)

    def loss(self, x):
        count = 0
        def counted(y):
            nonlocal count
            count += 1
            return np.dot(y, y)
        return self.scale * counted(x) * count
"""


def run(text: str, name: str, namespace: dict[str, Any]) -> None:
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    for statement in ast.parse(text, name).body:
        exec(compile(ast.Module([statement], []), name, "exec"), namespace)


def test_a_function_in_the_cell_of_its_imports() -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    run(CELL, "<cell-1>", namespace)
    np = namespace["np"]
    x = np.array([0.5, 1.5])
    for f in (namespace["f"], namespace["g"], namespace["Model"]().loss):
        (found,) = gradient(f, x)
        for place in range(2):
            step = np.zeros(2)
            step[place] = 1e-6
            slope = (f(x + step) - f(x - step)) / 2e-6
            assert found[place] == pytest.approx(slope, rel=1e-6)
            assert jvp(f, (x,), (step * 1e6,))[1] == pytest.approx(slope, rel=1e-6)


def test_a_cell_that_was_changed_is_refused() -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    run(CELL, "<cell-2>", namespace)
    changed = CELL.replace("np.sin", "np.cos")
    linecache.cache["<cell-2>"] = (len(changed), None, changed.splitlines(keepends=True), "<cell-2>")
    with pytest.raises(SourceNotFoundError):
        gradient(namespace["f"], namespace["np"].ones(2))


HISTORY: list[str] = []


@pytest.fixture
def ipython(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, str], dict[str, Any]]:
    """What stands for IPython: a history of cells, as they were typed. Returns what notes a cell and runs a text of it."""
    manager = types.SimpleNamespace(input_hist_raw=HISTORY)
    shell = types.SimpleNamespace(history_manager=manager, transform_cell=lambda text: text)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]
    HISTORY.clear()

    def executed(cell: str, text: str, name: str) -> dict[str, Any]:
        HISTORY.append(cell)
        namespace: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(text, name, "exec"), namespace)
        return namespace

    return executed


FUNCTION = "def f(x):\n    return x * x\n"
OTHER = "def f(x):\n    return x * x * x\n"


def test_cells_that_were_given_to_magics(ipython: Callable[[str, str, str], dict[str, Any]]) -> None:
    """`%%time` compiles all of them under the same name."""
    first = ipython(f"%%time\n{FUNCTION}", FUNCTION, "<timed exec>")["f"]
    second = ipython(f"%%time\n{OTHER}", OTHER, "<timed exec>")["f"]
    assert (gradient(first, 3.0), gradient(second, 3.0), gradient(first, 2.0)) == ((6.0,), (27.0,), (4.0,))
    line = "g = lambda x: x * x"
    assert gradient(ipython(f"a = 1\n  %time {line}", line, "<timed exec>")["g"], 3.0) == (6.0,)
    assert gradient(ipython(f"%prun -q -l 3 {line}", line, "<string>")["g"], 3.0) == (6.0,)
    with pytest.raises(SourceNotFoundError, match="no source text"):
        gradient(ipython("%%time\nother = 2", "def f(x):\n    return x + x\n", "<timed exec>")["f"], 3.0)


def test_what_timeit_makes_of_a_cell(ipython: Callable[[str, str, str], dict[str, Any]]) -> None:
    """The body of a function, so that names of the cell are captured."""
    body = "rate = 2.0\ndef f(x):\n    return rate * x\n"
    made = ast.parse("def inner():\n    pass\n    return f")
    made.body[0].body[:1] = ast.parse(body).body  # type: ignore[attr-defined]
    HISTORY.append(f"%%timeit -n1\n{body}")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(made, "<magic-timeit>", "exec"), namespace)
    assert gradient(namespace["inner"](), 3.0) == (2.0,)
