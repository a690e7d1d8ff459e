"""Universal functions with the options that say how they compute: `dtype`, `casting`, `order`, `subok`, and `out=None`.

The value is that of the user's call; the pullback is that of the plain call with the operands in the dtype that was asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.rules.entries import Rule
from microgradpy.rules.registry import example, rrule
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.foreign import as_array
from microgradpy.tangents.types import NoTangent, is_structural_zero

_KNOWN = frozenset({"dtype", "casting", "order", "subok"})
_NOT_DEFAULT = {"out": None, "where": True}
_OF_OTHER_DTYPES = frozenset({np.ldexp, np.frexp, np.absolute, np.spacing, np.nextafter})
"""Those that compute with operands of other dtypes than their result's."""


def _with_options(f: np.ufunc) -> Rule:
    def ufunc_with_options_rrule(*args, **kwargs):
        """The cotangents of the plain call, each in the shape of its argument."""
        operands, options = args[: f.nin], {name: value for name, value in kwargs.items() if not _is_default(name, value)}
        y = f(*args, **kwargs)
        check_options(f, args[f.nin :], options)
        dtype = options.get("dtype")
        plain = operands if dtype is None else tuple(as_array(x).astype(dtype) for x in operands)
        with np.errstate(all="ignore"):
            made = rrule(f, *plain)
        assert made is not None
        pullback = made[1]

        def ufunc_with_options_pullback(y_bar):
            bars = pullback(y_bar)[1:]
            fitted = (
                NoTangent() if is_structural_zero(bar) else unbroadcast(bar, x)
                for bar, x in zip(bars, operands, strict=True)
            )
            return NoTangent(), *fitted, *(NoTangent() for _ in args[f.nin :])

        return y, ufunc_with_options_pullback

    return ufunc_with_options_rrule


def _is_default(name: str, value: Any) -> bool:
    return name in _NOT_DEFAULT and value is _NOT_DEFAULT[name]


def check_options(f: np.ufunc, outputs: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Refuse what says more than in which dtype to compute."""
    others = [name for name in options if name not in _KNOWN] + ["out" for out in outputs if out is not None]
    remedy = "Write the call without it."
    if "where" in others:
        remedy = "Without `out` the other entries are whatever was in memory: use np.where, or give `out` an array."
    if others:
        raise MissingRuleError(f"np.{f.__name__} with `{others[0]}`", None, remedy)
    if "dtype" in options and f in _OF_OTHER_DTYPES:
        raise MissingRuleError(f"np.{f.__name__} with `dtype`", None, "Convert the operands: x.astype(dtype).")


_VECTOR = np.array([0.7, 1.4, 2.2])
_WITH_RULE = (
    "absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt conjugate copysign cos cosh deg2rad degrees divide "
    "divmod exp exp2 expm1 fabs float_power fmax fmin fmod frexp heaviside hypot ldexp log log10 log1p log2 logaddexp "
    "logaddexp2 matmul matvec maximum minimum modf multiply negative nextafter positive power rad2deg radians reciprocal "
    "remainder sign sin sinh sqrt square subtract tan tanh vecdot vecmat"
)
for _name in _WITH_RULE.split():
    rrule.register(getattr(np, _name), options=True)(_with_options(getattr(np, _name)))
for _unary in (np.sin, np.exp, np.sqrt, np.square):
    example(_unary, _VECTOR, dtype=float, casting="same_kind")
    example(_unary, _VECTOR.reshape(3, 1), None, order="F")
for _binary in (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.arctan2, np.power):
    example(_binary, _VECTOR, _VECTOR[::-1] * 0.9, dtype=float, order="C", subok=True)
    example(_binary, 1.5, _VECTOR, out=None, where=True)
example(np.add, _VECTOR, _VECTOR[::-1], dtype=complex)
example(np.multiply, _VECTOR, np.array([[2], [3]]), None)
