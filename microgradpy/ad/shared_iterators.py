"""Which variables of a function may be iterators that are read at more than one place: a loop over one of them has to ask for
the places of its items, since its own count is not that of the iterator.

    it = iter(x)                  pairs = zip(x, y)
    for a in it:                  for a, b in pairs:
        b = next(it)                  ...                 (read here only: the count of the loop is that of the items)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from types import BuiltinFunctionType
from typing import final

from microgradpy.dataclasses import dataclass
from microgradpy.ir.nodes import Const, For, Function, Op, Opcode, Region, Statement, Value, Var, While, function_constant
from microgradpy.ir.traversal import regions, terminator_values, terminators, uses
from microgradpy.runtime.iterators import STREAMS

_NEXT = function_constant(next)
_Loops = tuple[int, ...]


@final
@dataclass(frozen=True, slots=True)
class Iterators:
    """`shared` are the variables that `next` is given, and those that a function of `STREAMS` made and that are used more than
    once; `own` are the others that such a function made."""

    shared: frozenset[Var] = frozenset()
    own: frozenset[Var] = frozenset()


def iterators_in(function: Function) -> Iterators:
    """Look at a function."""
    made: dict[Var, _Loops] = {}
    shared: set[Var] = set()
    used: Counter[Var] = Counter()
    for statement, loops in _statements(function.body, ()):
        if isinstance(statement, Op) and statement.callee == _NEXT:
            shared.update(value for value in statement.arguments[:1] if isinstance(value, Var))
        elif isinstance(statement, Op) and makes_iterator(statement.callee):
            made[statement.result] = loops
        for value in uses(statement):
            if isinstance(value, Var) and value in made:
                used[value] += 1 + (loops != made[value])
    for terminator in terminators(function.body):
        used.update(value for value in terminator_values(terminator) if isinstance(value, Var))
    shared.update(var for var in made if used[var] > 1)
    return Iterators(frozenset(shared), frozenset(made.keys() - shared))


def makes_iterator(callee: Value | Opcode) -> bool:
    """Whether a function is known to give an iterator over the items of others."""
    if not isinstance(callee, Const) or not isinstance(callee.value, type | BuiltinFunctionType):
        return False
    return callee.value in STREAMS


def _statements(region: Region, loops: _Loops) -> Iterator[tuple[Statement, _Loops]]:
    """The statements of a region, with the loops that they are in."""
    for statement in region.statements:
        yield statement, loops
        inside = (*loops, id(statement)) if isinstance(statement, For | While) else loops
        for inner in regions(statement):
            yield from _statements(inner, inside)
