"""The names of parameters, and what there is in a program: its statements, and the variables that a part reads and makes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from microgradpy.ad.calls import Apart
from microgradpy.ir.nodes import (
    KEYS_CHECKED,
    Const,
    For,
    Function,
    Op,
    Region,
    Statement,
    Try,
    Value,
    Var,
    While,
    function_constant,
)
from microgradpy.ir.traversal import definitions, item_variables, terminator_values, terminators, uses, walk

_DICT = function_constant(dict)


class Names:
    """Names of which each is given once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)

    def new(self, hint: str) -> str:
        names = itertools.chain((hint,), (f"{hint}_{number}" for number in itertools.count(1)))
        found = next(name for name in names if name not in self.taken)
        self.taken.add(found)
        return found


def used_in(region: Region) -> Iterator[Var]:
    """The variables that a region reads."""
    for statement in walk(region):
        yield from (value for value in uses(statement) if isinstance(value, Var))
    for terminator in terminators(region):
        yield from (value for value in terminator_values(terminator) if isinstance(value, Var))


def definitions_in(region: Region) -> Iterator[Var]:
    """The variables that a region makes, also those that are seen inside of a statement only."""
    for statement in walk(region):
        yield from definitions(statement)
        if isinstance(statement, While | For | Try):
            yield from statement.parameters
        if isinstance(statement, For):
            yield from item_variables(statement.items)
        if isinstance(statement, Try):
            yield statement.scope
            yield from (handler.exception for handler in statement.handlers if handler.exception is not None)


def statements_of(function: Function) -> Iterator[Statement]:
    """The statements of a function, and of those that it calls with what is in sight."""
    waiting, met = [function], {id(function)}
    while waiting:
        for statement in walk(waiting.pop().body):
            yield statement
            match statement:
                case Op(callee=Const(value=Apart(function=callee))) if id(callee) not in met:
                    met.add(id(callee))
                    waiting.append(callee)


def gathered_by_dict(region: Region) -> frozenset[Value]:
    """What comprehensions collect for dicts; nobody else reads it."""
    gathered = (op for op in walk(region) if isinstance(op, Op) and op.callee == _DICT and op.payload == KEYS_CHECKED)
    return frozenset(op.arguments[0] for op in gathered)
