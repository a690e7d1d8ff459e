"""NumPy's elementwise functions of one argument, without the trigonometric ones.

With z = f(x): x_bar = z_bar * conj(f'(x)). Where f' is a quotient whose denominator may be 0, it is divided the IEEE
way, without a warning. Functions that are constant between their jumps carry no derivative.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import examples, non_differentiable
from microgradpy.tangents.arithmetic import conj, divide, reciprocal_or_zero, unbroadcast
from microgradpy.tangents.helpers import cotangent_of

LOG_2 = math.log(2.0)
LOG_10 = math.log(10.0)

non_differentiable(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.bitwise_not, np.bitwise_count, np.gcd, np.lcm)
non_differentiable(np.left_shift, np.right_shift, np.packbits, np.unpackbits)
non_differentiable(np.floor, np.ceil, np.trunc, np.rint, np.round, np.around, np.fix, np.spacing, np.signbit)

_VECTOR = np.array([0.3, -0.7, 0.9])
_POSITIVE = np.array([[0.3, 1.7], [2.9, 0.8]])
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j])
_ANYWHERE = ((0.6,), (-0.4,), (_VECTOR,), (_POSITIVE,), (_COMPLEX,))
_REAL = _ANYWHERE[:-1]
_ABOVE_ZERO = ((0.6,), (_POSITIVE,), (_POSITIVE[0],), (_COMPLEX,))


@derivative(np.exp)
def exp_derivative(x, *, z):
    """z."""
    return z


examples(np.exp, *_ANYWHERE)


@derivative(np.exp2)
def exp2_derivative(x, *, z):
    """z * log(2)."""
    return LOG_2 * z


examples(np.exp2, *_ANYWHERE)


@derivative(np.expm1)
def expm1_derivative(x):
    """exp(x); z + 1 would have lost the digits of a small exp(x)."""
    return np.exp(x)


examples(np.expm1, *_ANYWHERE)


@derivative(np.log)
def log_derivative(x):
    """1 / x."""
    return divide(1.0, x)


examples(np.log, *_ABOVE_ZERO)


@derivative(np.log2)
def log2_derivative(x):
    """1 / (x * log(2))."""
    return divide(1.0 / LOG_2, x)


examples(np.log2, *_ABOVE_ZERO)


@derivative(np.log10)
def log10_derivative(x):
    """1 / (x * log(10))."""
    return divide(1.0 / LOG_10, x)


examples(np.log10, *_ABOVE_ZERO)


@derivative(np.log1p)
def log1p_derivative(x):
    """1 / (1 + x)."""
    return divide(1.0, 1.0 + x)


examples(np.log1p, *_ANYWHERE)


@derivative(np.sqrt)
def sqrt_derivative(x, *, z):
    """1 / (2 z), infinite at 0."""
    return divide(0.5, z)


examples(np.sqrt, *_ABOVE_ZERO)


@derivative(np.cbrt)
def cbrt_derivative(x, *, z):
    """1 / (3 z^2), infinite at 0."""
    return divide(1.0, 3.0 * z * z)


examples(np.cbrt, *_REAL)


@derivative(np.square)
def square_derivative(x):
    """2 x."""
    return 2.0 * x


examples(np.square, *_ANYWHERE)


@pullback(np.absolute)
def absolute_pullback(z_bar, x):
    """x_bar = z_bar * sign(x), where sign(x) is x / |x| for complex x, and 0 at 0."""
    return z_bar * np.sign(x)


examples(np.absolute, *_ANYWHERE)


@derivative(np.fabs)
def fabs_derivative(x):
    """sign(x), 0 at 0."""
    return np.sign(x)


examples(np.fabs, *_REAL)


@pullback(np.sign)
def sign_pullback(z_bar, x):
    """Constant for real x; for complex x the direction x / |x|, which turns with x."""
    return sign_bar(z_bar, x)


@cotangent_of(1)
def sign_bar(z_bar: Any, x: Any) -> Any:
    """The cotangent of x under z = x / |x|: the part of z_bar across z, over |x|; zero for real x and at 0."""
    if not np.iscomplexobj(x):
        return z_bar * 0.0
    z = np.sign(x)
    across = z_bar - z * np.real(np.conj(z) * z_bar)
    return across * reciprocal_or_zero(np.absolute(x))


examples(np.sign, *_ANYWHERE)


@derivative(np.negative)
def negative_derivative(x):
    """x_bar = -z_bar."""
    return -1.0


examples(np.negative, *_ANYWHERE)


@derivative(np.positive)
def positive_derivative(x):
    """x_bar = z_bar."""
    return 1.0


examples(np.positive, *_ANYWHERE)


@derivative(np.reciprocal)
def reciprocal_derivative(x, *, z):
    """-z^2."""
    return -(z * z)


examples(np.reciprocal, *_ANYWHERE)


@pullback(np.real)
def real_pullback(z_bar, val):
    """val_bar = z_bar."""
    return z_bar


examples(np.real, *_ANYWHERE)


@pullback(np.imag)
def imag_pullback(z_bar, val):
    """val_bar = i z_bar for complex val, 0 for real."""
    return unbroadcast(1j * z_bar, val)


examples(np.imag, *_ANYWHERE)


@pullback(np.conjugate)
def conjugate_pullback(z_bar, x):
    """x_bar = conj(z_bar)."""
    return conj(z_bar)


examples(np.conjugate, *_ANYWHERE)


@pullback(np.angle)
def angle_pullback(y_bar, z):
    """y = arg(z): z_bar = y_bar * i z / |z|^2; none for real z."""
    return angle_bar(y_bar, z)


def angle_bar(y_bar: Any, z: Any) -> Any:
    """The cotangent of z under its angle y. NaN at 0, where a complex number has none."""
    return divide(1j * y_bar * np.sign(z), np.absolute(z)) if np.iscomplexobj(z) else None


examples(np.angle, (0.6 + 0.2j,), (_COMPLEX,), (_VECTOR,))


@pullback(np.nan_to_num)
def nan_to_num_pullback(z_bar, x):
    """x_bar = z_bar where x is finite, else 0."""
    return np.where(np.isfinite(x), z_bar, 0.0)


examples(np.nan_to_num, *_ANYWHERE)
