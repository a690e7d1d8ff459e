"""What a loop carries from one iteration to the next: values, and what is in sight by its fields or contents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from microgradpy.dataclasses import dataclass, replace
from microgradpy.ir.kinds import INT, UNKNOWN, Kind, join, map_axes
from microgradpy.ir.nodes import Const, Value, Var, fresh
from microgradpy.promotion.alike import are_alike, check_alike, check_depths, check_keys, check_own, check_same_class, other_of
from microgradpy.promotion.base import Walk, field_hint, fields_of
from microgradpy.promotion.findings import Escapes, Numbers, Writes
from microgradpy.promotion.places import (
    CONTENTS,
    NO_OBJECT,
    THERE,
    AnyOf,
    Element,
    Family,
    Field,
    Fields,
    Known,
    ListOf,
    Object,
    Packed,
    Part,
    Place,
    Row,
    Table,
    Thing,
    is_of_function,
    is_thing,
    lists_of,
    origin_of,
    tables_of_object,
)
from microgradpy.runtime.keyed import CLASSES


class Merges(Exception):
    """What a loop carries is another object in each iteration."""

    def __init__(self, key: Any) -> None:
        super().__init__(key)
        self.key = key


class Others(Exception):
    """What a loop carries is not of the kind that was assumed of it in every iteration, but of this one."""

    def __init__(self, key: Any, kind: Kind) -> None:
        super().__init__(key, kind)
        self.key, self.kind = key, kind


@final
@dataclass(frozen=True, slots=True)
class Slot:
    """A value that a loop carries; `at` finds it where an iteration ends."""

    key: Any
    parameter: Var
    initial: Value
    result: Var
    at: Callable[[tuple[Known, ...]], Known]


@final
class Loop:
    """A loop while it is walked. `wanted` are the fields that it carries, `merging` the parameters that are another object in
    each iteration, `others` what is assumed of those that do not stay of the kind that they begin with,
    `pools` what those refer to that begin as None, or as an object of one of several classes."""

    def __init__(
        self, walker: Walk, wanted: list[Field], merging: set[Any], others: dict[Any, Kind], pools: dict[Any, Table | Family]
    ) -> None:
        self.walker = walker
        self.wanted = wanted
        self.merging = merging
        self.others = others
        self.pools = pools
        self.slots: list[Slot] = []
        self.fixed: list[tuple[Any, Thing, Callable[[tuple[Known, ...]], Known]]] = []
        self.after: Fields = {}
        self.inside: set[Place] = set()
        self.carrying: list[Object] = []
        self.handed_over: dict[Place, Any] = {}
        """What the end of an iteration hands over, by what it is there for."""
        self.replaced: dict[Place, ListOf | Table] = {}
        """The containers that something stands for inside."""
        self.changed: list[Field] = []
        self.start: Fields = {}

    def carry(
        self,
        key: Any,
        initial: Known,
        at: Callable[[tuple[Known, ...]], Known],
        variables: Callable[[], tuple[Var, Var]],
        hint: str,
    ) -> tuple[Known, Known]:
        """What is carried: in the loop, and after it."""
        if isinstance(initial, Row):
            initial = self.walker.plain(initial)
        pool = self.pools.get(key)
        initial = initial if pool is None else self.walker.if_pooled(initial)
        if isinstance(pool, Family) and isinstance(initial, Element | AnyOf):
            initial = AnyOf(pool, self.walker.code_of(pool, initial))  # type: ignore[arg-type]
        elif isinstance(pool, Table) and initial == Const(None):
            initial = Element(pool, NO_OBJECT, True)
        if not is_thing(initial):
            return self.carry_value(key, initial, at, variables)  # type: ignore[arg-type]
        if isinstance(initial, Element):
            return self.carry_element(key, initial, at, variables)
        if isinstance(initial, Packed | AnyOf):
            return self.carry_item(key, initial, at, variables)
        if isinstance(initial, ListOf | Table) and key in self.merging:
            return self.carry_container(key, initial, at, variables)
        if isinstance(initial, Part) and key in self.merging:
            initial = self.walker.as_object(initial)
        if isinstance(initial, Object) and key in self.merging:
            return self.carry_object(key, initial, at)
        self.fixed.append((key, initial, at))  # type: ignore[arg-type]
        return initial, initial

    def carry_value(
        self, key: Any, initial: Value, at: Callable[[tuple[Known, ...]], Known], variables: Callable[[], tuple[Var, Var]]
    ) -> tuple[Known, Known]:
        parameter, result = variables()
        self.slots.append(Slot(key, parameter, initial, result, at))
        if initial in self.walker.fresh:
            self.walker.fresh[parameter] = self.walker.fresh[initial]
        if initial == Const(None):
            self.walker.undecided[parameter] = self, key
        kinds = self.walker.kinds
        kind = map_axes(kinds.of(initial), lambda axis: None)
        kind = join(kind, self.others[key]) if key in self.others else kind
        kinds.assume(parameter, kind)
        kinds.set(result, lambda: kinds.of(parameter))
        return parameter, result

    def carry_object(self, key: Any, initial: Object, at: Callable[[tuple[Known, ...]], Known]) -> tuple[Known, Known]:
        """An object that is another one in each iteration, and that nobody writes into, is carried by its fields."""
        if initial.cls in CLASSES:
            check_own(self.walker, initial)
        inside, after = replace(initial, merged=True), replace(initial, merged=True)
        self.inside.add(inside)
        if initial in self.carrying:
            raise Escapes(initial.origin)  # it holds itself
        self.carrying.append(initial)
        self.walker.fields[inside, THERE] = self.after[after, THERE] = Const(None)
        for name, known in fields_of(self.walker.fields, initial).items():
            hint = field_hint(initial, name)
            found = self.carry(
                (*key, name),
                known,
                lambda values, name=name: self.field_at(at(values), initial, name),  # type: ignore[misc]
                lambda hint=hint: (fresh(hint), fresh(hint)),  # type: ignore[misc]
                hint,
            )
            self.walker.fields[inside, name], self.after[after, name] = found
        self.carrying.pop()
        return inside, after

    def carry_container(
        self,
        key: Any,
        initial: ListOf | Table,
        at: Callable[[tuple[Known, ...]], Known],
        variables: Callable[[], tuple[Var, Var]],
    ) -> tuple[Known, Known]:
        """A list, dict, array or table that is another one in each iteration is carried by its contents."""
        walker = self.walker
        inside, after = other_of(initial), other_of(initial)
        for number, (old, new, end) in enumerate(zip(lists_of(initial), lists_of(inside), lists_of(after), strict=True)):
            found = self.carry(
                (*key, number),
                walker.now(old),
                lambda values, number=number: self.contents_at((*key, number), at(values), initial, number),  # type: ignore[misc]
                variables if old is initial else lambda hint=old.hint: (fresh(hint, True), fresh(hint, True)),  # type: ignore[misc]
                old.hint,
            )
            walker.fields[new, CONTENTS], self.after[end, CONTENTS] = found
            self.inside.add(new)
            self.replaced[old] = initial
        walker.retire(initial)
        return inside, after

    def contents_at(self, key: Any, found: Known, initial: ListOf | Table, number: int) -> Known:
        """What is in a container where an iteration ends, which goes by no other name from there on."""
        if not are_alike(found, initial):
            check_depths(initial, found)
            raise Escapes(initial.origin)
        place = lists_of(found)[number]  # type: ignore[arg-type]
        is_older = (place, CONTENTS) in self.start and place not in self.inside
        if is_older or place in self.walker.shown or self.handed_over.setdefault(place, key) != key:
            raise Escapes(place.origin)
        self.walker.stand_for_each_other.add((initial.origin, place.origin))
        return self.walker.now(place)

    def carry_element(
        self, key: Any, initial: Element, at: Callable[[tuple[Known, ...]], Known], variables: Callable[[], tuple[Var, Var]]
    ) -> tuple[Known, Known]:
        """An object of a table is carried by its number. It is one, and not None, unless an iteration ends otherwise."""
        may_be_none = not self.is_present(initial) or ("none", key) in self.merging

        def number(values: tuple[Known, ...]) -> Known:
            found = at(values)
            is_none = found == Const(None) and initial.table.is_pool
            if not may_be_none and (is_none or (isinstance(found, Element) and not self.is_present(found))):
                raise Merges(("none", key))
            if is_none:
                return NO_OBJECT
            if not isinstance(found, Element) or found.table is not initial.table:
                self.check_family(key, initial, found)
                self.walker.check_decided(found, initial.table)
                raise Escapes(initial.table.origin)
            return found.index

        parameter, result = variables()
        self.walker.undecided.pop(parameter, None)
        self.slots.append(Slot(key, parameter, initial.index, result, number))
        self.walker.kinds.assume(parameter, INT)
        self.walker.kinds.assume(result, INT)
        self.walker.counters |= {parameter, result}
        return Element(initial.table, parameter, may_be_none), Element(initial.table, result, may_be_none)

    def carry_item(
        self,
        key: Any,
        initial: Packed | AnyOf,
        at: Callable[[tuple[Known, ...]], Known],
        variables: Callable[[], tuple[Var, Var]],
    ) -> tuple[Known, Known]:
        """A tuple with objects in it is carried as one with their numbers, and one of several classes as in a container."""

        def value(values: tuple[Known, ...]) -> Known:
            match initial, at(values):
                case Packed(), Packed() as found if found.form == initial.form:
                    return found.value
                case AnyOf(), Element() | AnyOf() as found:
                    self.check_family(key, initial, found)
                    code = self.walker.code_of(initial.family, found)
                    if code is not None:
                        return code
            raise Escapes(origin_of(initial))

        before = initial.value if isinstance(initial, Packed) else initial.code
        parameter, result = self.carry_value(key, before, value, variables)
        if isinstance(initial, Packed):
            return replace(initial, value=parameter), replace(initial, value=result)  # type: ignore[arg-type]
        return AnyOf(initial.family, parameter), AnyOf(initial.family, result)  # type: ignore[arg-type]

    def check_family(self, key: Any, initial: Element | AnyOf, found: Known) -> None:
        """Let the loop begin anew if it carries objects of other classes as well."""
        tables = dict.fromkeys((*tables_of_object(initial), *tables_of_object(found)))
        is_other = len(tables) > len(tables_of_object(initial)) and isinstance(found, Element | AnyOf)
        is_known = all(self.is_present(each) for each in (initial, found) if isinstance(each, Element))
        if is_other and is_known and all(table.is_pool for table in tables):
            raise Numbers(self, key, self.walker.family(tables))

    def is_present(self, element: Element) -> bool:
        """Whether an object of a pool is known not to be None."""
        return not element.may_be_none or element.index in self.walker.present

    def field_at(self, found: Known, initial: Object, name: Any) -> Known:
        if isinstance(found, Part) and found.cls is initial.cls:
            found = self.walker.as_object(found)
        if not isinstance(found, Object):
            check_same_class(initial, found)
            raise Escapes(initial.origin)
        if initial.cls not in CLASSES:
            check_alike(self.walker, initial, found)
        elif found.cls is not initial.cls:
            check_same_class(initial, found)
            raise Escapes(initial.origin)
        else:
            check_own(self.walker, found)
            check_keys(self.walker, initial, found)
        known = self.walker.fields.get((found, name))
        if known is None:
            raise Escapes(initial.origin)
        return known

    def carried(self, known: tuple[Known, ...]) -> tuple[Value, ...]:
        """What the end of an iteration hands over."""
        walker = self.walker
        self.handed_over = {}
        for key, thing, at in self.fixed:
            self.check_fixed(key, thing, at(known))
        self.note_changes()
        if self.changed:
            return ()
        values = tuple(self.end_of(slot, slot.at(known)) for slot in self.slots)
        for slot, value in zip(self.slots, values, strict=True):
            assumed = map_axes(walker.kinds.of(slot.parameter), lambda axis: None)
            if assumed == UNKNOWN:
                continue
            kind = join(assumed, map_axes(walker.kinds.of(value), lambda axis: None))
            if kind != assumed:
                raise Others(slot.key, kind)
        return values

    def check_fixed(self, key: Any, thing: Thing, found: Known) -> None:
        """What something in sight is where an iteration ends, if it is another one."""
        if found is thing:
            return
        check_same_class(thing, found)
        if isinstance(thing, Object) and isinstance(found, Object) and thing.cls is found.cls and thing.cls in CLASSES:
            raise Merges(key)
        if isinstance(thing, Object | Part) and isinstance(found, Object | Part):
            check_alike(self.walker, thing, found)
            raise Merges(key)
        if are_alike(thing, found):
            raise Merges(key)
        if is_of_function(thing) or is_of_function(found):
            self.walker.among_functions(thing)
            self.walker.among_functions(found)
        check_depths(thing, found)
        if isinstance(thing, ListOf | Object) and found in self.walker.fresh:
            raise Writes(self.walker.fresh[found])  # type: ignore[index]  # it may be in sight as well
        raise Escapes(origin_of(thing))

    def end_of(self, slot: Slot, end: Known) -> Value:
        """The value of a slot where an iteration ends."""
        if is_of_function(end) and isinstance(slot.initial, Const):
            first, other = map(self.walker.among_functions, (slot.initial, end))
            if isinstance(first, Element):
                self.check_family(slot.key, first, other)
        if isinstance(end, Element):
            self.walker.check_decided(slot.parameter, end.table)
        if isinstance(end, ListOf) and slot.initial in self.walker.fresh:
            raise Writes(self.walker.fresh[slot.initial])
        return self.walker.plain(end)

    def note_changes(self) -> None:
        """Note the fields that are something else at the end of an iteration."""
        walker = self.walker
        for each, before in self.start.items():
            is_carried = each in self.wanted or each in self.changed or each[0] in self.inside
            if not is_carried and walker.fields.get(each) is not before:
                self.changed.append(each)
        places = {place for place, _ in self.start}
        for place, name in walker.fields:
            if place in places and (place, name) not in self.start:
                raise Escapes(place.origin)  # a field that there may be or not after the loop
