"""Every refusal says what was found, where, and what to do; and only when it is reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from microgradpy.errors import DifferentiationError, UnsupportedSyntaxError
from microgradpy.frontend.lower import lower_function
from microgradpy.ir.verifier import verify
from tests.frontend.interpreter import interpreted

counter = 0
REFUSED: list[tuple[Callable[..., Any], type[DifferentiationError], str]] = []


def refused(error: type[DifferentiationError], marked: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter the decorated function into the table; `marked` is the text over the carets."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        REFUSED.append((function, error, marked))
        return function

    return enter


@refused(UnsupportedSyntaxError, "try:")
def uses_exception_groups(x):
    if x:
        try:
            x = 1 / x
        except* ZeroDivisionError:
            x = 0
    return 1


@refused(UnsupportedSyntaxError, "errors")
def computes_what_it_catches(x):
    errors = (ValueError, KeyError)
    if x:
        try:
            x = 1 / x
        except errors:
            x = 0
    return 1


@refused(UnsupportedSyntaxError, "async def wait():")
def defines_a_coroutine(x):
    if x:

        async def wait():
            return x

        return wait()
    return 1


@refused(UnsupportedSyntaxError, "locals()")
def reads_locals(x):
    if x:
        return locals()["x"]
    return 1


@refused(UnsupportedSyntaxError, "vars()")
def reads_its_own_vars(x):
    if x:
        return vars()["x"]
    return 1


@refused(UnsupportedSyntaxError, 'eval("x")')
def evaluates_text(x):
    if x:
        return eval("x")
    return 1


@pytest.mark.parametrize(("function", "error", "marked"), REFUSED, ids=lambda value: getattr(value, "__name__", ""))
class TestRefusals:
    def test_not_reached_is_not_refused(self, function: Callable[..., Any], error: type, marked: str) -> None:
        verify(lower_function(function).function)  # type: ignore[arg-type]
        assert interpreted(function)(0) == 1

    def test_the_construct_is_underlined(self, function: Callable[..., Any], error: type, marked: str) -> None:
        with pytest.raises(error) as caught:
            interpreted(function)([1.0])
        found, where, line, carets, remedy = str(caught.value).splitlines()
        assert found.endswith("cannot be differentiated") and remedy.strip()
        assert where.startswith(f"  at {__file__}:") and ", in " in where
        start = carets.index("^")
        assert line[start:].startswith(marked)
        assert len(carets) - start == len(marked)


def test_columns_count_characters_not_bytes() -> None:
    def f(x):
        return "äöü", eval("x"), 1

    with pytest.raises(UnsupportedSyntaxError) as caught:
        interpreted(f)([1.0])
    _, _, line, carets, _ = str(caught.value).splitlines()
    assert line[carets.index("^") : len(carets)] == 'eval("x")'


def test_coroutines_are_refused_at_once() -> None:
    async def coroutine(x):
        return x

    async def generator(x):
        yield x

    for function, words in ((generator, "async"), (coroutine, "async")):
        with pytest.raises(UnsupportedSyntaxError, match=f"(?s){words}.*{function.__code__.co_firstlineno}"):
            lower_function(function)
