"""What is checked where `total += x` is computed as `total = total + x`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.rules.registry import non_differentiable
from microgradpy.runtime.opaque import refuse_mutation


def check_sum(function: Callable[[Any, Any], Any], total: Any, x: Any) -> None:
    """Let `total += x` raise what Python raises if `total` is an array that cannot hold the sum, and refuse to round it; and
    refuse what is written in place in another way than arrays are."""
    if isinstance(total, _NUMBERS):
        return
    if type(total) is np.ndarray and isinstance(x, _ADDED):
        x = np.asarray(x) if type(x) in (list, tuple) else x
        if np.broadcast_shapes(total.shape, np.shape(x)) == total.shape and np.result_type(total, x) == total.dtype:
            return
        function(total.copy(), x)
        found = f"what is added to an array of {total.dtype} is rounded to it"
        refuse_mutation(found, "Convert it first: x.astype(total.dtype).")
    elif hasattr(type(total), f"__{function.__name__}__"):
        sign = _SIGNS[function.__name__]
        found = f"of {type(x).__name__} to {type(total).__name__}, which may write into what others have"
        refuse_mutation(f"`{sign}=` {found}", f"Write `total = total {sign} x`.")


_NUMBERS = (int, float, complex, np.number, np.bool)
_ADDED = (*_NUMBERS, np.ndarray, list, tuple)
_SIGNS = {"iadd": "+", "isub": "-", "imul": "*"}


non_differentiable(check_sum)
