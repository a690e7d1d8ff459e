"""Named tuples of other items."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def named_like(x: Any, items: Iterable[Any]) -> Any:
    """A named tuple like `x`, of other items. Its class is not called: it may ask for more than the items, as those of SciPy's
    results do, which have fields besides."""
    made = tuple.__new__(type(x), items)
    if getattr(x, "__dict__", None):
        made.__dict__.update(x.__dict__)
    return made
