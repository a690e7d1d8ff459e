"""What was recorded before an exception."""

from __future__ import annotations

import contextlib

from microgradpy.tracking.nodes import CallNode

_ATTRIBUTE = "__microgradpy_trace__"


def keep_trace(error: BaseException, trace: CallNode) -> None:
    """Let an exception lead to what was recorded before it."""
    with contextlib.suppress(AttributeError):
        setattr(error, _ATTRIBUTE, trace)


def trace_of(error: BaseException) -> CallNode | None:
    """What had been recorded when an exception left `track` or an update; None for exceptions from elsewhere."""
    found: CallNode | None = getattr(error, _ATTRIBUTE, None)
    return found
