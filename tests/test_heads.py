"""Held gradient functions after some calls, when calls like those go straight through: everybody sees what they saw before."""

from __future__ import annotations

import argparse
import dis
import inspect
import math
import pickle
import sys
import textwrap
import threading
import traceback
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import pytest

from microgradpy import (
    AnomalyError,
    NonScalarOutputError,
    cache_clear,
    cache_info,
    detect_anomaly,
    grad,
    gradient,
    hook,
    infiltrate,
    infiltrating,
    is_differentiating,
    isolation,
    rrule,
    rrule_via_ad,
    value_and_grad,
)
from microgradpy.compiler import always_dispatch, always_track
from microgradpy.gradient_functions import PATIENCE, GradientFunction
from tests.test_programs import same
from tests.threads import at_once

MANY = PATIENCE + 4
SCALE: Any = 0.5
VECTOR = np.array([1.0, -2.0, 3.0])


def helper(x: Any, factor: float = 2.0) -> Any:
    return x * factor


def scalar(x: Any, y: Any) -> Any:
    return math.sin(x * y) + helper(x) * SCALE


def arrays(x: Any, w: Any) -> Any:
    return np.sum(np.tanh(x @ w) * VECTOR)


def chosen(x: Any) -> Any:
    return np.sum(np.where(x > 0.0, np.sqrt(x), x))


def held_of(g: Callable[..., Any]) -> GradientFunction:
    held: GradientFunction = g.__closure__[0].cell_contents  # type: ignore[attr-defined]
    return held


def has_head(g: Callable[..., Any]) -> bool:
    return held_of(g).place != ""


def straight(g: Callable[..., Any], *args: Any) -> Callable[..., Any]:
    """A gradient function that goes straight through for arguments like these."""
    for _ in range(2 * PATIENCE):
        g(*args)
    assert has_head(g)
    return g


@contextmanager
def no_general_road() -> Iterator[None]:
    """Inside the block, calls that do not go straight through fail."""
    with mock.patch.object(GradientFunction, "call", side_effect=AssertionError("the general road")):
        yield


class Subclass(np.ndarray):
    pass


def taken(x: Any, y: Any) -> Any:
    return x * y


# The same results


INPUTS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (scalar, (0.5, 2.0)),
    (scalar, (0.5, 2)),
    (scalar, (np.float64(0.5), 2.0)),
    (arrays, (VECTOR, np.ones((3, 3)))),
    (arrays, (VECTOR.astype(np.float32), np.ones((3, 3)))),
    (arrays, (np.arange(3), np.ones((3, 3)))),
    (lambda x, y: x * x, (3.0, 4.0)),
    (lambda x, y: np.sum(x * x), (VECTOR, VECTOR)),
    (lambda x, y: np.sum(x + y), (VECTOR, VECTOR)),
    (lambda x, y: np.real(x * y), (1.0 + 2.0j, 2.0)),
    (lambda x, y: x if y is None else 2.0 * x, (1.5, None)),
    (lambda x, y: x if y == "a" else 2.0 * x, (1.5, "a")),
    (lambda x, y=3.0, z=2: x * y**z, (1.5,)),
    (lambda x, y, z=2: x * y**z, (1.5, 2.5)),
    (chosen, (np.array([4.0, -1.0, 9.0]),)),
]


@pytest.mark.parametrize(("f", "args"), INPUTS)
@pytest.mark.parametrize("transform", [grad, value_and_grad])
def test_results_are_those_of_the_first_call(f: Any, args: tuple[Any, ...], transform: Any) -> None:
    with np.errstate(invalid="ignore"):
        for argnums in (0, -len(args), tuple(range(len(args))), (len(args) - 1, 0)):
            g = transform(f, argnums)
            first = g(*args)
            straight(g, *args)
            with no_general_road():
                again = g(*args)
            same(again, first)


def test_other_arguments_take_the_general_road_and_come_back() -> None:
    g = straight(grad(taken, (0, 1)), 2.0, 3.0)
    for args in ((2, 3.0), (np.float64(2.0), 3.0), (True, 3.0), (np.array(2.0), 3.0), (2.0, 3.0)):
        same(g(*args), grad(taken, (0, 1))(*args))
    with pytest.raises(NonScalarOutputError, match="returned a complex"):
        g(2.0, 3j)
    with no_general_road():
        assert g(2.0, 3.0) == (3.0, 2.0)


def test_keywords_and_wrong_numbers_of_arguments_are_those_of_the_plain_call() -> None:
    g = straight(grad(taken), 2.0, 3.0)
    assert g(2.0, y=5.0) == 5.0
    for args, kwargs in (((2.0,), {}), ((2.0, 3.0, 4.0), {}), ((2.0, 3.0), {"y": 4.0}), ((2.0, 3.0), {"x0": 4.0})):
        with pytest.raises(TypeError) as expected:
            taken(*args, **kwargs)
        with pytest.raises(TypeError, match=str(expected.value).replace("(", r"\(").replace(")", r"\)")):
            g(*args, **kwargs)
    with pytest.raises(TypeError, match="argnums contains 0"):
        g()


def test_shapes_and_dtypes_are_looked_at() -> None:
    g = straight(grad(arrays, (0, 1)), VECTOR, np.ones((3, 3)))
    for x, w in (
        (np.ones(2), np.ones((2, 3))),
        (np.ones((4, 3)), np.ones((3, 3))),
        (VECTOR.astype(np.float32), np.ones((3, 3))),
        (VECTOR.astype(">f8"), np.ones((3, 3))),
        (VECTOR, np.ones((3, 3)).view(Subclass)),
    ):
        same(g(x, w), grad(arrays, (0, 1))(x, w))


def test_gradients_are_nobody_elses() -> None:
    x, y = VECTOR.copy(), VECTOR.copy()
    g = straight(grad(lambda x, y: np.sum(x * y) + np.sum(x + y), (0, 1)), x, y)
    expected = g(x, y)
    a, b = g(x, y)
    a[...] = b[...] = 77.0
    same((x, y), (VECTOR, VECTOR))
    same(g(x, y), expected)
    assert not np.shares_memory(*g(x, y))


def test_a_value_that_is_no_number_is_refused_as_ever() -> None:
    def either(x: Any) -> Any:
        return x * VECTOR if x > 1.0 else x

    g = straight(grad(either), 0.5)
    with pytest.raises(NonScalarOutputError, match="shape"):
        g(2.0)
    assert g(0.25) == 1.0


def test_an_integer_value_has_the_seed_of_one() -> None:
    def either(x: Any) -> Any:
        return x * 3 if x < 1 else 7

    g = straight(value_and_grad(either), 0.5)
    assert g(2.0) == (7, 0.0) and type(g(2.0)[0]) is int


@pytest.mark.parametrize("value", [np.array([0.0, -1.0, 4.0]), np.array([np.nan, 1.0, 2.0]), np.array([np.inf, -1.0, 0.0])])
def test_strong_zeros_are_repaired(value: Any) -> None:
    with np.errstate(all="ignore"):
        g = straight(grad(chosen), np.array([4.0, -1.0, 9.0]))
        same(g(value), gradient(chosen, value)[0])


def test_strong_zeros_of_numbers_are_repaired() -> None:
    def largest(x: Any, y: Any) -> Any:
        return np.max(np.array([np.sqrt(x), y]))

    g = straight(grad(largest, (0, 1)), 4.0, 1.0)
    with np.errstate(all="ignore"):
        same(g(-1.0, 3.0), gradient(largest, -1.0, 3.0))
        same(g(0.0, 3.0), gradient(largest, 0.0, 3.0))


def test_captured_variables_are_read_at_each_call() -> None:
    factor: Any = 2.0
    data = np.array([1.0, 2.0])

    def loss(x: Any) -> Any:
        return np.sum(np.sum(x * data) * factor)

    g = straight(grad(loss), np.ones(2))
    for factor in (3.0, 4, np.float64(5.0), np.array([6.0, 7.0])):
        same(g(np.ones(2)), np.sum(factor) * data)
    factor = 1.0
    data = np.array([[1.0, 2.0], [3.0, 4.0]])
    straight(g, np.ones(2))
    same(g(np.ones(2)), np.array([4.0, 6.0]))


def test_a_captured_variable_may_have_no_value() -> None:
    def made(is_bound: bool) -> Any:
        if is_bound:
            factor = 2.0

        def loss(x: Any) -> Any:
            return x * factor

        def unbind() -> None:
            nonlocal factor
            del factor

        return loss, unbind

    loss, unbind = made(True)
    g = grad(loss)
    assert [g(1.0) for _ in range(MANY)] == [2.0] * MANY
    unbind()
    with pytest.raises(NameError, match="factor"):
        g(1.0)


# What is replaced


def test_replaced_functions_are_noticed_and_come_back() -> None:
    g = straight(grad(scalar), 0.5, 2.0)
    before = g(0.5, 2.0)
    with mock.patch("math.sin", lambda x: 10.0 * x):
        assert g(0.5, 2.0) == 21.0
    with mock.patch(f"{__name__}.helper", lambda x: x * x):
        assert g(0.5, 2.0) == 2.0 * math.cos(1.0) + 0.5
    with no_general_road():
        assert g(0.5, 2.0) == before
    h = straight(grad(lambda x: math.exp(x)), 0.0)
    with mock.patch.dict(globals(), {"math": types.SimpleNamespace(exp=lambda x: 3.0 * x)}):
        assert h(0.0) == 3.0
    with no_general_road():
        assert h(0.0) == 1.0


def test_changed_globals_are_noticed() -> None:
    g = straight(grad(scalar), 0.5, 2.0)
    sine = 2.0 * math.cos(1.0)
    for scale in (1.5, 2, np.float64(0.25), np.array(3.0), True):
        with mock.patch(f"{__name__}.SCALE", scale):
            assert g(0.5, 2.0) == pytest.approx(sine + 2.0 * float(scale))
    with mock.patch(f"{__name__}.SCALE"):
        del globals()["SCALE"]
        with pytest.raises(NameError, match="SCALE"):
            g(0.5, 2.0)
        globals()["SCALE"] = 0.5
    assert g(0.5, 2.0) == sine + 1.0


def test_a_global_array_of_another_kind_is_noticed() -> None:
    g = straight(grad(arrays), VECTOR, np.ones((3, 3)))
    for vector in (np.array(2.0), VECTOR[None], 3.0, VECTOR * 1j):
        with mock.patch(f"{__name__}.VECTOR", vector):
            try:
                expected: Any = grad(arrays)(np.ones(3), np.ones((3, 3)))
            except NonScalarOutputError as error:
                expected = type(error)
            if isinstance(expected, type):
                with pytest.raises(expected):
                    g(np.ones(3), np.ones((3, 3)))
            else:
                same(g(np.ones(3), np.ones((3, 3))), expected)


def test_a_builtin_that_the_module_hides_is_noticed() -> None:
    def f(x: Any) -> Any:
        return abs(x)

    g = straight(grad(f), -2.0)
    assert g(-2.0) == -1.0
    with mock.patch.dict(globals(), {"abs": lambda x: 5.0 * x}):
        assert g(-2.0) == 5.0
    with mock.patch("builtins.abs", lambda x: 7.0 * x):
        assert g(-2.0) == 7.0
    assert g(-2.0) == -1.0


def test_edited_functions_are_noticed() -> None:
    def called(x: Any, factor: float = 2.0) -> Any:
        return x * factor

    def other(x: Any, factor: float = 2.0) -> Any:
        return x * x * factor

    def outer(x: Any, power: int = 1) -> Any:
        return edited(x) ** power

    with mock.patch.dict(globals(), {"edited": called}):
        g = straight(grad(outer), 3.0)
        assert g(3.0) == 2.0
        called.__defaults__ = (5.0,)
        assert g(3.0) == 5.0
        called.__code__ = other.__code__
        assert g(3.0) == 30.0
        outer.__defaults__ = (2,)
        assert g(3.0) == 2 * 45.0 * 30.0
        outer.__code__ = (lambda x, power=1: x * power).__code__
        assert g(3.0) == 2.0


edited: Any = None


def test_rules_take_effect_at_once() -> None:
    def ruled(x: Any) -> Any:
        return x * x

    def f(x: Any) -> Any:
        return edited(x)

    with mock.patch.dict(globals(), {"edited": ruled}):
        g = straight(grad(f), 3.0)
        assert g(3.0) == 6.0

        @rrule.register(ruled)
        def ruled_rrule(x: Any) -> Any:
            def ruled_pullback(y_bar: Any) -> Any:
                return None, 100.0 * y_bar

            return x * x, ruled_pullback

        assert g(3.0) == 100.0


def test_a_cleared_cache_is_filled_again() -> None:
    g = straight(grad(scalar), 0.5, 2.0)
    expected = g(0.5, 2.0)
    cache_clear()
    assert not has_head(g)
    assert g(0.5, 2.0) == expected and cache_info().misses > 0
    straight(g, 0.5, 2.0)


def test_changed_attributes_of_classes_and_modules_are_noticed() -> None:
    class Settings:
        rate = 2.0

        @staticmethod
        def apply(x: Any) -> Any:
            return x * x

    def f(x: Any) -> Any:
        return edited.apply(x) * edited.rate + other.inner.scale(x)

    def scale(x: Any) -> Any:
        return 3.0 * x

    other = types.ModuleType("other")
    other.inner = types.SimpleNamespace(scale=scale)  # type: ignore[attr-defined]
    with mock.patch.dict(globals(), {"edited": Settings, "other": other}):
        g = grad(f)
        assert [g(3.0) for _ in range(MANY)] == [15.0] * MANY
        Settings.rate = 5.0
        assert g(3.0) == 33.0
        Settings.apply = staticmethod(lambda x: x)  # type: ignore[method-assign, assignment]
        assert g(3.0) == 8.0
        other.inner = types.SimpleNamespace(scale=lambda x: 100.0 * x)  # type: ignore[attr-defined]
        assert g(3.0) == 105.0


other: Any = None


# Whoever looks on


@pytest.mark.parametrize("mode", [always_dispatch, always_track])
def test_modes_are_entered_and_left(mode: Any) -> None:
    g = straight(grad(arrays, (0, 1)), VECTOR, np.ones((3, 3)))
    expected = g(VECTOR, np.ones((3, 3)))
    compiled = cache_info().misses
    with mode():
        with mode():
            same(g(VECTOR, np.ones((3, 3))), expected)
        same(g(VECTOR, np.ones((3, 3))), expected)
    assert cache_info().misses > compiled
    with no_general_road():
        same(g(VECTOR, np.ones((3, 3))), expected)


def test_anomalies_are_found() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.log(x) * 2.0)

    g = straight(grad(f), VECTOR**2)
    with np.errstate(all="ignore"), detect_anomaly(), pytest.raises(AnomalyError, match="log"):
        g(np.array([1.0, -1.0, 0.0]))
    with np.errstate(all="ignore"):
        assert np.isfinite(g(VECTOR**2)).all()


def test_anomalies_are_found_in_the_thread_that_looks_for_them_only() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.log(x))

    g = straight(grad(f), VECTOR**2)
    found: list[Any] = []
    inside, done = threading.Event(), threading.Event()

    def look() -> None:
        with np.errstate(all="ignore"), detect_anomaly():
            inside.set()
            done.wait(10)
            try:
                g(np.array([1.0, -1.0, 0.0]))
            except AnomalyError as error:
                found.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    assert inside.wait(10)
    with np.errstate(all="ignore"):
        same(g(np.array([1.0, -1.0, 0.0])), np.array([1.0, -1.0, np.inf]))
    done.set()
    thread.join()
    assert len(found) == 1
    with no_general_road():
        g(VECTOR**2)


def test_a_function_is_infiltrated_from_outside() -> None:
    g = straight(grad(scalar), 0.5, 2.0)
    stops: list[Any] = []
    expected = g(0.5, 2.0)
    for function in (scalar, helper):
        with infiltrating(function, callback=stops.append):
            assert g(0.5, 2.0) == expected
    assert len(stops) == 2
    with no_general_road():
        assert g(0.5, 2.0) == expected


def test_what_is_infiltrated_or_hooked_is_so_at_every_call() -> None:
    seen: list[Any] = []
    with mock.patch.dict(globals(), {"edited": infiltrate(helper, callback=seen.append)}):
        g = grad(lambda x: edited(x) * x)
        assert [g(3.0) for _ in range(MANY)] == [12.0] * MANY
    assert len(seen) == MANY
    seen.clear()
    h = grad(lambda x: hook(seen.append, x * x))
    assert [h(3.0) for _ in range(MANY)] == [6.0] * MANY
    assert seen == [1.0] * MANY


def test_what_is_called_knows_that_it_is_differentiated() -> None:
    asked: list[bool] = []

    def note(x: Any) -> None:
        asked.append(is_differentiating())

    with mock.patch.dict(globals(), {"edited": note}):

        def f(x: Any) -> Any:
            edited(1.0)
            return x * x

        g = grad(f)
        assert [g(3.0) for _ in range(MANY)] == [6.0] * MANY
    assert asked == [True] * MANY


def test_a_gradient_inside_of_a_rule_and_of_a_hook() -> None:
    inner = straight(grad(scalar), 0.5, 2.0)
    slope = inner(0.5, 2.0)

    def by_rule(x: Any) -> Any:
        return scalar(x, 2.0)

    @rrule.register(by_rule)
    def by_rule_rrule(x: Any) -> Any:
        y, back = rrule_via_ad(scalar, x, 2.0)

        def by_rule_pullback(y_bar: Any) -> Any:
            return None, y_bar * inner(x, 2.0) + 0.0 * back(y_bar)[1]

        return y, by_rule_pullback

    for f in (by_rule, lambda x: hook(lambda bar: bar * inner(0.5, 2.0), x) * 1.0):
        g = grad(f)
        assert [g(0.5) for _ in range(MANY)] == pytest.approx([slope] * MANY)
    with no_general_road():
        assert inner(0.5, 2.0) == slope


def test_a_debugger_sees_the_lines_of_the_function_and_of_the_general_adjoint() -> None:
    g = grad(arrays)

    def lines() -> list[tuple[str, str]]:
        seen: list[tuple[str, str]] = []

        def trace(frame: Any, event: str, _: Any) -> Any:
            file = frame.f_code.co_filename
            if event == "line" and (file == __file__ or "microgradpy_generated" in file):
                seen.append((frame.f_code.co_name, str(frame.f_lineno)))
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            g(VECTOR, np.ones((3, 3)))
        finally:
            sys.settrace(before)
        return seen

    g(VECTOR, np.ones((3, 3)))
    first = lines()
    straight(g, VECTOR, np.ones((3, 3)))
    assert lines() == first
    assert {name for name, _ in first} >= {"arrays", "arrays_adjoint"}


def test_a_traceback_is_that_of_the_plain_call() -> None:
    def f(x: Any) -> Any:
        return math.log(helper(x)) * x

    g = straight(grad(f), 2.0)
    try:
        f(-1.0)
    except ValueError as error:
        expected = traceback.extract_tb(error.__traceback__)[1:]
    try:
        g(-1.0)
    except ValueError as error:
        found = traceback.extract_tb(error.__traceback__)[1:]
        assert error.__context__ is None and not hasattr(error, "__notes__")
    assert [(frame.name, frame.lineno) for frame in found] == [(frame.name, frame.lineno) for frame in expected]


def test_an_exception_of_the_adjoint_says_where_it_was() -> None:
    def ruled(x: Any) -> Any:
        return x * x

    @rrule.register(ruled)
    def ruled_rrule(x: Any) -> Any:
        def ruled_pullback(y_bar: Any) -> Any:
            return None, y_bar * math.log(x)

        return x * x, ruled_pullback

    def f(x: Any) -> Any:
        return edited(x) * 2.0

    def notes(g: Any) -> Any:
        with pytest.raises(ValueError) as caught:
            g(-1.0)
        frames = [frame.name for frame in traceback.extract_tb(caught.tb)]
        return getattr(caught.value, "__notes__", []), frames[1:]

    with mock.patch.dict(globals(), {"edited": ruled}):
        g = grad(f)
        before = notes(g)
        straight(g, 1.0)
        assert notes(g) == before and "in the adjoint of f" in before[0][0]


def test_full_tracebacks_name_the_line_of_the_general_road(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        return math.log(x)

    g = straight(grad(f), 2.0)
    monkeypatch.setenv("MICROGRADPY_FULL_TRACEBACK", "1")
    with pytest.raises(ValueError) as caught:
        g(-1.0)
    own = [frame for frame in traceback.extract_tb(caught.tb) if frame.name == "differentiated"]
    assert [frame.line for frame in own] == ["return held.call(args, kwargs)"]


# Threads, copies


def test_threads_with_arguments_of_different_types() -> None:
    g = grad(taken, (0, 1))
    wrong: list[Any] = []
    values: list[tuple[Any, Any]] = [(2.0, 3.0), (2.0, VECTOR[0]), (2, 3.0), (np.float64(2.0), 3), (True, 3.0)]
    expected = [grad(taken, (0, 1))(*args) for args in values]

    def work(offset: int) -> None:
        for step in range(3000):
            at = (offset + step // 200) % len(values)
            found = g(*values[at])
            if found != expected[at] or [*map(type, found)] != [*map(type, expected[at])]:
                wrong.append((values[at], found))

    at_once(work, 4)
    assert not wrong and has_head(g)


def test_a_copy_has_no_head() -> None:
    g = straight(grad(taken), 2.0, 3.0)
    copied = pickle.loads(pickle.dumps(held_of(g)))
    assert not copied.place and copied.form == held_of(g).form
    # As who pickles functions by value makes one: the code of the head, and what it refers to.
    again = types.FunctionType(
        g.__code__, g.__globals__, "again", g.__defaults__, (types.CellType(copied),)  # type: ignore[attr-defined]
    )
    assert again(2.0, 3.0) == 3.0 and again(2.0, y=3.0) == 3.0


def test_nothing_is_kept_alive() -> None:
    def make() -> Any:
        data = np.ones(3)
        return straight(grad(lambda x: np.sum(x * data)), np.ones(3))

    import gc
    import weakref

    g = make()
    gone = weakref.ref(held_of(g))
    gc.disable()
    try:
        del g
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("module", [argparse, textwrap, isolation], ids=lambda module: module.__name__)
def test_instructions_are_those_that_python_sees(module: Any) -> None:
    """What is looked at of them is read from the bytes of the code."""
    waiting = [compile(inspect.getsource(module), module.__name__, "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        waiting += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
        seen = [step for step in dis.get_instructions(code) if step.opname != "EXTENDED_ARG"]
        steps = isolation._steps(code)
        assert [step.opname for step in steps] == [step.opname for step in seen]
        for step, other in zip(steps, seen, strict=True):
            if step.opname in ("LOAD_GLOBAL", "LOAD_ATTR", "LOAD_METHOD", "LOAD_CONST"):
                assert step.argval is other.argval or step.argval == other.argval


def of_large_numbers(x):
    return math.sin(x) * x


def by_size(x):
    return of_large_numbers(x) if x > 10.0 else x * x


def test_a_branch_that_was_not_taken_yet_keeps_nobody_from_a_head() -> None:
    g = grad(by_size)
    for _ in range(PATIENCE + 1):
        assert g(3.0) == 6.0
    assert has_head(g)
    assert g(11.0) == pytest.approx(math.sin(11.0) + 11.0 * math.cos(11.0))
