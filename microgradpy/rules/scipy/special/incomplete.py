"""scipy.special: the incomplete gamma and beta functions.

With P = gammainc and I = betainc, both distributions of probability:

    dP(a, x)/dx = x^(a-1) exp(-x) / Gamma(a)          dI(a, b, x)/dx = x^(a-1) (1 - x)^(b-1) / B(a, b)

The derivatives in a and b are those of the series of positive terms, term by term (DLMF 8.7.1 and 8.17.8), below the mean:

    P = sum of x^(a+k) exp(-x) / Gamma(a+k+1)         I = sum of x^(a+k) (1-x)^b Gamma(a+b+k) / (Gamma(a+k+1) Gamma(b))

There all terms have one sign. Above the mean they are those of the tail, so that they have all their digits there too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import examples
from microgradpy.rules.scipy.special.operands import numbers, rounded_like
from microgradpy.tangents.arithmetic import divide, unbroadcast
from microgradpy.tangents.helpers import cotangent_of_call

_TABLE = np.array([[0.3, 1.7, 0.6], [2.9, 0.8, 4.2]])
_STACK = np.linspace(0.4, 2.6, 12).reshape(2, 3, 2)
_EMPTY = np.zeros((0, 3))
_SINGLE = np.array([0.7, 1.9], np.float32)
_PAIRS = ((0.7, 1.4), (_TABLE, 0.6), (1.3, _TABLE), (_TABLE[:, :1], _TABLE[0]), (_STACK, 1.5), (2, _TABLE), (_EMPTY, 1.5),
          ([0.5, 1.5], 0.4), (30.0, 27.0), (0.5, 40.0), (3.0, 0.01), (np.float32(0.7), np.float32(1.4)),
          (_SINGLE, _SINGLE))  # fmt: skip
_QUANTILES = ((0.7, 0.4), (_TABLE, 0.6), (1.3, _TABLE / 5.0), (_TABLE[:, :1], _TABLE[0] / 2.0), (2, 0.3), (_EMPTY, 0.5),
              ([0.5, 1.5], 0.4))  # fmt: skip


@cotangent_of_call(np.add, 0, 1)
def gamma_density(a: Any, x: Any) -> Any:
    """x^(a-1) exp(-x) / Gamma(a)."""
    with np.errstate(all="ignore"):
        a, x = numbers(a), numbers(x)
        return rounded_like(np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a)), a, x)


@cotangent_of_call(np.add, 0, 1)
def gammainc_in_a(a: Any, x: Any) -> Any:
    """The derivative of P(a, x) in a: below the mean from the series, above it from the integral of the tail."""
    with np.errstate(all="ignore"):
        dtype = np.result_type(numbers(a), numbers(x))
        a, x = np.asarray(a, np.float64), np.asarray(x, np.float64)
        inside = (x > 0.0) & (a > 0.0) & np.isfinite(a) & np.isfinite(x) & (a < _TOO_MANY)
        outside = np.where(((x == 0.0) | np.isposinf(x)) & (a > 0.0), 0.0, np.nan)
        a, x = np.broadcast_arrays(np.where(inside, a, 1.0), np.where(inside, x, 1.0))
        is_low = x <= a + 0.5
        low = _low_gamma_in_a(np.where(is_low, a, 1.0), np.where(is_low, x, 1.0))
        high = _high_gamma_in_a(np.where(is_low, 1.0, a), np.where(is_low, 2.0, x))
        return np.where(inside, np.where(is_low, low, high), outside).astype(dtype)[()]


_TOO_MANY = 1e10
"""From here on the derivative is NaN: the series has some ten times the square root of x terms."""


def _low_gamma_in_a(a: Any, x: Any) -> Any:
    """The series: each term, the probability of a + k, times log(x) - psi(a + k + 1), of which all are negative."""
    found = np.zeros_like(a)
    for k in range(int(np.max(12.0 * np.sqrt(x) + 40.0, initial=0.0))):
        probability = np.exp(special.xlogy(a + k, x) - x - special.gammaln(a + k + 1.0))
        found += probability * (np.log(x) - special.psi(a + k + 1.0))
    return found


def _high_gamma_in_a(a: Any, x: Any) -> Any:
    """The integral of (psi(a) - log(t)) t^(a-1) exp(-t) / Gamma(a) over t > x, where all values are negative: with
    t = x (1 + s) and s = scale exp(u - exp(-u)) by the trapezoidal rule, which is exact to all digits (the double
    exponential formula of Takahasi and Mori)."""
    scale = 1.0 / (x - a + 1.0 + np.sqrt(a))
    psi, log_x = special.psi(a), np.log(x)
    integral = np.zeros_like(a)
    for u in _NODES:
        s = scale * math.exp(u - math.exp(-u))
        integral += np.exp(special.xlog1py(a - 1.0, s) - x * s) * (psi - log_x - np.log1p(s)) * (s * (1.0 + math.exp(-u)))
    return np.exp(special.xlogy(a, x) - x - special.gammaln(a)) * integral * (_NODES[1] - _NODES[0])


_NODES = [k / 16.0 for k in range(-64, 88)]


@derivative(special.gammainc)
def gammainc_derivative(a, x):
    """x_bar = y_bar * x^(a-1) exp(-x) / Gamma(a), a_bar = y_bar * dP/da."""
    return gammainc_in_a(a, x), gamma_density(a, x)


@derivative(special.gammaincc)
def gammaincc_derivative(a, x):
    """One less gammainc: the same with the other sign."""
    return -gammainc_in_a(a, x), -gamma_density(a, x)


@derivative(special.gammaincinv)
def gammaincinv_derivative(a, y, *, x):
    """P(a, x) = y: y_bar = x_bar / P', a_bar = -x_bar * dP/da / P'."""
    return divide(-gammainc_in_a(a, x), gamma_density(a, x)), divide(1.0, gamma_density(a, x))


@derivative(special.gammainccinv)
def gammainccinv_derivative(a, y, *, x):
    """1 - P(a, x) = y: y_bar = -x_bar / P', a_bar = -x_bar * dP/da / P'."""
    return divide(-gammainc_in_a(a, x), gamma_density(a, x)), divide(-1.0, gamma_density(a, x))


for _f in (special.gammainc, special.gammaincc):
    examples(_f, *_PAIRS)
for _f in (special.gammaincinv, special.gammainccinv):
    examples(_f, *_QUANTILES)


@cotangent_of_call(special.betainc, 0, 1, 2)
def beta_density(a: Any, b: Any, x: Any) -> Any:
    """x^(a-1) (1 - x)^(b-1) / B(a, b)."""
    with np.errstate(all="ignore"):
        a, b, x = numbers(a), numbers(b), numbers(x)
        density = np.exp(special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b))
        return rounded_like(density, a, b, x)


def betainc_in_a_and_b(a: Any, b: Any, x: Any) -> tuple[Any, Any]:
    """The derivatives of I(a, b, x) in a and b. Beyond the mean, where the series converges slowly, they are those of
    I(a, b, x) = 1 - I(b, a, 1 - x)."""
    with np.errstate(all="ignore"):
        dtype = np.result_type(numbers(a), numbers(b), numbers(x))
        a, b, x = (np.asarray(part, np.float64) for part in (a, b, x))
        inside = (a > 0.0) & (b > 0.0) & (x > 0.0) & (x < 1.0) & np.isfinite(a) & np.isfinite(b)
        outside = np.where((a > 0.0) & (b > 0.0) & ((x == 0.0) | (x == 1.0)), 0.0, np.nan)
        a, b, x = np.broadcast_arrays(np.where(inside, a, 1.0), np.where(inside, b, 1.0), np.where(inside, x, 0.5))
        swapped = x > (a + 1.0) / (a + b + 2.0)
        first, second, y = np.where(swapped, b, a), np.where(swapped, a, b), np.where(swapped, 1.0 - x, x)
        rest = np.where(swapped, x, 1.0 - x)
        is_quick = (first <= 50.0) & (y <= 0.9)
        quick = _sum_of_beta_series(*(np.where(is_quick, part, 0.5) for part in (first, second, y, rest)))
        slow = _integral_of_beta_tail(*(np.where(is_quick, 0.5, part) for part in (first, second, y, rest)))
        in_first, in_second = (np.where(is_quick, *parts) for parts in zip(quick, slow, strict=True))
        in_a, in_b = np.where(swapped, -in_second, in_first), np.where(swapped, -in_first, in_second)
        return np.where(inside, in_a, outside).astype(dtype)[()], np.where(inside, in_b, outside).astype(dtype)[()]


def _sum_of_beta_series(a: Any, b: Any, x: Any, rest: Any) -> tuple[Any, Any]:
    """The series in a and in b, term by term, with rest = 1 - x: until the terms no longer count. For a < 50 and x < 0.9 these
    are at most some thousand."""
    in_a, in_b = np.zeros_like(a), np.zeros_like(a)
    log_x, log_rest, psi_b = np.log(x), np.log1p(-x), special.psi(b)
    term = np.exp(a * log_x + b * log_rest - special.betaln(a, b)) / a
    for k in range(_MOST_TERMS):
        psi_both = special.psi(a + b + k)
        in_a += term * (log_x + psi_both - special.psi(a + k + 1.0))
        in_b += term * (log_rest + psi_both - psi_b)
        ratio = x * (a + b + k) / (a + k + 1.0)
        term = term * ratio
        is_small = term * (1.0 + np.log1p(k)) <= 1e-17 * (1.0 - ratio) * np.minimum(-in_a, in_b)
        if np.all(is_small | (term == 0.0)):
            return in_a, in_b
    return np.where(is_small, in_a, np.nan), np.where(is_small, in_b, np.nan)


_MOST_TERMS = 10_000
"""Of a series that does not come to an end by then the sum is not known, and NaN."""


def _integral_of_beta_tail(a: Any, b: Any, x: Any, rest: Any) -> tuple[Any, Any]:
    """The integrals of the density at t times log(t) + psi(a+b) - psi(a), and times log(1-t) + psi(a+b) - psi(b), over t < x:
    with t = x exp(-s) and s as for the tail of the gamma function. All values of each have one sign."""
    log_x = np.where(x < 0.5, np.log(x), np.log1p(-rest))
    log_rest = np.where(x < 0.5, np.log1p(-x), np.log(rest))
    psi_a, psi_b = special.psi(a + b) - special.psi(a), special.psi(a + b) - special.psi(b)
    scale = 1.0 / (np.maximum(a - (b - 1.0) * x / rest, 0.0) + np.sqrt(x * (a + b) / rest))
    in_a, in_b = np.zeros_like(a), np.zeros_like(a)
    for u in _NODES:
        s = scale * math.exp(u - math.exp(-u))
        log_growth = np.log1p(-np.expm1(-s) * (x / rest))
        weight = np.exp((b - 1.0) * log_growth - a * s) * (s * (1.0 + math.exp(-u)))
        in_a += weight * (log_x - s + psi_a)
        in_b += weight * (log_rest + log_growth + psi_b)
    height = np.exp(a * log_x + (b - 1.0) * log_rest - special.betaln(a, b)) * (_NODES[1] - _NODES[0])
    return in_a * height, in_b * height


@pullback(special.betainc)
def betainc_pullback(y_bar, a, b, x):
    """x_bar = y_bar * x^(a-1) (1 - x)^(b-1) / B(a, b), a_bar = y_bar * dI/da, b_bar = y_bar * dI/db."""
    slopes = betainc_in_a_and_b(a, b, x)
    return (
        unbroadcast(y_bar * slopes[0], a),
        unbroadcast(y_bar * slopes[1], b),
        unbroadcast(y_bar * beta_density(a, b, x), x),
    )


@pullback(special.betaincc)
def betaincc_pullback(y_bar, a, b, x):
    """One less betainc: the same with the other sign."""
    slopes = betainc_in_a_and_b(a, b, x)
    return (
        unbroadcast(-y_bar * slopes[0], a),
        unbroadcast(-y_bar * slopes[1], b),
        unbroadcast(-y_bar * beta_density(a, b, x), x),
    )


@pullback(special.betaincinv)
def betaincinv_pullback(x_bar, a, b, y, *, x):
    """I(a, b, x) = y: y_bar = x_bar / I', a_bar = -x_bar * dI/da / I', b_bar = -x_bar * dI/db / I'."""
    slopes = betainc_in_a_and_b(a, b, x)
    return (
        unbroadcast(divide(-x_bar * slopes[0], beta_density(a, b, x)), a),
        unbroadcast(divide(-x_bar * slopes[1], beta_density(a, b, x)), b),
        unbroadcast(divide(x_bar, beta_density(a, b, x)), y),
    )


@pullback(special.betainccinv)
def betainccinv_pullback(x_bar, a, b, y, *, x):
    """1 - I(a, b, x) = y: y_bar = -x_bar / I', a_bar = -x_bar * dI/da / I', b_bar = -x_bar * dI/db / I'."""
    slopes = betainc_in_a_and_b(a, b, x)
    return (
        unbroadcast(divide(-x_bar * slopes[0], beta_density(a, b, x)), a),
        unbroadcast(divide(-x_bar * slopes[1], beta_density(a, b, x)), b),
        unbroadcast(divide(-x_bar, beta_density(a, b, x)), y),
    )


_TRIPLES = ((0.7, 1.4, 0.3), (_TABLE, 0.6, 0.5), (1.3, _TABLE, 0.8), (_TABLE[:, :1], _TABLE[0], 0.4), (2, 3, _STACK / 3.0),
            (_EMPTY, 1.5, 0.5), ([0.5, 1.5], 0.4, 0.3), (30.0, 27.0, 0.55), (3.0, 2.5, 0.01))  # fmt: skip
for _f in (special.betainc, special.betaincc):
    examples(_f, *_TRIPLES)
for _f in (special.betaincinv, special.betainccinv):
    examples(_f, *_TRIPLES[:-1])
