"""Numbers that stand for objects, as methods of dicts of objects give them, and lengths as `len` gives them."""

from __future__ import annotations

from typing import Any

from microgradpy.rules.registry import non_differentiable
from microgradpy.tangents.helpers import returns


@returns(list[int])
def numbers_in(entries: dict[Any, int]) -> list[int]:
    """entries.values()"""
    return list(entries.values())


class _Sized:
    """What has the length that an object's `__len__` has given."""

    def __init__(self, length: Any) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length  # type: ignore[no-any-return]


@returns(int)
def length_given(length: Any) -> int:
    """What `len` makes of what a `__len__` gives: Python's error, if that is no length."""
    return len(_Sized(length))


def check_count(callee: Any, items: Any, count: int) -> None:
    """Let `callee(*items)` raise what Python raises if there are not so many items, with which nothing can be called."""
    if len(items) != count:
        callee(*items)


non_differentiable(numbers_in, length_given, check_count)
