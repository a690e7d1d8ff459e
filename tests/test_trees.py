"""`tree_map` and `ravel`: parameters in nested structure, a leaf at a time and as one vector."""

from __future__ import annotations

import collections
import contextlib
import copy
import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from microgradpy import grad, gradient, jvp, ravel, tree_map, value_and_grad, value_and_gradient
from microgradpy.compiler import always_dispatch, always_track
from microgradpy.nn import Chain, Dense, logit_cross_entropy, relu
from microgradpy.testing import check_gradient
from tests.programs.parameters import PARAMETERS

Pair = collections.namedtuple("Pair", "a b")


@dataclass(frozen=True)
class Layer:
    w: np.ndarray[Any, Any]
    count: int = 3
    name: str = "layer"
    scale: float = 0.5
    history: list[Any] = field(default_factory=list)


class Slotted:
    __slots__ = ("inner", "x")

    def __init__(self, x: float) -> None:
        raise AssertionError("made by a copy only")


def slotted(x: float) -> Slotted:
    made = Slotted.__new__(Slotted)
    made.x, made.inner = x, (2.0, np.float32(0.25))
    return made


def tree() -> dict[str, Any]:
    return {
        "w": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        "mixed": [0.5, 2, None, "text", True, np.ones(2, dtype=int)],
        "pair": Pair(np.float32(2.0), np.ones(2, np.float32)),
        "layer": Layer(np.arange(3.0)),
        "slots": collections.deque([slotted(7.0)], maxlen=3),
    }


def loss(t: dict[str, Any]) -> Any:
    return np.sum(t["w"] ** 2) * t["mixed"][0] + t["pair"].a * np.sum(t["layer"].w) * t["layer"].scale + t["slots"][0].x


def test_a_function_of_each_leaf() -> None:
    t = tree()
    before = copy.deepcopy(t["w"])
    twice = tree_map(lambda x: x * 2, t)
    np.testing.assert_array_equal(twice["w"], 2 * t["w"])
    assert twice["mixed"][:5] == [1.0, 4, None, "text", True] and twice["mixed"][5].tolist() == [2, 2]
    assert type(twice["pair"]) is Pair and twice["pair"].a == 4.0 and twice["pair"].b.dtype == np.float32
    assert type(twice["layer"]) is Layer and twice["layer"].count == 6 and twice["layer"].name == "layer"
    assert twice["slots"].maxlen == 3 and twice["slots"][0].x == 14.0 and twice["slots"][0].inner == (4.0, 0.5)
    np.testing.assert_array_equal(t["w"], before)


def test_a_step_along_a_gradient_leaves_what_has_none() -> None:
    t = tree()
    (t_bar,) = gradient(loss, t)
    moved = tree_map(lambda x, x_bar: x - 0.1 * x_bar, t, t_bar)
    np.testing.assert_allclose(moved["w"], t["w"] - 0.1 * t_bar["w"])
    assert moved["layer"].scale == pytest.approx(0.5 - 0.1 * t_bar["layer"].scale)
    assert moved["mixed"][1:5] == t["mixed"][1:5]
    assert moved["slots"][0].x == pytest.approx(6.9)


def test_trees_that_do_not_match() -> None:
    with pytest.raises(ValueError, match=r"tree\['b'\] has the parts \[0, 1\]"):
        tree_map(lambda a, b: a + b, {"b": [1.0, 2.0]}, {"b": [1.0]})
    with pytest.raises(ValueError, match="tree has the parts"):
        tree_map(lambda a, b: a + b, {"a": 1.0}, {"b": 1.0})
    looped: list[Any] = [1.0]
    looped.append(looped)
    with pytest.raises(ValueError, match=r"tree\[1\] contains itself"):
        tree_map(lambda a: a, looped)
    with pytest.raises(ValueError, match="contains itself"):
        ravel(looped)


def test_there_and_back() -> None:
    t = tree()
    vector, unravel = ravel(t)
    assert vector.dtype == np.float64 and vector.shape == (unravel.size,) == (17,)
    again = unravel(vector)
    assert again["mixed"][:5] == t["mixed"][:5] and type(again["pair"].a) is np.float32
    assert again["pair"].b.dtype == np.float32 and again["w"].shape == (2, 3) and type(again["layer"].scale) is float
    np.testing.assert_array_equal(ravel(again)[0], vector)
    again["w"][:] = 0.0
    assert t["w"][0, 0] == 1.0 and vector[0] == 1.0 and unravel(vector)["w"][0, 0] == 1.0
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        unravel(np.ones(3))


def test_a_gradient_as_a_vector() -> None:
    t = tree()
    vector, unravel = ravel(t)
    differences = [(loss(unravel(vector + e)) - loss(unravel(vector - e))) / 2e-3 for e in 1e-3 * np.eye(vector.size)]
    of_tree = unravel.vector(gradient(loss, unravel(vector))[0])
    np.testing.assert_allclose(of_tree, differences, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(unravel.vector(value_and_grad(loss)(t)[1]), of_tree)
    np.testing.assert_allclose(grad(lambda v: loss(unravel(v)))(vector), of_tree, rtol=1e-6)
    direction = np.linspace(-1.0, 1.0, vector.size)
    assert jvp(lambda v: loss(unravel(v)), (vector,), (direction,))[1] == pytest.approx(of_tree @ direction, rel=1e-6)


def test_complex_leaves() -> None:
    vector, unravel = ravel([1.5, np.array([1.0 + 2.0j, 3.0])])
    assert vector.dtype == np.complex128
    back = unravel(vector)
    assert back[0] == 1.5 and type(back[0]) is float
    np.testing.assert_array_equal(back[1], [1.0 + 2.0j, 3.0])


def test_nothing_to_ravel() -> None:
    vector, unravel = ravel({"name": "x", "n": 3})
    assert vector.shape == (0,) and unravel(vector) == {"name": "x", "n": 3}


def test_a_network_by_an_optimiser_of_scipy() -> None:
    points, classes = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.eye(2)[[0, 1, 1]]
    vector, unravel = ravel(Chain(Dense(2, 4, activation=relu, rng=0), Dense(4, 2, rng=1)))

    def value_and_slope(vector: Any) -> tuple[Any, Any]:
        value, (model_bar,) = value_and_gradient(lambda model: logit_cross_entropy(model(points), classes), unravel(vector))
        return value, unravel.vector(model_bar)

    found = minimize(value_and_slope, vector, jac=True)
    assert found.fun < 1e-3
    assert unravel(found.x)(points).argmax(axis=1).tolist() == [0, 1, 1]


def test_leaves_in_order() -> None:
    seen: list[Any] = []
    tree_map(seen.append, {"b": [1.0, 2.0], "a": (3.0, {"x": 4.0})})
    assert functools.reduce(lambda text, x: f"{text} {x}", seen, "") == " 1.0 2.0 3.0 4.0"


def fitted(p: Any) -> Any:
    return np.mean((np.tanh(np.outer(np.linspace(-1.0, 1.0, 5), p["w"]) + p["b"]) @ p["v"]) ** 2)


def after_three_steps(p: Any) -> Any:
    for _ in range(3):
        p = tree_map(lambda x, x_bar: x - 0.1 * x_bar, p, grad(fitted)(p))
    return fitted(p)


def scaled(p: Any, k: Any) -> Any:
    return fitted(tree_map(lambda x: k * x, p))


def of_layers(layer: Any) -> Any:
    twice = tree_map(lambda x: 2.0 * x, layer)
    return np.sum(twice.w**2) * twice.scale


@pytest.mark.parametrize("way", [contextlib.nullcontext, always_dispatch, always_track])
@pytest.mark.parametrize("f, args", [
    (after_three_steps, (PARAMETERS,)), (scaled, (PARAMETERS, 1.5)), (of_layers, (Layer(np.arange(1.0, 3.0)),)),
    (lambda p: np.sum(ravel(p)[0] ** 3), (PARAMETERS,)),
])  # fmt: skip
def test_inside_of_differentiated_code(f: Any, args: tuple[Any, ...], way: Any) -> None:
    with way():
        check_gradient(f, *args)
