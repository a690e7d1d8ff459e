"""Which statements may change places. The order of the user's own operations never changes."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

import numpy as np

from microgradpy.codegen.notation import InPlace, notation
from microgradpy.ir.kinds import UNKNOWN, Kind, Scalar
from microgradpy.ir.nodes import Const, Op, Opcode, Statement, Value, Var
from microgradpy.ir.traversal import regions

# Functions of the run-time algebra that write into what they are given.
_WRITERS = frozenset({"add_item", "add_iterated"})
_PURE_MODULES = ("numpy", "math", "microgradpy.tangents", "microgradpy.rules")


class Effect(enum.IntEnum):
    """What a statement does, from the harmless up; a statement with regions does the most that is done in them."""

    PURE = 0  # depends on values that nobody writes
    READS = 1  # made by the compiler; reads objects that may be written elsewhere
    CALLS = 2  # keeps its place among other calls (it may raise), but writes nothing
    WRITES = 3  # may write, print or do anything else


def conflict(first: Effect, second: Effect) -> bool:
    """Whether two statements with these effects must stay in their order."""
    if Effect.WRITES in (first, second):
        return first is not Effect.PURE and second is not Effect.PURE
    return first is Effect.CALLS and second is Effect.CALLS


def effect(statement: Statement, kinds: Mapping[Var, Kind]) -> Effect:
    """The most that a statement may do."""
    if isinstance(statement, Op):
        return _effect_of_operation(statement, kinds)
    inner = (effect(child, kinds) for region in regions(statement) for child in region.statements)
    return max(inner, default=Effect.PURE)


def _effect_of_operation(op: Op, kinds: Mapping[Var, Kind]) -> Effect:
    sign = notation(op)
    opcode = op.callee if isinstance(op.callee, Opcode) else None
    if isinstance(sign, InPlace) or opcode in (Opcode.SUSPEND, Opcode.RECORD, Opcode.APPEND, Opcode.STORE, Opcode.MARK):
        return Effect.WRITES
    numbers = sign is not None and all(_is_number(value, kinds) for value in op.arguments)
    if op.from_user:
        # Arithmetic on numbers may raise (and so keeps its place) but can write nothing.
        return Effect.CALLS if numbers else Effect.WRITES
    if numbers or opcode in (Opcode.TUPLE, Opcode.LIST, Opcode.DICT, Opcode.TAPE):
        return Effect.PURE
    if sign is not None or (opcode is not None and opcode is not Opcode.APPLY):
        return Effect.READS
    return _effect_of_call(op.callee)


def _effect_of_call(callee: Value | Opcode) -> Effect:
    if not isinstance(callee, Const):
        return Effect.CALLS
    name = getattr(callee.value, "__name__", "")
    if name in _WRITERS:
        return Effect.WRITES
    return Effect.READS if _is_pure(callee.value) else Effect.CALLS


def _is_pure(function: Any) -> bool:
    if isinstance(function, np.ufunc):
        return True
    module = getattr(function, "__module__", None)
    return isinstance(module, str) and module.startswith(_PURE_MODULES)


def _is_number(value: Value, kinds: Mapping[Var, Kind]) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, int | float | complex | str)
    return isinstance(value, Var) and isinstance(kinds.get(value, UNKNOWN), Scalar)
