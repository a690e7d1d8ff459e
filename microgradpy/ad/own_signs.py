"""A number with its own sign is that number.

    z = math.copysign(abs(x), x)      z_bar goes to x

No rule can see it: |x| and `copysign` have a kink at 0 each, where both have the derivative 0 by convention, and so had what
is made of them, which is x. Nor would another convention do for `copysign` alone: what is right for `copysign(abs(x), x)` is
wrong for `copysign(x * x, x)`, and at 0 their arguments are the same.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from microgradpy.ad.calls import Dispatched, Inlined
from microgradpy.ad.primal_builder import PrimalBuilder
from microgradpy.ir.kinds import is_numeric
from microgradpy.ir.nodes import Const, Op, Value, Var, function_constant
from microgradpy.rules.derivatives import pullback
from microgradpy.rules.registry import examples
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.helpers import like, returns
from microgradpy.tangents.types import NoTangent, ZeroTangent

_MODULI = (abs, operator.abs, math.fabs, np.absolute, np.fabs)


@returns(float)
def number_with_own_sign(x: float, y: float) -> float:
    """math.copysign(x, y) where x is y, or its absolute value: that is y, and x does not matter."""
    return math.copysign(y, y)


@pullback(number_with_own_sign)
def number_with_own_sign_pullback(z_bar: Any, x: Any, y: Any) -> Any:
    """y_bar = z_bar."""
    return NoTangent(), z_bar


examples(number_with_own_sign, (1.3, 1.3), (-0.7, -0.7))


@like(1)
def array_with_own_sign(x1: Any, x2: Any) -> Any:
    """np.copysign(x1, x2) where x1 is x2, or its absolute value: that is x2, and x1 does not matter."""
    return np.copysign(x2, x2)


@pullback(array_with_own_sign)
def array_with_own_sign_pullback(z_bar: Any, x1: Any, x2: Any) -> Any:
    """x2_bar = z_bar."""
    return ZeroTangent(), unbroadcast(z_bar, x2)


examples(array_with_own_sign, (np.array([0.4, -1.3, 2.2]), np.array([0.4, -1.3, 2.2])), (1.5, 1.5))

_OWN_SIGNS = ((math.copysign, number_with_own_sign), (np.copysign, array_with_own_sign))


def with_own_sign(primal: PrimalBuilder, op: Op, callee: Value) -> Value:
    """The callee of a call: of `copysign(abs(x), x)` and `copysign(x, x)` a function that has the derivative of x."""
    if not isinstance(callee, Const) or len(op.arguments) != 2 or op.keywords:
        return callee
    own = next((own for function, own in _OWN_SIGNS if callee.value is function), None)
    if own is None:
        return callee
    size, sign = map(primal.of, op.arguments)
    match primal.calls.get(size) if isinstance(size, Var) else None:
        case Inlined(function=function, arguments=(other,)) | Dispatched(callee=Const(value=function), arguments=(other,)):
            size = other if function in _MODULI else size
    return function_constant(own) if size == sign and is_numeric(primal.kind(sign)) else callee
