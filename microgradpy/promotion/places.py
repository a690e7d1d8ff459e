"""What is in sight: the things that a function makes and that become variables, and what refers to them."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Any, final

from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.nodes import Const, Op, Undefined, Value, Var
from microgradpy.promotion.findings import Origin


@final
@dataclass(frozen=True, slots=True, eq=False)
class Object:
    """An object of a class of the user's. `constructor` is the class as the program names it, `hint` the variable's name.
    What two paths or iterations make is one object afterwards if nobody writes into it (`merged`)."""

    origin: Origin
    cls: type
    constructor: Const
    hint: str
    merged: bool = False


@final
@dataclass(frozen=True, slots=True, eq=False)
class ListOf:
    """A list, or a dict or array as `sort` says; its one field is the list as it is now. `depth` says how deep the lists in it
    are in sight too: nobody else has them. The items of one `of` a table are numbers, of objects in the table, and those of one
    `of` a packing are tuples with such numbers. `default` is what a `defaultdict` puts under a key that it does not have."""

    origin: Origin
    hint: str
    depth: int = 0
    sort: str = "list"
    of: Any = None
    default: Const | None = None
    picks: Any = None
    """The table of which its items are lists of objects, that nobody writes into any more."""
    field: Origin = ()
    """Of which field it has the values, if it is a column of a table."""
    holds_none: bool = False
    """Whether there may be None among the objects."""

    @property
    def key(self) -> Origin:
        """What it is known by among what lists refer to."""
        return self.field or self.origin


@final
@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A list in such a list, or in one of those, as it was read from a version of that."""

    place: ListOf
    indices: tuple[Value, ...]
    version: Any
    value: Var

    @property
    def depth(self) -> int:
        return self.place.depth - len(self.indices)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The lists that are in a list, and change places there: `place` has them all, and the list has their numbers."""

    place: ListOf

    @property
    def origin(self) -> Origin:
        return self.place.origin


@final
@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """The lists, dicts or sets that a container has by their orders: `owner` stands for all of them, and has the list that
    their values are in."""

    owner: Object

    @property
    def origin(self) -> Origin:
        return self.owner.origin


@final
@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A part of an array in sight, as it was read from a version of that."""

    place: ListOf
    index: Value
    version: Any
    value: Var


@final
@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A list of objects of one class, which nobody else has: a list for each of their fields. One that is a pool is no list of
    the program's: it has all objects of the class that are made, so that they may refer to each other."""

    origin: Origin
    hint: str
    cls: type
    columns: dict[str, ListOf]
    is_pool: bool = False


@final
@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """One of the objects of a table; one of a pool may be None (`may_be_none`), which has the number -1."""

    table: Table
    index: Value
    may_be_none: bool = False

    @property
    def cls(self) -> type:
        return self.table.cls


@final
@dataclass(frozen=True, slots=True)
class Maybe:
    """An object of a table, or None, as an item of a tuple."""

    table: Table


@final
@dataclass(frozen=True, slots=True)
class Family:
    """The pools of several classes, whose objects are in one container: a number there says which pool and which object."""

    tables: tuple[Table, ...]


@final
@dataclass(frozen=True, slots=True, eq=False)
class AnyOf:
    """An object of one of several classes. `code` is what containers hold: as many times its number as there are pools, and
    which pool it is."""

    family: Family
    code: Value


@final
@dataclass(frozen=True, slots=True)
class Packing:
    """What tuples in sight are made of: for each item what it refers to, or None if it is a value; the class of namedtuples."""

    items: tuple[Any, ...]
    cls: type | None = None


@final
@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """A tuple with numbers in the place of objects; `source` is where the container is made that it was read from."""

    form: Packing
    value: Value
    source: Origin = ()


@final
@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The objects in a dict, `d.values()`, by their numbers: those of this version, which is looked at where it is used."""

    place: ListOf
    version: Any
    value: Var


@final
@dataclass(frozen=True, slots=True, eq=False)
class DictOf:
    """A dict whose keys are texts or numbers that stand in the program; they are its fields."""

    origin: Origin
    hint: str
    made: Op


@final
@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """The cell of a variable that functions inside assign; its one field is the variable."""

    origin: Origin
    hint: str


@final
@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function made inside, over what is in sight."""

    origin: Origin
    body: Any
    values: tuple[Any, ...]


@final
@dataclass(frozen=True, slots=True)
class Method:
    """A method read from a thing, to be called."""

    receiver: Any
    function: types.FunctionType | None
    name: str = ""


@final
@dataclass(frozen=True, slots=True)
class ClassMethod:
    """A class method, read from a class or from an object, to be called."""

    origin: Origin
    cls: Const
    function: types.FunctionType


@final
@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """A `functools.partial`, to be called: the function, and what it is given first."""

    origin: Origin
    function: Any
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]


@final
@dataclass(frozen=True, slots=True)
class Super:
    """`super(after, receiver)`"""

    receiver: Any
    after: type


@final
@dataclass(frozen=True, slots=True, eq=False)
class Generator:
    """A generator that has been made and not asked yet; `loop` and `attempts` are where."""

    origin: Origin
    body: Any
    frame: Any
    loop: Any
    attempts: int
    over: tuple[Object, ...] = ()
    """What it reads, if that is to stay as it is meanwhile."""
    steady: tuple[tuple[ListOf, Any], ...] = ()
    """The lists that are to stay what they were when it was made."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Managed:
    """What a call of a generator under `contextlib.contextmanager` gives, before `with` enters it: what it does before it
    yields, the `yield`, the `try` around that, and what it does afterwards; `loop` and `attempts` are where it is made."""

    origin: Origin
    before: tuple[Any, ...]
    suspend: Op
    attempt: Any
    after: Any
    frame: Any
    loop: Any
    attempts: int


@final
@dataclass(frozen=True, slots=True, eq=False)
class Iterated:
    """An iterator over a list or another container that has not been asked yet; `loop` and `attempts` are where it is made."""

    origin: Origin
    source: Any
    loop: Any
    attempts: int


@final
@dataclass(frozen=True, slots=True, eq=False)
class Picked:
    """Some of the objects of a table, by their numbers; `column` is the field that they were read from."""

    table: Table
    numbers: Value
    column: ListOf | None = None


CONTAINERS = frozenset((list, tuple, dict))
Step = tuple[str, Any]
"""How a part is reached: `(".", name)`, or `("[]", index or key)`."""


@final
@dataclass(eq=False, slots=True)
class Part:
    """An argument or a variable of a module, or what is reached from one: `value` is an example of it, `known` what it is for
    who reads it, which is the part itself if that has parts of its own (`children`). `methods` were read from it, and
    `missing` are names that it does not have. If the program writes into it (`assigned` are the names) or keeps it somewhere,
    `itself` is the input for it."""

    origin: Origin
    path: tuple[Any, ...]
    hint: str
    value: Any
    children: dict[Step, Part] = field(default_factory=dict)
    methods: dict[str, types.FunctionType] = field(default_factory=dict)
    missing: dict[Any, None] = field(default_factory=dict)
    known: Known | None = None
    itself: Var | None = None
    assigned: dict[Any, None] = field(default_factory=dict)
    first: Part | None = None
    """The part that is the same object, if one was reached in another way before."""
    is_changed: bool = False
    is_read: bool = False
    """Whether it is a list or dict that is written into; and whether what it holds is read."""

    @property
    def cls(self) -> type:
        return type(self.value)

    @property
    def is_container(self) -> bool:
        return self.cls in CONTAINERS

    @property
    def is_item(self) -> bool:
        return isinstance(self.path[-1], tuple) and self.path[-1][0] == "[]"

    @property
    def is_leaf(self) -> bool:
        return isinstance(self.known, Var)

    def leaves(self) -> Iterator[Part]:
        """The inputs that this part becomes."""
        if self.is_leaf:
            yield self
            return
        for child in self.children.values():
            yield from child.leaves()

    def objects(self) -> Iterator[Part]:
        """The parts of this one, and itself, that are inputs as the objects that they are."""
        if self.itself is not None:
            yield self
        for child in self.children.values():
            yield from child.objects()


@final
@dataclass(frozen=True, slots=True, eq=False)
class Display:
    """Items that were read from arguments, as a list or tuple that nobody writes into."""

    origin: Origin
    items: tuple[Known, ...]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """One of the functions in a dict, under a key that is known when the program runs."""

    origin: Origin
    key: Value
    functions: tuple[tuple[Any, Const], ...]


Place = Object | ListOf | DictOf | Cell | Part
Item = Element | AnyOf | Packed
Callee = Closure | Method | ClassMethod | Partial | Super | Chosen
Thing = Place | Row | View | Picked | Table | Item | Values | Callee | Generator | Managed | Iterated | Display
Known = Value | Thing
"""What a variable of the program is: a value, or something in sight."""
Field = tuple[Place, Any]
Fields = dict[Field, Known]


class OfFunction:
    """What stands for functions that are in containers has classes derived from this one."""


class OfCell:
    """What stands for variables that functions in containers have captured has classes derived from this one."""


def origin_of_pool(cls: type) -> Origin:
    return "pool", cls


NO_OBJECT = Const(-1)
"""The number that stands for None among those of the objects of a pool."""
CONTENTS = ""
"""The field of what has one only."""
THERE = object()
"""A field that every object has, so that one without any other is known to be there before a branch or a loop."""


def is_thing(known: Known) -> bool:
    return not isinstance(known, Var | Const | Undefined)


def origin_of(thing: Thing) -> Origin:
    """Where what a thing refers to is made."""
    if isinstance(thing, Method | Super):
        return origin_of(thing.receiver)
    if isinstance(thing, Element | Picked):
        return thing.table.origin
    if isinstance(thing, Row | View | Values):
        return thing.place.origin
    if isinstance(thing, Packed):
        return thing.source or next(tables_of(thing.form)).origin
    if isinstance(thing, AnyOf):
        return thing.family.tables[0].origin
    return thing.origin


def form_of_items(known: Known) -> Table | Packing | None:
    """What the items are of something that is run over, if they are numbers."""
    match known:
        case ListOf(depth=0, sort="list"):
            return known.of  # type: ignore[no-any-return]
        case Row(depth=0) | Values():
            return known.place.of  # type: ignore[no-any-return]
    return None


def tables_of(form: Any) -> Iterator[Table]:
    """The tables that numbers in a container mean objects of."""
    if isinstance(form, Packing):
        for each in form.items:
            yield from tables_of(each)
    elif isinstance(form, Family):
        yield from form.tables
    elif isinstance(form, Rows | Held):
        yield form  # type: ignore[misc]
    elif form is not None:
        yield form.table if isinstance(form, Maybe) else form


@final
@dataclass(eq=False)
class Frame:
    """One call: what its variables are, and the calls that lead to it. The variables of the outermost keep their names."""

    path: Origin
    values: dict[Var, Known] = field(default_factory=dict)
    copies: bool = False
    """Whether what is walked may be appended several times."""
    step: Any = None
    """What is done with each value that it yields, if it is a generator."""
    attempts: int = 0
    """In how many `try` it runs then."""
    followed_for: Origin = ()
    """Where that is made for which the call is followed."""
    unit: Any = None
    """The function that calls itself, if it is one."""

    @property
    def is_root(self) -> bool:
        return not self.path


def first_origin(known: tuple[Known, ...]) -> Origin:
    """Where the first thing among some arguments is made."""
    return next(origin_of(each) for each in known if is_thing(each))  # type: ignore[arg-type]


def is_of_function(known: Known) -> bool:
    """Whether something is a function made inside, or one of those in pools."""
    return isinstance(known, Closure) or any(issubclass(table.cls, OfFunction) for table in tables_of_object(known))


def tables_of_object(known: Known) -> tuple[Table, ...]:
    """The pools or the table that an object may be in."""
    match known:
        case Element(table=table):
            return (table,)
        case AnyOf(family=family):
            return family.tables
    return ()


def lists_of(thing: ListOf | Table) -> tuple[ListOf, ...]:
    """What a container is made of."""
    return (thing,) if isinstance(thing, ListOf) else tuple(thing.columns.values())
