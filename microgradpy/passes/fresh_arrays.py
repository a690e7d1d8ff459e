"""Arrays that an adjoint makes and nothing else refers to.

Such an array may be written into by its last reader, and given to the user without a copy:

    t = h_bar * (h > 0)     becomes     h_bar *= h > 0         if h_bar was made here and is not read again
    return x.T @ t                      (the caller need not copy what is returned)

An operator or ufunc applied to arrays makes a new array, always; that is what freshness is proven from.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from microgradpy.ir.kinds import Array
from microgradpy.ir.nodes import Const, Function, Op, Opcode, Region, Return, Statement, Value, Var
from microgradpy.ir.rewrite import map_regions
from microgradpy.ir.traversal import regions, terminator_values, uses

_OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.matmul, operator.neg, operator.gt)
_IN_PLACE_PRODUCT = Const(operator.imul, "operator.imul", operator)


def write_in_place(adjoint: Function) -> Function:
    """Products with a mask, written into their left operand where that is fresh and not read again. A mask of booleans
    changes neither the dtype nor, being broadcast to it, the shape."""
    analysis = _Analysis.of(adjoint)

    def region(old: Region) -> Region:
        return Region(tuple(_rewritten(old)), old.terminator)

    def _rewritten(old: Region) -> Iterator[Statement]:
        fresh: set[Var] = set()
        for statement in old.statements:
            if not isinstance(statement, Op):
                yield map_regions(statement, region)
                continue
            written = analysis.is_masked(statement, fresh)
            if written or analysis.makes_array(statement):
                fresh.add(statement.result)
            yield _in_place(statement) if written else statement

    return replace(adjoint, body=region(adjoint.body))


def _in_place(op: Op) -> Op:
    """The result has the name of the operand that it is written into."""
    target = op.arguments[0]
    assert isinstance(target, Var)
    return replace(op, callee=_IN_PLACE_PRODUCT, results=(Var(op.result.id, target.hint, target.user_named),))


def fresh_results(adjoint: Function) -> tuple[bool, ...]:
    """For each cotangent that an adjoint returns: whether it is a new array that nothing else refers to."""
    terminator = adjoint.body.terminator
    if not isinstance(terminator, Return) or not isinstance(terminator.value, Var):
        return (False,)
    analysis = _Analysis.of(adjoint)
    display = analysis.made.get(terminator.value)
    if display is None or display.callee is not Opcode.TUPLE:
        return (analysis.is_fresh_result(terminator.value, (terminator.value,), None),)
    return tuple(analysis.is_fresh_result(value, display.arguments, display) for value in display.arguments)


@dataclass(frozen=True, slots=True)
class _Analysis:
    """`made` are the operations that run once per call, by result; `readers` all reads of a value."""

    function: Function
    made: dict[Var, Op]
    readers: Counter[Value]

    @classmethod
    def of(cls, function: Function) -> _Analysis:
        made = {op.result: op for op in function.body.statements if isinstance(op, Op) and len(op.results) == 1}
        return cls(function, made, Counter(_reads(function.body)))

    def makes_array(self, op: Op) -> bool:
        """Whether an operation's result is proven to be a new array."""
        if len(op.results) != 1 or op.from_user:
            return False
        kind = self.function.kinds.get(op.result)
        return isinstance(kind, Array) and bool(kind.ndim) and (_is_arithmetic(op) or self.is_sum(op))

    def is_sum(self, op: Op) -> bool:
        """`x.sum(axis=0)`"""
        method = self.made.get(op.callee) if isinstance(op.callee, Var) else None
        return method is not None and _is_method(method, "sum")

    def is_masked(self, op: Op, fresh: set[Var]) -> bool:
        match op:
            case Op(callee=Const(value=operator.mul), arguments=(Var() as target, Var() as mask), keywords=()):
                array, other, result = (self.function.kinds.get(var) for var in (target, mask, op.result))
                if not (isinstance(array, Array) and isinstance(other, Array) and isinstance(result, Array)):
                    return False
                dtypes = (array.dtype, other.dtype) == ("float", "bool")
                same_shape = bool(array.shape) and array.shape == result.shape
                return dtypes and same_shape and target in fresh and self.readers[target] == 1
        return False

    def is_fresh_result(self, value: Value, returned: tuple[Value, ...], display: Op | None) -> bool:
        """Whether a result is a new array whose other readers make new values of it, and keep no reference."""
        if not isinstance(value, Var) or value not in self.made or returned.count(value) > 1:
            return False
        made = self.made[value]
        if made.callee != _IN_PLACE_PRODUCT and not self.makes_array(made):
            return False
        harmless = sum(uses(op).count(value) for op in self.made.values() if op is not display and self.keeps_nothing(op))
        return self.readers[value] == harmless + 1

    def keeps_nothing(self, op: Op) -> bool:
        return self.makes_array(op) or _is_method(op, "sum")


def _is_arithmetic(op: Op) -> bool:
    if not isinstance(op.callee, Const) or op.keywords:
        return False
    function = op.callee.value
    return isinstance(function, np.ufunc) or any(function is known for known in _OPERATORS)


def _is_method(op: Op, name: str) -> bool:
    return op.callee == Const(getattr) and op.arguments[1] == Const(name)


def _reads(region: Region) -> Iterator[Value]:
    """Every read of a value in a region and in those inside it."""
    for statement in region.statements:
        yield from uses(statement)
        for inner in regions(statement):
            yield from _reads(inner)
    yield from terminator_values(region.terminator)
