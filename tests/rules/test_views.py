"""Results that share memory with arguments: in runs that write it matters that the compiler knows who may return one."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from microgradpy.ad.known_functions import is_fresh, is_view
from microgradpy.rules.registry import Example
from tests.examples import EXAMPLES


def arrays(value: Any) -> Iterator[Any]:
    """The arrays in a value."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, list | tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from arrays(part)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_what_returns_a_view_is_known_for_it(example: Example) -> None:
    args = tuple(x if type(x).__name__ == "SuperLU" else copy.deepcopy(x) for x in example.args)  # which cannot be copied
    given = list(arrays(args))
    y = example.f(*args, **example.kwargs)
    shares = any(np.may_share_memory(a, b) for a in arrays(y) for b in given)
    assert not shares or is_view(example.f) or not is_fresh(example.f)
