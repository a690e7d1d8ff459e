"""Functions of the standard library in the place of their calls, and what uses up the iterators that they give."""

from __future__ import annotations

import operator
import types
from abc import abstractmethod
from collections import deque
from functools import lru_cache
from typing import Any

from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import INT, Array, Inert, Numeric, Scalar, Sequence, TupleOf, is_key, is_list, is_ordered, item_kind
from microgradpy.ir.nodes import (
    FROM_FRONT,
    Const,
    Op,
    Opcode,
    Return,
    Value,
    Var,
    fresh,
    function_constant,
    operator_constant,
)
from microgradpy.ir.random_sources import is_source
from microgradpy.ir.traversal import terminators
from microgradpy.promotion import library
from microgradpy.promotion.classes import ABSENT
from microgradpy.promotion.findings import Escapes
from microgradpy.promotion.functions import Named
from microgradpy.promotion.fusing import run
from microgradpy.promotion.iterated import is_own, used_up
from microgradpy.promotion.objects import NONE
from microgradpy.promotion.places import (
    CONTENTS,
    Closure,
    Display,
    Frame,
    Generator,
    Iterated,
    Known,
    ListOf,
    Method,
    Object,
    Packed,
    Partial,
    Picked,
    Row,
    Table,
    Values,
    is_thing,
    lists_of,
    origin_of,
    tables_of,
)
from microgradpy.promotion.stores import Stores
from microgradpy.promotion.writers import may_write
from microgradpy.runtime import written_out
from microgradpy.runtime.keyed import CLASSES
from microgradpy.runtime.queues import counted
from microgradpy.runtime.suspension import is_generator
from microgradpy.runtime.written_out import ORDERS

_GETATTR, _GETITEM = function_constant(getattr), operator_constant("getitem")


class Written(Stores):
    """What is done with calls of functions that have a text (`library.written`)."""

    def of_library(self, op: Op, function: Any, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known | None:
        """What a function of the library gives that is written where it is called."""
        origin = (*frame.path, *op.results)
        if function is counted:
            self.counters.add(arguments[0])  # type: ignore[arg-type]
            return arguments[0]
        if function is deque:
            return self.queue(op, arguments, keywords, frame)
        if function is lru_cache and not arguments:
            return library.decorator(keywords)
        self.check_order(function, arguments, frame)
        return self.as_text(op, self.text_of(function, arguments, keywords, origin), origin, frame)

    def as_text(self, op: Op, found: library.WrittenOut | None, origin: Any, frame: Frame) -> Known | None:
        """What a text gives in the place of a call; None if the call is made as it stands."""
        if found is None or not all(map(self.can_be_called, found.functions)):
            return None
        if found.text is written_out.grouped and not self.may_group(found):
            return None
        if found.by_place:
            functions = tuple(self.for_keys_of(each, found.sources) for each in found.functions)
            sources = tuple(self.as_list(each, op, frame) for each in found.sources)
            found = replace(found, functions=functions, sources=sources)
        if not self.takes(found):
            return None
        by_place = all(map(self.has_places, found.sources))
        text: Any = found.text if by_place or not found.by_place else found.otherwise
        if text is None:
            return None
        for each in found.functions:
            self.check_given(each)
        ir, _ = self.lowered(text, origin)
        ir = replace(ir, body=library.placed(ir.body, op.where))
        values = dict(zip((parameter.var for parameter in ir.parameters), found.arguments, strict=True))
        if is_generator(text.__code__):
            made = Generator(origin, ir.body, Frame(origin, values), self.loop, len(self.trying))
            return replace(made, steady=self.contents_read(found)) if text is written_out.grouped else made
        self.helped = True
        return self.body(op, ir, values, frame, origin)

    def may_group(self, found: library.WrittenOut) -> bool:
        """Whether it is no matter that a text asks for the keys of a group before the program does anything with it: nothing
        that they are made of can change meanwhile."""
        (key,), (source,) = found.functions, found.sources
        if self.facts.beside_writes or not (isinstance(source, ListOf | Table | Display) or not is_thing(source)):
            return False
        forms = [source.of] if isinstance(source, ListOf) else [source] if isinstance(source, Table) else []
        tables: list[Any] = [table for form in forms for table in tables_of(form)]
        if not all(isinstance(table, Table) and table.cls not in self.facts.mutable for table in tables):
            return False
        if isinstance(key, Closure):
            return not any(map(is_thing, key.values))
        return not isinstance(key, Const) or not isinstance(key.value, types.FunctionType) or not may_write(key.value)

    def contents_read(self, found: library.WrittenOut) -> tuple[tuple[ListOf, Any], ...]:
        """The lists that a text reads, as they are."""
        places = (place for each in found.sources if isinstance(each, ListOf | Table) for place in lists_of(each))
        return tuple((place, self.fields.get((place, CONTENTS))) for place in places)

    def drawn(self, op: Op, callee: Known, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known | None:
        """`rng.choice(items)` as the item in a place that is drawn."""
        name = self.draws_by(callee)
        if name is None or not arguments or not (is_thing(arguments[0]) or is_list(self.kinds.of(arguments[0]))):
            return None
        origin = (*frame.path, *op.results)
        if origin in self.facts.kept or isinstance(arguments[0], Object):
            return None
        return self.as_text(op, library.drawn(name, callee, arguments, keywords), origin, frame)

    def draws_by(self, callee: Known) -> str | None:
        """By which method of a generator of Python's random numbers items are drawn, if that is called."""
        if isinstance(callee, Const):
            owner, name = getattr(callee.value, "__self__", None), getattr(callee.value, "__name__", "")
            is_one = is_source(owner) and type(owner).__module__ == "random" and isinstance(callee.value, types.MethodType)
            return name if is_one and name in library.DRAWS and callee.value.__func__ is vars(type(owner)).get(name) else None
        made = self.kinds.builder.producers.get(callee) if isinstance(callee, Var) else None
        if made is None or made.callee != _GETATTR or self.kinds.of(made.arguments[0]) != Inert("Random"):
            return None
        name = made.arguments[1].value if isinstance(made.arguments[1], Const) else None
        return name if name in library.DRAWS else None

    def text_of(self, function: Any, arguments: tuple[Known, ...], keywords: Named, origin: Any) -> library.WrittenOut | None:
        """The text that a call stands for, if that is tried."""
        found = library.written(function, arguments, keywords)
        # What a text makes may be memory, such as the generator that it returns.
        if found is None or any(kept[: len(origin)] == origin for kept in self.facts.kept):
            return None
        if found.text in written_out.READ_LATER and any(isinstance(each, Object) for each in found.sources):
            return None  # a list that gets shorter, or whose items change places: what is copied now is not what is read then
        return replace(found, functions=tuple(self.as_item_getter(each, origin) for each in found.functions))

    def as_item_getter(self, function: Known, origin: Any) -> Known:
        """`items.__getitem__` of a list as a function of the places."""
        made = self.kinds.builder.producers.get(function) if isinstance(function, Var) else None
        owner: Known | None = None
        if isinstance(function, Method) and function.name == "__getitem__" and function.function is None:
            owner = function.receiver
        elif made is not None and made.callee == _GETATTR and made.arguments[1:] == (Const("__getitem__"),):
            owner = made.arguments[0]
        return Partial(origin, _GETITEM, (owner,), {}) if owner is not None and self.has_places(owner) else function

    def check_order(self, function: Any, arguments: tuple[Known, ...], frame: Frame) -> None:
        """Let a call escape that orders what may have an order of its own."""
        if _is_order(function) and not is_ordered(item_kind(self.kinds.of(self.contents_of(arguments[ORDERS[function]])))):
            raise Escapes(frame.path)

    def takes(self, found: library.WrittenOut) -> bool:
        """Whether what is known of arguments is what a text wants."""
        is_over = all(map(self.is_run_over, found.sources)) and not any(self.may_be_none(each) for each in found.present)
        if found.of_generators and not self.is_left(found):
            return False
        return is_over and all(self.kinds.of(each) == INT for each in found.numbers)

    def is_left(self, found: library.WrittenOut) -> bool:
        """Whether a text runs over a generator in sight, and ends as the function does that it stands for: `next` raises what
        the generator has returned, and another exception inside of one."""
        (source,) = found.sources
        if not isinstance(source, Generator) or self.facts.beside_writes:
            return False
        ends = (end.value for end in terminators(source.body) if isinstance(end, Return))
        return found.text is not written_out.first_item or (self.generators == 0 and all(end == NONE for end in ends))

    def queue(self, op: Op, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known | None:
        """What `deque(...)` makes, as an object of a class that does the same."""
        origin = (*frame.path, *op.results)
        cls = library.class_for(deque, arguments, keywords, lambda cls: (*origin, cls.__name__) in self.facts.kept)
        if cls is None or origin in self.facts.kept or not all(map(self.is_run_over, arguments[:1])):
            return None
        bounds = tuple(known for known in (*arguments[1:], *keywords.values()) if known != NONE)
        if any(self.kinds.of(each) != INT for each in bounds):
            return None
        place = self.construct(op, Const(cls, cls.__name__, cls), cls, bounds, {}, frame, (*origin, cls.__name__))
        if isinstance(place, Object) and arguments:
            self.inline(op, self.member_function(place, "extend"), (place, arguments[0]), {}, frame, place.origin)
        return place

    def extend(self, op: Op, place: ListOf, others: Known, frame: Frame) -> Known:
        """`items.extend(others)`"""
        if not self.is_run_over(others) or others is place:
            raise Escapes(place.origin)
        self.helped = True
        self.appended.add(place.origin)
        return self.inline(op, written_out.extended, (place, others), {}, frame, place.origin)  # type: ignore[arg-type]

    def in_place(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`items += others` makes a list longer."""
        target, *others = arguments
        is_sum = isinstance(op.callee, Const) and op.callee.value is operator.iadd
        if is_sum and isinstance(target, ListOf) and target.sort == "list" and self.is_run_over(others[0]):
            self.extend(op, target, others[0], frame)
            return target
        return super().in_place(op, arguments, frame)

    def contents_of(self, known: Known) -> Known:
        """A list in sight as it is now."""
        return self.now(known) if isinstance(known, ListOf) else known

    def can_be_called(self, known: Known) -> bool:
        """Whether it is known what is called."""
        if isinstance(known, Var):
            made = self.kinds.builder.producers.get(known)
            return made is not None and made.callee is Opcode.CLOSURE and known in self.fresh
        return isinstance(known, Closure | Method | Partial) or (isinstance(known, Const) and callable(known.value))

    def is_run_over(self, known: Known) -> bool:
        """Whether something is known to give its items to whoever asks, and nothing else: a list, a dict or an array."""
        if is_thing(known):
            in_sight = isinstance(known, ListOf) and known.sort != "array"
            return in_sight or self.is_steady(known) or isinstance(known, Generator | Table | Picked | Row | Values | Display)
        kind = self.kinds.of(known)
        return isinstance(kind, Sequence | TupleOf) or (isinstance(kind, Array) and bool(kind.ndim))

    def has_places(self, known: Known) -> bool:
        """The same of what has them by their places."""
        kind = self.kinds.of(known)
        if is_thing(known):
            in_sight = isinstance(known, ListOf) and known.sort == "list"
            return in_sight or self.is_steady(known) or isinstance(known, Table | Row | Values | Display)
        return is_list(kind) or isinstance(kind, TupleOf | Array) or (isinstance(kind, Sequence) and kind.name == "range")

    @abstractmethod
    def is_steady(self, known: Known) -> bool:
        """Whether something is a list whose items change places, but not while it is run over."""

    @abstractmethod
    def as_list(self, known: Known, op: Op, frame: Frame) -> Known:
        """Such a list as one whose items have places, for as long as nothing else is done."""

    def for_keys_of(self, function: Known, sources: tuple[Known, ...]) -> Known:
        """`d.get` as it is called with keys that `d` has."""
        is_get = isinstance(function, Method) and function.name == "get" and isinstance(function.receiver, Object)
        return replace(function, name="__getitem__") if is_get and function.receiver in sources else function  # type: ignore[type-var, union-attr]

    def may_be_none(self, known: Known) -> bool:
        kind = self.kinds.of(known)
        return not is_thing(known) and not isinstance(kind, Scalar | Array | TupleOf | Sequence | Numeric)

    def items_of_tuple(self, known: Known) -> tuple[Value, ...]:
        """What a tuple has been made of, in sight of who takes it apart."""
        made = self.kinds.builder.producers.get(known) if isinstance(known, Var) else None
        return made.arguments if made is not None and made.callee is Opcode.TUPLE else ()

    # Generators

    def as_generator(self, op: Op, known: Known, frame: Frame) -> Known:
        """What gives the items of something that is used up by a call, which asks how many there are. An item may be written
        into before the next one is there, so that it makes a difference who has taken it by then."""
        if self.facts.beside_writes and isinstance(known, Generator | Iterated):
            raise Escapes(known.origin)
        if isinstance(known, Iterated):
            return used_up(self, known)
        found = self.iterator_of(known, op.results[0], op.where, frame) if is_own(known) else None
        if found is None:
            return known
        if known.cls not in CLASSES:  # type: ignore[union-attr, operator]
            self.check_length(op, known, frame)
        return used_up(self, found) if isinstance(found, Iterated) else found

    def check_length(self, op: Op, known: Any, frame: Frame) -> None:
        """Ask an object how many items it gives, as what takes them all does; it has to be known that it answers."""
        length = self.member(known.cls, "__len__")
        if self.member(known.cls, "__length_hint__") is not ABSENT:
            raise Escapes(origin_of(known))
        if length is ABSENT:
            return
        if not isinstance(length, types.FunctionType):
            raise Escapes(origin_of(known))
        given = self.inline(replace(op, results=(fresh("n"),)), length, (known,), {}, frame, origin_of(known))
        if given not in self.lengths and not (isinstance(given, Const) and type(given.value) is int and given.value >= 0):
            raise Escapes(origin_of(known))

    def negated(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`not` and `bool` of an object"""
        asked = self.truth(arguments[0], op.where, frame)
        if asked is arguments[0]:
            return None
        asks = op.callee.value if isinstance(op.callee, Const) else None
        if isinstance(asked, Const) and type(asked.value) is bool and asks in (bool, operator.not_):
            return Const(asked.value is (asks is bool))
        self.emit(op, op.callee, (asked,), {}, frame)  # type: ignore[arg-type]
        return self.known_result(op, frame)

    def collected(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`list(g(...))`; of objects in a list, all of them as they are now"""
        if len(arguments) == 1 and isinstance(arguments[0], Table | Picked):
            return self.pick(op, arguments[0], Const(slice(None)), frame)
        if len(arguments) == 1 and isinstance(arguments[0], Object) and self.is_steady(arguments[0]):
            return self.as_list(arguments[0], op, frame)
        generator = self.as_generator(op, arguments[0], frame)
        if generator is not arguments[0] and not isinstance(generator, Generator):
            return self.called_with(op, (generator, *arguments[1:]), frame)
        if len(arguments) != 1 or not isinstance(generator, Generator):
            return None
        place = self.new_list(op, "items", generator.origin)
        run(self, generator, lambda value: self.append(op, place, value))
        return place

    def called_with(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known:
        """What a call gives with other arguments."""
        found = self.call(op, op.callee, arguments, {}, frame)  # type: ignore[arg-type]
        if found is None:
            self.emit(op, op.callee, arguments, {}, frame)  # type: ignore[arg-type]
            return self.known_result(op, frame)
        return found

    @abstractmethod
    def call(self, op: Op, callee: Known, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known | None:
        """What a call gives; None if it is made as it stands."""

    def gathered(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`dict(g(...))`, of a generator that gives pairs"""
        generator = self.as_generator(op, arguments[0], frame)
        if len(arguments) != 1 or not isinstance(generator, Generator):
            return None
        (result,) = op.results
        place, version = self.list_at((*generator.origin, "entries"), result.hint, sort="dict"), fresh(result.hint, True)
        if place.origin in self.facts.kept:
            raise Escapes(generator.origin)
        self.add(Op(Opcode.DICT, (), (version,), where=op.where))
        self.fields[place, CONTENTS] = version

        def put(pair: Known) -> None:
            after = fresh(result.hint, True)
            if isinstance(pair, Packed) and len(pair.form.items) == 2:
                key, value = self.items_of_packed(op, pair)
            elif isinstance(pair, Var):
                items = self.items_of_tuple(pair)
                if len(items) != 2:
                    items = fresh("key"), fresh("value")
                    self.add(Op(Opcode.UNPACK, (pair,), items, where=op.where))
                key, value = items
            else:
                raise Escapes(generator.origin)
            if is_thing(key) or not is_key(self.kinds.of(key)):
                raise Escapes(generator.origin)
            changed = (self.plain(self.fields[place, CONTENTS]), self.plain(key), self.given_to(place, value))
            self.add(Op(Opcode.STORE, changed, (after,), payload=FROM_FRONT, where=op.where))
            self.write(place, CONTENTS, after)

        run(self, generator, put)
        return place

    def summed(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`sum(g(...))`, or another function that takes all items before it gives anything"""
        generator = self.as_generator(op, arguments[0], frame)
        if generator is not arguments[0] and not isinstance(generator, Generator):
            return self.called_with(op, (generator, *arguments[1:]), frame)
        if not isinstance(generator, Generator):
            return None
        given = (self.collected(op, (generator,), frame), *arguments[1:])
        self.emit(op, op.callee, given, {}, frame)  # type: ignore[arg-type]
        return self.known_result(op, frame)


def _is_order(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and ORDERS.get(function) is not None
