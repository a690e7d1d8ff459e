"""Code that is neither the user's nor known: that of libraries which are installed.

Small ones are differentiated through their text like any module of the user's. Large ones, such as those of data frames, lead
from any method into hundreds of functions: what a run does with them as constants just runs, and a run that goes into them
ends after a number of functions that it has reached. What a formula may call besides, on branches that are not taken, does not
count: libraries of formulas have hundreds of functions too, of which a call reaches a dozen.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from microgradpy.errors import MissingRuleError
from microgradpy.runtime.modes import RUN

_INSTALLED = ("site-packages", "dist-packages")
_LARGE = 30  # modules
_BUDGET = 32  # functions
_large: set[str] = set()
_counted: dict[str, int] = {}
"""How many modules there were when those of a library were counted last."""


def library_of(x: Any) -> str | None:
    """The name of the installed library that a function or a class is from; None for code of the user's."""
    if isinstance(x, types.MethodType):
        x = x.__func__
    name = getattr(x, "__module__", None)
    if not isinstance(name, str):
        return None
    if isinstance(x, types.FunctionType):
        file = x.__code__.co_filename
    else:
        file = getattr(sys.modules.get(name), "__file__", None) or ""
    return name.partition(".")[0] if any(folder in file for folder in _INSTALLED) else None


def is_of_large_library(x: Any) -> bool:
    """Whether a function or a class is from an installed library of many modules."""
    name = library_of(x)
    return name is not None and is_large(name)


def is_of_users(found: types.ModuleType | type) -> bool:
    """Whether a module or a class is the user's, and of no installed library."""
    module = found.__name__ if isinstance(found, types.ModuleType) else found.__module__
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    is_standard = module.partition(".")[0] in sys.stdlib_module_names - {"__main__"}
    return not is_standard and not any(folder in file for folder in _INSTALLED)


def is_large(name: str) -> bool:
    """Whether so many modules of a library are imported that it is none of a few classes."""
    if name in ("numpy", "scipy"):  # they have rules; what has none is refused by name
        return False
    if name not in _large and _counted.get(name) != len(sys.modules):
        _counted[name], start = len(sys.modules), f"{name}."
        if sum(each.startswith(start) for each in tuple(sys.modules)) >= _LARGE:
            _large.add(name)
    return name in _large


def spend(function: types.FunctionType) -> None:
    """Count a function of a large library that the call which is differentiated has reached; refuse too many."""
    name = library_of(function)
    if name is None or name == library_of(RUN.callee) or not is_large(name):
        return
    RUN.library_units += 1
    if RUN.library_units > _BUDGET:
        raise refusal_of_library(function)


def refusal_of_library(x: Any) -> MissingRuleError:
    """The refusal of a function or a class of an installed library that was reached with what may be differentiated."""
    library, name = library_of(x), getattr(x, "__qualname__", None) or type(x).__name__
    return MissingRuleError(
        f"{name} of the library {library} was reached with what may be differentiated, and is not followed",
        None,
        f"If no derivative flows through {library}, take the numbers and arrays out of its objects before the call that is"
        " differentiated (np.asarray, float), or give it stop_gradient(x); otherwise give the function that you call a rule"
        " (`@rrule.register`).",
    )
