"""Print the table of single rules: `python -m benchmarks.rules [--rounds 20] [--sizes 10 1000 1000000]`.

For each function and size two ratios against the value and gradients by hand: of the generated primal and adjoint, called
directly, and of the whole call of `value_and_grad`, which also finds what was compiled for such arguments, checks the seed and
brings the gradients to the form of the arguments. Timed as in `benchmarks.run`: in turn, medians of the ratios within a round.
"""

from __future__ import annotations

from benchmarks.run import calls_per_timing, time_calls  # first: it sets the number of threads before NumPy is loaded

# isort: split

import argparse
import gc
import statistics
from collections.abc import Callable
from typing import Any

from benchmarks.rule_cases import CASES, RuleCase
from microgradpy import value_and_grad
from microgradpy.compiler import compile_for_call
from microgradpy.gradient_compiler import unit_seed_adjoint
from microgradpy.introspect import signature_of

SIZES = (10, 1000, 1_000_000)


def generated_directly(case: RuleCase, args: tuple[Any, ...]) -> Callable[..., tuple[Any, Any]]:
    """The generated primal and adjoint one after the other: the adjoint for the seed 1, where there is one, as in a gradient
    that is asked for again and again."""
    function, kinds, active = signature_of(case.loss, args, tuple(range(case.count)))
    unit = compile_for_call(function, kinds, active)
    at_one = unit_seed_adjoint(unit, (True,) * len(args))
    primal, adjoint = unit.primal, unit.adjoint if at_one is None else at_one.run
    assert primal is not None and adjoint is not None

    def directly(*args: Any) -> tuple[Any, Any]:
        y, saved = primal(*args)
        return y, adjoint(saved, 1.0)

    return directly


def ratios(case: RuleCase, size: int, rounds: int) -> tuple[float, float]:
    """Time of the generated code, and of the whole call, in units of the time by hand."""
    args = case.arguments(size)
    versions = (generated_directly(case, args), value_and_grad(case.loss, tuple(range(case.count))), case.by_hand)
    calls = [calls_per_timing(version, args) for version in versions]
    gc.collect()
    gc.disable()
    try:
        times = [
            [time_calls(version, args, count) for version, count in zip(versions, calls, strict=True)] for _ in range(rounds)
        ]
    finally:
        gc.enable()
    direct, whole = (statistics.median(row[k] / row[2] for row in times) for k in range(2))
    return direct, whole


def table(sizes: tuple[int, ...], rounds: int) -> list[str]:
    """The lines of the table, with the medians over the functions last."""
    columns = " | ".join(f"{size:,} code | {size:,} call" for size in sizes)
    lines = [f"| function | {columns} |", "|---" + "|---:" * (2 * len(sizes)) + "|"]
    found = {case.name: [ratio for size in sizes for ratio in ratios(case, size, rounds)] for case in CASES}
    medians = [statistics.median(column) for column in zip(*found.values(), strict=True)]
    rows = [*((f"`{name}`", row) for name, row in found.items()), ("**median**", medians)]
    return [*lines, *(f"| {name} | " + " | ".join(f"{ratio:.2f}" for ratio in row) + " |" for name, row in rows)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Generated code of single rules against code by hand: ratios of times.")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options = parser.parse_args()
    print("\n".join(table(tuple(options.sizes), options.rounds)))


if __name__ == "__main__":
    main()
