"""Print what forward mode costs on ordinary Python: `python -m benchmarks.forward [--only NAME] [--rounds 15]`.

The programs are those of `benchmarks.ordinary`. *jvp / function* is the time of `jvp(function, args, tangents)`, entry and
all,
by that of the function called as it is, timed in turn, the ratios taken within a round; medians. The tangent of every number in
the differentiated arguments is 1. The directional derivative is held against the gradient before anything is timed.
"""

from __future__ import annotations

from benchmarks.ordinary import MODULES, gradient_of, timed  # first: it sets the number of threads before NumPy is loaded

# isort: split

import argparse
import statistics
import sys
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks.ordinary_programs import Program
from microgradpy import Tangent, jvp
from microgradpy.tangents.pairing import pairing
from microgradpy.tangents.projection import fields_of

HEADER = "| program | size | function us | jvp / function |\n|---|---:|---:|---:|"
HIGHEST, MEDIAN = 6.0, 4.0


def direction(x: Any) -> Any:
    """The tangent of a value in which that of every number is 1."""
    if isinstance(x, bool | str | bytes | None):
        return None
    if isinstance(x, int | float | complex | np.generic):
        return type(x)(1) if isinstance(x, complex | np.inexact) else 1.0
    if isinstance(x, np.ndarray):
        return np.ones(x.shape, x.dtype if x.dtype.kind in "fc" else float) if x.dtype.kind in "fciu" else None
    if isinstance(x, list):
        return list(map(direction, x))
    if isinstance(x, tuple):
        items = map(direction, x)
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, dict):
        return {key: direction(item) for key, item in x.items()}
    return Tangent(type(x), {name: direction(field) for name, field in fields_of(x).items()})


def measured(program: Program, rounds: int) -> tuple[str, float | None]:
    """A row, and its ratio; none where the directional derivative is not that of the gradient."""
    args = program.arguments(program.size)
    dots = tuple(direction(x) if number in program.argnums else None for number, x in enumerate(args))
    _, y_dot = jvp(program.function, args, dots)
    bars = gradient_of(program)(*args)
    expected = sum(pairing(bar, dot) for bar, dot in zip(bars, (dot for dot in dots if dot is not None), strict=True))
    if not np.isclose(y_dot, expected, rtol=1e-6):
        return f"| {program.id} | wrong: {y_dot}, by the gradient {expected} |", None
    versions = [(program.function, args), (jvp, (program.function, args, dots))]
    times = timed(versions, rounds)
    ratio = statistics.median(ours / plain for plain, ours in times)
    plain = statistics.median(plain for plain, _ in times) * 1e6
    return f"| {program.id} | {program.size} {program.of} | {plain:.0f} | {ratio:.1f} |", ratio


def main() -> None:
    parser = argparse.ArgumentParser(description="Forward mode on ordinary Python: times by those of the functions.")
    parser.add_argument("--only", default="", metavar="NAME", help="the programs with this in their names")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    programs = [one for module in MODULES for one in module.PROGRAMS if options.only in one.id]
    print(HEADER)
    ratios = []
    for program in tqdm(programs, file=sys.stderr):
        row, ratio = measured(program, options.rounds)
        ratios += [] if ratio is None else [ratio]
        tqdm.write(row, file=sys.stdout)
    if ratios:
        good = sum(ratio <= HIGHEST for ratio in ratios)
        print(
            f"\n{len(programs)} programs: median {statistics.median(ratios):.1f} (aim: {MEDIAN:.0f}), "
            f"highest {max(ratios):.1f}, {good} at most {HIGHEST:.0f}, {len(programs) - len(ratios)} wrong"
        )


if __name__ == "__main__":
    main()
