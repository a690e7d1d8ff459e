"""Print how the time of gathering and scattering in a loop grows: `python -m benchmarks.indexing`.

An array of n entries is read, or written, n times, one entry each. The cotangents of all entries are one array that is added
to in place, so that twice the size takes twice the time, not four times.
"""

from __future__ import annotations

from benchmarks.run import time_calls  # first: it sets the number of threads before NumPy is loaded

# isort: split

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy import value_and_grad

SIZES = (1000, 2000, 4000, 8000, 16000, 32000)


def gathered(x: Any) -> Any:
    """Every entry is read."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total


def scattered(x: Any) -> Any:
    """Every entry is written."""
    y = x * 2.0
    for i in range(len(x)):
        y[i] = i * 0.5
    return np.sum(y * x)


def updated(x: Any) -> Any:
    """Every entry is read and written."""
    y = x * 2.0
    for i in range(len(x)):
        y[i] = y[i] * 1.5
    return np.sum(y * x)


PROGRAMS: tuple[Callable[[Any], Any], ...] = (gathered, scattered, updated)


def rows(program: Callable[[Any], Any], sizes: tuple[int, ...], rounds: int) -> list[tuple[int, float, float]]:
    """The size, the milliseconds of value and gradient, and the ratio to the time of the size before: the shortest times of
    some rounds, in each of which all sizes have their turn."""
    gradient = value_and_grad(program)
    arguments = [np.linspace(0.5, 1.5, size) for size in sizes]
    gradient(arguments[0])
    table = [[time_calls(gradient, (x,), 1) for x in arguments] for _ in range(rounds)]
    times = [min(column) * 1e3 for column in zip(*table, strict=True)]
    before = [float("nan"), *times[:-1]]
    return [(size, time, time / last) for size, time, last in zip(sizes, times, before, strict=True)]


def main() -> None:
    print(f"{'program':12}{'n':>8}{'ms':>10}{'ratio':>8}")
    for program in PROGRAMS:
        for size, time, ratio in rows(program, SIZES, 15):
            print(f"{program.__name__:12}{size:8}{time:10.2f}{ratio:8.2f}")


if __name__ == "__main__":
    main()
