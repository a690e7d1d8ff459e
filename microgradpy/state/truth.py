"""The truth value of an object that was stored somewhere, of whose class nothing is known when the program is compiled."""

from __future__ import annotations

from typing import Any

from microgradpy.errors import MutationError
from microgradpy.ir.objects import LEAVES, is_function, static_member
from microgradpy.rules.registry import non_differentiable
from microgradpy.state.reach import any_may_write


def truth(x: Any) -> bool:
    """bool(x); refuses a class whose method may write, which nobody would undo."""
    cls = type(x)
    if cls not in LEAVES:
        method = static_member(cls, "__bool__") or static_member(cls, "__len__")
        if is_function(method) and any_may_write([method, x]):
            found = f"an `if` calls {method.__qualname__}, which may write"
            raise MutationError(found, None, "Call the method by its name before.")
    return bool(x)


non_differentiable(truth)
