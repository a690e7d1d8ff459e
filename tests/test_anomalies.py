"""`detect_anomaly` names the operation that makes the first NaN or infinity, and leaves everything else as it is."""

from __future__ import annotations

import copy
import inspect
import math
import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from microgradpy import (
    AnomalyError,
    cache_clear,
    code_primal,
    detect_anomaly,
    gradient,
    jvp,
    pullback,
    rrule,
    value_and_gradient,
)
from microgradpy.compiler import always_dispatch, always_track
from tests import finite_differences as fd
from tests.programs import PROGRAMS, Program
from tests.test_programs import rounding_of, same, same_cotangents

MODES = {"as it is": nullcontext, "tracked": always_track, "dispatched": always_dispatch}
ZERO = np.array([0.0, 1.0, 4.0])


def masked_root(x):
    return np.sum(np.where(x > 0, np.sqrt(x), 0.0))  # backward: np.sqrt(x)


def masked_logarithm(x):
    y = np.where(x > 0, np.log(x), 0.0)  # forward: np.log(x)
    return np.sum(y)


def masked_ratio(x):
    ratio = 1.0 / x  # forward: 1.0 / x
    return np.sum(np.where(x > 0, ratio, 0.0))


def masked_power(x):
    return np.sum(np.where(x > 0, x**0.5, 0.0))  # backward: x**0.5


def masked_angle(x):
    return np.sum(np.where(x > 0, np.arctan2(x, x), 0.0))  # backward: np.arctan2(x, x)


def masked_arcsine(x):
    return np.sum(np.where(x < 1, np.arcsin(np.minimum(x, 1.0)), 0.0))  # backward: np.arcsin(np.minimum(x, 1.0))


def root_of_zero(x):
    return math.sqrt(x[0]) + x[1]  # backward: math.sqrt(x[0])


def overflow(x):
    z = np.exp(1000.0 * x)  # forward: np.exp(1000.0 * x)
    return np.sum(z / np.sum(z))


def not_defined(x):
    y = x - 2.0
    return np.sum(np.sqrt(y) * x)  # forward: np.sqrt(y)


def in_a_loop(x):
    total = 0.0
    for k in range(3):
        total = total + np.log(x[2 - k])  # forward: np.log(x[2 - k])
    return total


def in_a_branch(x):
    y = x[1] - 1.0
    if x[2] > 3.0:
        return np.abs(y) ** 0.5 + np.sum(x)  # backward: np.abs(y) ** 0.5
    return y


def in_a_callee(x):
    return np.sum(scaled_root(x) * 3.0)


def scaled_root(t):
    return np.sqrt(t) * 2.0  # backward: np.sqrt(t)


def in_a_closure(x):
    def inner(y):
        return np.cbrt(y) * x[1]  # backward: np.cbrt(y)

    return inner(x[0])


class Layer:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        z = self.w * x
        return np.log(z)  # forward: np.log(z)


LAYER = Layer(np.array([1.0, 0.0, 2.0]))


def in_a_method(x):
    return np.sum(LAYER(x + 1.0))


def written(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = np.sqrt(x[i])  # backward: np.sqrt(x[i])
    return np.sum(y)


def written_in_place(x):
    y = x + 1.0
    y /= x  # forward: y /= x
    return np.sum(y)


def written_by_out(x):
    y = np.empty(3)
    np.divide(1.0, x, out=y)  # forward: np.divide(1.0, x, out=y)
    return np.sum(y)


def appended(x):
    roots = []
    for item in x:
        roots.append(np.sqrt(item))  # backward: np.sqrt(item)
    return sum(roots)


def caught(x):
    try:
        return np.sum(np.log(x))  # forward: np.log(x)
    except (FloatingPointError, ValueError):
        return np.sum(x)


def mapped(x):
    return sum(map(np.log, x))  # forward: map(np.log, x) or sum(map(np.log, x))


def generated(x):
    def logarithms():
        for item in x:
            yield np.log(item)  # forward: np.log(item)

    return sum(logarithms())


@rrule.register(scaled_root_by_rule := lambda x: 3.0 * x)
def scaled_root_by_rule_rrule(x):
    def scaled_root_by_rule_pullback(y_bar):
        return None, y_bar / x

    return 3.0 * x, scaled_root_by_rule_pullback


def by_a_rule(x):
    return np.sum(scaled_root_by_rule(x))  # backward: scaled_root_by_rule(x)


MAKING = [
    masked_root, masked_logarithm, masked_ratio, masked_power, masked_angle, masked_arcsine, root_of_zero, overflow,
    not_defined, in_a_loop, in_a_branch, in_a_callee, in_a_closure, in_a_method, written, written_in_place,
    written_by_out, appended, caught, by_a_rule, mapped, generated,
]  # fmt: skip


def expected(function: Callable[..., Any]) -> tuple[str, int, str]:
    """The pass, the line and the operation that a comment of the program says."""
    where = {in_a_callee: scaled_root, in_a_method: Layer.__call__}.get(function, function)
    lines, first = inspect.getsourcelines(where)
    ((number, line),) = [(first + k, line) for k, line in enumerate(lines) if "# forward: " in line or "# backward: " in line]
    during, _, operation = line.partition("# ")[2].strip().partition(": ")
    return during, number, operation


@pytest.mark.parametrize("mode", MODES.values(), ids=list(MODES))
@pytest.mark.parametrize("function", MAKING, ids=lambda function: function.__name__)
def test_the_operation_that_makes_it_is_named(function: Callable[..., Any], mode: Any) -> None:
    during, line, operation = expected(function)
    with np.errstate(all="ignore"), mode(), pytest.raises(AnomalyError) as caught, detect_anomaly():
        gradient(function, ZERO)
    message = str(caught.value)
    derivative = "the derivative of " if during == "backward" else ""
    assert any(message.startswith(f"{derivative}{each} is a") for each in operation.split(" or ")), message
    assert f"in the {during} pass\n  at {__file__}:{line}, in " in message


@pytest.mark.parametrize("mode", MODES.values(), ids=list(MODES))
@pytest.mark.parametrize("program", PROGRAMS[::10], ids=str)
def test_a_program_that_makes_none_is_as_it_was(program: Program, mode: Any) -> None:
    def run() -> Any:
        try:
            y, back = pullback(program.function, *copy.deepcopy(program.args))
        except Exception as error:  # refused in this mode
            return type(error), str(error)
        return y, back(fd.random_seed(y))

    with mode():
        y, cotangents = run()
        with detect_anomaly():
            y_checked, cotangents_checked = run()
    assert same(y, y_checked)
    assert same_cotangents(cotangents, cotangents_checked, rounding_of(program))


def message_of(function: Callable[..., Any], *args: Any, nan_only: bool = False) -> str:
    with np.errstate(all="ignore"), pytest.raises(AnomalyError) as caught, detect_anomaly(nan_only):
        gradient(function, *args)
    return str(caught.value)


TRAPS = {
    masked_root: ("x > 0", "x", "np.sqrt(safe)"),
    masked_logarithm: ("x > 0", "x", "np.log(safe)"),
    masked_ratio: ("x > 0", "x", "1.0 / safe"),
    masked_power: ("x > 0", "x", "safe ** 0.5"),
    masked_angle: ("x > 0", "x", "np.arctan2(safe, x)"),
    masked_arcsine: ("x < 1", "np.minimum(x, 1.0)", "np.arcsin(safe)"),
}


@pytest.mark.parametrize("nan_only", [False, True])
@pytest.mark.parametrize("function", TRAPS, ids=lambda function: function.__name__)
def test_the_trap_of_where_is_known(function: Callable[..., Any], nan_only: bool) -> None:
    condition, operand, safe = TRAPS[function]
    message = message_of(function, ZERO, nan_only=nan_only)
    assert "leaves out entries of the value, but not of the derivative" in message
    assert f"safe = np.where({condition}, {operand}, 1.0)\n      np.where({condition}, {safe}, ...)" in message


def test_what_the_hint_says_helps() -> None:
    def mended(x):
        safe = np.where(x > 0, x, 1.0)
        return np.sum(np.where(x > 0, np.sqrt(safe), 0.0))

    with detect_anomaly():
        np.testing.assert_array_equal(gradient(mended, ZERO)[0], [0.0, 0.5, 0.25])


def test_the_inputs_are_shown_in_short() -> None:
    def ratio_of(a, b):
        return np.sum(a / b)

    message = message_of(ratio_of, np.array([[1.0, 2.0]], np.float32), np.array([[4.0, 0.0]]))
    assert "the result: float64 of shape (1, 2), from 0.25 to 0.25, infinite at [0, 1]" in message
    assert "a = float32 of shape (1, 2), from 1.0 to 2.0; at [0, 1]: 2.0" in message
    assert "b = float64 of shape (1, 2), from 0.0 to 4.0; at [0, 1]: 0.0" in message


def test_of_what_was_repeated_the_entry_is_shown() -> None:
    def scaled(x, spread):
        return np.sum(x / spread)

    message = message_of(scaled, np.ones((2, 3)), np.array([[2.0], [0.0]]))
    assert "x = float64 of shape (2, 3), from 1.0 to 1.0; at [1, 0]: 1.0" in message
    assert "spread = float64 of shape (2, 1), from 0.0 to 2.0; at [1, 0]: 0.0" in message
    message = message_of(scaled, np.ones((2, 3)), np.array([2.0, 0.0, 1.0]))
    assert "spread = float64 of shape (3,), from 0.0 to 2.0; at [1]: 0.0" in message


def test_with_nan_only_infinities_pass() -> None:
    def masked_scores(x):
        scores = np.where(np.array([True, False, True]), x, -np.inf)
        weights = np.exp(scores - np.max(scores))
        return np.sum(weights / np.sum(weights) * x)

    def logarithm_of_zero(x):
        return np.sum(np.exp(np.log(x)[1:]))

    with np.errstate(all="ignore"):
        plain = gradient(masked_scores, ZERO)[0]
        for nan_only in (False, True):
            with detect_anomaly(nan_only):
                np.testing.assert_array_equal(gradient(masked_scores, ZERO)[0], plain)  # the user's own infinity
        assert "np.log(x) is an infinity" in message_of(logarithm_of_zero, ZERO)
        with detect_anomaly(nan_only=True):
            assert np.isfinite(value_and_gradient(logarithm_of_zero, np.array([1e-320, 1.0, 4.0]))[0])


def test_what_was_given_is_not_taken_for_made() -> None:
    def mean_of_known(x):
        return np.nansum(x)

    def mean(x):
        return np.sum(x * 2.0)

    given = np.array([1.0, np.nan])
    with detect_anomaly():
        np.testing.assert_array_equal(gradient(mean_of_known, given)[0], [1.0, 0.0])
    message = message_of(mean, given)
    assert message.startswith("the value is a NaN, which no operation in a differentiated function made of finite numbers")
    assert "argument 1 = float64 of shape (2,), from 1.0 to 1.0, NaN at [1]" in message


def test_a_function_with_a_rule_is_looked_at_as_a_whole() -> None:
    message = message_of(np.sqrt, 0.0)
    assert message.startswith("the gradient with respect to argument 1 is an infinity")
    assert "the seed = 1.0" in message


def test_the_checks_belong_to_the_run() -> None:
    with np.errstate(all="ignore"):
        with detect_anomaly():
            _, checking = pullback(masked_root, ZERO)
        _, plain = pullback(masked_root, ZERO)
        with pytest.raises(AnomalyError, match=r"the derivative of np\.sqrt"):
            checking(1.0)
        with detect_anomaly():
            assert plain(1.0)[1][0] == 0.0


def test_other_threads_do_not_look() -> None:
    found: list[Any] = []
    with np.errstate(all="ignore"), detect_anomaly():
        thread = threading.Thread(target=lambda: found.append(quiet_gradient()))
        thread.start()
        thread.join()
    assert np.isnan(found[0][0])


def quiet_gradient() -> Any:
    with np.errstate(all="ignore"):
        return gradient(lambda x: np.sum(np.sqrt(x) * (x > 0)), ZERO)[0]


def test_the_tangents_are_looked_at() -> None:
    with np.errstate(all="ignore"), pytest.raises(AnomalyError) as caught, detect_anomaly():
        jvp(masked_root, (ZERO,), (np.ones(3),))
    assert str(caught.value).startswith("the tangent of np.sqrt(x) is an infinity, in the pass of the tangents")
    with detect_anomaly():
        assert jvp(masked_root, (ZERO + 1.0,), (np.ones(3),))[1] == jvp(masked_root, (ZERO + 1.0,), (np.ones(3),))[1]


def test_it_is_a_floating_point_error_with_a_place() -> None:
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError) as caught, detect_anomaly():
        gradient(in_a_callee, ZERO)
    where = caught.value.where  # type: ignore[attr-defined]
    assert (where.file, where.line, where.function) == (__file__, expected(in_a_callee)[1], "scaled_root")


def test_nothing_is_left_behind() -> None:
    cache_clear()
    before = code_primal(masked_root, ZERO)
    with detect_anomaly():
        assert "check_value" in code_primal(masked_root, ZERO)
    assert code_primal(masked_root, ZERO) == before
    assert "check_value" not in before


def test_an_exception_ends_it() -> None:
    with pytest.raises(KeyError), detect_anomaly():
        raise KeyError
    assert np.isnan(quiet_gradient()[0])


def test_a_context_may_be_entered_again() -> None:
    again = detect_anomaly()
    for _ in range(2):
        with again, np.errstate(all="ignore"), pytest.raises(AnomalyError):
            gradient(np.log, np.float64(0.0))
    with np.errstate(all="ignore"):
        assert gradient(np.log, np.float64(0.0)) == (np.inf,)
