"""Operations that need no code: their value is known from constants and kinds.

    unbroadcast(z_bar, x)    is  z_bar      where both are real scalars, or arrays of the same shape
    conj(x)                  is  x          where x is real
    np.ndim(x)               is  2          where the rank of x is known
    axis is None             is  True       where axis is a constant
    NoTangent()              is  None

Applies to what the compiler makes (inlined rules, the adjoint), never to the user's own operations.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.ir.kinds import COMPLEX, Array, Inert, Kind, Optional, Scalar, Unknown, is_real, is_real_scalar, present
from microgradpy.ir.nodes import Const, Value
from microgradpy.tangents.arithmetic import conj, floating, own, real_like, unbroadcast
from microgradpy.tangents.memory_order import order_of_reading
from microgradpy.tangents.types import NoTangent, ZeroTangent

KindOf = Callable[[Value], Kind]


def fold(callee: object, arguments: tuple[Value, ...], kind_of: KindOf) -> Value | None:
    """The value of a call that needs no code, or None."""
    try:
        folder = _FOLDERS.get(callee)
    except TypeError:
        return None
    return None if folder is None else folder(arguments, kind_of)


def _fold_none(arguments: tuple[Value, ...], kind_of: KindOf) -> Value | None:
    return Const(None)


def _fold_conj(arguments: tuple[Value, ...], kind_of: KindOf) -> Value | None:
    return arguments[0] if is_real(kind_of(arguments[0])) else None


def _fold_floating(arguments: tuple[Value, ...], kind_of: KindOf) -> Value | None:
    kind = kind_of(arguments[0])
    name = kind.name if isinstance(kind, Scalar) else kind.dtype if isinstance(kind, Array) else ""
    return arguments[0] if name in ("float", "complex") else None


def _fold_unbroadcast(arguments: tuple[Value, ...], kind_of: KindOf) -> Value | None:
    cotangent, operand = arguments
    given, wanted = kind_of(cotangent), present(kind_of(operand))  # Python has refused None by then
    is_number = is_real_scalar(given) or given == COMPLEX
    if is_number and ((is_real_scalar(wanted) and given != COMPLEX) or wanted == COMPLEX):
        return cotangent
    if isinstance(given, Array) and isinstance(wanted, Array) and given.shape and given.shape == wanted.shape:
        return cotangent if is_real(given) or wanted.dtype == "complex" else None
    return None


def _fold_order(arguments: tuple[Value, ...], kind_of: KindOf) -> Value | None:
    order = arguments[1]
    return order if order in (Const("C"), Const("F")) else None


def _fold_real_like(arguments: tuple[Value, ...], kind_of: KindOf) -> Value | None:
    return arguments[0] if is_real(kind_of(arguments[0])) or _is_complex(kind_of(arguments[1])) else None


def _is_complex(kind: Kind) -> bool:
    return isinstance(kind, Scalar | Array) and "complex" in (getattr(kind, "name", ""), getattr(kind, "dtype", ""))


def _fold_rank(arguments: tuple[Value, ...], kind_of: KindOf) -> Value | None:
    match kind_of(arguments[0]):
        case Array(ndim=int(rank)):
            return Const(rank)
        case Scalar():
            return Const(0)
    return None


def _fold_identity(negated: bool) -> Callable[[tuple[Value, ...], KindOf], Value | None]:
    def folder(arguments: tuple[Value, ...], kind_of: KindOf) -> Value | None:
        left, right = arguments
        if isinstance(left, Const) and isinstance(right, Const):
            return Const((left.value is right.value) != negated)
        if isinstance(right, Const) and right.value is None:
            kind = kind_of(left)
            if not isinstance(kind, Unknown | Optional) and kind != Inert("NoneType"):
                return Const(negated)
        return None

    return folder


def _fold_constants(function: Callable[..., Any]) -> Callable[[tuple[Value, ...], KindOf], Value | None]:
    def folder(arguments: tuple[Value, ...], kind_of: KindOf) -> Value | None:
        values = [argument.value for argument in arguments if isinstance(argument, Const)]
        if len(values) == len(arguments) and all(isinstance(value, bool | int | str | None) for value in values):
            try:
                return Const(function(*values))
            except Exception:  # it will fail in the same way when it runs
                return None
        return None

    return folder


def _fold_product(arguments: tuple[Value, ...], kind_of: KindOf) -> Value | None:
    left, right = arguments
    if _is_one(right) and is_real_scalar(kind_of(left)):
        return left
    return right if _is_one(left) and is_real_scalar(kind_of(right)) else None


def _is_one(value: Value) -> bool:
    return isinstance(value, Const) and type(value.value) in (float, int) and value.value == 1


def _fold_power(arguments: tuple[Value, ...], kind_of: KindOf) -> Value | None:
    return arguments[0] if _is_one(arguments[1]) and is_real(kind_of(arguments[0])) else None


def _fold_own(arguments: tuple[Value, ...], kind_of: KindOf) -> Value | None:
    return arguments[0] if isinstance(kind_of(arguments[0]), Scalar) else None


_FOLDERS: dict[Any, Callable[[tuple[Value, ...], KindOf], Value | None]] = {
    NoTangent: _fold_none,
    ZeroTangent: _fold_none,
    conj: _fold_conj,
    floating: _fold_floating,
    own: _fold_own,
    real_like: _fold_real_like,
    unbroadcast: _fold_unbroadcast,
    np.ndim: _fold_rank,
    order_of_reading: _fold_order,
    operator.is_: _fold_identity(negated=False),
    operator.is_not: _fold_identity(negated=True),
    operator.mul: _fold_product,
    operator.pow: _fold_power,
    **{
        function: _fold_constants(function)
        for function in (
            operator.eq,
            operator.ne,
            operator.lt,
            operator.le,
            operator.gt,
            operator.ge,
            operator.not_,
            operator.add,
            operator.sub,
        )
    },
}
