"""Variables that may be unbound where only the compiler reads them.

The user's program never reads a variable that is not assigned on the path taken (or gets the `UnboundLocalError` it
asks for). But a tape records it, the primal returns it among the saved values, and a copy to another name reads it:

    z = None                     <- filled in, because of the tape
    for i in range(n):
        tape.append(z)
        if i > 2:
            z = x
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from microgradpy.codegen.liveness import Copy
from microgradpy.codegen.nesting import Nesting
from microgradpy.ir.nodes import For, Function, Op, Region, Return, Undefined, Value, Var, While
from microgradpy.ir.traversal import is_mark, regions, walk


def filled_variables(function: Function, nesting: Nesting, made: Sequence[Copy], names: Mapping[Var, str]) -> frozenset[Var]:
    """The targets of copies that have to be set to None where the value is undefined."""
    if not any(isinstance(copy.value, Undefined) for copy in made):
        return frozenset()
    filled = set(_read_by_compiler(function, nesting))
    for copy in made:
        value = copy.value
        if isinstance(value, Var) and value not in nesting.nested and names[value] != names[copy.target]:
            filled.add(value)
    # What flows into a variable that has to be bound has to be bound too.
    flows = [(copy.target, copy.value) for copy in made if isinstance(copy.value, Var)]
    for statement in walk(function.body):
        if isinstance(statement, While | For):
            flows += zip(statement.results, statement.parameters, strict=True)
    while more := {value for target, value in flows if target in filled} - filled:
        filled |= more
    return frozenset(filled)


def _read_by_compiler(function: Function, nesting: Nesting) -> Iterator[Var]:
    results = set(_returned_pairs(function.body))
    for statement in walk(function.body):
        if isinstance(statement, Op) and not statement.from_user and not is_mark(statement):
            # What the user's function returns is read by the user, also where it is returned with saved values.
            start = 1 if statement.results and statement.results[0] in results else 0
            for value in statement.arguments[start:]:
                yield from nesting.leaves(value)


def _returned_pairs(region: Region) -> Iterator[Value]:
    for statement in region.statements:
        for inner in regions(statement):
            yield from _returned_pairs(inner)
    if isinstance(region.terminator, Return):
        yield region.terminator.value
