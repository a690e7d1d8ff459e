"""Print what the first use of the package costs: `python -m benchmarks.first_use [--rounds 7] [--modules 20]`.

Each round is a process of its own, which imports NumPy, takes a public name of the package, and differentiates a function of
one line: CPU time of each step. Bytecode is cached, in a folder of the benchmark's that a process fills before the first round.
The unit in the second column is what that process takes to compile a module of Python's own library: a slower machine does
not change it. With `--modules` it prints what the imports cost, each without those that it causes, by folder and of the
costliest modules.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

BEFORE = {"first public name": 21.2, "first gradient": 1.25}
"""What this took when the table was begun, in units."""
ROOT = Path(__file__).parents[1]
STEPS = """
import json, sys
from time import process_time
def f(x):
    return x * x
start = process_time()
import numpy
middle = process_time()
{watch}
from microgradpy import grad
imported = process_time()
found = dict(costs)
grad(f)(2.0)
end = process_time()
import argparse, inspect
text = inspect.getsource(argparse)
def compiled():
    start = process_time()
    compile(text, "unit", "exec", dont_inherit=True)
    return process_time() - start
own = [name for name in sys.modules if name.startswith("microgradpy.")]
unit = sorted(compiled() for _ in range(5))[2]
steps = dict(numpy=middle - start, name=imported - middle, gradient=end - imported)
print(json.dumps(dict(steps, modules=len(own), unit=unit, costs=found)))
"""
WATCH = """
import importlib._bootstrap as bootstrap
costs, inner = {}, [0.0]
plain = bootstrap._find_and_load_unlocked
def watched(name, import_):
    start = process_time()
    inner.append(0.0)
    try:
        return plain(name, import_)
    finally:
        took = process_time() - start
        costs[name] = took - inner.pop()
        inner[-1] += took
bootstrap._find_and_load_unlocked = watched
"""


def run(folder: str, watch: str = "costs = {}") -> dict[str, Any]:
    """What one process has measured, in seconds."""
    program = Path(folder, "program.py")
    program.write_text(STEPS.format(watch=watch), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(Path(folder, "bytecode"))}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    result = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def row(name: str, times: list[float], units: list[float]) -> str:
    """One row of the table."""
    took = statistics.median(times) * 1e3
    in_units = statistics.median(time / unit for time, unit in zip(times, units, strict=True))
    before = f"{BEFORE[name]:.1f}" if name in BEFORE else "-"
    return f"{name:28}{took:9.1f}{in_units:9.2f}{before:>14}"


def table(rounds: int, modules: int) -> None:
    """Print all rows."""
    with tempfile.TemporaryDirectory() as folder:
        run(folder)
        found = [run(folder) for _ in range(rounds)]
        watched = [run(folder, WATCH)["costs"] for _ in range(rounds)] if modules else []
    units = [one["unit"] for one in found]
    print(f"Python {platform.python_version()}, {rounds} processes, bytecode cached, no generated code from a disk")
    print(f"{'step':28}{'CPU ms':>9}{'units':>9}{'units before':>14}")
    for key, name in (("numpy", "NumPy"), ("name", "first public name"), ("gradient", "first gradient")):
        print(row(name, [one[key] for one in found], units))
    print(f"modules of the package: {found[0]['modules']}; unit: `compile` of the text of `argparse`")
    if watched:
        profile({name: statistics.median(one.get(name, 0.0) for one in watched) * 1e3 for name in watched[0]}, modules)


def part_of(module: str) -> str:
    """What a module belongs to: a folder of the package, or somebody's library."""
    package, _, rest = module.partition(".")
    if package != "microgradpy":
        return package if package in ("numpy", "astor") else "the standard library"
    return f"{package}.{rest.partition('.')[0]}" if "." in rest else f"{package}.*"


def profile(costs: dict[str, float], modules: int) -> None:
    """Print what the modules cost, by what they belong to, and those that cost most."""
    parts: dict[str, list[float]] = {}
    for name, took in costs.items():
        parts.setdefault(part_of(name), []).append(took)
    print(f"\n{'imported after NumPy':28}{'CPU ms':>9}{'modules':>9}")
    for part, each in sorted(parts.items(), key=lambda item: -sum(item[1])):
        print(f"{part:28}{sum(each):9.1f}{len(each):9}")
    for name, took in sorted(costs.items(), key=lambda item: -item[1])[:modules]:
        print(f"  {name:44}{took:9.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description="What the first use costs.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--modules", type=int, default=0)
    given = parser.parse_args()
    table(given.rounds, given.modules)


if __name__ == "__main__":
    main()
