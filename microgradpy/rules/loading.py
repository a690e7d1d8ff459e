"""When the modules of rules are imported: each when the first callable is looked up that it has a rule for.

    rrule.find(np.sin)      imports numpy.mathematics.trigonometric and numpy.ufunc_options: what `index` has for numpy.sin

A lookup comes here first, so a rule that has not been imported is never taken for one that is not there. Whoever declares a
rule of his own comes here as well: it has to be later than those of this package.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from microgradpy.named import is_there, meant
from microgradpy.originals import TEXTS, bind_originals, importing, in_place, is_being_imported
from microgradpy.rules.index import ATTRIBUTES, RULES

_FAMILY = __name__.rpartition(".")[0]
MODULES = tuple(f"{_FAMILY}.{module}" for module in dict.fromkeys(module for module, _, _ in RULES))
"""The modules of rules that wait for what they have rules for."""
_optional: dict[str, str] = {}
"""The modules of rules by the library that they wait for."""
_unresolved: list[tuple[dict[Any, tuple[str, ...]], tuple[str, str, str]]]
"""The rows of the index whose library has not been imported, with the table that they belong to."""
_of_callables: dict[Any, tuple[str, ...]] = {}
_of_attributes: dict[Any, tuple[str, ...]] = {}
"""The modules of rules that wait for a callable, and for an attribute of a class."""
_unresolved = [(_of_callables, row) for row in RULES] + [(_of_attributes, row) for row in ATTRIBUTES]
_seen: list[Any] = [None]
"""How many modules there were when the last lookup was made, and the last of them."""


def when_imported(library: str, rules: str) -> None:
    """Import the module `rules`, which registers rules, when the module `library` has been imported by somebody."""
    _optional[library] = rules


def load_optional() -> None:
    """Import the modules of rules for the libraries that have been imported by now."""
    # Every lookup comes here, and mostly nothing was imported: generated texts are no such modules.
    try:
        last = next(reversed(sys.modules))
    except RuntimeError:  # another thread has just imported something
        last = ""
    there = len(sys.modules) - len(TEXTS), last if last not in TEXTS or _seen[0] is None else _seen[0][1]
    if there == _seen[0] or importing():
        return
    resolved = _resolve()
    for library in [name for name in list(_optional) if name in sys.modules]:
        if _imported([_optional.get(library, "")]):
            _optional.pop(library, None)
    bind_originals()
    _seen[0] = there if resolved else None


def load_for(f: Any) -> None:
    """Import the modules that have rules for a callable. (Code of the user's must not run when that is hashed.)"""
    _load(_of_callables, f)


def load_for_attributes(cls: type) -> None:
    """Import the modules that have rules for attributes of a class or of those it is derived from."""
    load_optional()
    for base in cls.__mro__:
        _load(_of_attributes, base)


def load_before(f: Any) -> None:
    """Import the modules that have rules for a callable, before somebody declares one that is to come after them."""
    if not importing():
        load_optional()
        load_for(f)


def load_all() -> None:
    """Import all modules of rules but those for libraries that have not been imported."""
    load_optional()
    _imported(MODULES)
    load_optional()


def _load(table: dict[Any, tuple[str, ...]], key: Any) -> None:
    try:
        modules = table.get(key)
    except TypeError:  # nothing waits for what is unhashable
        return
    if modules is not None and _imported(modules):
        table.pop(key, None)


def _imported(modules: Iterable[str]) -> bool:
    """Import modules of rules; whether they are complete. (Another thread may be importing them, and wait for this one.)"""
    names = [name for name in modules if name]
    missing = [name for name in names if name not in sys.modules or is_being_imported(sys.modules[name])]
    if missing:
        with in_place():
            for name in missing:
                importlib.import_module(name)
        bind_originals()
    return not any(is_being_imported(sys.modules[name]) for name in names)


def _resolve() -> bool:
    """Find what the names in the index mean, of the libraries that have been imported by now; whether those are complete."""
    complete = True
    for entry in _unresolved.copy():
        table, (family, library, names) = entry
        if not is_there(library):
            complete &= library not in sys.modules
        else:
            for value in meant(library, names):
                rules = f"{_FAMILY}.{family}"
                if rules not in table.get(value, ()):
                    table[value] = (*table.get(value, ()), rules)
            with suppress(ValueError):  # another thread was first
                _unresolved.remove(entry)
    return complete
