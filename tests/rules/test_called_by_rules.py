"""Functions that a rule calls back by `rrule_via_ad`: what they write must not be seen outside of the call."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from microgradpy import MutationError, NoTangent, gradient, jvp, rrule, rrule_via_ad
from microgradpy.compiler import always_dispatch, always_track

WAYS = [nullcontext, always_dispatch, always_track]
TABLE = np.array([1.0, 2.0])
SCALE = 1.0
HELD = SimpleNamespace(v=2.0)
KEPT: list[float] = []


def applied(f: Any, x: Any) -> Any:
    return f(x)


@rrule.register(applied)
def applied_rrule(f, x):
    y, back = rrule_via_ad(f, x)

    def applied_pullback(y_bar):
        _, x_bar = back(y_bar)
        return NoTangent(), NoTangent(), x_bar

    return y, applied_pullback


def writes_a_module_array(x):
    TABLE[0] = 3.0
    return x * x


def assigns_a_module_variable(x):
    global SCALE
    SCALE = 2.0
    return x * x


def writes_an_attribute(x):
    HELD.v = HELD.v + 1.0
    return x * x


def appends(x):
    KEPT.append(2.0)
    return x * x


def calls_what_writes(x):
    return appends(x)


def counts() -> Any:
    count = 0

    def counting(x):
        nonlocal count
        count += 1
        return x * x

    return counting


def writes_its_own(x):
    squares = np.zeros(2)
    squares[0] = x * x
    squares[1] = TABLE[1]
    return squares[0] * squares[1]


WRITERS = [writes_a_module_array, assigns_a_module_variable, writes_an_attribute, appends, calls_what_writes, counts()]


@pytest.fixture(autouse=True)
def restored() -> Any:
    yield
    TABLE[:] = 1.0, 2.0
    HELD.v = 2.0
    KEPT.clear()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("writer", WRITERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("tracks", [False, True], ids=["pure", "writes"])
def test_what_it_writes_outside_is_refused(writer: Any, way: Any, tracks: bool) -> None:
    def pure(x):
        return TABLE[0] * applied(writer, x) * x

    def writing(x):
        made = np.zeros(2)
        made[0] = x
        made[1] = TABLE[0] * applied(writer, made[0]) * HELD.v
        return made[0] * made[1]

    with way(), pytest.raises(MutationError, match="which a rule or a solver calls"):
        gradient(writing if tracks else pure, 1.5)


@pytest.mark.parametrize("writer", WRITERS, ids=lambda f: f.__name__)
def test_it_is_refused_in_forward_mode(writer: Any) -> None:
    with pytest.raises(MutationError, match="which a rule or a solver calls"):
        jvp(lambda x: TABLE[0] * applied(writer, x) * x, (1.5,), (1.0,))


def test_a_written_argument_is_refused() -> None:
    def scaled(x):
        x[0] = 2.0 * x[0]
        return x[0] * x[1]

    with pytest.raises(MutationError, match="writes into a ndarray of outside"):
        gradient(lambda x: applied(scaled, x) * x[0], np.array([1.0, 2.0]))


@pytest.mark.parametrize("way", WAYS)
def test_what_it_writes_into_its_own_is_right(way: Any) -> None:
    context: AbstractContextManager[Any] = way()
    with context:
        assert gradient(lambda x: applied(writes_its_own, x) * x, 1.5) == (2.0 * 3.0 * 1.5**2,)


def test_outside_of_a_differentiated_call_it_may_write() -> None:
    y, back = rrule_via_ad(appends, 1.5)
    assert (y, back(1.0)[1], KEPT) == (2.25, 3.0, [2.0])
