"""What stands for objects in programs where these are variables: the classes of dicts with texts as keys
(`promotion/entries.py`), of which no object is ever made, and numbers, as methods of dicts of objects give them."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from microgradpy.rules.registry import non_differentiable
from microgradpy.tangents.helpers import returns


class Entry:
    """A dict that begins with the keys `first`, and gets those of `later` at some time or never."""

    first: ClassVar[tuple[str, ...]]
    later: ClassVar[tuple[str, ...]]

    def __eq__(self, other: object) -> bool:
        """Dicts are equal if their entries are: whoever compares such objects lets them escape."""
        raise AssertionError("no object of this class is ever made")


@functools.cache
def class_of_dicts(first: tuple[str, ...], later: tuple[str, ...] = ()) -> type[Entry]:
    """The class of the dicts with these keys: the same one each time."""
    return type("Entry", (Entry,), {"__module__": __name__, "first": first, "later": later})


def is_class_of_dicts(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, Entry)


def presence_of(key: str) -> str:
    """The field that says whether there is something under a key."""
    return f"?{key}"


def may_be_field(key: Any) -> bool:
    """Whether the entry under a key may be a field."""
    return type(key) is str and key != "" and not key.startswith("?")


def check_entry(is_there: bool, key: str) -> None:
    """Python's error for a key that a dict does not have."""
    if not is_there:
        raise KeyError(key)


def entry_or(is_there: bool, item: Any, default: Any) -> Any:
    """d.get(key, default)"""
    return item if is_there else default


non_differentiable(check_entry)


# Numbers


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
