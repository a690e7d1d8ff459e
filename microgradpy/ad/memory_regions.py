"""Regions of memory: variables that may name, hold or be part of the same objects, and what is known of these.

    y = x              x and y are in one region
    xs.append(y)       and so is xs; its items are as y is
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.input_kinds import kind_of
from microgradpy.ir.kinds import UNASSIGNED, UNKNOWN, Kind, Sequence, Unknown, is_immutable, join, map_axes
from microgradpy.ir.nodes import Const, Op, Value, Var
from microgradpy.ir.traversal import given_values


@dataclass(slots=True)
class MemoryRegion:
    """Variables that may be the same memory, and what happens to it. `is_given`: a call returned it, and others may know it;
    `is_open`: code that is not in sight may write into it; `contents_change`: so do writes into arrays. `items` is what all
    items of its lists are, as far as they are stored in sight."""

    members: list[Var] = field(default_factory=list)
    is_input: bool = False
    is_held: bool = False
    is_written: bool = False
    is_returned: bool = False
    stores_active: bool = False
    is_open: bool = False
    is_given: bool = False
    contents_change: bool = False
    items: Kind = UNASSIGNED


@dataclass(slots=True)
class Partition:
    """The variables of a function in regions: a union-find. `is_first` says that what is not known yet of the items of lists is
    left out; `methods` are the variables that are methods, each with its object and its function."""

    kinds: Mapping[Var, Kind]
    is_first: bool = False
    parents: dict[Var, Var] = field(default_factory=dict)
    data: dict[Var, MemoryRegion] = field(default_factory=dict)
    methods: dict[Var, tuple[Value, Any]] = field(default_factory=dict)

    def kind(self, value: Value) -> Kind:
        return self.kinds.get(value, UNKNOWN) if isinstance(value, Var) else UNKNOWN

    def kinds_of(self, op: Op) -> tuple[Kind, ...]:
        return tuple(map(self.kind, given_values(op.arguments, op.keywords)))

    def mutable(self, values: Iterable[Value]) -> list[Var]:
        """Those of some values that can be written into; in the place of a method the object that it is of."""
        owners = (self.methods[value][0] if isinstance(value, Var) and value in self.methods else value for value in values)
        return [value for value in owners if isinstance(value, Var) and not is_immutable(self.kind(value))]

    def find(self, var: Var) -> Var:
        """The variable that stands for the region of this one."""
        root = var
        while self.parents.setdefault(root, root) != root:
            root = self.parents[root]
        while self.parents[var] != root:
            self.parents[var], var = root, self.parents[var]
        return root

    def region_of(self, var: Var) -> MemoryRegion:
        root = self.find(var)
        if root not in self.data:
            self.data[root] = MemoryRegion([root])
        return self.data[root]

    def unite(self, values: Iterable[Value]) -> MemoryRegion | None:
        """Put values into one region; None if none of them can be written into."""
        found = self.mutable(values)
        if not found:
            return None
        first = self.find(found[0])
        region = self.region_of(first)
        for var in found[1:]:
            other = self.find(var)
            if other == first:
                continue
            joined = self.region_of(other)
            self.parents[other] = first
            region.members += joined.members
            region.is_input |= joined.is_input
            region.is_held |= joined.is_held
            region.is_written |= joined.is_written
            region.is_returned |= joined.is_returned
            region.stores_active |= joined.stores_active
            region.is_open |= joined.is_open
            region.is_given |= joined.is_given
            region.contents_change |= joined.contents_change
            region.items = join(region.items, joined.items)
            del self.data[other]
        return region

    def is_list(self, var: Value) -> bool:
        kind = self.kind(var)
        return isinstance(kind, Sequence) and kind.name == "list"

    def store_items(self, region: MemoryRegion, items: Iterable[Value]) -> None:
        for item in items:
            if self.is_first and isinstance(self.item_kind(item), Unknown):
                continue  # it may depend on what is not known yet of other items
            region.items = join(region.items, map_axes(self.item_kind(item), lambda axis: None))

    def item_kind(self, item: Value) -> Kind:
        return kind_of(item.value) if isinstance(item, Const) else self.kind(item)

    def all_regions(self) -> list[MemoryRegion]:
        return list(self.data.values())
