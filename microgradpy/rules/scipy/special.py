"""scipy.special: elementwise functions."""

from __future__ import annotations

import numpy as np
from scipy import special

from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.arithmetic import conj
from microgradpy.tangents.types import NoTangent


@rrule.register(special.expit)
def expit_rrule(x):
    """x_bar = y_bar * y (1 - y)."""
    y = special.expit(x)

    def expit_pullback(y_bar):
        return NoTangent(), y_bar * conj(y * (1.0 - y))

    return y, expit_pullback


examples(special.expit, (0.3,), (np.array([-1.0, 0.2, 3.0]),), (np.float32(0.3),))
