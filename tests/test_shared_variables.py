"""Variables that are shared beyond one function: closures from outside that share a cell, and module variables that
functions assign, those of other files too."""

from __future__ import annotations

import functools
import importlib.util
import linecache
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from microgradpy import Tangent, gradient, jvp, pullback
from tests.ways import WAYS

level = 0.0


def account(balance):
    def put(x):
        nonlocal balance
        balance = x

    def add(x):
        nonlocal balance
        balance = balance * x
        return balance

    return put, add, lambda: balance


def test_a_call_changes_the_variables_of_closures_as_the_plain_call_does():
    put, add, read = account(5.0)

    def f(x):
        put(x)
        return add(x) * read()

    assert gradient(f, 2.0) == (32.0,)
    assert read() == 4.0


def test_closures_may_be_arguments():
    put, _, read = account(5.0)
    assert gradient(lambda x, p, r: (p(x), r() * x)[1], 3.0, put, read)[0] == 6.0


def test_a_closure_has_the_cotangent_of_what_its_variables_held_at_first():
    _, add, _ = account(5.0)
    y, back = pullback(add, 2.0)
    assert (y, add.__closure__[0].cell_contents) == (10.0, 10.0)
    for _ in range(2):
        assert back(1.0) == (Tangent(type(add), {"balance": 2.0}), 5.0)
    assert add.__closure__[0].cell_contents == 10.0
    # The other argument: balance * x * x is returned by the second call.
    _, add, _ = account(5.0)
    _, back = pullback(lambda x, f: f(x) * f(x), 2.0, add)
    _, x_bar, f_bar = back(1.0)
    assert (x_bar, f_bar["balance"]) == (300.0, 80.0)


def test_a_reader_is_told_by_the_file_that_its_variable_is_assigned_by_others():
    _, _, read = account(5.0)
    _, x_bar, read_bar = pullback(lambda x, f: f() * x, 3.0, read)[1](1.0)
    assert (x_bar, read_bar["balance"]) == (5.0, 3.0)


def owner(x, kept):
    y = x
    kept.append(lambda v: v * y)
    y = y * x
    return kept[-1](1.0)


def test_a_closure_that_is_left_behind_is_as_any_other():
    kept: list[Any] = []
    assert gradient(lambda x: owner(x, kept), 3.0) == (6.0,)
    (own, v_bar) = pullback(kept[0], 2.0)[1](1.0)
    assert (own["y"], v_bar) == (2.0, 9.0)


def set_level(x):
    global level
    level = x


def read_level():
    return level


class Reader:
    def read(self):
        return level

    @property
    def value(self):
        return level


reader = Reader()
TABLE: dict[str, Callable[..., Any]] = {"set": set_level, "read": read_level}
set_later = functools.partial(set_level)


def by_names(x):
    set_level(x)
    return read_level() * x


def by_a_table(x):
    TABLE["set"](x)
    return TABLE["read"]() * x


def by_a_table_of_its_own(x):
    set_level(x)
    table = {"read": read_level}
    return table["read"]() * x


def by_an_object(x):
    set_level(x)
    return reader.read() * x + reader.value - Reader().value


def by_a_class(x):
    set_level(x)

    class Inner:
        def read(self):
            return level

    return Inner().read() * x


def by_a_partial(x):
    set_later(x)
    return level * x


def into_a_list(x):
    values: list[Any] = []
    set_level(x)
    put_level(values)
    return values[0] * x


def put_level(values):
    values.append(level)


@pytest.mark.parametrize(
    "function",
    [by_names, by_a_table, by_a_table_of_its_own, by_an_object, by_a_class, by_a_partial, into_a_list],
    ids=lambda function: function.__name__,
)
def test_whoever_reads_a_module_variable_sees_what_was_assigned(function):
    assert gradient(function, 3.0) == (6.0,)


READERS = [read_level, lambda: level, reader.read, Reader().read]


@pytest.mark.parametrize("read", READERS, ids=["function", "lambda", "method of a variable", "method"])
def test_readers_may_be_arguments_that_are_no_data(read):
    def f(x, get):
        set_level(x)
        return get() * x

    assert gradient(f, 3.0, read)[0] == 6.0


OTHER = """
import numpy as np

speed = 0.0
table = np.zeros(3)

def set_speed(x):
    global speed
    speed = x

def set_table(x):
    table[0] = x

def act(x):
    return x

def replace():
    global act
    act = lambda x: x * x
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Any]:
    file = tmp_path / "other_variables.py"
    file.write_text(OTHER)
    spec = importlib.util.spec_from_file_location("other_variables", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    globals()["other_variables"] = module
    yield module
    del globals()["other_variables"]


def reads_another_module(x):
    other_variables.set_speed(x)  # noqa: F821
    return other_variables.speed * x  # noqa: F821


def reads_an_array_of_another_module(x):
    other_variables.set_table(x)  # noqa: F821
    return other_variables.table[0] * x  # noqa: F821


def calls_what_another_module_replaces(x):
    other_variables.replace()  # noqa: F821
    return other_variables.act(x)  # noqa: F821


@pytest.mark.parametrize(
    "function", [reads_another_module, reads_an_array_of_another_module, calls_what_another_module_replaces]
)
def test_variables_of_another_module(other, function):
    assert gradient(function, 3.0) == (6.0,)


def test_functions_of_one_module_may_come_from_several_texts():
    """As in a notebook."""
    namespace: dict[str, Any] = {"__name__": "notebook"}

    def run(number: int, text: str) -> None:
        name = f"<cell {number}>"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        exec(compile(text, name, "exec"), namespace)

    run(1, "total = 1.0\ndef use(x, step):\n    step(x)\n    return total * x\n")
    assert gradient(namespace["use"], 3.0, lambda x: None)[0] == 1.0
    run(2, "def keep(x):\n    global total\n    total = x\n")
    assert gradient(namespace["use"], 3.0, namespace["keep"])[0] == 6.0


def unbound_capture(x):
    def g():
        return y

    a = g()
    y = x
    return a


def unbound_local(x):
    if x > 100.0:
        y = 1.0
    g = lambda: y  # noqa: E731
    z = y
    y = 2.0
    return g() + z


def deleted_twice(x):
    y = x

    def forget():
        nonlocal y
        del y

    forget()
    forget()


def undefined_variable(x):
    global never_assigned
    return never_assigned


def undefined_deleted(x):
    global never_assigned
    del never_assigned


@pytest.mark.parametrize(
    "function",
    [unbound_capture, unbound_local, deleted_twice, undefined_variable, undefined_deleted],
    ids=lambda function: function.__name__,
)
def test_variables_without_a_value_raise_what_python_raises(function):
    with pytest.raises(NameError) as expected:
        function(1.0)
    with pytest.raises(NameError) as found:
        gradient(function, 1.0)
    assert (type(found.value), str(found.value), found.value.name) == (
        type(expected.value),
        str(expected.value),
        expected.value.name,
    )


# Captured variables without a value


def _without_value(assigns: bool) -> tuple[Callable[..., Any], ...]:
    if assigns:
        y = 3.0

    def in_an_expression(x):
        return (y if x > 0.0 else x) * 2.0

    def by_another_name(x):
        z = x
        if x > 0.0:
            z = y
        return z * 2.0

    def in_a_loop(x):
        z = x
        while z > 0.0:
            z = y - 10.0
        return z * x

    return in_an_expression, by_another_name, in_a_loop


def deleted_on_one_path(x):
    y = x
    if x > 0.0:
        del y

    def g(t):
        return y * t

    return g(2.0)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("function", [*_without_value(False), deleted_on_one_path])
def test_a_captured_variable_without_value_raises_what_python_raises(function: Callable[..., Any], way: str) -> None:
    with pytest.raises(NameError) as expected:
        function(1.0)
    with WAYS[way]():
        for call in (lambda: gradient(function, 1.0), lambda: jvp(function, (1.0,), (1.0,))):
            with pytest.raises(NameError) as found:
                call()
            assert (str(found.value).splitlines()[0], found.value.name) == (str(expected.value), "y")
        assert gradient(deleted_on_one_path, -1.0) == (2.0,)
