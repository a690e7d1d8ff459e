"""Stopping in a pullback that was derived: which functions it is wanted for, and what is done there."""

from __future__ import annotations

import ast
import itertools
import keyword
import os
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.errors import DifferentiationError
from microgradpy.ir.nodes import Location
from microgradpy.runtime.modes import RUN
from microgradpy.runtime.notes import Notes
from microgradpy.state.shadows import Shadows, is_value
from microgradpy.state.snapshots import gradient, parts_of, structure_of
from microgradpy.tangents.projection import fill_zeros, project
from microgradpy.tangents.types import Tangent, accumulate, is_structural_zero


@final
@dataclass(frozen=True, slots=True, eq=False)
class Stop:
    """A stop in the pullback of a call of `function`: the seed `dy`, the `arguments` as they were when the call began, and the
    local variables (`locals`) and the `result` as they were when it returned at `where`."""

    function: str
    dy: Any
    arguments: Mapping[str, Any]
    locals: Mapping[str, Any]
    result: Any
    where: Location

    @property
    def names(self) -> dict[str, Any]:
        """What a debugger has in scope. A variable of the user's keeps its name, so the seed has another one as well."""
        return {"dy": self.dy, "result": self.result, **self.arguments, **self.locals, "Δ": self.dy}

    def __str__(self) -> str:
        shown = {"dy": self.dy, **self.arguments, **self.locals, "result": self.result}
        lines = [f"  {name} = {value!r}" for name, value in shown.items()]
        return "\n".join([f"In the pullback of {self.function}, {self.where.file}:{self.where.line}", *lines])


@final
@dataclass(frozen=True, slots=True, eq=False)
class Stopping:
    """What to do where the pullback of a function runs."""

    function: str
    namespace: dict[str, Any]
    when: Callable[..., Any] | None
    callback: Callable[[Stop], Any] | None


_stopping: dict[int, tuple[weakref.ref[types.CodeType], Stopping]] = {}


def stop_in(code: types.CodeType, stopping: Stopping) -> None:
    """Stop in the pullbacks of functions of this very code object."""
    identity = id(code)
    _stopping[identity] = weakref.ref(code, lambda _: _stopping.pop(identity, None)), stopping


def stopping_in(code: types.CodeType) -> Stopping | None:
    """What to do in the pullbacks of functions of this code object; None if nothing."""
    here: Stopping | None = next((stopping for other, stopping in RUN.mode.stops if other is code), None)
    if here is not None:
        return here
    known = _stopping.get(id(code))
    return known[1] if known is not None and known[0]() is code else None


def stop_here(stopping: Stopping, notes: Notes, seed: Any, shadows: Shadows | None = None) -> None:
    """What the adjoint begins with."""
    if RUN.is_pushing or notes.where is None:
        return
    result = notes.shown
    dy = _seed(notes, seed, shadows)
    arguments, variables = MappingProxyType(notes.arguments), MappingProxyType(notes.variables)
    stop = Stop(stopping.function, dy, arguments, variables, result, notes.where)
    if stopping.when is not None:
        keywords = {name: value for name, value in (arguments | variables).items() if name != "dy"}
        if not stopping.when(dy, **keywords):
            return
    if stopping.callback is not None:
        stopping.callback(stop)
    else:
        _debug(stop, stopping.namespace)


def _seed(notes: Notes, seed: Any, shadows: Shadows | None) -> Any:
    """The cotangent of the result, in its structure, zero where there is none."""
    if shadows is None:
        found = project(notes.result, seed)
    else:
        found = gradient(structure_of(notes.shown), _looked_at(shadows, notes.result, notes.shown, seed, set()))
    return fill_zeros(notes.shown, None if is_structural_zero(found) else found)


def _looked_at(shadows: Shadows, x: Any, shown: Any, d: Any, met: set[int]) -> Any:
    """What travels by value of the cotangent of `x`, and what the shadows hold of it, which stays there. `shown` is what `x`
    was when it was returned."""
    if isinstance(x, np.ndarray):
        return accumulate(shadows.of(x).copy(), d) if x.dtype.kind in "fciu" and shadows.knows(x) else d
    if (is_value(x) and not isinstance(x, tuple)) or id(x) in met:
        return d
    met.add(id(x))
    entry = shadows.entries.get(id(x))
    now, given = dict(parts_of(x)), _by_key(d)
    found = {}
    for key, part in parts_of(shown):
        held = None if entry is None or isinstance(x, tuple) else entry[1].get(key)
        found[key] = _looked_at(shadows, now.get(key), part, accumulate(held, given.get(key)), met)
    if isinstance(x, list | tuple | deque):
        return list(found.values())
    return found if isinstance(x, dict) else Tangent(type(x), found)


def _by_key(d: Any) -> Mapping[Any, Any]:
    if is_structural_zero(d):
        return {}
    return dict(enumerate(d)) if isinstance(d, list | tuple | deque) else dict(d)


# The debugger


def _debug(stop: Stop, namespace: dict[str, Any]) -> None:
    """Open Python's debugger in a frame that has the names of the stop, at the line where the function returned."""
    if not _has_terminal():
        raise DifferentiationError(
            f"a debugger was to open in the pullback of {stop.function}, and there is no terminal for it",
            stop.where,
            "Give `callback=` a function that is called with the stop, as in `infiltrate(f, callback=print)`, "
            "or name another debugger in the environment: PYTHONBREAKPOINT=module.function (0 for none).",
        )
    names = {name: value for name, value in stop.names.items() if name.isidentifier() and not keyword.iskeyword(name)}
    frame = types.FunctionType(_code(stop, tuple(names)), namespace)
    print(f"In the pullback of {stop.function}: dy = {stop.dy}")
    frame(*names.values())


def _has_terminal() -> bool:
    """Whether whoever is called by `breakpoint()` can ask anybody. A debugger that was chosen knows for itself."""
    is_chosen = sys.breakpointhook is not sys.__breakpointhook__
    if is_chosen or os.environ.get("PYTHONBREAKPOINT", "") not in ("", "pdb.set_trace"):
        return True
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


# Before 3.13, `breakpoint()` stops at the line that comes after it.
_STOPS_AFTER = sys.version_info < (3, 13)


def _code(stop: Stop, names: tuple[str, ...]) -> types.CodeType:
    """The code of a function with these parameters that calls `breakpoint()`, at a line of the user's."""
    where = stop.where
    tree = ast.parse(f"def stopped({', '.join(names)}):\n    breakpoint()\n    pass\n")
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    lines = itertools.chain((max(1, where.line - 1) if _STOPS_AFTER else where.line,), itertools.repeat(where.line))
    for statement in function.body:
        line = next(lines)
        for node in ast.walk(statement):
            if isinstance(node, ast.expr | ast.stmt):
                node.lineno = node.end_lineno = line
    code = compile(tree, where.file, "exec", dont_inherit=True)
    found = next(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    name = where.function or stop.function
    return found.replace(co_name=name, co_qualname=name)


