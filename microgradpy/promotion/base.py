"""What is known while a program is walked over, and how it is asked and changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import Const, Op, Region, Statement, Terminator, Undefined, Value, Var, fresh
from microgradpy.promotion.classes import is_record
from microgradpy.promotion.places import (
    CONTENTS,
    DictOf,
    Element,
    Escapes,
    Frame,
    Generator,
    Known,
    ListOf,
    Mutates,
    NotInSight,
    Object,
    Origin,
    Place,
    origin_of,
)

Field = tuple[Place, Any]
Fields = dict[Field, Known]
MOST_STATEMENTS = 3_000


class Walk:
    """`kept` are the origins of what stays memory; `mutable` the classes whose objects somebody writes into."""

    def __init__(self, kept: frozenset[Origin], mutable: frozenset[type]) -> None:
        self.kept = kept
        self.mutable = mutable
        self.fields: Fields = {}
        self.shown: set[Place] = set()
        self.handed: set[Place] = set()
        """The dicts and namedtuples that others have."""
        self.fixed: frozenset[Place] = frozenset()
        """What may not be written into here: an exception may leave a write without a trace in the variables."""
        self.out: list[Statement] = []
        self.loop: Any = None
        self.constructed: set[Place] = set()
        self.consumed: set[Generator] = set()
        self.standing: dict[Object, Element | None] = {}
        """The objects that are in tables; None for those of which it is not known where."""
        self.made_in: dict[Object, list[Statement]] = {}
        """Among which statements an object was made."""
        self.lengthened: list[Place] = []
        """The lists that have got one item more, as often as they have."""
        self.taken: set[Var] = set()
        self.numbers: set[Value] = set()
        """Values that are numbers of Python's or NumPy's."""
        self.counters: set[Var] = set()
        """Variables that are places in lists, counted from the front."""
        self.slices: set[Var] = set()
        self.lengths: set[Var] = set()
        self.attempts = 0
        self.helped = False
        self.declines = False
        """Whether a path has given `NotImplemented`, and another one something else."""
        self.count = 0

    # The way over a program is that of `walker.Walker`.

    def statement(self, statement: Statement, frame: Frame) -> None:
        raise NotImplementedError

    def region(self, region: Region, frame: Frame) -> tuple[list[Statement], Terminator]:
        raise NotImplementedError

    # Values

    def known(self, value: Value, frame: Frame) -> Known:
        if not isinstance(value, Var):
            return value
        known = frame.values.get(value, value)
        if isinstance(known, Object) and known in self.standing:
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
        if isinstance(known, ListOf):
            if shows:
                self.shown.add(known)
            return self.plain(self.fields[known, CONTENTS])
        if hands and isinstance(known, DictOf | Object):
            self.hand_out(known)
        if isinstance(known, DictOf):
            self.shown.add(known)
            return self.dict_of(known)
        if isinstance(known, Object) and is_record(known.cls):
            return self.record_of(known)
        raise Escapes(origin_of(known))

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
        entries = [(key, self.plain(value)) for (owner, key), value in self.fields.items() if owner is place]
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

    def bind(self, old: Var, known: Known, frame: Frame) -> None:
        frame.values[old] = known

    def add(self, statement: Statement) -> None:
        self.count += 1
        if self.count > MOST_STATEMENTS:
            raise NotInSight
        self.out.append(statement)

    def is_number(self, value: Known) -> bool:
        """Whether something is known to be a number."""
        if isinstance(value, Const):
            return type(value.value) in (int, float, bool, complex)
        return isinstance(value, Var) and (value in self.numbers or value in self.counters)

    # Fields

    def write(self, place: Place, name: Any, known: Known) -> None:
        if place in self.shown or place in self.fixed:
            raise Escapes(place.origin)
        if isinstance(place, Object):
            self.note_write(place)
        self.fields[place, name] = known

    def note_write(self, place: Object | Element) -> None:
        """Objects that are written into after they were made are no values."""
        if place not in self.constructed and place.cls not in self.mutable:
            raise Mutates(place.cls)
