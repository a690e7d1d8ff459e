"""Functions of `bisect` and `logging`: neither a place in a list nor what is written down has a derivative."""

from __future__ import annotations

import bisect
import logging
import types

from microgradpy.rules.containers import public_methods
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples, non_differentiable
from microgradpy.tangents.types import NoTangent


@pullback(bisect.bisect_left)
@pullback(bisect.bisect_right)
def bisect_pullback(y_bar, a, x, lo=0, hi=None, *, key=None):
    """A place in a list, which has no derivative."""
    return NoTangent()


for _place in (bisect.bisect_left, bisect.bisect_right):
    examples(_place, ([0.5, 1.5, 2.5], 1.2), ([0.5, 1.5, 2.5], 3.0, 1), ([0.5, 1.5, 2.5], 0.1, 0, 2))


non_differentiable(
    *(f for f in map(vars(logging).get, logging.__all__) if isinstance(f, types.FunctionType)),
    *public_methods(logging.Logger),
    *public_methods(logging.LoggerAdapter),
)
