"""Keys of dicts, items of sets and bounds of slices carry no derivative: a number that may have one is refused there."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MutationError
from microgradpy.rules.registry import non_differentiable


def check_key(key: Any) -> None:
    """Refuse a differentiated number as a key, or in a tuple that is one."""
    if isinstance(key, tuple):
        for part in key:
            check_key(part)
    if isinstance(key, float | complex | np.inexact):
        raise MutationError(
            f"a differentiated {type(key).__name__} becomes a key of a dict or an item of a set",
            None,
            "Keys carry no derivative: use a whole number, a text, round(key, 12) or stop_gradient(key).",
        )


def constant_key(key: Any) -> Any:
    """A key that is going to be in a dict, and may be differentiated as far as is known."""
    check_key(key)
    return key


def check_index(container: Any, index: Any) -> None:
    """The same for an index under which something is stored, if the container turns out to be a dict."""
    if isinstance(container, dict):
        check_key(index)


def check_bounds(*bounds: Any) -> None:
    """Refuse differentiated numbers as the bounds of a slice, of which nobody could tell what becomes of them."""
    for bound in bounds:
        if isinstance(bound, float | complex | np.inexact):
            raise MutationError(
                f"a differentiated {type(bound).__name__} becomes a bound of a slice",
                None,
                "Write what the slice stands for: np.linspace(a, b, n), a + step * np.arange(n).",
            )


non_differentiable(check_key, constant_key, check_index, check_bounds)
