"""Every program of the table against every check."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from microgradpy import MutationError, code_ir, pullback
from microgradpy.compiler import always_dispatch
from microgradpy.ir.verifier import verify
from tests import finite_differences as fd
from tests.checks import check_all
from tests.other_process import OtherProcess
from tests.programs import PROGRAMS, Program
from tests.texts import general_texts_of, texts_of
from tests.ways import ALL, COMBINED, FOR_ANY


def same(a: Any, b: Any) -> bool:
    """Equal to the last bit, in value, type and structure."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray) and a.dtype.char in "gG":  # of the bytes of a long double some are none of the number's
        return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=True)
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, float | np.floating):
        return a == b or (a != a and b != b)
    inside = fd.children(a)
    if not inside:
        return a is b or bool(a == b)
    return len(inside) == len(fd.children(b)) and all(
        key == other and same(value, twin) for (key, value), (other, twin) in zip(inside, fd.children(b), strict=True)
    )


def plain_call(program: Program) -> tuple[Any, str]:
    """The value of the program and what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        y = program.function(*copy.deepcopy(program.args))
    return y, printed.getvalue()


def differentiated(program: Program, args: tuple[Any, ...]) -> tuple[Any, Callable[..., tuple[Any, ...]], str]:
    """`pullback` of the program, and what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        y, back = pullback(program.function, *args)
    return y, back, printed.getvalue()


def value_and_prints_are_those_of_the_plain_call(program: Program) -> None:
    expected, expected_prints = plain_call(program)  # first: what it imports is known to the compiler, here and elsewhere
    args = copy.deepcopy(program.args)
    y, _, printed = differentiated(program, args)
    assert same(y, expected), f"{y!r} for {expected!r}"
    assert printed == expected_prints
    assert same(args, program.args), "pullback changed an argument"


def gradient_agrees_with_finite_differences(program: Program) -> None:
    args = copy.deepcopy(program.args)
    y, back, _ = differentiated(program, args)
    for number in range(2):
        seed = fd.random_seed(y, number)

        def scalar(*changed: Any, seed: Any = seed) -> float:
            return fd.dot(seed, program.function(*changed))

        cotangents = back(seed)
        assert isinstance(cotangents, tuple) and len(cotangents) == 1 + len(args)
        with contextlib.redirect_stdout(io.StringIO()):
            expected = fd.differences(scalar, program.args)
        # Whether an object at two places is one or two depends on whether its run had to be tracked.
        found = fd.gathered(args, fd.flatten_cotangent(args, cotangents[1:]))
        np.testing.assert_allclose(found, fd.gathered(args, expected), rtol=1e-6, atol=1e-7)


def both_dispatch_paths_give_the_same(program: Program) -> None:
    y, back, _ = differentiated(program, copy.deepcopy(program.args))
    with always_dispatch():
        y_dispatched, back_dispatched, _ = differentiated(program, copy.deepcopy(program.args))
        seed = fd.random_seed(y)
        dispatched = back_dispatched(seed)
    inlined = back(seed)
    assert same(y, y_dispatched)
    for x, inlined_bar, dispatched_bar in zip(program.args, inlined[1:], dispatched[1:], strict=True):
        assert type(inlined_bar) is type(dispatched_bar), f"{inlined_bar!r} inlined, {dispatched_bar!r} dispatched"
        assert pattern_of_nones(inlined_bar) == pattern_of_nones(dispatched_bar)
        np.testing.assert_allclose(
            fd.flatten_cotangent(x, inlined_bar), fd.flatten_cotangent(x, dispatched_bar), rtol=1e-12, atol=1e-14
        )


def pattern_of_nones(x_bar: Any) -> Any:
    """Where in a cotangent there is None: the answer must not vary with the dispatch path (api.md, ruling 2)."""
    if isinstance(x_bar, list | tuple):
        return [pattern_of_nones(item) for item in x_bar]
    if hasattr(x_bar, "items"):
        return {key: pattern_of_nones(item) for key, item in x_bar.items() if pattern_of_nones(item) is not True}
    return x_bar is None


def back_twice_gives_equal_results_and_changes_nothing(program: Program) -> None:
    args = copy.deepcopy(program.args)
    y, back, _ = differentiated(program, args)
    y_before, seed = copy.deepcopy(y), fd.random_seed(y)
    seed_before = copy.deepcopy(seed)
    first = copy.deepcopy(back(seed))
    back(fd.random_seed(y, number=1))
    second = back(seed)
    assert same_cotangents(first, second)
    assert same(args, program.args), "back changed an argument"
    assert same(seed, seed_before), "back changed its seed"
    assert same(y, y_before), "back changed the value"


def has_no_numbers(bar: Any) -> bool:
    """Whether there is nothing in a cotangent: it is None, or it consists of empty containers."""
    if isinstance(bar, list | tuple | dict):
        return all(map(has_no_numbers, bar.values() if isinstance(bar, dict) else bar))
    return bar is None


def same_cotangents(a: Any, b: Any, rounding: float = 0.0) -> bool:
    """`rounding`: how far numbers may be apart, relative to them."""
    if has_no_numbers(a) and has_no_numbers(b):
        return True
    if isinstance(a, list | tuple):
        pairs = zip(a, b, strict=False)
        return type(a) is type(b) and len(a) == len(b) and all(same_cotangents(x, y, rounding) for x, y in pairs)
    if hasattr(a, "items"):
        return dict(a).keys() == dict(b).keys() and all(same_cotangents(a[key], b[key], rounding) for key in a)
    return same(a, b) or (rounding > 0.0 and type(a) is type(b) and np.allclose(a, b, rounding, 0.0, equal_nan=True))


def rounding_of(program: Program) -> float:
    """A power is taken for a real number where a run may be made once more, and its derivative is another formula then; and
    segments of loops have sums of their own, which are not there where a function is stopped in: the last bits differ."""
    text = inspect.getsource(program.function)
    return 1e-14 if "**" in text or "checkpointed(" in text else 0.0


def gradients_have_the_types_of_the_arguments(program: Program) -> None:
    y, back, _ = differentiated(program, copy.deepcopy(program.args))
    for x, x_bar in zip(program.args, back(fd.random_seed(y))[1:], strict=True):
        check_type(x, x_bar)


def check_type(x: Any, x_bar: Any) -> None:
    """Rulings 2, 3 and 5 of api.md, as far as they can be seen from the argument alone."""
    if x_bar is None:
        return
    if isinstance(x, bool | str | None):
        raise AssertionError(f"a cotangent {x_bar!r} for {x!r}")
    if isinstance(x, int):
        assert type(x_bar) is float
    elif isinstance(x, np.ndarray):
        assert type(x_bar) is np.ndarray and x_bar.shape == x.shape
        assert x_bar.dtype == (x.dtype if x.dtype.kind in "fc" else np.float64)
    elif isinstance(x, float | complex | np.number | list | tuple | dict):
        assert type(x_bar) is type(x), f"{x_bar!r} for {x!r}"
        for key, item in fd.children(x):
            check_type(item, fd.cotangent_item(x, x_bar, key))


def intermediate_representation_is_valid(program: Program) -> None:
    verify(code_ir(program.function).function)


CHECKS_OF_EVERY_WAY = [
    value_and_prints_are_those_of_the_plain_call,
    gradient_agrees_with_finite_differences,
    back_twice_gives_equal_results_and_changes_nothing,
    gradients_have_the_types_of_the_arguments,
]
CHECKS = [*CHECKS_OF_EVERY_WAY, intermediate_representation_is_valid]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_program(program: Program, elsewhere: OtherProcess) -> None:
    def text_is_the_same_elsewhere() -> None:
        assert texts_of(program) == elsewhere.answer("texts", program)

    checks = [(check.__name__, functools.partial(check, program)) for check in CHECKS]
    check_all([*checks, (text_is_the_same_elsewhere.__name__, text_is_the_same_elsewhere)])


@contextlib.contextmanager
def refusals_of_caught_writes() -> Iterator[None]:
    """Where anything might write, so might what a `try` has around it."""
    try:
        yield
    except MutationError as refusal:
        if "an exception is caught after writes" not in str(refusal):
            raise


@pytest.mark.parametrize("way", ["dispatched", "tracked", COMBINED, FOR_ANY])
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_program_in_a_forced_way(program: Program, way: str, elsewhere: OtherProcess) -> None:
    if way == FOR_ANY:
        assert general_texts_of(program) == elsewhere.answer("general texts", program)
    elif way == "dispatched":
        both_dispatch_paths_give_the_same(program)
        check_in(way, program)
    else:
        with refusals_of_caught_writes():
            check_in(way, program)


def check_in(way: str, program: Program) -> None:
    with ALL[way]():
        check_all([(check.__name__, functools.partial(check, program)) for check in CHECKS_OF_EVERY_WAY])


def test_every_program_is_differentiable_where_it_is_tried() -> None:
    """Two step sizes agree: the table itself straddles no branch and has no kink."""
    for program in PROGRAMS:
        with contextlib.redirect_stdout(io.StringIO()):
            seed = fd.random_seed(program.function(*program.args))

            def scalar(*args: Any, seed: Any = seed, program: Program = program) -> float:
                return fd.dot(seed, program.function(*args))

            wide, narrow = (fd.differences(scalar, program.args, step) for step in (1e-3, 3e-4))
        np.testing.assert_allclose(wide, narrow, rtol=1e-6, atol=1e-8, err_msg=program.id)


FEATURES = [
    "if, else", "elif", "conditional expression", "and, or", "chained comparison",
    "while, data-dependent condition", "for range", "for over a list", "for over a tuple", "for over an array",
    "enumerate", "zip", "reversed", "dict.items", "break", "continue", "for-else", "while-else",
    "return from nested loops", "variable in one branch only", "swap in a loop", "unused result", "zero trips",
    "recursion", "mutual recursion", "closure over active values", "inner function", "lambda", "default",
    "keyword-only", "*args", "**kwargs", "star-call", "building a tuple", "building a list", "building a dict",
    "slicing", "unpacking", "list comprehension", "dict comprehension", "augmented assignment", "assert",
    "f-string", "print", "whole numbers", "strings", "bool", "float then array",
    "same function, floats then arrays", "dataclass argument", "namedtuple argument", "dict argument",
    "list argument", "callable object", "bound method", "chain of layers", "RNN", "Gaussian log-likelihood",
    "logistic regression", "RK4", "Newton while", "MLP",
]  # fmt: skip


@pytest.mark.parametrize("feature", FEATURES)
def test_every_language_feature_has_a_program(feature: str) -> None:
    def shown() -> Iterator[str]:
        for program in PROGRAMS:
            yield ", ".join(program.features)

    assert any(feature in features for features in shown())
