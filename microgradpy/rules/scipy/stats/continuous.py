"""scipy.stats: continuous distributions. The formulas are those of their standard forms, as in SciPy's documentation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special, stats

from microgradpy.rules.registry import examples
from microgradpy.rules.scipy.special.distributions import chi2_slopes, student_in_df
from microgradpy.rules.scipy.special.incomplete import betainc_in_a_and_b, gammainc_in_a
from microgradpy.rules.scipy.stats.families import DENSITIES, DISTRIBUTIONS, QUANTILES, Slopes, declare_continuous

LOCATIONS = (
    stats.norm,
    stats.uniform,
    stats.expon,
    stats.laplace,
    stats.cauchy,
    stats.logistic,
    stats.gumbel_r,
    stats.halfnorm,
)
"""Those that have no parameters of the shape."""


def no_shapes(z: Any) -> Slopes:
    return ()


def over(a: Any, z: Any) -> Any:
    """a / z, and 0 where a is."""
    return np.where(np.equal(a, 0.0), 0.0, np.divide(a, z))


declare_continuous(stats.norm, lambda z: (-z,), no_shapes)
declare_continuous(stats.uniform, lambda z: (0.0 * z,), no_shapes)
declare_continuous(stats.expon, lambda z: (np.full_like(z, -1.0),), no_shapes)
declare_continuous(stats.laplace, lambda z: (-np.sign(z),), no_shapes)
declare_continuous(stats.cauchy, lambda z: (-2.0 * z / (1.0 + z * z),), no_shapes)
declare_continuous(stats.logistic, lambda z: (-np.tanh(0.5 * z),), no_shapes)
declare_continuous(stats.gumbel_r, lambda z: (np.expm1(-z),), no_shapes)
declare_continuous(stats.halfnorm, lambda z: (-z,), no_shapes)


def gamma_score(z: Any, a: Any) -> Slopes:
    return over(a - 1.0, z) - 1.0, np.log(z) - special.psi(a)


def chi2_score(z: Any, df: Any) -> Slopes:
    return over(0.5 * df - 1.0, z) - 0.5, 0.5 * (np.log(0.5 * z) - special.psi(0.5 * df))


def invgamma_score(z: Any, a: Any) -> Slopes:
    return (1.0 / z - a - 1.0) / z, -np.log(z) - special.psi(a)


declare_continuous(stats.gamma, gamma_score, lambda z, a: (gammainc_in_a(a, z),))
declare_continuous(stats.chi2, chi2_score, lambda z, df: (chi2_slopes(df, z)[0],))
declare_continuous(stats.invgamma, invgamma_score, lambda z, a: (-gammainc_in_a(a, 1.0 / z),))


def beta_score(z: Any, a: Any, b: Any) -> Slopes:
    both = special.psi(a + b)
    in_z = over(a - 1.0, z) - over(b - 1.0, 1.0 - z)
    return in_z, np.log(z) - special.psi(a) + both, np.log1p(-z) - special.psi(b) + both


def t_score(z: Any, df: Any) -> Slopes:
    square = z * z
    digammas = special.psi(0.5 * (df + 1.0)) - special.psi(0.5 * df)
    in_df = 0.5 * (digammas - np.log1p(square / df) + (square - 1.0) / (df + square))
    return -(df + 1.0) * z / (df + square), in_df


declare_continuous(stats.beta, beta_score, lambda z, a, b: betainc_in_a_and_b(a, b, z))
declare_continuous(stats.t, t_score, lambda z, df: (student_in_df(df, z),))


def lognorm_score(z: Any, s: Any) -> Slopes:
    logarithm = np.log(z)
    return -(1.0 + logarithm / (s * s)) / z, (logarithm * logarithm / (s * s) - 1.0) / s


def lognorm_in_s(z: Any, s: Any) -> Slopes:
    """Of the normal distribution of log(z) / s."""
    u = np.log(z) / s
    return (-u * np.exp(-0.5 * u * u) / (s * math.sqrt(2.0 * math.pi)),)


def weibull_score(z: Any, c: Any) -> Slopes:
    power = np.power(z, c)
    return over(c - 1.0, z) - over(c * power, z), 1.0 / c + (1.0 - power) * np.log(z)


def weibull_in_c(z: Any, c: Any) -> Slopes:
    """Of 1 - exp(-z^c)."""
    power = np.power(z, c)
    return (np.exp(-power) * special.xlogy(power, z),)


declare_continuous(stats.lognorm, lognorm_score, lognorm_in_s)
declare_continuous(stats.weibull_min, weibull_score, weibull_in_c)
declare_continuous(
    stats.pareto,
    lambda z, b: (-(b + 1.0) / z, 1.0 / b - np.log(z)),
    lambda z, b: (np.power(z, -b) * np.log(z),),
)

_X = np.array([[0.3, 1.7, 0.6], [2.9, 0.8, 1.2]])
_ROW = np.array([0.5, 1.3, 0.8])
_SHARES = np.array([[0.15, 0.35, 0.6], [0.7, 0.4, 0.5]])


def _arguments(x: Any, *shapes: float) -> tuple[tuple[Any, ...], ...]:
    """Arguments of a method: one number in the standard form, and rows of shapes, places and scales against a table."""
    rows = tuple(shape * _ROW + 0.5 for shape in shapes)
    inside = x + (0.4 if x is _X else 0.08)  # with the place below, still in the support
    return (x[0, 0], *shapes), (inside, *shapes, 0.1, 1.4), (inside, *rows, 0.05, _ROW + 0.4)


_SHAPED = (
    (stats.gamma, (1.7,)), (stats.chi2, (2.7,)), (stats.invgamma, (1.7,)), (stats.t, (2.7,)), (stats.lognorm, (0.8,)),
    (stats.weibull_min, (1.6,)),
)  # fmt: skip
for _distribution, _shapes in (*((each, ()) for each in LOCATIONS), *_SHAPED):
    for _name in (*DENSITIES, *DISTRIBUTIONS):
        examples(getattr(_distribution, _name), *_arguments(_X if _distribution is not stats.uniform else _SHARES, *_shapes))
    for _name in QUANTILES:
        examples(getattr(_distribution, _name), *_arguments(_SHARES, *_shapes))
for _name in (*DENSITIES, *DISTRIBUTIONS):
    examples(getattr(stats.beta, _name), *_arguments(_SHARES, 1.7, 2.3))
    examples(getattr(stats.pareto, _name), *((x + 1.5, b, *rest) for x, b, *rest in _arguments(_X, 1.6)))
    examples(getattr(stats.norm, _name), (-3.0,), (np.array([-8.0, 5.0]), 0.5, 0.9), (np.zeros((0, 3)), 0.1), ([0.5, 1.5],))
    examples(getattr(stats.gamma, _name), (-0.4, 1.7), (0.3, 1.7, 0.9, 1.2))
for _name in QUANTILES:
    examples(getattr(stats.beta, _name), *_arguments(_SHARES, 1.7, 2.3))
    examples(getattr(stats.pareto, _name), *_arguments(_SHARES, 1.6))
