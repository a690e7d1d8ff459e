"""Floating point routines."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.numpy.mathematics.arithmetic import part_bar
from microgradpy.rules.registry import examples, non_differentiable
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.helpers import cotangent_of

non_differentiable(np.spacing, np.signbit)

_ROW = np.array([0.4, -1.3, 2.2])
_COLUMN = np.array([[0.7], [-0.3]])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_REAL = ((1.7, 0.6), (_ROW, 0.6), (1.7, _TABLE), (_ROW, _COLUMN), (_TABLE, _ROW), (np.array(1.7), _ROW))


@derivative(np.copysign)
def copysign_derivative(x1, x2, *, z):
    """|x1| with the sign of x2: x1_bar = z_bar * sign(x1) * sign(z); x2 does not matter between its jumps."""
    return np.sign(x1) * np.sign(z), 0.0


examples(np.copysign, *_REAL)

_STRIP = np.array([0.7, -5.3, 2.6])


@pullback(np.frexp)
def frexp_pullback(y_bar, x, *, y):
    """x = mantissa * 2^exponent: x_bar = mantissa_bar / 2^exponent."""
    return part_bar(y_bar[0], np.ldexp(1.0, -y[1]), x)


examples(np.frexp, (0.7,), (_STRIP,), (_TABLE,))

_VECTOR = np.array([0.7, 1.4, 2.2])
_GRID = np.array([[0.9, 2.1, 0.6], [1.8, 1.1, 0.3]])


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


examples(np.ldexp, (0.7, 3), (_VECTOR, -2), (_GRID, np.array([1, 0, -3])), (0.7, np.array([1, 2])), (_VECTOR[:0], 1))
examples(np.nextafter, (0.7, 1.0), (_VECTOR, -2.0), (0.5, _VECTOR), (_GRID, _VECTOR), (_VECTOR[:0], 1.0))
