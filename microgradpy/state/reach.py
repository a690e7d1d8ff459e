"""Whether a run may write, as far as the code tells that it can reach: what decides if a run tracks writes where some of the
functions it calls are known only while it runs.

This is a guess on the safe side of speed, not of correctness: a run that does not track refuses the write that it meets.
"""

from __future__ import annotations

import functools
import itertools
import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from microgradpy.frontend.sharing import assigned_globals, is_inline, note_globals, rebound_captures, rebound_globals
from microgradpy.frontend.source import shared_names
from microgradpy.ir.objects import NO_FEATURES, Features, features_of, static_member
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.runtime.bytecode import WRITERS, makes_classes, names_in, writes
from microgradpy.runtime.special_methods import METHODS_ASKED
from microgradpy.runtime.suspension import is_generator
from microgradpy.state.snapshots import parts_of

_MAKERS = frozenset({"type", "__class__", "replace", "_replace"})
"""By these, code makes objects of classes that it does not name."""
_IN_SIGHT = frozenset({"__init__", "__new__", "__post_init__", "__setitem__", "__delitem__", "__setattr__", "__delattr__"}) | {
    f"__i{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
}
"""Methods that run only where a class is named, or where something is written."""
_OPERATORS = frozenset().union(*METHODS_ASKED.values()) - {"__getitem__", "__missing__"}
_CALLERS = (functools.partial, functools._lru_cache_wrapper, types.MethodType)
_HOLDERS = (list, tuple, dict, deque, *_CALLERS)
_LARGEST_WALK = 2000  # objects among the arguments that are looked at
_SIZE = 1024
_known: dict[Any, bool] = {}


def may_write(function: types.FunctionType, values: Iterable[Any]) -> bool:
    """Whether a function that is called with these values, or what it calls, has anything in it that writes."""
    reached = _reached(values)
    if reached.writes:
        return True
    key = (
        id(function.__code__),
        frozenset(map(id, reached.classes)),
        frozenset(map(id, reached.made)),
        frozenset(id(f.__code__) for f in reached.functions),
    )
    if key not in _known:
        if len(_known) >= _SIZE:
            _known.clear()
        _known[key] = _search([function], reached)
    return _known[key]


def any_may_write(callables: Iterable[Any]) -> bool:
    """Whether one of some callables may write."""
    reached = _reached(callables)
    return reached.writes or _search([], reached)


def writing_method(values: Iterable[Any], names: Iterable[str]) -> types.FunctionType | None:
    """A method of these names, of the class of an object among some values or in what they hold, that may write."""
    reached = _reached(values)
    if reached.classes:
        for cls, name in itertools.product(reached.classes, names):
            found = static_member(cls, name)
            if isinstance(found, types.FunctionType) and _search([found], reached, calls_operators=False):
                return found
    return None


def operators_met(function: types.FunctionType) -> Features:
    """The operators of the classes that a function, or what it calls, names: an object that it reads from somewhere may be of
    one of them."""
    search = _Search([function])
    met = NO_FEATURES
    while search.waiting:
        current = search.waiting.pop()
        if id(current.__code__) in search.seen or not _is_searched(current):
            continue
        search.seen.add(id(current.__code__))
        if makes_classes(current.__code__):
            return Features(operators=_OPERATORS)
        search.add_reached(_reached((*_captured(current), *_defaults(current))))
        for name in names_in(current.__code__):
            search.add_name(current, name)
    for cls in search.classes:
        met = met | features_of(cls)
    return Features(operators=met.operators & _OPERATORS)


def reads_state(value: Any) -> bool:
    """Whether a function, or what it calls, reads objects that it is not given: module variables or captured variables that
    can be written into or get new values. Of a class or an object it is asked for the methods, of a container for what is in
    it."""
    if isinstance(value, np.ndarray | int | float | complex | str | types.NoneType):
        return False
    if isinstance(value, types.BuiltinMethodType | types.MethodWrapperType):
        return carries_state(value)
    waiting: list[types.FunctionType] = []
    reached = _reached((value,))
    for cls in reached.classes | reached.made:
        if is_users_class(cls):
            waiting += [f for base in cls.__mro__ for found in vars(base).values() for f in _functions_of(found)]
    waiting += reached.functions
    seen = set[int]()
    while waiting:
        current = waiting.pop()
        if id(current.__code__) in seen or not _is_searched(current):
            continue
        seen.add(id(current.__code__))
        if shared_names(current.__code__, current.__globals__):
            return True
        if not rebound_globals(current.__globals__).isdisjoint(names_in(current.__code__)):
            return True
        held = [*_captured(current), *_defaults(current)]
        held += [found for name in names_in(current.__code__) for found in _meanings(current, name)]
        held = [value.__wrapped__ if isinstance(value, functools._lru_cache_wrapper) else value for value in held]
        if any(map(carries_state, held)):
            return True
        waiting += [value for value in held if isinstance(value, types.FunctionType)]
    return False


def carries_state(value: Any) -> bool:
    """Whether an object that is not an argument may hold something active once a run has stored it there."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fcO"
    if isinstance(value, list | dict | deque | types.SimpleNamespace):
        return True
    if isinstance(value, tuple):
        return any(map(carries_state, value))
    if isinstance(value, type):
        return is_users_class(value) and any(class_holds_state(value, name) for base in value.__mro__ for name in vars(base))
    if isinstance(value, types.BuiltinMethodType | types.MethodWrapperType):
        return carries_state(value.__self__)
    if isinstance(value, functools.partial):
        return any(map(carries_state, (value.func, *value.args, *value.keywords.values()))) or reads_state(value)
    if isinstance(value, types.MethodType):
        return carries_state(value.__self__) or reads_state(value)
    if isinstance(value, types.ModuleType | types.FunctionType):
        return False
    return is_users_class(type(value)) or (isinstance(value, functools._lru_cache_wrapper) and reads_state(value))


def class_holds_state(cls: type, name: str) -> bool:
    """Whether an attribute of a class, as it stands there, may hold something active."""
    value = static_member(cls, name)
    return not (name.startswith("__") or isinstance(value, type | cls)) and carries_state(value)


def keeps_state_in_defaults(function: types.FunctionType) -> bool:
    """Whether a default may hold something active from one call to the next."""
    return any(map(carries_state, _defaults(function)))


def is_kept_in_default(function: types.FunctionType, value: Any) -> bool:
    """Whether an argument is a default of the function that may hold something active."""
    return any(value is default for default in _defaults(function)) and carries_state(value)


def _defaults(function: types.FunctionType) -> tuple[Any, ...]:
    return (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())


@final
@dataclass
class _Reached:
    """What some values and what they hold have in them: objects of the user's `classes`, classes that may be called
    (`made`), functions; and whether there is a suspended generator or a method such as `items.append` that writes."""

    classes: set[type] = field(default_factory=set)
    made: set[type] = field(default_factory=set)
    functions: set[types.FunctionType] = field(default_factory=set)
    writes: bool = False


def module_holds_state(module: types.ModuleType, name: str) -> bool:
    """Whether a variable of a module may hold something active: an object that can be written into, or a variable that
    functions of the module assign."""
    variables = vars(module)
    if not is_users_class(types.SimpleNamespace(__module__=module.__name__)):
        return False
    note_globals(variables)
    return name in rebound_globals(variables) or carries_state(variables.get(name))


def _reached(values: Iterable[Any]) -> _Reached:
    found = _Reached()
    waiting, seen = list(values), set[int]()
    while waiting and len(seen) < _LARGEST_WALK:
        value = waiting.pop()
        if isinstance(value, np.ndarray | int | float | str | types.NoneType | np.generic) or id(value) in seen:
            continue
        seen.add(id(value))
        waiting += _look_at(value, found)
    return found


def _look_at(value: Any, found: _Reached) -> list[Any]:
    """Note what a value is; returns what it holds."""
    match value:
        case types.MethodType():
            return [value.__self__, value.__func__]
        case types.FunctionType():
            found.functions.add(value)
            return list(_captured(value))
        case functools._lru_cache_wrapper():
            found.writes = True  # its entries
            return [value.__wrapped__]
        case type():
            found.made.add(value)
            return []
        case types.GeneratorType():
            found.writes |= value.gi_frame is not None and _stores(value.gi_code)
            return []
        case types.BuiltinMethodType():
            is_bound = not isinstance(value.__self__, types.ModuleType | types.NoneType)
            found.writes |= is_bound and value.__name__ in WRITERS
            return [value.__self__]
        case types.ModuleType():
            return []
        case functools.partial():
            return [value.func, *value.args, *value.keywords.values()]
    if is_users_class(type(value)):
        found.classes.add(type(value))
    return [part for _, part in parts_of(value)]


def _captured(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue


def is_users_class(cls: Any) -> bool:
    """Whether a class, or anything with a module, is neither Python's nor NumPy's."""
    module = str(getattr(cls, "__module__", "")).partition(".")[0]
    return (module not in sys.stdlib_module_names and module not in ("numpy", "scipy", "microgradpy")) or module == "__main__"


def _search(functions: list[types.FunctionType], reached: _Reached, *, calls_operators: bool = True) -> bool:
    """Look through all code that may run, from some functions on: the methods that it names of the objects there are, and
    with `calls_operators` those that operators call."""
    search = _Search(list(functions), calls_operators)
    search.add_reached(reached)
    while search.waiting:
        function = search.waiting.pop()
        code = function.__code__
        if id(code) in search.seen or not _is_searched(function):
            continue
        search.seen.add(id(code))
        if not is_wrapper(function):
            if _stores(code) or shared_names(code, function.__globals__):
                return True
            # What dataclasses generates compares classes, and makes no objects.
            is_generated = code.co_qualname.startswith("__create_fn__.")
            for name in names_in(code):
                if not (is_generated and name in _MAKERS):
                    search.add_name(function, name)
        search.waiting += [held for held in _captured(function) if isinstance(held, types.FunctionType)]
    return search.writes


@final
@dataclass
class _Search:
    """What is still to be looked at, and what has been. A class is made if code names it; of others there are objects."""

    waiting: list[types.FunctionType]
    calls_operators: bool = True
    seen: set[int] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    classes: dict[type, bool] = field(default_factory=dict)
    writes: bool = False

    def add_name(self, function: types.FunctionType, name: str) -> None:
        """What a name in a function may stand for."""
        if name not in self.names:
            self.names.add(name)
            for cls in list(self.classes):
                self.add_method(cls, name)
            if name in _MAKERS:
                for cls in list(self.classes):
                    self.add_class(cls, is_made=True)
        for found in _meanings(function, name):
            if isinstance(found, type):
                self.add_class(found, is_made=True)
            elif isinstance(found, types.FunctionType):
                self.waiting.append(found)
            elif isinstance(found, _HOLDERS) or is_users_class(type(found)):
                reached = _reached((found,))
                self.writes |= isinstance(found, functools._lru_cache_wrapper) and reached.writes
                self.add_reached(reached)

    def add_reached(self, reached: _Reached) -> None:
        self.waiting += reached.functions
        for cls in reached.classes:
            self.add_class(cls, is_made=False)
        for cls in reached.made:
            self.add_class(cls, is_made=True)

    def add_class(self, cls: type, is_made: bool) -> None:
        # The constructors of exceptions are called as they are.
        is_made = (is_made or not self.names.isdisjoint(_MAKERS)) and not issubclass(cls, BaseException)
        if not is_users_class(cls) or (cls in self.classes and self.classes[cls] >= is_made):
            return
        self.classes[cls] = is_made
        for name in self.names:
            self.add_method(cls, name)
        if self.calls_operators:
            inherited = (name for base in cls.__mro__ for name in vars(base) if name.startswith("__"))
            for name in (name for name in inherited if is_made or name not in _IN_SIGHT):
                self.add_method(cls, name)

    def add_method(self, cls: type, name: str) -> None:
        found = static_member(cls, name)
        self.waiting += _functions_of(found)
        self.writes |= isinstance(found, functools.cached_property)
        if isinstance(found, classmethod):
            self.add_class(cls, is_made=True)


def _is_searched(function: types.FunctionType) -> bool:
    return is_users_class(function) and not rrule.has(function) and not is_non_differentiable(function)


def is_wrapper(function: types.FunctionType) -> bool:
    """Whether it is a decorator of the standard library under the name of what it calls, as the `__repr__` of a dataclass."""
    return str(function.__globals__.get("__name__")).partition(".")[0] in sys.stdlib_module_names - {"__main__"}


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
    for other in names_in(function.__code__):
        module = namespace.get(other)
        if isinstance(module, types.ModuleType) and is_users_class(types.SimpleNamespace(__module__=module.__name__)):
            if name in vars(module):
                yield vars(module)[name]


@functools.lru_cache(maxsize=1024)
def _stores(code: types.CodeType) -> bool:
    """Whether code writes into objects, or gives variables that others know new values."""
    if is_generator(code):
        return True  # it changes from one item to the next
    if assigned_globals(code) or (not is_inline(code) and rebound_captures(code)):
        return True
    return writes(code) or any(_stores(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
