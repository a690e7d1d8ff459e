"""The tangents of what is read out of a container. A tangent of None is zero."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.tangents.types import Tangent, field_of, is_structural_zero

ITEMS = (list, tuple, deque, np.ndarray, np.generic)
"""What has a tangent that is read as it is."""


def item_tangent(x: Any, index: Any, x_dot: Any) -> Any:
    """The tangent of `x[index]`."""
    if isinstance(x, np.ndarray | np.void) and x.dtype.names:
        raise unknown(f"an item of an array of dtype {x.dtype} was read")
    if is_structural_zero(x_dot):
        return None
    if isinstance(x, ITEMS):
        return x_dot[index]
    if isinstance(x, dict):
        return x_dot[index] if index in x_dot else None  # of a method that is given a text less is known
    if isinstance(x, Tangent):
        return field_of(x_dot, index)
    raise unknown(f"an item of a {type(x).__name__} was read")


def unknown(found: str) -> MissingRuleError:
    """The refusal of something whose parts are not known."""
    return MissingRuleError(
        found, None, "Make a list or tuple of it first, or ask pushforward(f, x), which goes by the pullback."
    )
