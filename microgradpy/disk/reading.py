"""What the code of a function, and of all that it can reach, reads of modules: the guards of an entry.

It is read off the code, whatever the compiler has made of it: a function counts if its name is in the code, on a branch that
was never taken or not. What the compiler noted that it relies on must then be among it, or there is no entry.
"""

from __future__ import annotations

import builtins
import dis
import sys
import types
from typing import Any, final

from microgradpy.cache import Guards
from microgradpy.dataclasses import dataclass, field
from microgradpy.disk.guards import MISSING, Guard, builtins_of, hash_of, is_users, meaning
from microgradpy.disk.key import NotPlain, signature
from microgradpy.disk.pure import Impure, check_builtin, check_harmless, names_and_text
from microgradpy.frontend.sharing import rebound_globals
from microgradpy.frontend.source import shared_names
from microgradpy.originals import BUILTINS, is_library

_GLOBALS = frozenset(("LOAD_GLOBAL", "LOAD_NAME"))
_ATTRIBUTES = frozenset(("LOAD_ATTR", "LOAD_METHOD"))
_HIDDEN = frozenset(
    "IMPORT_NAME IMPORT_FROM IMPORT_STAR STORE_GLOBAL DELETE_GLOBAL STORE_NAME LOAD_BUILD_CLASS LOAD_CLASSDEREF LOAD_LOCALS "
    "LOAD_FROM_DICT_OR_GLOBALS LOAD_FROM_DICT_OR_DEREF LOAD_SUPER_ATTR".split()
)
_MOST_FUNCTIONS, _DEEPEST = 64, 3
_MODULES_OF_LIBRARIES = ("math", "cmath", "operator", "itertools", "numpy", "numpy.linalg", "numpy.fft")


class Unsayable(Exception):
    """Something that code relies on which no guard can say."""


@final
@dataclass(eq=False)
class Reading:
    """The guards of a function. `seen` are the names that they are about, by the identities of namespaces."""

    functions: list[types.FunctionType]
    guards: list[Guard] = field(default_factory=list)
    seen: set[tuple[int, str]] = field(default_factory=set)
    data: dict[tuple[int, str], tuple[int, str]] = field(default_factory=dict)
    """Where data is found, by the identity of the namespace and the name."""

    @classmethod
    def of(cls, function: types.FunctionType) -> Reading:
        """What a function reads, and what it can reach reads. Raises `Unsayable`."""
        found = cls([function])
        try:
            for number, each in enumerate(found.functions):  # which grows
                found._read(number, each)
        except (NotPlain, Impure) as error:
            raise Unsayable(str(error)) from None
        return found

    def _read(self, number: int, function: types.FunctionType) -> None:
        names, attributes = set[str](), set[str]()
        for code in _codes(function.__code__):
            for step in dis.get_instructions(code):
                if step.opname in _HIDDEN:
                    raise Unsayable(step.opname)
                if step.opname in _GLOBALS:
                    names.add(step.argval)
                elif step.opname in _ATTRIBUTES:
                    attributes.add(step.argval)
        if number >= _MOST_FUNCTIONS or shared_names(function.__code__, function.__globals__):
            raise Unsayable("too many functions, or variables that they share")
        if not names.isdisjoint(rebound_globals(function.__globals__)):
            raise Unsayable("variables of the module that functions assign")
        for name in sorted(names):
            self.seen.update(((id(function.__globals__), name), (id(vars(builtins)), name), (id(builtins_of(function)), name)))
            self._note(number, name, meaning(function, name), attributes, name in function.__globals__)

    def _note(self, number: int, path: str, value: Any, attributes: set[str], is_own: bool) -> None:
        """Note what a path stands for, and what may be read of it, if it is a module."""
        if value is MISSING:
            self.guards.append(("missing", number, path))
        elif not is_own and value is BUILTINS.get(path, MISSING):
            check_builtin(path)
            self.guards.append(("builtin", number, path))
        elif type(value) is types.ModuleType:
            self.guards.append(("module", number, path, value.__name__))
            if path.count(".") > _DEEPEST:
                raise Unsayable(path)
            for name in sorted(attributes):
                self.seen.add((id(vars(value)), name))
                self._note(number, f"{path}.{name}", vars(value).get(name, MISSING), attributes, True)
        elif is_users(value):
            self._note_function(number, path, value)
        elif (home := _home_of(value)) is not None:
            check_harmless(*home)
            self.guards.append(("library", number, path, *home, *names_and_text(*home)))
        elif "." in path and is_library(str(meaning(self.functions[number], path.rpartition(".")[0]).__name__)):
            module = meaning(self.functions[number], path.rpartition(".")[0])
            self.guards.append(("value", number, path, *names_and_text(module.__name__, path.rpartition(".")[2])[1:]))
        else:
            self.guards.append(("data", number, path, signature(value)))
            if "." not in path:
                self.data[id(self.functions[number].__globals__), path] = number, path

    def _note_function(self, number: int, path: str, function: types.FunctionType) -> None:
        known = [index for index, each in enumerate(self.functions) if each is function]
        if known:
            self.guards.append(("same", number, path, known[0]))
            return
        if function.__closure__ is not None:
            raise Unsayable(f"{path}, which captured variables")
        self.guards.append(("function", number, path, hash_of(function)))
        self.functions.append(function)

    def covers(self, guards: Guards) -> bool:
        """Whether all that the compiler relied on is among what was noted."""
        names = {(id(namespace), name) for namespace, name, _ in guards.checks}
        names |= {(id(guard.namespace), guard.name) for guard in guards.kinds}
        known = set(map(id, self.functions))
        inside = {id(code) for function in self.functions for code in _codes(function.__code__)[1:]}
        is_known = all(id(guard.function) in known or id(guard.code) in inside for guard in guards.functions)
        return is_known and names <= self.seen


def _codes(code: types.CodeType) -> list[types.CodeType]:
    """The code of a function and of those inside it."""
    found = [code]
    for each in found:
        found += [constant for constant in each.co_consts if isinstance(constant, types.CodeType)]
    return found


def _home_of(value: Any) -> tuple[str, str] | None:
    """Where a function or class of a library is found: the module and the name."""
    name = getattr(value, "__name__", None)
    if not isinstance(name, str) or type(value) is types.ModuleType:
        return None
    modules = (sys.modules.get(module) for module in _MODULES_OF_LIBRARIES)
    homes = (module for module in modules if module is not None and vars(module).get(name, MISSING) is value)
    return next(((module.__name__, name) for module in homes), None)
