"""Powers of real numbers that are assumed to be real: what they cost, and what happens where they are not."""

from __future__ import annotations

import math
import random

import pytest

from microgradpy import code_adjoint, code_primal, grad, gradient, jvp, pullback, value_and_grad
from microgradpy.compiler import always_dispatch, always_track


def growth(k, alpha):
    total = 0.0
    for _ in range(3):
        k = 0.9 * k + 0.2 * k**alpha
        total += k
    return total


def test_text_is_that_of_real_numbers():
    primal, adjoint = code_primal(growth, 1.3, 0.4), code_adjoint(growth, 1.3, 0.4)
    assert "raise ComplexPower" in primal
    assert "unbroadcast" not in adjoint and "or_zero" not in adjoint


def size(x, p):
    return abs(x**p)


@pytest.mark.parametrize("calls", [1, 100], ids=["the general road", "a head"])
def test_power_may_become_complex_in_a_later_call(calls):
    def size_again(x, p):
        return abs(x**p)

    g = grad(size_again, (0, 1))
    for _ in range(calls):
        assert g(1.3, 0.7) == pytest.approx(gradient(size, 1.3, 0.7))
    with always_track():
        expected = gradient(size, -1.3, 0.7)
    assert g(-1.3, 0.7) == pytest.approx(expected)
    assert g(1.3, 0.7) == pytest.approx(gradient(size, 1.3, 0.7))
    assert value_and_grad(size_again)(-1.3, 0.7)[0] == size(-1.3, 0.7)


def printing(x, p):
    print("once")
    return abs(x**p)


def drawing(x, p):
    return abs(x**p) * random.random()


def caught(x, p):
    try:
        return abs(x**p)
    except Exception:
        return 0.0


def appending(x, p, log):
    log.append(x)
    return abs(x**p)


def test_effects_are_had_once(capsys):
    gradient(printing, -1.3, 0.7)
    assert capsys.readouterr().out == "once\n"
    random.seed(3)
    gradient(drawing, -1.3, 0.7)
    state = random.getstate()
    random.seed(3)
    drawing(-1.3, 0.7)
    assert random.getstate() == state
    assert gradient(caught, -1.3, 0.7) == pytest.approx(gradient(size, -1.3, 0.7))
    log = []
    gradient(appending, -1.3, 0.7, log)
    assert log == [-1.3]


def test_functions_with_effects_are_not_made_twice():
    for function in (printing, drawing, caught):
        assert "ComplexPower" not in code_primal(function, 1.3, 0.7)


@pytest.mark.parametrize(
    ("x", "p"),
    [
        *[(0.0, 2.5), (0.0, 1.0), (0.0, 1.5), (1e-200, 1.5), (1e-150, 2.5), (1e200, 1.5)],
        *[(-2.0, 3.0), (-2.0, 2.0), (2.0, 0.0), (math.inf, 0.5)],
    ],
    ids=str,
)
def test_corners_are_those_of_powers(x, p):
    def power(x, p):
        return x**p * 1.0

    found = gradient(power, x, p)
    with always_dispatch():
        expected = gradient(power, x, p)
    assert found == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_pullback_and_other_modes():
    y, back = pullback(growth, 1.3, 0.4)
    assert back(2.0)[1:] == pytest.approx(tuple(2.0 * bar for bar in gradient(growth, 1.3, 0.4)))
    _, y_dot = jvp(growth, (1.3, 0.4), (1.0, 0.0))
    assert y_dot == pytest.approx(gradient(growth, 1.3, 0.4)[0])
    assert y == growth(1.3, 0.4)


def outer(x, p):
    return inner(x, p) + inner(x * x, p)


def inner(x, p):
    return abs(x**p)


def test_callee_ends_the_whole_run():
    assert "ComplexPower" not in code_primal(outer, 1.3, 0.7)
    assert gradient(outer, -1.3, 0.7) == pytest.approx(
        tuple(a + b for a, b in zip(gradient(inner, -1.3, 0.7), _of_square(), strict=True))
    )


def _of_square():
    x_bar, p_bar = gradient(inner, 1.69, 0.7)
    return x_bar * 2.0 * -1.3, p_bar


def size_of_sum(x, p):
    if x == 0.0:
        raise ValueError("no root of zero")
    return abs(inner_power(x, p) + inner_power(x + 1.0, p))


def inner_power(x, p):
    return x**p


def test_callee_with_a_power_is_of_a_real_number():
    """What calls a function with a power knows that it is real, and is run once more if it is not."""
    assert gradient(size_of_sum, 1.3, 0.7)[0] == pytest.approx(0.7 * (1.3**-0.3 + 2.3**-0.3))
    assert "unbroadcast" not in code_adjoint(size_of_sum, 1.3, 0.7)
    with pytest.raises(ValueError, match="no root of zero"):
        gradient(size_of_sum, 0.0, 0.7)
    h = 1e-6
    difference = (size_of_sum(-1.3 + h, 0.7) - size_of_sum(-1.3 - h, 0.7)) / (2.0 * h)
    assert gradient(size_of_sum, -1.3, 0.7)[0] == pytest.approx(difference)
    with always_track():
        assert gradient(size_of_sum, -1.3, 0.7)[0] == pytest.approx(difference)
