"""Generators that are differentiated behave like generators: lazily, with the names and states of their own. Their gradients
are checked with the other programs that write, in `tests/programs/mutation/generators.py`."""

from __future__ import annotations

import gc
import inspect
import itertools
import types
from collections.abc import Callable
from typing import Any

import pytest

from microgradpy import MissingRuleError, MutationError, gradient, pullback


def noisy(x, log):
    log("start")
    for k in itertools.count(1):
        log(f"before {k}")
        sent = yield x * k
        log(f"after {k}, {sent!r}")
        if k == 3:
            return


def used_in_part(x, log):
    log("call")
    steps = noisy(x, log)
    log("made")
    total = next(steps) + steps.send("hello")
    for value in steps:
        log("item")
        total += value * x
    log("done")
    other = noisy(x, log)
    noisy(x, log)
    return total * next(other) + next(steps, x)


def log_of(run: Callable[[Callable[[str], None]], Any]) -> list[str]:
    lines: list[str] = []
    run(lines.append)
    return lines


def test_it_runs_when_it_is_asked() -> None:
    assert log_of(lambda log: gradient(lambda x: used_in_part(x, log), 2.0)) == log_of(lambda log: used_in_part(2.0, log))


def test_it_looks_like_the_generator_that_it_is() -> None:
    seen: list[Any] = []

    def f(x: float) -> float:
        steps = noisy(x, str)
        seen.append((type(steps), steps.__name__, steps.__qualname__, inspect.getgeneratorstate(steps)))
        total = next(steps)
        seen.append(inspect.getgeneratorstate(steps))
        total += sum(steps)
        seen.append(inspect.getgeneratorstate(steps))
        return total

    assert gradient(f, 2.0) == (6.0,)
    assert seen == [(types.GeneratorType, "noisy", "noisy", "GEN_CREATED"), "GEN_SUSPENDED", "GEN_CLOSED"]


def test_a_pullback_can_be_called_again() -> None:
    def f(x: float) -> float:
        return sum(itertools.islice(noisy(x * x, str), 2)) * x

    y, back = pullback(f, 2.0)
    assert y == 24.0
    assert [back(1.0)[1] for _ in range(2)] == [36.0, 36.0]


KEPT: list[Any] = []


def advances_what_it_kept(x: float) -> float:
    if not KEPT:
        KEPT.append(noisy(x, str))
    return next(KEPT[0]) * x


def test_a_generator_is_advanced_in_the_call_that_made_it_only() -> None:
    KEPT.clear()
    y, back = pullback(advances_what_it_kept, 2.0)
    assert (y, back(1.0)[1]) == (4.0, 4.0)
    with pytest.raises(MutationError, match="outside of that call"):
        gradient(advances_what_it_kept, 2.0)
    KEPT.clear()
    pullback(advances_what_it_kept, 2.0)
    with pytest.raises(MutationError, match="outside of that call"):
        next(KEPT[0])
    KEPT.clear()


def test_what_it_raises_comes_out_of_it() -> None:
    def broken(x: float) -> Any:
        yield x
        raise ValueError("no more")

    def f(x: float) -> float:
        return sum(value * x for value in broken(x))

    with pytest.raises(ValueError, match="no more") as plain:
        f(2.0)
    with pytest.raises(ValueError, match="no more") as caught:
        gradient(f, 2.0)
    assert [entry.lineno for entry in caught.traceback][-1] == [entry.lineno for entry in plain.traceback][-1]


def test_an_abandoned_generator_ends_with_the_run() -> None:
    ended: list[str] = []

    def guarded(x: float) -> Any:
        try:
            yield x
            yield x * x
        finally:
            ended.append("finally")

    def f(x: float) -> float:
        return next(guarded(x))

    with pytest.raises(MissingRuleError, match="not run to its end"):
        pullback(f, 2.0)
    gc.collect()
    assert ended == ["finally"]


def guarded(x, log):
    try:
        yield x
        yield x * x
    finally:
        log[0] += 10.0 * x


def dropped(x):
    log = [0.0]
    first = next(guarded(x, log))
    return first + log[0]


def left_by_a_loop(x):
    log = [0.0]
    for item in guarded(x, log):
        if item > 1.0:
            break
    return item + log[0]


def first_of(x, log):
    for item in guarded(x, log):
        return item


def left_by_return(x):
    log = [0.0]
    return first_of(x, log) + log[0]


@pytest.mark.parametrize("function", (dropped, left_by_return))
def test_what_runs_when_a_generator_is_dropped_is_not_left_out_of_the_value(function: Callable[[float], float]) -> None:
    with pytest.raises(MissingRuleError, match=r"not run to its end[\s\S]*in (dropped|first_of)"):
        pullback(function, 1.5)


def test_what_runs_when_a_loop_leaves_a_generator_that_it_has_made() -> None:
    y, back = pullback(left_by_a_loop, 1.5)
    assert y == left_by_a_loop(1.5) == 16.5
    assert back(1.0) == (None, 11.0)


def raising(x, log):
    try:
        yield x
        yield x * x
    finally:
        log[0] += x
        raise ValueError(x)


def left_where_it_raises(x):
    log = [0.0]
    for item in raising(x, log):
        if item > 0.0:
            break
    return item + log[0]


def test_what_a_generator_raises_when_it_is_dropped_is_no_exception_of_the_program() -> None:
    with pytest.raises(MissingRuleError, match="raises ValueError when a `break` has left it"):
        pullback(left_where_it_raises, 1.5)
