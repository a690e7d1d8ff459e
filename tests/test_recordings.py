"""What a rule comes to for numbers is kept: the texts are those that come out when nothing is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import DifferentiationError, cache_clear, code_adjoint, code_primal, grad, rrule
from microgradpy.ad import recordings
from tests import finite_differences as fd
from tests.golden.programs import PROGRAMS


def texts(f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[str, str]:
    cache_clear()
    return code_primal(f, *args), code_adjoint(f, *args)


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_texts_are_those_without_recordings(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        warm = [texts(program.function, program.args) for _ in range(2)]
    except DifferentiationError:
        return  # the same either way, see `test_golden`
    monkeypatch.setattr(recordings, "recorded", lambda call: None)
    monkeypatch.setattr("microgradpy.ad.inline.recorded", lambda call: None)
    assert warm == [texts(program.function, program.args)] * 2


def different(x, y):
    return x * y + x / y - y**x


def equal(x, y):
    return x * x + x / x + y**y


def with_constants(x, y):
    return 2.0 * x + 2 * x + x**2 + x**2.0 + x**3 + y**1 + x * -1.0 + y / 4.0 + (x - y) ** -1


def mixed(x, y):
    total = x
    for k in range(1, 4):
        total = total * k + math.sin(y * k) / k
    return total + np.sin(x) * math.pi + max(x, y) + abs(-x)


def matrices(x, y):
    a, b = np.outer(x, y), np.outer(y, x)
    return np.sum((a @ b) * a) + np.sum(a * x) + np.sum(x * a) + np.sum(a.T @ x) + np.mean(np.exp(b) / y)


def same_lengths(x, y):
    return np.sum(x * y) + np.sum(np.maximum(x, y) ** 2) + np.dot(x, y) + np.sum(np.outer(x, y) * np.outer(y, x))


def one_and_the_same(x, y):
    return np.sum(x * x) + np.dot(y, y) + np.sum(np.outer(x, x) @ np.outer(y, y))


def repeated(x, y):
    z = np.sum(x) * np.ones(3)
    return np.sum(z * x) + np.sum(z * 2.0 * y) + np.sum((x - np.mean(x)) ** 2) + np.sum(x[:, None] * y)


ARRAYS = [matrices, same_lengths, one_and_the_same, repeated]
CASES = [different, equal, with_constants, mixed]


@pytest.mark.parametrize("first", CASES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("second", CASES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("args", [(1.25, 0.75), (np.float64(1.25), 0.75), (2, 0.75)], ids=str)
def test_gradients_in_any_order(first: Any, second: Any, args: tuple[Any, Any]) -> None:
    recordings._kept.clear()
    for f in (first, second, first):
        cache_clear()
        chosen = tuple(map(float, args))
        np.testing.assert_allclose(grad(f, argnums=(0, 1))(*args), fd.differences(f, chosen, step=1e-4), rtol=1e-7, atol=1e-8)
    assert recordings._kept


SQUARE = (np.array([0.5, -1.25, 2.0]), np.array([1.5, 0.75, -0.5]))


@pytest.mark.parametrize("first", ARRAYS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("second", ARRAYS, ids=lambda f: f.__name__)
def test_gradients_of_arrays_in_any_order(first: Any, second: Any) -> None:
    recordings._kept.clear()
    for f in (first, second, first):
        cache_clear()
        found = grad(f, argnums=(0, 1))(*SQUARE)
        np.testing.assert_allclose(
            fd.flatten_cotangent(SQUARE, found), fd.differences(f, SQUARE, step=1e-4), rtol=1e-7, atol=1e-8
        )


@pytest.mark.parametrize("lengths", [(3, 4), (4, 3), (3, 3), (1, 3), (3, 1)], ids=str)
def test_lengths_that_are_equal_by_chance_are_not_taken_for_others(lengths: tuple[int, int]) -> None:
    def f(x, y):
        return np.sum(x[:, None] * y) + np.sum(np.sin(x)[:, None] + y * y) + np.sum((x + 1.0) * 2.0)

    for n, m in (lengths, (3, 3), (3, 4), lengths):
        cache_clear()
        args = (np.linspace(0.5, 1.0, n), np.linspace(-1.0, 2.0, m))
        found = grad(f, argnums=(0, 1))(*args)
        assert [bar.shape for bar in found] == [(n,), (m,)]
        np.testing.assert_allclose(fd.flatten_cotangent(args, found), fd.differences(f, args), rtol=1e-7, atol=1e-8)


def test_a_real_and_a_complex_number_are_not_the_same() -> None:
    def f(x, z):
        return (x * z).real + (x * x)

    for _ in range(2):
        cache_clear()
        x_bar, z_bar = grad(f, argnums=(0, 1))(1.5, 0.5 + 2.0j)
        assert (x_bar, z_bar) == (3.5, 1.5 + 0j)


SLOPE = 2.0


def test_a_users_rule_reads_its_module_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def scaled(x):
        return 2.0 * x

    @rrule.register(scaled)
    def scaled_rrule(x):
        def scaled_pullback(y_bar):
            return None, y_bar * SLOPE

        return 2.0 * x, scaled_pullback

    def f(x):
        return scaled(x)

    assert grad(f)(1.0) == 2.0
    monkeypatch.setitem(globals(), "SLOPE", 3.0)
    cache_clear()
    assert grad(f)(1.0) == 3.0
