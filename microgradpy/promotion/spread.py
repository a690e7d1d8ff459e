"""Calls with `*items` and `**options` of which it is known what they are.

    options = {"k": 2.0, "c": 0.3}
    damped(x, **options)                  damped(x, k=2.0, c=0.3)
"""

from __future__ import annotations

from typing import Any

from microgradpy.ir.kinds import TupleOf
from microgradpy.ir.nodes import Const, Op, Opcode, Var, fresh
from microgradpy.promotion.base import fields_of
from microgradpy.promotion.places import DictOf, Display, Known, is_thing


def positions(walker: Any, known: Known, op: Op) -> tuple[Known, ...] | None:
    """The items of a tuple, or of what was read from arguments; None if it is not known how many there are."""
    if isinstance(known, Display):
        return known.items
    if is_thing(known):
        return None
    if known in walker.contents:
        return walker.contents[known]  # type: ignore[no-any-return]
    made = walker.kinds.builder.producers.get(known) if isinstance(known, Var) else None
    if made is not None and made.callee is Opcode.TUPLE:
        return made.arguments  # type: ignore[no-any-return]
    kind = walker.kinds.of(known)
    if not isinstance(kind, TupleOf) or not isinstance(known, Var):
        return None
    items = tuple(fresh("") for _ in kind.items)
    walker.add(Op(Opcode.UNPACK, (known,), items, from_user=False, where=op.where))
    return items


def options(walker: Any, known: Known) -> dict[str, Known] | None:
    """The entries of a dict; None if they are not known, or not all under names."""
    found = _entries(walker, known)
    return found if found is not None and all(type(key) is str for key in found) else None


def _entries(walker: Any, known: Known) -> dict[Any, Known] | None:
    if isinstance(known, DictOf):
        return fields_of(walker.fields, known)
    if is_thing(known):
        pairs = walker.pairs(known)
        return None if pairs is None else dict(pairs)
    made = walker.kinds.builder.producers.get(known) if isinstance(known, Var) else None
    if made is None or made.callee is not Opcode.DICT or not all(isinstance(key, Const) for key in made.arguments[::2]):
        return None
    return {key.value: value for key, value in zip(made.arguments[::2], made.arguments[1::2], strict=True)}
