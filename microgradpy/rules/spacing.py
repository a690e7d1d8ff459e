"""Arrays that NumPy makes of a few numbers (points in geometric progression, windows), and functions of the exponent and the
last digit of floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.creation import weighted_sum
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples, non_differentiable
from microgradpy.tangents.arithmetic import conj, divide, unbroadcast
from microgradpy.tangents.helpers import cotangent_of, like
from microgradpy.tangents.types import NoTangent

non_differentiable(np.bartlett, np.blackman, np.hamming, np.hanning)

_VECTOR = np.array([0.7, 1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, 0.6], [1.8, 1.1, 0.3]])


@pullback(np.logspace)
def logspace_pullback(y_bar, start, stop, num=50, endpoint=True, base=10.0, *, axis=0, y):
    """y = base^e for evenly spaced e from start to stop: e_bar = y_bar * y log(base), base_bar = y_bar * y e / base."""
    return (
        exponent_bar(y_bar, start, y, num, endpoint, base, axis, 1.0),
        exponent_bar(y_bar, stop, y, num, endpoint, base, axis, 0.0),
        NoTangent(),
        NoTangent(),
        base_bar(y_bar, base, y, start, stop, num, endpoint, axis),
    )


@cotangent_of(1)
def exponent_bar(y_bar: Any, x: Any, y: Any, num: Any, endpoint: Any, base: Any, axis: int, weight: float) -> Any:
    """The cotangent of the first exponent (weight 1) or of the last (weight 0)."""
    with np.errstate(all="ignore"):
        e_bar = np.moveaxis(y_bar, axis, 0) * conj(np.moveaxis(y, axis, 0) * np.log(base, dtype=y.dtype))
        return unbroadcast(_weighted(e_bar, num, endpoint, weight), x)


def _weighted(bars: np.ndarray, num: Any, endpoint: Any, weight: float) -> Any:
    """The sum along the first axis with evenly spaced weights, of which this is the first."""
    return weighted_sum(bars, np.linspace(weight, 1.0 - weight, num, endpoint, dtype=bars.real.dtype))


@cotangent_of(1)
def base_bar(y_bar: Any, base: Any, y: Any, start: Any, stop: Any, num: Any, endpoint: Any, axis: int) -> Any:
    """The cotangent of the base of powers, whose exponents may have fewer axes than it."""
    first, exponents = np.moveaxis(y, axis, 0), np.linspace(start, stop, num, endpoint)
    exponents = exponents.reshape(exponents.shape[:1] + (1,) * (first.ndim - exponents.ndim) + exponents.shape[1:])
    with np.errstate(all="ignore"):
        return unbroadcast(np.sum(np.moveaxis(y_bar, axis, 0) * conj(divide(first * exponents, base)), axis=0), base)


@pullback(np.geomspace)
def geomspace_pullback(y_bar, start, stop, num=50, endpoint=True, *, axis=0, y):
    """y = start^(1-t) stop^t for t evenly spaced from 0 to 1: start_bar = (1 - t) y_bar * y / start."""
    return (
        end_of_progression_bar(y_bar, start, y, num, endpoint, axis, 1.0),
        end_of_progression_bar(y_bar, stop, y, num, endpoint, axis, 0.0),
    )


@cotangent_of(1)
def end_of_progression_bar(y_bar: Any, x: Any, y: Any, num: Any, endpoint: Any, axis: int, weight: float) -> Any:
    """The cotangent of the first point x of a geometric progression (weight 1) or of the last (weight 0)."""
    with np.errstate(all="ignore"):
        log_bar = np.moveaxis(y_bar, axis, 0) * conj(np.moveaxis(y, axis, 0))
        return unbroadcast(_weighted(log_bar, num, endpoint, weight) / conj(x), x)


examples(np.logspace, (0.5, 1.5, 5), (0.5, 1.5, 4, False), (_VECTOR, 1.5, 3), (0.5, 1.5, 3, True, 2.5), (_TABLE, _VECTOR, 4))
examples(np.logspace, (0.5, 1.5, 4, True, _VECTOR), (_TABLE, 0.3, 2, True, _VECTOR), (0.5, 1.5, 1), (0.5, 1.5, 0))
examples(np.logspace, (0, 1, 3, True, 2))
examples(np.logspace, (_VECTOR, 1.5, 4), (_VECTOR, 1.5, 4, True, _TABLE), axis=-1)
examples(np.geomspace, (0.5, 4.0, 5), (0.5, 4.0, 4, False), (-3.0, -0.5, 3), (_VECTOR, 1.5, 3), (_TABLE, _VECTOR, 4), (2, 8, 3))
examples(np.geomspace, (0.5 + 0.3j, 2.0, 4), (1.0, -2.0 + 0.5j, 3), (0.5, 1.5, 1), (0.5, 1.5, 0))
examples(np.geomspace, (_VECTOR, 1.5, 4), axis=-1)


@pullback(np.i0)
def i0_pullback(y_bar, x):
    """The derivative of the modified Bessel function I0 is I1."""
    return unbroadcast(y_bar * bessel_i1(x), x)


@like(0)
def bessel_i1(x: Any) -> Any:
    """The modified Bessel function of the first kind and order 1: the power series up to 30, beyond it the expansion for
    large arguments. Source: Abramowitz and Stegun, "Handbook of mathematical functions" (1964), 9.6.10 and 9.7.1."""
    x = np.asarray(x)
    size = np.abs(x.astype(float))
    small, large = np.minimum(size, 30.0), np.maximum(size, 30.0)
    series, expansion = np.ones_like(size), np.ones_like(size)
    for k in range(50, 0, -1):
        series = 1.0 + series * (0.5 * small) ** 2 / (k * (k + 1))
    for k in range(25, 0, -1):
        expansion = 1.0 - expansion * (4.0 - (2 * k - 1) ** 2) / (8.0 * k * large)
    with np.errstate(all="ignore"):
        beyond = np.exp(large) / np.sqrt(2.0 * np.pi * large) * expansion
    value = np.sign(x) * np.where(size < 30.0, 0.5 * small * series, beyond)
    return value.astype(x.dtype) if x.dtype.kind == "f" else value


@pullback(np.kaiser)
def kaiser_pullback(y_bar, M, beta, *, y):
    """y = I0(beta r) / I0(beta) with half a circle r: beta_bar = sum(y_bar * (r I1(beta r) - y I1(beta)) / I0(beta))."""
    return NoTangent(), kaiser_bar(y_bar, beta, y, M)


@cotangent_of(1)
def kaiser_bar(y_bar: Any, beta: Any, y: np.ndarray, M: Any) -> Any:
    """The cotangent of beta under the window y."""
    if len(y) < 2:
        return unbroadcast(0.0, beta)
    middle = 0.5 * (M - 1)
    r = np.sqrt(np.maximum(1.0 - ((np.arange(len(y)) - middle) / middle) ** 2, 0.0))
    with np.errstate(all="ignore"):
        slope = divide(r * bessel_i1(beta * r) - y * bessel_i1(beta), np.i0(beta))
        return unbroadcast(np.sum(y_bar * slope), beta)


examples(np.i0, (0.6,), (_VECTOR,), (_TABLE * 3.0,), (_VECTOR - 1.4,), (-35.0,), (_VECTOR[:0],), (2,))
examples(np.i0, ([3.0, 2.5],), (29.0,), (31.0,))
examples(np.kaiser, (5, 2.5), (6, 0.0), (12, 14.0), (9, 45.0), (1, 2.0), (0, 2.0), (4, -1.5), (5, 3))


@pullback(np.ldexp)
def ldexp_pullback(z_bar, x1, x2):
    """z = x1 * 2^x2 with a whole x2: x1_bar = z_bar * 2^x2."""
    return power_of_two_bar(z_bar, x1, x2)


@cotangent_of(1)
def power_of_two_bar(z_bar: Any, x: Any, exponent: Any) -> Any:
    """The cotangent of x under x * 2^exponent."""
    with np.errstate(all="ignore"):
        return unbroadcast(np.ldexp(z_bar, exponent), x)


@pullback(np.nextafter)
def nextafter_pullback(z_bar, x1, x2):
    """The neighbour of x1 moves with x1."""
    return unbroadcast(z_bar, x1)


examples(np.ldexp, (0.7, 3), (_VECTOR, -2), (_TABLE, np.array([1, 0, -3])), (0.7, np.array([1, 2])), (_VECTOR[:0], 1))
examples(np.nextafter, (0.7, 1.0), (_VECTOR, -2.0), (0.5, _VECTOR), (_TABLE, _VECTOR), (_VECTOR[:0], 1.0))
