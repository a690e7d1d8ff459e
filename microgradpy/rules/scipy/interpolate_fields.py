"""Where SciPy's splines and grids hold their numbers, which is told apart by what an object has and not by its version.

The numbers are read through public attributes (`c`, `t`, `x`, `grid`, `values`), which all versions have. A cotangent has those
of the fields: the attribute itself in the oldest versions, a field with an underscore in newer ones, and since 1.18 those of a
second object, to which a spline hands everything on.
"""

from __future__ import annotations

from typing import Any

from microgradpy.tangents.types import Tangent, is_structural_zero

_BEHIND = "_delegate_to"
"""The field with the second object."""


def fields_bar(x: Any, /, **bars: Any) -> Tangent:
    """The cotangent of an object, from those of its attributes."""
    held = getattr(x, _BEHIND, None)
    if held is not None:
        return Tangent(type(x), {_BEHIND: fields_bar(held, **bars)})
    return Tangent(type(x), {_field(x, name): bar for name, bar in bars.items()})


def attribute_bar(x_bar: Any, x: Any, name: str) -> Any:
    """The cotangent of an attribute, from that of the object."""
    held = getattr(x, _BEHIND, None)
    if held is None:
        return x_bar.get(_field(x, name))
    held_bar = x_bar.get(_BEHIND)
    return None if is_structural_zero(held_bar) else held_bar.get(_field(held, name))


def _field(x: Any, name: str) -> str:
    return f"_{name}" if hasattr(x, f"_{name}") else name
