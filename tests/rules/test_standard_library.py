"""Calls of numpy.polynomial and of Python's standard library: the value and the gradient, in both modes."""

from __future__ import annotations

import cmath
import functools
import itertools
import math
import operator
import statistics
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Polynomial
from numpy.polynomial import chebyshev as C
from numpy.polynomial import hermite as H
from numpy.polynomial import hermite_e as HE
from numpy.polynomial import laguerre as LG
from numpy.polynomial import legendre as L
from numpy.polynomial import polynomial as P

from microgradpy import MissingRuleError, gradient
from microgradpy.compiler import always_track
from microgradpy.rules.registry import is_non_differentiable, rrule
from tests.call_checks import check_call
from tests.names import NUMPY
from tests.ways import chosen

CALLS: list[Callable[..., Any]] = [
    lambda x, y, A, B, S, k: P.polyval(k, x),
    lambda x, y, A, B, S, k: P.polyval(x, y),
    lambda x, y, A, B, S, k: P.polyval(x, A),
    lambda x, y, A, B, S, k: P.polyvalfromroots(k, x),
    lambda x, y, A, B, S, k: P.polyadd(x, y),
    lambda x, y, A, B, S, k: P.polysub(x, y[:2]),
    lambda x, y, A, B, S, k: P.polymul(x, y),
    lambda x, y, A, B, S, k: P.polymulx(x),
    lambda x, y, A, B, S, k: P.polydiv(x, y[:2]),
    lambda x, y, A, B, S, k: P.polypow(x, 3),
    lambda x, y, A, B, S, k: P.polyder(x),
    lambda x, y, A, B, S, k: P.polyder(x, 2),
    lambda x, y, A, B, S, k: P.polyder(x, scl=2.0),
    lambda x, y, A, B, S, k: P.polyint(x),
    lambda x, y, A, B, S, k: P.polyint(x, 2, k=[1.0, 2.0]),
    lambda x, y, A, B, S, k: P.polyint(x, lbnd=k),
    lambda x, y, A, B, S, k: P.polyfit(x, y, 1),
    lambda x, y, A, B, S, k: P.polyfit(x, y, 2),
    lambda x, y, A, B, S, k: P.polyfit(x, y, [0,1], w=[1.0,2.0,1.0]),
    lambda x, y, A, B, S, k: P.polyvander(x, 3),
    lambda x, y, A, B, S, k: P.polyvander2d(x, y, [1,2]),
    lambda x, y, A, B, S, k: P.polyfromroots(x),
    lambda x, y, A, B, S, k: P.polyroots(np.array([6.0,-5.0,1.0]) * (1 + 0.1 * k)),
    lambda x, y, A, B, S, k: P.polycompanion(x),
    lambda x, y, A, B, S, k: P.polyline(k, 2.0),
    lambda x, y, A, B, S, k: P.polytrim(x),
    lambda x, y, A, B, S, k: C.chebval(k, x),
    lambda x, y, A, B, S, k: C.chebval(x, y),
    lambda x, y, A, B, S, k: C.chebadd(x, y),
    lambda x, y, A, B, S, k: C.chebmul(x, y),
    lambda x, y, A, B, S, k: C.chebder(x),
    lambda x, y, A, B, S, k: C.chebint(x),
    lambda x, y, A, B, S, k: C.cheb2poly(x),
    lambda x, y, A, B, S, k: C.poly2cheb(x),
    lambda x, y, A, B, S, k: C.chebvander(x, 3),
    lambda x, y, A, B, S, k: C.chebfit(x, y, 1),
    lambda x, y, A, B, S, k: C.chebfromroots(x),
    lambda x, y, A, B, S, k: L.legval(k, x),
    lambda x, y, A, B, S, k: L.legval(x, y),
    lambda x, y, A, B, S, k: L.legder(x),
    lambda x, y, A, B, S, k: L.legint(x),
    lambda x, y, A, B, S, k: L.legmul(x, y),
    lambda x, y, A, B, S, k: L.leg2poly(x),
    lambda x, y, A, B, S, k: L.legvander(x, 3),
    lambda x, y, A, B, S, k: H.hermval(k, x),
    lambda x, y, A, B, S, k: H.hermval(x, y),
    lambda x, y, A, B, S, k: H.hermder(x),
    lambda x, y, A, B, S, k: H.hermmul(x, y),
    lambda x, y, A, B, S, k: HE.hermeval(k, x),
    lambda x, y, A, B, S, k: HE.hermeval(x, y),
    lambda x, y, A, B, S, k: HE.hermevander(x, 2),
    lambda x, y, A, B, S, k: LG.lagval(k, x),
    lambda x, y, A, B, S, k: LG.lagval(x, y),
    lambda x, y, A, B, S, k: LG.lagder(x),
    lambda x, y, A, B, S, k: LG.lagmul(x, y),
    lambda x, y, A, B, S, k: Polynomial([1.0,2.0,3.0])(k),
    lambda x, y, A, B, S, k: Polynomial(x)(k),
    lambda x, y, A, B, S, k: Polynomial(x)(y),
    lambda x, y, A, B, S, k: (Polynomial(x) + Polynomial(y))(k),
    lambda x, y, A, B, S, k: (Polynomial(x) * Polynomial(y))(k),
    lambda x, y, A, B, S, k: (Polynomial(x) - 2.0)(k),
    lambda x, y, A, B, S, k: (2.0 * Polynomial(x))(k),
    lambda x, y, A, B, S, k: (Polynomial(x) ** 2)(k),
    lambda x, y, A, B, S, k: Polynomial(x).deriv()(k),
    lambda x, y, A, B, S, k: Polynomial(x).integ()(k),
    lambda x, y, A, B, S, k: Polynomial(x).coef,
    lambda x, y, A, B, S, k: Polynomial(x, domain=[0.0, 2.0])(k),
    lambda x, y, A, B, S, k: Polynomial(np.array([6.0,-5.0,1.0])).roots() * k,
    lambda x, y, A, B, S, k: Chebyshev(x)(k),
    lambda x, y, A, B, S, k: np.poly1d(x)(k),
    lambda x, y, A, B, S, k: statistics.mean(list(x)),
    lambda x, y, A, B, S, k: statistics.mean(x),
    lambda x, y, A, B, S, k: statistics.mean([k, 1.0, k * k]),
    lambda x, y, A, B, S, k: statistics.fmean([k, 1.0, k * k]),
    lambda x, y, A, B, S, k: statistics.fmean([k, 1.0, k * k], weights=[1.0, 2.0, 3.0]),
    lambda x, y, A, B, S, k: statistics.fmean([k, 1.0], weights=[k, 3.0]),
    lambda x, y, A, B, S, k: statistics.variance([k, 1.0, k * k]),
    lambda x, y, A, B, S, k: statistics.variance([k, 1.0, k * k], 0.5),
    lambda x, y, A, B, S, k: statistics.pvariance([k, 1.0, k * k]),
    lambda x, y, A, B, S, k: statistics.stdev([k, 1.0, k * k]),
    lambda x, y, A, B, S, k: statistics.pstdev([k, 1.0, k * k]),
    lambda x, y, A, B, S, k: statistics.median([k, 1.0, k * k]),
    lambda x, y, A, B, S, k: statistics.median([k, 1.0, k * k, 3.0]),
    lambda x, y, A, B, S, k: statistics.median_low([k, 1.0, k * k, 3.0]),
    lambda x, y, A, B, S, k: statistics.median_high([k, 1.0, k * k, 3.0]),
    lambda x, y, A, B, S, k: statistics.median_grouped([k, 1.0, k * k, 3.0]),
    lambda x, y, A, B, S, k: statistics.harmonic_mean([k, 1.0, k + 2]),
    lambda x, y, A, B, S, k: statistics.harmonic_mean([k, 1.0, k + 2], weights=[1,2,3]),
    lambda x, y, A, B, S, k: statistics.geometric_mean([k, 1.0, k + 2]),
    lambda x, y, A, B, S, k: statistics.linear_regression([k, 1.0, k + 2], [1.0, 2.0, 4.0]),
    lambda x, y, A, B, S, k: statistics.linear_regression([1.0, 2.0, 4.0], [k, 1.0, k + 2]).slope,
    lambda x, y, A, B, S, k: statistics.linear_regression([1.0, 2.0, 4.0], [k, 1.0, k + 2], proportional=True),
    lambda x, y, A, B, S, k: statistics.correlation([k, 1.0, k + 2], [1.0, 2.0, 4.0]),
    lambda x, y, A, B, S, k: statistics.covariance([k, 1.0, k + 2], [1.0, 2.0, 4.0]),
    lambda x, y, A, B, S, k: statistics.quantiles([k, 1.0, k + 2, 5.0], n=4),
    lambda x, y, A, B, S, k: statistics.mode([1,1,2]) * k,
    lambda x, y, A, B, S, k: statistics.NormalDist(k, 2.0).pdf(0.3),
    lambda x, y, A, B, S, k: statistics.NormalDist(k, 2.0).cdf(0.3),
    lambda x, y, A, B, S, k: statistics.NormalDist(k, 2.0).inv_cdf(0.3),
    lambda x, y, A, B, S, k: statistics.NormalDist(0.0, 1.0).cdf(k),
    lambda x, y, A, B, S, k: cmath.exp(k + 1j).real,
    lambda x, y, A, B, S, k: cmath.sqrt(complex(k, 1.0)),
    lambda x, y, A, B, S, k: cmath.phase(complex(k, 1.0)),
    lambda x, y, A, B, S, k: cmath.polar(complex(k, 1.0)),
    lambda x, y, A, B, S, k: cmath.rect(k, 1.0),
    lambda x, y, A, B, S, k: cmath.rect(2.0, k),
    lambda x, y, A, B, S, k: cmath.log(complex(k, 1.0)),
    lambda x, y, A, B, S, k: cmath.log(complex(k, 1.0), 3.0),
    lambda x, y, A, B, S, k: cmath.log(complex(k, 1.0), k + 2),
    lambda x, y, A, B, S, k: cmath.log10(complex(k, 1.0)),
    lambda x, y, A, B, S, k: cmath.sin(complex(k, 1.0)) + cmath.cos(complex(k, 1.0)) + cmath.tan(complex(k, 1.0)),
    lambda x, y, A, B, S, k: cmath.asin(complex(k, 1.0)) + cmath.acos(complex(k, 1.0)) + cmath.atan(complex(k, 0.3)),
    lambda x, y, A, B, S, k: cmath.sinh(complex(k, 1.0)) + cmath.cosh(complex(k, 1.0)) + cmath.tanh(complex(k, 1.0)),
    lambda x, y, A, B, S, k: cmath.asinh(complex(k, 1.0)) + cmath.acosh(complex(k, 1.0)) + cmath.atanh(complex(k, 0.3)),
    lambda x, y, A, B, S, k: cmath.isclose(k, 1.0) * k,
    lambda x, y, A, B, S, k: k * cmath.pi * cmath.isfinite(k),
    lambda x, y, A, B, S, k: math.dist([k, 1.0], [2.0, k * k]),
    lambda x, y, A, B, S, k: math.dist(x, y),
    lambda x, y, A, B, S, k: math.hypot(k, 1.0, k * k),
    lambda x, y, A, B, S, k: math.hypot(k),
    lambda x, y, A, B, S, k: math.hypot(*x),
    lambda x, y, A, B, S, k: math.prod([k, 2.0, k]),
    lambda x, y, A, B, S, k: math.prod(x),
    lambda x, y, A, B, S, k: math.prod([k, 2], start=k),
    lambda x, y, A, B, S, k: math.fsum([k, 1.0, k * k]),
    lambda x, y, A, B, S, k: math.fsum(v * v for v in x),
    lambda x, y, A, B, S, k: math.fsum(x),
    lambda x, y, A, B, S, k: math.pow(k, 2.5),
    lambda x, y, A, B, S, k: math.pow(2.5, k),
    lambda x, y, A, B, S, k: math.log(k, 3.0),
    lambda x, y, A, B, S, k: math.log(5.0, k + 2),
    lambda x, y, A, B, S, k: math.log2(k) + math.log10(k) + math.log1p(k),
    lambda x, y, A, B, S, k: math.exp2(k) + math.expm1(k) + math.exp(k),
    lambda x, y, A, B, S, k: math.cbrt(k) + math.sqrt(k),
    lambda x, y, A, B, S, k: math.erf(k) + math.erfc(k) + math.gamma(k + 1) + math.lgamma(k + 1),
    lambda x, y, A, B, S, k: math.copysign(k, -2.0),
    lambda x, y, A, B, S, k: math.fmod(k, 0.3),
    lambda x, y, A, B, S, k: math.modf(k),
    lambda x, y, A, B, S, k: math.frexp(k),
    lambda x, y, A, B, S, k: math.ldexp(k, 2),
    lambda x, y, A, B, S, k: math.fabs(k) + math.degrees(k) + math.radians(k),
    lambda x, y, A, B, S, k: math.floor(k) * k + math.ceil(k) * k + math.trunc(k) * k,
    lambda x, y, A, B, S, k: math.atan2(k, 2.0) + math.atan2(2.0, k),
    lambda x, y, A, B, S, k: math.sin(k) + math.cos(k) + math.tan(k) + math.asin(k) + math.acos(k) + math.atan(k),
    lambda x, y, A, B, S, k: math.sinh(k) + math.cosh(k) + math.tanh(k) + math.asinh(k) + math.acosh(k + 2) + math.atanh(k),
    lambda x, y, A, B, S, k: math.nextafter(k, 2.0),
    lambda x, y, A, B, S, k: math.ulp(k) + k,
    lambda x, y, A, B, S, k: math.isclose(k, 1.0) * k,
    lambda x, y, A, B, S, k: math.isnan(k) + k,
    lambda x, y, A, B, S, k: math.comb(5,2) * k + math.perm(5,2) * k + math.factorial(3) * k,
    lambda x, y, A, B, S, k: math.gcd(4,6) * k + math.lcm(4,6) * k + math.isqrt(5) * k,
    lambda x, y, A, B, S, k: operator.add(k, 2.0) * operator.mul(k, k)-operator.sub(k, 1.0),
    lambda x, y, A, B, S, k: operator.truediv(k, 2.0) + operator.pow(k, 2) + operator.neg(k),
    lambda x, y, A, B, S, k: operator.pos(k) + operator.abs(k) + operator.mod(k, 0.7) + operator.floordiv(k, 0.3),
    lambda x, y, A, B, S, k: operator.matmul(A, S),
    lambda x, y, A, B, S, k: operator.itemgetter(1)(x) + operator.itemgetter(0,2)(x)[1],
    lambda x, y, A, B, S, k: operator.getitem(x, 1) * operator.index(2),
    lambda x, y, A, B, S, k: operator.concat([k], [2.0]),
    lambda x, y, A, B, S, k: operator.attrgetter('T')(A),
    lambda x, y, A, B, S, k: operator.methodcaller('sum', axis=0)(A),
    lambda x, y, A, B, S, k: operator.call(math.sin, k),
    lambda x, y, A, B, S, k: operator.iadd(k, 2.0) * operator.contains([1.0], 1.0),
    lambda x, y, A, B, S, k: operator.countOf([1,1],1) * k,
    lambda x, y, A, B, S, k: operator.length_hint([1,2]) * k,
    lambda x, y, A, B, S, k: operator.not_(k) * k,
    lambda x, y, A, B, S, k: functools.reduce(operator.mul, [k, 2.0, k]),
    lambda x, y, A, B, S, k: functools.partial(math.pow, k)(2.0),
    lambda x, y, A, B, S, k: functools.partial(math.pow, k)(k),
    lambda x, y, A, B, S, k: functools.lru_cache(lambda a: a * a)(k),
    lambda x, y, A, B, S, k: functools.cache(lambda a: a * a)(k),
    lambda x, y, A, B, S, k: list(itertools.accumulate([k, 2.0, k])),
    lambda x, y, A, B, S, k: list(itertools.accumulate([k, 2.0, k], operator.mul)),
    lambda x, y, A, B, S, k: list(itertools.accumulate(x, initial=k)),
    lambda x, y, A, B, S, k: sum(itertools.chain([k], [k * k, 1.0])),
    lambda x, y, A, B, S, k: sum(itertools.chain.from_iterable([[k], [k * k]])),
    lambda x, y, A, B, S, k: [a * b for a, b in itertools.product([k, 2.0], repeat=2)],
    lambda x, y, A, B, S, k: [a * b for a, b in itertools.combinations([k, 2.0, 3.0], 2)],
    lambda x, y, A, B, S, k: [a * b for a, b in itertools.combinations_with_replacement([k, 2.0], 2)],
    lambda x, y, A, B, S, k: [a * b for a, b in itertools.permutations([k, 2.0, 3.0], 2)],
    lambda x, y, A, B, S, k: [a * b for a, b in itertools.pairwise([k, 2.0, k])],
    lambda x, y, A, B, S, k: list(itertools.compress([k, 2.0, k], [1,0,1])),
    lambda x, y, A, B, S, k: list(itertools.islice([k, 2.0, k], 1, 3)),
    lambda x, y, A, B, S, k: list(itertools.islice(itertools.cycle([k, 2.0]), 5)),
    lambda x, y, A, B, S, k: list(itertools.repeat(k, 3)),
    lambda x, y, A, B, S, k: list(itertools.starmap(math.pow, [(k, 2.0), (3.0, k)])),
    lambda x, y, A, B, S, k: list(itertools.takewhile(lambda v: v < 3, [k, 2.0, 5.0])),
    lambda x, y, A, B, S, k: list(itertools.dropwhile(lambda v: v < 1, [k, 2.0, k])),
    lambda x, y, A, B, S, k: list(itertools.filterfalse(lambda v: v < 1, [k, 2.0, k * 9])),
    lambda x, y, A, B, S, k: [a * b for a, b in itertools.zip_longest([k, 2.0], [k], fillvalue=3.0)],
    lambda x, y, A, B, S, k: [sum(g) for q, g in itertools.groupby([1.0 * k, 2.0 * k, 3.0], lambda v: v > 1)],
    lambda x, y, A, B, S, k: round(k, 2) + abs(-k) + divmod(k, 0.3)[1] + pow(k, 3),
    lambda x, y, A, B, S, k: sum([k, k * k], start=k),
    lambda x, y, A, B, S, k: max([k, 2.0, k * 9]) + min(k, 2.0),
    lambda x, y, A, B, S, k: max(x, key=lambda v: -v),
    lambda x, y, A, B, S, k: sorted([k, -k, 2.0]),
    lambda x, y, A, B, S, k: float(k) + complex(k, 2.0).real,
    lambda x, y, A, B, S, k: x.tolist(),
    lambda x, y, A, B, S, k: np.polynomial.polynomial.Polynomial([1.0, k])(2.0),
]


MODES = {"pure": nullcontext, "tracked": always_track}


@pytest.mark.parametrize(("number", "mode"), [(n, mode) for n in range(len(CALLS)) for mode in chosen(f"call {n}", [*MODES])])
def test_calls_of_the_standard_library(number: int, mode: str) -> None:
    with MODES[mode]():
        check_call(CALLS[number])


REFUSED: list[Callable[..., Any]] = [
    lambda x: Polynomial.fit([0.0, 1.0, 2.0], x, 1)(0.5),
    lambda x: np.polyval(np.poly1d([1.0, 2.0]), x[0]),
]
if NUMPY >= (2, 3):  # whose text has what is not differentiated
    REFUSED.append(lambda x: P.polyval2d(0.5, 1.5, np.outer(x, x)))


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_calls_that_are_refused(number: int) -> None:
    with pytest.raises(MissingRuleError):
        gradient(REFUSED[number], np.array([1.5, 0.5, 2.5]))


@pytest.mark.parametrize("module", [math, cmath], ids=lambda module: module.__name__)
def test_all_of_a_module_has_rules(module: Any) -> None:
    functions = [value for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
    assert not [f for f in functions if not rrule.has(f) and not is_non_differentiable(f)]
