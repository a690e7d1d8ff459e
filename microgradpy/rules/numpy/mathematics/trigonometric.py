"""Trigonometric and hyperbolic functions.

Where a derivative is a quotient whose denominator may be 0, it is divided the IEEE way, without a warning."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import examples
from microgradpy.tangents.arithmetic import divide, floating, unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent

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


@pullback(np.degrees)
@pullback(np.rad2deg)
@pullback(np.radians)
@pullback(np.deg2rad)
def angle_unit_pullback(z_bar, x, *, f):
    """The function is linear, so x_bar is the same of z_bar."""
    return f(z_bar)


examples(np.degrees, *_REAL)


examples(np.rad2deg, *_REAL)


examples(np.radians, *_REAL)


examples(np.deg2rad, *_REAL)

_ROW = np.array([0.4, -1.3, 2.2])
_COLUMN = np.array([[0.7], [-0.3]])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_REAL_PAIRS = ((1.7, 0.6), (_ROW, 0.6), (1.7, _TABLE), (_ROW, _COLUMN), (_TABLE, _ROW), (np.array(1.7), _ROW))


@derivative(np.hypot)
def hypot_derivative(x1, x2, *, z):
    """x1_bar = z_bar * x1 / z, and 0 at the origin."""
    return hypot_slope(x1, z), hypot_slope(x2, z)


@cotangent_of(1)
def hypot_slope(x: Any, z: Any) -> Any:
    """The slope of the hypotenuse z of a right triangle by its leg x, in z's shape."""
    return np.where(np.equal(z, 0.0), 0.0, divide(x, z))[()]


examples(np.hypot, *_REAL_PAIRS)


@derivative(np.arctan2)
def arctan2_derivative(x1, x2):
    """x1_bar = z_bar * x2 / (x1^2 + x2^2), x2_bar = -z_bar * x1 / (x1^2 + x2^2); NaN at the origin."""
    return (
        divide(x2, floating(x1) * floating(x1) + floating(x2) * floating(x2)),
        divide(-x1, floating(x1) * floating(x1) + floating(x2) * floating(x2)),
    )


examples(np.arctan2, *_REAL_PAIRS)


@pullback(np.unwrap)
def unwrap_pullback(y_bar, p, discont=None, axis=-1, period=2.0 * np.pi, *, y):
    """y = p + whole numbers of periods: p_bar = y_bar, period_bar = sum(y_bar * (y - p) / period)."""
    return unbroadcast(y_bar, p), NoTangent(), NoTangent(), unbroadcast(y_bar * (y - p) / period, period)


_PHASES = np.array([[0.5, 4.2, 9.7], [-3.0, 3.1, 0.3]])
examples(np.unwrap, (_PHASES[0],), (_PHASES,), (_PHASES, 4.0), (_PHASES, None, 0), (_PHASES[:, :0],), ([0.5, 6.0],))
examples(np.unwrap, (_PHASES, None, -1), period=2.5)
