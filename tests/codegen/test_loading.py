"""Generated functions show their source to `inspect`, tracebacks and debuggers."""

from __future__ import annotations

import bdb
import gc
import inspect
import linecache
import sys
import traceback
import weakref
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from microgradpy import gradient
from microgradpy.cache import CACHE
from microgradpy.codegen.loading import load, unload, unload_unwanted

TEXT = "def divide(x, y):\n    ratio = x / y\n    return ratio\n"


def test_bindings_are_global_names() -> None:
    namespace = load("def f(x):\n    return g(x) + 1\n", "f", {"g": abs})
    assert namespace["f"](-2) == 3
    unload(namespace["__file__"])


def test_inspect_shows_the_source_also_after_clearing_the_cache() -> None:
    namespace = load(TEXT, "divide", {})
    assert inspect.getsource(namespace["divide"]) == TEXT
    linecache.clearcache()
    assert inspect.getsource(namespace["divide"]) == TEXT
    linecache.checkcache()
    assert inspect.getsource(namespace["divide"]) == TEXT
    unload(namespace["__file__"])


@pytest.mark.parametrize("clear", [False, True])
def test_tracebacks_show_the_line(clear: bool) -> None:
    namespace = load(TEXT, "divide", {})
    if clear:
        linecache.clearcache()
    with pytest.raises(ZeroDivisionError) as caught:
        namespace["divide"](1.0, 0.0)
    assert "    ratio = x / y\n" in "".join(traceback.format_exception(caught.value))
    unload(namespace["__file__"])


def test_a_debugger_stops_in_it_and_sees_the_line() -> None:
    namespace = load(TEXT, "divide", {})
    seen = []

    class Stepper(bdb.Bdb):
        def user_line(self, frame: FrameType) -> None:
            if frame.f_code.co_filename == namespace["__file__"]:
                line = linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
                seen.append(line.strip())

    Stepper().runcall(namespace["divide"], 1.0, 2.0)
    assert seen == ["ratio = x / y", "return ratio"]
    unload(namespace["__file__"])


def test_every_load_has_a_name_of_its_own() -> None:
    first, second = load(TEXT, "twice", {}), load(TEXT, "twice", {})
    assert Path(first["__file__"]).name == "twice.py"
    assert Path(second["__file__"]).name == "twice_2.py"
    for namespace in (first, second):
        assert sys.modules[namespace["__name__"]].__file__ == namespace["__file__"]
        unload(namespace["__file__"])


def test_unloading_leaves_nothing_behind() -> None:
    namespace = load(TEXT, "divide", {})
    inspect.getsource(namespace["divide"])
    unload(namespace["__file__"])
    unload(namespace["__file__"])
    assert namespace["__file__"] not in linecache.cache
    assert namespace["__name__"] not in sys.modules
    assert namespace["divide"](1.0, 2.0) == 0.5


def test_what_is_bound_lives_only_as_long_as_the_function() -> None:
    class Thing:
        pass

    thing = Thing()
    namespace = load("def f():\n    return thing\n", "f", {"thing": thing})
    filename, watched = namespace["__file__"], weakref.ref(thing)
    del thing, namespace
    gc.collect()
    assert watched() is None
    unload(filename)


def test_dumps_real_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "generated" / "text"
    monkeypatch.setenv("MICROGRADPY_DUMP", str(folder))
    namespace = load(TEXT, "dumped", {})
    filename = Path(namespace["__file__"])
    assert filename == folder / "dumped.py"
    assert filename.read_text(encoding="utf-8") == TEXT
    assert namespace["divide"].__code__.co_filename == str(filename)
    assert inspect.getsource(namespace["divide"]) == TEXT
    unload(str(filename))


def test_collecting_garbage_does_not_change_the_modules() -> None:
    """The collector runs whenever anybody makes an object, so also within a loop over `sys.modules`."""
    for number in range(3):
        file, text = f"<forgotten {number}>", f"def f(x):\n    return x * {number}.0\n"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        namespace: dict[str, Any] = {}
        exec(compile(text, file, "exec"), namespace)
        gradient(namespace["f"], 2.0)
    before, modules = len(CACHE.units), list(sys.modules)
    CACHE.forget(id(namespace["f"].__code__))  # what the collector calls when the code is gone
    assert len(CACHE.units) < before
    assert list(sys.modules) == modules
    unload_unwanted()
    assert len(sys.modules) < len(modules)
