"""Python's collector of cyclic garbage rests while the compiler works.

The IR of a long function is many small objects, all of them in use: the collector would go through them again and again, and
find nothing. It is switched off for the whole process, so it is counted who wants that, in whatever thread, and the last of
them leaves it as the first has found it.
"""

from __future__ import annotations

import gc
import os
from _thread import RLock
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final


@final
class _Rest:
    """`holders` are those at work now; `was_enabled` is what the first of them has found."""

    holders = 0
    was_enabled = False


_rest = _Rest()
_lock = RLock()  # entered again if the collector comes here, and what it finalises is differentiated


@contextmanager
def resting() -> Iterator[None]:
    """Inside the block no cyclic garbage is looked for."""
    with _lock:
        if not _rest.holders:
            _rest.was_enabled = gc.isenabled()
            gc.disable()
        _rest.holders += 1
    try:
        yield
    finally:
        with _lock:
            _rest.holders -= 1
            if not _rest.holders and _rest.was_enabled:
                gc.enable()


def _begin_in_child() -> None:
    """After a fork those who were at work in other threads are not there to end it."""
    global _lock
    _lock = RLock()
    if _rest.holders and _rest.was_enabled:
        gc.enable()
    _rest.holders = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)
