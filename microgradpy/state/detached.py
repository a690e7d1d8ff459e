"""Results whose derivative is not that of the arguments they are made of: what `stop_gradient` returns, or a function that is
declared non-differentiable, or one whose rule returns an argument.

Cotangents are found by memory, so such a result must not share any with the arguments: it is a copy. The plain program would
see what is written into either through both; where that has made a difference by the end of the run, the pullback refuses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np

from microgradpy.errors import MutationError
from microgradpy.rules.registry import non_differentiable
from microgradpy.runtime.activity import may_be_active
from microgradpy.runtime.frames import call_as_user
from microgradpy.runtime.markers import RETURN_ARGUMENTS
from microgradpy.state.object_graph import is_users_class
from microgradpy.state.shadows import is_value
from microgradpy.state.snapshots import Known, parts_of
from microgradpy.state.whole import whole_run
from microgradpy.tangents.fields import named_like


def may_return_arguments(f: Any) -> bool:
    """Whether a function without derivative may return what it is given, or a part of it."""
    return f in RETURN_ARGUMENTS or is_users_class(f)


def detached(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The value of a function without derivative, apart from its arguments."""
    y = call_as_user(f, args, kwargs)
    return y if _is_plain(y) else apart_from(y, Known((*args, *kwargs.values())), f)


non_differentiable(detached)


def apart_from(y: Any, known: Known, f: Any) -> Any:
    """A result, with copies of what it shares with the arguments, which are known."""
    return _apart(y, known, str(getattr(f, "__qualname__", f)))


def _apart(y: Any, known: Known, name: str) -> Any:
    if _is_plain(y):
        return y
    if isinstance(y, np.ndarray):
        return _noted(y, np.ndarray.copy(y), name) if known.is_view(y) else y
    if isinstance(y, tuple):
        items = [_apart(item, known, name) for item in y]
        if all(map(_is_same, items, y)):
            return y
        return named_like(y, items) if hasattr(y, "_fields") else type(y)(items)
    if type(y) in (list, deque, dict):
        parts = {key: _apart(part, known, name) for key, part in parts_of(y)}
        if id(y) not in known.objects and all(map(_is_same, parts.values(), (part for _, part in parts_of(y)))):
            return y
        return _noted(y, parts if type(y) is dict else type(y)(parts.values()), name)
    parts_apart = all(_is_same(_apart(part, known, name), part) for _, part in parts_of(y))
    if may_be_active(y) and (id(y) in known.objects or not parts_apart):
        raise MutationError(
            f"{name} returns a {type(y).__name__} that it is given, in a run that tracks writes",
            None,
            f"Give {name} the numbers and arrays in it, one by one.",
        )
    return y


def _is_plain(y: Any) -> bool:
    return is_value(y) and not isinstance(y, tuple)


def _is_same(a: Any, b: Any) -> bool:
    return a is b


def _noted(y: Any, copied: Any, name: str) -> Any:
    whole = whole_run()
    if whole is not None:
        whole.copies.append((y, copied, name))
    return copied


def check_copies(copies: Iterable[tuple[Any, Any, str]]) -> str:
    """Why the copies that were made in a run do not stand for what they are copies of; empty if they do."""
    for y, copied, name in copies:
        if not _are_equal(y, copied):
            return f"what {name} returned is what it was given, and one of them was written into afterwards: give it a copy"
    return ""


def _are_equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    if isinstance(a, list | deque | tuple):
        return len(a) == len(b) and all(map(_are_equal, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_are_equal(a[key], b[key]) for key in a)
    return a is b or (type(a) is type(b) and is_value(a) and (a == b or a != a))
