"""Judge random programs that write, many at a time: `python -m tests.random_mutation --count 10000 --processes 2`.

Prints how many were right, which were refused and for what reason, and every wrong one in a small form. `--features
views,lists` leaves out all others, `--show NUMBER` prints one program, its verdict and, if it is refused or wrong, the
smallest text that is so in the same way.
"""

from __future__ import annotations

import argparse
import ast
import copy
import multiprocessing
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from microgradpy import DifferentiationError, pullback
from microgradpy.compiler import always_dispatch
from tests import finite_differences as fd
from tests.minimise import failure, minimise
from tests.mutating_expressions import FEATURES
from tests.mutating_programs import MutatingProgram, mutating_program
from tests.mutation_checks import defects_by_one, plain_call, scalar, sharing
from tests.pending import reason
from tests.test_programs import same, same_cotangents

# Two step sizes that disagree straddle a branch or a kink: the next smaller pair is tried, then the point is given up.
STEPS = ((1e-3, 1e-4), (1e-4, 1e-5))
DISPATCHED = 10  # every so many programs take the run-time path


@dataclass(frozen=True)
class Judged:
    """A program's fate: `reason` says why it is refused, `defect` what is wrong with it; neither if it is right."""

    number: int
    features: tuple[str, ...]
    reason: str | None = None
    defect: str | None = None


def derivative(function: Callable[..., Any], point: tuple[Any, ...], direction: np.ndarray, step: float) -> float:
    """Along a direction, by central differences of order four."""
    start, along = fd.flatten(point), scalar(function, 1.0)
    far, near = (
        along(*fd.rebuild(point, start + distance * direction)) - along(*fd.rebuild(point, start - distance * direction))
        for distance in (2.0 * step, step)
    )
    return (8.0 * near - far) / (12.0 * step)


def random_direction(size: int) -> np.ndarray:
    """No component is small, so that no part of a gradient hides."""
    draw = np.random.default_rng(1)
    return draw.choice([-1.0, 1.0], size) * draw.uniform(0.5, 1.0, size)


def has_kink(function: Callable[..., Any], point: tuple[Any, ...], direction: np.ndarray) -> bool:
    """Whether the slopes to the two sides differ, as where equal numbers are sorted; central differences do not see it."""
    step, start, along = 1e-6, fd.flatten(point), scalar(function, 1.0)
    left, here, right = (along(*fd.rebuild(point, start + distance * direction)) for distance in (-step, 0.0, step))
    return not np.isclose((right - here) / step, (here - left) / step, rtol=1e-2, atol=1e-2)


def expected_derivative(function: Callable[..., Any], point: tuple[Any, ...], direction: np.ndarray) -> float | None:
    """The derivative along a direction; None at a kink, and where no two step sizes agree."""
    if has_kink(function, point, direction):
        return None
    for steps in STEPS:
        wide, narrow = (derivative(function, point, direction, step) for step in steps)
        if np.isclose(wide, narrow, rtol=1e-5, atol=1e-6):
            return narrow
    return None


def defect_at(function: Callable[..., Any], point: tuple[Any, ...]) -> str | None:
    """What is wrong with the value, the effects or the gradient at the point. A refusal comes out as it is."""
    plain, args = plain_call(function, point), copy.deepcopy(point)
    y, back = pullback(function, *args)
    if repr(y) != repr(plain.value):
        return f"value {y!r} for {plain.value!r}"
    if not same(args, plain.args) or sharing(y, args) != plain.sharing:
        return f"effects: the arguments are {args!r}, after a plain call {plain.args!r}"
    cotangents = back(1.0)[1:]
    first = copy.deepcopy(cotangents)
    if not same_cotangents(back(1.0)[1:], first):
        return f"repetition: back gave {first!r}, then something else"
    if not same(args, plain.args):
        return "back changed an argument"
    gradient = fd.flatten_cotangent(point, first)
    direction = random_direction(gradient.size)
    expected = expected_derivative(function, point, direction)
    if expected is not None and not np.isclose(gradient @ direction, expected, rtol=3e-5, atol=3e-6):
        return f"derivative {gradient @ direction}, by differences {expected}; gradient {gradient}"
    return next(defects_by_one(function, point, first), None)


def judge(program: MutatingProgram) -> Judged:
    """The first thing that is wrong at one of the points, else the reason of a refusal, else nothing."""
    judged = partial(Judged, program.number, program.features)
    function, refused = program.load(), None
    for point in program.points:
        with always_dispatch() if program.number % DISPATCHED == 0 else nullcontext():
            try:
                defect = defect_at(function, point)
            except DifferentiationError as refusal:
                refused, defect = reason(refusal), None
            except Exception as error:  # the plain call does not raise: whatever this is, it is ours
                defect = f"{type(error).__name__}: {error}"
        if defect is not None:
            return judged(defect=defect)
    return judged(reason=refused)


def judge_number(number: int, features: tuple[str, ...] = FEATURES) -> Judged:
    return judge(mutating_program(number, features))


def judge_all(start: int, count: int, features: tuple[str, ...] = FEATURES, processes: int = 1) -> Iterator[Judged]:
    """Judge the programs of `count` numbers, in order."""
    numbers, one = range(start, start + count), partial(judge_number, features=features)
    if processes == 1:
        yield from map(one, numbers)
        return
    with multiprocessing.get_context("spawn").Pool(processes, maxtasksperchild=500) as pool:
        yield from pool.imap(one, numbers, chunksize=20)


def summary(judged: list[Judged]) -> str:
    """Counts: right, refused by reason with an example, and the share of right ones that each feature took part in."""
    refused = Counter(one.reason for one in judged if one.reason is not None)
    right = [one for one in judged if one.reason is None and one.defect is None]
    wrong = [one for one in judged if one.defect is not None]
    lines = [f"{len(judged)} programs: {len(right)} right, {refused.total()} refused, {len(wrong)} wrong"]
    for why, count in refused.most_common():
        example = min((one for one in judged if one.reason == why), key=lambda one: (len(one.features), one.number))
        lines.append(f"{count:7}  {why} (program {example.number})")
    for feature in FEATURES:
        using = [one for one in judged if feature in one.features]
        lines.append(f"{feature:12}{sum(one in right for one in using):7} right of {len(using)}")
    return "\n".join(lines)


def smallest(program: MutatingProgram) -> str:
    """The smallest text that fails as the program does, and how it fails."""
    source = ast.unparse(ast.parse(program.source)) + "\n"
    kind = failure(program, source, defect_at)
    if kind is None:
        return f"# fails only as it is, or on the run-time path\n{program.source}"
    return f"# fails with: {kind}\n{minimise(program, source, defect_at)}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Random programs that write, against central differences.")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--features", type=lambda text: tuple(text.split(",")), default=FEATURES)
    parser.add_argument("--show", type=int, metavar="NUMBER")
    options = parser.parse_args()
    unknown = [name for name in options.features if name not in (*FEATURES, "")]
    if unknown:
        parser.error(f"no such features: {', '.join(unknown)}; there are {', '.join(FEATURES)}")
    features = tuple(name for name in FEATURES if name in options.features)
    if options.show is not None:
        program = mutating_program(options.show, features)
        print(f"{program.source}\n# {judge(program)}\n\n{smallest(program)}")
        return
    judged = list(judge_all(options.start, options.count, features, options.processes))
    print(summary(judged))
    wrong = [one for one in judged if one.defect is not None]
    for one in wrong:
        print(f"\nprogram {one.number}: {one.defect}\n{smallest(mutating_program(one.number, features))}", flush=True)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
