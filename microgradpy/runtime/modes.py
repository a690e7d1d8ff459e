"""How functions are run and compiled in a thread at this moment. Part of the key under which a unit is found."""

from __future__ import annotations

import threading
import types
from collections.abc import Iterator
from contextlib import contextmanager
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


RUN = _Run()


@contextmanager
def changed_mode(**changes: Any) -> Iterator[None]:
    """Inside the block this thread runs and compiles in another way."""
    before = RUN.mode
    RUN.mode = before._replace(**changes)
    try:
        yield
    finally:
        RUN.mode = before
