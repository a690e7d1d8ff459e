"""The functions of `math` that work on the representation of floats: signs, remainders, exponents, neighbours."""

from __future__ import annotations

import math
from typing import Any

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import examples, non_differentiable, rrule
from microgradpy.rules.sums import direction
from microgradpy.tangents.arithmetic import sign
from microgradpy.tangents.helpers import returns
from microgradpy.tangents.types import NoTangent


@derivative(math.fabs)
def fabs_derivative(x):
    """sign(x), 0 at 0."""
    return sign(x)


examples(math.fabs, (0.7,), (-1.3,), (2,))


@pullback(math.copysign)
def copysign_pullback(z_bar, x, y):
    """x_bar = z_bar * sign(x) * sign(y), 0 at x = 0; the derivative in y is 0 wherever it exists."""
    return z_bar * direction(x, math.copysign(x, y))


examples(math.copysign, (0.7, -2.0), (-1.3, 3.0), (-1.3, -3.0), (2, 1))


@pullback(math.fmod)
def fmod_pullback(z_bar, x, y, *, z):
    """z = x - n y with a whole n: x_bar = z_bar, y_bar = -z_bar * n."""
    return z_bar, -z_bar * ((x - z) / y)


@pullback(math.remainder)
def remainder_pullback(z_bar, x, y, *, z):
    """z = x - n y with a whole n: x_bar = z_bar, y_bar = -z_bar * n."""
    return z_bar, -z_bar * ((x - z) / y)


for _f in (math.fmod, math.remainder):
    examples(_f, (5.5, 2.0), (-5.3, 2.0), (7, 2.5))


@pullback(math.ldexp)
def ldexp_pullback(z_bar, x, i):
    """x_bar = z_bar * 2^i."""
    return scaled_by_power_of_two(z_bar, i)


@returns(float)
def scaled_by_power_of_two(x: float, exponent: int) -> float:
    """x * 2^exponent, infinite where `math.ldexp` raises."""
    try:
        return math.ldexp(x, exponent)
    except OverflowError:
        return math.copysign(math.inf, x)


examples(math.ldexp, (0.7, 3), (-1.5, -2))


@pullback(math.frexp)
def frexp_pullback(y_bar, x, *, y):
    """x = mantissa * 2^exponent, and the exponent is constant between powers of two."""
    return scaled_by_power_of_two(first(y_bar), -y[1])


@pullback(math.modf)
def modf_pullback(y_bar, x):
    """x = fraction + whole part, and the whole part is constant between whole numbers."""
    return first(y_bar)


@returns(float)
def first(y_bar: Any) -> float:
    """The first of a pair of cotangents, as a number."""
    return 0.0 if y_bar[0] is None else y_bar[0]


examples(math.frexp, (0.7,), (-5.3,))
examples(math.modf, (0.7,), (-5.3,))


@pullback(math.nextafter)
def nextafter_pullback(z_bar, x, y):
    """The neighbour of x moves with x."""
    return z_bar


examples(math.nextafter, (0.7, 1.0))


if hasattr(math, "fma"):  # Python 3.13

    @rrule.register(math.fma)
    def fma_rrule(x, y, z):
        """w = x y + z, rounded once."""

        def fma_pullback(w_bar):
            return NoTangent(), w_bar * y, w_bar * x, w_bar

        return math.fma(x, y, z), fma_pullback

    examples(math.fma, (1.5, 2.0, -3.0))

non_differentiable(
    math.floor, math.ceil, math.trunc, math.isnan, math.isinf, math.isfinite, math.isclose, math.ulp,
    math.factorial, math.gcd, math.lcm, math.comb, math.perm, math.isqrt,
)  # fmt: skip
