"""scipy.special: the transformations of Box and Cox, their inverses, and powers less one.

    boxcox(x, p) = (x^p - 1) / p = log(x) exprel(p log(x))          log(x) for p = 0
    inv_boxcox(y, p) = (1 + p y)^(1/p) = exp(log1p(p y) / p)        exp(y) for p = 0

The derivative in p is a difference that vanishes with p; written as hypergeometric functions it keeps its digits:
exprel'(u) = M(2, 3, u) / 2 (DLMF 13.3.15) and (u / (1 + u) - log(1 + u)) / u^2 = -F(2, 2; 3; -u) / 2 (their power series).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import examples
from microgradpy.rules.scipy.special.operands import logarithm, numbers, rounded_like
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.casts import python_number
from microgradpy.tangents.helpers import cotangent_of_call

_TABLE = np.array([[0.3, 1.7, 0.6], [2.9, 0.8, 1.2]])
_POWERS = np.array([-0.7, 0.0, 1.3])
_PAIRS = ((0.7, 1.4), (2.5, 0.0), (_TABLE, 0.6), (1.3, _TABLE), (_TABLE, _POWERS), (_TABLE[:, :1], _POWERS), (2, 3),
          (_TABLE, 1e-9), (np.float32(0.3), np.float32(1.2)), (np.zeros((0, 3)), 1.5), ([0.5, 1.5], 0.4))  # fmt: skip


@pullback(special.boxcox)
def boxcox_pullback(y_bar, x, lmbda):
    """x_bar = y_bar * x^(p - 1), p_bar = y_bar * log(x)^2 exprel'(p log(x))."""
    slope = power_slope(logarithm(x), lmbda)
    return unbroadcast(y_bar * slope, x), unbroadcast(y_bar * exponent_slope(logarithm(x), lmbda), lmbda)


@pullback(special.boxcox1p)
def boxcox1p_pullback(y_bar, x, lmbda):
    """As `boxcox` of 1 + x."""
    slope = power_slope(special.log1p(x), lmbda)
    return unbroadcast(y_bar * slope, x), unbroadcast(y_bar * exponent_slope(special.log1p(x), lmbda), lmbda)


@cotangent_of_call(np.add, 0, 1)
def power_slope(log_x: Any, lmbda: Any) -> Any:
    """x^(p - 1) from log(x)."""
    with np.errstate(all="ignore"):
        return np.exp((numbers(lmbda) - 1.0) * python_number(log_x))


@cotangent_of_call(np.add, 0, 1)
def exponent_slope(log_x: Any, lmbda: Any) -> Any:
    """The derivative of (x^p - 1) / p in p, from log(x)."""
    with np.errstate(all="ignore"):
        log_x, lmbda = python_number(log_x), numbers(lmbda)
        return rounded_like(0.5 * log_x * log_x * special.hyp1f1(2.0, 3.0, lmbda * log_x), log_x, lmbda)


@derivative(special.inv_boxcox)
def inv_boxcox_derivative(y, lmbda, *, x):
    """x = (1 + p y)^(1/p): y_bar = x_bar * x / (1 + p y), p_bar = -x_bar * x y^2 F(2, 2; 3; -p y) / 2."""
    return root_slope(x, y, lmbda), root_exponent_slope(x, y, lmbda)


@derivative(special.inv_boxcox1p)
def inv_boxcox1p_derivative(y, lmbda, *, x):
    """As `inv_boxcox`, less one."""
    return root_slope(x + 1.0, y, lmbda), root_exponent_slope(x + 1.0, y, lmbda)


@cotangent_of_call(np.add, 1, 2)
def root_slope(x: Any, y: Any, lmbda: Any) -> Any:
    """x / (1 + p y)."""
    with np.errstate(all="ignore"):
        return x / (1.0 + numbers(lmbda) * numbers(y))


@cotangent_of_call(np.add, 1, 2)
def root_exponent_slope(x: Any, y: Any, lmbda: Any) -> Any:
    """The derivative of (1 + p y)^(1/p) = x in p."""
    with np.errstate(all="ignore"):
        y, lmbda = numbers(y), numbers(lmbda)
        return rounded_like(-0.5 * x * y * y * special.hyp2f1(2.0, 2.0, 3.0, -lmbda * y), x, y, lmbda)


examples(special.boxcox, *_PAIRS)
examples(special.boxcox1p, *_PAIRS, (-0.4, 1.5))
_ROOTS = tuple((np.divide(y, 3.0), p) for y, p in _PAIRS[:-1])
examples(special.inv_boxcox, *_ROOTS, (-0.4, 1.5), (0.3, -0.8), ([0.5, 1.5], 0.4))
examples(special.inv_boxcox1p, *_ROOTS, (-0.4, 1.5), (0.3, -0.8), ([0.5, 1.5], 0.4))


@derivative(special.powm1)
def powm1_derivative(x, y):
    """z = x^y - 1: x_bar = z_bar * y x^(y - 1), y_bar = z_bar * x^y log(x), for x > 0."""
    return base_slope(x, y), special.powm1(x, y) * logarithm(x) + logarithm(x)


@cotangent_of_call(np.add, 0, 1)
def base_slope(x: Any, y: Any) -> Any:
    """y x^(y - 1)."""
    with np.errstate(all="ignore"):
        return numbers(y) * np.power(numbers(x), numbers(y) - 1.0)


examples(special.powm1, (0.7, 1.4), (_TABLE, 0.6), (1.3, _TABLE), (_TABLE[:, :1], _POWERS), (2, 0.5), (np.zeros((0, 3)), 1.5))
