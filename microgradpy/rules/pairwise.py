"""NumPy's elementwise functions of two and three arguments, which broadcast against each other.

The cotangent of an operand is summed over the axes along which it was repeated (`unbroadcast`). Ties of maximum and
minimum share the cotangent evenly. Where a denominator may be 0 it is divided the IEEE way, without a warning.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import examples, non_differentiable, rrule
from microgradpy.tangents.arithmetic import divide, floating, unbroadcast
from microgradpy.tangents.helpers import cotangent_of, like
from microgradpy.tangents.powers import power_base_bar, power_exponent_bar
from microgradpy.tangents.types import NoTangent, ZeroTangent

non_differentiable(np.floor_divide)

_ROW = np.array([0.4, -1.3, 2.2])
_COLUMN = np.array([[0.7], [-0.3]])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j, 1.1 - 0.4j])
_REAL = ((1.7, 0.6), (_ROW, 0.6), (1.7, _TABLE), (_ROW, _COLUMN), (_TABLE, _ROW), (np.array(1.7), _ROW))
_ANYWHERE = (*_REAL, (_COMPLEX, _ROW), (_COLUMN, _COMPLEX), (0.3 + 0.2j, 1.2))
_POSITIVE = tuple((np.abs(x), np.abs(y)) for x, y in _REAL)


@derivative(np.add)
def add_derivative(x, y):
    """x_bar = y_bar = z_bar."""
    return 1.0, 1.0


examples(np.add, *_ANYWHERE)


@derivative(np.subtract)
def subtract_derivative(x, y):
    """x_bar = z_bar, y_bar = -z_bar."""
    return 1.0, -1.0


examples(np.subtract, *_ANYWHERE)


@derivative(np.multiply)
def multiply_derivative(x, y):
    """x_bar = z_bar * conj(y), y_bar = z_bar * conj(x)."""
    return y, x


examples(np.multiply, *_ANYWHERE)


@derivative(np.divide)
def divide_derivative(x, y, *, z):
    """x_bar = z_bar / y, y_bar = -z_bar * z / y."""
    return divide(1.0, y), divide(-z, y)


examples(np.divide, *_ANYWHERE)


@pullback(np.power)
def power_pullback(z_bar, x, y, *, z):
    """x_bar = z_bar * y * x^(y - 1), y_bar = z_bar * log(x) * z."""
    return unbroadcast(power_base_bar(z_bar, x, y), x), unbroadcast(power_exponent_bar(z_bar, x, y, z), y)


@pullback(np.float_power)
def float_power_pullback(z_bar, x, y, *, z):
    """x_bar = z_bar * y * x^(y - 1), y_bar = z_bar * log(x) * z."""
    return unbroadcast(power_base_bar(z_bar, x, y), x), unbroadcast(power_exponent_bar(z_bar, x, y, z), y)


_POWERS = (*_POSITIVE, (_COMPLEX, _ROW), (_COMPLEX, _COMPLEX), (np.abs(_ROW), 2), (np.abs(_TABLE), 0), (2, 0.7))
examples(np.power, *_POWERS)
examples(np.float_power, *_POWERS)


@derivative(np.remainder)
def remainder_derivative(x, y):
    """z = x - y floor(x / y): x_bar = z_bar, y_bar = -z_bar * floor(x / y)."""
    return 1.0, -np.floor(divide(x, y))


examples(np.remainder, *_REAL)


@derivative(np.fmod)
def fmod_derivative(x, y):
    """z = x - y trunc(x / y): x_bar = z_bar, y_bar = -z_bar * trunc(x / y)."""
    return 1.0, -np.trunc(divide(x, y))


examples(np.fmod, *_REAL)


@pullback(np.maximum)
def maximum_pullback(z_bar, x, y):
    """Each operand gets z_bar where it is the larger one, half of it where they are equal."""
    return maximum_bar(z_bar, x, y), maximum_bar(z_bar, y, x)


@pullback(np.minimum)
def minimum_pullback(z_bar, x, y):
    """Each operand gets z_bar where it is the smaller one, half of it where they are equal."""
    return minimum_bar(z_bar, x, y), minimum_bar(z_bar, y, x)


@pullback(np.fmax)
def fmax_pullback(z_bar, x, y):
    """As maximum, but a number wins against NaN."""
    return fmax_bar(z_bar, x, y), fmax_bar(z_bar, y, x)


@pullback(np.fmin)
def fmin_pullback(z_bar, x, y):
    """As minimum, but a number wins against NaN."""
    return fmin_bar(z_bar, x, y), fmin_bar(z_bar, y, x)


@cotangent_of(1)
def maximum_bar(z_bar: Any, x: Any, y: Any) -> Any:
    """The cotangent of x under maximum(x, y)."""
    return unbroadcast(share(z_bar, np.greater(x, y), np.equal(x, y)), x)


@cotangent_of(1)
def minimum_bar(z_bar: Any, x: Any, y: Any) -> Any:
    """The cotangent of x under minimum(x, y)."""
    return unbroadcast(share(z_bar, np.less(x, y), np.equal(x, y)), x)


@cotangent_of(1)
def fmax_bar(z_bar: Any, x: Any, y: Any) -> Any:
    """The cotangent of x under fmax(x, y)."""
    return unbroadcast(share(z_bar, np.greater(x, y) | np.isnan(y), np.equal(x, y)), x)


@cotangent_of(1)
def fmin_bar(z_bar: Any, x: Any, y: Any) -> Any:
    """The cotangent of x under fmin(x, y)."""
    return unbroadcast(share(z_bar, np.less(x, y) | np.isnan(y), np.equal(x, y)), x)


def share(z_bar: Any, wins: Any, ties: Any) -> Any:
    """`z_bar` where `wins`, half of it where `ties`, else 0. Selected, not multiplied, so that 0 * inf is 0."""
    kept = np.where(wins, z_bar, 0.0)
    return np.where(ties, 0.5 * z_bar, kept) if np.any(ties) else kept


for _choice in (np.maximum, np.minimum, np.fmax, np.fmin):
    examples(_choice, *_REAL)


@pullback(np.clip)
def clip_pullback(z_bar, a, a_min=None, a_max=None):
    """z = minimum(maximum(a, a_min), a_max): half the cotangent passes at an edge."""
    return clip_bar(z_bar, a, a_min, a_max), floor_bar(z_bar, a, a_min, a_max), ceiling_bar(z_bar, a, a_min, a_max)


@cotangent_of(1)
def clip_bar(z_bar: Any, a: Any, a_min: Any, a_max: Any) -> Any:
    """The cotangent of a under clip(a, a_min, a_max)."""
    raised_bar = _raised_bar(z_bar, a, a_min, a_max)
    return unbroadcast(raised_bar, a) if a_min is None else maximum_bar(raised_bar, a, a_min)


@cotangent_of(2)
def floor_bar(z_bar: Any, a: Any, a_min: Any, a_max: Any) -> Any:
    """The cotangent of a_min under clip(a, a_min, a_max)."""
    return None if a_min is None else maximum_bar(_raised_bar(z_bar, a, a_min, a_max), a_min, a)


@cotangent_of(3)
def ceiling_bar(z_bar: Any, a: Any, a_min: Any, a_max: Any) -> Any:
    """The cotangent of a_max under clip(a, a_min, a_max)."""
    return None if a_max is None else minimum_bar(z_bar, a_max, a if a_min is None else np.maximum(a, a_min))


def _raised_bar(z_bar: Any, a: Any, a_min: Any, a_max: Any) -> Any:
    """The cotangent, in z's shape, of maximum(a, a_min) under minimum(maximum(a, a_min), a_max)."""
    if a_max is None:
        return z_bar
    raised = a if a_min is None else np.maximum(a, a_min)
    return share(z_bar, np.less(raised, a_max), np.equal(raised, a_max))


examples(np.clip, (0.4, -1.0, 1.0), (_TABLE, -0.5, 1.0), (_TABLE, _COLUMN, 1.5), (_TABLE, None, 0.8), (_ROW, 0.5, None))


@pullback(np.where)
def where_pullback(z_bar, condition, x, y):
    """x gets z_bar where the condition holds, y elsewhere. Selected, not multiplied: a NaN stays where it is."""
    return NoTangent(), unbroadcast(np.where(condition, z_bar, 0.0), x), unbroadcast(np.where(condition, 0.0, z_bar), y)


examples(
    np.where, (_TABLE > 0.0, _TABLE, 0.0), (_ROW > 0.0, _COLUMN, _TABLE), (True, 1.5, 2.5), (_ROW > 0.0, _COMPLEX, _ROW)
)


@rrule.register(np.where, arity=1)
def where_places_rrule(condition):
    """The places where the condition holds: integers, which carry nothing."""

    def where_places_pullback(z_bar):
        return NoTangent(), NoTangent()

    return np.where(condition), where_places_pullback


examples(np.where, (_TABLE > 0.0,), (_ROW,))


@derivative(np.hypot)
def hypot_derivative(x1, x2, *, z):
    """x1_bar = z_bar * x1 / z, and 0 at the origin."""
    return hypot_slope(x1, z), hypot_slope(x2, z)


@cotangent_of(1)
def hypot_slope(x: Any, z: Any) -> Any:
    """The slope of the hypotenuse z of a right triangle by its leg x, in z's shape."""
    return np.where(np.equal(z, 0.0), 0.0, divide(x, z))[()]


examples(np.hypot, *_REAL)


@derivative(np.arctan2)
def arctan2_derivative(x1, x2):
    """x1_bar = z_bar * x2 / (x1^2 + x2^2), x2_bar = -z_bar * x1 / (x1^2 + x2^2); NaN at the origin."""
    return (
        divide(x2, floating(x1) * floating(x1) + floating(x2) * floating(x2)),
        divide(-x1, floating(x1) * floating(x1) + floating(x2) * floating(x2)),
    )


examples(np.arctan2, *_REAL)


@derivative(np.logaddexp)
def logaddexp_derivative(x1, x2):
    """z = log(exp(x1) + exp(x2)): x1_bar = z_bar / (1 + exp(x2 - x1))."""
    return exponential_share(x1, x2, np.exp), exponential_share(x2, x1, np.exp)


@derivative(np.logaddexp2)
def logaddexp2_derivative(x1, x2):
    """z = log2(2^x1 + 2^x2): x1_bar = z_bar / (1 + 2^(x2 - x1))."""
    return exponential_share(x1, x2, np.exp2), exponential_share(x2, x1, np.exp2)


def exponential_share(x: Any, y: Any, exponential: Any) -> Any:
    """exp(x) / (exp(x) + exp(y)), without overflow; a half where x and y are equal, also if both are infinite."""
    with np.errstate(all="ignore"):
        return np.where(np.equal(x, y), 0.5, 1.0 / (1.0 + exponential(np.subtract(floating(y), floating(x)))))


examples(np.logaddexp, *_REAL)
examples(np.logaddexp2, *_REAL)


@derivative(np.copysign)
def copysign_derivative(x1, x2, *, z):
    """|x1| with the sign of x2: x1_bar = z_bar * sign(x1) * sign(z); x2 does not matter between its jumps."""
    return np.sign(x1) * np.sign(z), 0.0


examples(np.copysign, *_REAL)


@like(1)
def array_with_own_sign(x1: Any, x2: Any) -> Any:
    """np.copysign(x1, x2) where x1 is x2, or its absolute value: that is x2, and x1 does not matter."""
    return np.copysign(x2, x2)


@pullback(array_with_own_sign)
def array_with_own_sign_pullback(z_bar, x1, x2):
    """x2_bar = z_bar."""
    return ZeroTangent(), unbroadcast(z_bar, x2)


examples(array_with_own_sign, (_ROW, _ROW), (1.5, 1.5))


@pullback(np.heaviside)
def heaviside_pullback(z_bar, x1, x2):
    """The value x2 at the jump has a derivative; that of x1 is zero."""
    x1_bar = unbroadcast(np.zeros_like(z_bar), x1)
    return x1_bar, unbroadcast(np.where(np.equal(x1, 0.0), z_bar, 0.0), x2)


examples(np.heaviside, *_REAL)
