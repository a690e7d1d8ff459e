"""Which cotangents are gradients as they stand."""

from __future__ import annotations

from typing import Any, final

import numpy as np

_FLOAT_GRADIENTS = (float, int)
WHOLE = "whole"
"""Said instead of whether a cotangent is fresh: it is the gradient as it stands."""


PARTS = "parts"
"""The same of a container, where None stands for the zeros of what nobody has read."""
FLOATS = "floats"
"""The same of what is differentiated: it is a list of Python's own floats."""


def is_projected(x: Any, bar: Any, is_fresh: Any) -> bool:
    """Whether a cotangent is the gradient as it stands, as far as types say it: numbers have nobody to share them with."""
    cls = type(bar)
    if is_fresh is WHOLE and bar is not None:
        return True
    if cls is float:
        return type(x) in _FLOAT_GRADIENTS
    if cls is np.ndarray:
        return is_fresh and type(x) is cls and x.dtype == bar.dtype and x.shape == bar.shape
    return cls is np.float64 and type(x) is cls


def are_floats(items: list[Any] | tuple[Any, ...]) -> bool:
    """Whether all items are Python's own floats, which need not be looked at one by one."""
    return list(map(type, items)).count(float) == len(items)  # counting takes half the time of making a set


def are_tuples(items: list[Any]) -> bool:
    """Whether all items are tuples of one length."""
    count = len(items)
    return list(map(type, items)).count(tuple) == count and (not count or list(map(len, items)).count(len(items[0])) == count)


@final
class Untouched:
    """The cotangent `zero` of a number in a list from which nobody has read it: 0.0 to compute with, and None for the user. It
    is a float like any other, as Python adds these quickest, and no sum is this very one."""

    zero = float("0")
