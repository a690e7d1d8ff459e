"""Which module variables a function reads that a run may have stored something differentiated in."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from microgradpy.runtime.modes import RUN
from microgradpy.state.persistent import carries_state
from microgradpy.state.reachable_writes import functions_reached


def module_state(f: Any) -> str:
    """The name of a module variable that a callable reads, which can hold something differentiated and is named by other code
    of the run, too; empty if there is none."""
    read = list(_functions(f))
    codes = {code for function in read for code in _codes(function.__code__)}
    run = {code for function in _functions(RUN.callee) for code in _codes(function.__code__)}
    others = {name for code in run - codes for name in code.co_names}
    for function in read:
        for code in _codes(function.__code__):
            for name in code.co_names:
                if name in others and name in function.__globals__ and _holds(function, name):
                    return name
    return ""


def _holds(function: types.FunctionType, name: str) -> bool:
    value = function.__globals__[name]
    return not isinstance(value, types.FunctionType | types.ModuleType) and carries_state(value)


def _functions(f: Any) -> Iterator[types.FunctionType]:
    own = f.__func__ if isinstance(f, types.MethodType) else f
    own = own if isinstance(own, types.FunctionType) else getattr(type(own), "__call__", None)  # noqa: B004
    if isinstance(own, types.FunctionType):
        yield from functions_reached(own, (f,))


def _codes(code: types.CodeType) -> set[types.CodeType]:
    """The code of a function and of those inside."""
    inner = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return {code}.union(*map(_codes, inner))
