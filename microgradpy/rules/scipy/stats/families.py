"""From formulas for the standard form of a distribution to the rules of its methods, with place and scale.

The methods of all distributions are those of one base class, so each rule is registered for the bound method of the object
in scipy.stats (`stats.norm.logpdf`): a class derived from that of the object may compute something else. What has no formula
here is in `generic`, frozen distributions (`norm(loc, scale)`) in `frozen`. With z = (x - loc) / scale and a parameter a of the
shape:

    logpdf = log p(z; a) - log(scale)        pdf = exp(logpdf)            cdf = F(z; a), F' = p, sf = 1 - cdf
    logcdf' = pdf / cdf = exp(logpdf - logcdf)                            ppf: x = loc + scale z with F(z; a) = q
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.rules.registry import frule, non_differentiable, rrule
from microgradpy.rules.scipy.special.operands import numbers
from microgradpy.tangents.arithmetic import divide, unbroadcast
from microgradpy.tangents.types import NoTangent, NotImplementedTangent, is_structural_zero

Slopes = tuple[Any, ...]
Formula = Callable[..., Slopes]
"""Of (z, *shapes): a tuple of derivatives, with None for one that does not exist."""

DENSITIES = ("pdf", "logpdf")
DISTRIBUTIONS = ("cdf", "sf", "logcdf", "logsf")
QUANTILES = ("ppf", "isf")


def declare_continuous(distribution: Any, score: Formula, in_shapes: Formula) -> None:
    """Rules for the methods of a continuous distribution. `score` gives the derivatives of log p in z and in each parameter of
    the shape, `in_shapes` those of F in the latter."""
    shapes = shapes_of(distribution)
    for name in DENSITIES:
        _declare(distribution, name, ("x", *shapes), optional_of(distribution), _density_slopes(distribution, name, score))
    for name in DISTRIBUTIONS:
        _declare(
            distribution, name, ("x", *shapes), optional_of(distribution), _distribution_slopes(distribution, name, in_shapes)
        )
    for name in QUANTILES:
        _declare(distribution, name, ("q", *shapes), optional_of(distribution), _quantile_slopes(distribution, name, in_shapes))


def declare_discrete(distribution: Any, score: Formula, in_shapes: Formula) -> None:
    """Rules for the methods of a discrete distribution, which have derivatives in the parameters of the shape alone: `score`
    gives those of log p, `in_shapes` those of F."""
    shapes = shapes_of(distribution)
    for name in ("pmf", "logpmf"):
        _declare(distribution, name, ("k", *shapes), optional_of(distribution), _mass_slopes(distribution, name, score))
    for name in DISTRIBUTIONS:
        _declare(distribution, name, ("k", *shapes), optional_of(distribution), _step_slopes(distribution, name, in_shapes))


def shapes_of(distribution: Any) -> tuple[str, ...]:
    """The names of the parameters of the shape."""
    return tuple(distribution.shapes.replace(" ", "").split(",")) if distribution.shapes else ()


def optional_of(distribution: Any) -> tuple[str, ...]:
    """The names of the other parameters."""
    return ("loc", "scale") if hasattr(distribution, "pdf") else ("loc",)


def signature_of(given: tuple[str, ...], optional: tuple[str, ...]) -> inspect.Signature:
    """The signature of a method, whose place and scale may be left out."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in given]
    return inspect.Signature([*parameters, *(inspect.Parameter(name, kind, default=_DEFAULTS[name]) for name in optional)])


_DEFAULTS = {"loc": 0, "scale": 1}


Method = Callable[..., Slopes]
"""From the value of a method and all its arguments to the derivatives in these."""
METHODS: dict[tuple[type, str], tuple[Any, Method]] = {}
"""The methods that have formulas here, by the class of the distribution and the name: the distribution, the derivatives."""


def _declare(distribution: Any, name: str, given: tuple[str, ...], optional: tuple[str, ...], slopes: Method) -> None:
    """Register the rules of one method: its parameters, the last ones with their defaults, and `slopes(y, *arguments)`."""
    method = getattr(distribution, name)
    names, signature = (*given, *optional), signature_of(given, optional)
    METHODS[type(distribution), name] = (distribution, slopes)

    def method_rrule(*args: Any, **kwargs: Any) -> Any:
        y = method(*args, **kwargs)
        arguments = with_defaults(names, args, kwargs)

        def method_pullback(y_bar: Any) -> tuple[Any, ...]:
            return NoTangent(), *bars_of(y_bar, slopes_at(slopes, y, arguments), arguments)

        return y, method_pullback

    def method_frule(*args: Any, **kwargs: Any) -> Any:
        y = method(*args, **kwargs)
        arguments = with_defaults(names, args, kwargs)

        def method_pushforward(f_dot: Any, *dots: Any) -> Any:
            return tangent_of(y, slopes_at(slopes, y, arguments), dots)

        return y, method_pushforward

    method_rrule.__doc__ = f"The rule of scipy.stats.{distribution.name}.{name}."
    for rule in (method_rrule, method_frule):
        rule.__signature__ = signature  # type: ignore[attr-defined]
    rrule.register(method)(method_rrule)
    frule.register(method)(method_frule)


def with_defaults(names: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """All arguments of a call by position."""
    return (*args, *(kwargs.get(name, _DEFAULTS.get(name)) for name in names[len(args) :]))


def slopes_at(slopes: Method, y: Any, arguments: tuple[Any, ...]) -> Slopes:
    """The derivatives of a method at some arguments."""
    with np.errstate(all="ignore"):
        return slopes(y, *map(numbers, arguments))


def bars_of(y_bar: Any, slopes: Slopes, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The cotangents of the arguments of a function that is applied element by element."""
    pairs = tuple(zip(slopes, arguments, strict=True))
    with np.errstate(all="ignore"):
        return tuple(_bar(y_bar, slope, x) for slope, x in pairs)


def _bar(y_bar: Any, slope: Any, x: Any) -> Any:
    if is_missing(slope):
        return NoTangent() if slope is None else slope
    return unbroadcast(y_bar * slope, x)


def tangent_of(y: Any, slopes: Slopes, dots: tuple[Any, ...]) -> Any:
    """The tangent of the value of such a function."""
    total = np.zeros(np.shape(y))[()]
    for slope, dot in zip(slopes, dots, strict=False):
        if is_structural_zero(dot) or slope is None:
            continue
        if isinstance(slope, NotImplementedTangent):
            if np.any(dot):
                slope.refuse()
            continue
        total = total + slope * np.asarray(dot)[()]
    return total


def is_missing(slope: Any) -> bool:
    """Whether there is no derivative, or none that is known."""
    return slope is None or isinstance(slope, NotImplementedTangent)


def where_inside(distribution: Any, x: Any, loc: Any, scale: Any, shapes: Slopes, y: Any, slopes: Slopes) -> Slopes:
    """Outside of the support nothing changes; where the parameters are wrong, and the value NaN, everything is."""
    low, high = support_of(distribution, shapes)
    z = (x - loc) / scale
    outside = (z < low) | (z > high)
    return tuple(
        slope if is_missing(slope) else np.where(np.isnan(y), np.nan, np.where(outside, 0.0, slope))[()] for slope in slopes
    )


def support_of(distribution: Any, shapes: tuple[Any, ...]) -> tuple[Any, Any]:
    """The ends of the support, beside which there is no density: they move, and where they do nothing is differentiated."""
    low, high = distribution.support(*shapes)
    return low, high


non_differentiable(support_of)


def _density_slopes(distribution: Any, name: str, score: Formula) -> Callable[..., Slopes]:
    def slopes(y: Any, x: Any, *rest: Any) -> Slopes:
        *shapes, loc, scale = rest
        z = (x - loc) / scale
        in_z, *in_shapes = score(z, *shapes)
        factor = y if name == "pdf" else 1.0
        found = (in_z / scale, *in_shapes, -in_z / scale, -(1.0 + z * in_z) / scale)
        scaled = tuple(None if slope is None else factor * slope for slope in found)
        return where_inside(distribution, x, loc, scale, tuple(shapes), y, scaled)

    return slopes


def _distribution_slopes(distribution: Any, name: str, in_shapes: Formula) -> Callable[..., Slopes]:
    def slopes(y: Any, x: Any, *rest: Any) -> Slopes:
        *shapes, loc, scale = rest
        z = (x - loc) / scale
        in_x = np.exp(distribution.logpdf(x, *rest) - (y if name in ("logcdf", "logsf") else 0.0))
        sign = -1.0 if name in ("sf", "logsf") else 1.0
        others = (slope if slope is None else sign * _relative(slope, y, name) for slope in in_shapes(z, *shapes))
        found = (sign * in_x, *others, -sign * in_x, -sign * z * in_x)
        return where_inside(distribution, x, loc, scale, tuple(shapes), y, found)

    return slopes


def _relative(slope: Any, y: Any, name: str) -> Any:
    """The derivative of the logarithm y of a distribution from that of the distribution: none where that has none, though it
    be zero."""
    return np.where(slope == 0.0, 0.0, slope * np.exp(-y)) if name.startswith("log") else slope


def _quantile_slopes(distribution: Any, name: str, in_shapes: Formula) -> Callable[..., Slopes]:
    def slopes(x: Any, q: Any, *rest: Any) -> Slopes:
        *shapes, loc, scale = rest
        density = distribution.pdf(x, *rest)
        z = (x - loc) / scale
        others = (slope if slope is None else divide(-slope, density) for slope in in_shapes(z, *shapes))
        return divide(1.0 if name == "ppf" else -1.0, density), *others, np.ones_like(z), z

    return slopes


def _mass_slopes(distribution: Any, name: str, score: Formula) -> Callable[..., Slopes]:
    def slopes(y: Any, k: Any, *rest: Any) -> Slopes:
        *shapes, loc = rest
        factor = y if name == "pmf" else 1.0
        found = tuple(None if slope is None else factor * slope for slope in score(k - loc, *shapes))
        found = tuple(None if slope is None else np.where(k == np.floor(k), slope, 0.0) for slope in found)
        return None, *where_inside(distribution, k, loc, 1.0, tuple(shapes), y, found), None

    return slopes


def _step_slopes(distribution: Any, name: str, in_shapes: Formula) -> Callable[..., Slopes]:
    def slopes(y: Any, k: Any, *rest: Any) -> Slopes:
        *shapes, loc = rest
        k = np.floor(k - loc)
        sign = -1.0 if name in ("sf", "logsf") else 1.0
        found = tuple(None if slope is None else sign * _relative(slope, y, name) for slope in in_shapes(k, *shapes))
        return None, *where_inside(distribution, k, 0.0, 1.0, tuple(shapes), y, found), None

    return slopes
