"""Values in a few words, for messages."""

from __future__ import annotations

from typing import Any

import numpy as np

_MOST_PLACES = 3


def short_form(value: Any) -> str:
    """A number as it is; of an array its shape, dtype and range, and where it is not finite."""
    match value:
        case np.ndarray():
            return _array(value)
        case np.generic():
            return f"{value} ({value.dtype})"
        case bool() | int() | float() | complex() | None:
            return repr(value)
        case list() | tuple() | dict():
            return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"


def _array(value: np.ndarray[Any, Any]) -> str:
    kind = f"{value.dtype} of shape {value.shape}"
    if value.size == 0 or value.dtype.kind not in "biufc":
        return kind
    finite = np.isfinite(value)
    parts = [kind]
    if finite.any() and value.dtype.kind != "c":
        parts.append(f"from {value[finite].min()} to {value[finite].max()}")
    for word, places in (("NaN", np.isnan(value)), ("infinite", np.isinf(value))):
        if places.any():
            parts.append(f"{word} at {_places(places)}")
    return ", ".join(parts)


def _places(found: np.ndarray[Any, Any]) -> str:
    places = np.argwhere(found)
    shown = ", ".join(str(place.tolist()) for place in places[:_MOST_PLACES]) or "[]"
    rest = len(places) - _MOST_PLACES
    return shown + (f" and {rest} more" if rest > 0 else "")
