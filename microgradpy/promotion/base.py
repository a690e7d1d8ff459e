"""What is known while a program is walked over, how it is asked and changed, and what becomes of it where two paths meet."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import Kind, Scalar
from microgradpy.ir.nodes import (
    STATEMENT,
    Const,
    Location,
    Op,
    Region,
    Statement,
    Terminator,
    Undefined,
    Value,
    Var,
    fresh,
    function_constant,
    operator_constant,
)
from microgradpy.promotion.classes import is_record
from microgradpy.promotion.conditions import Fact, Present
from microgradpy.promotion.escapes import Used
from microgradpy.promotion.findings import (
    Asked,
    Enters,
    Escapes,
    Facts,
    Mutates,
    NotInSight,
    Numbers,
    Origin,
    ReadMeanwhile,
    Reads,
    Refers,
    Shrinks,
)
from microgradpy.promotion.kinds import Kinds
from microgradpy.promotion.marks import Attempt
from microgradpy.promotion.places import (
    CONTENTS,
    THERE,
    Cell,
    DictOf,
    Element,
    Family,
    Field,
    Fields,
    Frame,
    Generator,
    Iterated,
    Known,
    ListOf,
    Object,
    Packed,
    Part,
    Place,
    Row,
    Table,
    Values,
    View,
    lists_of,
    origin_of,
)
from microgradpy.runtime.fields import append, put
from microgradpy.runtime.heaps import LISTS
from microgradpy.runtime.keyed import ORDER, Keyed

MOST_STATEMENTS = 20_000


_GETITEM = operator_constant("getitem")
_GETATTR = function_constant(getattr)
_APPEND, _PUT = function_constant(append), function_constant(put)


class Walk(ABC):
    """`facts` are what earlier walks have found."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.fields: Fields = {}
        self.shown: set[Place] = set()
        self.lent: set[Place] = set()
        """Those of them that were only given to what keeps nothing."""
        self.handed: set[Place] = set()
        """The dicts and namedtuples that others have."""
        self.owners: dict[Place, Object] = {}
        """The dicts that lists are in which have their values in one."""
        self.defaults: set[Origin] = set()
        """Those of them that put an empty list under a key that they do not have."""
        self.inner_defaults: dict[Origin, Const] = {}
        """What the dicts in a dict put under a key that they do not have."""
        self.keys_given: dict[Origin, Kind | None] = {}
        """The dicts of which somebody has got keys, with what these were said to be."""
        self.running: dict[Place, Origin] = {}
        """The lists and dicts that loops run over as they were when these began, with the loops."""
        self.running_in: dict[Place, Origin] = {}
        """The dicts of which loops run over a list in them."""
        self.trying: list[Attempt] = []
        """The `try`s in the bodies of which the walk is, outermost first."""
        self.loops: list[Any] = []
        """The loops in which the walk is, outermost first."""
        self.carried_before: dict[tuple[Any, ...], tuple[Statement, list[Field], dict[Any, Kind]]] = {}
        """What loops carry, and the kinds of it, as far as that was found out when they were walked before."""
        self.before_loops: set[Place] = set()
        """What is in sight where the outermost of them begins."""
        self.captured_by_all: dict[tuple[type, str], Known] = {}
        """What is in sight and captured by all functions that are made of the same text."""
        self.looping: dict[Var, set[Any]] = {}
        """The loops that change what handlers see, by the scope."""
        self.unsure: set[Field] = set()
        """Fields of which a handler does not know whether they are there: the body makes them."""
        self.columns: dict[Var, Origin] = {}
        """Where that is made of which handlers see a field, by the variable in which they do."""
        self.fixed: frozenset[Place] = frozenset()
        """What may not be written into here: an exception may leave a write without a trace in the variables."""
        self.out: list[Statement] = []
        self.loop: Any = None
        self.unit: Any = None
        """The function that calls itself in which the walk is."""
        self.constructed: set[Place] = set()
        self.consumed: set[Generator | Iterated] = set()
        self.generators = 0
        """In how many generators the walk is."""
        self.standing: dict[Object | ListOf | Cell, Element | Row | Object | None] = {}
        """The objects and lists that are in lists; None for those of which it is not known where."""
        self.read_from: dict[Value, tuple[ListOf, int]] = {}
        """The items of lists in sight, with how deep in them they are."""
        self.read_from_dict: dict[Value, ListOf] = {}
        self.picked: dict[Value, Location] = {}
        """Copies of the entries of arrays that indices have picked, and where."""
        self.fresh: dict[Value, Origin] = {}
        """The results of calls that nobody else has, with where they are made."""
        self.arrays_made: set[Origin] = set()
        """Where functions have made an array."""
        self.arrays_computed: set[Origin] = set()
        """Where operators have."""
        self.keeps_arrays = self.writes_entries = False
        """Whether it has been relied on that what an array was stays what it was, and whether entries of arrays are written
        into."""
        self.own_sums: frozenset[Var] = frozenset()
        """The results of the `+=` that may be computed out of place as they are."""
        self.made_in: dict[Object | ListOf | Cell, list[Statement]] = {}
        """Among which statements an object or a list was made."""
        self.stand_for_each_other: set[tuple[Origin, Origin]] = set()
        """The origins of containers of which something in sight may be either."""
        self.gone: set[Place] = set()
        """The containers that another one has taken the place of."""
        self.real: dict[Place, Value] = {}
        """The lists and dicts of the user's that are written into as well, by those in sight that the program computes with."""
        self.unread: dict[Place, tuple[Any, ...]] = {}
        """Those of which nobody has read what they hold, by how they are reached: nothing is computed with them."""
        self.lengthened: list[Place] = []
        """The lists that have got one item more, as often as they have."""
        self.taken: set[Var] = set()
        self.kinds = Kinds(facts.beside_writes)
        self.counters: set[Var] = set()
        """Variables that are places in lists, counted from the front."""
        self.lengths: set[Var] = set()
        self.present: frozenset[Fact] = frozenset()
        """The numbers of objects that are known not to be None here, and the keys that dicts among them are known to have."""
        self.tests: dict[Value, Present] = {}
        """The conditions that ask this of numbers."""
        self.asked_only: frozenset[Var] = frozenset()
        self.at_once: frozenset[Var] = frozenset()
        """Those that are asked once, before anything else is done."""
        self.undecided: dict[Value, tuple[Any, Any]] = {}
        """What a loop carries that is None where it begins, with the loop and the key."""
        self.either: dict[Value, tuple[Value, ...]] = {}
        """What a value is after a branch: one of these."""
        self.flying: dict[Var, Object] = {}
        """The exceptions that are made in sight to be raised, with their fields."""
        self.caught: dict[Var, Object] = {}
        """What handlers in sight catch."""
        self.raised: set[Value] = set()
        """The exceptions that end a `with`, their classes and tracebacks: none of them is None."""
        self.gathered_by_dict: set[Value] = set()
        """What comprehensions collect for dicts."""
        self.helped = False
        self.declines = False
        """Whether a path has given `NotImplemented`, and another one something else."""
        self.count = 0
        self.at: Used | None = None
        """Where the walk is; if something is not followed, what was tried last."""

    @abstractmethod
    def statement(self, statement: Statement, frame: Frame) -> None:
        """Append what becomes of a statement."""

    @abstractmethod
    def region(self, region: Region, frame: Frame) -> tuple[list[Statement], Terminator]:
        """The statements of a region, from what is known here on, and how it ends."""

    @abstractmethod
    def iterator_of(self, thing: Any, item: Var, where: Location, frame: Frame) -> Known | None:
        """The iterator that an object in sight is read by."""

    @abstractmethod
    def as_object(self, part: Part) -> Object:
        """An object of the user's that is only read, as one that the program has made."""

    @abstractmethod
    def as_item(self, place: ListOf, value: Var) -> Known:
        """An item of a container, as it was read."""

    @abstractmethod
    def is_there(self, target: Element) -> bool:
        """Whether one of the objects of a pool is known not to be None."""

    @abstractmethod
    def among_functions(self, known: Known) -> Known:
        """A function that is put somewhere as one of those that may be there."""

    @abstractmethod
    def as_record(self, packed: Packed, op: Op) -> Object:
        """A namedtuple that was read from a container, with its fields."""

    @abstractmethod
    def if_pooled(self, known: Known) -> Known:
        """A function of the module as one of those in pools, if it is there."""

    @abstractmethod
    def code_of(self, family: Family, item: Known) -> Value | None:
        """What stands for an object among those of several classes."""

    def family(self, tables: Iterable[Table]) -> Family:
        """Several pools, in the order of all of them."""
        order = list(self.facts.pools)
        return Family(tuple(sorted(tables, key=lambda table: order.index(table.cls))))

    @abstractmethod
    def truth(self, known: Known, where: Location, frame: Frame) -> Known:
        """What `if` asks of something."""

    @abstractmethod
    def listed(self, place: Object, *, shows: bool) -> Value:
        """A list in sight whose items change places as a list."""

    # Values

    def known(self, value: Value, frame: Frame) -> Known:
        if not isinstance(value, Var):
            return value
        known = frame.values.get(value, value)
        if isinstance(known, Object | ListOf | Cell) and known in self.standing:
            element = self.standing[known]
            if element is None:
                raise Escapes(known.origin)
            return element
        return known

    def plain(self, known: Known, *, shows: bool = True, hands: bool = True) -> Value:
        """Something as a value that others may get: a list or dict as it is now, which nobody may write into afterwards.
        What is made of variables for that is handed out once, as it would be another one each time."""
        if isinstance(known, Var | Const | Undefined):
            return known
        if isinstance(known, ListOf | Row) and _place_of(known).of is not None:
            raise Escapes(origin_of(known))  # its items are numbers here
        if isinstance(known, ListOf):
            if shows:
                self.shown.add(known)
            return self.plain(self.now(known))
        if isinstance(known, Row | View):
            if shows:
                self.shown.add(known.place)
            return self.row_now(known) if isinstance(known, Row) else self.view_now(known)
        if hands and isinstance(known, DictOf | Object):
            self.hand_out(known)
        if isinstance(known, Object) and known.cls in LISTS:
            return self.listed(known, shows=shows and hands)
        return self.built(known)

    def built(self, known: Known) -> Value:
        """A dict or namedtuple in sight as one. Where writes are tracked, whoever gets a dict may write into it."""
        if isinstance(known, DictOf) and not self.facts.beside_writes:
            self.shown.add(known)
            return self.dict_of(known)
        if isinstance(known, Object) and is_record(known.cls):
            return self.record_of(known)
        raise Escapes(origin_of(known))  # type: ignore[arg-type]

    def row_now(self, row: Row) -> Value:
        """A list that is in a list in sight, read again where that has been written into: what was read before is of an
        earlier version."""
        version = self.now(row.place)
        if version is row.version:
            return row.value
        found = self.plain(version)
        for index in row.indices:
            read = fresh(row.value.hint)
            self.add(Op(_GETITEM, (found, index), (read,), from_user=False))
            found = read
        return found

    def values_now(self, values: Values) -> Var:
        """The objects in a dict, if that is what it was."""
        if self.now(values.place) is not values.version:
            raise Escapes(values.place.origin)
        return values.value

    def view_now(self, view: View) -> Var:
        """A copy of a part of an array in sight, made again where the array has been written into."""
        if self.now(view.place) is view.version:
            return view.value
        return self.copy_of_part(self.plain(self.now(view.place)), view.index, fresh(view.value.hint))

    def copy_of_part(self, array: Value, index: Value, result: Var) -> Var:
        part = fresh("")
        self.add(Op(_GETITEM, (array, index), (part,)))
        return self.copy_of_array(part, result)

    def copy_of_array(self, array: Value, result: Var) -> Var:
        method = fresh("")
        self.add(Op(_GETATTR, (array, Const("copy")), (method,)))
        self.add(Op(method, (), (result,)))
        return result

    def hand_out(self, place: Place) -> None:
        if place in self.handed:
            raise Escapes(place.origin)
        self.handed.add(place)

    def record_of(self, place: Object) -> Value:
        """A namedtuple in sight as one."""
        given = tuple(self.plain(self.fields[place, name]) for name in place.cls._fields)  # type: ignore[attr-defined]
        result = fresh(place.hint, True)
        self.add(Op(place.constructor, given, (result,)))
        return result

    def dict_of(self, place: DictOf) -> Value:
        """A dict in sight as a dict."""
        given = [(key, value) for (owner, key), value in self.fields.items() if owner is place]
        entries = [(key, self.plain(value)) for key, value in given]  # which may note fields of its own
        arguments = tuple(part for key, value in entries for part in (Const(key), value))
        result = fresh(place.hint, True)
        self.add(replace(place.made, arguments=arguments, results=(result,)))
        return result

    def values(self, values: Iterable[Value], frame: Frame) -> tuple[Value, ...]:
        return tuple(self.plain(self.known(value, frame)) for value in values)

    def define(self, old: Var, frame: Frame) -> Var:
        """The variable that one of the program becomes: what is called twice has its variables twice."""
        if frame.is_root and not frame.copies:
            frame.values.pop(old, None)
            return old
        frame.values[old] = new = fresh(old.hint, old.user_named)
        return new

    def variable_of(self, old: Var, frame: Frame) -> Var:
        found = frame.values.get(old, old)
        assert isinstance(found, Var)
        return found

    def bind(self, old: Var, known: Known, frame: Frame) -> None:
        frame.values[old] = known

    def add(self, statement: Statement) -> None:
        self.count += 1
        if self.count > MOST_STATEMENTS:
            raise NotInSight
        if isinstance(statement, Op):
            self.kinds.note(statement)
        self.out.append(statement)

    def now(self, place: Place) -> Known:
        """What a list, dict or array is now, unless it is another one by now that goes by several names."""
        if place in self.unread:
            raise Reads(self.unread[place])
        if (place, CONTENTS) not in self.fields:
            raise Escapes(place.origin)
        return self.fields[place, CONTENTS]

    def retire(self, thing: ListOf | Table) -> None:
        """Let nobody use a container any more: what stands for it from here on may be another one."""
        for place in lists_of(thing):
            if place in self.shown or place in self.real or (place, CONTENTS) not in self.fields:
                raise Escapes(place.origin)
            del self.fields[place, CONTENTS]
            self.lose(place)

    def lose(self, place: Place) -> None:
        """Note that another container takes the place of one: handlers outside would look for it under its old name."""
        if any(place in attempt.places for attempt in self.trying):
            raise Escapes(place.origin)
        self.gone.add(place)

    def check_entering(self, known: Known) -> None:
        """Let a dict be an object that a container gets, or that may be another one from here on."""
        if isinstance(known, DictOf) and self.facts.may_enter(known.origin):
            raise Enters(known.origin)

    def check_decided(self, value: Known, table: Table) -> None:
        """Let who has made a value know that it is one of the objects of a pool: a loop that carries what is None where it
        begins, a field that has been None so far."""
        if not table.is_pool or not isinstance(value, Var):
            return
        if value in self.undecided:
            raise Numbers(*self.undecided[value], table)
        if value in self.read_from and self.read_from[value][0].key not in self.facts.refers:
            raise Refers(self.read_from[value][0].key, table.origin)
        for each in self.either.get(value, ()):
            self.check_decided(each, table)

    def is_number(self, value: Known) -> bool:
        """Whether something is known to be a number."""
        return isinstance(self.kinds.of(value), Scalar)

    # Fields

    def write(self, place: Place, name: Any, known: Known) -> None:
        self.check_write(place, name)
        self.fields[place, name] = known
        for attempt in self.trying:
            if place in attempt.places:
                where = getattr(self.at and self.at.statement, "where", attempt.where)
                self.out.append(attempt.changed(place, name, self.fields, self.loops, where))

    def check_write(self, place: Place, name: Any) -> None:
        """Refuse a write that is not followed, and note that there is one."""
        self.check_writable(place)
        owner = self.owners.get(place)
        if self.unit is not None and name == ORDER:
            self.unit.note_rearranged(place)
            self.unit.note_rearranged(owner)
        if owner is not None:
            self.check_writable(owner)
            if (owner, name) not in self.fields:
                raise Escapes(place.origin)
        if place in self.running or owner in self.running_in:
            raise ReadMeanwhile(place.origin, self.running.get(place) or self.running_in[owner])  # type: ignore[index]
        if isinstance(place, Object):
            self.note_write(place)

    def check_rearranged(self, place: Object) -> None:
        """The same for a call that changes the order of something, or of what is in it."""
        if place in self.running_in:
            raise ReadMeanwhile(place.origin, self.running_in[place])
        self.check_write(place, ORDER)

    def is_users(self, place: Place) -> bool:
        """Whether what is written there is written into what the user has as well."""
        return isinstance(place, Part) or place in self.real

    def check_writable(self, place: Place) -> None:
        """Let what somebody has escape if it is written into."""
        if place in self.lent and place in self.shown and place not in self.fixed:
            raise Asked(place.origin)
        is_dict = isinstance(place, ListOf) and place.sort == "dict" and place.origin not in self.facts.shrinking
        if is_dict and place in self.shown and place not in self.fixed and not self.is_users(place):
            raise Shrinks(place.origin, Keyed)  # of which only the keys are asked, where a view is used up
        if place in self.shown or place in self.fixed:
            raise Escapes(place.origin)

    def append_too(self, place: Place, item: Value, where: Location) -> None:
        """Append an item to the user's list, if there is one for a list in sight."""
        if place in self.real:
            self.check_writable(place)
            self.add(Op(_APPEND, (self.real[place], item), (fresh(""),), where=where))

    def put_too(self, place: Place, key: Value, item: Value, where: Location) -> None:
        """The same for what is put into a list or dict under a key."""
        if place in self.real:
            self.check_writable(place)
            self.add(Op(_PUT, (self.real[place], key, item), (fresh(""),), payload=STATEMENT, where=where))

    def note_write(self, place: Object | Element) -> None:
        """Objects that are written into after they were made are no values."""
        if place not in self.constructed and place.cls not in self.facts.mutable:
            raise Mutates(place.cls)


def _place_of(known: ListOf | Row) -> ListOf:
    return known if isinstance(known, ListOf) else known.place


def fields_of(fields: Fields, place: Place) -> dict[Any, Known]:
    return {name: known for (owner, name), known in fields.items() if owner is place and name is not THERE}


def field_hint(place: Place, name: Any) -> str:
    """What the variable of a field would like to be called."""
    if not isinstance(name, str) or not name:
        return place.hint
    return name.lstrip("_") if name.isidentifier() else place.hint


def column_hint(table: str, name: str) -> str:
    """What the variable of a list for a field would like to be called; one that says which dicts have a key says so."""
    words = _NO_NAME.sub("_", name.lstrip("_?"))
    return f"{table}_has_{words}" if name.startswith("?") else f"{table}_{words}"


_NO_NAME = re.compile(r"\W")
