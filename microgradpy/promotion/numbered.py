"""What containers hold in the place of objects: their numbers, which have no derivative.

    cells[i, j] = Cell(x)           cell_height.append(x);  cells[i, j] = len(cell_height) - 1
    jobs.append((when, job))        jobs.append((when, job))              with the number of the job
    for cell in cells.values():     for cell in cells.values():
        total += cell.height            total += cell_height[cell]

A container gets numbers of one sort: what is put there first says which, and the walk starts again with that.
"""

from __future__ import annotations

import types
from abc import abstractmethod
from typing import Any

from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import INT
from microgradpy.ir.nodes import (
    Const,
    If,
    Location,
    Op,
    Opcode,
    Region,
    Value,
    Var,
    Yield,
    fresh,
    function_constant,
    operator_constant,
)
from microgradpy.promotion.class_members import class_constant
from microgradpy.promotion.classes import is_record
from microgradpy.promotion.copies import Copies
from microgradpy.promotion.findings import HELD, ROWS, Escapes, Facts, Form, HoldsNone, Nests, Origin, Refers, is_of_items
from microgradpy.promotion.forms import encoded, form_of, form_of_item, joined_classes, number_of, wider_form
from microgradpy.promotion.functions import Lower
from microgradpy.promotion.held import held_by, held_object, hold, order_given
from microgradpy.promotion.loops import length_of
from microgradpy.promotion.objects import NONE
from microgradpy.promotion.places import (
    CONTENTS,
    AnyOf,
    Cell,
    Element,
    Family,
    Frame,
    Held,
    Known,
    ListOf,
    Maybe,
    Object,
    Packed,
    Packing,
    Row,
    Rows,
    Table,
    Values,
    form_of_items,
    is_thing,
    origin_of,
)
from microgradpy.runtime.keyed import Members

_MUL, _ADD, _MOD, _FLOORDIV, _EQ = map(operator_constant, ("mul", "add", "mod", "floordiv", "eq"))
_BOOL, _GETITEM = function_constant(bool), operator_constant("getitem")


class Numbered(Copies):
    """How objects become numbers where they are put, and objects again where they are read."""

    def __init__(self, function: types.FunctionType, lower: Lower, facts: Facts) -> None:
        super().__init__(function, lower, facts)
        self.appended: set[Origin] = set()
        self.tables_made: dict[Origin, Table] = {}
        self.rows_made: dict[Origin, Rows] = {}
        """The lists in lists that change places, by the list where that was found."""
        self.held_made: dict[Origin, Held] = {}
        """The lists, dicts and sets that containers have by their orders."""

    # Forms

    def list_at(self, origin: Origin, hint: str, *, depth: int = 0, sort: str = "list", field: Origin = ()) -> ListOf:
        """A container that is made there, with what is known of its items."""
        key = field or origin
        return ListOf(origin, hint, depth, sort, self.form_of(key), field=field, holds_none=key in self.facts.with_none)

    def form_of(self, key: Origin) -> Table | Packing | None:
        """What the items of a container, or the values of a field, refer to."""
        return self.made_of(self.facts.refers.get(key))  # type: ignore[no-any-return]

    def made_of(self, form: Form | None) -> Any:
        if form is None:
            return None
        if form[0] == "any":
            tables = [self.tables_made[origin] for origin in form[1] if origin in self.tables_made]
            return self.family(tables) if len(tables) == len(form[1]) else None
        if form[0] == ROWS:
            place = ListOf((*form[1], ROWS), "rows", 1)
            return self.rows_made.setdefault(form[1], Rows(place))
        if form[0] == HELD:
            return held_by(self, form)
        if form[0] == "maybe":
            table = self.tables_made.get(form[1])
            return None if table is None else Maybe(table)
        if form[0] != "tuple":
            return self.tables_made.get(form)
        found = tuple(map(self.made_of, form[1]))
        is_whole = all(each is not None or asked is None for each, asked in zip(found, form[1], strict=True))
        return Packing(found, *form[2:]) if is_whole else None

    def given_to(self, place: ListOf, item: Known) -> Value:
        """What a container in sight gets for an item."""
        item = self.among_functions(item)
        if place.depth:
            return self.row_of(place, item)
        item = self.as_tuple(place, item)
        if isinstance(item, Object) and item.cls is Members and item not in self.owners and place.of is None:
            hold(self, place, Members)
        if isinstance(place.of, Held):
            return order_given(self, place.of, item)
        if isinstance(place.of, Rows):
            return self.number_of_row(place.of, place, item)
        found = self.code_of(place.of, item) if isinstance(place.of, Family) else encoded(place.of, item)
        if found is not None:
            self.check_none(place, item)
            return found
        found = self.packed_anew(place.of, item)
        if found is not None:
            return found
        self.check_form(place, item)
        if isinstance(item, ListOf) and item.of is not None and place.of is None and place.sort == "list":
            raise Nests(place.origin, item.depth + 1)
        if place.of is not None:
            self.check_known(item, place)
            if isinstance(item, Object) and self.facts.may_be_pooled(item.origin):
                raise Escapes(item.origin)
            raise Escapes(place.origin)
        return self.plain(item)

    @abstractmethod
    def among_functions(self, known: Known) -> Known:
        """A function that is put somewhere as one of those that may be there."""

    def as_tuple(self, place: ListOf, item: Known) -> Known:
        """A namedtuple as the tuple that a container has of it, unless somebody takes these as what they are."""
        if not isinstance(item, Object) or not is_record(item.cls) or place.depth or self.facts.beside_writes:
            return item
        fields = self.items_of_record(item)
        is_known = all(isinstance(each, Element | AnyOf | Packed) or not is_thing(each) for each in fields)
        if place.key in self.facts.whole_items or not is_known:
            return item
        forms = tuple(self.made_of(self.form_in_tuple(each)) for each in fields)
        made_of = Packing(forms, item.cls)
        if place.of is None:
            raise Refers(place.key, form_of(made_of))  # type: ignore[arg-type]
        given = tuple(self.plain(each) if form is None else number_of(each) for each, form in zip(fields, forms, strict=True))
        result = fresh(item.hint)
        self.add(Op(Opcode.TUPLE, given, (result,), from_user=False))
        return Packed(made_of, result, item.origin)

    def as_record(self, packed: Packed, op: Op) -> Object:
        """A namedtuple that was read from a container, with its fields."""
        cls: Any = packed.form.cls
        place = Object(origin_of(packed), cls, class_constant(cls), op.results[0].hint, merged=True)
        self.members[cls, "__mro__"] = cls.__mro__
        for name, known in zip(cls._fields, self.items_of_packed(op, packed), strict=True):
            self.fields[place, name] = known
        return place

    def check_form(self, place: ListOf, item: Known) -> None:
        """Let what a container holds be known from what it gets."""
        form = form_of_item(item) if place.of is None else None
        if form is not None:
            self.refer(place, form, origin_of(item))  # type: ignore[arg-type]
        wider = wider_form(form_of(place.of), form_of(item.form)) if isinstance(item, Packed) else None
        wider = joined_classes(place.of, item) if isinstance(item, Element | AnyOf) else wider
        if wider is not None and wider != form_of(place.of):
            raise Refers(place.key, wider)

    def packed_anew(self, form: Any, item: Known) -> Value | None:
        """A tuple with objects of several classes as one of which it is known in which places these are."""
        if not isinstance(form, Packing) or not isinstance(item, Packed):
            return None
        if wider_form(form_of(form), form_of(item.form)) != form_of(form):
            return None
        op = Op(Opcode.UNPACK, (), (fresh(""),))
        values: list[Value] = []
        for each, known in zip(form.items, self.items_of_packed(op, item), strict=True):
            number = number_of(known) if isinstance(known, Element | AnyOf | Packed) else known
            code = self.code_of(each, known) if isinstance(each, Family) else number
            if code is None or is_thing(code) or (isinstance(each, Packing) and each != getattr(known, "form", None)):
                return None
            values.append(code)  # type: ignore[arg-type]
        result = fresh("")
        self.add(Op(Opcode.TUPLE, tuple(values), (result,), from_user=False))
        return result

    def item_given_to(self, place: ListOf, item: Known) -> Value:
        """The same of what is written into a list, or into one that is in it: it may be no list itself."""
        if isinstance(item, ListOf) and place.depth:
            raise Escapes(place.origin)
        return self.given_to(replace(place, depth=0) if place.depth else place, item)

    def joined_to(self, place: ListOf, other: Known) -> Value:
        """What an operation that makes a list of lists gets for one of them: the items of both are in sight in one way."""
        if not isinstance(other, ListOf) or (other.of is None and place.of is None):
            return self.plain(other)
        self.unify(place, other)
        return self.now(other)  # type: ignore[return-value]

    def check_none(self, place: ListOf, item: Known) -> None:
        """Note that there may be None in a container of objects."""
        may_be_none = item == NONE or (isinstance(item, Element) and not self.is_there(item))
        if may_be_none and not place.holds_none:
            raise HoldsNone(place.key)

    def check_known(self, item: Known, place: ListOf) -> None:
        """Let who has made a value know what it is."""
        if isinstance(place.of, Table):
            self.check_decided(item, place.of)
        tuple_value = item.value if isinstance(item, Packed) else None
        made = self.kinds.builder.producers.get(tuple_value) if isinstance(tuple_value, Var) else None
        if made is not None and made.callee is Opcode.TUPLE and isinstance(place.of, Packing):
            for value, form in zip(made.arguments, place.of.items, strict=False):
                table = form.table if isinstance(form, Maybe) else form
                if isinstance(table, Table):
                    self.check_decided(value, table)

    def refer(self, place: ListOf, form: Form, source: Origin) -> None:
        """Let the items of a container be what one of them is; `source` is where that comes from."""
        if place.key in self.facts.whole_items and is_of_items(form):
            raise Escapes(source)
        if place.key in self.facts.refers:  # that list is made later: all objects of the class may be in a pool
            is_later = self.facts.refers[place.key] == form and form in self.facts.tables
            raise Escapes(source if is_later else place.origin)
        raise Refers(place.key, form)

    def number_of_row(self, rows: Rows, holder: ListOf, item: Known) -> Value:
        """The number of a list among those that change places: one that nobody else has is put there."""
        if isinstance(item, Row) and item.place is rows.place and len(item.indices) == 1:
            return item.indices[0]
        self.check_written(item)
        if not isinstance(item, ListOf) or item in self.shown or item in self.standing or item.sort != "list":
            raise Escapes(holder.origin)
        if item.depth or item.of is not None or item.field:
            raise Escapes(holder.origin)
        if (rows.place, CONTENTS) not in self.fields:
            raise Escapes(holder.origin)
        number, after = length_of(self, rows.place), fresh(rows.place.hint, True)
        self.counters.add(number)
        self.add(Op(Opcode.APPEND, (self.plain(self.now(rows.place)), self.now(item)), (after,)))  # type: ignore[arg-type]
        self.write(rows.place, CONTENTS, after)
        self.lengthened.append(rows.place)
        self.appended.add(rows.place.origin)
        self.stands(item, Row(rows.place, (number,), None, fresh(item.hint)))
        return number

    @abstractmethod
    def stands(self, place: Object | ListOf | Cell, element: Element | Row | Object | None) -> None:
        """Note that an object or a list is in a list from here on."""

    def make_rows(self, place: ListOf) -> None:
        """Make the list of the lists that change places in another one, where that is made."""
        rows = place.of
        if isinstance(rows, Rows) and rows.place.origin == (*place.origin, ROWS):
            made = fresh(rows.place.hint, True)
            self.add(Op(Opcode.LIST, (), (made,), from_user=False))
            self.fields[rows.place, CONTENTS] = made
            self.made_in[rows.place] = self.out

    def row_of(self, place: ListOf, item: Known) -> Value:
        """A list that nobody else has, to be put into another one."""
        self.check_written(item)
        if not isinstance(item, ListOf) or item in self.shown or item in self.standing or item.sort != "list":
            raise Escapes(place.origin)
        if item.depth != place.depth - 1:
            raise Nests(item.origin, place.depth - 1)
        self.unify(place, item)
        return self.now(item)  # type: ignore[return-value]

    @abstractmethod
    def check_written(self, target: Known) -> None:
        """Let what a call has made be in sight if it is written into."""

    def unify(self, a: ListOf, b: ListOf) -> None:
        """Let the items of two lists refer to the same: those of one are going to be in the other."""
        if a.of == b.of:
            if a.holds_none != b.holds_none:
                raise HoldsNone(b.key if a.holds_none else a.key)
            return
        for one, other in ((a, b), (b, a)):
            if one.of is None and (form := form_of(other.of)) is not None:
                self.refer(one, form, other.origin)
        raise Escapes(a.origin)

    def as_item(self, place: ListOf, value: Var) -> Known:
        """An item of a container, as it was read."""
        found = self.meant_by(place.of, value)
        if isinstance(found, Packed):
            return replace(found, source=place.key)
        return replace(found, may_be_none=place.holds_none) if isinstance(found, Element) else found

    def meant_by(self, form: Any, value: Var) -> Known:
        """What a number, or a tuple with numbers, means."""
        if isinstance(form, Packing):
            return Packed(form, value)
        if form is None:
            return value
        if isinstance(form, Family):
            return AnyOf(form, value)
        if isinstance(form, Held):
            return held_object(self, form.owner, value)
        if isinstance(form, Rows):
            self.counters.add(value)
            return Row(form.place, (value,), None, fresh(value.hint))
        self.counters.add(value)
        is_maybe = isinstance(form, Maybe)
        return Element(form.table if is_maybe else form, value, is_maybe)

    # Families

    def code_of(self, family: Family, item: Known) -> Value | None:
        """What stands for an object among those of several classes."""
        match item:
            case AnyOf(family=other) if other == family:
                return item.code
            case AnyOf(family=other) if set(other.tables) < set(family.tables):
                return self.code_among(family, item)
            case Element(table=table) if table in family.tables and self.is_there(item):
                scaled, code, sort = fresh("code"), fresh("code"), family.tables.index(table)
                self.add(Op(_MUL, (item.index, Const(len(family.tables))), (scaled,), from_user=False))
                if not sort:
                    return scaled
                self.add(Op(_ADD, (scaled, Const(sort)), (code,), from_user=False))
                return code
        return None

    def code_among(self, family: Family, item: AnyOf) -> Value:
        """The same of what is known to be of fewer classes."""
        sort, number = self.told_apart(item)
        scaled, code = fresh("code"), fresh("code")
        first, *others = map(family.tables.index, item.family.tables)
        other: Value = Const(first)
        for place, each in enumerate(others, 1):
            asked, found = fresh("is_of"), fresh("sort")
            self.add(Op(_EQ, (sort, Const(place)), (asked,), from_user=False))
            self.kinds.assume(found, INT)
            self.add(If(asked, Region((), Yield((Const(each),))), Region((), Yield((other,))), (found,)))
            other = found
        self.add(Op(_MUL, (number, Const(len(family.tables))), (scaled,), from_user=False))
        self.add(Op(_ADD, (scaled, other), (code,), from_user=False))
        return code

    def told_apart(self, either: AnyOf) -> tuple[Var, Var]:
        """Which of several pools an object is in, and its number there."""
        sort, number, count = fresh("sort"), fresh("number"), Const(len(either.family.tables))
        self.add(Op(_MOD, (either.code, count), (sort,), from_user=False))
        self.add(Op(_FLOORDIV, (either.code, count), (number,), from_user=False))
        self.counters.add(number)
        return sort, number

    # Tuples

    def new_tuple(self, op: Op, items: tuple[Known, ...], frame: Frame) -> bool:
        """Make a tuple with objects in it; whether it is one."""
        for each in items:
            self.check_entering(each)
        if not any(isinstance(each, Element | AnyOf | Packed) for each in items):
            return False
        forms = tuple(self.made_of(self.form_in_tuple(each)) for each in items)
        given = tuple(self.plain(each) if form is None else number_of(each) for each, form in zip(items, forms, strict=True))
        result = self.define(op.results[0], frame)
        self.add(replace(op, arguments=given, results=(result,)))
        self.bind(op.results[0], Packed(Packing(forms), result), frame)
        self.helped = True
        return True

    def form_in_tuple(self, item: Known) -> Form | None:
        """What something is as an item of a tuple: it is said of an object there whether it may be None."""
        form = form_of_item(item)
        return ("maybe", form) if isinstance(item, Element) and not self.is_there(item) else form

    def items_of_packed(self, op: Op, packed: Packed) -> tuple[Known, ...]:
        """What is in a tuple with numbers of objects."""
        made = self.kinds.builder.producers.get(packed.value) if isinstance(packed.value, Var) else None
        if made is not None and made.callee is Opcode.TUPLE:
            values = made.arguments
        else:
            values = tuple(fresh(result.hint) for result in op.results) if op.callee is Opcode.UNPACK else ()
            values = values if len(values) == len(packed.form.items) else tuple(fresh("") for _ in packed.form.items)
            self.add(Op(Opcode.UNPACK, (packed.value,), values, where=op.where))  # type: ignore[arg-type]
        pairs = zip(packed.form.items, values, strict=True)
        return tuple(self.meant_in(packed, form, each) for form, each in pairs)

    def item_of_packed(self, op: Op, packed: Packed, index: Known) -> Known:
        """`pair[1]`"""
        count = len(packed.form.items)
        if not isinstance(index, Const) or type(index.value) is not int or not -count <= index.value < count:
            raise Escapes(origin_of(packed))
        form, value = packed.form.items[index.value], fresh(op.results[0].hint, op.results[0].user_named)
        self.add(Op(_GETITEM, (packed.value, index), (value,), where=op.where))
        return self.meant_in(packed, form, value)

    def meant_in(self, packed: Packed, form: Any, value: Value) -> Known:
        """What an item of a tuple means."""
        found = value if form is None else self.meant_by(form, value)  # type: ignore[arg-type]
        return replace(found, source=packed.source) if isinstance(found, Packed) else found

    # Containers

    def truth(self, known: Known, where: Location, frame: Frame) -> Known:
        """What `if` asks of a container of objects: whether there are any."""
        if isinstance(known, Packed):
            return Const(True)
        if isinstance(known, AnyOf):
            if any(self.has_truth(each.cls) for each in known.family.tables):
                raise Escapes(origin_of(known))
            return Const(True)
        if isinstance(known, Table):
            items: Known = self.now(next(iter(known.columns.values())))
        elif isinstance(known, ListOf | Row) and form_of_items(known) is not None:
            items = self.numbers_of(known)
        else:
            return super().truth(known, where, frame)
        asked = fresh("is_filled")
        self.add(Op(_BOOL, (self.plain(items),), (asked,), from_user=False, where=where))
        return asked

    def list_of_values(self, op: Op, values: Values, frame: Frame) -> Known:
        """`list(d.values())`"""
        self.emit(op, op.callee, (self.values_now(values),), {}, frame)  # type: ignore[arg-type]
        return self.new_numbers(op, values.place.of, values.place.origin, frame, holds_none=values.place.holds_none)

    def dict_of_pairs(self, op: Op, pairs: ListOf, frame: Frame) -> Known | None:
        """`dict(pairs)` of keys and objects, as a comprehension makes it."""
        match pairs.of:
            case Packing(items=(None, form)) if form is not None and not pairs.depth:
                self.emit(op, op.callee, (self.now(pairs),), {}, frame)  # type: ignore[arg-type]
                table = form.table if isinstance(form, Maybe) else form
                return self.new_numbers(op, table, pairs.origin, frame, "dict", holds_none=isinstance(form, Maybe))
        return None

    def new_numbers(
        self, op: Op, form: Any, source: Origin, frame: Frame, sort: str = "list", *, holds_none: bool = True
    ) -> ListOf:
        """A container of numbers that an operation has made of another one, which has its variable by now."""
        origin = (*frame.path, op.results[0])
        made = self.variable_of(op.results[0], frame)
        own = self.form_of(origin)
        if origin in self.facts.kept or (own is not None and own != form) or self.facts.nested.get(origin):
            raise Escapes(source)
        if holds_none and origin not in self.facts.with_none:
            raise HoldsNone(origin)
        place = ListOf(origin, op.results[0].hint, sort=sort, of=form, holds_none=origin in self.facts.with_none)
        self.made_in[place] = self.out
        self.fields[place, CONTENTS] = made
        self.bind(op.results[0], place, frame)
        return place

    def numbers_of(self, known: Known) -> Known:
        """A container of numbers as it is now."""
        match known:
            case ListOf():
                return self.now(known)
            case Row():
                return self.row_now(known)
            case Values():
                return self.values_now(known)
        return known
