"""What is known while a program is walked over, how it is asked and changed, and what becomes of it where two paths meet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import partial, reduce
from typing import Any, final

from microgradpy.dataclasses import dataclass, replace
from microgradpy.ir.kinds import (
    UNKNOWN,
    Array,
    Inert,
    Kind,
    Scalar,
    TupleOf,
    dict_of,
    item_kind,
    join,
    list_of,
    present,
    with_item,
)
from microgradpy.ir.nodes import (
    Const,
    Location,
    Op,
    Opcode,
    Region,
    Statement,
    Terminator,
    Undefined,
    Value,
    Var,
    Yield,
    fresh,
    function_constant,
    operator_constant,
)
from microgradpy.ir.traversal import given_values
from microgradpy.passes.typed_builder import TypedBuilder
from microgradpy.promotion.classes import is_record
from microgradpy.promotion.places import (
    CONTENTS,
    THERE,
    DictOf,
    Element,
    Escapes,
    Facts,
    Frame,
    Generator,
    Known,
    ListOf,
    Mutates,
    NotInSight,
    Object,
    Place,
    Row,
    View,
    is_thing,
    origin_of,
)
from microgradpy.runtime.keys import item_of_growing

Field = tuple[Place, Any]
Fields = dict[Field, Known]
MOST_STATEMENTS = 3_000


@final
class Kinds:
    """What is proven of the values, found out where it is asked. Of what a loop carries it is assumed first, and checked where
    an iteration ends."""

    def __init__(self) -> None:
        self.builder = TypedBuilder()
        self.sources: dict[Var, Callable[[], Kind]] = {}
        self.depth = 0

    def of(self, value: Known) -> Kind:
        if is_thing(value):
            return UNKNOWN
        if not isinstance(value, Var):
            return self.builder.kind(value)  # type: ignore[arg-type]
        source = self.sources.get(value)
        if value not in self.builder.kinds and source is not None and self.depth < _DEEPEST:
            self.depth += 1
            self.builder.know(value, source())
            self.depth -= 1
        return self.builder.kind(value)

    def set(self, var: Var, source: Callable[[], Kind]) -> None:
        """Note how to find out what a variable is."""
        self.builder.kinds.pop(var, None)
        self.sources[var] = source

    def assume(self, var: Var, kind: Kind) -> None:
        self.set(var, lambda: UNKNOWN)
        self.builder.know(var, kind)

    def note(self, op: Op) -> None:
        """Note an operation."""
        for number, result in enumerate(op.results):
            self.builder.producers[result] = op
            self.set(result, partial(self._of_result, op, number))

    def _of_result(self, op: Op, number: int) -> Kind:
        for value in given_values(op.arguments, op.keywords):
            self.of(value)
        if op.callee == ITEM_OF_GROWING:
            return self.builder.kind_of_call(_GETITEM, op.arguments, ())
        if not isinstance(op.callee, Opcode):
            return self.builder.kind_of_call(op.callee, op.arguments, op.keywords)
        kinds = tuple(map(self.of, op.arguments))
        match op.callee:
            case Opcode.LIST | Opcode.TUPLE | Opcode.JOIN | Opcode.DICT:
                return _kind_made(op.callee, kinds)
            case Opcode.APPEND:
                return join(kinds[0], list_of(kinds[1:]))
            case Opcode.STORE if isinstance(kinds[0], Array):
                return kinds[0]
            case Opcode.STORE:
                return with_item(kinds[0], kinds[1:-1], kinds[-1]) or UNKNOWN
            case Opcode.UNPACK if isinstance(whole := present(kinds[0]), TupleOf) and len(whole.items) == len(op.results):
                return whole.items[number]
            case Opcode.UNPACK:
                return item_kind(kinds[0])
        return UNKNOWN


def _kind_made(opcode: Opcode, kinds: tuple[Kind, ...]) -> Kind:
    match opcode:
        case Opcode.LIST:
            return list_of(kinds)
        case Opcode.TUPLE:
            return TupleOf(kinds)
        case Opcode.JOIN:
            return Inert("str")
        case Opcode.DICT if not kinds:
            return dict_of(())
    return UNKNOWN


_DEEPEST = 60
ITEM_OF_GROWING = function_constant(item_of_growing)
_GETITEM = operator_constant("getitem")
_GETATTR = function_constant(getattr)


class Walk(ABC):
    """`facts` are what earlier walks have found."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
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
        self.standing: dict[Object | ListOf, Element | Row | None] = {}
        """The objects and lists that are in lists; None for those of which it is not known where."""
        self.read_from: dict[Value, tuple[ListOf, int]] = {}
        """The items of lists in sight, with how deep in them they are."""
        self.made_in: dict[Object | ListOf, list[Statement]] = {}
        """Among which statements an object or a list was made."""
        self.lengthened: list[Place] = []
        """The lists that have got one item more, as often as they have."""
        self.taken: set[Var] = set()
        self.kinds = Kinds()
        self.counters: set[Var] = set()
        """Variables that are places in lists, counted from the front."""
        self.lengths: set[Var] = set()
        self.attempts = 0
        self.helped = False
        self.declines = False
        """Whether a path has given `NotImplemented`, and another one something else."""
        self.count = 0

    @abstractmethod
    def statement(self, statement: Statement, frame: Frame) -> None:
        """Append what becomes of a statement."""

    @abstractmethod
    def region(self, region: Region, frame: Frame) -> tuple[list[Statement], Terminator]:
        """The statements of a region, from what is known here on, and how it ends."""

    @abstractmethod
    def iterator_of(self, thing: Object, item: Var, where: Location, frame: Frame) -> Known | None:
        """The generator that an object in sight is read by."""

    @abstractmethod
    def truth(self, known: Known, where: Location, frame: Frame) -> Known:
        """What `if` asks of something."""

    # Values

    def known(self, value: Value, frame: Frame) -> Known:
        if not isinstance(value, Var):
            return value
        known = frame.values.get(value, value)
        if isinstance(known, Object | ListOf) and known in self.standing:
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
        if isinstance(known, ListOf) and known.of is not None:
            raise Escapes(known.origin)  # its items are numbers here
        if isinstance(known, ListOf):
            if shows:
                self.shown.add(known)
            return self.plain(self.fields[known, CONTENTS])
        if isinstance(known, Row | View):
            if shows:
                self.shown.add(known.place)
            return self.row_now(known) if isinstance(known, Row) else self.view_now(known)
        if hands and isinstance(known, DictOf | Object):
            self.hand_out(known)
        if isinstance(known, DictOf):
            self.shown.add(known)
            return self.dict_of(known)
        if isinstance(known, Object) and is_record(known.cls):
            return self.record_of(known)
        raise Escapes(origin_of(known))

    def row_now(self, row: Row) -> Value:
        """A list that is in a list in sight, read again where that has been written into: what was read before is of an
        earlier version."""
        version = self.fields[row.place, CONTENTS]
        if version is row.version:
            return row.value
        found = self.plain(version)
        for index in row.indices:
            read = fresh(row.value.hint)
            self.add(Op(_GETITEM, (found, index), (read,), from_user=False))
            found = read
        return found

    def view_now(self, view: View) -> Var:
        """A copy of a part of an array in sight, made again where the array has been written into."""
        if self.fields[view.place, CONTENTS] is view.version:
            return view.value
        return self.copy_of_part(self.plain(self.fields[view.place, CONTENTS]), view.index, fresh(view.value.hint))

    def copy_of_part(self, array: Value, index: Value, result: Var) -> Var:
        part, method = fresh(""), fresh("")
        self.add(Op(_GETITEM, (array, index), (part,)))
        self.add(Op(_GETATTR, (part, Const("copy")), (method,)))
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

    def is_number(self, value: Known) -> bool:
        """Whether something is known to be a number."""
        return isinstance(self.kinds.of(value), Scalar)

    # Fields

    def write(self, place: Place, name: Any, known: Known) -> None:
        if place in self.shown or place in self.fixed:
            raise Escapes(place.origin)
        if isinstance(place, Object):
            self.note_write(place)
        self.fields[place, name] = known

    def note_write(self, place: Object | Element) -> None:
        """Objects that are written into after they were made are no values."""
        if place not in self.constructed and place.cls not in self.facts.mutable:
            raise Mutates(place.cls)


# What two paths leave differently


@final
@dataclass(eq=False, slots=True)
class Arm:
    """One way through a branch. `yielded` is what it hands over; None if it leaves."""

    statements: list[Statement]
    end: Terminator
    yielded: tuple[Known, ...] | None
    fields: Fields


@final
class Merge:
    """The end of a branch of which both arms go on."""

    def __init__(self, walker: Walk, left: Arm, right: Arm) -> None:
        self.walker = walker
        self.arms = (left, right)
        self.values: tuple[list[Value], list[Value]] = ([], [])
        self.results: list[Var] = []
        self.made: Fields = {}
        self.joining: list[tuple[Object, Object]] = []

    def joined(self, before: Fields, results: tuple[Var, ...], frame: Frame) -> tuple[list[Known], Fields, list[Var]]:
        """What the results of the branch are, and what the fields are after it. Both arms get their ends."""
        left, right = self.arms
        assert left.yielded is not None and right.yielded is not None
        known = []
        for a, b, old in zip(left.yielded, right.yielded, results, strict=True):
            known.append(self.of(a, b, lambda old=old: self.walker.define(old, frame), always=True))  # type: ignore[misc]
        fields: Fields = {}
        for key in before:
            place, name = key
            hint = field_hint(place, name)
            if key not in left.fields or key not in right.fields:
                raise Escapes(place.origin)  # it went into a list on one of the paths
            fields[key] = self.of(left.fields[key], right.fields[key], lambda hint=hint: fresh(hint))  # type: ignore[misc]
        for arm in self.arms:
            for place, name in arm.fields:
                if (place, name) not in before and any(owner is place for owner, _ in before):
                    raise Escapes(place.origin)  # there is a field on one of the paths only
        for arm, values in zip(self.arms, self.values, strict=True):
            arm.end = Yield(tuple(values))
        return known, fields | self.made, self.results

    def of(self, a: Known, b: Known, variable: Callable[[], Var], *, always: bool = False) -> Known:
        if is_thing(a) or is_thing(b):
            if a is b:
                return a
            if isinstance(a, Object) and isinstance(b, Object):
                return self.objects(a, b)
            if isinstance(a, Element) and isinstance(b, Element) and a.table is b.table:
                number = self.of(a.index, b.index, variable)
                self.walker.counters |= {number} if isinstance(number, Var) else set()
                return Element(a.table, number)  # type: ignore[arg-type]
        elif a == b and not always:
            return a
        values = []
        for arm, known in zip(self.arms, (a, b), strict=True):
            outer, self.walker.out = self.walker.out, arm.statements
            kept, self.walker.fields = self.walker.fields, arm.fields
            values.append(self.walker.plain(known))
            self.walker.declines |= isinstance(known, Const) and known.value is NotImplemented
            self.walker.out, self.walker.fields = outer, kept
        for ours, value in zip(self.values, values, strict=True):
            ours.append(value)
        self.results.append(result := variable())
        kinds = self.walker.kinds
        kinds.set(result, lambda: reduce(join, map(kinds.of, values)))
        return result

    def objects(self, a: Object, b: Object) -> Object:
        """Two objects as one value: nobody writes into them."""
        check_alike(self.walker, a, b)
        if (a, b) in self.joining:
            raise Escapes(a.origin)  # they hold themselves
        self.joining.append((a, b))
        merged = replace(a, merged=True)
        left, right = (fields_of(arm.fields, each) for arm, each in zip(self.arms, (a, b), strict=True))
        if left.keys() != right.keys():
            raise Escapes(a.origin)
        self.made[merged, THERE] = Const(None)
        for name in left:
            hint = field_hint(a, name)
            self.made[merged, name] = self.of(left[name], right[name], lambda hint=hint: fresh(hint))  # type: ignore[misc]
        self.joining.pop()
        return merged


def check_alike(walker: Walk, a: Object, b: Object) -> None:
    """Refuse to take two objects for one value where that can be told."""
    is_being_made = a in walker.constructed or b in walker.constructed
    if a.cls is not b.cls or a.cls in walker.facts.mutable or is_being_made:
        raise Escapes(a.origin if a.origin not in walker.facts.kept else b.origin)


def fields_of(fields: Fields, place: Place) -> dict[Any, Known]:
    return {name: known for (owner, name), known in fields.items() if owner is place and name is not THERE}


def field_hint(place: Place, name: Any) -> str:
    """What the variable of a field would like to be called."""
    if not isinstance(name, str) or not name:
        return place.hint
    return name.lstrip("_") if name.isidentifier() else place.hint
