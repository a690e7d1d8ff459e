"""The rule of a power of real numbers that is real, which is chosen where that is known (`microgradpy.ad.real_powers`)."""

from __future__ import annotations

import math
from typing import Any

from microgradpy.tangents.helpers import returns
from microgradpy.tangents.powers import power_base_bar, power_exponent_bar
from microgradpy.tangents.types import NoTangent


def real_power_rrule(x, p):
    """z = x ** p: x_bar = z_bar * p * z / x, without another power, and p_bar = z_bar * z * log(x). For what is not positive,
    see `microgradpy.tangents.powers`."""
    z = x**p

    def real_power_pullback(z_bar):
        return NoTangent(), real_base_bar(z_bar, x, p, z), real_exponent_bar(z_bar, x, p, z)

    return z, real_power_pullback


@returns(float)
def real_base_bar(z_bar: Any, x: Any, p: Any, z: Any) -> Any:
    """The cotangent of x under z = x ** p, all of them real."""
    if _LEAST < float(z) < _MOST and x:  # single precision has no such numbers
        return z_bar * (p * z / x)
    return power_base_bar(z_bar, x, p)


@returns(float)
def real_exponent_bar(z_bar: Any, x: Any, p: Any, z: Any) -> Any:
    """The cotangent of p under z = x ** p, all of them real."""
    if x > 0.0:
        return z_bar * (z * math.log(x))
    return power_exponent_bar(z_bar, x, p, z)


_LEAST, _MOST = 1e-200, 1e200
"""Between these nothing is lost by way of z."""
