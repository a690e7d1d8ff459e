"""`functools.partial`: a call of one is a call of its function with what it was given before. And functions that have captured
others, as decorators make them: what they have captured is known, and looked at again.

    cube = partial(power, exponent=3)
    cube(x + t)                            power(x + t, exponent=3)

    def non_negative(f):                   total += A * math.exp(-E / T)
        def checked(*args):                if A * math.exp(-E / T) < 0:
            result = f(*args)                  raise ValueError
            ...
"""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from microgradpy.ad.binding import is_literal
from microgradpy.frontend.sharing import rebound_globals
from microgradpy.ir.nodes import Const, Op
from microgradpy.promotion.class_members import is_function
from microgradpy.promotion.places import ClassMethod, Closure, Frame, Known, Method, Partial
from microgradpy.rules.registry import rrule

_CALLED = (Closure, Method, ClassMethod, Partial)


def new_partial(
    walker: Any, op: Op, arguments: tuple[Known, ...], keywords: Mapping[str, Known], frame: Frame
) -> Partial | None:
    """What `partial(f, ...)` makes, if it is known what it calls."""
    origin = (*frame.path, op.results[0])
    if not arguments or origin in walker.facts.kept or rrule.has_others(functools.partial):
        return None
    walker.check_given(arguments[0])
    function = arguments[0]
    if not isinstance(function, _CALLED) and not (isinstance(function, Const) and is_function(function.value)):
        return None
    return Partial(origin, function, arguments[1:], dict(keywords))


def partial_of_module(walker: Any, op: Op, frame: Frame) -> Partial | None:
    """A variable of the module that is a `partial` of literals and functions; it has to be that when the code is used again."""
    namespace, name = walker.function.__globals__, str(op.payload)
    found = namespace.get(name)
    origin = (*frame.path, op.results[0])
    is_read = op.arguments or type(found) is not functools.partial or origin in walker.facts.kept
    if is_read or name in rebound_globals(namespace) or not isinstance(found.func, types.FunctionType):
        return None
    if not all(is_literal(value) or is_function(value) for value in (*found.args, *found.keywords.values())):
        return None
    walker.checks.append((namespace, name, found))
    walker.checks += [(found.keywords, key, value) for key, value in found.keywords.items()]
    keywords = {key: _constant(value) for key, value in found.keywords.items()}
    return Partial(origin, _constant(found.func), tuple(map(_constant, found.args)), keywords)


def _constant(value: Any) -> Const:
    return Const(value, value.__name__, value) if is_function(value) else Const(value)


# Captured functions


class Captured(Mapping[str, Any]):
    """The variables that a function has captured, as a namespace to be looked at before code is used again."""

    def __init__(self, function: types.FunctionType) -> None:
        self._function = weakref.ref(function)

    def __getitem__(self, name: str) -> Any:
        function = self._function()
        assert function is not None
        try:
            return cells_of(function)[name].cell_contents
        except ValueError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        function = self._function()
        return iter(() if function is None else function.__code__.co_freevars)

    def __len__(self) -> int:
        return sum(1 for _ in self)


_known: weakref.WeakKeyDictionary[types.FunctionType, Captured] = weakref.WeakKeyDictionary()


def cells_of(function: types.FunctionType) -> dict[str, types.CellType]:
    return dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))


def captured_by(function: types.FunctionType) -> Captured:
    """The one namespace for what a function has captured."""
    return _known.setdefault(function, Captured(function))


def constant_in(cell: types.CellType) -> Const | None:
    """What a variable is that holds a function or a class, a text or None, of which there is one; None of any other."""
    try:
        value = cell.cell_contents
    except ValueError:  # it is not assigned
        return None
    if is_function(value):
        return Const(value, value.__name__, value)
    return Const(value) if value is None or type(value) is str else None


def has_captured_functions(function: Any) -> bool:
    """Whether a function has captured others, and what is known like them only."""
    cells = (function.__closure__ or ()) if isinstance(function, types.FunctionType) else ()
    found = [constant_in(cell) for cell in cells]
    return None not in found and any(is_function(each.value) for each in found if each is not None)
