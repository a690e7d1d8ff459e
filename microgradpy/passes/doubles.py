"""Which values are arrays or NumPy scalars of double precision, if these of the inputs are.

A kind says "float", whatever the width. The width matters where an operation is left out: `1.0 * c` is `c` only if the one is
not wider than `c`. So this is proven apart, for the functions that are asked for it: an operation on floats that has a double
among its operands makes doubles (Python's own floats are narrow: they take the width of the array they meet).
"""

from __future__ import annotations

import operator
from collections.abc import Iterable

import numpy as np

from microgradpy.ir.kinds import Array, Scalar
from microgradpy.ir.nodes import Const, Function, Op, Region, Value, Var
from microgradpy.ir.traversal import regions

_WIDENING = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.matmul, operator.neg, np.dot)
_KEEPING = (operator.getitem, np.sum, np.mean, np.reshape, np.transpose)
_HARMLESS = frozenset(("axis", "keepdims"))


def doubles(function: Function, known: Iterable[Var]) -> frozenset[Var]:
    """The variables of a function that are proven to be double, given those that are known to be."""
    found = set(known)
    _look_at(function.body, function, found)
    return frozenset(found)


def _look_at(region: Region, function: Function, found: set[Var]) -> None:
    for statement in region.statements:
        if isinstance(statement, Op):
            if len(statement.results) == 1 and _is_float(function, statement.result) and _is_double(statement, found):
                found.add(statement.result)
        for inner in regions(statement):
            _look_at(inner, function, found)


def _is_float(function: Function, var: Var) -> bool:
    match function.kinds.get(var):
        case Array(dtype="float") | Scalar(name="float"):
            return True
    return False


def _is_double(op: Op, found: set[Var]) -> bool:
    if not isinstance(op.callee, Const) or not op.arguments or not _HARMLESS.issuperset(name for name, _ in op.keywords):
        return False
    callee = op.callee.value
    if isinstance(callee, np.ufunc) or any(callee is known for known in _WIDENING):
        return any(is_in(argument, found) for argument in op.arguments)
    if callee is getattr and op.arguments[1:] == (Const("T"),):
        return is_in(op.arguments[0], found)
    return any(callee is known for known in _KEEPING) and is_in(op.arguments[0], found)


def is_in(value: Value, found: set[Var] | frozenset[Var]) -> bool:
    """Whether a value is a variable among those."""
    return isinstance(value, Var) and value in found
