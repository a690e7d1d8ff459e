"""Print what `detect_anomaly` costs: `python -m benchmarks.checks [--rounds 20]`.

Value and gradient of the cases of `benchmarks.cases`, as they are and inside of `detect_anomaly`, in turn; the ratio is taken
within a round. Also what it takes to compile a function, which is done once for each of the two.
"""

from __future__ import annotations

from benchmarks.run import calls_per_timing, time_calls  # first: it sets the number of threads before NumPy is loaded

# isort: split

import argparse
import statistics
from time import perf_counter

import numpy as np

from benchmarks.cases import CASES, Case
from microgradpy import DifferentiationError, cache_clear, detect_anomaly


def row(case: Case, rounds: int) -> tuple[str, float, float, float, float] | None:
    """The case, the microseconds without and with checks, the ratio of the times, and that of the times with compilation; None
    for a case that is refused."""
    try:
        plain_first = _first_call(case)
    except DifferentiationError:
        return None
    with detect_anomaly(nan_only=True):
        checked_first = _first_call(case)
        checked_calls = calls_per_timing(case.generated, case.args)
    plain_calls = calls_per_timing(case.generated, case.args)
    times = []
    for _ in range(rounds):
        plain = time_calls(case.generated, case.args, plain_calls)
        with detect_anomaly(nan_only=True):
            times.append((plain, time_calls(case.generated, case.args, checked_calls)))
    plain, checked = (statistics.median(column) * 1e6 for column in zip(*times, strict=True))
    ratio = float(np.median([with_checks / without for without, with_checks in times]))
    return case.id, plain, checked, ratio, checked_first / plain_first


def _first_call(case: Case) -> float:
    """Seconds of a call that compiles."""
    cache_clear()
    start = perf_counter()
    case.generated(*case.args)
    return perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description="What detect_anomaly costs.")
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    print(f"{'case':36}{'plain us':>12}{'checked us':>12}{'ratio':>8}{'first call':>12}")
    for case in CASES:
        found = row(case, rounds)
        if found is not None:
            name, plain, checked, ratio, first = found
            print(f"{name:36}{plain:12.1f}{checked:12.1f}{ratio:8.2f}{first:12.2f}", flush=True)


if __name__ == "__main__":
    main()
