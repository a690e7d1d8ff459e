"""Objects that are variables of a module, and what classes have: what a function reads of them is an input of its unit, found
again in each call."""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from microgradpy import MutationError, code_primal, compiler, grad, gradient, jvp
from microgradpy.cache import CACHE
from tests.programs import another_module


class Fluid:
    """Coefficients in a table of the class, as libraries of properties have them."""

    table: ClassVar[dict[str, Any]] = {"n": [0.3, -1.2, 0.7], "t": [0.5, 1.25, 2], "d": [1, 2, 3], "critical": 647.0}
    scale = 2.0
    offsets = np.array([0.1, 0.2, 0.3])

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.weights = np.array([1.0, -2.0, 0.5])
        self.options = {"shift": 0.25, "name": "water"}

    def energy(self, tau: float, delta: float) -> float:
        n, t = self.table.get("n", []), self.table.get("t", [])
        d, missing = self.table.get("d"), self.table.get("g", [])
        total = 0
        for a, b, c in zip(n, t, d, strict=True):
            total += a * delta**c * tau**b
        for g in missing:
            total += g
        return total * self.rate

    @property
    def shift(self) -> float:
        return self.options["shift"] * self.scale

    def __call__(self, x: float) -> float:
        return x * x + self.shift

    def __add__(self, x: float) -> float:
        return self.rate + x


@dataclasses.dataclass
class Layer:
    w: Any
    activation: Callable[[Any], Any]

    def __call__(self, x: Any) -> Any:
        return self.activation(x @ self.w)


class Bounds(NamedTuple):
    low: float
    high: float


WATER = Fluid(1.5)
FLUIDS = {"water": WATER, "oil": Fluid(0.5)}
LAYERS = [Layer(np.array([[0.5, -0.2], [0.1, 0.3]]), np.tanh), Layer(np.array([[0.4], [0.6]]), np.exp)]
BOUNDS = Bounds(0.5, 2.5)
SPACE = types.SimpleNamespace(fluid=WATER)


def helper(x: float) -> float:
    return WATER.rate * x


def of_helper(x: float) -> float:
    return helper(x) * helper(x + 1.0)


def network(x: float) -> float:
    y = np.array([[x, x * x]])
    for layer in LAYERS:
        y = layer(y)
    return y.sum()


def counted(x: float) -> float:
    total = 0.0
    for k in range(3):
        total += WATER.weights[k] * x**k + Fluid.offsets[k]
    return total


def shadowed(x: float) -> float:
    WATER = Fluid(3.0)
    return x * WATER.rate


def inside(x: float) -> float:
    def term(y: float) -> float:
        return WATER.energy(y, x)

    return term(x) + term(2.0 * x)


PROGRAMS: list[Callable[[float], Any]] = [
    lambda x: WATER.energy(x, 1.3),
    lambda x: WATER.energy(x, x) * WATER.table["critical"],
    lambda x: WATER(x) * WATER.shift,
    lambda x: (WATER + x) * x,
    lambda x: np.sum(WATER.weights * x) ** 2,
    lambda x: np.sum(np.sin(WATER.offsets * x)),
    lambda x: sum(fluid.rate * x**k for k, fluid in enumerate(FLUIDS.values())),
    lambda x: FLUIDS["oil"].energy(x, 0.7) - FLUIDS["water"].rate * x,
    lambda x: min(max(x, BOUNDS.low), BOUNDS.high) * x,
    lambda x: SPACE.fluid.rate * x,
    lambda x: x * Fluid.scale + x * Fluid.table["n"][0],
    lambda x: [fluid.rate for fluid in FLUIDS.values()][1] * math.sin(x),
    lambda x: x if WATER.options["name"] == "oil" else x * x * WATER.options.get("factor", 3.0),
    lambda x: Fluid(x).energy(1.1, 0.9) + WATER.rate * x,
    of_helper,
    network,
    counted,
    shadowed,
    inside,
]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_gradients_are_those_of_tracked_runs(number: int) -> None:
    function = PROGRAMS[number]
    (found,) = gradient(function, 1.7)
    assert found == pytest.approx((function(1.7 + 1e-6) - function(1.7 - 1e-6)) / 2e-6, rel=1e-6)
    with compiler.always_track():
        assert gradient(function, 1.7) == (pytest.approx(found, rel=1e-12),)
    assert jvp(function, (1.7,), (1.0,))[1] == pytest.approx(found, rel=1e-12)


def test_nothing_is_dispatched() -> None:
    for function in (PROGRAMS[0], PROGRAMS[2], of_helper, inside):
        assert "pullback_of" not in code_primal(function, 1.7)


def test_coefficients_are_inputs() -> None:
    text = code_primal(PROGRAMS[0], 1.7)
    assert "table_n" in text and "module_globals" not in text


@pytest.fixture
def kept() -> Iterator[None]:
    """What the module has is put back."""
    before = WATER.rate, dict(WATER.options), WATER.weights.copy(), dict(Fluid.table), dict(FLUIDS), list(LAYERS)
    yield
    globals()["WATER"] = before_water
    WATER.rate, WATER.options, WATER.weights = before[:3]
    Fluid.table = before[3]
    FLUIDS.clear()
    FLUIDS.update(before[4])
    LAYERS[:] = before[5]
    vars(WATER).pop("table", None)


before_water = WATER


class Doubled(Fluid):
    def energy(self, tau: float, delta: float) -> float:
        return tau * delta * tau


CHANGES: dict[str, Callable[[], Any]] = {
    "a number": lambda: setattr(WATER, "rate", 4.0),
    "a whole number": lambda: setattr(WATER, "rate", 4),
    "a number of NumPy's": lambda: setattr(WATER, "rate", np.float64(4.0)),
    "an array for a number": lambda: setattr(WATER, "rate", np.array(4.0)),
    "another object": lambda: globals().update(WATER=Fluid(7.0)),
    "an object of a subclass": lambda: globals().update(WATER=Doubled(7.0)),
    "an item of a list of the class": lambda: Fluid.table["n"].__setitem__(0, 5.0),
    "another list of the class": lambda: Fluid.table.update(n=[1.0, 2.0, 3.0]),
    "another table of the class": lambda: setattr(Fluid, "table", {"n": [1.0], "t": [2.0], "d": [1], "critical": 3.0}),
    "a table of the object": lambda: setattr(WATER, "table", {"n": [1.0], "t": [2.0], "d": [1], "critical": 3.0}),
    "a key that was missing": lambda: Fluid.table.update(g=[1.0, 2.0]),
    "an option that was missing": lambda: WATER.options.update(factor=10.0),
    "a text": lambda: WATER.options.update(name="oil"),
    "an array in place": lambda: WATER.weights.__imul__(2.0),
    "another item of a dict": lambda: FLUIDS.update(oil=Fluid(9.0)),
    "one more item": lambda: FLUIDS.update(air=Fluid(9.0)),
    "a layer less": lambda: LAYERS.__delitem__(slice(1, None)),
    "an activation": lambda: setattr(LAYERS[0], "activation", np.sin),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_changed_between_calls_is_seen(change: str, kept: None) -> None:
    table = {name: list(value) if isinstance(value, list) else value for name, value in Fluid.table.items()}
    asked = [grad(function) for function in PROGRAMS]
    for ask in asked:
        for _ in range(3):
            ask(1.7)
    try:
        CHANGES[change]()
        for function, ask in zip(PROGRAMS, asked, strict=True):
            expected = (function(1.7 + 1e-6) - function(1.7 - 1e-6)) / 2e-6
            assert ask(1.7) == pytest.approx(float(expected), rel=1e-5), function
    finally:
        Fluid.table = table


def test_a_method_that_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = grad(PROGRAMS[0])
    ask(1.7)
    monkeypatch.setattr(Fluid, "energy", lambda self, tau, delta: tau * tau * delta)
    assert ask(1.7) == pytest.approx(2 * 1.7 * 1.3)
    monkeypatch.undo()
    monkeypatch.setattr(WATER, "energy", lambda tau, delta: tau * 5.0, raising=False)
    assert ask(1.7) == pytest.approx(5.0)


def test_the_same_object_as_argument_and_of_the_module() -> None:
    """Only what is reached by the argument is differentiated."""

    def function(fluid: Fluid, x: float) -> float:
        return fluid.rate * x * WATER.rate + np.sum(fluid.weights * WATER.weights)

    fluid_bar, x_bar = gradient(function, WATER, 2.0)
    assert fluid_bar.rate == pytest.approx(2.0 * WATER.rate) and x_bar == pytest.approx(WATER.rate**2)
    np.testing.assert_allclose(fluid_bar.weights, WATER.weights)


def test_what_the_class_has_is_no_part_of_a_gradient() -> None:
    fluid = Fluid(2.0)
    (found,) = gradient(lambda fluid: np.sum(fluid.offsets) * fluid.rate, fluid)
    assert found.rate == pytest.approx(0.6)
    with compiler.always_track():
        (tracked,) = gradient(lambda fluid: np.sum(fluid.offsets) * fluid.rate, fluid)
    assert dict(found.items()).keys() == dict(tracked.items()).keys()


def test_one_that_writes_is_tracked(kept: None) -> None:
    def writes(x: float) -> float:
        WATER.rate = x * x
        return WATER.rate * x

    assert gradient(writes, 2.0) == (pytest.approx(12.0),)
    assert WATER.rate == 4.0


class Sly:
    @property
    def rate(self) -> float:
        WATER.rate = WATER.rate * 2.0
        return 1.0


SLY: list[Any] = [Fluid(1.0)]


def test_code_that_nobody_saw(kept: None) -> None:
    def function(x: float) -> float:
        first = WATER.rate * x
        return first * SLY[0].rate * WATER.rate * x

    ask = grad(function)
    assert ask(1.0) == pytest.approx(2.0 * 1.5**2)
    before = SLY[0]
    SLY[0] = Sly()
    try:
        found = ask(1.0)
    except MutationError:
        return
    finally:
        SLY[0] = before
    assert found == pytest.approx(2.0 * 1.5 * 3.0)


def test_a_name_that_is_gone(kept: None) -> None:
    def function(x: float) -> float:
        return WATER.rate * x

    ask = grad(function)
    ask(1.0)
    del globals()["WATER"]
    with pytest.raises(NameError, match="WATER"):
        ask(1.0)


def test_a_pattern_is_used_again() -> None:
    def function(x: float) -> float:
        return WATER.energy(x, 1.3)

    ask = grad(function)
    ask(1.7)
    misses = CACHE.misses
    for k in range(20):
        ask(1.0 + k)
    assert CACHE.misses == misses


LAYERED = another_module.Layered(another_module.Masking(0.5))


def test_a_method_of_another_module_notes_what_it_does_in_a_shared_list() -> None:
    """The list is an input of the function of the other module, though it is reached from a variable of this one."""
    CACHE.clear()
    (bar,) = gradient(lambda x: np.sum(LAYERED.forward(x)), np.array([0.3, -1.2, 0.8]))
    np.testing.assert_allclose(bar, [0.0, -4.8, 3.2])
    assert len(LAYERED.noted) == 1 and LAYERED.noted is LAYERED.inner.masks["mask"]
