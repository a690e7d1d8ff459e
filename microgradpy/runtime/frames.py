"""Frames of the package do not count: what looks at the call stack sees the user's program as in the plain call."""

from __future__ import annotations

import os
import sys
import types
import warnings
from collections.abc import Mapping
from typing import Any

from microgradpy.named import Named

_PACKAGE = __name__.partition(".")[0]
_FOLDER = os.path.dirname(os.path.dirname(__file__))
# Parts of the package that are written as a user would write them, and appear as a user's.
_AS_USERS = (f"{_PACKAGE}.nn", f"{_PACKAGE}.testing")


def is_own(frame: types.FrameType) -> bool:
    """Whether a frame is the package's own, and not generated from a function of the user's."""
    module = str(frame.f_globals.get("__name__", ""))
    if module != _PACKAGE and not module.startswith(f"{_PACKAGE}."):
        return False
    return not any(module == part or module.startswith(f"{part}.") for part in _AS_USERS)


def call_as_user(f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """`f(*args, **kwargs)`, called by the package in the user's place. A function that reports which line called it
    (`warnings.warn`, the methods of loggers) reports the user's."""
    if f is warnings.warn:
        return warn(*args, **kwargs)
    function = getattr(f, "__func__", f)
    if isinstance(function, types.FunctionType) and function in _LOGGING:
        return f(*args, **{**kwargs, "stacklevel": _level(kwargs.get("stacklevel", 1))})
    return f(*args, **kwargs)


_METHODS = ("critical", "debug", "error", "exception", "fatal", "info", "log", "warn", "warning")
_LOGGING = Named(*(("logging", f"{owner}{name}") for owner in ("", "Logger.", "LoggerAdapter.") for name in _METHODS))


def warn(*args: Any, **kwargs: Any) -> None:
    """`warnings.warn` as the user's program calls it."""
    if kwargs.get("skip_file_prefixes"):
        kwargs["skip_file_prefixes"] = (*kwargs["skip_file_prefixes"], _FOLDER)
    elif len(args) > 2:
        args = (*args[:2], _level(args[2]), *args[3:])
    else:
        kwargs["stacklevel"] = _level(kwargs.get("stacklevel", 1))
    warnings.warn(*args, **kwargs)


def _level(wanted: Any) -> Any:
    """The level at which the caller of this function finds the frame that is number `wanted` without those of the
    package."""
    if not isinstance(wanted, int):
        return wanted  # Python's own error
    frame: types.FrameType | None = sys._getframe(1)
    level = found = 0
    while frame is not None:
        level += 1
        found += not is_own(frame)
        if found >= wanted:
            break
        frame = frame.f_back
    return level + max(0, wanted - found)
