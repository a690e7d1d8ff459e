"""Every example of every rule through `test_rrule`: against the plain call and against finite differences."""

from __future__ import annotations

import pytest

from microgradpy import ignore_derivatives, stop_gradient
from microgradpy.rules import all_examples, draws, rrule, ufunc_options
from microgradpy.rules.registry import Example, find_attribute_rule, registered_attributes
from microgradpy.testing import test_rrule as check_rule


@pytest.mark.parametrize("example", all_examples(), ids=str)
def test_rule(example: Example) -> None:
    # The rules of these two are not the derivatives of what they compute: that is what they are for.
    differences = example.f not in (stop_gradient, ignore_derivatives)
    # Whoever calls these rules copies what it keeps, so that they may hand on their seeds.
    # Forward rules have tests of their own, and to derive them all takes longer than everything here.
    options = {"may_share_seed": True, "differences": differences, "frule": None}
    check_rule(example.f, *example.args, fkwargs=example.kwargs, **options)


def test_every_rule_has_an_example() -> None:
    tried = {rrule.find_for(example.f, example.args, example.kwargs) for example in all_examples()}
    declared = [rule for f in rrule.registered() for rule in rrule.rules_of(f)]
    # A draw is another one each time: test_draws.py has those. The options of all ufuncs are one text.
    others = (draws.__name__, ufunc_options.__name__)
    ours = [rule for rule in declared if rule.__module__.startswith("microgradpy.") and rule.__module__ not in others]
    assert not [rule.__qualname__ for rule in ours if rule not in tried]


def test_every_attribute_rule_has_an_example() -> None:
    tried = {find_attribute_rule(type(example.args[0]), example.args[1]) for example in all_examples() if example.f is getattr}
    rules = {f"{cls.__name__}.{name}": find_attribute_rule(cls, name) for cls, name in registered_attributes()}
    ours = {name: rule for name, rule in rules.items() if rule is not None and rule.__module__.startswith("microgradpy.")}
    assert not [name for name, rule in ours.items() if rule not in tried]
