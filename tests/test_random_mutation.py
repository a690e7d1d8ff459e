"""Random programs that write: right or refused, never wrong.

`tests/program_numbers.py` says which are run. The summary with the reasons of the refusals is printed (`-s` shows it);
`python -m tests.random_mutation` does the same for many programs at a time.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests import finite_differences as fd
from tests import random_mutation
from tests.mutating_expressions import FEATURES
from tests.mutating_programs import BOX, HALVE, mutating_program
from tests.mutation_checks import scalar
from tests.program_numbers import batches
from tests.random_mutation import Judged, expected_derivative, judge_number, random_direction, smallest, summary

pytestmark = pytest.mark.xdist_group("random writes")  # one process counts the refusals of all
# The share of programs that may be refused: of five hundred that were run at last, two were.
REFUSED = 0.01


@pytest.fixture(scope="module")
def judged() -> list[Judged]:
    """What became of the programs so far."""
    return []


@pytest.mark.parametrize("batch", batches(), ids=str)
def test_random_programs_that_write(batch: range, judged: list[Judged]) -> None:
    found = [judge_number(number) for number in batch]
    judged += found
    wrong = [one for one in found if one.defect is not None]
    shown = [f"program {one.number}: {one.defect}\n{mutating_program(one.number).source}" for one in wrong]
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(shown)


def test_not_too_many_are_refused(judged: list[Judged]) -> None:
    print(f"\n{summary(judged)}")
    refused = [one for one in judged if one.reason is not None]
    assert len(refused) <= REFUSED * len(judged), summary(judged)


def by_differences(factor: float) -> Callable[..., Any]:
    """A `pullback` that knows nothing of the compiler, and whose cotangents are wrong by a factor."""

    def pullback(function: Callable[..., Any], *args: Any) -> tuple[Any, Callable[..., Any]]:
        start = copy.deepcopy(args)
        y = function(*args)
        gradient = fd.differences(scalar(function, factor), start, step=1e-5)
        return y, lambda y_bar: (None, *fd.rebuild(start, y_bar * gradient))

    return pullback


def test_the_judge_is_right_about_what_is_right_and_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Differences call most programs right and, once they are a little off, most wrong: neither the programs nor the
    checks are chaotic."""
    for factor, fate in ((1.0, "right"), (1.01, "wrong")):
        monkeypatch.setattr(random_mutation, "pullback", by_differences(factor))
        fates = ["wrong" if judge_number(number).defect else "right" for number in range(60)]
        assert fates.count(fate) >= 57


def test_a_wrong_program_is_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_mutation, "pullback", by_differences(1.01))
    program = mutating_program(3, ())
    small = smallest(program)
    assert "fails with: derivative" in small and len(small) < len(program.source) / 2


def test_programs_run_and_stay_bounded() -> None:
    for number in range(300):
        program = mutating_program(number)
        function = program.load()
        for point in program.points:
            assert abs(function(*copy.deepcopy(point))) < 1e4, program.source


def test_few_points_straddle_a_branch() -> None:
    """Otherwise the test of the gradients would look at nothing."""
    given_up = 0
    for number in range(100):
        program = mutating_program(number)
        for point in program.points:
            direction = random_direction(fd.flatten(point).size)
            given_up += expected_derivative(program.load(), point, direction) is None
    assert given_up <= 10


def test_the_same_number_gives_the_same_text() -> None:
    assert mutating_program(17).source == mutating_program(17).source
    assert mutating_program(17).source != mutating_program(18).source


@pytest.fixture(scope="module")
def sources() -> list[str]:
    """Many programs, without the texts that they share."""
    return [mutating_program(number).source.replace(BOX, "").replace(HALVE, "") for number in range(400)]


@pytest.mark.parametrize("feature", FEATURES)
def test_features_can_be_asked_for_alone(feature: str) -> None:
    programs = [mutating_program(number, (feature,)) for number in range(5)]
    assert all(program.features == (feature,) for program in programs)
    assert np.isfinite([program.load()(*copy.deepcopy(program.points[0])) for program in programs]).all()


@pytest.mark.parametrize(
    "construct",
    (
        "try:|except (|finally:|yield |next(|nonlocal |out=|.sort(|.fill(|np.copyto(|np.add.at(|.append(|.pop(|.insert(|"
        "[::-1]|.reshape(|.T|np.broadcast_to(|[[|+= 0.3 * |*= |.keep(|.bump(|.give()|.part()|.v = |del |.setdefault(|"
        ".update(|halve(|return p|for e|while |break|continue"
    ).split("|"),
)
def test_constructs_are_frequent(construct: str, sources: list[str]) -> None:
    assert sum(construct in source for source in sources) >= 8
