"""Which module-level names are constants while a compiled function is valid.

`np.linalg.norm` becomes Const(numpy.linalg.norm, path="np.linalg.norm", root=numpy), guarded by
Guard("np", ("linalg", "norm"), ...). Modules, classes and functions are folded, because rules are found by them at
compile time; the guards say what to compare before the compiled code is used again. Data (numbers, arrays, objects) are
read when executed, so a rebound `LEARNING_RATE` is seen by the next call without compiling anything.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, final

import numpy as np

from microgradpy.ir.nodes import Const

_FUNCTION_TYPES: tuple[type, ...] = (
    types.ModuleType,
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    np.ufunc,
    type(np.sum),  # the dispatcher that wraps NumPy's Python-level functions
)

# Modules whose plain data never change (`math.pi`, `np.newaxis`): only there are numbers folded.
_FIXED_MODULES = ("math", "cmath", "numpy")


builtins_of: Callable[[types.FunctionType], Mapping[str, Any]] = attrgetter("__builtins__")
"""The built-in names a function sees; the type stubs know the attribute under some versions only."""


@final
@dataclass(frozen=True, slots=True)
class Guard:
    """The module-level name `name`, followed along `path` by attribute access, was `value` when it was folded."""

    name: str
    path: tuple[str, ...]
    value: Any

    def holds(self, namespace: Mapping[str, Any], builtins: Mapping[str, Any]) -> bool:
        """Whether the name still means the same object."""
        found = namespace[self.name] if self.name in namespace else builtins.get(self.name, _MISSING)
        for attribute in self.path:
            found = getattr(found, attribute, _MISSING)
        return found is self.value


_MISSING: Any = object()


@dataclass(slots=True)
class Resolver:
    """Folds names of one module, remembering a guard for each name it folded."""

    namespace: Mapping[str, Any]
    builtins: Mapping[str, Any]
    guards: dict[tuple[str, ...], Guard] = field(default_factory=dict)

    @classmethod
    def of(cls, function: types.FunctionType) -> Resolver:
        return cls(function.__globals__, builtins_of(function))

    def name(self, name: str) -> Const | None:
        """The constant a module-level name stands for; None if it is data or does not exist."""
        value = self.namespace[name] if name in self.namespace else self.builtins.get(name, _MISSING)
        if value is _MISSING or not (isinstance(value, _FUNCTION_TYPES) or value is NotImplemented):
            return None
        self._guard(name, (), value)
        return Const(value, path=name, root=value)

    def attribute(self, constant: Const, attribute: str) -> Const | None:
        """The constant an attribute of a folded module stands for; None if it has to be read when executed."""
        module = constant.value
        if not isinstance(module, types.ModuleType) or not constant.path:
            return None
        # Only what is already there: a module's `__getattr__` may import, warn or compute.
        value = vars(module).get(attribute, _MISSING)
        if value is _MISSING or not (isinstance(value, _FUNCTION_TYPES) or _is_fixed(module, value)):
            return None
        name, *path = constant.path.split(".")
        self._guard(name, (*path, attribute), value)
        return Const(value, path=f"{constant.path}.{attribute}", root=constant.root)

    def _guard(self, name: str, path: tuple[str, ...], value: Any) -> None:
        self.guards[(name, *path)] = Guard(name, path, value)


def _is_fixed(module: types.ModuleType, value: Any) -> bool:
    plain = value is None or isinstance(value, bool | int | float | complex | str)
    return plain and module.__name__.partition(".")[0] in _FIXED_MODULES


def builtin(function: Any) -> Const:
    """A builtin that the compiler itself calls; the user's module may have rebound the name, so it is not guarded."""
    return Const(function, path=function.__name__, root=function)
