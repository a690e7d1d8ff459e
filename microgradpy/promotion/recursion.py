"""Functions that call themselves with something in sight: units of their own, which get the lists that are in sight and return
them.

    def visit(node, out):                 def visit(node_value, node_left, out, node):
        if node is not None:                  if node != -1:
            visit(node.left, out)                 node_value, out = visit(node_value, node_left, out, node_left[node])
            out.append(node.value)                out.append(node_value[node])
                                              return node_value, out

What such a function reads or changes of what is in sight becomes parameters, and what it changes parts of its result; objects
of pools go by their numbers. All lists of what may be differentiated are given back, so that a call hands their cotangents over
to its adjoint, which adds to them, and there is no cotangent of a whole list for each call. What a call hands over and gives
back is assumed first, and the function is walked until it comes out like that.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any, final

from microgradpy.ad.calls import Apart
from microgradpy.dataclasses import dataclass, field, replace
from microgradpy.frontend.prune import prune
from microgradpy.ir.kinds import FLOAT, INT, UNASSIGNED, Kind, TupleOf, is_proven, join, map_axes
from microgradpy.ir.nodes import Const, Function, Op, Opcode, Parameter, Region, Return, Value, Var, fresh
from microgradpy.promotion.base import Walk, field_hint
from microgradpy.promotion.findings import Escapes, NotInSight, Origin, Peels
from microgradpy.promotion.forms import form_of
from microgradpy.promotion.names import Names, definitions_in, used_in
from microgradpy.promotion.places import (
    NO_OBJECT,
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
    Packing,
    Place,
    Table,
    Values,
    is_thing,
    origin_of,
    tables_of_object,
)
from microgradpy.runtime.keyed import IN_PLACE, ORDER

_MOST_PASSES = 24
_NONE = Const(None)


@final
@dataclass(frozen=True, slots=True)
class Slot:
    """What is known of something that each call hands over, or gives back: it is always the same, one of the objects of a
    table, or a value of some kind. Of a result nothing is known first (`is_open`)."""

    hint: str
    same: Known | None = None
    table: Table | None = None
    may_be_none: bool = False
    kind: Kind = UNASSIGNED
    is_open: bool = False
    family: Family | None = None
    """The pools that an object of one of several classes is in."""

    @property
    def is_fixed(self) -> bool:
        return self.same is not None

    def given(self, walker: Walk, known: Known) -> Known:
        """Something as it is handed over: lists and other things as values."""
        if isinstance(known, Element | AnyOf) or not is_thing(known) or (self.same is not None and is_thing(self.same)):
            return known
        return walker.plain(known)

    def with_(self, walker: Walk, known: Known) -> Slot:
        """What is known if this may be handed over, too."""
        if self.is_open:
            found = slot_of(walker, self.hint, known)
            return found if known == _NONE or not found.is_fixed else replace(found, same=None, kind=_kind_of(walker, known))
        if self.same is not None and known == self.same:
            return self
        if self.same is not None and is_thing(self.same):
            raise Escapes(origin_of(self.same))  # type: ignore[arg-type]
        if isinstance(known, AnyOf) or (isinstance(known, Element) and self.is_other(known)):
            return self.with_any(walker, known)
        if isinstance(known, Element):
            return self.with_object(walker, known)
        if self.table is not None:
            if known != _NONE:
                walker.check_decided(known, self.table)
                raise Escapes(self.table.origin)
            return self if self.may_be_none else replace(self, may_be_none=True)
        if self.family is not None:
            raise Escapes(origin_of(AnyOf(self.family, NO_OBJECT)))
        before = self.kind if self.same is None else _kind_of(walker, self.same)
        return replace(self, same=None, kind=join(before, _kind_of(walker, known)))

    def with_object(self, walker: Walk, known: Element) -> Slot:
        """The same of an object of a pool."""
        may_be_none = known.may_be_none and known.index not in walker.present
        if self.same == _NONE:
            return replace(self, same=None, table=known.table, may_be_none=True)
        if known.table is not self.table:
            raise Escapes(known.table.origin)
        return self if self.may_be_none or not may_be_none else replace(self, may_be_none=True)

    def is_other(self, known: Element) -> bool:
        """Whether an object is of another class than those that are handed over as far as is known."""
        return self.family is not None or (self.table is not None and known.table is not self.table)

    def with_any(self, walker: Walk, known: Element | AnyOf) -> Slot:
        """What is known if objects of several classes may be handed over. None is not one of them."""
        own = self.family.tables if self.family is not None else (self.table,) if self.table is not None else ()
        tables = dict.fromkeys((*own, *tables_of_object(known)))
        may_be_none = self.may_be_none or (isinstance(known, Element) and not walker.is_there(known))
        if not own or may_be_none or not all(each.is_pool for each in tables):
            raise Escapes(origin_of(known))
        return self if len(tables) == len(own) else replace(self, table=None, family=walker.family(tables))

    def value(self, walker: Walk, known: Known) -> Value:
        """What is handed over for something."""
        if self.family is not None:
            code = walker.code_of(self.family, known)
            if code is None:
                raise Escapes(origin_of(AnyOf(self.family, NO_OBJECT)))
            return code
        if isinstance(known, Element):
            return known.index
        if self.table is not None:
            return NO_OBJECT
        return _NONE if is_thing(known) else known  # type: ignore[return-value]

    def inside(self, walker: Walk, var: Var) -> Known:
        """What stands for it where it is read."""
        if self.same is not None:
            return self.same
        walker.kinds.assume(var, self.part_kind)
        if self.family is not None:
            return AnyOf(self.family, var)
        if self.table is None:
            return var
        walker.counters.add(var)
        return Element(self.table, var, self.may_be_none)

    @property
    def part_kind(self) -> Kind:
        return INT if self.table is not None or self.family is not None else FLOAT if self.is_open else self.kind


def slot_of(walker: Walk, hint: str, known: Known) -> Slot:
    """What is known of something that is handed over once."""
    if isinstance(known, AnyOf):
        return Slot(hint, family=known.family)
    if isinstance(known, Element):
        return Slot(hint, table=known.table, may_be_none=known.may_be_none and known.index not in walker.present)
    if is_thing(known) or isinstance(known, Const):
        return Slot(hint, same=known)
    return Slot(hint, kind=_kind_of(walker, known))


def _kind_of(walker: Walk, known: Known) -> Kind:
    return map_axes(walker.kinds.of(known), lambda axis: None)


@final
@dataclass(eq=False)
class Recursion:
    """A function that calls itself. `given` are what it has captured and its parameters; `read` the fields of what is in sight
    that it gets, `changed` those that it gives back as well, and `summed` those of them that it does not write into; `free` are
    variables from around it."""

    code: types.CodeType
    callee: types.FunctionType
    ir: Function
    origin: Origin
    path: Origin
    given: dict[Var, Slot]
    first: dict[Var, Known]
    """What it is given by the call for which it is walked."""
    outside: Fields
    """What the fields are where it is called first."""
    read: dict[Field, Slot] = field(default_factory=dict)
    changed: dict[Field, Slot] = field(default_factory=dict)
    summed: set[Field] = field(default_factory=set)
    rearranged: dict[Object, None] = field(default_factory=dict)
    """The lists, dicts and sets from outside of which it changes the order, in place."""
    free: tuple[Var, ...] = ()
    result: Slot = field(default_factory=lambda: Slot("", is_open=True))
    apart: Any = None
    is_done: bool = False
    is_wider: bool = False
    start: Fields = field(default_factory=dict)
    """What the fields are where a call begins."""

    # A call

    def fits(self, walker: Walk, values: dict[Var, Known]) -> bool:
        """Whether a call is one of those for which the function has been walked."""
        if values.keys() != self.given.keys():
            return False
        try:
            found = all(slot.with_(walker, slot.given(walker, values[var])) == slot for var, slot in self.given.items())
            fields = self.fields()
            for key, known in self.outside.items():
                now = walker.fields.get(key)
                if key in fields:
                    found = found and now is not None and fields[key].with_(walker, now) == fields[key]
                elif is_thing(known) or isinstance(known, Const):
                    found = found and now == known
            return found
        except Escapes:
            return False

    def call(self, walker: Walk, op: Op, values: dict[Var, Known], frame: Frame) -> Known:
        """Append a call."""
        if not self.is_done:
            self.note_changes(walker)
        given = [self.handed(self.given, var, walker, values[var]) for var in self.given]
        own = [value for value, slot in zip(given, self.given.values(), strict=True) if not slot.is_fixed]
        handed = []
        for fields in (self.changed, self.read):
            for key in fields:
                if key not in walker.fields:
                    raise Escapes(key[0].origin)
                handed.append(self.handed(fields, key, walker, walker.fields[key]))
        for key in self.changed:
            self.note_write(walker, key)
        for place in self.rearranged:
            walker.check_rearranged(place)
        return self.emit(walker, op, (*handed, *self.free, *own), frame)

    def handed(self, slots: dict[Any, Slot], key: Any, walker: Walk, known: Known) -> Value:
        """What is handed over; if that is not as it was assumed, less is assumed the next time."""
        is_in_place_of_none = slots is self.given and slots[key].same == _NONE and isinstance(known, Object | ListOf)
        if is_in_place_of_none and self.code not in walker.facts.peeled:
            raise Peels(self.code)
        known = slots[key].given(walker, known)
        wider = slots[key].with_(walker, known)
        self.is_wider |= wider != slots[key]
        slots[key] = wider
        return wider.value(walker, known)

    def note_write(self, walker: Walk, key: Field) -> None:
        place, name = key
        if key not in self.summed:
            walker.check_write(place, name)
            if isinstance(place, ListOf):
                walker.lengthened.append(place)

    def emit(self, walker: Walk, op: Op, arguments: tuple[Value, ...], frame: Frame) -> Known:
        callee = Const(self.apart, self.callee.__name__, self.apart)
        given_back = fresh(op.results[0].hint, op.results[0].user_named)
        own = () if self.result.is_fixed else (given_back,)
        changed = {key: fresh(slot.hint, True) for key, slot in self.changed.items()}
        if changed:
            pair = fresh("")
            walker.add(Op(callee, arguments, (pair,), where=op.where))
            walker.add(Op(Opcode.UNPACK, (pair,), (*own, *changed.values()), from_user=False, where=op.where))
            walker.kinds.assume(pair, self.kind_of_result())
        else:
            walker.add(Op(callee, arguments, (given_back,), where=op.where))
        for key, var in changed.items():
            walker.fields[key] = self.changed[key].inside(walker, var)
            walker.kinds.assume(var, self.changed[key].part_kind)
        walker.helped = True
        return self.result.inside(walker, given_back)

    def kind_of_result(self) -> Kind:
        own = () if self.result.is_fixed else (self.result.part_kind,)
        return TupleOf((*own, *(slot.part_kind for slot in self.changed.values()))) if self.changed else self.result.part_kind

    def fields(self) -> dict[Field, Slot]:
        return self.changed | self.read

    def note_rearranged(self, place: Place | None) -> None:
        """Note that an order is changed: that is nothing a call gives back, as it is one and the same everywhere."""
        if not isinstance(place, Object) or place.cls not in IN_PLACE or place in self.rearranged:
            return
        if (place, ORDER) in self.outside:
            self.rearranged[place] = None
            self.is_wider = True

    # The function

    def note_changes(self, walker: Walk) -> None:
        """Note which fields are not what they were where the function began."""
        for key, known in self.start.items():
            if key not in walker.fields:
                raise Escapes(key[0].origin)
            if walker.fields[key] != known:
                self.note_change(walker, key)

    def note_change(self, walker: Walk, key: Field) -> None:
        before = self.outside[key]
        if walker.is_users(key[0]):
            raise Escapes(key[0].origin)
        if key in self.summed:
            self.summed.discard(key)
            self.is_wider = True
        if key in self.changed:
            return
        if is_thing(before) and not isinstance(before, Element):
            raise Escapes(key[0].origin)
        slot = self.read.pop(key, None) or slot_of(walker, field_hint(*key), before)
        self.changed[key] = slot if slot.same in (None, _NONE) else replace(slot, same=None, kind=_kind_of(walker, before))
        self.is_wider = True

    def returned(self, walker: Walk, known: Known, end: Return) -> Return:
        """How the function ends where it returns something."""
        self.note_changes(walker)
        slots = {"": self.result}
        value = self.handed(slots, "", walker, known)
        self.result = result = slots[""]
        if result.table is not None:
            walker.facts.returned[self.code] = result.table.origin, result.may_be_none
        elif result.family is not None:
            walker.facts.returned[self.code] = form_of(result.family) or (), False
        parts: tuple[Value, ...] = () if self.result.is_fixed else (value,)
        parts += tuple(self.handed(self.changed, key, walker, walker.fields[key]) for key in self.changed)
        if not self.changed:
            return Return(value, end.where)
        walker.add(Op(Opcode.TUPLE, parts, (made := fresh(""),), from_user=False, where=end.where))
        return Return(made, end.where)

    def walk(self, walker: Any) -> None:
        """Walk the function until nothing more turns out of it."""
        state = walker.loop, walker.present, walker.trying, walker.unit, walker.out, walker.codes
        entry, handed, consumed = walker.fields, set(walker.handed), set(walker.consumed)
        standing = set(walker.standing)
        owners = {place for place, _ in entry}
        try:
            for _ in range(_MOST_PASSES):
                self.is_wider = False
                walker.loop, walker.unit, walker.out, walker.trying, walker.codes = None, self, [], [], [self.code]
                walker.handed = set(handed)
                body, variables = self.pass_over(walker, entry)
                moved = (walker.handed - handed) | (walker.standing.keys() - standing)
                if moved & owners or (walker.consumed - consumed) & _made_before(walker.consumed, self.path):
                    raise Escapes(self.origin)
                self.note_used(walker, body, variables)
                if not self.is_wider:
                    break
            else:
                raise NotInSight
        finally:
            walker.loop, walker.present, walker.trying, walker.unit, walker.out, walker.codes = state
            walker.fields, walker.handed = entry, handed
        for key in self.changed:
            if key[0] in walker.shown and key not in self.summed:
                raise Escapes(key[0].origin)  # the next call writes into what this one has shown
        self.is_done = True
        self.tie(body, variables)

    def pass_over(self, walker: Any, entry: Fields) -> tuple[Region, dict[Any, Var]]:
        """What becomes of the function, and the variables that its inputs are."""
        variables: dict[Any, Var] = {}

        def of(key: Any, slot: Slot, hint: str, user_named: bool, first: Known) -> Known:
            if slot.is_fixed and key not in self.changed:
                return slot.same  # type: ignore[return-value]
            variables[key] = own = fresh(hint, user_named)
            if not is_thing(first):
                walker.either[own] = first, first
                if first in walker.fresh:
                    walker.fresh[own] = walker.fresh[first]
            return slot.inside(walker, own)

        values = {var: of(var, slot, var.hint, var.user_named, self.first[var]) for var, slot in self.given.items()}
        walker.fields, fields = {}, self.fields()
        for key, known in entry.items():
            slot = fields[key] if key in fields else slot_of(walker, field_hint(*key), known)
            walker.fields[key] = of(key, slot, slot.hint, True, known)
        self.start = dict(walker.fields)
        self.apart = Apart(self.callee, self.ir)
        statements, end = walker.region(self.ir.body, Frame(self.path, values, unit=self, followed_for=self.origin))
        return Region(tuple(statements), end), variables

    def note_used(self, walker: Walk, body: Region, variables: dict[Any, Var]) -> None:
        """Note which fields are read, and which variables from around the function."""
        used = dict.fromkeys(used_in(body))
        for key, var in variables.items():
            if not isinstance(key, tuple) or var not in used or key in self.changed or key in self.read:
                continue
            slot = slot_of(walker, field_hint(*key), self.outside[key])
            if _is_summed(key):
                self.changed[key] = slot
                self.summed.add(key)
            else:
                self.read[key] = slot
            self.is_wider = True
        for place, _ in self.fields():
            if isinstance(place, ListOf) and isinstance(place.of, Packing):
                raise Escapes(place.origin)  # there may be something in its tuples that is differentiated
        inside = {*definitions_in(body), *variables.values()}
        free = tuple(var for var in used if var not in inside)
        self.is_wider |= free != self.free
        self.free = free

    def tie(self, body: Region, variables: dict[Any, Var]) -> None:
        """Put the function that has come out into the constant that stands for it."""
        own = {var: slot for var, slot in self.given.items() if not slot.is_fixed}
        fields = self.fields()
        inputs = (*(variables[key] for key in fields), *self.free, *(variables[var] for var in own))
        names = Names()
        parameters = tuple(Parameter(var, names.new(var.hint or "value")) for var in inputs)
        nothing = (UNASSIGNED,) * len(self.free)
        self.apart.function = replace(self.ir, captured=(), parameters=parameters, body=prune(body))
        self.apart.kinds = (*map(_least_kind, fields.values()), *nothing, *map(_least_kind, own.values()))
        self.apart.passed = tuple(range(len(self.changed)))
        self.apart.result = self.kind_of_result()


def _least_kind(slot: Slot) -> Kind:
    """What an input is at least, as far as it is proven."""
    return slot.part_kind if is_proven(slot.part_kind) else UNASSIGNED


def _made_before(generators: Iterable[Any], path: Origin) -> set[Any]:
    return {each for each in generators if each.origin[: len(path)] != path}


def _is_summed(key: Field) -> bool:
    """Whether what is in sight is a list whose items may be differentiated: they are no numbers of objects."""
    place, _ = key
    return isinstance(place, ListOf) and place.of is None and place.picks is None


def call_recursive(
    walker: Any,
    op: Op,
    code: types.CodeType,
    callee: Callable[[], types.FunctionType],
    ir: Function,
    values: dict[Var, Known],
    frame: Frame,
    origin: Origin,
) -> Known:
    """A call of a function that calls itself. Where an exception may be caught nobody would know how far it came."""
    if walker.trying:
        raise Escapes(origin, is_tried=True)
    if any(isinstance(known, Packed | Values) for known in values.values()):
        raise Escapes(origin)
    if walker.unit is not None and walker.unit.code is code:
        return walker.unit.call(walker, op, values, frame)  # type: ignore[no-any-return]
    for known in walker.recursions:
        if known.code is code and known.is_done and known.fits(walker, values):
            return known.call(walker, op, values, frame)  # type: ignore[no-any-return]
    given = {var: slot_of(walker, var.hint, known) for var, known in values.items()}
    given |= {var: Slot(var.hint, same=values[var]) for var in ir.captured if not isinstance(values[var], Element)}
    path = (*frame.path, op.results[0])
    made = Recursion(code, callee(), ir, origin, path, given, values, dict(walker.fields))
    form, may_be_none = walker.facts.returned.get(code, (None, False))
    returned = walker.made_of(form)
    if isinstance(returned, Family):
        made.result = Slot("", family=returned)
    elif returned is not None:
        made.result = Slot("", table=returned, may_be_none=may_be_none)
    made.walk(walker)
    walker.recursions.append(made)
    return made.call(walker, op, values, frame)
