"""What the examples of the rules for scipy.special do not reach: tails, unused results, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import special

from microgradpy import MissingRuleError, gradient
from tests.finite_differences import differences, flatten_cotangent

VECTOR = np.array([0.7, 1.4, 2.2])


@pytest.mark.parametrize(
    "f, args",
    [
        (special.gammaincc, (0.5, 40.0)),
        (special.gammaincc, (100.0, 160.0)),
        (special.gammaincc, (3.0, 3.6)),
        (special.gammainc, (100.0, 40.0)),
        (special.gammainc, (0.01, 0.03)),
        (special.betainc, (100.0, 200.0, 0.1)),
        (special.betaincc, (100.0, 200.0, 0.6)),
        (special.betainc, (0.5, 0.6, 0.03)),
        (special.stdtr, (2.5, -500.0)),
        (special.stdtr, (1e4, -6.0)),
        (special.stdtr, (40.0, -0.5)),
        (special.betainc, (3e3, 0.4, 0.9995)),
        (special.betainc, (51.0, 60.0, 0.44)),
        (special.erfc, (20.0,)),
        (special.ndtr, (-30.0,)),
    ],
    ids=str,
)
def test_tails_have_all_their_digits(f: Any, args: tuple[float, ...]) -> None:
    def logarithm(*xs):
        return np.log(f(*xs))

    expected = differences(logarithm, args, step=1e-4 / max(1.0, *map(abs, args)))
    np.testing.assert_allclose(flatten_cotangent(args, gradient(logarithm, *args)), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "f, x, slope",
    [
        (special.log_ndtr, -1e8, 1e8),
        (special.log_ndtr, 30.0, math.exp(-450.0) / math.sqrt(2.0 * math.pi)),
        (special.erfcx, 1e9, -1e-18 / math.sqrt(math.pi)),
        (special.dawsn, 1e9, -0.5e-18),
        (special.expit, 50.0, math.exp(-50.0)),
        (special.log_expit, -800.0, 1.0),
        (special.exprel, 1e-12, 0.5),
        (special.pseudo_huber, 1e9, 1e9),
        (special.rgamma, -3.0, -6.0),
    ],
    ids=str,
)
def test_slopes_far_out_and_at_poles(f: Any, x: float, slope: float) -> None:
    def at_point(x):
        return f(1e12, x) if f is special.pseudo_huber else f(x)

    np.testing.assert_allclose(gradient(at_point, x)[0], slope, rtol=1e-6)


def first_of_fresnel(x):
    return special.fresnel(x)[0] * 2.0


def cosine_amplitude(u):
    _, cn, _, _ = special.ellipj(u, 0.4)
    return cn


def second_of_sici(x):
    _, cosine = special.sici(x)
    return cosine


def derivative_of_airy(x):
    return special.airy(x)[3]


@pytest.mark.parametrize("f", [first_of_fresnel, cosine_amplitude, second_of_sici, derivative_of_airy])
def test_results_that_are_not_used(f: Any) -> None:
    np.testing.assert_allclose(gradient(f, 0.7), differences(f, (0.7,)), rtol=1e-7)


def into_an_array(x):
    out = np.zeros(3)
    special.gamma(x * 2.0, out=out)
    out[0] = 5.0
    return np.sum(special.psi(out, out))


def test_results_that_are_written_into_an_array() -> None:
    def by_value(x):
        y = special.gamma(x * 2.0)
        return np.sum(special.psi(np.array([5.0, y[1], y[2]])))

    np.testing.assert_allclose(gradient(into_an_array, VECTOR)[0], differences(by_value, (VECTOR,)), rtol=1e-6, atol=1e-8)


def of_another_dtype(x):
    return np.sum(special.gamma(x, dtype=np.float32))


def of_no_casting(x):
    return np.sum(special.beta(x, 1.5, casting="no"))


def with_an_outer(x):
    return np.sum(special.beta.outer(x, x))


@pytest.mark.parametrize("f", [of_another_dtype, of_no_casting])
def test_keywords_of_ufuncs_are_refused(f: Any) -> None:
    with pytest.raises(MissingRuleError, match="does not take these arguments"):
        gradient(f, VECTOR)


def test_the_outer_product_of_a_ufunc() -> None:
    np.testing.assert_allclose(gradient(with_an_outer, VECTOR)[0], differences(with_an_outer, (VECTOR,)), rtol=1e-6)


@pytest.mark.parametrize(
    "f, words",
    [
        (lambda v: special.jv(v, 2.0), "Bessel function in its order"),
        (lambda a: special.hyp1f1(a, 2.0, 1.5), "hypergeometric function in a parameter"),
        (lambda x: special.zeta(x, 2.0), "zeta function in its exponent"),
        (lambda n: special.comb(n, 2, repetition=True), "with repetition"),
        (lambda m: special.ellipj(0.5, m)[0], "Jacobi's elliptic functions in m"),
        (lambda x: special.elliprf(x, 1.0, 2.0), "elliprf has neither a rule nor a source"),
    ],
)
def test_what_is_not_known_is_refused_when_it_is_needed(f: Any, words: str) -> None:
    with pytest.raises(MissingRuleError, match=words):
        gradient(f, 1.3)


def test_what_is_not_known_does_not_matter_otherwise() -> None:
    np.testing.assert_allclose(gradient(lambda x: special.jv(0.5, x), 1.3), differences(lambda x: special.jv(0.5, x), (1.3,)))
