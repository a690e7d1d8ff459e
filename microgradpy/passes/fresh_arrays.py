"""Arrays that an adjoint makes and nothing else refers to.

Such an array may be written into by its last reader, and given to the user without a copy:

    t = h_bar * (h > 0)     becomes     h_bar *= h > 0         if h_bar was made here and is not read again
    t = h_bar * (1.0 - h * h)           h_bar *= 1.0 - h * h   if both are of double precision besides
    t = share(h_bar, wins, equal)       h_bar = share_in_place(h_bar, wins, equal)
    W_bar = W_bar + t       becomes     W_bar += t             in a loop that W_bar enters as zeros made here
    return x.T @ t                      (the caller need not copy what is returned)

An operator or ufunc applied to arrays makes a new array, always, and so do a few other functions; that is what freshness is
proven from.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator
from functools import partial

import numpy as np

from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.ir.kinds import Array
from microgradpy.ir.nodes import (
    Const,
    Continue,
    For,
    Function,
    Op,
    Opcode,
    Region,
    Return,
    Statement,
    Value,
    Var,
    Yield,
    function_constant,
    operator_constant,
)
from microgradpy.ir.rewrite import map_regions
from microgradpy.ir.traversal import count_reads, terminator_values, terminators, uses
from microgradpy.tangents.arithmetic import divide, zero_cotangent
from microgradpy.tangents.choices import share, share_in_place
from microgradpy.tangents.linear import expand_reduced

_OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.matmul, operator.neg, operator.gt)
_MAKERS = (divide, expand_reduced, np.where, share)
"""Other functions whose result, where it is an array with axes, is always a new one."""
_KNOWN = frozenset(map(id, (*_OPERATORS, *_MAKERS)))
_IN_PLACE = {operator.add: "iadd", operator.sub: "isub", operator.mul: "imul", operator.truediv: "itruediv"}
_IN_PLACE_SUM = operator_constant("iadd")
_SHARE_IN_PLACE = function_constant(share_in_place)
_WRITTEN = frozenset((*map(operator_constant, _IN_PLACE.values()), _SHARE_IN_PLACE))


def write_in_place(adjoint: Function, doubles: frozenset[Var] = frozenset()) -> Function:
    """Products with a mask, written into their left operand where that is fresh and not read again (a mask of booleans
    changes neither the dtype nor, being broadcast to it, the shape), as are sums, products and ratios of what are known to be
    `doubles`; and the sums that a loop carries."""
    analysis = _Analysis.of(adjoint)

    def region(old: Region, sums: frozenset[Var] = frozenset()) -> Region:
        return Region(tuple(_rewritten(old, sums)), old.terminator)

    def _rewritten(old: Region, sums: frozenset[Var]) -> Iterator[Statement]:
        fresh: set[Var] = set()
        for statement in old.statements:
            if not isinstance(statement, Op):
                carried = analysis.carried_sums(statement, old) if isinstance(statement, For) else frozenset()
                yield map_regions(statement, partial(region, sums=carried))
                continue
            if statement.results and statement.results[0] in sums:
                yield _in_place(statement)
                continue
            written = analysis.is_written(statement, fresh, doubles)
            if written or analysis.makes_array(statement):
                fresh.add(statement.result)
            yield _in_place(statement) if written else statement

    return replace(adjoint, body=region(adjoint.body))


def _in_place(op: Op) -> Op:
    """The result has the name of the operand that it is written into."""
    target = op.arguments[0]
    assert isinstance(target, Var) and isinstance(op.callee, Const)
    written = Var(op.result.id, target.hint, target.user_named)
    callee = _SHARE_IN_PLACE if op.callee.value is share else operator_constant(_IN_PLACE[op.callee.value])
    return replace(op, callee=callee, results=(written,))


def fresh_results(adjoint: Function) -> tuple[bool, ...]:
    """For each cotangent that an adjoint returns: whether it is a new array that nothing else refers to."""
    terminator = adjoint.body.terminator
    if not isinstance(terminator, Return) or not isinstance(terminator.value, Var):
        return (False,)
    analysis = _Analysis.of(adjoint)
    display = analysis.made.get(terminator.value)
    if display is None or display.callee is not Opcode.TUPLE:
        return (analysis.is_fresh_result(terminator.value, (terminator.value,)),)
    return tuple(analysis.is_fresh_result(value, display.arguments) for value in display.arguments)


@dataclass(frozen=True, slots=True)
class _Analysis:
    """`made` are the operations that run once per call, by result; `readers` all reads of a value; `summed` the arrays
    that loops have added up in place; `harmless` the reads by what makes something new of a value."""

    function: Function
    made: dict[Var, Op]
    readers: Counter[Value]
    summed: frozenset[Var]
    harmless: Counter[Value] = field(default_factory=Counter)

    @classmethod
    def of(cls, function: Function) -> _Analysis:
        loops = [loop for loop in function.body.statements if isinstance(loop, For)]
        summed = frozenset(var for loop in loops for var in _summed(loop))
        found = cls(function, _made_in(function.body), count_reads(function.body), summed)
        for op in found.made.values():
            if found.keeps_nothing(op):
                found.harmless.update(uses(op))
        return found

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

    def carried_sums(self, loop: For, around: Region) -> frozenset[Var]:
        """The sums `p + t`, or `p + t + u`, that a loop carries on as its parameter p, which enters it as an array that was
        made for it and is read by nothing else."""
        terminator = loop.body.terminator
        edges = [edge for edge in terminators(loop.body, of_inner_loops=False) if not isinstance(edge, Yield)]
        if not isinstance(terminator, Continue) or len(edges) > 1:
            return frozenset()
        made_here, inside = _made_in(around), _made_in(loop.body)
        found = set()
        for parameter, start, value in zip(loop.parameters, loop.initial, terminator.values, strict=True):
            if not isinstance(value, Var) or value not in inside or not isinstance(start, Var) or start not in made_here:
                continue
            if self.readers[parameter] == self.readers[start] == 1 and self.is_made(made_here[start]):
                found.update(self.sums_into(value, parameter, inside))
        return frozenset(found)

    def sums_into(self, value: Var, parameter: Var, inside: dict[Var, Op]) -> list[Var]:
        """The sums `p + t`, `(p + t) + u` and so on up to a value, each of which is read by the next one only."""
        found: list[Var] = []
        while value != parameter:
            made = inside.get(value)
            target = made.arguments[0] if made is not None and made.arguments else None
            if made is None or not isinstance(target, Var) or self.readers[value] != 1 or not self.is_sum_into(made, target):
                return []
            found.append(value)
            value = target
        return found

    def is_sum_into(self, op: Op, target: Var) -> bool:
        """`target + t` for arrays of one shape."""
        match op:
            case Op(callee=Const(value=operator.add), arguments=(first, Var() as second), keywords=()) if first == target:
                array, other = self.function.kinds.get(target), self.function.kinds.get(second)
                if not (isinstance(array, Array) and isinstance(other, Array)):
                    return False
                return array.dtype == other.dtype == "float" and bool(array.shape) and array.shape == other.shape
        return False

    def is_made(self, op: Op) -> bool:
        """Whether an operation makes a new array, zeros included."""
        return self.makes_array(op) or (isinstance(op.callee, Const) and op.callee.value is zero_cotangent)

    def is_written(self, op: Op, fresh: set[Var], doubles: frozenset[Var]) -> bool:
        """Whether the value of an operation can be written into its left operand."""
        match op:
            case Op(callee=Const(value=function), arguments=(Var() as target, *masks)) if function is share:
                return target in fresh and self.readers[target] == 1 and self.are_masks_of(target, masks)
            case Op(callee=Const(value=function), arguments=(Var() as target, other), keywords=()) if (
                id(function) in _KNOWN and function in _IN_PLACE and target in fresh and self.readers[target] == 1
            ):
                array, result = self.function.kinds.get(target), self.function.kinds.get(op.result)
                if not (isinstance(array, Array) and isinstance(result, Array) and array.shape and array.shape == result.shape):
                    return False
                mask = self.function.kinds.get(other) if isinstance(other, Var) else None
                if isinstance(mask, Array) and mask.dtype == "bool":
                    return function is operator.mul and array.dtype == "float"
                is_number = isinstance(other, Const) and type(other.value) in (float, int)
                return target in doubles and (is_number or other in doubles)
        return False

    def are_masks_of(self, target: Var, masks: list[Value]) -> bool:
        """Whether values are masks of the shape of an array of floats."""
        array = self.function.kinds.get(target)
        if not isinstance(array, Array) or array.dtype != "float" or not array.shape:
            return False
        return all(isinstance(each, Var) and self.function.kinds.get(each) == replace(array, dtype="bool") for each in masks)

    def is_fresh_result(self, value: Value, returned: tuple[Value, ...]) -> bool:
        """Whether a result is a new array whose other readers make new values of it, and keep no reference."""
        if not isinstance(value, Var) or returned.count(value) > 1:
            return False
        made = self.made.get(value)
        if made is None:
            if value not in self.summed:
                return False
        elif made.callee not in _WRITTEN and not self.makes_array(made):
            return False
        return self.readers[value] == self.harmless[value] + 1

    def keeps_nothing(self, op: Op) -> bool:
        return self.makes_array(op) or _is_method(op, "sum")


def _made_in(region: Region) -> dict[Var, Op]:
    return {op.result: op for op in region.statements if isinstance(op, Op) and len(op.results) == 1}


def _summed(loop: For) -> Iterator[Var]:
    """The results of a loop that are sums written in place, into what the loop carries."""
    made = _made_in(loop.body)
    for start, parameter, result in zip(terminator_values(loop.body.terminator), loop.parameters, loop.results, strict=False):
        value = start
        while isinstance(value, Var) and value in made and made[value].callee == _IN_PLACE_SUM:
            value = made[value].arguments[0]
        if value == parameter and value != start:
            yield result


def _is_arithmetic(op: Op) -> bool:
    if not isinstance(op.callee, Const) or op.keywords:
        return False
    function = op.callee.value
    return isinstance(function, np.ufunc) or id(function) in _KNOWN


def _is_method(op: Op, name: str) -> bool:
    if not isinstance(op.callee, Const) or op.callee.value is not getattr:
        return False
    return isinstance(op.arguments[1], Const) and op.arguments[1].value == name
