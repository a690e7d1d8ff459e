"""What the view of a function as basic blocks consists of, as plain frozen data, and what its lines define and read; `blocks`
derives the view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never, final

from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.nodes import NOWHERE, Items, Location, Op, Raise, Return, Unreachable, Value, Var
from microgradpy.ir.traversal import item_sources, item_variables, terminator_values, uses


@final
@dataclass(frozen=True, slots=True)
class Iterate:
    """`result = iter(items)`: the iterator of a `for`."""

    items: Items
    result: Var
    where: Location = field(default=NOWHERE, compare=False)


@final
@dataclass(frozen=True, slots=True)
class Advance:
    """`more, <variables of items> = next(iterator)`: after the last item `more` is false and nothing else is bound."""

    iterator: Var
    more: Var
    items: Items
    where: Location = field(default=NOWHERE, compare=False)


Instruction = Op | Iterate | Advance


@final
@dataclass(frozen=True, slots=True)
class Branch:
    """Goes to the block numbered `target`, giving its parameters these values, unless `unless` is given and true. With
    `catches`, it is where exceptions of these classes go that come from the body of the `Try` of this scope."""

    target: int
    arguments: tuple[Value, ...] = ()
    unless: Value | None = None
    catches: tuple[Var, tuple[Value, ...]] | None = None
    where: Location = field(default=NOWHERE, compare=False)


Exit = Branch | Return | Raise | Unreachable


@final
@dataclass(frozen=True, slots=True)
class Block:
    """`branches` are tried in order; the last one is unconditional."""

    number: int
    parameters: tuple[Var, ...]
    instructions: tuple[Instruction, ...]
    branches: tuple[Exit, ...]


def bound_variables(instruction: Instruction) -> tuple[Var, ...]:
    """The variables that an instruction defines, left to right as printed."""
    match instruction:
        case Op(results=results):
            return results
        case Iterate(result=result):
            return (result,)
        case Advance(more=more, items=items):
            return (more, *item_variables(items))
    assert_never(instruction)


def used_variables(line: Instruction | Exit) -> Iterator[Var]:
    """The variables that an instruction or a branch reads."""
    match line:
        case Op():
            values = uses(line)
        case Iterate(items=items):
            values = item_sources(items)
        case Advance(iterator=iterator):
            values = (iterator,)
        case Branch(arguments=arguments, unless=unless):
            values = arguments if unless is None else (*arguments, unless)
        case _:
            values = terminator_values(line)
    return (value for value in values if isinstance(value, Var))
