"""Which module variables a function reads that a run may have stored something differentiated in."""

from __future__ import annotations

import dis
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from microgradpy.frontend.sharing import rebound_globals
from microgradpy.runtime.bytecode import variables_in
from microgradpy.runtime.modes import RUN
from microgradpy.runtime.write_detection import reached
from microgradpy.state.object_graph import is_users_module
from microgradpy.state.persistent import carries_state
from microgradpy.state.reachable_writes import functions_reached


def module_state(f: Any) -> str:
    """The name of a module variable that a callable reads, and that a run may have stored something differentiated in: it is
    named by other code of the run, assigned, or what it holds is reached by an argument; empty if there is none."""
    read = list(_functions(f, ()))
    codes = {code for function in read for code in _codes(function.__code__)}
    others = set[str]()
    for function in _functions(RUN.callee, RUN.given):
        others.update(*(_named(code, function.__globals__) for code in _codes(function.__code__) - codes))
    held: list[tuple[str, Any]] = []
    for function in read:
        space, assigned = function.__globals__, rebound_globals(function.__globals__)
        for name in variables_in(function.__code__):
            if name in others and (name in assigned or _carries(space.get(name))):
                return name
            held.append((name, space.get(name)))
    return _given_to_run(held)


def _given_to_run(held: Iterable[tuple[str, Any]]) -> str:
    """The name of a variable that holds an object which the run was given, too. Arrays are looked at where they are written."""
    found = {id(x): name for name, value in held if _carries(value) for x in reached((value,)) if not isinstance(x, np.ndarray)}
    return next((found[id(x)] for x in reached((RUN.callee, RUN.given)) if id(x) in found), "") if found else ""


def _named(code: types.CodeType, namespace: dict[str, Any]) -> Iterable[str]:
    """The names of the variables of modules that code names: as attributes, too, where it names a module of the user's."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname.endswith(("_GLOBAL", "_NAME"))}
    of_modules = any(is_users_module(found) for name in names if isinstance(found := namespace.get(name), types.ModuleType))
    return code.co_names if of_modules else names


def _carries(value: Any) -> bool:
    return not isinstance(value, types.FunctionType | types.ModuleType) and carries_state(value)


def _functions(f: Any, given: Any) -> Iterator[types.FunctionType]:
    own = f.__func__ if isinstance(f, types.MethodType) else f
    own = own if isinstance(own, types.FunctionType) else getattr(type(own), "__call__", None)  # noqa: B004
    if isinstance(own, types.FunctionType):
        yield from functions_reached(own, (f, given))


def _codes(code: types.CodeType) -> set[types.CodeType]:
    """The code of a function and of those inside."""
    inner = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return {code}.union(*map(_codes, inner))
