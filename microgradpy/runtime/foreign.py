"""What cannot be followed, by the module that it is from: other threads and processes, memory shared with C, bytes.

Most of it is written in Python, and refused for some `with` or `try` deep inside; here the refusal says what it is about.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from microgradpy.errors import MissingRuleError


class _NotFollowed(NamedTuple):
    what: str
    remedy: str


_ELSEWHERE = _NotFollowed(
    "hands differentiated data to another thread, process or task, where it is not followed",
    "Call the function directly. Threads are fine outside: each may call gradient on its own.",
)
_MEMORY = _NotFollowed(
    "lets code in C see differentiated data, and what that does is not followed",
    "Use arrays, or give the function that needs it a rule (`rrule.register`).",
)
_BYTES = _NotFollowed(
    "turns differentiated data into bytes, through which no derivative flows",
    "Keep the numbers as numbers, or pass stop_gradient(x) if none should flow.",
)
_ONE_BY_ONE = _NotFollowed(
    "was reached with differentiated data, and it takes or gives items one by one", "Write it as a comprehension or a loop."
)
_MODULES: Mapping[str, _NotFollowed] = {
    **dict.fromkeys(("threading", "_thread", "queue", "_queue", "concurrent", "multiprocessing", "asyncio"), _ELSEWHERE),
    **dict.fromkeys(("contextvars", "_contextvars"), _ELSEWHERE),
    **dict.fromkeys(("ctypes", "_ctypes", "cffi", "_cffi_backend", "array", "mmap"), _MEMORY),
    **dict.fromkeys(("pickle", "_pickle", "struct", "_struct", "marshal"), _BYTES),
    "itertools": _ONE_BY_ONE,
}
_SINGLE: Mapping[Any, _NotFollowed] = {
    memoryview: _MEMORY,
    bytes: _BYTES,
    bytearray: _BYTES,
    map: _ONE_BY_ONE,
    filter: _ONE_BY_ONE,
    functools.reduce: _ONE_BY_ONE,
}


def is_foreign(f: types.FunctionType) -> bool:
    """Whether a function is known to do what cannot be followed, though it is written in Python."""
    return str(f.__module__).partition(".")[0] in _MODULES


def refusal_of_foreign(f: Any, name: str) -> MissingRuleError | None:
    """The refusal of such a callee, reached with differentiated data; None if it is another one."""
    found = _found(f)
    return None if found is None else MissingRuleError(f"{name} {found.what}", None, found.remedy)


def _found(f: Any) -> _NotFollowed | None:
    if isinstance(f, type | types.BuiltinFunctionType) and f in _SINGLE:
        return _SINGLE[f]
    owner = getattr(f, "__self__", None)
    if isinstance(owner, np.ndarray | np.generic) and f.__name__ in ("tobytes", "dumps"):
        return _BYTES
    places = (f, type(f), owner, *(() if isinstance(owner, types.ModuleType) else (type(owner),)))
    modules = (str(getattr(place, "__module__", "")).partition(".")[0] for place in places)
    return next((_MODULES[module] for module in modules if module in _MODULES), None)
