"""Print what gradients of ordinary Python cost: `python -m benchmarks.ordinary [--only NAME] [--rounds 15] [--json FILE]`.

Each row is a program as its users write it. *gradient / function* is the time of `grad(f, argnums)`, made once and called
over and over, by that of the function called as it is, both with all that an entry takes; beside it the same of autograd on
the same text. The three are timed in turn, the ratios taken within a round; medians. *memory* is the peak of what the
gradient allocates by that of the function. *first* is the CPU time of a program's first gradient, with all compilation.
Gradients are held against central differences before anything is timed, and afterwards, as what runs after many calls is
other code.
"""

from __future__ import annotations

from benchmarks.run import (
    SECONDS_PER_TIMING,
    calls_per_timing,
    time_calls,
)  # first: it sets the number of threads before NumPy is loaded

# isort: split

import argparse
import gc
import importlib
import json
import platform
import statistics
import sys
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import process_time
from types import ModuleType
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks import ordinary_peer
from benchmarks.ordinary_checks import Differences
from benchmarks.ordinary_programs import Program
from microgradpy import cache_clear, grad

SUBJECTS = ("mechanics", "containers", "statistics", "algebra", "networks", "finance", "fields", "machines")
MODULES: tuple[ModuleType, ...] = tuple(importlib.import_module(f"benchmarks.ordinary_programs_{name}") for name in SUBJECTS)
PROGRAMS: tuple[Program, ...] = tuple(program for module in MODULES for program in module.PROGRAMS)
HIGHEST, MEDIAN = 6.0, 4.0  # what the ratios are to be at most: each of them, and their median
SECONDS_PER_ROW = 4.0  # rounds are left out for it, but not the first three
HEADER = (
    "| program | size | function us | gradient / function | autograd / function | memory | gradient KB | first s |\n"
    "|---|---:|---:|---:|---:|---:|---:|---:|"
)

Call = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of a program; None for what could not be. `defect` says why its gradient has no ratio; `spread` has the
    tenth and the ninetieth percentile of the ratios; the peaks are in bytes."""

    id: str
    size: str
    defect: str | None = None
    microseconds: float | None = None
    ratio: float | None = None
    spread: tuple[float, float] | None = None
    autograd: float | None = None
    autograd_defect: str | None = None
    peak: int | None = None
    gradient_peak: int | None = None
    first: float | None = None

    def __str__(self) -> str:
        """A line of the table."""
        if self.defect is not None or self.peak is None or self.gradient_peak is None:
            return f"| {self.id} | {self.size} | | {self.defect} | | | | |"
        cells = (
            f"{self.microseconds:,.0f}",
            _ratio(self.ratio),
            _ratio(self.autograd),
            _ratio(self.gradient_peak / max(1, self.peak)),
            f"{self.gradient_peak / 1024:,.0f}",
            f"{self.first:.2f}",
        )
        return f"| {self.id} | {self.size} | {' | '.join(cells)} |"


def _ratio(x: float | None) -> str:
    return "-" if x is None else f"{x:,.1f}" if x < 100.0 else f"{x:,.0f}"


def gradient_of(program: Program) -> Call:
    """What is timed: takes the program's arguments, and returns the tuple of gradients."""
    return program.asked or grad(program.function, program.argnums)


def defect_of(gradient: Call, args: tuple[Any, ...], differences: Differences | None = None) -> str | None:
    """Why a gradient cannot be had, or what is wrong with it by differences."""
    try:
        with warnings.catch_warnings(action="ignore"):
            gradients = gradient(*args)
    except Exception as error:
        first_line = next(iter(str(error).splitlines()), "")
        return f"{type(error).__name__}: {first_line}"
    wrong = None if differences is None else differences.defect(gradients, differences.drawn())
    return None if wrong is None else f"WRONG: {wrong}"


def peak_of(call: Call, args: tuple[Any, ...]) -> int:
    """Bytes allocated at once in a call that was made before, beyond what there was then."""
    gc.collect()
    tracemalloc.start()
    try:
        call(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def timed(versions: list[tuple[Call, tuple[Any, ...]]], rounds: int) -> list[list[float]]:
    """Seconds of a call of each version, by rounds, in which they take turns."""
    counts = [1 if time_calls(call, args, 1) > SECONDS_PER_TIMING else calls_per_timing(call, args) for call, args in versions]
    times: list[list[float]] = []
    gc.collect()
    gc.disable()
    try:
        start = process_time()
        while len(times) < rounds and (len(times) < 3 or process_time() - start < SECONDS_PER_ROW):
            times.append([time_calls(call, args, count) for (call, args), count in zip(versions, counts, strict=True)])
            gc.collect()
    finally:
        gc.enable()
    return times


def measured(module: ModuleType, program: Program, rounds: int) -> Row:
    """One row of the table."""
    args, gradient = program.arguments(program.size), gradient_of(program)
    row = Row(program.id, f"{program.size} {program.of}")
    differences = Differences(program, args)
    cache_clear()
    start = process_time()
    defect = defect_of(gradient, args)
    row = replace(row, first=process_time() - start, defect=defect or defect_of(gradient, args, differences))
    if row.defect is not None:
        return row
    versions = [(program.function, args), (gradient, args)]
    peer = ordinary_peer.gradient_of(module, program)
    if peer is not None:
        row = replace(row, autograd_defect=defect_of(*peer, differences))
        if row.autograd_defect is None:
            versions.append(peer)
    peak, gradient_peak = peak_of(program.function, args), peak_of(gradient, args)
    with warnings.catch_warnings(action="ignore"):  # autograd's own
        times = timed(versions, rounds)
    ratios = [[time / of_function for time in rest] for of_function, *rest in times]
    low, high = np.quantile([ratio for ratio, *_ in ratios], [0.1, 0.9])
    return replace(
        row,
        defect=defect_of(gradient, args, differences),
        microseconds=statistics.median(of_function for of_function, *_ in times) * 1e6,
        ratio=statistics.median(ratio for ratio, *_ in ratios),
        spread=(float(low), float(high)),
        autograd=statistics.median(ratio for _, ratio in ratios) if len(versions) == 3 else None,
        peak=peak,
        gradient_peak=gradient_peak,
    )


def summary(rows: list[Row]) -> str:
    """How far the ratios are from what they are to be."""
    ratios = [row.ratio for row in rows if row.ratio is not None]
    defects = [row for row in rows if row.defect is not None]
    if not ratios:
        return f"{len(defects)} without a right gradient"
    both = [(row.ratio, row.autograd) for row in rows if row.ratio is not None and row.autograd is not None]
    faster = sum(ours < theirs for ours, theirs in both)
    good = sum(ratio <= HIGHEST for ratio in ratios)
    return (
        f"{len(rows)} programs: median {_ratio(statistics.median(ratios))} (aim: {MEDIAN:.0f}), highest {_ratio(max(ratios))}, "
        f"{good} at most {HIGHEST:.0f} (aim: all), {len(defects)} without a right gradient; "
        f"faster than autograd in {faster} of the {len(both)} that it can do"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Gradients of ordinary Python: times by those of the functions.")
    parser.add_argument("--only", default="", metavar="NAME", help="the programs with this in their names")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path, metavar="FILE", help="where all that was measured is written, too")
    options = parser.parse_args()
    chosen = [(module, one) for module in MODULES for one in module.PROGRAMS if options.only in one.id]
    grad(lambda x: x * x)(1.0)  # what every first gradient of a process pays is not a program's
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, one thread, at most {options.rounds} rounds, interleaved"
    )
    print(HEADER)
    rows = []
    for module, program in tqdm(chosen, file=sys.stderr):
        rows.append(measured(module, program, options.rounds))
        tqdm.write(str(rows[-1]), file=sys.stdout)
        if options.json is not None:
            options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    print(f"\n{summary(rows)}")


if __name__ == "__main__":
    main()
