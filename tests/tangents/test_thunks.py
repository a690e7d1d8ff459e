"""Cotangents that are computed when they are used, and those that nobody has worked out."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import pytest

from microgradpy import (
    InplaceableThunk,
    MissingRuleError,
    MutationError,
    NoTangent,
    NotImplementedTangent,
    Tangent,
    Thunk,
    ZeroTangent,
    accumulate,
    extern,
    not_implemented,
    thunk,
    unthunk,
)
from microgradpy.tangents.thunks import accumulate_in_place, computed


class Point:
    pass


def never() -> NoReturn:
    raise AssertionError("a thunk was computed that nobody needs")


ARRAY = np.array([1.0, 2.0])
ZEROS = (NoTangent(), ZeroTangent())


def test_a_thunk_is_computed_anew_each_time_it_is_asked() -> None:
    made: list[int] = []

    def compute() -> float:
        made.append(1)
        return 2.0

    lazy = thunk(compute)
    assert isinstance(lazy, Thunk)
    assert not made
    assert unthunk(lazy) == 2.0
    assert extern(lazy) == 2.0
    assert len(made) == 2
    assert unthunk(3.0) == 3.0
    assert isinstance(unthunk(thunk(lambda: lazy)), Thunk)  # one layer


def test_calculating_with_a_thunk_computes_it() -> None:
    lazy = thunk(lambda: ARRAY)
    for result in (lazy + ARRAY, ARRAY + lazy, lazy * 2.0, 2.0 * lazy, ARRAY * 2.0 + lazy * 0.0, 
        3.0 * lazy - lazy, 4.0 * ARRAY - 2 * lazy):
        np.testing.assert_array_equal(result, 2.0 * ARRAY)
    assert lazy @ ARRAY == ARRAY @ lazy == 5.0
    assert lazy[1] == 2.0
    assert np.sum(lazy) == 3.0
    assert float(thunk(lambda: 2)) == 2.0
    np.testing.assert_array_equal(lazy / 2.0, ARRAY / 2.0)


@pytest.mark.parametrize("zero", ZEROS, ids=repr)
def test_zero_never_computes_a_thunk(zero: Any) -> None:
    lazy = thunk(never)
    assert zero * lazy is zero
    assert lazy * zero is zero
    assert zero + lazy is lazy
    assert lazy + zero is lazy
    assert lazy - zero is lazy
    assert accumulate(zero, lazy) is lazy


def test_writing_into_a_thunk_is_refused() -> None:
    with pytest.raises(MutationError, match="thunk"):
        thunk(lambda: ARRAY)[0] = 1.0


def test_cotangents_are_added_whatever_they_are_thunks_of() -> None:
    lazy = thunk(lambda: Tangent(Point, x=1.0))
    assert accumulate(lazy, Tangent(Point, x=2.0)) == Tangent(Point, x=3.0)
    assert accumulate(lazy, lazy) == Tangent(Point, x=2.0)
    assert accumulate([1.0, thunk(lambda: 2.0)], [None, 3.0]) == [1.0, 5.0]
    assert computed({"a": (thunk(lambda: thunk(lambda: 1.0)), None)}) == {"a": (1.0, None)}


def test_a_sum_in_place_changes_arrays_of_floats_only() -> None:
    total = np.zeros(2)
    added = InplaceableThunk(lambda x_bar: np.add(x_bar, ARRAY, out=x_bar), never)
    assert accumulate_in_place(total, added) is total
    assert accumulate_in_place(total, thunk(lambda: ARRAY)) is total
    assert accumulate_in_place(total, None) is total
    np.testing.assert_array_equal(total, 2.0 * ARRAY)
    whole = np.zeros(2, int)
    np.testing.assert_array_equal(accumulate_in_place(whole, ARRAY), ARRAY)
    np.testing.assert_array_equal(whole, 0)
    np.testing.assert_array_equal(accumulate_in_place(ARRAY, 1j * ARRAY), (1 + 1j) * ARRAY)
    assert accumulate_in_place(None, InplaceableThunk(never, lambda: 2.0)) == 2.0  # type: ignore[arg-type]
    with pytest.raises(MissingRuleError, match="returned something else"):
        accumulate_in_place(total, InplaceableThunk(lambda x_bar: x_bar + 1.0, never))


def test_what_is_not_implemented_is_refused_when_it_is_used() -> None:
    unknown = not_implemented("the order is a number")
    assert isinstance(unknown, NotImplementedTangent)
    for other in (1.0, ARRAY, ZeroTangent(), Tangent(Point, x=1.0), [1.0]):
        assert accumulate(unknown, other) is unknown
        assert accumulate(other, unknown) is unknown
    assert ARRAY + unknown is unknown
    assert unknown * ZeroTangent() is ZeroTangent()
    assert NoTangent() * unknown is NoTangent()
    uses = (lambda: unknown * 2.0, lambda: ARRAY * unknown, lambda: float(unknown), lambda: unknown[0], lambda: ARRAY @ unknown)
    for used in uses:
        with pytest.raises(MissingRuleError, match=r"the order is a number.*test_what_is_not_implemented"):
            used()  # type: ignore[no-untyped-call]
