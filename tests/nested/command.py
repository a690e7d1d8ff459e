"""Judge many random programs to second order, and go on where an earlier run stopped: see `judging.py`."""

from __future__ import annotations

import argparse
import ast
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tqdm import tqdm

from tests.minimise import failure, minimise
from tests.nested.judging import ALL, SecondOrder, defect_at, judge, program_of

FATES = ("right", "refused", "unjudged", "wrong")


def judge_number(number: int) -> SecondOrder:
    return judge(program_of(number))


def line(one: SecondOrder) -> str:
    fates = {f"{name} {fate}": count for (name, fate), count in one.fates.items()}
    return json.dumps([one.number, fates, one.defect, one.refusals]) + "\n"


def read_results(path: Path | None) -> dict[int, SecondOrder]:
    """What an earlier run wrote; a line that it did not finish is judged again."""
    if path is None or not path.exists():
        return {}
    found = {}
    for text in path.read_text().splitlines(keepends=True):
        if text.endswith("\n"):
            number, fates, defect, refusals = json.loads(text)
            by_name = {tuple(key.split()): count for key, count in fates.items()}
            found[number] = SecondOrder(number, Counter(by_name), defect, Counter(refusals))
    return found


def run(numbers: range, processes: int, path: Path | None) -> list[SecondOrder]:
    """Judge those that the file does not have yet, and write each into it as soon as it is known."""
    known = read_results(path)
    missing = [number for number in numbers if number not in known]
    judged = [known[number] for number in numbers if number in known]
    with multiprocessing.get_context("spawn").Pool(processes, maxtasksperchild=20) as pool:
        for one in tqdm(pool.imap(judge_number, missing, chunksize=10), total=len(missing), file=sys.stderr):
            judged.append(one)
            if path is not None:
                with path.open("a") as file:
                    file.write(line(one))
    return judged


def summary(judged: Iterable[SecondOrder]) -> str:
    """A table of what became of the points, and why some were refused."""
    judged = list(judged)
    fates = sum((one.fates for one in judged), Counter())
    refusals = sum((one.refusals for one in judged), Counter())
    lines = [f"{len(judged)} programs", " " * 22 + "".join(f"{fate:>10}" for fate in FATES)]
    lines += [f"{name:22}" + "".join(f"{fates[name, fate]:10}" for fate in FATES) for name in ALL]
    return "\n".join([*lines, *(f"{count:7}  {why}" for why, count in refusals.most_common(20))])


def smallest(number: int) -> str:
    """The smallest text that fails as the program does, and how it fails."""
    program = program_of(number)
    source = ast.unparse(ast.parse(program.source)) + "\n"
    kind = failure(program, source, defect_at)
    if kind is None:
        return f"# fails only as it is\n{program.source}"
    return f"# fails with: {kind}\n{minimise(program, source, defect_at)}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.nested", description="Random programs to second order, judged.")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--results", type=Path, metavar="FILE", help="where verdicts are kept; a second run goes on from there")
    parser.add_argument("--show", type=int, metavar="NUMBER", help="print one program and its verdict instead")
    options = parser.parse_args()
    if options.show is not None:
        judged = [judge_number(options.show)]
        print(program_of(options.show).source)
    else:
        judged = run(range(options.start, options.start + options.count), options.processes, options.results)
    print(summary(judged), flush=True)
    wrong = [one for one in judged if one.defect is not None]
    for one in wrong:
        print(f"\nprogram {one.number}: {one.defect}\n{smallest(one.number)}", flush=True)
    sys.exit(bool(wrong))
