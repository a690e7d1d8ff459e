"""Lowering keeps the meaning: executing the IR does what the function does."""

from __future__ import annotations

import contextlib
import copy
import io
import types
from collections.abc import Callable
from typing import Any

import pytest

from microgradpy.frontend.lower import lower_function
from microgradpy.ir.nodes import Break, Continue, For, Function, If, Op, Opcode, Raise, Var, While
from microgradpy.ir.printer import print_structured
from microgradpy.ir.traversal import walk
from microgradpy.ir.verifier import verify
from tests.frontend.interpreter import interpreted
from tests.frontend.programs import CASES
from tests.program_numbers import batches
from tests.programs import PROGRAMS
from tests.random_programs import random_program
from tests.ways import some

PLAIN = [program for program in PROGRAMS if isinstance(program.function, types.FunctionType | types.MethodType)]


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, str]:
    """The text of the result or of the exception, and what was printed."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            result = repr(function(*copy.deepcopy(arguments)))
        except UnboundLocalError:
            result = "UnboundLocalError"
        except Exception as error:
            result = f"{type(error).__name__}: {str(error).removeprefix('dict() ')}, caused by {error.__cause__!r}"
    return result, printed.getvalue()


def lowered(function: Callable[..., Any]) -> Function:
    function = getattr(function, "__func__", function)
    assert isinstance(function, types.FunctionType)
    return verify(lower_function(function).function)


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_small_programs_keep_their_meaning(function: Callable[..., Any], arguments: tuple[tuple[Any, ...], ...]) -> None:
    lowered(function)
    for values in arguments:
        assert outcome(interpreted(function), values) == outcome(function, values)


@pytest.mark.parametrize("program", some(PLAIN, "lowered"), ids=str)
def test_the_table_of_programs_keeps_its_meaning(program: Any) -> None:
    lowered(program.function)
    assert outcome(interpreted(program.function), program.args) == outcome(program.function, program.args)


@pytest.mark.parametrize("batch", batches(20), ids=str)
def test_random_programs_keep_their_meaning(batch: range) -> None:
    for number in batch:
        program = random_program(number)
        function = program.load()
        lowered(function)
        for point in program.points:
            assert outcome(interpreted(function), point) == outcome(function, point), program.source


def test_swapping_renames_and_makes_no_tuple() -> None:
    def fibonacci(n):
        a, b = 0.0, 1.0
        for _ in range(n):
            a, b = b, a + b
        return a

    assert print_structured(lowered(fibonacci), names=True).splitlines() == [
        "fibonacci: (%1/fibonacci, %2/n)",
        "  for %5/_ in range(%2) with %3/a = 0.0, %4/b = 1.0:",
        "    %6/b = %3 + %4",
        "    continue %4, %6",
        "  end %7/a, %8/b",
        "  return %7",
    ]


def test_what_nobody_reads_is_no_loop_state() -> None:
    def root(x, tolerance):
        y = x
        k = 0
        while k < 50:
            r = y * y - x
            if r < tolerance:
                break
            y = y - r / (2.0 * y)
            k = k + 1
        return y

    function = lowered(root)
    (loop,) = function.body.statements
    assert isinstance(loop, While)
    assert [parameter.hint for parameter in loop.parameters] == ["y", "k"]
    # The rest of the body is in the arm that goes on, so nothing follows the `if`.
    branch = loop.body.statements[-1]
    assert isinstance(branch, If) and branch.results == ()
    assert isinstance(branch.then.terminator, Break) and isinstance(branch.orelse.terminator, Continue)


def test_state_that_never_changes_is_its_initial_value() -> None:
    def search(xs, best):
        for x in xs:
            if x > 3.0:
                best = x
                return best
        return best

    (loop,) = lowered(search).body.statements
    assert isinstance(loop, For) and loop.parameters == ()


def test_loop_without_else_or_break_needs_no_flag() -> None:
    def total(xs):
        y = 0.0
        for x in xs:
            y += x
        else:
            y *= 2.0
        return y

    loop, double = lowered(total).body.statements
    assert isinstance(loop, For) and [var.hint for var in loop.results] == ["y"]
    assert isinstance(double, Op) and double.payload == "*="


def test_an_arm_that_raises_leaves_the_rest_where_it_is() -> None:
    def checked(x):
        if x < 0.0:
            raise ValueError(x)
        return x * x

    check, branch, square = lowered(checked).body.statements
    assert isinstance(check, Op) and isinstance(branch, If) and isinstance(square, Op)
    assert isinstance(branch.then.terminator, Raise)


def test_names_and_places_are_the_users() -> None:
    def f(x):
        y = x * 2.0
        z = max(
            y,
            x / y,
        )
        return z

    statements = lowered(f).body.statements
    assert [op.result.hint for op in statements if isinstance(op, Op)] == ["y", "", "z"]
    assert [op.result.user_named for op in statements if isinstance(op, Op)] == [True, False, True]
    product, quotient, _ = (statement.where for statement in statements)
    first = f.__code__.co_firstlineno
    assert (product.line, product.text, product.function) == (first + 1, "y = x * 2.0", "f")
    assert (quotient.line, quotient.text) == (first + 4, "z = max(")
    assert product.file == __file__


def test_comprehensions_append_to_one_list() -> None:
    def squares(xs):
        return [x * x for x in xs if x > 0]

    operations = [s.callee for s in walk(lowered(squares).body) if isinstance(s, Op)]
    assert operations == [Opcode.LIST, Opcode.INFIX, Opcode.INFIX, Opcode.APPEND]


def test_every_variable_is_new_in_every_lowering() -> None:
    def f(x):
        return x + x

    first, second = lowered(f), lowered(f)
    assert first.parameters[0].var != second.parameters[0].var
    assert all(isinstance(parameter.var, Var) for parameter in first.parameters)
