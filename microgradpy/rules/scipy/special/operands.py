"""Operands as the formulas for derivatives of special functions need them."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.tangents.casts import python_number
from microgradpy.tangents.helpers import like


@like(0)
def numbers(x: Any) -> Any:
    """`x` as numbers of floating point: whole ones become float64, as in SciPy's functions, and sequences arrays."""
    if isinstance(x, float | np.inexact):
        return x
    if isinstance(x, int):
        return float(x)  # and not np.float64, with which what is single precision would be double
    array = np.asarray(x)
    array = array if array.dtype.kind in "fc" else array.astype(np.float64)
    return array if isinstance(x, np.ndarray) else array[()]


@like(0)
def logarithm(x: Any) -> Any:
    """log(x) without a warning where it is infinite or NaN."""
    with np.errstate(all="ignore"):
        return python_number(np.log(numbers(x)))


@like(0)
def exponential(x: Any) -> Any:
    """exp(x), infinite without a warning."""
    with np.errstate(all="ignore"):
        return python_number(np.exp(numbers(x)))


@like(0)
def shifted(v: Any, by: float) -> Any:
    """The order v + by, of floating point; a Python number stays one."""
    return v + by if isinstance(v, int | float) else np.add(v, by)


def rounded_like(value: Any, *operands: Any) -> Any:
    """A function's value in the precision that NumPy gives to calculations with these operands: many of SciPy's functions take
    a number of Python for double precision, whatever the others are. Of numbers of Python alone it is one."""
    return python_number(value.astype(np.result_type(*operands), copy=False)[()])
