"""Lists that grow while they are read: what generated code calls to say where an item stands for good."""

from __future__ import annotations

import operator
from typing import Any


def item_of_growing(items: list[Any], index: Any) -> Any:
    """`items[index]` of a list that may be longer later: the primal notes the place from the front."""
    return items[index]


def from_front(items: list[Any], index: Any) -> Any:
    """The place of an item, or of a slice, counted from the front of a list as long as this one is now."""
    if isinstance(index, slice):
        start, stop, step = index.indices(len(items))
        return slice(start, None if stop < 0 else stop, step)
    if not hasattr(index, "__index__"):
        return index  # the list says what is wrong with it
    place = operator.index(index)
    return place if place >= 0 else place + len(items)
