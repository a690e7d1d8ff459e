"""Which arguments that are given by name could as well be given by position.

Cotangents belong to positions, and so do the types by which one of several rules is chosen. Where NumPy's own signature says
that a name stands for the next position, the two calls are the same one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Collection
from typing import Any


def next_by_name(f: Any, count: int, given: Collection[str]) -> list[str]:
    """The names, among those `given`, of the parameters of one of NumPy's functions that come next after `count` positional
    arguments, without a gap. An array that is written into keeps its name, by which it is looked for."""
    names = []
    for name in positional_names(f)[count:]:
        if name not in given or name == "out":
            break
        names.append(name)
    return names


def positional_names(f: Any) -> tuple[str, ...]:
    """The names of the positional parameters, "" for those that have none; nothing of what is not NumPy's."""
    owner = getattr(f, "__objclass__", None) or f
    is_of_numpy = (getattr(owner, "__module__", None) or "").partition(".")[0] == "numpy"
    return _names_in_signature(f) if is_of_numpy else ()


@functools.lru_cache(maxsize=1024)
def _names_in_signature(f: Any) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(f).parameters.values()
    except (ValueError, TypeError):  # it does not tell
        return ()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple("" if p.kind is p.POSITIONAL_ONLY else p.name for p in parameters if p.kind in kinds)
