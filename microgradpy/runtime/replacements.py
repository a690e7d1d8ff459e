"""Builtins whose calls of the user's functions are differentiated, written in Python: the compiler differentiates the text.

Each does what the builtin does, calling the same functions in the same order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

_NOTHING = object()


def reduce(function: Callable[[Any, Any], Any], iterable: Iterable[Any], initial: Any = _NOTHING, /) -> Any:
    """functools.reduce"""
    is_empty = initial is _NOTHING
    total = initial
    for item in iterable:
        if is_empty:
            total, is_empty = item, False
        else:
            total = function(total, item)
    if is_empty:
        raise TypeError("reduce() of empty iterable with no initial value")
    return total


REPLACEMENTS: dict[Any, Callable[..., Any]] = {functools.reduce: reduce}
"""What is differentiated in the place of a builtin, whatever it is called with."""
