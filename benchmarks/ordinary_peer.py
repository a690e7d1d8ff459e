"""The same texts with another array library in the place of NumPy: a module of programs is executed again, with other modules
for what it imports. For autograd `math` is replaced too, by the functions of that name and meaning that autograd has."""

from __future__ import annotations

import builtins
import importlib.util
import math
import sys
from collections.abc import Callable, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

from benchmarks.ordinary_programs import Program

_NAMES = {"atan2": "arctan2", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "pow": "power"}
"""What NumPy calls functions of `math`, where it is not the same."""


def executed_with(module: ModuleType, replaced: Mapping[str, Any]) -> ModuleType:
    """A copy of a module in which `import name` gives `replaced[name]`."""
    assert module.__spec__ is not None and module.__spec__.origin is not None
    name = f"{module.__name__}_{'_'.join(replaced)}"
    spec = importlib.util.spec_from_file_location(name, module.__spec__.origin)
    assert spec is not None and spec.loader is not None

    def import_(name: str, *where: Any) -> Any:
        return replaced[name] if name in replaced else builtins.__import__(name, *where)

    copy = importlib.util.module_from_spec(spec)
    vars(copy)["__builtins__"] = {**vars(builtins), "__import__": import_}
    sys.modules[name] = copy  # where dataclasses look for the names in their fields
    spec.loader.exec_module(copy)
    return copy


def math_of(numpy: Any) -> SimpleNamespace:
    """`math` by the functions of a module with NumPy's names. What it has not is missing."""
    found = {name: getattr(numpy, _NAMES.get(name, name), None) for name in dir(math) if not name.startswith("_")}
    return SimpleNamespace(**{name: function for name, function in found.items() if function is not None})


def autograd() -> tuple[Any, Mapping[str, Any]] | None:
    """Its `grad`, and what takes the place of `numpy` and `math`; None where it is not installed."""
    if importlib.util.find_spec("autograd") is None:
        return None
    numpy = importlib.import_module("autograd.numpy")
    return importlib.import_module("autograd").grad, {"numpy": numpy, "math": math_of(numpy)}


def gradient_of(module: ModuleType, program: Program) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """Autograd's gradient of a program of a module, and the arguments for it; None where autograd is not installed."""
    peer = autograd()
    if peer is None:
        return None
    grad, replaced = peer
    copy = executed_with(module, replaced)
    twin: Program = next(one for one in copy.PROGRAMS if one.id == program.id)
    return grad(twin.function, program.argnums), twin.arguments(program.size)
