"""Many directions, and many seeds, in one call: `jvp(..., batched=True)` and `back.batched`."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from microgradpy import (
    CotangentShapeError,
    DifferentiationError,
    Tangent,
    code_pushforward,
    gradient,
    hessian,
    hvp,
    jacobian,
    jvp,
    pullback,
)
from microgradpy.cache import CACHE
from microgradpy.tangents import batched_rows, batches
from microgradpy.tangents.arithmetic import unbroadcast

X = np.array([0.5, -1.2, 2.0])
V = np.random.default_rng(5).normal(size=(4, 3))


class Point(NamedTuple):
    x: Any
    y: Any


class Model:
    def __init__(self, weights: Any, bias: float) -> None:
        self.weights, self.bias = weights, bias


def affine(model: Model, x: Any) -> Any:
    return np.tanh(model.weights * x) + model.bias


def pair(x: Any) -> Any:
    return {"a": [x[0] * x[1], np.sin(x)], "b": Point(x.sum(), "text")}


def printing(x: Any) -> Any:
    print("here")
    return x**2


def alike(a: Any, b: Any) -> None:
    """Whether two trees are the same, to the last bit."""
    if isinstance(b, dict | Tangent | tuple | list):
        assert type(a) is type(b)
    if isinstance(a, dict | Tangent):
        assert [*a] == [*b]
        a, b = [*a.values()], [*b.values()]
    if isinstance(a, tuple | list):
        assert len(a) == len(b)
        for first, second in zip(a, b, strict=True):
            alike(first, second)
    else:
        np.testing.assert_array_equal(a, b)


def at(stack: Any, number: int) -> Any:
    if isinstance(stack, Tangent):
        return Tangent(stack.primal_type, {name: at(part, number) for name, part in stack.items()})
    if isinstance(stack, dict):
        return {key: at(part, number) for key, part in stack.items()}
    if isinstance(stack, tuple | list):
        items = [at(part, number) for part in stack]
        return items if isinstance(stack, list) else type(stack)(*items) if hasattr(stack, "_fields") else tuple(items)
    return None if stack is None else stack[number]


@pytest.mark.parametrize("f", [np.sin, lambda x: x[0] * x, lambda x: np.outer(x, x), lambda x: x @ x, printing])
def test_directions_are_those_one_by_one(f: Callable[..., Any]) -> None:
    y, y_dots = jvp(f, (X,), (V,), batched=True)
    np.testing.assert_array_equal(y, f(X))
    for number, v in enumerate(V):
        np.testing.assert_allclose(y_dots[number], jvp(f, (X,), (v,))[1], rtol=1e-14)
    np.testing.assert_allclose(np.moveaxis(y_dots, 0, -1), np.dot(jacobian(f, X), V.T), rtol=1e-12)


def test_structures() -> None:
    _, found = jvp(pair, (X,), (V,), batched=True)
    assert found["a"][0].shape == (4,) and found["a"][1].shape == (4, 3) and found["b"].y is None
    for number, v in enumerate(V):
        one = jvp(pair, (X,), (v,))[1]
        np.testing.assert_array_equal(found["a"][1][number], one["a"][1])
        assert found["b"].x[number] == one["b"].x

    weights, biases = V[:, :2], V[:, 2]
    model = Model(np.array([1.0, 2.0]), 0.5)
    _, found = jvp(affine, (model, 3.0), (Tangent(Model, weights=weights, bias=biases), None), batched=True)
    for number in range(4):
        dot = Tangent(Model, weights=weights[number], bias=biases[number])
        np.testing.assert_array_equal(found[number], jvp(affine, (model, 3.0), (dot, None))[1])

    given, dots = {"a": 2.0, "b": [3.0, X]}, {"a": V[:, 0], "b": [V[:, 1], None]}
    _, found = jvp(lambda p: p["a"] * p["b"][0], (given,), (dots,), batched=True)
    np.testing.assert_allclose(found, 3.0 * V[:, 0] + 2.0 * V[:, 1])


def test_a_program_that_prints_runs_once(capsys: pytest.CaptureFixture[str]) -> None:
    jvp(printing, (X,), (V,), batched=True)
    assert capsys.readouterr().out == "here\n"


def test_no_directions() -> None:
    _, found = jvp(pair, (X,), (np.zeros((0, 3)),), batched=True)
    assert found["a"][1].shape == (0, 3) and found["a"][0].shape == (0,)
    _, back = pullback(np.sin, X)
    assert back.batched(np.zeros((0, 3)))[1].shape == (0, 3)


def test_seeds_are_those_one_by_one() -> None:
    _, back = pullback(affine, Model(X, 0.5), 3.0)
    alike(at(back.batched(V), 2), back(V[2]))
    assert back.batched(V)[1].weights.shape == (4, 3) and back.batched(V)[2].shape == (4,)

    _, back = pullback(pair, X)
    seeds = {"a": [V[:, 0], V], "b": Point(None, None)}
    for number in range(4):
        alike(at(back.batched(seeds), number), back({"a": [V[number, 0], V[number]], "b": Point(None, None)}))


def test_float32_is_kept() -> None:
    x = X.astype(np.float32)
    assert jvp(np.sin, (x,), (V,), batched=True)[1].dtype == np.float32
    assert pullback(np.sin, x)[1].batched(V)[1].dtype == np.float32


def test_an_argument_that_nothing_depends_on() -> None:
    _, back = pullback(lambda x, name: x * 2.0, X, "text")
    assert back.batched(V)[2] is None


@pytest.mark.parametrize(
    ("tangents", "words"),
    [
        ((V, V[:2, 0]), "have the lengths 2, 4"),
        ((None, None), "has no arrays"),
        ((V, 1.0), "a number in the tangents has no leading axis"),
        ((V[:, :2], None), r"the tangent of argument 0 is an array of shape \(2,\)"),
        ((V, V), r"the tangent of argument 1 is an array of shape \(3,\)"),
        (([V[:, 0], V[:, 1]], None), "the tangent of argument 0"),
    ],
)
def test_tangents_that_do_not_fit(tangents: Any, words: str) -> None:
    with pytest.raises(CotangentShapeError, match=words):
        jvp(lambda x, y: x * y, (X, 2.0), tangents, batched=True)


def test_seeds_that_do_not_fit() -> None:
    _, back = pullback(lambda x: (x, x[0]), X)
    with pytest.raises(CotangentShapeError, match="have the lengths 2, 4"):
        back.batched((V, V[:2, 0]))
    with pytest.raises(CotangentShapeError, match="tuple of 3"):
        back.batched((V, V[:, 0], V))


def test_inside_of_what_is_differentiated_it_is_refused() -> None:
    with pytest.raises(DifferentiationError):
        gradient(lambda x: jvp(np.sin, (x,), (V,), batched=True)[1].sum(), X)


# At once


def loop_over_scalars(p: Any) -> Any:
    y = 0.0
    for k in range(7):
        y = 0.5 * y + p[k % 3] * math.sin(y) + p[(k + 1) % 3]
    return y


def loop_over_arrays(p: Any) -> Any:
    s, out = np.array([1.0, 0.5]), []
    for _ in range(5):
        s = s + 0.1 * np.array([p[0] * s[0] - p[1] * s[0] * s[1], -p[2] * s[1] + s[0] * s[1]])
        out.append(s)
    return np.stack(out)


def while_loop(x: Any) -> Any:
    y, n = x, 0
    while y.sum() < 20.0 and n < 9:
        y, n = y * 1.5 + 1.0, n + 1
    return y / n


def loop_that_breaks(x: Any) -> Any:
    total = 0.0
    for item in x:
        if item > 1.0:
            break
        total = total + item * item
    return total * x


def written_in_place(x: Any) -> Any:
    r = np.zeros_like(x)
    r[1:] = x[:-1] * x[1:]
    r[0] = np.sin(x[0])
    r[-1] += x[0]
    return r


def numbers_outlive_writes(x: Any) -> Any:
    r = x * 1.0
    first = r[0]
    r[0] = r[1] * r[2]
    r[1:] = first
    return r * first


def number_written_at_places(x: Any) -> Any:
    """Where there are as many places as directions, which must not be taken for each other."""
    r = np.zeros(12)
    r[np.arange(9)] = x[0] * x[1]
    r[r > 100.0] = x[2]
    return r


def directions(x: Any) -> Any:
    directions = x * x[0]
    for j in range(2):
        directions = directions + j * x
    return directions


def list_of_numbers(x: Any) -> Any:
    r = [0.0] * 3
    for k in range(3):
        r[k] = x[k] * x[k - 1]
    r.append(sum(r))
    return np.array(r)


def matrices(a: Any, x: Any) -> Any:
    return (a @ a.T) @ (a @ x) + np.outer(x, x).sum(axis=0)[:2] + np.dot(x, x) * a.mean(axis=1)


def products(a: Any, x: Any) -> Any:
    b = a * x
    return x @ b.T, b @ b.T, (b @ x) @ b, np.outer(x, b @ x), np.dot(b, x)


def stack_of_matrices(a: Any) -> Any:
    return a @ a.swapaxes(-1, -2) * a.sum(axis=(0, 2), keepdims=True)


def reductions(a: Any) -> Any:
    return a.sum(), a.sum(axis=0), a.mean(axis=-1), np.sum(a * a, axis=1, keepdims=True) * a, np.cumsum(a, axis=1), a.max()


def shapes(a: Any) -> Any:
    return a.T, a.reshape(3, 2), a.ravel(), np.transpose(a, (1, 0)), a.flatten(), np.concatenate([a, a * a], axis=1), a[:, None]


def indices(x: Any) -> Any:
    order = np.array([2, 0, 2])
    return x[::-1], x[order] * x, x[x > 0.0], np.stack([x, x[order]], axis=1)[:, 0], x[..., None] * x, x[-1]


def ranks_that_differ(s: Any, x: Any, a: Any) -> Any:
    return s * x, x * a, s * a + x, a / s + np.sum(x), (s + x[0]) * x, np.where(a > 0.0, x, s), np.maximum(a, x)


def branches_on_values(x: Any) -> Any:
    y = x[0] * x if x[1] < 0.0 else x * x
    return y if y.sum() > 0.0 else (y * 2.0) ** 3


def helper(x: Any, n: int) -> Any:
    return np.exp(x) * n, np.sin(x)


def calls_a_helper(x: Any) -> Any:
    a, b = helper(x, 2)
    return a * b + helper(x[0], 1)[0]


def structures_of_values(x: Any) -> Any:
    pair_of = (x * x, [x[0], x[1]])
    return {"a": pair_of[0] * pair_of[1][0], "b": pair_of[1]}


def powers(x: Any) -> Any:
    return x**3 + np.abs(x) ** 1.5, np.abs(x[0]) ** np.abs(x), 2.0**x, np.linalg.norm(x), np.minimum(x, x[0])


def of_an_object(x: Any, model: Model) -> Any:
    return np.tanh(model.weights * x) + model.bias


def infinite_slope(x: Any) -> Any:
    return np.where(x > 0.0, np.sqrt(np.abs(x)), x)


def padded(a: Any) -> Any:
    u = np.pad(a, 1)
    return u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * a


def linear_algebra(a: Any, x: Any) -> Any:
    spd = a @ a.T + 3.0 * np.eye(2)
    low = np.linalg.cholesky(spd)
    return np.linalg.solve(spd, x[:2]), np.linalg.inv(spd), np.linalg.det(spd), low, np.linalg.eigvalsh(spd), np.trace(spd)


def spectrum(x: Any) -> Any:
    return np.abs(np.fft.fft(x)) ** 2 * x


def axes_unknown(x: Any, p: Any) -> Any:
    """What is in a dict may have any number of axes."""
    hidden = np.tanh(p["w"] @ x + p["b"])
    return np.sum(hidden * p["w"][:, 0]) + hidden


def put_together(x: Any) -> Any:
    return np.hstack([x * x, x[0], np.vstack([x, x * x]).sum(axis=0)]) + np.tensordot(x, np.ones((3, 7)), axes=1)


def chosen(x: Any) -> Any:
    return x[np.argsort(x)] * x + np.clip(x, -1.0, 1.0) ** 3 + np.sort(x)


def closure(x: Any) -> Any:
    def slope(y: Any) -> Any:
        return y * x[0] + x

    return slope(slope(x))


def recursive_closure(x: Any) -> Any:
    def rest(k: int) -> Any:
        return 0.0 if k == 3 else x[k] ** 2 + rest(k + 1)

    return rest(0)


def depends_on_recursion(x: Any, n: int = 3) -> Any:
    return x if n == 0 else x * depends_on_recursion(x, n - 1)


A, S3 = np.random.default_rng(6).normal(size=(2, 3)), np.random.default_rng(7).normal(size=(2, 2, 3))
AT_ONCE = [
    (loop_over_scalars, (X,)),
    (loop_over_arrays, (X,)),
    (while_loop, (X,)),
    (loop_that_breaks, (X,)),
    (written_in_place, (X,)),
    (numbers_outlive_writes, (X,)),
    (list_of_numbers, (X,)),
    (directions, (X,)),
    (matrices, (A, X)),
    (products, (A, X)),
    (stack_of_matrices, (S3,)),
    (reductions, (A,)),
    (shapes, (A,)),
    (indices, (X,)),
    (ranks_that_differ, (0.7, X, A)),
    (branches_on_values, (X,)),
    (calls_a_helper, (X,)),
    (structures_of_values, (X,)),
    (powers, (X,)),
    (padded, (A,)),
    (infinite_slope, (np.array([1.0, 0.0, -2.0]),)),
    (linear_algebra, (A, X)),
    (spectrum, (X,)),
    (axes_unknown, (X, {"w": A, "b": np.array([0.1, -0.4])})),
    (put_together, (X,)),
    (chosen, (X,)),
    (closure, (X,)),
    (recursive_closure, (X,)),
    (depends_on_recursion, (X,)),
    (lambda s: (s * s, math.exp(s) * s), (0.3,)),
    (lambda x, y: x[0] * y[1][0] + x[1], ((0.5, 2.0), [1.5, [X]])),
]


def directions_of(x: Any, draw: np.random.Generator) -> Any:
    if isinstance(x, list | tuple):
        return type(x)([directions_of(item, draw) for item in x])
    if isinstance(x, dict):
        return {key: directions_of(item, draw) for key, item in x.items()}
    return draw.normal(size=(9, *np.shape(x)))


def compare(a: Any, b: Any) -> None:
    """Whether two trees of arrays are the same, but for rounding."""
    if isinstance(a, dict):
        a, b = [*a.values()], [*b.values()]
    if isinstance(a, tuple | list):
        for first, second in zip(a, b, strict=True):
            compare(first, second)
    elif a is None:
        assert b is None
    else:
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("f", "args"), AT_ONCE, ids=lambda case: getattr(case, "__name__", ""))
def test_directions_go_at_once(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    stacks = tuple(directions_of(x, np.random.default_rng(8)) for x in args)
    before = CACHE.batches
    y, dots = jvp(f, args, stacks, batched=True)
    assert CACHE.batches == before + 1
    compare(y, f(*args))
    for number in range(9):
        compare(at(dots, number), jvp(f, args, at(stacks, number))[1])


def prints(x: Any) -> Any:
    print("x")
    return x * x


def catches(x: Any) -> Any:
    try:
        return x * x / x.sum()
    except ZeroDivisionError:
        return x


def divides(x: Any) -> Any:
    return x / (x.sum() - x.sum())


ONE_BY_ONE = [
    (prints, (X,)),
    (catches, (X,)),
    (number_written_at_places, (X,)),
    (np.sin, (X,)),
    (lambda x: x * x, (X.astype(np.float32),)),
    (lambda x: x * 1j, (X,)),
]


@pytest.mark.parametrize(("f", "args"), ONE_BY_ONE, ids=lambda case: getattr(case, "__name__", ""))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_directions_go_one_by_one(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    stacks = tuple(directions_of(x, np.random.default_rng(8)) for x in args)
    before = CACHE.batches
    dots = jvp(f, args, stacks, batched=True)[1]
    assert CACHE.batches == before
    for number in range(9):
        np.testing.assert_allclose(dots[number], jvp(f, args, at(stacks, number))[1], rtol=1e-7)


def test_what_numpy_warns_of_is_seen_as_in_one_direction() -> None:
    x = np.array([1.0, 2.0])
    with pytest.warns(RuntimeWarning) as seen:
        jvp(divides, (x,), (np.eye(2),), batched=True)
    assert any("divide by zero" in str(each.message) for each in seen)


def test_few_directions_of_numbers_go_one_by_one() -> None:
    """As arithmetic on short arrays takes longer than that on numbers."""
    before = CACHE.batches
    jvp(loop_over_scalars, (X,), (V,), batched=True)
    assert CACHE.batches == before
    jvp(loop_over_scalars, (X,), (np.tile(V, (3, 1)),), batched=True)
    assert CACHE.batches == before + 1


def test_many_directions_go_in_parts() -> None:
    stack = np.random.default_rng(9).normal(size=(300, 3))
    before = CACHE.batches
    dots = jvp(loop_over_arrays, (X,), (stack,), batched=True)[1]
    assert CACHE.batches == before + 3
    np.testing.assert_allclose(dots[257], jvp(loop_over_arrays, (X,), (stack[257],))[1], rtol=1e-12)


def test_objects_in_sight() -> None:
    model, stack = Model(X * 2.0, 0.5), np.tile(V, (3, 1))
    before = CACHE.batches
    dots = jvp(of_an_object, (X, model), (stack, None), batched=True)[1]
    assert CACHE.batches == before + 1
    np.testing.assert_allclose(dots[2], jvp(of_an_object, (X, model), (stack[2], None))[1], rtol=1e-12)


def test_the_text_can_be_read() -> None:
    text = code_pushforward(ranks_that_differ, 0.7, X, A, batched=True)
    assert text.startswith("def ranks_that_differ_pushforward(s, x, a, s_dot, x_dot, a_dot, directions):")
    assert "s_dot[:, None] * x" in text
    with pytest.raises(DifferentiationError, match=r"go one by one, because of an attempt"):
        code_pushforward(catches, X, batched=True)


def ode_in_lists(x: Any) -> Any:
    y = [x[0], x[1]]
    for _ in range(4):
        slope = [y[1], -x[2] * y[0] - y[1]]
        y = [y[0] + 0.1 * slope[0], y[1] + 0.1 * slope[1]]
    return np.array([y[0] ** 2, y[1]])


def ode_in_a_dict(x: Any) -> Any:
    state = {"a": x[0], "b": x[1]}
    for _ in range(4):
        state = {"a": state["a"] + 0.1 * state["b"] * x[2], "b": state["b"] - 0.1 * state["a"]}
    return state["a"] * state["b"]


def table_of_numbers(x: Any) -> Any:
    table = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            table[i][j] = x[i] * x[j] + (table[i - 1][j] if i > 0 else 0.0) + (table[i][j - 1] if j > 0 else 0.0)
    return table[2][2]


def loss_of_parameters(p: Any, x: Any) -> Any:
    return np.sum((np.tanh(p["w"] @ x + p["b"]) * p["v"] - p["c"]) ** 2)


def one_item(items: Any) -> Any:
    return items[1] * items[1]


PARAMETERS = {"w": A, "b": np.array([0.1, -0.4]), "v": np.array([0.7, 0.3]), "c": 0.2}
SEEDS_AT_ONCE = [
    (ode_in_lists, (X,)),
    (ode_in_a_dict, (X,)),
    (table_of_numbers, (X,)),
    (loss_of_parameters, (PARAMETERS, X)),
    (one_item, ([1.0, 2.0, 3.0],)),
    (recursive_closure, (X,)),
    (depends_on_recursion, (X, 3)),
    (spectrum, (X,)),
    (chosen, (X,)),
    (lambda a, x: np.linalg.solve(a @ a.T + np.eye(2), x[:2]), (A, X)),
    (lambda a: np.linalg.inv(a @ a.T + np.eye(2)), (A,)),
    (lambda a: np.linalg.cholesky(a @ a.T + np.eye(2)), (A,)),
    (lambda a: np.linalg.eigvalsh(a @ a.T), (A,)),
    (written_in_place, (X,)),
    (numbers_outlive_writes, (X,)),
    (lambda a, x: (a @ a.T) @ (a @ x) + np.dot(x, x) * a.mean(axis=1), (A, X)),
    (stack_of_matrices, (S3,)),
    (branches_on_values, (X,)),
    (loop_over_scalars, (X,)),
    (loop_that_breaks, (X,)),
    (padded, (A,)),
    (lambda s, x: s * x, (0.5, X)),
]


@pytest.mark.parametrize(("f", "args"), SEEDS_AT_ONCE, ids=lambda case: getattr(case, "__name__", ""))
def test_seeds_go_at_once(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    y, back = pullback(f, *args)
    seeds = np.random.default_rng(4).normal(size=(9, *np.shape(y)))
    before = CACHE.batches
    bars = back.batched(seeds)
    assert CACHE.batches == before + 1
    for number, seed in enumerate(seeds):
        compare(at(bars, number), back(seed))


def norms(x: Any) -> Any:
    return np.linalg.norm(x) * x[0] + np.linalg.norm(np.outer(x, x), axis=1).sum()


def extremes(x: Any) -> Any:
    return np.max(x * x) * np.min(x) + np.sum(np.sort(x) * x) + np.var(x) + np.sum(np.clip(x, -1.0, 1.5) ** 3)


def log_of_sum(x: Any) -> Any:
    most = np.max(x)
    return most + np.log(np.sum(np.exp(x - most)))


def matrices_of(x: Any) -> Any:
    spd = np.outer(x, x) + 3.0 * np.eye(len(x))
    low = np.linalg.cholesky(spd)
    return np.sum(np.linalg.inv(spd)) + np.linalg.det(spd) + np.sum(np.log(np.diag(low))) + x @ np.linalg.solve(spd, x)


def of_a_spectrum(x: Any) -> Any:
    return np.sum(np.abs(np.fft.fft(x)) ** 2 * np.arange(len(x))) + np.einsum("i,j->", x, x)


def sum_of_ode(x: Any) -> Any:
    return np.sum(ode_in_lists(x)) + ode_in_a_dict(x) + table_of_numbers(x)


def of_logaddexp(x: Any) -> Any:
    return np.sum(np.logaddexp(0.0, x * x[0]))


HESSIANS_AT_ONCE = [
    norms, extremes, log_of_sum, matrices_of, of_a_spectrum, sum_of_ode, recursive_closure, of_logaddexp,
]  # fmt: skip


@pytest.mark.parametrize("f", HESSIANS_AT_ONCE)
def test_hessians_go_at_once(f: Callable[..., Any]) -> None:
    x = np.linspace(-1.3, 1.9, 9) if f not in (sum_of_ode, recursive_closure) else np.tile(X, 3)
    before = CACHE.batches
    found = hessian(f, x)
    assert CACHE.batches == before + 1
    for number, unit in enumerate(np.eye(9)):
        np.testing.assert_allclose(found[:, number], hvp(f, x, unit), rtol=1e-12, atol=1e-12)


def test_ties_and_infinities_in_hessians() -> None:
    for x in (np.array([2.0] * 4 + [1.0] * 5), np.zeros(9)):
        for f in (extremes, log_of_sum, norms):
            with np.errstate(all="ignore"):
                found, one_by_one = hessian(f, x), np.stack([hvp(f, x, unit) for unit in np.eye(9)], axis=-1)
            np.testing.assert_allclose(found, one_by_one, rtol=1e-12, atol=1e-12)


def test_what_nobody_reads_of_a_list_has_no_cotangents() -> None:
    _, back = pullback(one_item, [1.0, 2.0, 3.0])
    bars = back.batched(np.arange(9.0))[1]
    assert bars[0] is None and bars[2] is None
    np.testing.assert_array_equal(bars[1], 4.0 * np.arange(9.0))


STACKS = [np.random.default_rng(3).normal(size=shape) for shape in ((5,), (5, 3), (5, 3, 3), (5, 2, 3, 3))]
SINGLE = [stack[0] for stack in STACKS]


def test_what_asks_for_the_number_of_axes_when_it_runs() -> None:
    for n, m, many in itertools.product(range(4), range(4), ((True, True), (True, False), (False, True))):
        x, y = (STACKS if many[0] else SINGLE)[n], (STACKS if many[1] else SINGLE)[m]
        rows = [(x[j] if many[0] else x, y[j] if many[1] else y) for j in range(5)]
        expected = [a * b for a, b in rows]
        np.testing.assert_allclose(batched_rows.elementwise_each(operator.mul, many, x, y), expected, rtol=1e-14)
        if n and m:
            np.testing.assert_allclose(batched_rows.matmul_each(x, y, many), [a @ b for a, b in rows], rtol=1e-12, atol=1e-14)
    for d, like in itertools.product(STACKS, [*SINGLE, np.ones((1, 3)), np.ones((3, 1)), 1.0]):
        if d[0].ndim >= np.ndim(like) or not np.ndim(d[0]):
            rows = [unbroadcast(each, like) for each in d]
            np.testing.assert_allclose(batches.unbroadcast_each(d, like), rows, rtol=1e-12, atol=1e-14)
    for like in (True, np.array([True]), "text", None, [1.0]):
        with pytest.raises(batched_rows.NotAStack):
            batches.unbroadcast_each(STACKS[1], like)
