"""NumPy's types of numbers as functions, besides the usual ones: x_bar = y_bar, and none if x was rounded to an integer."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.registry import Rule, example, non_differentiable, rrule
from microgradpy.tangents.casts import made_of_bar
from microgradpy.tangents.types import NoTangent

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
