"""`jvp` of every program of the tables, and of random ones, against `pullback`."""

from __future__ import annotations

import contextlib
import copy
import io
from typing import Any

import numpy as np
import pytest

from microgradpy import MissingRuleError, jvp, pullback
from tests import finite_differences as fd
from tests.forward.tangents import assert_transposed, drawn
from tests.program_numbers import batches
from tests.programs import PROGRAMS, Program
from tests.random_programs import random_program
from tests.ways import WAYS, some

REFUSED = {"dispatched_method_of_an_argument"}
"""Where a function is made when it is read, it is not known what its tangent consists of."""


def both_modes(program: Program, seed_number: int = 0) -> tuple[Any, Any, tuple[Any, ...], tuple[Any, ...]]:
    rng = np.random.default_rng(5)
    dots = tuple(drawn(x, rng) for x in program.args)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        y, back = pullback(program.function, *copy.deepcopy(program.args))
    with contextlib.redirect_stdout(io.StringIO()) as printed_forward:
        y_again, y_dot = jvp(program.function, copy.deepcopy(program.args), dots)
    assert repr(y) == repr(y_again)
    assert printed.getvalue() == printed_forward.getvalue()
    y_bar = fd.random_seed(y, seed_number)
    return y_bar, y_dot, back(y_bar)[1:], dots


@pytest.mark.parametrize("program", some((p for p in PROGRAMS if str(p) not in REFUSED), "forward", one_in=2), ids=str)
def test_the_two_modes_are_transposes(program: Program) -> None:
    assert_transposed(*both_modes(program))


@pytest.mark.parametrize("program", [p for p in PROGRAMS if str(p) in REFUSED], ids=str)
def test_refused(program: Program) -> None:
    with pytest.raises(MissingRuleError, match="pushforward"):
        both_modes(program)


REFUSED_IF_DISPATCHED = REFUSED | {"composes_functions"}


@pytest.mark.parametrize("way", ["dispatched"])
@pytest.mark.parametrize("program", [p for p in PROGRAMS if str(p) not in REFUSED_IF_DISPATCHED][::5], ids=str)
def test_the_two_modes_are_transposes_in_a_forced_way(program: Program, way: str) -> None:
    with WAYS[way]():
        assert_transposed(*both_modes(program, seed_number=1))


@pytest.mark.parametrize("batch", batches(), ids=str)
def test_random_programs(batch: range) -> None:
    for number in some(batch, "random forward"):  # all are judged in reverse
        program = random_program(number)
        function = program.load()
        for point in program.points:
            dots = tuple(drawn(x, np.random.default_rng(number)) for x in point)
            y, back = pullback(function, *point)
            y_again, y_dot = jvp(function, point, dots)
            assert repr(y) == repr(y_again), program.source
            assert_transposed(1.0, y_dot, back(1.0)[1:], dots, 1e-9)
