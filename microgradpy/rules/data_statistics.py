"""The module `statistics`, on lists and tuples of numbers, and what newer versions of Python have in `math`.

Medians and quantiles, which are written in Python without fractions, need no rule.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.entries import Rule
from microgradpy.rules.registry import example, examples, non_differentiable, rrule
from microgradpy.rules.sums import items_of, repeated_bar, spread_over_items
from microgradpy.tangents.arithmetic import divide, unbroadcast
from microgradpy.tangents.types import NoTangent

non_differentiable(statistics.mode, statistics.multimode)
_DATA = [1.5, 0.7, 3.2, 2.9]
_OTHER = [0.4, 1.9, -0.6, 2.2]


def given_to(items: Any, bars: list[Any]) -> Any:
    """The cotangents of items, each as its item asks for it."""
    return spread_over_items([unbroadcast(bar, item) for bar, item in zip(bars, items, strict=True)], items)


def deviations(items: Any, centre: Any = None) -> list[Any]:
    """The items less their mean, or another number."""
    middle = math.fsum(items) / len(items) if centre is None else centre
    return [item - middle for item in items]


def _spread(f: Callable[..., Any], is_sample: bool, is_root: bool) -> Rule:
    def spread_rrule(data, centre=None):
        """Of the variance: each item gets y_bar * 2 (x - mean) / n, or / (n - 1) for a sample."""
        items = items_of(data)
        y = f(items, centre)

        def spread_pullback(y_bar):
            scale = 2.0 * (divide(0.5 * y_bar, y) if is_root and y else 0.0 * y_bar if is_root else y_bar)
            bars = [divide(scale * d, len(items) - is_sample) for d in deviations(items, centre)]
            return NoTangent(), given_to(items, bars), NoTangent() if centre is None else -math.fsum(bars)

        return y, spread_pullback

    return spread_rrule


@rrule.register(statistics.mean)
def mean_rrule(data):
    """Each of the n items gets y_bar / n."""
    items = items_of(data)

    def mean_pullback(y_bar):
        return NoTangent(), repeated_bar(y_bar / len(items), items)

    return statistics.mean(items), mean_pullback


@rrule.register(statistics.fmean)
def fmean_rrule(data):
    """Each of the n items gets y_bar / n."""
    items = items_of(data)

    def fmean_pullback(y_bar):
        return NoTangent(), repeated_bar(y_bar / len(items), items)

    return statistics.fmean(items), fmean_pullback


examples(statistics.mean, ([1.0, 2.0, 4.5],))
examples(statistics.fmean, ([1.0, 2.0, 4.5],), ((1, 2.5),))


_f: Any
for _f, _is_sample, _is_root in (
    (statistics.variance, True, False),
    (statistics.pvariance, False, False),
    (statistics.stdev, True, True),
    (statistics.pstdev, False, True),
):
    rrule.register(_f)(_spread(_f, _is_sample, _is_root))
    examples(_f, (_DATA,), (tuple(_OTHER),), ([1, 2.5, 4],), (_DATA, 2.1))


@rrule.register(statistics.fmean, options=True)
def weighted_fmean_rrule(data, weights):
    """y = sum(w x) / sum(w): x_bar = y_bar w / sum(w), w_bar = y_bar (x - y) / sum(w)."""
    items, shares = items_of(data), items_of(weights)
    y = statistics.fmean(items, shares)

    def weighted_fmean_pullback(y_bar):
        total = math.fsum(shares)
        items_bar = given_to(items, [y_bar * w / total for w in shares])
        return NoTangent(), items_bar, given_to(shares, [y_bar * (x - y) / total for x in items])

    return y, weighted_fmean_pullback


examples(statistics.fmean, (_DATA, [1.0, 2.0, 0.5, 3.0]), (tuple(_DATA), (1, 2, 3, 4)))


@rrule.register(statistics.geometric_mean)
def geometric_mean_rrule(data):
    """Each of the n items gets y_bar y / (n x)."""
    items = items_of(data)
    y = statistics.geometric_mean(items)

    def geometric_mean_pullback(y_bar):
        return NoTangent(), given_to(items, [divide(y_bar * y / len(items), x) for x in items])

    return y, geometric_mean_pullback


examples(statistics.geometric_mean, (_DATA,), ((1, 2.5),))


@rrule.register(statistics.harmonic_mean)
def harmonic_mean_rrule(data, weights=None):
    """y = sum(w) / sum(w / x): x_bar = y_bar w y^2 / (x^2 sum(w)), w_bar = y_bar y (1 - y / x) / sum(w)."""
    items = items_of(data)
    y = statistics.harmonic_mean(items, weights)

    def harmonic_mean_pullback(y_bar):
        shares = [1.0] * len(items) if weights is None else list(weights)
        total = math.fsum(shares)
        ratios = [divide(float(y), x) for x in items]
        items_bar = given_to(items, [y_bar * w * r * r / total for w, r in zip(shares, ratios, strict=True)])
        if weights is None:
            return NoTangent(), items_bar, NoTangent()
        return NoTangent(), items_bar, given_to(weights, [y_bar * y * (1.0 - r) / total for r in ratios])

    return y, harmonic_mean_pullback


examples(statistics.harmonic_mean, (_DATA,), (_DATA, [1.0, 2.0, 0.5, 3.0]), ((1, 2.5),))


def regression_parts(x: Any, y: Any, proportional: bool) -> tuple[list[Any], list[Any], float, float]:
    """What x and y deviate by, from their means or from 0, the slope, and the sum of squares that it is divided by."""
    dx, dy = (list(x), list(y)) if proportional else (deviations(x), deviations(y))
    square = math.fsum(d * d for d in dx)
    return dx, dy, divide(math.fsum(a * b for a, b in zip(dx, dy, strict=True)), square), square


@pullback(statistics.linear_regression)
def linear_regression_pullback(line_bar, x, y, /, *, proportional=False):
    """slope = sum(dx dy) / sum(dx dx), intercept = mean(y) - slope mean(x)."""
    slope_bar, shift_bar = (0.0 if bar is None else bar for bar in line_bar)
    if proportional:
        shift_bar = 0.0
    dx, dy, slope, square = regression_parts(x, y, proportional)
    count = len(dx)
    slope_bar = slope_bar - shift_bar * math.fsum(x) / count
    pairs = zip(dx, dy, strict=True)
    x_bars = [divide(slope_bar * (b - 2.0 * slope * a), square) - shift_bar * slope / count for a, b in pairs]
    y_bars = [divide(slope_bar * a, square) + shift_bar / count for a in dx]
    return given_to(x, x_bars), given_to(y, y_bars)


examples(statistics.linear_regression, (_DATA, _OTHER), (tuple(_OTHER), _DATA))
examples(statistics.linear_regression, (_DATA, _OTHER), proportional=True)


@pullback(statistics.covariance)
def covariance_pullback(z_bar, x, y, /):
    """Each x gets z_bar dy / (n - 1), each y z_bar dx / (n - 1)."""
    scale = z_bar / (len(x) - 1)
    return given_to(x, [scale * d for d in deviations(y)]), given_to(y, [scale * d for d in deviations(x)])


@pullback(statistics.correlation)
def correlation_pullback(r_bar, x, y, /, *, r):
    """r = sum(dx dy) / sqrt(sum(dx dx) sum(dy dy)): each x gets r_bar (dy / root - r dx / sum(dx dx)), each y the like."""
    dx, dy = (deviations(x), deviations(y))
    xx, yy = (math.fsum(d * d for d in dx), math.fsum(d * d for d in dy))
    root = math.sqrt(xx * yy)
    x_bars = [r_bar * (b / root - r * a / xx) for a, b in zip(dx, dy, strict=True)]
    y_bars = [r_bar * (a / root - r * b / yy) for a, b in zip(dx, dy, strict=True)]
    return given_to(x, x_bars), given_to(y, y_bars)


for _f in (statistics.covariance, statistics.correlation):
    examples(_f, (_DATA, _OTHER), (tuple(_OTHER), _DATA))

_inverse: Any = getattr(statistics, "_normal_dist_inv_cdf", None)
if _inverse is not None:

    @rrule.register(_inverse)
    def normal_quantile_rrule(p, mu, sigma):
        """y = mu + sigma z, where z has the density d: mu_bar = y_bar, sigma_bar = y_bar z, p_bar = y_bar sigma / d."""
        y = _inverse(p, mu, sigma)

        def normal_quantile_pullback(y_bar):
            z = (y - mu) / sigma
            density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
            return NoTangent(), divide(y_bar * sigma, density), y_bar, y_bar * z

        return y, normal_quantile_pullback

    examples(_inverse, (0.3, 1.5, 2.0), (0.9, -0.5, 0.3))


def _dot(f: Callable[..., Any]) -> Rule:
    def sumprod_rrule(p, q, /):
        """Each number gets y_bar times its partner."""
        left, right = items_of(p), items_of(q)

        def sumprod_pullback(y_bar):
            return NoTangent(), given_to(left, [y_bar * b for b in right]), given_to(right, [y_bar * a for a in left])

        return f(left, right), sumprod_pullback

    return sumprod_rrule


if hasattr(math, "sumprod"):
    rrule.register(math.sumprod)(_dot(math.sumprod))
    example(math.sumprod, _DATA, _OTHER)
