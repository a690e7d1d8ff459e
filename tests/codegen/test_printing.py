"""Every printed statement reads back as the tree it was printed from."""

from __future__ import annotations

import ast
import cmath
import subprocess
import sys

import pytest

from microgradpy.codegen.bindings import Bindings, literal
from microgradpy.codegen.layout import folded
from microgradpy.codegen.printing import print_statement
from microgradpy.errors import CompilerBug

STATEMENTS = [
    "x = a + b * c",
    "x = (a + b) * c",
    "x = -a ** b",
    "x = (-a) ** b",
    "x = a if b else c",
    "x = not (a and b) or c < d <= e",
    "a, (b, c) = d",
    "x = f(a, *b, key=c, **d)",
    "x = a[b:c, ::d, ..., None]",
    "x = a[:, 0].T[()]",
    'x = {"a": 1, "b": [2, (3,)]}',
    'x = ""',
    'x = "it\'s"',
    'x = "a \\"quoted\\" \\\\ word\\n"',
    "x = 1e-300 + 1j * 2",
    "return a, b",
    "return",
    "f(x)",
    "x += y @ z",
    "raise ValueError from error",
    "x = lambda_ if a is not None and b not in c else (yield_,)",
]


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_statement_reads_back_as_itself(text: str) -> None:
    (statement,) = ast.parse(text).body
    printed = print_statement(statement)
    assert "\n" not in printed
    assert ast.dump(ast.parse(printed).body[0]) == ast.dump(statement)


def test_a_long_statement_stays_on_one_line() -> None:
    text = "x = " + " + ".join(f"function_{i}(argument_{i}, 'text {i}')" for i in range(30))
    assert "\n" not in print_statement(ast.parse(text).body[0])


def test_strings_have_double_quotes() -> None:
    assert print_statement(ast.parse("x = 'a'").body[0]) == 'x = "a"'


def test_a_tuple_of_one_has_parentheses() -> None:
    assert print_statement(ast.parse("a = b,").body[0]) == "a = (b,)"


def test_a_tree_that_no_text_gives_is_a_bug() -> None:
    with pytest.raises(CompilerBug):
        print_statement(ast.Expr(ast.BinOp(ast.Constant(-3), ast.Pow(), ast.Constant(2))))


NUMBERS = [
    0, 1, -1, 10**50, True, 0.0, -0.0, 1.5, -2.5, 5e-324, 1e308, float("inf"), float("-inf"), float("nan"),
    1j, -1j, 1 + 2j, complex(-0.0, 1.0), complex(0.0, -0.0), complex("inf"), complex(1.0, float("nan")),
]  # fmt: skip


@pytest.mark.parametrize("value", [*NUMBERS, "text", b"bytes", None, ..., (1, -2.0, "x"), slice(None, -1, 2)], ids=repr)
def test_a_literal_evaluates_to_its_value(value: object) -> None:
    tree = ast.Assign([ast.Name("x", ast.Store())], literal(value, Bindings(frozenset()).builtin))
    namespace: dict[str, object] = {}
    exec(print_statement(tree), namespace)
    assert repr(namespace["x"]) == repr(value)
    assert type(namespace["x"]) is type(value)


@pytest.mark.parametrize("value", [value for value in NUMBERS if cmath.isfinite(value)], ids=repr)
def test_a_number_keeps_its_value_under_a_power(value: complex) -> None:
    number = literal(value, Bindings(frozenset()).builtin)
    tree = ast.Assign([ast.Name("x", ast.Store())], ast.BinOp(number, ast.Pow(), ast.Constant(1)))
    namespace: dict[str, object] = {}
    exec(print_statement(tree), namespace)
    assert repr(namespace["x"]) == repr(value**1)


def test_the_import_of_astor_does_not_warn() -> None:
    command = [sys.executable, "-W", "error", "-c", "import microgradpy.codegen.printing"]
    subprocess.run(command, check=True)


@pytest.mark.parametrize(
    "text",
    [
        "return first_value, (" + ", ".join(f"value_{k}" for k in range(30)) + ")",
        "tape.append((" + ", ".join(f"value_{k}" for k in range(30)) + "))",
        ", ".join(f"value_{k}" for k in range(30)) + " = saved",
        "for " + ", ".join(f"value_{k}" for k in range(30)) + " in reversed(tape):",
    ],
)
def test_long_lists_of_names_get_lines_of_their_own(text: str) -> None:
    lines = folded(text, 100)
    assert len(lines) > 3 and max(map(len, lines)) <= 100
    assert "".join(line.strip() for line in lines).replace(",", ", ").count("value_") == 30


def test_a_line_that_fits_or_has_no_list_of_names_stays() -> None:
    assert folded("x = y", 100) == ["x = y"]
    long_call = "x = " + " + ".join(f"value_{k}" for k in range(30))
    assert folded(long_call, 100) == [long_call]
