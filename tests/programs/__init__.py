"""The table of programs, one module per family of language features."""

from __future__ import annotations

from tests.programs import (
    arrays,
    binding,
    branches,
    calls,
    constructors,
    containers,
    corners,
    exceptions,
    expressions,
    given_functions,
    iteration,
    iterators,
    loops,
    matching,
    models,
    named_operators,
    objects,
    overloading,
    rereading,
    signals,
    signatures,
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
    "corners",
    "exceptions",
    "expressions",
    "given_functions",
    "iteration",
    "iterators",
    "loops",
    "matching",
    "models",
    "named_operators",
    "objects",
    "overloading",
    "rereading",
    "signals",
    "signatures",
]
