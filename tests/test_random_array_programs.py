"""Random programs on arrays against central differences along a direction; each is called with several sets of shapes, so
that what was compiled for one set meets the others. `back` is called twice, and some programs take the run-time path.

`tests/program_numbers.py` says which are run.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from microgradpy import pullback
from microgradpy.compiler import always_dispatch, always_track
from tests import finite_differences as fd
from tests.program_numbers import COUNT, batches
from tests.random_array_programs import RandomArrayProgram, random_array_program

# Two step sizes that disagree straddle a kink: the next smaller pair is tried, then the direction is given up.
STEPS = ((1e-3, 1e-4), (1e-4, 1e-5))


def difference(function: Callable[..., Any], point: tuple[Any, ...], direction: np.ndarray, step: float) -> float:
    """The derivative along a direction, by central differences of order four."""
    start = fd.flatten(point)

    def along(distance: float) -> float:
        return float(function(*fd.rebuild(point, start + distance * step * direction)))

    return (8.0 * (along(1.0) - along(-1.0)) - (along(2.0) - along(-2.0))) / (12.0 * step)


def expected_derivative(function: Callable[..., Any], point: tuple[Any, ...], direction: np.ndarray) -> float | None:
    """The derivative along a direction; None where no two step sizes agree."""
    for wide, narrow in STEPS:
        a, b = difference(function, point, direction, wide), difference(function, point, direction, narrow)
        if np.isclose(a, b, rtol=1e-5, atol=1e-6):
            return b
    return None


def defect_at(function: Callable[..., Any], point: tuple[Any, ...], random: np.random.Generator) -> str | None:
    """What is wrong with the value or gradient of the function at the point."""
    value = function(*point)
    before = copy.deepcopy(point)
    y, back = pullback(function, *point)
    if repr(y) != repr(value):
        return f"value {y!r} for {value!r}"
    gradients = back(1.0)[1:]
    for x, gradient in zip(point, gradients, strict=True):
        if gradient is not None and np.shape(gradient) != np.shape(x):
            return f"a gradient of shape {np.shape(gradient)} for {np.shape(x)}"
    first, second = (fd.flatten_cotangent(point, bars) for bars in (gradients, back(1.0)[1:]))
    if not np.array_equal(first, second):
        return f"back gave {first}, then {second}"
    if repr(point) != repr(before):
        return "an argument was changed"
    direction = random.choice([-1.0, 1.0], first.size) * random.uniform(0.5, 1.0, first.size)
    expected = expected_derivative(function, point, direction)
    if expected is not None and not np.isclose(first @ direction, expected, rtol=3e-5, atol=3e-6):
        return f"derivative {first @ direction}, by differences {expected}; gradient {first}"
    return None


def defects(program: RandomArrayProgram) -> list[str]:
    """A report for the first set of arguments at which the program is differentiated wrongly or not at all."""
    function = program.load()
    random = np.random.default_rng(program.number)
    found = []
    for path in ("compiled", "dispatched") if program.number % 20 == 0 else ("compiled",):
        for index, point in enumerate(program.points):
            with np.errstate(all="ignore"), always_dispatch() if path == "dispatched" else nullcontext():
                try:
                    defect = defect_at(function, point, random)
                except Exception as error:  # a refusal or a crash is a failure like a wrong number
                    defect = f"{type(error).__name__}: {error}"
            if defect is not None:
                shapes = [np.shape(x) for x in point]
                found.append(f"program {program.number}, {path}, call {index} with {shapes}: {defect}\n{program.source}")
                break
    return found


@pytest.mark.parametrize("batch", batches(), ids=str)
def test_random_array_programs(batch: range) -> None:
    found = [defect for number in batch for defect in defects(random_array_program(number))]
    assert not found, f"{len(found)} defects\n" + "\n".join(found)


@pytest.mark.parametrize("batch", batches(count=COUNT // 4), ids=str)
def test_random_array_programs_with_writes_tracked(batch: range) -> None:
    with always_track():
        found = [defect for number in batch for defect in defects(random_array_program(number))]
    assert not found, f"{len(found)} defects\n" + "\n".join(found)


def test_programs_run_for_every_set_of_shapes() -> None:
    for number in range(150):
        program = random_array_program(number)
        function = program.load()
        for point in program.points:
            with np.errstate(all="ignore"):
                assert np.isfinite(function(*point)), program.source


def test_the_same_number_gives_the_same_text() -> None:
    assert random_array_program(17).source == random_array_program(17).source
    assert random_array_program(17).source != random_array_program(18).source


@pytest.mark.parametrize(
    "construct",
    (
        "keepdims=True|axis=(0, -1)|.T|[None]|[..., None]| @ |np.dot(|.reshape(-1)|[1:]|np.concatenate(|np.stack(|np.where("
        "|for i|break|if |else:|again(|eat(|collapse(|spread(|) ** np.tanh(|    def f|, w=|turn(|turns(|flip(|both("
    ).split("|"),
)
def test_constructs_are_frequent(construct: str) -> None:
    programs = [random_array_program(number).source.partition("def program")[2] for number in range(300)]
    assert sum(construct in program for program in programs) >= 10
