"""Operators that write into a whole array which nobody else has: `u += v` as `u = kept_type(operator.iadd, u, v, u + v)`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from microgradpy.rules.registry import examples, rrule
from microgradpy.runtime.dispatch import pullback_of
from microgradpy.runtime.opaque import refuse_mutation
from microgradpy.tangents.helpers import like, returns
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


@returns(Real)
def real_entries(x: Any) -> Any:
    """What is put into an array of floating point: a real number or an array of such; of a list or tuple of them, an array."""
    made = np.array(x) if type(x) in (list, tuple) else x
    if isinstance(made, float | int | np.floating | np.integer | np.bool) or (
        type(made) is np.ndarray and made.dtype.kind in "fiub"
    ):
        return made
    found = f"a {type(x).__name__} is put into an array of numbers, by a function that was not known before"
    return refuse_mutation(found, "Make an array of real numbers of it where it is computed: np.asarray(x).")


@rrule.register(real_entries)
def real_entries_rrule(x: Any) -> Any:
    """The entries are those that are given."""
    y = real_entries(x)
    if y is x:
        return y, lambda y_bar: (NoTangent(), y_bar)
    return pullback_of(np.array, x)


examples(real_entries, (1.5,), (np.array([1.0, 2.5]),), ([1.0, 2.5],))
examples(kept_type, (operator.iadd, np.array([1.0, 2.0]), np.array([0.5, 0.25]), np.array([1.5, 2.25])))
