"""Operators that write into a whole array which nobody else has: `u += v` as `u = kept_type(operator.iadd, u, v, u + v)`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.rules.registry import examples, rrule
from microgradpy.runtime.opaque import refuse_mutation
from microgradpy.tangents.helpers import like
from microgradpy.tangents.types import NoTangent


@like(1)
def kept_type(change: Callable[[Any, Any], Any], array: Any, other: Any, made: Any) -> Any:
    """What an operator has made of an array and something else, as it would be in the memory of the array, if it fits there;
    else Python's error."""
    if type(made) is np.ndarray and made.shape == array.shape:
        if made.dtype == array.dtype:
            return made
        if np.can_cast(made.dtype, array.dtype, "same_kind"):
            return made.astype(array.dtype)
    change(array.copy(), other)
    sign = f"operator.{change.__name__}"
    return refuse_mutation(f"{sign} of an array and a {type(other).__name__}, which writes in a way of its own", "Use arrays.")


@rrule.register(kept_type)
def kept_type_rrule(change: Any, array: Any, other: Any, made: Any) -> Any:
    """The entries are those that were made."""
    y = kept_type(change, array, other, made)

    def kept_type_pullback(y_bar: Any) -> Any:
        return NoTangent(), NoTangent(), NoTangent(), NoTangent(), y_bar

    return y, kept_type_pullback


examples(kept_type, (operator.iadd, np.array([1.0, 2.0]), np.array([0.5, 0.25]), np.array([1.5, 2.25])))
