"""Loops that are written out, iteration by iteration: those over namedtuples in sight, over what functions are given by stars,
over what arguments hold, and over dicts of arrays whose keys are proven.

    {k: p[k] - rate * g[k] for k in p}          {"w": p["w"] - rate * g["w"], "b": p["b"] - rate * g["b"]}

What a comprehension collects in such a loop is a display.
"""

from __future__ import annotations

from typing import Any

from microgradpy.dataclasses import replace
from microgradpy.ir.kinds import Scalar, Sequence
from microgradpy.ir.nodes import (
    Const,
    Each,
    For,
    Location,
    Op,
    Opcode,
    Region,
    Statement,
    Value,
    Var,
    Yield,
    fresh,
    function_constant,
)
from microgradpy.ir.traversal import item_sources, terminator_values, uses, walk
from microgradpy.promotion import classes
from microgradpy.promotion.base import fields_of
from microgradpy.promotion.escapes import Used
from microgradpy.promotion.families import Families
from microgradpy.promotion.findings import Escapes, Origin
from microgradpy.promotion.fusing import as_step
from microgradpy.promotion.given import MOST_ROUNDS, rounds_of
from microgradpy.promotion.places import DictOf, Display, Frame, Known, ListOf, Object, first_origin, is_thing

_GETATTR, _SLICE = function_constant(getattr), function_constant(slice)
_VIEWS = ("keys", "values", "items")


class Rounds(Families):
    """What is done with such loops."""

    def statement(self, statement: Statement, frame: Frame) -> None:
        if not isinstance(statement, For) or not self.is_written_out(statement, frame):
            super().statement(statement, frame)
            return
        self.at = Used(statement)
        region, before = as_step(statement.body), self.out[:]
        self.drop_views()
        rounds = None if region is None and self.may_loop(statement, frame) else self.rounds(statement, frame)
        if rounds is None or (len(rounds) > MOST_ROUNDS and self.may_loop(statement, frame)):
            self.out[:] = before
            super().statement(statement, frame)
            return
        if region is None or len(rounds) > MOST_ROUNDS:
            raise Escapes(self.origin_of_items(statement, frame))
        self.write_out(statement, region, rounds, frame)

    def rounds(self, statement: For, frame: Frame) -> list[dict[Var, Known]] | None:
        return rounds_of(self, statement.items, statement.body, frame)

    def is_written_out(self, statement: For, frame: Frame) -> bool:
        """Whether a loop may be written out, iteration by iteration: over the items of namedtuples in sight, dicts, or what
        functions are given by stars (`for f in functions`)."""
        sources = [self.known(value, frame) for value in item_sources(statement.items)]
        return any(_is_record(each) or isinstance(each, Display) or self.proven_dict(each) is not None for each in sources)

    def may_loop(self, statement: For, frame: Frame) -> bool:
        """Whether it may be a loop as well: over nothing but values and dicts."""
        sources = [self.known(value, frame) for value in item_sources(statement.items)]
        return not any(is_thing(each) and not isinstance(each, DictOf) for each in sources)

    def origin_of_items(self, statement: For, frame: Frame) -> Origin:
        known = tuple(self.known(value, frame) for value in item_sources(statement.items))
        return first_origin(known) if any(map(is_thing, known)) else self.first_root()

    def first_root(self) -> Origin:
        """The first of what is in sight without being made in the function."""
        return ()

    def items(self, known: Known) -> tuple[Known, ...] | None:
        """The items of something in sight, or of a dict whose keys are proven, if these are known."""
        if isinstance(known, Object) and _is_record(known):
            return self.items_of_record(known)
        if isinstance(known, Display):
            return known.items
        found = self.proven_dict(known)
        if found is None:
            return None
        mapping, view = found
        entries = self.entries_read_now(mapping)
        if view == "items":
            origin = first_origin((mapping,)) if is_thing(mapping) else ()
            return tuple(Display(origin, (Const(key), value)) for key, value in entries)
        return tuple(value if view == "values" else Const(key) for key, value in entries)

    def pairs(self, known: Known) -> list[tuple[Any, Known]] | None:
        """The keys and values of a dict, if these are known."""
        found = self.proven_dict(known)
        return None if found is None or found[1] != "keys" else self.entries_read_now(found[0])

    def read_item(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        target, index = arguments
        if isinstance(target, Display):
            number = index.value if isinstance(index, Const) else self.slice_of(index)
            if type(number) is int and -len(target.items) <= number < len(target.items):
                return target.items[number]
            if type(number) is slice:
                return replace(target, items=target.items[number])
        return super().read_item(op, arguments, frame)

    def truth(self, known: Known, where: Location, frame: Frame) -> Known:
        return Const(bool(known.items)) if isinstance(known, Display) else super().truth(known, where, frame)

    def slice_of(self, index: Known) -> slice | None:
        """A slice that is made of constants."""
        made = self.kinds.builder.producers.get(index) if isinstance(index, Var) else None
        bounds = [each.value for each in made.arguments if isinstance(each, Const)] if made is not None else []
        is_one = made is not None and made.callee == _SLICE and len(bounds) == len(made.arguments)
        return slice(*bounds) if is_one and all(type(each) in (int, type(None)) for each in bounds) else None

    def length(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        return Const(len(arguments[0].items)) if isinstance(arguments[0], Display) else super().length(op, arguments, frame)

    # Dicts whose keys are proven

    def proven_dict(self, known: Known) -> tuple[Known, str] | None:
        """The dict that something is, or is a view of, and which one (of itself, its keys), if its keys are proven and it does
        not hold numbers only, over which a loop is as good; None of anything else."""
        if isinstance(known, Var) and (made := self.kinds.builder.producers.get(known)) is not None and not made.arguments:
            method = self.kinds.builder.producers.get(made.callee) if isinstance(made.callee, Var) else None
            if method is not None and method.callee == _GETATTR and isinstance(method.arguments[1], Const):
                mapping, name = method.arguments[0], str(method.arguments[1].value)
                return (mapping, name) if name in _VIEWS and self.has_parts(mapping) else None
        return (known, "keys") if self.has_parts(known) else None

    def has_parts(self, known: Known) -> bool:
        if isinstance(known, DictOf):
            if any(place is known and (place, name) not in self.fields for place, name in self.unsure):
                return False
            values = fields_of(self.fields, known).values()
            return not all(not is_thing(each) and isinstance(self.kinds.of(each), Scalar) for each in values)
        kind = self.kinds.of(known) if isinstance(known, Var) and not self.facts.beside_writes else None
        if not isinstance(kind, Sequence) or kind.name != "dict":
            return False
        return bool(kind.entries) and not all(isinstance(each, Scalar) for _, each in kind.entries)

    def entries_read_now(self, mapping: Known) -> list[tuple[Any, Known]]:
        assert self.at is not None
        at: Any = self.at.statement
        found = self.entries_of(at, mapping, Frame(()))
        assert found is not None  # as its keys are proven
        return list(found.items())

    # Iterations

    def write_out(self, statement: For, region: Region, rounds: list[dict[Var, Known]], frame: Frame) -> None:
        """The iterations of a loop, one after the other."""
        carried = [self.known(value, frame) for value in statement.initial]
        collecting = _collecting(statement, region)
        for number in collecting:
            self.drop_list(carried[number])
            carried[number] = Display((*frame.path, statement.results[number]), ())
        pairs = {item for number, item in collecting.items() if statement.results[number] in self.gathered_by_dict}
        dicts = [each for value in item_sources(statement.items) if isinstance(each := self.known(value, frame), DictOf)]
        before = [fields_of(self.fields, each) for each in dicts]
        copies, frame.copies, self.helped = frame.copies, True, True
        for items in rounds:
            for var, known in (*zip(statement.parameters, carried, strict=True), *items.items()):
                self.bind(var, known, frame)
            for inner in region.statements:
                if not self.is_pair(inner, pairs, frame):
                    self.statement(inner, frame)
            if not isinstance(region.terminator, Yield):
                raise Escapes(self.origin_of_items(statement, frame))  # it always raises
            carried = [self.known(value, frame) for value in region.terminator.values]
        frame.copies = copies
        self.check_unchanged(dicts, before, of_keys=isinstance(statement.items, Each))
        for number, (result, known) in enumerate(zip(statement.results, carried, strict=True)):
            if number in collecting and isinstance(known, Display):
                self.bind_collected(statement, result, known, frame)
            else:
                self.bind(result, known, frame)

    def check_unchanged(self, dicts: list[DictOf], before: list[dict[Any, Known]], of_keys: bool) -> None:
        """Let dicts be memory over which a loop runs that writes into them: an iteration may read what an earlier one wrote."""
        for place, entries in zip(dicts, before, strict=True):
            after = fields_of(self.fields, place)
            if list(after) != list(entries) or not (of_keys or after == entries):
                raise Escapes(place.origin)

    def is_pair(self, statement: Statement, pairs: set[Value], frame: Frame) -> bool:
        """Whether it makes a key and a value for a dict, which is no tuple then."""
        if not isinstance(statement, Op) or statement.callee is not Opcode.TUPLE or statement.result not in pairs:
            return False
        parts = tuple(self.known(value, frame) for value in statement.arguments)
        self.bind(statement.result, Display((*frame.path, statement.result), parts), frame)
        return True

    def drop_list(self, collected: Known) -> None:
        """Take the empty list out of the program that a comprehension begins with."""
        made = self.now(collected) if isinstance(collected, ListOf) else collected
        is_made = [isinstance(each, Op) and each.callee is Opcode.LIST and each.result == made for each in self.out]
        self.out[:] = [each for each, is_it in zip(self.out, is_made, strict=True) if not is_it]

    def drop_views(self) -> None:
        """Take a view of a dict that a loop runs over, as in `for v in d.values()`, out of the program."""
        if len(self.out) < 2:
            return
        method, view = self.out[-2:]
        if not all(isinstance(each, Op) and each.results for each in (method, view)):
            return
        assert isinstance(method, Op)
        assert isinstance(view, Op)
        is_asked = method.callee == _GETATTR and view.callee == method.result and not view.result.user_named
        if is_asked and self.proven_dict(view.result) is not None:
            del self.out[-2:]

    def bind_collected(self, statement: For, result: Var, known: Display, frame: Frame) -> None:
        """Let the list that a comprehension has collected be one that is made at once; what `dict` gets needs none."""
        if result in self.gathered_by_dict and all(self.pair_in(each) is not None for each in known.items):
            self.bind(result, known, frame)
            return
        op = Op(Opcode.LIST, self.as_values(known.items, frame), (result,), where=statement.where)
        self.structure(op, Opcode.LIST, frame)

    def pair_in(self, known: Known) -> tuple[Const, Known] | None:
        """A key that stands in the program and what belongs to it, of a tuple of two."""
        parts = known.items if isinstance(known, Display) else ()
        if len(parts) != 2 or not isinstance(parts[0], Const) or type(parts[0].value) not in (str, int):
            return None
        return parts[0], parts[1]

    def as_values(self, known: tuple[Known, ...], frame: Frame) -> tuple[Value, ...]:
        """What stands for these in an operation that is still to be walked."""
        found = []
        for each in known:
            if is_thing(each):
                frame.values[var := fresh("")] = each
                found.append(var)
            else:
                found.append(each)  # type: ignore[arg-type]
        return tuple(found)

    def gathered(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`dict(pairs)` of what a comprehension has collected"""
        (known, *others) = arguments
        if others or not isinstance(known, Display) or op.arguments[0] not in self.gathered_by_dict:
            return super().gathered(op, arguments, frame)
        pairs = [pair for each in known.items if (pair := self.pair_in(each)) is not None]
        values = self.as_values(tuple(part for pair in pairs for part in pair), frame)
        self.structure(replace(op, callee=Opcode.DICT, arguments=values, payload=None), Opcode.DICT, frame)
        return self.known(op.results[0], frame)


def _collecting(statement: For, region: Region) -> dict[int, Value]:
    """Which of what a loop carries are lists that a comprehension collects, and the item that it gets in each iteration."""
    appends = [op for op in region.statements if isinstance(op, Op) and op.callee is Opcode.APPEND]
    appended, given = ({op.arguments[0]: find(op) for op in appends} for find in (_result, _item))
    read = [value for inner in walk(region) for value in uses(inner)]
    ends = terminator_values(region.terminator)
    return {
        number: given[var]
        for number, var in enumerate(statement.parameters)
        if var in appended
        and read.count(var) == 1
        and var not in ends
        and appended[var] not in read
        and read.count(given[var]) == 1
        and [place for place, value in enumerate(ends) if value == appended[var]] == [number]
    }


def _result(append: Op) -> Var:
    return append.result


def _item(append: Op) -> Value:
    return append.arguments[1]


def _is_record(known: Known) -> bool:
    return isinstance(known, Object) and classes.is_record(known.cls)
