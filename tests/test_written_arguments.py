"""Arguments that a function writes into: what is relied on is looked at in each call, and the objects end as they would."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from microgradpy import MutationError, cache_clear, compiler, grad, gradient, pullback, value_and_grad
from microgradpy.gradient_functions import PATIENCE
from microgradpy.introspect import unit_of
from microgradpy.patterns import Pattern
from microgradpy.runtime.dispatch import has_source_only
from tests.programs import Program
from tests.programs.mutation import MUTATION, simulations
from tests.programs.mutation.simulations import Filter, Plant, Spring, Tank, recorded_and_read, smoothed, stepped, two_objects

LEFT = {"active_changes", "array_is_written_later", "caught_half_way", "appended_in_a_try", "tuples_and_records"}
"""The programs that are tracked."""
SIMULATIONS = [program for program in MUTATION if program.function.__module__ == simulations.__name__]


@pytest.fixture(autouse=True)
def nothing_compiled() -> Iterator[None]:
    cache_clear()
    yield
    cache_clear()


def is_taken_apart(function: Callable[..., Any], *args: Any, argnums: int | None = None) -> bool:
    """Whether a call runs a unit that writes into parts of its arguments."""
    unit, _ = unit_of(function, args, argnums)
    return isinstance(unit.pattern, Pattern) and unit.pattern.objects > 0


def state(x: Any, met: dict[int, int]) -> Any:
    """What an argument holds, down to which objects are the same."""
    if id(x) in met:
        return met[id(x)]
    if isinstance(x, list | dict) or hasattr(x, "__dict__"):
        met[id(x)] = len(met)
    match x:
        case np.ndarray():
            return x.tolist()
        case list() | tuple():
            return [state(item, met) for item in x]
        case dict():
            return {key: state(value, met) for key, value in x.items()}
        case _ if hasattr(x, "__dict__"):
            return type(x).__name__, {name: state(value, met) for name, value in vars(x).items()}
    return x


def check(function: Callable[..., Any], k: float, *args: Any) -> None:
    """Hold the derivative by `k` against differences, and what becomes of the arguments against a plain call."""
    h = 1e-6
    ends = [function(k + step, *copy.deepcopy(args)) for step in (h, -h)]
    ours, plain = copy.deepcopy(args), copy.deepcopy(args)
    found = grad(function)(k, *ours)
    assert found == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-5)
    function(k, *plain)
    assert state(ours, {}) == state(plain, {})
    assert is_taken_apart(function, k, *args, argnums=0)


@pytest.mark.parametrize("program", SIMULATIONS, ids=str)
def test_the_programs_of_the_table_are_taken_apart(program: Program) -> None:
    assert is_taken_apart(program.function, *program.args) is (program.id not in LEFT)


# What is reached in two ways


def test_one_object_as_two_arguments_is_one() -> None:
    spring = Spring()
    check(two_objects, 0.7, spring, spring)
    held = grad(two_objects)
    for both in [(Spring(), Spring(3.0)), (spring, spring), (Spring(), Spring(3.0))]:
        with compiler.always_track():
            tracked = gradient(two_objects, 0.7, *copy.deepcopy(both))[0]
        assert held(0.7, *copy.deepcopy(both)) == pytest.approx(tracked)


def test_an_object_in_two_places() -> None:
    plant = Plant()
    plant.active, plant.tanks[0].next = plant.tanks[0], plant.tanks[1]

    def drained(k: Any, plant: Any) -> Any:
        plant.active.level = k
        plant.run(0.3 * k, 2)
        return plant.tanks[0].level + 2.0 * plant.tanks[1].level + plant.active.level

    check(drained, 0.7, plant)


def test_a_child_that_has_its_parent() -> None:
    spring = Spring()
    spring.last = Tank(1.0, spring)  # type: ignore[arg-type]

    def by_way_of_the_child(k: Any, spring: Any) -> Any:
        spring.x = k
        spring.last.level = spring.last.next.x * k
        spring.last.next.v = spring.last.level
        return spring.v * k

    check(by_way_of_the_child, 0.7, spring)


def test_one_list_in_two_places() -> None:
    items = [1.0]
    spring, other = Spring(), Spring()
    spring.history = other.history = items

    def same_list(k: Any, a: Any, b: Any) -> Any:
        a.history.append(k)
        b.history.append(k * k)
        return sum(a.history) * len(b.history)

    check(same_list, 0.7, spring, other)

    def two_lists(k: Any, a: Any, b: Any) -> Any:
        a.append(k)
        return sum(b) * k

    check(two_lists, 0.7, items, items)


SHARED = Spring()
ITEMS = [1.0]


def reads_by_name() -> float:
    return SHARED.x * 3.0 + sum(ITEMS)


def of_the_object() -> Any:
    return SHARED.x * 3.0 + sum(SHARED.history)


def test_an_object_of_the_module_is_written_into() -> None:
    def writes(k: Any) -> Any:
        SHARED.x = k * k
        SHARED.history.append(k)
        return of_the_object() * SHARED.x

    SHARED.x, SHARED.history = 1.0, [1.0]
    assert grad(writes)(0.7) == pytest.approx(12 * 0.7**3 + 2 * 0.7 * (1.0 + 0.7) + 0.7**2)
    assert is_taken_apart(writes, 0.7)
    assert SHARED.x == 0.7**2
    assert SHARED.history == [1.0, 0.7]


def test_an_argument_that_is_the_object_of_the_module() -> None:
    def writes(k: Any, spring: Any) -> Any:
        spring.x = k * k
        SHARED.history.append(k)
        return of_the_object() * spring.x

    SHARED.x, SHARED.history = 1.0, [1.0]
    assert grad(writes)(0.7, SHARED) == pytest.approx(12 * 0.7**3 + 2 * 0.7 * (1.0 + 0.7) + 0.7**2)
    assert is_taken_apart(writes, 0.7, SHARED, argnums=0)


def test_what_other_code_may_read_is_tracked() -> None:
    def writes(k: Any, spring: Any) -> Any:
        spring.x = k * k
        spring.history.append(k)
        return reads_by_name() * spring.x

    SHARED.x, SHARED.history, ITEMS[:] = 1.0, ITEMS, [1.0]
    assert grad(writes)(0.7, SHARED) == pytest.approx(12 * 0.7**3 + 2 * 0.7 * (1.0 + 0.7) + 0.7**2)
    assert not is_taken_apart(writes, 0.7, SHARED)


# From call to call


def test_a_head_writes_as_well() -> None:
    spring, held = Spring(), grad(stepped)
    code = held.__code__
    found = [held(0.7, spring, 3) for _ in range(3 * PATIENCE)]
    assert held.__code__ is not code, (has_source_only(stepped), unit_of(stepped, (0.7, spring, 3), 0))
    assert len(set(found)) == 1
    assert spring.count == 9 * PATIENCE
    assert spring.k == 0.7


def test_fields_of_other_kinds() -> None:
    def raised(k: Any, spring: Any) -> Any:
        spring.x = spring.x * k
        spring.x = spring.x * k
        return spring.x

    held = grad(raised)
    for value in (1, 1.5, np.float64(2.0), True, 3):
        spring = Spring(x=value)
        assert held(1.5, spring) == pytest.approx(3.0 * value)
        assert spring.x == 2.25 * value


def test_classes_and_objects_that_change() -> None:
    class Moving:
        def __init__(self) -> None:
            self.x = 1.0

        def move(self, k: Any) -> Any:
            self.x = self.x * k

    def moved(k: Any, given: Any) -> Any:
        given.move(k)
        given.move(k)
        return given.x

    held, given, move = grad(moved), Moving(), Moving.move
    assert held(1.5, given) == 3.0
    given.x = 1.0
    Moving.move = lambda self, k: setattr(self, "x", self.x + k)  # type: ignore[method-assign]
    assert held(1.5, given) == 2.0
    Moving.move, given.x = move, 1.0  # type: ignore[method-assign]
    Moving.__setattr__ = lambda self, name, value: object.__setattr__(self, name, 3.0 * value)  # type: ignore[assignment]
    assert held(1.5, given) == 27.0
    del Moving.__setattr__
    given.x = 1.0
    assert held(1.5, given) == 3.0


def test_a_pullback_does_not_look_at_the_object() -> None:
    spring = Spring()
    _y, back = pullback(recorded_and_read, 0.7, spring)
    before = back(1.0)
    spring.x, spring.k = 50.0, 60.0
    spring.history.append(70.0)
    pullback(recorded_and_read, 0.9, spring)
    assert repr(back(1.0)) == repr(before)


def test_a_pullback_does_not_look_at_the_list_that_came_in() -> None:
    def grows(k: Any, spring: Any) -> Any:
        for i in range(3):
            spring.history.append(spring.history[-1] * k * i)
        return sum(spring.history) * k

    spring = Spring()
    spring.history = [1.0, 2.0]
    _y, back = pullback(grows, 0.7, spring)
    before = back(1.0)
    spring.history.clear()
    after = back(1.0)
    assert after[1] == before[1]
    assert dict(after[2])["history"] == dict(before[2])["history"] == [0.7, 0.7]


def test_arrays_that_are_written_into_before_the_pullback_are_refused() -> None:
    def scaled(k: Any, spring: Any) -> Any:
        spring.x = spring.x * k
        return np.sum(spring.x * spring.x)

    for write in (lambda first, spring: first, lambda first, spring: spring.x):
        first = np.array([1.0, 2.0])
        spring = Spring(x=first)  # type: ignore[arg-type]
        _y, back = pullback(scaled, 1.5, spring)
        write(first, spring)[0] = 9.0
        with pytest.raises(MutationError):
            back(1.0)


def test_the_gradient_is_that_of_the_fields_at_the_beginning() -> None:
    smooth = Filter(state=2.0, seen=[1.0])
    found = gradient(smoothed, 1.5, smooth)
    assert is_taken_apart(smoothed, 1.5, smooth)
    assert dict(found[1]).keys() == {"gain", "state", "seen"}
    assert dict(found[1])["seen"] == [smooth.state]
    with compiler.always_track():
        expected = gradient(smoothed, 1.5, Filter(state=2.0, seen=[1.0]))
    assert found[0] == pytest.approx(expected[0])
    assert dict(found[1])["state"] == pytest.approx(dict(expected[1])["state"])


def test_an_exception_leaves_the_object_as_the_plain_program_does() -> None:
    def fails(k: Any, spring: Any) -> Any:
        spring.history.append(k)
        spring.failing(k)
        spring.history.append(2.0)
        return spring.x

    ours, plain = Spring(), Spring()
    with pytest.raises(ValueError, match="stop"):
        fails(0.7, plain)
    held = grad(fails)
    with pytest.raises(ValueError, match="stop"):
        held(0.7, ours)
    assert is_taken_apart(fails, 0.7, Spring())
    assert vars(ours) == vars(plain)


def test_methods_and_closures() -> None:
    spring = Spring()

    def run(k: Any) -> Any:
        spring.reset()
        spring.k = k
        for _ in range(4):
            spring.step(0.1)
        return spring.x

    value, found = value_and_grad(run)(0.7)
    assert is_taken_apart(run, 0.7)
    assert value == spring.x
    assert found == pytest.approx((run(0.7 + 1e-6) - run(0.7 - 1e-6)) / 2e-6, rel=1e-6)
    smooth = Filter()
    (found,) = gradient(smooth, 1.5)
    assert found == 0.5
    assert smooth.seen == [0.75]


def test_threads_have_objects_of_their_own() -> None:
    held, right = grad(stepped), []

    def work() -> None:
        for _ in range(50):
            spring = Spring()
            right.append(held(0.7, spring, 3) == expected and spring.count == 3)

    expected = held(0.7, Spring(), 3)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(right)
    assert len(right) == 200
