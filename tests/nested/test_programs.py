"""Programs that differentiate, differentiated: against differences, in both modes, and in forced ways."""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import (
    DifferentiationError,
    MutationError,
    grad,
    gradient,
    hvp,
    jvp,
    nested,
    pullback,
    pushforward,
    stop_gradient,
)
from tests import finite_differences as fd
from tests.nested.programs import PROGRAMS, caught, halved, with_a_rule_inside
from tests.ways import ALL, chosen

NAMES = [f"{f.__name__}-{number}" for number, (f, _) in enumerate(PROGRAMS)]
BY_NAME = dict(zip(NAMES, PROGRAMS, strict=True))
REFUSED_IN_THIRD_ORDER = {
    "beside_writes", "by_pullback", "of_a_dict", "made_and_handed_on", "jacobians", "hessians", "of_a_partial",
    "with_values", "of_several_arguments", "with_keywords", "by_pushforward", "by_pushforward_of_a_closure", "as_rules_do",
    "beside_items", "beside_nested_items", "beside_a_history", "beside_other_products", "of_partials",
    "of_partials_that_are_given", "by_the_cotangent_of_a_closure", "of_collected_names", "of_a_jacobian_of_a_gradient",
    "in_a_loop", "of_a_default", "of_a_cell", "products_with_hessians", "third_order",
    "of_what_calls_itself", "of_decorated_functions", "of_composed_functions",
    "newtons_method_by_hessians", "of_complex_values", "of_arguments_by_name", "as_other_packages_name_it",
    "of_more_arguments_beside_writes", "newton_in_a_loop", "function_made_in_a_branch",
    "function_made_in_a_try",
    "of_functions_of_libraries", "of_functions_of_arrays", "of_calls_that_are_made_again", "of_trees",
}  # fmt: skip
"""What leaves something to run time."""


def by_differences(f: Callable[..., Any], x: Any) -> Any:
    return fd.differences(f, (copy.deepcopy(x),))


def check(f: Callable[..., Any], x: Any, wanted: Any) -> None:
    found = gradient(f, copy.deepcopy(x))[0]
    np.testing.assert_allclose(fd.flatten_cotangent(x, found), wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_in_reverse_mode(name: str) -> None:
    f, x = BY_NAME[name]
    check(f, x, by_differences(f, x))


@pytest.mark.parametrize(("name", "way"), [(name, way) for name in NAMES for way in chosen(name, tuple(ALL))])
def test_in_other_ways(name: str, way: str) -> None:
    f, x = BY_NAME[name]
    wanted = by_differences(f, x)
    with ALL[way]():
        check(f, x, wanted)


@pytest.mark.parametrize("name", NAMES)
def test_by_rules_that_are_found_at_run_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All operations of the texts of second order are left to run time: right or refused."""
    monkeypatch.setattr(nested, "changed_mode", lambda **_: contextlib.nullcontext())
    f, x = BY_NAME[name]
    wanted = by_differences(f, x)
    with ALL["dispatched"](), contextlib.suppress(DifferentiationError):
        check(f, x, wanted)


def test_what_has_no_tangent_is_differentiated() -> None:
    """A cotangent of `x`, which does not move, was missing where the product is left to run time."""
    with_a_cast = lambda x: jvp(lambda t: np.float32(t) * t * x, (1.3,), (1.0,))[1]  # noqa: E731
    assert gradient(with_a_cast, 2.0) == (pytest.approx(2.6),)
    assert gradient(lambda x: grad(lambda t: np.float32(t) * t * x)(x), 1.3) == (pytest.approx(5.2),)


@pytest.mark.parametrize("name", NAMES)
def test_in_forward_mode(name: str) -> None:
    """In the direction of the gradient: its square."""
    f, x = BY_NAME[name]
    bar = gradient(f, copy.deepcopy(x))[0]
    y, y_dot = jvp(f, (copy.deepcopy(x),), (bar,))
    assert y == f(copy.deepcopy(x))
    np.testing.assert_allclose(y_dot, np.sum(fd.flatten_cotangent(x, bar) ** 2), rtol=1e-9)


@pytest.mark.parametrize("name", [name for name in NAMES if isinstance(BY_NAME[name][1], float | np.ndarray)])
def test_in_one_order_more(name: str) -> None:
    """The Hessian of what differentiates: right, or refused by what is said of it."""
    f, x = BY_NAME[name]
    v = 1.0 if isinstance(x, float) else np.linspace(-1.0, 0.7, x.size).reshape(x.shape)
    with contextlib.suppress(DifferentiationError) if f.__name__ in REFUSED_IN_THIRD_ORDER else contextlib.nullcontext():
        found = hvp(f, x, v)
        after, before = (gradient(f, x + sign * 1e-5 * v)[0] for sign in (1.0, -1.0))
        np.testing.assert_allclose(found, (np.asarray(after) - np.asarray(before)) / 2e-5, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("f", "x", "wanted"), [
    (lambda x: x**5, 1.0, (5.0, 20.0, 60.0, 120.0)),
    (lambda x: math.sin(x), 1.1, (math.cos(1.1), -math.sin(1.1), -math.cos(1.1), math.sin(1.1))),
])  # fmt: skip
def test_four_orders(f: Callable[..., Any], x: float, wanted: tuple[float, ...]) -> None:
    for value in wanted:
        f = grad(f)
        assert f(x) == pytest.approx(value)


def looped(x: float) -> float:
    r = 1.0
    for _ in range(5):
        r = r * x
    return r


def repeated(x: float) -> float:
    r, i = x, 0
    while i < 4:
        r = r * x
        i += 1
    return r


@pytest.mark.parametrize("f", [looped, repeated])
def test_four_orders_of_loops(f: Callable[..., Any]) -> None:
    for value in (5.0, 20.0, 60.0, 120.0):
        f = grad(f)
        assert f(1.0) == value


def slope(f: Callable[..., Any], x: Any) -> Any:
    return jvp(f, (x,), (1.0,))[1]


@pytest.mark.parametrize("f", [looped, repeated, lambda x: looped(x)])
def test_four_orders_in_forward_mode(f: Callable[..., Any]) -> None:
    """By a function that is given functions."""
    for value in (5.0, 20.0, 60.0, 120.0):
        f = (lambda f: lambda x: slope(f, x))(f)
        assert f(1.0) == value


def test_known_ones() -> None:
    assert slope(lambda x: x * slope(lambda y: x * y, 1.0), 4.0) == 8.0
    assert gradient(lambda x: slope(lambda t: t**4, x), 7.0) == (588.0,)
    assert slope(grad(looped), 1.0) == grad(lambda x: slope(looped, x))(1.0) == slope(lambda x: slope(looped, x), 1.0) == 20.0


def test_a_rule_of_the_users_is_differentiated() -> None:
    """d/dt halved(t)^2 = 2 halved(t) t / 2 by the rule, whose text computes halved(t) as t / 2."""
    assert with_a_rule_inside(3.0) == 4.5
    assert gradient(with_a_rule_inside, 3.0) == (3.0,)


@pytest.mark.parametrize("second", [
    lambda x: gradient(lambda t: gradient(halved, t)[0], x)[0],
    lambda x: gradient(lambda t: jvp(halved, (t,), (1.0,))[1], x)[0],
    lambda x: jvp(lambda t: gradient(halved, t)[0], (x,), (1.0,))[1],
    lambda x: hvp(halved, x, 1.0),
    grad(grad(halved)),
])  # fmt: skip
def test_a_rule_of_the_users_is_differentiated_and_not_the_text(second: Callable[..., Any]) -> None:
    """The function itself is given to what differentiates: its text has no second derivative, the rule has one of 1 / 2."""
    assert second(3.0) == 0.5


def test_what_a_rule_has_not_worked_out_is_not_taken_for_an_exception_of_the_program() -> None:
    """y = sqrt(1 + x^2 / 4), and y^3 is what is returned: the second derivative is that of x^3 where y is caught unassigned."""
    x = 0.7
    y = math.sqrt(1.0 + 0.25 * x * x)
    wanted = 6.0 * y * (0.25 * x / y) ** 2 + 3.0 * y * y * (0.25 / y - (0.25 * x) ** 2 / y**3)
    assert hvp(caught, x, 1.0) == pytest.approx(wanted)
    assert jvp(lambda t: jvp(caught, (t,), (1.0,))[1], (x,), (1.0,))[1] == pytest.approx(wanted)


def test_what_cannot_be_is_refused() -> None:
    seen: list[Any] = []

    def writes(t: Any) -> Any:
        seen.append(t)
        return t**2

    with pytest.raises(DifferentiationError):
        gradient(lambda x: gradient(lambda t: writes(t) * x, x)[0], 1.0)


TABLE, NUMBER = [1.0], 2.0


def writes_into_its_module(x: Any) -> Any:
    TABLE[0] = x
    return gradient(lambda t: t * t * TABLE[0], x)[0]


def writes_into_what_is_given(x: Any, table: Any) -> Any:
    table[0] = x
    return gradient(lambda t: t * t * TABLE[0], x)[0]


def assigns_in_its_module(x: Any) -> Any:
    global NUMBER
    NUMBER = x
    return gradient(lambda t: t * t * NUMBER, x)[0]


@pytest.mark.parametrize(
    ("f", "args", "name"),
    [
        (writes_into_its_module, (1.3,), "TABLE"),
        (writes_into_what_is_given, (1.3, TABLE), "TABLE"),
        (assigns_in_its_module, (1.3,), "NUMBER"),
    ],
)
def test_what_is_written_in_a_module_is_refused(f: Any, args: Any, name: str) -> None:
    """A module variable has no cotangent in the gradient."""
    with pytest.raises(MutationError, match=f"reads `{name}` of its module"):
        gradient(f, *args)


def opens_and_writes(x: Any) -> Any:
    table = {"a": x}
    back = pullback(lambda p: p["a"] ** 3, table)[1]
    table["a"] = 5.0 * x
    return back(1.0)[1]["a"]


def opens_and_assigns(x: Any) -> Any:
    k = x

    def f(t: Any) -> Any:
        return t**3 * k

    push = pushforward(f, 2.0)[1]
    k = 2.0 * x
    return push(None, 1.0)


@pytest.mark.parametrize("f", [opens_and_writes, opens_and_assigns])
def test_what_was_opened_sees_what_it_saw(f: Any) -> None:
    """Pullbacks are found by another run, which saw what was there later."""
    with pytest.raises(MutationError, match="was changed after the call of pu"):
        gradient(f, 0.7)


def test_what_is_stopped_is_stopped_in_all_orders() -> None:
    assert gradient(lambda x: gradient(lambda t: stop_gradient(t) * t * x, x)[0], 1.3) == (1.3,)


def test_what_prints_is_not_run_again(capsys: pytest.CaptureFixture[str]) -> None:
    def prints(t: Any) -> Any:
        print("once")
        return t**3

    with pytest.raises(DifferentiationError, match="more than compute"):
        gradient(lambda x: gradient(prints, x)[0], 1.0)
    assert capsys.readouterr().out == "once\n"


class _Noisy:
    def __init__(self) -> None:
        self.source = np.random.default_rng(7)

    def drawn(self, t: float, x: float) -> float:
        return t**2 * x * float(self.source.normal())


@pytest.mark.parametrize(
    ("f", "held"),
    [
        (lambda x, g: gradient(lambda t, g: t**2 * x * g.normal(), x, g)[0], lambda: np.random.default_rng(1)),
        (lambda x, g: gradient(lambda t: t**2 * x * g.normal(), x)[0], lambda: np.random.default_rng(1)),
        (lambda x, d: gradient(lambda t: t**2 * x * d["source"].normal(), x)[0], lambda: {"source": np.random.default_rng(1)}),
        (lambda x, o: gradient(lambda t: o.drawn(t, x), x)[0], _Noisy),
        (lambda x, o: gradient(o.drawn, x, x)[0], _Noisy),
        (lambda x, _: gradient(_NOISY.drawn, x, x)[0], lambda: None),
        (lambda x, _: gradient(lambda t: t**2 * x * np.random.normal(), x)[0], lambda: None),  # noqa: NPY002
        (lambda x, _: gradient(lambda t: t**2 * x * _DRAWS.normal(), x)[0], lambda: None),
    ],
    ids=["given", "captured", "in a dict", "in an object", "by a bound method", "in a global object", "of NumPy", "a module"],
)
def test_what_draws_by_way_of_what_it_is_handed_is_not_run_again(f: Callable[..., Any], held: Callable[[], Any]) -> None:
    with pytest.raises(DifferentiationError, match="more than compute"):
        gradient(f, 1.3, held())


_NOISY, _DRAWS = _Noisy(), np.random
