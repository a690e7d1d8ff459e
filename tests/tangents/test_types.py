"""The tangent types and the sum of cotangents."""

from __future__ import annotations

import copy
import pickle
from collections import namedtuple
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from microgradpy import grad
from microgradpy.errors import CotangentShapeError, MissingRuleError
from microgradpy.tangents.types import NoTangent, Tangent, ZeroTangent, accumulate, are_equal, is_structural_zero


class Point:
    pass


class Line:
    pass


ARRAY = np.array([1.0, 2.0])
ZEROS = (None, NoTangent(), ZeroTangent())
SUMS: list[tuple[Any, Any, Any]] = [
    (1.0, 2.5, 3.5),
    (ARRAY, ARRAY, 2 * ARRAY),
    ((1.0, None), (2.0, 3.0), (3.0, 3.0)),
    ([1.0, None], [None, ARRAY], [1.0, ARRAY]),
    (ARRAY, [None, 5.0], [1.0, 7.0]),
    ([None, 5.0], ARRAY, [1.0, 7.0]),
    ((None, 1.0), [2.0, 3.0], (2.0, 4.0)),
    ({"a": 1.0}, {"a": 2.0, "b": 3.0}, {"a": 3.0, "b": 3.0}),
    (Tangent(Point, x=1.0), Tangent(Point, x=2.0, y=ARRAY), Tangent(Point, x=3.0, y=ARRAY)),
    ((1.0, {"a": [1.0]}), (2.0, {"a": [2.0]}), (3.0, {"a": [3.0]})),
]
NO_SUMS: list[tuple[Any, Any]] = [
    (ARRAY, np.ones(3)),
    (np.ones((2, 1)), ARRAY),
    ([1.0], [1.0, 2.0]),
    ((1.0, 2.0), 1.0),
    ({"a": 1.0}, 1.0),
    (Tangent(Point, x=1.0), Tangent(Line, x=1.0)),
    (np.array(1.0), [1.0]),
]


@pytest.mark.parametrize("zero", [NoTangent, ZeroTangent])
def test_a_structural_zero_is_a_singleton(zero: type) -> None:
    assert zero() is zero()
    assert pickle.loads(pickle.dumps(zero())) is zero()
    assert copy.deepcopy(zero()) is zero()
    assert is_structural_zero(zero())
    assert 3.0 * zero() is zero()
    assert 3.0 + zero() == 3.0
    array = np.array([1.0, 2.0])
    assert array + zero() is array
    assert array * zero() is zero()
    assert zero()["key"] is zero().field is zero()
    assert float(zero()) == complex(zero()) == 0.0
    assert 3.0 - zero() == 3.0
    assert zero() - 3.0 == -3.0
    with pytest.raises(TypeError):
        list(zero())


def test_no_tangent_wins_over_zero_tangent() -> None:
    assert NoTangent() + ZeroTangent() is NoTangent()
    assert ZeroTangent() + NoTangent() is NoTangent()
    assert ZeroTangent() * NoTangent() is ZeroTangent()
    assert NoTangent() * ZeroTangent() is ZeroTangent()


@pytest.mark.parametrize("zero", ZEROS, ids=repr)
@pytest.mark.parametrize(
    "x_bar", [1.0, ARRAY, [1.0], {"a": 1.0}, Tangent(Point, x=1.0)], ids=lambda x: type(x).__name__
)
def test_structural_zeros_are_neutral(zero: Any, x_bar: Any) -> None:
    assert accumulate(zero, x_bar) is x_bar
    assert accumulate(x_bar, zero) is x_bar


@pytest.mark.parametrize("a, b, expected", SUMS, ids=repr)
def test_cotangents_are_added_element_by_element_and_not_changed(a: Any, b: Any, expected: Any) -> None:
    before = pickle.dumps((a, b))
    total = accumulate(a, b)
    assert are_equal(total, expected)
    assert type(total) is type(expected)
    assert pickle.dumps((a, b)) == before


@pytest.mark.parametrize("a, b", NO_SUMS, ids=repr)
def test_cotangents_of_different_structures_are_not_added(a: Any, b: Any) -> None:
    with pytest.raises(CotangentShapeError):
        accumulate(a, b)
    with pytest.raises(CotangentShapeError):
        accumulate(b, a)


def test_a_tangent_is_an_immutable_mapping_with_attributes() -> None:
    tangent = Tangent(Point, {"x": 1.0}, y=ARRAY)
    assert tangent.primal_type is Point
    assert tangent["x"] == tangent.x == 1.0
    assert list(tangent) == ["x", "y"]
    assert dict(tangent)["y"] is ARRAY
    with pytest.raises(AttributeError, match="immutable"):
        tangent.x = 2.0
    with pytest.raises(AttributeError, match="immutable"):
        del tangent.x
    with pytest.raises(AttributeError, match="Point has no field 'z'"):
        _ = tangent.z
    assert repr(Tangent(Point, x=1.0)) == "Tangent(Point, x=1.0)"
    assert pickle.loads(pickle.dumps(tangent)) == tangent == copy.deepcopy(tangent)


def test_missing_fields_of_a_tangent_are_zero() -> None:
    assert Tangent(Point, x=1.0) == Tangent(Point, x=1.0, y=None, z=0.0)
    assert Tangent(Point) == Tangent(Point, y=np.zeros(3), z=[0.0, None])
    assert Tangent(Point, x=1.0) != Tangent(Point, x=1.0, y=2.0)
    assert Tangent(Point, x=1.0) != Tangent(Line, x=1.0)
    assert Tangent(Point, x=1.0) != {"x": 1.0}


def test_tangents_are_added_with_plus() -> None:
    assert Tangent(Point, x=1.0) + Tangent(Point, y=2.0) == Tangent(Point, x=1.0, y=2.0)
    assert sum([Tangent(Point, x=1.0), Tangent(Point, x=2.0)], ZeroTangent()) == Tangent(Point, x=3.0)
    with pytest.raises(TypeError):
        Tangent(Point, x=1.0) + 1.0


Pair = namedtuple("Pair", "left right")


@dataclass(frozen=True)
class Layer:
    """Not to be written into, and not to be made of fewer than two."""

    weight: Any
    bias: Any
    name: str = "dense"


NESTED = Tangent(Point, x=2.0, y=[ARRAY, None], z={"a": Pair(1.0, NoTangent())}, line=Tangent(Line, n=4.0), label=None)
TWICE = Tangent(Point, x=4.0, y=[2 * ARRAY, None], z={"a": Pair(2.0, NoTangent())}, line=Tangent(Line, n=8.0), label=None)
TWOS = (2, 2.0, np.float64(2.0), np.float32(2.0), np.int64(2), np.array(2.0), Fraction(2), 2 + 0j)
ARITHMETIC: list[tuple[str, Any, Any]] = [
    ("-t", -NESTED, NESTED * -1.0),
    ("+t", +NESTED, NESTED),
    ("t - t", TWICE - NESTED, NESTED),
    ("t - zero", NESTED - ZeroTangent(), NESTED),
    ("zero - t", NoTangent() - NESTED, -NESTED),
    ("t * zero", NESTED * ZeroTangent(), ZeroTangent()),
    ("zero * t", NoTangent() * NESTED, NoTangent()),
    ("missing", Tangent(Point, x=1.0) - Tangent(Point, y=2.0), Tangent(Point, x=1.0, y=-2.0)),
    ("sum", sum([NESTED, NESTED]), TWICE),
    ("mean", sum([NESTED, TWICE, -NESTED]) / 2, NESTED),
]


@pytest.mark.parametrize("two", TWOS, ids=lambda two: type(two).__name__)
def test_a_tangent_is_multiplied_and_divided_by_numbers_leaf_by_leaf(two: Any) -> None:
    for product in (two * NESTED, NESTED * two, NESTED / (1 / two)):
        assert type(product) is Tangent
        assert product == TWICE
        assert type(product.z["a"]) is Pair
        assert product.z["a"].right is NoTangent()
        assert product.label is None


@pytest.mark.parametrize("found, expected", [row[1:] for row in ARITHMETIC], ids=[row[0] for row in ARITHMETIC])
def test_tangents_are_vectors(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    assert are_equal(found, expected)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda t: t * t,
        lambda t: t / t,
        lambda t: 1.0 / t,
        lambda t: t * ARRAY,
        lambda t: ARRAY * t,
        lambda t: t * [2.0],
        lambda t: t * "2",
        lambda t: t @ ARRAY,
        lambda t: ARRAY @ t,
        lambda t: t**2,
        lambda t: t % 2.0,
    ],
)
def test_arithmetic_without_a_meaning_is_refused_with_what_to_do(wrong: Any) -> None:
    with pytest.raises(MissingRuleError, match=r"(?s)the Tangent of a Point takes part in arithmetic.*tree_map"):
        wrong(NESTED)


@pytest.mark.parametrize("wrong", [lambda t: t + 1.0, lambda t: 1.0 - t, lambda t: ARRAY + t, lambda t: t - "a", np.sin])
def test_what_is_no_tangent_is_not_added(wrong: Any) -> None:
    with pytest.raises(TypeError):
        wrong(NESTED)


def test_precision_is_that_of_numpy() -> None:
    single = Tangent(Point, x=np.float32(1.0), y=ARRAY.astype(np.float32))
    assert (0.1 * single).y.dtype == (0.1 * single).x.dtype == np.float32
    assert (np.float64(0.1) * single).y.dtype == np.float64


def test_an_object_moves_along_a_tangent() -> None:
    first = Layer(np.ones((2, 2), np.float32), [0.5, 1])
    model = Layer({"first": first, "scale": 3.0, "size": 4}, (first.weight, None))
    step = Tangent(Layer, weight={"first": Tangent(Layer, weight=np.ones((2, 2)), bias=[1.0, None]), "scale": np.float64(2.0)})
    moved = model - 0.5 * step
    assert type(moved) is type(moved.weight["first"]) is Layer
    assert moved.weight["first"].weight.dtype == np.float32
    assert moved.weight["first"].weight.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert moved.weight["first"].bias == [0.0, 1]
    assert (moved.weight["scale"], type(moved.weight["scale"]), moved.weight["size"]) == (2.0, float, 4)
    assert moved.bias is model.bias
    assert moved.name == "dense"
    assert (model.weight["scale"], first.weight.tolist(), first.bias) == (3.0, [[1.0, 1.0], [1.0, 1.0]], [0.5, 1])
    assert (moved + 0.5 * step).weight["scale"] == 3.0
    with pytest.raises(CotangentShapeError, match=r"Layer\.weight has the shape"):
        first + Tangent(Layer, weight=np.ones(2))
    with pytest.raises(CotangentShapeError, match="Tangent of a Point"):
        model + Tangent(Layer, weight={"first": Tangent(Point)})
    for wrong in (lambda: model + Tangent(Point), lambda: grad + Tangent(type(grad))):
        with pytest.raises(TypeError):
            wrong()


def test_gradient_descent_on_an_object_is_written_as_one_writes_it() -> None:
    def loss(layer: Layer, x: Any) -> Any:
        return np.sum((x @ layer.weight + layer.bias) ** 2)

    layer, x = Layer(np.array([1.0, -2.0]), 0.5), np.array([[1.0, 0.5], [0.3, -0.2]])
    start = loss(layer, x)
    for _ in range(50):
        layer = layer - np.float64(0.1) * grad(loss)(layer, x)
    assert loss(layer, x) < 1e-3 * start
