"""Exponents and logarithms.

Where a derivative is a quotient whose denominator may be 0, it is divided the IEEE way, without a warning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microgradpy.rules.derivatives import derivative
from microgradpy.rules.registry import examples
from microgradpy.tangents.arithmetic import divide, floating
from microgradpy.tangents.helpers import numeric

LOG_2 = math.log(2.0)
LOG_10 = math.log(10.0)

_VECTOR = np.array([0.3, -0.7, 0.9])
_POSITIVE = np.array([[0.3, 1.7], [2.9, 0.8]])
_COMPLEX = np.array([0.5 + 0.3j, -0.7 + 0.6j])
_ANYWHERE = ((0.6,), (-0.4,), (_VECTOR,), (_POSITIVE,), (_COMPLEX,))
_ABOVE_ZERO = ((0.6,), (_POSITIVE,), (_POSITIVE[0],), (_COMPLEX,))


@derivative(np.exp)
def exp_derivative(x, *, z):
    """z."""
    return z


examples(np.exp, *_ANYWHERE)


@derivative(np.exp2)
def exp2_derivative(x, *, z):
    """z * log(2)."""
    return LOG_2 * z


examples(np.exp2, *_ANYWHERE)


@derivative(np.expm1)
def expm1_derivative(x):
    """exp(x); z + 1 would have lost the digits of a small exp(x)."""
    return np.exp(x)


examples(np.expm1, *_ANYWHERE)


@derivative(np.log)
def log_derivative(x):
    """1 / x."""
    return divide(1.0, x)


examples(np.log, *_ABOVE_ZERO)


@derivative(np.log2)
def log2_derivative(x):
    """1 / (x * log(2))."""
    return divide(1.0 / LOG_2, x)


examples(np.log2, *_ABOVE_ZERO)


@derivative(np.log10)
def log10_derivative(x):
    """1 / (x * log(10))."""
    return divide(1.0 / LOG_10, x)


examples(np.log10, *_ABOVE_ZERO)


@derivative(np.log1p)
def log1p_derivative(x):
    """1 / (1 + x)."""
    return divide(1.0, 1.0 + x)


examples(np.log1p, *_ANYWHERE)

_ROW = np.array([0.4, -1.3, 2.2])
_COLUMN = np.array([[0.7], [-0.3]])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])
_REAL = ((1.7, 0.6), (_ROW, 0.6), (1.7, _TABLE), (_ROW, _COLUMN), (_TABLE, _ROW), (np.array(1.7), _ROW))


@derivative(np.logaddexp)
def logaddexp_derivative(x1, x2):
    """z = log(exp(x1) + exp(x2)): x1_bar = z_bar / (1 + exp(x2 - x1))."""
    return exponential_share(x1, x2, np.exp), exponential_share(x2, x1, np.exp)


@derivative(np.logaddexp2)
def logaddexp2_derivative(x1, x2):
    """z = log2(2^x1 + 2^x2): x1_bar = z_bar / (1 + 2^(x2 - x1))."""
    return exponential_share(x1, x2, np.exp2), exponential_share(x2, x1, np.exp2)


@numeric
def exponential_share(x: Any, y: Any, exponential: Any) -> Any:
    """exp(x) / (exp(x) + exp(y)), without overflow; a half where x and y are equal, also if both are infinite."""
    with np.errstate(all="ignore"):
        share = 1.0 / (1.0 + exponential(np.subtract(floating(y), floating(x))))
        return np.where(np.equal(x, y) & ~np.isfinite(x), 0.5, share)


examples(np.logaddexp, *_REAL)
examples(np.logaddexp2, *_REAL)
