"""What the primal keeps for the adjoint: of a step what a person would keep, of arrays no more than is asked of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks import memory
from benchmarks.memory_by_hand import PAIRS, Pair, branches, losses, newton, ode, predators
from microgradpy import MutationError, code_adjoint, code_primal, grad, pullback
from microgradpy.compiler import always_dispatch
from microgradpy.testing import check_gradient


def sines(x: float, w: float, n: int) -> float:
    for _ in range(n):
        x = math.sin(x) * w
    return x


def powers_of_steps(x: float, n: int) -> float:
    total = 0.0
    for k in range(n):
        t = 0.1 * k
        total += math.sin(t * x) * t
    return total


def after_an_exit(x: float, n: int) -> float:
    for k in range(n):
        if x > 3.0:
            return x * x
        speed = 0.5 * x
        x = x + speed * speed * (1.0 if k % 2 == 0 else speed)
    return x


def in_an_arm(x: float, n: int) -> float:
    total = 0.0
    for k in range(n):
        if k % 3 == 1:
            half = 0.5 * x
            third = half * half / 3.0
            if third > 0.2:
                total += third * half
            x = x * 1.1
    return total


def in_an_inner_loop(x: float, w: float, n: int) -> float:
    for _ in range(n):
        rate = w * x
        for _ in range(3):
            x = x + 0.1 * rate * (1.0 - x)
    return x


def seen_by_a_handler(x: float, n: int) -> float:
    total = 0.0
    for k in range(n):
        y = x
        try:
            y = x * x
            if k % 2:
                raise ValueError
            y = y * x
        except ValueError:
            for _ in range(2):
                total += 0.5 * y * x
        total += 0.25 * y * y
        x = x * 1.01
    return total


def unequal(a: float, xs: list[float], ys: list[float]) -> float:
    total = 0.0
    for x, y in zip(xs, ys):  # noqa: B905
        e = a * x - y
        total += e * e * e
    return total


def of_array(x: float, values: Any) -> Any:
    for v in values:
        x = x * v + math.sin(v * x)
    return x


RECORDS = {
    # One number; nothing of what all steps share, such as `-k` or `0.5 * h`.
    "stages": (ode, (1.0, 0.5, 3), "tape.append(y)"),
    "functions": (sines, (1.0, 0.9, 3), "tape.append(x)"),
    "while": (newton, (1.0, 1.1, 3), "tape_y.append(y)"),
    "two numbers": (predators, (1.0, 1.1, 3), "tape.append((u, v))"),
    "condition": (branches, (1.0, 0.5, 3), "tape.append(t)"),
    "after an exit": (after_an_exit, (0.5, 6), "tape_k.append((1, x, is_equal, value))"),
    "in an arm": (in_an_arm, (1.5, 7), "tape_k.append(x)"),
    "in an inner loop": (in_an_inner_loop, (0.5, 1.5, 3), "tape_1.append(difference)"),
    # The counter is counted, and the lists are read again.
    "lists": (losses, (1.0, 0.5, [0.5, 1.5, -1.0], [1.0, 2.0, 0.5]), "tape_x.append(error)"),
    "lists of two lengths": (unequal, (1.0, [0.5, 1.5, -1.0], [1.0, 2.0]), "tape_x.append(e)"),
    # Numbers of NumPy take long to compute with.
    "numbers of an array": (of_array, (0.5, np.array([0.5, 0.7])), "tape_v.append((k, v, x, product_1))"),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_has_what_a_person_would_keep(name: str) -> None:
    function, args, record = RECORDS[name]
    assert record in code_primal(function, *args)
    check_gradient(function, *args)


def test_a_loop_of_which_the_counter_is_enough_keeps_nothing() -> None:
    assert "tape" not in code_primal(powers_of_steps, 0.5, 4)
    assert "t = 0.1 * k" in code_adjoint(powers_of_steps, 0.5, 4)
    check_gradient(powers_of_steps, 0.5, 4)


def test_what_a_handler_sees_is_not_taken_for_what_is_outside_of_the_loop() -> None:
    check_gradient(seen_by_a_handler, 0.8, 5)


def test_what_no_step_changes_is_computed_before_the_loop() -> None:
    before, _ = code_adjoint(ode, 1.0, 0.5, 3).split("in reversed(tape)")
    assert "negated = -k\n" in before and "ratio = 0.001 / 6\n" in before


def test_numbers_computed_again_are_the_same_to_the_last_bit() -> None:
    """A tape that a person writes, with all that the adjoint reads."""
    x, w, tape = 0.3, 1.7, []
    for _ in range(50):
        tape.append((x, math.sin(x)))
        x = math.sin(x) * w
    x_bar, w_bar = 1.0, 0.0
    for x, sine in reversed(tape):
        w_bar += x_bar * sine
        x_bar = x_bar * w * math.cos(x)
    assert grad(sines, argnums=(0, 1))(0.3, w, 50) == (x_bar, w_bar)


def test_a_list_that_was_changed_before_the_pullback_runs() -> None:
    xs, ys = [0.5, 1.5, -1.0], [1.0, 2.0, 0.5]
    _, back = pullback(losses, 1.0, 0.5, xs, ys)
    first = back(1.0)[1]
    xs[0], ys[1] = 100.0, 50.0
    with pytest.raises(MutationError, match="a list among the arguments"):
        back(1.0)
    xs[0], ys[1] = 0.5, 2.0
    assert back(1.0)[1] == first == grad(losses)(1.0, 0.5, xs, ys)


# Arrays


def mean_of_squares(x: Any, y: Any) -> Any:
    return np.mean((x - y) * (x - y))


def mean_of_chosen(x: Any, places: Any) -> Any:
    return np.mean(np.sin(x)[places])


def mean_in_steps(x: Any, n: int) -> Any:
    total = 0.0
    for k in range(n):
        if k != 1:
            total = total + np.mean(x[x > 0.1 * k])
    return total


def mean_before_an_exception(x: Any) -> Any:
    """The handler's path knew the array, and not how long it is."""
    y = 0.0
    try:
        y = np.mean(x[x > 0.1])
        y = y + math.sqrt(-1.0 - y * y)
    except ValueError:
        pass
    return y


X, Y = np.array([[0.5, 1.5, -1.0], [0.2, 0.3, 0.9]]), np.array([[1.0, 0.5, 0.25], [2.0, 1.0, 0.1]])
SHAPES: dict[str, tuple[Callable[..., Any], tuple[Any, ...], str]] = {
    "of another array": (mean_of_squares, (X, Y), "mean_count(difference"),
    "in the primal": (mean_of_chosen, (X, np.array([0, 1, 1])), "mean_count"),
    "in some iterations": (mean_in_steps, (X, 3), "mean_count"),
    "before an exception": (mean_before_an_exception, (X,), "mean_count"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_of_an_array_whose_shape_is_asked_that_is_kept(name: str) -> None:
    function, args, text = SHAPES[name]
    primal, adjoint = code_primal(function, *args), code_adjoint(function, *args)
    assert text in (adjoint if name == "of another array" else primal)
    check_gradient(function, *args)


def rectified(x: Any, w: Any) -> Any:
    return np.sum(np.maximum(x @ w, 0.0) ** 2 + np.minimum(x @ w - 0.25, 1))


def rectified_twice(x: Any, w: Any) -> Any:
    total = x @ w
    return np.sum(np.maximum(total, 0.0) * np.maximum(total, 1.0))


def rectified_in_steps(x: Any, w: Any) -> Any:
    for k in range(3):
        x = np.maximum(x @ w, 0.1 * k) if k == 1 else np.maximum(x @ w, 0.0) + x
    return np.sum(x * x)


def rectified_only(x: Any, w: Any) -> Any:
    return np.sum(np.maximum(np.sqrt(x @ w), 0.0))


def rectified_and_read(x: Any, w: Any) -> Any:
    total = x @ w
    return np.sum(np.maximum(total, 0.0) * total)


SQUARE = np.array([[1.0, -2.0, 0.0], [0.5, 0.0, -0.25], [-1.0, 1.0, 0.0]])
CHOICES: list[tuple[Callable[..., Any], bool]] = [
    (rectified, True),
    (rectified_twice, True),
    (rectified_in_steps, False),
    (rectified_only, False),
    (rectified_and_read, False),
]
TABLES = {
    "ties": SQUARE,
    "none": SQUARE + 0.375,
    "no numbers": np.where(SQUARE > 0.9, np.nan, SQUARE),
    "infinite": np.where(SQUARE > 0.9, np.inf, SQUARE),
    "narrow": SQUARE.astype(np.float32),
    "whole": np.array([[1, 0, -2], [0, 0, 1], [1, 2, 3]]),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("function", "is_shown"), CHOICES)
def test_of_an_array_that_was_compared_that_is_kept(function: Any, is_shown: bool, table: str) -> None:
    args = TABLES[table], np.eye(3)[[1, 2, 0]] + np.eye(3)
    with np.errstate(all="ignore"):
        y, back = pullback(function, *args)
        found, again = back(1.0), back(1.0)
        with always_dispatch():
            expected_y, expected_back = pullback(function, *args)
            expected = expected_back(1.0)
        gradients = (None, *grad(function, (0, 1))(*args))
    assert type(y) is type(expected_y)
    np.testing.assert_array_equal(y, expected_y)
    for bars in (found, again, gradients) if table in ("ties", "none") else (found, again):
        for bar, expected_bar in zip(bars[1:], expected[1:], strict=True):
            assert bar.dtype == expected_bar.dtype
            np.testing.assert_array_equal(bar, expected_bar)
    if is_shown and table != "whole":
        assert "np.greater(" in code_primal(function, *args)
        assert "share" in code_adjoint(function, *args) and "maximum_bar(" not in code_adjoint(function, *args)


# Memory


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_a_gradient_takes_about_the_memory_of_one_by_hand(pair: Pair) -> None:
    ours, hand, _ = memory.beside_hand(pair, 2000 if pair.loop else 512, rounds=1)
    assert ours < (2.0 if pair.loop else 1.1) * hand
