"""Containers of the numbers of objects: what methods that read dicts of objects give of these."""

from __future__ import annotations

from typing import Any

from microgradpy.rules.registry import non_differentiable
from microgradpy.tangents.helpers import returns


@returns(list[int])
def numbers_in(entries: dict[Any, int]) -> list[int]:
    """entries.values()"""
    return list(entries.values())


non_differentiable(numbers_in)
