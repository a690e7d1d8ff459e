"""Operations of the user's that nobody needs and that cannot raise, for who returns a derivative and not the value:

    product = 100.0 * gap ** 2
    np.sum(product)             (the tangent of the sum is made of other things)
    return np.sum(product_dot)              becomes         return np.sum(product_dot)

Only of arrays of floats of proven axes, whose warnings are all that there is to be missed.
"""

from __future__ import annotations

import operator

import numpy as np

from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import FLOAT, Array
from microgradpy.ir.nodes import Const, Function, Op, Statement, Value, Var
from microgradpy.ir.rewrite import map_statements
from microgradpy.ir.traversal import definitions, walk
from microgradpy.passes.dead_code import eliminate_dead_code

_BINARY = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)
_OF_ONE = (operator.neg, operator.pos, np.sum, np.mean)


def without_unneeded(function: Function) -> Function:
    """The function without them."""

    def given_up(statement: Statement) -> tuple[Statement, ...]:
        if isinstance(statement, Op) and _cannot_raise(statement, function):
            return (replace(statement, from_user=False),)
        return (statement,)

    body = map_statements(function.body, given_up)
    needed = {var for each in walk(eliminate_dead_code(replace(function, body=body)).body) for var in definitions(each)}

    def kept(statement: Statement) -> tuple[Statement, ...]:
        is_harmless = isinstance(statement, Op) and _cannot_raise(statement, function)
        return () if is_harmless and needed.isdisjoint(definitions(statement)) else (statement,)

    return eliminate_dead_code(replace(function, body=map_statements(function.body, kept)))


def _cannot_raise(op: Op, function: Function) -> bool:
    """Whether an operation computes with arrays of floats, and has nothing to say but warnings."""
    if not isinstance(op.callee, Const) or op.keywords or len(op.results) != 1:
        return False
    called = op.callee.value
    arrays = [kind for value in op.arguments if (kind := _array(value, function)) is not None]
    if len(op.arguments) == 1:
        is_ufunc = isinstance(called, np.ufunc) and vars(np).get(called.__name__) is called
        return len(arrays) == 1 and (is_ufunc or any(called is each for each in _OF_ONE))
    if len(op.arguments) != 2 or not any(called is each for each in _BINARY):
        return False
    if len(arrays) == 2:
        return bool(arrays[0].shape) and arrays[0].shape == arrays[1].shape
    return len(arrays) == 1 and any(_is_number(value, function) for value in op.arguments)


def _array(value: Value, function: Function) -> Array | None:
    kind = function.kinds.get(value) if isinstance(value, Var) else None
    return kind if isinstance(kind, Array) and kind.dtype == "float" and kind.ndim else None


def _is_number(value: Value, function: Function) -> bool:
    if isinstance(value, Const):
        return type(value.value) is float or (type(value.value) is int and abs(value.value) < _LARGE)
    return isinstance(value, Var) and function.kinds.get(value) == FLOAT


_LARGE = 2**53
"""Larger integers are none of NumPy's."""
