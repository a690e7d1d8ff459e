"""Source text -> callables that tracebacks, `inspect.getsource` and debuggers can show.

The text is compiled under the name of a module that has a loader: `linecache` asks the loader for the text whenever
it wants it, also after `linecache.clearcache()`. Names in angle brackets would not do, nothing looks for their loader.
With `MICROGRADPY_DUMP` set to a folder the text is written there and compiled under the name of the real file, so
that breakpoints by file and line bind. There each line says which of the user's it is from, since a debugger shows one line of
each frame.

A primal is the user's program once more. It runs under the name of the user's file and with the user's lines, so that
tracebacks, warnings, `logging`, coverage and breakpoints are those of the plain call; `inspect.getsource` follows its
`__wrapped__` to the generated text.
"""

from __future__ import annotations

import ast
import importlib.machinery
import itertools
import linecache
import os
import re
import sys
import threading
import types
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from microgradpy.ir.nodes import Location
from microgradpy.originals import BUILTINS, TEXTS
from microgradpy.quiet import without_warnings

DUMP_VARIABLE = "MICROGRADPY_DUMP"
_PACKAGE = "microgradpy_generated"

_lock = threading.Lock()
_numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: itertools.count(1))
_modules: dict[str, str] = {}
_unwanted: deque[str] = deque()


class _TextLoader:
    """Knows the text of one generated module. (It has no base class: the module of those imports a dozen others.)"""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_source(self, fullname: str) -> str:
        return self.text


def load(
    text: str, name: str, bindings: Mapping[str, Any], places: Mapping[int, Location] | None = None
) -> dict[str, Any]:
    """Execute a text with `bindings` as its global names and return its namespace. `name` is what its module and file
    are called; `namespace["__file__"]` is the name to give to `unload`. `places` are those of the user's that lines of the text
    are from."""
    if places and os.environ.get(DUMP_VARIABLE):
        text = _with_places(text, places)
    module_name, filename = _register(text, name)
    namespace: dict[str, Any] = dict(bindings) | _BUILTINS
    namespace.update(_module_attributes(module_name, filename, text))
    exec(_compiled(text, filename), namespace)
    return namespace


# The names that a text does not bind are those of the builtins as they were: what a user replaced is bound.
_BUILTINS = {"__builtins__": BUILTINS}
# What `warnings` and `linecache` ask a frame's module for.
_IDENTITY = ("__name__", "__package__", "__file__", "__loader__", "__spec__")


def load_in_place_of(
    origin: types.FunctionType, tree: ast.FunctionDef, text: str, bindings: Mapping[str, Any]
) -> tuple[types.FunctionType, str]:
    """The function that `tree` defines, with `bindings` as its global names, and the name to give to `unload`. The
    positions in the tree are those of `origin`, whose place the function takes in frames and warnings; `text` is what
    `inspect` shows of it."""
    module_name, filename = _register(text, tree.name)
    module = origin.__globals__
    namespace: dict[str, Any] = {name: module[name] for name in _IDENTITY if name in module} | dict(bindings) | _BUILTINS
    # A warning that is shown once per place is shown once for the two of them.
    namespace["__warningregistry__"] = module.setdefault("__warningregistry__", {})
    running, code = origin.__code__, ast.Module([tree], [])
    exec(_compiled(code, running.co_filename), namespace)
    function = namespace[tree.name]
    assert isinstance(function, types.FunctionType)
    function.__code__ = function.__code__.replace(co_name=running.co_name, co_qualname=running.co_qualname)
    shown = function.__code__.replace(co_filename=filename, co_firstlineno=1)
    function.__wrapped__ = types.FunctionType(shown, {"__name__": module_name}, tree.name)  # type: ignore[attr-defined]
    return function, filename


def _compiled(source: str | ast.Module, filename: str) -> types.CodeType:
    # What Python has to say of the user's text it has said, and where the text is made nobody expects it.
    with without_warnings():
        code: types.CodeType = compile(source, filename, "exec", dont_inherit=True)
        return code


def unload(filename: str) -> None:
    """Forget the text of a file that `load` made up. Its functions go on working, but nobody can see their source."""
    with _lock:
        module_name = _modules.pop(filename, None)
    if module_name is not None:
        sys.modules.pop(module_name, None)
        TEXTS.discard(module_name)
        linecache.cache.pop(filename, None)


def unload_later(filename: str) -> None:
    """`unload`, when the next text is loaded. For the garbage collector, which comes at any time: while somebody goes through
    `sys.modules`, and while this thread holds the lock."""
    _unwanted.append(filename)


def unload_unwanted() -> None:
    """Do now what `unload_later` was asked for."""
    with suppress(IndexError):  # another thread may take the last
        while True:
            unload(_unwanted.popleft())


def _register(text: str, name: str) -> tuple[str, str]:
    """A name for the module that no other has had, and the name of its file."""
    unload_unwanted()
    stem = re.sub(r"\W", "_", name)
    with _lock:
        number = next(_numbers[stem])
    # The first is `f_adjoint`: names do not change from run to run, so breakpoints by file and line stay right.
    stem = stem if number == 1 else f"{stem}_{number}"
    module_name, filename = f"{_PACKAGE}.{stem}", _write(text, stem)
    # The registered module holds the text only: the namespace would keep the user's objects alive.
    module = types.ModuleType(module_name)
    vars(module).update(_module_attributes(module_name, filename, text))
    with _lock:
        _modules[filename] = module_name
    sys.modules[module_name] = module
    TEXTS.add(module_name)
    linecache.cache.pop(filename, None)
    return module_name, filename


def _with_places(text: str, places: Mapping[int, Location]) -> str:
    """The text with the user's file, line and text behind each line that is from there."""
    lines = text.splitlines()
    for number, place in places.items():
        said = place.text.splitlines()[:1]
        lines[number - 1] += f"  # {': '.join([f'{os.path.basename(place.file)}:{place.line}', *said])}"
    return "\n".join(lines) + "\n"


def _write(text: str, stem: str) -> str:
    folder = os.environ.get(DUMP_VARIABLE)
    if not folder:
        return f"{_PACKAGE}/{stem}.py"
    folder = os.path.realpath(folder)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{stem}.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _module_attributes(module_name: str, filename: str, text: str) -> dict[str, Any]:
    loader: Any = _TextLoader(text)
    spec = importlib.machinery.ModuleSpec(module_name, loader, origin=filename)
    return {"__name__": module_name, "__file__": filename, "__loader__": loader, "__spec__": spec}
