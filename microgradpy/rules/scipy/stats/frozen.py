"""scipy.stats: frozen distributions, `norm(loc, scale)`, and their methods.

A frozen distribution keeps the arguments that it was made with, and its methods are those of the distribution with these: its
cotangent is a Tangent with those of its fields `args` and `kwds`.
"""

from __future__ import annotations

import inspect
from types import MethodType
from typing import Any

from scipy import stats

from microgradpy.rules.registry import frule, rrule
from microgradpy.rules.scipy.stats.families import optional_of, shapes_of, signature_of, with_defaults
from microgradpy.rules.scipy.stats.generic import (
    METHODS_OF,
    bars_of_method,
    own_bar,
    signature_for,
    tangent_of_method,
)
from microgradpy.tangents.types import NoTangent, Tangent, is_structural_zero

CLASSES = {stats.rv_continuous: type(stats.norm()), stats.rv_discrete: type(stats.poisson(1.0))}
"""The class of the frozen distributions of each kind."""
_BASE: Any = stats.rv_continuous.__mro__[1]


def _declare_freezing(name: str) -> None:
    """Register the rules of norm(loc, scale), norm.freeze(loc, scale)."""
    method = getattr(_BASE, name)

    @rrule.register_methods(method)
    def rule_of_freezing(distribution: Any) -> Any:
        def freeze_rrule(*args: Any, **kwargs: Any) -> Any:
            y = method(distribution, *args, **kwargs)

            def freeze_pullback(y_bar: Any) -> tuple[Any, ...]:
                given = y_bar.get("args")
                bars = (NoTangent(),) * len(args) if is_structural_zero(given) else given
                return own_bar(distribution, name), *bars

            return y, freeze_pullback

        freeze_rrule.__signature__ = _signature(distribution)  # type: ignore[attr-defined]
        return freeze_rrule

    @frule.register_methods(method)
    def forward_rule_of_freezing(distribution: Any) -> Any:
        def freeze_frule(*args: Any, **kwargs: Any) -> Any:
            y = method(distribution, *args, **kwargs)
            return y, lambda f_dot, *dots: Tangent(type(y), args=tuple(dots))

        freeze_frule.__signature__ = _signature(distribution)  # type: ignore[attr-defined]
        return freeze_frule


def _signature(distribution: Any) -> inspect.Signature:
    return signature_of(shapes_of(distribution), optional_of(distribution))


def _declare(cls: Any, name: str) -> None:
    """Register the rules of a method of frozen distributions."""
    method = getattr(cls, name)

    @rrule.register_methods(method)
    def rule_of_method(frozen: Any) -> Any:
        def frozen_rrule(*args: Any, **kwargs: Any) -> Any:
            y = method(frozen, *args, **kwargs)

            def frozen_pullback(y_bar: Any) -> tuple[Any, ...]:
                arguments = _all_arguments(frozen, name, args)
                bars = bars_of_method(frozen.dist, name, y_bar, y, arguments)
                own = Tangent(MethodType, {"__self__": _bar_of(frozen, bars[len(args) :])})
                return own, *bars[: len(args)]

            return y, frozen_pullback

        frozen_rrule.__signature__ = signature_of_frozen(frozen, name)  # type: ignore[attr-defined]
        return frozen_rrule

    @frule.register_methods(method)
    def forward_rule_of_method(frozen: Any) -> Any:
        def frozen_frule(*args: Any, **kwargs: Any) -> Any:
            y = method(frozen, *args, **kwargs)

            def frozen_pushforward(f_dot: Any, *dots: Any) -> Any:
                own = _dots_of(frozen, None if is_structural_zero(f_dot) else f_dot.get("__self__"))
                return tangent_of_method(frozen.dist, name, y, _all_arguments(frozen, name, args), (*dots, *own))

            return y, frozen_pushforward

        frozen_frule.__signature__ = signature_of_frozen(frozen, name)  # type: ignore[attr-defined]
        return frozen_frule


def signature_of_frozen(frozen: Any, name: str) -> inspect.Signature:
    """The parameters of the function that a method of a frozen distribution is."""
    parameters = list(signature_for(frozen.dist, name).parameters.values())
    return inspect.Signature(parameters[: len(parameters) - len(_parameters(frozen))])


def _all_arguments(frozen: Any, name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of the distribution's own method."""
    return with_defaults(tuple(signature_for(frozen.dist, name).parameters), (*args, *frozen.args), frozen.kwds)


def _parameters(frozen: Any) -> tuple[str, ...]:
    return (*shapes_of(frozen.dist), *optional_of(frozen.dist))


def _bar_of(frozen: Any, bars: tuple[Any, ...]) -> Tangent:
    """The cotangent of a frozen distribution, from those of all its parameters."""
    by_name = dict(zip(_parameters(frozen), bars, strict=True))
    count = len(frozen.args)
    return Tangent(type(frozen), args=tuple(bars[:count]), kwds={key: by_name[key] for key in frozen.kwds})


def _dots_of(frozen: Any, dot: Any) -> tuple[Any, ...]:
    """The tangents of all parameters of a frozen distribution."""
    if is_structural_zero(dot):
        return (None,) * len(_parameters(frozen))
    given, named = dot.get("args"), dot.get("kwds")
    by_position = (None,) * len(frozen.args) if is_structural_zero(given) else tuple(given)
    by_name = {} if is_structural_zero(named) else named
    return (*by_position, *(by_name.get(key) for key in _parameters(frozen)[len(by_position) :]))


for _name in ("__call__", "freeze"):
    _declare_freezing(_name)
for _name in METHODS_OF[stats.rv_continuous]:
    _declare(CLASSES[stats.rv_continuous], _name)
for _name in ("pmf", "logpmf"):
    _declare(CLASSES[stats.rv_discrete], _name)
