"""What a call has done so far, for a caller that goes on if it raises.

The run-time dispatcher makes many calls for one of the user's: a constructor is `__new__` and `__init__`, a write may be a
property's setter. While such a call is attempted, each of these that was made is noted with what undoes it. One that is made
by another is part of it, so a call takes the place of those it consists of.
"""

from __future__ import annotations

import operator
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.errors import MutationError
from microgradpy.runtime.dispatch import Bars
from microgradpy.runtime.modes import UNDOABLE
from microgradpy.runtime.writes import REMEDY

_ATOMIC = (operator.setitem, operator.delitem, list.append, list.insert, list.pop, dict.pop)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A call that was made, or that raised when it had done a part of what it does."""

    f: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    back: Callable[[Any, Any], Bars]
    y: Any = None


UndoLog = list[Step]


class _Current(threading.local):
    undo_log: UndoLog | None = None


_current = _Current()


def current() -> UndoLog | None:
    """The undo log of the innermost call that is attempted; None if a caller has no use for it."""
    return _current.undo_log


@contextmanager
def noticing(name: str, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[None]:
    """Notice if a write by code that cannot be read raises when it has done a part of what it does."""
    undo_log = current()
    if undo_log is None or any(f is known for known in _ATOMIC):
        yield
        return
    given = (*args, *kwargs.values(), *(kwargs["out"] if isinstance(kwargs.get("out"), tuple) else ()))
    before = list(map(_contents, given))
    try:
        yield
    except BaseException as exception:
        if list(map(_contents, given)) != before:
            found = f"{name} raised a {type(exception).__name__}, which is caught, after it had written"
            undo_log.append(Step(f, (), {}, partial(_refuse, found)))
        raise


def _refuse(found: str, y_bar: Any, shadows: Any) -> Bars:
    raise MutationError(found, None, REMEDY)


def _contents(x: Any) -> Any:
    """What an array or container holds."""
    if isinstance(x, np.ndarray | np.flatiter):
        return np.ndarray.tobytes(x if isinstance(x, np.ndarray) else x.base)
    if isinstance(x, dict):
        return [(id(key), id(value)) for key, value in x.items()]
    return list(map(id, x)) if isinstance(x, list | set | deque) else None


def apart(f: Callable[[Any], Any], x: Any) -> Any:
    """f(x), of which nothing is noted: it is undone by other means."""
    outer, _current.undo_log = _current.undo_log, None
    try:
        return f(x)
    finally:
        _current.undo_log = outer


def expected(f: Callable[[Any], Any], x: Any) -> Any:
    """f(x), of which the caller undoes what was done by then if it raises."""
    with writing([]):
        return f(x)


@contextmanager
def writing(undo_log: UndoLog | None) -> Iterator[None]:
    """Let calls be noted in this undo log, or nowhere."""
    outer, _current.undo_log = _current.undo_log, undo_log
    UNDOABLE.add(1)
    try:
        yield
    finally:
        UNDOABLE.add(-1)
        _current.undo_log = outer
