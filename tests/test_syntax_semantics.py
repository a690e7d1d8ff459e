"""What is done while differentiating is what Python does: the same errors, the same order, each effect once."""

# ruff: noqa: F821, F841, F842, RUF012

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import pytest

from microgradpy import gradient, pullback
from microgradpy.compiler import always_dispatch

EVENTS: list[Any] = []


def note(event: Any) -> None:
    EVENTS.append(event)


class Watched:
    """Says what is asked of it."""

    __match_args__ = ("first", "second")

    def __init__(self, **fields):
        self.fields = fields

    def __getattr__(self, name):
        EVENTS.append(name)
        try:
            return self.fields[name]
        except KeyError:
            raise AttributeError(name) from None


class TooFew:
    __match_args__ = ("one",)


class Twice:
    __match_args__ = ("one", "one")
    one = 1


class NoTuple:
    __match_args__ = ["one"]


class NoStrings:
    __match_args__ = (1,)


class Keys:
    A = "a"
    B = "a"


def attributes_are_read_in_order_and_once(x, subject):
    match subject:
        case Watched(3, third=t):
            return x
        case Watched(a, b, third=5):
            return x * b
        case Watched(second=b):
            return x * x * b


def too_many_positional_patterns(x, subject):
    match subject:
        case TooFew(a, b):
            return x


def an_attribute_by_position_and_by_name(x, subject):
    match subject:
        case TooFew(a, one=b):
            return x


def an_attribute_twice(x, subject):
    match subject:
        case Twice(a, b):
            return x


def match_args_that_are_no_tuple(x, subject):
    match subject:
        case NoTuple(a):
            return x


def match_args_that_are_no_strings(x, subject):
    match subject:
        case NoStrings(a):
            return x


def two_values_of_a_whole(x, subject):
    match subject:
        case float(a, b):
            return x


def a_pattern_that_is_no_class(x, subject):
    cls = subject
    match subject:
        case cls():
            return x


def equal_keys(x, subject):
    match subject:
        case {Keys.A: a, Keys.B: b}:
            return x


def keys_of_what_is_no_mapping(x, subject):
    match subject:
        case {Keys.MISSING: a}:
            return x
    return x * x


def a_name_of_a_case_that_did_not_match(x, subject):
    match subject:
        case [a, 5]:
            pass
        case _:
            pass
    return x * a


def deleted_twice(x, subject):
    y = x
    del y
    del y
    return x


def deleted_and_perhaps_never_assigned(x, subject):
    if subject > 5:
        y = x
    del y
    return x


def deleted_parameter(x, subject):
    y = x * x
    del x
    return y * x


def module_that_is_not_there(x, subject):

    return x


def name_that_is_not_in_a_module(x, subject):

    return x


def class_that_needs_itself_too_early(x, subject):
    class Early:
        other = Early

    return x


def loop_else_of_a_condition_with_a_walrus(x, subject):
    n = 0
    while (n := n + 1) < 5:
        note(n)
        if n == subject:
            break
    else:
        note("else")
    return x * n


def statement_with_effects_in_an_annotation_target(x, subject):
    note("before")
    (note("object"), [1])[1][note("item")]: int
    (note("object"), Keys)[1].A: int
    (name): note("annotation")
    return x


def deleted_in_an_iteration(x, subject):
    for i in range(3):
        if i == subject:
            x = x * t
        t = x
        del t
    return x


CASES: list[tuple[Callable[..., Any], Any]] = [
    (attributes_are_read_in_order_and_once, Watched(first=1, second=2.0, third=4)),
    (attributes_are_read_in_order_and_once, Watched(first=3, second=2.0)),
    (attributes_are_read_in_order_and_once, Watched(first=3)),
    (too_many_positional_patterns, TooFew()),
    (too_many_positional_patterns, 1),
    (an_attribute_by_position_and_by_name, TooFew()),
    (an_attribute_twice, Twice()),
    (match_args_that_are_no_tuple, NoTuple()),
    (match_args_that_are_no_strings, NoStrings()),
    (two_values_of_a_whole, 1.0),
    (a_pattern_that_is_no_class, 3),
    (equal_keys, {"a": 1, "b": 2}),
    (keys_of_what_is_no_mapping, 3),
    (a_name_of_a_case_that_did_not_match, [1, 2]),
    (deleted_twice, 0),
    (deleted_and_perhaps_never_assigned, 0),
    (deleted_parameter, 0),
    (deleted_in_an_iteration, 1),
    (deleted_in_an_iteration, 5),
    (module_that_is_not_there, 0),
    (name_that_is_not_in_a_module, 0),
    (class_that_needs_itself_too_early, 0),
    (loop_else_of_a_condition_with_a_walrus, 3),
    (loop_else_of_a_condition_with_a_walrus, 9),
    (statement_with_effects_in_an_annotation_target, 0),
]


def outcome(call: Callable[[], Any]) -> tuple[Any, list[Any]]:
    """The value of a call, or the class and the message of its error; and what was noted while it ran."""
    EVENTS.clear()
    try:
        result: Any = call()
    except Exception as error:
        result = type(error), str(error)
    return result, list(EVENTS)


@pytest.mark.parametrize(("function", "subject"), CASES, ids=lambda part: getattr(part, "__name__", None))
def test_the_outcome_is_that_of_the_plain_call(function: Callable[..., Any], subject: Any) -> None:
    plain = outcome(lambda: function(2.0, subject))
    assert outcome(lambda: pullback(function, 2.0, subject)[0]) == plain
    with always_dispatch():
        assert outcome(lambda: pullback(function, 2.0, subject)[0]) == plain


def doubled(module_name: str) -> Callable[[float], Any]:
    def function(x):
        from microgradpy_test_module import scale

        return scale(x)

    return function


def test_a_module_imported_inside_is_looked_up_again() -> None:
    """A module that takes the place of another in `sys.modules` is seen by the next call."""
    function = doubled("")
    with pytest.raises(ModuleNotFoundError):
        gradient(function, 2.0)
    try:
        for factor in (2.0, 3.0):
            module = types.ModuleType("microgradpy_test_module")
            module.scale = lambda x, factor=factor: x * factor
            sys.modules[module.__name__] = module
            assert gradient(function, 2.0) == (factor,)
            module.scale = lambda x: x * x
            assert gradient(function, 2.0) == (4.0,)
    finally:
        del sys.modules["microgradpy_test_module"]
    with pytest.raises(ModuleNotFoundError):
        gradient(function, 2.0)
