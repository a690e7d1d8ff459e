"""What an adjoint has made itself is given to the user as it is; what it shares with something is copied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import value_and_grad
from microgradpy.tangents import projection

C = np.array([[0.5, 1.5], [2.5, -1.0]])
MADE = {
    "mean": lambda x: np.sum(np.mean(x, axis=0) * C[0]),
    "log": lambda x: np.sum(np.log(x) * C),
}
SHARED = {
    "returned twice": lambda x: np.sum((x + x) * C),
    "transposed": lambda x: np.sum(np.transpose(x) * C),
    "constant": lambda x: np.vdot(x, C),
}


def copies(f: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> tuple[int, Any]:
    """How many arrays are copied on the way out, and the gradient."""
    counted: list[Any] = []
    projected = projection._project_array

    def noting(x: Any, x_bar: Any) -> Any:
        counted.append(x_bar)
        return projected(x, x_bar)

    for name, value in vars(projection).items():
        if value is projected:
            monkeypatch.setattr(projection, name, noting)
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    _, found = value_and_grad(f)(x)
    assert not np.shares_memory(found, x) and not np.shares_memory(found, C)
    assert found.base is None
    return len(counted), found


@pytest.mark.parametrize("name", MADE)
def test_what_the_adjoint_made_is_not_copied(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert copies(MADE[name], monkeypatch)[0] == 0


@pytest.mark.parametrize("name", SHARED)
def test_what_may_be_shared_is_copied(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    copies(SHARED[name], monkeypatch)
