"""Interpolation through points and what is computed of samples, within programs; and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from scipy import interpolate, stats

from microgradpy import DifferentiationError, MissingRuleError, gradient, jvp, pullback
from microgradpy.compiler import always_dispatch, always_track
from tests.finite_differences import differences

pytestmark = pytest.mark.filterwarnings("ignore:`lagrange` is deprecated")
X = np.array([0.3, 1.1, 2.4, 3.7])
POINT = np.array([0.5, 0.9, 2.7, 3.3])
W = np.array([0.4, -1.2, 0.9, 2.0])
PLACES = np.array([0.8, 1.9, 3.1])
SPLINE = interpolate.splrep(np.linspace(0.0, 4.0, 8), np.sin(np.linspace(0.0, 4.0, 8)))


def through_values(x):
    y = np.sin(x)
    krogh = interpolate.krogh_interpolate(X, y, PLACES)
    return krogh @ interpolate.barycentric_interpolate(X, y * x, PLACES) + interpolate.pchip_interpolate(X, y, PLACES).sum()


def at_places(x):
    total = interpolate.krogh_interpolate(X, W, 0.7 * x).sum() * interpolate.barycentric_interpolate(x, W, 1.3)
    return total + interpolate.lagrange(X, x)(x[1]) * interpolate.lagrange(x, W).coef[0] + interpolate.lagrange(X, W)(x[0])


def along_a_spline(x):
    t, c, k = SPLINE
    return interpolate.splev(x, SPLINE) @ W + interpolate.splev(0.9, (t, x[2] * c, k), der=1)


def fitted(x):
    result = stats.linregress(W, x)
    slope, intercept, r, p, error = stats.linregress(x, W)
    return result.slope * result.intercept + result.rvalue * result.stderr + result.pvalue + slope * intercept + r * p * error


def moments(x):
    table = np.outer(x, W) + 0.1 * x
    return stats.skew(x) * stats.kurtosis(x) + stats.gmean(x) + stats.hmean(x) * stats.sem(x) + stats.skew(table, 1) @ x


def scores(x):
    out = np.zeros(4)
    out[:] = stats.zscore(x)
    return out @ W


@pytest.mark.parametrize("context", [nullcontext, always_dispatch, always_track])
@pytest.mark.parametrize("f", [through_values, at_places, along_a_spline, fitted, moments, scores])
def test_programs(f: Callable[..., Any], context: Any) -> None:
    expected = differences(f, (POINT,))
    with context():
        y, back = pullback(f, POINT)
        np.testing.assert_allclose(back(1.0)[1], expected, rtol=1e-6, atol=1e-8)
        np.testing.assert_array_equal(back(1.0)[1], back(1.0)[1])
        found = jvp(f, (POINT,), (W,))
    assert y == f(POINT) == found[0]
    np.testing.assert_allclose(found[1], expected @ W, rtol=1e-6)


def of_a_fitted_spline(x):
    return interpolate.splev(1.3, interpolate.splrep(X, x))


def through_points_that_are_there_twice(x):
    return interpolate.krogh_interpolate([0.0, 0.0, 1.0, 2.0], x, 0.5)


def the_error_of_the_intercept(x):
    return stats.linregress(X, x).intercept_stderr


def of_a_lower_degree(x):
    return interpolate.lagrange(x, 0.0 * x)(0.4)


REFUSED = [of_a_lower_degree, of_a_fitted_spline, through_points_that_are_there_twice, the_error_of_the_intercept]


@pytest.mark.parametrize("f", REFUSED)
def test_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(MissingRuleError):
        gradient(f, POINT)
    with pytest.raises(DifferentiationError):
        jvp(f, (POINT,), (W,))
