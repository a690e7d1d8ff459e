"""Which module-level names are constants while a compiled function is valid.

`np.linalg.norm` becomes Const(numpy.linalg.norm, path="np.linalg.norm", root=numpy), guarded by
Guard("np", ("linalg", "norm"), ...). Modules, classes and functions are folded, because rules are found by them at
compile time; the guards say what to compare before the compiled code is used again. Data (numbers, arrays, objects) are
read when executed, so a rebound `LEARNING_RATE` is seen by the next call without compiling anything. What a function
imports itself is folded alike, under a guard that starts at `sys.modules`.
"""

from __future__ import annotations

import abc
import enum
import sys
import types
import weakref
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, final

import numpy as np

from microgradpy.dataclasses import dataclass, field
from microgradpy.frontend.sharing import assigned_by_makers, class_variables, count_assigned, note_globals, rebound_globals
from microgradpy.frontend.source import rebound_variables
from microgradpy.ir.input_kinds import is_plain_member
from microgradpy.ir.nodes import Const
from microgradpy.ir.random_sources import is_source_function
from microgradpy.originals import is_library, original
from microgradpy.runtime.variables import Variables, variables_of

FUNCTION_TYPES: tuple[type, ...] = (
    types.ModuleType,
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    np.ufunc,
    type(np.sum),  # the dispatcher that wraps NumPy's Python-level functions
)

# Modules whose plain data never change (`math.pi`, `np.newaxis`): only there are numbers folded.
_FIXED_MODULES = ("math", "cmath", "numpy", "sys", "scipy")


_OF_RANDOM_NUMBERS = ("random", "numpy.random")
"""Modules whose functions are methods of one generator, or are compiled by Cython."""

_MISSING: Any = object()

builtins_of: Callable[[types.FunctionType], Mapping[str, Any]] = attrgetter("__builtins__")
"""The built-in names a function sees; the type stubs know the attribute under some versions only."""


@final
@dataclass(frozen=True, slots=True)
class Guard:
    """The module-level name `name`, followed along `path` by attribute access, was `value` when it was folded."""

    name: str
    path: tuple[str, ...]
    value: Any
    is_module: bool = False
    """`name` is that of a module in `sys.modules`, which the function imports itself."""

    def holds(self, namespace: Mapping[str, Any], builtins: Mapping[str, Any]) -> bool:
        """Whether the name still means the same object."""
        if self.is_module:
            namespace, builtins = sys.modules, {}
        found = namespace[self.name] if self.name in namespace else builtins.get(self.name, _MISSING)
        for attribute in self.path:
            found = vars(found).get(attribute, _MISSING) if isinstance(found, types.ModuleType | type) else _MISSING
        return found is self.value


MATCHING_THEMSELVES = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""The classes of which a positional pattern matches the object as a whole; nobody can give them a `__match_args__`."""


@dataclass(slots=True)
class Resolver:
    """Folds names of one module, remembering a guard for each name it folded."""

    namespace: Mapping[str, Any]
    builtins: Mapping[str, Any]
    guards: dict[tuple[str, ...], Guard] = field(default_factory=dict)
    rebound: frozenset[str] = frozenset()
    """The module variables that functions of the module assign: what they mean may change at any time."""
    imported: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """By the identity of what the function imports itself: the module it was found by, and the attributes from there."""


    @classmethod
    def of(cls, function: types.FunctionType) -> Resolver:
        return cls(function.__globals__, builtins_of(function), rebound=rebound_variables(function))

    def name(self, name: str) -> Const | None:
        """The constant a module-level name stands for; None if it is data or does not exist."""
        value = self.namespace[name] if name in self.namespace else self.builtins.get(name, _MISSING)
        if name in self.rebound:
            return None
        if value is _MISSING or not (isinstance(value, FUNCTION_TYPES) or value is NotImplemented or value is Ellipsis):
            return None
        self._guard(name, (), value)
        return Const(value, path=name, root=value)

    def attribute(self, constant: Const, attribute: str) -> Const | None:
        """The constant an attribute of a folded module stands for; None if it has to be read when executed."""
        module = constant.value
        if isinstance(module, enum.EnumMeta) and constant.path:
            return self._member_of_enumeration(constant, module, attribute)
        if isinstance(module, type) and constant.path:
            return self._function_of_class(constant, module, attribute)
        if not isinstance(module, types.ModuleType) or not constant.path:
            return None
        # Only what is already there: a module's `__getattr__` may import, warn or compute. That of NumPy is known.
        is_lazy = attribute == "random" and module is sys.modules.get("numpy")
        value = module.random if is_lazy else vars(module).get(attribute, _MISSING)
        is_constant = isinstance(value, FUNCTION_TYPES) or (value is not _MISSING and _is_fixed(module, value))
        is_constant = is_constant or (module.__name__ in _OF_RANDOM_NUMBERS and is_source_function(value))
        if not is_constant and not is_library(module.__name__):
            return None
        if attribute in rebound_in(vars(module)):
            return None
        self._guard_path(constant, attribute, value)
        return Const(value, path=f"{constant.path}.{attribute}", root=constant.root) if is_constant else None

    def _member_of_enumeration(self, constant: Const, cls: enum.EnumMeta, attribute: str) -> Const | None:
        """A member of an enumeration, which nobody can take another one's place of."""
        member: Any = cls.__members__.get(attribute)
        if member is None or not is_plain_member(member):
            return None
        self._guard_path(constant, attribute, vars(cls).get(attribute, _MISSING))
        return Const(member, path=f"{constant.path}.{attribute}", root=constant.root)

    def _function_of_class(self, constant: Const, cls: type, attribute: str) -> Const | None:
        """A function that is read from a class of the user's, which has it itself: `Base.forward`, a static method."""
        found = vars(cls).get(attribute) if type(cls) in (type, abc.ABCMeta) else None
        function = found.__func__ if isinstance(found, staticmethod) else found
        if not isinstance(function, types.FunctionType) or is_library(cls.__module__):
            return None
        self._guard_path(constant, attribute, found)
        return Const(function, path=f"{constant.path}.{attribute}", root=constant.root)

    def _guard_path(self, constant: Const, attribute: str, value: Any) -> None:
        name, *path = constant.path.split(".")
        found_by = self.imported.get(id(constant.root))
        if found_by is None:
            self._guard(name, (*path, attribute), value)
        else:
            self._guard(found_by[0], (*found_by[1:], *path, attribute), value, is_module=True)

    def source(self, constant: Const, attribute: str) -> Const:
        """The module in which generated text reads what is not folded: the one that nobody else can reach, if the attribute is
        there what it is in the other."""
        module = constant.value
        if not isinstance(module, types.ModuleType) or not is_library(module.__name__):
            return constant
        kept = vars(original(module)).get(attribute, _MISSING)
        if kept is _MISSING or kept is not vars(module).get(attribute, _MISSING):
            return constant
        return Const(original(module), constant.path, original(constant.root))

    def module(self, name: str, bound: str, *, whole: bool) -> Const | None:
        """The constant that `import name` binds to the variable `bound` (`whole`: `import name as bound`); None if the
        module has not been imported yet."""
        top, *path = name.split(".")
        if sys.modules.get(name) is None or not self._is_member(top, path, sys.modules[name]):
            return None
        self._guard(name, (), sys.modules[name], is_module=True)
        self._guard(top, tuple(path), sys.modules[name], is_module=True)
        value = sys.modules[name if whole else top]
        self.imported[id(value)] = (name if whole else top,)
        return Const(value, path=bound, root=value)

    def member(self, module: str, name: str, bound: str) -> Const | None:
        """The constant that `from module import name as bound` binds; None if it has to be looked up when executed."""
        found = sys.modules.get(module)
        if not isinstance(found, types.ModuleType):
            return None
        value = vars(found).get(name, _MISSING)
        if value is _MISSING or not (isinstance(value, FUNCTION_TYPES) or _is_fixed(found, value)):
            return None
        if name in rebound_in(vars(found)):
            return None
        self._guard(module, (name,), value, is_module=True)
        self.imported[id(value)] = (module, name)
        return Const(value, path=bound, root=value)

    @staticmethod
    def _is_member(top: str, path: list[str], module: Any) -> bool:
        """Whether the attributes from the outermost module lead to the same module as its full name."""
        found: Any = sys.modules.get(top)
        for attribute in path:
            found = vars(found).get(attribute) if isinstance(found, types.ModuleType) else None
        return found is module and isinstance(module, types.ModuleType)

    def module_globals(self) -> dict[str, Any]:
        """The variables of the function's module, for functions that are made to see them."""
        assert isinstance(self.namespace, dict)
        return self.namespace

    def variables(self) -> Variables:
        """The same, as a constant of generated code."""
        return variables_of(self.module_globals(), self.builtins)

    def _guard(self, name: str, path: tuple[str, ...], value: Any, is_module: bool = False) -> None:
        key = ("import " + name if is_module else name, *path)
        self.guards[key] = Guard(name, path, value, is_module)


def rebound_in(namespace: Mapping[str, Any]) -> frozenset[str]:
    """The variables of another module that its functions assign, as far as they are looked at: not in libraries, which
    assign what they cache."""
    if not _is_looked_at(str(namespace.get("__name__", ""))):
        return frozenset()
    note_globals(namespace)
    return rebound_globals(namespace)


def _is_looked_at(module: str) -> bool:
    name = module.partition(".")[0]
    return name == "__main__" or not (name in sys.stdlib_module_names or name in ("numpy", "scipy", "microgradpy"))


def variables_of_class(cls: type) -> frozenset[str]:
    """The attributes of a class that code of its module assigns, or that of a class which it inherits from. They are memory,
    as module variables are that functions assign; nothing else may be assigned."""
    namespaces = {id(found): found for found in map(_namespace_of, cls.__mro__) if found is not None}
    stamps = tuple(map(_look_through, namespaces.values()))
    known = _of_classes.get(id(cls))
    if known is None or known[0]() is not cls or known[1] != stamps:
        if len(_of_classes) > 4096:
            _of_classes.clear()
        names = frozenset[str]().union(*(class_variables(found, cls) for found in namespaces.values()))
        known = _of_classes[id(cls)] = weakref.ref(cls), stamps, names
    return known[2] | assigned_by_makers(cls)


_of_classes: dict[int, tuple[weakref.ref[type], Any, frozenset[str]]] = {}
"""By the identity of a class: the class, the states of the modules that were looked at, and what was found."""


def _namespace_of(cls: type) -> Mapping[str, Any] | None:
    """The variables of the module that a class is written in, if it is looked at."""
    if not _is_looked_at(cls.__module__):
        return None
    held = (getattr(value, "__func__", value) for value in list(vars(cls).values()))
    own = (value.__globals__ for value in held if isinstance(value, types.FunctionType) and value.__module__ == cls.__module__)
    module = sys.modules.get(cls.__module__)
    return next(own, None if module is None else vars(module))


_read: dict[int, tuple[int, ...]] = {}
"""By the identity of a module's variables: what they were when its whole text was looked at."""


def _look_through(namespace: Mapping[str, Any]) -> tuple[tuple[int, ...], int]:
    """Note what the code of a module assigns; what the module is now, and how much is known to be assigned."""
    content = tuple(map(id, list(namespace.values())))
    if _read.get(id(namespace)) != content:
        functions = (value for value in list(namespace.values()) if isinstance(value, types.FunctionType))
        own = next((function for function in functions if function.__globals__ is namespace), None)
        if own is None:
            note_globals(namespace)
        else:
            rebound_variables(own)
        if len(_read) > 1024:
            _read.clear()
        _read[id(namespace)] = content
    return content, count_assigned(namespace)


def _is_fixed(module: types.ModuleType, value: Any) -> bool:
    plain = value is None or isinstance(value, bool | int | float | complex | str)
    return plain and module.__name__.partition(".")[0] in _FIXED_MODULES


def builtin(function: Any) -> Const:
    """A builtin that the compiler itself calls; the user's module may have rebound the name, so it is not guarded."""
    return Const(function, path=function.__name__, root=function)
