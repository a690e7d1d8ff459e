"""Calls that no derivative flows through, and refusals that are raised where they are reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from microgradpy.errors import MutationError, UnsupportedSyntaxError
from microgradpy.ir.nodes import UNASSIGNED
from microgradpy.rules.registry import is_non_differentiable, non_differentiable, rrule
from microgradpy.runtime.assumptions import check_assumed
from microgradpy.runtime.frames import call_as_user
from microgradpy.runtime.variables import check_captured
from microgradpy.runtime.watching import Snapshot, arrays_in, arrays_seen_by, may_write
from microgradpy.runtime.writes import REMEDY, written_argument


def refuse_syntax(found: str, remedy: str) -> NoReturn:
    """Raised where the user's program reaches what cannot be differentiated."""
    raise UnsupportedSyntaxError(found, None, remedy)


def refuse_mutation(found: str, remedy: str) -> NoReturn:
    """Raised where the user's program writes in place."""
    raise MutationError(found, None, remedy)


def check_assigned(x: object, name: str) -> None:
    """Raise what Python raises for a variable that is not assigned on the path taken."""
    if x is UNASSIGNED:
        raise UnboundLocalError(f"cannot access local variable {name!r} where it is not associated with a value")


non_differentiable(check_assigned, check_captured)


def undefined_name(name: str) -> NoReturn:
    """Raise what Python raises for a name that no module variable or builtin has."""
    raise NameError(f"name {name!r} is not defined", name=name)


def call_unchanged(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call `f`, which gets no differentiated data; refuse if it wrote into an array or container it was given, or into an
    array it sees, because what was read from there before may have been kept for the reverse pass."""
    _refuse_mutating_method(f, args, kwargs)
    if is_non_differentiable(f) or rrule.covers(f):
        return call_as_user(f, args, kwargs)
    given = (*args, *kwargs.values(), getattr(f, "__self__", None))
    watched: list[Any] = [value for value in given if isinstance(value, np.ndarray | list | dict | set)]
    if may_write(f):
        watched += arrays_seen_by(f)
        watched += arrays_in(given)
    before = Snapshot.of(watched)
    result = call_as_user(f, args, kwargs)
    check_assumed()
    changed = before.changed()
    if changed is not None:
        name = getattr(f, "__name__", type(f).__name__)
        raise MutationError(
            f"{name} wrote into a {type(changed).__name__} that may have been used before",
            None,
            "Give it a copy, or return a new value.",
        )
    return result


def apply_unchanged(f: Callable[..., Any], args: Iterable[Any], kwargs: Mapping[str, Any]) -> Any:
    """The same for `f(*args, **kwargs)`."""
    check_spread(f, args, kwargs)
    return call_unchanged(f, *args, **kwargs)


def check_spread(f: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Raise what Python raises for `f(*args, **kwargs)` if `kwargs` cannot be spread into arguments."""
    if not hasattr(kwargs, "keys"):
        f(*args, **kwargs)


def _refuse_mutating_method(f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    how = written_argument(f, args, kwargs)
    if how is not None:
        raise MutationError(f"{getattr(f, '__qualname__', f)} {how}", None, REMEDY)
