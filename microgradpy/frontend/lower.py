"""From a Python function to its IR.

def f(x, n):                      f(x, n):
    y = 1.0                           for Range(n, i) with (%1/y = 1.0):
    for i in range(n):                    %2/y = %1 * x
        y = y * x                         continue (%2)
    return y                          -> %3/y; return %3
"""

from __future__ import annotations

import types
from typing import final

from microgradpy.dataclasses import dataclass
from microgradpy.frontend import (  # noqa: F401 - these register what they lower
    lower_calls,
    lower_comprehensions,
    lower_expressions,
    lower_generators,
    lower_loops,
    lower_making,
    lower_match,
    lower_statements,
    lower_try,
    lower_with,
)
from microgradpy.frontend.lower_functions import lower_code
from microgradpy.frontend.places import Effects
from microgradpy.frontend.resolve import Guard, Resolver
from microgradpy.frontend.scope import mangle_private_names
from microgradpy.frontend.source import find_source
from microgradpy.ir.nodes import Function
from microgradpy.runtime.room import with_room


@final
@dataclass(frozen=True, slots=True)
class Lowered:
    """The IR of a function, the module-level names it takes to be constant, and whether it is another one with marks."""

    function: Function
    constants: tuple[Guard, ...]
    marks_matter: bool


@with_room
def lower_function(
    function: types.FunctionType,
    resolve: Resolver | None = None,
    *,
    marks_effects: bool = False,
    catches: bool = False,
    notes: bool = False,
) -> Lowered:
    """The IR of a plain Python function. `resolve` folds module-level names (by default those of its module). For functions
    that write, `marks_effects` lets marks follow what may change something, and one that `catches` returns what it raises.
    With `notes` it notes what its variables are when it returns.

    Raises `SourceNotFoundError` if the text of the running code cannot be found and `UnsupportedSyntaxError` for
    generators and coroutines. Everything else that is not supported is lowered to a `raise` at its place.
    """
    found, effects = find_source(function), Effects(marks_effects)
    resolver = Resolver.of(function) if resolve is None else resolve
    tree = mangle_private_names(found.tree, found.class_name)
    lowered = lower_code(
        tree, function.__code__, found.file, found.lines, resolver, effects=effects, catches=catches, notes=notes
    )
    return Lowered(lowered, tuple(resolver.guards.values()), effects.matter)
