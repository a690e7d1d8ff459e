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

import numpy as np
import pytest

from microgradpy import NonScalarOutputError, pullback, value_and_gradient
from microgradpy.exporting import parts
from tests import finite_differences as fd
from tests.exporting import isolated
from tests.exporting.corpus import DOCUMENT, EXPORTED, LINTER, TESTED, Exported, export, figures, reason, reasons
from tests.other_process import OtherProcess
from tests.programs import Program, powers
from tests.test_programs import same, same_cotangents

pytestmark = pytest.mark.xdist_group("exported")  # one process exports them all, once
REFUSED_WHEN_RUN = {"joined_in_a_row", "joined_numbers"}
"""Where an operand turns out to be of a class that nobody expected; the refusal says so."""
ROUNDED = {"power_of_two_variables"} | {p.id for p in TESTED if p.function.__module__ == powers.__name__}
"""Powers of unknown sign, whose slopes the package computes of the value where a run may be made once more."""
WRITES = "python -m tests.exporting.corpus writes the list and the figures anew"


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
def rows() -> dict[str, Exported]:
    """What became of each program, by its name."""
    return {program.id: export(program) for program in TESTED}


@pytest.fixture(scope="module")
def texts(rows: dict[str, Exported]) -> list[Exported]:
    return [row for row in rows.values() if row.text]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, texts: list[Exported]) -> dict[str, Any]:
    """What the modules return in an interpreter that knows nothing of the package, its paths or its environment."""
    folder = tmp_path_factory.mktemp("exported")
    calls = []
    for row in texts:
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


@pytest.mark.parametrize("name", [program.id for program in TESTED])
def test_results_are_those_of_the_package(name: str, rows: dict[str, Exported], results: dict[str, Any]) -> None:
    """A program that is refused is in the list, for its reason; how many are is a figure of the document."""
    row = rows[name]
    assert reasons().get(name, "") == (reason(row.refusal) if row.refusal else ""), f"{WRITES}\n{row.refusal}"
    if not row.text:
        assert f"m_{name}" not in results
        return
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
        assert agree(name, found_bars[1:], wanted_bars[1:]), f"{found_bars!r} for {wanted_bars!r}"
    assert (both is None and wanted[2] is None) or agree(name, both, wanted[2])
    assert printed == wanted[3]


def agree(name: str, found: Any, wanted: Any) -> bool:
    if name not in ROUNDED:
        return same_cotangents(found, wanted)
    return bool(np.allclose(fd.flatten(found), fd.flatten(wanted), rtol=1e-14, atol=0.0))


def test_every_text_names_what_is_there(tmp_path: Path, texts: list[Exported]) -> None:
    for row in texts:
        (tmp_path / f"{row.program.id}.py").write_text(row.text)
    ran = subprocess.run([*LINTER, str(tmp_path)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout


def test_every_function_has_hints_and_a_docstring(texts: list[Exported]) -> None:
    """But for those of the user that were copied."""
    parts_of_modules = {name for name, value in vars(parts).items() if inspect.isfunction(value)}
    for row in texts:
        copied = {name for name, value in vars(sys.modules[row.program.function.__module__]).items() if callable(value)}
        for node in ast.walk(ast.parse(row.text)):
            if not isinstance(node, ast.FunctionDef) or node.name in copied:
                continue
            if node.name.endswith(("_primal", "_adjoint", "_bar", "_rrule")) or node.name in parts_of_modules:
                assert ast.get_docstring(node), f"{row.program.id}: {node.name}"
                assert node.returns is not None, f"{row.program.id}: {node.name}"
                assert all(argument.annotation for argument in node.args.args), f"{row.program.id}: {node.name}"


def test_the_figures_of_the_document_are_those_of_the_list() -> None:
    refused = reasons()
    assert refused.keys() <= {program.id for program in EXPORTED}
    assert figures(refused) in DOCUMENT.read_text(), WRITES


def test_the_same_text_elsewhere(texts: list[Exported], elsewhere: OtherProcess) -> None:
    for row in texts[::7]:
        assert elsewhere.answer("module", row.program) == [row.text]
