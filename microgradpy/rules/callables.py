"""What rules of functions that are given functions call: the derivative of what they were given.

The compiler, which knows that, is above the rules in the order of imports, so it is handed down when it has been imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Differentiate = Callable[..., tuple[Any, Callable[[Any], tuple[Any, ...]]]]
_installed: list[Differentiate] = []


def install(differentiate: Differentiate) -> None:
    """Called once, with `rrule_via_ad`."""
    _installed[:] = [differentiate]


def differentiated(f: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """`rrule_via_ad(f, *args, **kwargs)`."""
    return _installed[0](f, *args, **kwargs)
