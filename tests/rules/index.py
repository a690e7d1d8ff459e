"""Which module of rules declares what: `python -m tests.rules.index` writes `microgradpy/rules/index.py`, which says so.

Run it after a rule was added or moved. It adds what this version of NumPy and Python has, and keeps the names of others.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from microgradpy import originals

ROOT = Path(originals.__file__).parent
FAMILY = "microgradpy.rules"
LIBRARIES = (
    "builtins operator math cmath itertools functools collections copy contextlib bisect logging statistics _statistics "
    "random _random numpy numpy.linalg numpy.fft numpy.random numpy.polynomial numpy.polynomial.polynomial "
    "numpy.lib.stride_tricks numpy.lib.scimath numpy.char numpy.strings"
).split()
ALWAYS = frozenset({"containers", "registry"})
"""The modules that are imported whenever any is: they need not be found."""
TEXT = '''"""Which module of rules declares what: written by `python -m tests.rules.index`, and read by `loading`.

A row has the module, a module of a library or of this package, and the callables in it.
"""

from __future__ import annotations

# fmt: off
RULES: tuple[tuple[str, str, str], ...] = ({rules}
)
ATTRIBUTES: tuple[tuple[str, str, str], ...] = ({attributes}
)
"""The same for attributes, by the classes that have them."""
'''

Declared = dict[str, tuple[list[Any], list[type]]]
"""By module of rules, the callables and the classes with attributes that it declares something of."""


def declarations() -> Declared:
    """What the modules of rules declare, in a process that has not imported them."""
    assert not any(name.startswith(FAMILY) for name in sys.modules)
    found: Declared = {}

    def note(place: int, values: Any) -> None:
        module = originals.importing() or ""
        found.setdefault(module, ([], []))[place].extend(values)

    def watch(owner: Any, name: str, place: int, taken: Callable[..., Any]) -> None:
        plain = getattr(owner, name)

        def watched(*args: Any, **kwargs: Any) -> Any:
            note(place, taken(*args))
            return plain(*args, **kwargs)

        setattr(owner, name, watched)

    execute = originals._Loader.exec_module

    def exec_module(self: Any, module: Any) -> None:
        execute(self, module)
        if module.__name__ == f"{FAMILY}.registry":
            watch(module._RuleTable, "register", 0, lambda table, f, *types: [f])
            watch(module._RuleTable, "register_methods", 0, lambda table, f: [f])
            watch(module.ReverseRules, "non_differentiable", 0, lambda table, *callables: callables)
            watch(module, "attribute_rule", 1, lambda cls, name: [cls])
            watch(module, "mark_inert_attribute", 1, lambda cls, *names: [cls])

    originals._Loader.exec_module = exec_module  # type: ignore[method-assign]
    for path in sorted((ROOT / "rules").rglob("*.py")):
        *folders, name = path.relative_to(ROOT / "rules").with_suffix("").parts
        if "scipy" not in folders:
            importlib.import_module(".".join([FAMILY, *folders, *([name] if name != "__init__" else [])]))
    prefix = f"{FAMILY}."
    return {name.removeprefix(prefix): each for name, each in found.items() if name.startswith(prefix)}


def written(declared: Declared) -> str:
    """The text of the index."""
    all_known = all_names()
    tables: list[dict[tuple[str, str], dict[str, None]]] = [{}, {}]
    for module in sorted(declared.keys() - ALWAYS):
        for place, values in enumerate(declared[module]):
            for value in values:
                library, names = all_known.get(value) or own_name(value)
                if library != f"{FAMILY}.{module}":
                    tables[place].setdefault((module, library), {}).update(dict.fromkeys(names))
    index = importlib.import_module(f"{FAMILY}.index")
    for table, rows in zip(tables, (index.RULES, index.ATTRIBUTES), strict=True):
        for module, library, others in rows:
            if (ROOT / "rules" / f"{module.replace('.', '/')}.py").exists():
                missing = [name for name in others.split() if not exists(library, name)]
                if missing:
                    table.setdefault((module, library), {}).update(dict.fromkeys(missing))
    rules, attributes = ("".join(row(*key, sorted(table[key])) for key in sorted(table)) for table in tables)
    return TEXT.format(rules=rules, attributes=attributes)


def exists(library: str, name: str) -> bool:
    value: Any = importlib.import_module(library)
    for part in name.split("."):
        value = getattr(value, part, written)
    return value is not written


def own_name(value: Any) -> tuple[str, list[str]]:
    module = getattr(value, "__module__", "") or ""
    assert module.startswith("microgradpy."), f"{value!r} is in none of the modules that are looked through"
    return module, [value.__qualname__]


def all_names() -> dict[Any, tuple[str, list[str]]]:
    """Where things are in the libraries, and what they are called there: on other systems a name may mean another type."""
    found: dict[Any, tuple[str, list[str]]] = {}

    def add(library: str, name: str, value: Any) -> None:
        known = found.setdefault(value, (library, [])) if is_hashable(value) else ("", [])
        if known[0] == library:
            known[1].append(name)

    modules = [(library, sorted(vars(importlib.import_module(library)).items())) for library in LIBRARIES]
    for library, contents in modules:
        for name, value in contents:
            if not name.startswith("_") or library.startswith("_"):
                add(library, name, value)
    classes = [(library, name, cls) for library, contents in modules for name, cls in contents if isinstance(cls, type)]
    for library, name, cls in classes:
        for inner in sorted(vars(cls)):
            value = getattr(cls, inner, None)
            if value not in found if is_hashable(value) else False:
                add(library, f"{name}.{inner}", value)
    return found


def is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return callable(value) and not inspect.ismodule(value) and not isinstance(value, np.generic)


def row(module: str, library: str, names: list[str]) -> str:
    lines = textwrap.wrap(" ".join(names), 110)
    if len(lines) == 1 and len(module + library + lines[0]) < 100:
        return f'\n    ("{module}", "{library}", "{lines[0]}"),'
    texts = "".join(f'\n        "{line}{" " if line is not lines[-1] else ""}"' for line in lines)
    return f'\n    ("{module}", "{library}",{texts}),'


if __name__ == "__main__":
    text = written(declarations())
    if "--print" in sys.argv:
        print(text, end="")
    else:
        (ROOT / "rules" / "index.py").write_text(text)
