"""Results whose derivative is not that of the arguments they share memory with, in runs that write and in those that do not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from microgradpy import MutationError, NoTangent, gradient, ignore_derivatives, rrule, stop_gradient
from microgradpy.compiler import always_dispatch, always_track
from microgradpy.rules.registry import non_differentiable

X = np.array([1.0, 2.0, 3.0])


def reversed_gradient(x):
    return x


@rrule.register(reversed_gradient)
def reversed_gradient_rrule(x):
    def reversed_gradient_pullback(y_bar):
        return NoTangent(), -y_bar

    return x, reversed_gradient_pullback


def backwards(x):
    return x[::-1]


@rrule.register(backwards)
def backwards_rrule(x):
    def backwards_pullback(y_bar):
        return NoTangent(), -y_bar[::-1]

    return x[::-1], backwards_pullback


def tail(x):
    return x[1:]


non_differentiable(tail)


class Model:
    def __init__(self, w):
        self.w = w


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


@rrule.register(Pair)
def pair_rrule(a, b):
    def pair_pullback(y_bar):
        return NoTangent(), y_bar.get("a"), y_bar.get("b")

    return Pair(a, b), pair_pullback


def into(value):
    """What makes the run one that writes."""
    made = np.zeros(len(value))
    made[:] = value
    return made


def stopped(x):
    return (stop_gradient(x) * x).sum()


def stopped_and_written(x):
    return into(stop_gradient(x) * x).sum()


def stopped_unseen(x, calls=(stop_gradient, ignore_derivatives)):
    total = np.zeros(3)
    for call in calls:
        total[:] = total + call(x) * x
    return total.sum()


def kept_in_a_list(x):
    held = []
    held.append(stop_gradient(x))
    held.append(x)
    return (held[0] * x + held[1]).sum()


def a_copy_of_the_argument(x):
    written = x.copy()
    written[0] = x[1]
    return (stop_gradient(written) * x).sum()


def in_containers(x):
    a, b = stop_gradient((x, [x, 2.0]))
    return into(a * x + b[0] * b[1] * x).sum()


def a_part(x):
    return into(tail(x) * x[1:]).sum()


def reversed_by_a_rule(x):
    return (reversed_gradient(x) * x).sum()


def reversed_and_written(x):
    made = into(reversed_gradient(x))
    return (made * made).sum()


def a_view_by_a_rule(x):
    return into(backwards(x) * np.array([1.0, 2.0, 3.0])).sum()


def a_copy_that_is_written(x):
    h = np.zeros(3)
    for _ in range(2):
        h[:] = h + x
        h *= stop_gradient(h.copy())
    return h.sum()


def an_object_by_a_rule(x):
    pair = Pair(x, x[0])
    return into(pair.a * pair.a).sum() + pair.b


CASES: list[tuple[Callable[..., Any], Any]] = [
    (stopped, X),
    (stopped_and_written, X),
    (stopped_unseen, 2 * X),
    (kept_in_a_list, X + 1),
    (a_copy_of_the_argument, [2.0, 2.0, 3.0]),
    (in_containers, 3 * X),
    (a_part, [0.0, 2.0, 3.0]),
    (reversed_by_a_rule, 0 * X),
    (reversed_and_written, -2 * X),
    (a_view_by_a_rule, [-3.0, -2.0, -1.0]),
    (an_object_by_a_rule, 2 * X + np.array([1.0, 0.0, 0.0])),
    (a_copy_that_is_written, (X * X + X) * (X + 1)),
]


@pytest.mark.parametrize("f, expected", CASES, ids=[f.__name__ for f, _ in CASES])
def test_the_derivative_is_the_one_that_was_declared(f: Callable[..., Any], expected: Any) -> None:
    np.testing.assert_allclose(gradient(f, X)[0], expected)
    for mode in (always_dispatch, always_track):
        with mode():
            np.testing.assert_allclose(gradient(f, X)[0], expected)


def written_afterwards(x):
    b = np.zeros(3)
    y = stop_gradient(b)
    b[:] = x
    return (y * x).sum()


def the_result_is_written(x):
    y = reversed_gradient(x)
    y[0] = 5.0
    return (x * y).sum()


def an_object(x):
    held = [stop_gradient(Model(x)), Model(into(x))]
    return (held[0].w * x).sum()


@pytest.mark.parametrize("f", [written_afterwards, the_result_is_written, an_object])
def test_what_would_show_that_it_is_a_copy_is_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(MutationError, match="given"):
        gradient(f, X.copy())


def turned(pair):
    return pair


@rrule.register(turned)
def turned_rrule(pair):
    def turned_pullback(pair_bar):
        return NoTangent(), (-pair_bar[0], -pair_bar[1])

    return pair, turned_pullback


@pytest.mark.parametrize("mode", [nullcontext, always_dispatch, always_track])
def test_a_rule_of_the_users_may_return_a_tuple_that_it_is_given(mode: Any) -> None:
    def use_both(x):
        a, b = turned((x, x[0]))
        return np.sum(a) + b

    with mode():
        np.testing.assert_array_equal(gradient(use_both, X)[0], [-2.0, -1.0, -1.0])
