"""The examples of rules that have no second derivative, and why: `refused.txt`, which `python -m tests.second.refused` writes.

An example leaves the list when it has one; one with a wrong second derivative is never entered.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.second.programs import NO_VALUE, NOT_ASKED, REFUSED, RIGHT, TRIED, outcome

FILE = Path(__file__).with_name("refused.txt")


def refused() -> dict[str, str]:
    """Why each example is refused, by its name."""
    return dict(line.split(" | ", 1) for line in FILE.read_text().splitlines()) if FILE.exists() else {}


def _reason(found: str) -> str:
    """What a refusal says first, without places and memory addresses."""
    first = found.splitlines()[0].partition(" (/")[0].partition(" (microgradpy")[0]
    return re.sub(r"\bline \d+\b|0x[0-9a-f]+|_adjoint_\d+", "_", first)


def main() -> None:
    lines, wrong = [], []
    counts = dict.fromkeys((RIGHT, REFUSED, NO_VALUE, NOT_ASKED), 0)
    names = {verdict: set[str]() for verdict in counts}
    for name, examples in TRIED.items():
        for example in examples:
            try:
                verdict, what = outcome(example)
            except Exception as failure:
                wrong.append(f"{example}: {type(failure).__name__}: {failure}")
                continue
            counts[verdict] += 1
            names[verdict].add(name)
            lines += [f"{example} | {_reason(what)}\n"] if verdict == REFUSED else []
    FILE.write_text("".join(lines))
    asked = names[RIGHT] | names[REFUSED]
    print(counts)
    whole, part = names[RIGHT] - names[REFUSED], names[RIGHT] & names[REFUSED]
    print(f"{len(whole)} of {len(asked)} functions, {len(part)} others in part")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
