"""Arithmetic operations, rational routines and rounding; what is constant between its jumps carries no derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import examples, non_differentiable
from microgradpy.tangents.arithmetic import divide, unbroadcast
from microgradpy.tangents.powers import power_base_bar, power_exponent_bar
from microgradpy.tangents.types import NoTangent, is_structural_zero

non_differentiable(np.gcd, np.lcm)
non_differentiable(np.floor, np.ceil, np.trunc, np.rint, np.round, np.around, np.fix)

_VECTOR = np.array([0.3, -0.7, 0.9])
_POSITIVE = np.array([[0.3, 1.7], [2.9, 0.8]])
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j])
_ANYWHERE = ((0.6,), (-0.4,), (_VECTOR,), (_POSITIVE,), (_COMPLEX,))


@derivative(np.negative)
def negative_derivative(x):
    """-1."""
    return -1.0


examples(np.negative, *_ANYWHERE)


@derivative(np.positive)
def positive_derivative(x):
    """1."""
    return 1.0


examples(np.positive, *_ANYWHERE)


@derivative(np.reciprocal)
def reciprocal_derivative(x, *, z):
    """-z^2."""
    return -(z * z)


examples(np.reciprocal, *_ANYWHERE)
non_differentiable(np.floor_divide)

_ROW = np.array([0.4, -1.3, 2.2])
_COLUMN = np.array([[0.7], [-0.3]])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_PLANE = np.array([0.5 + 0.3j, -0.7 + 0.6j, 1.1 - 0.4j])
_REAL = ((1.7, 0.6), (_ROW, 0.6), (1.7, _TABLE), (_ROW, _COLUMN), (_TABLE, _ROW), (np.array(1.7), _ROW))
_PAIRS = (*_REAL, (_PLANE, _ROW), (_COLUMN, _PLANE), (0.3 + 0.2j, 1.2))
_POSITIVE_PAIRS = tuple((np.abs(x), np.abs(y)) for x, y in _REAL)


@derivative(np.add)
def add_derivative(x, y):
    """x_bar = y_bar = z_bar."""
    return 1.0, 1.0


examples(np.add, *_PAIRS)


@derivative(np.subtract)
def subtract_derivative(x, y):
    """x_bar = z_bar, y_bar = -z_bar."""
    return 1.0, -1.0


examples(np.subtract, *_PAIRS)


@derivative(np.multiply)
def multiply_derivative(x, y):
    """x_bar = z_bar * conj(y), y_bar = z_bar * conj(x)."""
    return y, x


examples(np.multiply, *_PAIRS)


@derivative(np.divide)
def divide_derivative(x, y, *, z):
    """x_bar = z_bar / y, y_bar = -z_bar * z / y."""
    return divide(1.0, y), divide(-z, y)


examples(np.divide, *_PAIRS)


@pullback(np.power)
def power_pullback(z_bar, x, y, *, z):
    """x_bar = z_bar * y * x^(y - 1), y_bar = z_bar * log(x) * z."""
    return unbroadcast(power_base_bar(z_bar, x, y), x), unbroadcast(power_exponent_bar(z_bar, x, y, z), y)


@pullback(np.float_power)
def float_power_pullback(z_bar, x, y, *, z):
    """x_bar = z_bar * y * x^(y - 1), y_bar = z_bar * log(x) * z."""
    return unbroadcast(power_base_bar(z_bar, x, y), x), unbroadcast(power_exponent_bar(z_bar, x, y, z), y)


_POWERS = (*_POSITIVE_PAIRS, (_PLANE, _ROW), (_PLANE, _PLANE), (np.abs(_ROW), 2), (np.abs(_TABLE), 0), (2, 0.7))
examples(np.power, *_POWERS)
examples(np.float_power, *_POWERS)


@derivative(np.remainder)
def remainder_derivative(x, y):
    """z = x - y floor(x / y): x_bar = z_bar, y_bar = -z_bar * floor(x / y)."""
    return 1.0, -np.floor(divide(x, y))


examples(np.remainder, *_REAL)


@derivative(np.fmod)
def fmod_derivative(x, y):
    """z = x - y trunc(x / y): x_bar = z_bar, y_bar = -z_bar * trunc(x / y)."""
    return 1.0, -np.trunc(divide(x, y))


examples(np.fmod, *_REAL)

_STRIP = np.array([0.7, -5.3, 2.6])


@pullback(np.modf)
def modf_pullback(y_bar, x):
    """x = fraction + whole part: x_bar = fraction_bar."""
    return part_bar(y_bar[0], 1.0, x)


@pullback(np.divmod)
def divmod_pullback(z_bar, x, y, *, z):
    """(q, r) with x = q y + r and a whole q: x_bar = r_bar, y_bar = -q * r_bar."""
    return part_bar(z_bar[1], 1.0, x), part_bar(z_bar[1], -z[0], y)


def part_bar(d: Any, factor: Any, x: Any) -> Any:
    """The cotangent of x from that of the one result that varies with it, which is zero if nobody used that."""
    return NoTangent() if is_structural_zero(d) else unbroadcast(d * factor, x)


examples(np.modf, (0.7,), (_STRIP,), (_TABLE,))
examples(np.divmod, (5.5, 2.0), (_STRIP, 0.9), (_STRIP, _TABLE), (7.3, _STRIP))
