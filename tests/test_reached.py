"""Callees get their text when they are first reached; nothing else shows that they waited."""

from __future__ import annotations

import gc
import importlib
import inspect
import sys
import threading
import traceback
import types
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from microgradpy import UnsupportedSyntaxError, cache_clear, gradient, jvp, pullback
from microgradpy.cache import CACHE, Unit
from microgradpy.compiler import always_track, compile_unit
from microgradpy.explaining.listings import sheets_of
from microgradpy.exporting.export import export_text
from microgradpy.ir.kinds import FLOAT
from microgradpy.linking import Awaited
from tests.threads import at_once

MODES = {"pure": nullcontext, "tracked": always_track}


@pytest.fixture(autouse=True)
def nothing_compiled() -> None:
    cache_clear()


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> Callable[[], Any]:
    return MODES[request.param]


def units_of(*functions: types.FunctionType) -> list[Unit]:
    codes = {id(function.__code__) for function in functions}
    return [unit for key, unit in CACHE.units.items() if key[0] in codes]


def texts_of(*functions: types.FunctionType) -> set[str]:
    """The names of the functions of which there is a text."""
    return {unit.name for unit in units_of(*functions) if unit.primal is not None or unit.pushforward is not None}


def taken(x):
    return x * x


def far(x):
    return np.sin(x)


def untaken(x):
    return far(x) * x


def branches(x):
    if x > 10.0:
        return untaken(x)
    return taken(x)


def test_only_what_is_reached_has_a_text(mode) -> None:
    with mode():
        assert gradient(branches, 3.0) == (6.0,)
        assert texts_of(branches, taken, untaken, far) == {"branches", "taken"}
        assert {unit.name for unit in units_of(untaken, far)} == {"untaken", "far"}
        assert gradient(branches, 11.0) == pytest.approx((np.sin(11.0) + 11.0 * np.cos(11.0),))
        assert texts_of(branches, taken, untaken, far) == {"branches", "taken", "untaken", "far"}
        assert all(unit.waiting is None for unit in units_of(branches, taken, untaken, far))


def test_only_what_is_reached_has_a_pushforward() -> None:
    assert jvp(branches, (3.0,), (1.0,)) == (9.0, 6.0)
    assert texts_of(branches, taken, untaken, far) == {"branches", "taken"}
    assert all(unit.primal is None for unit in units_of(branches, taken, untaken, far)), "nobody asked for an adjoint"
    value, tangent = jvp(branches, (11.0,), (1.0,))
    assert (value, tangent) == pytest.approx((11.0 * np.sin(11.0), np.sin(11.0) + 11.0 * np.cos(11.0)))
    assert gradient(branches, 3.0) == (6.0,)


def frames() -> list[str]:
    found, frame = [], sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "test_a_first_call_has_the_frames_of_all_others":
        found.append(frame.f_code.co_name)
        frame = frame.f_back
    return found


SEEN: list[list[str]] = []


def looks(x):
    SEEN.append(frames())
    return x * 2.0


def calls_what_looks(x):
    return looks(x)


def test_a_first_call_has_the_frames_of_all_others() -> None:
    SEEN.clear()
    for run in (lambda: gradient(calls_what_looks, 1.0), lambda: jvp(calls_what_looks, (1.0,), (1.0,))):
        run(), run()
        assert [seen[:2] for seen in SEEN[-2:]] == [["looks", "calls_what_looks"]] * 2


def warns(x):
    warnings.warn("of the caller", stacklevel=2)
    return x * 3.0


def calls_what_warns(x):
    return warns(x)  # the place of the warning


def test_a_first_call_warns_where_others_do() -> None:
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert gradient(calls_what_warns, 1.0) == (3.0,)
        line = inspect.getsourcelines(calls_what_warns)[1] + 1
        assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, line)]


COMPARES = """\
import warnings

def compares(x, n):
    return x * 2.0 if n is 1 else x

def in_which_warnings_raise(x, n):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return compares(x, n)
"""


def test_a_text_that_is_made_in_a_run_warns_of_nothing(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "of_which_python_warns.py").write_text(COMPARES)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.warns(SyntaxWarning):
        f = importlib.import_module("of_which_python_warns").in_which_warnings_raise
    assert gradient(f, 2.0, 1)[0] == 2.0
    cache_clear()
    assert jvp(f, (2.0, 1), (1.0, None)) == (4.0, 2.0)


def raises(x):
    if x > 0.0:
        raise ValueError("of the user")
    return x


def calls_what_raises(x):
    return raises(x)


def test_the_traceback_of_a_first_call_is_that_of_others(mode) -> None:
    shown = []
    with mode():
        for _ in range(2):
            with pytest.raises(ValueError, match="of the user") as caught:
                gradient(calls_what_raises, 1.0)
            shown.append(traceback.format_exception(caught.value)[2:])
            assert not hasattr(caught.value, "__notes__")
            assert caught.value.__context__ is None
    assert shown[0] == shown[1]
    assert [line.split(", in ")[1].split("\n")[0] for line in shown[0][:-1]] == ["calls_what_raises", "raises"]


def deep(x):
    for a in [x]:
        for b in [a]:
            for c in [b]:
                for d in [c]:
                    for e in [d]:
                        for f in [e]:
                            for g in [f]:
                                for h in [g]:
                                    for i in [h]:
                                        for j in [i]:
                                            for k in [j]:
                                                if k > 0.0:
                                                    try:
                                                        x = x * math_or(k)
                                                    except KeyError:
                                                        x = x + k
    return x


def math_or(x):
    return x


def maybe_deep(x, items):
    items.append(x)
    if x > 10.0:
        try:
            items[0] = deep(x)
        except Exception:
            items.append(0.0)
    return items[0] * x


def list_of(x, items):
    return maybe_deep(x, items)


def too_deep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Python refuse the text of `deep`, as it does with texts that have deeper blocks than it allows."""
    import microgradpy.linking as linking

    load = linking.load_in_place_of

    def refusing(origin: types.FunctionType, *given: Any) -> Any:
        if origin.__code__ is deep.__code__:
            raise SyntaxError("too many statically nested blocks")
        return load(origin, *given)

    monkeypatch.setattr(linking, "load_in_place_of", refusing)


def shallow(x):
    if x > 10.0:
        return deep(x) * x
    return x * x


def test_a_text_that_python_refuses_is_refused_when_it_is_reached(mode, monkeypatch: pytest.MonkeyPatch) -> None:
    too_deep(monkeypatch)
    with mode():
        assert gradient(shallow, 3.0) == (6.0,)
        line = inspect.getsourcelines(shallow)[1] + 2
        for _ in range(2):
            with pytest.raises(UnsupportedSyntaxError, match="deep has deeper blocks") as caught:
                gradient(shallow, 11.0)
            where = caught.value.where
            assert where is not None and where.file == __file__ and where.function == "deep"
            assert f"reached in {__file__} line {line}: return deep(x) * x" in caught.value.__notes__
        assert gradient(shallow, 3.0) == (6.0,)


def test_a_refusal_in_the_middle_of_a_run_that_writes_passes_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    too_deep(monkeypatch)
    items = [2.0]
    assert gradient(list_of, 3.0, items)[0] == 2.0
    assert items == [2.0, 3.0]
    plain, items = [2.0, 11.0], [2.0]
    with pytest.raises(UnsupportedSyntaxError, match="deep has deeper blocks"):
        gradient(list_of, 11.0, items)
    assert items == plain, "as the plain program had left it when it made the call"


def even(x, n):
    return x if n == 0 else odd(x * 1.5, n - 1)


def odd(x, n):
    return x if n == 0 else even(x * 0.5, n - 1)


def recursion(x, n):
    if n < 0:
        return odd(x, 3)
    return even(x, n)


def test_functions_that_call_each_other(mode) -> None:
    with mode():
        assert gradient(recursion, 1.0, 4)[0] == pytest.approx(0.5625)
        assert gradient(recursion, 1.0, 0)[0] == 1.0
        assert gradient(recursion, 1.0, -1)[0] == pytest.approx(0.375)


def of_threads(x):
    return slow_to_compile(x) + 1.0


def slow_to_compile(x):
    y = x
    for _ in range(3):
        y = np.tanh(y) * x + np.sin(y)
    return y


@pytest.mark.parametrize("modes", ["gradient", "jvp"])
def test_threads_that_reach_a_callee_at_once(modes) -> None:
    def run(x: float) -> Any:
        return gradient(of_threads, x)[0] if modes == "gradient" else jvp(of_threads, (x,), (1.0,))[1]

    expected = run(0.7)
    cache_clear()
    compile_unit(of_threads, (FLOAT,), (True,))  # its callee waits
    (unit,) = units_of(slow_to_compile)
    assert unit.waiting is not None
    barrier, found, halves = threading.Barrier(8), [], []

    def reach(_: int) -> None:
        barrier.wait()
        found.append(run(0.7))
        halves.append((unit.primal, unit.pushforward))

    at_once(reach, 8)
    assert found == [expected] * 8
    assert len(set(halves)) == 1


def test_who_asks_for_the_texts_gets_all_of_them() -> None:
    assert [sheet.name for sheet in sheets_of(branches, (3.0,), None)] == ["branches", "untaken", "taken", "far"]
    cache_clear()
    unit = compile_unit(branches, (FLOAT,), (True,))
    assert unit.primal is not None
    awaited = [name for name, value in unit.primal.__globals__.items() if isinstance(value, Awaited)]
    assert awaited == ["untaken_primal", "taken_primal"]
    text = export_text(branches, 3.0)
    assert all(f"def {name}_adjoint(" in text for name in ("branches", "taken", "untaken", "far"))


def test_a_debugger_steps_from_one_text_into_the_other() -> None:
    gradient(branches, 3.0)  # without one
    events: list[str] = []

    def trace(frame: types.FrameType, event: str, _: Any) -> Any:
        events.append(frame.f_code.co_name)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        gradient(branches, 11.0)
    finally:
        sys.settrace(before)
    start = events.index("branches")
    within = events[start : len(events) - events[::-1].index("branches")]
    assert set(within) == {"branches", "untaken", "far"}


def test_files_are_there_before_the_run(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MICROGRADPY_DUMP", str(tmp_path))
    gradient(branches, 3.0)
    for name in ("branches", "taken", "untaken", "far"):
        assert len(list(tmp_path.glob(f"{name}_primal*.py"))) == len(list(tmp_path.glob(f"{name}_adjoint*.py"))) == 1


def test_a_callee_that_was_never_reached_is_watched() -> None:
    assert gradient(branches, 3.0) == (6.0,)
    code = far.__code__
    try:
        far.__code__ = taken.__code__
        assert gradient(branches, 11.0) == (3 * 11.0**2,)
    finally:
        far.__code__ = code
    assert gradient(branches, 11.0) == pytest.approx((np.sin(11.0) + 11.0 * np.cos(11.0),))


def forget() -> None:
    cache_clear()


def forgets(x):
    if x > 0.0:
        forget()
    return branches(x)


def test_a_run_goes_on_when_what_it_needs_is_forgotten() -> None:
    assert gradient(forgets, 11.0) == pytest.approx((np.sin(11.0) + 11.0 * np.cos(11.0),))
    gc.collect()
    _, back = pullback(forgets, 11.0)
    gc.collect()
    assert back(1.0)[1] == pytest.approx(np.sin(11.0) + 11.0 * np.cos(11.0))


def roots(x):
    return np.where(x > 0.0, root(x), 0.0) if np.sum(x) > -1.0 else other_root(x)


def root(x):
    return np.sqrt(x)


def other_root(x):
    return np.where(x > -2.0, root(x + 2.0), 1.0)


def test_zeros_of_selections(mode) -> None:
    with mode():
        (bar,) = gradient(lambda x: np.sum(roots(x)), np.array([0.0, 4.0]))
        assert bar.tolist() == [0.0, 0.25]
        (bar,) = gradient(lambda x: np.sum(roots(x)), np.array([-2.0, -1.0]))
        assert bar.tolist() == [0.0, 0.5]


def looks_up(x, values):
    low = np.interp(x, np.array([-2.0, 0.1, 0.9]), values, left=0.5)
    return np.sum(low) + np.interp(x[0], np.sort(values), values)


def test_what_a_function_calls_does_not_depend_on_the_pushforwards_made_of_it() -> None:
    """A pushforward calls helpers of rules, which are no callees of the function."""
    x, values = np.array([0.5, -1.5]), np.array([0.4, 1.4, -0.8])
    text = export_text(looks_up, x, values)
    jvp(looks_up, (x, values), (x, values))
    assert export_text(looks_up, x, values) == text
