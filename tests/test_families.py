"""Families of random programs (`tests/families`): right or refused, never wrong, and seldom refused.

`tests/program_numbers.py` says which are run. By default each is computed in one way, a third of them as they are compiled.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests import finite_differences as fd
from tests import random_mutation
from tests.families import FAMILIES, command
from tests.families.family import Family, FamilyProgram
from tests.families.judging import Judged, judge, ways
from tests.mutation_checks import scalar
from tests.program_numbers import batches
from tests.ways import ALL_WAYS

# One process runs all of a family, so that its refusals are counted together.
NAMES = [pytest.param(name, marks=pytest.mark.xdist_group(f"family {name}")) for name in FAMILIES]
COMMON = {name: family for name, family in FAMILIES.items() if family.judge is None}


@pytest.fixture(scope="module")
def judged() -> dict[str, list[Judged]]:
    """What became of the programs so far, by family."""
    return {name: [] for name in FAMILIES}


@pytest.mark.parametrize("batch", batches(), ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_no_program_is_wrong(name: str, batch: range, judged: dict[str, list[Judged]]) -> None:
    found = [judge(FAMILIES[name].program(number), () if ALL_WAYS else ways(number)[-1:]) for number in batch]
    judged[name] += found
    wrong = [one for one in found if one.defect is not None]
    shown = [f"program {one.number}: {one.defect}\n{FAMILIES[name].program(one.number).source}" for one in wrong]
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(shown)


@pytest.mark.parametrize("name", NAMES)
def test_few_are_refused(name: str, judged: dict[str, list[Judged]]) -> None:
    """Two more than the share may be, since the numbers are small."""
    refused = [one for one in judged[name] if one.fate == "refused"]
    assert len(refused) <= FAMILIES[name].refused * len(judged[name]) + 2, command.summary(name, judged[name])


@pytest.mark.parametrize("name", NAMES)
def test_programs_run_and_stay_bounded(name: str) -> None:
    for number in range(100):
        program = FAMILIES[name].program(number)
        function = program.load()
        for point in program.points:
            y = function(*copy.deepcopy(point))
            assert math.isfinite(y) and abs(y) < 1e6, program.source


@pytest.mark.parametrize("name", NAMES)
def test_the_same_number_gives_the_same_text(name: str) -> None:
    program: Callable[[int], FamilyProgram] = FAMILIES[name].program
    assert program(17).source == program(17).source
    assert len({program(number).source for number in range(50)}) > 40


def slightly_wrong(function: Callable[..., Any], *args: Any) -> tuple[Any, Callable[..., Any]]:
    """A `pullback` that knows nothing of the compiler, and whose cotangents are wrong by one in a hundred."""
    start = copy.deepcopy(args)
    y = function(*args)
    gradient = fd.differences(scalar(function, 1.01), start, step=1e-5)
    return y, lambda y_bar: (None, *fd.rebuild(start, y_bar * gradient))


@pytest.mark.parametrize("family", COMMON.values(), ids=COMMON)
def test_the_judge_notices_what_is_wrong(family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs depend on their arguments, and do so without too many kinks."""
    monkeypatch.setattr(random_mutation, "pullback", slightly_wrong)
    with np.errstate(all="ignore"):
        fates = [judge(family.program(3 * number)).fate for number in range(10)]
    assert fates.count("wrong") >= 8


def test_a_run_goes_on_where_it_stopped(tmp_path: Any) -> None:
    path = tmp_path / "results.txt"
    rows = [("some", Judged(3)), ("some", Judged(4, defect="value 1\nfor 2")), ("some", Judged(5, refusal="why"))]
    path.write_text("".join(command.line(name, one) for name, one in rows) + "some\t6\tri")
    found = command.read_results(path)
    assert [one.fate for one in found.values()] == ["right", "wrong", "refused"]
    assert ("some", 6) not in found
