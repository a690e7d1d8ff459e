"""Calls by what was found when such calls were resolved before: of functions with rules by their rules, of functions, methods,
objects and classes of the user's, of which nothing but their source says how they are differentiated, by that.

What is called is noted by identity, with the version of the rules; what a class has for `__init__` or `__call__` is looked at
in each call. Which unit of the compiler a function runs by is remembered for one run, by the types of its arguments
(`microgradpy.tracked_entry`). What is not as simple is None here, and goes the long way.
"""

from __future__ import annotations

import inspect
import types
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.rules.sums import sum_rrule
from microgradpy.runtime.foreign import is_foreign
from microgradpy.runtime.iterators import walked
from microgradpy.runtime.known_callees import CALLED, is_known, is_known_method, note, note_owned, of_method
from microgradpy.runtime.lookup_cache import LookupCache
from microgradpy.runtime.markers import CHECKPOINTED, NESTED_DIFFERENTIATION
from microgradpy.runtime.members import member_of
from microgradpy.runtime.rule_calls import by_known_rule, of_python_numbers
from microgradpy.state.known_access import ACCESS, by_bound_method, by_known_function, is_ordinary, known_item, run_known
from microgradpy.state.known_constructors import filled_dataclass, is_plainly_made, stored
from microgradpy.state.known_rules import by_known_entry, in_shadows
from microgradpy.state.reachable_writes import is_wrapper
from microgradpy.state.shadows import Shadows
from microgradpy.state.write_handlers import Made
from microgradpy.tangents.arithmetic import unbroadcast

_GIVE_THEIR_ITEMS = frozenset({list, tuple, range, np.ndarray, dict})


def _walked(x: Any) -> Made | None:
    return (x, lambda y_bar, shadows: (None, y_bar)) if type(x) in _GIVE_THEIR_ITEMS else None


def _quick(f: Any, rule: Any, count: int) -> Callable[..., Made | None] | None:
    """What makes calls of a function on numbers, or on one list of them, that goes by this rule."""
    return _sum if rule is sum_rrule else of_python_numbers(f, rule, count, in_shadows, True)


def _sum(items: Any) -> Made | None:
    """The sum of a list of floats."""
    if type(items) is not list or not _FLOAT.issuperset(map(type, items)):
        return None
    if not items:
        return None
    y, count = sum(items), len(items)

    def undo(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        if y_bar is not None:
            shadows.of(items).add_each([unbroadcast(y_bar, y)] * count)
        return None, None

    return y, undo


_FLOAT = frozenset({float})


RULES = LookupCache(_quick, {**ACCESS, id(walked): (1, _walked, walked)})
"""The rules that were found for calls on numbers and arrays."""
_BUILTIN = frozenset({types.BuiltinFunctionType, types.MethodDescriptorType, np.ufunc})


def note_callee(version: int, f: Any) -> None:
    """Note what was called while the rules had this version, and has no rule."""
    match f:
        case types.FunctionType():
            if f not in NESTED_DIFFERENTIATION and f not in CHECKPOINTED and not is_foreign(f):
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


_WITH_ITEMS = frozenset({list, dict, deque})


def by_what_is_known(f: Any, args: tuple[Any, ...]) -> Made | None:
    """A call like one that was resolved before, or that reads or writes an item, and what undoes it; None if it is none."""
    if type(f) not in _BUILTIN:
        return _by_callee(f, args)
    return _by_access(f, args) or _by_rule(f, args, False)


def settled_by_what_is_known(f: Any, args: tuple[Any, ...]) -> Made | None:
    """The same; what undoes it leaves no cotangent of what has a shadow to its caller."""
    cls = type(f)
    if cls is type:
        return _construct(f, args, settles=True)
    if cls not in _BUILTIN:
        made = _by_callee(f, args)
    else:
        made = _by_access(f, args)
        if made is None:
            return _by_rule(f, args, True)
        if not args or type(args[0]) is not np.ndarray:
            return made  # what is left is of values
    return None if made is None else settled(made, f, args)


def settled(made: Made, f: Any, args: tuple[Any, ...]) -> Made:
    """A call of which the cotangents are settled that what undoes it has left."""
    y, back = made
    given = (f, *args)

    def settled_back(y_bar: Any, shadows: Shadows) -> tuple[Any, ...]:
        pairs = zip(given, back(y_bar, shadows), strict=True)
        return tuple([None if d is None else shadows.settle(x, d) for x, d in pairs])

    return y, settled_back


def _by_access(f: Any, args: tuple[Any, ...]) -> Made | None:
    """What reads or writes an item of a container."""
    cls = type(f)
    if cls is types.BuiltinFunctionType and type(f.__self__) in _WITH_ITEMS:
        return by_bound_method(f, args)
    return known_item(f, args) if cls is not np.ufunc else None


def _by_rule(f: Any, args: tuple[Any, ...], settles: bool) -> Made | None:
    known = RULES.find(f, args)
    if known is None:
        return None
    if known.of_numbers or known.rule is None:
        return by_known_rule(f, known.rule, args, in_shadows, True)
    return by_known_entry(f, known, args, settles)


def _by_callee(f: Any, args: tuple[Any, ...]) -> Made | None:
    """A call of what is known here, and what undoes it; None of anything else."""
    cls = type(f)
    if cls is types.FunctionType:
        return by_known_function(f, args)
    if cls is types.MethodType:
        return _by_method(f, f.__func__, args)
    if cls is type:
        return _construct(f, args)
    return _by_object(cls, f, args)


def _of_object(function: Any, x: Any, args: tuple[Any, ...]) -> Made | None:
    return run_known(function, (x, *args)) if is_known_method(function) else None


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


def _construct(cls: Any, args: tuple[Any, ...], settles: bool = False) -> Made | None:
    """cls(*args) of a class that has an `__init__` in Python and nothing else that has a say in it."""
    init = cls.__init__
    if type(init) is not types.FunctionType or not is_known(CALLED, cls) or not is_plainly_made(cls):
        return None
    if init.__code__.co_filename == "<string>":
        return filled_dataclass(cls, args)
    if not is_known(CALLED, init):
        return None
    made = stored(cls, init, args)
    if made is not None:
        return made  # what comes back of it was in fields, and is of values
    made = _initialised(cls, init, args)
    return made if made is None or not settles else settled(made, cls, args)


def _initialised(cls: Any, init: types.FunctionType, args: tuple[Any, ...]) -> Made | None:
    y = object.__new__(cls)
    made = run_known(init, (y, *args))
    if made is None:
        return None
    if made[0] is not None:
        cls(*args)  # raises Python's error
    back = made[1]
    return y, lambda y_bar, shadows: (None, *back(None, shadows)[2:])
