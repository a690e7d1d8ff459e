"""Calls that no derivative flows through, and refusals that are raised where they are reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from microgradpy.errors import MutationError, UnsupportedSyntaxError
from microgradpy.ir.nodes import UNASSIGNED
from microgradpy.rules.registry import is_non_differentiable, non_differentiable, rrule
from microgradpy.runtime.frames import call_as_user
from microgradpy.runtime.modes import RUN
from microgradpy.runtime.variables import check_captured
from microgradpy.runtime.write_detection import Snapshot, arrays_in, arrays_seen_by, may_write
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


REPLACE_OUTSIDE = "Replace it outside, around the call that differentiates."


def check_assumed() -> None:
    """Refuse if code that ran just now has replaced a function, class or module that is named by a function which runs."""
    assumed = RUN.assumed
    while assumed:
        guards, assumed = assumed
        name = guards.replaced()
        if name is not None:
            raise MutationError(f"{name} is replaced inside differentiated code", None, REPLACE_OUTSIDE)


non_differentiable(check_assumed)


def check_sum(function: Callable[[Any, Any], Any], total: Any, x: Any) -> None:
    """Let `total += x` raise what Python raises if `total` is an array that cannot hold the sum, and refuse to round it; and
    refuse what is written in place in another way than arrays are."""
    if isinstance(total, _NUMBERS):
        return
    if type(total) is np.ndarray and isinstance(x, _ADDED):
        x = np.asarray(x) if type(x) in (list, tuple) else x
        if np.broadcast_shapes(total.shape, np.shape(x)) == total.shape and np.result_type(total, x) == total.dtype:
            return
        function(total.copy(), x)
        found = f"what is added to an array of {total.dtype} is rounded to it"
        refuse_mutation(found, "Convert it first: x.astype(total.dtype).")
    elif hasattr(type(total), f"__{function.__name__}__"):
        sign = _SIGNS[function.__name__]
        found = f"of {type(x).__name__} to {type(total).__name__}, which may write into what others have"
        refuse_mutation(f"`{sign}=` {found}", f"Write `total = total {sign} x`.")


_NUMBERS = (int, float, complex, np.number, np.bool)
_ADDED = (*_NUMBERS, np.ndarray, list, tuple)
_SIGNS = {"iadd": "+", "isub": "-", "imul": "*"}


non_differentiable(check_sum)
