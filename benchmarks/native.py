"""Print what native code takes: `python -m benchmarks.native [--rounds 15]`.

Times of `grad(f, target="numba")`, entry included, and of `grad(f)`, as ratios to a gradient in plain Python or NumPy written
by hand; the versions in turn, the ratios taken within a round, medians. Last the CPU seconds of the first call, which compiles.
"""

from __future__ import annotations

from benchmarks.run import SECONDS_PER_TIMING  # first: it sets the number of threads before NumPy is loaded

# isort: split

import argparse
import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from benchmarks.loops import lotka_volterra, lotka_volterra_gradient_by_hand, newton, newton_gradient_by_hand
from microgradpy import grad


def expression(a: float, b: float, c: float) -> float:
    total = a * b + math.sin(c)
    return total**3 / (1.0 + a * a) + math.exp(-b) * c


def expression_by_hand(a: float, b: float, c: float) -> tuple[float, float, float]:
    total, ratio = a * b + math.sin(c), 1.0 / (1.0 + a * a)
    decay = math.exp(-b)
    square = total * total
    total_bar = 3.0 * square * ratio
    a_bar = total_bar * b - 2.0 * a * square * total * ratio * ratio
    return a_bar, total_bar * a - decay * c, total_bar * math.cos(c) + decay


def leaky(x: float, rate: float, n: int) -> float:
    total, t = 0.0, x
    for k in range(n):
        d = t - 0.001 * k
        if d > 0.0:
            total = total + d**2
            t = t - rate * d
        else:
            total = total - 0.1 * d
            t = t + 0.5 * rate
    return total


def leaky_by_hand(x: float, rate: float, n: int) -> tuple[float, float]:
    tape, t = [], x
    for k in range(n):
        d = t - 0.001 * k
        tape.append(d)
        t = t - rate * d if d > 0.0 else t + 0.5 * rate
    t_bar = rate_bar = 0.0
    for d in reversed(tape):
        if d > 0.0:
            rate_bar -= t_bar * d
            t_bar += 2.0 * d - t_bar * rate
        else:
            rate_bar += 0.5 * t_bar
            t_bar -= 0.1
    return t_bar, rate_bar


def neighbours(x: np.ndarray[Any, Any]) -> Any:
    """Rosenbrock's function, entry by entry."""
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] * x[i]) ** 2 + (1.0 - x[i]) ** 2
    return total


def neighbours_by_hand(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """In NumPy, without a loop."""
    d = x[1:] - x[:-1] ** 2
    x_bar = np.zeros_like(x)
    x_bar[:-1] = -400.0 * x[:-1] * d - 2.0 * (1.0 - x[:-1])
    x_bar[1:] += 200.0 * d
    return x_bar


def layer(w: np.ndarray[Any, Any], x: np.ndarray[Any, Any]) -> Any:
    h = np.tanh(x @ w)
    return np.mean((h - 1.0) ** 2)


def layer_by_hand(w: np.ndarray[Any, Any], x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    h = np.tanh(x @ w)
    bar = (2.0 / h.size) * (h - 1.0) * (1.0 - h * h)
    found: np.ndarray[Any, Any] = x.T @ bar
    return found


@dataclass(frozen=True)
class Case:
    """One program; `aim` is the ratio to the gradient by hand that is aimed at, where there is one."""

    name: str
    function: Callable[..., Any]
    by_hand: Callable[..., Any]
    args: tuple[Any, ...]
    argnums: tuple[int, ...] | int
    aim: float | None = None


_draw = np.random.default_rng(0)
_POPULATIONS = (1.0, 1.0, 1.1, 0.4, 0.4, 0.1)
CASES = (
    Case("scalar expression", expression, expression_by_hand, (0.7, 1.3, 0.4), (0, 1, 2), 0.65),
    Case("newton, while", newton, newton_gradient_by_hand, (2.0, 0.02), (0, 1), 0.18),
    Case("lotka-volterra RK4, 1000", lotka_volterra, lotka_volterra_gradient_by_hand, _POPULATIONS, tuple(range(6)), 0.027),
    Case("if/else loop, 1000", leaky, leaky_by_hand, (1.0, 0.01, 1000), (0, 1), 0.045),
    Case("entries of an array, 1000", neighbours, neighbours_by_hand, (_draw.normal(size=1000),), 0),
    Case("layer 16 x 16, 100 rows", layer, layer_by_hand, (_draw.normal(size=(16, 16)), _draw.normal(size=(100, 16))), 0),
)


def measure(case: Case, rounds: int) -> tuple[float, float, float, float]:
    """Seconds by hand, the ratios of native code and of the source target to that, and the seconds of the first call."""
    native, source = grad(case.function, case.argnums, target="numba"), grad(case.function, case.argnums)
    start = process_time()
    native(*case.args)
    first = process_time() - start
    versions = case.by_hand, native, source
    counts = [_count(version, case.args) for version in versions]
    rows = [
        [_seconds(version, case.args, count) for version, count in zip(versions, counts, strict=True)] for _ in range(rounds)
    ]
    hand = statistics.median(row[0] for row in rows)
    return hand, *(statistics.median(row[at] / row[0] for row in rows) for at in (1, 2)), first


def _count(version: Callable[..., Any], args: tuple[Any, ...]) -> int:
    """How many calls take as long as is measured at once; after so many that there is a head."""
    for _ in range(200):
        version(*args)
    return max(1, int(SECONDS_PER_TIMING / _seconds(version, args, 5)))


def _seconds(version: Callable[..., Any], args: tuple[Any, ...], count: int) -> float:
    start = process_time()
    for _ in range(count):
        version(*args)
    return max(process_time() - start, 1e-9) / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print(f"{'':28}{'hand us':>10}{'native':>9}{'aim':>8}{'source':>9}{'first s':>9}")
    for case in CASES:
        hand, native, source, first = measure(case, rounds)
        aim = "-" if case.aim is None else f"{case.aim:.3f}"
        print(f"{case.name:28}{hand * 1e6:10.2f}{native:9.3f}{aim:>8}{source:9.2f}{first:9.1f}")


if __name__ == "__main__":
    main()
