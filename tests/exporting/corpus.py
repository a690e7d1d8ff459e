"""Every program of the tables that can be exported, and what the others are refused for.

`python -m tests.exporting.corpus` writes the list of these, `refused.txt`, and the figures into docs/export.md.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import io
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from microgradpy import DifferentiationError
from microgradpy.exporting.export import export_text
from tests.programs import PROGRAMS, Program
from tests.programs.mutation import MUTATION
from tests.ways import some

DOCUMENT = Path(__file__).parents[2] / "docs" / "export.md"
REFUSED = Path(__file__).with_name("refused.txt")
LINTER = [
    *(sys.executable, "-m", "ruff", "check", "--quiet", "--isolated", "--ignore-noqa", "--target-version", "py311"),
    *("--select", "E9,F401,F402,F811,F821,F822,F823"),
]
"""Finds names in a module that nobody binds, and imports that nobody needs. The style of a function is its author's."""
_SECTION = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- end -->)", re.DOTALL)
# What is common to the refusals of one reason; the rest of the message is about the program.
REASONS = {
    "writes into": "writes into arrays, containers or variables",
    "for its argument": "an object or a function is an argument",
    "the dispatcher": "it is not known what is called, or with what",
    "made when it runs": "a closure is made and handed on",
    "belongs to an object": "a bound method or an object that is called",
}


@dataclass(frozen=True)
class Exported:
    """A program and the text of its module; a refusal for one that has none."""

    program: Program
    text: str
    refusal: str = ""


ARRAY_TABLES = "array_items array_writers control first in_place outputs overlapping peers scatter views".split()
"""The tables of programs that write into arrays. Writes into lists, dicts and objects are not exported."""
_WRITERS = [each for each in MUTATION if each.function.__module__.rpartition(".")[2] in ARRAY_TABLES]
EXPORTED: tuple[Program, ...] = (*PROGRAMS, *_WRITERS)
"""All programs that write nothing, and those that write into arrays."""


TESTED: tuple[Program, ...] = tuple(some(EXPORTED, "exported", one_in=6))
"""Those that the tests export; all of them where programs are tested in all ways."""


def export(program: Program) -> Exported:
    """The program exported, or refused."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            return Exported(program, export_text(program.function, *copy.deepcopy(program.args)))
        except DifferentiationError as refusal:
            return Exported(program, "", str(refusal))


def reason(refusal: str) -> str:
    """What a refusal is for, in a few words."""
    return next((said for words, said in REASONS.items() if words in refusal), "something that no module has")


def reasons() -> dict[str, str]:
    """What the programs that are refused are refused for, by their names."""
    return dict(line.split(" | ", 1) for line in REFUSED.read_text().splitlines())


def _share(programs: Sequence[Program], refused: dict[str, str]) -> str:
    count = sum(program.id not in refused for program in programs)
    return f"{count} are exported ({count / len(programs):.0%})"


def figures(refused: dict[str, str]) -> str:
    """The share that is exported, and a table of reasons."""
    said = (
        f"Of the {len(PROGRAMS)} programs that write nothing in the tables of the tests, {_share(PROGRAMS, refused)}; "
        f"of the {len(_WRITERS)} in\nthe tables of programs that write into arrays, {_share(_WRITERS, refused)}."
    )
    counted = collections.Counter(refused.values())
    table = [f"| {count} | {why} |" for why, count in counted.most_common()]
    return "\n".join([said, "", "| programs | refused because |", "|---|---|", *table, ""])


def main() -> None:
    """Write the list of those that are refused, and the figures into the document."""
    rows = map(export, EXPORTED)
    refused = {row.program.id: reason(row.refusal) for row in rows if row.refusal}
    REFUSED.write_text("".join(f"{name} | {why}\n" for name, why in refused.items()))
    DOCUMENT.write_text(_SECTION.sub(lambda _: figures(refused), DOCUMENT.read_text()))


if __name__ == "__main__":
    main()
