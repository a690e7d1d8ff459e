"""scipy.stats: methods of any distribution, by the formulas of its standard form that its class is written in.

The methods of all distributions are those of a base class, which call formulas of z = (x - loc) / scale and of the parameters
of the shape (`_pdf`, `_cdf`, `_ppf`, `_stats` ...). Those are differentiated through their source; a distribution function that
is an integral of the density has the density as its derivative in z. Where `families` has a formula, that is taken.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from microgradpy.errors import DifferentiationError, MissingRuleError
from microgradpy.rules.nested import differentiated
from microgradpy.rules.registry import examples, frule, non_differentiable, rrule
from microgradpy.rules.scipy.stats.families import (
    DENSITIES,
    DISTRIBUTIONS,
    METHODS,
    QUANTILES,
    Slopes,
    bars_of,
    is_missing,
    optional_of,
    shapes_of,
    signature_of,
    slopes_at,
    tangent_of,
    where_inside,
    with_defaults,
)
from microgradpy.tangents.arithmetic import divide
from microgradpy.tangents.thunks import not_implemented
from microgradpy.tangents.types import NoTangent, NotImplementedTangent, is_structural_zero

MASSES = ("pmf", "logpmf")
MOMENTS = ("mean", "var", "std", "entropy")
_GIVEN = {
    **dict.fromkeys((*DENSITIES, *DISTRIBUTIONS), "x"), **dict.fromkeys(QUANTILES, "q"), **dict.fromkeys(MASSES, "k"),
    "interval": "confidence",
}  # fmt: skip


def signature_for(distribution: Any, name: str) -> inspect.Signature:
    """The parameters of a method of a distribution."""
    given = "k" if _GIVEN.get(name) == "x" and is_discrete(distribution) else _GIVEN.get(name)
    return signature_of((*(() if given is None else (given,)), *shapes_of(distribution)), optional_of(distribution))


def is_discrete(distribution: Any) -> bool:
    return isinstance(distribution, stats.rv_discrete)


def slopes_of(distribution: Any, name: str, y: Any, arguments: tuple[Any, ...]) -> Slopes:
    """The derivatives of a method that gives one value for each of its arguments, which are all here."""
    known = METHODS.get((type(distribution), name))
    if known is not None and _settings(known[0]) == _settings(distribution):
        return slopes_at(known[1], y, arguments)
    return slopes_at(lambda y, *rest: _SLOPES[name](distribution, name, y, *rest), y, arguments)


def _settings(distribution: Any) -> tuple[Any, ...]:
    return distribution.a, distribution.b, distribution.badvalue


def _split(distribution: Any, rest: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any, Any]:
    """The parameters of the shape, the place and the scale."""
    if is_discrete(distribution):
        return rest[:-1], rest[-1], 1.0
    return rest[:-2], rest[-2], rest[-1]


def _partial_derivatives(formula: Callable[..., Any], distribution: Any, arguments: tuple[Any, ...]) -> Slopes:
    """The derivatives of a formula of arrays that is applied element by element."""
    arrays = np.broadcast_arrays(*arguments)
    flat = [np.array(array, float).ravel() for array in arrays]
    y, back = differentiated(formula, distribution, *flat)
    bars = back(np.ones(np.shape(y)))[2:]
    slopes = (np.zeros(flat[0].shape) if is_structural_zero(bar) else bar for bar in bars)
    return tuple(np.reshape(slope, arrays[0].shape)[()] for slope in slopes)


def _partial_derivatives_one_by_one(
    formula: Callable[..., Any], distribution: Any, arguments: tuple[Any, ...]
) -> Slopes:
    """The same of a formula of numbers."""
    arrays = np.broadcast_arrays(*arguments)
    rows = [
        differentiated(formula, distribution, *map(float, row))[1](1.0)[2:]
        for row in zip(*(array.ravel() for array in arrays), strict=True)
    ]
    columns = np.array([[0.0 if is_structural_zero(bar) else bar for bar in row] for row in rows], float).T
    return tuple(np.reshape(column, arrays[0].shape)[()] for column in columns)


def _slopes_of_formula(distribution: Any, name: str, z: Any, shapes: tuple[Any, ...]) -> Slopes:
    """The derivatives of `_pdf` and its like in z and in the parameters of the shape."""
    known = _density_of(distribution, name, z, shapes) if name in DISTRIBUTIONS and is_consistent(distribution, name) else None
    if known is not None and not shapes:
        return (known,)
    in_z, *in_shapes = _derivatives(distribution, name, z, *shapes)
    return in_z if known is None else known, *in_shapes


def _derivatives(distribution: Any, name: str, *arguments: Any) -> Slopes:
    """The derivatives of a formula that a distribution is written in, if its source can be differentiated; else by those of its
    logarithm."""
    method = getattr(distribution, f"_{name}")
    try:
        if name in _LEADS_TO:
            check_formula(distribution, f"_{name}", *_LEADS_TO[name])
        return _partial_derivatives(method.__func__, distribution, arguments)
    except DifferentiationError as refusal:
        if f"log{name}" in _SLOPES and is_consistent(distribution, name):
            value = method(*arguments)
            return tuple(_times(value, slope) for slope in _derivatives(distribution, f"log{name}", *arguments))
        return (_unknown(distribution, name, refusal),) * len(arguments)


def _unknown(distribution: Any, name: str, refusal: DifferentiationError) -> Any:
    return not_implemented(f"of {distribution.name}.{name}, whose formula cannot be differentiated: {refusal.found}")


def _density_of(distribution: Any, name: str, z: Any, shapes: tuple[Any, ...]) -> Any:
    """The derivative of a distribution function in z, by the density."""
    density = distribution._pdf(z, *shapes)
    value = 1.0 if name in ("cdf", "sf") else getattr(distribution, f"_{name.removeprefix('log')}")(z, *shapes)
    return divide(-density if name.endswith("sf") else density, value)


def is_consistent(distribution: Any, name: str) -> bool:
    """Whether the density is the derivative of the distribution function: of SciPy's own distributions, and of those that leave
    the integral to SciPy."""
    base = stats.rv_continuous
    cls = type(distribution)
    is_integral = all(getattr(cls, f"_{each}") is getattr(base, f"_{each}") for each in ("cdf", *DISTRIBUTIONS))
    return isinstance(distribution, base) and (cls.__module__.partition(".")[0] == "scipy" or is_integral)


def _density(distribution: Any, name: str, y: Any, x: Any, *rest: Any) -> Slopes:
    shapes, loc, scale = _split(distribution, rest)
    z = (x - loc) / scale
    in_z, *in_shapes = _slopes_of_formula(distribution, name, z, shapes)
    if is_missing(in_z):
        return in_z, *in_shapes, in_z, in_z
    if name == "logpdf":
        found = (in_z / scale, *in_shapes, -in_z / scale, -(1.0 + z * in_z) / scale)
    else:
        others = (_times(1.0 / scale, slope) for slope in in_shapes)
        found = (in_z / scale**2, *others, -in_z / scale**2, -(y + z * in_z / scale) / scale)
    return where_inside(distribution, x, loc, scale, shapes, y, found)


def _distribution(distribution: Any, name: str, y: Any, x: Any, *rest: Any) -> Slopes:
    shapes, loc, scale = _split(distribution, rest)
    if is_discrete(distribution):
        return _mass(distribution, name, y, np.floor(x - loc) + loc, *rest)
    z = (x - loc) / scale
    in_z, *in_shapes = _slopes_of_formula(distribution, name, z, shapes)
    in_x = _times(1.0 / scale, in_z)
    found = (in_x, *in_shapes, _times(-1.0, in_x), _times(-z, in_x))
    return where_inside(distribution, x, loc, scale, shapes, y, found)


def _mass(distribution: Any, name: str, y: Any, k: Any, *rest: Any) -> Slopes:
    shapes, loc, _ = _split(distribution, rest)
    _, *in_shapes = _derivatives(distribution, name, np.broadcast_to(np.floor(k - loc), np.shape(y)), *shapes)
    found = tuple(_where(np.equal(k, np.floor(k)), slope) for slope in in_shapes)
    return None, *where_inside(distribution, k, loc, 1.0, shapes, y, found), None


def _quantile(distribution: Any, name: str, y: Any, q: Any, *rest: Any) -> Slopes:
    if is_discrete(distribution):  # steps
        return (None,) * (1 + len(rest))
    shapes, loc, scale = _split(distribution, rest)
    z = (y - loc) / scale
    density = distribution._pdf(z, *shapes)
    _, *in_shapes = _slopes_of_formula(distribution, "cdf", z, shapes)
    in_q = divide(scale if name == "ppf" else -scale, density)
    return in_q, *(_times(divide(-scale, density), slope) for slope in in_shapes), np.ones_like(z), z


def _moment(distribution: Any, name: str, y: Any, *rest: Any) -> Slopes:
    """mean = loc + scale * mu, var = scale^2 * mu_2, std = sqrt(var), entropy = h + log(scale)."""
    shapes, loc, scale = _split(distribution, rest)
    known = {
        "mean": (scale, 1.0, (y - loc) / scale), "var": (scale**2, 0.0, 2.0 * y / scale),
        "std": (divide(0.5 * scale**2, y), 0.0, y / scale), "entropy": (1.0, 0.0, 1.0 / scale),
    }  # fmt: skip
    factor, in_loc, in_scale = known[name]
    slopes = tuple(_times(factor, slope) for slope in _moment_in_shapes(distribution, name, shapes))
    return slopes + ((in_loc,) if is_discrete(distribution) else (in_loc, in_scale))


def _moment_in_shapes(distribution: Any, name: str, shapes: tuple[Any, ...]) -> Slopes:
    if not shapes:
        return ()
    apply = _partial_derivatives_one_by_one if name == "entropy" else _partial_derivatives
    try:
        return apply(_FORMULAS[name], distribution, shapes)
    except DifferentiationError as refusal:
        return (_unknown(distribution, name, refusal),) * len(shapes)


def mean_of(distribution: Any, *shapes: Any) -> Any:
    """The mean of the standard form."""
    options = {"moments": "m"} if distribution._stats_has_moments else {}
    found = distribution._stats(*shapes, **options)[0]
    return raw_moment(distribution, 1, shapes) if found is None else found


def variance_of(distribution: Any, *shapes: Any) -> Any:
    """The variance of the standard form."""
    options = {"moments": "v"} if distribution._stats_has_moments else {}
    found = distribution._stats(*shapes, **options)[1]
    return raw_moment(distribution, 2, shapes) - mean_of(distribution, *shapes) ** 2 if found is None else found


def raw_moment(distribution: Any, order: int, shapes: tuple[Any, ...]) -> Any:
    """The mean of a power, if there is a formula."""
    check_formula(distribution, "_munp")
    return distribution._munp(order, *shapes)


def entropy_of(distribution: Any, *shapes: Any) -> Any:
    """The entropy of the standard form."""
    check_formula(distribution, "_entropy")
    return distribution._entropy(*shapes)


_LEADS_TO = {"cdf": (), "sf": ("_cdf",), "logcdf": ("_cdf",), "logsf": ("_sf", "_cdf")}
"""By which others a distribution function is computed if its class has no formula for it."""


def check_formula(distribution: Any, *names: str) -> None:
    """Refuse what SciPy computes as an integral or a sum, as none of these functions is given by the class."""
    base = stats.rv_discrete if is_discrete(distribution) else stats.rv_continuous
    if all(getattr(distribution, name).__func__ is getattr(base, name) for name in names):
        raise MissingRuleError("it is an integral or a sum", None, "Write the formula.")


non_differentiable(check_formula)
_FORMULAS = {"mean": mean_of, "var": variance_of, "std": variance_of, "entropy": entropy_of}


def _median(distribution: Any, name: str, y: Any, *rest: Any) -> Slopes:
    return slopes_of(distribution, "ppf", y, (0.5, *rest))[1:]


def _times(factor: Any, slope: Any) -> Any:
    return slope if is_missing(slope) else factor * slope


def _where(condition: Any, slope: Any) -> Any:
    return slope if is_missing(slope) else np.where(condition, slope, 0.0)[()]


_SLOPES: dict[str, Callable[..., Slopes]] = {
    **dict.fromkeys(DENSITIES, _density), **dict.fromkeys(DISTRIBUTIONS, _distribution), **dict.fromkeys(MASSES, _mass),
    **dict.fromkeys(QUANTILES, _quantile), **dict.fromkeys(MOMENTS, _moment), "median": _median,
}  # fmt: skip


def bars_of_method(distribution: Any, name: str, y_bar: Any, y: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The cotangents of all arguments of a method."""
    if name != "interval":
        return bars_of(y_bar, slopes_of(distribution, name, y, arguments), arguments)
    total: tuple[Any, ...] = (NoTangent(),) * len(arguments)
    for bar, slopes in zip(y_bar, _slopes_of_ends(distribution, y, arguments), strict=True):
        if not is_structural_zero(bar):
            total = tuple(_sum(a, b) for a, b in zip(total, bars_of(bar, slopes, arguments), strict=True))
    return total


def _sum(a: Any, b: Any) -> Any:
    return b if is_structural_zero(a) else a if is_structural_zero(b) else a + b


def _slopes_of_ends(distribution: Any, y: Any, arguments: tuple[Any, ...]) -> list[Slopes]:
    """The derivatives of both ends of an interval that holds a share of all: of quantiles."""
    confidence, *rest = arguments
    found = []
    for end, sign in zip(y, (-1.0, 1.0), strict=True):
        in_q, *others = slopes_of(distribution, "ppf", end, (0.5 + 0.5 * sign * np.asarray(confidence), *rest))
        found.append((_times(0.5 * sign, in_q), *others))
    return found


def tangent_of_method(distribution: Any, name: str, y: Any, arguments: tuple[Any, ...], dots: tuple[Any, ...]) -> Any:
    """The tangent of the value of a method."""
    if name != "interval":
        return tangent_of(y, slopes_of(distribution, name, y, arguments), dots)
    ends = zip(y, _slopes_of_ends(distribution, y, arguments), strict=True)
    return tuple(tangent_of(end, slopes, dots) for end, slopes in ends)


def _declare(base: Any, name: str) -> None:
    """Register the rules of a method for all distributions."""
    method = getattr(base, name)

    @rrule.register_methods(method)
    def rule_of_method(distribution: Any) -> Any:
        signature = signature_for(distribution, name)

        def method_rrule(*args: Any, **kwargs: Any) -> Any:
            arguments = with_defaults(tuple(signature.parameters), args, kwargs)
            y = method(distribution, *args, **kwargs)

            def method_pullback(y_bar: Any) -> tuple[Any, ...]:
                return own_bar(distribution, name), *bars_of_method(distribution, name, y_bar, y, arguments)

            return y, method_pullback

        method_rrule.__signature__ = signature  # type: ignore[attr-defined]
        return method_rrule

    @frule.register_methods(method)
    def forward_rule_of_method(distribution: Any) -> Any:
        signature = signature_for(distribution, name)

        def method_frule(*args: Any, **kwargs: Any) -> Any:
            arguments = with_defaults(tuple(signature.parameters), args, kwargs)
            y = method(distribution, *args, **kwargs)

            def method_pushforward(f_dot: Any, *dots: Any) -> Any:
                if not is_structural_zero(f_dot) and isinstance(own_bar(distribution, name), NotImplementedTangent):
                    return own_bar(distribution, name)
                return tangent_of_method(distribution, name, y, arguments, dots)

            return y, method_pushforward

        method_frule.__signature__ = signature  # type: ignore[attr-defined]
        return method_frule


def own_bar(distribution: Any, name: str) -> Any:
    """The cotangent of a method itself: a distribution is a constant, but what one of a class of the user's keeps besides what
    all distributions do is not looked for."""
    cls = type(distribution)
    is_of_scipy = cls.__module__.partition(".")[0] == "scipy"
    if is_of_scipy or vars(distribution).keys() <= vars(stats.binom if is_discrete(distribution) else stats.norm).keys():
        return NoTangent()
    return not_implemented(f"of {distribution.name}.{name} in what the distribution keeps: make it a parameter of the shape")


METHODS_OF = {
    stats.rv_continuous: (*DENSITIES, *DISTRIBUTIONS, *QUANTILES, *MOMENTS, "median", "interval"),
    stats.rv_discrete: (*MASSES, *DISTRIBUTIONS, *QUANTILES, *MOMENTS, "median", "interval"),
}
"""The methods of the two base classes that have rules."""
for _base, _names in METHODS_OF.items():
    for _name in _names:
        _declare(_base, _name)

_X = np.array([[0.3, 0.7], [0.4, 0.9]])
_ROW = np.array([0.6, 1.4])
_SHARES = np.array([[0.15, 0.35], [0.7, 0.4]])
_K = np.array([[1, 2], [4, 3]])
_CONTINUOUS: tuple[tuple[Any, ...], ...] = ((stats.cosine,), (stats.gengamma, 1.7, 1.2), (stats.crystalball, 2.3, 3.5))
_DISCRETE: tuple[tuple[Any, ...], ...] = ((stats.logser, 0.6), (stats.boltzmann, 0.4, 6))
for _name in METHODS_OF[stats.rv_continuous]:
    _first = () if _GIVEN.get(_name) is None else (_X,) if _name in (*DENSITIES, *DISTRIBUTIONS) else (_SHARES,)
    for _distribution, *_shapes in _CONTINUOUS:
        examples(getattr(_distribution, _name), (*_first, *_shapes, 0.1, _ROW + 0.3))
for _name in METHODS_OF[stats.rv_discrete]:
    _first = () if _GIVEN.get(_name) is None else (_SHARES,) if _name in (*QUANTILES, "interval") else (_K,)
    for _distribution, *_shapes in _DISCRETE if _name != "entropy" else ((stats.bernoulli, 0.6),):
        examples(getattr(_distribution, _name), (*_first, *_shapes))
