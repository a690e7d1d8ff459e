"""Arrays in native code: functions of NumPy, items, shapes."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from microgradpy.ir.nodes import Const, Opcode, Value, Var, function_constant, operator_constant
from microgradpy.native import helpers
from microgradpy.native.calls import (
    DIV,
    DOT,
    FULL,
    GETITEM,
    IS_INDEX,
    LEN,
    TOTAL,
    Call,
    Rule,
    dtype_of,
    enter,
    is_whole,
    ndim_of,
)
from microgradpy.native.types import (
    FLOAT64,
    ArrayOf,
    Items,
    Method,
    Number,
    Type,
    whole,
)


def _ufunc(call: Call) -> None:
    """A function of NumPy that works entry by entry, and gives floats."""
    if not all(isinstance(kind, Number | ArrayOf) and dtype_of(kind) != "bool" for kind in call.types):
        raise call.refuse()
    ndim = max(map(ndim_of, call.types))
    call.give_finite(call.op.callee, call.arguments, ArrayOf(ndim) if ndim else FLOAT64)


def _ufunc_of_floats(call: Call) -> None:
    """The same for one that gives whole numbers for whole numbers."""
    if all(is_whole(kind) for kind in call.types):
        raise call.refuse()
    _ufunc(call)


_FLOATING = "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh exp exp2 expm1 log log10 log2 log1p sqrt"
enter(_ufunc, *(getattr(np, name) for name in (*_FLOATING.split(), "arctan2", "hypot", "divide")))
enter(_ufunc_of_floats, *(getattr(np, name) for name in "abs fabs square negative maximum minimum".split()))


def _where(call: Call) -> None:
    if len(call.types) != 3:
        raise call.refuse()
    test, *arms = call.types
    if not isinstance(test, ArrayOf) or test.dtype != "bool" or not all(map(_is_choice, arms)):
        raise call.refuse()
    if any(ndim_of(arm) not in (0, test.ndim) for arm in arms):
        raise call.refuse()
    if all(isinstance(arm, Number) and arm.may_be_whole for arm in arms):
        raise call.refuse()
    call.give(Const(np.where, "np.where", np), call.arguments, ArrayOf(test.ndim))


def _is_choice(kind: Type) -> bool:
    return isinstance(kind, Number) or (isinstance(kind, ArrayOf) and kind.dtype == "float")


enter(_where, np.where)


def _sum(call: Call) -> None:
    """The sum of all entries of an array, of the rows or of the columns of a matrix."""
    x, *rest = call.arguments
    match call.types, axis_of(rest):
        case (ArrayOf(dtype="float"), *_), None:
            call.give_finite(TOTAL, (x,), FLOAT64)
        case (ArrayOf(ndim=1, dtype="float"), _), 0 | -1:
            call.give_finite(TOTAL, (x,), FLOAT64)
        case (ArrayOf(ndim=2, dtype="float"), _), 0 | -2:
            call.give_finite(function_constant(helpers.total_of_rows), (x,), ArrayOf(1))
        case (ArrayOf(ndim=2, dtype="float"), _), 1 | -1:
            call.give_finite(function_constant(helpers.total_of_columns), (x,), ArrayOf(1))
        case _:
            raise call.refuse()


def axis_of(rest: Sequence[Value]) -> Any:
    """The axis that a reduction is over, None for all; no number if that is not known."""
    match rest:
        case [] | [Const(value=None)]:
            return None
        case [Const(value=int(axis))]:
            return axis
    return "unknown"


def _mean(call: Call) -> None:
    x, *rest = call.arguments
    if not isinstance(call.types[0], ArrayOf) or call.types[0].dtype != "float" or axis_of(rest) is not None:
        raise call.refuse()
    size = size_of_array(call, x)
    call.test_nonzero(size)
    call.give_finite(DIV, (call.make(TOTAL, (x,), FLOAT64), size), FLOAT64)


REDUCING = (_sum, _mean)
OF_METHODS: Mapping[str, Rule] = {"sum": _sum, "mean": _mean}


def size_of_array(call: Call, x: Value) -> Var:
    return call.make(Const(getattr, "getattr"), (x, Const("size")), whole(48))


def _product(call: Call) -> None:
    left, right = call.types
    match left, right:
        case ArrayOf(ndim=a, dtype="float"), ArrayOf(ndim=b, dtype="float") if a in (1, 2) and b in (1, 2):
            ndim = a + b - 2
            call.give_finite(DOT, call.arguments, ArrayOf(ndim) if ndim else FLOAT64)
        case _:
            raise call.refuse()


def _outer(call: Call) -> None:
    match call.types:
        case (ArrayOf(ndim=1, dtype="float"), ArrayOf(ndim=1, dtype="float")):
            call.give_finite(Const(np.outer, "np.outer", np), call.arguments, ArrayOf(2))
        case _:
            raise call.refuse()


enter(_sum, np.sum)
enter(_mean, np.mean)
enter(_product, operator.matmul, np.dot, np.matmul)
enter(_outer, np.outer, np.multiply.outer)


def _length(call: Call) -> None:
    match call.types:
        case (ArrayOf(),):
            call.give(LEN, call.arguments, whole(48))
        case (Items(items=items),):
            call.give_known(len(items))
        case _:
            raise call.refuse()


def _attribute(call: Call) -> None:
    match call.types[0], call.arguments[1]:
        case ArrayOf(ndim=ndim), Const(value="shape"):
            call.give(call.op.callee, call.arguments, Items((whole(48),) * ndim))
        case ArrayOf(), Const(value="size"):
            call.give(call.op.callee, call.arguments, whole(48))
        case ArrayOf(ndim=ndim), Const(value="ndim"):
            call.give_known(ndim)
        case ArrayOf() as kind, Const(value="T"):
            call.give(call.op.callee, call.arguments, kind)
        case ArrayOf(), Const(value=str(name)) if name in OF_METHODS and isinstance(call.arguments[0], Var):
            call.lowering.types[call.op.result] = Method(name, call.arguments[0])
        case _:
            raise call.refuse()


def _item(call: Call) -> None:
    whole_, place = call.types
    match whole_, place:
        case ArrayOf(ndim=1, dtype="float"), Number() if place.is_whole:
            test_index(call, call.arguments[0], call.arguments[1])
            call.give(GETITEM, call.arguments, FLOAT64)
        case ArrayOf(ndim=2, dtype="float"), Number() if place.is_whole:
            test_index(call, call.arguments[0], call.arguments[1])
            call.give(GETITEM, call.arguments, ArrayOf(1))
        case ArrayOf(ndim=2, dtype="float"), Items(items=(Number() as row, Number() as column)):
            if not (row.is_whole and column.is_whole):
                raise call.refuse()
            test_indices(call, call.arguments[0], call.arguments[1])
            call.give(GETITEM, call.arguments, FLOAT64)
        case Items(items=items), _:
            number = call.arguments[1]
            if not isinstance(number, Const) or type(number.value) is not int or not -len(items) <= number.value < len(items):
                raise call.refuse()
            call.give(GETITEM, call.arguments, items[number.value])
        case _:
            raise call.refuse()


def test_index(call: Call, x: Value, place: Value) -> None:
    call.test(IS_INDEX, place, x)


def test_indices(call: Call, x: Value, places: Value) -> None:
    call.test(function_constant(helpers.are_indices), places, x)


def _tuple(call: Call) -> None:
    call.give(Opcode.TUPLE, call.arguments, Items(call.types))


def _unpacked(call: Call) -> None:
    match call.types:
        case (Items(items=items),) if len(items) == len(call.op.results):
            for number, (result, kind) in enumerate(zip(call.op.results, items, strict=True)):
                call.lowering.emit(GETITEM, (call.arguments[0], Const(number)), kind, call.op, result)
        case _:
            raise call.refuse()


def _store(call: Call) -> None:
    """`x[i] = y` and `x[i] += y`, into an array that the program has made."""
    kinds = call.types
    if not isinstance(kinds[0], ArrayOf) or len(kinds) != 3 or kinds[0].dtype != "float":
        raise call.refuse()
    match kinds:
        case (ArrayOf(ndim=1), Number() as place, Number()) if place.is_whole:
            test_index(call, call.arguments[0], call.arguments[1])
        case (ArrayOf(ndim=2), Number() as place, ArrayOf(ndim=1, dtype="float")) if place.is_whole:
            test_index(call, call.arguments[0], call.arguments[1])
        case (ArrayOf(ndim=2), Items(items=(Number() as row, Number() as column)), Number()):
            if not (row.is_whole and column.is_whole):
                raise call.refuse()
            test_indices(call, call.arguments[0], call.arguments[1])
        case _:
            raise call.refuse()
    call.give(Opcode.STORE, call.arguments, kinds[0])


def _zeros(call: Call) -> None:
    callee = call.op.callee
    match call.types:
        case (Number() as size,) if size.is_whole:
            call.test(operator_constant("ge"), call.arguments[0], Const(0))
            call.give(callee, call.arguments, ArrayOf(1))
        case (Items(items=sizes),) if 1 <= len(sizes) <= 2 and all(isinstance(s, Number) and s.is_whole for s in sizes):
            call.give(callee, call.arguments, ArrayOf(len(sizes)))
        case _:
            raise call.refuse()


def _full(call: Call) -> None:
    match call.types:
        case (Items(items=sizes), Number() as number) if 1 <= len(sizes) <= 2 and not number.may_be_whole:
            call.give(FULL, call.arguments, ArrayOf(len(sizes)))
        case _:
            raise call.refuse()


enter(_length, len)
enter(_attribute, getattr)
enter(_item, operator.getitem)
enter(_zeros, np.zeros, np.ones)
enter(_full, np.full)
OF_OPCODES: Mapping[Opcode, Rule] = {Opcode.TUPLE: _tuple, Opcode.UNPACK: _unpacked, Opcode.STORE: _store}
