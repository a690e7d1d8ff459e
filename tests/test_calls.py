"""Calls as people write them: of other modules, of constants, with parameters that take any number of arguments, of static
methods; found right whatever way they take, and compiled where it is known what they call."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import code_primal, compiler, grad, gradient, jvp
from tests import module_of_a_user
from tests.module_of_a_user import CURVE, Curve

FACTORS = {"a": 0.5, "b": 1.5}


def sloped(n: int) -> float:
    total = 0.0
    for k in range(n):
        total += 1.0 / (k + 1)
    return total


def pair(n: int) -> tuple[float, float]:
    return n * 0.5, n + 1.0


def table(n: int) -> Any:
    return np.linspace(0.0, 1.0, n)


def sometimes(n: int) -> Any:
    return np.ones(2) if n > 2 else 1.0


def total_of(*xs: Any) -> Any:
    return sum(xs)


def weighted(first: Any, *rest: Any, by: float = 1.0, **more: Any) -> Any:
    result = first * by
    for k, each in enumerate(rest):
        result += each * (k + 1.0)
    return result * more.get("factor", 2.0)


def handed_on(*args: Any, **kwargs: Any) -> Any:
    return weighted(*args, **kwargs)


def of_another_module(x: float) -> float:
    return module_of_a_user.fall(x, 20)


def of_constants(x: float) -> float:
    s, v = 0.0, 0.0
    for k in range(4):
        v += sloped(k)
        s += v * x
    return s


def of_pairs(x: float) -> float:
    s = 0.0
    for k in range(4):
        a, b = pair(k)
        s += a * x + b
    return s * x


def of_tables(x: float) -> float:
    s = np.zeros(3)
    for _ in range(3):
        s = s + table(3) * x
    return np.sum(s * x)


def of_several_kinds(x: float) -> float:
    s: Any = 0.0
    for k in range(5):
        s = s + sometimes(k) * x
    return np.sum(s * x)


def in_place_on_several_kinds(x: float) -> float:
    s: Any = sometimes(3)
    t = s
    s += sometimes(1)
    return np.sum(t) * x * x


def variadic(x: float) -> float:
    s = 0.0
    for k in range(3):
        s += total_of(x, x * k, 2.0) * total_of()
        s += weighted(x, 2.0 * x, x * x, by=3.0, factor=x, other=1.0) + handed_on(x, x, by=x)
    return s


def variadic_inside(x: float) -> float:
    def add(*xs: float, times: float = 1.0) -> float:
        return sum(xs) * times * x

    return add(x, x * x) + add(1.0) + add(x, times=x)


def too_many(x: float) -> float:
    try:
        return sloped(1, 2) * x  # type: ignore[call-arg]
    except TypeError:
        return x * x


def given_twice(x: float) -> float:
    try:
        return weighted(x, first=x)  # type: ignore[misc]
    except TypeError:
        return x**3


def static(x: float) -> float:
    s = 0.0
    for k in range(3):
        s += Curve.wave(x + k) + module_of_a_user.Curve.wave(x) + Curve.scaled(x)
    return s


def unbound(x: float) -> float:
    return Curve.at(CURVE, x) + module_of_a_user.CURVE.at(x) * Curve.scale


def objects_of_another_module(x: float) -> float:
    s = 0.0
    for k in range(3):
        s += module_of_a_user.CURVES["second"].at(x + k)
    return s


def repeated_text(x: float) -> float:
    totals: dict[str, float] = {}
    for name in "ab" * 3:
        totals[name] = totals.get(name, 0.0) + FACTORS[name] * x
    return totals["a"] * totals["b"]


TERMS = [math.sin, lambda x: x * x, np.exp]
NAMED = {"sin": math.sin, "square": lambda x: x * x}


def of_a_list(x: float) -> float:
    s = 0.0
    for term in TERMS:
        s += term(x)  # type: ignore[no-untyped-call]
    return s


def by_name(x: float) -> float:
    s = 0.0
    for name in ("sin", "square", "sin"):
        s += NAMED[name](x)  # type: ignore[no-untyped-call]
    return s


def add_to(a: Any, b: Any) -> Any:
    a += b
    return a


def fill(a: Any, v: Any) -> Any:
    a[0] = v
    return a


HELD = {"add": add_to}
FILLING = [fill]


def by_name_and_from_a_dict(x: float) -> Any:
    """By its name the function gets numbers and writes nothing; from the dict it gets an array."""
    s, array = add_to(x, 1.0), np.array([x, x])
    other = HELD["add"](array, x)
    return s * np.sum(array) + np.sum(other)


def by_name_and_as_a_value(x: float) -> Any:
    s, array = add_to(x, 1.0), x * np.ones(2)
    function = [add_to][0]
    function(array, x)
    return s * np.sum(array)


def by_name_and_from_a_list(x: float) -> Any:
    own, other = [0.0], [1.0]
    fill(own, x)
    FILLING[0](other, x * x)
    return own[0] * other[0]


def given_to_another(x: float) -> Any:
    def twice(function: Any, value: Any) -> Any:
        return function(function(value, x), x)

    return add_to(x, 2.0) * np.sum(twice(add_to, x * np.ones(3)))


class Count:
    """Writes when it is asked for its length."""

    def __init__(self, box: list[Any]) -> None:
        self.box = box

    def __len__(self) -> int:
        self.box[0] = self.box[0] * 2.0
        return 1

    def __iter__(self) -> Any:
        yield 1.0


def asked_for_its_length(x: float) -> Any:
    box = [x]
    items = list(Count(box))
    return box[0] * x + len(items)


def star_call_that_writes(x: float) -> Any:
    array = np.array([1.5, 2.5])
    y = x * array
    np.floor(*[array, array])
    return np.sum(y * array)


def of_known_items(x: float) -> Any:
    shape = (2, 3, 1) if x > 0 else (3, 2, 1)
    y = np.linspace(x, 2.0, 6).reshape(*shape).transpose(*(1, 0, 2))
    return np.sum(y * np.arange(6.0).reshape(2, 3, *(1,)).transpose(1, 0, 2))


PROGRAMS: list[Callable[[float], Any]] = [
    by_name_and_from_a_dict, by_name_and_as_a_value, by_name_and_from_a_list, given_to_another,
    of_another_module, of_constants, of_pairs, of_tables, of_several_kinds, in_place_on_several_kinds, variadic,
    variadic_inside, too_many, given_twice, static, unbound, objects_of_another_module, repeated_text, of_a_list, by_name,
    of_known_items,
]  # fmt: skip
COMPILED = [of_another_module, of_constants, of_pairs, variadic_inside, unbound, objects_of_another_module, repeated_text]
COMPILED += [of_known_items]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_gradients(function: Callable[[float], Any]) -> None:
    expected = (function(1.3 + 1e-6) - function(1.3 - 1e-6)) / 2e-6
    for _ in range(2):
        assert gradient(function, 1.3) == (pytest.approx(expected, rel=1e-6),)
    assert jvp(function, (1.3,), (1.0,))[1] == pytest.approx(expected, rel=1e-6)
    for way in (compiler.always_track, compiler.always_dispatch):
        with way():
            assert gradient(function, 1.3) == (pytest.approx(expected, rel=1e-6),)


@pytest.mark.parametrize("function", [asked_for_its_length, star_call_that_writes])
def test_writes_of_what_is_in_sight(function: Callable[[float], Any]) -> None:
    expected = (function(1.3 + 1e-6) - function(1.3 - 1e-6)) / 2e-6
    assert gradient(function, 1.3) == (pytest.approx(expected, rel=1e-6),)


@pytest.mark.parametrize("function", COMPILED, ids=lambda function: function.__name__)
def test_nothing_is_dispatched(function: Callable[[float], Any]) -> None:
    assert "pullback_of" not in code_primal(function, 1.3)


def test_a_callee_that_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = grad(of_constants)
    before = ask(1.3)
    monkeypatch.setitem(globals(), "sloped", lambda n: 1.0)
    assert ask(1.3) == pytest.approx(1.0 + 2.0 + 3.0 + 4.0)
    monkeypatch.setitem(globals(), "sloped", lambda n: np.array([1.0, 1.0]))
    assert gradient(lambda x: np.sum(of_constants(x)), 1.3) == (pytest.approx(20.0),)
    monkeypatch.undo()
    assert ask(1.3) == before
    monkeypatch.setattr(Curve, "wave", staticmethod(lambda x: 7.0 * x))
    assert grad(static)(1.3) == pytest.approx(3 * (14.0 + 2.5))


def test_a_variable_of_a_callee_that_becomes_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is proven of what a callee returns depends on the variables that it reads."""
    ask = grad(of_another_module)
    ask(1.3)
    monkeypatch.setitem(module_of_a_user.DRAG, "linear", np.float64(0.4))
    expected = (of_another_module(1.3 + 1e-6) - of_another_module(1.3 - 1e-6)) / 2e-6
    assert ask(1.3) == pytest.approx(expected, rel=1e-6)
    monkeypatch.setitem(module_of_a_user.DRAG, "linear", np.array([0.4]))
    monkeypatch.setattr(module_of_a_user, "GRAVITY", np.array([9.0]))

    def summed(x: float) -> Any:
        return np.sum(of_another_module(x))

    expected = (summed(1.3 + 1e-6) - summed(1.3 - 1e-6)) / 2e-6
    assert gradient(summed, 1.3) == (pytest.approx(expected, rel=1e-6),)
