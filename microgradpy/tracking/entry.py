"""`track`: run a function, and record what is executed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from microgradpy.boundary import BOUNDARY
from microgradpy.tracking.contexts import Call, Composed, Context, Hooks, contexts_of
from microgradpy.tracking.nodes import CallNode
from microgradpy.tracking.partial_traces import keep_trace
from microgradpy.tracking.recording import Run, checked_node
from microgradpy.tracking.recursion import deep_recursion
from microgradpy.tracking.replay import REPLAYER


def track(f: Callable[..., Any], *args: Any, context: Context | Composed | None = None, **kwargs: Any) -> CallNode:
    """Run `f(*args, **kwargs)` and return the node of this call, with everything that was executed in it: an extended Wengert
    list. `node.value` is the result. Python functions are looked into, those of the standard library, NumPy and SciPy
    excepted; a `context` says otherwise, and what is remembered. If `f` raises, its exception comes out as from a plain call;
    `microgradpy.tracking.trace_of(error)` has what was recorded until then."""
    run = Run(REPLAYER)
    hooks = Hooks(contexts_of(context), run)
    call = Call(None, None, f, args, kwargs, run, hooks)
    with BOUNDARY, deep_recursion():
        try:
            return checked_node(hooks.tracked_call(call))
        except BaseException as error:
            if call.recorded is not None:
                keep_trace(error, call.recorded)
            raise
