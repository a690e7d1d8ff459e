"""The entry: a function with what it makes for itself as variables."""

from __future__ import annotations

import operator
import types
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, final

from microgradpy.dataclasses import dataclass, replace
from microgradpy.frontend.prune import prune
from microgradpy.ir.kinds import Kind, Scalar
from microgradpy.ir.nodes import Const, Function, Op, Statement
from microgradpy.ir.traversal import walk
from microgradpy.promotion.arguments import Arguments
from microgradpy.promotion.calls import Calls
from microgradpy.promotion.classes import is_in_sight, is_record, lineage
from microgradpy.promotion.functions import Lower
from microgradpy.promotion.given import Whole
from microgradpy.promotion.places import Escapes, Frame, Holds, Mutates, NotInSight, Origin, Part
from microgradpy.runtime.bytecode import WRITERS
from microgradpy.runtime.suspension import is_generator
from microgradpy.runtime.variables import new_cell

_MOST_WALKS = 40


def _makes_memory(statement: Statement) -> bool:
    """Whether an operation makes or changes what may be in sight."""
    if not isinstance(statement, Op) or not isinstance(statement.callee, Const):
        return False
    match statement.callee.value:
        case type() as cls:
            return is_in_sight(cls) or is_record(cls)
        case types.FunctionType(__code__=code) if any(isinstance(part, types.CodeType) for part in code.co_consts):
            return True  # it may make a function
        case types.FunctionType(__code__=code) if is_generator(code):
            return True
        case function if function is new_cell or function is operator.setitem:
            return True
        case function if function is getattr:
            return statement.arguments[1] == Const("append")
    return False


@final
@dataclass(frozen=True, slots=True)
class Promoted:
    """A function without the memory that was in sight. `members` are what classes had under names, `checks` what the lowering
    of other functions relied on, and `functions` those that were written where they are called."""

    function: Function
    members: tuple[tuple[Any, str, Any], ...]
    checks: tuple[Any, ...]
    functions: tuple[types.FunctionType, ...]
    followed: frozenset[types.CodeType]
    """The code whose own writes are none any more."""
    parts: Mapping[int, Part] = MappingProxyType({})
    """The arguments in sight, by the number of the input."""


def _followed(function: types.FunctionType, inside: list[types.FunctionType], made: Function) -> frozenset[types.CodeType]:
    """The code whose writes are all in sight: none if a method is called that may be one of these functions, or writes."""
    names = WRITERS.union(each.__name__ for each in inside)
    for statement in walk(made.body):
        if isinstance(statement, Op) and isinstance(statement.callee, Const) and statement.callee.value is getattr:
            name = statement.arguments[1]
            if not isinstance(name, Const) or name.value in names:
                return frozenset()
    return frozenset(each.__code__ for each in (function, *inside))


@final
class _Found:
    """What walks have found out, with which the next one starts."""

    def __init__(self) -> None:
        self.kept: frozenset[Origin] = frozenset()
        self.mutable: frozenset[type] = frozenset()
        self.grown: frozenset[Origin] = frozenset()
        self.tables: dict[Origin, tuple[type, tuple[str, ...]]] = {}
        self.wholes: frozenset[tuple[Any, ...]] = frozenset()

    def walker(self, function: types.FunctionType, lower: Lower, examples: Mapping[int, Any] | None) -> Calls:
        known = function, lower, self.kept, self.mutable, self.grown, self.tables
        return Calls(*known) if examples is None else Arguments(*known, examples, self.wholes)

    def note(self, found: Exception) -> None:
        match found:
            case Escapes(origin=origin):
                self.kept |= {origin}
            case Holds(origin=origin, cls=cls, names=names):
                if origin in self.tables:
                    self.kept |= {origin}
                self.tables[origin] = cls, names
            case Mutates(cls=cls):
                self.mutable |= {cls}
            case Whole(path=path):
                self.wholes |= {path}


def promoted(
    function: types.FunctionType,
    ir: Function,
    lower: Lower,
    kinds: tuple[Kind, ...] = (),
    examples: Mapping[int, Any] | None = None,
) -> Promoted | None:
    """The function with what is in sight as variables; None where nothing is. Arguments may be in sight, of which `examples`
    are given by the number of the input."""
    if examples is None and not any(map(_makes_memory, walk(ir.body))):
        return None
    found = _Found()
    for _ in range(_MOST_WALKS):
        walker = found.walker(function, lower, examples)
        walker.numbers.update(var for var, kind in zip(ir.inputs, kinds, strict=False) if isinstance(kind, Scalar))
        try:
            made = walker.whole(ir, Frame(()))
        except (Escapes, Holds, Mutates, Whole) as more:
            found.note(more)
            continue
        except NotInSight:
            return None
        if not walker.helped:
            return None
        if not walker.appended <= found.grown:
            found.grown |= walker.appended
            continue
        followed = _followed(function, walker.functions, made)
        members = tuple((lineage(cls), name, member) for (cls, name), member in walker.members.items())
        made = replace(made, body=prune(made.body))
        return Promoted(made, members, tuple(walker.checks), tuple(walker.functions), followed, walker.roots)
    return None
