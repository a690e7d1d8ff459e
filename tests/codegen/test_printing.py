"""Every printed statement reads back as the tree it was printed from."""

from __future__ import annotations

import ast
import cmath
import subprocess
import sys

import pytest

from microgradpy.codegen import layout
from microgradpy.codegen.bindings import Bindings, literal
from microgradpy.codegen.layout import folded, lay_out
from microgradpy.codegen.printing import is_same, print_statement
from microgradpy.codegen.quick_printing import NotQuick, quick_text
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


MORE = [
    "x = (a, b)[0].c(d)[(1).real]",
    "x = (a + b).c ** -(d ** e) ** f",
    "x = -(-a) - (-b) ** 2 + (not c)",
    "x = not a == (not b)",
    "x = (a if b else c) if (d if e else f) else g",
    "x = (a and b) or (c or d) and e",
    "x = (a < b) < c",
    "x = a < (b < c)",
    "x = a @ b @ (c @ d) % e // f",
    "x = a << b | c & d ^ ~e >> f",
    "x[1:2, ::-1, :, 3] = {1: a, 'b': c, **d}",
    "x = {a, (b, c)}",
    "x = [a, *b, (c,), ()]",
    "x = f(*a)(g(b if c else d), key=(e, f))",
    "x = yield a, b",
    "yield",
    "x = 1 + (yield a)",
    "del a, b.c, d[0]",
    "for a, (b, c) in d, e:\n    pass",
    "while a or b:\n    break",
    "if (a, b):\n    continue",
    "def f(a, *b, c, **d):\n    pass",
    "def f(a, *, b):\n    pass",
    "x = b'a' + f'{a}'",
    "x = lambda a: a",
    "x = (a := b)",
    "x = 10 ** 400 + 1e400 + 2j",
    "x **= a",
    "x[a] //= b, c",
    "raise a from b.c",
    "x, y = y, x",
    "[x] = y",
]


def function_of(text: str) -> ast.FunctionDef:
    (function,) = ast.parse("def f(a):\n    while True:\n        " + text.replace("\n", "\n        ")).body
    assert isinstance(function, ast.FunctionDef)
    return function


@pytest.mark.parametrize("text", [*STATEMENTS, *MORE])
def test_a_text_that_is_printed_quickly_is_that_printed_with_care(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = lay_out(function_of(text), {}, False)

    def unknown(statement: ast.stmt) -> str:
        raise NotQuick

    monkeypatch.setattr(layout, "quick_text", unknown)
    assert lay_out(function_of(text), {}, False) == quick


WRONG = {
    "another sign": lambda text: text.replace("-", "+"),
    "no parentheses": lambda text: text.replace("(", "").replace(")", ""),
    "no program": lambda text: text + " (",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_printed_wrongly_is_printed_again_with_care(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function = function_of("z = x - (y - x)\nif z > x:\n    z = -z\nreturn z")
    right = lay_out(function, {}, False)
    monkeypatch.setattr(layout, "quick_text", lambda statement: WRONG[wrong](quick_text(statement)))
    assert lay_out(function, {}, False) == right


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("x = a - b", "x = b - a"),
        ("x = a - b", "x = a + b"),
        ("x = 1", "x = 1.0"),
        ("x = 0.0", "x = -0.0"),
        ("x = 1", "x = True"),
        ("x = 'a'", "x = b'a'"),
        ("f(a, b=c)", "f(a, c)"),
        ("f(a)", "f(*a)"),
        ("x = a[b]", "x = a[b:]"),
        ("x = a, b", "x = a, b, c"),
        ("x = a < b", "x = a <= b"),
        ("x = a and b", "x = a or b"),
        ("if a:\n    b", "if a:\n    b\nelse:\n    c"),
    ],
)
def test_trees_that_differ_are_not_the_same(first: str, second: str) -> None:
    one, other = (ast.parse(text).body[0] for text in (first, second))
    assert not is_same(one, other) and is_same(one, ast.parse(first).body[0])


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
