"""The table of programs, one module per family of language features."""

from __future__ import annotations

from tests.programs import (
    arrays,
    binding,
    branches,
    calls,
    containers,
    expressions,
    iteration,
    loops,
    matching,
    models,
    objects,
)
from tests.programs.table import PROGRAMS, Program

__all__ = [
    "PROGRAMS",
    "Program",
    "arrays",
    "binding",
    "branches",
    "calls",
    "containers",
    "expressions",
    "iteration",
    "loops",
    "matching",
    "models",
    "objects",
]
