"""Whether somebody sees how often a function is run that writes nothing: it prints, draws random numbers, asks for the time.

What is known to compute only is in tables: modules and builtins. All other names that the code may reach count.
"""

from __future__ import annotations

import builtins
import io
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

from microgradpy.ir.random_sources import is_source, is_source_function
from microgradpy.runtime.bytecode import attributes_of_variables, names_in
from microgradpy.runtime.libraries import is_of_users
from microgradpy.runtime.write_detection import reached
from microgradpy.state.object_graph import is_users_class, meanings_in
from microgradpy.state.reachable_writes import functions_reached

_COMPUTE = frozenset((
    "abc", "bisect", "builtins", "cmath", "collections", "contextlib", "copy", "dataclasses", "enum", "fractions", "functools",
    "heapq", "itertools", "math", "microgradpy", "numbers", "numpy", "operator", "scipy", "statistics", "types", "typing",
    "_bisect", "_collections", "_functools", "_heapq", "_operator",
))  # fmt: skip
_SEEN_BUILTINS = frozenset((
    "breakpoint", "compile", "eval", "exec", "exit", "globals", "help", "input", "locals", "open", "print", "quit",
    "vars", "__import__",
))  # fmt: skip
_SEEN_OF_NUMPY = frozenset((
    "random", "save", "savez", "savez_compressed", "savetxt", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "tofile",
    "set_printoptions", "seterr", "seterrcall",
))  # fmt: skip
_DRAWN_BY_SCIPY = frozenset(("rvs", "resample", "random_state"))


def what_is_seen(function: types.FunctionType, values: Iterable[Any]) -> str:
    """What somebody may see of a run of a function with these values, by its name; empty if there is nothing."""
    roots = list(values)
    for current in functions_reached(function, tuple(roots)):
        if current.__name__ == "__repr__":
            continue  # that of a dataclass asks which thread it is in
        for name in _seen_in(current):
            return name
        roots += meanings_in(current)
    return what_holds_one(roots)


def what_holds_one(values: Iterable[Any]) -> str:
    """The type of a generator of random numbers, a file or a logger in some values or what they hold; empty without one."""
    others = (io.IOBase, *filter(None, (getattr(sys.modules.get("logging"), "Logger", None),)))
    return next((type(value).__name__ for value in reached(values) if is_source(value) or isinstance(value, others)), "")


def _seen_in(function: types.FunctionType) -> Iterator[str]:
    names = names_in(function.__code__)
    for name in names:
        if name in _SEEN_BUILTINS and name not in function.__globals__ and hasattr(builtins, name):
            yield name
        elif name in _DRAWN_BY_SCIPY:
            yield name
    captured = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    variables = {name: cell.cell_contents for name, cell in captured.items() if _is_filled(cell)}
    held = [*variables.values()]
    for name, attribute in attributes_of_variables(function.__code__):
        of = variables.get(name, function.__globals__.get(name))
        if attribute in _SEEN_OF_NUMPY and (_is_module(of, "numpy") or (of is None and "numpy" in names)):
            yield f"numpy.{attribute}"
    for found in (*meanings_in(function), *held):
        if _is_seen(found):
            yield str(getattr(found, "__name__", type(found).__name__))


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _is_module(found: Any, name: str) -> bool:
    return isinstance(found, types.ModuleType) and found.__name__ == name


def _is_seen(found: Any) -> bool:
    if is_source(found) or is_source_function(found) or isinstance(found, io.IOBase):
        return True
    if isinstance(found, types.ModuleType):
        return _is_module(found, "numpy.random") or not (_computes(found.__name__) or is_of_users(found))
    if isinstance(found, type | types.FunctionType | types.BuiltinFunctionType):
        if found.__name__ in _SEEN_OF_NUMPY and str(found.__module__).partition(".")[0] == "numpy":
            return True
        return not (_computes(found.__module__) or is_of_users(found))  # type: ignore[arg-type]
    return callable(found) and not (_computes(type(found).__module__) or is_users_class(type(found)))


def _computes(module: str | None) -> bool:
    return module is None or module.partition(".")[0] in _COMPUTE
