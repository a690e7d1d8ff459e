"""What is said of a function without a rule: its name, the place, and three lines which, with the derivative, are its rule."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.signal
import scipy.special

from microgradpy import MissingRuleError, NoTangent, gradient, opt_out, rrule

tripled = np.frompyfunc(lambda x: 3.0 * x, 1, 1)
X = np.array([0.5, 1.5, -2.0])


def numpy_function(x: Any) -> Any:
    return np.sum(np.emath.arcsin(x[:1]) * 2.0)


def private_ufunc(x: Any) -> Any:
    return np.sum(scipy.special._ufuncs._cospi(x) * x)


def scipy_function(x: Any) -> Any:
    return np.sum(scipy.signal._sigtools._linear_filter(np.array([2.0]), np.ones(1), x, -1) * x)


def standard_library(x: Any) -> Any:
    return x[0] if time.sleep(abs(x[0]) * 1e-9) is None else x[1]


def made_ufunc(x: Any) -> Any:
    return tripled(x[0], order="C") * x[0]  # without options it is differentiated


def method_of_builtin(x: Any) -> Any:
    return float(x[0]).as_integer_ratio()[0] / 2.0


def method_of_array(x: Any) -> Any:
    return np.sum(x.getfield(np.float64, offset=0) * x)


CASES = {
    numpy_function: ("numpy.lib.scimath.arcsin", "np.emath.arcsin(x[:1])", "y_bar / np.sqrt(1.0 - x**2)", 1),
    private_ufunc: ("_cospi", "scipy.special._ufuncs._cospi(x)", "-math.pi * np.sin(math.pi * x) * y_bar", 1),
    scipy_function: (
        "scipy.signal._sigtools._linear_filter",
        "scipy.signal._sigtools._linear_filter(np.array([2.0]), np.ones(1), x, -1)",
        "NoTangent(), NoTangent(), 2.0 * y_bar, NoTangent()",
        4,
    ),
    standard_library: ("time.sleep", "time.sleep(abs(x[0]) * 1e-9)", "NoTangent()", 1),
    made_ufunc: ("<lambda> (vectorized)", "tripled(x[0], order=\"C\")", "3.0 * y_bar", 1),
    method_of_builtin: ("float.as_integer_ratio", "float(x[0]).as_integer_ratio()", "2.0 * y_bar[0]", 1),
    method_of_array: ("ndarray.getfield", "x.getfield(np.float64, offset=0)", "y_bar, NoTangent()", 2),
}
"""How the message calls the function, the call, and the cotangents of its arguments with their number."""


@pytest.fixture(autouse=True)
def _rules_as_before() -> Iterator[None]:
    before = set(rrule.registered())
    yield
    for f in set(rrule.registered()) - before:
        opt_out(f)


def refusal(f: Any) -> str:
    with pytest.raises(MissingRuleError) as caught:
        gradient(f, X)
    return str(caught.value)


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_the_message_names_the_function_the_place_and_the_call(f: Any) -> None:
    name, call, *_ = CASES[f]
    message = refusal(f)
    assert message.startswith(f"{name} has neither a rule nor a source to differentiate")
    line = f.__code__.co_firstlineno + 1
    assert f"{Path(__file__).name}:{line}, in {f.__name__}" in message
    assert call in message


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_the_lines_of_the_message_define_the_rule(f: Any) -> None:
    lines = [line[4:] for line in refusal(f).splitlines()[-3:]]
    assert lines[2].count("...") == CASES[f][3]
    pasted = "\n".join(lines).replace(", ".join(["..."] * CASES[f][3]), CASES[f][2])
    names = {"numpy": np, "np": np, "math": math, "time": time, "scipy": scipy, "rrule": rrule, "NoTangent": NoTangent}
    exec(pasted, {**names, "f": tripled})
    step = np.array([1e-6, 0.0, 0.0])
    # Whole numbers have no difference quotients.
    expected = 1.0 if f is method_of_builtin else (f(X + step) - f(X - step)) / 2e-6
    np.testing.assert_allclose(gradient(f, X)[0][0], expected, rtol=1e-6)
