"""The elementary and special functions of the module `math`, on Python numbers.

`math` raises where a value leaves the reals (`math.log(0)`), so most denominators here cannot be 0; those that can, at
the end of a domain (`math.sqrt(0)`), divide the IEEE way. Products are used instead of powers: `x * x` overflows to inf
where `x**2` raises.
"""

from __future__ import annotations

import math

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import examples
from microgradpy.tangents.arithmetic import divide, floating
from microgradpy.tangents.helpers import returns
from microgradpy.tangents.powers import power_base_bar, power_exponent_bar

_LN_2 = math.log(2.0)
_LN_10 = math.log(10.0)
_BELL = 2.0 / math.sqrt(math.pi)


@derivative(math.sin)
def sin_derivative(x):
    """cos(x)."""
    return math.cos(x)


@derivative(math.cos)
def cos_derivative(x):
    """-sin(x)."""
    return -math.sin(x)


@derivative(math.tan)
def tan_derivative(x, *, y):
    """1 + y^2."""
    return 1.0 + y * y


@derivative(math.atan)
def atan_derivative(x):
    """1 / (1 + x^2)."""
    return 1.0 / (1.0 + floating(x) * floating(x))


@derivative(math.sinh)
def sinh_derivative(x):
    """cosh(x)."""
    return math.cosh(x)


@derivative(math.cosh)
def cosh_derivative(x):
    """sinh(x)."""
    return math.sinh(x)


@derivative(math.tanh)
def tanh_derivative(x, *, y):
    """1 - y^2."""
    return 1.0 - y * y


@derivative(math.asinh)
def asinh_derivative(x):
    """1 / sqrt(1 + x^2)."""
    return 1.0 / math.hypot(1.0, x)


for _f in (math.sin, math.cos, math.tan, math.atan, math.sinh, math.cosh, math.tanh, math.asinh):
    examples(_f, (0.7,), (-1.3,), (2,), (0,))


@derivative(math.asin)
def asin_derivative(x):
    """1 / sqrt(1 - x^2), infinite at the ends."""
    return divide(1.0, math.sqrt((1.0 - x) * (1.0 + x)))


@derivative(math.acos)
def acos_derivative(x):
    """-1 / sqrt(1 - x^2), infinite at the ends."""
    return divide(-1.0, math.sqrt((1.0 - x) * (1.0 + x)))


@derivative(math.atanh)
def atanh_derivative(x):
    """1 / (1 - x^2)."""
    return 1.0 / ((1.0 - x) * (1.0 + x))


for _f in (math.asin, math.acos, math.atanh):
    examples(_f, (0.3,), (-0.8,), (0,))


@derivative(math.acosh)
def acosh_derivative(x):
    """1 / sqrt(x^2 - 1), infinite at 1."""
    return divide(1.0, math.sqrt(x - 1.0) * math.sqrt(x + 1.0))


examples(math.acosh, (1.5,), (3,))


@pullback(math.atan2)
def atan2_pullback(z_bar, y, x):
    """y_bar = z_bar * x / (x^2 + y^2), x_bar = -z_bar * y / (x^2 + y^2); NaN at the origin, which has no angle."""
    radius = math.hypot(x, y)
    return divide(divide(z_bar * x, radius), radius), divide(divide(-z_bar * y, radius), radius)


examples(math.atan2, (1.0, 2.0), (-0.5, -1.5), (2, -1))


@derivative(math.exp)
def exp_derivative(x, *, y):
    """y."""
    return y


@derivative(math.exp2)
def exp2_derivative(x, *, y):
    """y * log(2)."""
    return y * _LN_2


@derivative(math.expm1)
def expm1_derivative(x, *, y):
    """y + 1."""
    return y + 1.0


for _f in (math.exp, math.exp2, math.expm1):
    examples(_f, (0.7,), (-1.3,), (2,))


@derivative(math.log, arity=1)
def log_derivative(x):
    """1 / x."""
    return 1.0 / x


@pullback(math.log, arity=2)
def log_to_base_pullback(y_bar, x, base, *, y):
    """y = log(x) / log(base): x_bar = y_bar / (x log(base)), base_bar = -y_bar * y / (base log(base))."""
    scaled = y_bar / math.log(base)
    return scaled / x, -scaled * y / base


examples(math.log, (0.7,), (3,), (5.0, 2.0), (3, 10))


@derivative(math.log2)
def log2_derivative(x):
    """1 / (x log(2))."""
    return 1.0 / x / _LN_2


@derivative(math.log10)
def log10_derivative(x):
    """1 / (x log(10))."""
    return 1.0 / x / _LN_10


@derivative(math.log1p)
def log1p_derivative(x):
    """1 / (1 + x)."""
    return 1.0 / (1.0 + x)


@derivative(math.sqrt)
def sqrt_derivative(x, *, y):
    """1 / (2 y), infinite at 0."""
    return divide(1.0, 2.0 * y)


@derivative(math.cbrt)
def cbrt_derivative(x, *, y):
    """1 / (3 y^2), infinite at 0."""
    return divide(1.0, 3.0 * y * y)


for _f in (math.log2, math.log10, math.log1p, math.sqrt, math.cbrt):
    examples(_f, (0.7,), (3,))


@pullback(math.pow)
def pow_pullback(z_bar, x, y, *, z):
    """z = x ** y, in floats; see `powers`."""
    return power_base_bar(z_bar, x, y), power_exponent_bar(z_bar, x, y, z)


examples(math.pow, (2.0, 3.0), (1.5, -0.5), (2, 3), (0.0, 2.0), (0.0, 1.0), (-2.0, 3))


@derivative(math.erf)
def erf_derivative(x):
    """2 / sqrt(pi) * exp(-x^2)."""
    return _BELL * math.exp(-floating(x) * floating(x))


@derivative(math.erfc)
def erfc_derivative(x):
    """-2 / sqrt(pi) * exp(-x^2)."""
    return -_BELL * math.exp(-floating(x) * floating(x))


@derivative(math.gamma)
def gamma_derivative(x, *, y):
    """y * digamma(x)."""
    return y * digamma(x)


@derivative(math.lgamma)
def lgamma_derivative(x):
    """digamma(x)."""
    return digamma(x)


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


@pullback(math.degrees)
def degrees_pullback(y_bar, x):
    """x_bar = y_bar in degrees."""
    return math.degrees(y_bar)


@pullback(math.radians)
def radians_pullback(y_bar, x):
    """x_bar = y_bar in radians."""
    return math.radians(y_bar)


for _f in (math.degrees, math.radians):
    examples(_f, (0.7,), (-30,))
