"""Cotangents under casts: of what arrays are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.errors import MissingRuleError
from microgradpy.tangents.arithmetic import unbroadcast
from microgradpy.tangents.helpers import cotangent_of


def made_of_bar(y_bar: Any, x: Any, y: Any) -> Any:
    """The cotangent of x, a number, an array or a nested list of them, under a cast to the array (or number) y of its
    shape. Numbers that were rounded to integers have none."""
    if cuts_off(x, y):
        return None
    if isinstance(x, list | tuple):
        if np.iscomplexobj(y_bar):
            # Real items must not get a complex cotangent.
            return [made_of_bar(part, item, part) for part, item in zip(y_bar, x, strict=True)]
        return y_bar
    return unbroadcast(y_bar, x)


def cuts_off(x: Any, y: Any) -> bool:
    """Whether the cast of x to y is to integers or truth values, from something that is more than that."""
    kind = np.result_type(y).kind
    if kind == "O":
        raise MissingRuleError("an array of objects was made of differentiated data", None, "Use a list.")
    if kind in "US":
        raise MissingRuleError(
            "an array of texts was made of differentiated numbers, and becomes numbers again",
            None,
            "Hand on the numbers: text carries no derivative.",
        )
    return kind not in "fc" and (kind not in "iu" or np.asarray(x).dtype.kind not in "iu")


_SINGLE = (np.dtype(np.float32), np.dtype(np.complex64))


def in_precision_of(d: Any, constant: Any) -> Any:
    """A real or complex constant (counts, weights, slopes) that the cotangent `d` is multiplied with or divided by: in single
    precision if `d` is, and else as it is."""
    if getattr(d, "dtype", None) not in _SINGLE or not hasattr(constant, "dtype"):
        return constant
    return constant.astype(np.complex64 if constant.dtype.kind == "c" else np.float32, copy=False)


@cotangent_of(0)
def precise_as(d: Any, y: Any) -> Any:
    """A tangent or cotangent in single precision if `y` is, and else as it is."""
    return in_precision_of(y, d)


def python_number(value: Any) -> Any:
    """A number in double precision as one of Python, which in products takes the precision of the other factor."""
    return value.item() if isinstance(value, np.float64 | np.complex128) else value
