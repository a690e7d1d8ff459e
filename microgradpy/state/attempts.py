"""Calls in the body of a `try` whose handlers go on, in a run that tracks writes: what they raise is caught first, and
returned with what undoes what they had done by then."""

from __future__ import annotations

from functools import partial
from typing import Any

from microgradpy.runtime.bars import with_bars
from microgradpy.state.dispatch import resolve
from microgradpy.state.partial_calls import attempted
from microgradpy.state.shadows import Undo


def attempted_pullback_of(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Undo]:
    """As `tracked_pullback_of`; the value is a `Failure` if the call raises."""
    return with_bars(attempted(resolve, f, args, kwargs, None, False), len(args))


def attempted_pullback_of_packed(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Undo]:
    """As `tracked_pullback_of_packed`; the value is a `Failure` if the call raises."""
    return resolve.packed(partial(attempted, resolve), f, tuple(args), kwargs)
