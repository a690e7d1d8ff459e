"""`rules`: which functions are differentiated by a rule, in which modes, and where the rule is written."""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from types import MethodType
from typing import Any, final

from microgradpy.cli.output import UsageError, short_path, show, show_json
from microgradpy.cli.targets import load_module
from microgradpy.rules.linearity import linear_arguments
from microgradpy.rules.registry import frule, is_non_differentiable, rrule

_SHORT = {"np.": "numpy.", "sp.": "scipy."}
_HEADER = ("function", "reverse", "forward", "declared in")


@final
@dataclass(frozen=True, slots=True)
class RuleEntry:
    """A function with a rule. `reverse` says how many rules it has for different arguments; `forward` whether its tangent is
    the function itself ("linear"), a rule of its own ("rule") or taken from the reverse rule ("transposed")."""

    name: str
    reverse: str
    forward: str
    module: str
    file: str
    line: int

    def cells(self) -> tuple[str, ...]:
        return self.name, self.reverse, self.forward, self.module


def rules_command(options: argparse.Namespace) -> int:
    """`rules`: list those whose names fit the pattern."""
    for module in options.imports:
        load_module(module)
    pattern = _long(options.pattern)
    _import_library(pattern)
    named = {name: f for f in _functions() for name in [_name(f)] if fnmatchcase(name, pattern)}
    if not named and not options.json:
        raise UsageError(f"No function whose name fits {pattern!r} has a rule. Names are as in 'numpy.linalg.inv'.")
    found = [_entry(name, f) for name, f in sorted(named.items())]
    if options.json:
        show_json({"command": "rules", "pattern": pattern, "rules": [asdict(entry) for entry in found]})
    else:
        show(_table(found))
    return 0


def _long(pattern: str) -> str:
    short = pattern[:3]
    return _SHORT[short] + pattern[3:] if short in _SHORT else pattern


def _import_library(pattern: str) -> None:
    """Import the modules that a pattern begins with: rules for SciPy are there when the part of SciPy is."""
    parts = pattern.split(".")[:-1]
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        if not all(part.isidentifier() for part in parts[:count]):
            return
        with suppress(ImportError):
            importlib.import_module(name)


def _functions() -> list[Any]:
    known = {id(f): f for f in (*rrule.registered(), *frule.registered())}
    return list(known.values())


def _entry(name: str, f: Any) -> RuleEntry:
    rules = rrule.rules_of(f)
    place = rrule.find(f) or (rules or frule.rules_of(f))[0]
    code = getattr(inspect.unwrap(getattr(place, "declaration", place)), "__code__", None)
    file, line = ("", 0) if code is None else (short_path(code.co_filename), code.co_firstlineno)
    reverse = "none" if is_non_differentiable(f) or not rules else "rule" if len(rules) == 1 else f"{len(rules)} rules"
    return RuleEntry(name, reverse, _forward(f), place.__module__, file, line)


def _forward(f: Any) -> str:
    if frule.has(f):
        return "rule"
    return "linear" if linear_arguments(f) else "transposed"


def _table(entries: list[RuleEntry]) -> str:
    rows = [_HEADER, *(entry.cells() for entry in entries)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


# Names


def _name(f: Any) -> str:
    """What a user would write to mean a function: universal functions, for one, do not know their module."""
    if isinstance(f, MethodType):
        receiver = _public_names().get(id(f.__self__), type(f.__self__).__name__)
        return f"{receiver}.{f.__name__}"
    known = _public_names().get(id(f))
    if known is not None:
        return known
    name = getattr(f, "__qualname__", type(f).__qualname__)
    module = getattr(getattr(f, "__objclass__", f), "__module__", None) or "builtins"
    return f"{module}.{name}"


_names: dict[int, str] = {}
_names_of: list[int] = []


def _public_names() -> dict[int, str]:
    """The objects in public modules of the libraries that have rules, by identity; the shortest name of each."""
    if _names_of != [len(sys.modules)]:
        _names_of[:] = [len(sys.modules)]
        _names.clear()
        for name, value in _public_objects():
            if len(name) < len(_names.get(id(value), name + " ")):
                _names[id(value)] = name
    return _names


_LIBRARIES = ("numpy", "scipy", "math", "cmath", "operator", "statistics", "itertools", "functools", "builtins")


def _public_objects() -> Iterator[tuple[str, Any]]:
    for name, module in sorted(sys.modules.copy().items()):
        parts = name.split(".")
        if parts[0] in _LIBRARIES and not any(part.startswith("_") for part in parts):
            for attribute, value in list(vars(module).items()):
                if not attribute.startswith("_") and callable(value):
                    yield f"{name}.{attribute}", value
