"""Judge many programs of families or of the other generators, and go on where an earlier run stopped: see the package."""

from __future__ import annotations

import argparse
import ast
import multiprocessing
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from tests import random_mutation, test_random_array_programs, test_random_programs
from tests.families import FAMILIES
from tests.families.family import Judge, Point
from tests.families.judging import Judged, defect_at, judge
from tests.minimise import failure, minimise
from tests.mutating_programs import mutating_program
from tests.random_array_programs import random_array_program
from tests.random_programs import random_program


@dataclass(frozen=True)
class Generator:
    """How a program is made of its number, judged, and judged at one point while it is made smaller."""

    program: Callable[[int], Any]
    judge: Callable[[Any], Judged]
    judge_at: Judge


def by_defects(defects: Callable[[Any], list[str]]) -> Callable[[Any], Judged]:
    """The judgement of a generator that has no refusals: all that is found is a mistake."""
    return lambda program: Judged(program.number, defect="\n".join(defects(program)) or None)


def judge_writes(program: Any) -> Judged:
    found = random_mutation.judge(program)
    return Judged(found.number, found.defect, found.reason)


def array_defect_at(function: Callable[..., Any], point: Point) -> str | None:
    return test_random_array_programs.defect_at(function, point, np.random.default_rng(0))


GENERATORS = {
    **{name: Generator(family.program, judge, family.judge or defect_at) for name, family in FAMILIES.items()},
    "programs": Generator(random_program, by_defects(test_random_programs.defects), test_random_programs.defect_at),
    "arrays": Generator(random_array_program, by_defects(test_random_array_programs.defects), array_defect_at),
    "writes": Generator(mutating_program, judge_writes, random_mutation.defect_at),
}
"""All that write random programs, by the names that the command knows them by."""


def judge_number(name: str, number: int) -> Judged:
    generator = GENERATORS[name]
    return generator.judge(generator.program(number))


def smallest(name: str, number: int) -> str:
    """The smallest text that fails as the program does, and how it fails."""
    program, wanted = GENERATORS[name].program(number), GENERATORS[name].judge_at
    source = ast.unparse(ast.parse(program.source)) + "\n"
    kind = failure(program, source, wanted)
    if kind is None:
        return f"# fails only as it is, or in one of the forced ways\n{program.source}"
    return f"# fails with: {kind}\n{minimise(program, source, wanted)}"


def read_results(path: Path | None) -> dict[tuple[str, int], Judged]:
    """What an earlier run wrote; a line that it did not finish is judged again."""
    if path is None or not path.exists():
        return {}
    rows = [line.split("\t") for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return {(row[0], int(row[1])): Judged(int(row[1]), row[3] or None, row[4].rstrip("\n") or None) for row in rows}


def line(name: str, one: Judged) -> str:
    def flat(text: str | None) -> str:
        return "" if text is None else " ".join(text.split())

    return f"{name}\t{one.number}\t{one.fate}\t{flat(one.defect)}\t{flat(one.refusal)}\n"


def run(name: str, numbers: range, processes: int, path: Path | None) -> list[Judged]:
    """Judge those that the file does not have yet, and write each into it as soon as it is known."""
    known = read_results(path)
    missing = [number for number in numbers if (name, number) not in known]
    judged = [known[name, number] for number in numbers if (name, number) in known]
    with multiprocessing.get_context("spawn").Pool(processes, maxtasksperchild=20) as pool:
        found = pool.imap(partial(judge_number, name), missing, chunksize=20)
        for one in tqdm(found, desc=name, total=len(missing), file=sys.stderr):
            judged.append(one)
            if path is not None:
                with path.open("a") as file:
                    file.write(line(name, one))
    return judged


def summary(name: str, judged: list[Judged]) -> str:
    fates = Counter(one.fate for one in judged)
    reasons = Counter(one.refusal for one in judged if one.fate == "refused")
    first = {one.refusal: one.number for one in reversed(judged) if one.fate == "refused"}
    lines = [f"{name}: {len(judged)} programs, {fates['right']} right, {fates['refused']} refused, {fates['wrong']} wrong"]
    return "\n".join([*lines, *(f"{count:7}  {why} (program {first[why]})" for why, count in reasons.most_common())])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.families", description="Random programs, judged.")
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of {', '.join(GENERATORS)}; all if none is named")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--results", type=Path, metavar="FILE", help="where verdicts are kept; a second run goes on from there")
    parser.add_argument("--show", type=int, metavar="NUMBER", help="print one program and its verdict instead")
    options = parser.parse_args()
    unknown = [name for name in options.families if name not in GENERATORS]
    if unknown:
        parser.error(f"no such family: {', '.join(unknown)}; there are {', '.join(GENERATORS)}")
    wrong = 0
    for name in options.families or GENERATORS:
        if options.show is not None:
            one = judge_number(name, options.show)
            print(GENERATORS[name].program(options.show).source, f"# {one}", sep="\n")
            print(smallest(name, options.show) if one.defect else "")
            continue
        judged = run(name, range(options.start, options.start + options.count), options.processes, options.results)
        print(summary(name, judged), flush=True)
        for one in judged:
            if one.defect is not None:
                wrong += 1
                print(f"\nprogram {one.number}: {one.defect}\n{smallest(name, one.number)}", flush=True)
    sys.exit(bool(wrong))
