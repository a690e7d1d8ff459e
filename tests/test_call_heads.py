"""Calls of `jvp` and `hvp` after some calls, when calls like those go straight through: everybody sees what they saw before."""

from __future__ import annotations

import gc
import math
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import pytest

from microgradpy import (
    AnomalyError,
    CotangentShapeError,
    cache_clear,
    detect_anomaly,
    forward,
    frule,
    grad,
    hessians,
    hvp,
    jvp,
    rrule,
)
from microgradpy.compiler import always_dispatch
from microgradpy.gradient_functions import PATIENCE
from tests.test_heads import INPUTS, VECTOR, Subclass, arrays, chosen, scalar
from tests.test_programs import same

ROADS = {jvp: (forward, "push_outermost"), hvp: (hessians, "_by_known_plan")}
"""What a call that does not go straight through calls."""
SCALE: Any = 0.5


@contextmanager
def no_general_road(call: Callable[..., Any]) -> Iterator[None]:
    with mock.patch.object(*ROADS[call], side_effect=AssertionError("the general road")):
        yield


def straight(call: Callable[..., Any], *given: Any) -> Any:
    """What a call gives that goes straight through from here on."""
    forward.HEADS.forget()
    hessians.HEADS.forget()
    for _ in range(2 * PATIENCE):
        call(*given)
    with no_general_road(call):
        return call(*given)


def ones_like(x: Any) -> Any:
    """The tangent of ones, of an argument that can have one without being changed."""
    if type(x) in (float, np.float64):
        return type(x)(1.0)
    return np.ones_like(x) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else None


@pytest.mark.parametrize(("f", "args"), INPUTS)
def test_tangents_are_those_of_the_first_call(f: Any, args: tuple[Any, ...]) -> None:
    dots = tuple(map(ones_like, args))
    if any(dot is not None for dot in dots):
        with np.errstate(invalid="ignore"):
            first = jvp(f, args, dots)
            same(straight(jvp, f, args, dots), first)


@pytest.mark.parametrize(("f", "args"), [(f, args) for f, args in INPUTS if type(args[0]) is float or args[0] is VECTOR])
def test_products_are_those_of_the_first_call(f: Any, args: tuple[Any, ...]) -> None:
    x, *rest = args
    first = hvp(f, x, ones_like(x), *rest)
    for _ in range(2 * PATIENCE):
        found = hvp(f, x, ones_like(x), *rest)
    same(found, first)


def product(x: Any, y: Any) -> Any:
    return x * y + math.sin(x) * SCALE


def entries(x: Any, w: Any) -> Any:
    return np.sum(np.sqrt(x) * w)


def test_other_tangents_take_the_general_road() -> None:
    straight(jvp, product, (2.0, 3.0), (1.0, 1.0))
    slope = 3.0 + math.cos(2.0) * SCALE
    for dots, expected in (((1.0, None), slope), ((1.0, 0.0), slope), ((1, 0), slope), ((0.0, 0.0), 0.0), ((None, 2.0), 4.0)):
        same(jvp(product, (2.0, 3.0), dots)[1], expected)
    same(jvp(product, [2.0, 3], [np.float64(1.0), 0.0]), (6.0 + math.sin(2.0) * SCALE, slope))
    with no_general_road(jvp):
        assert jvp(product, [2.0, 3.0], [2.0, 1.0])[1] == 2.0 * slope + 2.0
    with pytest.raises(CotangentShapeError, match="2 tangents for 1 arguments"):
        jvp(product, (2.0,), (1.0, 1.0))
    with pytest.raises(TypeError, match="missing 1 required"):
        jvp(product, (2.0,), (1.0,))


def test_zeros_of_a_tangent_that_is_nothing_but_zeros_are_strong() -> None:
    x, w = np.array([0.0, 4.0]), np.ones(2)
    with np.errstate(all="ignore"):
        straight(jvp, entries, (x, w), (w, w))
        same(jvp(entries, (x, w), (np.zeros(2), w)), (2.0, 2.0))
        unit = np.array([0.0, 1.0])  # begins with a zero
        same(straight(jvp, entries, (x, w), (unit, w)), jvp(lambda x, w: entries(x, w), (x, w), (unit, w)))


def test_shapes_and_dtypes_are_looked_at() -> None:
    x, w = VECTOR**2, np.ones(3)
    straight(jvp, entries, (x, w), (w, w))
    straight(hvp, entries, x, w, w)
    for other in (np.ones((2, 3)), w.astype(np.float32), w.astype(">f8"), w.view(Subclass), np.arange(3) + 1):
        with np.errstate(all="ignore"):
            ones = np.ones(other.shape)
            same(jvp(entries, (other, w), (ones, w)), jvp(lambda x, w: entries(x, w), (other, w), (ones, w)))
            same(hvp(entries, other, ones, w), hvp(lambda x, w: entries(x, w), other, ones, w))
    with pytest.raises(CotangentShapeError, match="shape"):
        jvp(entries, (x, w), (np.ones(2), w))
    with pytest.raises(CotangentShapeError, match="shape"):
        hvp(entries, x, np.ones(2), w)


def test_a_vector_of_another_kind_takes_the_general_road() -> None:
    expected = straight(hvp, product, 2.0, 1.0, 3.0)
    same(hvp(product, 2.0, 1, 3.0), expected)
    same(hvp(product, 2.0, 1.0, y=3.0), expected)
    same(hvp(product, np.float64(2.0), 1.0, 3.0), np.float64(expected))


def test_products_are_nobody_elses() -> None:
    def quadratic(x: Any) -> Any:
        return 0.5 * np.sum(x * x)

    x, v = VECTOR.copy(), np.ones(3)
    for found in (hvp(quadratic, x, v), straight(hvp, quadratic, x, v)):
        same(found, v)
        found[:] = 77.0
        same((x, v), (VECTOR, np.ones(3)))


def test_what_is_replaced_is_noticed() -> None:
    for call, given, slope in ((jvp, ((2.0, 3.0), (1.0, None)), 13.0), (hvp, (2.0, 1.0, 3.0), 0.0)):
        before = straight(call, product, *given)
        with mock.patch("math.sin", lambda x: 20.0 * x):
            found: Any = call(product, *given)
            assert (found[1] if call is jvp else found) == slope
        with mock.patch(f"{__name__}.SCALE", np.float64(0.25)):
            same(call(product, *given), call(lambda x, y: product(x, y), *given))
        with always_dispatch():
            same(call(product, *given), before)
        with no_general_road(call):
            same(call(product, *given), before)
        cache_clear()
        same(call(product, *given), before)


def test_captured_variables_and_defaults_are_read_at_each_call() -> None:
    factor: Any = 2.0

    def f(x: Any, power: Any = 2.0) -> Any:
        return factor * x * x * power

    for call, given in ((jvp, ((3.0,), (1.0,))), (hvp, (3.0, 1.0))):
        f.__defaults__, factor = (2.0,), 2.0
        straight(call, f, *given)
        for power, times in ((2.0, 5.0), (3.0, 2.0), (3, np.float64(2.0))):
            f.__defaults__, factor = (power,), times
            found: Any = call(f, *given)
            assert (found[1] if call is jvp else found) == power * times * (6.0 if call is jvp else 2.0)
        f.__defaults__ = ()
        with pytest.raises(TypeError, match="power"):
            call(f, *given)


called: Any = None


def test_rules_take_effect_at_once() -> None:
    def ruled(x: Any) -> Any:
        return x * x

    def f(x: Any) -> Any:
        return called(x) + x

    def other(x: Any) -> Any:
        return x * x * x

    with mock.patch.dict(globals(), {"called": ruled}):
        assert straight(jvp, f, (3.0,), (1.0,)) == (12.0, 7.0)
        assert straight(jvp, other, (3.0,), (1.0,)) == (27.0, 27.0)

        @frule.register(other)
        def other_frule(x: Any) -> Any:
            def other_pushforward(_: Any, x_dot: Any) -> Any:
                return 100.0 * x_dot

            return x * x * x, other_pushforward

        @rrule.register(ruled)
        def ruled_rrule(x: Any) -> Any:
            def ruled_pullback(y_bar: Any) -> Any:
                return None, 100.0 * y_bar

            return x * x, ruled_pullback

        assert jvp(f, (3.0,), (1.0,)) == (12.0, 101.0)
        assert jvp(other, (3.0,), (1.0,)) == (27.0, 100.0)


def test_anomalies_are_found() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.log(x) * 2.0)

    straight(jvp, f, (VECTOR**2,), (VECTOR,))
    with np.errstate(all="ignore"), detect_anomaly(), pytest.raises(AnomalyError, match="log"):
        jvp(f, (-(VECTOR**2),), (VECTOR,))


def test_a_debugger_is_shown_the_general_road() -> None:
    expected = straight(jvp, product, (2.0, 3.0), (1.0, 1.0)), straight(hvp, product, 2.0, 1.0, 3.0)
    straight(jvp, product, (2.0, 3.0), (1.0, 1.0))
    before = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        with no_general_road(jvp), pytest.raises(AssertionError, match="general"):
            jvp(product, (2.0, 3.0), (1.0, 1.0))
        found = jvp(product, (2.0, 3.0), (1.0, 1.0)), hvp(product, 2.0, 1.0, 3.0)
    finally:
        sys.settrace(before)
    same(found, expected)


def test_exceptions_are_those_of_the_plain_call() -> None:
    def f(x: Any) -> Any:
        return 1.0 / math.sqrt(x)

    straight(jvp, f, (4.0,), (1.0,))
    straight(hvp, f, 4.0, 1.0)
    for call, given in ((jvp, ((-4.0,), (1.0,))), (hvp, (-4.0, 1.0))):
        with pytest.raises(ValueError, match="math domain error") as caught:
            call(f, *given)
        assert [entry.name for entry in caught.traceback][-1] == "f" and len(caught.traceback) == 2


def test_functions_are_not_kept() -> None:
    held = Subclass(3)

    def f(x: Any, y: Any = 2.0) -> Any:
        return x * x * y

    f.itself, f.held = f, held  # type: ignore[attr-defined]
    straight(jvp, f, (2.0,), (1.0,))
    alive, gone = weakref.ref(f), weakref.ref(held)
    del f, held
    gc.collect()
    assert alive() is None and gone() is None


def test_gradients_agree() -> None:
    w = np.linspace(-1.0, 1.0, 9).reshape(3, 3)
    same(straight(jvp, arrays, (VECTOR, w), (np.ones(3), None))[1], np.sum(grad(arrays)(VECTOR, w)))
    same(straight(jvp, scalar, (0.5, 2.0), (1.0, None))[1], grad(scalar)(0.5, 2.0))
    with np.errstate(invalid="ignore"):
        x = np.array([4.0, -1.0, 9.0])
        same(straight(jvp, chosen, (x,), (np.ones(3),))[1], np.sum(grad(chosen)(x)))
