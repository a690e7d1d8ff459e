"""The cache on disk: a second process need not compile, what was changed is never answered from it, and nothing that may be
wrong with its files is more than a miss."""

from __future__ import annotations

import errno
import gc
import os
import pickle
import signal
import subprocess
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pytest

import microgradpy
from benchmarks import disk_cache
from microgradpy import api
from microgradpy.disk import front, key, making, store
from microgradpy.rules.registry import rrule
from tests.test_programs import same, same_cotangents
from tests.ways import ALL_WAYS

TEXT = """
import math
import numpy as np

SCALE = 3.0
TABLE = np.array([1.0, 2.0, 3.0])

def helper(z):
    return np.sin(z) * 2.0

def unreached(z):
    return deep(z) * 5.0

def deep(z):
    return z * 7.0

def f(x, k=2.0):
    y = np.sum(helper(x) * TABLE) * SCALE * k
    if k > 100.0:
        y = y + unreached(y)
    return y
"""
X = np.array([0.1, 0.2, 0.3])
NAME = "module_of_disk_cache"


@pytest.fixture(autouse=True)
def in_usual_circumstances(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The tests have threads and declare rules. Nothing is stored but where a test says so."""
    monkeypatch.setattr(front, "_is_usual", lambda: True)
    monkeypatch.setattr(making, "STRICT", True)
    use(monkeypatch, tmp_path / "cache")
    yield
    sys.modules.pop(NAME, None)


def use(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Begin as a new process would, with this folder."""
    cache = front.Cache()
    cache.store = store.Store(str(folder))
    monkeypatch.setattr(front, "_CACHE", cache)


def again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, folder / "cache")


def module_of(folder: Path, text: str) -> types.ModuleType:
    """A module with a text, always of the same name."""
    number = len(list(folder.glob("version*")))
    file = folder / f"version{number}" / f"{NAME}.py"
    file.parent.mkdir()
    file.write_text(text)
    module = types.ModuleType(NAME)
    module.__file__ = str(file)
    sys.modules[NAME] = module
    exec(compile(text, str(file), "exec"), vars(module))
    return module


class Answer(NamedTuple):
    gradient: Any
    is_hit: bool


def answer(f: Callable[..., Any], *args: Any) -> Answer:
    before = calls()
    found = front.value_and_gradient(f, *args)
    return Answer(found, calls() > before)


def calls() -> int:
    """How many calls were answered from the disk."""
    return front._CACHE.hits


def entries(folder: Path) -> list[Path]:
    return sorted((folder / "cache").glob("*"))


def keep(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str = TEXT, *args: Any) -> types.ModuleType:
    """Differentiate the function of a text in one process, and begin another."""
    module = module_of(folder, text)
    assert not answer(module.f, *(args or (X,))).is_hit
    assert entries(folder)
    again(folder, monkeypatch)
    return module


# Hits


def test_the_same_text_is_a_hit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tmp_path, monkeypatch)
    found = answer(module_of(tmp_path, TEXT).f, X)
    assert found.is_hit
    assert same_cotangents(found.gradient, api.value_and_gradient(module_of(tmp_path, TEXT).f, X))


@pytest.mark.parametrize("change", [("\ndef deep", "\n\n# a comment\n\ndef deep"), ("\ndef f", "\nUNUSED = object()\n\ndef f")])
def test_what_is_not_read_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: tuple[str, str]) -> None:
    keep(tmp_path, monkeypatch)
    assert answer(module_of(tmp_path, TEXT.replace(*change)).f, X).is_hit


@pytest.mark.parametrize("name", ["grad", "value_and_grad"])
@pytest.mark.parametrize("argnums", [0, -1, (0,), (1, 0), ()])
def test_forms_of_gradients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, argnums: Any) -> None:
    f = module_of(tmp_path, TEXT).f
    expected = getattr(api, name)(f, argnums)(X, 2.5)
    assert same_cotangents(getattr(front, name)(f, argnums)(X, 2.5), expected)
    again(tmp_path, monkeypatch)
    before, held = calls(), getattr(front, name)(f, argnums)
    assert same_cotangents(held(X, 2.5), expected)
    assert calls() > before or argnums == ()
    assert held.__name__ == "f" and held.__wrapped__ is f


def test_what_cannot_be_asked_of_the_cache_is_compiled(tmp_path: Path) -> None:
    f = module_of(tmp_path, TEXT).f
    assert same_cotangents(front.gradient(f, X, k=2.5), api.gradient(f, X, k=2.5))
    assert front.grad(np.sin)(0.0) == 1.0
    with pytest.raises(TypeError, match="argnums contains 5"):
        front.grad(f, 5)(X)
    with pytest.raises(TypeError, match="missing 1 required"):
        front.gradient(f)
    pair = front.grad(lambda x: (x * x, "aux"), has_aux=True)
    assert pair(3.0) == (6.0, "aux")
    assert not entries(tmp_path)


def test_defaults_and_captured_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def make(a, b):\n    def f(x, c=b):\n        return a * x * x * c\n    return f\n"
    # A captured value is read when it runs, so its type is enough; a default is part of the function.
    expected = [(2.0, 3.0, False), (2.0, 3.0, True), (5.0, 3.0, True), (5.0, 4.0, False), (5, 4.0, False), (5, 4.0, True)]
    for a, b, is_hit in [*expected, (np.float64(2.0), 4.0, False)]:
        f = module_of(tmp_path, text).make(a, b)
        again(tmp_path, monkeypatch)
        found = answer(f, 3.0)
        assert same_cotangents(found.gradient, api.value_and_gradient(f, 3.0))
        assert found.is_hit == is_hit, (a, b)


def test_arguments_of_many_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import numpy as np\ndef f(p):\n    return np.sum(p['w'] * p['b'][0]) + p['b'][1] * p['n']\n"
    given = {"w": np.ones((2, 3)), "b": (2.0, np.float64(3.0)), "n": 4}
    module = keep(tmp_path, monkeypatch, text, given)
    found = answer(module.f, given)
    assert found.is_hit
    assert same_cotangents(found.gradient, api.value_and_gradient(module.f, given))
    assert not answer(module.f, {**given, "n": 4.0}).is_hit


@pytest.mark.parametrize("order", "CF")
def test_gradients_have_the_order_in_memory_that_they_would_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: Any
) -> None:
    text = "import numpy as np\ndef f(a, b):\n    return np.sum((a @ b.T) ** 2) + np.sum(a.T * 2.0)\n"
    args = np.ones((2, 3), order=order), np.full((2, 3), 0.1)
    module = keep(tmp_path, monkeypatch, text, *args)
    found = answer(module.f, *args)
    expected = api.value_and_gradient(module.f, *args)
    assert found.is_hit and same_cotangents(found.gradient, expected)
    assert [each.strides for each in found.gradient[1]] == [each.strides for each in expected[1]]


def test_shared_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import numpy as np\ndef f(a, b):\n    return np.dot(a, b) * a[0]\n"
    module = keep(tmp_path, monkeypatch, text, X, X)
    both = np.arange(4.0)
    for args in ((X, X), (both[:-1], both[1:])):
        found = answer(module.f, *args)
        expected = api.value_and_gradient(module.f, *args)
        assert found.is_hit and same_cotangents(found.gradient, expected)
        assert not any(np.shares_memory(bar, x) for bar in found.gradient[1] for x in args)
        assert not np.shares_memory(*found.gradient[1])


def test_after_many_calls_a_function_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    f = module_of(tmp_path, TEXT).f
    expected = front.grad(f)(X)
    again(tmp_path, monkeypatch)
    monkeypatch.setattr(front, "_MOST_CALLS", 3)
    held = front.grad(f)
    before = calls()
    assert all(same(held(X), expected) for _ in range(6))
    assert calls() - before == 3


def test_functions_are_not_kept_alive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def make():\n    def f(x):\n        return x * x\n    return f\n"
    make = module_of(tmp_path, text).make
    for _ in range(2):
        again(tmp_path, monkeypatch)
        f = make()
        assert front.gradient(f, 3.0) == (6.0,)
        reference = weakref.ref(f)
        del f
        gc.collect()
        assert reference() is None


def test_gradient_functions_can_be_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    f = keep(tmp_path, monkeypatch).f
    (cell,) = front.grad(f, (0, 1)).__closure__ or ()
    held = cell.cell_contents
    twin = pickle.loads(pickle.dumps(held))
    assert same_cotangents(twin.call((X, 2.0), {}), held.call((X, 2.0), {}))


# What was changed

CHANGES = {
    "the function": ("* SCALE * k", "* SCALE / k"),
    "a number in it": ("k > 100.0", "k > 1.0"),
    "a callee": ("np.sin(z) * 2.0", "np.sin(z) * 4.0"),
    "what a callee calls": ("np.sin(z)", "np.cos(z)"),
    "a callee that was never reached": ("deep(z) * 5.0", "deep(z) * 6.0"),
    "what that calls": ("z * 7.0", "z * 8.0"),
    "a default": ("k=2.0", "k=4.0"),
    "a default's type": ("k=2.0", "k=2"),
    "a number of the module": ("SCALE = 3.0", "SCALE = 5.0"),
    "the type of it": ("SCALE = 3.0", "SCALE = 3"),
    "an array of the module": ("[1.0, 2.0, 3.0]", "[1.0, 2.0, 4.0]"),
    "the dtype of it": ("[1.0, 2.0, 3.0]", "[1, 2, 3]"),
    "the shape of it": ("[1.0, 2.0, 3.0]", "[[1.0, 2.0, 3.0]] * 2"),
    "what a module is": ("import numpy as np", "import numpy as np\nclass np:\n    sum, sin, array = np.sum, np.cos, np.array"),
    "what a name is": ("\ndef f", "\nhelper = np.cos\n\ndef f"),
    "a builtin": ("return y\n", "return abs(y)\n\ndef abs(z):\n    return z * 3.0\n"),
    "who assigns it": ("\ndef f", "\ndef other():\n    global helper\n    helper = deep\nother()\n\ndef f"),
    "the operator in a callee": ("np.sin(z) * 2.0", "np.sin(z) + 2.0"),
    "a decorator": ("\ndef helper", "\ndef twice(g):\n    return lambda z: g(z) * 2.0\n@twice\ndef helper"),
    "a callee becomes a class": ("def deep(z):\n    return z * 7.0", "class deep(float):\n    pass"),
}


UNSAYABLE = ("a decorator", "a callee becomes a class", "what a module is", "who assigns it")
"""What is not kept after the change either."""


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_changed_is_not_answered_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    keep(tmp_path, monkeypatch)
    changed = TEXT.replace(*CHANGES[what])
    assert changed != TEXT
    module = module_of(tmp_path, changed)
    found = answer(module.f, X)
    assert same_cotangents(found.gradient, api.value_and_gradient(module.f, X))
    # What is read when it runs may be other data of the same kind.
    assert found.is_hit == (what in ("a number of the module", "an array of the module"))
    again(tmp_path, monkeypatch)
    assert answer(module.f, X).is_hit != (what in UNSAYABLE)


def test_a_builtin_that_gets_another_meaning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def f(x):\n    return abs(x) * 2.0\n"
    keep(tmp_path, monkeypatch, text, -3.0)
    module = module_of(tmp_path, text + "def abs(z):\n    return z * 3.0\n")
    assert answer(module.f, -3.0) == Answer((-18.0, (6.0,)), False)


def test_a_function_of_a_library_under_a_name_of_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "from math import sin, cos\ndef f(x):\n    return sin(x) * cos(x) * x\n"
    keep(tmp_path, monkeypatch, text, 0.3)
    assert answer(module_of(tmp_path, text).f, 0.3).is_hit
    again(tmp_path, monkeypatch)
    module = module_of(tmp_path, text.replace("sin, cos", "cos as sin, cos"))
    assert answer(module.f, 0.3) == Answer(api.value_and_gradient(module.f, 0.3), False)


@pytest.mark.parametrize("what", ["defaults", "keyword defaults", "code", "global", "attribute"])
def test_what_is_changed_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    text = TEXT.replace("def helper(z)", "def helper(z, a=1.0, *, b=1.0)").replace("np.sin(z)", "np.sin(z) * a * b")
    module = keep(tmp_path, monkeypatch, text)
    assert answer(module.f, X).is_hit
    match what:
        case "defaults":
            module.helper.__defaults__ = (3.0,)
        case "keyword defaults":
            module.helper.__kwdefaults__["b"] = 3.0
        case "code":
            module.helper.__code__ = module.helper.__code__.replace(co_consts=(None, 3.0))
        case "global":
            module.helper = module.deep
        case "attribute":
            module.helper.note = 1
    found = front.Cache()
    found.store = front._CACHE.store
    assert found.call(found.state(module.f), module.f, (X,), None) is None
    if what != "code":  # of which there is no text
        assert same_cotangents(answer(module.f, X).gradient, api.value_and_gradient(module.f, X))


def test_functions_of_numpy_that_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    f = keep(tmp_path, monkeypatch).f
    expected = api.value_and_gradient(f, X)
    with monkeypatch.context() as patch:
        patch.setattr(np, "cos", np.tan)  # the cosine of the derivative is the one that it was written with
        assert same_cotangents(answer(f, X).gradient, expected)
    again(tmp_path, monkeypatch)
    assert answer(f, X).is_hit
    again(tmp_path, monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(np, "sin", np.cos)
        found = answer(f, X)
        assert not found.is_hit
        assert same_cotangents(found.gradient, api.value_and_gradient(f, X))
        assert not same_cotangents(found.gradient, expected)


@pytest.mark.parametrize("part", ["package", "NumPy", "Python", "files"])
def test_other_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    f = keep(tmp_path, monkeypatch).f
    match part:
        case "package":
            monkeypatch.setattr(microgradpy, "__version__", "0.0.0")
        case "NumPy":
            monkeypatch.setattr(key.np, "__version__", "0.0.0")
        case "Python":
            monkeypatch.setattr(sys, "version", "3.99")
        case "files":
            monkeypatch.setattr(key, "_own_files", lambda: ("others",))
    assert not answer(f, X).is_hit
    again(tmp_path, monkeypatch)
    assert answer(f, X).is_hit


@pytest.mark.parametrize("program", [
    "import builtins\ndef abs(x): return 3.0 * x\nbuiltins.abs = abs",
    "import math\ndef sin(x): return 3.0 * x\nmath.sin = sin",
    "import numpy\nclass Sine:\n    __name__ = 'sin'\n    def __call__(self, x): return 3.0 * x\nnumpy.sin = Sine()",
    "import numpy\nnumpy.sin = numpy.cos",
    "import math, cmath\nmath.sin = math.cos",
])  # fmt: skip
def test_what_was_replaced_before_the_package_was_imported(tmp_path: Path, program: str) -> None:
    """Then nobody knows what it was: nothing is answered from the disk, whatever becomes of the call."""
    script = f"import numpy, cmath\n{{more}}\n{REPLACING}"
    assert ended(started(tmp_path, tmp_path / "cache", script=script)) == 0
    assert ended(started(tmp_path, tmp_path / "cache", script=script)) == 3
    assert ended(started(tmp_path, tmp_path / "cache", program, script)) < 3


REPLACING = """
import numpy as np, math
from microgradpy import gradient
from microgradpy.disk import front
def f(x): return abs(x) * 2.0
def g(x): return math.sin(x) * 2.0
def h(x): return np.sin(x) * 2.0
for each in (f, g, h):
    try:
        gradient(each, 0.3)
    except Exception:
        pass
print(front._CACHE.hits)
"""


def test_a_function_that_calls_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def f(x, n):\n    return x if n == 0 else g(x, n - 1) * x\ndef g(x, n):\n    return f(x, n) * 2.0\n"
    module = keep(tmp_path, monkeypatch, text, 3.0, 4)
    assert answer(module.f, 3.0, 4) == Answer(api.value_and_gradient(module.f, 3.0, 4), True)
    again(tmp_path, monkeypatch)
    module.g = lambda x, n: x
    assert answer(module.f, 3.0, 4) == Answer((9.0, (6.0, None)), False)


def test_modules_of_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helpers = types.ModuleType("helpers_of_disk_cache")
    deep: Any = helpers
    for _ in range(6):
        deep.inner = types.ModuleType("deep")
        deep = deep.inner
    monkeypatch.setitem(sys.modules, helpers.__name__, helpers)
    text = "def double(x):\n    return x * 2.0\n"
    exec(compile(text, str(tmp_path / "helpers.py"), "exec"), vars(helpers))
    (tmp_path / "helpers.py").write_text(text)
    deep.double = helpers.double
    call = "import helpers_of_disk_cache\ndef f(x):\n    return helpers_of_disk_cache.{}(x) * x\n"
    module = keep(tmp_path, monkeypatch, call.format("double"), 3.0)
    assert answer(module.f, 3.0).is_hit
    (tmp_path / "helpers.py").write_text(text.replace("2.0", "3.0"))
    exec(compile(text.replace("2.0", "3.0"), str(tmp_path / "helpers.py"), "exec"), vars(helpers))
    again(tmp_path, monkeypatch)
    assert answer(module.f, 3.0) == Answer((27.0, (18.0,)), False)
    again(tmp_path, monkeypatch)
    (path,) = entries(tmp_path)
    path.unlink()
    module = module_of(tmp_path, call.format("inner." * 6 + "double"))
    answer(module.f, 3.0)
    assert not entries(tmp_path)  # too far down


# What is never kept

NEVER = {
    "prints": "def f(x):\n    print(x)\n    return x * x\n",
    "prints on another branch": "def f(x):\n    if x > 100.0:\n        print(x)\n    return x * x\n",
    "a callee prints": "def g(x):\n    print(x)\n    return x\ndef f(x):\n    return g(x) * x\n",
    "random": "import numpy as np\ndef f(x):\n    return x * np.random.normal()\n",
    "random of Python": "import random\ndef f(x):\n    return x * random.random()\n",
    "time": "import time\ndef f(x):\n    return x * time.time()\n",
    "errors of NumPy": "import numpy as np\ndef f(x):\n    np.seterr(divide='warn')\n    return x * x\n",
    "a state of NumPy": "import numpy as np\ndef f(x):\n    with np.errstate(divide='call'):\n        return x / 2.0\n",
    "counts": "N = 0\ndef f(x):\n    global N\n    N += 1\n    return x * x\n",
    "writes into a list": "LOG = []\ndef f(x):\n    LOG.append(1)\n    return x * x\n",
    "a class": "class C:\n    a = 2.0\ndef f(x):\n    return x * C.a\n",
    "an object": "class C:\n    pass\nc = C()\nc.a = 2.0\ndef f(x):\n    return x * c.a\n",
    "an import": "def f(x):\n    import math\n    return math.sin(x)\n",
    "a captured function": "def make(g):\n    def f(x):\n        return g(x)\n    return f\nf = make(lambda x: x * x)\n",
    "a cache": "import functools\n@functools.lru_cache\ndef g(n):\n    return n * 2\ndef f(x):\n    return x * g(3)\n",
    "text": "def f(x):\n    return x * len(f'{x}')\n",
    "a file": "import numpy as np\ndef f(x):\n    if x > 100.0:\n        np.save('f', x)\n    return x * x\n",
    "a hidden file": "import numpy as np\ndef f(x):\n    if x > 9.0:\n        getattr(np, 'save')('f', x)\n    return x\n",
    "a file of an array": "import numpy as np\ndef f(x):\n    if x[0] > 100.0:\n        x.tofile('f')\n    return x @ x\n",
    "a warning": "import warnings\ndef f(x):\n    warnings.warn('x')\n    return x * x\n",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", NEVER)
def test_what_is_never_kept(tmp_path: Path, what: str) -> None:
    module = module_of(tmp_path, NEVER[what])
    args = (X,) if "array" in what else (3.0,)
    try:
        front.gradient(module.f, *args)
    except microgradpy.DifferentiationError:
        pass
    assert not entries(tmp_path)


def test_arguments_that_are_not_kept(tmp_path: Path) -> None:
    text = "import numpy as np\ndef f(x, *rest):\n    return np.sum(x) * 2.0\ndef g(x):\n    return np.sum(x)\n"
    module = module_of(tmp_path, text)
    front.gradient(module.f, X)
    for x in (np.float16(1.0), np.array([1.0, 2.0], ">f8"), X.view(type("Own", (np.ndarray,), {})), (1.0,) * 100):
        front.gradient(module.g, x)
    assert not entries(tmp_path)


# What a call shows besides its result


def test_errors_are_those_of_the_users_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = keep(tmp_path, monkeypatch, "import math\ndef f(x):\n    return math.log(x) * 2.0\n", 3.0)
    with pytest.raises(ValueError, match="domain error") as caught:
        front.gradient(module.f, -1.0)
    assert [Path(str(each.path)).name for each in caught.traceback] == [Path(__file__).name, f"{NAME}.py"]
    assert caught.traceback[-1].lineno == 2 - 0


WARNS = """
import numpy as np
def f(x):
    return np.sum(np.log(x)) + (np.mean(x[:0]) if x[0] == 0.0 else 0.0)
"""


def test_warnings_are_given_once_at_the_users_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = keep(tmp_path, monkeypatch, WARNS, X)
    with warnings.catch_warnings(record=True) as expected:
        warnings.simplefilter("always")
        api.value_and_gradient(module.f, X * 0.0)
    again(tmp_path, monkeypatch)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        front.value_and_gradient(module.f, X * 0.0)
    assert [(str(each.message), each.filename, each.lineno) for each in found] == [
        (str(each.message), each.filename, each.lineno) for each in expected
    ]
    assert expected


def test_warnings_that_were_shown_are_not_shown_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    f = keep(tmp_path, monkeypatch).f
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        for _ in range(2):
            warnings.warn("once", UserWarning, stacklevel=1)
            assert answer(f, X).is_hit
    assert len(found) == 1


def test_zeros_of_what_was_not_chosen_are_strong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import numpy as np\ndef f(x):\n    return np.sum(np.where(x > 0.0, np.sqrt(np.abs(x)), x))\n"
    module = keep(tmp_path, monkeypatch, text, X)
    given = np.array([4.0, -1.0, 0.0])
    assert same_cotangents(answer(module.f, given).gradient, api.value_and_gradient(module.f, given))


def test_other_results_than_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import numpy as np\ndef f(x):\n    return x * 2.0 if x[0] > 1.0 else np.sum(x)\n"
    module = keep(tmp_path, monkeypatch, text, X)
    with pytest.raises(microgradpy.NonScalarOutputError):
        front.gradient(module.f, X + 10.0)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no interval timers, which send the signal here")
def test_a_handler_of_a_signal_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def f(x, n):\n    y = x\n    for i in range(n):\n        y = y - 1e-9\n    return y\n"
    f = keep(tmp_path, monkeypatch, text, 3.0, 4).f

    def handler(*_: object) -> None:
        raise TimeoutError("the user's own")

    before = signal.signal(signal.SIGALRM, handler)
    gc.collect()
    gc.disable()  # what is raised while it calls back is lost
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)  # the loop takes longer, and what is before it does not
        with pytest.raises(TimeoutError, match="the user's own"):
            front.gradient(f, 3.0, 4 * 10**6)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()


# The files


def spoilt(kind: str, path: Path) -> None:
    content = path.read_bytes()
    match kind:
        case "empty":
            path.write_bytes(b"")
        case "truncated":
            path.write_bytes(content[:-7])
        case "no text":
            path.write_bytes(b"\xff\xfe" + content)
        case "another text":
            path.write_bytes(content.replace(b"* 5.0", b"* 6.0"))
        case "another hash":
            path.write_bytes(content[:40] + (b"1" if content[40:41] == b"0" else b"0") + content[41:])
        case "no literal":
            written(path, "open('owned', 'w')")
        case "no dict":
            written(path, "[1, 2, 3]")
        case "another key":
            body = eval(content.decode().partition("\n")[2])
            written(path, repr({**body, "key": key.digest("another")}))
        case "parts missing":
            body = content.decode().partition("\n")[2]
            written(path, repr({"key": eval(body)["key"], "text": "open('owned', 'w')", "guards": []}))
        case "no guards that anybody knows":
            body = eval(content.decode().partition("\n")[2])
            written(path, repr({**body, "guards": [("nonsense", 0, "np")]}))
        case "a text that is none":
            body = eval(content.decode().partition("\n")[2])
            written(path, repr({**body, "text": "def f_primal(:"}))
        case "huge":
            written(path, content.decode().partition("\n")[2] + " " * store._LARGEST)
        case "a link":
            path.rename(path.with_suffix(".other"))
            path.symlink_to(path.with_suffix(".other"))
        case "a folder":
            path.unlink()
            path.mkdir()
        case "a pipe":
            path.unlink()
            os.mkfifo(path)
        case "for others to write":
            path.chmod(0o622)
        case "gone":
            path.unlink()


def written(path: Path, body: str) -> None:
    """An entry with the right hash."""
    path.write_text(f"{store._head_of(body)}\n{body}")


SPOILT = (
    "empty|truncated|no text|another text|another hash|no literal|no dict|another key|parts missing|"
    "no guards that anybody knows|a text that is none|huge|a link|a folder|a pipe|for others to write|gone"
).split("|")


@pytest.mark.parametrize("kind", SPOILT)
def test_files_that_are_not_as_they_should_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    module = keep(tmp_path, monkeypatch)
    (path,) = entries(tmp_path)
    monkeypatch.chdir(tmp_path)
    spoilt(kind, path)
    with warnings.catch_warnings():
        warnings.simplefilter("error" if kind != "a folder" else "ignore")  # where no entry can be put
        found = answer(module.f, X)
    assert not found.is_hit
    assert same_cotangents(found.gradient, api.value_and_gradient(module.f, X))
    assert not Path("owned").exists()
    if kind != "a folder":
        again(tmp_path, monkeypatch)
        assert answer(module.f, X).is_hit  # it was written anew


def test_the_folder_is_for_this_user_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tmp_path, monkeypatch)
    (path,) = entries(tmp_path)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("what", ["for others to write", "of another user", "a link", "a file", "no rights"])
def test_folders_that_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    f = keep(tmp_path, monkeypatch).f
    folder = tmp_path / "cache"
    match what:
        case "for others to write":
            folder.chmod(0o777)
        case "of another user":
            monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        case "a link":
            folder.rename(tmp_path / "other")
            folder.symlink_to(tmp_path / "other")
        case "a file":
            folder.rename(tmp_path / "other")
            folder.write_text("")
        case "no rights":
            monkeypatch.setattr(os, "lstat", raising(PermissionError(errno.EACCES, "no rights")))
    with pytest.warns(RuntimeWarning, match="MICROGRADPY_CACHE: the folder") as warned:
        found = answer(f, X)
    assert len(warned) == 1 and not found.is_hit
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same_cotangents(answer(f, X), found)


@pytest.mark.parametrize("function", ["open", "replace", "scandir"])
def test_what_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str) -> None:
    """A folder that is read-only, or full."""
    f = module_of(tmp_path, TEXT).f
    front._CACHE._version = "known"
    with monkeypatch.context() as patch, pytest.warns(RuntimeWarning, match="No space left"):
        patch.setattr(os, function, raising(OSError(errno.ENOSPC, "No space left on device")))
        found = answer(f, X)
    assert same_cotangents(found.gradient, api.value_and_gradient(f, X))
    assert not list((tmp_path / "cache").glob("*.tmp"))


def raising(error: Exception) -> Callable[..., Any]:
    """A function of the standard library, as far as it shows, that raises this."""
    namespace: dict[str, Any] = {"__name__": "os", "error": error}
    exec("def fail(*_, **__):\n    raise error", namespace)
    return cast(Callable[..., Any], namespace["fail"])


def test_no_data_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "SECRET = 'opal'\nSCALE = 4321.5\ndef f(x, how):\n    return x * SCALE if how == SECRET else x\n"
    module = keep(tmp_path, monkeypatch, text, 3.0, "amber")
    (path,) = entries(tmp_path)
    assert not any(word in path.read_text() for word in ("opal", "amber", "4321"))
    assert answer(module.f, 3.0, "amber").is_hit
    assert not answer(module.f, 3.0, "opal").is_hit


def test_the_folder_does_not_grow_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_MOST_FILES", 3)
    kept = store.Store(str(tmp_path / "cache"))
    for number in range(6):
        kept.write(f"key {number}", {"text": "x"})
        os.utime(kept._path(f"key {number}"), (number, number))
    assert [kept.read(f"key {number}") is not None for number in range(6)] == [False] * 3 + [True] * 3
    monkeypatch.setattr(store, "_MOST_BYTES", 0)
    kept.write("key", {"text": "x"})
    assert not entries(tmp_path)


def test_which_folder_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for value in ("", "0"):
        monkeypatch.setenv("MICROGRADPY_CACHE", value)
        assert not store.is_on() and store.Store.of_environment().folder is None
    monkeypatch.delenv("MICROGRADPY_CACHE")
    assert not store.is_on()
    monkeypatch.setenv("MICROGRADPY_CACHE", str(tmp_path))
    assert store.is_on() and store.Store.of_environment().folder == str(tmp_path)
    monkeypatch.setenv("MICROGRADPY_CACHE", "1")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert store.Store.of_environment().folder == str(tmp_path / "caches" / "microgradpy")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert store.Store.of_environment().folder == str(tmp_path / ".cache" / "microgradpy")


# Keys


def test_texts_of_constants_tell_them_apart() -> None:
    values: list[Any] = [0.0, -0.0, 0, False, 1, True, 1.0, 1j, complex(-0.0, 1), "1", b"1", None, ...]
    values += [(), (1,), ((1,),), (1, 1)]
    values += [frozenset((1, 2)), frozenset(("1", "2")), (1, 2), np.float64(1), np.float32(1), np.int64(1), np.True_, "(1,)"]
    texts = [key.value_text(value) for value in values]
    assert len(set(texts)) == len(values)
    assert key.value_text(float("nan")) == key.value_text(float("nan"))
    for value in ([1], {}, object(), np.ones(2)):
        with pytest.raises(key.NotPlain):
            key.value_text(value)


def test_texts_of_code_tell_it_apart() -> None:
    texts = ["x", "y", "-x", "x + 1", "x + 1.0", "x - 1", "f(x)", "g(x)", "f(x=x)", "(lambda: x)()", "(lambda: x + 1)()"]
    codes = [compile(f"lambda x: {text}", "file", "eval") for text in texts]
    codes += [compile(f"lambda x{more}: x", "file", "eval") for more in (", /", ", y", "=1, *, y", ", *y", ", **y")]
    assert len({key.code_text(code) for code in codes}) == len(codes)
    moved = compile("\n\n(lambda x:\n  x)", "other", "eval")
    assert key.code_text(moved.co_consts[0]) == key.code_text(codes[0].co_consts[0])


def test_signatures_tell_data_apart() -> None:
    x = np.arange(6.0).reshape(2, 3)
    read_only = x.copy()
    read_only.setflags(write=False)
    values: list[Any] = [x, x.T, x[:, ::2], x.astype(np.float32), x.reshape(3, 2), x[0], read_only, np.zeros((2, 3), int)]
    values += [1.0, 1, True, None, 1j, np.float64(1), np.float32(1), np.int64(1), "a", "b", (), [], {}, (1.0,), [1.0], (1.0, 1)]
    values += [{"a": 1.0}, {"b": 1.0}, {"a": 1}, ((1.0,),), ([1.0],), x.astype(complex), x > 1, x[:0]]
    assert len({key.signature(value) for value in values}) == len(values)
    assert key.signature(2.0) == key.signature(3.0) and key.signature(x) == key.signature(x + 1)
    deep: Any = ()
    for _ in range(9):
        deep = (deep,)
    for value in (object(), abs, {1: 2.0}, x.astype(object), x.astype(">f8"), np.ma.array(x), deep, [0.0] * 1000):
        with pytest.raises(key.NotPlain):
            key.signature(value)


# What is unusual


def test_what_is_unusual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(front._thread, "_count", lambda: 0)
    monkeypatch.setattr(rrule, "declared", 0)
    trace = sys.gettrace()
    sys.settrace(None)
    try:
        with monkeypatch.context() as unwatched:  # by a tool that measures which lines the tests run
            unwatched.setattr(front, "_is_monitored", lambda: False)
            assert front._is_usual()
        sys.settrace(lambda *_: None)
        assert not front._is_usual()
    finally:
        sys.settrace(trace)
    if trace is not None:
        return
    with np.errstate(divide="print"):
        assert not front._is_usual()
    with microgradpy.detect_anomaly():
        assert not front._is_usual()
    monkeypatch.setattr(front._thread, "_count", lambda: 1)
    assert not front._is_usual()
    monkeypatch.setattr(front._thread, "_count", lambda: 0)
    monkeypatch.setenv("MICROGRADPY_DUMP", "folder")
    assert not front._is_usual()
    monkeypatch.delenv("MICROGRADPY_DUMP")

    @rrule.register(calls)
    def rule() -> Any:
        raise AssertionError

    assert rrule.declared and not front._is_usual()
    rrule.opt_out(calls)


@pytest.mark.parametrize("name", disk_cache.PROGRAMS)
def test_programs_of_the_benchmark_are_hits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    text = f"import numpy as np\nfrom microgradpy.disk.front import grad\n{disk_cache.PROGRAMS[name]}"
    for hits in (0, 1):
        again(tmp_path, monkeypatch)
        module_of(tmp_path, text)
        assert calls() == hits


# Processes

SCRIPT = """
import sys, numpy as np
import json
there = {*sys.modules}
from microgradpy import grad, value_and_gradient
SCALE = 2.0

def helper(x, w):
    return np.tanh(x @ w) * SCALE

def loss(w, b):
    return np.mean((helper(X, w) + b) ** 2)

X = np.arange(6.0).reshape(2, 3) / 10.0
w = np.array([0.1, 0.2, 0.3])
gradients = grad(loss, (0, 1))(w, 0.5)
value, (bar, _) = value_and_gradient(loss, w, 0.5)
new = sorted({*sys.modules} - there)
{more}
print(json.dumps([[each.tolist() if hasattr(each, "tolist") else each for each in gradients], value, new]))
"""
FRONT = {"", ".originals", ".errors", ".projecting", ".runtime", ".runtime.collector", ".exporting", ".exporting.parts"}
FRONT |= {".disk", *(f".disk.{name}" for name in ("front", "guards", "handlers", "key", "store"))}


def started(folder: Path, cache: Path | None, more: str = "", script: str = SCRIPT) -> subprocess.Popen[str]:
    file = folder / f"script{len(script)}{len(more)}.py"
    if not file.exists():
        file.write_text(script.replace("{more}", more))
    environment = {**os.environ, "PYTHONPATH": str(Path(microgradpy.__file__).parents[1])}
    for name in ("MICROGRADPY_CACHE", "MICROGRADPY_DUMP", "COVERAGE_PROCESS_START"):
        environment.pop(name, None)
    if cache is not None:
        environment["MICROGRADPY_CACHE"] = str(cache)
    command = [sys.executable, "-W", "error", str(file)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> Any:
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0 and not errors, errors
    return eval(output.replace("null", "None"))


def test_a_second_process_imports_nothing_of_the_compiler(tmp_path: Path) -> None:
    expected = ended(started(tmp_path, None))
    both = [started(tmp_path, tmp_path / "cache") for _ in range(2)]  # which write the same entries at once
    found = [ended(process) for process in both]
    assert [each[:2] for each in found] == [expected[:2]] * 2
    assert any(name == "microgradpy.compiler" for name in found[0][2])
    names = {path.suffix for path in (tmp_path / "cache").iterdir()}
    assert names == {".entry"} and len(list((tmp_path / "cache").iterdir())) == 2
    again = ended(started(tmp_path, tmp_path / "cache"))
    assert again[:2] == expected[:2]
    own = {name.removeprefix("microgradpy") for name in again[2] if name.partition(".")[0] == "microgradpy"}
    assert own <= FRONT
    heavy = {"hashlib", "inspect", "tempfile", "threading", "pathlib", "logging", "typing_extensions"}
    assert not heavy & {*again[2]}
    edited = SCRIPT.replace("SCALE = 2.0", "SCALE = 2")
    assert ended(started(tmp_path, tmp_path / "cache", script=edited))[0] == expected[0]


UNUSUAL = """
import microgradpy, pickle, copy
@microgradpy.rrule.register(helper)
def helper_rrule(x, w):
    def helper_pullback(y_bar):
        return None, None, np.full(3, 7.0)
    return np.tanh(x @ w) * SCALE, helper_pullback
assert grad(loss)(w, 0.5).tolist() == [7.0] * 3
def nested(x):
    return grad(square)(x) * x
def square(x):
    return x * x
slope = grad(square)
def of_both(x):
    return microgradpy.gradient(square, x)[0] * slope(x)
for each in (microgradpy.gradient, microgradpy.api.gradient):
    assert each(nested, 2.0) == (8.0,)
    assert each(of_both, 2.0) == (16.0,)
assert microgradpy.gradient is not microgradpy.api.gradient
assert microgradpy.pullback(square, 3.0)[0] == 9.0
"""


def test_what_a_process_declares_is_heard(tmp_path: Path) -> None:
    for _ in range(2):
        ended(started(tmp_path, tmp_path / "cache", UNUSUAL))


# The tables


def test_programs_of_the_tables(tmp_path: Path) -> None:
    """Each is differentiated in one process, and then once more in another one, where the cache answers for half of them; then
    their code is changed in all ways that are easy, and it answers for none."""
    more = ["--all"] if ALL_WAYS else []
    rows = []
    for options in ([], ["--attack"]):
        command = [sys.executable, "-m", "tests.disk_cache_programs", str(tmp_path / "output"), *more, *options]
        environment = {**os.environ, "MICROGRADPY_CACHE": str(tmp_path / "cache"), "PYTHONPATH": os.getcwd()}
        subprocess.run(command, env=environment, check=True, capture_output=True)
        rows.append(pickle.loads((tmp_path / "output").read_bytes()))
    (first, _), (second, (tried, survived)) = rows
    assert first.keys() == second.keys()
    answered = 0
    for name, packed in first.items():
        (said, result, _), (said_again, found, is_hit) = pickle.loads(packed), pickle.loads(second[name])
        assert said == said_again, name
        assert same_cotangents(result, found) and strides_in(result) == strides_in(found), name
        answered += is_hit
    assert answered > 40
    assert not survived and tried > 300


def strides_in(x: Any) -> Any:
    """The order in memory of the arrays in a result."""
    if isinstance(x, np.ndarray):
        return x.strides if x.size > 1 else ()
    if not isinstance(x, tuple | list | dict):
        return ()
    return [strides_in(each) for each in (x.values() if isinstance(x, dict) else x)]
