"""Helpers of the rules as the few operations that they come to for operands of known kinds.

    unbroadcast(z_bar, x)              z_bar.sum(axis=0)          where x was repeated along leading axes
                                       np.sum(z_bar, axis=1, keepdims=True)    where an axis of x has length one
                                       float(z_bar.sum())         where x is a number
    expand_reduced(y_bar, x, ...)      np.full(x.shape, y_bar)    where all axes were reduced
    power_base_bar(z_bar, x, 3)        z_bar * (3 * x ** 2)
    matmul_left_bar(z_bar, x, y)       z_bar @ y.T                for matrices

A helper is exact for every operand, which takes it a dozen tests; most programs need none of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np

from microgradpy.ir.kinds import COMPLEX, FLOAT, Array, Kind, Numeric, Scalar, is_real, is_real_scalar
from microgradpy.ir.nodes import Const, Op, Opcode, Value, Var, function_constant, operator_constant
from microgradpy.tangents.arithmetic import conj, real_like, unbroadcast
from microgradpy.tangents.casts import made_of_bar
from microgradpy.tangents.linear import dot_left_bar, dot_right_bar, expand_reduced, matmul_left_bar, matmul_right_bar
from microgradpy.tangents.powers import power_base_bar

Hint = Var | str
_GETATTR = function_constant(getattr)
_DOT, _SUM = Const(np.dot, "np.dot", np), Const(np.sum, "np.sum", np)
_MUL, _POW, _MATMUL = map(operator_constant, ("mul", "pow", "matmul"))


class Emitting(Protocol):
    """The builder that expansions are appended by; what it calls is folded and expanded again."""

    producers: dict[Var, Op]

    def kind(self, value: Value) -> Kind: ...

    def kind_of_call(self, callee: Value, arguments: tuple[Value, ...], keywords: tuple[tuple[str, Value], ...]) -> Kind: ...

    def call(self, callee: Value, arguments: tuple[Value, ...], *, hint: Hint = "") -> Value: ...

    def operation(
        self,
        callee: Opcode | Value,
        arguments: tuple[Value, ...],
        keywords: tuple[tuple[str, Value], ...] = (),
        *,
        kinds: tuple[Kind, ...] = ...,
        hints: tuple[Hint, ...] = ...,
    ) -> tuple[Var, ...]: ...


def expand(function: object, arguments: tuple[Value, ...], builder: Emitting, hint: Hint) -> Value | None:
    """The value of a call by other operations, which are appended; None if the call is to be made."""
    try:
        expansion = _EXPANSIONS.get(function)
    except TypeError:
        return None
    return None if expansion is None else expansion(builder, hint, *arguments)


# Sums over the axes along which an operand was repeated


def _unbroadcast(builder: Emitting, hint: Hint, cotangent: Value, operand: Value) -> Value | None:
    given, wanted = builder.kind(cotangent), builder.kind(operand)
    if given == COMPLEX and is_real_scalar(wanted):
        return builder.operation(_GETATTR, (cotangent, Const("real")), kinds=(FLOAT,), hints=(hint,))[0]
    if not isinstance(given, Array) or not is_real(given):
        return None
    if is_real_scalar(wanted):
        # A Python number, so that the arithmetic that follows is Python's.
        factors = _factors(builder, cotangent)
        if factors is None:
            (total,) = builder.operation(_method(builder, cotangent, "sum"), (), kinds=(FLOAT,))
        else:
            (total,) = builder.operation(_DOT, factors, kinds=(FLOAT,))
        return builder.operation(function_constant(float), (total,), kinds=(FLOAT,), hints=(hint,))[0]
    if not isinstance(wanted, Array) or given.ndim is None or not wanted.ndim or len(wanted.shape) != wanted.ndim:
        return None
    pairs = list(zip(given.shape[-wanted.ndim :], wanted.shape, strict=False))
    repeated = tuple(place for place, (long, short) in enumerate(pairs) if long != short)
    in_front = given.ndim - wanted.ndim
    if in_front < 0 or any(wanted.shape[place] != 1 for place in repeated) or bool(repeated) == bool(in_front):
        return None
    axes, kept = (repeated, (("keepdims", Const(True)),)) if repeated else (tuple(range(in_front)), ())
    axis: Value = Const(axes[0])
    if len(axes) > 1:
        (axis,) = builder.operation(Opcode.TUPLE, tuple(map(Const, axes)))
    kind = Array(wanted.ndim, "float", wanted.shape)
    if kept:
        return builder.operation(_SUM, (cotangent,), (("axis", axis), *kept), kinds=(kind,), hints=(hint,))[0]
    method = _method(builder, cotangent, "sum")
    return builder.operation(method, (), (("axis", axis),), kinds=(kind,), hints=(hint,))[0]


def _made_of_bar(builder: Emitting, hint: Hint, y_bar: Value, x: Value, y: Value) -> Value | None:
    """np.copy(x), np.asarray(x), which round nothing."""
    given, made = builder.kind(x), builder.kind(y)
    if not isinstance(given, Array | Scalar) or not isinstance(made, Array) or made.dtype != "float":
        return None
    return builder.call(function_constant(unbroadcast), (y_bar, x), hint=hint)


def _factors(builder: Emitting, product: Value) -> tuple[Value, Value] | None:
    """The vectors of one length whose product a value is; None if it is none. (If nobody else reads it, it is not made.)"""
    made = builder.producers.get(product) if isinstance(product, Var) else None
    if made is None or made.callee != _MUL or made.from_user:
        return None
    left, right = made.arguments
    kinds = builder.kind(left), builder.kind(right)
    if not all(isinstance(kind, Array) and kind.ndim == 1 and kind.shape and is_real(kind) for kind in kinds):
        return None
    return (left, right) if kinds[0] == kinds[1] else None


def _method(builder: Emitting, owner: Value, name: str) -> Value:
    return builder.operation(_GETATTR, (owner, Const(name)))[0]


def _conjugate(builder: Emitting, hint: Hint, x: Value) -> Value | None:
    if builder.kind(x) != COMPLEX:
        return None
    return builder.operation(_method(builder, x, "conjugate"), (), kinds=(COMPLEX,), hints=(hint,))[0]


# Numbers that were repeated to an array


def _expand_reduced(builder: Emitting, hint: Hint, y_bar: Value, x: Value, axis: Value, keepdims: Value) -> Value | None:
    of = builder.kind(x)
    if not (isinstance(of, Array) and of.shape and is_real(of) and is_real_scalar(builder.kind(y_bar))) or axis != Const(None):
        return None
    (shape,) = builder.operation(_GETATTR, (x, Const("shape")))
    kind = Array(of.ndim, "float", of.shape)
    return builder.operation(Const(np.full, "np.full", np), (shape, y_bar), kinds=(kind,), hints=(hint,))[0]


def _product(builder: Emitting, hint: Hint, left: Value, right: Value) -> Value | None:
    """The product of an array with a number that was repeated to its shape, which multiplying does anyway."""
    for repeated, other in ((left, right), (right, left)):
        number, of, kind = _repeated(builder, repeated), builder.kind(repeated), builder.kind(other)
        if number is not None and isinstance(of, Array) and isinstance(kind, Array) and of.shape == kind.shape:
            return builder.call(_MUL, (number, other), hint=hint)
    return _scaled_again(builder, hint, left, right)


def _scaled_again(builder: Emitting, hint: Hint, factor: Value, array: Value) -> Value | None:
    """2.0 * (y_bar * x) as (2.0 * y_bar) * x, which makes one array."""
    made = builder.producers.get(array) if isinstance(array, Var) and isinstance(factor, Const) else None
    if made is None or made.callee != _MUL or made.from_user or not is_real_scalar(builder.kind(factor)):
        return None
    number, scaled = made.arguments
    if not is_real_scalar(builder.kind(number)) or not isinstance(builder.kind(scaled), Array):
        return None
    return builder.call(_MUL, (builder.call(_MUL, (factor, number)), scaled), hint=hint)


def _repeated(builder: Emitting, value: Value) -> Value | None:
    """The number that all entries of an array are."""
    made = builder.producers.get(value) if isinstance(value, Var) else None
    if made is None or not isinstance(made.callee, Const) or made.callee.value is not np.full or made.from_user:
        return None
    return made.arguments[1]


# Powers


def _power_base_bar(builder: Emitting, hint: Hint, z_bar: Value, base: Value, exponent: Value) -> Value | None:
    if not isinstance(exponent, Const) or type(exponent.value) not in (int, float) or not _is_floating(builder.kind(base)):
        return None
    if not exponent.value >= 2 or exponent.value != int(exponent.value):
        return None
    less = exponent.value - 1
    power = base if less == 1 else builder.call(_POW, (base, Const(less)))
    slope = builder.call(function_constant(conj), (builder.call(_MUL, (exponent, power)),))
    return builder.call(_MUL, (z_bar, slope), hint=hint)


def _is_floating(kind: Kind) -> bool:
    """Proven not to be whole numbers, whose products may wrap around."""
    return isinstance(kind, Scalar | Array) and "float" in (getattr(kind, "name", ""), getattr(kind, "dtype", ""))


# Products of matrices and vectors


def _rank(builder: Emitting, x: Value) -> int | None:
    kind = builder.kind(x)
    return kind.ndim if isinstance(kind, Array) else None


def _factor(builder: Emitting, x: Value) -> int | None:
    """The rank of what has been multiplied by `@`, which Python refuses for numbers."""
    kind = builder.kind(x)
    return 1 if isinstance(kind, Numeric) and kind.ndim == 1 else _rank(builder, x)


_Rank = Callable[[Emitting, Value], int | None]


def _matmul_left_bar(
    builder: Emitting, hint: Hint, z_bar: Value, x: Value, y: Value, rank: _Rank = _factor
) -> Value | None:
    match rank(builder, x), rank(builder, y):
        case (2, 2):
            bar = builder.call(_MATMUL, (z_bar, _transposed(builder, y)), hint=hint)
        case (2, 1):
            bar = _outer(builder, hint, z_bar, _conj(builder, y), x)
        case (1, 2):
            bar = builder.call(_MATMUL, (_conj(builder, y), z_bar), hint=hint)
        case (1, 1):
            bar = builder.call(_MUL, (z_bar, _conj(builder, y)), hint=hint)
        case _:
            return None
    return builder.call(function_constant(real_like), (bar, x), hint=hint)


def _matmul_right_bar(
    builder: Emitting, hint: Hint, z_bar: Value, x: Value, y: Value, rank: _Rank = _factor
) -> Value | None:
    match rank(builder, x), rank(builder, y):
        case (2, 1) | (2, 2):
            bar = builder.call(_MATMUL, (_transposed(builder, x), z_bar), hint=hint)
        case (1, 2):
            bar = _outer(builder, hint, _conj(builder, x), z_bar, y)
        case (1, 1):
            bar = builder.call(_MUL, (z_bar, _conj(builder, x)), hint=hint)
        case _:
            return None
    return builder.call(function_constant(real_like), (bar, y), hint=hint)


def _conj(builder: Emitting, x: Value) -> Value:
    return builder.call(function_constant(conj), (x,))


def _transposed(builder: Emitting, x: Value) -> Value:
    conjugate = _conj(builder, x)
    arguments = (conjugate, Const("T"))
    return builder.operation(_GETATTR, arguments, kinds=(builder.kind_of_call(_GETATTR, arguments, ()),))[0]


def _outer(builder: Emitting, hint: Hint, column: Value, row: Value, like: Value) -> Value:
    wanted, kinds = builder.kind(like), tuple(map(builder.kind, (column, row)))
    real = all(map(is_real, kinds))
    kind = Array(2, "float" if real else "", wanted.shape if isinstance(wanted, Array) else ())
    return builder.operation(Const(np.multiply.outer, "np.multiply.outer", np), (column, row), kinds=(kind,), hints=(hint,))[0]


_EXPANSIONS: dict[Any, Callable[..., Value | None]] = {
    unbroadcast: _unbroadcast,
    made_of_bar: _made_of_bar,
    conj: _conjugate,
    expand_reduced: _expand_reduced,
    operator.mul: _product,
    power_base_bar: _power_base_bar,
    matmul_left_bar: _matmul_left_bar,
    dot_left_bar: partial(_matmul_left_bar, rank=_rank),
    matmul_right_bar: _matmul_right_bar,
    dot_right_bar: partial(_matmul_right_bar, rank=_rank),
}
