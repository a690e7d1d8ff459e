"""What the user gets for an argument, and what a seed has to look like."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import fractions
import functools
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy.errors import CotangentShapeError, DifferentiationError
from microgradpy.tangents.projection import check_seed, fields_of, project, zeros_for
from microgradpy.tangents.types import NoTangent, Tangent, ZeroTangent, are_equal
from tests.names import name_of

Pair = namedtuple("Pair", "left right")


@dataclasses.dataclass
class Dense:
    weight: Any
    name: str = "dense"


@dataclasses.dataclass(slots=True)
class Slotted:
    scale: float
    shift: float


class Looped:
    factor = 2.0

    def __init__(self) -> None:
        self.itself = self
        self.value = 1.5

    @property
    def twice(self) -> float:
        return 2 * self.value


def closure(a: float, b: float) -> Callable[[float], float]:
    def line(x: float) -> float:
        return a * x + b

    return line


ONES = np.ones(2)
PROJECTIONS: list[tuple[Any, Any, Any]] = [
    (1.0, np.float64(2.0), 2.0),
    (1.0, np.array(2.0), 2.0),
    (1.0, np.array([2.0]), 2.0),
    (1.0, 2.0 + 3.0j, 2.0),
    (3, 2.5, 2.5),
    (1.0j, 2.0, 2.0 + 0.0j),
    (np.float32(1.0), 2.5, np.float32(2.5)),
    (np.float64(1.0), 2.5, np.float64(2.5)),
    (np.int32(1), 2.5, np.float64(2.5)),
    (np.complex64(1j), 2.5, np.complex64(2.5)),
    (np.array(1.0), 2.5, np.array(2.5)),
    (np.ones(2, np.float32), ONES, np.ones(2, np.float32)),
    (np.ones(2, int), ONES, ONES),
    (ONES, 2.0, 2 * ONES),
    (ONES, ONES * (1 + 1j), ONES),
    (ONES, [None, 3.0], np.array([0.0, 3.0])),
    ([1.0, "a", ONES], [2.0, None, ONES], [2.0, None, ONES]),
    ([1.0, 2.0], ONES, [1.0, 1.0]),
    ((1.0, 2.0), [None, 3.0], (None, 3.0)),
    (Pair(1.0, 2.0), (None, 3.0), Pair(None, 3.0)),
    ({"a": 1.0, "b": 2}, {"b": 3.0}, {"a": None, "b": 3.0}),
    (Dense(ONES), Tangent(Dense, weight=ONES), Tangent(Dense, weight=ONES, name=None)),
    (Slotted(1.0, 2.0), Tangent(Slotted, shift=3.0), Tangent(Slotted, scale=None, shift=3.0)),
    (Looped(), Tangent(Looped, value=1.0, factor=5.0), Tangent(Looped, itself=None, value=1.0)),
    (True, 1.0, None),
    (np.ones(2, bool), ONES, None),
    ("text", 1.0, None),
    (None, 1.0, None),
    (1.0, None, None),
    (1.0, NoTangent(), None),
    (ONES, ZeroTangent(), None),
    (fractions.Fraction(1, 2), None, None),
]


def assert_same_structure(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
    elif isinstance(a, list | tuple):
        for left, right in zip(a, b, strict=True):
            assert_same_structure(left, right)
    elif isinstance(a, dict | Tangent):
        assert list(a) == list(b)
        for key in a:
            assert_same_structure(a[key], b[key])


@pytest.mark.parametrize("x, x_bar, expected", PROJECTIONS, ids=name_of)
def test_a_gradient_has_the_structure_of_its_argument(x: Any, x_bar: Any, expected: Any) -> None:
    found = project(x, x_bar)
    assert_same_structure(found, expected)
    assert are_equal(found, expected)


def test_a_gradient_shares_no_memory_with_its_cotangent() -> None:
    x_bar = np.ones((2, 2))
    assert not np.shares_memory(project(np.zeros((2, 2)), x_bar), x_bar)
    left, right = project([x_bar, x_bar], [x_bar, x_bar])
    assert not np.shares_memory(left, right)
    assert project(np.zeros(3), np.broadcast_to(1.0, (3,))).flags.writeable


REFUSED = [
    fractions.Fraction(1, 2),
    decimal.Decimal(1),
    datetime.date(2020, 1, 1),
    np.array([1.0, None], object),
    np.zeros(2, [("a", float)]),
    np.array(["2020-01-01"], "datetime64[D]"),
]


@pytest.mark.parametrize("x", REFUSED, ids=name_of)
def test_numbers_that_cannot_be_differentiated_are_refused_where_they_are_used(x: Any) -> None:
    assert project(x, None) is None
    with pytest.raises(DifferentiationError, match="Convert it to float"):
        project(x, 1.0)


@pytest.mark.parametrize(
    "x, x_bar",
    [(ONES, np.ones(3)), (1.0, ONES), ([1.0], [1.0, 2.0]), ({"a": 1.0}, {"b": 1.0}), (Dense(1.0), 1.0), (1.0, [1.0])],
    ids=name_of,
)
def test_a_cotangent_that_does_not_fit_is_an_error(x: Any, x_bar: Any) -> None:
    with pytest.raises(CotangentShapeError):
        project(x, x_bar)


def test_a_computed_attribute_is_no_field() -> None:
    with pytest.raises(DifferentiationError, match="twice"):
        project(Looped(), Tangent(Looped, twice=1.0))


def test_the_fields_of_functions_methods_and_partials() -> None:
    looped = Looped()
    assert fields_of(closure(2.0, 3.5)) == {"a": 2.0, "b": 3.5}
    assert fields_of(len) == {}
    assert fields_of([].append) == {"__self__": []}
    assert fields_of(functools.partial(max, 1.0)) == {"func": max, "args": (1.0,), "keywords": {}}
    assert fields_of(looped) == {"itself": looped, "value": 1.5}


ZEROS: list[tuple[Any, Any]] = [
    (1.5, 0.0),
    (3, 0.0),
    (1j, 0j),
    (np.float32(1.0), np.float32(0.0)),
    (np.ones(2, int), np.zeros(2)),
    ([1.0, "a", (2, ONES)], [0.0, None, (0.0, np.zeros(2))]),
    ({"a": 1.0}, {"a": 0.0}),
    (Pair(1.0, True), Pair(0.0, None)),
    (Dense(ONES), Tangent(Dense, weight=np.zeros(2), name=None)),
    (closure(2.0, 3.5), Tangent(type(closure(2.0, 3.5)), a=0.0, b=0.0)),
    (Looped(), Tangent(Looped, itself=None, value=0.0)),
    (len, None),
    ("text", None),
]


@pytest.mark.parametrize("x, expected", ZEROS, ids=name_of)
def test_zeros_have_the_structure_of_the_argument(x: Any, expected: Any) -> None:
    found = zeros_for(x)
    assert_same_structure(found, expected)
    assert are_equal(found, expected)


SEEDS: list[tuple[Any, Any, Any]] = [
    (2.0, 1, 1.0),
    (3, 1, 1.0),
    (2.0, np.array(1.0), 1.0),
    (1j, 2.0, 2.0 + 0.0j),
    (np.float32(2.0), 1.0, np.float32(1.0)),
    (np.array(2.0), 1.0, np.array(1.0)),
    (np.ones(2, np.float32), [1, 2], np.array([1.0, 2.0], np.float32)),
    (np.ones(2, int), [1, 2], np.array([1.0, 2.0])),
    ((1.0, [ONES]), (None, [ONES]), (None, [ONES])),
    (Pair(1.0, 2.0), (1, None), (1.0, None)),
    ({"a": 1.0, "b": 2.0}, {"a": 1}, {"a": 1.0}),
    (("text", 1.0), (None, 1), (None, 1.0)),
    (Dense(1.5), Tangent(Dense, weight=1), Tangent(Dense, weight=1.0)),
    (ONES, None, None),
]


@pytest.mark.parametrize("y, dy, expected", SEEDS, ids=name_of)
def test_a_seed_is_cast_to_the_type_of_the_value(y: Any, dy: Any, expected: Any) -> None:
    found = check_seed(y, dy)
    assert_same_structure(found, expected)
    assert are_equal(found, expected)


WRONG_SEEDS: list[tuple[Any, Any, str]] = [
    (ONES, 1.0, r"a number \(float\).* an array of shape \(2,\)"),
    (ONES, np.ones(3), r"shape \(3,\).*shape \(2,\)"),
    (1.0, ONES, r"shape \(2,\).*a number \(float\)"),
    ((1.0, 2.0), (1.0,), "a tuple of 1 items.*a tuple of 2 items"),
    ((1.0, 2.0), [1.0, 1.0], "a list of 2 items.*a tuple of 2 items"),
    ({"a": 1.0}, {"b": 1.0}, r"keys \['b'\].*keys \['a'\]"),
    ([1.0, ONES], [1.0, 1.0], r"the value\[1\]"),
    ({"a": ONES}, {"a": 1.0}, r"the value\['a'\]"),
    (Dense(ONES), Tangent(Dense, weight=1.0), r"the value\.weight"),
    (Dense(1.0), 1.0, "Tangent"),
    (1.0, 1j, "real"),
    (True, 1.0, "no derivative"),
    ("text", 1.0, "no derivative"),
    (1.0, "text", "of type str"),
    (ONES, [[1.0], [1.0, 2.0]], "a list of 2 items"),
]


@pytest.mark.parametrize("y, dy, words", WRONG_SEEDS, ids=name_of)
def test_a_wrong_seed_is_an_error_that_names_both_structures(y: Any, dy: Any, words: str) -> None:
    with pytest.raises(CotangentShapeError, match=words):
        check_seed(y, dy)


def test_a_value_that_cannot_be_differentiated_takes_no_seed() -> None:
    with pytest.raises(DifferentiationError, match="Convert it to float"):
        check_seed(fractions.Fraction(1, 2), 1.0)
