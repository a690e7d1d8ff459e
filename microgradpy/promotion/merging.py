"""What becomes of values and of what is in sight where two paths of a branch meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import final

from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.ir.kinds import join
from microgradpy.ir.nodes import Const, Op, Opcode, Statement, Terminator, Value, Var, Yield, fresh
from microgradpy.promotion.alike import are_alike, check_alike, check_keys, check_own, check_pooled, check_same_class, other_of
from microgradpy.promotion.base import Walk, field_hint, fields_of
from microgradpy.promotion.findings import Escapes, Origin
from microgradpy.promotion.held import held_object, is_held
from microgradpy.promotion.places import (
    CONTENTS,
    NO_OBJECT,
    THERE,
    AnyOf,
    Element,
    Family,
    Field,
    Fields,
    Frame,
    Known,
    ListOf,
    Object,
    Packed,
    Part,
    Place,
    Table,
    is_of_function,
    is_thing,
    lists_of,
    origin_of,
    tables_of_object,
)
from microgradpy.runtime.keyed import CLASSES, ORDER


@final
@dataclass(eq=False, slots=True)
class Arm:
    """One way through a branch. `yielded` is what it hands over; None if it leaves. `said` is what the last marks of the `try`s
    around say where it ends."""

    statements: list[Statement]
    end: Terminator
    yielded: tuple[Known, ...] | None
    fields: Fields
    said: list[tuple[Known, ...] | None] = field(default_factory=list)


@final
class Merge:
    """Where several ways meet: the arms of a branch that go on, or, with `only_seen`, the points that lead to a handler, after
    which the body of its `try` does not go on and what it has keeps its names."""

    def __init__(self, walker: Walk, arms: Sequence[Arm], *, only_seen: bool = False) -> None:
        self.walker = walker
        self.arms = tuple(arms)
        self.only_seen = only_seen
        self.values: tuple[list[Value], ...] = tuple([] for _ in arms)
        self.results: list[Var] = []
        self.owners: dict[Var, Origin] = {}
        """Whose fields the results are."""
        self.made: Fields = {}
        self.joining: list[tuple[Object, ...]] = []
        self.stand_ins: dict[tuple[Known, ...], ListOf | Table] = {}
        self.retired: tuple[set[Place], ...] = tuple(set() for _ in arms)
        """The containers of each arm that go by another name afterwards."""

    def joined(self, before: Fields, results: tuple[Var, ...], frame: Frame) -> tuple[list[Known], Fields, list[Var]]:
        """What the results of the branch are, and what the fields are after it. The arms get their ends."""
        known = []
        for each, old in zip(zip(*(arm.yielded or () for arm in self.arms), strict=True), results, strict=True):
            always = old not in self.walker.asked_only
            known.append(self.of(each, lambda old=old: self.walker.define(old, frame), always=always))  # type: ignore[misc]
        fields: Fields = {}
        for key in before:
            place = key[0]
            if any(key not in arm.fields for arm in self.arms):
                if place in self.walker.gone:
                    continue
                raise Escapes(place.origin)  # it went into a list on one of the paths
            fields[key] = self.field(key, tuple(arm.fields[key] for arm in self.arms))
        fields |= self.new_fields(before)
        for arm, values in zip(self.arms, self.values, strict=True):
            arm.end = Yield(tuple(values))
        fields = {key: value for key, value in fields.items() if not any(key[0] in retired for retired in self.retired)}
        return known, fields | self.made, self.results

    def new_fields(self, before: Fields) -> Fields:
        """The fields that what was there before has got."""
        owners = {place for place, _ in before}
        keys = dict.fromkeys(key for arm in self.arms for key in arm.fields if key not in before and key[0] in owners)
        if self.only_seen:
            self.walker.unsure |= keys.keys()
            return {}
        for place, name in keys:
            if any((place, name) not in arm.fields for arm in self.arms):
                raise Escapes(place.origin)  # there is a field on one of the paths only
        return {key: self.field(key, tuple(arm.fields[key] for arm in self.arms)) for key in keys}

    def field(self, key: Field, known: tuple[Known, ...]) -> Known:
        count, hint = len(self.results), field_hint(*key)
        found = self.of(known, lambda: fresh(hint))
        self.owners |= dict.fromkeys(self.results[count:], key[0].origin)
        return found

    def of(self, known: tuple[Known, ...], variable: Callable[[], Var], *, always: bool = False) -> Known:
        known = tuple(map(self.walker.if_pooled, known))
        things = self.things(known, variable) if any(map(is_thing, known)) else None
        if things is not None or (all(each == known[0] for each in known) and not always):
            return known[0] if things is None else things
        values = []
        for arm, each in zip(self.arms, known, strict=True):
            if self.only_seen and is_thing(each):
                raise Escapes(origin_of(each))  # type: ignore[arg-type]
            outer, self.walker.out = self.walker.out, arm.statements
            kept, self.walker.fields = self.walker.fields, arm.fields
            values.append(self.walker.plain(each))
            self.walker.declines |= isinstance(each, Const) and each.value is NotImplemented
            self.walker.out, self.walker.fields = outer, kept
        for ours, value in zip(self.values, values, strict=True):
            ours.append(value)
        self.results.append(result := variable())
        self.walker.either[result] = tuple(values)
        kinds = self.walker.kinds
        kinds.set(result, lambda: reduce(join, map(kinds.of, values)))
        return result

    def things(self, known: tuple[Known, ...], variable: Callable[[], Var]) -> Known | None:
        """What stands for any of some, at least one of which is something in sight; None if they are plain values from here
        on."""
        first, *_ = known = self.as_records(known)
        if all(each is first for each in known):
            return first
        for other in known[1:]:
            if other is not first:
                self.walker.check_entering(first)
                self.walker.check_entering(other)
                check_same_class(first, other)
        if all(isinstance(each, Object | Part) for each in known):
            return self.held(known, variable) or self.objects(self.made_objects(known))
        if isinstance(first, ListOf | Table) and all(are_alike(first, each) for each in known) and self.are_own(known):
            return self.containers(known, variable)  # type: ignore[arg-type]
        one = next((each for each in known if isinstance(each, Element | Packed | AnyOf)), None)
        if any(map(is_of_function, known)):
            known = tuple(map(self.walker.among_functions, known))
        check_pooled(known)
        family = self.family_of(known)
        if family is not None:
            return AnyOf(family, self.of(self.codes(family, known), variable))  # type: ignore[arg-type]
        match one:
            case Element():
                return self.elements(one, known, variable)
            case Packed() if all(isinstance(each, Packed) and each.form == one.form for each in known):
                return replace(one, value=self.of(tuple(each.value for each in known), variable))  # type: ignore[arg-type, union-attr]
        return None

    def held(self, known: tuple[Known, ...], variable: Callable[[], Var]) -> Object | None:
        """Lists, dicts or sets of one container as one of them; None if they are not."""
        owner = self.walker.owners.get(known[0])  # type: ignore[arg-type]
        if owner is None or not is_held(self.walker, known, owner):
            return None
        orders = tuple(arm.fields[each, ORDER] for arm, each in zip(self.arms, known, strict=True))  # type: ignore[index]
        return held_object(self.walker, owner, self.of(orders, variable))  # type: ignore[arg-type]

    def as_records(self, known: tuple[Known, ...]) -> tuple[Known, ...]:
        """Namedtuples that were read from containers like those that were not."""
        classes = {each.cls for each in known if isinstance(each, Object)}
        if len(classes) != 1 or not all(isinstance(each, Object) or is_tuple_of(each, *classes) for each in known):
            return known
        found = []
        for arm, each in zip(self.arms, known, strict=True):
            outer, self.walker.out = self.walker.out, arm.statements
            kept, self.walker.fields = self.walker.fields, arm.fields
            op = Op(Opcode.UNPACK, (), (fresh(""),))
            found.append(self.walker.as_record(each, op) if isinstance(each, Packed) else each)
            self.walker.out, self.walker.fields = outer, kept
        return tuple(found)

    def elements(self, one: Element, known: tuple[Known, ...], variable: Callable[[], Var]) -> Element | None:
        """Objects of a table, or None."""
        numbers: list[Value] = []
        may_be_none = False
        for each in known:
            found = Element(one.table, NO_OBJECT, True) if each == Const(None) and one.table.is_pool else each
            if not isinstance(found, Element) or found.table is not one.table:
                self.walker.check_decided(found, one.table)
                return None
            numbers.append(found.index)
            may_be_none |= found.may_be_none
        number = self.of(tuple(numbers), variable)
        self.walker.counters |= {number} if isinstance(number, Var) else set()
        return Element(one.table, number, may_be_none)  # type: ignore[arg-type]

    def family_of(self, known: tuple[Known, ...]) -> Family | None:
        """The pools of objects of several classes."""
        tables = dict.fromkeys(table for each in known for table in tables_of_object(each))
        is_one = len(tables) < 2 or not all(isinstance(each, Element | AnyOf) for each in known)
        if is_one or not all(table.is_pool for table in tables):
            return None
        if not all(self.walker.is_there(each) for each in known if isinstance(each, Element)):
            return None
        return self.walker.family(tables)

    def codes(self, family: Family, known: tuple[Known, ...]) -> tuple[Known, ...]:
        """What stands for objects among those of several classes, found out in each arm."""
        found = []
        for arm, each in zip(self.arms, known, strict=True):
            outer, self.walker.out = self.walker.out, arm.statements
            found.append(self.walker.code_of(family, each))
            self.walker.out = outer
        return tuple(found)  # type: ignore[arg-type]

    def are_own(self, known: tuple[Known, ...]) -> bool:
        """Whether nobody has what is in some containers."""
        return self.walker.shown.isdisjoint(place for each in known for place in lists_of(each))  # type: ignore[arg-type]

    def containers(self, known: tuple[ListOf | Table, ...], variable: Callable[[], Var]) -> ListOf | Table:
        """Containers as one, in the place of all."""
        if self.only_seen:
            raise Escapes(known[0].origin)
        if known in self.stand_ins:
            return self.stand_ins[known]
        first = known[0]
        merged = self.stand_ins[known] = other_of(first)
        for parts in zip(*map(lists_of, known), lists_of(merged), strict=True):
            *olds, new = parts
            for place, arm, retired in zip(olds, self.arms, self.retired, strict=True):
                if place in retired or place in self.walker.real or (place, CONTENTS) not in arm.fields:
                    raise Escapes(place.origin)
                retired.add(place)
                self.walker.lose(place)
            makes = variable if olds[0] is first else lambda hint=olds[0].hint: fresh(hint, True)  # type: ignore[misc]
            contents = tuple(arm.fields[place, CONTENTS] for place, arm in zip(olds, self.arms, strict=True))
            self.made[new, CONTENTS] = self.of(contents, makes)
            self.walker.stand_for_each_other |= {(olds[0].origin, each.origin) for each in olds[1:]}
        return merged

    def made_objects(self, known: tuple[Known, ...]) -> tuple[Object, ...]:
        """The objects of the arms; those of the user's as ones that the program has made."""
        found = []
        for arm, each in zip(self.arms, known, strict=True):
            outer, self.walker.fields = self.walker.fields, arm.fields
            found.append(self.walker.as_object(each) if isinstance(each, Part) else each)
            self.walker.fields = outer
        return tuple(found)  # type: ignore[arg-type]

    def objects(self, known: tuple[Object, ...]) -> Object:
        """Objects as one value: nobody writes into them."""
        first = known[0]
        for other in known[1:]:
            if other is not first:
                self.check_objects(first, other)
        if known in self.joining:
            raise Escapes(first.origin)  # they hold themselves
        self.joining.append(known)
        merged = replace(first, merged=True)
        fields = [fields_of(arm.fields, each) for arm, each in zip(self.arms, known, strict=True)]
        if any(each.keys() != fields[0].keys() for each in fields) or any(place in known for place, _ in self.walker.unsure):
            raise Escapes(first.origin)
        self.made[merged, THERE] = Const(None)
        for name in fields[0]:
            hint = field_hint(first, name)
            self.made[merged, name] = self.of(tuple(each[name] for each in fields), lambda hint=hint: fresh(hint))  # type: ignore[misc]
        self.joining.pop()
        return merged

    def check_objects(self, a: Object, b: Object) -> None:
        """Refuse to take two objects for one where that could be told."""
        if a.cls not in CLASSES or a.cls is not b.cls:
            check_alike(self.walker, a, b)
            return
        if self.only_seen:
            raise Escapes(a.origin)  # the body goes on with both
        check_own(self.walker, a, b)
        check_keys(self.walker, a, b)


def is_tuple_of(known: Known, cls: type) -> bool:
    """Whether something is a namedtuple of a class that was read from a container."""
    return isinstance(known, Packed) and known.form.cls is cls
