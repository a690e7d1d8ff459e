"""What may hold something active from one call to the next: module variables, captured variables, defaults, attributes of
classes."""

from __future__ import annotations

import _thread
import functools
import itertools
import sys
import threading
import types
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

import numpy as np

from microgradpy.frontend.resolve import variables_of_class
from microgradpy.frontend.sharing import note_globals, rebound_globals
from microgradpy.frontend.source import shared_names
from microgradpy.ir.objects import is_computed, static_member
from microgradpy.runtime.bytecode import names_in
from microgradpy.runtime.python_ufuncs import function_of, is_of_python
from microgradpy.state.array_memory import owner_of
from microgradpy.state.object_graph import (
    Reached,
    captured_by,
    defaults_of,
    functions_of,
    is_searched,
    is_users_class,
    is_users_module,
    meanings_in,
    reached_from,
)

_GIVE_MODULES = frozenset({
    "modules", "import_module", "__import__", "getmodule", "globals", "__globals__", "f_globals", "eval", "exec",
})  # fmt: skip
"""By these, code reaches modules that it does not name."""
_COMPUTE_NAMES = frozenset({"getattr", "attrgetter", "methodcaller", "vars", "__dict__", "__getattribute__", "getmembers"})
"""By these, it reads variables of theirs that it does not name."""


def reads_state(value: Any) -> bool:
    """Whether a function, or what it calls, reads objects that it is not given: module variables or captured variables that
    can be written into or get new values. Of a class or an object it is asked for the methods, of a container for what is in
    it."""
    if isinstance(value, np.ndarray | int | float | complex | str | types.NoneType):
        return False
    if isinstance(value, types.BuiltinMethodType | types.MethodWrapperType):
        return carries_state(value)
    if isinstance(value, np.ufunc) and (not is_of_python(value) or function_of(value) is None):
        return is_of_python(value)
    reached = reached_from((value,))
    # The methods of a class may read what it holds itself.
    classes = with_metaclasses(filter(is_users_class, reached.classes | reached.made))
    if reached.modules or any(map(carries_state, classes)):
        return True
    waiting, seen = _code_of(classes, reached), set[int]()
    while waiting:
        current = waiting.pop()
        if id(current.__code__) in seen or not is_searched(current):
            continue
        seen.add(id(current.__code__))
        held = list(_held_by(current))
        if _shares_variables(current) or any(map(carries_state, held)):
            return True
        waiting += [value for value in held if isinstance(value, types.FunctionType)]
    return False


def _shares_variables(function: types.FunctionType) -> bool:
    """Whether a function uses variables that others may give new values, or modules that it does not name."""
    names = names_in(function.__code__)
    shares = shared_names(function.__code__, function.__globals__)
    return bool(shares) or not (_GIVE_MODULES | rebound_globals(function.__globals__)).isdisjoint(names)


def with_metaclasses(classes: Iterable[type]) -> set[type]:
    """Some classes, with those of the user's that they are objects of."""
    classes = set(classes)
    return classes | set(filter(is_users_class, map(type, classes)))


def _code_of(classes: Iterable[type], reached: Reached) -> list[types.FunctionType]:
    """The functions among some values, and those that are methods."""
    methods = [f for cls in classes for base in cls.__mro__ for found in vars(base).values() for f in functions_of(found)]
    return [*methods, *reached.functions]


def _held_by(function: types.FunctionType) -> Iterator[Any]:
    """What a function can reach without being given it."""
    computes_names = not _COMPUTE_NAMES.isdisjoint(names_in(function.__code__))
    named = (value for value in meanings_in(function) if computes_names or not is_users_module(value))
    for value in (*captured_by(function), *defaults_of(function), *vars(function).values(), *named):
        yield value.__wrapped__ if isinstance(value, functools._lru_cache_wrapper) else value


_HOLD_NOTHING: Any = (
    str, bytes, int, float, complex, range, np.generic, np.dtype, types.NoneType, types.EllipsisType,
    types.NotImplementedType, types.CodeType, types.GenericAlias,
    types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType, types.ClassMethodDescriptorType,
    itertools.count,
)  # fmt: skip
_MODULES_OF_CONSTANTS = frozenset({
    "abc", "collections.abc", "datetime", "decimal", "enum", "fractions", "inspect", "io", "_io", "ipaddress", "numbers",
    "numpy._core.getlimits", "os", "pathlib", "pathlib._local", "platform", "random", "re", "secrets", "string", "struct",
    "_struct", "sys", "tempfile", "textwrap", "threading", "time", "timeit", "typing", "uuid", "warnings", "zoneinfo",
    "_random", "_sitebuiltins",
})  # fmt: skip
"""Modules of Python's and NumPy's whose objects show no number or array that was put into them."""


def _holds_nothing(cls: type) -> bool:
    """Whether objects of a class, which is none of the user's, never hold what is differentiated."""
    if issubclass(cls, _HOLD_NOTHING) or cls in (_thread.LockType, type(threading.RLock())):
        return True
    module = cls.__module__
    if module.startswith("scipy."):
        return not module.startswith("scipy.sparse")  # tables and distributions, but for matrices that are filled
    return module in _MODULES_OF_CONSTANTS or module.startswith(("numpy.random", "logging"))


def carries_state(value: Any, within: tuple[Any, ...] = ()) -> bool:
    """Whether an object that is not an argument may hold something active once a run has stored it there; `within` are the
    classes and functions that it was found in."""
    if isinstance(value, np.ndarray):
        # One of whole numbers may show the bits of another.
        owner = owner_of(value)
        return value.dtype.kind in "fcO" or not isinstance(owner, np.ndarray) or owner.dtype.kind in "fcO"
    if isinstance(value, type | types.FunctionType):
        if any(value is outer for outer in within):
            return False
        within = (*within, value)
    if isinstance(value, type):
        classes = with_metaclasses((value,)) if is_users_class(value) else ()
        return any(map(variables_of_class, classes)) or any(
            _member_holds_state(cls, name, within) for cls in classes for base in cls.__mro__ for name in vars(base)
        )
    if isinstance(value, types.ModuleType):
        return is_users_module(value)
    if isinstance(value, _SHOWING):
        return any(carries_state(part, within) for part in _shown_by(value)) or (
            isinstance(value, _CALLING) and reads_state(value)
        )
    return is_users_class(type(value)) or not _holds_nothing(type(value))


_CALLING = (functools.partial, types.MethodType, np.vectorize, np.ufunc, functools._lru_cache_wrapper)
_SHOWING: Any = (
    tuple, set, frozenset, types.FunctionType, types.BuiltinMethodType, types.MethodWrapperType, *_CALLING,
)  # fmt: skip
"""What holds nothing but what can be seen in it, or what it calls."""


def _shown_by(value: Any) -> Iterable[Any]:
    """The parts of a value that cannot be written into itself, or of a function, whose attributes can."""
    match value:
        case tuple() | set() | frozenset():
            return value
        case types.FunctionType():
            return vars(value).values()
        case functools.partial():
            return (value.func, *value.args, *value.keywords.values())
        case types.BuiltinMethodType() | types.MethodWrapperType() | types.MethodType():
            return (value.__self__,)
    return ()


def class_holds_state(cls: type, name: str) -> bool:
    """Whether an attribute of a class may hold something active: as it stands there, or since code assigns it."""
    classes = with_metaclasses((cls,)) if is_users_class(cls) else ()
    return any(name in variables_of_class(each) for each in classes) or _member_holds_state(cls, name)


def _member_holds_state(cls: type, name: str, within: tuple[Any, ...] = ()) -> bool:
    """The same of an attribute as it stands there."""
    value = static_member(cls, name)
    if value is None and is_computed(static_member(type(cls), name)):
        return True
    if isinstance(value, Enum):
        value = value.value
    is_own = name.startswith("__") or name in _OF_NAMED_TUPLES or (issubclass(cls, Enum) and name.startswith("_"))
    return not is_own and carries_state(value, within)


def attribute_holds_state(owner: Any, name: str) -> bool:
    """Whether an attribute of something that a program names (a class, a function, a module) may hold something active."""
    match owner:
        case type():
            return class_holds_state(owner, name)
        case types.ModuleType():
            return module_holds_state(owner, name)
        case types.FunctionType() | types.BuiltinMethodType() | types.MethodWrapperType() | functools._lru_cache_wrapper():
            return carries_state(getattr(owner, name, None))
    return False


_OF_NAMED_TUPLES = ("_fields", "_field_defaults")


def keeps_state_in_defaults(function: types.FunctionType) -> bool:
    """Whether a default may hold something active from one call to the next."""
    return any(map(carries_state, defaults_of(function)))


def is_kept_in_default(function: types.FunctionType, value: Any) -> bool:
    """Whether an argument is a default of the function that may hold something active."""
    return any(value is default for default in defaults_of(function)) and carries_state(value)


def module_holds_state(module: types.ModuleType, name: str) -> bool:
    """Whether a variable of a module may hold something active: an object that can be written into, or a variable that
    functions of the module assign."""
    variables = vars(module)
    if not is_users_module(module):
        return variables.get(name) is sys.modules
    if name == "__dict__":
        return True
    note_globals(variables)
    return name in rebound_globals(variables) or carries_state(variables.get(name))
