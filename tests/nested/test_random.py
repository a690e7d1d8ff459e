"""Random programs to second order, in the four combinations of modes, against products with their Hessians."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from microgradpy import DifferentiationError, gradient, hvp, jvp
from tests.program_numbers import batches
from tests.random_programs import random_program
from tests.ways import some


def zero_if_none(x: Any, bar: Any) -> Any:
    return np.zeros(np.shape(x)) if bar is None else bar


def reverse_over_reverse(f: Callable[..., Any], x: Any, v: Any, rest: tuple[Any, ...]) -> Any:
    return gradient(lambda t: np.sum(v * zero_if_none(t, gradient(f, t, *rest)[0])), x)[0]


def reverse_over_forward(f: Callable[..., Any], x: Any, v: Any, rest: tuple[Any, ...]) -> Any:
    still = (None,) * len(rest)
    return gradient(lambda t: jvp(f, (t, *rest), (v, *still))[1], x)[0]


def forward_over_reverse(f: Callable[..., Any], x: Any, v: Any, rest: tuple[Any, ...]) -> Any:
    return jvp(lambda t: zero_if_none(t, gradient(f, t, *rest)[0]), (x,), (v,))[1]


COMBINATIONS = (reverse_over_reverse, reverse_over_forward, forward_over_reverse)


def forward_over_forward(f: Callable[..., Any], x: Any, v: Any, rest: tuple[Any, ...]) -> Any:
    """The number <v, H v>."""
    still = (None,) * len(rest)
    return jvp(lambda t: jvp(f, (t, *rest), (v, *still))[1], (x,), (v,))[1]


def judged(number: int) -> Iterator[tuple[str, bool]]:
    """For each combination and each of its points, whether a random program has a second derivative by it."""
    program = random_program(number)
    function = program.load()
    for x, *rest in program.points:
        v = np.random.default_rng(number).normal(size=np.shape(x))
        v = float(v) if isinstance(x, float) else v
        with np.errstate(all="ignore"):
            try:
                product = hvp(function, x, v, *rest)
            except DifferentiationError:
                continue
            for combination in (*COMBINATIONS, forward_over_forward):
                wanted = np.sum(v * product) if combination is forward_over_forward else product
                try:
                    found = combination(function, x, v, tuple(rest))
                except DifferentiationError:
                    yield combination.__name__, False
                    continue
                found = zero_if_none(wanted, found)
                np.testing.assert_allclose(
                    found, wanted, rtol=1e-9, atol=1e-9 * (1.0 + np.max(np.abs(wanted))), err_msg=program.source
                )
                yield combination.__name__, True


@pytest.mark.parametrize("batch", batches(), ids=str)
def test_no_combination_is_wrong(batch: range) -> None:
    for number in some(batch, "random second orders"):
        list(judged(number))


def test_most_have_all_combinations() -> None:
    found = [each for number in range(4) for each in judged(number)]
    for combination in (*COMBINATIONS, forward_over_forward):
        outcomes = [is_there for name, is_there in found if name == combination.__name__]
        assert sum(outcomes) >= 0.8 * len(outcomes), combination.__name__
