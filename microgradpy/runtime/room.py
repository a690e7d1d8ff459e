"""Room for what calls itself deeply: the compiler goes through a program as deep as that is nested, and a sum of 700 terms is
nested 700 deep.

What fails for want of room is done again in a thread with a stack of its own and another limit, as the stack of this one may be
used up, or small.
"""

from __future__ import annotations

import contextvars
import functools
import sys
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from microgradpy.errors import UnsupportedSyntaxError
from microgradpy.runtime.modes import RUN

P = ParamSpec("P")
R = TypeVar("R")
_STACK = 512 * 1024 * 1024  # bytes of address space, of which the pages that are used become memory
_LIMIT = 8_000
"""Enough for a sum of a thousand terms. Hundreds of branches inside of each other take minutes, and are refused."""


class _Place(threading.local):
    is_inside = False


_PLACE = _Place()
_starting = threading.Lock()


def with_room(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which is called again with more room if it raises RecursionError. It must do no harm to call it twice."""

    @functools.wraps(function)
    def outermost(*args: P.args, **kwargs: P.kwargs) -> R:
        if _PLACE.is_inside:  # what is called by such a function may hold its locks
            return function(*args, **kwargs)
        _PLACE.is_inside = True
        try:
            return function(*args, **kwargs)
        except RecursionError:
            pass
        finally:
            _PLACE.is_inside = False
        try:
            return _in_thread(lambda: function(*args, **kwargs))
        except RecursionError as error:
            found = "a function is nested too deeply to be differentiated (expressions or branches inside of each other)"
            raise UnsupportedSyntaxError(found, None, "Split it into several functions or statements.") from error

    return outermost


def _in_thread(call: Callable[[], R]) -> R:
    outcome: list[Any] = []
    mode, outer, is_inside, is_pushing = RUN.mode, RUN.outer, RUN.is_inside, RUN.is_pushing
    callee, given, units = RUN.callee, RUN.given, RUN.library_units

    def run() -> None:
        _PLACE.is_inside = True
        RUN.mode, RUN.outer, RUN.is_inside, RUN.is_pushing = mode, outer, is_inside, is_pushing
        RUN.callee, RUN.given, RUN.library_units = callee, given, units
        try:
            outcome.extend((True, call()))
        except BaseException as error:
            outcome.extend((False, error))

    with _starting:
        limit, size = sys.getrecursionlimit(), threading.stack_size(_STACK)
        sys.setrecursionlimit(max(limit, _LIMIT))
        try:
            thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), name="microgradpy compiler")
            thread.start()
            threading.stack_size(size)
            thread.join()
        finally:
            threading.stack_size(size)
            sys.setrecursionlimit(limit)
    succeeded, result = outcome
    if not succeeded:
        raise result
    found: R = result
    return found
