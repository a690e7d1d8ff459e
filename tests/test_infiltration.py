"""`infiltrate` stops in derived pullbacks, with the seed, the arguments, the local variables and the result, and changes
nothing else."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import subprocess
import sys
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgradpy import (
    DifferentiationError,
    SourceNotFoundError,
    Stop,
    cache_clear,
    code_adjoint,
    detect_anomaly,
    gradient,
    infiltrate,
    infiltrate_rrule,
    infiltrating,
    jvp,
    pullback,
    rrule,
    value_and_gradient,
)
from microgradpy.cache import CACHE
from microgradpy.compiler import always_dispatch, always_track
from microgradpy.rules.registry import non_differentiable
from microgradpy.tangents.projection import fill_zeros
from tests import finite_differences as fd
from tests.names import name_of
from tests.programs import PROGRAMS, Program
from tests.test_programs import rounding_of, same, same_cotangents

MODES = {"as it is": nullcontext, "tracked": always_track, "dispatched": always_dispatch}
in_every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=list(MODES))
STOPS: list[Stop] = []
X = np.array([1.0, 2.0, 3.0])
ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def no_stops_yet():
    STOPS.clear()


@infiltrate_rrule(callback=STOPS.append)
def f(x, y):
    return x**2 + y**2


@in_every_mode
def test_the_example_of_the_reference(mode: Any) -> None:
    with mode():
        y, gradients = value_and_gradient(lambda x, y: f(f(x, y), y), 3.0, 4.0)
    assert (y, gradients) == (641.0, (300.0, 408.0))
    assert [(stop.dy, stop.arguments["x"], stop.arguments["y"], stop.result) for stop in STOPS] == [
        (1.0, 25.0, 4.0, 641.0),
        (50.0, 3.0, 4.0, 25.0),
    ]
    assert f(3.0, 4.0) == 25.0
    assert len(STOPS) == 2


# Local variables


def straight(x):
    a = x * 2.0
    b = a + 1.0
    return np.sum(a * b)


def rebound(x):
    x = x * 3.0
    return np.sum(x * x)


def looped(x):
    total = 0.0
    for k, item in enumerate(x):
        square = item * item
        total = total + square * k
    return total


def returned_from_a_loop(x):
    best = 0.0
    for k in range(3):
        best = best + x[k]
        if best > 2.0:
            last = k  # noqa: F841 - it is looked at from outside, as others here
            return best * best
    return best


def one_branch_only(x):
    if x[0] > 5.0:
        never = x * 2.0
        return np.sum(never)
    if x[0] > 0.0:
        here = x[0] * 2.0  # noqa: F841
    else:
        there = x[0] * 3.0  # noqa: F841
    return np.sum(x) * x[0]


def zero_trips(x):
    for k in range(0):
        y = x * k  # noqa: F841
    return np.sum(x * x)


def deleted(x):
    gone = x * 2.0
    y = gone * 3.0
    del gone
    return np.sum(y)


def with_finally(x):
    step = 0
    try:
        step = 1
        y = np.sum(x * x)
        return y
    finally:
        step = 2  # noqa: F841


def with_handler(x):
    try:
        y = x * 2.0
        z = y[7]  # noqa: F841
    except IndexError:
        w = y * 3.0
    return np.sum(w)


def written(x):
    y = np.zeros(3)
    log = []
    for i in range(3):
        y[i] = x[i] * x[i]
        log.append(y[i] * 2.0)
    return np.sum(y) + log[0]


def written_afterwards(x):
    y = filled(x)
    y[0] = 0.0
    return np.sum(y)


def filled(x):
    z = x * 2.0
    return z


def with_closure(x):
    scale = 2.0

    def inner(v):
        return v * scale * x

    return np.sum(inner(x))


def with_shared_variable(x):
    count = 0.0

    def add(v):
        nonlocal count
        count = count + v
        return count

    for item in x:
        add(item * item)
    return count


def with_comprehension(x):
    squares = [item * item for item in x]
    return sum(squares)


def starred(*xs, scale=2.0, **more):
    y = xs[0] * scale
    return np.sum(y * xs[0])


LOCALS: dict[Callable[..., Any], dict[str, Any]] = {
    straight: {"x": X, "a": 2.0 * X, "b": 2.0 * X + 1.0},
    rebound: {"x": 3.0 * X},
    looped: {"x": X, "total": 22.0, "k": 2, "item": 3.0, "square": 9.0},
    returned_from_a_loop: {"x": X, "best": 3.0, "k": 1, "last": 1},
    one_branch_only: {"x": X, "here": 2.0},
    zero_trips: {"x": X},
    deleted: {"x": X, "y": 6.0 * X},
    with_finally: {"x": X, "step": 2, "y": 14.0},
    with_handler: {"x": X, "y": 2.0 * X, "w": 6.0 * X},
    written: {"x": X, "y": X * X, "log": [2.0, 8.0, 18.0], "i": 2},
    with_closure: {"x": X, "scale": 2.0},
    with_shared_variable: {"x": X, "count": 14.0, "item": 3.0},
    with_comprehension: {"x": X, "squares": [1.0, 4.0, 9.0]},
    starred: {"xs": (X,), "scale": 2.0, "more": {}, "y": 2.0 * X},
}


def as_lists(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [as_lists(item) for item in value]
    return np.asarray(value).tolist() if isinstance(value, np.ndarray | np.generic) else value


@in_every_mode
@pytest.mark.parametrize("function", LOCALS, ids=lambda function: function.__name__)
def test_the_local_variables_are_those_at_the_return(function: Callable[..., Any], mode: Any) -> None:
    with mode():
        expected = value_and_gradient(function, X)
        found = value_and_gradient(infiltrate(function, callback=STOPS.append), X)
    assert same(found[0], expected[0])
    assert same_cotangents(found[1], expected[1])
    (stop,) = STOPS
    assert {name: as_lists(value) for name, value in stop.locals.items()} == {
        name: as_lists(value) for name, value in LOCALS[function].items()
    }
    assert stop.dy == 1.0
    assert stop.result == expected[0]
    assert stop.function == function.__name__
    assert (stop.where.file, stop.where.function) == (__file__, function.__name__)
    line = inspect.getsourcelines(function)[0][stop.where.line - function.__code__.co_firstlineno]
    assert line.strip().startswith("try:" if function is with_finally else "return")


def test_the_arguments_are_those_of_the_call() -> None:
    gradient(infiltrate(rebound, callback=STOPS.append), X)
    np.testing.assert_array_equal(STOPS[0].arguments["x"], X)
    np.testing.assert_array_equal(STOPS[0].names["x"], 3.0 * X)


def test_what_is_written_later_does_not_show() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(written_afterwards.__globals__, "filled", infiltrate(filled, callback=STOPS.append))
        np.testing.assert_array_equal(gradient(written_afterwards, X)[0], [0.0, 2.0, 2.0])
    (stop,) = STOPS
    np.testing.assert_array_equal(stop.result, 2.0 * X)
    np.testing.assert_array_equal(stop.locals["z"], 2.0 * X)
    np.testing.assert_array_equal(stop.dy, [0.0, 1.0, 1.0])


@in_every_mode
@pytest.mark.parametrize("program", PROGRAMS[1::12], ids=str)
def test_a_program_is_as_it_was(program: Program, mode: Any) -> None:
    def run(function: Callable[..., Any]) -> Any:
        try:
            y, back = pullback(function, *copy.deepcopy(program.args))
        except Exception as error:  # refused in this mode
            return type(error), str(error)
        # A zero that somebody has asked for may be None where the function stops.
        return y, tuple(map(fill_zeros, program.args, back(fd.random_seed(y))[1:]))

    with mode():
        expected = run(program.function)
        found = run(infiltrate(program.function, callback=STOPS.append))
    assert same(found[0], expected[0])
    assert same_cotangents(found[1], expected[1], rounding_of(program))
    if STOPS:
        assert same_cotangents(STOPS[0].dy, fd.random_seed(found[0]))
        assert same(STOPS[0].result, found[0])


# What may be infiltrated


class Model:
    def __init__(self, w):
        self.w = w

    @infiltrate_rrule(callback=STOPS.append)
    def loss(self, x, *, power=2.0):
        z = self.w * x
        return z**power

    @classmethod
    @infiltrate_rrule(callback=STOPS.append)
    def of_class(cls, x):
        return 3.0 * x

    @infiltrate_rrule(callback=STOPS.append)
    @staticmethod
    def static(x):
        return 4.0 * x

    def __call__(self, x):
        return self.w * x * x


MODEL = Model(2.0)


@in_every_mode
@pytest.mark.parametrize(
    ("call", "expected", "names"),
    [
        (lambda x: MODEL.loss(x), 24.0, {"self", "x", "power"}),
        (lambda x: MODEL.loss(x, power=3.0), 216.0, {"self", "x", "power"}),
        (MODEL.loss, 24.0, {"self", "x", "power"}),
        (lambda x: MODEL.of_class(x), 3.0, {"cls", "x"}),
        (lambda x: Model.static(x), 4.0, {"x"}),
        (infiltrate(MODEL, callback=STOPS.append), 12.0, {"self", "x"}),
        (infiltrate(functools.partial(f.__wrapped__, y=1.0), callback=STOPS.append), 6.0, {"x", "y"}),
        (infiltrate(lambda x, y=2.0: x * y, callback=STOPS.append), 2.0, {"x", "y"}),
    ],
    ids=["method", "keyword", "bound method", "class method", "static method", "callable object", "partial", "lambda"],
)
def test_methods_and_other_callables(call: Callable[..., Any], expected: float, names: set[str], mode: Any) -> None:
    with mode():
        assert gradient(call, 3.0) == (expected,)
    assert [set(stop.arguments) for stop in STOPS] == [names]


@infiltrate_rrule(callback=STOPS.append)
def factorial(x, n):
    return x if n == 0 else x * factorial(x, n - 1)


@in_every_mode
def test_a_recursive_function_stops_at_each_level(mode: Any) -> None:
    with mode():
        assert gradient(lambda x: factorial(x, 3), 2.0) == (32.0,)
    assert [(stop.arguments["n"], stop.dy) for stop in STOPS] == [(3, 1.0), (2, 2.0), (1, 4.0), (0, 8.0)]


def decorated_inside(x):
    @infiltrate_rrule(callback=STOPS.append)
    def inner(y):
        t = y * x
        return t * t

    return inner(3.0)


def decorated_inside_without_options(x):
    inner = infiltrate(lambda y: (y * x) ** 2, callback=STOPS.append)
    return inner(3.0)


def layer_inside(x):
    return infiltrate(MODEL, callback=STOPS.append)(x) * 1.5


def layer_that_is_differentiated(x):
    return infiltrate(Model(x), callback=STOPS.append)(3.0)


@in_every_mode
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (decorated_inside, 36.0),
        (decorated_inside_without_options, 36.0),
        (layer_inside, 12.0),
        (layer_that_is_differentiated, 9.0),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_in_differentiated_code(function: Callable[..., Any], expected: float, mode: Any) -> None:
    with mode():
        assert gradient(function, 2.0) == (expected,)
    assert len(STOPS) == 1


def helper(x):
    t = x * 3.0
    return t * t


class Doubling:
    def apply(self, x):
        return helper(x) * 2.0


def uses_helper(x):
    return helper(x) + Doubling().apply(x)


@in_every_mode
@pytest.mark.parametrize(
    ("inside", "stops"),
    [(helper, [("helper", 2.0, 6.0), ("helper", 1.0, 6.0)]), (Doubling.apply, [("apply", 1.0, 2.0)])],
    ids=["function", "method"],
)
def test_for_one_call_of_a_function_that_calls_it(inside: Any, stops: list[Any], mode: Any) -> None:
    cache_clear()  # of a full cache units would go
    with mode():
        assert gradient(uses_helper, 2.0) == (108.0,)
        units = set(CACHE.units)
        with infiltrating(inside, callback=STOPS.append):
            y, back = pullback(uses_helper, 2.0)
            assert (y, back(1.0)) == (108.0, (None, 108.0))
        assert [(stop.function, stop.dy, stop.locals.get("t", stop.locals["x"])) for stop in STOPS] == stops
        assert set(CACHE.units) == units
        assert gradient(uses_helper, 2.0) == (108.0,)
        assert len(STOPS) == len(stops)
        back(1.0)  # of the run that was made inside
        assert len(STOPS) == 2 * len(stops)


def test_two_at_once() -> None:
    with infiltrating(helper, callback=STOPS.append), infiltrating(Doubling().apply, callback=STOPS.append):
        assert gradient(uses_helper, 2.0) == (108.0,)
    assert [stop.function for stop in STOPS] == ["apply", "helper", "helper"]


def test_it_is_the_function_once_more() -> None:
    assert f.__name__ == "f"
    assert f.__wrapped__ is not f
    assert inspect.signature(Model.loss) == inspect.signature(lambda self, x, *, power=2.0: None)
    assert inspect.getsource(f).endswith("return x**2 + y**2\n")
    assert f(y=1.0, x=2.0) == 5.0
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        f(1.0)


def test_nothing_is_left_behind() -> None:
    def plain(x):
        y = x * 2.0
        return y * y

    cache_clear()
    version = rrule.version
    before = code_adjoint(plain, 3.0)
    infiltrated = infiltrate(plain, callback=STOPS.append)
    assert gradient(infiltrated, 3.0) == (24.0,)
    assert "stop_here" in code_adjoint(infiltrated, 3.0)
    assert gradient(plain, 3.0) == (24.0,)
    assert len(STOPS) == 1
    assert code_adjoint(plain, 3.0) == before
    assert rrule.version == version
    assert not rrule.has(infiltrated)
    gone = weakref.ref(infiltrated.__code__)
    STOPS.clear()
    del infiltrated
    gc.collect()
    assert gone() is None


def test_one_call_only() -> None:
    def plain(x):
        return x * x

    assert gradient(infiltrate(plain, callback=STOPS.append), 3.0) == (6.0,)
    assert gradient(plain, 3.0) == (6.0,)
    assert len(STOPS) == 1


def test_each_call_of_the_pullback_stops() -> None:
    _, back = pullback(f, 1.0, 2.0)
    assert STOPS == []
    for seed in (1.0, 5.0, None):
        back(seed)
    assert [stop.dy for stop in STOPS] == [1.0, 5.0, 0.0]


def test_a_condition() -> None:
    def cubes(x):
        total = 0.0
        for k in range(4):
            total = total + cube(x, k)
        return total

    asked = []

    def when(dy, k, **variables):
        asked.append((dy, sorted(variables)))
        return k % 2 == 0

    @infiltrate_rrule(when=when, callback=STOPS.append)
    def cube(x, k):
        y = x * k
        return y**3

    assert gradient(cubes, 2.0) == (432.0,)
    assert [stop.locals["k"] for stop in STOPS] == [2, 0]
    assert asked == [(1.0, ["x", "y"])] * 4


def test_a_variable_of_the_users_keeps_its_name() -> None:
    def own_names(dy):
        result = dy * 3.0
        return result * 2.0

    gradient(infiltrate(own_names, lambda seed, result: seed == 1.0 and result == 6.0, STOPS.append), 2.0)
    (stop,) = STOPS
    assert stop.names == {"dy": 2.0, "result": 6.0, "Δ": 1.0}
    assert (stop.dy, stop.result) == (1.0, 12.0)


@in_every_mode
def test_tangents_pass(mode: Any) -> None:
    with mode():
        assert jvp(f, (3.0, 4.0), (1.0, 0.0)) == (25.0, 6.0)
        assert jvp(infiltrate(written, callback=STOPS.append), (X,), (np.ones(3),))[1] == pytest.approx(16.0)
    assert STOPS == []


@in_every_mode
def test_it_can_be_looked_for_anomalies_as_well(mode: Any) -> None:
    with mode(), detect_anomaly():
        for function in LOCALS:
            assert same_cotangents(gradient(infiltrate(function, callback=STOPS.append), X), gradient(function, X))
    assert [stop.function for stop in STOPS] == [function.__name__ for function in LOCALS]


def test_it_stops_before_an_infinity_is_made() -> None:
    with np.errstate(all="ignore"), detect_anomaly(nan_only=True):
        gradient(infiltrate(lambda x: np.sqrt(x) * 2.0, callback=STOPS.append), 0.0)
    assert STOPS[0].locals == {"x": 0.0}


def with_rule(x):
    return 2.0 * x


@rrule.register(with_rule)
def with_rule_rrule(x):
    def with_rule_pullback(y_bar):
        return None, 2.0 * y_bar

    return 2.0 * x, with_rule_pullback


def constant(x):
    return 1.0


non_differentiable(constant)


def generates(x):
    yield x


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (np.sin, SourceNotFoundError, "sin has no Python source"),
        (with_rule, DifferentiationError, "with_rule has a rule, so that it has no derived pullback"),
        (constant, DifferentiationError, "constant has a rule"),
        (generates, DifferentiationError, "generates is a generator function"),
        (3.0, SourceNotFoundError, "float has no Python source"),
    ],
    ids=name_of,
)
def test_what_has_no_derived_pullback_is_refused(function: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        infiltrate(function)
    with pytest.raises(error, match=words), infiltrating(function):
        pass


def test_an_exception_of_the_callback_comes_out() -> None:
    def fails(stop):
        raise KeyError(stop.function)

    with pytest.raises(KeyError, match="straight"):
        gradient(infiltrate(straight, callback=fails), X)
    assert gradient(straight, X)[0].tolist() == [10.0, 18.0, 26.0]


# The debugger, without one


SCRIPT = """
from microgradpy import gradient, infiltrate_rrule

@infiltrate_rrule
def f(x, y):
    t = x * 2.0
    return t * t + y

print(gradient(f, 3.0, 4.0))
"""


def run_script(tmp_path: Any, **environment: str) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    (tmp_path / "mydebugger.py").write_text(
        "import sys\n\ndef stop():\n    frame = sys._getframe(1)\n"
        "    print(frame.f_code.co_name, frame.f_code.co_filename, sorted(frame.f_locals.items()))\n"
    )
    command = [sys.executable, str(script)]
    variables = {"PYTHONPATH": f"{ROOT}:{tmp_path}", **environment}
    nobody = subprocess.DEVNULL
    return subprocess.run(command, stdin=nobody, capture_output=True, text=True, env=variables, timeout=60, check=False)


def test_without_a_terminal_it_says_so(tmp_path: Any) -> None:
    done = run_script(tmp_path)
    assert done.returncode == 1
    assert "a debugger was to open in the pullback of f, and there is no terminal for it" in done.stderr
    assert f"at {tmp_path}/script.py:7, in f" in done.stderr
    assert "callback=" in done.stderr
    assert "PYTHONBREAKPOINT=" in done.stderr


def test_breakpoints_that_are_turned_off_are_off(tmp_path: Any) -> None:
    done = run_script(tmp_path, PYTHONBREAKPOINT="0")
    assert (done.returncode, done.stdout.splitlines()[-1], done.stderr) == (0, "(24.0, 1.0)", "")


def test_another_debugger_gets_a_frame_with_the_names(tmp_path: Any) -> None:
    done = run_script(tmp_path, PYTHONBREAKPOINT="mydebugger.stop")
    names = "[('dy', 1.0), ('result', 40.0), ('t', 6.0), ('x', 3.0), ('y', 4.0), ('Δ', 1.0)]"
    assert done.stdout.splitlines() == ["In the pullback of f: dy = 1.0", f"f {tmp_path}/script.py {names}", "(24.0, 1.0)"]


def test_a_stop_prints_as_a_table_of_what_is_in_scope(capsys):
    @infiltrate_rrule(callback=print)
    def area(width, height):
        product = width * height
        return product

    assert gradient(area, 2.0, 3.0) == (3.0, 2.0)
    head, *rows = capsys.readouterr().out.splitlines()
    assert head == f"In the pullback of area, {__file__}:{area.__code__.co_firstlineno + 3}"
    assert rows == ["  dy = 1.0", "  width = 2.0", "  height = 3.0", "  product = 6.0", "  result = 6.0"]


def test_a_context_may_be_entered_again_and_inside_of_itself() -> None:
    seen: list[Stop] = []
    again = infiltrating(straight, callback=seen.append)
    for count in (1, 2):
        with again:
            gradient(straight, X)
        assert len(seen) == count
    with again, again:
        gradient(straight, X)
    assert len(seen) == 3
    gradient(straight, X)
    assert len(seen) == 3


def test_contexts_that_end_in_another_order_leave_nothing() -> None:
    seen: list[Stop] = []

    def waiting(f):
        with infiltrating(f, callback=seen.append):
            yield

    first, second = waiting(straight), waiting(rebound)
    next(first), next(second)
    first.close()
    second.close()
    gradient(straight, X), gradient(rebound, X)
    assert not seen
