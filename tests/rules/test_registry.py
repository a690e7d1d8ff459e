"""Declaring and finding rules."""

from __future__ import annotations

import gc
import math
import operator
import weakref
from typing import Any

import numpy as np
import pytest

from microgradpy.rules import (
    find_attribute_rule,
    is_inert_attribute,
    is_non_differentiable,
    mark_inert_attribute,
    method_rule,
    rrule,
)
from microgradpy.rules.containers import MUTATING_METHODS
from microgradpy.rules.registry import ReverseRules
from microgradpy.tangents.types import NoTangent
from tests.names import name_of


def double(x: Any, factor: float = 2.0) -> Any:
    return x * factor


def double_rrule(x: Any, factor: float = 2.0) -> Any:
    def double_pullback(y_bar: Any) -> Any:
        return NoTangent(), y_bar * factor

    return x * factor, double_pullback


def other_rrule(x: Any) -> Any:
    raise AssertionError("only to be found")


def test_a_rule_takes_effect_when_it_is_declared_and_is_counted() -> None:
    rules = ReverseRules()
    assert rules(double, 1.5) is None
    version = rules.version
    assert rules.register(double)(double_rrule) is double_rrule
    assert rules.version > version
    outcome = rules(double, 1.5)
    assert outcome is not None
    y, pullback = outcome
    assert y == 3.0
    assert pullback(1.0) == (NoTangent(), 2.0)
    rules.register(double)(other_rrule)
    assert rules.find(double, (float,)) is other_rrule


def test_a_call_gives_one_cotangent_per_positional_argument() -> None:
    rules = ReverseRules()
    rules.register(double)(double_rrule)
    for args, count in (((1.5,), 2), ((1.5, 3.0), 3)):
        outcome = rules(double, *args)
        assert outcome is not None
        assert len(outcome[1](1.0)) == count


def test_the_most_specific_rule_wins() -> None:
    rules = ReverseRules()
    rules.register(double)(double_rrule)
    rules.register(double, int)(other_rrule)
    assert rules.is_typed(double)
    assert rules.find(double, (float,)) is double_rrule
    assert rules.find(double, (bool,)) is other_rrule
    assert rules.find(double, (None,)) is double_rrule
    assert rules.find(double) is double_rrule
    rules.register(double, bool)(double_rrule)
    assert rules.find(double, (bool,)) is double_rrule
    assert rules.find(double, (int,)) is other_rrule


def test_a_rule_may_ask_for_a_number_of_arguments() -> None:
    rules = ReverseRules()
    rules.register(double)(double_rrule)
    rules.register(double, arity=2)(other_rrule)
    assert not rules.is_typed(double)
    assert rules.find(double, (None,)) is double_rrule
    assert rules.find(double, (None, None)) is other_rrule


def test_a_callable_is_non_differentiable_until_it_gets_a_rule() -> None:
    rules = ReverseRules()
    rules.non_differentiable(double)
    assert rules.is_non_differentiable(double)
    outcome = rules(double, 1.5)
    assert outcome is not None
    assert (outcome[0], outcome[1](1.0)) == (3.0, (NoTangent(), NoTangent()))
    rules.register(double)(double_rrule)
    assert not rules.is_non_differentiable(double)


def test_unhashable_callables_have_no_rules() -> None:
    class Unhashable:
        __hash__ = None  # type: ignore[assignment]

        def __call__(self, x: float) -> float:
            return x

    assert rrule(Unhashable(), 1.5) is None
    assert not rrule.has(Unhashable())
    assert not is_non_differentiable(Unhashable())
    with pytest.raises(TypeError, match="unhashable"):
        rrule.register(Unhashable())


def test_looking_up_a_function_does_not_keep_it_alive() -> None:
    def function(x: float) -> float:
        return x

    rrule(function, 1.5)
    rrule.find(function, (float,))
    reference = weakref.ref(function)
    del function
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize(
    "types, name",
    [
        ((float, float), "add_rrule"),
        ((None, None), "add_rrule"),
        ((list, list), "concatenation_rrule"),
        ((tuple, tuple), "concatenation_rrule"),
        ((list, np.ndarray), "add_rrule"),
        ((str, str), "text_concatenation_rrule"),
    ],
)
def test_addition_depends_on_the_types(types: tuple[type | None, ...], name: str) -> None:
    rule = rrule.find(operator.add, types)
    assert rule is not None
    assert rule.__name__ == name


def test_methods_and_attributes_are_found_by_class() -> None:
    assert method_rule(dict, "get") is not None
    assert method_rule(dict, "nothing") is None
    assert find_attribute_rule(complex, "imag") is not None
    assert find_attribute_rule(complex, "nothing") is None

    class Box:
        pass

    class SmallBox(Box):
        pass

    mark_inert_attribute(Box, "label")
    assert is_inert_attribute(SmallBox, "label")
    assert not is_inert_attribute(SmallBox, "content")


@pytest.mark.parametrize("f", [len, print, isinstance, math.floor, operator.lt, str.upper, "".join, dict.keys], ids=name_of)
def test_what_gives_no_derivative_is_known(f: Any) -> None:
    assert is_non_differentiable(f) or is_non_differentiable(getattr(str, f.__name__, None))


def test_mutating_methods_exist() -> None:
    for cls, names in MUTATING_METHODS.items():
        for name in names - {"itemset", "__delitem__"}:
            assert callable(getattr(cls, name)), (cls, name)
