"""What earlier walks over a program have found."""

from __future__ import annotations

from typing import Any, final

from microgradpy.dataclasses import dataclass, field
from microgradpy.promotion.places import Escapes, Form, Holds, HoldsNone, Mutates, Nests, Origin, Refers, Shrinks, Whole, Writes


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
    refers: dict[Origin, Form] = field(default_factory=dict)
    """The tables that items of containers, and fields of objects in tables, are in."""
    with_none: set[Origin] = field(default_factory=set)
    """The containers of objects in which there may be None."""
    wholes: set[tuple[Any, ...]] = field(default_factory=set)
    """The containers among the arguments that are used as such, by how they are reached."""
    barred: set[Origin] = field(default_factory=set)
    """Of what is written into that which cannot be followed."""
    classes: dict[Origin, tuple[type, tuple[str, ...]]] = field(default_factory=dict)
    """The classes, and the names of the fields, of the objects that constructors make."""
    pools: dict[type, tuple[str, ...]] = field(default_factory=dict)
    """The classes whose objects are in pools, with their fields."""
    unpooled: set[type] = field(default_factory=set)
    """Those of which this was tried, and something is not followed."""

    def learn(self, found: Escapes | Holds | HoldsNone | Nests | Mutates | Refers | Shrinks | Whole | Writes) -> None:
        match found:
            case Escapes(origin=origin):
                self.keep(origin)
            case Holds(origin=origin):
                self.kept |= {origin} & self.tables.keys()
                self.tables[origin] = found.cls, found.names
            case HoldsNone(key=key):
                self.with_none.add(key)
            case Nests(origin=origin):
                self.kept |= {origin} if self.nested.get(origin, 0) >= found.depth else set()
                self.nested[origin] = found.depth
            case Refers(key=key):
                self.refers[key] = found.table
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
            self.refers = {key: form for key, form in self.refers.items() if of_lists.isdisjoint(origins_in(form))}
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


def origins_in(form: Form | None) -> tuple[Origin, ...]:
    """The tables in what a container refers to."""
    if form is None:
        return ()
    if form[0] == "maybe":
        return (form[1],)
    if form[0] == "any":
        return form[1]  # type: ignore[no-any-return]
    if form[0] != "tuple":
        return (form,)
    return tuple(origin for each in form[1] for origin in origins_in(each))
