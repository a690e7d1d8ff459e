"""What the adjoint of a loop is made of, and what is asked about a loop before it is walked backwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import final

from microgradpy.ad.adjoint_builder import Cotangents
from microgradpy.ad.exits import Frame
from microgradpy.dataclasses import dataclass
from microgradpy.ir.kinds import Kind
from microgradpy.ir.nodes import (
    Break,
    Continue,
    Enumerate,
    For,
    Items,
    Op,
    Statement,
    Value,
    Var,
    While,
    Zip,
)
from microgradpy.ir.traversal import item_variables, regions


@final
@dataclass(frozen=True, slots=True)
class Carrier:
    """A cotangent that the adjoint of a loop carries from record to record: that of `inside` (a parameter of the loop, or
    a variable from before it) in the body, and of `outside` around the loop, where it is `start` to begin with."""

    inside: Var
    outside: Var
    start: Value | None


@final
@dataclass(frozen=True, slots=True)
class LoopBody:
    """One walk backwards over the body of a loop: it takes the carried cotangents as `parameters` of `kinds` to `carried`,
    with `found` at its end. `widened` are the kinds of carried cotangents that turned out to be assumed too narrow, `flags`
    say of which the zeros are those of a selection, where these are kept."""

    statements: list[Statement]
    parameters: tuple[Var, ...]
    kinds: tuple[Kind, ...]
    carried: tuple[Value, ...]
    found: Cotangents
    widened: Mapping[Var, Kind]
    flags: tuple[Var, ...]


def is_zip(items: Items) -> bool:
    return is_zip(items.inner) if isinstance(items, Enumerate) else isinstance(items, Zip)


def has_effects(statements: Iterable[Statement]) -> bool:
    """Whether any of the statements changes shadows."""
    for statement in statements:
        if isinstance(statement, Op) and statement.from_user:
            return True
        if any(has_effects(region.statements) for region in regions(statement)):
            return True
    return False


def unchanged(statement: While | For, frame: Frame, demanded: frozenset[int]) -> frozenset[int]:
    """The exits that carry all of the demanded state as it came: there is nothing to undo."""
    return frozenset(
        number
        for number, site in enumerate(frame.exits)
        if isinstance(site, Continue | Break) and all(site.values[index] == statement.parameters[index] for index in demanded)
    )


def loop_name(statement: While | For) -> str:
    """What the tape of a loop is called after: an item, or the state."""
    items = item_variables(statement.items) if isinstance(statement, For) else ()
    named = sorted((var for var in (*items, *statement.parameters) if var.hint), key=lambda var: not var.user_named)
    return named[0].hint if named else ""
