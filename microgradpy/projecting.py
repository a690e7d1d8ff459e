"""Which cotangents are gradients as they stand."""

from __future__ import annotations

from typing import Any, final

import numpy as np

_FLOAT_GRADIENTS = (float, int)
WHOLE = "whole"
"""Said instead of whether a cotangent is fresh: it is the gradient as it stands."""


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


@final
class Untouched(float):
    """The cotangent zero of a number in a list from which nobody has read it: 0.0 to compute with, and None for the user."""

    __slots__ = ()
