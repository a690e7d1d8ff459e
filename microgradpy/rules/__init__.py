"""The rule library: one module per family of functions, each rule with its examples beside it. `loading` says when they are
imported."""

from __future__ import annotations

from microgradpy.rules import containers as containers
from microgradpy.rules import scipy as scipy
from microgradpy.rules.registry import all_examples as all_examples
from microgradpy.rules.registry import attribute_rule as attribute_rule
from microgradpy.rules.registry import example as example
from microgradpy.rules.registry import examples as examples
from microgradpy.rules.registry import find_attribute_rule as find_attribute_rule
from microgradpy.rules.registry import is_inert_attribute as is_inert_attribute
from microgradpy.rules.registry import is_non_differentiable as is_non_differentiable
from microgradpy.rules.registry import mark_inert_attribute as mark_inert_attribute
from microgradpy.rules.registry import method_rule as method_rule
from microgradpy.rules.registry import non_differentiable as non_differentiable
from microgradpy.rules.registry import rrule as rrule
