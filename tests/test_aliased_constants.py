"""One list, object or array under two names, neither of which is differentiated, and which is written into: what is written by
one name is read by the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import MutationError, grad
from tests.ways import ALL


class Box:
    def __init__(self) -> None:
        self.x: Any = 1.0
        self.items = [1.0, 2.0]


def reads_the_other(k: float, a: Any, b: Any) -> Any:
    a.append(k)
    return sum(b) * k


def reads_the_first(k: float, a: Any, b: Any) -> Any:
    b.append(k)
    return sum(a) * k


def both_append(k: float, a: Any, b: Any) -> Any:
    b.append(k)
    a.append(k * k)
    return sum(a) * k + b[-1]


def items(k: float, a: Any, b: Any) -> Any:
    b[0] = k
    return a[0] * k + b[0]


def fields(k: float, a: Any, b: Any) -> Any:
    b.x = k
    return a.x * k


def lists_in_fields(k: float, a: Any, b: Any) -> Any:
    b.items.append(k)
    return sum(a.items) * k


def replaced_lists(k: float, a: Any, b: Any) -> Any:
    b.items = [k]
    a.items.append(k * k)
    return sum(b.items) * k


def in_a_loop(k: float, a: Any, b: Any) -> Any:
    for _ in range(3):
        a.x = b.x * k
        b.x = a.x + k
    return a.x


def by_a_view(k: float, a: Any, b: Any) -> Any:
    a[0] = k
    return b[0] * k


def captured(held: Any) -> Callable[[float, Any], Any]:
    def function(k: float, a: Any) -> Any:
        a[0] = k
        return held[0] * k

    return function


MAKERS: dict[Callable[..., Any], Callable[[], Any]] = {
    **dict.fromkeys((reads_the_other, reads_the_first, both_append, items), lambda: [1.0, 2.0]),
    **dict.fromkeys((fields, lists_in_fields, replaced_lists, in_a_loop), Box),
}


def difference(function: Callable[[float], Any]) -> float:
    return float(function(1.5 + 1e-6) - function(1.5 - 1e-6)) / 2e-6


@pytest.mark.parametrize("way", ALL)
@pytest.mark.parametrize("function", MAKERS, ids=lambda function: function.__name__)
def test_one_thing_as_two_arguments(function: Callable[..., Any], way: str) -> None:
    make = MAKERS[function]

    def of_one(k: float) -> Any:
        held = make()
        return function(k, held, held)

    ask = grad(function)
    with ALL[way]():
        for _ in range(2):  # with other arguments in between
            held = make()
            assert ask(1.5, held, held) == pytest.approx(difference(of_one))
            assert ask(1.5, make(), make()) == pytest.approx(difference(lambda k: function(k, make(), make())))


@pytest.mark.parametrize("way", ALL)
def test_one_thing_as_an_argument_and_captured(way: str) -> None:
    with ALL[way]():
        held = [1.0, 2.0]
        assert grad(captured(held))(1.5, held) == pytest.approx(3.0)
        assert grad(captured([1.0, 2.0]))(1.5, held) == pytest.approx(1.0)


@pytest.mark.parametrize("way", ALL)
def test_arrays_with_memory_in_common_are_refused(way: str) -> None:
    with ALL[way]():
        array = np.ones(3)
        for other in (array, array[:2], array[::-1][1:]):
            with pytest.raises(MutationError, match="share memory"):
                grad(by_a_view)(1.5, array, other)
        assert grad(by_a_view)(1.5, np.ones(3), np.ones(3)) == pytest.approx(1.0)
