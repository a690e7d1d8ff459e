"""Handling complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.options import plain_bars
from microgradpy.rules.registry import examples, non_differentiable, rrule
from microgradpy.tangents.arithmetic import conj, divide, unbroadcast
from microgradpy.tangents.types import NoTangent

_VECTOR = np.array([0.3, -0.7, 0.9])
_POSITIVE = np.array([[0.3, 1.7], [2.9, 0.8]])
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j])
_ANYWHERE = ((0.6,), (-0.4,), (_VECTOR,), (_POSITIVE,), (_COMPLEX,))


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
non_differentiable(np.iscomplexobj, np.isrealobj)

_TABLE = np.arange(1.0, 7.0).reshape(2, 3)
_PLANE = _TABLE + 0.5j


@pullback(np.real_if_close)
def real_if_close_pullback(y_bar, a, tol=100):
    """a_bar = y_bar."""
    return unbroadcast(y_bar, a)


examples(np.real_if_close, (2.5,), (_TABLE,), (_PLANE,))

_LINE = np.array([0.7, -1.4, 2.2])


@rrule.register(np.angle, options=True)
def angle_with_options_rrule(z, deg=False):
    """As the plain rule, in degrees."""
    y = np.angle(z, deg)

    def angle_with_options_pullback(y_bar):
        return NoTangent(), plain_bars(np.angle, (z,), {}, y_bar * (180.0 / np.pi) if deg else y_bar)[0], NoTangent()

    return y, angle_with_options_pullback


examples(np.angle, (_LINE + 0.5j, True), (0.5 - 0.7j, True), (_LINE + 0.5j, False), (_LINE, True))
