"""Rules for what pushforwards call: by these, pushforwards are differentiated, which gives second derivatives.

Most fill a tangent, read a part of it or put it together, and are linear in it. A zero that stays zero through an infinite
slope is one in the second derivative as well.
"""

from __future__ import annotations

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.nested import by_text
from microgradpy.rules.numpy.mathematics.sums import prod_bar
from microgradpy.rules.registry import example, examples, non_differentiable, rrule
from microgradpy.tangents.arithmetic import zero_cotangent
from microgradpy.tangents.filled import (
    dense_tangent,
    mirrored_tangent,
    pairs_tangent,
    tangent_to_write,
    values_tangent,
)
from microgradpy.tangents.strong_zeros import kept_call, kept_tangent
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent

non_differentiable(zero_cotangent)


@pullback(dense_tangent)
@pullback(mirrored_tangent)
@pullback(tangent_to_write)
def filled_pullback(y_bar, x_dot, x):
    """Of the tangent that is filled."""
    return y_bar, NoTangent()


@pullback(kept_tangent)
def kept_tangent_pullback(y_bar, x_dot, y_dot):
    """Of the part that is kept."""
    return NoTangent(), kept_tangent(x_dot, y_bar)


@pullback(kept_call)
def kept_call_pullback(y_bar, dots, y_dot):
    """The same of a call."""
    return NoTangent(), y_bar


@pullback(values_tangent)
def values_tangent_pullback(y_bar, x_dot):
    """Under the keys."""
    return dict(zip(x_dot, y_bar, strict=True))


@pullback(pairs_tangent)
def pairs_tangent_pullback(y_bar, pairs, pairs_dot):
    """Of the pairs, of which the last one with a key is in the dict."""
    last = {key: place for place, (key, _) in enumerate(pairs)}
    return NoTangent(), [(0.0, y_bar[key] if last[key] == place else 0.0) for place, (key, _) in enumerate(pairs)]


@rrule.register(by_text)
def by_text_rrule(helper, place, y_bar, *args):
    """None: second derivatives are not differentiated."""

    def by_text_pullback(x_bar):
        return NoTangent(), NoTangent(), NoTangent(), not_implemented(_THIRD), *(not_implemented(_THIRD) for _ in args)

    return by_text(helper, place, y_bar, *args), by_text_pullback


_THIRD = "it would be a third derivative"
example(by_text, prod_bar, 1, np.array([1.5, -0.5]), 2.0, np.array([0.5, 1.5]), None, False)
examples(dense_tangent, (0.5, 2.0))
examples(mirrored_tangent, ([0.5, 1.5], [1.0, 2.0]))
examples(tangent_to_write, ([0.5, 1.5], [1.0, 2.0]))
examples(kept_tangent, (1.5, 0.5))
examples(kept_call, ((0.5,), 1.5))
examples(values_tangent, ({"a": 0.5, "b": 1.5},))
examples(pairs_tangent, ([("a", 1.0), ("b", 2.0)], [(0.0, 0.5), (0.0, 1.5)]))
