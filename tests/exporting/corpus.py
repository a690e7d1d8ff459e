"""Every program of the tables that can be exported, and what the others are refused for.

`python -m tests.exporting.corpus` writes the figures into docs/export.md.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import functools
import io
import re
from dataclasses import dataclass
from pathlib import Path

from microgradpy import DifferentiationError
from microgradpy.exporting.export import export_text
from tests.programs import PROGRAMS, Program
from tests.programs.mutation import MUTATION

DOCUMENT = Path(__file__).parents[2] / "docs" / "export.md"
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
WRITERS = [each for each in MUTATION if each.function.__module__.rpartition(".")[2] in ARRAY_TABLES]


@functools.cache
def exported() -> tuple[Exported, ...]:
    """All programs that write nothing, and those that write into arrays."""
    return tuple(map(_export, (*PROGRAMS, *WRITERS)))


def _export(program: Program) -> Exported:
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            return Exported(program, export_text(program.function, *copy.deepcopy(program.args)))
        except DifferentiationError as refusal:
            return Exported(program, "", str(refusal))


def reason(refusal: str) -> str:
    """What a refusal is for, in a few words."""
    return next((said for words, said in REASONS.items() if words in refusal), "something that no module has")


def _share(rows: tuple[Exported, ...]) -> str:
    count = sum(bool(row.text) for row in rows)
    return f"{count} are exported ({count / len(rows):.0%})"


def figures() -> str:
    """The share that is exported, and a table of reasons."""
    rows = exported()
    pure, writers = rows[: len(PROGRAMS)], rows[len(PROGRAMS) :]
    said = (
        f"Of the {len(pure)} programs that write nothing in the tables of the tests, {_share(pure)}; of the {len(writers)} in\n"
        f"the tables of programs that write into arrays, {_share(writers)}."
    )
    reasons = collections.Counter(reason(row.refusal) for row in rows if row.refusal)
    table = [f"| {count} | {why} |" for why, count in reasons.most_common()]
    return "\n".join([said, "", "| programs | refused because |", "|---|---|", *table, ""])


def main() -> None:
    """Write the figures into the document."""
    DOCUMENT.write_text(_SECTION.sub(lambda _: figures(), DOCUMENT.read_text()))


if __name__ == "__main__":
    main()
