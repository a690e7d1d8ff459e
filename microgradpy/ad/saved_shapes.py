"""Arrays of which the adjoint asks the shape only: that is saved, and not the array, unless another one has the shape as well.

    product = d * d                             product = d * d
    return np.mean(product), (d, product)       return np.mean(product), d             d has the same axes
                                                                                       mean_count(d, None)
    values = x[chosen]                          values = x[chosen]
    return np.mean(values), (x, values)         return np.mean(values), (x, mean_count(values, None))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import Array
from microgradpy.ir.nodes import Const, Function, Op, Region, Statement, Value, Var
from microgradpy.ir.rewrite import map_statements
from microgradpy.ir.traversal import definitions, given_values, regions, terminator_values, uses, walk
from microgradpy.tangents.linear import expand_reduced, mean_count, reduced_count

_MEASURES = frozenset(map(id, (mean_count, reduced_count, np.shape, np.size, len)))
"""Functions whose first argument is an array that they ask for its shape."""
_MEASURED_ATTRIBUTES = ("shape", "size", "ndim")


def measured(function: Function, adjoint: Region) -> tuple[Region, Mapping[Var, list[Op]]]:
    """The adjoint of a primal, in which nobody changes the shape of an array, without those of which it asks the shape; and
    the operations in it that the primal does instead, by the array that they measure."""
    asked: dict[Var, list[Op]] = {}
    for statement in walk(adjoint):
        if isinstance(statement, Op) and (array := _measured_by(statement)) is not None:
            asked.setdefault(array, []).append(statement)
    if not asked:
        return adjoint, {}
    read = set(read_for_more(adjoint, measured_place))
    twins: dict[Var, Var] = {}
    moved: dict[Var, list[Op]] = {}
    for array, before in _arrays_with_those_before(function):
        if array not in asked or array in read:
            continue
        twin = next((each for each in reversed(before) if each in read and _are_alike(function, each, array)), None)
        if twin is not None:
            twins[array] = twin
        elif all(map(_is_measure, asked[array])):
            moved[array] = asked[array]
    results = {op.result for ops in moved.values() for op in ops}

    def rewrite(statement: Statement) -> tuple[Statement, ...]:
        return () if not results.isdisjoint(statement.results) else (_of_twin(statement, twins),)

    return map_statements(adjoint, rewrite) if twins or moved else adjoint, moved


def _is_measure(op: Op) -> bool:
    """Whether an operation gives numbers that say how large an array is."""
    match op:
        case Op(callee=Const(value=function), arguments=(Var(), Const(value=name)), keywords=()) if function is getattr:
            return name in _MEASURED_ATTRIBUTES
        case Op(callee=Const(value=function), arguments=(Var(), *rest), keywords=()) if id(function) in _MEASURES:
            return all(isinstance(each, Const) for each in rest)
    return False


def measured_place(op: Op) -> int | None:
    """Which argument an operation asks for its shape only."""
    if _is_measure(op):
        return 0
    is_expansion = isinstance(op.callee, Const) and op.callee.value is expand_reduced and not op.keywords
    return 1 if is_expansion else None


def _measured_by(op: Op) -> Var | None:
    place = measured_place(op)
    array = None if place is None else op.arguments[place]
    return array if isinstance(array, Var) else None


def _of_twin(statement: Statement, twins: Mapping[Var, Var]) -> Statement:
    """The same of an array that is as large."""
    array = _measured_by(statement) if isinstance(statement, Op) else None
    if not isinstance(statement, Op) or array is None or array not in twins:
        return statement
    arguments = list(statement.arguments)
    arguments[measured_place(statement) or 0] = twins[array]
    return replace(statement, arguments=tuple(arguments))


def read_for_more(region: Region, place_in: Callable[[Op], int | None]) -> Iterator[Value]:
    """What is read for more than what operations ask of the argument at a place, such as its shape."""
    for statement in region.statements:
        if isinstance(statement, Op) and (place := place_in(statement)) is not None:
            yield from given_values(statement.arguments[:place] + statement.arguments[place + 1 :], statement.keywords)
        else:
            yield from uses(statement)
        for nested in regions(statement):
            yield from read_for_more(nested, place_in)
    yield from terminator_values(region.terminator)


def _are_alike(function: Function, first: Var, second: Var) -> bool:
    """Whether it is proven of two arrays that they have the same axes."""
    one, other = function.kinds.get(first), function.kinds.get(second)
    if not isinstance(one, Array) or not isinstance(other, Array) or not one.ndim:
        return False
    return one.ndim == other.ndim and bool(one.shape) and one.shape == other.shape


def _arrays_with_those_before(function: Function) -> Iterator[tuple[Var, list[Var]]]:
    """The arrays that statements make, each with the arguments and what has been made in the same region before."""

    def visit(region: Region) -> Iterator[tuple[Var, list[Var]]]:
        before = list(function.inputs)
        for statement in region.statements:
            for nested in regions(statement):
                yield from visit(nested)
            for var in definitions(statement):
                if isinstance(function.kinds.get(var), Array):
                    yield var, before
                before.append(var)

    yield from visit(function.body)
