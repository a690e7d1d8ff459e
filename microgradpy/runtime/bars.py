"""What the pullback of any call returns, and how one call is resolved from within another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, final


@final
class Bars(NamedTuple):
    """The cotangents that a pullback returns: of the callee, of the positional and of the keyword arguments. `fresh` says
    of which arguments they are arrays that nobody else holds; of none if it is empty."""

    function: Any
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    fresh: tuple[bool, ...] = ()


Back = Callable[[Any], Bars]
Wanted = tuple[bool, ...] | None
Resolved = tuple[Any, Back]
"""The value of a call, and its pullback."""


class Resolve(Protocol):
    """The dispatcher, as those modules get it that it calls itself."""

    def __call__(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved: ...


def nothing(count: int) -> Back:
    """The pullback of a call of `count` arguments through which no derivative flows."""
    return lambda y_bar, *shadows: Bars(None, (None,) * count, {})
