"""NumPy's trigonometric and hyperbolic functions: elementwise, of one argument.

With z = f(x): x_bar = z_bar * conj(f'(x)). Where f' is a quotient whose denominator may be 0, it is divided the IEEE
way, without a warning.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.arithmetic import conj, divide, floating
from microgradpy.tangents.helpers import like
from microgradpy.tangents.types import NoTangent

_VECTOR = np.array([0.3, -0.7, 0.9])
_POSITIVE = np.array([[0.3, 1.7], [2.9, 0.8]])
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j])
_ANYWHERE = ((0.6,), (-0.4,), (_VECTOR,), (_POSITIVE,), (_COMPLEX,))
_REAL = _ANYWHERE[:-1]


@rrule.register(np.sin)
def sin_rrule(x):
    """x_bar = z_bar * cos(x)."""

    def sin_pullback(z_bar):
        return NoTangent(), z_bar * conj(np.cos(x))

    return np.sin(x), sin_pullback


examples(np.sin, *_ANYWHERE)


@rrule.register(np.cos)
def cos_rrule(x):
    """x_bar = -z_bar * sin(x)."""

    def cos_pullback(z_bar):
        return NoTangent(), -z_bar * conj(np.sin(x))

    return np.cos(x), cos_pullback


examples(np.cos, *_ANYWHERE)


@rrule.register(np.tan)
def tan_rrule(x):
    """x_bar = z_bar * (1 + z^2)."""
    z = np.tan(x)

    def tan_pullback(z_bar):
        return NoTangent(), z_bar * conj(1.0 + z * z)

    return z, tan_pullback


examples(np.tan, *_ANYWHERE)


@rrule.register(np.arcsin)
def arcsin_rrule(x):
    """x_bar = z_bar / sqrt(1 - x^2), infinite at -1 and 1."""

    def arcsin_pullback(z_bar):
        return NoTangent(), divide(z_bar, conj(np.sqrt(1.0 - np.square(x))))

    return np.arcsin(x), arcsin_pullback


examples(np.arcsin, (0.6,), (_VECTOR,), (_COMPLEX,))


@rrule.register(np.arccos)
def arccos_rrule(x):
    """x_bar = -z_bar / sqrt(1 - x^2), infinite at -1 and 1."""

    def arccos_pullback(z_bar):
        return NoTangent(), divide(-z_bar, conj(np.sqrt(1.0 - np.square(x))))

    return np.arccos(x), arccos_pullback


examples(np.arccos, (0.6,), (_VECTOR,), (_COMPLEX,))


@rrule.register(np.arctan)
def arctan_rrule(x):
    """x_bar = z_bar / (1 + x^2)."""

    def arctan_pullback(z_bar):
        return NoTangent(), z_bar / conj(1.0 + np.square(floating(x)))

    return np.arctan(x), arctan_pullback


examples(np.arctan, *_ANYWHERE)


@rrule.register(np.sinh)
def sinh_rrule(x):
    """x_bar = z_bar * cosh(x)."""

    def sinh_pullback(z_bar):
        return NoTangent(), z_bar * conj(np.cosh(x))

    return np.sinh(x), sinh_pullback


examples(np.sinh, *_ANYWHERE)


@rrule.register(np.cosh)
def cosh_rrule(x):
    """x_bar = z_bar * sinh(x)."""

    def cosh_pullback(z_bar):
        return NoTangent(), z_bar * conj(np.sinh(x))

    return np.cosh(x), cosh_pullback


examples(np.cosh, *_ANYWHERE)


@rrule.register(np.tanh)
def tanh_rrule(x):
    """x_bar = z_bar * (1 - z^2)."""
    z = np.tanh(x)

    def tanh_pullback(z_bar):
        return NoTangent(), z_bar * conj(1.0 - z * z)

    return z, tanh_pullback


examples(np.tanh, *_ANYWHERE)


@rrule.register(np.arcsinh)
def arcsinh_rrule(x):
    """x_bar = z_bar / sqrt(1 + x^2)."""

    def arcsinh_pullback(z_bar):
        return NoTangent(), divide(z_bar, conj(np.sqrt(1.0 + np.square(floating(x)))))

    return np.arcsinh(x), arcsinh_pullback


examples(np.arcsinh, *_ANYWHERE)


@rrule.register(np.arccosh)
def arccosh_rrule(x):
    """x_bar = z_bar / (sqrt(x - 1) * sqrt(x + 1)): two roots, as one root of the product has another branch cut."""

    def arccosh_pullback(z_bar):
        return NoTangent(), divide(z_bar, conj(np.sqrt(np.subtract(x, 1.0)) * np.sqrt(np.add(x, 1.0))))

    return np.arccosh(x), arccosh_pullback


examples(np.arccosh, (1.6,), (_POSITIVE + 1.0,), (_COMPLEX,))


@rrule.register(np.arctanh)
def arctanh_rrule(x):
    """x_bar = z_bar / (1 - x^2)."""

    def arctanh_pullback(z_bar):
        return NoTangent(), divide(z_bar, conj(1.0 - np.square(floating(x))))

    return np.arctanh(x), arctanh_pullback


examples(np.arctanh, (0.6,), (_VECTOR,), (_COMPLEX,))


@rrule.register(np.sinc)
def sinc_rrule(x):
    """z = sin(pi x) / (pi x): x_bar = z_bar * (cos(pi x) - z) / x, 0 at 0."""

    def sinc_pullback(z_bar):
        return NoTangent(), z_bar * conj(sinc_slope(x))

    return np.sinc(x), sinc_pullback


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


@rrule.register(np.degrees)
def degrees_rrule(x):
    """x_bar = z_bar * 180 / pi."""

    def degrees_pullback(z_bar):
        return NoTangent(), np.degrees(z_bar)

    return np.degrees(x), degrees_pullback


examples(np.degrees, *_REAL)


@rrule.register(np.rad2deg)
def rad2deg_rrule(x):
    """x_bar = z_bar * 180 / pi."""

    def rad2deg_pullback(z_bar):
        return NoTangent(), np.rad2deg(z_bar)

    return np.rad2deg(x), rad2deg_pullback


examples(np.rad2deg, *_REAL)


@rrule.register(np.radians)
def radians_rrule(x):
    """x_bar = z_bar * pi / 180."""

    def radians_pullback(z_bar):
        return NoTangent(), np.radians(z_bar)

    return np.radians(x), radians_pullback


examples(np.radians, *_REAL)


@rrule.register(np.deg2rad)
def deg2rad_rrule(x):
    """x_bar = z_bar * pi / 180."""

    def deg2rad_pullback(z_bar):
        return NoTangent(), np.deg2rad(z_bar)

    return np.deg2rad(x), deg2rad_pullback


examples(np.deg2rad, *_REAL)
