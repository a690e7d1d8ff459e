"""Second derivatives of functions of numbers at places for which texts have guards: zeros, ones, equal numbers.

A guard that is there for an infinite or an undefined slope hides the slope from its own derivative: `where(x == y, 0.5, share)`
has none, though the share of equal numbers changes. So it asks whether the slope is finite. Where a second derivative is not
found otherwise it is NaN, never another number.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from microgradpy import DifferentiationError
from microgradpy.rules.registry import Example
from tests.checks import check_all
from tests.examples import BY_FUNCTION
from tests.second.programs import TRIED, Wrong, outcome
from tests.ways import some

# What the functions themselves, and first derivatives, say of such places.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
ONE = [(0.0,), (1.0,), (-1.0,), (0.5,), (2.0,)]
TWO = [(0.0, 1.3), (1.3, 0.0), (1.3, 1.3), (0.5, 0.5), (1.0, 1.3), (1.3, 1.0), (0.7, 2.0), (2.0, 0.7), (0.0, 0.0), (1.3, -1.3)]
THREE = [(0.7, 0.7, 0.7), (0.0, 0.7, 0.4), (0.7, 0.0, 0.4), (0.4, 0.7, 0.0), (1.0, 0.5, 0.5)]
PLACES = {1: ONE, 2: TWO, 3: THREE}
# Differences meet poles there, or a function that is put together of others: psi at -1, the corner at 0 of these two.
ELSEWHERE = {"scipy.special.gammas.psi", "scipy.special.gammas.comb", "scipy.special.elementary.huber"}


def of_numbers(name: str) -> Example | None:
    """The first example of a function that is given numbers only, one of them at least to be moved."""
    for example in BY_FUNCTION[name]:
        types = set(map(type, example.args))
        if types <= {float, int, np.float64} and float in types and not example.kwargs:
            return example
    return None


FUNCTIONS = {name: example for name in TRIED if name not in ELSEWHERE and (example := of_numbers(name)) is not None}
OF_ANY = [name for name in FUNCTIONS if not name.startswith("scipy.stats")]


@pytest.mark.parametrize("name", some(OF_ANY, "places", one_in=8))
def test_no_second_derivative_is_wrong(name: str) -> None:
    example = FUNCTIONS[name]
    moved = [place for place, x in enumerate(example.args) if type(x) is float]
    check_all((f"{name}{place}", partial(check, example, moved, place)) for place in PLACES.get(len(moved), ()))


def check(example: Example, moved: list[int], place: tuple[float, ...]) -> None:
    given = dict(zip(moved, place, strict=True))
    args = tuple(given.get(number, x) for number, x in enumerate(example.args))
    try:
        outcome(Example(example.f, args, {}, f"{example} at {place}"))
    except Wrong as wrong:
        assert wrong.is_nan, wrong
    except (DifferentiationError, ZeroDivisionError, OverflowError, ValueError):
        pass  # the function itself has no value there


@pytest.mark.parametrize("name", ["numpy.logaddexp", "scipy.special.elementary.xlogy", "_operator.pow", "numpy.i0"])
def test_those_that_were_wrong(name: str) -> None:
    test_no_second_derivative_is_wrong(name)
