"""Functions of the standard library in the place of their calls, and what uses up the iterators that they give."""

from __future__ import annotations

import types
from typing import Any

from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import Array, Numeric, Scalar, Sequence, TupleOf, is_list, is_ordered, item_kind
from microgradpy.ir.nodes import FROM_FRONT, Const, Op, Opcode, Value, Var, fresh
from microgradpy.promotion import library
from microgradpy.promotion.functions import Named
from microgradpy.promotion.fusing import run
from microgradpy.promotion.places import (
    CONTENTS,
    Closure,
    Escapes,
    Frame,
    Generator,
    Known,
    ListOf,
    Method,
    Picked,
    Row,
    Table,
    is_thing,
)
from microgradpy.promotion.stores import Stores
from microgradpy.runtime.suspension import is_generator
from microgradpy.runtime.written_out import ORDERS


class Written(Stores):
    """What is done with calls of functions that have a text (`library.written`)."""

    def of_library(self, op: Op, function: Any, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known | None:
        """What a function of the library gives that is written where it is called."""
        origin = (*frame.path, *op.results)
        if _is_order(function) and not is_ordered(item_kind(self.kinds.of(self.contents_of(arguments[0])))):
            raise Escapes(frame.path)
        found = library.written(function, arguments, keywords) if origin not in self.facts.kept else None
        if found is None or not all(map(self.can_be_called, found.functions)):
            return None
        if not all(map(self.is_run_over, found.sources)) or any(self.may_be_none(each) for each in found.present):
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
            return Generator(origin, ir.body, Frame(origin, values), self.loop, self.attempts)
        self.helped = True
        return self.body(op, ir, values, frame, origin)

    def contents_of(self, known: Known) -> Known:
        """A list in sight as it is now."""
        return self.fields[known, CONTENTS] if isinstance(known, ListOf) else known

    def can_be_called(self, known: Known) -> bool:
        """Whether it is known what is called."""
        if isinstance(known, Var):
            made = self.kinds.builder.producers.get(known)
            return made is not None and made.callee is Opcode.CLOSURE and known in self.fresh
        return isinstance(known, Closure | Method) or (isinstance(known, Const) and callable(known.value))

    def is_run_over(self, known: Known) -> bool:
        """Whether something is known to give its items to whoever asks, and nothing else: a list, a dict or an array."""
        if is_thing(known):
            return isinstance(known, Generator | Table | Picked | Row) or (isinstance(known, ListOf) and known.sort != "array")
        kind = self.kinds.of(known)
        return isinstance(kind, Sequence | TupleOf) or (isinstance(kind, Array) and bool(kind.ndim))

    def has_places(self, known: Known) -> bool:
        """The same of what has them by their places."""
        kind = self.kinds.of(known)
        if is_thing(known):
            return isinstance(known, Table | Row) or (isinstance(known, ListOf) and known.sort == "list")
        return is_list(kind) or isinstance(kind, TupleOf | Array)

    def may_be_none(self, known: Known) -> bool:
        kind = self.kinds.of(known)
        return not is_thing(known) and not isinstance(kind, Scalar | Array | TupleOf | Sequence | Numeric)

    def items_of_tuple(self, known: Known) -> tuple[Value, ...]:
        """What a tuple has been made of, in sight of who takes it apart."""
        made = self.kinds.builder.producers.get(known) if isinstance(known, Var) else None
        return made.arguments if made is not None and made.callee is Opcode.TUPLE else ()

    # Generators

    def collected(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`list(g(...))`"""
        (generator,) = arguments
        if not isinstance(generator, Generator):
            return None
        place = self.new_list(op, "items", generator.origin)
        run(self, generator, lambda value: self.append(op, place, value))
        return place

    def gathered(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`dict(g(...))`, of a generator that gives pairs"""
        generator = arguments[0]
        if len(arguments) != 1 or not isinstance(generator, Generator):
            return None
        (result,) = op.results
        place, version = ListOf((*generator.origin, "entries"), result.hint, sort="dict"), fresh(result.hint, True)
        if place.origin in self.facts.kept:
            raise Escapes(generator.origin)
        self.add(Op(Opcode.DICT, (), (version,), where=op.where))
        self.fields[place, CONTENTS] = version

        def put(pair: Known) -> None:
            if not isinstance(pair, Var):
                raise Escapes(generator.origin)
            after, items = fresh(result.hint, True), self.items_of_tuple(pair)
            if len(items) != 2:
                items = fresh("key"), fresh("value")
                self.add(Op(Opcode.UNPACK, (pair,), items, where=op.where))
            key, value = items
            changed = (self.plain(self.fields[place, CONTENTS]), key, value)
            self.add(Op(Opcode.STORE, changed, (after,), payload=FROM_FRONT, where=op.where))
            self.write(place, CONTENTS, after)

        run(self, generator, put)
        return place

    def summed(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`sum(g(...))`"""
        if not isinstance(arguments[0], Generator):
            return None
        given = (self.collected(op, arguments[:1], frame), *arguments[1:])
        self.emit(op, op.callee, given, {}, frame)  # type: ignore[arg-type]
        return self.known_result(op, frame)


def _is_order(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and function in ORDERS
