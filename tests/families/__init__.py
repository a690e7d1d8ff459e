"""Families of random programs: each is written for one kind of mistake that was once made, and right or refused, never wrong.

A family is a module of this folder with a `FAMILY` (`tests/families/family.py`): a function that writes the text of a program
from a generator of random numbers, the arguments it is called with, how it is judged if not in the common way (`judging.py`),
and the share of programs that may be refused, which only falls. `tests/test_families.py` runs some of each;

    python -m tests.families exits containers --count 2000 --start 0 --processes 2 --results runs.txt

judges many, prints what was refused and why, every wrong one in a small form, and goes on where it stopped if the file of
results is there already. `--show NUMBER` prints one program and its verdict. The same number gives the same text everywhere.
The command knows the other generators of random programs too: `programs`, `arrays` and `writes`.
"""

from __future__ import annotations

import importlib
import pkgutil

from tests.families.family import Family

SHARED = {"family", "judging", "command", "__main__"}

FAMILIES: dict[str, Family] = {
    name: importlib.import_module(f"{__name__}.{name}").FAMILY
    for name in sorted(module.name for module in pkgutil.iter_modules(__path__))
    if name not in SHARED
}
"""Every module of this folder but the shared ones is a family, by its name."""
