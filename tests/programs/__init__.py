"""The table of programs, one module per family of language features."""

from __future__ import annotations

from tests.programs import arrays, branches, calls, containers, exceptions, expressions, iteration, loops, models, objects
from tests.programs.table import PROGRAMS, Program

__all__ = [
    "PROGRAMS",
    "Program",
    "arrays",
    "branches",
    "calls",
    "containers",
    "exceptions",
    "expressions",
    "iteration",
    "loops",
    "models",
    "objects",
]
