"""The examples of all rules: of those of the networks, and of those for SciPy where it is installed, too."""

from __future__ import annotations

import microgradpy.nn
import microgradpy.public  # noqa: F401 - both have rules
from microgradpy.rules.registry import Example, all_examples
from microgradpy.rules.scipy import load_all

load_all()
EXAMPLES: list[Example] = all_examples()
