"""Whether a run may write, as far as the code tells that it can reach: what decides if a run tracks writes where some of the
functions it calls are known only while it runs.

This is a guess on the safe side of speed, not of correctness: a run that does not track refuses the write that it meets.
"""

from __future__ import annotations

import dis
import functools
import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from microgradpy.frontend.sharing import assigned_globals, is_inline, rebound_captures, rebound_globals
from microgradpy.frontend.source import shared_names
from microgradpy.rules.containers import MUTATING_METHODS
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.runtime.suspension import is_generator
from microgradpy.state.snapshots import parts_of

_STORES = frozenset({"STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE", "STORE_ATTR", "DELETE_ATTR"})
_WRITERS = frozenset().union(*MUTATING_METHODS.values()) | {
    "copyto", "place", "putmask", "fill_diagonal", "put_along_axis", "at", "shuffle", "setattr", "delattr", "send",
    "heappush", "heappop", "heapify", "insort",
}  # fmt: skip
_HOLDERS = (list, tuple, dict, deque, functools.partial, types.MethodType)
_LARGEST_WALK = 2000  # objects among the arguments that are looked at
_SIZE = 1024
_known: dict[Any, bool] = {}


def may_write(function: types.FunctionType, values: Iterable[Any]) -> bool:
    """Whether a function that is called with these values, or what it calls, has anything in it that writes."""
    classes, functions = _reached(values)
    key = (id(function.__code__), frozenset(map(id, classes)), frozenset(id(f.__code__) for f in functions))
    if key not in _known:
        if len(_known) >= _SIZE:
            _known.clear()
        _known[key] = _search([function, *functions], classes)
    return _known[key]


def any_may_write(callables: Iterable[Any]) -> bool:
    """Whether one of some callables may write."""
    classes, functions = _reached(callables)
    return _search(list(functions), classes)


def reads_state(value: Any) -> bool:
    """Whether a function, or what it calls, reads objects that it is not given: module variables or captured variables that
    can be written into or get new values. Of a class or an object it is asked for the methods, of a container for what is in
    it."""
    if isinstance(value, np.ndarray | int | float | complex | str | types.NoneType):
        return False
    waiting: list[types.FunctionType] = []
    classes, functions = _reached((value,))
    for cls in classes:
        if _is_users(cls):
            waiting += [f for base in cls.__mro__ for found in vars(base).values() for f in _functions_of(found)]
    waiting += functions
    seen = set[int]()
    while waiting:
        current = waiting.pop()
        if id(current.__code__) in seen or not _is_searched(current):
            continue
        seen.add(id(current.__code__))
        if shared_names(current.__code__, current.__globals__):
            return True
        if not rebound_globals(current.__globals__).isdisjoint(_names(current.__code__)):
            return True
        held = [*_captured(current), *(found for name in _names(current.__code__) for found in _meanings(current, name))]
        if any(map(carries_state, held)):
            return True
        waiting += [value for value in held if isinstance(value, types.FunctionType)]
    return False


def carries_state(value: Any) -> bool:
    """Whether an object that is not an argument may hold something active once a run has stored it there."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fcO"
    if isinstance(value, list | dict | deque):
        return True
    if isinstance(value, type | types.ModuleType | types.FunctionType):
        return False
    return _is_users(type(value)) or (isinstance(value, functools.partial | types.MethodType) and reads_state(value))


def _reached(values: Iterable[Any]) -> tuple[set[type], set[types.FunctionType]]:
    """The classes of the user's objects among some values and in what they hold, and the functions among them."""
    classes: set[type] = set()
    functions: set[types.FunctionType] = set()
    waiting, seen = list(values), set[int]()
    while waiting and len(seen) < _LARGEST_WALK:
        value = waiting.pop()
        if isinstance(value, np.ndarray | int | float | str | types.NoneType | np.generic) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, types.MethodType):
            waiting += (value.__self__, value.__func__)
        elif isinstance(value, types.FunctionType):
            functions.add(value)
            waiting += _captured(value)
        elif isinstance(value, type):
            classes.add(value)
        elif not isinstance(value, types.ModuleType):
            if _is_users(type(value)):
                classes.add(type(value))
            waiting += [part for _, part in parts_of(value)]
            if isinstance(value, functools.partial):
                waiting += (value.func, *value.args, *value.keywords.values())
    return classes, functions


def _captured(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue


def _is_users(cls: Any) -> bool:
    module = str(getattr(cls, "__module__", "")).partition(".")[0]
    return (module not in sys.stdlib_module_names and module not in ("numpy", "scipy", "microgradpy")) or module == "__main__"


def _search(functions: list[types.FunctionType], classes: set[type]) -> bool:
    """Look through all code that may run, from some functions on."""
    waiting: list[types.FunctionType] = list(functions)
    seen: set[int] = set()
    known: set[type] = set()
    names: set[str] = set()

    def add_class(cls: type) -> None:
        if cls not in known and _is_users(cls):
            known.add(cls)
            for name in [*names, *(name for base in cls.__mro__ for name in vars(base) if name.startswith("__"))]:
                add_method(cls, name)

    def add_method(cls: type, name: str) -> None:
        for base in cls.__mro__:
            found = vars(base).get(name)
            if found is not None:
                waiting.extend(_functions_of(found))
                return

    for cls in classes:
        add_class(cls)
    while waiting:
        function = waiting.pop()
        code = function.__code__
        if id(code) in seen or not _is_searched(function):
            continue
        seen.add(id(code))
        if _stores(code):
            return True
        for name in _names(code):
            if name not in names:
                names.add(name)
                for cls in list(known):
                    add_method(cls, name)
            for found in _meanings(function, name):
                if isinstance(found, type):
                    add_class(found)
                elif isinstance(found, types.FunctionType):
                    waiting.append(found)
                elif isinstance(found, _HOLDERS) or _is_users(type(found)):
                    held_classes, held_functions = _reached((found,))
                    waiting.extend(held_functions)
                    for cls in held_classes:
                        add_class(cls)
        waiting += [held for held in _captured(function) if isinstance(held, types.FunctionType)]
    return False


def _is_searched(function: types.FunctionType) -> bool:
    return _is_users(function) and not rrule.has(function) and not is_non_differentiable(function)


def _functions_of(found: Any) -> list[types.FunctionType]:
    """The functions that reading a class's attribute may run or give."""
    if isinstance(found, types.FunctionType):
        return [found]
    if isinstance(found, staticmethod | classmethod):
        found = found.__func__
        return [found] if isinstance(found, types.FunctionType) else []
    if isinstance(found, property):
        return [f for f in (found.fget, found.fset, found.fdel) if isinstance(f, types.FunctionType)]
    return []


def _meanings(function: types.FunctionType, name: str) -> Iterator[Any]:
    """What a name may mean in a function: a module variable, or an attribute of a module that it names."""
    namespace = function.__globals__
    if name in namespace:
        yield namespace[name]
    for other in _names(function.__code__):
        module = namespace.get(other)
        if isinstance(module, types.ModuleType) and _is_users(types.SimpleNamespace(__module__=module.__name__)):
            if name in vars(module):
                yield vars(module)[name]


@functools.lru_cache(maxsize=1024)
def _names(code: types.CodeType) -> tuple[str, ...]:
    inner = [name for constant in code.co_consts if isinstance(constant, types.CodeType) for name in _names(constant)]
    return tuple(dict.fromkeys((*code.co_names, *inner)))


@functools.lru_cache(maxsize=1024)
def _stores(code: types.CodeType) -> bool:
    if is_generator(code):
        return True  # it changes from one item to the next
    if assigned_globals(code) or (not is_inline(code) and rebound_captures(code)):
        return True
    if any(instruction.opname in _STORES or _is_in_place(instruction) for instruction in dis.get_instructions(code)):
        return True
    if not _WRITERS.isdisjoint(code.co_names):
        return True
    return any(
        _stores(constant) if isinstance(constant, types.CodeType) else isinstance(constant, tuple) and "out" in constant
        for constant in code.co_consts
    )


def _is_in_place(instruction: dis.Instruction) -> bool:
    # `x += y` on a name is a BINARY_OP whose sign ends in "=".
    return instruction.opname == "BINARY_OP" and instruction.argrepr.endswith("=")
