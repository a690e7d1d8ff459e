"""`hvp` of functions that call what has a rule: against differences of their gradients, or refused as `refused.txt` says.

`MICROGRADPY_ALL_WAYS=1` tries all functions; without it, one in six.
"""

from __future__ import annotations

from functools import partial

import pytest

from microgradpy.rules.registry import Example
from tests.checks import check_all
from tests.second.programs import REFUSED, TRIED, outcome
from tests.second.refused import refused
from tests.ways import some

pytestmark = pytest.mark.filterwarnings("ignore:`lagrange` is deprecated")  # since SciPy 1.18


@pytest.mark.parametrize("name", some(TRIED, "second", one_in=6))
def test_second_derivative(name: str) -> None:
    check_all((str(example), partial(check, example)) for example in TRIED[name])


def check(example: Example) -> None:
    verdict, what = outcome(example)
    assert (verdict == REFUSED) == (str(example) in refused()), what or "it has left the list: python -m tests.second.refused"


def test_the_list_of_refusals_has_examples_only() -> None:
    assert refused().keys() <= {str(example) for examples in TRIED.values() for example in examples}
