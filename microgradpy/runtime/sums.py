"""What is checked where `total += x` is computed as `total = total + x`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from microgradpy.rules.registry import non_differentiable
from microgradpy.runtime.opaque import refuse_mutation


def check_sum(function: Callable[[Any, Any], Any], total: Any, x: Any) -> None:
    """Let `total += x` of numbers and arrays raise what Python raises if `total` is an array that cannot hold the sum, and
    refuse to round it."""
    if type(total) is not np.ndarray:
        return
    if np.broadcast_shapes(total.shape, np.shape(x)) == total.shape and np.result_type(total, x) == total.dtype:
        return
    function(total.copy(), x)
    refuse_mutation(f"what is added to an array of {total.dtype} is rounded to it", "Convert it first: x.astype(total.dtype).")


non_differentiable(check_sum)
