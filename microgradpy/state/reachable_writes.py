"""Whether a run may write, as far as the code tells that it can reach: what decides if a run tracks writes where some of the
functions it calls are known only while it runs.

This is a guess on the safe side of speed, not of correctness: a run that does not track refuses the write that it meets.
"""

from __future__ import annotations

import functools
import itertools
import operator
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass, field
from microgradpy.frontend.sharing import assigned_globals, is_inline, rebound_captures
from microgradpy.frontend.source import shared_names
from microgradpy.ir.objects import LEAVES, NO_FEATURES, Features, features_of, static_member
from microgradpy.runtime.asking import ANYTHING, that_write
from microgradpy.runtime.bytecode import (
    computes_names,
    makes_capturing_classes,
    makes_classes,
    names_in,
    reads_caught,
    texts_in,
    writes,
)
from microgradpy.runtime.libraries import is_of_large_library, library_of
from microgradpy.runtime.special_methods import METHODS_ASKED
from microgradpy.runtime.suspension import is_generator
from microgradpy.state.object_graph import (
    Reached,
    captured_by,
    defaults_of,
    functions_of,
    is_searched,
    is_users_class,
    meanings_in,
    reached_from,
)

_MAKERS = frozenset({"type", "__class__", "replace", "_replace"})
"""By these, code makes objects of classes that it does not name."""
_IN_SIGHT = frozenset({"__init__", "__new__", "__post_init__", "__setitem__", "__delitem__", "__setattr__", "__delattr__"}) | {
    f"__i{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
}
"""Methods that run only where a class is named, or where something is written."""
_OPERATORS = frozenset({"items"}).union(*METHODS_ASKED.values()) - {"__getitem__", "__missing__"}
_CALLERS = (functools.partial, functools._lru_cache_wrapper, types.MethodType)
_HOLDERS = (list, tuple, dict, deque, np.vectorize, np.ufunc, operator.attrgetter, operator.methodcaller, *_CALLERS)
_SIZE = 1024
_known: dict[Any, tuple[bool, tuple[weakref.ref[Any], ...]]] = {}


def may_write(
    function: types.FunctionType, values: Iterable[Any], followed: frozenset[types.CodeType] = frozenset()
) -> bool:
    """Whether a function that is called with these values, or what it calls, has anything in it that writes; what the code that
    is `followed` writes itself does not count."""
    passes_over = _foreign_to(function)
    reached = reached_from(values, passes_over)
    if reached.writes:
        return True
    codes = {f.__code__ for f in reached.functions}
    found = reached.classes, reached.made, reached.modules, codes, followed
    key = id(function.__code__), *(frozenset(map(id, parts)) for parts in found), frozenset(reached.names)
    known = _known.get(key)
    if known is None or any(part() is None for part in known[1]):  # another may have got its address
        if len(_known) >= _SIZE:
            _known.clear()
        parts = tuple(map(weakref.ref, (function.__code__, *itertools.chain(*found))))
        known = _known[key] = _search([function], reached, passes_over=passes_over, followed=followed), parts
    return known[0]


def forget() -> None:
    """Look again at everything, after one has written of which that was not known."""
    _known.clear()


def any_may_write(callables: Iterable[Any]) -> bool:
    """Whether one of some callables may write."""
    reached = reached_from(callables)
    return reached.writes or _search([], reached)


def writing_method(values: Iterable[Any], names: Iterable[str], *, within: bool = True) -> types.FunctionType | None:
    """A method of these names, of the class of an object among some values or (`within`) in what they hold, that may
    write."""
    values = list(values)
    reached = reached_from(values)
    classes = reached.classes if within else reached.classes & set(map(type, values))
    return _writing_method(classes, names, reached)


def own_method_that_writes(cls: type, names: Iterable[str]) -> types.FunctionType | None:
    """A method of these names of a class that may write."""
    return _writing_method((cls,), names, Reached({cls}))


def _writing_method(classes: Iterable[type], names: Iterable[str], reached: Reached) -> types.FunctionType | None:
    for cls, name in itertools.product(classes, names):
        found = static_member(cls, name)
        if isinstance(found, types.FunctionType) and _search([found], reached, calls_operators=False):
            return found
    return None


def writing_function(values: Iterable[Any]) -> types.FunctionType | None:
    """A function among some values, or in lists and tuples of them, that may write."""
    waiting = list(values)
    for value in waiting:
        if isinstance(value, list | tuple) and not LEAVES.issuperset(map(type, value)):
            waiting += value
        called = value.func if isinstance(value, functools.partial) else value
        called = getattr(type(called), "__call__", None) if is_users_class(type(called)) else called  # noqa: B004
        called = called.__func__ if isinstance(called, types.MethodType) else called
        if isinstance(called, types.FunctionType) and any_may_write([value, called]):
            return called
    return None


def operators_met(function: types.FunctionType) -> Features:
    """The operators of the classes that a function, or what it calls, names, and whether they have methods that NumPy or a
    builtin may ask for and that may write: an object that it reads from somewhere may be of one of these classes."""
    search = _Search([function])
    met = NO_FEATURES
    while search.waiting:
        current = search.waiting.pop()
        if id(current.__code__) in search.seen or not is_searched(current):
            continue
        search.seen.add(id(current.__code__))
        if makes_classes(current.__code__) or is_of_large_library(current):
            return Features(operators=_OPERATORS | that_write(ANYTHING))
        search.add_reached(reached_from((*captured_by(current), *defaults_of(current))))
        search.add_named(current)
    for cls in search.classes:
        met = met | features_of(cls)
    asked = met.operators.intersection(ANYTHING)
    writing = [name for name in asked if _writing_method(search.classes, (name,), Reached()) is not None]
    return Features(operators=met.operators & _OPERATORS | that_write(writing))


def functions_reached(function: types.FunctionType, values: Iterable[Any]) -> Iterator[types.FunctionType]:
    """The functions that may run, as far as their code tells, if a function is called with these values."""
    search = _Search([function])
    search.add_reached(reached_from(values))
    while search.waiting:
        current = search.waiting.pop()
        if id(current.__code__) not in search.seen and is_searched(current):
            search.seen.add(id(current.__code__))
            yield current
            search.add_named(current)
            search.waiting += [held for held in captured_by(current) if isinstance(held, types.FunctionType)]


def _foreign_to(function: types.FunctionType) -> Callable[[Any], bool]:
    """Which functions and classes are from large libraries that a function is no part of. Whether these write is not asked:
    what uses them as constants would be tracked for what they do among themselves."""
    own = library_of(function)
    return lambda x: is_of_large_library(x) and library_of(x) != own


def _search(
    functions: list[types.FunctionType],
    reached: Reached,
    *,
    calls_operators: bool = True,
    passes_over: Callable[[Any], bool] = lambda _: False,
    followed: frozenset[types.CodeType] = frozenset(),
) -> bool:
    """Look through all code that may run, from some functions on: the methods that it names of the objects there are, and
    with `calls_operators` those that operators call."""
    search = _Search(list(functions), calls_operators, passes_over)
    search.add_reached(reached)
    while search.waiting:
        function = search.waiting.pop()
        code = function.__code__
        if id(code) in search.seen or not is_searched(function):
            continue
        search.seen.add(id(code))
        if not is_wrapper(function) and not passes_over(function):
            by_name = followed - search.held
            if _stores(code, by_name) or (code not in by_name and shared_names(code, function.__globals__)):
                return True
            # What dataclasses generates compares classes, and makes no objects.
            is_generated = code.co_qualname.startswith("__create_fn__.")
            search.add_named(function, without=_MAKERS if is_generated else frozenset())
        search.waiting += [held for held in captured_by(function) if isinstance(held, types.FunctionType)]
    return search.writes


@final
@dataclass
class _Search:
    """What is still to be looked at, and what has been. A class is made if code names it; of others there are objects."""

    waiting: list[types.FunctionType]
    calls_operators: bool = True
    passes_over: Callable[[Any], bool] = lambda _: False
    seen: set[int] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    held: set[types.CodeType] = field(default_factory=set)
    """The code of functions that somebody holds, who may call them with anything."""
    names_any: bool = False
    """Whether names are computed."""
    classes: dict[type, bool] = field(default_factory=dict)
    modules: list[types.ModuleType] = field(default_factory=list)
    """Those that somebody holds, whose variables code may read by any name."""
    having: dict[str, list[type]] = field(default_factory=dict)
    """Which of the classes have or inherit something of a name."""
    writes: bool = False

    def add_named(self, function: types.FunctionType, without: frozenset[str] = frozenset()) -> None:
        """What the names in a function may stand for: methods of the classes there are, and what the names mean."""
        code = function.__code__
        self.add_names({*names_in(code), *(set(texts_in(code)) - _MAKERS)} - without)
        if computes_names(code) and not self.names_any:
            self.names_any = True
            for cls in list(self.classes):
                self.add_members(cls)
        for found in meanings_in(function):
            self.add_meaning(found)

    def add_meaning(self, found: Any) -> None:
        """What a name stands for."""
        if isinstance(found, type):
            self.add_reached(reached_from((found,), self.passes_over))
        elif isinstance(found, types.FunctionType):
            self.waiting.append(found)
        elif isinstance(found, _HOLDERS) or is_users_class(type(found)):
            reached = reached_from((found,), self.passes_over)
            self.writes |= isinstance(found, functools._lru_cache_wrapper | np.ufunc) and reached.writes
            self.add_reached(reached)

    def add_module(self, module: types.ModuleType) -> None:
        if not any(module is each for each in self.modules):
            self.modules.append(module)
            for name in self.names & vars(module).keys():
                self.add_meaning(vars(module)[name])

    def add_names(self, names: Iterable[str]) -> None:
        for name in set(names) - self.names:
            self.names.add(name)
            for cls in list(self.having.get(name, ())):
                self.add_method(cls, name)
            for module in [module for module in self.modules if name in vars(module)]:
                self.add_meaning(vars(module)[name])
            if name in _MAKERS:
                for cls in list(self.classes):
                    self.add_class(cls, is_made=True)
            if name == "super":
                classes, self.classes, self.having = self.classes, {}, {}
                for cls, is_made in classes.items():
                    self.add_class(cls, is_made)

    def add_reached(self, reached: Reached) -> None:
        self.add_names(reached.names)
        self.waiting += reached.functions
        new = {function.__code__ for function in reached.functions} - self.held
        self.held |= new
        self.seen -= set(map(id, new))  # it may have been looked at as one that is called by name
        for cls in reached.classes:
            self.add_class(cls, is_made=False)
        for cls in reached.made:
            self.add_class(cls, is_made=True)
        for module in reached.modules:
            self.add_module(module)

    def add_class(self, cls: type, is_made: bool) -> None:
        # The constructors of exceptions are called as they are.
        is_made = (is_made or not self.names.isdisjoint(_MAKERS)) and not issubclass(cls, BaseException)
        if not is_users_class(cls) or self.passes_over(cls) or (cls in self.classes and self.classes[cls] >= is_made):
            return
        members = dict.fromkeys(name for base in cls.__mro__ for name in vars(base))
        if cls not in self.classes:
            for name in members:
                self.having.setdefault(name, []).append(cls)
        self.classes[cls] = is_made
        for name in [name for name in members if name in self.names]:
            self.add_method(cls, name)
        if self.names_any:
            self.add_members(cls)
        if self.calls_operators:
            special = (name for name in members if name.startswith("__"))
            for name in (name for name in special if is_made or name not in _IN_SIGHT):
                self.add_method(cls, name)

    def add_members(self, cls: type) -> None:
        """All that code may read by names that it computes."""
        for name in dict.fromkeys(name for base in cls.__mro__ for name in vars(base) if not name.startswith("__")):
            self.add_method(cls, name)

    def add_method(self, cls: type, name: str) -> None:
        if "super" in self.names:  # what is overridden may be called as well
            for base in cls.__mro__:
                self.waiting += functions_of(vars(base).get(name))
        found = static_member(cls, name)
        self.waiting += functions_of(found)
        self.writes |= isinstance(found, functools.cached_property)
        if isinstance(found, _HOLDERS) or (is_users_class(type(found)) and not isinstance(found, type)):
            self.add_reached(reached_from((found,), self.passes_over))
        if isinstance(found, classmethod):
            self.add_class(cls, is_made=True)


def is_wrapper(function: types.FunctionType) -> bool:
    """Whether it is a decorator of the standard library under the name of what it calls, as the `__repr__` of a dataclass."""
    return str(function.__globals__.get("__name__")).partition(".")[0] in sys.stdlib_module_names - {"__main__"}


@functools.lru_cache(maxsize=1024)
def _stores(code: types.CodeType, followed: frozenset[types.CodeType] = frozenset()) -> bool:
    """Whether code that is not `followed` writes into objects, or gives variables that others know new values."""
    return (code not in followed and _stores_itself(code)) or any(
        _stores(constant, followed) for constant in code.co_consts if isinstance(constant, types.CodeType)
    )


def _stores_itself(code: types.CodeType) -> bool:
    if is_generator(code):
        return True  # it changes from one item to the next
    if assigned_globals(code) or (not is_inline(code) and rebound_captures(code)):
        return True
    # What is read from an exception, or by methods of a class in the function, is followed where writes are.
    return writes(code) or reads_caught(code) or makes_capturing_classes(code)
