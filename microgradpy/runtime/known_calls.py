"""The short way for what is left to run time where nothing is written: attributes by what the class has under the name now, and
functions and methods of which it is known that nothing but their source says how they are differentiated.

What is not as simple is None here, and goes the long way. (Runs that track writes: `microgradpy.state.known_calls`.)
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.rules.containers import attribute_bar
from microgradpy.runtime.bars import Pullback
from microgradpy.runtime.known_callees import CALLED, is_known, is_known_method, of_method
from microgradpy.runtime.lookup_cache import NUMBERS
from microgradpy.runtime.members import Role, member_and_role
from microgradpy.runtime.modes import RUN, SPECIAL
from microgradpy.tangents.types import Tangent, is_structural_zero

Made = tuple[Any, Pullback]
Call = Callable[..., Made]
"""How another call is made: `call(f, *args)`."""
Run = Callable[[types.FunctionType, tuple[Any, ...]], Made | None]
"""A call of a function by the plan that is known for such arguments; None if there is none."""
_run: list[Run] = []


def install(run: Run) -> None:
    """Called once by the compiler."""
    _run[:] = [run]


def by_what_is_known(call: Call, f: Any, args: tuple[Any, ...]) -> Made | None:
    """A call like one that was resolved before, or that reads an attribute, and its pullback; None if it is none. Other calls
    are made by `call`."""
    if f is getattr:
        return _read(call, *args) if len(args) == 2 and type(args[1]) is str else None
    cls = type(f)
    if cls is types.FunctionType:
        return _run[0](f, args) if is_known(CALLED, f) else None
    return _by_method(f, args) if cls is types.MethodType and is_known_method(f.__func__) else None


def _by_method(f: Any, args: tuple[Any, ...]) -> Made | None:
    made = _run[0](f.__func__, (f.__self__, *args))
    if made is None:
        return None
    y, back = made

    def method_back(y_bar: Any, shadows: Any = None) -> tuple[Any, ...]:
        _, own, *bars = back(y_bar)
        return (of_method(None if is_structural_zero(own) else own), *bars)

    return y, method_back


_GET: Callable[[Any, str], Any] = object.__getattribute__
_WITHOUT_PARTS = NUMBERS | {np.ndarray}


def _read(call: Call, x: Any, name: str) -> Made | None:
    """An attribute of an ordinary object."""
    cls = type(x)
    getter: Any = cls.__getattribute__
    if getter is not _GET:
        return None
    found, role = member_and_role(cls, name)
    if role > Role.PROPERTY:
        return None
    if role == Role.PROPERTY:
        return _read_property(call, x, found.fget) if type(found.fget) is types.FunctionType else None
    try:
        y = _GET(x, name)
    except AttributeError:
        return None
    if role == Role.METHOD:
        is_bound = type(y) is types.MethodType and y.__func__ is found and y.__self__ is x
        return (y, _back_to_field(x, name, y)) if is_bound else None
    return None if y is found else (y, _back_to_field(x, name, y))  # of the class, or of the object: nobody can tell


def _back_to_field(x: Any, name: str, y: Any) -> Pullback:
    is_simple = type(y) in _WITHOUT_PARTS

    def field_back(y_bar: Any, shadows: Any = None) -> tuple[Any, ...]:
        if is_structural_zero(y_bar):
            return None, None, None
        if SPECIAL.blocks and RUN.zeros is not None:
            RUN.gives_selected = RUN.zeros
        return None, Tangent(type(x), {name: y_bar}) if is_simple else attribute_bar(x, name, y, y_bar), None

    return field_back


def _read_property(call: Call, x: Any, getter: Any) -> Made:
    y, back = call(getter, x)
    return y, lambda y_bar, shadows=None: (None, back(y_bar)[1], None)
