"""The module `math`: functions of Python numbers.

`math` raises where a value leaves the reals (`math.log(0)`), so most denominators here cannot be 0; those that can, at the
end of a domain (`math.sqrt(0)`), divide the IEEE way. Products are used instead of powers: `x * x` overflows to inf where
`x**2` raises.
"""

from __future__ import annotations

import math
from typing import Any

from microgradpy.rules.builtins import items_of, repeated_bar, spread_over_items
from microgradpy.rules.powers import power_base_bar, power_exponent_bar
from microgradpy.rules.registry import examples, non_differentiable, rrule
from microgradpy.tangents.arithmetic import conj, divide
from microgradpy.tangents.types import NoTangent

_LN_2 = math.log(2.0)
_LN_10 = math.log(10.0)


@rrule.register(math.sin)
def sin_rrule(x):
    """x_bar = y_bar * cos(x)."""

    def sin_pullback(y_bar):
        return NoTangent(), y_bar * math.cos(x)

    return math.sin(x), sin_pullback


@rrule.register(math.cos)
def cos_rrule(x):
    """x_bar = -y_bar * sin(x)."""

    def cos_pullback(y_bar):
        return NoTangent(), -y_bar * math.sin(x)

    return math.cos(x), cos_pullback


@rrule.register(math.tan)
def tan_rrule(x):
    """x_bar = y_bar * (1 + y^2)."""
    y = math.tan(x)

    def tan_pullback(y_bar):
        return NoTangent(), y_bar * (1.0 + y * y)

    return y, tan_pullback


@rrule.register(math.atan)
def atan_rrule(x):
    """x_bar = y_bar / (1 + x^2)."""

    def atan_pullback(y_bar):
        return NoTangent(), y_bar / (1.0 + x * x)

    return math.atan(x), atan_pullback


@rrule.register(math.sinh)
def sinh_rrule(x):
    """x_bar = y_bar * cosh(x)."""

    def sinh_pullback(y_bar):
        return NoTangent(), y_bar * math.cosh(x)

    return math.sinh(x), sinh_pullback


@rrule.register(math.cosh)
def cosh_rrule(x):
    """x_bar = y_bar * sinh(x)."""

    def cosh_pullback(y_bar):
        return NoTangent(), y_bar * math.sinh(x)

    return math.cosh(x), cosh_pullback


@rrule.register(math.tanh)
def tanh_rrule(x):
    """x_bar = y_bar * (1 - y^2)."""
    y = math.tanh(x)

    def tanh_pullback(y_bar):
        return NoTangent(), y_bar * (1.0 - y * y)

    return y, tanh_pullback


@rrule.register(math.asinh)
def asinh_rrule(x):
    """x_bar = y_bar / sqrt(1 + x^2)."""

    def asinh_pullback(y_bar):
        return NoTangent(), y_bar / math.hypot(1.0, x)

    return math.asinh(x), asinh_pullback


for _f in (math.sin, math.cos, math.tan, math.atan, math.sinh, math.cosh, math.tanh, math.asinh):
    examples(_f, (0.7,), (-1.3,), (2,), (0,))


@rrule.register(math.asin)
def asin_rrule(x):
    """x_bar = y_bar / sqrt(1 - x^2), infinite at the ends."""

    def asin_pullback(y_bar):
        return NoTangent(), divide(y_bar, math.sqrt((1.0 - x) * (1.0 + x)))

    return math.asin(x), asin_pullback


@rrule.register(math.acos)
def acos_rrule(x):
    """x_bar = -y_bar / sqrt(1 - x^2), infinite at the ends."""

    def acos_pullback(y_bar):
        return NoTangent(), divide(-y_bar, math.sqrt((1.0 - x) * (1.0 + x)))

    return math.acos(x), acos_pullback


@rrule.register(math.atanh)
def atanh_rrule(x):
    """x_bar = y_bar / (1 - x^2)."""

    def atanh_pullback(y_bar):
        return NoTangent(), y_bar / ((1.0 - x) * (1.0 + x))

    return math.atanh(x), atanh_pullback


for _f in (math.asin, math.acos, math.atanh):
    examples(_f, (0.3,), (-0.8,), (0,))


@rrule.register(math.acosh)
def acosh_rrule(x):
    """x_bar = y_bar / sqrt(x^2 - 1), infinite at 1."""

    def acosh_pullback(y_bar):
        return NoTangent(), divide(y_bar, math.sqrt(x - 1.0) * math.sqrt(x + 1.0))

    return math.acosh(x), acosh_pullback


examples(math.acosh, (1.5,), (3,))


@rrule.register(math.atan2)
def atan2_rrule(y, x):
    """y_bar = z_bar * x / (x^2 + y^2), x_bar = -z_bar * y / (x^2 + y^2); NaN at the origin, which has no angle."""

    def atan2_pullback(z_bar):
        radius = math.hypot(x, y)
        return NoTangent(), divide(divide(z_bar * x, radius), radius), divide(divide(-z_bar * y, radius), radius)

    return math.atan2(y, x), atan2_pullback


examples(math.atan2, (1.0, 2.0), (-0.5, -1.5), (2, -1))


@rrule.register(math.exp)
def exp_rrule(x):
    """x_bar = y_bar * y."""
    y = math.exp(x)

    def exp_pullback(y_bar):
        return NoTangent(), y_bar * y

    return y, exp_pullback


@rrule.register(math.exp2)
def exp2_rrule(x):
    """x_bar = y_bar * y * log(2)."""
    y = math.exp2(x)

    def exp2_pullback(y_bar):
        return NoTangent(), y_bar * y * _LN_2

    return y, exp2_pullback


@rrule.register(math.expm1)
def expm1_rrule(x):
    """x_bar = y_bar * (y + 1)."""
    y = math.expm1(x)

    def expm1_pullback(y_bar):
        return NoTangent(), y_bar * (y + 1.0)

    return y, expm1_pullback


for _f in (math.exp, math.exp2, math.expm1):
    examples(_f, (0.7,), (-1.3,), (2,))


@rrule.register(math.log, arity=1)
def log_rrule(x):
    """x_bar = y_bar / x."""

    def log_pullback(y_bar):
        return NoTangent(), y_bar / x

    return math.log(x), log_pullback


@rrule.register(math.log, arity=2)
def log_to_base_rrule(x, base):
    """y = log(x) / log(base): x_bar = y_bar / (x log(base)), base_bar = -y_bar * y / (base log(base))."""
    y = math.log(x, base)

    def log_to_base_pullback(y_bar):
        scaled = y_bar / math.log(base)
        return NoTangent(), scaled / x, -scaled * y / base

    return y, log_to_base_pullback


examples(math.log, (0.7,), (3,), (5.0, 2.0), (3, 10))


@rrule.register(math.log2)
def log2_rrule(x):
    """x_bar = y_bar / (x log(2))."""

    def log2_pullback(y_bar):
        return NoTangent(), y_bar / x / _LN_2

    return math.log2(x), log2_pullback


@rrule.register(math.log10)
def log10_rrule(x):
    """x_bar = y_bar / (x log(10))."""

    def log10_pullback(y_bar):
        return NoTangent(), y_bar / x / _LN_10

    return math.log10(x), log10_pullback


@rrule.register(math.log1p)
def log1p_rrule(x):
    """x_bar = y_bar / (1 + x)."""

    def log1p_pullback(y_bar):
        return NoTangent(), y_bar / (1.0 + x)

    return math.log1p(x), log1p_pullback


@rrule.register(math.sqrt)
def sqrt_rrule(x):
    """x_bar = y_bar / (2 y), infinite at 0."""
    y = math.sqrt(x)

    def sqrt_pullback(y_bar):
        return NoTangent(), divide(y_bar, 2.0 * y)

    return y, sqrt_pullback


@rrule.register(math.cbrt)
def cbrt_rrule(x):
    """x_bar = y_bar / (3 y^2), infinite at 0."""
    y = math.cbrt(x)

    def cbrt_pullback(y_bar):
        return NoTangent(), divide(y_bar, 3.0 * y * y)

    return y, cbrt_pullback


for _f in (math.log2, math.log10, math.log1p, math.sqrt, math.cbrt):
    examples(_f, (0.7,), (3,))


@rrule.register(math.pow)
def pow_rrule(x, y):
    """z = x ** y, in floats; see `powers`."""
    z = math.pow(x, y)

    def pow_pullback(z_bar):
        return NoTangent(), power_base_bar(z_bar, x, y), power_exponent_bar(z_bar, x, y, z)

    return z, pow_pullback


examples(math.pow, (2.0, 3.0), (1.5, -0.5), (2, 3), (0.0, 2.0), (0.0, 1.0), (-2.0, 3))


@rrule.register(math.hypot, arity=2)
def hypot_rrule(x, y):
    """x_bar = z_bar * x / z, y_bar = z_bar * y / z; 0 at the origin."""
    z = math.hypot(x, y)

    def hypot_pullback(z_bar):
        return NoTangent(), z_bar * direction(x, z), z_bar * direction(y, z)

    return z, hypot_pullback


@rrule.register(math.hypot)
def hypot_of_many_rrule(*coordinates):
    """The coordinates get z_bar times the direction they point in; 0 at the origin."""
    z = math.hypot(*coordinates)

    def hypot_of_many_pullback(z_bar):
        return NoTangent(), *(z_bar * direction(x, z) for x in coordinates)

    return z, hypot_of_many_pullback


def direction(x: float, length: float) -> float:
    """x / length, and 0 where the length is 0."""
    return x / length if length else 0.0


examples(math.hypot, (3.0, -4.0), (2, 1), (1.0, 2.0, -2.0), (-1.5,), (0.0, 1.0))


@rrule.register(math.dist)
def dist_rrule(p, q):
    """p_bar = z_bar * (p - q) / z, q_bar = -p_bar; 0 where p = q."""
    z = math.dist(p, q)

    def dist_pullback(z_bar):
        return NoTangent(), distance_bar(z_bar, p, q, z), distance_bar(z_bar, q, p, z)

    return z, dist_pullback


def distance_bar(z_bar: float, p: Any, q: Any, z: float) -> list[float]:
    """The cotangent of the point p under its distance z from q."""
    return [z_bar * direction(a - b, z) for a, b in zip(p, q, strict=True)]


examples(math.dist, ([1.0, 2.0], [3.0, -1.0]), ((1.0, 0.5, 2.0), (0.0, 0.0, 0.0)))


@rrule.register(math.fabs)
def fabs_rrule(x):
    """x_bar = y_bar * sign(x), 0 at 0."""

    def fabs_pullback(y_bar):
        return NoTangent(), y_bar * direction(x, math.fabs(x))

    return math.fabs(x), fabs_pullback


examples(math.fabs, (0.7,), (-1.3,), (2,))


@rrule.register(math.copysign)
def copysign_rrule(x, y):
    """x_bar = z_bar * sign(x) * sign(y), 0 at x = 0; the derivative in y is 0 wherever it exists."""

    def copysign_pullback(z_bar):
        return NoTangent(), z_bar * direction(x, math.copysign(x, y)), NoTangent()

    return math.copysign(x, y), copysign_pullback


examples(math.copysign, (0.7, -2.0), (-1.3, 3.0), (-1.3, -3.0), (2, 1))


@rrule.register(math.fmod)
def fmod_rrule(x, y):
    """z = x - n y with a whole n: x_bar = z_bar, y_bar = -z_bar * n."""
    z = math.fmod(x, y)

    def fmod_pullback(z_bar):
        return NoTangent(), z_bar, -z_bar * ((x - z) / y)

    return z, fmod_pullback


@rrule.register(math.remainder)
def remainder_rrule(x, y):
    """z = x - n y with a whole n: x_bar = z_bar, y_bar = -z_bar * n."""
    z = math.remainder(x, y)

    def remainder_pullback(z_bar):
        return NoTangent(), z_bar, -z_bar * ((x - z) / y)

    return z, remainder_pullback


for _f in (math.fmod, math.remainder):
    examples(_f, (5.5, 2.0), (-5.3, 2.0), (7, 2.5))


@rrule.register(math.erf)
def erf_rrule(x):
    """x_bar = y_bar * 2 / sqrt(pi) * exp(-x^2)."""

    def erf_pullback(y_bar):
        return NoTangent(), y_bar * (2.0 / math.sqrt(math.pi)) * math.exp(-x * x)

    return math.erf(x), erf_pullback


@rrule.register(math.erfc)
def erfc_rrule(x):
    """x_bar = -y_bar * 2 / sqrt(pi) * exp(-x^2)."""

    def erfc_pullback(y_bar):
        return NoTangent(), -y_bar * (2.0 / math.sqrt(math.pi)) * math.exp(-x * x)

    return math.erfc(x), erfc_pullback


@rrule.register(math.gamma)
def gamma_rrule(x):
    """x_bar = y_bar * y * digamma(x)."""
    y = math.gamma(x)

    def gamma_pullback(y_bar):
        return NoTangent(), y_bar * y * digamma(x)

    return y, gamma_pullback


@rrule.register(math.lgamma)
def lgamma_rrule(x):
    """x_bar = y_bar * digamma(x)."""

    def lgamma_pullback(y_bar):
        return NoTangent(), y_bar * digamma(x)

    return math.lgamma(x), lgamma_pullback


def digamma(x: float) -> float:
    """The logarithmic derivative of the gamma function, to some 1e-14. Negative x are reflected, small ones raised by
    digamma(x) = digamma(x + 1) - 1/x, and large ones use the asymptotic series in Bernoulli numbers."""
    if x <= 0.0:
        if x == math.floor(x):
            return math.nan
        return digamma(1.0 - x) - math.pi / math.tan(math.pi * math.fmod(x, 1.0))
    raised = 0.0
    while x < 10.0:
        raised -= 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    series = 0.0
    for coefficient in (1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12):
        series = square * (coefficient + series)
    return raised + math.log(x) - 0.5 / x - series


for _f in (math.erf, math.erfc):
    examples(_f, (0.7,), (-1.3,), (2,))
for _f in (math.gamma, math.lgamma):
    examples(_f, (0.7,), (-1.3,), (4,), (12.5,), (0.05,), (-0.5,))


@rrule.register(math.degrees)
def degrees_rrule(x):
    """x_bar = y_bar in degrees."""

    def degrees_pullback(y_bar):
        return NoTangent(), math.degrees(y_bar)

    return math.degrees(x), degrees_pullback


@rrule.register(math.radians)
def radians_rrule(x):
    """x_bar = y_bar in radians."""

    def radians_pullback(y_bar):
        return NoTangent(), math.radians(y_bar)

    return math.radians(x), radians_pullback


for _f in (math.degrees, math.radians):
    examples(_f, (0.7,), (-30,))


@rrule.register(math.ldexp)
def ldexp_rrule(x, i):
    """x_bar = z_bar * 2^i."""

    def ldexp_pullback(z_bar):
        return NoTangent(), scaled_by_power_of_two(z_bar, i), NoTangent()

    return math.ldexp(x, i), ldexp_pullback


def scaled_by_power_of_two(x: float, exponent: int) -> float:
    """x * 2^exponent, infinite where `math.ldexp` raises."""
    try:
        return math.ldexp(x, exponent)
    except OverflowError:
        return math.copysign(math.inf, x)


examples(math.ldexp, (0.7, 3), (-1.5, -2))


@rrule.register(math.frexp)
def frexp_rrule(x):
    """x = mantissa * 2^exponent, and the exponent is constant between powers of two."""
    y = math.frexp(x)

    def frexp_pullback(y_bar):
        return NoTangent(), scaled_by_power_of_two(first(y_bar), -y[1])

    return y, frexp_pullback


@rrule.register(math.modf)
def modf_rrule(x):
    """x = fraction + whole part, and the whole part is constant between whole numbers."""

    def modf_pullback(y_bar):
        return NoTangent(), first(y_bar)

    return math.modf(x), modf_pullback


def first(y_bar: Any) -> float:
    """The first of a pair of cotangents, as a number."""
    return 0.0 if y_bar[0] is None else y_bar[0]


examples(math.frexp, (0.7,), (-5.3,))
examples(math.modf, (0.7,), (-5.3,))


@rrule.register(math.nextafter)
def nextafter_rrule(x, y):
    """The neighbour of x moves with x."""

    def nextafter_pullback(z_bar):
        return NoTangent(), z_bar, NoTangent()

    return math.nextafter(x, y), nextafter_pullback


examples(math.nextafter, (0.7, 1.0))


@rrule.register(math.fsum)
def fsum_rrule(seq):
    """Each item gets y_bar."""
    items = items_of(seq)

    def fsum_pullback(y_bar):
        return NoTangent(), repeated_bar(y_bar, items)

    return math.fsum(items), fsum_pullback


examples(math.fsum, ([1.0, 2.5, -3.0],), ((1.0, 2),), ([],))


@rrule.register(math.prod)
def prod_rrule(iterable, *, start=1):
    """Each item gets y_bar times the product of the others, exact where some are 0."""
    items = items_of(iterable)

    def prod_pullback(y_bar):
        return NoTangent(), product_bar(y_bar, items, start)

    return math.prod(items, start=start), prod_pullback


def product_bar(y_bar: Any, items: Any, start: Any) -> Any:
    """The cotangent of the factors of a product: products of those before and of those after each factor, since dividing
    the whole by a factor fails at 0."""
    factors = list(items)
    after = [1.0]
    for factor in reversed(factors[1:]):
        after.append(after[-1] * factor)
    before, bars = start, []
    for factor, rest in zip(factors, reversed(after), strict=False):
        bars.append(y_bar * conj(before * rest))
        before = before * factor
    return spread_over_items(bars, items)


examples(math.prod, ([1.5, 2.0, -3.0],), ((1.0, 0.0, 2),), ([0.0, 0.0, 2.0],), ([],), ([2.0],))
examples(math.prod, ([1.5, 2.0],), start=3)

if hasattr(math, "sumprod"):  # Python 3.12

    @rrule.register(math.sumprod)
    def sumprod_rrule(p, q):
        """p_bar = y_bar * q, q_bar = y_bar * p, item by item."""

        def sumprod_pullback(y_bar):
            return NoTangent(), [y_bar * item for item in q], [y_bar * item for item in p]

        return math.sumprod(p, q), sumprod_pullback

    examples(math.sumprod, ([1.0, 2.0], [3.0, -1.0]))

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
