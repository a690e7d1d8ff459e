"""The tangent types and the sum of cotangents."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from microgradpy.errors import CotangentShapeError
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
