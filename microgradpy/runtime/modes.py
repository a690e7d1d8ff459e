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
    pullbacks to stop, with what is done there. `tells_apart`: arrays may stand in for others (`microgradpy.state.apart`).
    `explains`: what writes is asked for its reasons. `assumes_real`: powers of real numbers are compiled as real ones
    (`microgradpy.runtime.real_powers`). `native`: it is to become native code (`microgradpy.native`)."""

    dispatches: bool = False
    tracks: bool = False
    checks: str = ""
    stops: tuple[tuple[types.CodeType, Any], ...] = ()
    tells_apart: bool = False
    explains: bool = False
    assumes_real: bool = False
    native: bool = False


NAN, NAN_OR_INFINITY = "nan", "nan or infinity"


@final
class _Run(threading.local):
    """`is_inside`: a primal is running that does not track writes, since none was found that may happen in it. `is_pushing`: a
    pullback is asked for what forward mode wants to know. `assumed`: what the unit that runs was compiled on the assumption of,
    and the same of what called it. `texts`: text was made of what may be differentiated. `repeats`: pullbacks will
    run functions again that may read more than they are given. `zeros`: pullbacks keep the zeros of
    selections (None if they do not), in the seed too if it is true. `gives_selected`: so may what the last one has given.
    `callee`: what is differentiated, and `given`: its arguments. `library_units`: how many functions of large libraries it
    has reached."""

    # Not context variables: NumPy looks one up in every operation, which takes longer once others are set.
    is_inside = False
    is_pushing = False
    callee: Any = None
    given: Any = ()
    library_units = 0
    assumed: Any = ()
    texts = False
    repeats = False
    zeros: bool | None = None
    gives_selected = True
    mode = Mode()
    outer: Any = ()  # the mode before this one, and the one before that


RUN = _Run()


@final
class _Special:
    """How many blocks are running, in whatever thread, in which functions are run in another way than usual: a mode, or
    pullbacks that keep zeros. Code for the usual way looks at this, which takes less time than looking at its thread."""

    __slots__ = ("_lock", "blocks")

    def __init__(self) -> None:
        self.blocks = 0
        self._lock = threading.Lock()

    def add(self, count: int) -> None:
        with self._lock:
            self.blocks += count


SPECIAL = _Special()
KEEPING = _Special()
"""Those among them in which pullbacks keep zeros."""
UNDOABLE = _Special()
"""Blocks in which calls are noted one by one, to be undone if the caller goes on after an exception, or places are told
apart."""


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
    SPECIAL.add(1)


def leave_mode() -> None:
    """Go back to how it was before `enter_mode`."""
    RUN.mode, RUN.outer = RUN.outer
    SPECIAL.add(-1)
