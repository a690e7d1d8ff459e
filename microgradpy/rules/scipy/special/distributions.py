"""scipy.special: distributions of probability, which are incomplete gamma and beta functions of other arguments.

chdtr(v, x) = P(v/2, x/2)         gdtr(a, b, x) = P(b, a x)         pdtr(k, m) = 1 - P(k+1, m)
fdtr(d, e, x) = I(d/2, e/2, d x / (e + d x))                        stdtr(v, t) = 1 - I(v/2, 1/2, v / (v + t^2)) / 2, t > 0
bdtr(k, n, p) = I(n-k, k+1, 1-p)                                    nbdtr(k, n, p) = I(n, k+1, p)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from microgradpy.rules.derivatives import derivative, pullback
from microgradpy.rules.registry import examples
from microgradpy.rules.scipy.special.incomplete import beta_density, betainc_in_a_and_b, gamma_density, gammainc_in_a
from microgradpy.rules.scipy.special.operands import numbers, rounded_like
from microgradpy.tangents.arithmetic import divide, unbroadcast
from microgradpy.tangents.casts import python_number
from microgradpy.tangents.helpers import cotangent_of_call, like
from microgradpy.tangents.types import NoTangent

_TABLE = np.array([[0.3, 1.7, 0.6], [2.9, 0.8, 4.2]])
_EMPTY = np.zeros((0, 3))
_PAIRS = ((2.7, 1.4), (_TABLE, 0.6), (3, _TABLE), (_TABLE[:, :1], _TABLE[0]), (_EMPTY, 1.5), ([1.5, 2.5], 0.4))
_SHARES = (
    (2.7, 0.4),
    (_TABLE + 1.0, 0.6),
    (3, _TABLE / 5.0),
    (_TABLE[:, :1] + 1.0, _TABLE[0] / 2.0),
    (_EMPTY, 0.5),
    ([1.5, 2.5], 0.4),
)


def chi2_slopes(v: Any, x: Any) -> tuple[Any, Any]:
    """The derivatives of P(v/2, x/2) in v and x."""
    v, x = 0.5 * numbers(v), 0.5 * numbers(x)
    return 0.5 * gammainc_in_a(v, x), 0.5 * gamma_density(v, x)


@pullback(special.chdtr)
def chdtr_pullback(y_bar, v, x):
    """P(v/2, x/2): half of the derivatives of `gammainc`."""
    slopes = chi2_slopes(v, x)
    return unbroadcast(y_bar * slopes[0], v), unbroadcast(y_bar * slopes[1], x)


@pullback(special.chdtrc)
def chdtrc_pullback(y_bar, v, x):
    """One less `chdtr`."""
    slopes = chi2_slopes(v, x)
    return unbroadcast(-y_bar * slopes[0], v), unbroadcast(-y_bar * slopes[1], x)


@pullback(special.chdtri)
def chdtri_pullback(x_bar, v, p, *, x):
    """chdtrc(v, x) = p: p_bar = -x_bar / P', v_bar = -x_bar * dP/dv / P'."""
    slopes = chi2_slopes(v, x)
    return unbroadcast(divide(-x_bar * slopes[0], slopes[1]), v), unbroadcast(divide(-x_bar, slopes[1]), p)


examples(special.chdtr, *_PAIRS)
examples(special.chdtrc, *_PAIRS)
examples(special.chdtri, *_SHARES)


def gamma_slopes(a: Any, b: Any, x: Any) -> tuple[Any, Any, Any]:
    """The derivatives of P(b, a x) in a, b and x."""
    a, x = numbers(a), numbers(x)
    density = gamma_density(b, a * x)
    return density * x, gammainc_in_a(b, a * x), density * a


@pullback(special.gdtr)
def gdtr_pullback(y_bar, a, b, x):
    """P(b, a x)."""
    slopes = gamma_slopes(a, b, x)
    return unbroadcast(y_bar * slopes[0], a), unbroadcast(y_bar * slopes[1], b), unbroadcast(y_bar * slopes[2], x)


@pullback(special.gdtrc)
def gdtrc_pullback(y_bar, a, b, x):
    """One less `gdtr`."""
    slopes = gamma_slopes(a, b, x)
    return unbroadcast(-y_bar * slopes[0], a), unbroadcast(-y_bar * slopes[1], b), unbroadcast(-y_bar * slopes[2], x)


for _f in (special.gdtr, special.gdtrc):
    examples(_f, *((a, 1.3, x) for a, x in _PAIRS), (0.7, _TABLE, 2.5), (1, 2, 1.5))


@pullback(special.pdtr)
def pdtr_pullback(y_bar, k, m):
    """1 - P(k + 1, m) with a whole k: m_bar = -y_bar * m^k exp(-m) / k!."""
    return NoTangent(), unbroadcast(-y_bar * gamma_density(following(k), m), m)


@pullback(special.pdtrc)
def pdtrc_pullback(y_bar, k, m):
    """P(k + 1, m) with a whole k: m_bar = y_bar * m^k exp(-m) / k!."""
    return NoTangent(), unbroadcast(y_bar * gamma_density(following(k), m), m)


@like(0)
def following(k: Any) -> Any:
    """One more than the whole part of k."""
    return python_number(np.floor(numbers(k))) + 1.0


_COUNTS = (
    (2, 1.4),
    (0, _TABLE),
    (np.array([0, 1, 3]), _TABLE),
    (np.array([[1], [2]]), 1.5),
    (2, _EMPTY),
    (1, [0.5, 1.5]),
    (2.4, 1.7),
)
examples(special.pdtr, *_COUNTS)
examples(special.pdtrc, *_COUNTS)


@pullback(special.bdtr)
def bdtr_pullback(y_bar, k, n, p):
    """I(n - k, k + 1, 1 - p) with whole k and n: p_bar = -y_bar * I'."""
    return NoTangent(), NoTangent(), unbroadcast(-y_bar * binomial_slope(k, n, p), p)


@pullback(special.bdtrc)
def bdtrc_pullback(y_bar, k, n, p):
    """One less `bdtr`."""
    return NoTangent(), NoTangent(), unbroadcast(y_bar * binomial_slope(k, n, p), p)


def binomial_slope(k: Any, n: Any, p: Any) -> Any:
    """p^k (1 - p)^(n-k-1) / B(n - k, k + 1), and 0 for k = n, where the distribution is 1."""
    k = np.floor(k)
    rest = np.subtract(n, k)
    density = beta_density(np.add(k, 1.0), np.where(rest > 0.0, rest, 1.0), p)
    return np.where(rest > 0.0, density, np.where(rest == 0.0, 0.0, np.nan))[()]


@pullback(special.nbdtr)
def nbdtr_pullback(y_bar, k, n, p):
    """I(n, k + 1, p) with whole k and n: p_bar = y_bar * I'."""
    slope = beta_density(n, following(k), p)
    return NoTangent(), NoTangent(), unbroadcast(y_bar * slope, p)


_PROBABILITIES = _TABLE / 5.0
_TRIALS = ((2, 5, 0.4), (0, np.array(3), _PROBABILITIES), (np.array([0, 1, 3]), 4, _PROBABILITIES),
           (2, np.array([[3], [4]]), _PROBABILITIES), (1, 2, _EMPTY), (1, 3, [0.5, 0.2]))  # fmt: skip
for _f in (special.bdtr, special.bdtrc, special.nbdtr):
    examples(_f, *_TRIALS)
examples(special.bdtr, (3, 3, 0.4))


def f_slopes(d: Any, e: Any, x: Any) -> tuple[Any, Any, Any]:
    """The derivatives of I(d/2, e/2, w), w = d x / (e + d x), in d, e and x."""
    d, e, x = numbers(d), numbers(e), numbers(x)
    whole = e + d * x
    w = divide(d * x, whole)
    in_a, in_b = betainc_in_a_and_b(0.5 * d, 0.5 * e, w)
    density = divide(beta_density(0.5 * d, 0.5 * e, w), whole * whole)
    return 0.5 * in_a + density * x * e, 0.5 * in_b - density * d * x, density * d * e


@pullback(special.fdtr)
def fdtr_pullback(y_bar, dfn, dfd, x):
    """I(d/2, e/2, d x / (e + d x))."""
    slopes = f_slopes(dfn, dfd, x)
    return unbroadcast(y_bar * slopes[0], dfn), unbroadcast(y_bar * slopes[1], dfd), unbroadcast(y_bar * slopes[2], x)


@pullback(special.fdtrc)
def fdtrc_pullback(y_bar, dfn, dfd, x):
    """One less `fdtr`."""
    slopes = f_slopes(dfn, dfd, x)
    return unbroadcast(-y_bar * slopes[0], dfn), unbroadcast(-y_bar * slopes[1], dfd), unbroadcast(-y_bar * slopes[2], x)


for _f in (special.fdtr, special.fdtrc):
    examples(_f, *((d, 1.3, x) for d, x in _PAIRS), (2.7, _TABLE, 2.5), (1, 2, 1.5))


@cotangent_of_call(np.add, 0, 1)
def student_density(df: Any, t: Any) -> Any:
    """Gamma((v+1)/2) / (Gamma(v/2) sqrt(v pi)) (1 + t^2/v)^(-(v+1)/2), which is that of the normal distribution for v = inf."""
    with np.errstate(all="ignore"):
        df, t = numbers(df), numbers(t)
        height = special.poch(0.5 * df, 0.5) / np.sqrt(df * math.pi)
        student = height * np.exp(-0.5 * (df + 1.0) * np.log1p(t * t / df))
        return rounded_like(np.where(np.isposinf(df), np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi), student), df, t)


@cotangent_of_call(np.add, 0, 1)
def student_in_df(df: Any, t: Any) -> Any:
    """The derivative of Student's distribution in v: that of -sign(t) I(v/2, 1/2, x) / 2 with x = v / (v + t^2), or where t is
    small of sign(t) I(1/2, v/2, 1 - x) / 2. For t = 0 and for v = inf it is 0."""
    with np.errstate(all="ignore"):
        df, t = numbers(df), numbers(t)
        square = t * t
        x, y = df / (df + square), square / (df + square)
        far, _ = betainc_in_a_and_b(0.5 * df, 0.5, np.where(square > df, x, 0.5))
        _, near = betainc_in_a_and_b(0.5, 0.5 * df, np.where(square > df, 0.5, y))
        moved = beta_density(0.5 * df, 0.5, x) * square / (df + square) ** 2
        in_df = -0.5 * np.sign(t) * (0.5 * np.where(square > df, far, -near) + moved)
        return rounded_like(np.where((t == 0.0) | np.isposinf(df), 0.0 * np.sign(t), in_df), df, t)


@pullback(student_in_df)
def student_in_df_pullback(y_bar, df, t):
    """In t it is the derivative of the density in v, also at 0, where the text has a square root."""
    return ..., unbroadcast(y_bar * student_density_in_df(df, t), t)


def student_density_in_df(df: Any, t: Any) -> Any:
    """The derivative of Student's density in v."""
    with np.errstate(all="ignore"):
        df, t = numbers(df), numbers(t)
        square = t * t
        slope = special.psi(0.5 * (df + 1.0)) - special.psi(0.5 * df) - 1.0 / df - np.log1p(square / df)
        slope = 0.5 * student_density(df, t) * (slope + (df + 1.0) * square / (df * (df + square)))
        return rounded_like(np.where(np.isposinf(df), 0.0, slope), df, t)


examples(student_in_df, (2.5, 0.7), (2.5, 0.0), (np.array([1.5, 4.0]), -0.4), (3.0, np.array([0.0, 2.5])))


@derivative(special.stdtr)
def stdtr_derivative(df, t):
    """t_bar = y_bar * Student's density, df_bar = y_bar * the derivative of his distribution."""
    return student_in_df(df, t), student_density(df, t)


@derivative(special.stdtrit)
def stdtrit_derivative(df, p, *, t):
    """stdtr(df, t) = p: p_bar = t_bar / density, df_bar = -t_bar * d stdtr / d df / density."""
    return divide(-student_in_df(df, t), student_density(df, t)), divide(1.0, student_density(df, t))


examples(special.stdtr, *_PAIRS, (2.7, -1.4), (3.5, 0.01), (2.5, -30.0))
examples(special.stdtrit, *_SHARES)
