# ruff: noqa: UP028  what is read is the text
"""Dicts whose keys are taken away or change places, written in Python, with what says where their values are.

    total = d.pop(k)           n = taken_under(order, k);  total = values[n]

The values are in a list that only grows, as in `arranged`; under which key which of them is, is in an ordinary dict (or
Counter, or OrderedDict) of their places.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

from microgradpy.rules.registry import non_differentiable
from microgradpy.runtime import arranged, heaps, queues
from microgradpy.runtime.arranged import Order, count_of, kept_at, new_order, place_last, places_of_values
from microgradpy.runtime.queues import counted
from microgradpy.tangents.helpers import returns


class Keyed:
    """A dict. What is assigned to `_order`, as it is, is noted as a write."""

    def __init__(self) -> None:
        self._items: list[Any] = []
        order = new_dict()
        self._order = order

    def get(self, key: Any, default: Any) -> Any:
        place = place_or_none(self._order, key)
        return default if place < 0 else self._items[counted(place)]

    def pop(self, key: Any) -> Any:
        place = taken_under(self._order, key)
        self._order = self._order
        return self._items[counted(place)]

    def pop_or(self, key: Any, default: Any) -> Any:
        place = taken_or_none(self._order, key)
        self._order = self._order
        return default if place < 0 else self._items[counted(place)]

    def setdefault(self, key: Any, default: Any) -> Any:
        if place_or_none(self._order, key) < 0:
            put_under(self._order, key, kept_at(self._items, default))
            self._order = self._order
        return self._items[counted(place_under(self._order, key))]

    def popitem(self) -> tuple[Any, Any]:
        key = last_key(self._order)
        place = taken_under(self._order, key)
        self._order = self._order
        return key, self._items[counted(place)]

    def clear(self) -> None:
        forget_all(self._order)
        self._order = self._order

    def delete(self, key: Any) -> None:
        """del items[key]"""
        forget(self._order, key)
        self._order = self._order

    def order_of(self, others: Any) -> Any:
        """Where the values of another dict are, put behind those of this one."""
        order = new_dict()
        for key, item in others.items():
            put_within(order, key, kept_at(self._items, item))
        return order

    def take_in(self, others: Any) -> None:
        """items.update(others)"""
        for key, item in others.items():
            put_under(self._order, key, kept_at(self._items, item))
            self._order = self._order

    def fill(self, pairs: Any) -> None:
        """dict(pairs)"""
        for key, item in pairs:
            put_under(self._order, key, kept_at(self._items, item))
            self._order = self._order

    def values(self) -> Iterator[Any]:
        for place in places_of_values(self._order):
            yield self._items[counted(place)]

    def items(self) -> Iterator[Any]:
        for key in keys_of(self._order):
            yield key, self._items[counted(place_under(self._order, key))]

    def __contains__(self, key: Any) -> bool:
        return is_under(self._order, key)

    def __len__(self) -> int:
        return count_of(self._order)

    def __getitem__(self, key: Any) -> Any:
        return self._items[counted(place_under(self._order, key))]

    def __setitem__(self, key: Any, item: Any) -> None:
        put_under(self._order, key, kept_at(self._items, item))
        self._order = self._order

    def __iter__(self) -> Iterator[Any]:
        for key in keys_of(self._order):
            yield key


class Defaulted(Keyed):
    """collections.defaultdict(float)"""

    def __init__(self, default: Any) -> None:
        self._items = []
        order = new_dict()
        self._order = order
        self._default = default

    def __getitem__(self, key: Any) -> Any:
        if place_or_none(self._order, key) < 0:
            put_under(self._order, key, kept_at(self._items, self._default))
            self._order = self._order
        return self._items[counted(place_under(self._order, key))]


class Counted(Keyed):
    """collections.Counter()"""

    def __init__(self) -> None:
        self._items = []
        order = new_counter()
        self._order = order

    def __getitem__(self, key: Any) -> Any:
        place = place_or_none(self._order, key)
        return 0 if place < 0 else self._items[counted(place)]


    def count(self, items: Any) -> None:
        """items.update(others)"""
        for key in items:
            place = place_or_none(self._order, key)
            put_under(self._order, key, kept_at(self._items, 1 if place < 0 else self._items[counted(place)] + 1))
            self._order = self._order

    def most_common(self, count: int) -> list[Any]:
        keys = keys_by_value(self._order, self._items)
        return [(key, self._items[counted(place_under(self._order, key))]) for key in keys[:count]]

    def all_common(self) -> list[Any]:
        """items.most_common()"""
        keys = keys_by_value(self._order, self._items)
        return [(key, self._items[counted(place_under(self._order, key))]) for key in keys]


class Ordered(Keyed):
    """collections.OrderedDict()"""

    def __init__(self) -> None:
        self._items = []
        order = new_ordered()
        self._order = order

    def popitem_first(self) -> tuple[Any, Any]:
        """items.popitem(last=False)"""
        key = first_key(self._order)
        place = taken_under(self._order, key)
        self._order = self._order
        return key, self._items[counted(place)]

    def move_to_end(self, key: Any, last: bool) -> None:
        move_key(self._order, key, last)
        self._order = self._order


class Grouped(Keyed):
    """A dict of lists that get longer, or collections.defaultdict(list): all lists have their values in one."""

    def fill(self, pairs: Any) -> None:
        for key, items in pairs:
            group = new_order()
            for item in items:
                place_last(group, kept_at(self._items, item))
            put_group(self._order, key, group)
            self._order = self._order

    def group(self, key: Any) -> Any:
        return shared_list(self._items, group_of(self._order, key))

    def new_group(self, key: Any) -> Any:
        """What is under a key, which may be new."""
        self._order = self._order
        return shared_list(self._items, group_or_new(self._order, key))

    def pop(self, key: Any) -> Any:
        self._order = self._order
        return shared_list(self._items, taken_group(self._order, key))

    def values(self) -> Iterator[Any]:
        for group in groups_of(self._order):
            yield shared_list(self._items, group)

    def __setitem__(self, key: Any, items: Any) -> None:
        group = new_order()
        for item in items:
            place_last(group, kept_at(self._items, item))
        put_group(self._order, key, group)
        self._order = self._order


class Nested(Keyed):
    """A dict of dicts that get more keys, or collections.defaultdict(dict): all of these have their values in one list."""

    def group(self, key: Any) -> Any:
        return shared_dict(self._items, group_of(self._order, key))

    def new_group(self, key: Any) -> Any:
        """What is under a key, which may be new."""
        self._order = self._order
        return shared_dict(self._items, dict_or_new(self._order, key))

    def pop(self, key: Any) -> Any:
        self._order = self._order
        return shared_dict(self._items, taken_group(self._order, key))

    def values(self) -> Iterator[Any]:
        for group in groups_of(self._order):
            yield shared_dict(self._items, group)

    def __setitem__(self, key: Any, items: Any) -> None:
        group = new_dict()
        for inner, item in items.items():
            put_within(group, inner, kept_at(self._items, item))
        put_group(self._order, key, group)
        self._order = self._order


class Members:
    """set()"""

    def __init__(self) -> None:
        order = new_set()
        self._order = order

    def add(self, key: Any) -> None:
        put_member(self._order, key)
        self._order = self._order

    def update(self, keys: Any) -> None:
        for key in keys:
            put_member(self._order, key)
            self._order = self._order

    def discard(self, key: Any) -> None:
        drop_member(self._order, key)
        self._order = self._order

    def remove(self, key: Any) -> None:
        take_member(self._order, key)
        self._order = self._order

    def clear(self) -> None:
        forget_all(self._order)
        self._order = self._order

    def __contains__(self, key: Any) -> bool:
        return is_under(self._order, key)

    def __len__(self) -> int:
        return count_of(self._order)

    def __iter__(self) -> Iterator[Any]:
        for key in keys_of(self._order):
            yield key


def shared_list(items: list[Any], order: Order) -> Any:
    """A list that has its values in one with others: `promotion` makes an object of it."""
    return [items[place] for place in order]


def shared_dict(items: list[Any], order: Order) -> Any:
    """A dict that has its values in one list with others."""
    return {key: items[place] for key, place in order.items()}


@returns(object)
def group_of(order: Order, key: Any) -> Order:
    return order[key]


@returns(object)
def group_or_new(order: Order, key: Any) -> Order:
    return order.setdefault(key, [])


@returns(object)
def dict_or_new(order: Order, key: Any) -> Order:
    return order.setdefault(key, {})


def put_within(group: Order, key: Any, place: int) -> None:
    """Put something into one of the dicts in a dict."""
    group[key] = place


@returns(object)
def taken_group(order: Order, key: Any) -> Order:
    return order.pop(key)


@returns(list[object])
def groups_of(order: Order) -> list[Order]:
    return list(order.values())


def put_group(order: Order, key: Any, group: Order) -> None:
    order[key] = group


@returns(object)
def new_dict() -> Order:
    return {}


@returns(object)
def new_counter() -> Order:
    return collections.Counter()


@returns(object)
def new_ordered() -> Order:
    return collections.OrderedDict()


@returns(object)
def new_set() -> Order:
    return set()


def put_member(order: Order, key: Any) -> None:
    order.add(key)


def drop_member(order: Order, key: Any) -> None:
    order.discard(key)


def take_member(order: Order, key: Any) -> None:
    order.remove(key)


@returns(bool)
def is_under(order: Order, key: Any) -> bool:
    return key in order


@returns(int)
def place_under(order: Order, key: Any) -> int:
    place: int = order[key]
    return place


@returns(int)
def place_or_none(order: Order, key: Any) -> int:
    """The place of what is under a key; -1 if nothing is."""
    place: int = order.get(key, -1)
    return place


@returns(int)
def taken_under(order: Order, key: Any) -> int:
    place: int = order.pop(key)
    return place


@returns(int)
def taken_or_none(order: Order, key: Any) -> int:
    place: int = order.pop(key, -1)
    return place


def put_under(order: Order, key: Any, place: int) -> None:
    order[key] = place


def forget(order: Order, key: Any) -> None:
    del order[key]


def forget_all(order: Order) -> None:
    order.clear()


def move_key(order: Order, key: Any, last: bool) -> None:
    order.move_to_end(key, last)


def keys_of(order: Order) -> list[Any]:
    return list(order)


@returns(list[int])
def numbers_of(order: Order) -> list[int]:
    """The keys, all of which are whole numbers."""
    return list(order)


@returns(list[str])
def names_of(order: Order) -> list[str]:
    """The keys, all of which are texts."""
    return list(order)


def keys_by_value(order: Order, items: list[Any]) -> list[Any]:
    """The keys, those of the largest values first."""
    return sorted(order, key=lambda key: items[order[key]], reverse=True)


@returns(list[int])
def numbers_by_value(order: Order, items: list[Any]) -> list[int]:
    return keys_by_value(order, items)


@returns(list[str])
def names_by_value(order: Order, items: list[Any]) -> list[str]:
    return keys_by_value(order, items)


def last_key(order: Order) -> Any:
    """The key that `popitem` takes."""
    if not order:
        order.popitem()  # says so
    return next(reversed(order))


def first_key(order: Order) -> Any:
    """The key that `popitem(last=False)` takes."""
    if not order:
        order.popitem(last=False)
    return next(iter(order))


@returns(int)
def last_number(order: Order) -> int:
    key: int = last_key(order)
    return key


@returns(str)
def last_name(order: Order) -> str:
    key: str = last_key(order)
    return key


@returns(int)
def first_number(order: Order) -> int:
    key: int = first_key(order)
    return key


@returns(str)
def first_name(order: Order) -> str:
    key: str = first_key(order)
    return key


@returns(object)
def watch_over(order: Order) -> Any:
    return iter(order)


def step(watch: Any, key: Any) -> None:
    """Python's error if the keys have changed since a loop over them began."""
    if next(watch, watch) != key:
        raise RuntimeError("dictionary keys changed during iteration")


def finish(watch: Any) -> None:
    next(watch, None)


KEYED = (Keyed, Grouped, Nested, Defaulted, Counted, Ordered, Members)
CLASSES = (*heaps.CLASSES, *KEYED)
IN_PLACE = tuple(cls for cls in CLASSES if cls not in queues.CLASSES)
"""Those that have an order, which is changed in place."""
ITEMS, ORDER = "_items", "_order"
FIELDS = (*arranged.FIELDS, "_default")
TAKE_KEYS: frozenset[Any] = frozenset({
    is_under, place_under, place_or_none, taken_under, taken_or_none, put_under, forget, move_key,
    group_of, group_or_new, dict_or_new, taken_group, put_group, put_within,
    put_member, drop_member, take_member,
})  # fmt: skip
PUT_KEYS = (put_under, group_or_new, dict_or_new, put_group, put_within, put_member)
"""What is given a key, as its second argument."""
OF_CONTAINERS = (Grouped, Nested)
"""Dicts of lists and of dicts."""
BY_KEYS: dict[Any, tuple[Any, Any]] = {
    keys_of: (numbers_of, names_of), keys_by_value: (numbers_by_value, names_by_value),
    last_key: (last_number, last_name), first_key: (first_number, first_name),
}  # fmt: skip
"""What gives keys, and what it is called where they are known to be whole numbers or texts."""
FUNCTIONS: frozenset[Any] = TAKE_KEYS.union(BY_KEYS, *BY_KEYS.values()) | {
    new_set, new_dict, new_counter, new_ordered, groups_of, forget_all, watch_over, step, finish,
}  # fmt: skip

non_differentiable(*FUNCTIONS)
