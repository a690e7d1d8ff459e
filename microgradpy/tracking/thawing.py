"""Values that a program may write into, made from the copies that a trace has of them."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any, final

import numpy as np

from microgradpy.tangents.memory_order import copied
from microgradpy.tracking.snapshots import (
    CONTAINERS,
    OBJECT,
    Snapshots,
    attributes_of,
    is_atom,
    is_plain_object,
    is_same,
    parts_of,
    same_array,
)


@final
class Thawing:
    """Values that a program may write into, made from copies. `made` has those of one run by the identity of the value that
    was copied, so that what was one object is one object again, with the copies. `owners` says what the copies of the former
    run were made of; the copies are known to `snapshots`, those of the new run, as the present state of what is made."""

    def __init__(self, owners: Mapping[int, tuple[Any, Any]], snapshots: Snapshots) -> None:
        self.owners, self.snapshots = owners, snapshots
        self.made: dict[int, tuple[Any, Any, Any]] = {}
        self.memory: dict[int, tuple[Any, np.ndarray[Any, Any]]] = {}
        self.has_started = False  # before, all copies are of one moment

    def thaw(self, live: Any, snapshot: Any) -> Any:
        """A value equal to `snapshot`, the copy of `live`, which nobody else holds."""
        if is_atom(snapshot):
            return snapshot
        live = self.owners.get(id(snapshot), (snapshot, live))[1]
        known = self.made.get(id(live))
        if known is not None:
            return known[1]
        kind = type(snapshot)
        if kind is np.ndarray:
            value = self.keep(live, self.array(live, snapshot), snapshot)
        elif isinstance(snapshot, tuple):
            items = [self.thaw(one, other) for one, other in zip(live, snapshot, strict=True)]
            value = live if all(map(is_same, items, live)) else self.keep(live, tuple.__new__(kind, items), snapshot)
        elif kind is types.MethodType or kind is frozenset:
            value = live
        elif is_plain_object(kind) and not attributes_of(snapshot) and type(live) is kind and not attributes_of(live):
            value = live  # it is nothing but itself, and programs compare such objects by identity
        elif kind in CONTAINERS or is_plain_object(kind):
            make, parts, fill = CONTAINERS.get(kind, OBJECT)
            value = self.keep(live, make(snapshot), snapshot)
            held, copied = parts(live) if type(live) is kind and kind is not set else [], parts(snapshot)
            if len(held) != len(copied):
                held = copied  # it has changed since
            fill(value, [self.thaw(part, copy) for part, copy in zip(held, copied, strict=True)])
        else:
            value = live
        return value

    def array(self, live: Any, snapshot: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """An array with the order in memory that the original has, as what is a view and what is a copy depends on it; and one
        that shares its memory, if the original shares it."""
        is_like = type(live) is np.ndarray and live.shape == snapshot.shape and live.dtype == snapshot.dtype
        owner = _owner_of(live) if is_like else None
        if owner is not None:
            is_new = id(owner) not in self.memory
            array = _as_view(live, owner, self.of_memory(owner))
        elif is_like and live.base is None and not live.dtype.hasobject:
            is_new = id(live) not in self.memory
            array = self.of_memory(live)
        else:
            is_new, array = True, np.empty_like(live if is_like else snapshot)
        if array.flags.writeable and (is_new or not self.has_started):
            array[...] = snapshot
        array.flags.writeable = array.flags.writeable and (not is_like or live.flags.writeable)
        return array

    def of_memory(self, owner: Any) -> np.ndarray[Any, Any]:
        """The array that has the memory which stands for that of another one."""
        return self.memory.setdefault(id(owner), (owner, copied(owner, "K")))[1]

    def keep(self, live: Any, value: Any, snapshot: Any) -> Any:
        self.made[id(live)] = live, value, snapshot
        self.snapshots.know(value, snapshot)
        return value

    def pair(self, live: Any, value: Any, snapshot: Any) -> bool:
        """Let `value`, which the program has made again, stand for `live`; whether it is what `live` was, and the one that
        stands for it already if there is one."""
        if is_atom(snapshot):
            return True
        if type(value) is not type(snapshot):
            return False
        live = self.owners.get(id(snapshot), (snapshot, live))[1]
        known = self.made.get(id(live))
        if known is None or known[1] is value:  # nodes that are taken over keep the former copies
            self.snapshots.owners.setdefault(id(snapshot), (snapshot, value))
        if known is not None and not isinstance(value, tuple):
            return bool(known[1] is value)
        self.made.setdefault(id(live), (live, value, self.snapshots.take(value)))
        if isinstance(value, np.ndarray):
            return bool(same_array(value, snapshot) is snapshot)
        held, copied = _items(value), _items(snapshot)
        if len(held) != len(copied):
            return False
        parts = _items(live) if type(live) is type(snapshot) else copied
        parts = parts if len(parts) == len(copied) else copied
        return all([self.pair(*each) for each in zip(parts, held, copied, strict=True)])


def _items(value: Any) -> list[Any]:
    """The parts of a value in a fixed order; none of a set, whose order is not that of its copies."""
    if isinstance(value, tuple):
        return list(value)
    return [] if isinstance(value, set | frozenset) else parts_of(value)


def _owner_of(array: Any) -> Any:
    """The array whose memory an array shows, if it is none of its own and can be found; None otherwise."""
    base = array.base
    while type(base) in (np.ndarray, _STRIDED) and base.base is not None:
        base = base.base
    known = type(array) is type(base) is np.ndarray and not array.dtype.hasobject and not base.dtype.hasobject
    return base if known and (base.flags.c_contiguous or base.flags.f_contiguous) else None


_STRIDED = type(np.lib.stride_tricks.as_strided(np.zeros(1)).base)


def _as_view(array: Any, owner: Any, memory: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What an array is of its owner, of another one."""
    start = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    return np.ndarray(array.shape, array.dtype, buffer=memory.ravel(order="K"), offset=start, strides=array.strides)
