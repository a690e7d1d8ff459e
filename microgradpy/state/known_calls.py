"""Calls by what was found when such calls were resolved before: of functions with rules by their rules, of functions, methods,
objects and classes of the user's, of which nothing but their source says how they are differentiated, by that.

What is called is noted by identity, with the version of the rules; what a class has for `__init__` or `__call__` is looked at
in each call. Which unit of the compiler a function runs by is remembered for one run, by the types of its arguments
(`microgradpy.tracked_entry`). What is not as simple is None here, and goes the long way.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.rules.registry import rrule
from microgradpy.runtime.foreign import is_foreign
from microgradpy.runtime.iterators import walked
from microgradpy.runtime.known_callees import CALLED, is_known, is_known_method, note, note_owned, of_method
from microgradpy.runtime.lookup_cache import LookupCache
from microgradpy.runtime.markers import NESTED_DIFFERENTIATION
from microgradpy.runtime.members import member_of
from microgradpy.runtime.rule_calls import by_known_rule
from microgradpy.state.known_access import ACCESS, Call, by_bound_method, is_ordinary, told
from microgradpy.state.known_constructors import filled_dataclass, is_plainly_made, stored
from microgradpy.state.known_rules import by_known_entry, in_shadows
from microgradpy.state.reachable_writes import is_wrapper
from microgradpy.state.shadows import Shadows
from microgradpy.state.write_handlers import Made

Run = Callable[[types.FunctionType, tuple[Any, ...]], Made | None]
"""A call of a function by the unit that is known for such arguments; None if there is none."""
_run: list[Run] = []


def install(run: Run) -> None:
    """Called once by the compiler."""
    _run[:] = [run]


RULES = LookupCache()
"""The rules that were found for calls on numbers and arrays."""
_BUILTIN = frozenset({types.BuiltinFunctionType, types.MethodDescriptorType, np.ufunc})


def note_callee(version: int, f: Any) -> None:
    """Note what was called while the rules had this version, and has no rule."""
    match f:
        case types.FunctionType():
            if f not in NESTED_DIFFERENTIATION and not is_foreign(f):
                note(CALLED, version, f)
                if f.__code__.co_flags & inspect.CO_NESTED and not is_wrapper(f):
                    note(CALLED, version, f.__code__)
        case types.MethodType():
            note_owned(version, f.__func__)
        case type():
            note(CALLED, version, f)
        case _:
            cls = type(f)
            if is_ordinary(cls):
                note(CALLED, version, cls)
                note_owned(version, member_of(cls, "__call__"))


_GIVE_THEIR_ITEMS = frozenset({list, tuple, range, np.ndarray, dict})


def _is_known_code(f: types.FunctionType) -> bool:
    """Whether the same is known of another function that was made by the same `def` or `lambda`."""
    code = f.__code__
    return bool(code.co_flags & inspect.CO_NESTED) and is_known(CALLED, code) and not rrule.names(f)


def by_what_is_known(call: Call, f: Any, args: tuple[Any, ...]) -> Made | None:
    """A call like one that was resolved before, or that reads or writes a field or an item, and what undoes it; None if it is
    none. Other calls are made by `call`."""
    if type(f) not in _BUILTIN:
        return _by_callee(f, args)
    access = ACCESS.get(f)
    if access is not None and (made := access(call, f, args)) is not None:
        return made
    known = RULES.find(f, args)
    if known is None:
        return by_bound_method(f, args)
    if known.of_numbers or known.rule is None:
        return by_known_rule(f, known.rule, args, in_shadows, True)
    return by_known_entry(f, known, args)


def _by_callee(f: Any, args: tuple[Any, ...]) -> Made | None:
    """A call of what is known here, and what undoes it; None of anything else."""
    cls = type(f)
    if f is walked and type(args[0]) in _GIVE_THEIR_ITEMS:
        return args[0], lambda y_bar, shadows: (None, y_bar)
    if cls is types.FunctionType:
        return _run[0](f, args) if is_known(CALLED, f) or _is_known_code(f) else None
    if cls is types.MethodType:
        return _by_method(f, f.__func__, args)
    if cls is type:
        return told(f, args) if f is bool else _construct(f, args)
    return _by_object(cls, f, args)


def _of_object(function: Any, x: Any, args: tuple[Any, ...]) -> Made | None:
    return _run[0](function, (x, *args)) if is_known_method(function) else None


def _by_method(f: Any, function: Any, args: tuple[Any, ...]) -> Made | None:
    made = _of_object(function, f.__self__, args)
    if made is None:
        return None
    y, back = made

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        _, own, *bars = back(y_bar, shadows)
        own = None if own is None else shadows.settle(f.__self__, own)
        return (of_method(own), *bars)

    return y, undo


def _by_object(cls: Any, f: Any, args: tuple[Any, ...]) -> Made | None:
    made = _of_object(member_of(cls, "__call__"), f, args) if is_known(CALLED, cls) and is_ordinary(cls) else None
    if made is None:
        return None
    y, back = made

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        _, own, *bars = back(y_bar, shadows)
        return (None if own is None else shadows.settle(f, own), *bars)

    return y, undo


def _construct(cls: Any, args: tuple[Any, ...]) -> Made | None:
    """cls(*args) of a class that has an `__init__` in Python and nothing else that has a say in it."""
    init = cls.__init__
    if type(init) is not types.FunctionType or not is_known(CALLED, cls) or not is_plainly_made(cls):
        return None
    if init.__code__.co_filename == "<string>":
        return filled_dataclass(cls, args)
    if not is_known(CALLED, init):
        return None
    return stored(cls, init, args) or _initialised(cls, init, args)


def _initialised(cls: Any, init: types.FunctionType, args: tuple[Any, ...]) -> Made | None:
    y = object.__new__(cls)
    made = _run[0](init, (y, *args))
    if made is None:
        return None
    if made[0] is not None:
        cls(*args)  # raises Python's error
    back = made[1]
    return y, lambda y_bar, shadows: (None, *back(None, shadows)[2:])
