"""Results that share memory with arguments: in runs that write it matters that the compiler knows who may return one."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from microgradpy.ad.known_functions import is_fresh, is_view
from microgradpy.rules.registry import Example
from tests.checks import check_all
from tests.examples import BY_FUNCTION

pytestmark = pytest.mark.filterwarnings("ignore:`lagrange` is deprecated")  # since SciPy 1.18


def arrays(value: Any) -> Iterator[Any]:
    """The arrays in a value."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, list | tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from arrays(part)


@pytest.mark.parametrize("examples", BY_FUNCTION.values(), ids=BY_FUNCTION)
def test_what_returns_a_view_is_known_for_it(examples: list[Example]) -> None:
    check_all((str(example), partial(check, example)) for example in examples)


def check(example: Example) -> None:
    args = tuple(x if type(x).__name__ == "SuperLU" else copy.deepcopy(x) for x in example.args)  # which cannot be copied
    given = list(arrays(args))
    y = example.f(*args, **example.kwargs)
    shares = any(np.may_share_memory(a, b) for a in arrays(y) for b in given)
    assert not shares or is_view(example.f) or not is_fresh(example.f)
