"""From what was typed as the target to the function."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from microgradpy.cli.output import UsageError

_DEMO = Path(__file__).with_name("demo.py")


def load_target(target: str) -> Callable[..., Any]:
    """The callable that `file.py:function` or `package.module:function` means; the file or module is imported. What it
    prints goes to the standard error, so that the output of a command can be used by others."""
    place, colon, path = target.rpartition(":")
    if not colon or not place or not path:
        raise UsageError(f"{target!r} does not name a function: write `file.py:function` or `module:function`.")
    module = load_module(place)
    found: Any = module
    for name in path.split("."):
        if not hasattr(found, name):
            raise UsageError(f"{place} has no {path!r}.{_suggestion(found, name)}")
        found = getattr(found, name)
    if not callable(found):
        raise UsageError(f"{target} is no function, but of type {type(found).__name__}.")
    return found  # type: ignore[no-any-return]


def load_module(place: str) -> ModuleType:
    """The module that a file or a dotted name means, imported."""
    with contextlib.redirect_stdout(sys.stderr):
        if place.endswith(".py"):
            return _load_file(Path(place))
        _search_in(Path.cwd())
        if place == _DEMO.stem and importlib.util.find_spec(place) is None:
            return _execute(place, _DEMO)
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as error:
            if error.name is not None and (place == error.name or place.startswith(error.name + ".")):
                raise UsageError(f"There is no module {error.name!r}. For a file, write `file.py:function`.") from None
            raise  # it is a module that the user's module imports


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"There is no file {path}.")
    path = path.resolve()
    _search_in(path.parent)  # as Python does with the file that it runs
    known = sys.modules.get(path.stem)
    name = path.stem if known is None or getattr(known, "__file__", None) == str(path) else f"__{path.stem}__"
    try:
        return _execute(name, path)
    except ImportError as error:
        if "relative import" in str(error):
            advice = f"write `package.{path.stem}:function`, from the folder that the package is in."
            raise UsageError(f"{path.name} is a part of a package (it has a relative import): {advice}") from None
        raise


def _execute(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]  # it is half made
        raise
    return module


def _search_in(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _suggestion(owner: object, name: str) -> str:
    functions = [other for other, value in vars(owner).items() if callable(value) and not other.startswith("__")]
    close = difflib.get_close_matches(name, functions, n=1)
    if close:
        return f" Did you mean {close[0]!r}?"
    own = [other for other in functions if getattr(getattr(owner, other), "__module__", None) == getattr(owner, "__name__", "")]
    return f" It has: {', '.join(own[:8])}." if own else ""


def place_of_target(f: Callable[..., Any]) -> tuple[str, int]:
    """The file and the line of a function, or nothing of one that is not written in Python."""
    inner = inspect.unwrap(f)
    code = getattr(getattr(inner, "__func__", inner), "__code__", None)
    return ("", 0) if code is None else (code.co_filename, code.co_firstlineno)
