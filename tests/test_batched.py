"""Many directions, and many seeds, in one call: `jvp(..., batched=True)` and `back.batched`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from microgradpy import CotangentShapeError, DifferentiationError, Tangent, gradient, jacobian, jvp, pullback

X = np.array([0.5, -1.2, 2.0])
V = np.random.default_rng(5).normal(size=(4, 3))


class Point(NamedTuple):
    x: Any
    y: Any


class Model:
    def __init__(self, weights: Any, bias: float) -> None:
        self.weights, self.bias = weights, bias


def affine(model: Model, x: Any) -> Any:
    return np.tanh(model.weights * x) + model.bias


def pair(x: Any) -> Any:
    return {"a": [x[0] * x[1], np.sin(x)], "b": Point(x.sum(), "text")}


def printing(x: Any) -> Any:
    print("here")
    return x**2


def alike(a: Any, b: Any) -> None:
    """Whether two trees are the same, to the last bit."""
    if isinstance(b, dict | Tangent | tuple | list):
        assert type(a) is type(b)
    if isinstance(a, dict | Tangent):
        assert [*a] == [*b]
        a, b = [*a.values()], [*b.values()]
    if isinstance(a, tuple | list):
        assert len(a) == len(b)
        for first, second in zip(a, b, strict=True):
            alike(first, second)
    else:
        np.testing.assert_array_equal(a, b)


def at(stack: Any, number: int) -> Any:
    if isinstance(stack, Tangent):
        return Tangent(stack.primal_type, {name: at(part, number) for name, part in stack.items()})
    if isinstance(stack, dict):
        return {key: at(part, number) for key, part in stack.items()}
    if isinstance(stack, tuple | list):
        items = [at(part, number) for part in stack]
        return items if isinstance(stack, list) else type(stack)(*items) if hasattr(stack, "_fields") else tuple(items)
    return None if stack is None else stack[number]


@pytest.mark.parametrize("f", [np.sin, lambda x: x[0] * x, lambda x: np.outer(x, x), lambda x: x @ x, printing])
def test_directions_are_those_one_by_one(f: Callable[..., Any]) -> None:
    y, y_dots = jvp(f, (X,), (V,), batched=True)
    np.testing.assert_array_equal(y, f(X))
    for number, v in enumerate(V):
        np.testing.assert_allclose(y_dots[number], jvp(f, (X,), (v,))[1], rtol=1e-14)
    np.testing.assert_allclose(np.moveaxis(y_dots, 0, -1), np.dot(jacobian(f, X), V.T), rtol=1e-12)


def test_structures() -> None:
    _, found = jvp(pair, (X,), (V,), batched=True)
    assert found["a"][0].shape == (4,) and found["a"][1].shape == (4, 3) and found["b"].y is None
    for number, v in enumerate(V):
        one = jvp(pair, (X,), (v,))[1]
        np.testing.assert_array_equal(found["a"][1][number], one["a"][1])
        assert found["b"].x[number] == one["b"].x

    weights, biases = V[:, :2], V[:, 2]
    model = Model(np.array([1.0, 2.0]), 0.5)
    _, found = jvp(affine, (model, 3.0), (Tangent(Model, weights=weights, bias=biases), None), batched=True)
    for number in range(4):
        dot = Tangent(Model, weights=weights[number], bias=biases[number])
        np.testing.assert_array_equal(found[number], jvp(affine, (model, 3.0), (dot, None))[1])

    given, dots = {"a": 2.0, "b": [3.0, X]}, {"a": V[:, 0], "b": [V[:, 1], None]}
    _, found = jvp(lambda p: p["a"] * p["b"][0], (given,), (dots,), batched=True)
    np.testing.assert_allclose(found, 3.0 * V[:, 0] + 2.0 * V[:, 1])


def test_a_program_that_prints_runs_once(capsys: pytest.CaptureFixture[str]) -> None:
    jvp(printing, (X,), (V,), batched=True)
    assert capsys.readouterr().out == "here\n"


def test_no_directions() -> None:
    _, found = jvp(pair, (X,), (np.zeros((0, 3)),), batched=True)
    assert found["a"][1].shape == (0, 3) and found["a"][0].shape == (0,)
    _, back = pullback(np.sin, X)
    assert back.batched(np.zeros((0, 3)))[1].shape == (0, 3)


def test_seeds_are_those_one_by_one() -> None:
    _, back = pullback(affine, Model(X, 0.5), 3.0)
    alike(at(back.batched(V), 2), back(V[2]))
    assert back.batched(V)[1].weights.shape == (4, 3) and back.batched(V)[2].shape == (4,)

    _, back = pullback(pair, X)
    seeds = {"a": [V[:, 0], V], "b": Point(None, None)}
    for number in range(4):
        alike(at(back.batched(seeds), number), back({"a": [V[number, 0], V[number]], "b": Point(None, None)}))


def test_float32_is_kept() -> None:
    x = X.astype(np.float32)
    assert jvp(np.sin, (x,), (V,), batched=True)[1].dtype == np.float32
    assert pullback(np.sin, x)[1].batched(V)[1].dtype == np.float32


def test_an_argument_that_nothing_depends_on() -> None:
    _, back = pullback(lambda x, name: x * 2.0, X, "text")
    assert back.batched(V)[2] is None


@pytest.mark.parametrize(
    ("tangents", "words"),
    [
        ((V, V[:2, 0]), "have the lengths 2, 4"),
        ((None, None), "has no arrays"),
        ((V, 1.0), "a number in the tangents has no leading axis"),
        ((V[:, :2], None), r"the tangent of argument 0 is an array of shape \(2,\)"),
        ((V, V), r"the tangent of argument 1 is an array of shape \(3,\)"),
        (([V[:, 0], V[:, 1]], None), "the tangent of argument 0"),
    ],
)
def test_tangents_that_do_not_fit(tangents: Any, words: str) -> None:
    with pytest.raises(CotangentShapeError, match=words):
        jvp(lambda x, y: x * y, (X, 2.0), tangents, batched=True)


def test_seeds_that_do_not_fit() -> None:
    _, back = pullback(lambda x: (x, x[0]), X)
    with pytest.raises(CotangentShapeError, match="have the lengths 2, 4"):
        back.batched((V, V[:2, 0]))
    with pytest.raises(CotangentShapeError, match="tuple of 3"):
        back.batched((V, V[:, 0], V))


def test_inside_of_what_is_differentiated_it_is_refused() -> None:
    with pytest.raises(DifferentiationError):
        gradient(lambda x: jvp(np.sin, (x,), (V,), batched=True)[1].sum(), X)
