"""What rules of functions that are given functions call: the derivative of what they were given.

The compiler, which knows that, is above the rules in the order of imports, so it is handed down when it has been imported.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

Differentiate = Callable[..., tuple[Any, Callable[[Any], tuple[Any, ...]]]]
DifferentiateText = Callable[..., tuple[Any, Callable[[Any], tuple[Any, ...]]]]
_installed: list[Differentiate] = []
_of_texts: list[DifferentiateText] = []


def install(differentiate: Differentiate, of_text: DifferentiateText) -> None:
    """Called once, with `rrule_via_ad` and what does the same for some arguments only."""
    _installed[:], _of_texts[:] = [differentiate], [of_text]


def differentiated(f: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """`rrule_via_ad(f, *args, **kwargs)`."""
    return _installed[0](f, *args, **kwargs)


def differentiated_text(
    f: Callable[..., Any], wanted: tuple[bool, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The value of a function of the package, and what takes the cotangent of that to those of the arguments: of the positional
    ones that are `wanted`, and None for the others."""
    return _of_texts[0](f, wanted, args, kwargs)


def by_text(helper: Any, place: int, y_bar: Any, *args: Any) -> Any:
    """The cotangent of the argument at a place, for that of the value of `helper(*args)`, by the text of the helper: whose rule
    does not say it."""
    if helper not in _without_rules:
        _without_rules[helper] = FunctionType(helper.__code__, helper.__globals__, helper.__name__, helper.__defaults__)
    wanted = tuple(each == place for each in range(len(args)))
    return differentiated_text(_without_rules[helper], wanted, args, {})[1](y_bar)[place]


_without_rules: dict[Any, FunctionType] = {}
"""Twins of helpers, in which the compiler finds no rule."""
