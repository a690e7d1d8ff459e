"""What a rule has to return, looked at where it is called: a mistake there is one of the rule's author, who is told which rule
it is and what is expected of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from microgradpy.errors import CotangentShapeError, DifferentiationError
from microgradpy.tangents.types import is_structural_zero

Pullback = Callable[[Any], Any]


def applied(rule: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], second: str) -> tuple[Any, Any]:
    """The value and what belongs to it, the `second`: a pullback or a pushforward."""
    outcome = rule(*args, **kwargs)
    if not isinstance(outcome, tuple) or len(outcome) != 2:
        found = f"{place_of(rule)} returns {_described(outcome)}"
    elif not callable(outcome[1]):
        found = f"{place_of(rule)} returns {_described(outcome[1])} in the place of the {second}"
    else:
        return outcome
    raise DifferentiationError(found, None, f"Return a tuple of the function's value and the {second}: y, {second}.")


def cotangents(rule: Callable[..., Any], pullback: Pullback, y_bar: Any) -> tuple[Any, ...]:
    """What a pullback returns for a seed: the cotangent of the function itself, then one for each positional parameter of the
    rule, of which the last ones may be left out. More of them do no harm if they are zeros."""
    bars = pullback(y_bar)
    most = _most_arguments(rule)
    if isinstance(bars, tuple | list) and bars and (most is None or all(map(is_structural_zero, bars[1 + most :]))):
        return tuple(bars)
    returned = f"{len(bars)} cotangents" if isinstance(bars, tuple | list) else _described(bars)
    wanted = "one per positional argument" if most is None else f"{most} for the positional parameters of the rule"
    raise CotangentShapeError(
        f"the pullback of {place_of(rule)} returns {returned}",
        None,
        f"Return a tuple: NoTangent() for the function itself, then {wanted}, NoTangent() where there is none.",
    )


def place_of(rule: Callable[..., Any]) -> str:
    """A rule in a message: its name, file and line."""
    code = getattr(rule, "__code__", None)
    name = getattr(rule, "__name__", repr(rule))
    return f"the rule {name}" if code is None else f"the rule {name} ({code.co_filename}:{code.co_firstlineno})"


def _most_arguments(rule: Callable[..., Any]) -> int | None:
    """How many positional arguments a rule takes; None if that has no limit, or is not known."""
    code = getattr(rule, "__code__", None)
    return None if code is None or code.co_flags & inspect.CO_VARARGS else int(code.co_argcount)


def _described(value: Any) -> str:
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return "None" if value is None else f"a {type(value).__name__}"
