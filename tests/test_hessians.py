"""`hessian`, `hvp` and `diaghessian`, against differences of gradients and as SciPy's `minimize` takes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from microgradpy import (
    DifferentiationError,
    MutationError,
    NonScalarOutputError,
    diaghessian,
    gradient,
    hess,
    hessian,
    hessians,
    hessp,
    hvp,
)
from microgradpy.cache import CACHE
from tests.program_numbers import batches
from tests.random_programs import random_program
from tests.ways import some


def by_differences(f: Callable[..., Any], x: Any, v: Any, *rest: Any, h: float = 1e-5) -> Any:
    after, before = (gradient(f, x + sign * h * v, *rest)[0] for sign in (1.0, -1.0))
    after, before = (np.zeros(np.shape(x)) if bar is None else np.asarray(bar) for bar in (after, before))
    return (after - before) / (2.0 * h)


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def recurrence(x: Any) -> Any:
    states = [x[0]]
    for k in range(6):
        states.append(math.sin(states[-1]) * x[1] + x[2] / (k + 1))
        if k % 2:
            states[k] = states[k - 1] * states[-1]
    return sum(states) + states[3]


def helper(a: Any, b: Any) -> Any:
    return a * np.exp(-b), (a - b) ** 2


def calls(x: Any) -> Any:
    total = 0.0
    for k in range(3):
        first, second = helper(x[k], x[(k + 1) % 3])
        total = total + first * second
    return total


def matrices(x: Any) -> Any:
    a = np.outer(x, x) + np.eye(3)
    return np.sum(np.tanh(a @ x) ** 2) + np.log(np.sum(np.exp(x))) + x @ a @ x


def branches(x: Any) -> Any:
    best = max(x[0] * x[1], x[2] ** 2)
    while best < 10.0:
        best = best * 1.7 + x[0] ** 2
    return best * x[1] if x[1] > 0.0 else best - x[1] ** 3


def tables(x: Any) -> Any:
    table = {"a": x[0] * x[1], "b": x[1] ** 2}
    rows = [[table["a"], x[2]], [table["b"] * x[2], 1.0]]
    rows[0][1] = rows[0][1] * rows[1][0]
    return sum(v * w for row in rows for v, w in zip(row, row[::-1], strict=True))


def loops(x: Any) -> Any:
    y, z = 0.1, 1.0
    for k in range(7):
        y, z = y * x[k % 3] + math.sin(z), z * 0.5 + y * x[0]
    return y * z


def layers(x: Any) -> Any:
    w, rows = x[:2].reshape(1, 2), np.linspace(-1.0, 1.0, 4)[:, None]
    hidden = np.tanh(rows @ w + x[1:3])
    return np.mean((hidden @ x[1:3] - x[0]) ** 2)


WEIGHTS = np.array([0.5, 1.5, 2.5])


def tuples_beside_constant_ones(x: Any) -> Any:
    constants, rows = (tuple(WEIGHTS[1] for _ in range(3)), tuple(v * x[0] for v in x)), [tuple(v * v for v in x)]
    pair = (tuple(WEIGHTS[2] for _ in range(3)), tuple(v * x[1] for v in x))
    return constants[0][1] * constants[1][2] + rows[0][1] ** 2 + pair[0][0] * pair[1][0]


FUNCTIONS = [rosenbrock, recurrence, calls, matrices, branches, tables, loops, layers, tuples_beside_constant_ones]
X = np.array([0.4, -0.7, 1.3])


@pytest.mark.parametrize("f", FUNCTIONS)
def test_products_against_differences(f: Callable[..., Any]) -> None:
    for v in (np.array([1.0, -0.5, 2.0]), np.array([0.0, 1.0, 0.0])):
        np.testing.assert_allclose(hvp(f, X, v), by_differences(f, X, v), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_the_hessian_is_symmetric_and_made_of_the_products(f: Callable[..., Any]) -> None:
    found = hessian(f, X)
    np.testing.assert_allclose(found, found.T, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found @ np.array([1.0, -0.5, 2.0]), hvp(f, X, np.array([1.0, -0.5, 2.0])), rtol=1e-9)
    np.testing.assert_allclose(diaghessian(f, X), np.diag(found), rtol=1e-9, atol=1e-12)


def two_readers(x: Any) -> Any:
    """Of an array: the cotangent of a part is added to what the other reader has given."""
    v = x[1:] / (2.0 + x[0] ** 2)
    return np.sum(v) + np.sum(v[:, None] * x[1:])


AT_ONCE = [rosenbrock, calls, branches, loops, layers, two_readers]
AT_ONCE += [lambda x: np.sum(x) ** 3 + x @ x, lambda x: np.exp(x[:, None] * x).sum()]


@pytest.mark.parametrize("f", AT_ONCE)
@pytest.mark.parametrize("x", [np.tile(X, 3), np.linspace(-1.0, 1.0, 10) + 0.01])
def test_columns_go_at_once(f: Callable[..., Any], x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = CACHE.batches
    found = hessian(f, x)
    assert CACHE.batches == before + 1
    monkeypatch.setattr(hessians, "bars_in_many", lambda *_: None)
    np.testing.assert_allclose(found, hessian(f, x), rtol=1e-12, atol=1e-13)


def test_many_columns_go_in_parts() -> None:
    x = np.linspace(-1.0, 1.0, 300)
    before = CACHE.batches
    found = hessian(rosenbrock, x)
    assert 1 < CACHE.batches - before < 10
    np.testing.assert_allclose(found[:, 211], hvp(rosenbrock, x, np.eye(300)[211]), rtol=1e-12)


def test_columns_that_cannot_go_at_once() -> None:
    def f(x: Any) -> Any:
        try:
            return x[0] * x[1] ** 2
        except ZeroDivisionError:
            return x[0]

    before = CACHE.batches
    np.testing.assert_allclose(hessian(f, np.array([1.0, 3.0])), [[0.0, 6.0], [6.0, 2.0]])
    np.testing.assert_allclose(hessian(rosenbrock, np.ones(3, np.float32)), hessian(rosenbrock, np.ones(3)), rtol=1e-5)
    assert CACHE.batches == before + 1


def test_known_ones() -> None:
    np.testing.assert_array_equal(hessian(lambda x: x[0] * x[1], np.array([1.0, 2.0])), [[0.0, 1.0], [1.0, 0.0]])
    cubes = hessian(lambda x: np.sum(x**3), np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert cubes.shape == (2, 2, 2, 2)
    np.testing.assert_array_equal(cubes.reshape(4, 4), np.diag([6.0, 12.0, 18.0, 24.0]))
    assert hessian(lambda x: math.sin(x), math.pi / 2.0) == pytest.approx(-1.0)
    np.testing.assert_allclose(diaghessian(lambda x: x[0] * x[1] ** 2, np.array([1.0, math.pi])), [0.0, 2.0])
    of_angle = hessian(lambda x: math.atan2(x[0], x[1]), np.array([1.0, 2.0]))
    np.testing.assert_allclose(of_angle, [[-0.16, -0.12], [-0.12, 0.16]])
    np.testing.assert_array_equal(hessian(lambda x: x.sum(), np.ones(3)), np.zeros((3, 3)))
    np.testing.assert_array_equal(hessian(lambda x: 3.0, np.ones(2)), np.zeros((2, 2)))


def test_a_tangent_that_is_zero_has_a_derivative() -> None:
    """y_dot = -s_dot / (1 + s)^2 with s_dot = 2 x x_dot, which is zero at 0 and moves all the same."""
    assert hessian(lambda x: 1.0 / (1.0 + x * x), 0.0) == -2.0
    np.testing.assert_allclose(hessian(lambda x: np.sum(1.0 / (1.0 + x[1:] * x[:-1])), np.zeros(2)), [[0.0, -1.0], [-1.0, 0.0]])
    assert hessian(lambda x: (max(x, 0.0) * x) ** 2 / (1.0 + x), 0.0) == 0.0


def test_other_arguments_are_constants() -> None:
    def f(x: Any, scale: float, *, power: int = 2) -> Any:
        return scale * np.sum(x**power)

    np.testing.assert_allclose(hessian(f, np.array([1.0, 2.0]), 3.0, power=3), np.diag([18.0, 36.0]))
    np.testing.assert_allclose(hvp(f, np.array([1.0, 2.0]), np.array([1.0, 0.0]), 3.0), [6.0, 0.0])


def test_captured_values_and_methods() -> None:
    weights = np.array([1.0, 2.0])

    class Loss:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        def __call__(self, x: Any) -> Any:
            return self.scale * np.sum(weights * x**2)

        def method(self, x: Any) -> Any:
            return np.sum(weights * x**2) * self.scale * 2.0

    np.testing.assert_allclose(hessian(lambda x: np.sum(weights * x**3), np.ones(2)), np.diag([6.0, 12.0]))
    np.testing.assert_allclose(hessian(Loss(3.0), np.ones(2)), np.diag([6.0, 12.0]))
    np.testing.assert_allclose(hessian(Loss(3.0).method, np.ones(2)), np.diag([12.0, 24.0]))


def test_what_cannot_be_is_refused() -> None:
    seen: list[Any] = []

    def writes(x: Any) -> Any:
        seen.append(x)
        return np.sum(x**2)

    with pytest.raises(MutationError, match="writes may write into what others have"):
        hessian(writes, X)
    with pytest.raises(NonScalarOutputError, match="an array of shape"):
        hessian(lambda x: x * 2.0, X)
    with pytest.raises(DifferentiationError, match=r"first argument of .* is a dict"):
        hessian(lambda x: x["a"], {"a": 1.0})
    with pytest.raises(DifferentiationError, match="the vector is an array of shape"):
        hvp(rosenbrock, X, np.ones(2))


def test_a_hessian_has_a_gradient() -> None:
    assert gradient(lambda x: hessian(lambda t: t**3, x), 1.0) == (6.0,)


def test_newton_methods() -> None:
    start = np.array([-1.2, 1.0, 0.8])
    for options in ({"hess": hess(rosenbrock)}, {"hessp": hessp(rosenbrock)}):
        found = optimize.minimize(rosenbrock, start, jac=lambda x: gradient(rosenbrock, x)[0], method="Newton-CG", **options)
        np.testing.assert_allclose(found.x, np.ones(3), rtol=1e-4)
    exact = optimize.minimize(
        rosenbrock, start, jac=lambda x: gradient(rosenbrock, x)[0], hess=hess(rosenbrock), method="trust-exact"
    )
    np.testing.assert_allclose(exact.x, np.ones(3), rtol=1e-6)


def judged(number: int) -> Iterator[bool]:
    """Whether a random program has a second derivative, for each of its points; which is right if it has one: differences of
    gradients, of two lengths, that agree with each other say what it is."""
    program = random_program(number)
    function = program.load()
    for x, *rest in program.points:
        v = np.random.default_rng(number).normal(size=np.shape(x))
        v = float(v) if isinstance(x, float) else v
        with np.errstate(all="ignore"):
            try:
                found = hvp(function, x, v, *rest)
            except DifferentiationError:
                yield False
                continue
            near, far = (by_differences(function, x, v, *rest, h=h) for h in (1e-6, 1e-5))
        if np.allclose(near, far, rtol=1e-4, atol=1e-5):
            scale = 1.0 + np.max(np.abs(far))
            np.testing.assert_allclose(found, far, rtol=1e-3, atol=1e-3 * scale, err_msg=program.source)
        yield True


@pytest.mark.parametrize("batch", batches(), ids=str)
def test_no_random_program_is_wrong(batch: range) -> None:
    for number in some(batch, "random hessians"):
        assert len(list(judged(number))) == 2


def test_most_random_programs_have_one() -> None:
    found = [has_one for number in range(30) for has_one in judged(number)]
    assert sum(found) >= 0.7 * len(found)


def cubes(x: Any) -> Any:
    return np.sum(x**3)


def raises_beside(x: Any) -> Any:
    np.multiply(x, 2.0) + np.ones(2)
    return np.sum(x * x * x)


def raises_a_number(x: Any) -> Any:
    math.exp(800.0 * x)
    return x * x * x


def test_what_only_the_value_needs_is_left_out_where_it_cannot_raise() -> None:
    x = np.array([1e150, 2.0])
    with np.errstate(over="raise"):
        for _ in range(3):
            np.testing.assert_array_equal(hvp(cubes, x, np.ones(2)), 6.0 * x)
    np.testing.assert_array_equal(hvp(raises_beside, x, np.ones(2)), 6.0 * x)
    with pytest.raises(ValueError, match="broadcast"):
        hvp(raises_beside, np.ones(3), np.ones(3))
    assert hvp(raises_a_number, 0.5, 1.0) == 3.0
    for _ in range(3):
        with pytest.raises(OverflowError):
            hvp(raises_a_number, 1.0, 1.0)
