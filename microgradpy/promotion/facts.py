"""What walks over a program find out, and the next ones start from."""

from __future__ import annotations

import types
from typing import Any, final

from microgradpy.dataclasses import dataclass, field
from microgradpy.promotion.places import (
    Escapes,
    Holds,
    Mutates,
    Nests,
    Origin,
    Picks,
    Recurs,
    Refers,
    Shrinks,
    Whole,
    Writes,
)

FOUND = (Escapes, Holds, Nests, Mutates, Picks, Recurs, Refers, Shrinks, Whole, Writes)
Found = Escapes | Holds | Nests | Mutates | Picks | Recurs | Refers | Shrinks | Whole | Writes
"""What a walk may find, after which the next one starts."""


@final
@dataclass(eq=False)
class Facts:
    """What earlier walks have found: the origins of what stays memory, the classes whose objects are written into, the lists
    that get more items, those that hold objects, by class and fields, those that hold lists that are written into, and what
    calls make that is written into."""

    kept: set[Origin] = field(default_factory=set)
    mutable: set[type] = field(default_factory=set)
    grown: set[Origin] = field(default_factory=set)
    tables: dict[Origin, tuple[type, tuple[str, ...]]] = field(default_factory=dict)
    nested: dict[Origin, int] = field(default_factory=dict)
    written: set[Origin] = field(default_factory=set)
    shrinking: set[Origin] = field(default_factory=set)
    """The lists of which items are taken away."""
    refers: dict[Origin, Origin] = field(default_factory=dict)
    """The tables that items of lists, and fields of objects in tables, are in."""
    picks: dict[Origin, Origin] = field(default_factory=dict)
    """The tables that objects are in which fields of objects in tables hold lists of."""
    wholes: set[tuple[Any, ...]] = field(default_factory=set)
    """The containers among the arguments that are used as such, by how they are reached."""
    barred: set[Origin] = field(default_factory=set)
    """Of what is written into that which cannot be followed."""
    classes: dict[Origin, tuple[type, tuple[str, ...]]] = field(default_factory=dict)
    """The classes, and the names of the fields, of the objects that constructors make."""
    pools: dict[type, tuple[str, ...]] = field(default_factory=dict)
    """The classes whose objects are in pools, with their fields."""
    recursive: set[types.CodeType] = field(default_factory=set)
    """The functions that call themselves, with something in sight."""
    returned: dict[types.CodeType, tuple[Origin, bool]] = field(default_factory=dict)
    """The tables that objects are in which such functions return, and whether they return None, too."""
    unpooled: set[type] = field(default_factory=set)
    """Those of which this was tried, and something is not followed."""

    def learn(self, found: Found) -> None:
        match found:
            case Picks() | Recurs() | Refers():
                self._note(found)
            case Escapes(origin=origin):
                self.keep(origin)
            case Holds(origin=origin):
                self.kept |= {origin} & self.tables.keys()
                self.tables[origin] = found.cls, found.names
            case Nests(origin=origin):
                self.kept |= {origin} if self.nested.get(origin, 0) >= found.depth else set()
                self.nested[origin] = found.depth
            case Shrinks(origin=origin):
                self.kept |= {origin} & self.shrinking
                self.shrinking.add(origin)
            case Whole(path=path):
                self.wholes.add(path)
            case Mutates():
                self.mutable.add(found.cls)
            case Writes(origin=origin):
                self.barred |= {origin} & self.written
                self.written.add(origin)

    def _note(self, found: Picks | Recurs | Refers) -> None:
        match found:
            case Refers(key=key):
                self.refers[key] = found.table
            case Picks(key=key):
                self.picks[key] = found.table
            case Recurs(code=code):
                self.recursive.add(code)

    def keep(self, origin: Origin) -> None:
        """Let what has an origin stay memory; but objects get a pool first, if their class has had none."""
        if origin[:1] == ("pool",):
            self.unpooled.add(origin[1])
            del self.pools[origin[1]]
            self.kept |= {site for site, (cls, _) in self.classes.items() if cls is origin[1]}
        elif self.may_be_pooled(origin):
            cls, names = self.classes[origin]
            self.pools[cls] = names
            of_lists = {each for each, (other, _) in self.tables.items() if other is cls}
            self.tables = {each: known for each, known in self.tables.items() if each not in of_lists}
            self.kept -= of_lists
            self.refers = {key: table for key, table in self.refers.items() if table not in of_lists}
            self.picks = {key: table for key, table in self.picks.items() if table not in of_lists}
        else:
            self.barred |= {origin} & self.written
            self.kept.add(origin)

    def made_at(self, origin: Origin) -> Origin:
        """Where what has an origin is made, or the first of the objects of a pool."""
        if origin[:1] != ("pool",):
            return origin
        return next(site for site, (cls, _) in self.classes.items() if cls is origin[1])

    def may_be_pooled(self, origin: Origin) -> bool:
        """Whether what is made there is an object of a class of which all objects may be followed by numbers."""
        cls, names = self.classes.get(origin, (None, ()))
        return cls is not None and bool(names) and cls not in self.pools and cls not in self.unpooled
