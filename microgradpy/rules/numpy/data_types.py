"""Data type routines: casts carry the derivative of the number, questions about types none."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.entries import Rule
from microgradpy.rules.registry import example, examples, non_differentiable, rrule
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.casts import made_of_bar
from microgradpy.tangents.types import NoTangent

non_differentiable(np.result_type, np.can_cast)
non_differentiable(np.min_scalar_type, np.common_type, np.promote_types, np.dtype, np.finfo, np.iinfo, np.issubdtype)
non_differentiable(np.array2string, np.bool)
non_differentiable(np.isdtype, np.typename, np.mintypecode)
non_differentiable(np.binary_repr, np.base_repr)
non_differentiable(np.array_repr, np.array_str, np.format_float_positional, np.format_float_scientific)


@pullback(np.float64)
@pullback(np.complex128)
@pullback(np.float32)
def number_type_pullback(y_bar, x):
    """x_bar = y_bar, its real part if x is real."""
    return unbroadcast(y_bar, x)


@pullback(np.int64)
def int64_pullback(y_bar, x, *, y):
    """x_bar = y_bar if x is an integer; none if x was rounded."""
    return made_of_bar(y_bar, x, y)


examples(np.int64, (2.5,))
examples(np.float64, (2.5,), (np.float64(1.5),))
examples(np.complex128, (2.5,), (1.5 + 0.5j,))
# At 0 single precision resolves the steps of finite differences.
examples(np.float32, (0.0,))
for _scalar_class in (np.float64, np.float32, np.float16, np.longdouble):
    non_differentiable(_scalar_class.is_integer)
non_differentiable(np.str_, np.bytes_)


def cast_rule(cls: type[np.number[Any]]) -> Rule:
    """The rule of a type of numbers."""

    def cast_rrule(x: Any, /) -> Any:
        y = cls(x)

        def cast_pullback(y_bar: Any) -> tuple[Any, ...]:
            return NoTangent(), made_of_bar(y_bar, x, y)

        return y, cast_pullback

    return cast_rrule


_INTEGERS = (np.byte, np.short, np.intc, np.int_, np.longlong, np.ubyte, np.ushort, np.uintc, np.uint, np.ulonglong)
for _class in (np.half, np.longdouble, np.csingle, np.clongdouble, *_INTEGERS):
    if not rrule.has(_class):
        rrule.register(_class)(cast_rule(_class))
        # At 0 half precision resolves the steps of finite differences.
        example(_class, 0.0 if issubclass(_class, np.inexact) else 2.5)

_TABLE = np.arange(1.0, 7.0).reshape(2, 3)
_COMPLEX = _TABLE + 0.5j


@pullback(np.astype)
def astype_pullback(y_bar, x, dtype, /, *, copy=True, y):
    """x_bar = y_bar; none if x was rounded to integers."""
    return made_of_bar(y_bar, x, y)


examples(np.astype, (_TABLE, float), (_TABLE, complex), (_TABLE, int), (_COMPLEX, complex))
