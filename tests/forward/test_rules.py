"""Forward rules: those that are derived, those of functions that are linear, and those that users declare.

`MICROGRADPY_ALL_FORWARD=1` takes every example of every rule, which is some minutes; without it, one of each function that
is not in the tests of rules that are compiled in (`tests/ways.py`).
"""

from __future__ import annotations

import math
import os
from functools import partial
from typing import Any

import numpy as np
import pytest

from microgradpy import MissingRuleError, code_adjoint, frule, frule_via_ad, gradient, jvp, pullback, rrule, scalar_rule
from microgradpy.rules.linearity import linear_arguments
from microgradpy.rules.registry import Example, NoTangent
from microgradpy.tangents.types import NotImplementedTangent
from tests import finite_differences as fd
from tests.checks import check_all
from tests.examples import BY_FUNCTION, way_of_computing
from tests.forward.tangents import assert_transposed, drawn
from tests.ways import some

pytestmark = pytest.mark.filterwarnings("ignore:`lagrange` is deprecated")  # since SciPy 1.18
COUNT = None if os.environ.get("MICROGRADPY_ALL_FORWARD") else 1
# What they return is read once, or is no value of its own; the programs of the tables have those.
WITHOUT_TANGENT = ("builtins.", "dict.", "copy.", "microgradpy.", "functools.", "itertools.", "_bis", "scipy.opt", "scipy.int")
CHOSEN = [
    example
    for name, examples in BY_FUNCTION.items()
    if not name.startswith(WITHOUT_TANGENT) and name != "numpy.broadcast"
    for example in examples[:COUNT]
    if "transposed" in way_of_computing(example)
]
LINEAR = {
    name: examples
    for name, examples in BY_FUNCTION.items()
    if not isinstance(examples[0].f, dict) and linear_arguments(examples[0].f)
}


def check(example: Example) -> None:
    reverse = rrule(example.f, *example.args, **example.kwargs)
    forward = frule(example.f, *example.args, **example.kwargs)
    assert reverse is not None and forward is not None
    y_bar = fd.random_seed(reverse[0])
    bars = reverse[1](y_bar)[1:]
    rng = np.random.default_rng(3)
    dots = tuple(
        None if bar is None or isinstance(bar, NoTangent | NotImplementedTangent) else drawn(x, rng)
        for x, bar in zip(example.args, bars, strict=True)
    )
    size = min([np.dtype(leaf).itemsize for leaf in precisions(reverse[0])], default=8)
    assert_transposed(y_bar, forward[1](None, *dots), bars, dots, {2: 1e-2, 4: 1e-5, 8: 1e-9}[min(size, 8)])


def precisions(y: Any) -> list[Any]:
    if isinstance(y, list | tuple):
        return [dtype for item in y for dtype in precisions(item)]
    return [np.finfo(y.dtype).dtype] if isinstance(y, np.ndarray | np.generic) and y.dtype.kind in "fc" else []


@pytest.mark.parametrize("example", some(CHOSEN), ids=str)
def test_derived_rule(example: Example) -> None:
    check(example)


@pytest.mark.parametrize("name", LINEAR)
def test_functions_that_are_said_to_be_linear(name: str) -> None:
    check_all((str(example), partial(check, example)) for example in LINEAR[name])


def test_the_example_of_the_guide() -> None:
    def foo(x: float) -> float:
        return math.asin(2.0 * math.sin(x))

    y, y_dot = jvp(foo, (3.0,), (1.0,))
    assert abs(y - 0.28612825598736198) < 1e-15
    assert abs(y_dot - -2.0638950738662625) < 1e-14
    assert abs(gradient(foo, 3.0)[0] - -2.0638950738662625) < 1e-14


def tripled(x: float) -> float:
    return x + x + x


def test_a_declared_rule_is_taken_in_all_ways_of_a_call() -> None:
    @frule.register(tripled)
    def tripled_frule(x: Any) -> Any:
        return tripled(x), lambda f_dot, x_dot: 300.0 * x_dot

    try:
        assert jvp(tripled, (1.0,), (2.0,)) == (3.0, 600.0)
        assert jvp(lambda x: tripled(x) * x, (2.0,), (1.0,)) == (12.0, 606.0)
        assert jvp(lambda f, x: f(x), (tripled, 1.0), (None, 1.0)) == (3.0, 300.0)
        assert gradient(tripled, 1.0) == (3.0,)
        _, push = frule_via_ad(tripled, 1.0)
        assert push(None, 1.0) == 300.0
    finally:
        frule.opt_out(tripled)
    assert jvp(tripled, (1.0,), (2.0,)) == (3.0, 6.0)


def smooth_step(x: Any) -> Any:
    return x * x * (3.0 - 2.0 * x)


def test_scalar_rule_declares_both_rules() -> None:
    scalar_rule(smooth_step, lambda x: 6.0 * x * (1.0 - x))
    x = np.array([0.1, 0.5])
    assert np.allclose(gradient(lambda x: np.sum(smooth_step(x)), x)[0], [0.54, 1.5])
    assert np.allclose(jvp(smooth_step, (x,), (np.ones(2),))[1], [0.54, 1.5])


def test_a_partial_derivative_may_read_the_value_and_operands_broadcast() -> None:
    def logistic_of_product(a: Any, b: Any) -> Any:
        return 1.0 / (1.0 + np.exp(-a * b))

    scalar_rule(logistic_of_product, lambda a, b, *, y: b * y * (1.0 - y), lambda a, b, *, y: a * y * (1.0 - y))
    a, b = np.array([[0.2], [1.1]]), np.array([0.5, -1.0, 2.0])
    a_bar, b_bar = gradient(lambda a, b: np.sum(logistic_of_product(a, b)), a, b)
    slope = logistic_of_product(a, b) * (1.0 - logistic_of_product(a, b))
    assert np.allclose(a_bar, np.sum(b * slope, axis=1, keepdims=True))
    assert np.allclose(b_bar, np.sum(a * slope, axis=0))
    _, y_dot = jvp(logistic_of_product, (a, b), (np.ones((2, 1)), None))
    assert np.allclose(y_dot, b * slope)


def test_scalar_rule_refuses_what_is_no_derivative() -> None:
    with pytest.raises(TypeError, match="a function or a number"):
        scalar_rule(smooth_step, "cos")
    with pytest.raises(TypeError, match="each argument"):
        scalar_rule(smooth_step)


def test_a_scalar_rule_by_functions_of_numpy_is_compiled_in() -> None:
    def sine(x: Any) -> Any:
        return np.sin(x)

    assert "cos" in code_adjoint(sine, 1.0)


KINKS = {
    "norm at 0": (np.linalg.norm, np.zeros(3)),
    "std of equal numbers": (np.std, np.full(3, 2.0)),
    "abs at 0": (np.abs, np.array([0.0, -1.0])),
    "abs of a complex 0": (np.abs, np.array([0j, 1.0 + 1.0j])),
    "sign of a complex 0": (np.sign, np.array([0j, 1.0 + 1.0j])),
    "max with ties": (np.max, np.array([1.0, 3.0, 3.0])),
    "clip at the edges": (lambda x: np.clip(x, 0.0, 1.0), np.array([0.0, 0.5, 1.0])),
    "prod with a zero": (np.prod, np.array([2.0, 0.0, 3.0])),
    "prod with two zeros": (np.prod, np.array([2.0, 0.0, 0.0])),
    "hypot at 0": (lambda x: np.hypot(x[0], x[1]), np.zeros(2)),
    "powers at 0": (lambda x: x**2 + x**1 + x**0, np.array([0.0, 1.0])),
    "sinc at 0": (np.sinc, np.array([0.0, 0.5])),
    "nanstd with NaN": (np.nanstd, np.array([1.0, math.nan, 2.0])),
    "maximum of equals": (lambda x: np.maximum(x, 1.0), np.array([1.0, 2.0])),
}


@pytest.mark.parametrize("name", KINKS)
def test_both_modes_take_the_same_slope_at_a_kink(name: str) -> None:
    f, x = KINKS[name]
    dot = drawn(x, np.random.default_rng(1))
    with np.errstate(all="ignore"):
        y, back = pullback(f, x)
        y_bar = fd.random_seed(y)
        assert_transposed(y_bar, jvp(f, (x,), (dot,))[1], back(y_bar)[1:], (dot,))


def product_of(x: float, y: float, *, scale: float = 1.0) -> float:
    return x * y * scale


def test_a_declared_rule_is_taken_in_calls_by_keyword() -> None:
    @frule.register(product_of)
    def product_of_frule(x: Any, y: Any, *, scale: Any = 1.0) -> Any:
        return product_of(x, y, scale=scale), lambda f_dot, x_dot, y_dot: 100.0 * (x_dot * y + x * y_dot) * scale

    try:
        assert jvp(lambda x: product_of(x, y=x), (3.0,), (1.0,)) == (9.0, 600.0)
        assert jvp(lambda x: product_of(y=x, x=2.0, scale=3.0), (3.0,), (1.0,)) == (18.0, 600.0)
        with pytest.raises(MissingRuleError, match="by position"):
            jvp(lambda x: product_of(x, 1.0, scale=x), (3.0,), (1.0,))
    finally:
        frule.opt_out(product_of)


def test_options_that_a_declared_rule_does_not_take_are_refused() -> None:
    @frule.register(np.cbrt)
    def cbrt_frule(x: Any) -> Any:
        return np.cbrt(x), lambda f_dot, x_dot: x_dot / (3.0 * np.cbrt(x) ** 2)

    try:
        with pytest.raises(MissingRuleError, match="does not take these arguments"):
            jvp(lambda x: np.cbrt(x, dtype=float), (np.ones(2),), (np.ones(2),))
    finally:
        frule.opt_out(np.cbrt)
