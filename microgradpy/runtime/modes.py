"""How functions are run and compiled in a thread at this moment. Part of the key under which a unit is found."""

from __future__ import annotations

import threading
import types
from collections.abc import Mapping
from contextlib import AbstractContextManager, ContextDecorator
from typing import Any, NamedTuple, final


class Mode(NamedTuple):
    """`dispatches`: no rule and no callee is compiled in. `tracks`: every run tracks what is written. `checks`: what the values
    of operations are looked at for: nothing, NaN, or both NaN and infinities. `stops`: the codes of the functions in whose
    pullbacks to stop, with what is done there."""

    dispatches: bool = False
    tracks: bool = False
    checks: str = ""
    stops: tuple[tuple[types.CodeType, Any], ...] = ()


NAN, NAN_OR_INFINITY = "nan", "nan or infinity"


@final
class _Run(threading.local):
    """`is_inside`: a primal is running that does not track writes, since none was found that may happen in it. `is_pushing`: a
    pullback is asked for what forward mode wants to know."""

    # Not context variables: NumPy looks one up in every operation, which takes longer once others are set.
    is_inside = False
    is_pushing = False
    mode = Mode()
    outer: Any = ()  # the mode before this one, and the one before that


RUN = _Run()


@final
class _ChangedMode(ContextDecorator):
    def __init__(self, changes: Mapping[str, Any]) -> None:
        self.changes = changes

    def __enter__(self) -> None:
        enter_mode(**self.changes)

    def __exit__(self, *error: object) -> None:
        leave_mode()


def changed_mode(**changes: Any) -> AbstractContextManager[None]:
    """Inside the block this thread runs and compiles in another way. It may be entered any number of times."""
    return _ChangedMode(changes)


def enter_mode(**changes: Any) -> None:
    """Run and compile in another way from here on in this thread, until `leave_mode`."""
    RUN.outer, RUN.mode = (RUN.mode, RUN.outer), RUN.mode._replace(**changes)


def leave_mode() -> None:
    """Go back to how it was before `enter_mode`."""
    RUN.mode, RUN.outer = RUN.outer
