"""What the modules of the standard library, NumPy and SciPy contained before anybody replaced a part of them.

    mock.patch("numpy.cos", spy)      the rule of np.sin is `y_bar * np.cos(x)`, with the cosine that it was written with

A user may replace a function of a library for a while, and his program then means what is there now. The rules, the texts made
of them and the package itself mean what they were written with. So the contents of the libraries are noted early (nothing is
imported for it), and the package's own modules are given copies of the libraries that nobody else can reach.
"""

from __future__ import annotations

import builtins
import functools
import sys
import types
from _thread import RLock, _local  # as of `threading`, which takes a millisecond to import
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import Any, final

from microgradpy.errors import DifferentiationError

_LIBRARIES = ("numpy", "scipy", "math", "cmath", "operator", "itertools", "functools")
_PACKAGE = __name__.partition(".")[0]
_MISSING = object()

BUILTINS: dict[str, Any] = {name: value for name, value in vars(builtins).items() if name != "_"}
"""The built-in names, as generated text means them."""

TEXTS: set[str] = set()
"""The names of the modules among those of the interpreter that are generated texts, with which nothing was imported."""

_lock = RLock()
_copies: dict[str, types.ModuleType] = {}
_sizes: dict[str, int] = {}
_bound: set[str] = set()


def original(module: types.ModuleType) -> types.ModuleType:
    """The copy of a module of a library; other modules are what they are."""
    name = module.__name__
    if not is_library(name) or sys.modules.get(name) is not module:
        return module
    if name not in _copies:
        note_libraries()
    return _copies.get(name, module)


@functools.lru_cache(maxsize=4096)  # asked of all modules there are, again and again
def is_library(name: str) -> bool:
    """Whether this is the name of a module that is noted."""
    return name.partition(".")[0] in _LIBRARIES


def root_of(root: types.ModuleType, path: str, value: Any) -> types.ModuleType | None:
    """The module in which a dotted path leads to a value: the copy of a library, or None if something else was there. Other
    modules are what they are."""
    if not is_library(root.__name__):
        return root
    found: Any = original(root)
    *inner, last = path.split(".")
    for attribute in inner:
        found = vars(found).get(attribute, _MISSING) if isinstance(found, types.ModuleType) else _MISSING
    if isinstance(found, types.ModuleType):
        is_there = vars(found).get(last, _MISSING) is value
    else:  # np.multiply.outer: nobody can replace a method of a ufunc, which is made anew each time it is asked for
        is_there = type(found).__name__ == "ufunc" and getattr(found, last, _MISSING) == value
    return original(root) if is_there else None


def note_libraries() -> None:
    """Note what is in the libraries that have been imported by now, but for what was noted before."""
    with _lock:
        names = [name for name in list(sys.modules) if is_library(name) and "._" not in name]
        new = [name for name in names if _has_more(sys.modules[name], name)]
        for name in new:
            _note(sys.modules[name])
        for name in new:
            contents = vars(_copies[name])
            inner = {key: value for key, value in contents.items() if isinstance(value, types.ModuleType)}
            contents.update({key: _copies.get(value.__name__, value) for key, value in inner.items()})


def _has_more(module: Any, name: str) -> bool:
    """Whether there may be something in a module that was not noted."""
    return isinstance(module, types.ModuleType) and not is_being_imported(module) and len(vars(module)) != _sizes.get(name)


def is_being_imported(module: types.ModuleType) -> bool:
    """Whether a module is not complete."""
    return bool(getattr(module.__spec__, "_initializing", False))


def _note(module: types.ModuleType) -> None:
    name, found = module.__name__, vars(module)
    if name not in _copies:
        _copies[name] = types.ModuleType(name)
        vars(_copies[name]).clear()  # `__doc__` and the like, which are those of the library
    known = vars(_copies[name])
    for key, value in found.copy().items():
        known.setdefault(key, value)
    _sizes[name] = len(found)


def _is_replaced(module: str, name: str, value: Any) -> bool:
    """Whether something is not what the library has there, as far as it shows."""
    if name.startswith("_") or not callable(value) or isinstance(value, type):
        return False
    if module in ("math", "cmath"):
        return getattr(value, "__name__", "") != name
    code = value if isinstance(value, types.FunctionType) else type(value).__call__
    if not isinstance(code, types.FunctionType):
        return False
    home = str(code.__globals__.get("__name__"))
    top = home.partition(".")[0]
    return home == "unittest.mock" or (top not in _LIBRARIES and top not in sys.stdlib_module_names)


def as_written(module: str, path: str, named: str = "") -> Any:
    """What a dotted name of a library stands for, if that is what the library itself defines by the name `named`, or data if
    there is no such name; `NOT_THERE` if it is not, or was not when it was noted."""
    found: Any = sys.modules.get(module)
    if not isinstance(found, types.ModuleType) or not is_library(module):
        return NOT_THERE
    noted: Any = original(found)
    *inner, last = path.split(".")
    for attribute in inner:
        found, noted = vars(found).get(attribute), vars(noted).get(attribute)
        if not isinstance(found, types.ModuleType) or noted is not original(found):
            return NOT_THERE
    value = vars(found).get(last, NOT_THERE)
    if value is NOT_THERE or vars(noted).get(last, NOT_THERE) is not value:
        return NOT_THERE
    if getattr(value, "__name__", "") != named or (named and not _is_made_by(module, last, value)):
        return NOT_THERE
    return value


def _is_made_by(module: str, name: str, value: Any) -> bool:
    """Whether a function or class is one that a library has made, as far as it tells: more is asked than of what is replaced,
    since nobody looks at what it does."""
    home = value if isinstance(value, type | types.BuiltinFunctionType) else type(value)
    if isinstance(value, types.FunctionType):
        return module.partition(".")[0] in ("numpy", "scipy") and not _is_replaced(module, name, value)
    return str(home.__module__).partition(".")[0].lstrip("_") in _LIBRARIES


NOT_THERE: Any = object()


@contextmanager
def in_place() -> Iterator[None]:
    """Inside the block the libraries contain what was noted: for the import of modules that are written with it."""
    note_libraries()
    replaced = list(_replaced())
    if not replaced:  # an import waits for other threads, which may want the lock
        with builtins_in_place():
            yield
        return
    with _lock:
        for contents, name, _, value in replaced:
            contents[name] = value
        try:
            with builtins_in_place():
                yield
        finally:
            for contents, name, value, _ in replaced:
                contents[name] = value


def _replaced() -> Iterator[tuple[dict[str, Any], str, Any, Any]]:
    """What is not as it was noted: the namespace, the name, what is there and what was."""
    for module, copy in list(_copies.items()):
        if module not in sys.modules:
            continue
        contents, noted = vars(sys.modules[module]), vars(copy)
        if _checked.get(module) != len(noted):
            _check_noted(module, noted, contents)
        for name, value in list(noted.items()):
            now = contents.get(name, _MISSING)
            if now is not value and now is not _MISSING and not isinstance(value, types.ModuleType):
                yield contents, name, now, value


_checked: dict[str, int] = {}
"""How many of the names were looked at that were noted of a module."""


def _check_noted(module: str, noted: dict[str, Any], contents: dict[str, Any]) -> None:
    """Refuse what somebody had replaced before it was noted."""
    for name, value in list(noted.items()):
        if name in contents and _is_replaced(module, name, value):
            raise DifferentiationError(
                f"{module}.{name} is {value!r}, and was so when {_PACKAGE} first saw the module",
                None,
                f"Import {_PACKAGE}, or put the function back, before it is replaced.",
            )
    _checked[module] = len(noted)


@contextmanager
def builtins_in_place() -> Iterator[None]:
    """Inside the block the built-in names mean what they did, also for the libraries that the package uses."""
    contents = vars(builtins)
    replaced = {name: contents[name] for name, value in BUILTINS.items() if contents.get(name, value) is not value}
    contents.update({name: BUILTINS[name] for name in replaced})
    try:
        yield
    finally:
        contents.update(replaced)


def bind_originals() -> None:
    """Give the modules of the package that have been imported by now the copies of the libraries."""
    note_libraries()
    for name in [name for name in list(sys.modules) if name.partition(".")[0] == _PACKAGE and name not in _bound]:
        module = sys.modules[name]
        if is_being_imported(module):
            continue
        _bound.add(name)
        contents = vars(module)
        for key, value in list(contents.items()):
            if isinstance(value, types.ModuleType) and is_library(value.__name__):
                contents[key] = original(value)


@final
class _Importing(_local):
    """The modules of the package that this thread is importing."""

    def __init__(self) -> None:
        self.names: list[str] = []


_importing = _Importing()


def importing() -> str | None:
    """The module of the package that this thread is importing, the innermost if there are several."""
    return _importing.names[-1] if _importing.names else None


@final
class _Loader(SourceFileLoader):
    """Loads a module of the package, whose functions mean the built-in names as they were."""

    def exec_module(self, module: types.ModuleType) -> None:
        vars(module)["__builtins__"] = BUILTINS
        _importing.names.append(module.__name__)
        try:
            super().exec_module(module)
        finally:
            _importing.names.pop()


@final
class _Finder:
    """Finds the modules of the package for their loader."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not name.startswith(_PACKAGE + "."):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


sys.meta_path.insert(0, _Finder())
note_libraries()
