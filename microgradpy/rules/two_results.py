"""NumPy's functions of each entry that have two results, one of which is constant between jumps."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.types import NoTangent, is_structural_zero

_ROW = np.array([0.7, -5.3, 2.6])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])


@rrule.register(np.modf)
def modf_rrule(x):
    """x = fraction + whole part: x_bar = fraction_bar."""

    def modf_pullback(y_bar):
        return NoTangent(), part_bar(y_bar[0], 1.0, x)

    return np.modf(x), modf_pullback


@rrule.register(np.frexp)
def frexp_rrule(x):
    """x = mantissa * 2^exponent: x_bar = mantissa_bar / 2^exponent."""
    y = np.frexp(x)

    def frexp_pullback(y_bar):
        return NoTangent(), part_bar(y_bar[0], np.ldexp(1.0, -y[1]), x)

    return y, frexp_pullback


@rrule.register(np.divmod)
def divmod_rrule(x, y):
    """(q, r) with x = q y + r and a whole q: x_bar = r_bar, y_bar = -q * r_bar."""
    z = np.divmod(x, y)

    def divmod_pullback(z_bar):
        return NoTangent(), part_bar(z_bar[1], 1.0, x), part_bar(z_bar[1], -z[0], y)

    return z, divmod_pullback


def part_bar(d: Any, factor: Any, x: Any) -> Any:
    """The cotangent of x from that of the one result that varies with it, which is zero if nobody used that."""
    return NoTangent() if is_structural_zero(d) else unbroadcast(d * factor, x)


examples(np.modf, (0.7,), (_ROW,), (_TABLE,))
examples(np.frexp, (0.7,), (_ROW,), (_TABLE,))
examples(np.divmod, (5.5, 2.0), (_ROW, 0.9), (_ROW, _TABLE), (7.3, _ROW))
