"""A dozen programs through every stage, in both modes and in all ways: the answer of ten seconds to whether it still works.

    python -m pytest -n 0 tests/test_smoke.py
"""

from __future__ import annotations

import copy
from functools import partial

import pytest

from microgradpy.tracking import track
from tests.checks import check_all
from tests.exporting.corpus import export, reason, reasons
from tests.forward.tangents import assert_transposed
from tests.forward.test_programs import both_modes
from tests.golden import FOLDER, golden_text
from tests.golden.programs import PROGRAMS as GOLDEN
from tests.mutation_checks import examine
from tests.programs import PROGRAMS, Program
from tests.programs.mutation import MUTATION
from tests.test_programs import CHECKS, CHECKS_OF_EVERY_WAY, same
from tests.ways import ALL, WAYS

NAMES = {
    "recursive_power",
    "closure_over_arguments",
    "dataclass_argument",
    "callable_object",
    "list_comprehension",
    "return_from_nested_loops",
    "multilayer_perceptron",
    "newton_inverse_function",
}
WRITING = {"heat_loop", "alias_written", "swapped_buffers", "view_multiplied"}


def test_the_texts_of_a_network() -> None:
    """From the source over the IR to the texts of primal and adjoint."""
    (network,) = (program for program in GOLDEN if program.name == "network")
    assert golden_text(network) == (FOLDER / "network.txt").read_text()


@pytest.mark.parametrize("program", [row for row in PROGRAMS if row.id in NAMES], ids=str)
def test_program(program: Program) -> None:
    forward = ("forward mode", lambda: assert_transposed(*both_modes(program)))
    check_all([*((check.__name__, partial(check, program)) for check in CHECKS), forward])
    for way in ALL:
        with ALL[way]():
            check_all((f"{check.__name__}, {way}", partial(check, program)) for check in CHECKS_OF_EVERY_WAY)
    assert same(track(program.function, *copy.deepcopy(program.args)).value_ref, program.function(*program.args))
    exported = export(program)
    assert exported.text or reason(exported.refusal) == reasons()[program.id]


@pytest.mark.parametrize("program", [row for row in MUTATION if row.id in WRITING], ids=str)
def test_program_that_writes(program: Program) -> None:
    check_all((way, partial(assert_right, program, way)) for way in WAYS)


def assert_right(program: Program, way: str) -> None:
    verdict = examine(program, way)
    assert verdict.right, verdict.defects or verdict.refusal


def test_none_is_missing() -> None:
    assert {row.id for row in PROGRAMS} >= NAMES and {row.id for row in MUTATION} >= WRITING
