"""scipy.stats: what is computed of samples. The value is SciPy's; the derivative is that of a text that says the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special, stats

from microgradpy.errors import MissingRuleError
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.nested import differentiated
from microgradpy.rules.registry import attribute_rule, example, examples, rrule
from microgradpy.tangents.arithmetic import floating, unbroadcast
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent, is_structural_zero


def regression(x: Any, y: Any) -> Any:
    """The slope, the intercept, the correlation, its p-value, and the error of the slope."""
    dx, dy = x - np.mean(x), y - np.mean(y)
    xx, xy, yy = np.mean(dx * dx), np.mean(dx * dy), np.mean(dy * dy)
    slope, r, freedom = xy / xx, xy / np.sqrt(xx * yy), len(x) - 2
    t = r * np.sqrt(freedom / ((1.0 - r + 1e-20) * (1.0 + r + 1e-20)))
    error = np.sqrt((1.0 - r * r) * yy / xx / freedom)
    intercept = np.mean(y) - slope * np.mean(x)
    return slope, intercept, r, 2.0 * stats.t.sf(np.abs(t), freedom), error


@pullback(stats.linregress)
def linregress_pullback(result_bar, x, y, *, result):
    """As `regression`. Two points have a line without errors."""
    _, back = differentiated(regression if len(x) > 2 else line, floating(np.array(x)), floating(np.array(y)))
    bars = back(tuple(result_bar[:5] if len(x) > 2 else result_bar[:2]))[1:]
    given = zip(bars, (x, y), strict=True)
    return (*(NoTangent() if is_structural_zero(bar) else unbroadcast(bar, z) for bar, z in given),)


_RESULT: Any = type(stats.linregress([0.0, 1.0, 3.0], [0.0, 1.0, 2.0]))


def _declare_field(name: str, place: int) -> None:
    @attribute_rule(_RESULT, name)
    def field_rrule(result):
        """An item of the result."""

        def field_pullback(y_bar):
            return NoTangent(), tuple(y_bar if index == place else NoTangent() for index in range(5))

        return getattr(result, name), field_pullback


for _place, _name in enumerate(_RESULT._fields[:5]):
    _declare_field(_name, _place)


@attribute_rule(_RESULT, "intercept_stderr")
def intercept_stderr_rrule(result):
    """It is no item of the result."""

    def intercept_stderr_pullback(y_bar):
        return NoTangent(), not_implemented("the error of the intercept of linregress: it is stderr * sqrt(mean(x**2))")

    return result.intercept_stderr, intercept_stderr_pullback


def line(x: Any, y: Any) -> Any:
    """The slope and the intercept through two points."""
    slope = (y[1] - y[0]) / (x[1] - x[0])
    return slope, y[0] - slope * x[0]


def central_moment(a: Any, order: int, axis: int) -> Any:
    return np.mean((a - np.mean(a, axis=axis, keepdims=True)) ** order, axis=axis)


def skewness(a: Any, axis: int) -> Any:
    return central_moment(a, 3, axis) / central_moment(a, 2, axis) ** 1.5


def excess(a: Any, axis: int) -> Any:
    return central_moment(a, 4, axis) / central_moment(a, 2, axis) ** 2 - 3.0


def geometric_mean(a: Any, axis: int) -> Any:
    return np.exp(np.mean(np.log(a), axis=axis))


def harmonic_mean(a: Any, axis: int) -> Any:
    return 1.0 / np.mean(1.0 / a, axis=axis)


def standard_error(a: Any, axis: int) -> Any:
    return np.std(a, axis=axis, ddof=1) / np.sqrt(np.shape(a)[axis])


def standard_scores(a: Any, axis: int) -> Any:
    return (a - np.mean(a, axis=axis, keepdims=True)) / np.std(a, axis=axis, keepdims=True)


def relative_deviation(a: Any, axis: int) -> Any:
    return np.std(a, axis=axis) / np.mean(a, axis=axis)


def deviation_of_median(a: Any, axis: int) -> Any:
    return np.median(np.abs(a - np.median(a, axis=axis, keepdims=True)), axis=axis)


def quartile_range(a: Any, axis: int) -> Any:
    return np.percentile(a, 75, axis=axis) - np.percentile(a, 25, axis=axis)


def plain_mean(a: Any, axis: int) -> Any:
    return np.mean(a, axis=axis)


def power_mean(a: Any, axis: int, p: float) -> Any:
    return np.mean(a**p, axis=axis) ** (1.0 / p)


def trimmed_mean(a: Any, axis: int, proportion: float) -> Any:
    count = np.shape(a)[axis]
    cut = int(proportion * count)
    return np.mean(np.take(np.sort(a, axis=axis), np.arange(cut, count - cut), axis=axis), axis=axis)


def entropy_of(a: Any, axis: int, base: float | None) -> Any:
    p = a / np.sum(a, axis=axis, keepdims=True)
    return np.sum(special.entr(p), axis=axis) / (1.0 if base is None else np.log(base))


def sample_bar(text: Callable[..., Any], a: Any, axis: int | None, y_bar: Any, *options: Any) -> Any:
    """The cotangent of a sample by a text that is given the sample, an axis and the options."""
    values, along = (np.ravel(a), 0) if axis is None else (np.asarray(a), axis)
    _, back = differentiated(text, floating(values), along, *options)
    bar = back(np.ravel(y_bar) if axis is None and np.ndim(y_bar) else y_bar)[1]
    return unbroadcast(np.reshape(bar, np.shape(a)), a)


def _declare(function: Any, text: Callable[..., Any], axis: int | None) -> None:
    @rrule.register(function)
    def sample_rrule(a, axis=axis):
        """As the text beside it in the table."""

        def sample_pullback(y_bar):
            return NoTangent(), sample_bar(text, a, axis, y_bar), NoTangent()

        return function(a, axis=axis), sample_pullback


@pullback(stats.moment)
def moment_pullback(y_bar, a, order=1, axis=0):
    """As `central_moment`."""
    return sample_bar(moment, a, axis, y_bar, order)


def moment(a: Any, axis: int, order: int) -> Any:
    return central_moment(a, order, axis)


@pullback(stats.pmean)
def pmean_pullback(y_bar, a, p, *, axis=0):
    """As `power_mean`; the power is a constant."""
    return sample_bar(power_mean, a, axis, y_bar, p), not_implemented("the power of stats.pmean")


@pullback(stats.trim_mean)
def trim_mean_pullback(y_bar, a, proportiontocut, axis=0):
    """As `trimmed_mean`: what is left out has no derivative."""
    return sample_bar(trimmed_mean, a, axis, y_bar, proportiontocut)


@rrule.register(stats.entropy)
def entropy_rrule(pk, qk=None, base=None, axis=0):
    """As `entropy_of`; relative to another distribution: sum of p log(p / q)."""
    if qk is not None:
        raise MissingRuleError("stats.entropy(pk, qk)", None, "Write np.sum(scipy.special.rel_entr(p, q)).")

    def entropy_pullback(y_bar):
        base_bar = NoTangent() if base is None else not_implemented("the base of stats.entropy")
        return NoTangent(), sample_bar(entropy_of, pk, axis, y_bar, base), NoTangent(), base_bar, NoTangent()

    return stats.entropy(pk, base=base, axis=axis), entropy_pullback


_TEXTS: dict[Any, tuple[Callable[..., Any], int | None]] = {
    stats.skew: (skewness, 0), stats.kurtosis: (excess, 0), stats.gmean: (geometric_mean, 0), stats.hmean: (harmonic_mean, 0),
    stats.sem: (standard_error, 0), stats.zscore: (standard_scores, 0), stats.variation: (relative_deviation, 0),
    stats.median_abs_deviation: (deviation_of_median, 0), stats.iqr: (quartile_range, None),
}  # fmt: skip
for _function, (_text, _axis) in _TEXTS.items():
    _declare(_function, _text, _axis)


@rrule.register(stats.tmean)
def tmean_rrule(a, limits=None, inclusive=(True, True), axis=None):
    """The mean, if no limits are given."""
    if limits is not None:
        raise MissingRuleError("stats.tmean with limits", None, "Write np.mean(x[(low <= x) & (x <= high)]).")

    def tmean_pullback(y_bar):
        return NoTangent(), sample_bar(plain_mean, a, axis, y_bar), NoTangent(), NoTangent(), NoTangent()

    return stats.tmean(a, axis=axis), tmean_pullback


_SAMPLE = np.array([0.5, 1.5, 2.7, 0.9])
_OTHER = np.array([1.0, 2.0, 4.0, 0.3])
_TABLE = np.array([[0.5, 1.5, 2.7], [1.9, 0.4, 1.1], [0.8, 3.1, 0.6], [2.3, 1.2, 0.7]])
for _function in _TEXTS:
    examples(_function, (_SAMPLE,), (_TABLE,), (_TABLE, 1))
examples(stats.moment, (_SAMPLE, 3), (_TABLE, 2), (_TABLE, 4, 1))
examples(stats.trim_mean, (_SAMPLE, 0.3), (_TABLE, 0.35, 1))
examples(stats.entropy, (_SAMPLE,), (_TABLE, None, 2.0), (_TABLE, None, None, 1))
examples(stats.tmean, (_SAMPLE,), (_TABLE,), (_TABLE, None, (True, True), 1))
example(stats.pmean, _SAMPLE, 2.5)
example(stats.pmean, _TABLE, 1.5, axis=1)
examples(stats.linregress, (_SAMPLE, _OTHER), (_SAMPLE[:2], _OTHER[:2]))
for _name in (*_RESULT._fields[:5], "intercept_stderr"):
    examples(getattr, (stats.linregress(_SAMPLE, _OTHER), _name))
