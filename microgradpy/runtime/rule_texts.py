"""The lines that would define a missing rule, for the end of the message with which `dispatch` refuses the call."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np


def rule_to_fill_in(f: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Three lines, valid as they stand, with `...` in the place of each cotangent; `name` is how messages call `f`."""
    owner = getattr(f, "__self__", None)
    is_method = owner is not None and not isinstance(owner, types.ModuleType)
    short = identifier_in(name)
    function = getattr(type(owner), short, f) if is_method else f
    # What no module has is written as messages call it, for the user to put his own name there.
    path = importable(function, short) or (f"{type(owner).__name__}.{short}" if is_method else short)
    count = len(args) + is_method
    positional = ["x"] if count == 1 else [f"x{k + 1}" for k in range(count)]
    parameters = ", ".join([*positional, *kwargs])
    given = ", ".join([*positional, *(f"{keyword}={keyword}" for keyword in kwargs)])
    cotangents = ", ".join(["NoTangent()", *("..." for _ in positional)])
    rule_name = f"{short.strip('_') or short}_rrule"
    comma = "" if positional else ","
    return (
        f"    @rrule.register({path})\n    def {rule_name}({parameters}):\n"
        f"        return {path}({given}), lambda y_bar: ({cotangents}{comma})"
    )


def identifier_in(name: str) -> str:
    """The last part of a name that can be one in a program. np.frompyfunc calls what it makes "f (vectorized)"."""
    last = name.partition(" ")[0].rpartition(".")[2]
    return last if last.isidentifier() else "f"


def importable(f: Any, short: str) -> str:
    """The shortest path from an imported module of a library to a callable, public if there is one; empty if there is none."""
    bound = getattr(f, "__self__", None)
    owner = bound if isinstance(bound, np.ufunc) else getattr(f, "__objclass__", None)
    holder, last = (owner, f".{short}") if owner is not None else (f, "")
    names = {getattr(holder, "__name__", short), short if owner is None else owner.__name__}
    module = getattr(holder, "__module__", None) or ""
    if module == "builtins":
        return f"{holder.__name__}{last}"
    root = module.lstrip("_").partition(".")[0]
    found = [
        f"{place}.{name}"
        for place, content in sys.modules.copy().items()
        for name in names
        if (not root or place.lstrip("_").partition(".")[0] == root) and place != "__main__"
        if getattr(content, "__dict__", {}).get(name) is holder
    ]
    return min(found, key=_rank) + last if found else ""


def _rank(path: str) -> tuple[bool, bool, int, str]:
    """Another module may have a library's function, too, under a shorter path."""
    first, *_ = parts = path.split(".")
    is_of_library = first in ("numpy", "scipy") or first in sys.stdlib_module_names
    return not is_of_library, any(part.startswith("_") for part in parts), len(path), path
