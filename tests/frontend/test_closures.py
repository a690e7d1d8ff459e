"""Closures hand over values where Python shares variables if the two agree; other variables live in cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from microgradpy.frontend.closures import ClosureBody
from microgradpy.frontend.lower import lower_function
from microgradpy.ir.nodes import SELF, Const, Op, function_constant
from microgradpy.ir.traversal import walk
from microgradpy.ir.verifier import verify
from microgradpy.runtime.variables import new_cell
from tests.frontend.interpreter import interpreted


def rebound_before_the_call(x):
    g = lambda: x  # noqa: E731
    x = x + 1
    return g()


def rebound_in_the_loop_of_the_calls(x):
    g = lambda: x  # noqa: E731
    y = 0
    for k in range(3):
        y += g()
        x = k
    return y


def kept_beyond_its_iteration(x):
    functions = []
    for i in range(3):
        functions = [*functions, lambda: i]
    return [f() for f in functions]


def made_in_a_comprehension(x):
    functions = [lambda: i for i in range(3)]
    return [f() for f in functions]


def handed_to_a_function_that_may_keep_it(x):
    x = max([1.0, 2.0], key=lambda v: v * x)
    return x


def in_the_condition_of_a_while(x):
    while (lambda: x)() > 0:
        x = x - 1
    return x


def calls_itself_and_outlives_its_iteration(x):
    functions = []
    for i in range(2):

        def go(n):
            return go(n - 1) if n else i

        functions = [*functions, go]
    return functions[0](1)


def calls_itself_through_a_decorator(x):
    def twice(f):
        return lambda n: 2.0 * f(n)

    @twice
    def go(n):
        return go(n - 1) * x if n else 1.0

    return go(2)


def calls_itself_while_its_variable_changes(x):
    def go(n):
        return go(n - 1) * x if n else 1.0

    x = 2.0
    return go(2)


def calls_a_later_one(x):
    def even(n):
        return n == 0 or odd(n - 1)

    one = 1

    def odd(n):
        return n != 0 and even(n - one)

    return even(x)


SHARED: list[tuple[Callable[..., Any], set[str]]] = [
    (rebound_before_the_call, {"x"}),
    (rebound_in_the_loop_of_the_calls, {"x"}),
    (kept_beyond_its_iteration, {"i"}),
    (made_in_a_comprehension, {"i"}),
    (handed_to_a_function_that_may_keep_it, {"x"}),
    (in_the_condition_of_a_while, {"x"}),
    (calls_itself_and_outlives_its_iteration, {"go", "i"}),
    (calls_itself_through_a_decorator, {"go"}),
    (calls_itself_while_its_variable_changes, {"x"}),
    (calls_a_later_one, {"odd"}),
]


@pytest.mark.parametrize(("function", "names"), SHARED, ids=lambda value: getattr(value, "__name__", ""))
def test_variables_with_a_later_value_live_in_cells(function: Callable[..., Any], names: set[str]) -> None:
    lowered = lower_function(function).function  # type: ignore[arg-type]
    verify(lowered)
    made = (s for s in walk(lowered.body) if isinstance(s, Op) and isinstance(s.callee, Const))
    cells = {s.result.hint.removesuffix("_cell") for s in made if s.callee == function_constant(new_cell)}
    assert cells == names
    assert interpreted(function)(1) == function(1)


def early_binding(x):
    functions = [lambda i=i: i * x for i in range(3)]
    total = 0.0
    for f in functions:
        total += f()
    return total


def one_per_iteration(xs):
    total = 0.0
    for x in xs:
        scaled = x * 2.0

        def add(y):
            return scaled + y

        total = add(total) * add(1.0)
    return total


def returned_to_the_caller(x):
    y = x * 2.0

    def pullback(seed):
        return seed * y + x

    return y, pullback


def nested_twice(x):
    def outer(y):
        return lambda z: x * y + z

    return outer(2.0)(3.0)


def calls_itself(x):
    def power(n, /, scale=2.0, *, unit=1.0):
        if n == 0:
            return unit
        return power(n - 1, scale, unit=1.0) * x + sum([power(0) for _ in range(n)])

    def fold(items):
        return fold(items[1:]) + items[0] if items else power(1)

    total = power(3) + power(*(2,), **{"unit": 3.0}) + fold([x, 1.0])
    for i in [x, 2.0]:

        def climb(n):
            return sum(map(climb, [n - 1])) * i if n > 0 else x

        total += climb(2)
    return total + (lambda f: f(2))(power)


@pytest.mark.parametrize("function", [early_binding, one_per_iteration, nested_twice, calls_itself])
def test_what_cannot_see_a_later_value_is_lowered(function: Callable[..., Any]) -> None:
    arguments = ([1.0, 2.0, 3.0],) if function is one_per_iteration else (3.0,)
    assert interpreted(function)(*arguments) == function(*arguments)


def test_a_rule_with_its_pullback_is_lowered() -> None:
    y, pullback = interpreted(returned_to_the_caller)(3.0)
    assert (y, pullback(10.0)) == (6.0, 63.0)


def test_a_function_that_calls_itself_captures_a_mark() -> None:
    def f(x):
        def go(n):
            return go(n - 1) * x if n else 1.0

        return go(2)

    closure, _ = lower_function(f).function.body.statements
    assert isinstance(closure, Op)
    assert closure.arguments[0] == Const(SELF) and [var.hint for var in closure.payload.function.captured] == ["go", "x"]


def test_a_closure_has_its_captured_values_and_defaults_as_arguments() -> None:
    def make(x, y):
        def inner(a, b=x * 2.0, *, c=y):
            return a * x + b * y + c

        return inner

    function = lower_function(make).function
    (closure,) = (s for s in walk(function.body) if isinstance(s, Op) and isinstance(s.payload, ClosureBody))
    body = closure.payload
    assert [var.hint for var in body.function.captured] == list(body.code.co_freevars) == ["x", "y"]
    assert (body.defaults, body.keyword_defaults) == (1, ("c",))
    assert [getattr(value, "hint", "") for value in closure.arguments] == ["x", "y", "", "y"]
    assert body.code in make.__code__.co_consts
