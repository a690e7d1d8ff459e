"""What tracking costs: the time of a tracked run against that of the plain call, and of questions to its trace.

`python -m benchmarks.tracking`"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.tracking import NestedCallNode, track
from microgradpy.tracking.nodes import descendants


def scalars(x: float, n: int) -> float:
    """A loop over numbers: nothing but the recording is to be seen."""
    r = x
    i = 0
    while i < n:
        r = r + math.sin(r) * x
        i = i + 1
    return r


def calls(x: float, n: int) -> float:
    """A call of a Python function in each iteration."""
    r = x
    for _ in range(n):
        r = bent(r, x)
    return r


def bent(r: float, x: float) -> float:
    return r + math.sin(r) * x


def arrays(x: Any, n: int) -> Any:
    """Arrays of 10,000 numbers, each of which is copied once."""
    y = x
    for _ in range(n):
        y = np.tanh(y) * 0.5 + x
    return y


CASES: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (scalars, (0.5, 1_100)),
    (scalars, (0.5, 11_100)),
    (calls, (0.5, 9_000)),
    (arrays, (np.linspace(0.0, 1.0, 10_000), 200)),
)


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def row(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[int, float, float, float, float]:
    """The number of nodes; milliseconds of the plain call and of the tracked one; microseconds per node of the answers to
    `backward` and to `forward`."""
    trace = track(function, *args)
    assert isinstance(trace, NestedCallNode)
    nodes = 1 + sum(1 for _ in descendants(trace))
    plain = min(seconds(lambda: function(*args)) for _ in range(3))
    tracked = min(seconds(lambda: track(function, *args)) for _ in range(3))
    trace[1].dependents()  # the index is made with the first question
    back, forth = trace[-1].backward(), trace[1].forward()
    answers = [seconds(trace[-1].backward) / max(1, len(back)), seconds(trace[1].forward) / max(1, len(forth))]
    return nodes, plain * 1e3, tracked * 1e3, answers[0] * 1e6, answers[1] * 1e6


def main() -> None:
    heads = ("plain ms", "tracked ms", "ratio", "us/node", "backward", "forward")
    print(f"{'program':10}{'nodes':>9}" + "".join(f"{head:>11}" for head in heads))
    for function, args in CASES:
        nodes, plain, tracked, back, forth = row(function, args)
        figures = (plain, tracked, tracked / plain, tracked * 1e3 / nodes, back, forth)
        print(f"{function.__name__:10}{nodes:9}" + "".join(f"{figure:11.1f}" for figure in figures))


if __name__ == "__main__":
    main()
