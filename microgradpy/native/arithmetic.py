"""Numbers in native code: arithmetic, tests, functions of `math`, and those of NumPy on numbers."""

from __future__ import annotations

import builtins
import math
import operator

import numpy as np

from microgradpy.ir.nodes import Const, Value, function_constant, operator_constant
from microgradpy.native import helpers
from microgradpy.native.calls import (
    ADD,
    DIV,
    MUL,
    NE,
    SUB,
    Call,
    dtype_of,
    enter,
    is_whole,
    ndim_of,
)
from microgradpy.native.types import (
    EXACT_BITS,
    FLOAT,
    FLOAT64,
    ArrayOf,
    Known,
    Number,
    Truth,
    Type,
    TypeOf,
    join,
    whole,
)

# Arithmetic

_ONE = Const(1.0)


def arithmetic(call: Call, sign: Const) -> None:
    left, right = call.types
    match left, right:
        case (Number() | Truth(), Number() | Truth()):
            _of_numbers(call, sign, _as_number(call, left, right), _as_number(call, right, left))
        case (ArrayOf() | Number(), ArrayOf() | Number()) if "float" in (dtype_of(left), dtype_of(right)):
            call.give_finite(sign, call.arguments, ArrayOf(max(ndim_of(left), ndim_of(right))))
        case _:
            raise call.refuse()


def _as_number(call: Call, kind: Type, other: Type) -> Number:
    """A number or truth value as a number; NumPy's truth values only beside floats."""
    if isinstance(kind, Number):
        return kind
    assert isinstance(kind, Truth)
    if not kind.is_numpy:
        return whole(1)
    if not isinstance(other, Number) or other.may_be_whole:
        raise call.refuse()
    return FLOAT64


def _of_numbers(call: Call, sign: Const, left: Number, right: Number) -> None:
    if sign is MUL and not call.op.from_user and _ONE in call.arguments and not (left.may_be_whole or right.may_be_whole):
        call.give_same(call.arguments[call.arguments[0] == _ONE])
        return
    if left.is_whole and right.is_whole:
        _of_whole(call, sign, left, right)
        return
    if left.may_be_whole and right.may_be_whole:
        raise call.refuse()
    found = _floating(left, right)
    give = call.give_finite if found.may_be_numpy else call.give
    give(sign, call.arguments, found)


def _floating(*kinds: Number) -> Number:
    """The type of what is computed of numbers, one of which is a float."""
    may = set[str]()
    numpy = [kind.may_be_numpy for kind in kinds]
    if any(numpy):
        may.add("float64")
    if not any(kind.may == {"float64"} for kind in kinds):
        may.add("float")
    return Number(frozenset(may))


def _of_whole(call: Call, sign: Const, left: Number, right: Number) -> None:
    bits = left.bits + right.bits if sign is MUL else max(left.bits, right.bits) + 1
    if sign is MUL and bits > 62:
        call.test(function_constant(helpers.has_exact_product), *call.arguments)
        call.give(sign, call.arguments, whole(EXACT_BITS))
        return
    call.give(sign, call.arguments, whole(min(bits, EXACT_BITS)))
    if bits > EXACT_BITS:
        call.test(function_constant(helpers.is_exact), call.op.result)


def _sum_or_product(call: Call) -> None:
    callee = call.op.callee
    assert isinstance(callee, Const)
    has_arrays = any(isinstance(kind, ArrayOf) for kind in call.types)
    if isinstance(callee.value, np.ufunc) and not has_arrays:
        numpy_of_numbers(call)
    elif callee.value in _IN_PLACE and has_arrays:
        raise call.refuse()
    else:
        arithmetic(call, next(sign for sign, functions in _SIGNS if callee.value in functions))


_SIGNS = (
    (ADD, (operator.add, operator.iadd, np.add)),
    (SUB, (operator.sub, operator.isub, np.subtract)),
    (MUL, (operator.mul, operator.imul, np.multiply)),
)
for _, _functions in _SIGNS:
    enter(_sum_or_product, *_functions)
_IN_PLACE = (operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow)


def division(call: Call) -> None:
    callee = call.op.callee
    left, right = call.types
    in_place = isinstance(callee, Const) and callee.value in _IN_PLACE
    match left, right:
        case (Number() | Truth(), Number()):
            number = _as_number(call, left, right)
            call.test_nonzero(call.arguments[1])
            found = FLOAT if number.is_whole and right.is_whole else _floating(number, right)
            give = call.give_finite if found.may_be_numpy else call.give
            give(DIV, call.arguments, found)
        case (ArrayOf() | Number(), ArrayOf() | Number()) if "bool" not in (dtype_of(left), dtype_of(right)) and not in_place:
            call.give_finite(DIV, call.arguments, ArrayOf(max(ndim_of(left), ndim_of(right))))
        case _:
            raise call.refuse()


def _whole_division(call: Call) -> None:
    left, right = call.types
    if not (isinstance(left, Number) and isinstance(right, Number) and left.is_whole and right.is_whole):
        raise call.refuse()
    call.test_nonzero(call.arguments[1])
    callee = call.op.callee
    assert isinstance(callee, Const)
    is_mod = callee.value in (operator.mod, operator.imod)
    sign = operator_constant("mod" if is_mod else "floordiv")
    call.give(sign, call.arguments, whole(right.bits if is_mod else left.bits + 1))


def _negation(call: Call) -> None:
    (kind,) = call.types
    match kind:
        case Number() if kind.is_whole or not kind.may_be_whole:
            call.give(operator_constant("neg"), call.arguments, kind)
        case ArrayOf(dtype="float"):
            call.give(operator_constant("neg"), call.arguments, kind)
        case _:
            raise call.refuse()


def _same_number(call: Call) -> None:
    if not isinstance(call.types[0], Number):
        raise call.refuse()
    call.give_same(call.arguments[0])


def _absolute(call: Call) -> None:
    (kind,) = call.types
    match kind:
        case Number():
            call.give(Const(abs, "abs"), call.arguments, kind)
        case ArrayOf(dtype="float"):
            call.give(Const(np.abs, "np.abs", np), call.arguments, kind)
        case _:
            raise call.refuse()


_POW = operator_constant("pow")
_MOST_POWER = 64


def _power(call: Call) -> None:
    base, exponent = call.types
    match base, exponent:
        case Number(), Number() if base.is_whole and exponent.is_whole:
            _whole_power(call, base)
        case Number(), Number() if not base.may_be_whole or exponent.may == {"float"}:
            call.give_finite(_POW, (call.arguments[0], _small_exponent(call, call.arguments[1])), _floating(base, exponent))
        case ArrayOf(dtype="float"), Number():
            call.give_finite(_POW, (call.arguments[0], _small_exponent(call, call.arguments[1])), base)
        case _:
            raise call.refuse()


def floating_exponent(call: Call, value: Value) -> Value:
    """A whole exponent as a float, as Python has it."""
    if isinstance(value, Const):
        return Const(float(value.value))
    kind = call.lowering.type(value)
    is_whole_number = isinstance(kind, Number) and kind.is_whole
    return call.make(Const(float, "float"), (value,), FLOAT) if is_whole_number else value


def _small_exponent(call: Call, value: Value) -> Value:
    """The same, but for a small constant, for which there are products. (Those of a negative one overflow where the power does
    not.)"""
    return value if _is_small(value) else floating_exponent(call, value)


def _is_small(value: Value) -> bool:
    return isinstance(value, Const) and type(value.value) is int and 0 <= value.value <= _MOST_POWER


def _whole_power(call: Call, base: Number) -> None:
    exponent = call.arguments[1]
    if not isinstance(exponent, Const) or exponent.value < 0:
        raise call.refuse()
    if exponent.value == 2:
        twice = Call(call.lowering, call.op, (call.arguments[0],) * 2, (base, base))
        _of_whole(twice, MUL, base, base)
    elif base.bits * exponent.value <= EXACT_BITS:
        call.give(_POW, call.arguments, whole(max(1, base.bits * exponent.value)))
    else:
        raise call.refuse()


enter(division, operator.truediv, operator.itruediv)
enter(_whole_division, operator.floordiv, operator.ifloordiv, operator.mod, operator.imod)
enter(_negation, operator.neg)
enter(_same_number, operator.pos)
enter(_absolute, operator.abs, builtins.abs)
enter(_power, operator.pow, operator.ipow, builtins.pow)


# Tests


def _comparison(call: Call) -> None:
    callee = call.op.callee
    assert isinstance(callee, Const)
    sign = _COMPARISONS[callee.value]
    left, right = call.types
    match left, right:
        case (Number() | Truth(), Number() | Truth()):
            numpy = any(isinstance(kind, Number) and kind.may_be_numpy for kind in (left, right))
            call.give(sign, call.arguments, Truth(numpy or any(isinstance(k, Truth) and k.is_numpy for k in (left, right))))
        case (ArrayOf(dtype="float") | Number(), ArrayOf(dtype="float") | Number()):
            call.give(sign, call.arguments, ArrayOf(max(ndim_of(left), ndim_of(right)), "bool"))
        case _:
            raise call.refuse()


_COMPARISONS = {getattr(operator, name): operator_constant(name) for name in ("lt", "le", "gt", "ge", "eq", "ne")}
enter(_comparison, *_COMPARISONS)


def _identity(call: Call) -> None:
    callee = call.op.callee
    assert isinstance(callee, Const)
    is_same = callee.value is operator.is_
    match call.types:
        case (Known(value=left), Known(value=right)):
            call.give_known((left is right) == is_same)
        case (TypeOf(), Known(value=type() as cls)) if cls in (complex, str, list, tuple, dict, np.ndarray):
            call.give_known(not is_same)
        case (TypeOf(number=Number(may=may)), Known(value=type() as cls)) if len(may) == 1:
            call.give_known((may == {_CLASSES.get(cls)}) == is_same)
        case (Number() | ArrayOf() | Truth(), Known(value=None)):
            call.give_known(not is_same)
        case _:
            raise call.refuse()


_CLASSES: dict[type, str] = {int: "int", float: "float", np.float64: "float64"}


def _class(call: Call) -> None:
    if len(call.types) != 1 or not isinstance(call.types[0], Number):
        raise call.refuse()
    call.lowering.types[call.op.result] = TypeOf(call.types[0])


def _negated(call: Call) -> None:
    (kind,) = call.types
    match kind:
        case Known(value=bool() as value):
            call.give_known(not value)
        case Truth() | Number():
            call.give(operator_constant("not_"), call.arguments, Truth())
        case _:
            raise call.refuse()


def _truth(call: Call) -> None:
    match call.types:
        case (Truth(is_numpy=False) | Known(value=bool()),):
            call.give_same(call.arguments[0])
        case (Number() as kind,):
            call.give(NE, (call.arguments[0], Const(0 if kind.is_whole else 0.0)), Truth())
        case _:
            raise call.refuse()


enter(_identity, operator.is_, operator.is_not)
enter(_class, type)
enter(_negated, operator.not_)
enter(_truth, bool)


# Functions of numbers


def _of_floats(call: Call) -> None:
    """A function of `math`, which raises where its result is not finite."""
    if not all(isinstance(kind, Number) for kind in call.types):
        raise call.refuse()
    pairs = zip(call.arguments, call.types, strict=True)
    arguments = (call.make(Const(float, "float"), (value,), FLOAT) if is_whole(kind) else value for value, kind in pairs)
    call.give_finite(call.op.callee, tuple(arguments), FLOAT)


def _of_one_float(call: Call) -> None:
    if len(call.types) != 1:
        raise call.refuse()
    _of_floats(call)


_OF_ONE = "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 log log10 log2 log1p sqrt fabs erf erfc lgamma"
_OF_TWO = "pow atan2 hypot copysign fmod"
enter(_of_one_float, *(getattr(math, name) for name in _OF_ONE.split()))
enter(_of_floats, *(getattr(math, name) for name in _OF_TWO.split()))


def _rounded(call: Call) -> None:
    """A float as a whole number."""
    match call.types:
        case (Number() as kind,) if kind.is_whole:
            call.give_same(call.arguments[0])
        case (Number(),):
            call.test(function_constant(helpers.is_exact), *call.arguments)
            call.give(call.op.callee, call.arguments, whole(EXACT_BITS))
        case _:
            raise call.refuse()


def _as_float(call: Call) -> None:
    match call.types:
        case (Number(),):
            call.give(Const(float, "float"), call.arguments, FLOAT)
        case _:
            raise call.refuse()


def _extreme(call: Call) -> None:
    """`max` and `min` of numbers."""
    callee = call.op.callee
    assert isinstance(callee, Const)
    chosen = function_constant(helpers.larger if callee.value is max else helpers.smaller)
    if len(call.types) < 2 or not all(isinstance(kind, Number) for kind in call.types):
        raise call.refuse()
    first, *others = call.arguments
    found = call.types[0]
    for number, (other, kind) in enumerate(zip(others, call.types[1:], strict=True), 1):
        joined = join(found, kind)
        assert joined is not None
        found = joined
        if number == len(others):
            call.give(chosen, (first, other), found)
        else:
            first = call.make(chosen, (first, other), found)


enter(_rounded, int, math.floor, math.ceil, math.trunc)
enter(_as_float, float)
enter(_extreme, max, min)


def numpy_of_numbers(call: Call) -> None:
    if not all(isinstance(kind, Number) for kind in call.types) or all(is_whole(kind) for kind in call.types):
        raise call.refuse()
    call.give_finite(call.op.callee, call.arguments, FLOAT64)
