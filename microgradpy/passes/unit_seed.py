"""The adjoint of a number for the seed 1: the products with the seed go.

    t = out_bar * c                                   x_bar = c * exp_x
    x_bar = t * exp_x               becomes

    t = 0.5 * out_bar                                 x_bar = 0.5 * c
    x_bar = t * c                   becomes

Only products with arrays of double precision: what is left out must not have widened its other operand. A product of the seed
and a constant stays for whoever else reads it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import Const, Function, Op, Region, Statement, Value, Var
from microgradpy.ir.rewrite import map_uses, substitute
from microgradpy.passes.dead_code import eliminate_dead_code
from microgradpy.passes.doubles import is_in


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
