"""The functions of the module `cmath`, on Python's complex numbers.

For a function with the derivative f'(z), z_bar = y_bar * conj(f'(z)); it is real where a real number was given. At a
singularity (`sqrt` at 0) it is infinite, and does not raise.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.entries import Rule
from microgradpy.rules.registry import examples, non_differentiable, rrule
from microgradpy.tangents.arithmetic import divide, real_like
from microgradpy.tangents.types import NoTangent, accumulate

non_differentiable(cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan)


def _holomorphic(f: Callable[[Any], complex], slope: Callable[[complex, complex], Any]) -> Rule:
    def holomorphic_rrule(z):
        """z_bar = y_bar * conj(f'(z))."""
        y = f(z)

        def holomorphic_pullback(y_bar):
            return NoTangent(), as_cotangent(y_bar * np.conj(slope(complex(z), y)), z)

        return y, holomorphic_pullback

    return holomorphic_rrule


def as_cotangent(z_bar: Any, z: Any) -> Any:
    """A Python number: real for a real number."""
    bar = real_like(z_bar, z)
    return bar.item() if isinstance(bar, np.generic) else bar




_SLOPES: tuple[tuple[Callable[[Any], complex], Callable[[complex, complex], Any]], ...] = (
    (cmath.exp, lambda z, y: y),
    (cmath.sqrt, lambda z, y: divide(0.5, y)),
    (cmath.log10, lambda z, y: divide(1.0 / math.log(10.0), z)),
    (cmath.sin, lambda z, y: cmath.cos(z)),
    (cmath.cos, lambda z, y: -cmath.sin(z)),
    (cmath.tan, lambda z, y: 1.0 + y * y),
    (cmath.sinh, lambda z, y: cmath.cosh(z)),
    (cmath.cosh, lambda z, y: cmath.sinh(z)),
    (cmath.tanh, lambda z, y: 1.0 - y * y),
    (cmath.atan, lambda z, y: divide(1.0, 1.0 + z * z)),
    (cmath.atanh, lambda z, y: divide(1.0, 1.0 - z * z)),
    # The roots of both factors, so that the branch cuts are those of the functions.
    (cmath.asin, lambda z, y: divide(1.0, cmath.sqrt(1.0 - z) * cmath.sqrt(1.0 + z))),
    (cmath.acos, lambda z, y: divide(-1.0, cmath.sqrt(1.0 - z) * cmath.sqrt(1.0 + z))),
    (cmath.asinh, lambda z, y: divide(1.0, cmath.sqrt(1.0 + 1j * z) * cmath.sqrt(1.0 - 1j * z))),
    (cmath.acosh, lambda z, y: divide(1.0, cmath.sqrt(z - 1.0) * cmath.sqrt(z + 1.0))),
)
_NUMBERS = ((0.4 + 0.3j,), (-1.2 + 0.7j,), (0.6 - 2.1j,))
for _f, _slope in _SLOPES:
    rrule.register(_f)(_holomorphic(_f, _slope))
    examples(_f, *_NUMBERS, (0.3,))


@pullback(cmath.log, arity=1)
def log_pullback(y_bar, z):
    """z_bar = y_bar / conj(z)."""
    return as_cotangent(divide(y_bar, np.conj(z)), z)


@pullback(cmath.log)
def log_of_base_pullback(y_bar, z, base, *, y):
    """y = log(z) / log(base)."""
    scale = divide(y_bar, np.conj(cmath.log(base)))
    base_bar = divide(-scale * np.conj(y), np.conj(base))
    return as_cotangent(divide(scale, np.conj(z)), z), as_cotangent(base_bar, base)


examples(cmath.log, *_NUMBERS, (0.3,), (0.4 + 0.3j, 3.0), (0.4 - 0.3j, 1.5 + 0.5j), (2.5, 3.0))


@pullback(cmath.phase)
def phase_pullback(y_bar, z):
    """z_bar = i y_bar z / |z|^2; none for a real number."""
    return phase_bar(y_bar, z)


def phase_bar(y_bar: Any, z: Any) -> Any:
    """The cotangent of a number under its angle. NaN at 0, where there is none."""
    return as_cotangent(divide(1j * y_bar, np.conj(z)), z)


@pullback(cmath.polar)
def polar_pullback(y_bar, z):
    """The radius has the direction of z for its gradient, the angle what `phase` has."""
    radius_bar, angle_bar = y_bar
    return accumulate(
        None if radius_bar is None else as_cotangent(radius_bar * np.sign(z), z),
        None if angle_bar is None else phase_bar(angle_bar, z),
    )


@pullback(cmath.rect)
def rect_pullback(z_bar, r, phi, *, z):
    """z = r e^(i phi): r_bar = Re(conj(z_bar) e^(i phi)), phi_bar = Re(conj(z_bar) i z)."""
    unit = cmath.rect(1.0, phi)
    return (np.conj(z_bar) * unit).real, (np.conj(z_bar) * 1j * z).real


examples(cmath.phase, *_NUMBERS, (0.3,))
examples(cmath.polar, *_NUMBERS, (0.3,), (-0.3,))
examples(cmath.rect, (1.5, 0.4), (-0.5, 2.0), (2, 1))
