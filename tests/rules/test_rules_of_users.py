"""Rules as their authors write them: with thunks, for some types only, calling back into the compiler."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, NoReturn

import numpy as np
import pytest

from microgradpy import (
    DifferentiationError,
    InplaceableThunk,
    MissingRuleError,
    NoTangent,
    code_adjoint,
    gradient,
    jvp,
    non_differentiable,
    not_implemented,
    opt_out,
    pullback,
    rrule,
    rrule_via_ad,
    thunk,
    unthunk,
)
from microgradpy.compiler import always_dispatch, always_track


def never(*args: Any) -> NoReturn:
    raise AssertionError("this is not to run")


def product(a, b):
    return never(a, b)


@rrule.register(product)
def product_rrule(a, b):
    def product_pullback(y_bar):
        b_bar = InplaceableThunk(lambda total: total + y_bar * a, lambda: y_bar * a)
        return NoTangent(), thunk(lambda: unthunk(y_bar) * b), b_bar

    return a * b, product_pullback


def squares(x, c):
    return product(x, x) + product(c, 3.0)


def squares_in_a_list(x, c):
    found = [0.0, 0.0]
    found[0] = product(x, x)
    found[1] = product(c, 3.0)
    return found[0] + found[1]


@pytest.mark.parametrize("f", [squares, squares_in_a_list])
def test_thunks_of_a_rule_are_computed(f: Any) -> None:
    assert gradient(f, 2.0, 5.0) == (4.0, 3.0)
    with always_dispatch():
        assert gradient(f, 2.0, 5.0) == (4.0, 3.0)
    with always_track():
        assert gradient(f, 2.0, 5.0) == (4.0, 3.0)


def test_a_thunk_costs_nothing_where_its_rule_is_compiled_in() -> None:
    text = code_adjoint(squares, 2.0, 5.0, argnums=(0,))
    assert "thunk" not in text
    assert "lambda" not in text
    assert "c_bar" not in text  # nobody asks for it


def outer_of_a_rule(x):
    y, back = pullback(product, x, 3.0)
    return y, back


def test_a_rule_that_is_called_by_itself_gives_thunks() -> None:
    outcome = rrule(product, 2.0, 3.0)
    assert outcome is not None
    assert unthunk(outcome[1](1.0)[1]) == 3.0
    assert outcome[1](thunk(lambda: 1.0))[1] * 2.0 == 6.0
    y, back = outer_of_a_rule(2.0)
    assert (y, back(1.0)) == (6.0, (None, 3.0, 2.0))


def order_of(x, n):
    return never(x, n)


@rrule.register(order_of)
def order_of_rrule(x, n):
    def order_of_pullback(y_bar):
        return NoTangent(), y_bar * n * x ** (n - 1), not_implemented("with respect to the order")

    return x**n, order_of_pullback


def test_what_a_rule_does_not_know_is_refused_only_if_it_is_needed() -> None:
    assert gradient(lambda x: order_of(x, 3) * 2.0, 2.0) == (24.0,)
    assert gradient(lambda x, n: order_of(x, 3) * n, 2.0, 5.0) == (60.0, 8.0)
    for run in (lambda: gradient(lambda n: order_of(2.0, n * 1.0), 3.0), lambda: gradient(order_of, 2.0, 3.0)):
        with pytest.raises(MissingRuleError, match="with respect to the order"):
            run()
        with always_track(), pytest.raises(MissingRuleError, match="with respect to the order"):
            run()


def cube(x):
    return x * x * x


@rrule.register(cube, np.ndarray)
def cube_rrule(x):
    def cube_pullback(y_bar):
        return NoTangent(), y_bar * 100.0

    return x**3, cube_pullback


def test_calls_for_which_there_is_no_rule_go_through_the_body() -> None:
    assert gradient(lambda x: cube(x) * 2.0, 2.0) == (24.0,)
    found = gradient(lambda x: cube(x).sum(), np.ones(2))[0]
    np.testing.assert_array_equal(found, [100.0, 100.0])


KEPT = [0.0]


def keeping(x):
    KEPT[0] = x * 2.0
    return KEPT[0] * x


@rrule.register(keeping)
def keeping_rrule(x):
    return x, lambda y_bar: (NoTangent(), y_bar * 7.0)


def test_opting_out_of_a_rule_goes_back_to_the_body() -> None:
    def f(x: Any) -> Any:
        return keeping(x) + KEPT[0]

    assert gradient(lambda x: keeping(x) * 1.0, 3.0) == (7.0,)
    opt_out(keeping, float)
    assert gradient(f, 3.0) == (14.0,)  # 2 x**2 + 2 x: it writes, and that is seen
    assert gradient(lambda x: keeping(x).sum(), np.ones(2))[0].tolist() == [7.0, 7.0]
    opt_out(keeping)
    assert rrule(keeping, 1.0) is None
    assert gradient(f, 3.0) == (14.0,)
    non_differentiable(keeping)
    assert gradient(lambda x: keeping(x) + x, 3.0) == (1.0,)
    opt_out(keeping)
    assert gradient(f, 3.0) == (14.0,)


def twice(f, x):
    return never(f, x)


@rrule.register(twice)
def twice_rrule(f, x):
    y, back = rrule_via_ad(f, x)
    z, back_again = rrule_via_ad(f, y)

    def twice_pullback(z_bar):
        f_bar, y_bar = back_again(z_bar)
        also_f_bar, x_bar = back(y_bar)
        return NoTangent(), also_f_bar + f_bar, x_bar

    return z, twice_pullback


def test_a_rule_may_differentiate_what_it_is_given() -> None:
    def f(x: Any, k: Any) -> Any:
        return twice(lambda v: v * v * k, x)  # k**3 x**4

    x, k = 1.5, 0.7
    for mode in (always_dispatch, always_track):
        with mode():
            np.testing.assert_allclose(gradient(f, x, k), (4 * k**3 * x**3, 3 * k**2 * x**4))
    np.testing.assert_allclose(gradient(f, x, k), (4 * k**3 * x**3, 3 * k**2 * x**4))
    np.testing.assert_allclose(gradient(lambda x: twice(np.sin, x), x), np.cos(np.sin(x)) * np.cos(x))


def bare(x):
    return x * x


def triple(x):
    return x * x, lambda y_bar: (NoTangent(), 2.0 * x * y_bar), None


def no_function(x):
    return x * x, 2.0 * x


def bare_cotangent(x):
    def bare_cotangent_pullback(y_bar):
        return 2.0 * x * y_bar

    return x * x, bare_cotangent_pullback


def no_cotangent(x):
    def no_cotangent_pullback(y_bar):
        return ()

    return x * x, no_cotangent_pullback


def one_too_many(x):
    def one_too_many_pullback(y_bar):
        return NoTangent(), 2.0 * x * y_bar, y_bar

    return x * x, one_too_many_pullback


def one_too_few(x):
    def one_too_few_pullback(y_bar):
        return (NoTangent(),)

    return x * x, one_too_few_pullback


WRONG = {
    bare: "returns a (float|ndarray|float64)\n",
    triple: "returns a tuple of 3\n",
    no_function: "returns a (float|ndarray|float64) in the place of the pullback\n",
    bare_cotangent: "returns a (float|ndarray|float64)\n",
    no_cotangent: "returns 0 cotangents\n",
    one_too_many: "returns 3 cotangents\n",
    one_too_few: r"has no cotangent for argument 0 of (test_\w+\.<locals>\.)?f\n",
}


@pytest.mark.parametrize("x", [1.5, np.array([1.5, -0.5])], ids=["number", "array"])
@pytest.mark.parametrize("mode", [nullcontext, always_dispatch, always_track])
@pytest.mark.parametrize("rule", WRONG, ids=lambda rule: rule.__name__)
def test_a_wrong_rule_is_named_with_its_place(rule: Any, mode: Any, x: Any) -> None:
    def f(x: Any) -> Any:
        return x * x

    rrule.register(f)(rule)
    place = f"the rule {rule.__name__} ({__file__}:{rule.__code__.co_firstlineno}) "
    says = WRONG[rule]
    for call in (lambda x: gradient(lambda v: np.sum(f(v)), x), lambda x: jvp(lambda v: np.sum(f(v)), (x,), (x,))):
        with mode(), pytest.raises(DifferentiationError, match=says) as refused:
            call(x)
        assert place in str(refused.value)


def test_a_wrong_rule_is_named_where_it_is_asked_for() -> None:
    def f(x: Any) -> Any:
        return x * x

    rrule.register(f)(bare)
    with pytest.raises(DifferentiationError, match="the rule bare"):
        rrule(f, 1.5)
    rrule.register(f)(bare_cotangent)
    _, back = rrule(f, np.array([1.5, 0.5]))
    with pytest.raises(DifferentiationError, match="the pullback of the rule bare_cotangent"):
        back(np.ones(2))
