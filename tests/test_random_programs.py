"""Random programs against central differences; `back` is called twice.

`tests/program_numbers.py` says which are run. A failure prints the program and its number; `python -m tests.minimise NUMBER`
shrinks it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import pullback
from microgradpy.compiler import always_track
from tests import finite_differences as fd
from tests.program_numbers import COUNT, batches
from tests.random_programs import RandomProgram, random_program

# Two step sizes that disagree straddle a branch: the next smaller pair is tried, then the point is given up.
STEPS = ((1e-3, 1e-4), (1e-4, 1e-5))


def expected_gradient(function: Callable[..., Any], point: tuple[Any, ...]) -> np.ndarray | None:
    """The derivative by central differences; None where no two step sizes agree."""
    for wide, narrow in STEPS:
        a, b = fd.differences(function, point, wide), fd.differences(function, point, narrow)
        if np.allclose(a, b, rtol=1e-5, atol=1e-6):
            return b
    return None


def defect_at(function: Callable[..., Any], point: tuple[Any, ...]) -> str | None:
    """What is wrong with the value or gradient of the function at the point."""
    value = function(*point)
    expected = expected_gradient(function, point)
    y, back = pullback(function, *point)
    if repr(y) != repr(value):
        return f"value {y!r} for {value!r}"
    first, second = (fd.flatten_cotangent(point, back(1.0)[1:]) for _ in range(2))
    if not np.array_equal(first, second):
        return f"back gave {first}, then {second}"
    if expected is not None and not np.allclose(first, expected, rtol=2e-5, atol=2e-6):
        return f"gradient {first}, by differences {expected}"
    return None


def defects(program: RandomProgram) -> list[str]:
    """A report for every point at which the program is differentiated wrongly or not at all."""
    function = program.load()
    found = []
    for point in program.points:
        try:
            defect = defect_at(function, point)
        except Exception as error:  # a refusal or a crash is a failure like a wrong number
            defect = f"{type(error).__name__}: {error}"
        if defect is not None:
            found.append(f"program {program.number} at {point}: {defect}\n{program.source}")
    return found


@pytest.mark.parametrize("batch", batches(), ids=str)
def test_random_programs(batch: range) -> None:
    found = [defect for number in batch for defect in defects(random_program(number))]
    assert not found, f"{len(found)} defects\n" + "\n".join(found)


@pytest.mark.parametrize("batch", batches(count=COUNT // 10), ids=str)
def test_random_programs_with_writes_tracked(batch: range) -> None:
    with always_track():
        found = [defect for number in batch for defect in defects(random_program(number))]
    assert not found, f"{len(found)} defects\n" + "\n".join(found)


def test_few_points_straddle_a_branch() -> None:
    """Otherwise the test above would look at nothing."""
    programs = [random_program(number) for number in range(200)]
    given_up = sum(
        expected_gradient(function, point) is None
        for program in programs
        for function in [program.load()]
        for point in program.points
    )
    assert given_up <= 4


def test_the_same_number_gives_the_same_text() -> None:
    assert random_program(17).source == random_program(17).source
    assert random_program(17).source != random_program(18).source


@pytest.mark.parametrize(
    "construct",
    (
        "if |elif |else:|while |for |break|continue|return |lambda |def helper|def recursive|enumerate(|zip(|reversed("
        "|matrix @|max(| and | if |try:|except |finally:|with |raise "
    ).split("|"),
)
def test_constructs_are_frequent(construct: str) -> None:
    assert sum(construct in source for source in sources()) >= 15


@functools.cache
def sources() -> tuple[str, ...]:
    return tuple(random_program(number).source for number in range(300))
