"""What cannot be differentiated is refused, with the class, the place, the construct and what to do instead.

What is not reached with active data is not refused, and the user's own exceptions come out unchanged.
"""

# ruff: noqa: F841

from __future__ import annotations

import asyncio
import copy
import datetime
import inspect
import linecache
import math
import re
import traceback
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgradpy import (
    CotangentShapeError,
    DifferentiationError,
    MissingRuleError,
    NonScalarOutputError,
    SourceNotFoundError,
    gradient,
    jvp,
    pullback,
    value_and_gradient,
)
from microgradpy.compiler import always_dispatch
from microgradpy.errors import CompilerBug
from tests.rejected import REJECTED, Rejected, skewed


def marked_line(function: Callable[..., Any]) -> str | None:
    """`file:line` of the comment `# here` in the function, or in a function of its module that it names."""
    candidates = [function]
    if hasattr(function, "__code__"):
        candidates += [function.__globals__.get(name) for name in function.__code__.co_names]
    for candidate in candidates:
        if inspect.isfunction(candidate):
            lines, first = inspect.getsourcelines(candidate)
            for number, line in enumerate(lines, first):
                if line.rstrip().endswith("# here"):
                    return f"{Path(inspect.getsourcefile(candidate) or '').name}:{number}"
    return None


def refusal(case: Rejected) -> DifferentiationError:
    """The error that `gradient` raises for the case."""
    with pytest.raises(DifferentiationError) as caught:
        gradient(case.function, *copy.deepcopy(case.args))
    return caught.value


def assert_is_helpful(error: DifferentiationError, marked: str | None) -> None:
    """The message has what was found; file, line and function; the line's text; carets under a part of it; and what to do.
    The line is the marked one, or for what depends on the arguments alone that of the call in this file."""
    found, where, text, carets, *remedy = str(error).splitlines()
    place = re.fullmatch(r"  at (.*):(\d+), in \S+", where)
    assert found and place and remedy, str(error)
    file, line = place[1], int(place[2])
    assert marked == f"{Path(file).name}:{line}" if marked else file == __file__, f"expected {marked} in: {error}"
    assert text.strip() == linecache.getline(file, line).strip()
    assert re.fullmatch(r" *\^+", carets) and carets.index("^") >= 4 and len(carets) <= len(text), str(error)
    assert error.remedy and "\n".join(remedy) == f"  {error.remedy}"


@pytest.mark.parametrize("case", REJECTED, ids=str)
def test_refused_with_class_place_and_remedy(case: Rejected) -> None:
    error = refusal(case)
    message = str(error)
    assert isinstance(error, case.error), f"{type(error).__name__}: {message}"
    for word in case.words:
        assert word.lower() in message.lower(), message
    assert_is_helpful(error, marked_line(case.function))


@pytest.mark.parametrize("case", REJECTED, ids=str)
def test_refused_alike_when_every_rule_is_dispatched(case: Rejected) -> None:
    with always_dispatch():
        error = refusal(case)
    assert isinstance(error, case.error), f"{type(error).__name__}: {error}"
    assert_is_helpful(error, marked_line(case.function))


@pytest.mark.parametrize("case", REJECTED, ids=str)
def test_the_plain_call_works(case: Rejected) -> None:
    """The table refuses programs that run, not broken ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # NumPy 2.5 deprecates assigning a shape, and still does it
        case.function(*copy.deepcopy(case.args))


@pytest.mark.parametrize("case", [case for case in REJECTED if case.args and case.args[-1] is skewed], ids=str)
def test_formulas_for_numbers_are_not_pushed_through_objects(case: Rejected) -> None:
    with pytest.raises(DifferentiationError, match="Skewed"):
        jvp(case.function, case.args, (1.0, None))


# What the signature shows is refused before any user code runs


EFFECTS: list[str] = []


async def asynchronous(x):
    EFFECTS.append("ran")
    await asyncio.sleep(0)
    return x * x


def generator(x):
    EFFECTS.append("ran")
    yield x * x


async def asynchronous_generator(x):
    EFFECTS.append("ran")
    yield x * x


@pytest.mark.parametrize("function", [asynchronous, generator, asynchronous_generator])
def test_kinds_of_functions_are_refused_before_they_run(function: Callable[..., Any]) -> None:
    EFFECTS.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DifferentiationError) as caught:
            gradient(function, 2.0)
    assert function.__name__ in str(caught.value)
    assert not EFFECTS


@pytest.mark.parametrize(
    ("file", "remedy"),
    [
        ("<string>", "made from a string"),
        ("<stdin>", "typed at this prompt"),
        ("/no/such/place/model.py", "file is not there"),
    ],
)
def test_function_without_text_is_refused(file: str, remedy: str) -> None:
    namespace: dict[str, Any] = {}
    exec(compile("def nameless(x):\n    return x * x\n", file, "exec"), namespace)
    with pytest.raises(SourceNotFoundError, match="nameless") as caught:
        gradient(namespace["nameless"], 2.0)
    assert f"  at {file}:1, in nameless\n" in str(caught.value)
    assert remedy in caught.value.remedy and "rrule.register" in caught.value.remedy


def test_a_failure_of_the_compiler_is_a_bug_to_report(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: Any) -> Any:
        raise KeyError("lost")

    def innocent(x):
        return x * x

    monkeypatch.setattr("microgradpy.compiler.reverse_of", fails)
    with pytest.raises(CompilerBug, match=r"innocent \(.*test_rejected.py:\d+\).*KeyError: 'lost'\n.*report") as caught:
        gradient(innocent, 2.0)
    shown = traceback.extract_tb(caught.value.__traceback__)
    assert any(frame.name == "analysed" for frame in shown), "the frames of the compiler are what is wanted here"
    monkeypatch.undo()
    assert gradient(innocent, 2.0) == (4.0,)


def test_text_that_is_not_the_running_code_is_refused() -> None:
    name, text = "<edited file>", "def edited(x):\n    return x * x\n"
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec"), namespace)
    changed = text.replace("x * x", "x * 3.0")
    linecache.cache[name] = (len(changed), None, changed.splitlines(keepends=True), name)
    with pytest.raises(SourceNotFoundError, match=r"(?s)edited.*import it again"):
        gradient(namespace["edited"], 2.0)


def test_function_without_text_is_called_when_it_gets_inactive_data_only() -> None:
    namespace: dict[str, Any] = {}
    exec("def count(n):\n    return n + 1\n", namespace)
    count = namespace["count"]

    def f(x):
        return x ** count(2)

    assert gradient(f, 2.0) == (12.0,)


# Not reached with active data: not refused


def unreached_try(x):
    if x < 0.0:
        try:
            return math.sqrt(x)
        except ValueError:
            return 0.0
    return x * x


def unreached_with(x):
    if x < 0.0:
        with nullcontext():
            return 3.0 * x
    return x * x


def unreached_class(x):
    for k in range(3):
        if k > 5:

            class Scale:
                value = x

            return Scale.value
    return x * x


def unreached_write(x):
    values = [x, 1.0]
    if x < 0.0:
        values[0] = 3.0
    return values[0] * x


def unreached_missing_rule(x):
    if x < 0.0:
        return datetime.timedelta(x).total_seconds()
    return x * x


def unreached_yield_in_a_helper(x):
    if x < 0.0:

        def items(n):
            yield n

        return sum(items(x))
    return x * x


def parse_count(text):
    try:
        return int(text)
    except ValueError:
        return 2


def tally(words):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def inactive_callee_with_try(x):
    return x ** parse_count("two")


def inactive_callee_that_writes(x):
    return x * tally(["a", "b", "a"])["a"] * x / 2.0


def inactive_callee_without_a_rule(x):
    return x * x * datetime.timedelta(seconds=1.0).total_seconds()


def active_data_in_logging(x):
    print(repr(x), id(x) > 0, isinstance(x, float), type(x).__name__, hash(x) is None, str(x))
    return x * x


MASKED = np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0])


def constant_masked_array(x):
    return x * x * MASKED.sum() / MASKED.filled(0.0).sum()


NOT_REFUSED = [
    constant_masked_array,
    unreached_try,
    unreached_with,
    unreached_class,
    unreached_write,
    unreached_missing_rule,
    unreached_yield_in_a_helper,
    inactive_callee_with_try,
    inactive_callee_that_writes,
    inactive_callee_without_a_rule,
    active_data_in_logging,
]


@pytest.mark.parametrize("function", NOT_REFUSED, ids=lambda function: function.__name__)
def test_not_reached_with_active_data_is_not_refused(function: Callable[..., Any]) -> None:
    assert value_and_gradient(function, 3.0) == (9.0, (6.0,))


# The user's exceptions


class CustomError(Exception):
    pass


def raises_custom(x):
    if x > 0.0:
        raise CustomError("message", 3)
    return x


def raises_with_cause(x):
    raise CustomError("outer") from KeyError("inner")


def raises_in_a_callee(x):
    return raises_custom(x * 2.0)


def raises_by_dividing(x):
    return x / (x - x)


def raises_by_domain(x):
    return math.sqrt(-x)


def raises_by_key(x):
    return x * {"a": 1.0}["b"]


def raises_by_index(x):
    return [x][3]


def raises_by_attribute(x):
    return x.no_such_attribute


def raises_by_assertion(x):
    y = x * x
    assert y < 0.0, f"y is {y}"
    return y


def raises_by_unpacking(x):
    a, b = (x, x, x)
    return a


def raises_by_an_unbound_local(x):
    if x < 0.0:
        y = x
    return y * x


def raises_by_type(x):
    return x + "text"


def raises_by_calling(x):
    return raises_custom(x, x, x)


def raises_by_shape(x):
    return np.sum(np.ones(3) @ (np.ones(4) * x))


def raises_by_a_name(x):
    return x * no_such_name  # noqa: F821


USER_ERRORS = [
    raises_custom,
    raises_with_cause,
    raises_in_a_callee,
    raises_by_dividing,
    raises_by_domain,
    raises_by_key,
    raises_by_index,
    raises_by_attribute,
    raises_by_assertion,
    raises_by_unpacking,
    raises_by_an_unbound_local,
    raises_by_type,
    raises_by_calling,
    raises_by_shape,
    raises_by_a_name,
]


@pytest.mark.parametrize("dispatched", [False, True], ids=["inlined", "dispatched"])
@pytest.mark.parametrize("function", USER_ERRORS, ids=lambda function: function.__name__)
def test_the_users_exceptions_come_out_unchanged(function: Callable[..., Any], dispatched: bool) -> None:
    with pytest.raises(Exception) as plain:
        function(2.0)
    with always_dispatch() if dispatched else nullcontext(), pytest.raises(Exception) as differentiated:
        gradient(function, 2.0)
    assert type(differentiated.value) is type(plain.value)
    # Rewriting of asserts by pytest is not seen by the compiler; the message the user wrote must be there.
    expected = str(plain.value).splitlines()[0]
    assert expected in str(differentiated.value)
    assert differentiated.value.args[1:] == plain.value.args[1:]
    assert repr(differentiated.value.__cause__) == repr(plain.value.__cause__)


def test_wrong_number_of_arguments_is_a_type_error() -> None:
    def f(x, y):
        return x * y

    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'y'"):
        gradient(f, 1.0)
    with pytest.raises(TypeError, match=r"takes 2 positional arguments but 3 were given"):
        gradient(f, 1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'k'"):
        gradient(f, 1.0, 2.0, k=3.0)


def test_what_is_not_callable_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        gradient(3.0, 1.0)


# Outputs and seeds


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        (np.array([1.0, 2.0]), "(2,)"),
        ((1.0, 2.0), "tuple"),
        ([1.0], "list"),
        ({"a": 1.0}, "dict"),
        (1.0 + 2.0j, "complex"),
        ("text", "str"),
        (None, "None"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else None,
)
def test_gradient_of_a_non_scalar_says_what_came_back(output: Any, shown: str) -> None:
    def f(x):
        return output

    with pytest.raises(NonScalarOutputError) as caught:
        gradient(f, 2.0)
    message = str(caught.value)
    assert shown in message
    assert "jacobian" in message or "pullback" in message


@pytest.mark.parametrize("output", [3, np.float32(1.0), np.array(2.0), np.int64(3)], ids=lambda v: type(v).__name__)
def test_gradient_accepts_every_real_scalar(output: Any) -> None:
    assert gradient(lambda x: output, 2.0) == (None,)


@pytest.mark.parametrize(
    ("function", "seed", "words"),
    [
        (lambda x: x * np.ones(3), np.ones(4), ["(4,)", "(3,)"]),
        (lambda x: x * np.ones(3), 1.0, ["(3,)"]),
        (lambda x: x * np.ones((2, 3)), np.ones(3), ["(3,)", "(2, 3)"]),
        (lambda x: x * np.ones(3), np.ones((3, 1)), ["(3, 1)", "(3,)"]),
        (lambda x: x * 2.0, np.ones(2), ["(2,)"]),
        (lambda x: (x, x), 1.0, ["tuple"]),
        (lambda x: (x, x), (1.0,), ["tuple"]),
        (lambda x: [x, x], [1.0, 2.0, 3.0], ["list"]),
        (lambda x: {"a": x}, {"b": 1.0}, ["b"]),
        (lambda x: (x, np.ones(2) * x), (1.0, np.ones(3)), ["(3,)", "(2,)"]),
    ],
)
def test_a_seed_of_the_wrong_shape_names_both(function: Callable[..., Any], seed: Any, words: list[str]) -> None:
    _, back = pullback(function, 2.0)
    with pytest.raises(CotangentShapeError) as caught:
        back(seed)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_back_without_a_seed_needs_a_scalar() -> None:
    _, back = pullback(lambda x: x * np.ones(3), 2.0)
    with pytest.raises(DifferentiationError, match=r"\(3,\)"):
        back()


def test_every_error_is_a_differentiation_error() -> None:
    for error in (NonScalarOutputError, CotangentShapeError, SourceNotFoundError):
        assert issubclass(error, DifferentiationError)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of numpy.matrix itself
def test_matrices_are_refused_because_their_product_is_another() -> None:
    matrix = np.matrix([[1.0, 2.0], [3.0, 4.0]])

    def product(y: Any) -> Any:
        return np.sum(matrix * y)

    for function, argument in ((product, np.ones((2, 2))), (lambda m: np.sum(m**2), matrix)):
        with pytest.raises(MissingRuleError, match=r"np\.asarray"):
            gradient(function, argument)
