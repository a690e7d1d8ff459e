"""What users of `jvp` and `pushforward` see."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize

from microgradpy import (
    CotangentShapeError,
    DifferentiationError,
    MissingRuleError,
    MutationError,
    Tangent,
    code_ir,
    code_pushforward,
    forward_differentiate,
    frule,
    gradient,
    jvp,
    opt_out,
    pushforward,
)
from microgradpy.ir.verifier import verify


def layer(W: Any, b: Any, x: Any) -> Any:
    return np.tanh(x @ W + b)


def test_the_tangent_has_the_structure_of_the_value() -> None:
    def f(x: float, v: Any) -> Any:
        return {"sum": x + v.sum(), "parts": [v * x, (x, "name")]}

    v = np.array([1.0, 2.0])
    y, dy = jvp(f, (2.0, v), (1.0, np.array([0.5, 0.0])))
    assert y["sum"] == 5.0
    assert dy["sum"] == 1.5
    np.testing.assert_array_equal(dy["parts"][0], [2.0, 2.0])
    assert dy["parts"][1] == (1.0, None)


def test_types_are_kept() -> None:
    for x in (2.0, np.float32(2.0), np.float64(2.0), 2.0 + 1.0j, np.ones(3, np.float32)):
        _, dy = jvp(lambda x: x * x, (x,), (x,))
        assert type(dy) is type(x)
        assert np.result_type(dy) == np.result_type(x)
    assert jvp(lambda n: n * 1.5, (2,), (1.0,)) == (3.0, 1.5)


def test_zeros() -> None:
    assert jvp(lambda x, y: x * 2.0, (1.0, 2.0), (None, 1.0)) == (2.0, 0.0)
    assert jvp(lambda x: "text", (1.0,), (1.0,)) == ("text", None)


def test_a_method_and_a_callable_object() -> None:
    class Scale:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        def __call__(self, x: float) -> float:
            return self.factor * x

        def squared(self, x: float) -> float:
            return self.factor * x * x

    scale = Scale(3.0)
    assert jvp(scale, (2.0,), (1.0,)) == (6.0, 3.0)
    assert jvp(scale.squared, (2.0,), (1.0,)) == (12.0, 12.0)
    y, push = pushforward(scale, 2.0)
    assert y == 6.0
    assert push(Tangent(Scale, factor=1.0), 1.0) == 5.0


def test_a_closure_has_a_tangent() -> None:
    k = 3.0
    _, push = pushforward(lambda x: k * x, 2.0)
    assert push(None, 1.0) == 3.0
    assert push(Tangent(type(test_zeros), k=1.0), 0.0) == 2.0


def test_an_array_of_objects_has_no_tangent() -> None:
    def f(x):
        return np.array([x * x, [1.0]], dtype=object)[0].sum()

    with pytest.raises(MissingRuleError, match="an array of objects"):
        jvp(f, (np.array([0.5, 2.0]),), (np.ones(2),))


def test_pushforward_runs_the_function_once() -> None:
    calls = []

    def noted(x: Any) -> Any:
        calls.append(1)
        return x * np.array([1.0, 2.0])

    _, push = pushforward(noted, 3.0)
    np.testing.assert_array_equal(push(None, 1.0), [1.0, 2.0])
    np.testing.assert_array_equal(push(None, 2.0), [2.0, 4.0])
    assert len(calls) == 1


def test_what_is_changed_after_the_run_is_refused() -> None:
    x = np.ones(3)
    _, push = pushforward(lambda x: x * x, x)
    x[0] = 5.0
    with pytest.raises(MutationError, match="after the call of pushforward"):
        push(None, np.ones(3))


def test_draws_happen_once() -> None:
    rng = np.random.default_rng(0)

    def noisy(x: float) -> Any:
        return x * rng.normal(size=3)

    y, dy = jvp(noisy, (2.0,), (1.0,))
    np.testing.assert_allclose(dy, y / 2.0)


def test_what_writes_goes_by_its_pullback() -> None:
    def filled(x: Any) -> Any:
        out = [np.zeros(3)]
        out.extend([])
        for k in range(3):
            out[0][k] = x[k] * x[0]
        return out[0]

    x, dx = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 0.5])
    y, dy = jvp(filled, (x,), (dx,))
    np.testing.assert_array_equal(y, x * x[0])
    np.testing.assert_allclose(dy, dx * x[0] + x * dx[0])
    with pytest.raises(MutationError, match="may write"):
        code_pushforward(filled, x)


def test_tangents_that_do_not_fit_are_refused() -> None:
    with pytest.raises(CotangentShapeError, match=r"the tangent of argument 0 is an array of shape \(2,\)"):
        jvp(np.sum, (np.ones(3),), (np.ones(2),))
    with pytest.raises(CotangentShapeError, match="1 tangents for 2 arguments"):
        jvp(np.add, (1.0, 2.0), (1.0,))
    _, push = pushforward(math.sin, 1.0)
    with pytest.raises(CotangentShapeError, match="push"):
        push(1.0)


def test_nothing_given_is_changed_and_nothing_is_shared() -> None:
    x, dx = np.arange(3.0), np.ones(3)
    _, dy = jvp(lambda x: x.reshape(3), (x,), (dx,))
    dy[0] = 9.0
    np.testing.assert_array_equal(dx, np.ones(3))
    np.testing.assert_array_equal(x, np.arange(3.0))


def test_the_text_reads_as_if_written_by_hand() -> None:
    args = np.ones((2, 3)), np.ones(3), np.ones((4, 2))
    text = code_pushforward(layer, *args, argnums=(0, 1))
    assert text == (
        "def layer_pushforward(W, b, x, W_dot, b_dot):\n"
        "    tanh_result = np.tanh(x @ W + b)\n"
        "    return tanh_result, (x @ W_dot + b_dot) * (1.0 - tanh_result * tanh_result)\n"
    )


def test_the_intermediate_representation_is_valid() -> None:
    ir = forward_differentiate(code_ir(layer))
    verify(ir.function)
    assert ir.stage == "pushforward"
    assert forward_differentiate(ir) is ir


def root_of(p: float) -> Any:
    return optimize.root(lambda x: x**2 - p, np.array([1.0])).x[0]


def bracketed_root(p: float) -> Any:
    return optimize.root_scalar(lambda x, q: x**2 - q, args=(p,), bracket=[0.0, 5.0]).root


def integral(p: float) -> Any:
    return integrate.quad(lambda t: np.exp(-p * t), 0.0, 1.0)[0]


def minimum(p: float) -> Any:
    return optimize.minimize(lambda x: np.sum((x - p) ** 4 + (x - p) ** 2), np.zeros(2)).x[0]


@pytest.mark.parametrize("f", [root_of, bracketed_root, integral, minimum])
def test_solvers_of_scipy(f: Any) -> None:
    y, dy = jvp(f, (2.0,), (1.0,))
    assert y == f(2.0)
    np.testing.assert_allclose(dy, gradient(f, 2.0)[0], rtol=1e-9)


def test_a_result_without_a_derivative_is_refused_where_it_is_used() -> None:
    with pytest.raises(MissingRuleError, match="nfev"):
        jvp(lambda p: optimize.root(lambda x: x**2 - p, np.array([1.0])).nfev * p, (2.0,), (1.0,))


def test_a_numpy_number_divides_by_zero_in_both_ways() -> None:
    x = np.float64(0.8)
    with np.errstate(divide="ignore"):
        assert jvp(lambda x, k: x / k, (x, 0), (1.0, None))[1] == math.inf
        assert pushforward(lambda x, k: x / k, x, 0)[1](None, 1.0, None) == math.inf


def test_a_list_that_holds_itself_has_no_tangent() -> None:
    def f(x: Any) -> Any:
        items = [x]
        items.append(items)
        return items

    def g(x: Any) -> Any:
        return {"a": (x, f(x))}

    for function in (f, g):
        with pytest.raises(DifferentiationError, match="a list that holds itself"):
            jvp(function, (2.0,), (1.0,))


def unassigned_on_one_path(x, checked):
    try:
        y = checked(x)
        z = y * x
    except ValueError:
        pass
    try:
        return z * y
    except UnboundLocalError:
        return x * x


def positive(x):
    if x < 0.0:
        raise ValueError
    return x


def test_operators_on_what_may_be_unassigned_raise_as_in_the_plain_call():
    assert jvp(unassigned_on_one_path, (3.0, positive), (1.0, None)) == (27.0, 27.0)
    assert jvp(unassigned_on_one_path, (-1.5, positive), (1.0, None)) == (2.25, -3.0)


def caught_in_an_arm(x, a):
    if x < 0.0:
        try:
            a = np.array([x, x])
            if x < -0.5:
                raise KeyError
        except KeyError:
            pass
    return x + np.sum(a * a)


@pytest.mark.parametrize(("x", "wanted"), [(0.7, 1.0), (-0.3, -0.2), (-0.7, -1.8)])
def test_zeros_for_what_handlers_see_are_those_of_one_arm(x: float, wanted: float) -> None:
    """The tangent of the argument was taken from there in the other arm."""
    assert jvp(caught_in_an_arm, (x, np.ones(2)), (1.0, None))[1] == pytest.approx(wanted)


def test_a_rule_that_comes_later_is_taken() -> None:
    """What is known of a function that was pushed by its text is so for one version of the rules."""

    def f(x: float) -> float:
        return x * x

    for _ in range(3):
        assert jvp(f, (3.0,), (1.0,)) == (9.0, 6.0)

    @frule.register(f)
    def f_frule(x: float) -> Any:
        def f_pushforward(f_dot: Any, x_dot: Any) -> Any:
            return 100.0 * x_dot

        return x * x, f_pushforward

    assert jvp(f, (3.0,), (1.0,)) == (9.0, 100.0)
    opt_out(f)
    assert jvp(f, (3.0,), (1.0,)) == (9.0, 6.0)


@pytest.mark.parametrize("y", [0.0, -0.0, 2.5])
def test_tangents_of_powers_of_what_was_selected(y: float) -> None:
    def f(x: Any) -> Any:
        return np.sum(x[1:] ** 2 + x[:-1] ** -1 + x[1:] ** 0.5)

    x = np.array([1.0, y])
    assert jvp(f, (x,), (np.array([1.0, 0.0]),))[1] == -1.0
