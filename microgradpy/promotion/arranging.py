"""Lists, deques and heaps of which items are taken away or change places (`runtime/arranged.py`, `runtime/heaps.py`).

    orders.remove(order)       take_equal(order, values, order)
    heapq.heappush(queue, v)   values.append(v);  push_entry(order, values, n)

The list that the program makes is an object of a class there, whose methods are written where they are called.
"""

from __future__ import annotations

import bisect
import heapq
import operator
import types
from abc import abstractmethod
from typing import Any

from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import INT, is_compared, is_list, is_ordered, item_kind
from microgradpy.ir.nodes import (
    Const,
    Each,
    Enumerate,
    For,
    Location,
    Op,
    Opcode,
    Statement,
    Value,
    Var,
    fresh,
    function_constant,
)
from microgradpy.ir.rewrite import map_items
from microgradpy.ir.traversal import item_sources, item_variables
from microgradpy.promotion.classes import ABSENT
from microgradpy.promotion.findings import Escapes, Origin, Shrinks
from microgradpy.promotion.functions import Named
from microgradpy.promotion.fusing import as_step, owners_of, run_over
from microgradpy.promotion.held import WRITING
from microgradpy.promotion.kinds import ITEM_OF_GROWING
from microgradpy.promotion.loops import length_of
from microgradpy.promotion.objects import NONE
from microgradpy.promotion.places import (
    CONTENTS,
    DictOf,
    Element,
    Frame,
    Generator,
    Known,
    ListOf,
    Method,
    Object,
    Packing,
    Table,
)
from microgradpy.promotion.written import Written
from microgradpy.runtime import written_out
from microgradpy.runtime.arranged import Arranged, Ring, kept_at, take_equal
from microgradpy.runtime.dict_objects import is_class_of_dicts
from microgradpy.runtime.heaps import COMPARED, FUNCTIONS, LISTS, OF_ENTRIES, Heap
from microgradpy.runtime.keyed import CLASSES, Members
from microgradpy.runtime.queues import Shrinking

_OF_HEAPS: dict[Any, str] = {
    getattr(heapq, name): name for name in ("heappush", "heappop", "heapify", "heapreplace", "heappushpop")
}
_OF_BISECT: dict[Any, str] = {bisect.insort_right: "insort_right", bisect.insort_left: "insort_left"}
_STEADY = (*LISTS, Ring)
_LIST = Const(list, "list", list)
_EXTENDED: Any = written_out.extended
_ITER = function_constant(iter)
_ALONE = frozenset({"heappop", "heapify"})
_OF_SHRINKING = {"append": 1, "extend": 1, "pop": 0, "clear": 0}
"""How many arguments the methods take that lists have which are popped at their ends."""
_NOT_OF_HEAPS = frozenset({"insert", "remove", "sort"})
_ASK_ITEMS = (sum, max, min, sorted, any, all, tuple, list)
"""What asks a deque for nothing but its items."""
_MAY_STOP = (any, all)
"""What may not ask an iterator for all of them."""
_ASKS = frozenset({"index", "count"})

CHANGE_LISTS = frozenset((*_OF_HEAPS, *_OF_BISECT))


class Arranging(Written):
    """What is done with lists and deques whose items change places."""

    def of_library(self, op: Op, function: Any, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known | None:
        if function is kept_at:
            return self.keep(arguments[0], arguments[1], op, frame)
        if isinstance(function, types.FunctionType) and function in FUNCTIONS:
            return self.arranges(op, function, arguments, frame)
        if isinstance(function, types.BuiltinFunctionType) and arguments and not keywords:
            name = _OF_HEAPS.get(function) or _OF_BISECT.get(function)
            if name is not None:
                return self.on_list(op, name, Heap if function in _OF_HEAPS else Arranged, arguments, frame)
        return super().of_library(op, function, arguments, keywords, frame)

    def on_list(self, op: Op, name: str, cls: type, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """A function that changes the list that it is given."""
        target = arguments[0]
        self.check_written(target)
        if isinstance(target, ListOf) and target.sort == "list" and not target.depth:
            raise Shrinks(target.origin, cls)
        if not isinstance(target, Object) or target.cls not in LISTS or len(arguments) != (1 if name in _ALONE else 2):
            return None
        if target.cls is not cls:
            raise Shrinks(target.origin, cls)
        return self.of_text(op, target, name, arguments[1:], frame)

    def of_text(self, op: Op, place: Object, name: str, arguments: tuple[Known, ...], frame: Frame) -> Known:
        """A method of one of the classes, written where it is called."""
        return self.inline(op, self.member_function(place, name), (place, *arguments), {}, frame, place.origin)

    # What the texts call

    def keep(self, items: Known, item: Known, op: Op, frame: Frame) -> Known:
        """`kept_at(items, item)`"""
        if isinstance(item, Element) and item.table is items:
            return item.index
        if not isinstance(items, ListOf | Table):
            raise Escapes(self.origin_of_text(frame))
        place = length_of(self, items)
        self.append(op, items, item)
        self.counters.add(place)
        return place

    def arranges(self, op: Op, function: Any, arguments: tuple[Known, ...], frame: Frame) -> Known:
        """A call of a function that changes places: nobody has, after it, what it is given."""
        numbered = [each for each in arguments if isinstance(each, Table) or (isinstance(each, ListOf) and each.of is not None)]
        unordered = self.unordered_parts(numbered[0]) if numbered and function in OF_ENTRIES else None
        if numbered and unordered is None:
            raise Escapes(self.origin_of_text(frame))  # objects would be compared, and not their numbers
        given = tuple(self.now(each) if isinstance(each, ListOf) else each for each in arguments)
        given = tuple(self.plain(each, hands=False) if isinstance(each, DictOf) else each for each in given)
        compared = [item_kind(self.kinds.of(given[COMPARED[function]]))] if function in COMPARED else []
        compared += [self.kinds.of(given[2])] if function is take_equal else []
        if not all(map(is_compared if function is take_equal else is_ordered, compared)):
            raise Escapes(self.origin_of_text(frame))
        given += () if unordered is None else unordered
        named = self.named_after_list(op, frame)
        self.emit(named, op.callee, given, {}, frame)  # type: ignore[arg-type]
        return self.known_result(named, frame)

    def unordered_parts(self, items: Known) -> tuple[Known, ...] | None:
        """Which parts of tuples are objects of classes that say nothing of what is equal or smaller, with the names of these;
        and the columns by which dicts among them are compared."""
        if not isinstance(items, ListOf) or not isinstance(items.of, Packing):
            return None
        named: list[tuple[str, int] | None] = []
        columns: list[Known] = []
        for form in items.of.items:
            compared = self.columns_compared(form) if form is not None else ()
            if compared is None:
                return None
            columns += compared
            is_dict = form is not None and is_class_of_dicts(form.cls)
            named.append(None if form is None else ("dict" if is_dict else form.cls.__name__, len(compared)))
        return Const(tuple(named)), *columns

    def columns_compared(self, form: Any) -> tuple[Known, ...] | None:
        """The columns that say whether dicts in a table are equal; None if objects are compared by methods of their own."""
        if not isinstance(form, Table):
            return None
        if not is_class_of_dicts(form.cls):
            return () if self.is_unordered(form.cls) else None
        if any(each.of is not None or each.depth or each.picks is not None for each in form.columns.values()):
            return None
        found = tuple(map(self.now, form.columns.values()))
        return found if all(is_compared(item_kind(self.kinds.of(each))) for each in found) else None

    def is_unordered(self, cls: type) -> bool:
        return all(self.member(cls, name) is getattr(object, name) for name in ("__eq__", "__lt__", "__gt__"))

    def named_after_list(self, op: Op, frame: Frame) -> Op:
        """What makes the order of a list that has a name: `queue_order = new_order()`. The order of a set is all of it."""
        owner, (made,) = self.owner_of_text(frame), op.results
        if made.hint != "order" or not owner.hint:
            return op
        hint = f"{owner.hint}_order" if owner.cls is not Members else owner.hint
        return replace(op, results=(replace(made, hint=hint),))

    def owner_of_text(self, frame: Frame) -> Object:
        """The list in whose method a call stands."""
        return next(known for known in frame.values.values() if isinstance(known, Object) and known.cls in CLASSES)

    def origin_of_text(self, frame: Frame) -> Origin:
        return self.owner_of_text(frame).origin

    # How lists become such objects

    def makes_arranged(self, op: Op, opcode: Opcode, arguments: tuple[Known, ...], frame: Frame) -> bool:
        """Make a list of which items are taken away; whether it is one."""
        origin = (*frame.path, *op.results[:1])
        cls = self.facts.shrinking.get(origin)
        if opcode is not Opcode.LIST or cls is None or self.facts.nested.get(origin):
            return False
        place = self.new_arranged(op, origin, cls, frame)
        self.bind(op.results[0], place, frame)
        for each in arguments:
            self.add_to(op, place, each, frame)
        return True

    def new_arranged(self, op: Op, origin: Origin, cls: type, frame: Frame) -> Object:
        place = self.construct(op, Const(cls, cls.__name__, cls), cls, (), {}, frame, origin)
        assert isinstance(place, Object)
        return place

    def add_to(self, op: Op, place: Object, item: Known, frame: Frame) -> None:
        """`items.append(item)` on a list of which items are taken away."""
        self.of_text(op, place, "append", (item,), frame)

    def copied_list(self, op: Op, result: Known, origin: Origin, frame: Frame) -> Known:
        """A list that a call has made, and that gets longer or shorter, as one of its own."""
        cls = self.facts.shrinking.get(origin)
        if cls is not None:
            made_of = self.new_arranged(op, origin, cls, frame)
            self.of_text(op, made_of, "extend", (result,), frame)
            return made_of
        hint = op.results[0].hint
        place, made = ListOf(origin, hint), fresh(hint, True)
        self.made_in[place] = self.out
        self.fields[place, CONTENTS] = made
        self.add(Op(Opcode.LIST, (), (made,), where=op.where))
        self.appended.add(origin)
        self.helped = True
        self.inline(op, _EXTENDED, (place, result), {}, frame, origin)
        return place

    # Loops

    def iterator_of(self, thing: Any, item: Var, where: Location, frame: Frame) -> Known | None:
        if thing.cls not in _STEADY or (*frame.path, item) in self.facts.live:
            return super().iterator_of(thing, item, where, frame)
        steady = self.member_function(thing, "steady")
        made = self.generator(Op(_ITER, (), (item,), where=where), steady, (thing,), {}, frame)
        return replace(made, over=(thing,)) if isinstance(made, Generator) else made

    def lower_statement(self, statement: Statement, frame: Frame) -> None:
        """A loop that is not to be fused with what gives the items runs over a list of them."""
        if not isinstance(statement, For) or not (places := self.run_over_as_lists(statement, frame)):
            super().lower_statement(statement, frame)
            return
        lists = {value: fresh(place.hint) for value, place in places.items()}
        for value, place in places.items():
            made = Op(Opcode.LIST, (), (lists[value],), where=statement.where)
            self.bind(lists[value], self.of_text(made, place, "listed", (), frame), frame)
        running = run_over(self, places.values(), self.loop_of(statement, frame))
        items = map_items(statement.items, lambda value: lists.get(value, value), lambda var: var)
        super().lower_statement(replace(statement, items=items), frame)
        self.running, self.running_in = running

    def run_over_as_lists(self, statement: For, frame: Frame) -> dict[Value, Object]:
        items = statement.items.inner if isinstance(statement.items, Enumerate) else statement.items
        if isinstance(items, Each) and as_step(statement.body) is not None:
            return {}
        if self.loop_of(statement, frame) in self.facts.live:
            return {}
        found = {value: self.known(value, frame) for value in item_sources(statement.items)}
        return {value: known for value, known in found.items() if self.is_steady(known)}  # type: ignore[misc]

    def is_steady(self, known: Known) -> bool:
        return isinstance(known, Object) and known.cls in _STEADY

    def loop_of(self, statement: For, frame: Frame) -> Origin:
        """What a loop is known by."""
        return (*frame.path, "loop", *item_variables(statement.items))

    def as_list(self, known: Known, op: Op, frame: Frame) -> Known:
        is_one = isinstance(known, Object) and known.cls in _STEADY
        return self.of_text(op, known, "listed", (), frame) if is_one else known  # type: ignore[arg-type]

    # Methods and operators

    @abstractmethod
    def call(self, op: Op, callee: Known, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known | None:
        """What a call gives; None if it is made as it stands."""

    @abstractmethod
    def method_of_container(
        self, op: Op, method: Method, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        """A method of a list or dict in sight."""

    def method_of_list(
        self, op: Op, method: Method, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        """What makes a list longer by many items, shorter, or gives it another order; None if it is another method."""
        receiver, name = method.receiver, method.name
        is_other = len(arguments) == 1 and not keywords and receiver is not arguments[0]
        if name == "extend" and is_other and isinstance(receiver, ListOf):
            return self.extend(op, receiver, arguments[0], frame)
        if name == "clear" or (name == "pop" and arguments in ((), (Const(0),), (Const(-1),))):
            raise Shrinks(receiver.origin, Shrinking)
        if name in WRITING:
            raise Shrinks(receiver.origin, Arranged)
        if name == "copy" and not arguments and not keywords and isinstance(receiver, ListOf):
            return self.list_of(op, receiver, frame)
        return None

    def list_of(self, op: Op, items: Known, frame: Frame) -> Known:
        """`list(items)`"""
        made = replace(op, callee=_LIST, arguments=())
        found = self.call(made, _LIST, (items,), {}, frame)
        if found is not None:
            return found
        self.emit(made, _LIST, (items,), {}, frame)
        return self.known_result(op, frame)

    def method_of_arranged(
        self, op: Op, method: Method, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        """A method of a list or deque of which items are taken away."""
        name, place = method.name, method.receiver
        if place.cls not in (*LISTS, Ring):
            return self.inline(op, self.member_function(place, name), (place, *arguments), keywords, frame, place.origin)
        if place.cls is Shrinking:
            return self.of_shrinking(op, place, name, arguments, keywords, frame)
        if place.cls is Heap and name in _NOT_OF_HEAPS:
            raise Escapes(place.origin)
        if name == "sort":
            return self.sort(op, place, arguments, keywords, frame)
        if keywords:
            raise Escapes(place.origin)
        if name in _ASKS:
            return self.ask(op, place, name, arguments, frame)
        if name == "remove" and len(arguments) == 1 and isinstance(arguments[0], Element):
            return self.remove_object(op, place, arguments[0], frame)
        text, given = self.text_of_method(place, name, arguments)
        return self.of_text(op, place, text, given, frame)

    def text_of_method(self, place: Object, name: str, arguments: tuple[Known, ...]) -> tuple[str, tuple[Known, ...]]:
        """The text that a method is, and what that is given."""
        count, is_counted = len(arguments), all(self.kinds.of(each) == INT for each in arguments[:1])
        match name:
            case "copy" if not count and place.cls is not Ring:
                return "listed", ()
            case "rotate" if count <= 1 and is_counted:
                return name, arguments or (Const(1),)
            case "pop" if not count:
                return name, ()
            case "pop" if count == 1 and is_counted and place.cls is not Ring:
                return "pop_at", arguments
            case "insert" if count == 2 and is_counted:
                return name, arguments
            case "extend" | "extendleft" if count == 1 and arguments[0] is not place and self.is_run_over(arguments[0]):
                return name, arguments
            case "append" | "appendleft" | "remove" if count == 1:
                return name, arguments
            case "reverse" | "clear" | "popleft" if not count:
                return name, ()
        raise Escapes(place.origin)

    def of_shrinking(
        self, op: Op, place: Object, name: str, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known:
        """A method of a list of which items are taken away at its ends; others need places of which the order changes."""
        if name == "pop" and arguments in ((Const(0),), (Const(-1),)):
            return self.of_text(op, place, "pop_first" if arguments == (Const(0),) else "pop", (), frame)
        is_other = keywords or len(arguments) != _OF_SHRINKING.get(name, -1) or arguments[:1] == (place,)
        if is_other or (name == "extend" and not self.is_run_over(arguments[0])):
            raise Shrinks(place.origin, Arranged)
        return self.of_text(op, place, name, arguments, frame)

    def remove_object(self, op: Op, place: Object, item: Element, frame: Frame) -> Known:
        """`objects.remove(object)`: the object itself, if its class does not say which others are equal to it."""
        equal = self.member(item.cls, "__eq__")
        if equal is not object.__eq__ or self.fields[place, "_items"] is not item.table:
            raise Escapes(place.origin)
        return self.of_text(op, place, "remove_kept", (item,), frame)

    def sort(self, op: Op, place: Object, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known:
        if arguments or not keywords.keys() <= {"key", "reverse"}:
            raise Escapes(place.origin)
        key, reverse = keywords.get("key", NONE), keywords.get("reverse", Const(False))
        if key == NONE:
            return self.of_text(op, place, "sort", (reverse,), frame)
        if not self.can_be_called(key) or self.trying:
            raise Escapes(place.origin, is_tried=bool(self.trying))  # the key may raise while the list is empty
        self.check_given(key)
        return self.of_text(op, place, "sort_by", (key, reverse), frame)

    def ask(self, op: Op, place: Object, name: str, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """A method that only looks into a list."""
        if place.cls is Ring:
            raise Escapes(place.origin)
        items = self.of_text(op, place, "listed", (), frame)
        return self.method_of_container(op, Method(items, None, name), arguments, {}, frame)

    def delete_item(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`del items[index]`"""
        target, index = arguments
        if isinstance(target, ListOf | Table) and getattr(target, "sort", "list") == "list":
            raise Shrinks(target.origin, Arranged)
        if not isinstance(target, Object) or target.cls not in CLASSES:
            return None
        if target.cls is Shrinking:
            raise Shrinks(target.origin, Arranged)
        if not self.is_place_or_slice(index) or self.member(target.cls, "delete") is ABSENT:
            raise Escapes(target.origin)
        return self.of_text(op, target, "delete", (index,), frame)

    def is_place_or_slice(self, index: Known) -> bool:
        return self.kinds.of(index) == INT or self.is_slice(index)

    def write_item(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target, index, value = arguments
        if isinstance(target, ListOf) and target.sort == "list" and not target.depth and self.is_slice(index):
            raise Shrinks(target.origin, Arranged)
        if isinstance(target, Object) and target.cls in LISTS and self.is_slice(index):
            if target.cls is Shrinking:
                raise Shrinks(target.origin, Arranged)
            if target.cls is Heap or not self.is_run_over(value):
                raise Escapes(target.origin)
            self.of_text(op, target, "put", (index, value), frame)
            return NONE
        return super().write_item(op, arguments, frame)

    def read_item(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target, index = arguments
        if isinstance(target, Object) and target.cls in LISTS and self.is_slice(index):
            if target.cls is Shrinking:
                raise Shrinks(target.origin, Arranged)
            return self.of_text(op, target, "part", (index,), frame)
        return super().read_item(op, arguments, frame)

    def in_place(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`items += others`, `items *= times`"""
        target, other = arguments
        function = op.callee.value  # type: ignore[union-attr]
        if function is operator.imul and isinstance(target, ListOf | Object) and self.is_repeated(target, other):
            if not isinstance(target, Object) or target.cls is Shrinking:
                raise Shrinks(target.origin, Arranged)
            self.of_text(op, target, "repeat", (other,), frame)
            return target
        if function is operator.iadd and isinstance(target, Object) and target.cls in CLASSES:
            if other is target or not self.is_run_over(other):
                raise Escapes(target.origin)
            self.of_text(op, target, "extend", (other,), frame)
            return target
        return super().in_place(op, arguments, frame)

    def is_repeated(self, target: ListOf | Object, times: Known) -> bool:
        is_one = target.cls in LISTS if isinstance(target, Object) else target.sort == "list" and not target.depth
        return is_one and self.kinds.of(times) == INT

    def is_list_made(self, value: Known) -> bool:
        """Whether something is a list that a call has made and nobody else has."""
        return isinstance(value, Var) and value in self.fresh and is_list(self.kinds.of(value))

    def is_dict_made(self, value: Known) -> bool:
        kind = self.kinds.of(value)
        return isinstance(value, Var) and value in self.fresh and (not is_list(kind))

    # Given to others

    def apart(self, known: Known, op: Op, frame: Frame) -> Known:
        """A deque as a list; a list that is written into after somebody has asked it for something: a copy of its own."""
        asked = op.callee.value if isinstance(op.callee, Const) else None
        asks_items = asked in _ASK_ITEMS
        if asks_items and isinstance(known, Object) and known.cls not in LISTS:
            return self.as_list(known, op, frame)
        if asks_items and isinstance(known, Generator) and asked not in _MAY_STOP:
            return self.collected(op, (known,), frame) or known
        if not isinstance(known, ListOf) or known.origin not in self.facts.asked or known.of is not None or known.depth:
            return known
        if known.sort == "array":
            return self.copy_of_array(self.plain(self.now(known)), fresh(known.hint, True))
        copy = fresh(known.hint, True)
        self.add(Op(ITEM_OF_GROWING, (self.now(known), Const(slice(None))), (copy,), from_user=False, where=op.where))  # type: ignore[arg-type]
        return copy

    def listed(self, place: Object, *, shows: bool) -> Value:
        """A list whose items change places as a list, which is another one each time."""
        op = Op(Opcode.LIST, (), (fresh(place.hint, True),))
        found = self.inline(op, self.member_function(place, "listed"), (place,), {}, Frame(place.origin), place.origin)
        if shows:
            self.shown.add(place)
            for owner in owners_of(self, (place,)):
                self.shown.add(owner)
                self.hand_out(owner)
        return self.plain(found, shows=False)
