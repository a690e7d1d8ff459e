"""What becomes of a product one or both of whose operands have a leading axis for the directions.

    a @ x_dot       a @ x_dot                   of matrices; of a matrix and a vector x_dot @ a.T
    a_dot @ x_dot   np.sum(a_dot * x_dot, 1)    of vectors
    np.outer(x, y)  x[:, None] * y
"""

from __future__ import annotations

import numpy as np

from microgradpy.ad.batched_callees import callee_of
from microgradpy.ad.batched_operations import GETITEM, NEW_AXIS, WHOLE, NotBatched, Rules, np_constant, only, rank_of
from microgradpy.ir.kinds import Array
from microgradpy.ir.nodes import Const, Op, Value, function_constant, operator_constant
from microgradpy.tangents.batched_rows import matmul_each

AT = operator_constant("matmul")


def matmul(rules: Rules, op: Op) -> Op:
    only(op, at_most=2)
    x, y = op.arguments
    if rank_of(rules.kind(x)) is None or rank_of(rules.kind(y)) is None:
        flags = Const((rules.carries(x), rules.carries(y)))
        return rules.fold(op, function_constant(matmul_each), x, y, flags)
    n, m = rules.rank(x), rules.rank(y)
    if n > 2 or m > 2:
        if n < 2 or m < 2:
            raise NotBatched("a product of a stack of matrices with a vector")
        rank = max(n, m)
        return rules.fold(op, AT, rules.aligned(x, rank), rules.aligned(y, rank))
    match n, m:
        case 2, 2:
            return rules.fold(op, AT, x, y)
        case 1, 2:
            return _row_times_matrix(rules, op, x, y)
        case 2, 1:
            return _matrix_times_column(rules, op, x, y)
        case 1, 1:
            return _inner(rules, op, x, y)
    raise NotBatched("a product of a number")


def _row_times_matrix(rules: Rules, op: Op, x: Value, y: Value) -> Op:
    if not (rules.carries(x) and rules.carries(y)):
        return rules.fold(op, AT, x, y)
    row = rules.call(AT, with_axis(rules, x, 1), y, kind=Array(None, "float"))
    return rules.fold(op, GETITEM, row, rules.tuple_of(WHOLE, Const(0)))


def _matrix_times_column(rules: Rules, op: Op, x: Value, y: Value) -> Op:
    if not rules.carries(y):
        return rules.fold(op, AT, x, y)
    if not rules.carries(x):  # the rows of `y` are the columns
        return rules.fold(op, AT, y, rules.call(Const(getattr, "getattr", getattr), x, Const("T"), kind=Array(2, "float")))
    column = rules.call(AT, x, with_axis(rules, y, 2), kind=Array(None, "float"))
    return rules.fold(op, GETITEM, column, rules.tuple_of(WHOLE, WHOLE, Const(0)))


def _inner(rules: Rules, op: Op, x: Value, y: Value) -> Op:
    if not rules.carries(y):
        return rules.fold(op, AT, x, y)
    if not rules.carries(x):
        return rules.fold(op, AT, y, x)
    product = rules.call(operator_constant("mul"), x, y, kind=Array(2, "float"))
    return rules.fold(op, np_constant("sum"), product, keywords=(("axis", Const(1)),))


def with_axis(rules: Rules, value: Value, place: int) -> Value:
    return rules.call(GETITEM, value, rules.tuple_of(*(WHOLE,) * place, NEW_AXIS), kind=Array(None, "float"))


def dot(rules: Rules, op: Op) -> Op:
    only(op, at_most=2)
    x, y = op.arguments
    n, m = rules.rank(x), rules.rank(y)
    if n == 0 or m == 0:
        return rules.elementwise(rules.fold(op, operator_constant("mul"), x, y))
    if n > 2 or m > 2:
        raise NotBatched("a product of stacks")
    return matmul(rules, op)


def outer(rules: Rules, op: Op) -> Op:
    """`np.outer` of vectors, and `np.multiply.outer` of arrays of any rank."""
    only(op, at_most=2)
    x, y = op.arguments
    n, m = rules.rank(x), rules.rank(y)
    if callee_of(op) is np.outer and (n, m) != (1, 1):
        raise NotBatched("an outer product of what is no vector")
    left = x
    if m:
        lead = (WHOLE,) if rules.carries(x) else ()
        index = rules.tuple_of(*lead, *(WHOLE,) * n, *(NEW_AXIS,) * m)
        left = rules.call(GETITEM, x, index, kind=Array(None, "float")) if n or lead else x
    return rules.fold(op, operator_constant("mul"), left, rules.aligned(y, n + m))
