"""What is proven of common expressions holds of their values, and how much is proven."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from microgradpy import DifferentiationError, gradient
from tests.passes.expressions import EXPRESSIONS, ODD_SIZES, SIZES, Expression, doubtful, given_to, lost, value_of
from tests.ways import some


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_the_table_says_what_is_not_proven(expression: Expression) -> None:
    assert lost(expression) == expression.lost


@pytest.mark.parametrize("expression", some(EXPRESSIONS, "holds"), ids=str)
def test_what_is_proven_of_an_expression_holds(expression: Expression) -> None:
    assert not list(doubtful(expression))


@pytest.mark.parametrize("expression", some(EXPRESSIONS, "gradients"), ids=str)
def test_gradients_for_lengths_that_are_equal_one_or_none(expression: Expression) -> None:
    """What was compiled for some lengths is used for others of the same kinds."""
    f = expression.function("z = y * y + np.sin(y); return np.sum(np.real(z * np.conj(z)))")
    for sizes in (*SIZES[:2], *ODD_SIZES, SIZES[0]):
        given = given_to(expression, sizes)
        y = value_of(f, given)
        if y is None or not np.isfinite(y):
            continue
        names = [name for name, value in given.items() if np.result_type(value).kind == "f"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is empty there are no means
            try:
                found = gradient(f, *given.values())
            except DifferentiationError:
                continue
        bars = dict(zip(given, found if isinstance(found, tuple) else (found,), strict=True))
        for name in names:
            direction, slope = slope_along(f, given, name)
            bar = bars[name]
            assert bar is None or np.shape(bar) == np.shape(given[name])
            along = 0.0 if bar is None else np.sum(bar * direction)
            assert np.isnan(slope) or np.isclose(along, slope, rtol=2e-3, atol=1e-3 * (1.0 + abs(y))), f"{name} of {sizes}"


def slope_along(f: Any, given: dict[str, Any], name: str) -> tuple[Any, Any]:
    """A direction of one argument, symmetric if that is, and the difference quotient along it."""
    direction = np.random.default_rng(len(name)).standard_normal(np.shape(given[name]))
    if name == "S":
        direction = direction + direction.T
    ends = [value_of(f, given | {name: given[name] + step * direction}) for step in (1e-6, -1e-6)]
    return direction, (ends[0] - ends[1]) / 2e-6
