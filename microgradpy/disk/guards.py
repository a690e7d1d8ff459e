"""What an entry relies on, besides what it is found by, and whether that is so now.

A guard is a tuple of texts and numbers. It starts at one of the functions that the text was made from, of which the
differentiated one is number 0, at a name that this function reads of its module, and goes on by attributes of modules:

    ("function", 0, "helper", hash)                the name means a function of the user's, which becomes number 1
    ("same", 1, "helper", 1)                       the function with that number
    ("module", 0, "np", "numpy")                   a module
    ("library", 0, "np.sin", "numpy", "sin", "sin")     what NumPy itself defines, by this name
    ("builtin", 0, "abs")                          what Python has built in
    ("data", 0, "SCALE", "builtins.float")         data like that, which the text reads when it runs
    ("value", 0, "math.pi", "0x1.92p+1")           a number that the text may contain
    ("missing", 0, "log")                          nothing
    ("uses", "numpy", "cos", "cos")                what the text itself takes from a library
    ("uses", "numpy", "pi", "", "0x1.92p+1")       the same, of a number

`held_by` is asked on every call: nothing is remembered but the hashes of code.
"""

from __future__ import annotations

import builtins
import sys
import types
import weakref
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any

from microgradpy.disk.handlers import is_from_outside
from microgradpy.disk.key import NotPlain, digest, function_text, signature, value_text
from microgradpy.originals import BUILTINS, NOT_THERE, as_written

Guard = tuple[Any, ...]
CLASSES = ("types", "numbers", "collections.abc")
"""Modules of the standard library of which texts take classes only."""
MISSING: Any = object()
builtins_of = attrgetter("__builtins__")
"""The built-in names that a function sees."""
_hashes: dict[int, tuple[weakref.ref[types.CodeType], tuple[Any, ...], str]] = {}


class Broken(Exception):
    """Something that an entry relies on is not so."""


def hash_of(function: types.FunctionType) -> str:
    """The hash of a function: of its code, its defaults and its names. Raises NotPlain."""
    code = function.__code__
    known = _hashes.get(id(code))
    if known is not None and known[0]() is code and known[1] == _rest_of(function) and not vars(function):
        return known[2]
    found = digest(function_text(function))
    if function.__defaults__ is None and function.__kwdefaults__ is None:
        if len(_hashes) >= 1024:
            _hashes.clear()
        _hashes[id(code)] = weakref.ref(code), _rest_of(function), found
    return found


def _rest_of(function: types.FunctionType) -> tuple[Any, ...]:
    names = function.__name__, function.__qualname__, function.__globals__.get("__name__")
    return (*names, function.__defaults__, function.__kwdefaults__)


def held_by(guards: Iterable[Guard], function: types.FunctionType) -> dict[tuple[int, str], Any]:
    """The data that guards are about, by where they were found. Raises `Broken` if one of them does not hold."""
    functions = [function]
    data: dict[tuple[int, str], Any] = {}
    try:
        for sort, *place in guards:
            if sort == "uses":
                holds = _is_used(*place)
            else:
                number, path, *expected = place
                value = meaning(functions[number], path)
                holds = _TESTS[sort](value, path, *expected, functions)
                if sort == "data":
                    data[number, path] = value
            if not holds:
                raise Broken(place)
    except (NotPlain, LookupError, AttributeError, TypeError, ValueError) as error:
        if is_from_outside(error):
            raise
        raise Broken(str(error)) from None
    return data


def meaning(function: types.FunctionType, path: str) -> Any:
    """What a dotted name stands for in a function: a variable of its module, or built in, and attributes of modules from
    there. `MISSING` if there is nothing."""
    name, *attributes = path.split(".")
    namespace: Mapping[str, Any] = function.__globals__
    found = namespace[name] if name in namespace else vars(builtins).get(name, MISSING)
    for attribute in attributes:
        if type(found) is not types.ModuleType:
            raise Broken(path)
        found = vars(found).get(attribute, MISSING)
    return found


def is_users(value: Any) -> bool:
    """Whether it is a function that nothing but its text says anything about: not one of a library."""
    if type(value) is not types.FunctionType or builtins_of(value) is not vars(builtins):
        return False
    top = str(value.__globals__.get("__name__")).partition(".")[0]
    return top == "__main__" or top not in _LIBRARIES | sys.stdlib_module_names


_LIBRARIES = frozenset(("numpy", "scipy", "microgradpy"))


# The tests of each sort: of a value, its path, and the functions that were met before


def _is_function(value: Any, path: str, found: str, functions: list[types.FunctionType]) -> bool:
    if not is_users(value) or value.__closure__ is not None or hash_of(value) != found:
        return False
    functions.append(value)
    return True


def _is_same(value: Any, path: str, number: int, functions: list[types.FunctionType]) -> bool:
    return value is functions[number]


def _is_module(value: Any, path: str, name: str, _: object) -> bool:
    return type(value) is types.ModuleType and value.__name__ == name and sys.modules.get(name) is value


def _is_of_library(value: Any, path: str, module: str, inner: str, named: str, _: object) -> bool:
    return as_written(module, inner, named) is value


def _is_builtin(value: Any, path: str, _: object) -> bool:
    if value is not BUILTINS[path]:
        return False
    is_callable = isinstance(value, type | types.BuiltinFunctionType)
    return not callable(value) or (is_callable and value.__module__ == "builtins" and value.__name__ == path)


def _is_like(value: Any, path: str, text: str, _: object) -> bool:
    return signature(value) == text


def _is_value(value: Any, path: str, text: str, _: object) -> bool:
    return value_text(value) == text


def _is_missing(value: Any, path: str, _: object) -> bool:
    return value is MISSING


def _is_used(module: str, path: str, named: str, text: str = "") -> bool:
    if module in CLASSES:
        cls = vars(sys.modules[module]).get(path)
        return isinstance(cls, type) and cls.__name__ == named
    if module not in sys.modules:  # `np.ma`, which NumPy imports when it is used
        return True
    found = as_written(module, path, named)
    return found is not NOT_THERE and (named != "" or value_text(found) == text)


_TESTS: dict[str, Any] = {
    "function": _is_function,
    "same": _is_same,
    "module": _is_module,
    "library": _is_of_library,
    "builtin": _is_builtin,
    "data": _is_like,
    "value": _is_value,
    "missing": _is_missing,
}
