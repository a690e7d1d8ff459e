"""Why a line costs more than it might: what is said of each idiom that does, and nothing of what is written instead."""

from __future__ import annotations

import copy
import functools
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgradpy import DifferentiationError, cache_clear, code_adjoint, code_primal, compiler, explain, gradient, pullback
from microgradpy.ad import reasons as reasons_module
from microgradpy.introspect import reasons_of, unit_of
from microgradpy.ir.nodes import Location
from microgradpy.ir.reasons import DISPATCHED, MEMORY, TRACKED, Reason, comment_lines, expression_at, in_order, sentence
from microgradpy.promotion import escapes
from microgradpy.testing import check_gradient
from tests.programs import PROGRAMS, Program
from tests.ways import some

ROOT = Path(__file__).parent.parent


NAME = "value"


class Box:
    def __init__(self, value):
        self.value = value

    def add(self, x):
        self.value = self.value + x
        return self.value


class Affine:
    def __init__(self, slope):
        self.slope = slope

    def __call__(self, x):
        return self.slope * x


# Tracked


def adds_to_argument(s, e):
    s += e
    return np.sum(s * s)


def new_sum(s, e):
    s = s + e
    return np.sum(s * s)


def appends_to_argument(xs, y):
    xs.insert(1, y)
    return xs[0] * y


def appends_to_copy(xs, y):
    xs = [x for x in xs]
    xs.append(y)
    return xs[0] * y


def writes_entry(x):
    x[0] = x[1] * x[1]
    return np.sum(x)


def writes_entry_of_copy(x):
    x = x.copy()
    x[0] = x[1] * x[1]
    return np.sum(x)


def in_a_callee(x):
    return writes_entry(x) * 2.0


def writes_field(box, x):
    setattr(box, NAME, box.value * x)
    return box.value * x


def reads_field(box, x):
    value = box.value * x
    return value * x


def exchanges_rows(x):
    rows = [[x, 1.0], [2.0, x * x]]
    rows[0], rows[1] = rows[1], rows[0]
    rows[0][0] = x
    return rows[0][0] * max(rows)[1]


def exchanges_indices(x):
    rows = [[x, 1.0], [2.0, x * x]]
    order = [0, 1]
    order[0], order[1] = order[1], order[0]
    rows[order[0]][0] = x
    return rows[order[0]][0] * rows[order[0]][1]


TABLE: dict[str, Any] = {}


def fills_table_of_module(x):
    TABLE["square"] = x * x
    return TABLE["square"] * x


def fills_own_table(x):
    table = {}
    table["square"] = x * x
    return table["square"] * x


level = 1.0


def assigns_variable_of_module(x):
    global level
    level = x * x
    return level * x


def assigns_own_variable(x):
    own = x * x
    return own * x


def writes_in_a_try(x):
    box = Box(x)
    try:
        for value in (math.sqrt(part) for part in (2.0, x)):
            box.value = value
    except ValueError:
        pass
    return box.value


def writes_after_a_try(x):
    try:
        root = math.sqrt(x)
    except ValueError:
        root = x
    box = Box(root)
    return box.value


def keeps_it_elsewhere(x):
    box = Box(x)
    boxes = {box}
    box.value = x * x
    return next(iter(boxes)).value


def keeps_its_value(x):
    box = Box(x)
    box.value = x * x
    pair = (box.value, 1)
    return pair[0]


def flat_entries(x):
    return np.sum(np.array([v * v for v in x.flat]))


def ravelled_entries(x):
    return np.sum(np.array([v * v for v in x.ravel()]))


def reads_exception(x):
    try:
        raise ValueError(x * x)
    except ValueError as error:
        return error.args[0] * x


def reads_variable(x):
    square = x
    try:
        square = x * x
        raise ValueError
    except ValueError:
        return square * x


def makes_class(x):
    class Square:
        def value(self):
            return x * x

    return Square().value()


def uses_class(x):
    box = Box(x)
    return box.value * box.value


def object_as_key(box, x):
    table = {box: x * x}
    return table[box]


def text_as_key(box, x):
    table = {"box": x * x}
    return table["box"]


def smallest(xs):
    return min(xs)


def shares_variable(x):
    total = 0.0

    def add():
        nonlocal total
        total = total + x * x

    steps = [add]
    steps[0]()
    return total if steps[0].__name__ else x


def calls_it_by_name(x):
    total = 0.0

    def add():
        nonlocal total
        total = total + x * x

    add()
    return total


def callback_that_writes(f, x):
    return f(x) * x


@functools.lru_cache
def remembered(x):
    return x * x


def plain_square(x):
    return x * x


def calls_remembered(x):
    return remembered(x) * x


def calls_square(x):
    return plain_square(x) * x


# Dispatched


def calls_argument(f, x):
    return f(f(x))


def calls_by_name(f, x):
    return math.sin(math.sin(x))


def chooses_function(x, k):
    return {0: math.sin, 1: math.cos}[k](x)


def chooses_branch(x, k):
    return math.sin(x) if k == 0 else math.cos(x)


def unpacks(*xs):
    return math.hypot(*xs)


def written_out(x, y):
    return math.hypot(x, y)


def along_rows(x):
    return np.sum(np.apply_along_axis(lambda row: row[0] * row[1], 1, x))


def by_key(xs):
    return max(xs[0], xs[1], key=lambda x: -x)


def by_value(xs):
    return -max(-xs[0], -xs[1])


MIXED = [1.0, np.ones(3)]


def of_mixed_list(x, k):
    return np.sum(MIXED[k] @ x)


def of_one_kind(x, k):
    return np.sum(np.ones(3) @ x)


def returns_model(model, x):
    return model(x), model


X = np.array([1.0, 2.0, 3.0])
IDIOMS: list[tuple[Callable[..., Any], tuple[Any, ...], Callable[..., Any] | None, list[str]]] = [
    (
        adds_to_argument,
        (X, X),
        new_sum,
        ["+1: `s += e` is tracked: it writes into `s`, which it was given (write s = s + ...)"],
    ),
    (
        appends_to_argument,
        ([1.0], 2.0),
        appends_to_copy,
        ["+1: `xs.insert(1, y)` is tracked: it writes into `xs`, which it was given (write into a copy: xs = [x for x in xs])"],
    ),
    (
        writes_entry,
        (X,),
        writes_entry_of_copy,
        ["+1: `x[0] = x[1] * x[1]` is tracked: it writes into `x`, which it was given (write into a copy: x = x.copy())"],
    ),
    (
        writes_field,
        (Box(2.0), 1.5),
        reads_field,
        [
            "+1: `setattr(box, NAME, box.value * x)` is tracked: it writes into `box`, which it was given, and of which "
            "nothing is proven",
        ],
    ),
    (
        exchanges_rows,
        (1.5,),
        exchanges_indices,
        [
            "+2: `rows[0], rows[1] = rows[1], rows[0]` is tracked: it writes into `rows`, which stays memory",
            "+1: `[[x, 1.0], [2.0, x * x]]` stays memory: it escapes in line +4, as `max(rows)` is not followed",
        ],
    ),
    (
        fills_table_of_module,
        (1.5,),
        fills_own_table,
        ['+1: `TABLE["square"] = x * x` is tracked: it writes into `TABLE`, which others may have'],
    ),
    (
        assigns_variable_of_module,
        (1.5,),
        assigns_own_variable,
        ["+2: `level = x * x` is tracked: functions of the module assign it"],
    ),
    (
        writes_in_a_try,
        (1.5,),
        writes_after_a_try,
        [
            "+1: `Box(x)` is tracked: it makes a `Box`, which may be written into",
            "+1: `Box(x)` stays memory: it escapes in line +4, as an exception may be caught there",
        ],
    ),
    (
        keeps_it_elsewhere,
        (1.5,),
        keeps_its_value,
        [
            "+1: `Box(x)` is tracked: it makes a `Box`, which may be written into",
            "+1: `Box(x)` stays memory: it escapes in line +2, as another object gets it",
        ],
    ),
    (
        flat_entries,
        (X,),
        ravelled_entries,
        ["+1: `x.flat` is tracked: the array may be written into by way of it (write x.ravel())"],
    ),
    (
        reads_exception,
        (1.5,),
        reads_variable,
        [
            "+3: `except ValueError as error: ...` is tracked: what is read from a caught exception has its cotangent in the "
            "exception's shadow"
        ],
    ),
    (
        makes_class,
        (1.5,),
        uses_class,
        [
            "+1: `class Square: ...` is tracked: its methods may read what is differentiated, which then has its cotangent in "
            "cells (define it outside)"
        ],
    ),
    (
        object_as_key,
        (Box(1.0), 1.5),
        text_as_key,
        ["+1: `{box: x * x}` is tracked: objects that may be differentiated are keys"],
    ),
    (
        shares_variable,
        (1.5,),
        calls_it_by_name,
        [
            "+0: `total` is tracked: a function assigns it that may be called later",
            "+0: `total` stays memory: it escapes in line +3, as the function that captures it is not followed",
            "+3: `def add(): ...` stays memory: it escapes in line +9, as `steps[0].__name__` is not followed",
        ],
    ),
    (
        callback_that_writes,
        (Box(1.0).add, 1.5),
        None,
        ["+1: `f(x)` is tracked: what it calls is known at run time only, and code that may be reached then writes"],
    ),
    (
        calls_remembered,
        (1.5,),
        calls_square,
        ["+1: `remembered(x)` is tracked: what it calls is known at run time only, and code that may be reached then writes"],
    ),
    (calls_argument, (math.sin, 1.5), calls_by_name, ["+1: `f(f(x))` is dispatched: `f` is an argument"]),
    (
        chooses_function,
        (1.5, 1),
        chooses_branch,
        [
            "+1: `{0: math.sin, 1: math.cos}[k](x)` is dispatched: which function `{0: math.sin, 1: math.cos}[k]` is, is known "
            "at run time only"
        ],
    ),
    (
        unpacks,
        (1.5, 2.0),
        written_out,
        ["+1: `math.hypot(*xs)` is dispatched: its arguments are unpacked (write the arguments out by position)"],
    ),
    (
        along_rows,
        (np.eye(2) + 1.0,),
        None,
        [
            "+1: `np.apply_along_axis(lambda row: row[0] * row[1], 1, x)` is dispatched: `apply_along_axis` calls a "
            "function that it is given"
        ],
    ),
    (
        by_key,
        ([1.5, 2.0],),
        by_value,
        [
            "+1: `max(xs[0], xs[1], key=lambda x: -x)` is dispatched: `key` is given by name (write the arguments out by "
            "position)"
        ],
    ),
    (of_mixed_list, (X, 1), of_one_kind, ["+1: `MIXED[k] @ x` is dispatched: the kind of `MIXED[k]` is not proven"]),
    (
        returns_model,
        (Affine(2.0), 1.5),
        None,
        [
            "+0: `model` stays memory: it escapes in line +1, as it is returned",
            "+1: `model(x)` is dispatched: `model` is an argument",
        ],
    ),
]
NAMES = [idiom[0].__name__ for idiom in IDIOMS]


def first_line(function: Any) -> int:
    code: Any = function.__code__
    return int(code.co_firstlineno)


def from_start(text: str, function: Callable[..., Any]) -> str:
    """A sentence with lines counted from that of a function."""
    text = text.removeprefix("line ")
    found = re.sub(r"^(\d+)|(?<=in line )(\d+)", lambda number: f"+{int(number[0]) - first_line(function)}", text)
    return found


@pytest.mark.parametrize(("slow", "args", "fast", "expected"), IDIOMS, ids=NAMES)
def test_what_is_said_of_an_idiom(slow: Any, args: Any, fast: Any, expected: list[str]) -> None:
    assert [from_start(reason, slow) for reason in reasons_of(slow, args)] == expected


@pytest.mark.parametrize(("slow", "args", "fast", "expected"), IDIOMS, ids=NAMES)
def test_the_texts_begin_with_it(slow: Any, args: Any, fast: Any, expected: list[str]) -> None:
    _, reasons = unit_of(slow, args, None)
    comments = "".join(f"# {sentence(reason, slow.__name__)}\n" for reason in reasons)
    for code, half in ((code_primal, "primal"), (code_adjoint, "adjoint")):
        assert code(slow, *args).startswith(f"{comments}def {slow.__name__}_{half}(")


FAST = [(slow, args, fast) for slow, args, fast, _ in IDIOMS if fast is not None]


@pytest.mark.parametrize(("slow", "args", "fast"), FAST, ids=[fast.__name__ for _, _, fast in FAST])
def test_nothing_is_said_of_what_to_write_instead(slow: Any, args: Any, fast: Any) -> None:
    assert reasons_of(fast, args) == ()
    assert code_primal(fast, *args).startswith("def ")
    assert code_adjoint(fast, *args).startswith("def ")
    number = next(k for k, x in enumerate(args) if isinstance(x, float | np.ndarray | list))
    slow_bars, fast_bars = (gradient(f, *map(copied, args))[number] for f in (slow, fast))
    np.testing.assert_allclose(numbers_in(slow_bars), numbers_in(fast_bars), rtol=1e-12)


def numbers_in(bars: Any) -> list[float]:
    """A gradient with 0 for what was not used."""
    return [0.0 if bar is None else float(bar) for bar in (bars if isinstance(bars, list | np.ndarray) else [bars])]


def copied(x: Any) -> Any:
    return copy.copy(x) if isinstance(x, np.ndarray | list | Box) else x


# Of unknown kind


def adds(s, e):
    s += e
    return s


def adds_unknown(items):
    total = 0.0
    for item in items:
        total += item
        total = max(total, 0.0)
    return total


def sets_entry(items, x):
    items[0] = x
    return items


def stores_anything(x, i, v):
    items = [x, 1.0]
    items[i] = v
    return items[0]


def hands_on_text(log, x):
    log.write(f"{x}")
    return x * x


class Keeper:
    def __add__(self, other):
        KEPT.append(other)
        return other


KEPT: list[Any] = []


def adds_to_what_is_kept(x, keeper):
    s = x * 2.0
    s += x
    kept = keeper + s
    return kept + 1.0


def grows(x):
    yield x
    yield x * x


def calls_method(model, x):
    return model.scale(x)


def asks_iterator(x):
    steps = filter(None, [x, x * x])
    return next(steps) * next(steps)


class Computed:
    def __init__(self, value):
        self.value = value

    @property
    def square(self):
        return self.value * self.value


def chooses_of_two(boxes, k):
    return boxes[k].square


def makes_record(x):
    return [functools.partial(math.hypot, x)][0](2.0)


def with_keyword(**given):
    return given["x"]


def calls_with_unpacked_keywords(x):
    return with_keyword(**dict([("x", x * x)], y=x))


OF_UNKNOWN_KIND = [
    (asks_iterator, (1.5,), None, "+1: `filter(None, [x, x * x])` is dispatched: `filter` makes an iterator"),
    (makes_record, (1.5,), None, "+1: `functools.partial(math.hypot, x)` is dispatched: it makes a `partial`"),
    (
        calls_with_unpacked_keywords,
        (1.5,),
        None,
        '+1: `dict([("x", x * x)], y=x)` is dispatched: `y` is given by name',
    ),
    (
        chooses_of_two,
        ([Computed(1.0), Computed(2.0)], 0),
        None,
        "+0: `boxes` stays memory: it escapes in line +1, as `boxes[k]` is not followed",
    ),
    (
        chooses_of_two,
        ([Computed(1.0), Computed(2.0)], 0),
        None,
        "+1: `boxes[k].square` is dispatched: the class of `boxes[k]` is not proven, and may compute it",
    ),
    (adds, (), None, "+1: `s += e` is tracked: it may write in place, as the kind of `s` is not proven"),
    (adds_unknown, (), None, "+3: `total += item` is tracked: it may write in place, as the kind of `item` is not proven"),
    (
        sets_entry,
        (),
        None,
        "+1: `items[0] = x` is tracked: it writes into `items`, which it was given, and of which nothing is proven",
    ),
    (
        stores_anything,
        (),
        None,
        "+2: `items[i] = v` is tracked: the kind of the container, or of what is put into it, is not proven",
    ),
    (
        hands_on_text,
        (),
        1,
        '+1: `log.write(f"{x}")` is tracked: it gets a text of differentiated numbers, which may be read back from where it is '
        "kept",
    ),
    (
        adds_to_what_is_kept,
        (1.5, Keeper()),
        0,
        "+3: `keeper + s` is tracked: a method that it calls may keep what it is given, and a line that comes later writes "
        "into that",
    ),
    (grows, (1.5,), None, "+0: `grows` is tracked: a generator changes from one item to the next"),
    (
        calls_method,
        (),
        None,
        "+1: `model.scale(x)` is dispatched: the method is looked up when it is called, as the kind of `model` is not proven",
    ),
    (smallest, (), None, "+1: `min(xs)` is dispatched: the kind of `xs` is not proven"),
]


@pytest.mark.parametrize(
    ("function", "args", "argnums", "expected"), OF_UNKNOWN_KIND, ids=[each[0].__name__ for each in OF_UNKNOWN_KIND]
)
def test_what_is_said_of_unknown_kinds(function: Any, args: Any, argnums: Any, expected: str) -> None:
    _, reasons = unit_of(function, args, argnums)
    assert expected in [from_start(sentence(reason, function.__name__), function) for reason in reasons]


def test_a_reason_in_a_callee_names_it() -> None:
    line = first_line(writes_entry) + 1
    (reason,) = reasons_of(in_a_callee, (X,))
    assert reason.startswith(f"line {line} of writes_entry: `x[0] = x[1] * x[1]` is tracked: it writes into `x`")
    assert code_adjoint(in_a_callee, X).startswith(f"# line {line} of writes_entry: ")


def calls_callee(f, x):
    return calls_argument(f, x) * 2.0


def test_reasons_of_callees_are_listed_and_not_in_the_text_of_the_caller() -> None:
    line = first_line(calls_argument) + 1
    expected = f"line {line} of calls_argument: `f(f(x))` is dispatched: `f` is an argument"
    assert reasons_of(calls_callee, (math.sin, 1.5)) == (expected,)
    assert code_adjoint(calls_callee, math.sin, 1.5).startswith("def ")


@pytest.mark.parametrize("program", some(PROGRAMS, "has a reason", one_in=6), ids=str)
def test_a_text_has_a_reason_if_and_only_if_it_tracks_or_dispatches(program: Program) -> None:
    try:
        unit, reasons = unit_of(program.function, program.args, None)
    except DifferentiationError:
        return
    effects = {each.effect for each in reasons}
    assert unit.texts is not None
    assert (TRACKED in effects) == unit.tracks
    assert (DISPATCHED in effects) == (not unit.tracks and bool(re.search(r"\bpullback_of", unit.texts[0])))
    assert all(each.text and each.where.line for each in reasons)


# What it costs, and on what it depends


@pytest.mark.parametrize(("slow", "args", "fast", "expected"), IDIOMS, ids=NAMES)
def test_texts_do_not_depend_on_what_was_called_before(slow: Any, args: Any, fast: Any, expected: list[str]) -> None:
    cache_clear()
    alone = code_primal(slow, *args), code_adjoint(slow, *args)
    again = code_primal(slow, *args), code_adjoint(slow, *args)
    cache_clear()
    pullback(slow, *map(copied, args))
    after = code_primal(slow, *args), code_adjoint(slow, *args)
    assert alone == again == after


@pytest.mark.parametrize("function", [calls_argument, writes_in_a_try, adds_to_argument], ids=lambda each: each.__name__)
def test_reasons_are_found_when_a_unit_is_compiled(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cache_clear()
    args = next(args for slow, args, _, _ in IDIOMS if slow is function)
    made: list[Any] = []
    for module, name in ((reasons_module, "reason_at"), (escapes, "reason_at"), (compiler, "reasons_of_calls")):
        monkeypatch.setattr(module, name, counted(getattr(module, name), made))
    gradient(function, *map(copied, args))
    compiled = len(made)
    assert compiled
    for _ in range(3):
        gradient(function, *map(copied, args))
    assert len(made) == compiled


def counted(function: Any, calls: list[Any]) -> Any:
    def counting(*args: Any) -> Any:
        calls.append(args)
        return function(*args)

    return counting


def test_what_runs_has_no_comments() -> None:
    unit, reasons = unit_of(calls_argument, (math.sin, 1.5), None)
    assert reasons and unit.texts is not None
    assert code_adjoint(calls_argument, math.sin, 1.5).endswith(unit.texts[1])
    assert not unit.texts[1].startswith("#")


# The record and its text


def reason(line: int, effect: str = DISPATCHED, text: str = "f(x)", why: str = "why") -> Reason:
    return Reason(effect, Location("model.py", line, function="loss"), text, why)


def test_one_reason_for_what_a_line_has_of_the_same() -> None:
    found = in_order([reason(3), reason(2, text="f(x)"), reason(2, text="f(f(x))"), reason(9, MEMORY), reason(7, TRACKED)])
    assert [(each.where.line, each.text) for each in found] == [(7, "f(x)"), (9, "f(x)"), (2, "f(f(x))"), (3, "f(x)")]


def test_many_reasons_are_counted() -> None:
    lines = [line for line, _ in comment_lines(tuple(map(reason, range(1, 10))), "loss")]
    assert lines[:2] == ["line 1: `f(x)` is dispatched: why", "line 2: `f(x)` is dispatched: why"]
    assert lines[6:] == ["and 3 more"]


EXPRESSIONS = [
    (Location("f.py", 1, 4, 1, 8, "f", "y = g(x)", "y = g(x)"), "g(x)"),
    (Location("f.py", 1, 5, 1, 9, "f", "é = g(x)", "é = g(x)"), "g(x)"),
    (Location("f.py", 1, 4, 2, 8, "f", "y = g(", "y = g("), "g( ..."),
    (Location("f.py", 1, 0, 0, 0, "f", "", "def f(x):"), "def f(x):"),
    (Location("f.py", 1, 4, 1, 104, "f", "", "y = " + "x" * 100), "x" * 56 + " ..."),
]


@pytest.mark.parametrize(("where", "expected"), EXPRESSIONS)
def test_expression_at_a_place(where: Location, expected: str) -> None:
    assert expression_at(where) == expected


# Where it is listed


def test_the_page_lists_them() -> None:
    line = first_line(writes_in_a_try) + 1
    page = explain(writes_in_a_try, 1.5)
    assert f"<li>line {line}: <code>Box(x)</code> is tracked: it makes a <code>Box</code>" in page
    number = rf'<span class="at"[^>]*>{line}</span>'
    comment = rf'<div class="line"[^>]* data-line="{line}">{number}<code><span class="comment"># line {line}: '
    assert len(re.findall(comment, page)) == 4, "two comments, in the primal and the adjoint"
    assert 'class="reasons"' not in explain(writes_after_a_try, 1.5)


def test_check_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    report = check_gradient(calls_argument, math.sin, 1.5)
    (expected,) = reasons_of(calls_argument, (math.sin, 1.5))
    assert report.ok and report.reasons == (expected,)
    assert capsys.readouterr().out.endswith(f"What costs more than it might:\n  {expected}\n")
    assert check_gradient(math.sin, 1.5).reasons == ()
    assert check_gradient(new_sum, X, X).reasons == ()


def test_the_command_lists_them(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("def twice(s, e):\n    s += e\n    return s @ s\n")
    command = [sys.executable, "-m", "microgradpy", "check", "model.py:twice", "--at", "ones(3)", "ones(3)"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    said = "line 2: `s += e` is tracked: it writes into `s`, which it was given (write s = s + ...)"
    for more in ((), ("--json",)):
        done = subprocess.run([*command, *more], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert said in (json.loads(done.stdout)["reasons"] if more else done.stdout)
