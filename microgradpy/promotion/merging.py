"""What becomes of values and of what is in sight where two paths of a branch meet."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import final

from microgradpy.dataclasses import dataclass, replace
from microgradpy.ir.kinds import join
from microgradpy.ir.nodes import Const, Statement, Terminator, Value, Var, Yield, fresh
from microgradpy.promotion.base import Fields, Walk, are_alike, check_alike, field_hint, fields_of, lists_of, other_of
from microgradpy.promotion.places import (
    CONTENTS,
    NO_OBJECT,
    THERE,
    AnyOf,
    Element,
    Escapes,
    Frame,
    Known,
    ListOf,
    Object,
    Packed,
    Place,
    Table,
    is_thing,
)


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
        self.stand_ins: dict[tuple[Known, Known], ListOf | Table] = {}
        self.retired: tuple[set[Place], set[Place]] = set(), set()
        """The containers of either arm that go by another name afterwards."""

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
            if place in self.walker.gone and (key not in left.fields or key not in right.fields):
                continue
            if key not in left.fields or key not in right.fields:
                raise Escapes(place.origin)  # it went into a list on one of the paths
            fields[key] = self.of(left.fields[key], right.fields[key], lambda hint=hint: fresh(hint))  # type: ignore[misc]
        for arm in self.arms:
            for place, name in arm.fields:
                if (place, name) not in before and any(owner is place for owner, _ in before):
                    raise Escapes(place.origin)  # there is a field on one of the paths only
        for arm, values in zip(self.arms, self.values, strict=True):
            arm.end = Yield(tuple(values))
        fields = {key: value for key, value in fields.items() if not any(key[0] in retired for retired in self.retired)}
        return known, fields | self.made, self.results

    def of(self, a: Known, b: Known, variable: Callable[[], Var], *, always: bool = False) -> Known:
        things = self.things(a, b, variable) if is_thing(a) or is_thing(b) else None
        if things is not None or (a == b and not always):
            return a if things is None else things
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
        self.walker.either[result] = values[0], values[1]
        kinds = self.walker.kinds
        kinds.set(result, lambda: reduce(join, map(kinds.of, values)))
        return result

    def things(self, a: Known, b: Known, variable: Callable[[], Var]) -> Known | None:
        """What stands for either of two, at least one of which is something in sight; None if they are plain values from here
        on."""
        if a is b:
            return a
        if isinstance(a, Object) and isinstance(b, Object):
            return self.objects(a, b)
        if isinstance(a, ListOf | Table) and are_alike(a, b) and self.are_own(a, b):
            return self.containers(a, b, variable)  # type: ignore[arg-type]
        for one, other in ((a, b), (b, a)):
            if isinstance(one, Element):
                return self.elements(one, other, one is a, variable)
            if isinstance(one, Packed):
                return self.tuples(one, other, one is a, variable)
            if isinstance(one, AnyOf) and isinstance(other, AnyOf) and other.family == one.family:
                return AnyOf(one.family, self.of(a.code, b.code, variable))  # type: ignore[arg-type, union-attr]
        return None

    def elements(self, one: Element, other: Known, is_first: bool, variable: Callable[[], Var]) -> Element | None:
        """One of the objects of a table and another one, or None."""
        if other == Const(None) and one.table.is_pool:
            other = Element(one.table, NO_OBJECT, True)
        if not isinstance(other, Element) or other.table is not one.table:
            self.walker.check_decided(other, one.table)
            return None
        number = self.of(one.index, other.index, variable) if is_first else self.of(other.index, one.index, variable)
        self.walker.counters |= {number} if isinstance(number, Var) else set()
        return Element(one.table, number, one.may_be_none or other.may_be_none)  # type: ignore[arg-type]

    def tuples(self, one: Packed, other: Known, is_first: bool, variable: Callable[[], Var]) -> Packed | None:
        """Two tuples with objects of the same tables."""
        if not isinstance(other, Packed) or other.form != one.form:
            return None
        value = self.of(one.value, other.value, variable) if is_first else self.of(other.value, one.value, variable)
        return Packed(one.form, value)  # type: ignore[arg-type]

    def are_own(self, a: Known, b: Known) -> bool:
        """Whether nobody has what is in two containers."""
        places = (*lists_of(a), *lists_of(b))  # type: ignore[arg-type]
        return self.walker.shown.isdisjoint(places)

    def containers(self, a: ListOf | Table, b: ListOf | Table, variable: Callable[[], Var]) -> ListOf | Table:
        """Two containers as one, in the place of both."""
        if (a, b) in self.stand_ins:
            return self.stand_ins[a, b]
        merged = self.stand_ins[a, b] = other_of(a)
        left, right = (arm.fields for arm in self.arms)
        for ours, theirs, new in zip(lists_of(a), lists_of(b), lists_of(merged), strict=True):
            for place, fields, retired in zip((ours, theirs), (left, right), self.retired, strict=True):
                if place in retired or (place, CONTENTS) not in fields:
                    raise Escapes(place.origin)
                retired.add(place)
                self.walker.gone.add(place)
            makes = variable if ours is a else lambda hint=ours.hint: fresh(hint, True)  # type: ignore[misc]
            self.made[new, CONTENTS] = self.of(left[ours, CONTENTS], right[theirs, CONTENTS], makes)
            self.walker.stand_for_each_other.add((ours.origin, theirs.origin))
        return merged

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
