"""Methods that are asked where nobody would undo what they write: for the truth of an object of whose class nothing is known
when the program is compiled, and by whoever prints an exception."""

from __future__ import annotations

from typing import Any

from microgradpy.errors import MutationError
from microgradpy.ir.objects import LEAVES, is_function, static_member
from microgradpy.rules.registry import non_differentiable
from microgradpy.runtime.asking import TEXTS
from microgradpy.state.reach import any_may_write, own_method_that_writes, writing_method


def truth(x: Any) -> bool:
    """bool(x); refuses a class whose method may write, which nobody would undo."""
    cls = type(x)
    if cls not in LEAVES:
        method = static_member(cls, "__bool__") or static_member(cls, "__len__")
        if is_function(method) and any_may_write([method, x]):
            found = f"an `if` calls {method.__qualname__}, which may write"
            raise MutationError(found, None, "Call the method by its name before.")
    return bool(x)


def check_shown(cls: type, *held: Any) -> None:
    """Refuse to make an exception that holds objects whose texts may write: whoever catches it may print it."""
    method = writing_method(held, TEXTS) or own_method_that_writes(cls, TEXTS)
    if method is not None:
        found = f"{cls.__name__} may be printed, which calls {method.__qualname__}, which may write"
        raise MutationError(found, None, "Give the exception a text, or let the method compute its answer without writing.")


non_differentiable(truth, check_shown)
