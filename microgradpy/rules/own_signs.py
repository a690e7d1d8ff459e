"""`copysign` of a number and the sign that it has: the number itself, as far as derivatives go (see `ad.own_signs`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.helpers import like, returns
from microgradpy.tangents.types import NoTangent, ZeroTangent


@returns(float)
def number_with_own_sign(x: float, y: float) -> float:
    """math.copysign(x, y) where x is y, or its absolute value: that is y, and x does not matter."""
    return math.copysign(y, y)


@pullback(number_with_own_sign)
def number_with_own_sign_pullback(z_bar, x, y):
    """y_bar = z_bar."""
    return NoTangent(), z_bar


examples(number_with_own_sign, (1.3, 1.3), (-0.7, -0.7))


@like(1)
def array_with_own_sign(x1: Any, x2: Any) -> Any:
    """np.copysign(x1, x2) where x1 is x2, or its absolute value: that is x2, and x1 does not matter."""
    return np.copysign(x2, x2)


@pullback(array_with_own_sign)
def array_with_own_sign_pullback(z_bar, x1, x2):
    """x2_bar = z_bar."""
    return ZeroTangent(), unbroadcast(z_bar, x2)


examples(array_with_own_sign, (np.array([0.4, -1.3, 2.2]), np.array([0.4, -1.3, 2.2])), (1.5, 1.5))
