"""scipy.stats: discrete distributions. They have derivatives in the parameters of the shape that are real numbers, not in the
number k, nor in the place, nor in a number of trials."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from microgradpy.rules.registry import examples
from microgradpy.rules.scipy.special.distributions import binomial_slope
from microgradpy.rules.scipy.special.incomplete import beta_density, betainc_in_a_and_b, gamma_density
from microgradpy.rules.scipy.stats.families import DISTRIBUTIONS, Slopes, declare_discrete

declare_discrete(stats.poisson, lambda k, mu: ((k - mu) / mu,), lambda k, mu: (-gamma_density(k + 1.0, mu),))
declare_discrete(
    stats.binom,
    lambda k, n, p: (None, k / p - (n - k) / (1.0 - p)),
    lambda k, n, p: (None, -binomial_slope(k, n, p)),
)
declare_discrete(
    stats.geom,
    lambda k, p: (1.0 / p - (k - 1.0) / (1.0 - p),),
    lambda k, p: (k * np.power(1.0 - p, k - 1.0),),
)
declare_discrete(
    stats.bernoulli,
    lambda k, p: (np.where(k == 1.0, 1.0 / p, -1.0 / (1.0 - p)),),
    lambda k, p: (np.where(k == 0.0, -1.0, 0.0) + 0.0 * p,),
)


def nbinom_score(k: Any, n: Any, p: Any) -> Slopes:
    return special.psi(k + n) - special.psi(n) + np.log(p), n / p - k / (1.0 - p)


def nbinom_in_shapes(k: Any, n: Any, p: Any) -> Slopes:
    """Of I(n, k + 1, p)."""
    return betainc_in_a_and_b(n, k + 1.0, p)[0], beta_density(n, k + 1.0, p)


declare_discrete(stats.nbinom, nbinom_score, nbinom_in_shapes)

_K = np.array([[0, 1, 2], [3, 1, 4]])
_MEANS = np.array([0.7, 1.9, 2.6])
_P = np.array([0.3, 0.45, 0.6])
for _name in ("pmf", "logpmf", *DISTRIBUTIONS):
    examples(getattr(stats.poisson, _name), (2, 1.4), (_K, 1.4), (_K, _MEANS), (_K[:, :1], _MEANS, 1), ([0, 2], 1.1))
    examples(getattr(stats.binom, _name), (2, 5, 0.4), (_K, 5, 0.4), (_K, np.array([4, 5, 6]), _P), (_K, 5, _P, 0), (4, 4, 0.3))
    examples(getattr(stats.nbinom, _name), (2, 2.5, 0.4), (_K, 2.5, 0.4), (_K, _MEANS, _P), (_K, 3, _P, -1), ([0, 2], 1.1, 0.6))
    examples(getattr(stats.geom, _name), (2, 0.4), (_K + 1, _P), (_K, 0.4, -1))
    examples(getattr(stats.bernoulli, _name), (1, 0.4), (_K % 2, _P))
    examples(getattr(stats.poisson, _name), (np.zeros((0, 3)), 1.4))
for _name in ("cdf", "sf"):
    examples(getattr(stats.poisson, _name), (2.6, 1.4), (-1, 1.4))
    examples(getattr(stats.binom, _name), (2.6, 5, 0.4), (7, 5, 0.4))
examples(stats.poisson.pmf, (2.6, 1.4), (-1, 1.4))
