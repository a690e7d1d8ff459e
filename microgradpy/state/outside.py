"""Functions that a rule calls back: what they write must not be seen outside of the call.

A rule differentiates such a function as a run of its own. The run that the rule belongs to knows nothing of what was written in
there, so neither the arrays that it has saved nor the shadows would be right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from microgradpy.errors import MutationError
from microgradpy.frontend.sharing import assigned_globals
from microgradpy.runtime.modes import RUN
from microgradpy.runtime.write_detection import Snapshot, all_seen_by, functions_called_by
from microgradpy.state.reachable_writes import any_may_write
from microgradpy.state.whole import whole_run


def is_run_going_on() -> bool:
    """Whether this thread is inside of a differentiated call."""
    return RUN.is_inside or whole_run() is not None


@contextmanager
def writes_stay_inside(f: Any, given: Iterable[Any]) -> Iterator[None]:
    """Refuse if what `f` can reach, or is given, is not what it was before the block, in which `f` is called."""
    given = list(given)
    if not any_may_write([f, *given]):
        yield
        return
    name = getattr(f, "__qualname__", type(f).__name__)
    assigned = sorted(name for function in functions_called_by(f) for name in assigned_globals(function.__code__))
    if assigned:
        raise _refusal(name, f"assigns the module variable {assigned[0]}")
    before = Snapshot.of(all_seen_by(f, given))
    yield
    changed = before.changed()
    if changed is not None:
        raise _refusal(name, f"writes into a {type(changed).__name__} of outside")


def called_by_rule(f: Any, given: Iterable[Any]) -> AbstractContextManager[None]:
    """The same where a rule is asked within a differentiated call; elsewhere `f` may write what it likes."""
    return writes_stay_inside(f, given) if is_run_going_on() else nullcontext()


def _refusal(name: str, what: str) -> MutationError:
    found = f"{name}, which a rule or a solver calls, {what}"
    return MutationError(found, None, "Let it compute its result only, or write into arrays that it has made itself.")
