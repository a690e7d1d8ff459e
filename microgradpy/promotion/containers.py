"""Lists, dicts, cells and lists of objects in sight: how they are made, read and written."""

from __future__ import annotations

import operator
import types
from abc import abstractmethod

from microgradpy.ad.binding import is_literal
from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import INT, Inert
from microgradpy.ir.nodes import FROM_FRONT, Const, Op, Opcode, Value, Var, fresh, function_constant, operator_constant
from microgradpy.promotion import classes
from microgradpy.promotion.base import column_hint, fields_of
from microgradpy.promotion.cells import column_of, is_variable
from microgradpy.promotion.findings import ROWS, Escapes, Facts, Holds, Origin, Picks, Refers, Writes
from microgradpy.promotion.functions import Lower
from microgradpy.promotion.held import WRITING, check_may_be_held, hold, make_held
from microgradpy.promotion.kinds import ITEM_OF_GROWING
from microgradpy.promotion.loops import length_of
from microgradpy.promotion.numbered import Numbered
from microgradpy.promotion.objects import NONE
from microgradpy.promotion.places import (
    CONTENTS,
    Cell,
    DictOf,
    Element,
    Frame,
    Held,
    Known,
    ListOf,
    Object,
    Packed,
    Part,
    Picked,
    Row,
    Table,
    Values,
    View,
    first_origin,
    is_thing,
    origin_of,
    tables_of_object,
)
from microgradpy.runtime.arranged import Arranged
from microgradpy.runtime.dict_objects import length_given
from microgradpy.runtime.keyed import CLASSES

_RANGE = function_constant(range)
_GETITEM, _INDEX = operator_constant("getitem"), operator_constant("index")
_LENGTH = function_constant(length_given)
KEYS = (str, int)


class Containers(Numbered):
    """What is done with lists, dicts, cells and lists of objects."""

    def __init__(self, function: types.FunctionType, lower: Lower, facts: Facts) -> None:
        super().__init__(function, lower, facts)
        self.contents: dict[Value, tuple[Value, ...]] = {}
        """What is in a version of a list, or in a tuple, where all of it is known."""
        self.made: Known | None = None
        """What the last operation has made that is in sight."""
        self.sizes: dict[Table, tuple[Known, ...]] = {}
        self.members = {}

    def as_object(self, part: Part) -> Object:
        raise Escapes(part.origin)

    def new_list_of(self, op: Op, known: tuple[Known, ...], frame: Frame) -> None:
        (result,) = op.results
        origin = (*frame.path, result)
        of_library = (known.hint for known in frame.values.values() if isinstance(known, Object) and known.cls in CLASSES)
        hint = next(of_library, "") or result.hint  # a list of such an object has its name
        are_rows = self.facts.refers.get(origin, ())[:1] == (ROWS,)
        place = self.list_at(origin, hint, depth=0 if are_rows else self.facts.nested.get(origin, 0))
        made = self.define(replace(result, hint=hint, user_named=True) if hint != result.hint else result, frame)
        frame.values[result] = made
        if place.depth and op.callee is not Opcode.LIST:
            raise Escapes(origin)  # what is in two lists has two names
        self.make_rows(place)
        make_held(self, place)
        if op.callee is Opcode.LIST:
            self.check_classes(place, known)
            given = tuple(self.given_to(place, each) for each in known)
        else:
            given = tuple(self.joined_to(place, each) for each in known)
        self.made_in[place] = self.out
        self.fields[place, CONTENTS] = made
        self.add(replace(op, arguments=given, results=(made,)))
        if op.callee is Opcode.LIST:
            self.contents[made] = given
        self.bind(result, place, frame)
        for number, (each, value) in enumerate(zip(known, given, strict=True) if place.depth else ()):
            self.stands(each, Row(place, (Const(number),), made, value))  # type: ignore[arg-type]

    def check_classes(self, place: ListOf, items: tuple[Known, ...]) -> None:
        """Let a list be known to hold objects of all the classes that the items are of."""
        tables = dict.fromkeys(table for each in items for table in tables_of_object(each) if table.is_pool)
        if len(tables) > 1 and place.key not in self.facts.refers:
            raise Refers(place.key, ("any", tuple(table.origin for table in tables)))

    def given_to(self, place: ListOf, item: Known) -> Value:
        """What a container in sight gets for an item."""
        is_held = isinstance(place.of, Held)
        if not is_held and (place.picks is not None or (place.field and isinstance(item, ListOf) and item.of is not None)):
            return self.picked_for(place, item)
        return super().given_to(place, item)

    def contents_known(self, place: ListOf) -> tuple[Value, ...] | None:
        """What is in a list or dict now, if all of it is known."""
        now = self.now(place)
        made = self.kinds.builder.producers.get(now) if place.sort == "dict" and isinstance(now, Var) else None
        is_empty = made is not None and made.callee in (Opcode.DICT, Const(dict)) and not made.arguments and not made.keywords
        return () if is_empty else self.contents.get(now)  # type: ignore[arg-type]

    def picks_of(self, field: Origin) -> Table | None:
        """The table whose objects the lists in a field hold."""
        return self.tables_made.get(self.facts.picks.get(field, ()))

    def picked_for(self, column: ListOf, item: Known) -> Value:
        """A list of objects, none of which is None, for a field of the objects in a table: nobody writes into it any more."""
        if not isinstance(item, ListOf) or item.sort != "list" or item.depth or column.origin in self.facts.tables:
            raise Escapes(column.origin)
        if column.of is not None or column.depth or not (item.of is None or isinstance(item.of, Table)):
            raise Escapes(column.origin)
        if item.of is not None and column.picks is None:
            raise Picks(column.key, item.of.origin)
        is_empty = item.of is None and self.contents.get(self.now(item)) == ()  # type: ignore[arg-type]
        if item.holds_none or not (is_empty or item.of is column.picks):
            raise Escapes(column.origin)
        self.shown.add(item)
        return self.now(item)  # type: ignore[return-value]

    # Tables

    def is_table(self, origin: Origin, items: tuple[Known, ...]) -> bool:
        """Whether a list is one of objects of a class."""
        if not items:
            return origin in self.facts.tables
        first = items[0]
        if not isinstance(first, Object) or first.cls in CLASSES or classes.is_record(first.cls):
            return False
        if len(set(map(id, items))) < len(items):
            return False
        names = fields_of(self.fields, first).keys()
        return all(
            isinstance(each, Object) and each.cls is first.cls and fields_of(self.fields, each).keys() == names
            for each in items
        )

    def new_table(self, op: Op, origin: Origin, items: tuple[Known, ...], frame: Frame) -> None:
        first = items[0] if items else None
        if isinstance(first, Object):
            cls, names = first.cls, tuple(fields_of(self.fields, first))
        else:
            cls, names = self.facts.tables[origin]
        if not names:
            raise Escapes(origin)
        self.facts.tables.setdefault(origin, (cls, names))
        hint = op.results[0].hint
        hints = {name: column_hint(hint, name) for name in names}
        columns = {name: self.list_at(origin, hints[name], field=(*origin, name)) for name in names}
        table = self.tables_made[origin] = Table(origin, hint, cls, columns)
        for name, column in columns.items():
            make_held(self, column)
            values = (self.fields[each, name] for each in items if isinstance(each, Object))
            given = tuple(self.given_to(column, value) for value in values)
            made = fresh(column.hint, True)
            self.add(Op(Opcode.LIST, given, (made,), where=op.where))
            self.fields[column, CONTENTS] = made
        self.helped = True
        self.sizes[table] = items
        for number, each in enumerate(items):
            assert isinstance(each, Object)
            self.stands(each, Element(table, Const(number)))
        self.bind(op.results[0], table, frame)

    def stands(self, place: Object | ListOf | Cell, element: Element | Row | Object | None) -> None:
        """Note that an object or a list is in a list from here on."""
        if place in self.standing or place in self.real or (isinstance(place, Object) and place.merged):
            raise Escapes(place.origin)
        for key in [key for key in self.fields if key[0] is place]:
            del self.fields[key]
        self.standing[place] = element if self.made_in.get(place) is self.out else None

    def append_object(self, op: Op, table: Table, item: Known) -> None:
        if not isinstance(item, Object) or item.cls is not table.cls:
            raise Escapes(table.origin)
        self.stands(item, Element(table, self.append_fields(op, table, item)))

    def append_fields(self, op: Op, table: Table, item: Object) -> Var:
        """Append what is in an object to the lists of a table; its number there."""
        fields = fields_of(self.fields, item)
        if fields.keys() != table.columns.keys():
            raise Escapes(table.origin)
        number = length_of(self, table)
        self.counters.add(number)
        for name, column in table.columns.items():
            self.append(op, column, fields[name])
        return number

    def append(self, op: Op, place: ListOf | Table, item: Known) -> None:
        if isinstance(place, Table):
            self.append_object(op, place, item)
            return
        if isinstance(item, Object) and place.origin in self.tables_made and self.tables_made[place.origin].is_pool:
            check_may_be_held(self, place, item)
        if isinstance(item, Object) and not classes.is_record(item.cls) and item.cls not in CLASSES:
            if place.of is not None:
                raise Escapes(item.origin)
            raise Holds(place.origin, item.cls, tuple(fields_of(self.fields, item)))
        given = self.given_to(place, item)
        if place in self.unread:
            self.append_too(place, given, op.where)
            return
        version = self.now(place)
        after = fresh(place.hint, True)
        self.add(Op(Opcode.APPEND, (self.plain(version), given), (after,), where=op.where))
        if version in self.contents:
            self.contents[after] = (*self.contents[version], given)  # type: ignore[index]
        if place.depth:
            self.stands(item, None)  # type: ignore[arg-type]
        self.write(place, CONTENTS, after)
        self.append_too(place, given, op.where)
        self.lengthened.append(place)

    # Items

    def read_attribute(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        match arguments:
            case (Picked(column=ListOf() as column), Const(value=name)) if name in WRITING:
                hold(self, column, Arranged)
        return super().read_attribute(op, arguments, frame)

    def read_item(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target, index = arguments
        if isinstance(target, Packed):
            return self.item_of_packed(op, target, index)
        if isinstance(target, Object) and classes.is_record(target.cls):
            items = self.items_of_record(target)
            if isinstance(index, Const) and type(index.value) is int and -len(items) <= index.value < len(items):
                return items[index.value]
            raise Escapes(target.origin)
        if isinstance(target, Object):
            return self.operator(op, operator.getitem, arguments, frame)
        if isinstance(target, DictOf):
            return self.read_entry(target, index)
        if isinstance(target, Table | Picked) and not is_thing(index):
            return self.pick(op, target, index, frame)  # type: ignore[arg-type]
        if isinstance(target, ListOf) and target.sort != "list":
            return self.read_part(op, target, index, frame)
        if isinstance(target, View):
            return self.read_part_of_view(op, target, index, frame)
        if isinstance(target, ListOf | Row | Values) and not is_thing(index):
            return self.read_list(op, target, index, frame)
        raise Escapes(first_origin(arguments))

    def pick(self, op: Op, target: Table | Picked, index: Value, frame: Frame) -> Known:
        """One of the objects of a table, or those of a slice."""
        is_slice = self.is_slice(index)
        if isinstance(target, Table) and not is_slice:
            return Element(target, self.place_in(target, op, index))
        numbers = fresh("numbers")
        if isinstance(target, Table):
            self.add(Op(_RANGE, (length_of(self, target),), (every := fresh("numbers"),), from_user=False))
            target = Picked(target, every)
        self.add(Op(_GETITEM, (target.numbers, index), (numbers,), where=op.where))
        if is_slice:
            return Picked(target.table, numbers)
        self.counters.add(numbers)
        return Element(target.table, numbers)

    def objects_listed(self, known: Known) -> tuple[Known, ...]:
        """The objects in a list in sight of which it is known how many there are; nothing of another one."""
        if isinstance(known, Table) and known.origin not in self.facts.grown:
            return tuple(Element(known, Const(place)) for place in range(len(self.sizes.get(known, ()))))
        if isinstance(known, ListOf) and known.of is not None and known.sort == "list" and not known.depth:
            return tuple(self.as_item(known, each) for each in self.contents.get(self.now(known), ()))  # type: ignore[arg-type]
        return ()

    def is_slice(self, index: Known) -> bool:
        kind = self.kinds.of(index)
        return isinstance(kind, Inert) and kind.name == "slice"

    def read_list(self, op: Op, target: ListOf | Row | Values, index: Known, frame: Frame) -> Known:
        """An item of a list in sight, or of a list in it."""
        if isinstance(target, Values):
            self.emit(op, op.callee, (self.values_now(target), index), {}, frame)  # type: ignore[arg-type]
            return self.as_item(target.place, self.known_result(op, frame))  # type: ignore[arg-type]
        place = target if isinstance(target, ListOf) else target.place
        is_fixed = isinstance(target, Row) or self.is_from_front(target, index)
        if target.depth and (self.kinds.of(index) != INT or not is_fixed):
            raise Escapes(place.origin)  # a slice has the lists too
        version = self.now(place)
        items = version if isinstance(target, ListOf) else self.row_now(target)
        self.emit(replace(op, payload=None), _GETITEM if is_fixed else ITEM_OF_GROWING, (items, index), {}, frame)
        read = self.known_result(op, frame)
        indices = (index,) if isinstance(target, ListOf) else (*target.indices, index)
        if target.depth:
            return Row(place, indices, version, read)  # type: ignore[arg-type]
        if place.picks is not None:
            return Picked(place.picks, read, place)  # type: ignore[arg-type]
        if place.of is not None and self.kinds.of(index) == INT:
            return self.as_item(place, read)  # type: ignore[arg-type]
        if place.of is not None:
            if not self.is_slice(index):
                raise Escapes(place.origin)
            return self.new_numbers(op, place.of, place.origin, frame, holds_none=place.holds_none)
        self.read_from[read] = place, len(indices)  # type: ignore[index]
        return read

    @abstractmethod
    def read_part(self, op: Op, place: ListOf, index: Known, frame: Frame) -> Known:
        """`container[index]` of a dict or an array."""

    @abstractmethod
    def read_part_of_view(self, op: Op, view: View, index: Known, frame: Frame) -> Known:
        """`container[i][j]` of an array."""

    @abstractmethod
    def joined_index(self, op: Op, view: View, index: Known) -> Var | None:
        """The index with which an array has what a part of it has with an index."""

    @abstractmethod
    def write_part(self, op: Op, place: ListOf, index: Known, value: Known) -> Known:
        """`container[index] = value` on a dict or an array."""

    def is_from_front(self, place: ListOf, index: Known) -> bool:
        """Whether an index means the same item however long the list becomes."""
        if place.origin not in self.facts.grown or index in self.counters:
            return True
        return isinstance(index, Const) and type(index.value) is int and index.value >= 0

    def known_result(self, op: Op, frame: Frame) -> Known:
        """What an operation that has just been appended gives: something in sight, if it has made that."""
        made, self.made = self.made, None
        return frame.values.get(op.results[0], op.results[0]) if made is None else made

    def write_item(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target, index, value = arguments
        if isinstance(target, Object):
            return self.operator(op, operator.setitem, arguments, frame)
        if isinstance(target, DictOf) and isinstance(index, Const) and type(index.value) in KEYS:
            self.helped = True
            self.write(target, index.value, value)
            return NONE
        if isinstance(target, ListOf) and target.sort != "list":
            return self.write_part(op, target, index, value)
        if isinstance(target, View) and (joined := self.joined_index(op, target, index)) is not None:
            return self.write_part(op, target.place, joined, value)
        if isinstance(target, ListOf | Row) and not is_thing(index):
            self.check_rows(target, index, value)
            if target.depth:
                raise Escapes(origin_of(target))
            place = target if isinstance(target, ListOf) else target.place
            if place.of is not None and self.kinds.of(index) != INT:
                raise Escapes(place.origin)
            self.write_list(op, target, index, self.item_given_to(place, value))
            return NONE
        if isinstance(target, DictOf):
            self.check_computed(target, index)
        self.check_written(target)
        raise Escapes(first_origin(arguments))

    def read_entry(self, target: DictOf, key: Known) -> Known:
        """`d[key]` of a dict of which the entries are known."""
        self.check_computed(target, key)
        if not isinstance(key, Const) or not is_literal(key.value) or (target, key.value) not in self.fields:
            raise Escapes(target.origin)
        self.helped = True
        return self.fields[target, key.value]

    def check_computed(self, place: DictOf, key: Known) -> None:
        """Let a dict be one under computed keys if it is asked for one."""
        if not isinstance(key, Const) and not is_thing(key) and not self.facts.beside_writes:
            if place.origin not in self.facts.written:
                raise Writes(place.origin)

    def check_rows(self, target: ListOf | Row, index: Known, value: Known) -> None:
        """Let the lists in a list go by their numbers if they change places, or others take their places."""
        if not isinstance(target, ListOf) or self.kinds.of(index) != INT or target.field or self.facts.beside_writes:
            return
        is_known = target.key in self.facts.refers or target.key in self.facts.whole_items or target.origin[-1:] == (ROWS,)
        is_list = isinstance(value, ListOf) and value.sort == "list" and not value.depth and value.of is None
        if not is_known and (target.depth == 1 or (is_list and not target.depth)):
            raise Refers(target.key, (ROWS, target.origin))

    def write_list(self, op: Op, target: ListOf | Row, index: Known, value: Value) -> None:
        self.helped = True
        place, outer = (target, ()) if isinstance(target, ListOf) else (target.place, target.indices)
        if isinstance(target, Row) and self.out and getattr(self.out[-1], "results", ()) == (target.value,):
            self.out.pop()  # the list is read again as a part of the statement
        after = fresh(place.hint, True)
        changed = (self.plain(self.now(place)), *outer, self.plain(index), value)
        is_fixed = isinstance(target, Row) or self.is_from_front(target, index)
        self.add(Op(Opcode.STORE, changed, (after,), payload=FROM_FRONT if is_fixed else None, where=op.where))
        self.write(place, CONTENTS, after)
        self.put_too(place, changed[1], value, op.where)

    def length(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        (target,) = arguments
        if isinstance(target, Object | Element):
            given = self.operator(op, len, arguments, frame)
            is_known = isinstance(given, Const) and type(given.value) is int and given.value >= 0
            if not is_known and given not in self.lengths and target.cls not in CLASSES:
                return self.checked_length(op, given, frame)
            return given
        if isinstance(target, Table):
            return length_of(self, target)
        if isinstance(target, Picked):
            self.emit(op, op.callee, (target.numbers,), {}, frame)  # type: ignore[arg-type]
            return self.known_result(op, frame)
        if isinstance(target, ListOf):
            self.emit(op, op.callee, (self.now(target),), {}, frame)  # type: ignore[arg-type]
            return self.known_result(op, frame)
        if isinstance(target, Values):
            self.emit(op, op.callee, (self.values_now(target),), {}, frame)  # type: ignore[arg-type]
            return self.known_result(op, frame)
        if isinstance(target, Row):
            self.emit(op, op.callee, (self.row_now(target),), {}, frame)  # type: ignore[arg-type]
            return self.known_result(op, frame)
        return None

    def checked_length(self, op: Op, given: Known | None, frame: Frame) -> Known:
        """What `__len__` has given, which Python looks at."""
        length = self.define(op.results[0], frame)
        checked = (self.plain(given),)  # type: ignore[arg-type]
        self.add(Op(_LENGTH, checked, (length,), from_user=False, where=op.where))
        self.lengths.add(length)
        return length

    def place_in(self, table: Table, op: Op, index: Value) -> Value:
        """Which object an index means, counted from the front, as the list may grow. An index that is none fails as it does
        for the list, whether anybody asks for a field or not."""
        count = len(self.sizes.get(table, ()))
        if isinstance(index, Const) and type(index.value) is int:
            if 0 <= index.value < count:
                return index
            if -count <= index.value < 0 and table.origin not in self.facts.grown:
                return Const(count + index.value)
        elif index in self.counters:
            return index  # it is one
        elif self.kinds.of(index) != INT:
            raise Escapes(table.origin)
        column = self.plain(self.now(next(iter(table.columns.values()))))
        self.add(Op(_GETITEM, (column, index), (fresh(""),), where=op.where))
        if isinstance(index, Const) and index.value >= 0:
            return index
        number, length, place = fresh("k"), length_of(self, table), fresh("k")
        self.add(Op(_INDEX, (index,), (number,), where=op.where))
        self.add(Op(operator_constant("mod"), (number, length), (place,), from_user=False, where=op.where))
        self.counters.add(place)
        return place

    # Cells

    def write_cell(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        cell, value = arguments
        if is_variable(cell):
            return self.write_item(op, (column_of(cell), cell.index, value), frame)  # type: ignore[union-attr, arg-type]
        if not isinstance(cell, Cell):
            return None
        self.helped = True
        self.write(cell, CONTENTS, value)
        return NONE

    def read_cell(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        cell = arguments[0]
        if is_variable(cell):
            return self.read_item(op, (column_of(cell), cell.index), frame)  # type: ignore[union-attr, arg-type]
        if isinstance(cell, Cell):
            if (cell, CONTENTS) not in self.fields:
                raise Escapes(cell.origin)
            return self.fields[cell, CONTENTS]
        return None
