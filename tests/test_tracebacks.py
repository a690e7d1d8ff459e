"""Errors and warnings look as in the plain call: same lines, same frames; those of the reverse pass name the line whose
adjoint failed."""

from __future__ import annotations

import inspect
import logging
import os
import re
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgradpy
from microgradpy import MissingRuleError, MutationError, NoTangent, grad, gradient, pullback, rrule, value_and_gradient
from microgradpy.boundary import FULL_TRACEBACK_VARIABLE
from microgradpy.cache import CACHE
from microgradpy.codegen.loading import DUMP_VARIABLE
from microgradpy.compiler import always_dispatch
from tests.test_rejected import USER_ERRORS, raises_by_an_unbound_local

# Exceptions of the user's program


def raises_below_a_loop(x):
    total = x
    for k in range(3):
        total = (
            total
            + fails_late(total, k)
        )
    return total


def fails_late(x, k):
    if k == 2:
        raise KeyError(k)
    return x * 2.0


def raises_in_a_comprehension(x):
    return sum([x / (k - 1) for k in range(3)])


def raises_in_a_nested_function(x):
    def inner(y):
        return np.ones(2) @ np.ones(int(y))

    return np.sum(inner(x + 1.0)) * x


def raises_in_a_condition(x):
    while x * [1.0, 2.0][int(x)] > 0.0:
        x = x - 1.0
    return x


def raises_in_a_method(x):
    return Model(x).run(3.0)


class Model:
    def __init__(self, weight):
        self.weight = weight

    def run(self, x):
        return self.weight * self.missing * x


MODEL = Model(2.0)


def raises_in_a_method_of_an_object(x):
    return MODEL.run(x)


def raises_by_recursion(x):
    return x / (x - 2.0) if x <= 2.0 else raises_by_recursion(x - 1.0) * x


# Wrong calls


def two(x, y):
    return x * y


def named(x, *, scale):
    return x * scale


def positional(x, /, y=1.0):
    return x * y


def misses_an_argument(x):
    return two(x)


def gives_too_many(x):
    return two(x, x, x)


def gives_an_unknown_keyword(x):
    return two(x, z=x)


def gives_one_twice(x):
    return two(x, x, x=1.0)


def misses_a_keyword(x):
    return named(x)


def gives_a_keyword_by_position(x):
    return named(x, 2.0)


def gives_a_positional_by_keyword(x):
    return positional(x=x)


def calls_a_number(x):
    return x(2.0)


def calls_none(x):
    return MODEL.weight(x)


def spreads_a_number(x):
    return two(**x)


def spreads_numbers_as_keywords(x):
    return two(**{1: x})


def spreads_nothing_differentiated(x):
    return two(**3) * x


def calls_numpy_with_an_unknown_keyword(x):
    return np.exp(x, nothing=1)


def calls_numpy_with_too_few(x):
    return np.dot(x)


def calls_a_builtin_with_too_many(x):
    return abs(x, x)


def calls_a_lambda_with_too_few(x):
    return (lambda a, b: a * b)(x)


def misses_an_argument_of_a_method(x):
    return MODEL.run() * x


def calls_a_method_with_too_many(x):
    return np.ones(2).sum(0, None, None, False, 0.0, True, x)


def raises_with_data(x):
    if x > 0.0:
        raise OutOfRange(x, x * 2.0)
    return x


class OutOfRange(ValueError):
    def __init__(self, value, limit):
        super().__init__(f"{value} is above {limit}")
        self.value = value


PROGRAMS = [
    *USER_ERRORS,
    raises_below_a_loop,
    raises_in_a_comprehension,
    raises_in_a_nested_function,
    raises_in_a_condition,
    raises_in_a_method_of_an_object,
    raises_by_recursion,
    misses_an_argument,
    gives_too_many,
    gives_an_unknown_keyword,
    gives_one_twice,
    misses_a_keyword,
    gives_a_keyword_by_position,
    gives_a_positional_by_keyword,
    calls_a_number,
    calls_none,
    spreads_a_number,
    spreads_numbers_as_keywords,
    spreads_nothing_differentiated,
    calls_numpy_with_an_unknown_keyword,
    calls_numpy_with_too_few,
    calls_a_builtin_with_too_many,
    calls_a_lambda_with_too_few,
    misses_an_argument_of_a_method,
    calls_a_method_with_too_many,
    raises_with_data,
]
# The IR has a place for an operation, none for the reading of a name in it: only the line is that of the plain call.
ONLY_THE_LINE = {raises_by_an_unbound_local}


def frames(error: BaseException) -> list[tuple[Any, ...]]:
    """The frames below this test as they are printed: file, line, columns, function."""
    found = traceback.extract_tb(error.__traceback__)
    start = max(index for index, frame in enumerate(found) if frame.name == "call") + 1
    return [(f.filename, f.lineno, f.end_lineno, f.colno, f.end_colno, f.name) for f in found[start:]]


def of_plain_call(error: BaseException) -> list[tuple[Any, ...]]:
    """The same; a comprehension has no frame of its own, as in Python 3.12."""
    found = frames(error)
    for index in range(len(found) - 1, 0, -1):
        if found[index][-1] == "<listcomp>":
            found[index - 1 : index + 1] = [(*found[index][:-1], found[index - 1][-1])]
    return found


def raised(call: Callable[[], Any]) -> BaseException:
    with pytest.raises(Exception) as caught:
        call()
    return caught.value


@pytest.mark.parametrize("dispatched", [False, True], ids=["inlined", "dispatched"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_the_traceback_is_that_of_the_plain_call(function: Callable[..., Any], dispatched: bool) -> None:
    plain = raised(lambda: call(function, 4.0))
    with always_dispatch() if dispatched else nullcontext():
        for arguments in ((gradient, function, 4.0), (pullback, function, 4.0), (grad(function), 4.0)):
            error = raised(lambda: call(*arguments))
            assert type(error) is type(plain)
            if not isinstance(plain, AssertionError):  # pytest rewrites what they say
                assert error.args == plain.args
            found, expected = frames(error), of_plain_call(plain)
            if function in ONLY_THE_LINE:
                found, expected = ([(*frame[:2], frame[-1]) for frame in given] for given in (found, expected))
            assert found == expected
            assert not hasattr(error, "__notes__")
            assert repr(error.__context__) == repr(plain.__context__)


def call(function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)


# Exceptions of the reverse pass


def scaled(x, factor):
    return x * factor


@rrule.register(scaled)
def scaled_rrule(x, factor):
    def scaled_pullback(y_bar):
        if np.sum(x) > 100.0:
            raise OutOfRange(np.sum(x), 100.0)
        return NoTangent(), y_bar * factor, NoTangent()

    return x * factor, scaled_pullback


def fails_in_the_adjoint(x):
    y = x * 3.0
    z = scaled(y, 2.0)  # first
    return np.sum(z)


def fails_further_out(x, n):
    if n == 0:
        return fails_in_the_adjoint(x)  # second
    return fails_further_out(x, n - 1) + 1.0  # third


def line_of(function: Callable[..., Any], mark: str) -> str:
    """`file line n: text` of the line with a comment."""
    lines, first = inspect.getsourcelines(function)
    (number,) = (number for number, line in enumerate(lines, first) if line.rstrip().endswith(f"# {mark}"))
    return f"{inspect.getsourcefile(function)} line {number}: {lines[number - first].strip()}"


@pytest.mark.parametrize("dispatched", [False, True], ids=["inlined", "dispatched"])
def test_an_error_of_the_reverse_pass_names_the_lines_it_came_through(dispatched: bool) -> None:
    with always_dispatch() if dispatched else nullcontext():
        value, back = pullback(fails_further_out, np.full(3, 20.0), 2)
        error = raised(lambda: call(back, 1.0))
        again = raised(lambda: call(back, 1.0))
    assert value == fails_further_out(np.full(3, 20.0), 2)
    assert isinstance(error, OutOfRange)
    assert error.__notes__ == again.__notes__ == [
        f"in the adjoint of fails_in_the_adjoint, {line_of(fails_in_the_adjoint, 'first')}",
        f"in the adjoint of fails_further_out, {line_of(fails_further_out, 'second')}",
        f"in the adjoint of fails_further_out, {line_of(fails_further_out, 'third')} (2 times)",
    ]
    shown = traceback.extract_tb(error.__traceback__)
    assert not any("/microgradpy/" in frame.filename for frame in shown)
    assert shown[-1].name == "scaled_pullback"


def calls_back_itself(x):
    return x * 2.0


@rrule.register(calls_back_itself)
def calls_back_itself_rrule(x):
    y, back = pullback(fails_in_the_adjoint, x)

    def calls_back_itself_pullback(y_bar):
        return NoTangent(), back(y_bar)[1]

    return y, calls_back_itself_pullback


def outermost(x):
    return calls_back_itself(x)  # outermost


def test_a_rule_that_differentiates_has_one_note_for_each_adjoint() -> None:
    error = raised(lambda: gradient(outermost, np.full(3, 20.0)))
    assert error.__notes__ == [
        f"in the adjoint of fails_in_the_adjoint, {line_of(fails_in_the_adjoint, 'first')}",
        f"in the adjoint of outermost, {line_of(outermost, 'outermost')}",
    ]


def halved(x):
    return 0.5 * x


@rrule.register(halved)
def halved_rrule(x):
    def halved_pullback(y_bar):
        return (NoTangent(),)  # and none for x

    return 0.5 * x, halved_pullback


def refused_in_the_adjoint(x):
    return halved(x) * x  # innermost


def calls_what_is_refused(x):
    y = refused_in_the_adjoint(x)  # around
    return y * 2.0


def test_a_refusal_of_the_reverse_pass_is_placed_and_the_calls_around_it_are_notes() -> None:
    error = raised(lambda: gradient(calls_what_is_refused, 2.0))
    assert isinstance(error, MissingRuleError)
    place = line_of(refused_in_the_adjoint, "innermost").partition(":")[0].replace(" line ", ":")
    assert f"  at {place}, in refused_in_the_adjoint\n" in str(error)
    assert error.__notes__ == [f"in the adjoint of calls_what_is_refused, {line_of(calls_what_is_refused, 'around')}"]


def test_without_columns_the_whole_line_is_underlined(tmp_path: Path) -> None:
    program = tmp_path / "model.py"
    program.write_text(
        "import numpy as np\nfrom microgradpy import gradient\n\n\ndef f(x):\n    return np.emath.sqrt(x)[0]\n\n\n"
        "try:\n    gradient(f, np.ones(2))\nexcept Exception as error:\n    print(error)\n"
    )
    command = [sys.executable, "-X", "no_debug_ranges", str(program)]
    environment = {**os.environ, "PYTHONPATH": str(Path(microgradpy.__file__).parent.parent)}
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()
    assert shown[1:4] == [f"  at {program}:6, in f", "    return np.emath.sqrt(x)[0]", "    ^^^^^^^^^^^^^^^^^^^^^^^^^^"]


def takes_roots(x):
    return np.sum(np.emath.sqrt(x))  # in a library


def test_a_refusal_inside_a_library_points_at_the_users_line() -> None:
    error = raised(lambda: gradient(takes_roots, np.ones(2)))
    place = line_of(takes_roots, "in a library").partition(":")[0].replace(" line ", ":")
    assert isinstance(error, MissingRuleError | MutationError) and f"  at {place}, in takes_roots\n" in str(error)


def calls_a_coroutine(x):
    return started(x)  # reached


async def started(x):
    return x


def test_a_refusal_of_a_whole_function_says_where_it_was_reached() -> None:
    for differentiate in (lambda: gradient(calls_a_coroutine, 2.0), lambda: grad(calls_a_coroutine)(2.0)):
        error = raised(differentiate)
        assert f"{__file__}:{started.__code__.co_firstlineno}, in started" in str(error)
        assert error.__notes__ == [f"reached in {line_of(calls_a_coroutine, 'reached')}"]
    assert not hasattr(raised(lambda: gradient(started, 2.0)), "__notes__")


def test_all_frames_are_there_if_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FULL_TRACEBACK_VARIABLE, "1")
    shown = traceback.extract_tb(raised(lambda: gradient(raises_in_a_comprehension, 2.0)).__traceback__)
    assert {"entry.py", "api.py"} <= {frame.filename.rpartition("/")[2] for frame in shown}


# Warnings and log records


def warns(x):
    warnings.warn("here", stacklevel=1)
    return x * x


def warns_about_its_caller(x):
    warnings.warn("there", DeprecationWarning, stacklevel=2)
    return x * x


def warns_about_its_caller_by_position(x):
    warnings.warn("there", UserWarning, 2)
    return x * x


def calls_what_warns(x):
    return warns_about_its_caller(x) + warns_about_its_caller_by_position(x)


def warns_in_a_loop(x):
    for k in range(3):
        warnings.warn(f"step {k // 2}", RuntimeWarning, stacklevel=1)
        x = x * 2.0
    return x


def warns_by_an_argument(x, warn=warnings.warn):
    warn("indirect")
    warn("indirect", stacklevel=2)
    return x * x


def divides_by_zero(x):
    y = np.array([x, 1.0]) / np.zeros(2)
    return np.sum(y)


def takes_the_mean_of_nothing(x):
    return x * np.mean(np.ones(0))


LOG = logging.getLogger(__name__)


def logs(x):
    LOG.warning("x is %s", x)
    LOG.warning("and", stacklevel=2)
    return x * x


def calls_what_logs(x):
    return logs(x * 2.0)


WARNING = [
    warns,
    warns_about_its_caller,
    warns_about_its_caller_by_position,
    calls_what_warns,
    warns_in_a_loop,
    warns_by_an_argument,
    takes_the_mean_of_nothing,
    logs,
    calls_what_logs,
]


def reports(caplog: pytest.LogCaptureFixture, action: str, *args: Any) -> list[tuple[Any, ...]]:
    """What a call warns of and logs, and from where."""
    caplog.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action)  # type: ignore[arg-type]
        call(*args)
    warned = [(w.category, str(w.message), w.filename, w.lineno) for w in caught]
    return [*warned, *((record.message, record.pathname, record.lineno, record.funcName) for record in caplog.records)]


@pytest.mark.parametrize("action", ["always", "default"])
@pytest.mark.parametrize("dispatched", [False, True], ids=["inlined", "dispatched"])
@pytest.mark.parametrize("function", WARNING, ids=lambda function: function.__name__)
def test_warnings_and_log_records_are_those_of_the_plain_call(
    function: Callable[..., Any], dispatched: bool, action: str, caplog: pytest.LogCaptureFixture
) -> None:
    expected = reports(caplog, action, function, 2.0)
    assert expected
    with always_dispatch() if dispatched else nullcontext():
        assert reports(caplog, action, pullback, function, 2.0) == expected
        assert reports(caplog, action, gradient, function, 2.0) == expected
        assert reports(caplog, action, value_and_gradient, function, 2.0) == expected


def test_warnings_of_numpy_name_the_users_line(caplog: pytest.LogCaptureFixture) -> None:
    # Where the call is dispatched NumPy is called from the rule, and names that.
    expected = reports(caplog, "always", divides_by_zero, 2.0)
    assert reports(caplog, "always", pullback, divides_by_zero, 2.0) == expected


def test_what_is_warned_of_once_is_warned_of_once() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        warns(2.0)
        gradient(warns, 2.0)
        gradient(warns, np.float32(2.0))  # another unit
    assert len(caught) == 1


def test_a_filter_by_module_applies() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", module=__name__.replace(".", r"\."))
        assert gradient(warns, 3.0) == (6.0,)


# Debuggers and inspect


def stepped(x):
    y = x * 2.0
    if y > 1.0:
        y = y * x
    return y


def lines_run(call: Callable[[], Any], code_name: str) -> list[int]:
    """The lines of this file that a tracer sees in functions of a name, as debuggers and coverage do."""
    seen: list[int] = []

    def trace(frame: Any, event: str, _: Any) -> Any:
        if event == "line" and frame.f_code.co_filename == __file__ and frame.f_code.co_name == code_name:
            seen.append(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return seen


def test_a_tracer_sees_the_users_lines() -> None:
    gradient(stepped, 2.0)
    plain = lines_run(lambda: stepped(2.0), "stepped")
    assert list(dict.fromkeys(lines_run(lambda: gradient(stepped, 2.0), "stepped"))) == plain


def test_the_primal_shows_its_generated_text() -> None:
    microgradpy.cache_clear()
    gradient(stepped, 2.0)
    (unit,) = CACHE.units.values()
    assert inspect.getsource(unit.primal).startswith("def stepped_primal(x):\n")  # type: ignore[arg-type]
    assert inspect.getsource(unit.adjoint).startswith("def stepped_adjoint(")  # type: ignore[arg-type]
    assert (unit.primal.__code__.co_filename, unit.primal.__code__.co_name) == (__file__, "stepped")  # type: ignore[union-attr]


def test_both_texts_are_dumped_and_the_adjoint_runs_under_the_name_of_its_file(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(DUMP_VARIABLE, str(tmp_path))
    microgradpy.cache_clear()
    gradient(stepped, 2.0)
    (unit,) = CACHE.units.values()
    assert {file.name.partition("_")[0] for file in tmp_path.iterdir()} == {"stepped"}
    texts = [file.read_text() for file in tmp_path.iterdir()]
    # In a dumped adjoint each line says which of the user's it is from.
    assert {re.sub(r"  # test_tracebacks\.py:\d+: .*", "", text) for text in texts} == set(unit.texts or ())
    (adjoint,) = [text for text in texts if text.startswith("def stepped_adjoint")]
    assert f"x_bar += y_bar_1 * 2.0  # test_tracebacks.py:{stepped.__code__.co_firstlineno + 1}: y = x * 2.0\n" in adjoint
    assert unit.adjoint.__code__.co_filename.startswith(str(tmp_path))  # type: ignore[union-attr]
    microgradpy.cache_clear()
