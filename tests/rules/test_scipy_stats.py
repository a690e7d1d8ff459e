"""What the examples of the rules for scipy.stats do not reach: keywords, borders, tails, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.stats import norm

from microgradpy import DifferentiationError, MissingRuleError, NoTangent, gradient, jvp, pullback, rrule
from microgradpy.compiler import always_dispatch, always_track
from microgradpy.rules.registry import opt_out
from tests.finite_differences import differences, flatten_cotangent

SAMPLE = np.array([0.4, 1.3, 2.6])
COVARIANCE = np.array([[1.5, 0.3], [0.3, 0.9]])


def by_keywords(place, width):
    return np.sum(norm.logpdf(SAMPLE, scale=width, loc=place))


def a_shape_by_keyword(a, width):
    return np.sum(stats.gamma.logpdf(SAMPLE, a=a, scale=width))


def as_an_argument(a, width, distribution=stats.gamma):
    return np.sum(distribution.cdf(SAMPLE, a, 0.1, width))


def with_a_write(a, width):
    total = [0.0]
    for x in SAMPLE:
        total[0] += stats.t.logpdf(x, a, 0.2, width)
    return total[0]


def a_mean_by_keyword(a, width):
    return stats.multivariate_normal.logpdf(SAMPLE[:2], mean=np.stack([a, width]), cov=width * COVARIANCE)


def with_constants_of_any_kind(a, width):
    frozen = norm(0.5, 2.0)
    return a * width * stats.cosine.logpdf(0.3, loc=0.1) * frozen.mean() * frozen.logpdf(1.5)


@pytest.mark.parametrize("context", [nullcontext, always_dispatch, always_track])
@pytest.mark.parametrize(
    "f", [by_keywords, a_shape_by_keyword, as_an_argument, with_a_write, a_mean_by_keyword, with_constants_of_any_kind]
)
def test_calls_of_all_forms(f: Callable[..., Any], context: Any) -> None:
    with context():
        found = gradient(f, 1.7, 0.8)
    np.testing.assert_allclose(found, differences(f, (1.7, 0.8)), rtol=1e-7)


@pytest.mark.parametrize(
    "method, args, bars",
    [
        (stats.expon.pdf, (-0.5, 0.0, 2.0), (0.0, 0.0, 0.0)),
        (stats.expon.logpdf, (-0.5, 0.0, 2.0), (0.0, 0.0, 0.0)),
        (stats.expon.cdf, (-0.5, 0.0, 2.0), (0.0, 0.0, 0.0)),
        (stats.uniform.sf, (3.0, 0.0, 2.0), (0.0, 0.0, 0.0)),
        (stats.gamma.pdf, (-0.5, 1.5), (0.0, 0.0)),
        (stats.gamma.logpdf, (0.0, 1.0), (-1.0, -np.inf)),
        (stats.norm.pdf, (0.5, 0.0, -1.0), (np.nan, np.nan, np.nan)),
        (stats.gamma.cdf, (0.5, -1.0), (np.nan, np.nan)),
        (stats.poisson.pmf, (1.5, 2.0), (0.0, 0.0)),
    ],
)
def test_borders_and_wrong_parameters(method: Any, args: tuple[float, ...], bars: tuple[float, ...]) -> None:
    def value(*args):
        return method(*args)

    found = [0.0 if bar is None else bar for bar in gradient(value, *args)]
    np.testing.assert_array_equal(found, bars)


@pytest.mark.parametrize(
    "method, args",
    [
        (stats.norm.logcdf, (-30.0, 0.5, 1.5)),
        (stats.norm.logsf, (25.0, 0.5, 1.5)),
        (stats.gamma.logsf, (60.0, 2.5, 0.1, 1.2)),
        (stats.gamma.logcdf, (0.5, 40.0, 0.1, 1.2)),
        (stats.t.logcdf, (-300.0, 2.5, 0.1, 1.2)),
        (stats.beta.logcdf, (0.1, 30.0, 20.0)),
        (stats.chi2.logsf, (90.0, 3.5)),
    ],
)
def test_tails_have_all_their_digits(method: Any, args: tuple[float, ...]) -> None:
    expected = differences(method, args, step=1e-4)
    np.testing.assert_allclose(flatten_cotangent(args, gradient(lambda *xs: method(*xs), *args)), expected, rtol=1e-5)


class Doubled(type(norm)):  # type: ignore[misc]
    """The class of `norm` again, with another density."""

    def _logpdf(self, x):
        return -2.0 * x * x


doubled = Doubled(name="doubled")
outside = norm(0.3, scale=1.4)
REFUSED: list[Callable[..., Any]] = [
    lambda x: norm.fit([x, 1.0]),
    lambda x: norm(x, 2.0).rvs(),
    lambda x: norm.stats(x),
    lambda x: norm.expect(None, (), x),
    lambda x: stats.multivariate_normal(np.zeros(2) + x).logpdf(SAMPLE[:2]),
]


@pytest.mark.parametrize("context", [nullcontext, always_dispatch, always_track])
@pytest.mark.parametrize("f", REFUSED)
def test_other_methods_are_refused(f: Callable[..., Any], context: Any) -> None:
    with context(), pytest.raises(MissingRuleError, match="SciPy's distributions") as caught:
        gradient(f, 1.5)
    assert "norm.logpdf(x, loc, scale)" in str(caught.value)
    with context(), pytest.raises(MissingRuleError, match="SciPy's distributions"):
        jvp(f, (1.5,), (1.0,))


def test_formulas_that_cannot_be_differentiated_are_refused() -> None:
    with pytest.raises(MissingRuleError, match=r"tukeylambda\.logpdf, whose formula cannot be differentiated"):
        gradient(lambda x: stats.tukeylambda.logpdf(x, 0.3), 0.4)
    with pytest.raises(MissingRuleError, match="an integral"):
        gradient(lambda a: stats.exponweib.entropy(a, 1.2), 1.5)


class Scaled(stats.rv_continuous):
    """A distribution of the user's, with a parameter of the shape."""

    def _pdf(self, x, a):
        return a * np.exp(-a * x)


scaled = Scaled(a=0.0, name="scaled")
FROZEN: list[Callable[..., Any]] = [
    lambda x, s: norm(x, s).logpdf(1.0) * x,
    lambda x, s: np.sum(norm(loc=x, scale=s).cdf(SAMPLE)) + outside.logpdf(x) + outside.ppf(0.2 * s),
    lambda x, s: stats.gamma(s, scale=x).mean() * stats.gamma(a=s).std() + stats.gamma(x, 0.1, s).var(),
    lambda x, s: norm(x, s).interval(0.7)[1] * norm(x, s).median() + outside.interval(0.4 * s)[0],
    lambda x, s: stats.weibull_min(x, scale=s).entropy() + norm.freeze(x, s).isf(0.3),
    lambda x, s: stats.poisson(x).pmf(2) * stats.poisson(s).mean() + stats.binom(5, 0.3 * x).logpmf(2),
    lambda x, s: sum(each.logpdf(0.4) for each in [norm(x, s), stats.logistic(s, x), outside]) * x,
    lambda x, s: stats.cosine.logpdf(0.2 * x, s) + stats.rayleigh(x, s).logsf(4.0) + doubled.logpdf(x, s),
    lambda x, s: norm.mean(x, s) * norm.std(scale=s) + stats.weibull_max.var(x, 0.1, s) + norm.interval(0.5, x, scale=s)[0],
    lambda x, s: scaled.logpdf(0.4, x, 0.1, s) + scaled.cdf(0.7 * s, 1.2) + scaled(x).pdf(0.3),
    lambda x, s: norm._logpdf(x) * stats.gamma._cdf(s, 1.7) + stats.genextreme.logpdf(0.3, 0.2, x, s),
]


def looked_up(x, s):
    frozen = {"a": norm(x, s), "b": stats.expon(scale=s)}
    total = [0.0]
    for name in "ab":
        total[0] += frozen[name].sf(1.7 * x)
    return total[0]


def of_a_method_that_is_kept(x, s):
    density = norm(x, s).logpdf

    def loss(values):
        return sum(map(density, values))

    return loss(SAMPLE) + loss([x * s])


@pytest.mark.parametrize("context", [nullcontext, always_dispatch, always_track])
@pytest.mark.parametrize("f", [*FROZEN, looked_up, of_a_method_that_is_kept])
def test_frozen_distributions_and_formulas_of_any(f: Callable[..., Any], context: Any) -> None:
    expected = differences(f, (1.3, 0.8))
    with context():
        y, back = pullback(f, 1.3, 0.8)
        np.testing.assert_allclose(back(1.0)[1:], expected, rtol=1e-6)
        assert back(1.0) == back(1.0)
        found = jvp(f, (1.3, 0.8), (1.0, 0.5))
    assert y == f(1.3, 0.8) == found[0]
    np.testing.assert_allclose(found[1], expected[0] + 0.5 * expected[1], rtol=1e-6)


def test_a_frozen_distribution_as_an_argument() -> None:
    bar = gradient(lambda frozen: frozen.logpdf(1.0) + frozen.mean(), stats.norm(0.3, scale=1.4))[0]
    expected = differences(lambda x, s: norm.logpdf(1.0, x, s) + x, (0.3, 1.4))
    np.testing.assert_allclose([bar["args"][0], bar["kwds"]["scale"]], expected)


def test_what_a_distribution_of_the_users_keeps_is_refused() -> None:
    def kept(x):
        made = Scaled(a=0.0, name="made")
        made.rate = x
        return made.pdf(0.3, 1.2)

    with pytest.raises(DifferentiationError):
        gradient(kept, 1.5)


@pytest.fixture
def rule_of_cosine() -> Iterator[None]:
    @rrule.register(stats.cosine.logpdf)
    def cosine_logpdf_rrule(x):
        return stats.cosine.logpdf(x), lambda y_bar: (NoTangent(), -y_bar * np.sin(x) / (1.0 + np.cos(x)))

    yield
    opt_out(stats.cosine.logpdf)


@pytest.mark.usefixtures("rule_of_cosine")
def test_the_remedy_works() -> None:
    np.testing.assert_allclose(gradient(lambda x: stats.cosine.logpdf(x), 0.7), differences(stats.cosine.logpdf, (0.7,)))


def singular(scale):
    return stats.multivariate_normal.logpdf(SAMPLE[:2], None, scale * np.ones((2, 2)), True)


def singular_in_the_mean(place):
    return stats.multivariate_normal.logpdf(np.array([0.5, 0.5]), np.stack([place, place]), np.ones((2, 2)), True)


def test_singular_covariances() -> None:
    np.testing.assert_allclose(gradient(singular_in_the_mean, 0.2), differences(singular_in_the_mean, (0.2,)), rtol=1e-7)
    with pytest.raises(MissingRuleError, match="allow_singular"):
        gradient(singular, 1.5)
