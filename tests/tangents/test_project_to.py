"""Bringing a rule's cotangents to the structure of its argument."""

from __future__ import annotations

import gc
import weakref
from typing import Any, NamedTuple

import numpy as np
import pytest

from microgradpy import CotangentShapeError, NoTangent, ProjectTo, Tangent, Thunk, ZeroTangent, not_implemented, thunk, unthunk
from microgradpy.tangents.types import are_equal
from tests.names import name_of


class Pair(NamedTuple):
    a: float
    b: Any


class Point:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


CASES = [
    (2.0, 1.0 + 2.0j, 1.0, float),
    (2, 1.5, 1.5, float),
    (2j, 1.0, 1.0 + 0j, complex),
    (np.float32(2.0), 0.1, np.float32(0.1), np.float32),
    (np.zeros(2, np.float32), np.array([1.0, 2.0]), np.array([1.0, 2.0], np.float32), np.ndarray),
    (np.zeros((1, 2, 1)), np.array([1.0, 2.0]), np.array([[[1.0], [2.0]]]), np.ndarray),
    (np.zeros(2, int), np.array([1.5, 2.0]), np.array([1.5, 2.0]), np.ndarray),
    ([1.0, "a"], [2.0, None], [2.0, None], list),
    (Pair(1.0, [2.0]), (3.0, [1j]), Pair(3.0, [0.0]), Pair),
    ({"a": 1.0, "b": "c"}, {"a": 2.0}, {"a": 2.0, "b": None}, dict),
    (Point(1.0, "a"), Tangent(Point, x=1j), Tangent(Point, x=0.0), Tangent),
]


@pytest.mark.parametrize("x, x_bar, expected, cls", CASES, ids=name_of)
def test_a_cotangent_is_brought_to_the_structure_of_its_value(x: Any, x_bar: Any, expected: Any, cls: type) -> None:
    found = ProjectTo(x)(x_bar)
    assert are_equal(found, expected)
    assert type(found) is cls
    if isinstance(expected, np.ndarray):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)


@pytest.mark.parametrize("x", ["a", True, None, np.array([True]), ("a", None), len], ids=name_of)
def test_what_cannot_be_perturbed_has_no_tangent(x: Any) -> None:
    assert ProjectTo(x)(1.0) is NoTangent()
    assert ProjectTo(x)(ZeroTangent()) is NoTangent()


def test_zeros_thunks_and_what_is_not_implemented_pass() -> None:
    to = ProjectTo(np.float32(1.0))
    assert to(ZeroTangent()) is ZeroTangent()
    assert to(NoTangent()) is NoTangent()
    assert to(None) is NoTangent()
    lazy = to(thunk(lambda: 2.0))
    assert isinstance(lazy, Thunk)
    assert type(unthunk(lazy)) is np.float32
    unknown = not_implemented()
    assert to(unknown) is unknown


def test_other_shapes_are_refused_with_both() -> None:
    with pytest.raises(CotangentShapeError, match=r"\(2, 3\).*\(3, 2\)"):
        ProjectTo(np.zeros((2, 3)))(np.zeros((3, 2)))
    with pytest.raises(CotangentShapeError):
        ProjectTo(Point(1.0, 2.0))(1.0)


def test_the_value_is_not_kept() -> None:
    point = Point(np.zeros(1000), 1.0)
    known, to = weakref.ref(point), ProjectTo(point)
    del point
    gc.collect()
    assert known() is None
    assert to(Tangent(Point, y=2.0)).y == 2.0
