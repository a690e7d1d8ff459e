"""Print what the first gradient of a script costs with and without a cache on disk: `python -m benchmarks.disk_cache`.

Each round is three processes of a script: one without a cache, one that finds nothing in it, and one that finds its gradient
there. The CPU time is that from after the import of NumPy to after the gradient, with all imports. Bytecode is cached, in a
folder of the benchmark's that a process fills before the first round.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
COLUMNS = ("no cache", "first run", "second run")
STEPS = """
from time import process_time
import numpy as np
start = process_time()
from microgradpy import grad
{program}
print(process_time() - start)
"""
ONE_LINE = """
def f(x):
    return x * x
grad(f)(2.0)
"""
NETWORK = """
X, Y = np.sin(np.arange(512.0)).reshape(64, 8), np.cos(np.arange(64.0)).reshape(64, 1)

def layer(x, w, b):
    return np.tanh(x @ w + b)

def loss(w1, b1, w2, b2, w3):
    h = layer(layer(X, w1, b1), w2, b2)
    return np.mean((h @ w3 - Y) ** 2) + 1e-3 * np.sum(w3 * w3)

grad(loss, (0, 1, 2, 3, 4))(np.ones((8, 16)), np.zeros(16), np.ones((16, 16)), np.zeros(16), np.ones((16, 1)))
"""
SIMULATION = """
import math
DRAG, STEP = 0.3, 0.01

def acceleration(x, v, stiffness):
    force = -stiffness * x - DRAG * v * abs(v)
    if x > 0.5:
        force = force - 100.0 * (x - 0.5)
    elif x < -0.5:
        force = force - 100.0 * (x + 0.5)
    return force

def energy(x, v, stiffness):
    total = 0.0
    for k in range(200):
        a = acceleration(x, v, stiffness)
        half = v + 0.5 * STEP * a
        x = x + STEP * half
        v = half + 0.5 * STEP * acceleration(x, half, stiffness)
        total += 0.5 * v * v + 0.5 * stiffness * x * x
        if total > 1e6:
            break
    return math.log(total) / (k + 1)

grad(energy, (0, 1, 2))(1.0, 0.5, 4.0)
"""
PROGRAMS = {"one line": ONE_LINE, "network of three layers": NETWORK, "simulation with branches": SIMULATION}


def run(script: Path, cache: str) -> float:
    """What one process has taken, in milliseconds."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MICROGRADPY_CACHE": cache}
    environment["PYTHONPYCACHEPREFIX"] = str(script.with_name("bytecode"))
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    result = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True)
    return float(result.stdout) * 1e3


def measured(name: str, rounds: int) -> list[float]:
    """The medians of the three columns of a program."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "script.py")
        script.write_text(STEPS.format(program=PROGRAMS[name]), encoding="utf-8")
        run(script, str(Path(folder, "before")))
        run(script, str(Path(folder, "before")))
        for number in range(rounds):
            cache = str(Path(folder, f"cache{number}"))
            times.append([run(script, each) for each in ("", cache, cache)])
    return [statistics.median(column) for column in zip(*times, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description="What the first gradient of a script costs.")
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    print(f"Python {platform.python_version()}, {rounds} processes each, bytecode cached, CPU ms beyond the import of NumPy")
    print(f"{'program':28}{''.join(f'{column:>12}' for column in COLUMNS)}")
    for name in PROGRAMS:
        print(f"{name:28}{''.join(f'{each:12.1f}' for each in measured(name, rounds))}")


if __name__ == "__main__":
    main()
