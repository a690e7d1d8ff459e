"""The table of programs, one module per family of language features."""

from __future__ import annotations

from tests.programs import (
    arrays,
    binding,
    branches,
    calls,
    constructors,
    containers,
    exceptions,
    expressions,
    given_functions,
    iteration,
    iterators,
    loops,
    matching,
    models,
    objects,
    overloading,
    signals,
)
from tests.programs.table import PROGRAMS, Program

__all__ = [
    "PROGRAMS",
    "Program",
    "arrays",
    "binding",
    "branches",
    "calls",
    "constructors",
    "containers",
    "exceptions",
    "expressions",
    "given_functions",
    "iteration",
    "iterators",
    "loops",
    "matching",
    "models",
    "objects",
    "overloading",
    "signals",
]
