"""The rule library: one module per family of functions, each rule with its examples beside it."""

from __future__ import annotations

from microgradpy.rules import builtins as builtins
from microgradpy.rules import containers as containers
from microgradpy.rules import convolution as convolution
from microgradpy.rules import copies as copies
from microgradpy.rules import creation as creation
from microgradpy.rules import einsum as einsum
from microgradpy.rules import elementwise as elementwise
from microgradpy.rules import floating_point as floating_point
from microgradpy.rules import fourier as fourier
from microgradpy.rules import histograms as histograms
from microgradpy.rules import indexing as indexing
from microgradpy.rules import interpolation as interpolation
from microgradpy.rules import joining as joining
from microgradpy.rules import linalg as linalg
from microgradpy.rules import linear as linear
from microgradpy.rules import mathematics as mathematics
from microgradpy.rules import methods as methods
from microgradpy.rules import numeric_methods as numeric_methods
from microgradpy.rules import operators as operators
from microgradpy.rules import pairwise as pairwise
from microgradpy.rules import reductions as reductions
from microgradpy.rules import shape as shape
from microgradpy.rules import spacing as spacing
from microgradpy.rules import statistics as statistics
from microgradpy.rules import sums as sums
from microgradpy.rules import trigonometric as trigonometric
from microgradpy.rules import two_results as two_results
from microgradpy.rules import ufunc_methods as ufunc_methods
from microgradpy.rules import windows as windows
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
