"""The numbers of the random programs that are run with the tests, in batches.

`MICROGRADPY_RANDOM_PROGRAMS` is how many of each generator (60 by default), `MICROGRADPY_RANDOM_START` the number of the first.
`python -m tests.families` judges any number of them.
"""

from __future__ import annotations

import os

COUNT = int(os.environ.get("MICROGRADPY_RANDOM_PROGRAMS", "60"))
START = int(os.environ.get("MICROGRADPY_RANDOM_START", "0"))


def batches(size: int = 10, count: int = COUNT) -> list[range]:
    """`count` numbers in ranges of at most that size."""
    end = START + count
    return [range(first, min(first + size, end)) for first in range(START, end, size)]
