"""The derivatives of z = x ** p at every real and complex point, shared by `operator.pow`, `pow`, `math.pow` and
`np.power`.

    x_bar = z_bar * conj(p * x ** (p - 1))       0 where p = 0, whatever x
    p_bar = z_bar * conj(z * log(x))             for x = 0: 0 if p > 0, else NaN; for x < 0: log |x|, the real part

The corners are those of ChainRules (x ** p with x = 0 and p = 2, 1, 0, -1, 0.5 and so on); neither factor raises or
warns where the power itself did not.
"""

from __future__ import annotations

import cmath
import math
import operator
from typing import Any

import numpy as np

from microgradpy.tangents.casts import python_number
from microgradpy.tangents.helpers import cotangent_of_call

_DOUBLES = (float, np.float64)
"""Numbers in double precision, with which Python's arithmetic is ten times as fast as NumPy's."""


@cotangent_of_call(operator.pow, 1, 2)
def power_base_bar(z_bar: Any, x: Any, p: Any) -> Any:
    """The cotangent of x under z = x ** p, in z's shape."""
    if type(z_bar) in _DOUBLES and type(x) in _DOUBLES and (type(p) is int or type(p) in _DOUBLES):
        p = p if type(p) is int else float(p)
        if p == 0 and (type(p) is int or not x > 0.0):
            return 0.0
        if x > 0.0 or (x and type(p) is int):
            try:
                return float(z_bar) * (p * float(x) ** (p - 1))
            except OverflowError:
                pass  # infinite, which NumPy says without raising
    if _is_complex_power(x, p):
        x = complex(x)
    x, p = _floating(x), _floating(p)
    with np.errstate(all="ignore"):
        factor = np.power(x, p - 1)
        slope = np.where(np.equal(p, 0) & ~np.isfinite(factor), 0, p * factor)
        return python_number(z_bar * np.conj(slope))


@cotangent_of_call(operator.pow, 1, 2)
def power_exponent_bar(z_bar: Any, x: Any, p: Any, z: Any) -> Any:
    """The cotangent of p under z = x ** p, in z's shape."""
    if type(z_bar) in _DOUBLES and type(x) in _DOUBLES and type(z) in _DOUBLES and x:
        return float(z_bar) * (float(z) * math.log(abs(x)))
    if _is_complex_power(x, p):
        return (z_bar * (z * cmath.log(x)).conjugate()).real
    x = _floating(x)
    with np.errstate(all="ignore"):
        slope = z * python_number(np.log(x if np.iscomplexobj(x) else np.abs(x)))
        at_zero = np.where(np.equal(x, 0), math.nan, slope)
        return python_number(z_bar * np.conj(np.where(np.equal(x, 0) & np.greater(np.real(p), 0), 0.0, at_zero)))


def _is_complex_power(x: Any, p: Any) -> bool:
    """Whether Python makes x ** p complex although both are real: NumPy would say NaN."""
    return type(x) in (float, int) and type(p) is float and x < 0 and not p.is_integer()


def _floating(x: Any) -> Any:
    """Integers as floats: NumPy refuses negative powers of integers, and p - 1 of an unsigned 0 wraps around."""
    if isinstance(x, np.ndarray | np.generic):
        return x.astype(np.float64) if x.dtype.kind in "biu" else x
    return float(x) if isinstance(x, int) else np.asarray(x, np.float64) if isinstance(x, list | tuple | range) else x
