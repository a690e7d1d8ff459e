"""The page that `explain` makes: its structure, what it says of a call, and which lines belong together."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from microgradpy import explain
from microgradpy.explaining.highlight import ir_pieces, python_pieces
from tests.explain import programs

PANES = ("Source", "IR", "Primal", "Adjoint")
VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """What is on a page. `lines` are (sheet, pane, the line of the source or 0, text)."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.lines: list[tuple[int, str, int, str]] = []
        self.cells: list[str] = []
        self.sheets: list[str] = []
        self.pane = ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if tag not in VOID:
            self.open.append(tag)
        if attributes.get("class") == "sheet":
            self.sheets.append(attributes["data-name"])
        elif attributes.get("class") == "pane":
            self.pane = attributes["data-pane"]
        elif attributes.get("class") == "line":
            self.lines.append((len(self.sheets), self.pane, int(attributes.get("data-line", 0)), ""))
        elif tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "code" in self.open and self.lines and "table" not in self.open:
            sheet, pane, line, text = self.lines.pop()
            self.lines.append((sheet, pane, line, text + data.replace("\u200b", "")))
        elif "table" in self.open:
            self.cells[-1] += data

    def from_line(self, line, sheet=1):
        """The texts in each pane that are from a line of the source."""
        return [
            [text.strip() for number, pane, source, text in self.lines if (number, pane, source) == (sheet, title, line)]
            for title in PANES
        ]

    def text(self, pane, sheet=1):
        return "\n".join(text for number, title, _, text in self.lines if (number, title) == (sheet, pane))


U = np.array([1.0, 2.0, 3.0])
CALLS = {
    "root": (programs.root, 2.0, 1e-9),
    "energy": (programs.energy, U, 0.1, 3),
    "awkward": (programs.awkward, 2.0),
    "writes": (programs.writes, U.copy(), 2.0),
    "chosen": (programs.chosen, "square", 3.0),
    "nested": (programs.nested, 3.0),
    "listed": (programs.listed, 3.0),
    "lambda": (programs.square, 3.0),
    "method": (programs.Spring(2.0).energy, 3.0),
    "function of a class": (programs.Spring.energy,),
    "generated": (programs.generated, 2.0),
    "without values": (programs.root,),
}


@pytest.fixture(params=CALLS, scope="module")
def made(request):
    f, *args = CALLS[request.param]
    text = explain(f, *args)
    return f, text, Page(text)


def test_a_page_is_well_formed_and_needs_nothing_else(made):
    _, text, page = made
    assert text.startswith("<!DOCTYPE html>")
    for tag, attributes in page.tags:
        assert tag not in ("link", "img", "iframe", "object")
        assert not {"src", "href", "onclick"} & attributes.keys(), (tag, attributes)
    assert sum(tag == "script" for tag, _ in page.tags) == 1
    assert not re.search(r"https?://|@import|url\(", text)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in page.tags:
        for name in ("aria-labelledby", "aria-controls"):
            assert name not in attributes or attributes[name] in ids


def test_the_four_texts_are_complete(made):
    f, _, page = made
    function = getattr(f, "__func__", f)
    assert page.sheets[0] == function.__qualname__
    source = page.text("Source")
    assert source.startswith(("def ", "square = lambda"))
    assert "1: (%1/" in page.text("IR") and "return %" in page.text("IR")
    for pane in ("Primal", "Adjoint"):
        compile(page.text(pane), pane, "exec")
    for number in range(1, 1 + len(page.sheets)):
        assert all(page.text(pane, number) for pane in PANES)


def test_lines_are_from_lines_that_are_shown(made):
    _, _, page = made
    for number in range(1, 1 + len(page.sheets)):
        shown = {line for sheet, pane, line, _ in page.lines if sheet == number and pane == "Source" and line}
        used = {line for sheet, pane, line, _ in page.lines if sheet == number and pane != "Source" and line}
        assert used <= shown
        assert used  # something of it is made of something


def first_line(f):
    return getattr(f, "__func__", f).__code__.co_firstlineno


# The lines of a program, counted from its first, and what is made of them: IR, primal, adjoint.
BELONGS = {
    "a statement on several lines": (
        (programs.root, 2.0, 1e-9),
        6,
        ["%9 = 2.0 * %4", "%10 = %6 / %9", "%11/y = %4 - %10"],
        ["y_1 = y - r / (2.0 * y)"],
        [
            "# y = y - r / (",
            "product = 2.0 * y",
            "r_bar = -y_bar / product",
            "r = y * y - x",
            "# y = y - r / (",
            "y_bar -= r_bar * (r / product) * 2.0",
        ],
    ),
    "a copy and its text": ((programs.root, 2.0, 1e-9), 1, [], ["y = x"], []),
    "the head of a loop": (
        (programs.energy, U, 0.1, 3),
        1,
        ["%5/iterator = iter(range(%4))", "%7/more, %8/_ = next(%5)", "br 4 unless %7"],
        ["tape = []", "for _ in range(n):"],
        ["# for _ in range(n):", "for u_saved in reversed(tape):"],
    ),
    "a call of another function": (
        (programs.energy, U, 0.1, 3),
        2,
        ["%9/u = step(%6, %3)"],
        ["u, u_saved = step_primal(u, k)"],
        ["# u = step(u, k)", "u_bar, k_bar_1 = step_adjoint(u_saved, u_bar)", "k_bar += k_bar_1"],
    ),
    "a handler": ((programs.writes, U.copy(), 2.0), 4, [], ["except ZeroDivisionError:"], []),
    "a line of a lambda": ((programs.square, 3.0), 0, ["1: (%1/lambda_, %2/x)", "%3 = %2 * %2", "return %3"], None, None),
}


@pytest.mark.parametrize("call, line, ir, primal, adjoint", BELONGS.values(), ids=BELONGS.keys())
def test_what_is_made_of_a_line(call, line, ir, primal, adjoint):
    f, *args = call
    source, *found = Page(explain(f, *args)).from_line(first_line(f) + line)
    assert source
    for texts, expected in zip(found, (ir, primal, adjoint), strict=True):
        assert expected is None or texts == expected


def test_functions_that_are_called_have_sheets_of_their_own():
    page = Page(explain(programs.energy, U, 0.1, 3))
    assert page.sheets == ["energy", "step"]
    assert "def step_adjoint(" in page.text("Adjoint", 2)
    page = Page(explain(programs.nested, 3.0))
    assert page.sheets == ["nested", "nested.inner", "nested.inner (2)"]


def test_value_and_gradient_are_shown():
    assert Page(explain(programs.chosen, "square", 3.0)).cells == [
        *("argument", "value", "gradient"),
        *("kind", "'square'", "None"),
        *("x", "3.0", "6.0"),
        *("result", "9.0"),
    ]
    page = Page(explain(programs.root, 4.0, 1e-30, argnums=0))
    assert page.cells[3:8] == ["x", "4.0", "0.25", "tol", "1e-30"] and page.cells[8] == ""
    assert Page(explain(programs.root)).cells == []


def test_the_values_are_those_before_the_call():
    x = np.array([1.0, 2.0, 4.0])
    assert Page(explain(programs.writes, x, 2.0)).cells[3:6] == ["x", "array([1., 2., 4.])", "array([0. , 0.5, 1. ])"]


def test_without_one_number_there_is_no_gradient():
    text = explain(programs.listed, 3.0)
    assert "no gradient to show" in text and "[0.0, 3.0, 6.0]" in Page(text).cells[-1]


def test_a_refused_call_has_a_page_that_says_why():
    text = explain(programs.refused, 3.0)
    page = Page(text)
    assert "Refused. `eval`" in text and "def refused(x):" in page.text("Source")
    assert page.cells == []


def test_long_values_are_cut():
    text = explain(programs.energy, np.arange(10_000.0), 0.1, 1)
    assert "..." in text and len(text) < 100_000


@pytest.mark.parametrize("f", [programs.root, programs.awkward, programs.chosen, explain], ids=lambda f: f.__name__)
def test_pieces_are_the_text(f):
    with open(f.__code__.co_filename, encoding="utf-8") as file:
        text = file.read()
    lines = ["".join(piece for _, piece in line) for line in python_pieces(text)]
    assert lines == text.splitlines()


@pytest.mark.parametrize("text", ["x = (1,", "'''never ends", "\tx", "if x:\n  y\n z", "café = 'é'  # naïve"])
def test_what_is_no_program_keeps_its_text(text):
    assert ["".join(piece for _, piece in line) for line in python_pieces(text)] == text.splitlines()


def test_pieces_have_kinds():
    assert python_pieces("def f(x):  # why\n    return f'{x}' + abs(2.0)") == [
        [("keyword", "def"), ("", " "), ("name", "f"), ("", "(x):  "), ("comment", "# why")],
        python_pieces("    return f'{x}' + abs(2.0)")[0],
    ]
    assert ("builtin", "abs") in python_pieces("    abs(2.0)")[0]
    named = [("", "  "), ("name", "%4/y"), ("", " = "), ("name", "%2"), ("", " * "), ("number", "2.0")]
    assert ir_pieces("  %4/y = %2 * 2.0") == named
    assert ir_pieces("  br 2 unless %3")[1] == ("keyword", "br")
