"""The elementary and special functions of the module `math`, on Python numbers.

`math` raises where a value leaves the reals (`math.log(0)`), so most denominators here cannot be 0; those that can, at
the end of a domain (`math.sqrt(0)`), divide the IEEE way. Products are used instead of powers: `x * x` overflows to inf
where `x**2` raises.
"""

from __future__ import annotations

import math

from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.arithmetic import divide, floating
from microgradpy.tangents.helpers import returns
from microgradpy.tangents.powers import power_base_bar, power_exponent_bar
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
        return NoTangent(), y_bar / (1.0 + floating(x) * floating(x))

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


@rrule.register(math.erf)
def erf_rrule(x):
    """x_bar = y_bar * 2 / sqrt(pi) * exp(-x^2)."""

    def erf_pullback(y_bar):
        return NoTangent(), y_bar * (2.0 / math.sqrt(math.pi)) * math.exp(-floating(x) * floating(x))

    return math.erf(x), erf_pullback


@rrule.register(math.erfc)
def erfc_rrule(x):
    """x_bar = -y_bar * 2 / sqrt(pi) * exp(-x^2)."""

    def erfc_pullback(y_bar):
        return NoTangent(), -y_bar * (2.0 / math.sqrt(math.pi)) * math.exp(-floating(x) * floating(x))

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


@returns(float)
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
