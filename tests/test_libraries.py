"""Installed libraries of many modules: what a program does with their objects as constants just runs; a compile that goes into
them ends, by a refusal that names the library."""

from __future__ import annotations

import importlib
import itertools
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgradpy import MissingRuleError, gradient, jvp
from microgradpy.cache import cache_info
from microgradpy.errors import DifferentiationError

_MODULES = 40
_names = itertools.count()

_FRAME = """
import numpy as np
from {name} import part0

class Frame:
    def __init__(self, values, hook=None):
        self.values, self.hook, self.cache = values, hook, {{}}

    def __getitem__(self, key):
        self.cache[key] = part0.Part0(self).enter(self.values[key])
        return self.cache[key]

    def __len__(self):
        self.cache["length"] = part0.lead0(len(self.values))
        return self.cache["length"]

    def __rmul__(self, x):
        return part0.Part0(self).enter(x * 1.0)

    def mean(self):
        return float(np.mean(self.values["a"]))

    def touch(self):
        self.hook()
        return 1.0
"""
_PART = """
from {name} import part{after}

class Part{this}:
    def __init__(self, owner):
        self.owner, self.seen = owner, []

    def enter(self, x):
        self.seen.append(x)
        return part{after}.Part{after}(self.owner).enter(x) if {this} < {last} else x

    def __array__(self, dtype=None, copy=None):
        self.seen.append(dtype)
        return self.owner.values["a"]

def lead{this}(n):
    return part{after}.lead{after}(n) if {this} < {last} else n
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """The module `frame` of a library, by which an object leads from any method into all of its modules."""
    name = f"frames{next(_names)}"
    folder = tmp_path / "site-packages" / name
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "frame.py").write_text(_FRAME.format(name=name))
    for this in range(_MODULES):
        text = _PART.format(name=name, this=this, after=(this + 1) % _MODULES, last=_MODULES - 1)
        (folder / f"part{this}.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder.parent))
    yield importlib.import_module(f"{name}.frame")
    for each in [each for each in sys.modules if each.partition(".")[0] == name]:
        del sys.modules[each]


frame: Any = None
model: Any = None
out = [0.0]
weights = np.array([1.0, 2.0])


def _by_item(x: float) -> Any:
    return x * np.sum(frame["a"])


def _by_array(x: float) -> Any:
    return np.sum(x * np.asarray(frame["a"]))


def _by_length(x: float) -> Any:
    return x * len(frame)


def _by_method(x: float) -> Any:
    return np.sin(x) * frame.mean()


def _in_loop(x: float) -> Any:
    total = 0.0
    for v in frame["a"]:
        total = total + x * v
    return total


class _Model:
    def __init__(self, data: Any) -> None:
        self.data = data


def _of_model(x: float) -> Any:
    return x * model.data["a"][1] + len(model.data)


@pytest.mark.parametrize(
    ("f", "slope"),
    [(_by_item, 3.0), (_by_array, 3.0), (_by_length, 1.0), (_by_method, np.cos(2.0) * 1.5), (_in_loop, 3.0)],
)
def test_constants_just_run(
    library: types.ModuleType, monkeypatch: pytest.MonkeyPatch, f: Callable[[float], Any], slope: float
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "frame", library.Frame({"a": np.array([1.0, 2.0])}))
    before = cache_info().misses
    assert gradient(f, 2.0)[0] == pytest.approx(slope)
    y, dot = jvp(f, (2.0,), (1.0,))
    assert (y, dot) == (pytest.approx(f(2.0)), pytest.approx(slope))
    assert cache_info().misses - before <= 6, "the library was compiled"


def test_attribute_of_an_object(library: types.ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "model", _Model(library.Frame({"a": np.array([1.0, 2.0])})))
    assert gradient(_of_model, 2.0)[0] == pytest.approx(2.0)


def _given(x: float) -> Any:
    return np.sum(x * frame)


def _stored(x: float) -> Any:
    out[0] = x * 2.0
    return out[0] * np.sum(frame["a"])


@pytest.mark.parametrize("f", [_given, _stored])
def test_a_compile_that_goes_into_it_ends(
    library: types.ModuleType, monkeypatch: pytest.MonkeyPatch, f: Callable[[float], Any]
) -> None:
    """By a refusal that names the library, the line and the way out."""
    monkeypatch.setattr(sys.modules[__name__], "frame", library.Frame({"a": np.array([1.0, 2.0])}))
    name = library.__name__.partition(".")[0]
    calls: list[Callable[[], Any]] = [lambda: gradient(f, 2.0), lambda: jvp(f, (2.0,), (1.0,))]
    for call in calls:
        before = cache_info().misses
        with pytest.raises(MissingRuleError, match=f"of the library {name} was reached") as caught:
            call()
        assert ", in " in str(caught.value), "it names no line"
        assert "stop_gradient" in str(caught.value) and "rule" in str(caught.value)
        assert cache_info().misses - before < 100


def _overwrite() -> None:
    weights[:] = 0.0


def _touched(x: float) -> Any:
    y = x * x * weights
    frame.touch()
    return np.sum(y)


def test_what_it_calls_of_the_users_is_looked_at(library: types.ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "frame", library.Frame({}, _overwrite))
    weights[:] = 1.0, 2.0
    calls: list[Callable[[], Any]] = [lambda: gradient(_touched, 2.0)[0], lambda: jvp(_touched, (2.0,), (1.0,))[1]]
    for call in calls:
        weights[:] = 1.0, 2.0
        try:
            assert call() == pytest.approx(12.0)
        except DifferentiationError:
            pass


def _of_formulas(folder: Path, name: str, modules: int, text: str) -> None:
    """A library of so many modules, whose `formulas` has this text."""
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text("")
    (folder / name / "formulas.py").write_text("".join(f"from {name} import part{k}\n" for k in range(modules)) + text)
    for k in range(modules):
        (folder / name / f"part{k}.py").write_text("")


@pytest.mark.parametrize("modules", [0, _MODULES])
def test_what_is_not_reached_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, modules: int) -> None:
    name = f"formulas{next(_names)}"
    text = "".join(f"def method{k}(x):\n    return x * x * {k}.0\n" for k in range(40))
    text += "def best(x, n):\n" + "".join(f"    if n == {k}:\n        return method{k}(x)\n" for k in range(40))
    _of_formulas(tmp_path / "site-packages", name, modules, text)
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    best = importlib.import_module(f"{name}.formulas").best
    assert gradient(lambda x: best(x, 39), 2.0)[0] == pytest.approx(156.0)
    for each in [each for each in sys.modules if each.partition(".")[0] == name]:
        del sys.modules[each]


def test_a_small_library_of_many_functions_is_differentiated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"formulas{next(_names)}"
    text = "class Steps:\n    def __init__(self):\n        self.seen = []\n"
    for k in range(40):
        following = f"self.step{k + 1}(x + 1.0)" if k < 39 else "x * x"
        text += f"    def step{k}(self, x):\n        self.seen.append(x)\n        return {following}\n"
    _of_formulas(tmp_path / "site-packages", name, 0, text)
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    steps = importlib.import_module(f"{name}.formulas").Steps()
    assert gradient(lambda x: steps.step0(x), 2.0)[0] == pytest.approx(2.0 * 41.0)
    for each in [each for each in sys.modules if each.partition(".")[0] == name]:
        del sys.modules[each]


def test_a_small_library_is_differentiated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"small{next(_names)}"
    folder = tmp_path / "site-packages"
    folder.mkdir()
    text = "class Layer:\n    def __init__(self, w):\n        self.w, self.last = w, None\n"
    text += "    def __call__(self, x):\n        self.last = x * self.w\n        return self.last * self.last\n"
    (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    layer = importlib.import_module(name).Layer(3.0)
    assert gradient(lambda x: layer(x), 2.0)[0] == pytest.approx(36.0)
    assert jvp(lambda x: layer(x), (2.0,), (1.0,)) == (pytest.approx(36.0), pytest.approx(36.0))
    del sys.modules[name]
