"""`jacobian`, `value_and_jacobian` and `jac`: by rows and by columns, and as SciPy's solvers take them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize

from microgradpy import DifferentiationError, gradient, jac, jacobian, jacobians, value_and_jacobian
from microgradpy.cache import CACHE

X = np.array([0.5, -1.2, 2.0])
T = np.linspace(0.0, 2.0, 7)


def by_differences(f: Callable[..., Any], x: Any) -> Any:
    x = np.asarray(x, float)
    columns = []
    for place in range(x.size):
        h = np.zeros(x.size)
        h[place] = 1e-6
        h = h.reshape(x.shape)
        columns.append((np.asarray(f(x + h)) - np.asarray(f(x - h))) / 2e-6)
    return np.stack(columns, -1).reshape(np.shape(columns[0]) + x.shape)


def decays(x: Any) -> Any:
    return x[0] * np.exp(-(x[1] ** 2) * T) + x[2]


def recurrence(x: Any) -> Any:
    states = [x[0]]
    for k in range(5):
        states.append(states[-1] * x[1] + math.sin(x[2] * k))
    return np.array(states)


def clipped(x: Any) -> Any:
    return np.array([max(v, 0.0) ** 3 for v in x] + [x[0] if x[1] > 0 else x[2]])


@pytest.mark.parametrize(
    "f", [decays, recurrence, clipped, np.cumsum, lambda x: np.outer(x, x), lambda x: x @ x, lambda x: x[1:] * x[0]]
)
def test_against_differences(f: Callable[..., Any]) -> None:
    found = jacobian(f, X)
    expected = by_differences(f, X)
    assert np.shape(found) == expected.shape
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_numbers() -> None:
    assert jacobian(lambda x: x**3, 2.0) == 12.0
    assert type(jacobian(lambda x: x**3, 2.0)) is float
    np.testing.assert_array_equal(jacobian(lambda x: x * np.arange(3.0), 2.0), [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(jacobian(lambda x: x.sum(), np.ones((2, 2))), np.ones((2, 2)))


def test_several_arguments() -> None:
    y, (of_a, of_x) = value_and_jacobian(lambda a, x: a**2 * x, np.array([1.0, 2.0, 3.0]), 1.0, argnums=(0, 1))
    np.testing.assert_array_equal(y, [1.0, 4.0, 9.0])
    np.testing.assert_array_equal(of_a, np.diag([2.0, 4.0, 6.0]))
    np.testing.assert_array_equal(of_x, [1.0, 4.0, 9.0])
    assert jacobian(lambda a, x, scale: a * x * scale, 2.0, 3.0, argnums=-1, scale=5.0) == 10.0


def test_what_is_read_only_of_some_arguments_is_zero() -> None:
    np.testing.assert_array_equal(jacobian(lambda a, x: x * T, X, 2.0), np.zeros((7, 3)))


def test_float32_is_kept() -> None:
    assert jacobian(lambda x: np.exp(x), X.astype(np.float32)).dtype == np.float32


def test_a_program_that_prints_runs_once(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print("here")
        return x[0] * T

    np.testing.assert_allclose(jacobian(f, X)[:, 0], T)
    assert capsys.readouterr().out == "here\n"


def test_a_program_that_writes_into_what_others_have_runs_once() -> None:
    log: list[Any] = []

    def f(x: Any) -> Any:
        log.append(x[0])
        return x[0] * T

    np.testing.assert_allclose(jacobian(f, X)[:, 0], T)
    assert log == [0.5]


def test_a_program_that_writes_into_its_argument() -> None:
    def f(x: Any) -> Any:
        x *= x
        return x[:2] * x[2]

    for options in ({}, {"sparsity": "detect"}):
        x = X.copy()
        found = jacobian(f, x, **options)
        found = found.toarray() if options else found
        np.testing.assert_array_equal(x, X**2)
        np.testing.assert_allclose(found, by_differences(lambda x: f(x.copy()), X), rtol=1e-6)


def test_a_program_that_only_computes_takes_a_run_for_each_column() -> None:
    """Which nobody sees but by what `decays` calls."""
    runs: list[int] = []

    def counted(x: Any) -> Any:
        runs.append(1)
        return decays(x)

    jacobian(counted, X)
    assert len(runs) == 1
    np.testing.assert_allclose(jacobian(decays, X), jacobian(counted, X), rtol=1e-12)


def bands(x: Any) -> Any:
    r = np.empty_like(x)
    r[1:-1] = x[2:] - 2.0 * x[1:-1] * x[:-2]
    r[0], r[-1] = x[0] - 1.0, x[-1] ** 2
    return r


def of_matrices(x: Any) -> Any:
    return np.tanh(x.reshape(3, 2) @ x[:4].reshape(2, 2)).ravel()[:4]


def loop(x: Any) -> Any:
    y, z = 0.5, 1.0
    for k in range(9):
        y, z = y * x[k % 3] + math.sin(z), z * 0.5 + y
    return np.array([y, z])


AT_ONCE = [(decays, X), (recurrence, np.tile(X, 3)), (bands, np.linspace(0.5, 1.5, 8)), (of_matrices, np.linspace(0.5, 1.5, 6))]
AT_ONCE += [(lambda x: np.sin(x[1:]) * x[0], np.linspace(0.0, 1.0, 150)), (lambda x: (x @ x.T)[0], np.ones((2, 9)))]
"""By columns; and, where there are fewer rows, by these."""


@pytest.mark.parametrize(("f", "x"), AT_ONCE)
def test_columns_or_rows_go_at_once(f: Callable[..., Any], x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = CACHE.batches
    found = jacobian(f, x)
    assert CACHE.batches > before
    monkeypatch.setattr(jacobians, "many_outermost", lambda *_: None)
    monkeypatch.setattr(jacobians, "seeds_at_once", lambda *_: None)
    before = CACHE.batches
    np.testing.assert_allclose(found, jacobian(f, x), rtol=1e-12, atol=1e-14)
    assert CACHE.batches == before


def test_arguments_together_go_at_once() -> None:
    def f(s: Any, x: Any) -> Any:
        return s * np.concatenate([x, x * x])

    before = CACHE.batches
    of_s, of_x = jacobian(f, 0.5, X, argnums=(0, 1))
    assert CACHE.batches > before and of_s.shape == (6,) and of_x.shape == (6, 3)
    np.testing.assert_allclose(of_s, f(1.0, X))
    np.testing.assert_allclose(of_x, np.vstack([0.5 * np.eye(3), np.diag(X)]))


def test_few_rows_are_not_many_columns() -> None:
    x = np.linspace(0.0, 1.0, 12)
    jacobian(loop, x)
    before = CACHE.batches
    np.testing.assert_allclose(jacobian(loop, x)[:, :3], by_differences(loop, x)[:, :3], rtol=1e-6)
    assert CACHE.batches <= before + 1


@pytest.mark.parametrize("x", [{"a": 1.0}, [1.0, 2.0], 1.0 + 2.0j, True, np.array([1.0 + 1.0j])])
def test_other_arguments_are_refused(x: Any) -> None:
    with pytest.raises(DifferentiationError, match=r"argument 0 of .* is"):
        jacobian(lambda x: x, x)


@pytest.mark.parametrize("make", [lambda x: {"a": x}, lambda x: (x, x), lambda x: x * 1j, lambda x: None])
def test_other_values_are_refused(make: Callable[..., Any]) -> None:
    with pytest.raises(DifferentiationError, match="the value of"):
        jacobian(make, 1.0)


def test_argnums_are_checked() -> None:
    with pytest.raises(TypeError, match="argnums contains 1"):
        jacobian(lambda x: x, 1.0, argnums=1)


def test_it_has_a_gradient() -> None:
    assert gradient(lambda x: jacobian(lambda t: t * t, x) * 2.0, 1.0) == (4.0,)


def residuals(p: Any, t: Any, y: Any) -> Any:
    return p[0] * np.exp(-p[1] * t) - y


def test_least_squares() -> None:
    t = np.linspace(0.0, 3.0, 40)
    y = 2.5 * np.exp(-1.3 * t)
    found = optimize.least_squares(residuals, [1.0, 1.0], jac=jac(residuals), args=(t, y))
    np.testing.assert_allclose(found.x, [2.5, 1.3], rtol=1e-6)


def test_root() -> None:
    def circle_and_line(v: Any) -> Any:
        return np.array([v[0] ** 2 + v[1] ** 2 - 2.0, v[0] - v[1]])

    found = optimize.root(circle_and_line, [2.0, 0.5], jac=jac(circle_and_line))
    np.testing.assert_allclose(found.x, [1.0, 1.0])


def test_a_stiff_equation() -> None:
    def rhs(t: float, y: Any) -> Any:
        return np.array([-100.0 * (y[0] - math.cos(t)), y[0] - y[1]])

    with_jacobian = integrate.solve_ivp(rhs, (0.0, 1.0), [0.0, 1.0], method="BDF", jac=jac(rhs, argnums=1))
    without = integrate.solve_ivp(rhs, (0.0, 1.0), [0.0, 1.0], method="BDF")
    np.testing.assert_allclose(with_jacobian.y[:, -1], without.y[:, -1], rtol=1e-2)
