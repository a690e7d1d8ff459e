"""Containers of the numbers of objects: what methods that change or read lists and dicts of objects do to these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from microgradpy.rules.registry import non_differentiable
from microgradpy.tangents.helpers import returns


@returns(list[int])
def numbers_in(entries: dict[Any, int]) -> list[int]:
    """entries.values()"""
    return list(entries.values())


@returns(list[int])
def without(items: list[int], item: int) -> list[int]:
    """items.remove(item)"""
    after = list(items)
    after.remove(item)
    return after


@returns(list[int])
def without_place(items: list[int], place: int) -> list[int]:
    """del items[place]"""
    after = list(items)
    after.pop(place)
    return after


@returns(list[int])
def with_item(items: list[int], place: int, item: int) -> list[int]:
    """items.insert(place, item)"""
    after = list(items)
    after.insert(place, item)
    return after


@returns(list[int])
def backwards(items: list[int]) -> list[int]:
    """items.reverse()"""
    return items[::-1]


ALL: tuple[Callable[..., Any], ...] = (numbers_in, without, without_place, with_item, backwards)
non_differentiable(*ALL)
