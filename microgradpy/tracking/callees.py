"""What is called: the Python function behind it, and whether it is looked into."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from microgradpy.tracking.instrument import traced_code
from microgradpy.tracking.sites import TracedCode

NO_RESULT: Any = object()
_LIBRARIES = frozenset(sys.stdlib_module_names) | {"numpy", "scipy", "microgradpy"}
_AS_USERS = ("microgradpy.nn",)


@final
@dataclass(frozen=True, slots=True)
class Target:
    """The function that a call runs, with its arguments; `made` is the object that a class has made for its `__init__`.
    `shift` of the arguments are none of the call's own."""

    function: types.FunctionType
    code: TracedCode
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    shift: int = 0
    made: Any = NO_RESULT


def target_of(f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Target | None:
    """What a call runs, if that has a text; None for what is written in C, generators, and what has no source."""
    match f:
        case types.FunctionType():
            code = traced_code(f)
            return None if code is None else Target(f, code, args, kwargs)
        case types.MethodType():
            return _of_method(f.__func__, f.__self__, args, kwargs)
        case functools.partial() if type(f) is functools.partial:
            inner = target_of(f.func, (*f.args, *args), {**f.keywords, **kwargs})
            return None if inner is None else _shifted(inner, len(f.args))
        case type():
            return _of_class(f, args, kwargs)
    call = getattr(type(f), "__call__", None)  # noqa: B004 - the function itself is wanted
    return _of_method(call, f, args, kwargs) if isinstance(call, types.FunctionType) else None


def _shifted(target: Target, count: int, made: Any = NO_RESULT) -> Target:
    return Target(target.function, target.code, target.args, target.kwargs, target.shift + count, made)


def _of_method(function: Any, owner: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Target | None:
    inner = target_of(function, (owner, *args), kwargs) if isinstance(function, types.FunctionType) else None
    return None if inner is None else _shifted(inner, 1)


def _of_class(cls: type, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Target | None:
    """A class whose objects are made by `object` and set up by a function of the user's."""
    initialize = cls.__init__  # type: ignore[misc]
    maker: Any = cls.__new__
    is_usual = type(cls) is type and maker is object.__new__ and isinstance(initialize, types.FunctionType)
    if not is_usual or traced_code(initialize) is None:
        return None
    made: Any = object.__new__(cls)
    inner = target_of(initialize, (made, *args), kwargs)
    return None if inner is None else _shifted(inner, 1, made)


def is_library(function: types.FunctionType) -> bool:
    """Whether a function is of NumPy, SciPy, Python itself or this package, which are not looked into unless a context wants
    it."""
    module = str(function.__globals__.get("__name__", ""))
    return module.partition(".")[0] in _LIBRARIES and not module.startswith(_AS_USERS)
