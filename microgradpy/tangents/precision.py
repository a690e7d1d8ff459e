"""Keeping single precision: NumPy computes in double precision as soon as one of its own whole numbers, or one float64 that
is no Python number, takes part in a calculation with float32."""

from __future__ import annotations

from typing import Any

import numpy as np

_SINGLE = (np.dtype(np.float32), np.dtype(np.complex64))


def in_precision_of(d: Any, constant: Any) -> Any:
    """A real or complex constant (counts, weights, slopes) that the cotangent `d` is multiplied with or divided by: in single
    precision if `d` is, and else as it is."""
    if getattr(d, "dtype", None) not in _SINGLE or not hasattr(constant, "dtype"):
        return constant
    return constant.astype(np.complex64 if constant.dtype.kind == "c" else np.float32, copy=False)


def python_number(value: Any) -> Any:
    """A number in double precision as one of Python, which in products takes the precision of the other factor."""
    return value.item() if isinstance(value, np.float64 | np.complex128) else value
