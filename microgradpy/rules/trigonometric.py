"""NumPy's trigonometric and hyperbolic functions: elementwise, of one argument.

With z = f(x): x_bar = z_bar * conj(f'(x)). Where f' is a quotient whose denominator may be 0, it is divided the IEEE
way, without a warning.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import examples
from microgradpy.tangents.arithmetic import divide, floating
from microgradpy.tangents.helpers import like

_VECTOR = np.array([0.3, -0.7, 0.9])
_POSITIVE = np.array([[0.3, 1.7], [2.9, 0.8]])
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j])
_ANYWHERE = ((0.6,), (-0.4,), (_VECTOR,), (_POSITIVE,), (_COMPLEX,))
_REAL = _ANYWHERE[:-1]


@derivative(np.sin)
def sin_derivative(x):
    """cos(x)."""
    return np.cos(x)


examples(np.sin, *_ANYWHERE)


@derivative(np.cos)
def cos_derivative(x):
    """-sin(x)."""
    return -np.sin(x)


examples(np.cos, *_ANYWHERE)


@derivative(np.tan)
def tan_derivative(x, *, z):
    """1 + z^2."""
    return 1.0 + z * z


examples(np.tan, *_ANYWHERE)


@derivative(np.arcsin)
def arcsin_derivative(x):
    """1 / sqrt(1 - x^2), infinite at -1 and 1."""
    return divide(1.0, np.sqrt(1.0 - np.square(x)))


examples(np.arcsin, (0.6,), (_VECTOR,), (_COMPLEX,))


@derivative(np.arccos)
def arccos_derivative(x):
    """-1 / sqrt(1 - x^2), infinite at -1 and 1."""
    return divide(-1.0, np.sqrt(1.0 - np.square(x)))


examples(np.arccos, (0.6,), (_VECTOR,), (_COMPLEX,))


@derivative(np.arctan)
def arctan_derivative(x):
    """1 / (1 + x^2)."""
    return 1.0 / (1.0 + np.square(floating(x)))


examples(np.arctan, *_ANYWHERE)


@derivative(np.sinh)
def sinh_derivative(x):
    """cosh(x)."""
    return np.cosh(x)


examples(np.sinh, *_ANYWHERE)


@derivative(np.cosh)
def cosh_derivative(x):
    """sinh(x)."""
    return np.sinh(x)


examples(np.cosh, *_ANYWHERE)


@derivative(np.tanh)
def tanh_derivative(x, *, z):
    """1 - z^2."""
    return 1.0 - z * z


examples(np.tanh, *_ANYWHERE)


@derivative(np.arcsinh)
def arcsinh_derivative(x):
    """1 / sqrt(1 + x^2)."""
    return divide(1.0, np.sqrt(1.0 + np.square(floating(x))))


examples(np.arcsinh, *_ANYWHERE)


@derivative(np.arccosh)
def arccosh_derivative(x):
    """1 / (sqrt(x - 1) * sqrt(x + 1)): two roots, as one root of the product has another branch cut."""
    return divide(1.0, np.sqrt(np.subtract(x, 1.0)) * np.sqrt(np.add(x, 1.0)))


examples(np.arccosh, (1.6,), (_POSITIVE + 1.0,), (_COMPLEX,))


@derivative(np.arctanh)
def arctanh_derivative(x):
    """1 / (1 - x^2)."""
    return divide(1.0, 1.0 - np.square(floating(x)))


examples(np.arctanh, (0.6,), (_VECTOR,), (_COMPLEX,))


@derivative(np.sinc)
def sinc_derivative(x):
    """z = sin(pi x) / (pi x): x_bar = z_bar * (cos(pi x) - z) / x, 0 at 0."""
    return sinc_slope(x)


@like(0)
def sinc_slope(x: Any) -> Any:
    """The derivative of sinc. Near 0, where the two terms of the quotient cancel, its Taylor series is summed."""
    x = np.asarray(x)
    quotient = divide(np.cos(np.pi * x) - np.sinc(x), x)
    near = np.abs(x) < 0.1
    if not near.any():
        return quotient[()]
    # sum over k >= 1 of (-1)^k pi^(2k) 2k x^(2k-1) / (2k+1)!; at 0.1 the seventh term is below 1e-16 of the first.
    square = np.square(np.where(near, np.pi * x, 0.0))
    series = 0.0
    for k in range(7, 0, -1):
        series = series * square + (-1) ** k * 2 * k / math.factorial(2 * k + 1)
    return np.where(near, series * np.pi**2 * x, quotient)[()]


examples(np.sinc, *_ANYWHERE, (0.0,), (np.array([1e-9, 0.05, 0.0]),))


@pullback(np.degrees)
def degrees_pullback(z_bar, x):
    """x_bar = z_bar * 180 / pi."""
    return np.degrees(z_bar)


examples(np.degrees, *_REAL)


@pullback(np.rad2deg)
def rad2deg_pullback(z_bar, x):
    """x_bar = z_bar * 180 / pi."""
    return np.rad2deg(z_bar)


examples(np.rad2deg, *_REAL)


@pullback(np.radians)
def radians_pullback(z_bar, x):
    """x_bar = z_bar * pi / 180."""
    return np.radians(z_bar)


examples(np.radians, *_REAL)


@pullback(np.deg2rad)
def deg2rad_pullback(z_bar, x):
    """x_bar = z_bar * pi / 180."""
    return np.deg2rad(z_bar)


examples(np.deg2rad, *_REAL)
