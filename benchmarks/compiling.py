"""Print what compilation costs: `python -m benchmarks.compiling [--rounds 5]`.

A row is the CPU time of the first five gradients of a program less that of five later ones, in a process that has compiled
another program like it before. Each round takes a new copy of the text, in a file of its own, so that nothing of it is known.
The unit in the last columns is what Python takes to compile one module of its own library: a slower machine does not change it.
"""

from __future__ import annotations

import os

# Read when NumPy is loaded: one thread, so that the ratios are about the code.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[_variable] = "1"

import argparse  # noqa: E402
import importlib.util  # noqa: E402
import inspect  # noqa: E402
import platform  # noqa: E402
import statistics  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import textwrap  # noqa: E402
from collections.abc import Callable  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from itertools import count  # noqa: E402
from pathlib import Path  # noqa: E402
from time import process_time  # noqa: E402
from types import ModuleType  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks.compiled_programs import network, simulation, smoothing  # noqa: E402
from microgradpy import cache_clear, grad  # noqa: E402

CALLS = 5
HEADER = f"{'program':28}{'CPU ms':>9}{'units':>9}{'units before':>14}{'goal ms':>9}"
_UNIT_OF_TIME = argparse  # whose text is compiled as the unit
_names = count()


@dataclass(frozen=True, slots=True)
class Program:
    """The text of a module, the function in it that is differentiated, and its arguments. `before` is what this took when the
    table was begun, in units; `goal` is in milliseconds."""

    id: str
    text: str
    name: str
    argnums: tuple[int, ...]
    args: tuple[Any, ...]
    before: float
    goal: float | None

    def __str__(self) -> str:
        return self.id


def text_of(function: Callable[..., Any]) -> str:
    """A module with one function."""
    return f"import math\n\nimport numpy as np\n\n\n{textwrap.dedent(inspect.getsource(function))}"


def statements(number: int) -> str:
    """A module with a function of so many statements on single numbers."""
    forms = ("{0} = math.sin({1}) * {2} + 0.5", "{0} = {1} - {2} * 0.1", "{0} = {1} / (1.0 + {2} * {2})", "{0} = {1} * {2} + x")
    variables = ("x", "y", *(f"v{index}" for index in range(number)))
    lines = [
        "    " + forms[index % len(forms)].format(variables[index + 2], variables[index + 1], variables[index])
        for index in range(number)
    ]
    return "\n".join(["import math", "", "", "def chain(x, y):", *lines, f"    return {variables[-1]}", ""])


def choice(number: int) -> str:
    """A module with a function that calls one of so many formulas, each of which calls another one, by the name of a method."""
    parts = ["import math", "", ""]
    for index in range(number):
        parts += [
            f"def roughness_{index}(x, e):",
            f"    t = math.log10(e / 3.7 + {index + 1}.0 / x)",
            f"    return t * t + math.exp(-x * 1e-{index % 5 + 3})",
            "",
            "",
            f"def formula_{index}(x, e):",
            f"    a = roughness_{index}(x, e)",
            f"    b = a + {index}.5 * math.sqrt(x)",
            "    if b > 4.0:",
            "        b = math.log(b) + a / b",
            "    return b * b - a",
            "",
            "",
        ]
    parts += ["def choice(x, e, method):"]
    for index in range(number):
        parts += [f"    if method == {index}:", f"        return formula_{index}(x, e)"]
    return "\n".join([*parts, "    raise ValueError(method)", ""])


def _network_arguments() -> tuple[Any, ...]:
    draw = np.random.default_rng(0)
    shapes = [(2, 16), (16,), (16, 16), (16,), (16, 2), (2,)]
    weights = [draw.normal(0.0, 0.5, shape) for shape in shapes]
    return *weights, draw.normal(size=(100, 2)), np.eye(2)[draw.integers(0, 2, 100)]


PROGRAMS = [
    Program("moons MLP 16-16", text_of(network), "network", tuple(range(6)), _network_arguments(), 2.82, 25),
    Program("simulation of 50 lines", text_of(simulation), "simulation", (0, 1, 2), (1.0, 0.5, 0.25), 15.5, 90),
    Program("100 statements", statements(100), "chain", (0, 1), (0.5, 0.25), 28.7, None),
    Program("400 statements", statements(400), "chain", (0, 1), (0.5, 0.25), 128, 700),
    Program("one of 30 formulas", choice(30), "choice", (0, 1), (2e4, 1e-3, 7), 40.1, None),
    Program("smoothing in place", text_of(smoothing), "smoothing", (0, 1), (np.linspace(0.0, 1.0, 30), 0.1), 2.65, None),
]


def new_copy(program: Program, folder: str) -> Callable[..., Any]:
    """The function of a program from a file that was never read before."""
    name = f"compiled_program_{next(_names)}"
    path = Path(folder, f"{name}.py")
    path.write_text(program.text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    found: Callable[..., Any] = getattr(module, program.name)
    return found


def cost(program: Program, folder: str) -> float:
    """Seconds of CPU that the first gradients of a new copy take more than later ones."""
    gradient = grad(new_copy(program, folder), argnums=program.argnums)
    cache_clear()
    start = process_time()
    for _ in range(CALLS):
        gradient(*program.args)
    middle = process_time()
    for _ in range(CALLS):
        gradient(*program.args)
    return 2 * middle - start - process_time()


def unit_of_time(module: ModuleType = _UNIT_OF_TIME) -> float:
    """Seconds of CPU that Python takes to compile a module of its library."""
    text = inspect.getsource(module)
    start = process_time()
    compile(text, "unit", "exec", dont_inherit=True)
    return process_time() - start


def measure(program: Program, rounds: int) -> str:
    """One row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        cost(program, folder)
        pairs = [(cost(program, folder), unit_of_time()) for _ in range(rounds)]
    took = statistics.median(seconds for seconds, _ in pairs) * 1e3
    units = statistics.median(seconds / unit for seconds, unit in pairs)
    goal = "-" if program.goal is None else f"{program.goal:.0f}"
    return f"{program.id:28}{took:9.1f}{units:9.2f}{program.before:14.2f}{goal:>9}"


def table(rounds: int) -> None:
    """Print all rows."""
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {rounds} rounds, process warm, nothing from a disk")
    print(HEADER)
    for program in PROGRAMS:
        print(measure(program, rounds), flush=True)
    print(f"CPU time of the first {CALLS} gradients less {CALLS} later ones; unit: `compile` of the text of `argparse`")


def main() -> None:
    parser = argparse.ArgumentParser(description="What compilation costs.")
    parser.add_argument("--rounds", type=int, default=5)
    table(parser.parse_args().rounds)


if __name__ == "__main__":
    main()
