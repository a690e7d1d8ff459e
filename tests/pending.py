"""The programs of the table of writes that are still refused, and why: `pending.txt`, which `python -m tests.pending` writes.

A program leaves the list when it works; one with a wrong gradient is never entered.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from microgradpy import DifferentiationError
from tests.mutation_checks import examine
from tests.programs.mutation import MUTATION
from tests.ways import WAYS

FILE = Path(__file__).with_name("pending.txt")


def reason(refusal: DifferentiationError) -> str:
    """The class of a refusal and the first line of what it found, without names and numbers."""
    found = refusal.found.splitlines()[0]
    for pattern, instead in ((r"`[^`]*`", "_"), (r"'[^']*'", "_"), (r"\b\d+\b", "_"), (r"\b\w+\.py\b\S*", "_")):
        found = re.sub(pattern, instead, found)
    return f"{type(refusal).__name__}: {found}"


def reasons() -> dict[str, str]:
    """The reason of each pending program, by its name."""
    lines = FILE.read_text().splitlines() if FILE.exists() else []
    return dict(line.split(" | ", 1) for line in lines)


def main() -> None:
    wrong, lines = [], []
    for program in MUTATION:
        verdicts = {way: examine(program, way) for way in WAYS}
        wrong += [f"{program.id}, {way}: {defect}" for way, verdict in verdicts.items() for defect in verdict.defects]
        refusals = [verdict.refusal for verdict in verdicts.values() if verdict.refusal is not None]
        if refusals:
            lines.append(f"{program.id} | {reason(refusals[0])}")
    FILE.write_text("".join(f"{line}\n" for line in lines))
    print(f"{len(MUTATION)} programs, {len(lines)} pending")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
