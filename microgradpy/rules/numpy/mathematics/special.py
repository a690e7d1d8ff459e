"""Other special functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import examples
from microgradpy.tangents.arithmetic import divide, unbroadcast
from microgradpy.tangents.helpers import like

_VECTOR = np.array([0.3, -0.7, 0.9])
_POSITIVE = np.array([[0.3, 1.7], [2.9, 0.8]])
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j])
_ANYWHERE = ((0.6,), (-0.4,), (_VECTOR,), (_POSITIVE,), (_COMPLEX,))


@derivative(np.sinc)
def sinc_derivative(x):
    """z = sin(pi x) / (pi x): x_bar = z_bar * (cos(pi x) - z) / x, 0 at 0."""
    return sinc_slope(x)


@like(0)
def sinc_slope(x: Any) -> Any:
    """The derivative of sinc. Near 0, where the two terms of the quotient cancel, its Taylor series is summed."""
    x = np.asarray(x)
    near = np.abs(x) < 0.1
    far = np.where(near, 1.0, x)
    quotient = divide(np.cos(np.pi * far) - np.sinc(far), far)
    if not near.any():
        return quotient[()]
    # sum over k >= 1 of (-1)^k pi^(2k) 2k x^(2k-1) / (2k+1)!; at 0.1 the seventh term is below 1e-16 of the first.
    square = np.square(np.where(near, np.pi * x, 0.0))
    series = 0.0
    for k in range(7, 0, -1):
        series = series * square + (-1) ** k * 2 * k / math.factorial(2 * k + 1)
    return np.where(near, series * np.pi**2 * x, quotient)[()]


examples(np.sinc, *_ANYWHERE, (0.0,), (np.array([1e-9, 0.05, 0.0]),))

_LINE = np.array([0.7, 1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, 0.6], [1.8, 1.1, 0.3]])


@pullback(np.i0)
def i0_pullback(y_bar, x):
    """The derivative of the modified Bessel function I0 is I1."""
    return unbroadcast(y_bar * bessel_i1(x), x)


@like(0)
def bessel_i1(x: Any) -> Any:
    """The modified Bessel function of the first kind and order 1: the power series up to 30, beyond it the expansion for
    large arguments. Source: Abramowitz and Stegun, "Handbook of mathematical functions" (1964), 9.6.10 and 9.7.1."""
    x = np.asarray(x)
    x_float = x.astype(float)
    size = np.abs(x_float)
    small, large = np.clip(x_float, -30.0, 30.0), np.maximum(size, 30.0)
    series, expansion = np.ones_like(size), np.ones_like(size)
    for k in range(50, 0, -1):
        series = 1.0 + series * (0.5 * small) ** 2 / (k * (k + 1))
    for k in range(25, 0, -1):
        expansion = 1.0 - expansion * (4.0 - (2 * k - 1) ** 2) / (8.0 * k * large)
    with np.errstate(all="ignore"):
        beyond = np.exp(large) / np.sqrt(2.0 * np.pi * large) * expansion
    value = np.where(size < 30.0, 0.5 * small * series, np.sign(x_float) * beyond)
    return value.astype(x.dtype) if x.dtype.kind == "f" else value


examples(np.i0, (0.6,), (_LINE,), (_TABLE * 3.0,), (_LINE - 1.4,), (-35.0,), (_LINE[:0],), (2,))
examples(np.i0, ([3.0, 2.5],), (29.0,), (31.0,))
