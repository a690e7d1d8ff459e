"""Print the table of ratios, and what compilation costs: `python -m benchmarks.run [--rounds 40]`.

In each round every version of a case is timed in turn, for some ten milliseconds each, so that a change of the
machine's mood meets all of them. The ratio is taken within a round; the table has its median over the rounds and the
range from the tenth to the ninetieth percentile.
"""

from __future__ import annotations

import os

# Read when NumPy is loaded: one thread, so that the ratios are about the code.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[_variable] = "1"

import argparse  # noqa: E402
import gc  # noqa: E402
import platform  # noqa: E402
import statistics  # noqa: E402
from collections.abc import Callable  # noqa: E402
from time import perf_counter  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks import compiling  # noqa: E402
from benchmarks.cases import CASES, Case  # noqa: E402

SECONDS_PER_TIMING = 0.01
HEADER = f"{'case':36}{'program us':>12}{'by hand us':>12}{'generated us':>14}{'ratio':>8}{'spread':>16}{'goal':>8}"


def calls_per_timing(function: Callable[..., Any], args: tuple[Any, ...]) -> int:
    """How many calls take about `SECONDS_PER_TIMING`."""
    for _ in range(5):  # compiles what is to be compiled: the adjoint for the seed 1 after some calls only
        function(*args)
    return max(1, round(SECONDS_PER_TIMING / time_calls(function, args, 3)))


def time_calls(function: Callable[..., Any], args: tuple[Any, ...], calls: int) -> float:
    """Seconds per call."""
    start = perf_counter()
    for _ in range(calls):
        function(*args)
    return (perf_counter() - start) / calls


def measure(case: Case, rounds: int) -> str:
    """One row of the table."""
    versions = (case.program, case.by_hand, case.generated)
    calls = [calls_per_timing(version, case.args) for version in versions]
    gc.collect()
    gc.disable()
    try:
        times = [
            [time_calls(version, case.args, count) for version, count in zip(versions, calls, strict=True)]
            for _ in range(rounds)
        ]
    finally:
        gc.enable()
    medians = [statistics.median(column) * 1e6 for column in zip(*times, strict=True)]
    low, ratio, high = np.quantile([generated / by_hand for _, by_hand, generated in times], [0.1, 0.5, 0.9])
    columns = "".join(f"{median:{width}.1f}" for median, width in zip(medians, (12, 12, 14), strict=True))
    return f"{case.id:36}{columns}{ratio:8.2f}{f'{low:.2f} - {high:.2f}':>16}{case.limit:8.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Generated gradients against hand-written ones: ratios of times.")
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, one thread, {rounds} rounds, interleaved")
    print(HEADER)
    for case in CASES:
        print(measure(case, rounds), flush=True)
    print("ratio: generated gradient / gradient by hand, median; spread: 10th to 90th percentile; smaller is better")
    print()
    compiling.table(max(1, rounds // 8))


if __name__ == "__main__":
    main()
