"""The golden texts are what the compiler writes, and what they compute is the derivative."""

from __future__ import annotations

import copy
import inspect
import os
import subprocess
import sys

import numpy as np
import pytest

from microgradpy import cache_clear, cache_info, code_adjoint, grad
from tests import finite_differences as fd
from tests.generated_text import assert_is_as_generated
from tests.golden import COMMAND, FOLDER, golden_files, golden_text
from tests.golden.programs import PROGRAMS, Program

ROOT = FOLDER.parent.parent


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_text_is_what_the_compiler_writes(program: Program) -> None:
    assert_is_as_generated(FOLDER / f"{program.name}.txt", golden_text(program), COMMAND)


def test_every_file_belongs_to_a_program() -> None:
    assert set(FOLDER.glob("*.txt")) == set(golden_files()), f"`{COMMAND}` removes what is left over"


# A generator is differentiated by whoever uses it: see `tests/programs/mutation/generators.py`.
@pytest.mark.parametrize("program", [one for one in PROGRAMS if not inspect.isgeneratorfunction(one.function)], ids=str)
def test_what_the_text_computes_is_the_derivative(program: Program) -> None:
    cache_clear()
    given = copy.deepcopy(program.args)  # it may write into them
    gradients = grad(program.function, argnums=program.argnums)(*given)
    compiled = cache_info().misses
    code_adjoint(program.function, *program.args, argnums=program.argnums)
    assert cache_info().misses == compiled, "the text is not that of the code that runs"

    def varied(*changed: object) -> float:
        args = list(copy.deepcopy(program.args))
        for number, value in zip(program.argnums, changed, strict=True):
            args[number] = value
        return float(program.function(*args))

    chosen = tuple(program.args[number] for number in program.argnums)
    expected = fd.differences(varied, chosen)
    np.testing.assert_allclose(fd.flatten_cotangent(chosen, gradients), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("seed", ["0", "1"])
def test_text_does_not_depend_on_the_hash_seed(seed: str, tmp_path) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    subprocess.run([sys.executable, "-m", "tests.golden", str(tmp_path)], cwd=ROOT, env=environment, check=True)
    assert {path: path.read_text() for path in tmp_path.iterdir()} == golden_files(tmp_path)
