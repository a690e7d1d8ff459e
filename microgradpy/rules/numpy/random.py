"""Random numbers: a draw is made once and is a constant of the run. Of distributions that are another one shifted and
stretched, the place and the scale are differentiated, with the draw behind them kept: y = loc + scale z.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from microgradpy.rules.registry import non_differentiable, rrule
from microgradpy.tangents.arithmetic import divide, unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent

# Draws that have no parameter but their number and range are constants. Those with a location or scale are in `draws`.
# `choice` and `permutation` may hold active values.
for _source in (np.random, np.random.Generator, np.random.RandomState):
    for _name in ("random", "random_sample", "rand", "randn", "standard_normal", "standard_exponential", "randint"):
        if hasattr(_source, _name):
            non_differentiable(getattr(_source, _name))
non_differentiable(np.random.Generator.integers, np.random.Generator.bytes, np.random.bytes)
non_differentiable(np.random.default_rng, np.random.seed, np.random.RandomState, np.random.SeedSequence)
non_differentiable(np.random.standard_cauchy, np.random.Generator.standard_cauchy)
_SOURCES: tuple[Any, ...] = (np.random.Generator, np.random.RandomState)


@cotangent_of(3)
def stretch_bar(y_bar: Any, y: Any, loc: Any, scale: Any) -> Any:
    """The cotangent of the scale of a draw y = loc + scale z; 0 for a scale of 0, whose z nobody knows."""
    with np.errstate(all="ignore"):
        z = np.where(np.equal(scale, 0.0), 0.0, divide(y - loc, scale))
    return unbroadcast(y_bar * z, scale)


def _of_place_and_scale(draw: Any) -> Any:
    def draw_rrule(self, loc=0.0, scale=1.0, size=None):
        """y = loc + scale z: loc_bar = y_bar, scale_bar = y_bar z."""
        y = draw(self, loc, scale, size)

        def draw_pullback(y_bar):
            return NoTangent(), NoTangent(), unbroadcast(y_bar, loc), stretch_bar(y_bar, y, loc, scale), NoTangent()

        return y, draw_pullback

    return draw_rrule


def _of_scale(draw: Any) -> Any:
    def draw_rrule(self, scale=1.0, size=None):
        """y = scale z: scale_bar = y_bar z."""
        y = draw(self, scale, size)

        def draw_pullback(y_bar):
            return NoTangent(), NoTangent(), stretch_bar(y_bar, y, 0.0, scale), NoTangent()

        return y, draw_pullback

    return draw_rrule


def _uniform(draw: Any) -> Any:
    def uniform_rrule(self, low=0.0, high=1.0, size=None):
        """y = low + (high - low) z: low_bar = y_bar (1 - z), high_bar = y_bar z."""
        y = draw(self, low, high, size)

        def uniform_pullback(y_bar):
            low_bar = unbroadcast(stretch_bar(y_bar, high - y, 0.0, high - low), low)
            return NoTangent(), NoTangent(), low_bar, unbroadcast(stretch_bar(y_bar, y, low, high - low), high), NoTangent()

        return y, uniform_pullback

    return uniform_rrule


def _lognormal(draw: Any) -> Any:
    def lognormal_rrule(self, mean=0.0, sigma=1.0, size=None):
        """log y = mean + sigma z: mean_bar = y_bar y, sigma_bar = y_bar y z."""
        y = draw(self, mean, sigma, size)

        def lognormal_pullback(y_bar):
            mean_bar, sigma_bar = unbroadcast(y_bar * y, mean), stretch_bar(y_bar * y, np.log(y), mean, sigma)
            return NoTangent(), NoTangent(), mean_bar, sigma_bar, NoTangent()

        return y, lognormal_pullback

    return lognormal_rrule


def _chosen(draw: Any) -> Any:
    def chosen_rrule(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        """Each value gets the sum of y_bar at the places it was drawn to. Probabilities decide about places only."""
        options = (size, replace, p, axis, shuffle) if isinstance(self, np.random.Generator) else (size, replace, p)
        y, places = moved(draw, self, a, options)

        def chosen_pullback(y_bar):
            return NoTangent(), NoTangent(), moved_bar(y_bar, a, places), *(NoTangent(),) * 5

        return y, chosen_pullback

    return chosen_rrule


def _permuted(draw: Any) -> Any:
    def permuted_rrule(self, x, axis=0 if draw.__name__ == "permutation" else None):
        """Each value gets y_bar at the place it was moved to."""
        options = (axis,) if isinstance(self, np.random.Generator) else ()
        y, places = moved(draw, self, x, options)

        def permuted_pullback(y_bar):
            return NoTangent(), NoTangent(), moved_bar(y_bar, x, places), NoTangent()

        return y, permuted_pullback

    return permuted_rrule


def moved(draw: Any, source: Any, x: Any, options: tuple[Any, ...]) -> tuple[Any, Any]:
    """A draw from values, and the places in them that it took, which the same generator draws again."""
    named = dict(zip(("axis",), options, strict=True)) if len(options) == 1 else {}
    given = () if named else options
    if np.ndim(x) == 0:
        return draw(source, x, *given, **named), None
    same = copy.deepcopy(source)
    places = np.arange(np.size(x)).reshape(np.shape(x))
    return draw(source, x, *given, **named), draw(same, places, *given, **named)


@cotangent_of(1)
def moved_bar(y_bar: Any, x: Any, places: Any) -> Any:
    """The cotangent of values that were taken from these places; none for a number, which is how many there are."""
    if places is None:
        return None
    x_bar = np.zeros(np.size(x), np.result_type(y_bar))
    np.add.at(x_bar, places, y_bar)
    return unbroadcast(x_bar.reshape(np.shape(x)), x)


def _shifted(draw: Any) -> Any:
    def shifted_rrule(self, loc, spread, size=None, **options):
        """y = loc + z: loc_bar = y_bar, summed over the draws."""
        y = draw(self, loc, spread, size, **options)

        def shifted_pullback(y_bar):
            info = f"how a draw of {draw.__name__} depends on its second parameter is not known"
            return NoTangent(), NoTangent(), unbroadcast(y_bar, loc), not_implemented(info), NoTangent()

        return y, shifted_pullback

    return shifted_rrule


def _of_shape_and_scale(draw: Any) -> Any:
    def gamma_rrule(self, shape, scale=1.0, size=None):
        """y = scale z, where z depends on the shape: scale_bar = y_bar z."""
        y = draw(self, shape, scale, size)

        def gamma_pullback(y_bar):
            shape_bar = not_implemented("how a draw of gamma depends on its shape is not known")
            return NoTangent(), NoTangent(), shape_bar, stretch_bar(y_bar, y, 0.0, scale), NoTangent()

        return y, gamma_pullback

    return gamma_rrule


for _source in _SOURCES:
    rrule.register(_source.choice)(_chosen(_source.choice))
    rrule.register(_source.permutation)(_permuted(_source.permutation))
    rrule.register(_source.vonmises)(_shifted(_source.vonmises))
    rrule.register(_source.multivariate_normal)(_shifted(_source.multivariate_normal))
    rrule.register(_source.gamma)(_of_shape_and_scale(_source.gamma))
    for _name in ("normal", "laplace", "logistic", "gumbel"):
        rrule.register(getattr(_source, _name))(_of_place_and_scale(getattr(_source, _name)))
    for _name in ("exponential", "rayleigh"):
        rrule.register(getattr(_source, _name))(_of_scale(getattr(_source, _name)))
    rrule.register(_source.uniform)(_uniform(_source.uniform))
    rrule.register(_source.lognormal)(_lognormal(_source.lognormal))
    # What they give are whole numbers.
    non_differentiable(*(getattr(_source, name) for name in ("poisson", "binomial", "geometric", "negative_binomial", "zipf")))
rrule.register(np.random.Generator.permuted)(_permuted(np.random.Generator.permuted))
