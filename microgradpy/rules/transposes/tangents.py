"""Rules for what pushforwards call: by these, pushforwards are differentiated, which gives second derivatives.

Each fills a tangent, reads a part of it or puts it together, and is linear in it. A zero that stays zero through an infinite
slope is one in the second derivative as well.
"""

from __future__ import annotations

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples, non_differentiable
from microgradpy.tangents.arithmetic import zero_cotangent
from microgradpy.tangents.filled import (
    dense_tangent,
    mirrored_tangent,
    pairs_tangent,
    tangent_to_write,
    values_tangent,
)
from microgradpy.tangents.strong_zeros import kept_call, kept_tangent
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


examples(dense_tangent, (0.5, 2.0))
examples(mirrored_tangent, ([0.5, 1.5], [1.0, 2.0]))
examples(tangent_to_write, ([0.5, 1.5], [1.0, 2.0]))
examples(kept_tangent, (1.5, 0.5))
examples(kept_call, ((0.5,), 1.5))
examples(values_tangent, ({"a": 0.5, "b": 1.5},))
examples(pairs_tangent, ([("a", 1.0), ("b", 2.0)], [(0.0, 0.5), (0.0, 1.5)]))
