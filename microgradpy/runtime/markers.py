"""The callables that the compiler treats by themselves; filled by the modules that define them."""

from __future__ import annotations

from types import FunctionType
from typing import Any
from weakref import WeakSet

NESTED_DIFFERENTIATION: WeakSet[Any] = WeakSet()
"""Callables that differentiate (`gradient`, what `grad` returns ...): something stands for them inside of differentiated code
(`rules.nested`), or they are refused there."""


def differentiates(f: Any) -> bool:
    """Whether a callable is one of them."""
    try:
        return f in NESTED_DIFFERENTIATION
    except TypeError:
        return False


RETURN_ARGUMENTS: set[Any] = set()
"""Functions of the package that return what they are given, with another derivative."""

PARTS_OF: dict[type, tuple[str, ...]] = {}
"""By class of the package, the fields that have cotangents: what else its objects hold leads to all that was compiled."""

FOR_WHOLE_RUNS: WeakSet[Any] = WeakSet()
"""Contexts that change how functions are run and compiled: they come too late in a function that has been compiled."""

CHECKPOINTED: WeakSet[Any] = WeakSet()
"""What `checkpointed` has made: functions of the one that they hold in their only cell."""


def checkpointed_by(f: Any) -> Any:
    """The function that such a one calls; None for any other callable."""
    if not isinstance(f, FunctionType) or f not in CHECKPOINTED or not f.__closure__:
        return None
    return f.__closure__[0].cell_contents
