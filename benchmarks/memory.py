"""Print what the gradients of long loops keep, with checkpoints and without, and what gradients keep that a person has written:
`python -m benchmarks.memory [--steps 100000]`.

The peak is what Python allocates in a whole call beyond what there was before it (`tracemalloc`), the time that of a whole call
without this; ratios of times are taken within a round.
"""

from __future__ import annotations

from benchmarks.run import calls_per_timing, time_calls  # first: it sets the number of threads before NumPy is loaded

# isort: split

import argparse
import math
import statistics
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.memory_by_hand import PAIRS, Pair
from microgradpy import grad

SCHEDULES: tuple[Any, ...] = (None, "sqrt", 1000, "log")


def recurrence(x: float, w: float, n: int) -> float:
    y = x
    for _ in range(n):
        y = math.sin(y) * w + 0.5
    return y


def predators(x: float, rate: float, n: int) -> float:
    """Lotka and Volterra, by the midpoint rule."""
    h = 1e-3
    u, v = x, 1.0
    for _ in range(n):
        du, dv = rate * u - 0.4 * u * v, 0.1 * u * v - 0.4 * v
        mu, mv = u + 0.5 * h * du, v + 0.5 * h * dv
        u, v = u + h * (rate * mu - 0.4 * mu * mv), v + h * (0.1 * mu * mv - 0.4 * mv)
    return u * v


def newton(x: float, w: float, n: int) -> float:
    y, k = x, 0
    while k < n:
        y, k = 0.5 * (y + w / y) + 1e-3 * y, k + 1
    return y


def vectors(x: float, w: float, n: int) -> Any:
    y = np.linspace(0.0, x, 1000)
    for _ in range(n // 100):
        y = np.sin(y) * w + 0.5
    return np.sum(y)


LOOPS: tuple[Callable[..., Any], ...] = (recurrence, predators, newton, vectors)


def peak_of(f: Callable[..., Any], *args: Any) -> int:
    """Bytes at the peak of a call."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    f(*args)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return peak


def rows(loop: Callable[..., Any], steps: int, rounds: int) -> list[tuple[str, float, float, float, float]]:
    """Of each schedule that a loop has: its name, kilobytes, how many times less than without one, seconds, and their ratio."""
    schedules = [each for each in SCHEDULES if loop is not newton or not isinstance(each, int)]
    gradients = [grad(loop, checkpoint=each) for each in schedules]
    for gradient in gradients:
        for _ in range(3):  # all is compiled then
            gradient(1.0, 1.1, 3000)
    peaks = [peak_of(gradient, 1.0, 1.1, steps) for gradient in gradients]
    args = 1.0, 1.1, steps
    calls = [calls_per_timing(gradient, args) for gradient in gradients]
    times = [[time_calls(*timed) for timed in zip(gradients, [args] * len(calls), calls, strict=True)] for _ in range(rounds)]
    found = []
    for number, (schedule, peak) in enumerate(zip(schedules, peaks, strict=True)):
        seconds = statistics.median(each[number] for each in times)
        ratio = statistics.median(each[number] / each[0] for each in times)
        found.append((str(schedule or "none"), peak / 1e3, peaks[0] / peak, seconds, ratio))
    return found


def beside_hand(pair: Pair, steps: int, rounds: int) -> tuple[float, float, float]:
    """The bytes that a gradient takes, of a step if it is that of a loop, those of the gradient by hand, and the ratio of the
    times."""
    gradients = grad(pair.function, argnums=pair.argnums), pair.gradient
    few, many = pair.arguments(steps // 2), pair.arguments(steps)
    for _ in range(4):  # all is compiled then
        gradients[0](*few)
    for found, expected in zip(gradients[0](*few), gradients[1](*few), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    if pair.loop:
        sizes = [(peak_of(gradient, *many) - peak_of(gradient, *few)) / (steps - steps // 2) for gradient in gradients]
    else:
        sizes = [float(peak_of(gradient, *few)) for gradient in gradients]
    calls = [calls_per_timing(gradient, many) for gradient in gradients]
    times = [[time_calls(gradient, many, each) for gradient, each in zip(gradients, calls, strict=True)] for _ in range(rounds)]
    return sizes[0], sizes[1], statistics.median(ours / hand for ours, hand in times)


def main() -> None:
    parser = argparse.ArgumentParser(description="What the gradients of long loops keep.")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    print(f"{'loop':14}{'checkpoint':>12}{'peak KB':>12}{'times less':>12}{'seconds':>10}{'ratio':>8}")
    for loop in LOOPS:
        for name, kilobytes, less, seconds, ratio in rows(loop, options.steps, options.rounds):
            print(f"{loop.__name__:14}{name:>12}{kilobytes:12.1f}{less:12.1f}{seconds:10.4f}{ratio:8.2f}", flush=True)
    print(f"\n{'':24}{'bytes':>12}{'by hand':>12}{'ratio':>8}{'time':>8}")
    for pair in PAIRS:
        ours, hand, ratio = beside_hand(pair, 20_000 if pair.loop else 512, options.rounds)
        print(f"{pair.name:24}{ours:12.1f}{hand:12.1f}{ours / hand:8.2f}{ratio:8.2f}", flush=True)


if __name__ == "__main__":
    main()
