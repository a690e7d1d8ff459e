"""Whether generated code can tell how the thread runs that it runs in.

    def f_primal(x): return math.sin(x) * module_globals["SCALE"], ...      floats and a function of C: it cannot
    def f_primal(x): return log(x), ...                                     a function of the user's may ask for anything

While a differentiated function runs its thread has notes of that (`microgradpy.runtime.modes`), for the dispatcher, for rules
that differentiate what they are given, and for `is_differentiating()`. Code in which numbers and arrays meet nothing but
operators, functions of C, NumPy's and the formulas of rules reads none of them, and need not wait for them to be written. It is
found out from the code itself, instruction by instruction; whatever is not known here may tell.
"""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple, final

import numpy as np

from microgradpy.boundary import GENERATED
from microgradpy.cache import Unit
from microgradpy.ir.nodes import UNASSIGNED
from microgradpy.originals import BUILTINS
from microgradpy.runtime.real_powers import ComplexPower

_NUMBERS = frozenset((float, int, complex, bool, np.float64, np.float32, np.int64))
_PLAIN = _NUMBERS | {str, bytes, type(None), type(Ellipsis), slice, range}
_INLINE = ("<listcomp>", "<setcomp>", "<dictcomp>")


def is_plain(value: Any) -> bool:
    """Whether what is done with a value runs no code of anybody's."""
    if type(value) is np.ndarray:
        return value.dtype.kind in "fciub"
    if type(value) is tuple:
        return all(map(is_plain, value))
    return type(value) in _PLAIN or isinstance(value, np.dtype) or value is UNASSIGNED


def is_isolated(unit: Unit, *halves: Any) -> bool:
    """Whether these functions of a unit, and all that they call, run in the same way wherever they are called, for numbers and
    arrays of NumPy's own."""
    guarded = {(id(guard.namespace), guard.name) for guard in unit.guards.kinds}
    if unit.guards.makes_text:
        return False
    met: dict[int, Any] = {}
    waiting = list(halves)
    while waiting:
        half = waiting.pop()
        if id(half) in met:
            continue
        if not isinstance(half, types.FunctionType) or GENERATED not in half.__globals__:
            return False
        met[id(half)] = half
        for use in _uses(half.__code__, half.__globals__):
            if use.is_generated:
                waiting.append(use.value)
            elif not use.is_harmless(guarded):
                return False
    return True


_MISSING = object()


@final
class _Use(NamedTuple):
    """A global name that code reads: what it means, and of which namespace it is a variable that may get another value."""

    value: Any
    namespace: Any = None
    name: str = ""

    @property
    def is_generated(self) -> bool:
        return self.namespace is None and isinstance(self.value, types.FunctionType) and GENERATED in self.value.__globals__

    def is_harmless(self, guarded: set[tuple[int, str]]) -> bool:
        if self.namespace is not None:  # what it is then is of the same kind
            return (id(self.namespace), self.name) in guarded and is_plain(self.value)
        return is_plain(self.value) or _is_harmless(self.value)


_HIDDEN = frozenset(("IMPORT_NAME", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_NAME", "LOAD_BUILD_CLASS", "SEND", "YIELD_VALUE"))
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_UNKNOWN = _Use(_MISSING)


def _uses(code: types.CodeType, names: dict[str, Any]) -> Iterator[_Use]:
    """The global names that code reads, and those of modules; `_UNKNOWN` for what is not understood."""
    steps = _steps(code)
    for at, step in enumerate(steps):
        if step.opname == "LOAD_GLOBAL":
            yield _use(names, step.argval, steps[at + 1 : at + 4])
        elif step.opname in _HIDDEN or (step.opname == "MAKE_FUNCTION" and not _makes_comprehension(steps[:at])):
            yield _UNKNOWN
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _uses(constant, names)


class _Step(NamedTuple):
    """An instruction, with the name or the constant that it is about."""

    opname: str
    argval: Any = None


_SHIFTS = {"LOAD_GLOBAL": 1, "LOAD_ATTR": 1 if sys.version_info >= (3, 12) else 0, "LOAD_METHOD": 0}
"""By how many bits the number of the name is shifted."""


def _steps(code: types.CodeType) -> list[_Step]:
    """The instructions, as far as they are looked at: `dis` says much more of each, and takes its time."""
    found, extended, raw = [], 0, code.co_code
    for place in range(0, len(raw), 2):
        name, number = dis.opname[raw[place]], raw[place + 1] | extended
        extended = number << 8 if name == "EXTENDED_ARG" else 0
        if name in _SHIFTS:
            found.append(_Step(name, code.co_names[number >> _SHIFTS[name]]))
        elif name == "LOAD_CONST":
            found.append(_Step(name, code.co_consts[number]))
        elif name not in ("CACHE", "EXTENDED_ARG"):
            found.append(_Step(name))
    return found


def _makes_comprehension(before: list[_Step]) -> bool:
    return any(isinstance(step.argval, types.CodeType) and step.argval.co_name in _INLINE for step in before[-2:])


def _use(names: dict[str, Any], name: str, later: list[_Step]) -> _Use:
    value = names.get(name, BUILTINS.get(name, _MISSING))
    if name == "module_globals":
        key, reading = later[:2]
        if reading.opname != "BINARY_SUBSCR" or not isinstance(key.argval, str) or not isinstance(value, dict):
            return _UNKNOWN
        return _Use(value.get(key.argval, _MISSING), value, key.argval)
    for step in later:
        if isinstance(value, types.ModuleType):
            value = vars(value).get(step.argval, _MISSING) if step.opname in _ATTRIBUTES else _MISSING
    return _Use(value)


# What may be called

_LIBRARIES = ("builtins", "math", "cmath", "operator", "_operator", "numpy")
_BELOW = ("microgradpy.tangents", "microgradpy.rules", "microgradpy.runtime.cotangents")
"""Parts of the package that are below the notes of the thread, and may not import them."""
_ABOVE = ("microgradpy.rules.nested", "microgradpy.rules.registry")
"""But for these, which are told by others what to call."""
_CALLING = frozenset(
    BUILTINS[name]
    for name in "print input open exec eval compile __import__ breakpoint globals locals vars dir super map filter".split()
)
_OF_NUMPY = type(np.sum)


def _is_harmless(value: Any) -> bool:
    """Whether a function or class runs no code of the user's on numbers and arrays, and does not ask how the thread runs."""
    match value:
        case types.FunctionType():
            return _is_of(value.__module__, "numpy", *_BELOW) and not _is_of(value.__module__, *_ABOVE)
        case types.BuiltinFunctionType():
            return value not in _CALLING and _is_of(_home(value), *_LIBRARIES)
        case np.ufunc():  # one that was made of a function is not among NumPy's
            return vars(np).get(value.__name__) is value
        case type() if value is ComplexPower:
            return True
        case type():
            return value not in _CALLING and _is_of(value.__module__, *_LIBRARIES)
    return type(value) is _OF_NUMPY and _is_of(value.__module__, "numpy")


def _home(function: types.BuiltinFunctionType) -> str:
    """The module of a function of C, or of the object that it is a method of."""
    owner: Any = function.__self__
    if isinstance(owner, types.ModuleType):
        return owner.__name__
    return str(function.__module__ if owner is None else type(owner).__module__)


def _is_of(module: str | None, *packages: str) -> bool:
    return any(module == package or str(module).startswith(f"{package}.") for package in packages)
