"""What is known of functions that are called with what has a leading axis for the directions."""

from __future__ import annotations

import operator
from collections.abc import Hashable
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from microgradpy.ad.repeatable import is_of_libraries
from microgradpy.ir.nodes import Const, Op, Value
from microgradpy.rules.linearity import linear_arguments
from microgradpy.rules.numpy.manipulation.shape import reshape_bar
from microgradpy.rules.transposes.arithmetic import power_exponent_dot
from microgradpy.runtime.cotangents import any_or_zero, cotangent_item, from_items, number_bars, or_zero
from microgradpy.runtime.keys import from_front
from microgradpy.runtime.pushforwards import pushed, pushed_by_rule
from microgradpy.tangents.arithmetic import conj, divide, item_cotangent, real_like, unbroadcast, zero_cotangent
from microgradpy.tangents.casts import made_of_bar
from microgradpy.tangents.choices import share
from microgradpy.tangents.decompositions import adjoint, hermitian_of
from microgradpy.tangents.helpers import (
    COTANGENT_OF,
    COTANGENT_OF_CALL,
    COTANGENT_OF_ITEM,
    COTANGENTS_LIKE,
    COTANGENTS_OF_ITEMS,
    LIKE,
)
from microgradpy.tangents.linear import expand_reduced, mean_count
from microgradpy.tangents.memory_order import order_of_reading
from microgradpy.tangents.powers import power_base_bar
from microgradpy.tangents.types import accumulate


def callee_of(op: Op) -> Any:
    """What an operation calls, None if that is not known."""
    return op.callee.value if isinstance(op.callee, Const) else None


def function_in(value: Value) -> Any:
    """What a constant is, if it can be looked up; None of a variable."""
    found = value.value if isinstance(value, Const) else None
    return found if isinstance(found, Hashable) else None


def is_in(callee: Any, table: Any) -> bool:
    try:
        return callee in table
    except TypeError:  # unhashable
        return False


ELEMENTWISE = frozenset(
    {
        operator.add,
        operator.sub,
        operator.mul,
        operator.truediv,
        operator.neg,
        operator.pos,
        operator.pow,
        np.conjugate,
        divide,
        conj,
        share,
        power_base_bar,
        power_exponent_dot,
    }
)


def is_elementwise(op: Op) -> bool:
    """Whether an operation works entry by entry."""
    callee = callee_of(op)
    is_ufunc = (
        isinstance(callee, np.ufunc) and callee.signature is None and callee.nout == 1 and len(op.arguments) == callee.nin
    )
    return (is_ufunc or is_in(callee, ELEMENTWISE)) and not op.keywords


def is_arithmetic(callee: Any) -> bool:
    """Whether it is one of Python's operators on numbers and arrays."""
    return callee is operator.matmul or (isinstance(callee, BuiltinFunctionType) and callee in ELEMENTWISE)


def only_computes(callee: Any) -> bool:
    """Whether a function is one of NumPy's that compute, a helper of a rule, or one that is linear in an argument. None of
    these writes into what it is given."""
    if callee is operator.getitem or callee is operator.matmul:
        return True
    if isinstance(callee, FunctionType) and callee.__module__.startswith(_OF_RULES):
        return callee.__name__.endswith(("_bar", "_dot", "_adjoint")) or is_in(callee, _COMPUTING) or _is_declared(callee)
    return is_in(callee, _COMPUTING) or _is_declared(callee) or is_of_libraries(callee) or bool(linear_arguments(callee))


_OF_RULES = "microgradpy.rules."
_COMPUTING = frozenset({accumulate, real_like, or_zero, any_or_zero, cotangent_item, from_items, adjoint, hermitian_of})


def _is_declared(callee: Any) -> bool:
    return any(is_in(callee, table) for table in _DECLARED)


_DECLARED = (COTANGENT_OF, COTANGENT_OF_CALL, COTANGENT_OF_ITEM, COTANGENTS_OF_ITEMS, COTANGENTS_LIKE, LIKE)
"""Helpers that return something of a known kind. Such as write into an argument, for who owns it, are none of them."""


# What depends on the direction

_OF_SHAPES = {len, np.shape, np.ndim, np.size, mean_count, zero_cotangent, from_front, order_of_reading}
PLAIN = frozenset({operator.is_, operator.is_not, *_OF_SHAPES})
"""What does not depend on the direction, though it is asked of what does."""
OF_VALUE: dict[Any, int] = {
    unbroadcast: 0,
    expand_reduced: 0,
    reshape_bar: 0,
    item_cotangent: 2,
    number_bars: 0,
    or_zero: 0,
    any_or_zero: 0,
    made_of_bar: 0,
}
"""What depends on the direction if this argument does; of the others it is the shapes that matter."""
PUSHING: dict[Any, int] = {pushed: 3, pushed_by_rule: 4}
"""What is given a function first, and which argument are those of that."""
