"""The text that is found is the text of the code that runs, or none."""

from __future__ import annotations

import ast
import doctest
import importlib
import linecache
import os
import subprocess
import sys
import types
import zipfile
from pathlib import Path
from typing import Any

import pytest

from microgradpy import gradient
from microgradpy.errors import SourceNotFoundError, UnsupportedSyntaxError
from microgradpy.frontend.source import find_source, find_source_of_code


def text_of(function: Any) -> str:
    return ast.unparse(find_source(function).tree)


def execute(text: str, name: str, register: bool = True) -> dict[str, Any]:
    """Run a module's text under a file name that linecache knows."""
    if register:
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": "made"}
    exec(compile(text, name, "exec"), namespace)
    return namespace


def decorator(function: Any) -> Any:
    return function


@decorator
@decorator
def decorated(x):
    return x + 1


class Holder:
    def method(self):
        class Inner:
            def __private(self):
                return self.__x

        return Inner

    @staticmethod
    def static(x):
        return x * 2

    @property
    def field(self):
        return self.static(3)


pair = [lambda x: x + 1, lambda x: x + 1.0]
table = {
    "sum": lambda x, y: (
        x + y
    ), "product": lambda x, y:
        x * y,
    "nested": lambda x: (lambda y: x + y, lambda y: x - y),
    "constants": [lambda: 1, lambda: 2, lambda: None, lambda: (1, 2)],
}  # fmt: skip


def test_functions_methods_and_properties() -> None:
    assert text_of(decorated).startswith("@decorator\n@decorator\ndef decorated")
    assert text_of(Holder.static).endswith("return x * 2")
    assert text_of(Holder.field.fget).endswith("return self.static(3)")
    found = find_source(Holder.method)
    assert (found.name, found.class_name, found.file) == ("method", "Holder", __file__)
    assert found.lines[found.tree.lineno - 1] == "    def method(self):\n"


def test_nested_functions_know_their_class() -> None:
    inner = Holder().method()
    found = find_source(inner._Inner__private)
    assert (found.name, found.class_name) == ("__private", "Inner")


def test_lambdas_in_one_line_are_told_apart() -> None:
    assert [text_of(f) for f in pair] == ["lambda x: x + 1", "lambda x: x + 1.0"]
    assert [text_of(f) for f in table["nested"](1)] == ["lambda y: x + y", "lambda y: x - y"]
    assert [text_of(f) for f in table["constants"]] == [f"lambda: {value}" for value in ("1", "2", "None", "(1, 2)")]


def test_lambdas_that_continue_a_line() -> None:
    assert text_of(table["sum"]) == "lambda x, y: x + y"
    assert text_of(table["product"]) == "lambda x, y: x * y"
    assert text_of(table["nested"]) == "lambda x: (lambda y: x + y, lambda y: x - y)"


def test_text_that_linecache_knows() -> None:
    f = execute("def f(x):\n    return x * 3\n", "<ipython-input-7-abc>")["f"]
    assert text_of(f) == "def f(x):\n    return x * 3"


def test_text_that_a_loader_knows() -> None:
    class Loader:
        def get_source(self, name: str) -> str:
            return "def f(x):\n    return x * 4\n"

    namespace: dict[str, Any] = {"__name__": "made_by_loader", "__loader__": Loader()}
    exec(compile(Loader().get_source(""), "made_by_loader/f.py", "exec"), namespace)
    assert text_of(namespace["f"]) == "def f(x):\n    return x * 4"


def test_doctests() -> None:
    found: list[str] = []
    test = doctest.DocTestParser().get_doctest(
        ">>> def f(x):\n...     return x - 1\n>>> found.append(text_of(f))\n",
        {"found": found, "text_of": text_of},
        "t",
        "t",
        0,
    )
    doctest.DocTestRunner().run(test)
    assert found == ["def f(x):\n    return x - 1"]


def test_no_text() -> None:
    f = execute("def f(x):\n    return x * 3\n", "<string>", register=False)["f"]
    with pytest.raises(SourceNotFoundError, match=r"(?s)no source text of `f`.*<string>:1"):
        find_source(f)


CHANGES = [
    ("return x * 3", "return x + 3"),
    ("return x * 3", "return x * 4"),
    ("return x * 3", "return y * 3"),
    ("return x * 3", "return x * 3.0"),
    ("def f(x)", "def g(x)"),
    ("def f(x)", "# moved down\ndef f(x)"),
    ("def f(x)", "this is no program"),
    ("lambda: x * 3", "lambda: x * 5"),
]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_an_edited_file_is_refused(tmp_path: Path, old: str, new: str) -> None:
    text = "y = 1\ndef f(x):\n    g = lambda: x * 3\n    return x * 3\n"
    path = tmp_path / "edited.py"
    path.write_text(text)
    namespace: dict[str, Any] = {"__name__": "edited"}
    exec(compile(text, str(path), "exec"), namespace)
    assert find_source(namespace["f"]).name == "f"
    path.write_text(text.replace(old, new))
    os.utime(path, (1, 1))
    with pytest.raises(SourceNotFoundError, match="not the code that runs"):
        find_source(namespace["f"])


def test_lambdas_that_changed_places_are_refused() -> None:
    name = "<lambdas that change places>"
    first, second = execute("fs = [lambda x: x + 1, lambda x: x * 2]\n", name)["fs"]
    assert text_of(second) == "lambda x: x * 2"
    text = "fs = [lambda x: x * 2, lambda x: x + 1]\n"
    linecache.cache[name] = (len(text), None, [text], name)
    for function in (first, second):
        with pytest.raises(SourceNotFoundError, match="not the code that runs"):
            find_source(function)


def test_rewritten_asserts_are_not_other_code() -> None:
    def f(x):
        assert x > 0, "positive"
        return x

    assert "@py_assert" in " ".join(f.__code__.co_varnames), "this test needs the rewriting of pytest"
    assert text_of(f).splitlines()[1].strip() == "assert x > 0, 'positive'"


def test_future_imports_of_the_file_are_respected() -> None:
    f = execute("from __future__ import annotations\ndef f(x: Missing) -> Missing:\n    return x\n", "<futures>")["f"]
    assert find_source(f).name == "f"


def test_a_code_object_is_enough() -> None:
    assert find_source_of_code(decorated.__code__, globals()).name == "decorated"


def test_suspended_functions_are_refused() -> None:
    async def coroutine():
        return 1

    with pytest.raises(UnsupportedSyntaxError, match="async"):
        find_source(coroutine)


def test_replaced_code_is_refused() -> None:
    code = decorated.__code__.replace(co_firstlineno=decorated.__code__.co_firstlineno + 1)
    with pytest.raises(SourceNotFoundError):
        find_source(types.FunctionType(code, globals()))


def test_without_columns_lambdas_are_told_apart_by_their_code(tmp_path: Path) -> None:
    path = tmp_path / "no_columns.py"
    path.write_text(
        "import ast\n"
        "from microgradpy.frontend.source import find_source\n"
        "k = 1\n"
        "def f(y):\n"
        "    return [lambda x: x + y, lambda x: x * y, lambda: k]\n"
        "print([ast.unparse(find_source(g).tree) for g in f(1)])\n"
    )
    root = Path(__file__).parents[2]
    command = [sys.executable, "-X", "no_debug_ranges", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(root)}, check=True)
    assert done.stdout == "['lambda x: x + y', 'lambda x: x * y', 'lambda: k']\n"


def test_a_reloaded_module_gives_its_new_text_and_the_old_function_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "reloaded_by_a_test.py"
    path.write_text("def f(x):\n    return x * x\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    module = importlib.import_module("reloaded_by_a_test")
    old = module.f
    assert gradient(old, 3.0) == (6.0,)
    path.write_text("def f(x):\n    return x * x * x\n")
    os.utime(path, (1, 1))
    importlib.invalidate_caches()
    importlib.reload(module)
    assert gradient(module.f, 3.0) == (27.0,)
    with pytest.raises(SourceNotFoundError, match="not the code that runs"):
        find_source(old)


def test_functions_in_a_zip_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "archive.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("zipped_for_a_test.py", "def f(x):\n    return x * x\n")
    monkeypatch.syspath_prepend(archive)
    module = importlib.import_module("zipped_for_a_test")
    assert module.__file__.startswith(str(archive))
    assert gradient(module.f, 3.0) == (6.0,)


def test_functions_without_text_are_refused_by_name() -> None:
    namespace: dict[str, Any] = {}
    exec("def nameless(x):\n    return x * x\nshort = lambda x: x * x\n", namespace)
    for name in ("nameless", "short"):
        with pytest.raises(SourceNotFoundError, match="<lambda>" if name == "short" else name) as caught:
            gradient(namespace[name], 3.0)
        assert caught.value.remedy


PROGRAM = "from microgradpy import gradient\ndef f(x):\n    return x * x\nprint(gradient(f, 3.0))\n"


MADE = r"""
exec('def made(x):\n    return 2.0 * x')
try:
    gradient(made, 3.0)
except Exception as error:
    print(error.found)
"""


@pytest.mark.parametrize("options", [("-c",), ("-W", "ignore", "-X", "utf8", "-sc")], ids=" ".join)
def test_the_command_line(options: tuple[str, ...]) -> None:
    """The text of `-c` is among the arguments of the process. What that makes of strings has none."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, *options, PROGRAM + MADE, "-c", "another"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.stdout == "(6.0,)\nThere is no source text of `made`\n", done.stderr


def test_a_cell_that_is_run_again() -> None:
    """IPython gives each cell a file name of its own, and a cell that is run again as well."""
    first = execute("def f(x):\n    return x * x\n", "<ipython-input-1-1a2b3c>")["f"]
    second = execute("def f(x):\n    return x * x * x\n", "<ipython-input-2-4d5e6f>")["f"]
    assert (gradient(first, 3.0), gradient(second, 3.0)) == ((6.0,), (27.0,))
