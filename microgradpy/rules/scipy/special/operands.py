"""Operands as the formulas for derivatives of special functions need them."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.tangents.helpers import like


@like(0)
def numbers(x: Any) -> Any:
    """`x` as numbers of floating point: whole ones become float64, as in SciPy's functions, and sequences arrays."""
    if isinstance(x, float | np.inexact):
        return x
    array = np.asarray(x)
    array = array if array.dtype.kind in "fc" else array.astype(np.float64)
    return array if isinstance(x, np.ndarray) else array[()]


@like(0)
@np.errstate(all="ignore")
def logarithm(x: Any) -> Any:
    """log(x) without a warning where it is infinite or NaN."""
    return np.log(numbers(x))


@like(0)
@np.errstate(all="ignore")
def exponential(x: Any) -> Any:
    """exp(x), infinite without a warning."""
    return np.exp(numbers(x))
