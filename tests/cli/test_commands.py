"""The command line, in process: what is printed, what is refused, and the exit status."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgradpy.cli.main import main
from microgradpy.cli.output import coloured
from microgradpy.cli.parser import COMMANDS, PROGRAM, build_parser
from tests.cli.shell import Shell

MODEL = '''
"""A model."""
import functools
import numpy as np
from microgradpy import NoTangent, rrule
print("imported")

def cube(x):
    return x * x * x

def energy(u, k, n):
    for _ in range(n):
        u = u + k * np.roll(u, 1)
    return np.sum(u * u)

def formula(x):
    y = 2.0 * x
    return eval("y * y")

def divided(x):
    return x / 0.0

def says(x):
    print("called")
    return x * x

def jump(x):
    return np.floor(x) * x + np.rint(x * 1e12) * 1e-9

def first(items):
    return items[0]

def pair(x, y):
    return [x * y, x]

def scaled(x, *, scale=1.0, shift=None):
    return np.sum(x * scale) + (0.0 if shift is None else shift)

def collects(x, **rest):
    return x * sum(rest.values())

def declared(x, k=1.0):
    return x * k + 0.0 * eval("0.0")

@rrule.register(declared)
def declared_rrule(x, k=1.0):
    return declared(x, k), lambda y_bar: (NoTangent(), y_bar * k, y_bar * x)

def layer(parameters, x):
    return np.sum(x @ parameters["w"] + parameters["b"][0])

class Spring:
    def __init__(self, k):
        self.k = k
    def energy(self, x):
        return self.k * x * x
    def __call__(self, x):
        return self.energy(x)

spring = Spring(3.0)
number = 3

async def later(x):
    return x
'''


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    """Runs commands in a folder with a file `model.py`."""
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "broken.py").write_text("import not_there\n")
    (tmp_path / "inner.py").write_text("from . import outer\n")
    (tmp_path / "syntax.py").write_text("def f(x:\n")
    (tmp_path / "ending.py").write_text("import sys\nsys.exit(0)\n")
    np.save(tmp_path / "u.npy", np.array([1.0, 2.0, 3.0]))
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    (tmp_path / "empty.npy").touch()
    return Shell(tmp_path, monkeypatch, capsys)


# What is typed; the exit status; what the output has in it; what the standard error has in it.
RUNS = {
    "ir": ("ir model.py:cube", 0, ["1: (%1, %2)", "%3 = %2 * %2", "return %4"], ["imported"]),
    "names": ("ir model.py:energy --names", 0, ["%2/u"], []),
    "stages": ("ir model.py:cube --stage instrumented", 0, ["operator.mul(%2, %2)"], []),
    "stage primal": ("ir model.py:cube --stage primal", 0, ["return"], []),
    "stage adjoint": ("ir model.py:cube --stage adjoint", 0, ["operator.mul"], []),
    "stage pushforward": ("ir model.py:cube --stage pushforward", 0, ["return"], []),
    "method": ("ir model.py:Spring.energy", 0, ["%4 = %2.k"], []),
    "module": ("ir demo:root", 0, ["iter(range(50))"], []),
    "primal": ("primal model.py:cube --at 2.0", 0, ["def cube_primal(x):"], []),
    "adjoint": ("adjoint model.py:cube --at 2.0", 0, ["def cube_adjoint(", "# return x * x * x"], []),
    "adjoint of one": ("adjoint model.py:pair --at 2.0 3.0 --argnums 0", 0, ["return x_bar"], []),
    "from the end": ("adjoint model.py:pair --at 2.0 3.0 --argnums -1", 0, ["return y_bar"], []),
    "unknown kinds": ("adjoint model.py:cube", 0, ["def cube_adjoint("], []),
    "bound method": ("check model.py:spring.energy --at 2.0", 0, ["agrees with finite differences"], []),
    "object": ("check model.py:spring --at 2.0", 0, ["agrees with finite differences"], []),
    "check": ("check model.py:cube --at 2.0", 0, ["argument", "agrees"], []),
    "negative": ("check model.py:cube --at -1e-3", 0, ["3e-06"], []),
    "file of NumPy's": ("check model.py:energy --at u.npy 0.1 3", 0, ["(3,)", "agrees"], []),
    "array": ("check model.py:energy --at 'array([1.0, -2.0])' 0.1 3", 0, ["(2,)", "agrees"], []),
    "shape": ("check model.py:energy --at 'normal(4)' 0.1 3 --argnums 0", 0, ["(4,)"], []),
    "arrays in a dict": (
        """check model.py:layer --at "{'w': normal(2, 3), 'b': [zeros(3)]}" "ones(2)\"""",
        0,
        ["parameters['w']", "(2, 3)", "(3,)"],
        [],
    ),
    "by name": ("check model.py:scaled --at u.npy scale=3.0", 0, ["  3  ", "agrees"], []),
    "all by name": ("check model.py:energy --at u.npy n=3 k=-1e-1", 0, ["agrees"], []),
    "array by name": ("track model.py:scaled --at 2.0 'scale=ones(2)'", 0, ["⟨+⟩(@", "→ 4.0"], []),
    "adjoint by name": ("adjoint model.py:scaled --at 2.0 scale=3.0 shift=1.0", 0, ["def scaled_adjoint("], []),
    "method by name": ("track model.py:spring.energy --at x=2.0", 0, ["12.0"], []),
    "object by name": ("track model.py:spring --at x=2.0", 0, ["12.0"], []),
    "collected": ("check model.py:collects --at 2.0 a=3.0 b=4.0", 0, ["7  ", "agrees"], []),
    "rule by name": ("check model.py:declared --at 2.0 k=4.0", 0, ["4  ", "agrees"], []),
    "function of NumPy's by name": ("check numpy:sum --at 'ones(2, 2)' axis=0", 0, ["agrees"], []),
    "infinite": ("track model.py:cube --at -inf", 0, ["→ -inf"], []),
    "not a number": ("track model.py:pair --at nan '[inf, nan]'", 2, [], ["TypeError"]),
    "wrong": ("check model.py:jump --at 2.5", 1, ["WRONG"], []),
    "rules": ("rules 'np.lin*'", 0, ["numpy.linalg.inv ", "microgradpy.rules.numpy.linear_algebra.solving"], []),
    "rules of SciPy": ("rules 'scipy.special.gamma*'", 0, ["scipy.special.gammaln"], []),
    "rules of methods": ("rules 'numpy.ndarray.tr*'", 0, ["numpy.ndarray.transpose"], []),
    "linear": ("rules numpy.reshape", 0, ["linear"], []),
    "version": ("--version", 0, ["microgradpy 0", "NumPy"], []),
    "graph": ("graph model.py:energy", 0, ["digraph", "iter(range("], []),
    "syntax": ("check model.py:formula --at 1.0", 2, [], ["model.py:18: refused: `eval`", "^^^^", "Write out what"]),
    "async": ("adjoint model.py:later", 2, [], ["model.py:63: refused: An `async` function"]),
    "no source": ("ir numpy:sin", 2, [], ["refused: 'sin' has no Python source", "Only functions written in Python"]),
    "own exception": ("check model.py:divided --at 1.0", 2, [], ["Traceback", "return x / 0.0", "ZeroDivisionError"]),
    "too few values": (
        "check model.py:pair --at 1.0",
        2,
        [],
        ["--at does not fit model.py:pair, which takes x, y: missing a required argument: 'y'"],
    ),
    "too few values for a text": ("adjoint model.py:pair --at 1.0", 2, [], ["missing a required argument: 'y'"]),
    "too many values": ("track model.py:cube --at 1.0 2.0", 2, [], ["takes x: too many positional arguments"]),
    "unknown name": ("check model.py:scaled --at 1.0 scal=2.0", 2, [], ["which takes x, scale=1.0", "keyword argument 'scal'"]),
    "name twice": ("check model.py:scaled --at 1.0 scale=2.0 scale=3.0", 2, [], ["scale is given twice"]),
    "name and position": ("check model.py:scaled --at 1.0 x=2.0", 2, [], ["multiple values for argument 'x'"]),
    "position last": ("check model.py:scaled --at scale=2.0 1.0", 2, [], ["'1.0' comes after scale: values by position"]),
    "name without value": ("check model.py:scaled --at 1.0 scale=", 2, [], ["'' is neither a Python literal"]),
    "constants only": ("check model.py:scaled --at x=1.0", 2, [], ["What is given by name is constant"]),
    "text of a partial": ("adjoint model.py:collects --at 1.0 a=2.0", 2, [], ["takes a by `**`", "function that calls it"]),
    "a text": ("check model.py:cube --at \"'text'\"", 2, [], ["TypeError"]),
    "returns a text": ("check model.py:first --at \"['text']\"", 2, [], ["refused: gradient needs a function"]),
    "infinite tolerance": ("check model.py:cube --at 1.0 --rtol inf", 2, [], ["'inf' is no positive number"]),
    "negative seed": ("check model.py:cube --at 1.0 --seed -1", 2, [], ["'-1' is no whole number"]),
    "negative depth": ("track model.py:cube --at 1.0 --depth -1", 2, [], ["'-1' is no whole number"]),
    "too large": ("check model.py:cube --at 'ones(9000000, 9000000)'", 2, [], ["cannot be made: Unable to allocate"]),
    "ragged": ("check model.py:cube --at 'array([[1.0], []])'", 2, [], ["cannot be made: setting an array element"]),
    "empty file": ("check model.py:cube --at empty.npy", 2, [], ["it is no file of `np.save` with an array of numbers"]),
    "objects in a file": ("check model.py:cube --at objects.npy", 2, [], ["it is no file of `np.save`"]),
    "missing file": ("check model.py:cube --at nowhere.npy", 2, [], ["nowhere.npy cannot be read as an array: No such file"]),
    "argnums without values": ("adjoint model.py:pair --argnums 2", 2, [], ["--argnums has 2, and model.py:pair takes 2 arg"]),
    "exported over a program": ("export model.py:cube --at 1.0 -o model.py", 2, [], ["give another file, or --overwrite"]),
    "exported to nowhere": ("export model.py:cube --at 1.0 -o no/cube.py", 2, [], ["no/cube.py cannot be written: No such"]),
    "no such function": ("ir model.py:cub", 2, [], ["model.py has no 'cub'. Did you mean 'cube'?"]),
    "nothing like it": ("ir model.py:zzz", 2, [], ["It has: ", "energy"]),
    "no such module": ("ir nowhere.at_all:f", 2, [], ["There is no module 'nowhere'"]),
    "no such file": ("ir nowhere.py:f", 2, [], ["There is no file nowhere.py"]),
    "broken file": ("ir broken.py:f", 2, [], ["ModuleNotFoundError", "import not_there"]),
    "ends itself": ("ir ending.py:f", 2, [], ["the program ended itself (SystemExit(0))"]),
    "part of a package": ("ir inner.py:f", 2, [], ["inner.py is a part of a package", "write `package.inner:function`"]),
    "no syntax": ("ir syntax.py:f", 2, [], ["syntax.py", "SyntaxError"]),
    "no function": ("ir model.py:number", 2, [], ["is no function, but of type int"]),
    "only a file": ("ir model.py", 2, [], ["write `file.py:function`"]),
    "code": ("check model.py:cube --at '__import__(\"os\").getpid()'", 2, [], ["neither a Python literal"]),
    "unpacked": ("check model.py:cube --at '{**x}'", 2, [], ["neither a Python literal"]),
    "call": ("check model.py:cube --at 'exit(1)'", 2, [], ["'exit' is none of array, ones"]),
    "no value": ("check model.py:cube --at x", 2, [], ["neither a Python literal"]),
    "wrong shape": ("check model.py:cube --at 'ones(-1)'", 2, [], ["'ones(-1)' cannot be made: negative dimensions"]),
    "no array": ("check model.py:cube --at model.npy", 2, [], ["cannot be read as an array"]),
    "argnums": ("adjoint model.py:cube --at 1.0 --argnums 1", 2, [], ["--argnums has 1, and --at has 1 values"]),
    "no values": ("check model.py:cube", 2, [], ["--at"]),
    "no command": ("", 2, [], ["usage:"]),
    "unknown command": ("gradient model.py:cube", 2, [], ["invalid choice"]),
    "unknown ending": ("graph model.py:cube -o cube.jpg", 2, [], ["should end in one of .svg, .dot, .mmd"]),
    "no folder": ("graph model.py:cube -o nowhere/cube.svg", 2, [], ["nowhere/cube.svg cannot be written: No such file"]),
    "no rule": ("rules numpy.lix*", 2, [], ["No function whose name fits 'numpy.lix*' has a rule"]),
}


@pytest.mark.parametrize("typed, status, printed, complained", RUNS.values(), ids=RUNS.keys())
def test_run(shell, typed, status, printed, complained):
    run = shell(typed)
    assert run.status == status, run
    for words in printed:
        assert words in run.out
    for words in complained:
        assert words in run.err
    assert run.out or status == 2
    if status == 2 and "Traceback" not in complained:
        assert "microgradpy/" not in run.err  # no frames of the package


# Commands with files to write, and what is in these.
FILES = {
    "cube.svg": ("graph model.py:cube -o cube.svg", "wrote cube.svg (1 blocks of cube)", "<svg "),
    "cube.dot": ("graph model.py:cube -o cube.dot", "wrote cube.dot", "digraph"),
    "cube.mmd": ("graph model.py:cube --stage primal -o cube.mmd", "wrote cube.mmd", "flowchart TD"),
    "cube.html": ("explain model.py:cube --at 2.0 -o cube.html", "wrote cube.html", "<!DOCTYPE html>"),
}


@pytest.mark.parametrize("name", FILES)
def test_written_file(shell, name):
    typed, said, start = FILES[name]
    run = shell(typed)
    assert run.status == 0 and run.out.startswith(said), run
    assert (shell.folder / name).read_text().startswith(start)


def test_a_page_of_a_refused_call_is_written_all_the_same(shell):
    run = shell("explain model.py:formula --at 1.0 -o formula.html")
    assert run.status == 2 and "model.py:18: refused: `eval`" in run.err
    assert "Refused. `eval`" in (shell.folder / "formula.html").read_text()


def test_values_by_name_are_written_into_the_module(shell):
    run = shell("export model.py:scaled --at 2.0 scale=3.0 -o cube.py")
    assert run.status == 0, run
    namespace: dict[str, Any] = {}
    exec((shell.folder / "cube.py").read_text(), namespace)
    assert namespace["value_and_gradient"](2.0) == (6.0, (3.0,))
    (shell.folder / "cube.py").write_text("x = 1\n")
    assert shell("export model.py:cube --at 2.0 -o cube.py").status == 2
    assert shell("export model.py:cube --at 2.0 -o cube.py --overwrite").status == 0
    assert "value_and_gradient" in (shell.folder / "cube.py").read_text()


JSON = {
    "ir": ("ir model.py:cube --json", {"stage": "lowered"}),
    "adjoint": ("adjoint model.py:cube --at 2.0 --json", {"arguments": [2.0], "file": "model.py", "line": 8}),
    "check": ("check model.py:energy --at u.npy 0.1 3 --json", {"ok": True, "notes": []}),
    "wrong": ("check model.py:jump --at 2.5 --json", {"ok": False}),
    "graph": ("graph model.py:energy --json", {"command": "graph"}),
    "explain": ("explain model.py:says --at 2.0 -o says.html --json", {"written": "says.html"}),
    "rules": ("rules np.tan* --json", {"pattern": "numpy.tan*"}),
    "by name": ("adjoint model.py:scaled --at 2.0 scale=3.0 --json", {"arguments": [2.0], "keywords": {"scale": 3.0}}),
    "usage": (
        "check model.py:cub --at 2.0 --json",
        {"error": "usage", "message": "model.py has no 'cub'. Did you mean 'cube'?"},
    ),
    "exception": ("check model.py:divided --at 2.0 --json", {"error": "ZeroDivisionError"}),
    "place of nobody": ("check model.py:first --at \"['text']\" --json", {"refused": "NonScalarOutputError", "file": ""}),
    "refusal": (
        "check model.py:formula --at 1.0 --json",
        {"refused": "UnsupportedSyntaxError", "line": 18},
    ),
}


@pytest.mark.parametrize("typed, expected", JSON.values(), ids=JSON.keys())
def test_json(shell, typed, expected):
    run = shell(typed)
    assert run.out, run.err
    values = json.loads(run.out)
    assert values | expected == values


def test_json_of_the_check_has_numbers(shell):
    (row,) = json.loads(shell("check model.py:cube --at 2.0 --json").out)["rows"]
    assert row["gradient"] == 12.0 and abs(row["difference"] - 12.0) < 1e-6
    assert (row["argument"], row["shape"], row["verdict"]) == ("x", [], "agrees")


def test_json_has_no_numbers_that_json_has_not(shell):
    run = shell("adjoint model.py:pair --at 1e999 'array([1.0])' --json")
    assert json.loads(run.out, parse_constant=pytest.fail)["arguments"] == ["inf", [1.0]]


def test_output_of_the_program_is_not_among_that_of_the_command(shell):
    run = shell("check model.py:says --at 2.0")
    assert "called" not in run.out and "imported" not in run.out
    assert "called" in run.err


# Help


def examples() -> list[str]:
    """The commands in the texts of help."""
    texts = [build_parser().format_help(), *(_help_of(command.name) for command in COMMANDS)]
    return [line.strip() for text in texts for line in text.splitlines() if line.strip().startswith(f"{PROGRAM} ")]


def _help_of(name: str) -> str:
    parser = build_parser()
    (subparsers,) = (action for action in parser._actions if action.dest == "command")
    return subparsers.choices[name].format_help()


@pytest.mark.parametrize("example", dict.fromkeys(examples()))
def test_examples_in_the_help_run_as_they_stand(shell, example):
    words = shlex.split(example.removeprefix(PROGRAM))
    assert shell(shlex.join(words)).status == 0


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_help_of_each_command_has_an_example(shell, command):
    run = shell(f"{command.name} --help")
    assert run.status == 0 and f"example:\n  {PROGRAM} {command.name} " in run.out
    assert command.summary in shell("--help").out


def test_help_imports_nothing_that_takes_time():
    heavy = {"numpy", "scipy", "matplotlib", "astor", "microgradpy.compiler", "microgradpy.rules"}
    assert not heavy & modules_after("from microgradpy.cli.main import main; main(['ir', '--help']); main(['--version'])")


def test_commands_import_no_library_that_they_do_not_need():
    command = ["adjoint", "demo:root", "--at", "2.0"]
    assert not {"scipy", "matplotlib", "pytest"} & modules_after(f"from microgradpy.cli.main import main; main({command})")


def modules_after(program: str) -> set[str]:
    """The modules that have been imported when a program is through."""
    program += "; import sys; sys.stdout.write('\\n' + ' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(run.stdout.splitlines()[-1].split())


# The shell around


def test_it_runs_as_a_module_and_as_a_script(tmp_path):
    (tmp_path / "model.py").write_text("def square(x):\n    return x * x\n")
    run = subprocess.run(
        [sys.executable, "-m", "microgradpy", "check", "model.py:square", "--at", "3.0"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=environment(),
    )
    assert run.returncode == 0 and "agrees" in run.stdout and not run.stderr
    project = Path(__file__).parents[2] / "pyproject.toml"
    module, _, name = tomllib.loads(project.read_text())["project"]["scripts"]["microgradpy"].partition(":")
    assert getattr(import_module(module), name) is main


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def test_a_reader_that_stops_reading_is_no_error(tmp_path):
    command = f"{sys.executable} -m microgradpy rules | head -1"
    run = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert run.stdout.startswith("function") and not run.stderr


@pytest.mark.parametrize("command", ["ir model.py:square", "--version", "check model.py:square --at 2.0"])
def test_an_output_that_is_closed(tmp_path, command):
    (tmp_path / "model.py").write_text("def square(x):\n    return x * x\n")
    command = f"{sys.executable} -m microgradpy {command}"
    run = subprocess.run(f"{command} >&-", shell=True, cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize("variables, is_coloured", [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colour_on_a_terminal_only(shell, monkeypatch, variables, is_coloured):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for typed in ("adjoint model.py:cube --at 2.0", "ir model.py:cube"):
        plain = shell(typed).out
        assert "\x1b" not in plain
        on_terminal = shell(typed, terminal=True).out
        assert ("\x1b[" in on_terminal) == is_coloured
        assert re.sub(r"\x1b\[\d*m", "", on_terminal) == plain


def test_colours_end_where_they_begin():
    assert coloured("keyword", "def") == "\x1b[34mdef\x1b[0m"
    assert coloured("", "x") == "x"


def test_letters_that_the_terminal_lacks(shell):
    (shell.folder / "greek.py").write_text(textwrap.dedent("def f(α):\n    return α * 2.0\n"), encoding="utf-8")
    run = shell("primal greek.py:f --at 1.0", encoding="ascii")
    assert run.status == 0 and "def f_primal(\\u03b1):" in run.out


def test_a_module_of_the_same_name_is_left_alone(shell):
    (shell.folder / "json.py").write_text("def f(x):\n    return x * x\n")
    assert shell("check json.py:f --at 1.0").status == 0
    assert sys.modules["json"] is json
