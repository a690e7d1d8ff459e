"""What a rule of the user's is given, and what is said of what it gives, wherever it is called."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import CotangentShapeError, NoTangent, ZeroTangent, grad, gradient, jvp, rrule, rrule_via_ad, thunk
from microgradpy.compiler import always_dispatch, always_track

MODES = [contextlib.nullcontext, always_dispatch, always_track]
seeds: list[Any] = []
computed: list[str] = []


def parts(x: Any) -> Any:
    return (x * 2.0, {"a": x * 3.0}), [x * 4.0, x * 5.0]


@rrule.register(parts)
def parts_rrule(x: Any) -> Any:
    def parts_pullback(y_bar: Any) -> Any:
        seeds.append(y_bar)
        (a, b), (c, d) = y_bar
        return NoTangent(), a * 2.0 + b["a"] * 3.0 + c * 4.0 + d * 5.0

    return parts(x), parts_pullback


@pytest.mark.parametrize("mode", MODES, ids=["inlined", "dispatched", "tracked"])
@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: parts(x)[0][0], 2.0),
        (lambda x: parts(x)[0][1]["a"], 3.0),
        (lambda x: parts(x)[1][0], 4.0),
        (lambda x: parts(x)[1][1] + parts(x)[0][0], 7.0),
    ],
)
def test_what_is_not_used_is_zero_in_the_seed(f: Callable[[Any], Any], expected: float, mode: Any) -> None:
    seeds.clear()
    with mode():
        assert gradient(f, 1.5) == (expected,)
        assert jvp(f, (1.5,), (1.0,))[1] == expected
    (first, second), rest = seeds[0]
    given = (first, second["a"], *rest)
    assert None not in given
    assert mode is always_track or any(isinstance(each, ZeroTangent) for each in given)


def product(x: Any, y: Any) -> Any:
    return x * y


@rrule.register(product)
def product_rrule(x: Any, y: Any) -> Any:
    def product_pullback(y_bar: Any) -> Any:
        def x_thunk() -> Any:
            computed.append("x")
            return y_bar * y

        def y_thunk() -> Any:
            computed.append("y")
            return y_bar * x

        return NoTangent(), thunk(x_thunk), thunk(y_thunk)

    return product(x, y), product_pullback


@pytest.mark.parametrize(("argnums", "expected"), [(0, ["x"]), (1, ["y"]), ((0, 1), ["x", "y"])])
def test_a_thunk_that_nobody_wants_is_not_computed(argnums: Any, expected: list[str]) -> None:
    computed.clear()
    grad(product, argnums=argnums)(1.5, 2.5)
    assert computed == expected


def wrong(x: Any, y: Any) -> Any:
    return np.sum(x) * y


@rrule.register(wrong)
def wrong_rrule(x: Any, y: Any) -> Any:
    def wrong_pullback(y_bar: Any) -> Any:
        return NoTangent(), y_bar * y * np.ones(2), y_bar * np.sum(x)

    return wrong(x, y), wrong_pullback


def appended(x: Any) -> Any:
    items = [x]
    items.append(wrong(items[0], 3.0))
    return items[1]


WRONG: list[Callable[[Any], Any]] = [
    lambda x: wrong(x, 2.0),
    lambda x: wrong(x * 2.0, 2.0),
    lambda x, f=wrong: f(x * 2.0, 2.0),
    lambda x: wrong(x.sum(), 2.0),
    lambda x: wrong([x[0], x[1], x[2]], 2.0),
    lambda x: wrong((x[0], x[1], x[2]), 2.0),
    lambda x: np.sum(np.sin(x)) * wrong(np.stack([x, x]), 2.0),
    appended,
]


@pytest.mark.parametrize("mode", MODES, ids=["inlined", "dispatched", "tracked"])
@pytest.mark.parametrize("f", WRONG, ids=map(str, range(len(WRONG))))
def test_a_cotangent_of_the_wrong_shape_is_named(f: Callable[[Any], Any], mode: Any) -> None:
    x = np.array([1.0, 2.0, 3.0])
    calls: list[Callable[[], Any]] = [lambda: gradient(f, x), lambda: jvp(f, (x,), (np.ones(3),))]
    for call in calls:
        with mode(), pytest.raises(CotangentShapeError, match=r"wrong_rrule.*shape \(2,\).*argument 0 of wrong, which is"):
            call()


def scaled(x: Any, y: Any = 1.0) -> Any:
    return x * y


def with_slope(slope: float) -> Any:
    def scaled_rrule(x: Any, y: Any = 1.0) -> Any:
        def scaled_pullback(y_bar: Any) -> Any:
            return NoTangent(), slope * y_bar, NoTangent()

        return scaled(x, y), scaled_pullback

    return scaled_rrule


rrule.register(scaled)(with_slope(2.0))
rrule.register(scaled, float)(with_slope(3.0))
rrule.register(scaled, np.float32)(with_slope(4.0))


@pytest.mark.parametrize("mode", MODES, ids=["inlined", "dispatched", "tracked"])
@pytest.mark.parametrize(
    ("f", "x", "slope"),
    [
        (lambda x: scaled(x), 1.5, 3.0),
        (lambda x: scaled(x), np.float32(1.5), 4.0),
        (lambda x: scaled(x), np.float16(1.5), 2.0),
        (lambda x: scaled(x), 1 + 0, 2.0),
        (lambda x: np.sum(scaled(x)), np.array([1.5]), 2.0),
        (lambda x: scaled(x * 1.0, 1.0), 1.5, 3.0),
        (lambda x: sum([scaled(x) for _ in range(2)]), 1.5, 6.0),
    ],
)
def test_a_rule_for_a_class_of_numbers(f: Callable[[Any], Any], x: Any, slope: float, mode: Any) -> None:
    with mode():
        assert np.sum(grad(f)(x)) == slope
        assert jvp(f, (x,), (np.ones_like(x)[()],))[1] == slope


def test_a_rule_for_a_class_of_numbers_that_comes_later() -> None:
    f = grad(lambda x: np.sinc(x))
    assert f(1.0) == -1.0
    rrule.register(np.sinc, float)(with_slope(7.0))
    assert f(1.0) == 7.0
    rrule.opt_out(np.sinc, float)


def doubled(f: Callable[[Any], Any], a: Any) -> Any:
    return f(a) * 2.0


@rrule.register(doubled)
def doubled_rrule(f: Callable[[Any], Any], a: Any) -> Any:
    y, back = rrule_via_ad(f, a)

    def doubled_pullback(y_bar: Any) -> Any:
        return NoTangent(), *back(2.0 * y_bar)

    return 2.0 * y, doubled_pullback


class Scale:
    def __init__(self, w: Any) -> None:
        self.w = w

    def total(self, x: Any) -> Any:
        return np.sum(self.w * x**3)


@pytest.mark.parametrize("of", [lambda scale: scale.total, lambda scale: lambda x: scale.total(x)], ids=["method", "closure"])
def test_a_rule_is_given_a_function_whose_object_changes(of: Callable[[Any], Any]) -> None:
    """The cotangent of what the object held when the rule was asked went to what it holds at the end."""

    def f(w: Any) -> Any:
        scale = Scale(w * 2.0)
        y = doubled(of(scale), w)
        scale.w = scale.w * y
        return y + np.sum(scale.w)

    w = np.array([0.5, 1.5])
    y = 4.0 * np.sum(w**4)
    np.testing.assert_allclose(grad(f)(w), 16.0 * w**3 * (1.0 + 2.0 * np.sum(w)) + 2.0 * y)
