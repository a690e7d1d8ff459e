"""What rules and generated code compute with."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from microgradpy.errors import CotangentShapeError, MissingRuleError
from microgradpy.tangents.arithmetic import (
    add_item,
    conj,
    divide,
    field_cotangent,
    item_cotangent,
    own,
    sign,
    unbroadcast,
    zero_cotangent,
)
from microgradpy.tangents.types import NoTangent, Tangent, are_equal

TABLE = np.arange(6.0).reshape(2, 3)
Pair = namedtuple("Pair", "left right")

UNBROADCAST: list[tuple[Any, Any, Any]] = [
    (2.0, 1.0, 2.0),
    (TABLE, 1.0, 15.0),
    (TABLE, 3, 15.0),
    (TABLE, np.float64(1.0), 15.0),
    (TABLE, np.ones((2, 3)), TABLE),
    (TABLE, np.ones(3), np.array([3.0, 5.0, 7.0])),
    (TABLE, np.ones((2, 1)), np.array([[3.0], [12.0]])),
    (TABLE, np.ones((1, 1)), np.array([[15.0]])),
    (TABLE[None], np.ones((2, 1)), np.array([[3.0], [12.0]])),
    (TABLE, np.array(1.0), np.array(15.0)),
    (2.0, np.ones((2, 1)), np.full((2, 1), 2.0)),
    (np.zeros((0, 3)), np.ones(3), np.zeros(3)),
    (TABLE, [1.0, 2.0, 3.0], np.array([3.0, 5.0, 7.0])),
    (1.0 + 2.0j, 1.0, 1.0),
    (TABLE * 1j, np.ones(3), np.zeros(3)),
    (TABLE * 1j, np.ones(3) * 1j, np.array([3.0j, 5.0j, 7.0j])),
    (TABLE, True, None),
    (TABLE, np.ones(3, bool), None),
    (TABLE, "text", None),
    (TABLE, None, None),
    (None, 1.0, None),
    (NoTangent(), TABLE, None),
]


@pytest.mark.parametrize("d, x, expected", UNBROADCAST, ids=repr)
def test_a_cotangent_is_summed_over_the_axes_its_operand_was_repeated_along(d: Any, x: Any, expected: Any) -> None:
    found = unbroadcast(d, x)
    assert np.shape(found) == np.shape(expected)
    assert are_equal(found, expected)
    assert np.iscomplexobj(found) == np.iscomplexobj(expected)


@pytest.mark.parametrize("d, x", [([1.0, 2.0], [1.0]), (np.ones(2), [1.0]), (np.ones(3), [1.0, 2.0])], ids=repr)
def test_what_may_be_the_cotangent_of_a_concatenation_is_not_summed(d: Any, x: Any) -> None:
    with pytest.raises(CotangentShapeError, match=r"np\.asarray"):
        unbroadcast(d, x)


QUOTIENTS = [
    (1.0, 0.0, math.inf),
    (-1.0, 0.0, -math.inf),
    (1.0, -0.0, -math.inf),
    (3.0, 0, math.inf),
    (0.0, 0.0, math.nan),
    (math.nan, 0.0, math.nan),
    (1, 0, math.inf),
    (3.0, 2.0, 1.5),
    (np.float64(1e300), 1e-300, math.inf),
]


@pytest.mark.parametrize("a, b, expected", QUOTIENTS, ids=repr)
def test_division_neither_raises_nor_warns(a: Any, b: Any, expected: float) -> None:
    np.testing.assert_equal(float(divide(a, b)), expected)
    np.testing.assert_equal(divide(np.array([a]), np.array([b])), np.array([expected]))


def test_the_conjugate_of_what_is_real_is_itself() -> None:
    assert conj(TABLE) is TABLE
    assert conj(1.5) == 1.5
    assert conj(1.0 + 2.0j) == 1.0 - 2.0j
    assert are_equal(conj([1.0j, 2.0]), np.array([-1.0j, 2.0]))


def test_the_sign_of_zero_is_zero_and_that_of_nan_is_nan() -> None:
    assert [sign(x) for x in (2.5, -2.5, 0.0, 3, -3)] == [1.0, -1.0, 0.0, 1, -1]
    assert math.isnan(sign(math.nan))
    assert are_equal(sign(np.array([3.0 + 4.0j, 0.0])), np.array([0.6 + 0.8j, 0.0]))


ZEROS: list[tuple[Any, Any]] = [
    (1.5, 0.0),
    (3, 0.0),
    (1.0j, 0j),
    (np.float32(1.5), np.float32(0.0)),
    (np.int64(3), 0.0),
    (np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)),
    (np.ones(2, int), np.zeros(2)),
    (np.ones(2, bool), None),
    (True, None),
    ("text", None),
    ([1.0], None),
]


@pytest.mark.parametrize("x, expected", ZEROS, ids=repr)
def test_the_zero_cotangent_is_a_number_or_an_array(x: Any, expected: Any) -> None:
    found = zero_cotangent(x)
    assert type(found) is type(expected)
    assert getattr(found, "dtype", None) == getattr(expected, "dtype", None)
    assert np.shape(found) == np.shape(expected)


ITEMS: list[tuple[Any, Any, Any, Any]] = [
    (TABLE[0], 1, 2.0, np.array([0.0, 2.0, 0.0])),
    (TABLE[0], -1, 2.0, np.array([0.0, 0.0, 2.0])),
    (TABLE[0], [0, 0, 2], np.ones(3), np.array([2.0, 0.0, 1.0])),
    (TABLE[0], np.array([[0, 1], [1, 1]]), np.ones((2, 2)), np.array([1.0, 3.0, 0.0])),
    (TABLE[0], TABLE[0] > 0.5, np.array([1.0, 2.0]), np.array([0.0, 1.0, 2.0])),
    (TABLE, (0, [0, 0, 1]), np.ones(3), np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 0.0]])),
    (TABLE, (slice(None), 1), np.array([1.0, 2.0]), np.array([[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]])),
    (TABLE, (Ellipsis, None, 0), np.ones((2, 1)), np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])),
    (np.arange(3), 1, 2.5, np.array([0.0, 2.5, 0.0])),
    (TABLE[0], 1, 2.0 + 1.0j, np.array([0.0, 2.0, 0.0])),
    (TABLE, slice(1, None), [[1.0, None, 2.0]], np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 2.0]])),
    ([1.0, 2.0], -1, 5.0, [None, 5.0]),
    ([1.0, 2.0, 3.0], slice(None, None, -2), [5.0, 6.0], [6.0, None, 5.0]),
    ((1.0, 2.0), 0, 5.0, (5.0, None)),
    ({"a": 1.0, "b": 2.0}, "b", 5.0, {"b": 5.0}),
    ("text", 0, 5.0, None),
    ([1.0, 2.0], 0, None, None),
]


@pytest.mark.parametrize("x, index, d, expected", ITEMS, ids=repr)
def test_the_cotangent_of_an_item_is_zero_elsewhere(x: Any, index: Any, d: Any, expected: Any) -> None:
    found = item_cotangent(x, index, d)
    assert type(found) is type(expected)
    assert are_equal(found, expected)


@pytest.mark.parametrize("x, index, d, expected", ITEMS, ids=repr)
def test_adding_the_cotangent_of_an_item_twice_doubles_it(x: Any, index: Any, d: Any, expected: Any) -> None:
    once = own(item_cotangent(x, index, d))
    twice = add_item(once, x, index, d)
    total = expected if expected is None else np.multiply(2.0, x_dense(expected))
    assert are_equal(None if twice is None else x_dense(twice), total)


def x_dense(x_bar: Any) -> Any:
    """The numbers of a cotangent, zeros filled in."""
    values = list(x_bar.values()) if isinstance(x_bar, dict) else x_bar
    return np.asarray(values) if isinstance(values, np.ndarray) else np.array([v or 0.0 for v in values])


def test_adding_an_item_writes_into_the_array_it_is_given() -> None:
    x_bar = np.zeros(3)
    assert add_item(x_bar, TABLE[0], 1, 2.0) is x_bar
    assert are_equal(x_bar, np.array([0.0, 2.0, 0.0]))


def test_an_array_stands_for_the_cotangents_of_a_list() -> None:
    assert are_equal(add_item(np.ones(2), [1.0, 2.0], 1, 3.0), [1.0, 4.0])


def test_an_item_of_an_unknown_container_is_refused() -> None:
    with pytest.raises(MissingRuleError, match="memoryview"):
        item_cotangent(memoryview(b"ab"), 0, 1.0)


def test_what_is_owned_can_be_written_without_changing_the_original() -> None:
    for original in (TABLE, [1.0], {"a": 1.0}):
        assert own(original) is not original
        assert are_equal(own(original), original)
    assert own(np.broadcast_to(1.0, (3,))).flags.writeable
    assert own(1.5) == 1.5
    assert own(None) is None


def test_the_cotangent_of_a_field_is_a_tangent_and_that_of_a_namedtuple_a_tuple() -> None:
    assert field_cotangent(Pair(1.0, 2.0), "right", 5.0) == (None, 5.0)
    assert field_cotangent(slice(1), "start", 5.0) == Tangent(slice, start=5.0)
    assert field_cotangent(slice(1), "start", None) is None
