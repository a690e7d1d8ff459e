"""What is sent to another process: the IR by `pickle`, and gradient functions, with their texts, by `cloudpickle`."""

from __future__ import annotations

import linecache
import multiprocessing
import os
import pickle
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tests.module_of_a_user as users
from microgradpy import code_adjoint, code_ir, grad, gradient, instrument, primal, reverse_differentiate
from microgradpy.forward_introspect import forward_differentiate
from microgradpy.gradient_functions import GradientFunction
from microgradpy.pickling import received

CELLS = {
    "<cell-a>": "def inner(x):\n    return x * x\n",
    "<cell-b>": "def outer(x):\n    return 3.0 * inner(x) / [1.0][x > 5.0]\n",
}


def square(x: float) -> float:
    return x * x


@pytest.fixture
def namespace(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the cells of a notebook define."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for name, text in CELLS.items():
        monkeypatch.setitem(linecache.cache, name, (len(text), None, text.splitlines(keepends=True), name))
        exec(compile(text, name, "exec"), names)
    return names


def held(function: Any) -> GradientFunction:
    (found,) = [cell.cell_contents for cell in function.__closure__ if isinstance(cell.cell_contents, GradientFunction)]
    return found


@pytest.mark.parametrize("stage", [code_ir, instrument, primal, reverse_differentiate, forward_differentiate])
def test_the_ir_of_each_stage(stage: Any) -> None:
    ir = code_ir(square) if stage is code_ir else stage(code_ir(square))
    again = pickle.loads(pickle.dumps(ir))
    assert (again.stage, str(again), again.source) == (ir.stage, str(ir), square)


def test_texts_of_cells_go_along(namespace: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    _, given = held(grad(namespace["outer"])).__reduce__()
    assert given[-1] == CELLS
    for name in CELLS:
        monkeypatch.delitem(linecache.cache, name)
    assert received(*given).call((2.0,), {}) == 12.0
    assert linecache.getline("<cell-b>", 2) == "    return 3.0 * inner(x) / [1.0][x > 5.0]\n"


def test_files_stay_where_they_are() -> None:
    assert held(grad(square)).__reduce__()[1][-1] == {}


def test_spawned_processes_take_the_calls_by_name() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(partial(gradient, users.drag), [1.0, 2.0]) == [gradient(users.drag, x) for x in (1.0, 2.0)]


WORKER = """
import pickle, sys, traceback
for each in pickle.load(sys.stdin.buffer):
    function = pickle.loads(each)
    print(function(2.0))
try:
    function(6.0)
except IndexError:
    traceback.print_exc(file=sys.stdout)
"""


def test_a_process_without_the_cells(namespace: dict[str, Any]) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    outer = namespace["outer"]
    sent = [cloudpickle.dumps(each) for each in (grad(grad(outer)), grad(outer))]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", WORKER], input=pickle.dumps(sent), capture_output=True, env=environment)
    shown = done.stdout.decode()
    assert shown.startswith("6.0\n12.0\n"), done.stderr.decode()
    assert "    return 3.0 * inner(x) / [1.0][x > 5.0]\n" in shown


def test_texts_are_texts() -> None:
    assert pickle.loads(pickle.dumps(code_adjoint(square, 2.0))) == code_adjoint(square, 2.0)
