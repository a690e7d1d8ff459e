"""Print what calls cost that are left to run time: `python -m benchmarks.dispatched [--only NAME] [--rounds 15]`.

Each row is one call, as generated code makes it where nothing is proven of its operands: the dispatcher is called, and then
what it gives for the way back. *Us* is the CPU time of both, in microseconds; *ratio* is that by the time of the call itself.
*Tracked* is so where what is written has to be undone, with the cotangents of objects in shadows; *pure* where nothing is
written; `-` is what is refused there. *Calls* are the Python functions that were called, by the profiler. The versions of a
row are timed in turn; medians of the rounds.
"""

from __future__ import annotations

from benchmarks.run import SECONDS_PER_TIMING  # first: it sets the number of threads before NumPy is loaded

# isort: split

import argparse
import cProfile
import gc
import math
import operator
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from microgradpy import DifferentiationError, pullback
from microgradpy.runtime.dispatch import pullback_of
from microgradpy.runtime.modes import RUN
from microgradpy.state.dispatch import tracked_pullback_of
from microgradpy.state.shadows import Shadows
from microgradpy.state.whole import inside_run


class Box:
    def __init__(self, v: Any) -> None:
        self.v = v

    def scaled(self, s: Any) -> Any:
        return self.v * s

    @property
    def doubled(self) -> Any:
        return self.v * 2.0


def product(a: Any, b: Any) -> Any:
    return a * b


BOX, ITEMS, TABLE = Box(1.5), [1.0, 2.0, 3.0], {"k": 1.0}
ARRAY = np.arange(3.0)


@dataclass(frozen=True)
class Case:
    """One call, with the cotangent of its value."""

    id: str
    f: Callable[..., Any]
    args: tuple[Any, ...]
    y_bar: Any = 1.0

    def __str__(self) -> str:
        return self.id


CASES = (
    Case("a * b", operator.mul, (2.5, 1.5)),
    Case("a += b", operator.iadd, (2.5, 1.5)),
    Case("a * b of np.float64", operator.mul, (np.float64(2.5), 1.5)),
    Case("a ** 2", operator.pow, (2.5, 2)),
    Case("a < b", operator.lt, (2.5, 2.0), None),
    Case("math.sin(a)", math.sin, (2.5,)),
    Case("np.sin(a) of a float", np.sin, (2.5,)),
    Case("min(a, b)", min, (2.5, 1.0)),
    Case("sum(items)", sum, (ITEMS,)),
    Case("b.v", getattr, (BOX, "v")),
    Case("b.v = a", setattr, (BOX, "v", 2.0), None),
    Case("items[i]", operator.getitem, (ITEMS, 1)),
    Case("items[i] = a", operator.setitem, (ITEMS, 1, 2.0), None),
    Case("d[k]", operator.getitem, (TABLE, "k")),
    Case("d[k] = a", operator.setitem, (TABLE, "k", 2.0), None),
    Case("items.append(a)", list.append, (ITEMS, 2.0), None),
    Case("b.doubled, a property", getattr, (BOX, "doubled")),
    Case("b.scaled, a method", getattr, (BOX, "scaled"), None),
    Case("b.scaled(a)", BOX.scaled, (2.0,)),
    Case("product(a, b)", product, (2.0, 3.0)),
    Case("Box(a)", Box, (2.0,), None),
    Case("np.sin(x) of 3", np.sin, (ARRAY,), np.ones(3)),
    Case("a * x of 3", operator.mul, (2.0, ARRAY), np.ones(3)),
    Case("x[i]", operator.getitem, (ARRAY, 1)),
)


def tracked(case: Case) -> Any:
    """The call with its way back, where writes are tracked; returns the cotangents."""
    _, back = tracked_pullback_of(case.f, *case.args)
    bars = back(case.y_bar, Shadows())
    del ITEMS[3:]
    return bars


def pure(case: Case) -> Any:
    """The same where nothing is written."""
    _, back = pullback_of(case.f, *case.args)
    return back(case.y_bar)


def plain(case: Case) -> Any:
    """The call itself."""
    y = case.f(*case.args)
    del ITEMS[3:]
    return y


def seconds(run: Callable[[Case], Any], case: Case, count: int) -> float:
    """CPU time of one call."""
    start = process_time()
    for _ in range(count):
        run(case)
    return (process_time() - start) / count


def calls_of(run: Callable[[Case], Any], case: Case) -> int:
    """How many functions a call has called, in Python and of the interpreter's."""
    profile = cProfile.Profile()
    profile.runcall(run, case)
    return sum(entry.callcount for entry in profile.getstats())  # type: ignore[attr-defined]


def is_refused(run: Callable[[Case], Any], case: Case) -> bool:
    try:
        for _ in range(3):  # what is resolved the first time is remembered
            run(case)
    except DifferentiationError:
        return True
    return False


def row(case: Case, rounds: int) -> str:
    """A line of the table."""
    runs = [run for run in (tracked, pure) if not is_refused(run, case)]
    counts = {run: max(1, int(SECONDS_PER_TIMING / 4 / seconds(run, case, 20))) for run in (plain, *runs)}
    times: list[dict[Any, float]] = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            times.append({run: seconds(run, case, counts[run]) for run in (plain, *runs)})
    finally:
        gc.enable()
    cells = [f"{1e6 * statistics.median(each[plain] for each in times):.2f}"]
    for run in (tracked, pure):
        if run not in runs:
            cells += ["-", "-", "-"]
            continue
        cells.append(f"{1e6 * statistics.median(each[run] for each in times):.1f}")
        cells.append(f"{statistics.median(each[run] / each[plain] for each in times):.0f}")
        cells.append(f"{calls_of(run, case)}")
    return f"| {case.id} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--only", default="", metavar="NAME", help="the calls with this in their names")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    pullback(lambda x: x * x, 1.0)  # the compiler is there
    RUN.is_inside = True  # a call like these is made by code that runs
    print("| call | itself us | tracked us | ratio | calls | pure us | ratio | calls |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    with inside_run():
        for case in CASES:
            if options.only in case.id:
                print(row(case, options.rounds), flush=True)


if __name__ == "__main__":
    main()
