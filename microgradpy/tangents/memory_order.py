"""The order in which the entries of an array are read, and copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.tangents.foreign import is_foreign_array


def order_of_reading(a: Any, order: Any) -> Any:
    """In which of the orders C and F the entries of an array are read, where the `order` A or K leaves it to how they are in
    memory. For K that may be neither of them."""
    if order not in ("A", "K") or is_foreign_array(a):
        return order  # which for an array of another library is refused where it matters
    if not isinstance(a, np.ndarray) or a.flags.c_contiguous:
        return "C"
    return "F" if a.flags.f_contiguous else "C" if order == "A" else order


def copied(x: np.ndarray[Any, Any], order: Any = "C") -> np.ndarray[Any, Any]:
    """A copy of an array, whatever its class calls by that name."""
    return np.ndarray.copy(x, order)
