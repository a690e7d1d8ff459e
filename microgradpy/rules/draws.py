"""Random numbers: a draw is made once and is a constant of the run. Of distributions that are another one shifted and
stretched, the place and the scale are differentiated, with the draw behind them kept: y = loc + scale z.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.registry import non_differentiable, rrule
from microgradpy.tangents.arithmetic import divide, unbroadcast
from microgradpy.tangents.helpers import cotangent_of
from microgradpy.tangents.types import NoTangent

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


for _source in _SOURCES:
    for _name in ("normal", "laplace", "logistic", "gumbel"):
        rrule.register(getattr(_source, _name))(_of_place_and_scale(getattr(_source, _name)))
    for _name in ("exponential", "rayleigh"):
        rrule.register(getattr(_source, _name))(_of_scale(getattr(_source, _name)))
    rrule.register(_source.uniform)(_uniform(_source.uniform))
    rrule.register(_source.lognormal)(_lognormal(_source.lognormal))
    # What they give are whole numbers.
    non_differentiable(*(getattr(_source, name) for name in ("poisson", "binomial", "geometric", "negative_binomial", "zipf")))
