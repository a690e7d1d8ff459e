"""The adjoint of a number for the seed 1: the products with the seed go.

    t = out_bar * c                                   x_bar = c * exp_x
    x_bar = t * exp_x               becomes

    t = 0.5 * out_bar                                 x_bar = 0.5 * c
    x_bar = t * c                   becomes

Only products with arrays of double precision: what is left out must not have widened its other operand. A product of the seed
and a constant stays for whoever else reads it.

Which values are arrays or NumPy scalars of double precision, if these of the inputs are, no kind says: it says "float",
whatever the width. So it is proven apart, for the functions that are asked for it: an operation on floats that has a double
among its operands makes doubles (Python's own floats are narrow: they take the width of the array they meet).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable

import numpy as np

from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import Array, Scalar
from microgradpy.ir.nodes import Const, Function, Op, Region, Statement, Value, Var
from microgradpy.ir.rewrite import map_uses, substitute
from microgradpy.ir.traversal import regions
from microgradpy.passes.dead_code import eliminate_dead_code

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


def with_unit_seed(adjoint: Function, seed: Var, doubles: frozenset[Var]) -> Function | None:
    """The adjoint with what is known of its results if `seed` is the number 1, None if that is nothing; `doubles` are the
    variables that are known to be of double precision."""
    folding = _Folding({seed: 1.0}, doubles)
    statements = tuple(new for old in adjoint.body.statements for new in folding.statement(old))
    if not folding.is_changed:
        return None
    body = substitute(Region(statements, adjoint.body.terminator), folding.same)
    return eliminate_dead_code(replace(adjoint, body=body))


class _Folding:
    """`multiples` are the variables that are the seed times a number, `same` those that are another value."""

    def __init__(self, multiples: dict[Var, float], doubles: frozenset[Var]) -> None:
        self.multiples: dict[Var, float] = multiples
        self.doubles = doubles
        self.same: dict[Var, Value] = {}
        self.is_changed = False

    def statement(self, old: Statement) -> tuple[Statement, ...]:
        statement = map_uses(old, self.known) if self.same else old
        match statement:
            case Op(callee=Const(value=operator.mul | operator.truediv as callee), arguments=(left, right), keywords=()):
                folded = self.folded(statement, left, right, callee)
                self.is_changed |= folded is not statement
                return () if folded is None else (folded,)
        return (statement,)

    def known(self, value: Value) -> Value:
        return self.same.get(value, value) if isinstance(value, Var) else value

    def folded(self, op: Op, left: Value, right: Value, compute: Callable[[float, float], float]) -> Op | None:
        """A product or ratio without the seed; None if it is one of its operands."""
        first, second = self.number(left), self.number(right)
        if first is not None and second is not None:
            if second != 0.0 or compute is operator.mul:
                self.multiples[op.result] = compute(first, second)
            return op
        if first is not None and is_in(right, self.doubles):
            if first == 1.0 and compute is operator.mul:
                self.same[op.result] = right
                return None
            return op if isinstance(left, Const) else replace(op, arguments=(Const(first), right))
        if second is not None and is_in(left, self.doubles) and compute is operator.mul:
            if second == 1.0:
                self.same[op.result] = left
                return None
            return op if isinstance(right, Const) else replace(op, arguments=(left, Const(second)))
        return op

    def number(self, value: Value) -> float | None:
        """The number that the seed makes of a value; a constant is one as it stands."""
        if isinstance(value, Const) and type(value.value) in (float, int):
            return float(value.value)
        return self.multiples.get(value) if isinstance(value, Var) else None
