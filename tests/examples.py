"""The examples of all rules, of those for SciPy too where it is installed."""

from __future__ import annotations

from microgradpy.rules.registry import Example, all_examples
from microgradpy.rules.scipy import load_all

load_all()
EXAMPLES: list[Example] = all_examples()
