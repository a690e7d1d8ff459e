"""The examples of all rules: of those of the networks, and of those for SciPy where it is installed, too.

`BY_FUNCTION` has those of one function together: most are done in a millisecond, so that one test makes them all.
"""

from __future__ import annotations

import microgradpy.nn
import microgradpy.public
import microgradpy.runtime.second_derivatives
import microgradpy.trees  # noqa: F401 - all of them have rules
from microgradpy.rules.registry import Example, all_examples
from microgradpy.rules.scipy import load_all
from tests.ways import chosen

load_all()
EXAMPLES: list[Example] = all_examples()
BY_FUNCTION: dict[str, list[Example]] = {}
for _example in EXAMPLES:
    BY_FUNCTION.setdefault(str(_example).rpartition("-")[0], []).append(_example)


def way_of_computing(example: Example) -> tuple[str, ...]:
    """How a rule is tested besides as it is: its pullback is compiled into a function, or transposed for forward mode."""
    return chosen(str(example).rpartition("-")[0], ("compiled in", "transposed"))
