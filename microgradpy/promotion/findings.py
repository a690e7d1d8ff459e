"""What a walk over a program finds out, after which the next one starts; and what all of them have found."""

from __future__ import annotations

import copy
import types
from collections.abc import Mapping
from typing import Any, final, get_args

from microgradpy.dataclasses import dataclass, field
from microgradpy.runtime.arranged import Arranged
from microgradpy.runtime.dict_objects import class_of_dicts, is_class_of_dicts
from microgradpy.runtime.heaps import LISTS
from microgradpy.runtime.keyed import Grouped, Keyed, Nested

RANKS = (*LISTS, Keyed, Grouped, Nested)
"""What lists and dicts may be made of, from the simplest on."""
Origin = tuple[Any, ...]
"""Where a thing is made: the operation, by its result, after those of the calls that lead to it; and the name of a field."""

Form = tuple[Any, ...]
"""What the items of a container refer to: the origin of a table; `("any", tables)`; `("tuple", forms)`, with None for a value
and `("maybe", table)` for an object that may be None, and for namedtuples `("tuple", forms, class)`; `("rows", origin)`; or
`("held", key, class)` for the orders of lists, dicts or sets."""


ROWS = "rows"
HELD = "held"


class Escapes(Exception):
    """A thing is used in a way that is not followed: what `origin` makes stays the memory that it is. `is_tried` says that this
    is because an exception may be caught there."""

    def __init__(self, origin: Origin, *, is_tried: bool = False) -> None:
        super().__init__(origin)
        self.origin, self.is_tried = origin, is_tried


class Mutates(Exception):
    """Objects of a class are written into, so that two of them cannot be one value."""

    def __init__(self, cls: type) -> None:
        super().__init__(cls)
        self.cls = cls


class Shares(Exception):
    """Objects of a class are a default that several others have, so that each of these has one of its own in a pool."""

    def __init__(self, cls: type) -> None:
        super().__init__(cls)
        self.cls = cls


class Holds(Exception):
    """A list holds objects of a class, which have these fields."""

    def __init__(self, origin: Origin, cls: type, names: tuple[str, ...]) -> None:
        super().__init__(origin, cls, names)
        self.origin, self.cls, self.names = origin, cls, names


class Nests(Exception):
    """The lists in a list are written into, so many of them deep."""

    def __init__(self, origin: Origin, depth: int) -> None:
        super().__init__(origin, depth)
        self.origin, self.depth = origin, depth


class Refers(Exception):
    """What a container, or a field of the objects in a table, holds are objects in another table, or tuples with such."""

    def __init__(self, key: Origin, table: Form) -> None:
        super().__init__(key, table)
        self.key, self.table = key, table


class Gathers(Exception):
    """A function is put where others may be: it is one of those in a pool, which has what they have captured under names."""

    def __init__(self, cls: type, names: tuple[str, ...]) -> None:
        super().__init__(cls, names)
        self.cls, self.names = cls, names


class Writes(Exception):
    """A list, dict or array that a call has made is written into, or a function that is made inside is given to another one."""

    def __init__(self, origin: Origin) -> None:
        super().__init__(origin)
        self.origin = origin


class Overwrites(Exception):
    """Entries of an array are written into, of which the derivative of what has made it may be computed."""


class Numbers(Exception):
    """What a loop carries under a key, and what is None where it begins, is one of the objects of a pool."""

    def __init__(self, loop: Any, key: Any, table: Any) -> None:
        super().__init__(loop, key, table)
        self.loop, self.key, self.table = loop, key, table


class Assigned(Exception):
    """A field of a part of an argument, or what a dict has under a key, is written into."""

    def __init__(self, path: tuple[Any, ...], name: Any) -> None:
        super().__init__(path, name)
        self.path, self.name = path, name


class Changes(Exception):
    """A list or dict that is a part of an argument is written into."""

    def __init__(self, path: tuple[Any, ...]) -> None:
        super().__init__(path)
        self.path = path


class Reads(Exception):
    """What such a list or dict holds is read."""

    def __init__(self, path: tuple[Any, ...]) -> None:
        super().__init__(path)
        self.path = path


class Whole(Exception):
    """A container is used as a whole: it is to be one input, as it stands."""

    def __init__(self, path: tuple[Any, ...]) -> None:
        super().__init__(path)
        self.path = path


class Picks(Exception):
    """What a field of the objects in a table holds are lists of objects in a table."""

    def __init__(self, key: Origin, table: Origin) -> None:
        super().__init__(key, table)
        self.key, self.table = key, table


class Recurs(Exception):
    """A function that gets something in sight calls itself."""

    def __init__(self, code: types.CodeType) -> None:
        super().__init__(code)
        self.code = code


class Peels(Exception):
    """A function that calls itself gets something in sight from itself where it has got None first."""

    def __init__(self, code: types.CodeType) -> None:
        super().__init__(code)
        self.code = code


class Shrinks(Exception):
    """Items of a list are taken away or change places, as those of a class (`runtime/arranged.py`)."""

    def __init__(self, origin: Origin, cls: type) -> None:
        super().__init__(origin, cls)
        self.origin, self.cls = origin, cls


class ReadMeanwhile(Exception):
    """A list whose items change places is written into while a loop runs over it."""

    def __init__(self, origin: Origin, loop: Origin) -> None:
        super().__init__(origin, loop)
        self.origin, self.loop = origin, loop


class Asked(Exception):
    """A list is written into that some builtin has been given, which keeps nothing."""

    def __init__(self, origin: Origin) -> None:
        super().__init__(origin)
        self.origin = origin


class HoldsNone(Exception):
    """A container of objects may hold None as well."""

    def __init__(self, key: Origin) -> None:
        super().__init__(key)
        self.key = key
class Keys(Exception):
    """What the keys of a dict are has been found out after somebody got them: `Facts.keys` has it."""


class Enters(Exception):
    """Dicts with texts as keys are objects: those that `of` makes, or those of a class, which get another key."""

    def __init__(self, of: Any, key: str | None = None) -> None:
        super().__init__(of, key)
        self.of, self.key = of, key

    def keys_in(self, displays: Mapping[Origin, tuple[str, ...]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The keys that they begin with, and those that they get."""
        return (displays[self.of], ()) if self.key is None else (self.of.first, (*self.of.later, self.key))


class Guards(Exception):
    """Some loops in the body of a `try` change what the handlers see."""

    def __init__(self, loops: set[Any]) -> None:
        super().__init__(loops)
        self.loops = loops


OfTables = Enters | Gathers | HoldsNone | Peels | Picks | Recurs | Refers
OfChange = Asked | ReadMeanwhile | Shrinks
OfArguments = Assigned | Changes | Reads | Whole
Learned = Escapes | Guards | Holds | Keys | Mutates | Shares | Nests | OfArguments | OfChange | OfTables | Overwrites | Writes
LEARNED: tuple[type[Learned], ...] = get_args(Learned)
"""What a walk finds out, after which the next one starts."""


class NotInSight(Exception):
    """A call cannot be written where it is made."""


@final
@dataclass(eq=False)
class Facts:
    """What earlier walks have found: the origins of what stays memory, the classes whose objects are written into, the lists
    that get more items, those that hold objects, by class and fields, those that hold lists that are written into, and what
    calls make that is written into."""

    kept: set[Origin] = field(default_factory=set)
    mutable: set[type] = field(default_factory=set)
    shared: set[type] = field(default_factory=set)
    """The classes of which objects are defaults: nobody may ask which one of them something is."""
    grown: set[Origin] = field(default_factory=set)
    tables: dict[Origin, tuple[type, tuple[str, ...]]] = field(default_factory=dict)
    nested: dict[Origin, int] = field(default_factory=dict)
    written: set[Origin] = field(default_factory=set)
    shrinking: dict[Origin, type] = field(default_factory=dict)
    """The lists of which items are taken away or change places, with the classes that they are of."""
    asked: set[Origin] = field(default_factory=set)
    """The lists that are written into after a builtin, which keeps nothing, has been given them."""
    keys: dict[Origin, Any] = field(default_factory=dict)
    """What the keys of dicts are, which are taken away or change places: a kind; None if they are not alike."""
    live: set[Origin] = field(default_factory=set)
    """The loops over them in which they are written into."""
    refers: dict[Origin, Form] = field(default_factory=dict)
    """The tables that items of containers, and fields of objects in tables, are in."""
    whole_items: set[Origin] = field(default_factory=set)
    """The containers in which namedtuples are namedtuples, and lists are lists: somebody takes them as such."""
    with_none: set[Origin] = field(default_factory=set)
    """The containers of objects in which there may be None."""
    picks: dict[Origin, Origin] = field(default_factory=dict)
    """The tables that objects are in which fields of objects in tables hold lists of."""
    assigned: dict[tuple[tuple[Any, ...], Any], None] = field(default_factory=dict)
    """The fields of parts of arguments that are written into, by how the parts are reached."""
    changed: dict[tuple[Any, ...], None] = field(default_factory=dict)
    """The lists and dicts among the parts of arguments that are written into."""
    read: set[tuple[Any, ...]] = field(default_factory=set)
    """Those of which what they hold is read."""
    wholes: set[tuple[Any, ...]] = field(default_factory=set)
    """The containers among the arguments that are used as such, by how they are reached."""
    barred: set[Origin] = field(default_factory=set)
    """Of what is written into that which cannot be followed."""
    classes: dict[Origin, tuple[type, tuple[str, ...]]] = field(default_factory=dict)
    """The classes, and the names of the fields, of the objects that constructors make."""
    pools: dict[type, tuple[str, ...]] = field(default_factory=dict)
    """The classes whose objects are in pools, with their fields."""
    functions: dict[Any, type] = field(default_factory=dict)
    """The classes that stand for functions in containers, by the code of those that are made inside, and by the others."""
    bodies: dict[type, Any] = field(default_factory=dict)
    """Which functions these are: what makes them, or a constant."""
    cells: dict[Any, type] = field(default_factory=dict)
    """The classes that stand for variables which functions have captured, another one each, by the variable for the cell."""
    functions_made: dict[Origin, type] = field(default_factory=dict)
    """Where they are made."""
    recursive: set[types.CodeType] = field(default_factory=set)
    """The functions that call themselves, with something in sight."""
    peeled: set[types.CodeType] = field(default_factory=set)
    """Those of them whose first call is written where it is made."""
    returned: dict[types.CodeType, tuple[Origin, bool]] = field(default_factory=dict)
    """The tables that objects are in which such functions return, and whether they return None, too."""
    unpooled: set[type] = field(default_factory=set)
    """Those of which this was tried, and something is not followed."""
    overwrites: bool = False
    """Whether entries of arrays are written into of which the derivatives of what has made these may be computed."""
    beside_writes: bool = False
    """Whether the program writes into other memory, which is tracked: what may hold such memory stays memory itself."""
    guarded: set[Any] = field(default_factory=set)
    """The loops that hand over what they have changed to the handlers around them."""

    displays: dict[Origin, tuple[str, ...]] = field(default_factory=dict)
    """The dicts whose keys are texts that stand in the program, with the keys."""
    as_objects: dict[Origin, Any] = field(default_factory=dict)
    """Those of them that are objects, with their classes."""
    plain_dicts: set[tuple[str, ...]] = field(default_factory=set)
    """The keys of those with which this was tried, and something is not followed."""
    before_objects: dict[tuple[str, ...], dict[str, Any]] = field(default_factory=dict)
    """What was known before some of them became objects, by their keys."""

    def learn(self, found: Learned) -> None:
        match found:
            case Assigned() | Changes() | Reads() | Whole():
                self.learn_of_arguments(found)
            case Shrinks() | Asked() | ReadMeanwhile():
                self.learn_of_change(found)
            case Enters() | Gathers() | HoldsNone() | Peels() | Picks() | Recurs() | Refers():
                self.learn_of_tables(found)
            case Escapes(origin=origin):
                self.keep(origin)
            case Guards(loops=loops):
                self.guarded |= loops
            case Holds(origin=origin):
                self.kept |= {origin} & self.tables.keys()
                self.tables[origin] = found.cls, found.names
            case Nests(origin=origin):
                self.learn_of_depth(origin, found.depth)
            case Mutates() | Shares():
                (self.mutable if isinstance(found, Mutates) else self.shared).add(found.cls)
            case Overwrites() | Writes():
                self.learn_of_writes(found)

    def learn_of_writes(self, found: Overwrites | Writes) -> None:
        if isinstance(found, Overwrites):
            self.overwrites = True
        else:
            self.barred |= {found.origin} & self.written
            self.written.add(found.origin)

    def learn_of_depth(self, origin: Origin, depth: int) -> None:
        """Note how deep the lists in a list are written into, or let it stay memory if that was known."""
        if self.nested.get(origin, 0) >= depth:
            self.keep(origin)
        else:
            self.nested[origin] = depth

    def learn_of_arguments(self, found: Assigned | Changes | Reads | Whole) -> None:
        match found:
            case Assigned(path=path, name=name):
                self.assigned[path, name] = None
            case Changes(path=path):
                self.changed[path] = None
            case Reads(path=path):
                self.read.add(path)
            case Whole(path=path):
                self.wholes.add(path)

    def learn_of_change(self, found: OfChange) -> None:
        """Note how a list or dict changes, or let it stay memory if that was known."""
        origin = found.origin
        if isinstance(found, Shrinks):
            before = self.shrinking.get(origin)
            is_known = before is not None and RANKS.index(before) >= RANKS.index(found.cls)
            self.shrinking[origin] = found.cls
        elif isinstance(found, ReadMeanwhile):
            is_known = found.loop in self.live
            self.live.add(found.loop)
        else:
            is_known = origin in self.asked
            self.asked.add(origin)
        self.kept |= {origin} if is_known else set()

    def learn_of_tables(self, found: OfTables) -> None:
        match found:
            case Enters():
                self.enter(*found.keys_in(self.displays))
            case Gathers():
                self.pools[found.cls] = found.names
            case HoldsNone(key=key):
                self.with_none.add(key)
            case Refers(key=key):
                self.refers[key] = found.table
                if found.table[0] == HELD:
                    self.picks.pop(key, None)
            case Picks(key=key):
                self.picks[key] = found.table
            case Recurs(code=code):
                self.recursive.add(code)
            case Peels(code=code):
                self.peeled.add(code)

    # Dicts as objects

    def may_enter(self, origin: Origin) -> bool:
        """Whether a dict may be an object, and is none."""
        keys = self.displays.get(origin)
        return keys is not None and not self.beside_writes and origin not in self.as_objects and keys not in self.plain_dicts

    def enter(self, first: tuple[str, ...], later: tuple[str, ...]) -> None:
        """Let all dicts with the same keys be objects of a class. Nothing else has to hold then that was found before."""
        before = self.before_objects.get(first) or _copied({name: vars(self)[name] for name in vars(self).keys() - _LASTING})
        vars(self).update(_copied(before))
        self.before_objects[first] = before
        same = (origin for origin, keys in self.displays.items() if keys == first)
        self.as_objects |= dict.fromkeys(same, class_of_dicts(first, later))

    def leave(self, first: tuple[str, ...]) -> None:
        """Let them be what they were."""
        self.plain_dicts.add(first)
        vars(self).update(_copied(self.before_objects[first]))

    def entered(self, origin: Origin) -> Any:
        """The class of dicts that something is an object of, or a pool of objects; None if it is of none."""
        cls = origin[1] if origin[:1] == ("pool",) else self.classes.get(origin, (None,))[0]
        return cls if is_class_of_dicts(cls) else None

    def keep(self, origin: Origin) -> None:
        """Let what has an origin stay memory; but dicts become objects first, and objects get a pool, if their class has had
        none."""
        origin = origin[:-1] if origin[-1:] == (ROWS,) else origin
        form = self.refers.get(origin)
        if origin[-1:] == (HELD,):
            self.refers.pop(origin[:-1], None)
            self.kept.add(origin)
        elif is_of_items(form):
            del self.refers[origin]
            self.whole_items.add(origin)
        elif self.may_hold_rows(origin):
            del self.nested[origin]
            self.refers[origin] = HELD, origin, Arranged
        elif self.may_enter(origin):
            self.enter(self.displays[origin], ())
        elif (cls := self.entered(origin)) is not None and not self.may_be_pooled(origin):
            self.leave(cls.first)
        elif origin[:1] == ("pool",):
            self.unpooled.add(origin[1])
            del self.pools[origin[1]]
            self.kept |= {site for site, (cls, _) in self.classes.items() if cls is origin[1]}
            self.kept |= {site for site, cls in self.functions_made.items() if cls is origin[1]}
        elif self.may_be_pooled(origin):
            cls, names = self.classes[origin]
            self.pools[cls] = names
            of_lists = {each for each, (other, _) in self.tables.items() if other is cls}
            self.tables = {each: known for each, known in self.tables.items() if each not in of_lists}
            self.kept -= of_lists
            self.refers = {key: form for key, form in self.refers.items() if of_lists.isdisjoint(origins_in(form))}
            self.picks = {key: table for key, table in self.picks.items() if table not in of_lists}
        else:
            self.barred |= {origin} & self.written
            self.kept.add(origin)

    def made_at(self, origin: Origin) -> Origin:
        """Where what has an origin is made, or the first of the objects of a pool."""
        if origin[:1] != ("pool",):
            return origin
        made = {**{site: cls for site, (cls, _) in self.classes.items()}, **self.functions_made}
        return next((site for site, cls in made.items() if cls is origin[1]), origin)

    def may_be_otherwise(self, origin: Origin) -> bool:
        """Whether what is made there may be followed in another way."""
        if origin[-1:] == (HELD,):
            return origin[:-1] in self.refers
        if self.may_hold_rows(origin) or self.may_enter(origin) or self.may_be_pooled(origin):
            return True
        if self.entered(origin) is not None:
            return True
        return is_of_items(self.refers.get(origin[:-1] if origin[-1:] == (ROWS,) else origin))

    def may_hold_rows(self, origin: Origin) -> bool:
        """Whether lists in a list, which could not be followed with it, may be followed by their orders."""
        is_tried = origin in self.refers or (*origin, HELD) in self.kept
        return self.nested.get(origin, 0) == 1 and not is_tried and not self.beside_writes

    def may_be_pooled(self, origin: Origin) -> bool:
        """Whether what is made there is an object of a class of which all objects may be followed by numbers."""
        cls, names = self.classes.get(origin, (None, ()))
        return not self.beside_writes and cls is not None and bool(names) and cls not in self.pools and cls not in self.unpooled


_LASTING = frozenset({"displays", "plain_dicts", "beside_writes"})
"""What stays known when dicts become objects, or are none any more."""


def _copied(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: copy.copy(value) for name, value in facts.items()}


def is_of_items(form: Form | None) -> bool:
    """Whether what a container refers to are namedtuples or lists, which somebody may take as such."""
    return form is not None and (form[0] == ROWS or (form[0] == "tuple" and len(form) > 2))


def origins_in(form: Form | None) -> tuple[Origin, ...]:
    """The tables in what a container refers to."""
    if form is None or form[0] == HELD:
        return ()
    if form[0] in ("maybe", ROWS):
        return (form[1],)
    if form[0] == "any":
        return form[1]  # type: ignore[no-any-return]
    if form[0] != "tuple":
        return (form,)
    return tuple(origin for each in form[1] for origin in origins_in(each))
