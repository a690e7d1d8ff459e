"""Every program of the tables that can be exported gives the same to the last bit where the package is not installed."""

from __future__ import annotations

import ast
import contextlib
import copy
import inspect
import io
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from microgradpy import NonScalarOutputError, cache_clear, pullback, value_and_gradient
from microgradpy.exporting import parts
from microgradpy.exporting.export import export_text
from tests import finite_differences as fd
from tests.exporting import isolated
from tests.exporting.corpus import DOCUMENT, exported, figures
from tests.programs import Program
from tests.test_programs import same, same_cotangents

ROWS = [row for row in exported() if row.text]
REFUSED_WHEN_RUN = {"joined_in_a_row", "joined_numbers", "loops_over_values_and_keys"}
"""Where an operand turns out to be of a class that nobody expected; the refusal says so."""


def expected(program: Program) -> tuple[Any, list[Any], Any, str]:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        y, back = pullback(program.function, *copy.deepcopy(program.args))
    cotangents = [back(seed) for seed in seeds_of(y)]
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            both = value_and_gradient(program.function, *copy.deepcopy(program.args))
        except NonScalarOutputError:
            both = None
    return y, cotangents, both, printed.getvalue()


def seeds_of(y: Any) -> list[Any]:
    return [fd.random_seed(y, number) for number in range(2)]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the modules return in an interpreter that knows nothing of the package, its paths or its environment."""
    folder = tmp_path_factory.mktemp("exported")
    calls = []
    for row in ROWS:
        name = f"m_{row.program.id}"
        (folder / f"{name}.py").write_text(row.text)
        with contextlib.redirect_stdout(io.StringIO()):
            y = row.program.function(*copy.deepcopy(row.program.args))
        calls.append((name, row.program.args, seeds_of(y)))
    (folder / "calls.pickle").write_bytes(pickle.dumps(calls))
    script = folder / "isolated.py"
    script.write_text(Path(isolated.__file__).read_text())
    ran = subprocess.run([sys.executable, "-I", str(script), str(folder)], capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = pickle.loads((folder / "results.pickle").read_bytes())
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.program.id)
def test_results_are_those_of_the_package(row: Any, results: dict[str, Any]) -> None:
    found = results[f"m_{row.program.id}"]
    if row.program.id in REFUSED_WHEN_RUN:
        assert str(found).startswith("DifferentiationError: an operand is")
        return
    assert not isinstance(found, str), found
    y, cotangents, both, printed = pickle.loads(found)
    wanted = expected(row.program)
    assert same(y, wanted[0])
    for found_bars, wanted_bars in zip(cotangents, wanted[1], strict=True):
        assert found_bars[0] is None
        assert same_cotangents(found_bars[1:], wanted_bars[1:]), f"{found_bars!r} for {wanted_bars!r}"
    assert (both is None and wanted[2] is None) or same_cotangents(both, wanted[2])
    assert printed == wanted[3]


def test_every_text_passes_the_linter(tmp_path: Path) -> None:
    for row in ROWS:
        (tmp_path / f"{row.program.id}.py").write_text(row.text)
    project = Path(__file__).parents[2] / "pyproject.toml"
    for options in (["--isolated"], ["--config", str(project)]):
        command = [sys.executable, "-m", "ruff", "check", "--quiet", *options, str(tmp_path)]
        ran = subprocess.run(command, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout


def test_every_function_has_hints_and_a_docstring() -> None:
    """But for those of the user that were copied."""
    parts_of_modules = {name for name, value in vars(parts).items() if inspect.isfunction(value)}
    for row in ROWS:
        copied = {name for name, value in vars(sys.modules[row.program.function.__module__]).items() if callable(value)}
        for node in ast.walk(ast.parse(row.text)):
            if not isinstance(node, ast.FunctionDef) or node.name in copied:
                continue
            if node.name.endswith(("_primal", "_adjoint", "_bar", "_rrule")) or node.name in parts_of_modules:
                assert ast.get_docstring(node), f"{row.program.id}: {node.name}"
                assert node.returns is not None, f"{row.program.id}: {node.name}"
                assert all(argument.annotation for argument in node.args.args), f"{row.program.id}: {node.name}"


def test_a_share_of_the_programs_is_exported(capsys: pytest.CaptureFixture[str]) -> None:
    """The figures of the document are those of today."""
    with capsys.disabled():
        print(f"\n{figures()}")
    assert figures() in DOCUMENT.read_text(), "python -m tests.exporting.corpus writes the figures anew"


def test_the_same_text_twice() -> None:
    for row in ROWS[::20]:
        cache_clear()
        with contextlib.redirect_stdout(io.StringIO()):
            assert export_text(row.program.function, *copy.deepcopy(row.program.args)) == row.text
