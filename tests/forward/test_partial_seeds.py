"""Values of which only some parts are wanted: a pullback is given zeros for the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import Tangent, gradient, jvp, pullback, pushforward

SEVERAL: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "split": lambda x: np.split(x, 3),
    "map": lambda x: list(map(abs, x)),
    "zip": lambda x: list(zip(x, x, strict=True)),
    "svd": lambda x: np.linalg.svd(np.outer(x, x) + np.diag(x)),
    "divmod": lambda x: divmod(x, 2.0),
}
X = np.array([0.2, 0.3, 0.7])


@pytest.mark.parametrize("name", SEVERAL)
def test_a_value_with_parts_that_only_the_other_branch_reads(name: str) -> None:
    parts = SEVERAL[name]

    def f(x: Any) -> Any:
        found = parts(x)
        return found[0] if x[0] > 10.0 else x[1]

    np.testing.assert_array_equal(gradient(f, X)[0], [0.0, 1.0, 0.0])


@pytest.mark.parametrize("name", SEVERAL)
def test_a_seed_that_leaves_out_a_value_with_parts(name: str) -> None:
    parts = SEVERAL[name]

    def both(x: Any) -> Any:
        return 2.0 * x, parts(x)

    _, back = pullback(both, X)
    np.testing.assert_array_equal(back((X, None))[1], 2.0 * X)
    _, push = pushforward(both, X)
    assert repr(push(None, X)[0]) == repr(2.0 * X)
    np.testing.assert_allclose(push(None, X)[1][0], jvp(both, (X,), (X,))[1][1][0], rtol=1e-12)


@pytest.mark.parametrize("name", ["list", "split", "svd"])
def test_a_seed_that_leaves_out_items(name: str) -> None:
    def alone(x: Any) -> Any:
        found = SEVERAL[name](x)
        return found[1]

    parts = SEVERAL[name]
    y, back = pullback(lambda x: parts(x), X)
    seed = [None, np.ones_like(y[1]), None]
    (expected,) = gradient(lambda x: np.sum(alone(x)), X)
    np.testing.assert_allclose(back(tuple(seed) if isinstance(y, tuple) else seed)[1], expected)


def test_the_tangent_of_a_part_that_does_not_depend_on_the_argument_is_zero() -> None:
    _, dy = jvp(lambda x: (2.0 * x, {"constant": np.ones(2)}, "text"), (1.0,), (1.0,))
    assert repr(dy) == "(2.0, {'constant': array([0., 0.])}, None)"


def test_a_list_whose_tangent_has_none_for_some_items_is_an_array_to_numpy() -> None:
    class Holder:
        def __init__(self, items: list[float]) -> None:
            self.items = items

    assert jvp(lambda items: np.sum(items), ([1.0, 2.0],), ([None, 3.0],))[1] == 3.0
    assert jvp(lambda items: items + items, ([1.0, 2.0],), ([None, 3.0],))[1] == [0.0, 3.0, 0.0, 3.0]
    given = Tangent(Holder, items=[None, 3.0])
    assert jvp(lambda holder: np.sum(holder.items), (Holder([1.0, 2.0]),), (given,))[1] == 3.0
