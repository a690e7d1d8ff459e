"""np.broadcast: the shape that operands have together. What is iterated over is not differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.registry import attribute_rule, example, frule, mark_inert_attribute, rrule
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent, Tangent

mark_inert_attribute(np.broadcast, "shape", "size", "nd", "ndim", "numiter", "index")


@rrule.register(np.broadcast)
def broadcast_rrule(*args):
    """Its attributes carry nothing; its items would."""
    y = np.broadcast(*args)

    def broadcast_pullback(y_bar):
        return NoTangent(), *(not_implemented("the items of np.broadcast: use np.broadcast_arrays") for _ in args)

    return y, broadcast_pullback


@frule.register(np.broadcast)
def broadcast_frule(*args: Any) -> Any:
    """As backwards."""
    return np.broadcast(*args), lambda f_dot, *dots: Tangent(np.broadcast, operands=dots)


@attribute_rule(np.broadcast, "iters")
def iters_rrule(broadcast):
    """The iterators of the operands give their entries."""
    raise MissingRuleError("the iterators of np.broadcast were read", None, "Use np.broadcast_arrays.")


example(np.broadcast, np.array([0.7, -1.4, 2.2]), 1.5)
