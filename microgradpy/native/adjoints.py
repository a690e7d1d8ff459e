"""Functions of this package that adjoints call, in native code."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from microgradpy.ir.nodes import Const, Value, function_constant, operator_constant
from microgradpy.native import helpers
from microgradpy.native.arithmetic import arithmetic, division, floating_exponent
from microgradpy.native.arrays import axis_of, size_of_array, test_index, test_indices
from microgradpy.native.calls import (
    ADD,
    FULL,
    GETITEM,
    GT,
    LEN,
    TOTAL,
    ZEROS,
    Call,
    Rule,
    ndim_of,
)
from microgradpy.native.types import (
    FLOAT,
    FLOAT64,
    ArrayOf,
    Items,
    Known,
    Number,
    Truth,
    whole,
)


def _zero_cotangent(call: Call) -> None:
    x = call.arguments[-1]
    match call.types[-1]:
        case Number():
            call.give_known(0.0)
        case ArrayOf(ndim=ndim, dtype="float"):
            shape = call.make(Const(getattr, "getattr"), (x, Const("shape")), Items((whole(48),) * ndim))
            call.give(ZEROS, (shape,), ArrayOf(ndim))
        case _:
            raise call.refuse()


def _or_zero(call: Call) -> None:
    if call.types[0] == Known():
        _zero_cotangent(call)
    elif isinstance(call.types[0], Number | ArrayOf):
        call.give_same(call.arguments[0])
    else:
        raise call.refuse()


def _accumulate(call: Call) -> None:
    left, right = call.types
    if Known() in (left, right):
        call.give_same(call.arguments[1 if left == Known() else 0])
    elif ndim_of(left) == ndim_of(right):
        arithmetic(call, ADD)
    else:
        raise call.refuse()


def _conjugate(call: Call) -> None:
    if not isinstance(call.types[0], Number | ArrayOf):
        raise call.refuse()
    call.give_same(call.arguments[0])


def _unbroadcast(call: Call) -> None:
    d, x = call.arguments
    match call.types:
        case (Number(), Number()):
            call.give_same(d)
        case (ArrayOf(dtype="float"), Number()):
            call.give_finite(TOTAL, (d,), FLOAT64)
        case (ArrayOf(ndim=n, dtype="float"), ArrayOf(ndim=m, dtype="float")) if n == m:
            _test_same_shape(call, d, x, n)
            call.give_same(d)
        case (ArrayOf(ndim=2, dtype="float"), ArrayOf(ndim=1, dtype="float")):
            length = call.make(LEN, (x,), whole(48))
            shape = call.make(Const(getattr, "getattr"), (d, Const("shape")), Items((whole(48),) * 2))
            call.test(operator_constant("eq"), call.make(GETITEM, (shape, Const(1)), whole(48)), length)
            call.give_finite(function_constant(helpers.total_of_rows), (d,), ArrayOf(1))
        case _:
            raise call.refuse()


def _test_same_shape(call: Call, x: Value, y: Value, ndim: int) -> None:
    kind = Items((whole(48),) * ndim)
    shapes = [call.make(Const(getattr, "getattr"), (each, Const("shape")), kind) for each in (x, y)]
    call.test(operator_constant("eq"), *shapes)


def _expand_reduced(call: Call) -> None:
    y_bar, x, axis, keepdims = call.arguments
    match (*call.types[:2], axis_of((axis,))):
        case (Number(), ArrayOf(ndim=ndim), place) if place is None or (ndim == 1 and keepdims == Const(False)):
            shape = call.make(Const(getattr, "getattr"), (x, Const("shape")), Items((whole(48),) * ndim))
            call.give(FULL, (shape, y_bar), ArrayOf(ndim))
        case (ArrayOf(ndim=1), ArrayOf(ndim=2), 0 | -2) if keepdims == Const(False):
            call.give(function_constant(helpers.spread_over_rows), (y_bar, x), ArrayOf(2))
        case (ArrayOf(ndim=1), ArrayOf(ndim=2), 1 | -1) if keepdims == Const(False):
            call.give(function_constant(helpers.spread_over_columns), (y_bar, x), ArrayOf(2))
        case _:
            raise call.refuse()


def _mean_count(call: Call) -> None:
    if not isinstance(call.types[0], ArrayOf) or call.arguments[1] != Const(None):
        raise call.refuse()
    size = size_of_array(call, call.arguments[0])
    call.test_nonzero(size)
    call.give_same(size)


def _item_cotangent(call: Call) -> None:
    match call.types:
        case (ArrayOf(ndim=1), Number() as place, Number()) if place.is_whole:
            test_index(call, call.arguments[0], call.arguments[1])
            call.give(function_constant(helpers.item_cotangent), call.arguments, ArrayOf(1))
        case (ArrayOf(ndim=2), Number() as place, ArrayOf(ndim=1)) if place.is_whole:
            test_index(call, call.arguments[0], call.arguments[1])
            call.give(function_constant(helpers.item_cotangent), call.arguments, ArrayOf(2))
        case (ArrayOf(ndim=2), Items(items=(Number() as row, Number() as column)), Number()):
            if not (row.is_whole and column.is_whole):
                raise call.refuse()
            test_indices(call, call.arguments[0], call.arguments[1])
            call.give(function_constant(helpers.item_cotangent), call.arguments, ArrayOf(2))
        case _:
            raise call.refuse()


def _sign(call: Call) -> None:
    match call.types:
        case (Number(),):
            call.give(function_constant(helpers.sign), call.arguments, FLOAT)
        case (ArrayOf(dtype="float") as kind,):
            call.give(Const(np.sign, "np.sign", np), call.arguments, kind)
        case _:
            raise call.refuse()


def _share(call: Call) -> None:
    """What of a cotangent goes to one of two arrays, of which the larger or the smaller was taken."""
    d, x, y = call.arguments
    callee = call.op.callee
    assert isinstance(callee, Const)
    match call.types:
        case (ArrayOf(ndim=n, dtype="float"), ArrayOf(ndim=m, dtype="float"), Number()) if n == m:
            if callee.value.__name__ == "minimum_bar":
                x, y = (call.make(operator_constant("neg"), (each,), call.lowering.type(each) or FLOAT) for each in (x, y))
            call.give(function_constant(helpers.share), (d, x, y), ArrayOf(n))
        case _:
            raise call.refuse()


def _power_base_bar(call: Call) -> None:
    z_bar, x, p = call.arguments
    match call.types:
        case (Number(), Number() as base, Number() as exponent) if not base.may_be_whole:
            if exponent.is_whole:
                call.test_nonzero(x)
            else:
                call.test(GT, x, Const(0.0))
            call.give_finite(function_constant(helpers.power_base_bar), (z_bar, x, floating_exponent(call, p)), FLOAT)
        case (ArrayOf(ndim=n), ArrayOf(ndim=m), Number()) if n == m:
            call.give_finite(function_constant(helpers.power_base_bar), (z_bar, x, floating_exponent(call, p)), ArrayOf(n))
        case _:
            raise call.refuse()


def _chosen_bar(call: Call) -> None:
    """What of a cotangent goes to one of the numbers of which one was chosen."""
    z_bar, is_chosen, _ = call.arguments
    match call.types:
        case (Number(), Known(value=bool() as known), Number()):
            call.give_same(z_bar if known else Const(0.0))
        case (Number() as kind, Truth(), Number()) if not kind.may_be_whole:
            call.give(function_constant(helpers.chosen_bar), (z_bar, is_chosen), FLOAT)
        case _:
            raise call.refuse()


def _real_base_bar(call: Call) -> None:
    z_bar, x, p, z = call.arguments
    if not all(isinstance(kind, Number) for kind in call.types):
        raise call.refuse()
    call.test(function_constant(helpers.is_plain_power), x, z)
    call.give_finite(function_constant(helpers.real_base_bar), (z_bar, x, p, z), FLOAT)


def _exponent_bar(call: Call) -> None:
    z_bar, x, _, z = call.arguments
    if not all(isinstance(kind, Number) for kind in call.types):
        raise call.refuse()
    call.test_nonzero(x)
    call.give_finite(function_constant(helpers.power_exponent_bar), (z_bar, x, z), FLOAT)


OF_PACKAGE: Mapping[str, Rule] = {
    "zero_cotangent": _zero_cotangent,
    "zeros_for": _zero_cotangent,
    "or_zero": _or_zero,
    "accumulate": _accumulate,
    "conj": _conjugate,
    "unbroadcast": _unbroadcast,
    "expand_reduced": _expand_reduced,
    "mean_count": _mean_count,
    "item_cotangent": _item_cotangent,
    "sign": _sign,
    "divide": division,
    "maximum_bar": _share,
    "minimum_bar": _share,
    "chosen_bar": _chosen_bar,
    "power_base_bar": _power_base_bar,
    "power_exponent_bar": _exponent_bar,
    "real_base_bar": _real_base_bar,
    "real_exponent_bar": _exponent_bar,
}
