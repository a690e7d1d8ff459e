"""Both versions of every benchmark compute the same gradient, and it is right; time is not tested."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from benchmarks import checks, compiling, entry, jacobians, memory, ordinary, ordinary_peer, rule_cases, rules
from benchmarks.cases import CASES, Case
from benchmarks.ordinary_checks import Differences
from benchmarks.ordinary_programs import Program
from benchmarks.run import measure
from microgradpy import grad, value_and_grad
from tests import finite_differences as fd


def gradients(result: tuple[Any, ...]) -> tuple[Any, ...]:
    """Those of a gradient, or of a value with its gradient."""
    return result[1] if len(result) == 2 and isinstance(result[1], tuple) else result


@pytest.mark.parametrize("case", CASES, ids=str)
def test_generated_and_hand_written_gradients_agree(case: Case) -> None:
    generated, by_hand = case.generated(*case.args), case.by_hand(*case.args)
    ours, theirs = gradients(generated), gradients(by_hand)
    assert len(generated) == len(by_hand) and len(ours) == len(theirs)
    for our, their in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(our, their, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("case", [case for case in CASES if isinstance(case.args[0], float) or "RNN" in case.id], ids=str)
def test_hand_written_gradient_agrees_with_differences(case: Case) -> None:
    """In each argument that is differentiated, or along a direction of it if it is an array."""
    by_hand = case.by_hand(*case.args)
    draw = np.random.default_rng(0)
    for number, found in enumerate(gradients(by_hand)):
        x = case.args[number]
        direction = draw.uniform(0.5, 1.0, np.shape(x)) * draw.choice([-1.0, 1.0], np.shape(x))

        def along(distance: float, number: int = number, x: Any = x, direction: Any = direction) -> float:
            return case.program(*case.args[:number], x + distance * direction, *case.args[number + 1 :])

        np.testing.assert_allclose(np.sum(found * direction), fd.differences(along, (0.0,), step=1e-4)[0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("case", [case for case in CASES if "heat" in case.id], ids=str)
def test_hand_written_value_is_that_of_the_program(case: Case) -> None:
    np.testing.assert_allclose(case.by_hand(*case.args)[0], case.program(*case.args), rtol=1e-12)


def test_a_row_of_the_table_can_be_measured() -> None:
    assert measure(CASES[0], rounds=1).startswith(CASES[0].id)


@pytest.mark.parametrize("case", jacobians.SECOND, ids=lambda case: case.id)
def test_second_derivatives_by_hand_are_those_of_the_programs(case: jacobians.Second) -> None:
    assert [row.count("|") for row in jacobians.second_row(case, 1)] == [8, 8, 8][: 3 if np.ndim(case.x) else 2]


def test_dense_jacobians_are_those_by_differences() -> None:
    assert [jacobians.dense_row(*case, 1).count("|") for case in jacobians.DENSE] == [6]


def test_bands_take_three_passes() -> None:
    assert "| 1,000 | 3 |" in jacobians.sparse_row(jacobians.SPARSE[0], 1)


@pytest.mark.parametrize("program", [one for one in compiling.PROGRAMS if one.id != "400 statements"], ids=str)
def test_gradients_of_what_is_compiled_agree_with_differences(program: compiling.Program, tmp_path: Path) -> None:
    function = compiling.new_copy(program, str(tmp_path))
    found = grad(function, argnums=program.argnums)(*program.args)

    def varied(*changed: Any) -> float:
        return float(function(*changed, *program.args[len(changed) :]))

    chosen = program.args[: len(program.argnums)]
    expected = fd.differences(varied, chosen, step=1e-6)  # across no kink of a maximum
    np.testing.assert_allclose(fd.flatten_cotangent(chosen, found), expected, rtol=1e-6, atol=1e-7)


def test_a_row_of_what_compilation_costs_can_be_measured() -> None:
    assert compiling.measure(compiling.PROGRAMS[0], rounds=1).startswith(compiling.PROGRAMS[0].id)


@pytest.mark.parametrize("case", rule_cases.CASES, ids=str)
def test_single_rules_agree_with_what_is_written_by_hand(case: rule_cases.RuleCase) -> None:
    args = case.arguments(25)
    y, gradients = value_and_grad(case.loss, tuple(range(case.count)))(*args)
    directly, bars = rules.generated_directly(case, args)(*args)
    expected, *by_hand = case.by_hand(*args)
    np.testing.assert_allclose([y, directly], expected, rtol=1e-12)
    for ours, ours_directly, theirs in zip(gradients, bars if case.count > 1 else (bars,), by_hand, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(ours_directly, theirs, rtol=1e-10, atol=1e-12)


def test_the_table_of_single_rules_has_a_row_per_function_and_medians(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "CASES", rule_cases.CASES[:3])
    assert len(rules.table((4,), rounds=1)) == 2 + 3 + 1


def test_what_checks_cost_can_be_measured() -> None:
    name, *times = checks.row(CASES[0], rounds=1) or ("",)
    assert name == CASES[0].id
    assert len(times) == 4 and all(time > 0.0 for time in times)


def numbers_in(gradients: Any) -> list[float]:
    """In the order of the structure."""
    match gradients:
        case dict():
            return numbers_in(list(gradients.values()))
        case list() | tuple():
            return [number for part in gradients for number in numbers_in(part)]
    return [] if gradients is None else np.ravel(gradients).tolist()


@pytest.mark.parametrize("row", [row for row in entry.ROWS if row.has_bare], ids=str)
def test_the_generated_code_of_an_entry_gives_its_gradient(row: entry.Row) -> None:
    expected = numbers_in(entry.generated_directly(row)(*row.args))
    np.testing.assert_allclose(numbers_in(row.transform(row.f)(*row.args))[-len(expected) :], expected)
    if row.by_hand is not None:
        np.testing.assert_allclose(expected, np.ravel(row.by_hand(*row.args)))


def test_a_row_of_the_entries_can_be_measured() -> None:
    assert entry.measured(entry.ROWS[0], 1)[0] > 0.0


@pytest.mark.parametrize("program", ordinary.PROGRAMS, ids=str)
def test_gradients_of_ordinary_programs_agree_with_differences(program: Program) -> None:
    args = program.arguments(program.small)
    differences = Differences(program, args)
    assert len(differences.axes()) > 0
    assert differences.defect(ordinary.gradient_of(program)(*args), differences.axes()) is None


def test_ordinary_programs_have_names_of_their_own() -> None:
    names = [program.id for program in ordinary.PROGRAMS]
    assert len(set(names)) == len(names)


CUBE = Program("cube", lambda x: x**3, lambda n: (np.linspace(1.0, 2.0, n)[-1],), size=2, small=2, of="times")


def refused(x: float) -> float:
    raise ValueError("not this\nnor that")


@pytest.mark.parametrize(
    ("gradient", "defect"),
    [
        (lambda x: (3.0 * x * x,), None),
        (lambda x: (2.999 * x * x,), "WRONG: "),
        (lambda x: (None,), "WRONG: 0 where differences give "),
        (refused, "ValueError: not this"),  # the first line
    ],
)
def test_what_is_wrong_with_a_gradient_is_said(gradient: Any, defect: str | None) -> None:
    args = CUBE.arguments(CUBE.size)
    found = ordinary.defect_of(gradient, args, Differences(CUBE, args))
    assert found is None if defect is None else found is not None and found.startswith(defect)


@pytest.mark.parametrize("module", ordinary.MODULES, ids=lambda module: module.__name__)
def test_programs_compute_the_same_with_other_modules_for_numpy_and_math(module: ModuleType) -> None:
    copy = ordinary_peer.executed_with(module, {"numpy": np, "math": ordinary_peer.math_of(np)})
    assert copy.np is np and getattr(copy, "math", None) is not math
    for program, twin in zip(module.PROGRAMS, copy.PROGRAMS, strict=True):
        assert twin.function is not program.function
        values = [one.function(*one.arguments(one.small)) for one in (program, twin)]
        np.testing.assert_allclose(*values, rtol=1e-12, err_msg=program.id)


def test_a_row_of_the_ordinary_programs_can_be_measured() -> None:
    module = ordinary.MODULES[1]
    program = replace(module.PROGRAMS[0], size=20)
    row = ordinary.measured(module, program, rounds=1)
    assert row.defect is None and row.ratio is not None and row.ratio > 0.0 and row.gradient_peak
    assert str(row).startswith(f"| {program.id} | 20 steps |")
    assert ordinary.summary([row]).startswith("1 programs: median ")


def test_a_program_without_a_gradient_is_a_row_that_says_why() -> None:
    module = ordinary.MODULES[1]
    row = ordinary.measured(module, replace(CUBE, asked=refused), rounds=1)
    assert str(row) == "| cube | 2 times | | ValueError: not this | | | | |"
    assert ordinary.summary([row]) == "1 without a right gradient"


@pytest.mark.parametrize("loop", [loop for loop in memory.LOOPS if loop is not memory.vectors])
def test_checkpoints_take_less_memory(loop: Any) -> None:
    found = memory.rows(loop, 4000, rounds=1)
    assert found[0][0] == "none" and all(less > 1.0 for name, _, less, *_ in found if name in ("sqrt", "log"))
